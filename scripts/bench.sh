#!/usr/bin/env bash
# What a simulated request costs in host CPU time: requests and bytes per CPU second, and nanoseconds per request as a
# multiple of one four-phase AT transaction measured in the same run (absolute figures drift with the machine, ratios
# hold). Then the bars: a queued 4 KiB read at depth 32 costs at most 1.5 times an unqueued one; a request on DW-MMC at most
# 1.2 times one on SDHCI; the main job in at no slower than on the board, in lt ten times faster.
# --quick leaves the main job out.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/build.sh release
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1

platform=(build/emmc-vp fio --quiet)
job=(--filename=/dev/mmcblk0 --direct=1 --numjobs=1 --name=bench --group_reporting)

cpu_seconds() {  # user + system seconds of a command, the least of three runs; its output is dropped
  local TIMEFORMAT='%U %S' run
  for run in 1 2 3; do { time "$@" >/dev/null 2>/dev/null; } 2>&1; done |
    awk '{ s = $1 + $2; if (NR == 1 || s < least) least = s } END { print least }'
}
at_ns=$(build/sc_tests/bench_at_transaction)
echo "one four-phase AT transaction: $at_ns ns"
printf '%-34s %6s %12s %12s %12s %10s\n' workload timing requests/s MB/s ns/request 'AT units'

row() {  # name timing requests bytes fio-options...
  local name=$1 timing=$2 requests=$3 bytes=$4
  shift 4
  local empty seconds
  local options=(--platform="${preset:-th1520}" --timing="$timing" --cqe="${cqe:-off}")
  empty=$(cpu_seconds "${platform[@]}" "${options[@]}" -- "${job[@]}" --rw=read --bs=4k --size=4k)
  seconds=$(cpu_seconds "${platform[@]}" "${options[@]}" -- "${job[@]}" "$@")
  last=$(awk -v s="$seconds" -v e="$empty" -v r="$requests" 'BEGIN { print (s - e) / r }')
  awk -v n="$name" -v t="$timing" -v r="$requests" -v b="$bytes" -v s="$seconds" -v e="$empty" -v at="$at_ns" 'BEGIN {
    s -= e; if (s < 0.001) s = 0.001
    printf "%-34s %6s %12.0f %12.1f %12.0f %10.1f\n", n, t, r / s, b / s / 1e6, s * 1e9 / r, s * 1e9 / r / at }'
}

on_both() {  # as row: on SDHCI and on DW-MMC, and the second's bar
  row "$@"
  local sdhci=$last
  preset=e850-96 row "$1, DW-MMC" "${@:2}"
  awk -v t="$2" -v d="$last" -v s="$sdhci" 'BEGIN {
    printf "DW-MMC over SDHCI, --timing=%s: %.2f, limit 1.2: %s\n", t, d / s, d <= 1.2 * s ? "met" : "MISSED"
    exit d > 1.2 * s }' || missed=1
}

peak_mib() {  # resident memory of a command at its highest; - without python3
  command -v python3 >/dev/null || { echo -; return; }
  python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}

tool_row() {  # name, then the program's arguments without --timing: a run of another front end, in both timings
  local name=$1 timing requests seconds mib
  shift
  for timing in at lt; do
    local command=(build/emmc-vp "$1" --quiet --timing="$timing" --output-format=json "${@:2}")
    requests=$("${command[@]}" 2>/dev/null | sed -n 's/^ *"requests" : \([0-9]*\),/\1/p' | head -n 1)
    seconds=$(cpu_seconds "${command[@]}")
    mib=$(peak_mib "${command[@]}")
    awk -v n="$name" -v t="$timing" -v r="$requests" -v s="$seconds" -v at="$at_ns" -v m="$mib" 'BEGIN {
      printf "%-34s %6s %12.0f %12s %12.0f %10.1f   %s MiB\n", n, t, r / s, "", s * 1e9 / r, s * 1e9 / r / at, m
      if (m != "-" && m >= 200) { print "memory of that run: limit 200 MiB: MISSED"; exit 1 } }' || missed=1
  done
}

M=$((1024 * 1024))
for timing in at lt; do
  on_both "4 KiB random read, depth 1" $timing 65536 $((256 * M)) --rw=randread --bs=4k --size=256M --ioengine=psync
  deep=(--rw=randread --bs=4k --size=256M --ioengine=libaio --iodepth=32)
  row "4 KiB random read, depth 32" $timing 65536 $((256 * M)) "${deep[@]}"
  unqueued=$last
  cqe=on row "4 KiB random read, depth 32, CQE" $timing 65536 $((256 * M)) "${deep[@]}"
  awk -v t=$timing -v q="$last" -v u="$unqueued" 'BEGIN {
    printf "queued over unqueued, --timing=%s: %.2f, limit 1.5: %s\n", t, q / u, q <= 1.5 * u ? "met" : "MISSED"
    exit q > 1.5 * u }' || missed=1
  on_both "128 KiB sequential read" $timing 4096 $((512 * M)) --rw=read --bs=128k --size=512M --ioengine=psync
  on_both "128 KiB sequential write" $timing 4096 $((512 * M)) --rw=write --bs=128k --size=512M --ioengine=psync
done

# Whole runs of the other front ends, start and card set-up included.
tool_row 'dd O_SYNC, DW-MMC' dd --platform=e850-96 -- if=/dev/zero of=somefile bs=1M count=500 oflag=sync
tool_row 'dd, OMAP-HSMMC, 64 segments' dd --platform=am335x -p hsmmc.max_segs=64 -- if=/dev/zero of=/dev/mmcblk1p2 bs=1M count=100
tool_row 'dd buffered read, 1 MiB ahead' dd --platform=readahead-b -p os.read_ahead_kib=1024 -- if=bigfile of=/dev/null bs=512 count=400000
tool_row 'iozone 4k, 4 threads, software' iozone --platform=apl-swcmdq --queue=software -- -s 8192k -r 4k -i 0 -i 1 -i 2 -I -t 4
tool_row 'fio buffered read' fio --platform=th1520 -- --filename=/dev/mmcblk0 --rw=read --bs=128k --size=256M --name=bench

if [ "${1:-}" != --quick ]; then
  for timing in at lt; do
    seconds=$(cpu_seconds "${platform[@]}" --platform=th1520 --timing="$timing" --cqe=off -- "${job[@]}" --rw=randread --bs=1M --ioengine=sync --size=4G --readonly)
    limit=19.65
    [ $timing = lt ] && limit=1.965
    awk -v t=$timing -v s="$seconds" -v l=$limit 'BEGIN {
      printf "main job, 4 GiB, --timing=%s: %.2f CPU seconds, limit %.3f (board: 19.65 s): %s\n", t, s, l, s <= l ? "met" : "MISSED"
      exit s > l }' || missed=1
  done
fi
exit "${missed:-0}"
