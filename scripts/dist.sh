#!/usr/bin/env bash
# What is published, in dist/: the program as an archive, the wheel, and the crates as cargo would upload them. Each is
# checked where there is nothing else of ours: the program with the C library alone, the wheel in an environment of its
# own, the crates built from their archives.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$PWD/dist
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# What the system has for every program; nothing else may be needed.
SYSTEM='libc.so.6 libm.so.6 libgcc_s.so.1 libdl.so.2 libpthread.so.0 librt.so.1'

fail() {
  printf 'dist: %s\n' "$*" >&2
  exit 1
}

say() { printf '== %s\n' "$*" >&2; }

# Libraries that a file needs beside the system's own.
needs() {
  local name
  for name in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case " $SYSTEM ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 " in
      *" $name "*) ;;
      *) echo "$name" ;;
    esac
  done
}

# The newest version of glibc that a file asks for: the oldest that will do.
glibc() { readelf -V "$1" | grep -o 'GLIBC_[0-9.]*[0-9]' | sort -Vu | tail -1 | tr _ ' '; }

version=$(sed -n '/^\[workspace.package\]/,/^\[/ s/^version = "\(.*\)"/\1/p' Cargo.toml)
cited=$(sed -n 's/^version: //p' CITATION.cff)
[ "$version" = "$cited" ] || fail "CITATION.cff says version $cited, Cargo.toml $version"
command -v readelf >/dev/null || fail 'no readelf found; on Debian or Ubuntu: sudo apt-get install binutils'
rm -rf "$out"
mkdir "$out"

say "the program, $version"
scripts/guided.sh
name="wordline-$version-$(uname -m)-linux"
mkdir "$scratch/$name"
cp LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md include/wordline_policy.h "$scratch/$name"
strip -o "$scratch/$name/wordline" "$build/guided/release/wordline"
program=$scratch/$name/wordline
others=$(needs "$program")
[ -z "$others" ] || fail "the program needs $others"
tar --sort=name --owner=0 --group=0 --mtime=@0 -czf "$out/$name.tar.gz" -C "$scratch" "$name"

say 'the program where there is nothing but the C library'
root=$scratch/root
mkdir -p "$root/tmp"
for file in $(ldd "$program" | grep -o '/[^ ]*'); do
  mkdir -p "$root$(dirname "$file")"
  cp -L "$file" "$root$file"
done
cp "$program" "$root/wordline"
alone=(env -i unshare --map-root-user --root="$root" /wordline)
"${alone[@]}" --version >/dev/null 2>&1 || {
  say 'no namespaces here: with an empty environment instead'
  alone=(env -i "$program")
}
told=$("${alone[@]}" --version)
case "$told" in
  "wordline $version"*) ;;
  *) fail "the program says it is $told" ;;
esac
"${alone[@]}" run --synthetic uniform --requests 1000 --no-cache --json |
  grep -q '"requests_served": 1000' || fail 'the program does not run alone'

say 'the wheel'
(
  eval "$(scripts/guided.sh env)"
  PROFILE=release OUT=$out scripts/python.sh wheel
)
wheel=$(echo "$out"/wordline-"$version"-*.whl)
[ -e "$wheel" ] || fail "no wheel of version $version in $out"
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
(
  cd "$scratch"
  env -i PATH=/usr/bin:/bin WORDLINE_CACHE= venv/bin/python - "$version" <<'PYTHON'
import importlib.metadata
import sys

import wordline

assert wordline.__version__ == sys.argv[1] == importlib.metadata.version("wordline")
told = importlib.metadata.metadata("wordline")
assert told["License-Expression"] == "MIT OR Apache-2.0", told.items()
assert len(told.get_all("License-File")) == 2, told.items()
drive = wordline.Drive.preset("m64", {"nand.geometry.blocks_per_plane": 64})
result = drive.run({"pattern": "uniform", "count": 1000})
assert result["requests_served"] == 1000 and len(result.blocks["erases"]) > 0
PYTHON
  env -i PATH=/usr/bin:/bin venv/bin/wordline --version >/dev/null
) || fail 'the wheel does not run alone'
module=$scratch/module
mkdir "$module"
"$scratch/venv/bin/python" -m zipfile -e "$wheel" "$module"
others=$(needs "$module"/wordline/_core*.so)
[ -z "$others" ] || fail "the wheel needs $others"

say 'the crates, built from their archives'
log=$scratch/crates.log
cargo package --quiet --workspace --exclude wordline-python --exclude xtask ${CI:+--locked} \
  ${DIRTY:+--allow-dirty} >"$log" 2>&1 || { cat "$log" >&2; fail 'the crates cannot be packaged'; }
cp "$build"/package/*-"$version".crate "$out"

say 'done'
oldest=$(printf '%s\n' "$(glibc "$program")" "$(glibc "$(echo "$module"/wordline/_core*.so)")" | sort -V | tail -1)
(cd "$out" && du -h --apparent-size -- * | sort -k2)
cat <<EOF
needs $oldest or newer, and nothing else
to publish: cargo publish --workspace --exclude wordline-python --exclude xtask
            python3 -m twine upload dist/*.whl
EOF
