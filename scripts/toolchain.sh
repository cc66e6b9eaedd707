#!/usr/bin/env bash
# Says what is missing to build Wordline, and how to get it; silent when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=0
need() { # what is missing, how to get it
  printf 'wordline: %s\n          %s\n' "$1" "$2" >&2
  missing=1
}

# The oldest compiler the workspace builds with, from the one place that says so.
rust_version=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' Cargo.toml | head -n 1)

if ! command -v cc >/dev/null 2>&1; then
  need 'no C compiler (cc) found; Rust links with it.' 'On Debian or Ubuntu: sudo apt-get install build-essential'
fi
if ! command -v cargo >/dev/null 2>&1; then
  need 'no Rust toolchain (cargo) found in PATH.' \
    "Install one with rustup, see https://rustup.rs (Rust ${rust_version:-stable} or newer), then run make again."
elif [ -n "$rust_version" ]; then
  found=$(rustc --version | awk '{ print $2 }')
  oldest=$(printf '%s\n%s\n' "$rust_version" "${found%%-*}" | sort -V | head -n 1)
  if [ "$oldest" != "$rust_version" ]; then
    need "Rust $found is too old; Wordline needs $rust_version or newer." 'Update it with: rustup update stable'
  fi
fi
exit "$missing"
