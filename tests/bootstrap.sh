#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bootstrap.sh - installs what this machine lacks to build and run clustersim.
#
# `bootstrap.sh demo` cares for the program and its charts, `bootstrap.sh
# test` also for what the tests use.  It looks for each thing itself rather
# than for a package, so that a machine that has it by other means is left
# alone; nothing missing, nothing done.  Only apt-get is driven; elsewhere it
# says what to install and stops.
set -eu

missing=
# need PACKAGE WHAT COMMAND...: PACKAGE is missing unless COMMAND succeeds.
need() {
    package=$1 what=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    missing="$missing $package"
    echo "missing: $what (Debian and Ubuntu: $package)" >&2
}
header() { echo "#include <$1>" | gcc -fsyntax-only -x c -; }
cmocka() {
    printf '%s\n' '#include <stdarg.h>' '#include <stddef.h>' \
        '#include <setjmp.h>' '#include <stdint.h>' '#include <cmocka.h>' |
        gcc -fsyntax-only -x c -
}
compilers() { command -v make && command -v g++ && header stdio.h; }
sanitizers() {
    # Linking proves that the run-time libraries are there.
    echo 'int f(void); int f(void) { return 0; } int main(void) { return f(); }' |
        clang -fsanitize=address,undefined -x c - -o /dev/null
}

# Of the Python that tests/all.sh takes.
python_has() { "$(command -v /usr/bin/python3 || command -v python3)" -c "$1"; }

look() {
    missing=
    need build-essential 'compilers and make' compilers
    need pkg-config 'pkg-config' command -v pkg-config
    need libgsl-dev 'GNU Scientific Library' header gsl/gsl_rng.h
    need libyaml-dev 'libyaml' header yaml.h
    need zlib1g-dev 'zlib' header zlib.h
    need libzstd-dev 'zstd' header zstd.h
    need libglpk-dev 'GNU Linear Programming Kit' header glpk.h
    need libxxhash-dev 'xxHash' header xxhash.h
    need libelf-dev 'libelf' header libelf.h
    need libarchive-dev 'libarchive' header archive.h
    need gnuplot-nox 'gnuplot' command -v gnuplot
    need libcmocka-dev 'cmocka' cmocka
    [ "$1" = test ] || return 0
    need libopenmpi-dev 'Open MPI' pkg-config --exists ompi-c
    need openmpi-bin 'mpirun' command -v mpirun
    need slurm-wlm 'Slurm' eval 'PATH=$PATH:/usr/sbin; command -v sbatch && command -v slurmd'
    need munge 'munge' eval 'PATH=$PATH:/usr/sbin; command -v munged'
    need dpkg-dev 'tools of Debian packages' command -v dpkg-shlibdeps
    need lintian 'a checker of Debian packages' command -v lintian
    need mandoc 'a reader of manual pages' command -v mandoc
    need procps 'pgrep' command -v pgrep
    need zstd 'zstd, for tar' command -v zstd
    need git 'git' command -v git
    need musl-dev 'another libm' eval '[ -f /usr/lib/$(uname -m)-linux-musl/libc.a ]'
    need clang 'clang' command -v clang
    need lld 'a linker that takes little time' command -v ld.lld
    need libclang-rt-dev 'sanitizers of clang' sanitizers
    need python3-jsonschema 'a validator of JSON Schema' \
        python_has 'import jsonschema'
    need python3-yaml 'YAML for Python' python_has 'import yaml'
    need python3-dev 'headers of Python' python_has \
        'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")'
    need python3-setuptools 'setuptools' python_has 'import setuptools'
    need python3-wheel 'wheel' python_has 'import wheel'
    need python3-pip 'pip' python_has 'import pip'
    need python3-venv 'virtual environments of Python' python_has 'import ensurepip'
}

install() {
    root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || {
            echo "bootstrap: not root and no sudo; as root: apt-get install$missing" >&2
            exit 1
        }
        root=sudo
    fi
    echo "installing:$missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    # Package lists may be absent or old: fetch them, and go on with what is
    # there if that fails.
    $root apt-get -qq update || true
    # $missing is a list of words.
    $root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing >&2
}

case ${1:-} in
demo | test) ;;
*)
    echo "usage: bootstrap.sh demo|test" >&2
    exit 2
    ;;
esac
look "$1" 2>/dev/null
[ -n "$missing" ] || exit 0
look "$1"
command -v apt-get >/dev/null || {
    echo "bootstrap: no apt-get here; install the above with your system's packages" >&2
    exit 1
}
install
look "$1"
[ -z "$missing" ] || {
    echo "bootstrap: still missing after apt-get:$missing" >&2
    exit 1
}
