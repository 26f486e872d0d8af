#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# installed.sh - what `make install` leaves is enough: each built-in policy
# compiles against the installed headers alone, a program that links with the
# installed library has its figures, and `make uninstall` takes all of it away again.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

dest=$PWD/build/installed
rm -rf "$dest"
make="make --no-print-directory DESTDIR=$dest PREFIX=/usr"
# $make is a command and its words.
# shellcheck disable=SC2086
$make install
include=$dest/usr/include/clustersim

for policy in $(find policies -name '*.c' ! -path 'policies/clients/*' \
    ! -path 'policies/python/*' | sort); do
    # Infrastructure includes more than the interface, and is not what others write.
    [ -f "$policy" ] && ! grep '#include "' "$policy" |
        grep -qv '"policies/[a-z]*\.h"' || continue
    if gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$include" "$policy"
    then
        passed
    else
        failed "$policy does not compile against the installed headers"
    fi
done
# A program of a stranger, linked with the shared library and with the static one, by
# pkg-config alone, has the figures of the installed program's summary.csv.
export PKG_CONFIG_PATH=$dest/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
export LD_LIBRARY_PATH=$dest/usr/lib
cp policies/ordering/ljf.c "$dest/least.c"
sed -i 's/"ljf"/"least"/' "$dest/least.c"
cat >"$dest/first.yaml" <<END
experiment: first
cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}
workload:
  arrival: {process: poisson, rate: 30/h}
  jobs: 60
  mix:
    - {recipe: trace, name: part, share: 2, gpus: 4, duration: 10min}
    - {recipe: trace, name: node, share: 1, gpus: 8, duration: 14min}
policies: [fcfs, sjf, $dest/least.c]
END
"$dest/usr/bin/clustersim" "$dest/first.yaml" -q --seeds 3 -o "$dest/program"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "jct_mean_s") c = i; next }
    $2 == "least" { $2 = "file" } { print $2 "," $3 "," $c ",s" }' \
    "$dest/program/summary.csv" >"$dest/expected"

same_figures() {
    # shellcheck disable=SC2046 # words of a compiler
    gcc -std=c11 -Wall -Wextra -Werror -o "$dest/$1" tests/installed/first.c $2 \
        $(pkg-config --cflags clustersim) $3 &&
        "$dest/$1" "$dest/first.yaml" "$dest/least.c" >"$dest/$1.out" &&
        grep -qx 'trials 12' "$dest/$1.out" &&
        [ "$(grep -c '^mine,[012],[0-9.]*,s$' "$dest/$1.out")" = 3 ] &&
        grep -v '^mine\|^trials' "$dest/$1.out" | cmp - "$dest/expected"
}
if same_figures shared '' "$(pkg-config --libs clustersim)"; then
    passed
else
    failed "a program linked with libclustersim.so does not have the program's figures"
fi
if same_figures static "-Wl,--export-dynamic-symbol=cs_*" \
    "$dest/usr/lib/libclustersim.a $(pkg-config --libs --static clustersim |
        sed 's/-lclustersim//')"; then
    passed
else
    failed "a program linked with libclustersim.a does not have the program's figures"
fi
# What the library shows is in an installed header.
shown=$(nm -D --defined-only "$dest/usr/lib/libclustersim.so" |
    sed -n 's/^.* T \([^@]*\).*/\1/p' | sort)
for name in $shown; do
    grep -rqw "$name" "$include" || failed "libclustersim.so shows $name, and no header has it"
done
if [ "$(echo "$shown" | grep -vc '^cs_\|^clustersim_')" = 0 ] &&
    [ "$(echo "$shown" | grep -c '^clustersim_')" -ge 11 ]; then
    passed
else
    failed "libclustersim.so shows other names than cs_* and clustersim_*"
fi
# The agent of the chapter on environments plays a trial to its end.
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' experiments/env/README.md >"$dest/agent.c"
# shellcheck disable=SC2046
if gcc -std=c11 -Wall -Wextra -Werror -o "$dest/agent" "$dest/agent.c" \
    $(pkg-config --cflags --libs clustersim) && (cd "$dest" && ./agent); then
    passed
else
    failed "the program of experiments/env/README.md does not end well"
fi
# The public headers stand alone, in C and in C++.
for compiler in "gcc -std=c11 -x c" "g++ -x c++"; do
    for header in clustersim env; do
        if echo "#include <clustersim/$header.h>" |
            $compiler -Wall -Wextra -Werror -fsyntax-only -I"$dest/usr/include" -; then
            passed
        else
            failed "$header.h does not stand alone: $compiler"
        fi
    done
done
# The manual page has no fault that a reader of it finds.  It has no date, so that a version
# has the same bytes wherever it is built.
page=$dest/usr/share/man/man1/clustersim.1
if command -v mandoc >/dev/null; then
    lint=$(mandoc -Tlint "$page" | grep -v 'missing date' || true)
elif command -v groff >/dev/null; then
    lint=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)
else
    lint=
    echo "skip: neither mandoc nor groff reads the manual page"
fi
if [ -z "$lint" ]; then passed; else failed "the manual page: $lint"; fi
# Shells read the installed scripts; what they complete is tests/program/manual_page_test.c's.
complete=$dest/usr/share/bash-completion/completions/clustersim
offered=$(bash -c 'source "$0"; COMP_WORDS=(clustersim run --only conse); COMP_CWORD=3; _clustersim
    echo "${COMPREPLY[@]}"' "$complete")
if [ "$offered" = conservative ]; then passed; else failed "bash completes: $offered"; fi
for shell in zsh fish; do
    file=$(find "$dest/usr/share/$shell" -name '*clustersim*')
    if ! command -v "$shell" >/dev/null; then
        echo "skip: no $shell"
    elif "$shell" -n "$file"; then passed; else failed "$shell does not read $file"; fi
done
# shellcheck disable=SC2086
$make uninstall
left=$(find "$dest/usr" ! -type d)
if [ -z "$left" ]; then
    passed
else
    failed "uninstall leaves: $left"
fi
echo "installed: $(count_sum)"
count_sum >/dev/null
