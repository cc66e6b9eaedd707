#!/usr/bin/env bash
# The sweep of examples/sweep by Snakemake's local executor: PyPI's snakemake, in its own environment below target/.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$PWD/target/snakemake
mkdir -p "$place"
[ -x "$place/venv/bin/python" ] || python3 -m venv "$place/venv" ||
    { echo "no environment for Python: apt install python3-venv"; exit 1; }
"$place/venv/bin/pip" install --quiet snakemake==9.27.1
cargo build --quiet --package wordline
wordline=$(realpath "${CARGO_TARGET_DIR:-target}/debug/wordline")
rm -rf "$place/grid" "$place/grid.parts" "$place/alone"
"$place/venv/bin/snakemake" --quiet --cores 2 --snakefile examples/sweep/Snakefile --directory "$place" --config \
    "file=$PWD/examples/sweep/grid.toml" "out=$place/grid" parts=3 "wordline=$wordline"
"$wordline" sweep examples/sweep/grid.toml -o "$place/alone" --quiet
diff "$place/grid/tables.txt" "$place/alone/tables.txt"
echo "$(($(wc -l < "$place/grid/runs.csv") - 1)) runs in 3 parts by Snakemake: the tables of one sweep"
