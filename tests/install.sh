#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# install.sh - `install.sh BUILD PREFIX`: the program, the library, and the
# headers that a writer of policies needs (policies/*.h and whatever they
# include), under include/clustersim with their folders.
set -eu
cd "$(dirname "$0")/.."
build=$1 prefix=$2

install -d "$prefix/bin" "$prefix/lib"
for program in clustersim clustersim-bench; do
    [ ! -f "$build/$program" ] || install -m 755 "$build/$program" "$prefix/bin"
done
install -m 644 "$build/libclustersim.a" "$prefix/lib"
for header in $("${CC:-gcc}" -MM -I. policies/*.h |
    tr -s ' ' '\n' | grep '\.h$'); do
    install -d "$prefix/include/clustersim/$(dirname "$header")"
    install -m 644 "$header" "$prefix/include/clustersim/$header"
done
echo "installed below $prefix"
