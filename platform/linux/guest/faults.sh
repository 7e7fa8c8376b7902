# Sourced by scripts/linux.sh: one fault per run. The kernel must notice (its log says so), recover by itself, and the
# file must come back whole. Where it dumps the host's registers, they are compared with the model's.

fault() {  # description, fault plan, what the kernel's log must show, further arguments
  local what=$1 plan=$2 expected=$3 out status=0
  shift 3
  out=$(guest --quiet "--platform=${platform:-generic}" --output-format=json "--output=$report" -p "mmc_bus.faults=$plan" "$@" -- '
set -e
dd if=/dev/urandom of=/mnt/data bs=64k count=8 2>/dev/null
dd if=/mnt/data of=/dev/mmcblk0 bs=64k seek=1024 oflag=direct conv=fsync 2>/dev/null || true
dd if=/mnt/data of=/dev/mmcblk0 bs=64k seek=1024 oflag=direct conv=fsync 2>/dev/null
dd if=/dev/mmcblk0 of=/mnt/back bs=64k skip=1024 count=8 iflag=direct 2>/dev/null
cmp /mnt/data /mnt/back
dmesg | grep -i -e mmc -e sdhci -e cqhci
echo "errors seen by the card layer: $(cat /sys/kernel/debug/mmc0/err_stats 2>/dev/null | grep -v "	 0$" | tr "\n" " ")"
echo data are whole' 2>&1) || status=$?
  if [ $status -ne 0 ] || ! grep -q 'data are whole' <<<"$out" || ! grep -q -e "$expected" <<<"$out"; then
    printf '%s\nFAILED (exit status %d): %s: expected %s\n' "$out" "$status" "$what" "$expected" >&2
    exit 1
  fi
  printf '%s\n' "$out" >"$log"
  printf 'ok: %s: %s\n' "$what" "$(grep -m1 -e "$expected" <<<"$out")"
}

dump_check() { printf 'ok: ' && python3 platform/linux/guest/dump_check.py "$report" "$log" "$@"; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
report=$folder/report.json log=$folder/log

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
echo 'linux faults: passed'
