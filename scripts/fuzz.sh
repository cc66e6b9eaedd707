#!/usr/bin/env bash
# Fuzzes every reader of traces and the parser of job files, SECONDS each (60 unless given), on stable Rust:
#   scripts/fuzz.sh [SECONDS] [FORMAT ...]
# What fails is left in fuzz/artifacts/. Needs a C++ compiler (for libFuzzer).
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-60}
shift || true
target=x86_64-unknown-linux-gnu
# What cargo-fuzz asks of a nightly compiler, said to a stable one.
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
cargo build --release --target "$target" --bin reader --bin jobs
RUSTFLAGS="" cargo run --quiet --bin seeds
mkdir -p artifacts
formats=("$@")
if [ ${#formats[@]} -eq 0 ]; then
    mapfile -t formats < <(ls corpus)
fi
for format in "${formats[@]}"; do
    binary=reader
    [ "$format" = jobs ] && binary=jobs
    echo "== $format"
    WORDLINE_FORMAT=$format "target/$target/release/$binary" "corpus/$format" -max_total_time="$seconds" \
        -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="artifacts/$format-" 2>&1 |
        grep -E "stat::number_of_executed_units|ERROR|panicked|SUMMARY" || true
done
if ls artifacts/* >/dev/null 2>&1; then
    echo "found:" artifacts/*
    exit 1
fi
