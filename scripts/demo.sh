#!/usr/bin/env bash
# The main job on a clean checkout: a real trace, a preconditioned drive, three cleaning policies, one comparison.
set -euo pipefail
cd "$(dirname "$0")/.."

trace=data/rocksdb-ycsb-a-run1.csv.zst
policies=(greedy cost_benefit fifo)
out=out/demo

"${CARGO:-cargo}" build --release --package wordline ${LOCKED:+"$LOCKED"}
wordline=${CARGO_TARGET_DIR:-target}/release/wordline

show() { # prints a command as the reader would type it, then runs it
  printf '\n$ %s\n' "$*"
  "$@"
}

for policy in "${policies[@]}"; do
  show "$wordline" run "$trace" --set "ftl.gc_victim.policy=$policy" --out "$out/$policy"
done
show "$wordline" compare "${policies[@]/#/$out/}" --out "$out/compared"

printf '\nThe files, under %s:\n' "$out"
find "$out" -type f | LC_ALL=C sort | sed 's/^/  /'
