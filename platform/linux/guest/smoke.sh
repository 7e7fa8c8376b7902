# Sourced by scripts/linux.sh: the stack comes up, moves data and keeps them. Prints one line per step; the first step
# that fails ends it.

. platform/linux/guest/step.sh

# HS400 by enhanced strobe, the queue, a direct command; verified random writes at depth 32 by the machine's own fio;
# a file system that survives being written, unmounted and checked.
step 'gl9763e: HS400ES, command queue, verified random writes, ext4' 'smoke passed' --platform=generic --queue=cqe -- '
set -e
grep -q "mmc HS400 enhanced strobe" /sys/kernel/debug/mmc0/ios
dmesg | grep "Command Queue Engine enabled"
fio --filename=/dev/mmcblk0 --direct=1 --ioengine=libaio --bs=4k --size=1M --group_reporting \
  --name=write --rw=randwrite --iodepth=32 --verify=crc32c --name=read --stonewall --rw=randread --iodepth=8 --offset=64M
mkfs.ext4 -q -E lazy_itable_init=0,nodiscard /dev/mmcblk0 64M
mount -t ext4 /dev/mmcblk0 /mnt/card
dd if=/bin/busybox of=/mnt/card/a bs=64k conv=fsync 2>/dev/null
cp /mnt/card/a /mnt/card/b
sync
umount /mnt/card
mount -t ext4 /dev/mmcblk0 /mnt/card
cmp /mnt/card/b /bin/busybox
umount /mnt/card
e2fsck -fn /dev/mmcblk0
echo smoke passed'

# Without the queue: HS200 tuning, ADMA2 with Auto CMD23, four lines.
step 'generic: HS200 after tuning, ADMA2' 'direct passed' --platform=generic --queue=none -p guest.identity=generic -- '
set -e
grep -q "mmc HS200" /sys/kernel/debug/mmc0/ios
dd if=/bin/busybox of=/dev/mmcblk0 bs=64k count=16 oflag=direct 2>/dev/null
dd if=/dev/mmcblk0 bs=64k count=16 iflag=direct 2>/dev/null | cmp -n 1048576 - /bin/busybox
echo direct passed'

# Another host: IDMAC with 64-bit descriptors.
step 'dw_mmc: high speed, IDMAC' 'idmac passed' --platform=e850-96 --queue=none -- '
set -e
dmesg | grep "IDMAC supports 64-bit address mode"
dd if=/bin/busybox of=/dev/mmcblk0 bs=64k count=8 oflag=direct conv=fsync 2>/dev/null
dd if=/dev/mmcblk0 bs=64k count=8 iflag=direct 2>/dev/null | cmp -n 524288 - /bin/busybox
echo idmac passed'

echo 'linux smoke: passed'
