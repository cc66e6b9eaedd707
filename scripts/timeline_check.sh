#!/usr/bin/env bash
# Timelines by Perfetto's own schema: reads some with PyPI's `perfetto`, in an environment of its own below target/.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$PWD/target/perfetto
mkdir -p "$place"
[ -x "$place/venv/bin/python" ] || python3 -m venv "$place/venv" ||
    { echo "no environment for Python: apt install python3-venv"; exit 1; }
"$place/venv/bin/pip" install --quiet perfetto==0.59.1 protobuf==7.36.2
cargo build --quiet --package wordline
wordline=${CARGO_TARGET_DIR:-target}/debug/wordline
# A run, with the channels and dies of its drive.
check() {
    local name=$1 channels=$2 dies=$3
    shift 3
    "$wordline" run "$@" --timeline "$place/$name.pftrace" --from 0s --out "$place/$name" --force --quiet
    "$place/venv/bin/python" scripts/timeline_check.py "$place/$name.pftrace" "$place/$name/result.json" \
        "$channels" "$dies"
}
check erases 1 2 data/slow/erases.toml
check channel 1 4 data/slow/channel.toml
check buffer 2 4 data/slow/buffer.toml
