#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# policy_symbols.sh - a policy calls the host (cs_*), the memory and string
# functions, and the mathematics of libm; nothing else, so no clock, file,
# memory of its own or randomness but the host's.

# cs_*, and the list that plug-ins are held to.
callable() {
    sed -n 's/^CALLABLE(\(.*\))$/\1/p' "$here/policies/registry/callable.def" | tr '\n' '|'
    echo 'cs_[a-z0-9_]*'
}

check() {
    may=$(callable)
    for object in $(objects | grep "^$build/policies/"); do
        source=${object#"$build"/}
        source=${source%.o}.c
        is_infra "$source" && continue
        nm -u "$object" | awk '{ print $NF }' |
            grep -vxE "$may" | sed "s|^|$object: calls |"
    done
}

bad_1() {
    object policies/a.c 'void *malloc(unsigned long);' \
        'void *a(void) { return malloc(8); }'
}
bad_2() { object policies/a.c 'long time(long *);' 'long a(void) { return time(0); }'; }
bad_3() { object policies/a.c 'int host_job(int);' 'int a(void) { return host_job(1); }'; }
good() {
    object policies/a.c 'int cs_free(int); double exp(double);' \
        'double a(void) { return exp(cs_free(1)); }'
    object policies/host/host.c 'void *malloc(unsigned long);' \
        'void *a(void) { return malloc(8); }'
}
. "$(dirname "$0")/gate.sh"
