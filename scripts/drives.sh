#!/usr/bin/env bash
# Fits the drives one can buy: data/drives has what is given, presets/drive and benches/real/fits what comes of it.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --package wordline
# The program carries the presets that it writes.
program=$(mktemp)
trap 'rm -f "$program"' EXIT
install -m 700 "${CARGO_TARGET_DIR:-target}/debug/wordline" "$program"
for sheet in data/drives/*.toml; do
    name=$(basename "$sheet" .toml)
    echo "$name"
    "$program" fit "$sheet" --quiet --force --json --output "presets/drive/$name.toml" >"benches/real/fits/$name.json"
done
make --no-print-directory tables
