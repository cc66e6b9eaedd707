#!/usr/bin/env bash
# Mean latencies of the preset `mqsim` at depth 4 to 128: reads, writes and mixes, as the table in docs/models/mqsim.md.
# Arguments go to every run: with `--set flash.scheduling.channel=commands_first` one habit alone.
set -euo pipefail
cd "$(dirname "$0")/.."

wordline=${WORDLINE:-${CARGO_TARGET_DIR:-target}/release/wordline}
requests=${REQUESTS:-100000}
if ! [ -x "$wordline" ]; then
  echo "$wordline does not exist: cargo build --release --bin wordline, or name another in WORDLINE" >&2
  exit 1
fi

mean() { # kind of request, then the arguments of a run: its mean latency in us
  local kind=$1
  shift
  "$wordline" run --drive mqsim --synthetic uniform --requests "$requests" --json "$@" 2>/dev/null |
    awk -v kind="\"$kind\":" '
      $1 == "\"latency_ns\":" { inside = 1 }
      inside && $1 == kind { found = 1 }
      found && $1 == "\"mean\":" { printf "%.1f\n", $2 / 1000; exit }'
}

# Reads and mixes go to the half of the drive that is filled, so that all find data and nothing is cleaned; writes go to
# a fresh drive, where hardly any is merged.
filled=(--precondition fill=50 --footprint 50%)
fresh=(--precondition none)

printf '| depth | 4-KiB reads | 16-KiB reads | 4-KiB writes | 16-KiB writes '
printf '| 70/30, 4 KiB: reads | writes | 70/30, 16 KiB: reads | writes | 50/50, 16 KiB: reads | writes |\n'
printf '|%s\n' "$(printf -- '---:|%.0s' {1..11})"
for depth in 4 8 16 32 64 128; do
  row=("$depth")
  for size in 4KiB 16KiB; do
    row+=("$(mean read --depth "$depth" --size "$size" --read-percent 100 "${filled[@]}" "$@")")
  done
  for size in 4KiB 16KiB; do
    row+=("$(mean write --depth "$depth" --size "$size" --read-percent 0 "${fresh[@]}" "$@")")
  done
  for mix in "4KiB 70" "16KiB 70" "16KiB 50"; do
    read -r size reads <<<"$mix"
    for kind in read write; do
      row+=("$(mean "$kind" --depth "$depth" --size "$size" --read-percent "$reads" "${filled[@]}" "$@")")
    done
  done
  printf '| %s ' "${row[@]}"
  printf '|\n'
done
