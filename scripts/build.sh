#!/usr/bin/env bash
# Sets up, configures and builds one preset (release by default). A second call is incremental.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
bash scripts/setup.sh
cmake --preset "$preset" >&2
cmake --build --preset "$preset" ${2:+--target "$2"} >&2
