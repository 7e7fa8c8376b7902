#!/usr/bin/env bash
# Builds the guest kernel from the distribution's source package, once per (source version, configuration): prints the
# folder with `linux`, its modules and nothing else on stdout; progress goes to stderr and build.log. Nothing of the
# kernel leaves the cache ($EMMC_VP_LINUX_CACHE, else $XDG_CACHE_HOME/emmc-vp/linux).
# Exit status 77: cannot be built here (said on stderr).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${EMMC_VP_LINUX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/emmc-vp/linux}
package=linux-source-6.1

version=$(dpkg-query -W -f='${Version}' "$package" 2>/dev/null) || {
  echo "linux: package $package is not installed (scripts/linux.sh --setup installs it)" >&2
  exit 77
}
hash=$(cat "$here"/{kernel.config,io_fallback.h,module/Kbuild,module/umintx.c} | sha256sum | cut -c1-12)
kernel=$cache/kernel-$version-$hash
if [ -x "$kernel/linux" ]; then
  echo "$kernel"
  exit 0
fi

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9  # two builds at once would share a tree
[ -x "$kernel/linux" ] && { echo "$kernel"; exit 0; }

source=$cache/source-$version
objects=$cache/objects-$version
log=$cache/build.log
if [ ! -e "$source/.unpacked" ]; then
  echo "linux: unpacking $package $version" >&2
  rm -rf "$source" && mkdir -p "$source"
  tar -xf "/usr/src/$package.tar.xz" -C "$source" --strip-components=1
  touch "$source/.unpacked"
fi
make_kernel() { nice -n 19 make -s -C "$source" ARCH=um O="$objects" "$@"; }
mkdir -p "$objects"
cp "$here/io_fallback.h" "$objects/"
cp -r "$here/module" "$objects/emmc-vp-module.new"
rm -rf "$objects/emmc-vp-module" && mv "$objects/emmc-vp-module.new" "$objects/emmc-vp-module"
echo "linux: building the kernel (once; about ten minutes of one core; log in $log)" >&2
{
  make_kernel allnoconfig KCONFIG_ALLCONFIG="$here/kernel.config" &&
    make_kernel -j"${EMMC_VP_LINUX_JOBS:-$(nproc)}" KCFLAGS="-include $objects/io_fallback.h" linux modules &&
    make_kernel KCFLAGS="-include $objects/io_fallback.h" M="$objects/emmc-vp-module" modules
} >"$log" 2>&1 </dev/null || {
  tail -n 15 "$log" >&2
  echo "linux: the kernel cannot be built here" >&2
  exit 77
}
partial=$kernel.partial
rm -rf "$partial" && mkdir -p "$partial"
strip -o "$partial/linux" "$objects/linux"
find "$objects" -name '*.ko' -exec cp -t "$partial" {} +
cp "$objects/.config" "$partial/config"
mv "$partial" "$kernel"
echo "$kernel"
