#!/usr/bin/env bash
# The program, and what the wheel is made of, guided by a profile: the compiler is told how often each branch is taken
# and each function called under the loads below, and lays code out by that. Built twice into target/guided, once to
# count and once to be used; libraries of others are built once. What the program computes does not change.
#
#   scripts/guided.sh               builds target/guided/release/wordline
#   scripts/guided.sh env           prints what scripts/python.sh needs to use the same profile (eval it)
#   scripts/guided.sh compare       runs it and target/release/wordline in turns: processor time, and equal events
#
# Needs rustc's own llvm-profdata (rustup component llvm-tools): the profile's format is the compiler's.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath -m "${CARGO_TARGET_DIR:-target}")/guided
counts=$build/counts
profile=$build/wordline.profdata
host=$(rustc -vV | sed -n 's/^host: //p')
profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata

# One wrapper for both builds: its path is part of every symbol, and a profile is matched by symbols.
export CARGO_TARGET_DIR=$build RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/rustc_guided.sh

if [ "${1:-}" = env ]; then
  printf 'export GUIDED_DIR=%q RUSTC_WORKSPACE_WRAPPER=%q WORDLINE_GUIDED=%q\n' \
    "$build" "$RUSTC_WORKSPACE_WRAPPER" "use=$profile"
  exit
fi

# A run of a program, with its results in a folder of $out.
run() { "$1" run "${@:3}" --no-cache --quiet --out "$out/$2" --force >/dev/null; }
small=(--drive m64 --set nand.geometry.blocks_per_plane=128)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

if [ "${1:-}" = compare ]; then
  programs=("$(dirname "$build")/release/wordline" "$build/release/wordline")
  for program in "${programs[@]}"; do
    [ -x "$program" ] || { printf 'wordline: no %s; make release guided\n' "$program" >&2; exit 1; }
  done
  TIMEFORMAT=%U
  printf 'processor time, s: plain and guided, in turns\n'
  for load in '100 4KiB 3000000' '70 4KiB 2000000' '0 16KiB 500000'; do
    read -r reads size requests <<<"$load"
    load=(--synthetic uniform --read-percent "$reads" --size "$size" --depth 32 --requests "$requests" "${small[@]}")
    printf '%3s %% reads of %-5s' "$reads" "$size"
    for _ in 1 2 3; do
      for at in 0 1; do printf ' %6s' "$({ time run "${programs[at]}" "$at" "${load[@]}"; } 2>&1)"; done
    done
    hashes=$(grep -h '"event_hash"' "$out"/[01]/result.json | sort -u | wc -l)
    [ "$hashes" = 1 ] || { printf '\nwordline: the guided program does something else\n' >&2; exit 1; }
    printf '  equal events\n'
  done
  exit
fi

if [ ! -x "$profdata" ]; then
  if command -v rustup >/dev/null; then rustup component add llvm-tools >&2 || true; fi
  [ -x "$profdata" ] || {
    printf 'wordline: no llvm-profdata of this compiler; %s\n          %s\n' \
      'a build that is guided by a profile needs it.' 'Install it with: rustup component add llvm-tools' >&2
    exit 1
  }
fi

# Cargo does not know what the wrapper adds: what another profile has made is made anew.
compile() {
  find "$build/release" -maxdepth 2 -path '*/.fingerprint/wordline*' -exec rm -rf {} + 2>/dev/null || true
  cargo build --quiet --release --package wordline ${CI:+--locked}
}

printf '== the program that counts\n' >&2
rm -rf "$counts"
mkdir -p "$counts"
WORDLINE_GUIDED="generate=$counts" compile

# The loads: what users wait for. Seeds are the defaults, so that they are the same each time.
printf '== the loads that it counts under\n' >&2
count() { run "$build/release/wordline" counted "$@"; }
# Reads, a mix and small writes at a depth, on a drive that is full.
count --synthetic uniform --read-percent 100 --size 4KiB --depth 32 --requests 300000 "${small[@]}"
count --synthetic uniform --read-percent 70 --size 4KiB --depth 32 --requests 300000 "${small[@]}"
count --synthetic uniform --read-percent 0 --size 4KiB --depth 32 --requests 300000 "${small[@]}"
# Sequential writes, and overwrites of some data more often than of other.
count --synthetic sequential --read-percent 0 --size 128KiB --depth 8 --requests 20000 "${small[@]}"
count --synthetic zipf --read-percent 50 --size 16KiB --depth 16 --requests 100000 "${small[@]}"
# A recorded trace at its own times, on the default drive.
count data/rocksdb-ycsb-a-run1.csv.zst
# No time passes, and reads are counted.
count --synthetic zipf --read-percent 95 --size 16KiB --requests 100000 --drive aged_tlc --set run.executor=functional \
  --set ftl.read_reclaim.policy=straw

"$profdata" merge --output "$profile" "$counts"

printf '== the program, guided by what was counted\n' >&2
WORDLINE_GUIDED="use=$profile" compile
