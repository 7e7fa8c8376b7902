#!/usr/bin/env bash
# Installs what the build needs from Debian's packages (root or sudo). Does nothing when all is there.
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config libsystemc-dev libboost-dev libboost-program-options-dev
          catch2 libtoml11-dev nlohmann-json3-dev libfmt-dev)

missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: install these packages as root: ${missing[*]}" >&2; exit 2; }
  sudo=(sudo)
fi
echo "setup: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
