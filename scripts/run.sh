#!/usr/bin/env bash
# Sets up, builds and runs the main job: the TH1520 report's fio line without command queueing.
# Further arguments are appended to the fio options (fio: the last one wins).
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/build.sh release emmc-vp
mkdir -p out
exec build/emmc-vp fio --platform=th1520 --cqe=off --vcd=out/th1520.vcd --vcd-window=requests:0..3 --explain -- \
  --filename=/dev/mmcblk0 --direct=1 --rw=randread --bs=1M --ioengine=sync --iodepth=256 --size=4G --numjobs=1 \
  --group_reporting --name=iops-test-job --readonly "$@"
