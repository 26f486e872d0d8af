# SPDX-License-Identifier: GPL-3.0-or-later
#
# count.sh - how the test scripts keep their score; sourced by each.
#
# One line "passed failed" per thing that ran goes to the file $COUNTS, which
# tests/all.sh adds up; a script on its own keeps a score of its own.

count_file=
if [ -z "${COUNTS:-}" ]; then
    count_file=$(mktemp)
    COUNTS=$count_file
    trap 'rm -f "$count_file"' EXIT
fi
export COUNTS
count_start=$(awk 'END { print NR }' "$COUNTS")

# An exit inside would skip the trap of a caller: these only write.
passed() { echo "1 0" >>"$COUNTS"; }
failed() { echo "0 1" >>"$COUNTS"; echo "FAILED  $*"; }

# The sums since this script began; fails if anything did.
count_sum() {
    awk -v start="$count_start" 'NR > start { p += $1; f += $2 }
        END { printf "%d passed, %d failed\n", p, f; exit f > 0 }' "$COUNTS"
}

# count_lines NAME LOG COMMAND...: the command prints a line for each thing that it tried,
# "ok" or another word, and what it was; without a line, and with another status than 0, it
# failed.
count_lines() {
    count_name=$1 count_log=$2
    shift 2
    "$@" >"$count_log" || {
        failed "$count_name: $* ends with status $?"
        tail -n 5 "$count_log"
    }
    while read -r verdict what; do
        if [ "$verdict" = ok ]; then
            passed
        else
            failed "$count_name: $what"
        fi
    done <"$count_log"
    [ -s "$count_log" ] || failed "$count_name: nothing was tried"
}
