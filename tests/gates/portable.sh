#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# portable.sh - what POSIX does not have stands in the files of this list alone, as
# experiments/portability/README.md says; those that have a plain fall-back compile
# with it.  A build for another system begins with these files.

# WORD is an extended regular expression; FILE those that may have it.
words() {
    cat <<END
prctl|pipe2|close_range|sched_[gs]etaffinity experiments/process/system.c
epoll_|eventfd|signalfd|timerfd|inotify none
/proc/(stat|%d) experiments/process/system.c
/proc/self/exe|_NSGetExecutablePath experiments/process/self.c
/proc/self/fd sim/text/out.c
madvise|MADV_ sim/base/arena.c
MAP_ANONYMOUS sim/base/arena.c|experiments/process/isolate.c|experiments/trials/store.c
_DEFAULT_SOURCE sim/base/arena.c|experiments/process/isolate.c|experiments/trials/store.c
_GNU_SOURCE|dladdr experiments/process/system.c|experiments/plugins/host_file.c
flock sim/text/folder.c|experiments/probe/claim.c
<(elf|gelf|libelf)\.h> experiments/plugins/library.c
sys/(epoll|inotify|prctl|random|sendfile|syscall)\.h|linux/ experiments/process/system.c
END
}
PLAIN='experiments/process/system.c experiments/process/self.c'

check() {
    words | while read -r word allowed; do
        # shellcheck disable=SC2046 # our file names hold no blanks
        set -- $(sources | grep -vxE "$allowed")
        [ $# -eq 0 ] || strip_files "$@" | grep -E ":.*(^|[^a-zA-Z_])($word)" |
            sed "s|\$|   (not POSIX)|"
    done
    for f in $PLAIN; do
        [ ! -f "$f" ] || gcc -std=c11 -I. -D_POSIX_C_SOURCE=200809L -DSYSTEM_PLAIN \
            -U__linux__ -Wall -Wextra -Werror -fsyntax-only "$f" 2>&1 | head -n 3
    done
}
# Lines "FILE:LINE: TEXT" without comments.
strip_files() {
    awk '
    FNR == 1 { inside = 0 }
    {
        line = strip_comments($0)
        if (line != "") print FILENAME ":" FNR ": " line
    }
    function strip_comments(line,   at) {
        if (inside) {
            if (!(at = index(line, "*/"))) return ""
            line = substr(line, at + 2); inside = 0
        }
        while (at = index(line, "/*")) {
            if (!index(substr(line, at), "*/")) { inside = 1; return substr(line, 1, at - 1) }
            line = substr(line, 1, at - 1) substr(line, at + index(substr(line, at), "*/") + 1)
        }
        return line
    }' "$@"
}

bad_1() { put sim/a.c 'int f(void) { return pipe2(0, 0); }'; }
bad_2() { put experiments/a.c '#include <sys/prctl.h>'; }
bad_3() { put experiments/a.c 'const char *f(void) { return "/proc/self/exe"; }'; }
bad_4() { put policies/a.c '#define _GNU_SOURCE'; }
good() {
    put sim/a.c '/* pipe2 is not POSIX */ int f(void);' '/* nor' ' * is prctl */'
    put experiments/a.c 'int my_flock;'
}
. "$(dirname "$0")/gate.sh"
