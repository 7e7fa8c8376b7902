# Sourced by scripts/linux.sh: one fault per run. The fault must have struck, where it was meant to; the kernel must recover by
# itself, without an error for the program that wrote or read, and every file must come back whole. Where its log tells of the
# fault, that is looked for; where it dumps the host's registers, they are compared with the model's.

# Blocks written and read back, past the page cache.
raw_job='
set -e
dd if=/dev/urandom of=/mnt/data bs=64k count=8 2>/dev/null
dd if=/mnt/data of=/dev/mmcblk0 bs=64k seek=1024 oflag=direct conv=fsync 2>/dev/null
dd if=/dev/mmcblk0 of=/mnt/back bs=64k skip=1024 count=8 iflag=direct 2>/dev/null
cmp /mnt/data /mnt/back'

# A mounted file system. The reads of block 0x200000, which nobody else reads, mark in the log of the card bus where it is
# being written; what has been written is checked from the card, not from memory.
mark='dd if=/dev/mmcblk0 of=/dev/null bs=512 count=1 skip=2097152 iflag=direct 2>/dev/null'
file_job="
set -e
mkfs.ext4 -q -E lazy_itable_init=0,nodiscard /dev/mmcblk0 64M
mount -t ext4 /dev/mmcblk0 /mnt/card
dd if=/dev/urandom of=/mnt/data bs=64k count=16 2>/dev/null
$mark
for i in 1 2 3 4; do cp /mnt/data /mnt/card/\$i; sync; done
$mark
umount /mnt/card
mount -t ext4 /dev/mmcblk0 /mnt/card
for i in 1 2 3 4; do cmp /mnt/data /mnt/card/\$i; done
umount /mnt/card
e2fsck -fn /dev/mmcblk0"

tell='
dmesg | grep -i -e mmc -e sdhci -e cqhci
echo "errors seen by the card layer: $(cat /sys/kernel/debug/mmc0/err_stats 2>/dev/null | grep -v "	 0$" | tr "\n" " ")"
echo data are whole'

guest_under() {  # fault plan, the guest's commands, further arguments; sets $out and $status
  local plan=$1 commands=$2
  shift 2
  status=0
  rm -f "$report" "$bus"
  out=$(guest --quiet "--platform=${platform:-generic}" --output-format=json "--output=$report" "--trace=$bus" \
    -p "mmc_bus.faults=$plan" "$@" -- "$commands$tell" 2>&1) || status=$?
}

fail() {
  printf '%s\nFAILED (exit status %d): %s: %s\n' "$out" "$status" "$1" "$2" >&2
  exit 1
}

check() {  # description, what the kernel's log must show
  local what=$1 expected=$2
  [ "$status" -eq 0 ] && grep -q 'data are whole' <<<"$out" || fail "$what" 'the data did not come back whole'
  grep -q '"mmc_bus.faults_struck" : 1,' "$report" || fail "$what" 'the fault has not struck once'
  grep -q -e "$expected" <<<"$out" || fail "$what" "expected $expected"
  printf '%s\n' "$out" >"$log"
  printf 'ok: %s: %s\n' "$what" "$(grep -m1 -e "$expected" <<<"$out")"
}

fault() {  # description, fault plan, what the kernel's log must show, further arguments
  guest_under "$2" "$raw_job" "${@:4}"
  check "$1" "$3"
}

# As fault(), in a file system: the fault lies between the two marks.
file_fault() {
  guest_under "$2" "$file_job" "${@:4}"
  check "$1" "$3"
  [ "$(awk '/ cmd=(17|18|45) arg=0x00200000 / { marks++ } / mmc_fault: / { print marks + 0 }' "$bus")" = 1 ] ||
    fail "$1" 'the fault did not strike while the files were written'
}

dump_check() { printf 'ok: ' && python3 platform/linux/guest/dump_check.py "$report" "$log" "$@"; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
report=$folder/report.json log=$folder/log bus=$folder/bus

fault 'CRC error in a read, no queue' 'read_crc:cmd=18:skip=40' 'Data CRC Errors' --queue=none
fault 'missing response to CMD18, no queue' 'no_response:cmd=18:skip=4' 'Command Timeout' --queue=none
fault 'CRC error in a queued read' 'read_crc:cmd=46:skip=40' 'CQE recovery' --queue=cqe
fault 'missing response to CMD45, queue' 'no_response:cmd=45:skip=3' 'CQE recovery' --queue=cqe
fault 'busy for 2 s after a write' 'stuck_busy:cmd=25:skip=1:extra_us=2000000' 'data are whole' --queue=none
fault 'no completion of CMD18, no queue' 'lost_completion:cmd=18:skip=4' 'Timeout waiting for hardware' --queue=none
dump_check
fault 'no completion of a queued read' 'lost_completion:cmd=46:skip=3' 'timeout for tag' --queue=cqe
dump_check --queue
platform=e850-96 fault 'CRC error in a read, DW-MMC' 'read_crc:cmd=18:skip=40' 'data are whole' --queue=none
platform=e850-96 fault 'no completion of CMD18, DW-MMC' 'lost_completion:cmd=18:skip=4' 'data are whole' --queue=none

for platform in generic e850-96; do
  file_fault "ext4 on $platform: CRC error in a write" 'write_crc:cmd=25:block=0:skip=20' 'data are whole' --queue=none
  file_fault "ext4 on $platform: missing response to CMD25" 'no_response:cmd=25:skip=20' 'data are whole' --queue=none
  file_fault "ext4 on $platform: busy for 2 s" 'stuck_busy:cmd=25:block=0:skip=20:extra_us=2000000' 'data are whole' --queue=none
done
platform=generic
file_fault 'ext4: no completion of a write' 'lost_completion:cmd=25:skip=20' 'Timeout waiting for hardware' --queue=none
file_fault 'ext4: CRC error in a queued write' 'write_crc:cmd=47:block=0:skip=20' 'CQE recovery' --queue=cqe
file_fault 'ext4: no completion of a queued write' 'lost_completion:cmd=47:skip=20' 'CQE recovery' --queue=cqe

# Linux watches over reads on this host (its DTO timer), not over writes: a write whose end is never told hangs for good, there
# as on silicon. The run must end all the same and say who waits for whom.
platform=e850-96 guest_under 'lost_completion:cmd=25:skip=4' "$raw_job" --queue=none
[ "$status" -eq 1 ] && grep -q 'given up at .* it waits for .* hardware has nothing to do' <<<"$out" ||
  fail 'no completion of CMD25, DW-MMC' 'the run should give up with a message'
echo "ok: no completion of CMD25, DW-MMC: $(grep -o 'given up at .*' <<<"$out")"
echo 'linux faults: passed'
