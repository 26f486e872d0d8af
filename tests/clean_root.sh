#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# clean_root.sh - proves the README's two commands on a Debian 12 that holds
# nothing but what debootstrap puts there and make.  For root, with
# debootstrap; `clean_root.sh [ROOT] [TARGET...]`.  ROOT is kept if named and
# used again if it is there; MIRROR names another package mirror.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "clean_root: only root can chroot" >&2; exit 1; }
mirror=${MIRROR:-http://deb.debian.org/debian}
root=${1:-}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- demo test
temporary=
if [ -z "$root" ]; then
    temporary=$(mktemp -d)
    root=$temporary/root
fi
finish() {
    umount "$root/proc" "$root/dev/pts" 2>/dev/null || true
    # Never remove through a mount that would not go.
    mountpoint -q "$root/proc" || mountpoint -q "$root/dev/pts" || [ -z "$temporary" ] ||
        rm -rf "$temporary"
}
trap finish EXIT

[ -d "$root/etc" ] ||
    debootstrap --variant=minbase bookworm "$root" "$mirror"
printf 'deb %s bookworm main\ndeb %s bookworm-updates main\n' \
    "$mirror" "$mirror" >"$root/etc/apt/sources.list"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/dev/pts" || mount -t devpts devpts "$root/dev/pts"
chroot "$root" sh -c 'command -v make >/dev/null || {
    apt-get -qq update && apt-get install -y -qq make; }'

rm -rf "$root/clustersim"
mkdir "$root/clustersim"
tar -cf - --exclude=./build --exclude=./out --exclude=./.git . |
    tar -xf - --no-same-owner -C "$root/clustersim"
for target in "$@"; do
    echo "=== clean root: make $target"
    chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        make -C /clustersim "$target"
done
