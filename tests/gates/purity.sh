#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# purity.sh - outside experiments/ nothing prints, ends the process, reads the
# environment, a wall clock or the locale, or draws from C's own generator;
# models/ open no file.  (Out of memory ends the process in sim/base/arena.c.)
# Nothing changes the umask, which is one for all threads.

PRINT='stdout|stderr|v?printf|__v?printf_chk|puts|putchar|perror'
END='exit|_exit|_Exit|quick_exit|abort|atexit|signal|sigaction|system|popen'
WORLD='getenv|secure_getenv|setenv|setlocale|newlocale'
CLOCK='time|clock|clock_gettime|gettimeofday|timespec_get|strftime'
CLOCK="$CLOCK|localtime(_r)?|gmtime(_r)?"
CHANCE='rand(_r)?|srand|s?random|[delmn]rand48'
WRITE='fopen|fdopen|freopen|open|creat|tmpfile|mkstemp|gzopen|fwrite|fputs'
WRITE="$WRITE|v?fprintf|__fprintf_chk"

# Lines "OBJECT: uses NAME" of the objects read, whose NAME matches $1.
uses() { xargs -r nm -uA | awk -v names="^($1)\$" '
    $NF ~ names { sub(/:$/, "", $1); print $1 ": uses " $NF }'; }

check() {
    all=$(objects)
    echo "$all" | uses umask
    all=$(echo "$all" | grep -v "^$build/experiments/")
    never="$WORLD|$CLOCK|$CHANCE"
    echo "$all" | uses "$never"
    all=$(echo "$all" | grep -vE "^$build/sim/([^/]*/)?arena\.o\$")
    echo "$all" | uses "$PRINT|$END"
    echo "$all" | grep "^$build/models/" | uses "$WRITE"
}

bad_1() { object sim/a.c '#include <stdio.h>' 'void a(void) { printf("x\n"); }'; }
bad_2() { object policies/a.c '#include <stdio.h>' 'void a(void) { fprintf(stderr, "x"); }'; }
bad_3() { object workloads/a.c '#include <stdlib.h>' 'void a(void) { exit(1); }'; }
bad_4() { object sim/a.c '#include <time.h>' 'long a(void) { return time(0); }'; }
bad_5() {
    object models/a.c '#include <stdio.h>' \
        'FILE *a(void) { return fopen("x", "w"); }'
}
bad_6() {
    object experiments/a.c '#include <sys/stat.h>' 'unsigned a(void) { return umask(0); }'
}
good() {
    object sim/a.c '#include <stdio.h>' \
        'void a(char *s, FILE *f) { snprintf(s, 9, "%p", s); fputs(s, f); }'
    object sim/base/arena.c '#include <stdio.h>' '#include <stdlib.h>' \
        'void b(void) { fputs("out of memory", stderr); abort(); }'
    object experiments/a.c '#include <stdio.h>' 'void c(void) { printf("x\n"); }'
}
. "$(dirname "$0")/gate.sh"
