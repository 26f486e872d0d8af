#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# install.sh - `install.sh BUILD DESTDIR PREFIX VERSION LIBS`: the program, the library
# (static, shared), its header, clustersim.pc, and the headers that a writer of policies
# needs (policies/*.h and whatever they include), under include/clustersim with their
# folders; the manual page and what shells complete, which the program prints.
# `install.sh --remove FOLDER` takes all of it away.
set -eu
cd "$(dirname "$0")/.."
if [ "$1" = --remove ]; then
    cd "$2"
    exec rm -rf share/man/man1/clustersim.1 share/bash-completion/completions/clustersim \
        share/zsh/site-functions/_clustersim share/fish/vendor_completions.d/clustersim.fish \
        include/clustersim lib/libclustersim.a lib/libclustersim.so* \
        lib/clustersim lib/pkgconfig/clustersim.pc bin/clustersim bin/clustersim-bench
fi
build=$1 at=$2$3 prefix=$3 version=$4 libs=$5

install -d "$at/bin" "$at/lib/pkgconfig" "$at/include/clustersim"
for program in clustersim clustersim-bench; do
    [ ! -f "$build/$program" ] || install -m 755 "$build/$program" "$at/bin"
done
if [ -f "$build/clustersim" ]; then
    # put TEXT'S WORDS, FOLDER, NAME: what the program prints, as a file.
    put() {
        install -d "$at/share/$2"
        # shellcheck disable=SC2086 # a command and its operand
        "$build/clustersim" $1 >"$at/share/$2/$3"
        chmod 644 "$at/share/$2/$3"
    }
    put man man/man1 clustersim.1
    put 'completion bash' bash-completion/completions clustersim
    put 'completion zsh' zsh/site-functions _clustersim
    put 'completion fish' fish/vendor_completions.d clustersim.fish
fi
install -m 644 "$build/libclustersim.a" "$build/libclustersim.so.$version" "$at/lib"
[ ! -f "$build/clustersim_mpi.so" ] ||
    install -D -m 644 -t "$at/lib/clustersim" "$build/clustersim_mpi.so"
ln -sf "libclustersim.so.$version" "$at/lib/libclustersim.so.${version%%.*}"
ln -sf "libclustersim.so.${version%%.*}" "$at/lib/libclustersim.so"
install -m 644 experiments/library/clustersim.h experiments/env/env.h "$at/include/clustersim"
for header in $("${CC:-gcc}" -MM -I. policies/*.h |
    tr -s ' ' '\n' | grep '\.h$'); do
    install -d "$at/include/clustersim/$(dirname "$header")"
    install -m 644 "$header" "$at/include/clustersim/$header"
done
cat >"$at/lib/pkgconfig/clustersim.pc" <<END
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: clustersim
Description: simulates GPU and CPU clusters to compare scheduling policies
Version: $version
Cflags: -I\${includedir} -I\${includedir}/clustersim
Libs: -L\${libdir} -lclustersim
Libs.private: $libs
END
echo "installed below $at"
