#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# image.sh - the steps of experiments/ci/Dockerfile without a daemon: for root, with
# debootstrap; `image.sh [FOLDER]`, which keeps FOLDER.  Each FROM is a root that
# debootstrap makes, each RUN runs in it, each COPY copies; at the end a gate runs in the
# image.  MIRROR names another package mirror.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "image: only root can chroot" >&2; exit 1; }
mirror=${MIRROR:-http://deb.debian.org/debian}
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
finish() {
    for proc in "$folder"/*/proc; do umount "$proc" 2>/dev/null || true; done
    [ "${kept:-}" ] || mountpoint -q "$folder/1/proc" || rm -rf "$folder"
}
[ $# -eq 0 ] || kept=yes
trap finish EXIT

make --no-print-directory dist >/dev/null
[ -d "$folder/bare/etc" ] || debootstrap --variant=minbase bookworm "$folder/bare" "$mirror" \
    >"$folder/debootstrap.log"
stage=0
# A step in one line: comments go, lines that end with \ are joined.
sed -e '/^#/d' experiments/ci/Dockerfile | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' >"$folder/steps"
while read -r word rest; do
    root=$folder/$stage
    case $word in
    FROM)
        stage=$((stage + 1))
        root=$folder/$stage
        rm -rf "$root"
        cp -a "$folder/bare" "$root"
        mount -t proc proc "$root/proc" 2>/dev/null || true
        ;;
    COPY)
        case $rest in
        --from=build*)
            # shellcheck disable=SC2086 # three words
            set -- $rest
            mkdir -p "$root$3"
            cp -a "$folder/1$2/." "$root$3/"
            ;;
        *)
            mkdir -p "$root/src"
            cp build/clustersim-*.tar.gz "$root/src/"
            ;;
        esac
        ;;
    RUN)
        echo "image: stage $stage: $(echo "$rest" | cut -c1-60)"
        chroot "$root" env -i HOME=/root DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "$rest" </dev/null >"$folder/log" 2>&1 || {
            tail -n 20 "$folder/log"
            echo "FAILED  image: stage $stage"
            exit 1
        }
        ;;
    esac
done <"$folder/steps"

root=$folder/$stage
mkdir -p "$root/gate"
cat >"$root/gate/gate.yaml" <<'END'
experiment: gate
seeds: 3
cluster: {nodes: [{name: gpu, count: 2, gpus: {type: generic, count: 8}}]}
workload: {arrival: {process: poisson, rate: 4/h}, jobs: 20,
  mix: [{recipe: trace, gpus: 4, duration: {exponential: {mean: 1h}}}]}
policies: [fcfs, ./widest.c]
END
cp policies/ordering/ljf.c "$root/gate/widest.c"
sed -i 's/"ljf"/"widest"/' "$root/gate/widest.c"
chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin sh -c 'cd /gate &&
    clustersim check gate.yaml --update-baseline baseline &&
    clustersim check gate.yaml --baseline baseline --junit gate.xml' </dev/null
echo "image: $(du -smx "$root" | cut -f1) MB; a gate with a policy in C runs in it"
