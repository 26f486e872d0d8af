#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test.sh - the Debian packages are what they should be, and their program runs an
# experiment that they bring.  `test.sh [ROOT]`; with ROOT, and as root, they are
# installed by apt in a new Debian 12 there (debootstrap), which has nothing else.
set -eu
cd "$(dirname "$0")/../.."
. tests/count.sh
root=${1:-}
command -v dpkg-shlibdeps >/dev/null || { echo 'skip: no dpkg-dev'; exit 0; }
# How well they are packed is not what is tested.
export DPKG_DEB_COMPRESSOR_LEVEL=1
make --no-print-directory deb >/dev/null
deb=$PWD/build/deb
scratch=$(mktemp -d)
finish() {
    [ -z "$root" ] || umount "$root/proc" 2>/dev/null || true
    rm -rf "$scratch" "$count_file"
}
trap finish EXIT

if command -v lintian >/dev/null; then
    said=$(lintian --allow-root "$deb"/*.deb 2>&1 || true)
    if [ -z "$said" ]; then passed; else failed "lintian: $said"; fi
else
    echo 'skip: no lintian'
fi
for package in "$deb"/*.deb; do
    dpkg -x "$package" "$scratch/all"
    dpkg-deb -f "$package" Version >>"$scratch/versions"
done
if [ "$(sort -u "$scratch/versions" | wc -l)" = 1 ] &&
    dpkg --compare-versions "$(head -n 1 "$scratch/versions")" ge \
        "$(sed -n 's/^VERSION *= *//p' Makefile)"; then
    passed
else
    failed "versions: $(cat "$scratch/versions")"
fi
# Everything but the Makefile's own places is in one of them, once.
if [ -x "$scratch/all/usr/bin/clustersim" ] &&
    [ -f "$scratch/all/usr/share/man/man1/clustersim.1.gz" ] &&
    [ -f "$scratch/all/usr/share/bash-completion/completions/clustersim" ] &&
    [ -n "$(find "$scratch/all" -name 'libclustersim.so.0')" ]; then
    passed
else
    failed 'a file is in no package'
fi
first=usr/share/doc/clustersim/examples/experiments/whole_jobs.yaml
if (cd "$scratch" && all/usr/bin/clustersim "all/$first" --seeds 1 -q -o out &&
    [ -s out/report.html ]); then
    passed
else
    failed 'the program of the package does not run its example'
fi
# The module of MPI is where the program looks for it.
if ! command -v mpirun >/dev/null || [ ! -f "$deb"/clustersim-mpi_*.deb ]; then
    echo 'skip: no Open MPI'
elif (cd "$scratch" && mpirun --oversubscribe --allow-run-as-root --mca btl self,vader -n 2 \
    all/usr/bin/clustersim "all/$first" --seeds 1 -q -o ranks >log 2>&1 &&
    cmp out/summary.csv ranks/summary.csv); then
    passed
else
    tail -n 5 "$scratch/log"
    failed 'two ranks of the packages do not give the tables of one'
fi
# The same files give the same packages.
sum=$(cksum "$deb"/*.deb)
make --no-print-directory deb >/dev/null
if [ "$sum" = "$(cksum "$deb"/*.deb)" ]; then
    passed
else
    failed 'packages differ when they are built again'
fi

# ---- in a new root -----------------------------------------------------------

in_root() {
    chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive sh -c "$1"
}
if [ -n "$root" ]; then
    [ -d "$root/etc" ] || debootstrap --variant=minbase bookworm "$root" \
        "${MIRROR:-http://deb.debian.org/debian}" >"$scratch/log" 2>&1
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    rm -rf "$root/deb" "$root/tmp/work"
    mkdir "$root/deb" "$root/tmp/work"
    cp "$deb"/*.deb "$root/deb"
    if in_root "apt-get -qq update && apt-get install -qq -y --no-install-recommends \
        /deb/clustersim_*.deb && cd /tmp/work && clustersim /$first --seeds 1 -q -o out &&
        test -s out/summary.csv && clustersim new --jobs dpo --load 60% &&
        clustersim first.yaml -q" \
        >"$scratch/log" 2>&1; then passed; else
        tail -n 5 "$scratch/log"
        failed 'the package does not run in a new root'
    fi
    if in_root "apt-get install -qq -y --no-install-recommends gcc libc6-dev pkg-config \
        /deb/lib*.deb && cd /tmp/work && printf '%s\n' '#include <clustersim/clustersim.h>' \
        '#include <stdio.h>' 'int main(void) { return puts(clustersim_version()) < 0; }' >v.c &&
        gcc v.c \$(pkg-config --cflags --libs clustersim) -o v && ./v &&
        clustersim new policy mine && clustersim explain ./mine.c" >"$scratch/log" 2>&1
    then passed; else
        tail -n 5 "$scratch/log"
        failed 'the library does not serve a program in a new root'
    fi
    if [ ! -f "$deb"/clustersim-mpi_*.deb ]; then
        echo 'skip: no package of MPI'
    elif in_root "apt-get install -qq -y /deb/clustersim-mpi_*.deb && cd /tmp/work &&
        mpirun --oversubscribe --allow-run-as-root -n 2 clustersim /$first --seeds 1 -q -o two &&
        cmp out/summary.csv two/summary.csv" >"$scratch/log" 2>&1; then passed; else
        tail -n 5 "$scratch/log"
        failed 'two ranks do not run in a new root'
    fi
    if in_root "apt-get purge -qq -y 'clustersim*' libclustersim0 &&
        ! find /usr -name '*clustersim*' | grep ." >"$scratch/log" 2>&1; then passed; else
        cat "$scratch/log"
        failed 'the packages leave files'
    fi
fi
echo "Debian packages: $(count_sum)"
count_sum >/dev/null
