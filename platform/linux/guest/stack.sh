# Sourced by scripts/linux.sh: what the smoke job leaves out. Ends at the first step that fails.

. platform/linux/guest/step.sh

fio_job='
set -e
run() { fio --filename=/dev/mmcblk0 --direct=1 --ioengine=libaio --minimal --name=job "$@" >/dev/null; }
for depth in 1 4 32; do
  run --bs=4k --size=256k --rw=randread --iodepth=$depth
  run --bs=64k --size=1M --rw=read --iodepth=$depth
  run --bs=16k --size=256k --rw=randwrite --iodepth=$depth --offset=32M --verify=crc32c
done
echo fio passed'

step 'fio, no queue: random and sequential reads, verified writes, depth 1 to 32' 'fio passed' \
  --platform=generic --queue=none -- "$fio_job"
step 'fio, queue: the same' 'fio passed' --platform=generic --queue=cqe -- "$fio_job"

step 'discarded blocks read as 0, and a flush ends' 'discard passed' --platform=generic --queue=cqe -- '
set -e
dd if=/bin/busybox of=/dev/mmcblk0 bs=64k seek=512 count=8 oflag=direct conv=fsync 2>/dev/null
blkdiscard -o 32M -l 512K /dev/mmcblk0
dd if=/dev/mmcblk0 bs=64k skip=512 count=8 iflag=direct 2>/dev/null | cmp -n 524288 - /dev/zero
echo discard passed'

# Capabilities without ADMA2 and SDMA (bits 19 and 22).
step 'a host without DMA: PIO' 'pio passed' --platform=generic --queue=none -p sdhci.capabilities1=0x3e25c881 -- '
set -e
dmesg | grep "using PIO"
dd if=/bin/busybox of=/dev/mmcblk0 bs=4k count=16 oflag=direct 2>/dev/null
dd if=/dev/mmcblk0 bs=4k count=16 iflag=direct 2>/dev/null | cmp -n 65536 - /bin/busybox
echo pio passed'

# The clock of the guest wakes it after 3 s. The card is set up anew and is as fast as before.
step 'suspend and resume' 'resume passed' --platform=generic --queue=cqe -- '
set -e
dd if=/bin/busybox of=/dev/mmcblk0 bs=64k count=8 oflag=direct conv=fsync 2>/dev/null
echo +3 >/sys/class/rtc/rtc0/wakealarm
echo mem >/sys/power/state
dd if=/dev/mmcblk0 bs=64k count=8 iflag=direct 2>/dev/null | cmp -n 524288 - /bin/busybox
grep -q "mmc HS400 enhanced strobe" /sys/kernel/debug/mmc0/ios
dmesg | grep "PM: suspend exit"
echo resume passed'

# mmc_test claims the card from the block driver and must be unbound before power-off. 7 to 10 need partial blocks, which
# an eMMC has not.
step 'mmc_test, cases 1 to 16' 'mmc_test passed' --platform=generic --queue=none -- '
card=$(ls /sys/bus/mmc/devices | head -n 1)
echo $card >/sys/bus/mmc/drivers/mmcblk/unbind
insmod $VP_KERNEL/mmc_test.ko
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo $n >/sys/kernel/debug/mmc0/$card/test; done
echo $card >/sys/bus/mmc/drivers/mmc_test/unbind
results=$(dmesg | grep -o "mmc0: Result: .*")
[ $(grep -c "Result: OK" <<EOF
$results
EOF
) = 12 ] && ! echo "$results" | grep -v -e "Result: OK" -e "UNSUPPORTED (by card)" && echo mmc_test passed'

echo 'linux stack: passed'
