#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# installed.sh - what `make install` leaves is enough: each built-in policy
# compiles against the installed headers alone, a program links with the
# installed library, and `make uninstall` takes all of it away again.
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

for policy in $(find policies -name '*.c' ! -path 'policies/clients/*' | sort); do
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
printf '#include "policies/policy.h"\nint main(void) { return 0; }\n' \
    >"$dest/user.c"
if gcc -std=c11 -I"$include" -o "$dest/user" "$dest/user.c" \
    -L"$dest/usr/lib" -lclustersim; then
    passed
else
    failed "a program does not compile against what is installed"
fi
# shellcheck disable=SC2086
$make uninstall
left=$(find "$dest/usr" -type f)
if [ -z "$left" ]; then
    passed
else
    failed "uninstall leaves: $left"
fi
echo "installed: $(count_sum)"
count_sum >/dev/null
