#!/usr/bin/env bash
# Makes the captures in data/captures anew: cscope, gcc, both together, git, sqlite and PostgreSQL at work on files that
# are generated here, so that nothing of this machine is in them. Call stacks, and with them contexts, are those of the
# programs installed; times are this machine's.
#
#   scripts/capture_samples.sh [--time] [NAME...]     all of them, or some; --time: what capturing costs, instead
#
# Needs: cscope, gcc, git, make, sqlite3, PostgreSQL (Debian: cscope gcc git make sqlite3 postgresql), a built wordline
# (WORDLINE=path, default target/release/wordline), and /dev/shm or another place for files (TMPDIR).
set -euo pipefail
cd "$(dirname "$0")/.."
wordline=$(realpath "${WORDLINE:-target/release/wordline}")
out=$PWD/data/captures
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/dev/shm}/captures.XXXXXX")
trap 'rm -rf "$work"' EXIT
# No settings of a user, no language but C.
export HOME=$work LC_ALL=C PATH="$PATH:$(echo /usr/lib/postgresql/*/bin)"

timing=0
[ "${1:-}" = --time ] && { timing=1; shift; }
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(cscope gcc multi git sqlite postgres)

# sources FOLDER FILES: C files that call each other.
sources() {
    mkdir -p "$1"
    awk -v dir="$1" -v files="$2" 'BEGIN {
        srand(1)
        for (f = 0; f < files; f++) {
            name = sprintf("%s/part%03d.c", dir, f)
            print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>" > name
            for (g = 0; g < 40; g++) printf "int f%03d_%02d(int a, const char *b);\n", int(rand() * files), g > name
            for (g = 0; g < 40; g++) {
                printf "int f%03d_%02d(int a, const char *b) {\n    int sum = %d;\n", f, g, int(rand() * 1000) > name
                for (l = 0; l < 12; l++)
                    printf "    if (a > %d) sum += (int)strlen(b) * %d + a / %d;\n", \
                        rand() * 100, rand() * 9, 1 + rand() * 9 > name
                print "    printf(\"%d %s\\n\", sum, b);\n    return sum;\n}" > name
            }
            close(name)
        }
        name = dir "/Makefile"
        printf "objects = $(patsubst %%.c,%%.o,$(wildcard *.c))\nlibparts.a: $(objects)\n\tar rcs $@ $^\n" > name
        printf "%%.o: %%.c\n\tgcc -O1 -g -c -o $@ $<\n" > name
    }'
}

# statements ROWS: a shop's day for sqlite.
statements() {
    awk -v rows="$1" 'BEGIN {
        srand(2)
        print "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;"
        print "CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT, price INT); CREATE INDEX prices ON orders(price);"
        for (i = 0; i < rows; i++) {
            what = rand()
            if (what < 0.6)
                printf "INSERT INTO orders(what, price) VALUES(hex(zeroblob(%d)), %d);\n", \
                    10 + rand() * 200, rand() * 1e6
            else if (what < 0.9)
                printf "UPDATE orders SET price = %d WHERE id = %d;\n", rand() * 1e6, 1 + rand() * i * 0.6
            else printf "DELETE FROM orders WHERE id = %d;\n", 1 + rand() * i * 0.6
        }
    }'
}

# prepare NAME: files that are there before; sets `command`.
prepare() {
    local at=$work/$1
    rm -rf "$at"
    mkdir -p "$at"
    # Ten edits, each followed by a new index.
    local index="cd $at/src && for i in 0 1 2 3 4 5 6 7 8 9; do \
        echo \"int edit_\$i(void) { return \$i; }\" >> part00\$i.c; cscope -b -q -s .; done"
    local build="cd $at/src && make -s -j2 && touch part00*.c && make -s"
    case $1 in
    cscope) sources "$at/src" 200 && command=(sh -c "$index") ;;
    gcc) sources "$at/src" 100 && command=(sh -c "$build") ;;
    multi) sources "$at/src" 100 && command=(sh -c "($index) & ($build); wait") ;;
    git)
        sources "$at/src" 120
        git -C "$at/src" init -q
        git -C "$at/src" config user.name nobody
        git -C "$at/src" config user.email nobody@localhost
        command=(sh -c "cd $at/src && for i in 0 1 2 3 4 5 6 7 8 9 10 11; do \
            for f in part*\$i.c part0\$i*.c; do [ -e \$f ] && echo \"int edit_\$i;\" >> \$f; done; \
            git add -A && git commit -q -m \$i; [ \$i -eq 6 ] && git gc -q; true; done; git gc -q --prune=now")
        ;;
    sqlite)
        statements 2000 >"$at/load.sql"
        command=(sh -c "exec sqlite3 $at/shop.db <$at/load.sql >/dev/null")
        ;;
    postgres)
        local owner=()
        # PostgreSQL does not run as root.
        if [ "$(id -u)" = 0 ]; then
            owner=(runuser -u postgres --)
            chmod 755 "$work" && chown postgres "$at"
        fi
        "${owner[@]}" initdb -D "$at/db" -A trust -U postgres >/dev/null
        printf "unix_socket_directories = '%s'\nlisten_addresses = ''\n" "$at" >>"$at/db/postgresql.conf"
        printf "checkpoint_timeout = 30s\nmax_wal_size = 64MB\nmin_wal_size = 32MB\n" >>"$at/db/postgresql.conf"
        command=("${owner[@]}" sh -c "cd $at && pg_ctl -s -w -D db -l log start && \
            pgbench -h $at -U postgres -i -q -s 3 postgres >/dev/null 2>&1 && \
            pgbench -h $at -U postgres -c 4 -t 1500 postgres >/dev/null 2>&1; pg_ctl -s -w -D db stop")
        ;;
    *) echo "capture_samples.sh: no such sample: $1; allowed: cscope gcc multi git sqlite postgres" >&2 && exit 2 ;;
    esac
}

# Elapsed seconds, and processor seconds.
TIMEFORMAT='%R %U %S'
for name in "${names[@]}"; do
    if [ $timing = 0 ]; then
        prepare "$name"
        "$wordline" capture --force -o "$out/$name.capture" -- "${command[@]}"
        continue
    fi
    prepare "$name" && alone=$({ time "${command[@]}" 2>/dev/null; } 2>&1)
    prepare "$name" && strace=$({ time strace -f -qq -o /dev/null "${command[@]}" 2>/dev/null; } 2>&1 | tail -1)
    prepare "$name"
    captured=$({ time "$wordline" capture --force -o "$work/timed.capture" -- "${command[@]}"; } 2>&1)
    calls=$(sed -n 's/.*: \([0-9,]*\) calls.*/\1/p' <<<"$captured" | tr -d ,)
    awk -v name="$name" -v calls="$calls" -v a="$alone" -v s="$strace" -v c="$(tail -1 <<<"$captured")" 'BEGIN {
        split(a, x, " "); split(s, y, " "); split(c, z, " ")
        cpu = (z[2] + z[3] - x[2] - x[3]) / calls * 1e6
        printf "%-9s %7d calls  alone %6.2f s  strace %6.2f s  capture %6.2f s", name, calls, x[1], y[1], z[1]
        printf "  a call: elapsed %5.1f us, processor %5.1f us\n", (z[1] - x[1]) / calls * 1e6, cpu
    }'
done
