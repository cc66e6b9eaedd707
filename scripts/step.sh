#!/usr/bin/env bash
# Runs a step of a job and tells how long it took: scripts/step.sh NAME COMMAND...
# Where WORDLINE_STEPS names a file, a line is added to it, for a table of all steps at the end.
set -euo pipefail
name=$1
shift
begun=$(date +%s%N)
status=0
"$@" || status=$?
took=$(((($(date +%s%N) - begun) / 100000000)))
line=$(printf '%-14s %5d.%d s%s' "$name" $((took / 10)) $((took % 10)) "$([ "$status" = 0 ] || echo '  failed')")
printf '== %s\n' "$line"
[ -z "${WORDLINE_STEPS:-}" ] || printf '%s\n' "$line" >>"$WORDLINE_STEPS"
exit "$status"
