#!/usr/bin/env bash
# rustc as cargo calls it for crates of the workspace, with a profile: WORDLINE_GUIDED is generate=FOLDER or use=FILE
# (scripts/guided.sh).
set -euo pipefail
rustc=$1
shift
# Build scripts count nothing, and what they would is of nobody's interest.
case " $* " in *' build_script_build '*) exec "$rustc" "$@" ;; esac
case "${WORDLINE_GUIDED:-}" in
  generate=*) exec "$rustc" "$@" -C "profile-generate=${WORDLINE_GUIDED#generate=}" ;;
  use=*) exec "$rustc" "$@" -C "profile-use=${WORDLINE_GUIDED#use=}" ;;
  *) exec "$rustc" "$@" ;;
esac
