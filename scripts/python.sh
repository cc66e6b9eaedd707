#!/usr/bin/env bash
# The Python package: builds it into an environment of its own (target/python), or tests it there.
#   scripts/python.sh build          makes the environment, builds the wheel, installs it
#   scripts/python.sh test [ARG...]  the same, then its tests (pytest's arguments)
#   scripts/python.sh wheel          builds the wheel into the folder OUT, without symbols
#   scripts/python.sh bench          measures what Python costs over the command line
#   scripts/python.sh notebook [ARG...]  opens copies of the notebooks, in out/notebooks (jupyter lab's arguments)
#   scripts/python.sh more           installs what the soak's tests need beside (pyarrow, polars, pandas)
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath -m "${CARGO_TARGET_DIR:-target}")
home="$build/python"
python="$home/bin/python"

# What is missing, and what to type.
lacks() {
  printf 'wordline: %s\n          %s\n' "$1" "$2" >&2
  return 1
}

ready() {
  command -v python3 >/dev/null 2>&1 || {
    lacks 'no python3 found in PATH; the package needs 3.11 or newer.' \
      'On Debian or Ubuntu: sudo apt-get install python3 python3-venv'
    return
  }
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    lacks "$(python3 --version) is too old; the package needs Python 3.11 or newer." \
      'On Debian 12 or Ubuntu 24.04: sudo apt-get install python3 python3-venv'
    return
  }
  if ! "$python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$home"
    python3 -m venv "$home" >/dev/null 2>&1 || {
      rm -rf "$home"
      lacks 'python3 can make no environment.' 'On Debian or Ubuntu: sudo apt-get install python3-venv'
      return
    }
  fi
}

# Installs what a file pins, once.
pinned() {
  local stamp
  stamp="$home/$(basename "$1").$(cksum <"$1" | tr ' ' -)"
  [ -e "$stamp" ] && return
  "$python" -m pip install --quiet --disable-pip-version-check --requirement "$1"
  touch "$stamp"
}

# Builds the wheel into a folder; other arguments are maturin's.
wheel() {
  pinned python/requirements.txt
  # Crates that the workspace has built already are not built again: the same profile, the same folder, which is that
  # of scripts/guided.sh if its profile is used.
  (cd python && CARGO_TARGET_DIR="${GUIDED_DIR:-$build}" "$python" -m maturin build --quiet \
    --profile "${PROFILE:-dev}" ${CI:+--locked} --interpreter "$python" --out "$@")
}

install() {
  rm -rf "$home/wheel"
  wheel "$home/wheel"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$home"/wheel/*.whl
}

case "${1:-build}" in
  build)
    ready
    install
    echo "wordline is in $home; try:"
    echo "  $python -c 'import wordline; print(wordline.Drive.preset(\"m64\"))'"
    ;;
  test)
    shift
    if ! ready; then
      echo 'skipped: the tests of the Python package' >&2
      exit 0
    fi
    install
    export PYTHONDONTWRITEBYTECODE=1
    tests() { "$home/bin/pytest" --quiet -p no:cacheprovider "$@"; }
    if [ $# -gt 0 ]; then
      tests "$@"
      exit
    fi
    # Side by side: most of the tests keep one processor busy. What sweeps take (the first) is told when both are done.
    told=$(mktemp)
    trap 'rm -f "$told"' EXIT
    sweeps=(python/tests/test_afternoons.py python/tests/test_clusters.py python/tests/test_own_in_sweeps.py)
    tests --nbmake "${sweeps[@]}" python/notebooks >"$told" 2>&1 &
    failed=0
    tests python/tests "${sweeps[@]/#/--ignore=}" || failed=$?
    wait $! || failed=$?
    cat "$told"
    exit "$failed"
    ;;
  wheel)
    ready
    wheel "${OUT:?the folder to write the wheel to}" --strip
    ;;
  bench)
    ready
    PROFILE=release install
    cargo build --quiet --release --package wordline ${CI:+--locked}
    # Not the sources beside it: the package that was installed.
    exec "$python" -P python/bench.py "$build/release/wordline"
    ;;
  notebook)
    shift
    ready
    install
    pinned python/requirements-notebook.txt
    # Copies, so that a try-out changes nothing here; one's own changes stay.
    mkdir -p out/notebooks
    cp --update=none python/notebooks/*.ipynb out/notebooks 2>/dev/null || cp -n python/notebooks/*.ipynb out/notebooks
    # The pages that jupyter opens in a browser; as root it wants to be told that this is meant.
    [ "$(id -u)" -ne 0 ] || set -- --allow-root "$@"
    exec "$home/bin/jupyter" lab --notebook-dir=out/notebooks "$@"
    ;;
  more)
    ready
    pinned python/requirements-more.txt
    ;;
  *)
    sed -n '2,9p' "$0" | sed 's/^# //' >&2
    exit 2
    ;;
esac
