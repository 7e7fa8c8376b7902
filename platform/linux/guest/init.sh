#!/bin/busybox sh
# The guest's first program. Its root is the machine's own root file system, read-only (hostfs); /mnt is the guest's.
# From the kernel's command line: VP_RUN (folder of this run), VP_KERNEL (modules), VP_DRIVER (host controller driver).
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt TMPDIR=/mnt
box=/bin/busybox
$box mount -t proc none /proc
$box mount -t sysfs none /sys
$box mount -t devtmpfs none /dev
$box mount -t debugfs none /sys/kernel/debug
$box mount -t tmpfs none /mnt
$box mkdir /mnt/run /mnt/card
$box mount -t hostfs none /mnt/run -o "$VP_RUN"
exec </dev/null >/dev/tty0 2>&1
$box stty -opost </dev/tty0

finish() {
  echo "$1" >/mnt/run/status
  $box sync
  $box poweroff -f
}

$box insmod "$VP_KERNEL/umintx.ko"
$box insmod "$VP_KERNEL/$VP_DRIVER.ko"
tries=0
while [ ! -b /dev/mmcblk0 ]; do
  tries=$((tries + 1))
  if [ $tries -gt 300 ]; then
    echo "linux: no card after 3 s of simulated time"
    finish 125
  fi
  $box usleep 10000
done
# fio would time with the processor's counter, which is wall clock here.
$box mkdir /mnt/bin
printf '#!/bin/sh\nexec /usr/bin/fio --clocksource=clock_gettime "$@"\n' >/mnt/bin/fio
$box chmod +x /mnt/bin/fio
export PATH=/mnt/bin:$PATH
cd /mnt
/bin/sh /mnt/run/command
finish $?
