#!/usr/bin/env bash
# What happens at the doors: shards that begin at once, commands that are killed at random moments, disks that are full
# or read-only, and two of everything at once. Held: no file of others is changed, nothing is left behind after the next
# command, and every output that is there is whole.
#   scripts/doors.sh [ROUNDS [SEED]]      rounds for each command (20), seed of the moments (today's commit)
# Full and read-only disks need root (mount); without, they are passed over with a message.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-20}
seed=${2:-$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1)))}
RANDOM=$((seed % 32768))
cargo build --quiet --package wordline
wordline=$(realpath "${CARGO_TARGET_DIR:-target}/debug/wordline")
root=$PWD
place=$(mktemp -d)
disks=()
end() {
  for disk in "${disks[@]}"; do umount "$disk" 2>/dev/null || true; done
  rm -rf "$place"
}
trap end EXIT
cd "$place"
export WORDLINE_CACHE=""

wrong=0
complain() {
  echo "WRONG: $*"
  wrong=$((wrong + 1))
}

# A drive, traces, a result, a saved drive; and files of a user's, which nobody may touch.
cat > small.toml <<'END'
[nand.geometry]
channels = 1
chips_per_channel = 1
blocks_per_plane = 80
wordlines_per_block = 16
END
{ echo '#wordline 1 time_ns,op,lba,sectors,device,stream,file'
  for i in $(seq 20000); do echo "$((i * 1000)),W,$((i % 500 * 8)),8,0,0,$((i % 7 + 1))"; done; } > t.wl
sweep_file() { # RUNS: so many, some milliseconds each
  cat small.toml
  printf '[run]\nfill_percent = 50\noverwrite = "none"\n[workload]\npattern = "uniform"\ncount = 3000\n[grid]\n'
  printf 'workload.seed = [%s]\n' "$(seq -s, "$1")"
}
sweep_file 24 > sw.toml
run=(run t.wl --config small.toml --precondition none --quiet)
"$wordline" "${run[@]}" --out done --save-snapshot s --keep-versions k.csv
mkdir outs
others=(outs/{a.csv,b.parquet,c.json,.hidden,.wordline-other.machine-1.part,runs.txt})
for name in "${others[@]}"; do echo "mine: $name" > "$name"; done
mine() { (cd "$place" && cat "${others[@]}" small.toml t.wl sw.toml done/result.json s k.csv | cksum); }
untouched=$(mine)

# What is hidden in a folder and of ours, without lists; with what it is in.
left() { find "$1" -name '.wordline*' ! -name .wordline.files ! -name '.wordline-other.machine-1.part'; }

# Whether an output that is there is whole: read back by the program itself, or by its format.
whole() { # KIND PATH
  case $1 in
    log | versions | finds) [ -z "$(tail -c 1 "$2" | tr -d '\n')" ] && head -c 100 "$2" | grep -q , ;;
    json) python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$2" ;;
    snapshot) "$wordline" run --snapshot "$2" --config "$2.toml" --synthetic uniform --requests 10 --quiet ;;
    timeline) [ -s "$2" ] ;;
    page) tail -c 8 "$2" | grep -q '</html>' ;;
    trace) "$wordline" trace info "$2" > /dev/null ;;
    folder) [ ! -e "$2/result.json" ] || "$wordline" compare "$2" > /dev/null ;;
    lab | plots) for svg in "$2"/*.svg; do [ ! -e "$svg" ] || tail -c 8 "$svg" | grep -q '</svg>' || return 1; done ;;
    compared) [ ! -e "$2/comparison.txt" ] || [ -s "$2/latency.svg" ] ;;
    csv) head -1 "$2" | grep -q '^run,' ;;
    capture) "$wordline" trace info "$2" > /dev/null ;;
    sweep) [ ! -e "$2/runs.csv" ] || [ "$(wc -l < "$2/runs.csv")" = 25 ] ;;
  esac
}

# Every command that writes: a kind, the output's name, the command up to it.
commands=(
  "log outs/log.csv ${run[*]} --force --request-log"
  "versions outs/versions.csv ${run[*]} --force --versions"
  "json outs/fio.json ${run[*]} --force --fio-json"
  "timeline outs/t.pftrace ${run[*]} --force --timeline"
  "snapshot outs/saved ${run[*]} --force --save-snapshot"
  "folder outs/run ${run[*]} --force --out"
  "sweep outs/sweep sweep sw.toml -q --no-cache -o"
  "page outs/page.html report done --force -o"
  "csv outs/compared.csv compare done --force --csv"
  "compared outs/compared compare done --force --out"
  "trace outs/t.csv.zst trace convert t.wl --force --out"
  "plots outs/plots trace info t.wl --force --plots"
  "lab outs/locks lab locks --flags 100000 --force --out"
  "finds outs/finds.csv forensics s --versions k.csv --force --out"
  "capture outs/true.capture capture --force -q -o"
)
# A command line with its output, and what has to stand behind it.
line() { # KIND OUTPUT COMMAND...
  local kind=$1 output=$2
  shift 2
  args=("$@" "$output")
  [ "$kind" != capture ] || args+=(-- sh -c 'for i in 1 2 3 4 5; do echo $i > captured; sync captured; done')
}

echo "== shards: 8 at once, $rounds rounds"
for round in $(seq "$rounds"); do
  pids=()
  for part in 1 2 3 4 5 6 7 8; do
    "$wordline" sweep sw.toml -o "shards$round" -j 1 --no-cache --quiet --shard "$part/8" & pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || complain "a shard of round $round failed"; done
  [ "$(wc -l < "shards$round/runs.csv")" = 25 ] || complain "round $round has no table of 24 runs"
  [ -z "$(left "shards$round")" ] || complain "round $round left $(left "shards$round")"
  rm -r "shards$round"
done

echo "== kills: ${#commands[@]} commands, $rounds rounds each, seed $seed"
for command in "${commands[@]}"; do
  read -ra words <<< "$command"
  line "${words[@]}"
  kind=${words[0]} output=${words[1]}
  begun=$(date +%s%N)
  "$wordline" "${args[@]}" > /dev/null
  took=$((($(date +%s%N) - begun) / 1000000 + 1))
  for signal in $(seq "$rounds"); do
    # At every moment that it is there, a little longer, and now and then with what it started.
    "$wordline" "${args[@]}" > /dev/null 2>&1 & pid=$!
    sleep "$(awk "BEGIN { print $((RANDOM % (took + took / 4 + 1))) / 1000 }")"
    case $((RANDOM % 4)) in 0) how=INT ;; 1) how=HUP ;; *) how=KILL ;; esac
    kill "-$how" "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    [ ! -e "$output" ] || whole "$kind" "$output" || complain "$kind: not whole after $how"
    [ "$(mine)" = "$untouched" ] || complain "$kind: files of others are changed after $how"
  done
  # The next command that writes there: another one, to another name, and then the same.
  "$wordline" "${run[@]}" --force --request-log outs/next.csv
  "$wordline" "${args[@]}" > /dev/null || complain "$kind: it does not run again"
  whole "$kind" "$output" || complain "$kind: not whole at the end"
  [ -z "$(left outs)" ] || complain "$kind: left $(left outs)"
done
sleep 6
! pgrep -f "$wordline worker" > /dev/null || complain "workers are alive: $(pgrep -fa "$wordline worker")"

echo "== two of everything at once"
for command in "${commands[@]}"; do
  read -ra words <<< "$command"
  line "${words[@]}"
  "$wordline" "${args[@]}" > /dev/null 2> first.err & first=$!
  "$wordline" "${args[@]}" > /dev/null 2> second.err & second=$!
  code=0
  wait "$first" || { code=$?; grep -q 'another run' first.err || complain "${words[0]}: $code, $(cat first.err)"; }
  wait "$second" || { [ "$code" = 0 ] && grep -q 'another run' second.err ||
    complain "${words[0]}: $(cat second.err)"; }
  whole "${words[0]}" "${words[1]}" || complain "${words[0]}: not whole after two at once"
  [ -z "$(left outs)" ] || complain "${words[0]}: two at once left $(left outs)"
done

disk() { # NAME OPTIONS: a file system in memory
  mkdir -p "$1"
  mount -t tmpfs -o "$2" tmpfs "$1" 2>/dev/null && disks+=("$place/$1")
}
if disk full size=256k && disk sealed size=1m; then
  echo "== full and read-only disks"
  echo mine > sealed/mine && mount -o remount,ro sealed
  for command in "${commands[@]}"; do
    read -ra words <<< "$command"
    for where in full sealed; do
      rm -rf full/* full/.w*
      echo mine > full/mine
      # What is small fits a part of the time.
      dd if=/dev/zero of=full/filler bs=1k count=$((RANDOM % 256)) status=none 2>/dev/null || true
      line "${words[0]}" "$where/${words[1]##*/}" "${words[@]:2}"
      code=0
      "$wordline" "${args[@]}" > /dev/null 2> err || code=$?
      [ "$code" -le 2 ] && ! grep -q panicked err || complain "${words[0]} on a $where disk: $code, $(cat err)"
      [ "$code" = 0 ] || grep -qE 'No space left|Read-only|cannot|missing there' err ||
        complain "${words[0]} on a $where disk does not say why: $(cat err)"
      [ "$where" != sealed ] || [ "$code" != 0 ] || complain "${words[0]} wrote to a read-only disk"
      [ "$(cat "$where/mine")" = mine ] || complain "${words[0]} on a $where disk changed another's file"
      [ -z "$(left "$where")" ] || complain "${words[0]} on a $where disk left $(left "$where")"
      output=$where/${words[1]##*/}
      [ "$code" != 0 ] || whole "${words[0]}" "$output" || complain "${words[0]} on a $where disk: not whole"
    done
  done
else
  echo "passed over: full and read-only disks, which need root"
fi
[ "$(mine)" = "$untouched" ] || complain "files of others are changed"
cd "$root"
echo "doors: $wrong wrong, of ${#commands[@]} commands and $rounds rounds"
[ "$wrong" = 0 ]
