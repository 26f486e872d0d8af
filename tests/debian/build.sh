#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# build.sh - `build.sh BUILD VERSION LIBS`: Debian packages of what `make install`
# installs, in BUILD/deb.  For dpkg-deb and dpkg-shlibdeps; needs no root.
#
# A tree whose CHANGES begins with a version that is not released yet makes packages of
# NEXT~dev, by the rule that stands there.  Times in them are that of the last commit, or
# of CHANGES where there is no git.
set -eu
cd "$(dirname "$0")/../.."
build=$1 version=$2 libs=$3
here=tests/debian deb=$build/deb
changes=experiments/CHANGES.md
packages='clustersim libclustersim0 libclustersim-dev'
module=lib/clustersim/clustersim_mpi.so         # made where Open MPI is
[ ! -f "$build/clustersim_mpi.so" ] || packages="$packages clustersim-mpi"

next=$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$changes" | head -n 1)
[ "$next" = "$version" ] || version_deb=$next~dev
version_deb=${version_deb:-$version}
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y "$changes")}
export SOURCE_DATE_EPOCH="$epoch"
arch=$(dpkg --print-architecture)
multi=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")

rm -rf "$deb"
mkdir -p "$deb/debian"
tests/install.sh "$build" "$PWD/$deb/all" /usr "$version" "$libs" >/dev/null
all=$deb/all/usr

# ---- which file goes where -------------------------------------------------

main=$deb/clustersim dev=$deb/libclustersim-dev so=$deb/libclustersim0
mkdir -p "$main/usr" "$dev/$multi/pkgconfig" "$so/$multi" "$dev/usr"
mv "$all/bin" "$all/share" "$main/usr"
mv "$main/usr/share/zsh/site-functions" "$main/usr/share/zsh/vendor-completions"
echo '.so man1/clustersim.1' >"$main/usr/share/man/man1/clustersim-bench.1"
mv "$all/include" "$dev/usr"
mv "$all/lib/libclustersim.a" "$all/lib/libclustersim.so" "$dev/$multi"
sed "s|^libdir=.*|libdir=\${prefix}/${multi#usr/}|" "$all/lib/pkgconfig/clustersim.pc" \
    >"$dev/$multi/pkgconfig/clustersim.pc"
mv "$all"/lib/libclustersim.so.* "$so/$multi"
if [ -f "$all/$module" ]; then
    mkdir -p "$deb/clustersim-mpi/usr/lib/clustersim"
    mv "$all/$module" "$deb/clustersim-mpi/usr/lib/clustersim"
    strip --strip-unneeded --remove-section=.comment --remove-section=.note \
        "$deb/clustersim-mpi/usr/$module"
    chmod 644 "$deb/clustersim-mpi/usr/$module"
fi
strip --remove-section=.comment --remove-section=.note "$main"/usr/bin/*
strip --strip-unneeded --remove-section=.comment --remove-section=.note \
    "$so/$multi/libclustersim.so.$version"
strip --strip-debug --enable-deterministic-archives "$dev/$multi/libclustersim.a"

# Experiments, with the clusters, workloads, weights and policies that they name.
examples=$main/usr/share/doc/clustersim/examples
mkdir -p "$examples"
tar -cf - experiments/*.yaml models/clusters/*.yaml workloads/*.yaml workloads/traces/*.csv \
    workloads/traces/*.swf policies/weights/*.yaml | tar -xf - -C "$examples"

# ---- documents -------------------------------------------------------------

changelog() {
    echo "clustersim ($version_deb) unstable; urgency=medium"
    echo
    echo "  * See NEWS.gz of this folder for what users see differently."
    echo
    sed -n 's/^Maintainer: / -- /p' "$here/control" | tr -d '\n'
    echo "  $(LC_ALL=C date -u -R -d "@$epoch")"
}
copyright() {
    cat "$here/copyright"
    echo 'Files: experiments/report/page/uplot/*'
    sed -n 's/^Copyright (c) /Copyright: /p' experiments/report/page/uplot/license.txt
    echo 'License: Expat'
    sed -n '/^Permission/,$s/^$/./; /^Permission/,$s/^/ /p' \
        experiments/report/page/uplot/license.txt
}
for package in $packages; do
    doc=$deb/$package/usr/share/doc/$package
    mkdir -p "$doc"
    changelog | gzip -9n >"$doc/changelog.gz"
    copyright >"$doc/copyright"
done
gzip -9n <"$changes" >"$main/usr/share/doc/clustersim/NEWS.gz"
gzip -9n "$main"/usr/share/man/man1/*.1

# ---- control files ---------------------------------------------------------

# Packages that the libraries of a file are in: depends_of FILE...
depends_of() {
    grep -v '^ \|Depends' "$here/control" >"$deb/debian/control"
    (cd "$deb" && dpkg-shlibdeps -O "$@" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}
clustersim=$(depends_of clustersim/usr/bin/clustersim clustersim/usr/bin/clustersim-bench)
[ ! -d "$deb/clustersim-mpi" ] || mpi=$(depends_of "clustersim-mpi/usr/$module")
libclustersim0=$(depends_of "libclustersim0/$multi/libclustersim.so.$version")
for package in $packages; do
    root=$deb/$package
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -type f -exec chmod go-w {} +
    find "$root" -exec touch -h -d "@$epoch" {} +
    mkdir "$root/DEBIAN"
    {
        awk -v package="$package" 'BEGIN { RS = "" }
            $0 ~ "^Package: " package "\n"' "$here/control" |
            sed "s|@clustersim@|$clustersim|; s|@libclustersim0@|$libclustersim0|
                s|@mpi@|${mpi:-}|; s|@version@|$version_deb|
                s|^Architecture: any|Architecture: $arch|"
        echo "Source: clustersim"
        echo "Version: $version_deb"
        echo "Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)"
        sed -n '1,/^$/{/^Maintainer\|^Priority/p}' "$here/control"
    } | awk '!/^Description|^ /{ print } /^Description|^ /{ last = last $0 "\n" }
        END { printf "%s", last }' >"$root/DEBIAN/control"
    (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z |
        xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    [ "$package" != libclustersim0 ] || {
        echo "libclustersim 0 libclustersim0 (>= $version_deb)" >"$root/DEBIAN/shlibs"
        echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
    }
    chmod 644 "$root"/DEBIAN/*
    dpkg-deb --root-owner-group --build "$root" "$deb" >/dev/null
done
rm -rf "$deb/all" "$deb/debian"
ls "$deb"/*.deb
