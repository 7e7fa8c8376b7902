#!/usr/bin/env bash
# The unmodified Linux MMC stack on this platform: sets up, builds program and guest kernel (once, cached), runs.
#
#   scripts/linux.sh [emmc-vp linux options] [-- COMMAND]   one command in the guest (default: the TH1520 report's fio job)
#   scripts/linux.sh --setup     only installs the packages and builds the kernel
#   scripts/linux.sh --smoke     set-up, reads, verified writes, file system: the ctest entry `linux`
#   scripts/linux.sh --stack     fio at depth 1 to 32, discard, PIO, suspend and resume, mmc_test
#   scripts/linux.sh --faults    faults on the wire, and the kernel's own recovery from them
#   scripts/linux.sh --compare   the same jobs through Linux and through the bare-metal driver, side by side
#
# Exit status: the guest's; 77 when this machine cannot run it (no kernel, ptrace refused), said loudly.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=(linux-source-6.1 linux-libc-dev build-essential bc flex bison libelf-dev cpio xz-utils busybox-static e2fsprogs
          fio python3)

skip() {
  echo "SKIPPED: linux: $*" >&2
  exit 77
}

install_packages() {
  local missing=() p
  for p in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y "${missing[@]}"; } >&2 ||
    skip "cannot install ${missing[*]}"
}

# User-mode Linux runs its programs under ptrace, which containers may refuse.
check_ptrace() {
  python3 - <<'PY' || skip "ptrace is refused here: run outside the container, or with --cap-add=SYS_PTRACE"
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    if libc.ptrace(0, 0, 0, 0) != 0:  # PTRACE_TRACEME
        os._exit(1)
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
_, status = os.waitpid(pid, 0)
if not os.WIFSTOPPED(status):
    sys.exit(1)
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
PY
}

prepare() {
  install_packages
  check_ptrace
  kernel=$(platform/linux/guest/build-kernel.sh) || skip "the guest kernel cannot be built here"
  [ -n "${EMMC_VP_BINARY:-}" ] || { bash scripts/build.sh release emmc-vp && EMMC_VP_BINARY=build/emmc-vp; }
}

guest() { "$EMMC_VP_BINARY" linux --kernel="$kernel" "$@"; }

case "${1:-}" in
  --setup) prepare ;;
  --smoke | --stack | --faults) prepare && . "platform/linux/guest/${1#--}.sh" ;;
  --compare)
    prepare
    shift
    exec python3 platform/linux/guest/compare.py "$EMMC_VP_BINARY" "$kernel" "$@"
    ;;
  *) prepare && guest "$@" ;;
esac
