#!/usr/bin/env bash
# A counter is a line where it is declared and a line where it counts: puts one into a copy of the code, and looks for
# it in the table, result.json, the time series (CSV and Parquet), the schema and the docs.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$PWD/target/one_counter
mkdir -p "$place/code"
git ls-files -z | xargs -0 cp --parents --preserve=mode,timestamps -t "$place/code"
cd "$place/code"
sed -i 's|^        host_units: u64, .*|&\n        /// Probes of one counter.\n        probed_units: u64, "probes";|' \
    crates/ssd/src/ftl/counts.rs
sed -i 's|^\( *\)self.counts.host_units += of_host;|&\n\1self.counts.probed_units += of_host;|' \
    crates/ssd/src/ftl/write/host.rs
export CARGO_TARGET_DIR=$place/target
cargo build --quiet --package wordline
wordline=$CARGO_TARGET_DIR/debug/wordline
"$wordline" run --synthetic uniform --read-percent 0 --requests 20000 --precondition none --counters \
    --out "$place/out" --force > "$place/table.txt"
WORDLINE_DOCS=write cargo test --quiet --package wordline-lab --test suite -- docs > "$place/docs.txt"
found() {
    grep -qa "$2" "$3" || { echo "$1: no $2 in $3"; exit 1; }
    echo "$1: $(grep -a -m 1 -o "$2" "$3")"
}
found table "ftl.probed_units  *[1-9].* probes: Probes of one counter" "$place/table.txt"
found result.json '"ftl.probed_units": [1-9]' "$place/out/result.json"
found series.csv "ftl.probed_units" "$place/out/series.csv"
found series.parquet "ftl.probed_units" "$place/out/series.parquet"
"$wordline" explain --schema > "$place/schema.json"
found schema '"ftl.probed_units"' "$place/schema.json"
found docs '`counters.ftl.probed_units` | probes' docs/results.md
