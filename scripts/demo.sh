#!/usr/bin/env bash
# The main job on a clean checkout: a real trace on a preconditioned drive; then reads and writes mixed under three
# cleaning policies, on drives that were filled and overwritten alike, and one comparison.
set -euo pipefail
cd "$(dirname "$0")/.."

trace=data/rocksdb-ycsb-a-run1.csv.zst
mix=data/shop.toml
policies=(greedy cost_benefit fifo)
out=out/demo

# As the tests are built, which then begin with what is there; `make release` builds what is published.
"${CARGO:-cargo}" build --workspace --bins --exclude xtask ${LOCKED:+"$LOCKED"}
wordline=${CARGO_TARGET_DIR:-target}/debug/wordline

show() { # prints a command as the reader would type it, then runs it
  printf '\n$ %s\n' "$*"
  "$@"
}

show "$wordline" run "$trace" --out "$out/trace" --force
for policy in "${policies[@]}"; do
  # Overwritten as often, with the same seed, so that what was erased can be compared.
  show "$wordline" run "$mix" --precondition times=2 --set "ftl.gc_victim.policy=$policy" --out "$out/$policy" --force
done
show "$wordline" compare "${policies[@]/#/$out/}" --out "$out/compared" --force
show "$wordline" report "${policies[@]/#/$out/}" --output "$out/report.html" --force

printf '\nThe files, under %s:\n' "$out"
find "$out" -type f | LC_ALL=C sort | sed 's/^/  /'
printf '\nTo look at, in a browser: %s (the three policies) and %s.\n' "$out/report.html" "$out/trace/report.html"
printf 'The program is %s; `make release` builds a faster one.\n' "$wordline"
