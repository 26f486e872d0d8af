#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# other_processor.sh - the program built for aarch64, run under qemu, beside that of this
# machine: which CSVs of golden and other experiments have other bytes.  For root, with
# debootstrap, gcc-aarch64-linux-gnu and qemu-user; not part of `make test`.
# `other_processor.sh BUILD [EXPERIMENT...]`; MIRROR names another package mirror, ROOT another
# folder for the packages, which stays.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
[ $# -gt 0 ] || set -- tests/golden/*/experiment.yaml experiments/*.yaml \
    experiments/worlds/*.yaml
[ "$(id -u)" = 0 ] || { echo "other_processor: only root can run debootstrap" >&2; exit 1; }
triple=aarch64-linux-gnu
out=build/aarch64
# Not below build: make reads what is called *.d there.
root=${ROOT:-/tmp/clustersim-aarch64}

# The packages are only unpacked: nothing of them runs but libraries.
if [ ! -d "$root" ]; then
    mkdir -p $out
    rm -rf "$root.part"
    debootstrap --foreign --arch=arm64 --variant=minbase --include=libgsl-dev,libyaml-dev,\
zlib1g-dev,libzstd-dev,libelf-dev,libarchive-dev,libglpk-dev,libxxhash-dev \
        bookworm "$root.part" "${MIRROR:-http://deb.debian.org/debian}" >$out/debootstrap.log
    for deb in "$root.part"/var/cache/apt/archives/*.deb; do
        dpkg -x "$deb" "$root.part"
    done
    mv "$root.part" "$root"
fi
lib=$root/usr/lib/$triple
# The C library of the cross compiler stands first: that of the packages names its parts by
# paths that hold below the root alone.
make --no-print-directory -j2 B=$out CC=$triple-gcc MPI= \
    INCS="-idirafter $root/usr/include -idirafter $root/usr/include/$triple" \
    LDFLAGS="-L/usr/$triple/lib -L$lib -Wl,-rpath-link,$lib -Wl,-rpath-link,$root/lib/$triple \
-Wl,--allow-shlib-undefined" $out/clustersim

status=0
for file in "$@"; do
    name=$(echo "$file" | tr / _)
    "$build/clustersim" run "$file" --seeds 1 -q -o $out/here/"$name" --set output.plots=[] \
        >$out/log 2>&1 || { echo "$file: not run: $(head -n 1 $out/log)"; continue; }
    qemu-aarch64 -L "$root" -E LD_LIBRARY_PATH="$lib:$root/lib/$triple" $out/clustersim \
        run "$file" --seeds 1 -q -o $out/there/"$name" --set output.plots=[] \
        >$out/log 2>&1 || { echo "$file: fails there: $(head -n 1 $out/log)"; status=1; continue; }
    other=
    for csv in $out/here/"$name"/*.csv; do
        cmp -s "$csv" $out/there/"$name"/"${csv##*/}" || other="$other ${csv##*/}"
    done
    echo "$file: ${other:+other bytes in}${other:- same bytes}"
    # Which policies have other rows?
    [ -z "$other" ] || diff $out/here/"$name"/summary.csv $out/there/"$name"/summary.csv |
        sed -n 's/^< [^,]*,\([^,]*\),.*/    \1/p' | sort -u
done
exit $status
