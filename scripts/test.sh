#!/usr/bin/env bash
# Sets up, builds and runs the whole suite. `scripts/test.sh sanitize` runs it under ASan and UBSan.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
bash scripts/build.sh "$preset"
exec ctest --preset "$preset" -j "$(nproc)" -LE slow
