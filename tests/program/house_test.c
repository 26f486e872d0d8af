/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * house_test.c - `make house` on a small tree whose figures are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/scratch.h"

/* Runs a line of the shell in the folder; what it says. */
static char *run_in(struct scratch *scratch, const char *line)
{
    char command[1024];
    char *said;

    snprintf(command, sizeof command, "cd %s && { %s; } >said 2>&1",
             scratch->dir, line);
    if (system(command) != 0)
        fail_msg("%s: %s", line, scratch_read(scratch, "said"));
    said = scratch_read(scratch, "said");
    assert_non_null(said);
    return said;
}

/* The gates and the script, beside a tree of its own. */
static void copy_scripts(struct scratch *scratch)
{
    char command[800];

    snprintf(command, sizeof command, "mkdir -p %s/tests %s/sim/a %s/sim/b "
             "%s/policies/host && cp -R tests/house.sh tests/gates %s/tests && "
             "rm -f %s/tests/gates/*.left", scratch->dir, scratch->dir,
             scratch->dir, scratch->dir, scratch->dir, scratch->dir);
    assert_int_equal(system(command), 0);
}

/* Three functions of 3, 4 and 7 lines with two assertions; a struct of four
 * fields; a header that includes what includes it; five bytes of variables; two
 * objects of the product, and one of a test, that know one part of the host. */
static void write_tree(struct scratch *scratch)
{
    copy_scripts(scratch);
    scratch_write(scratch, "sim/a/a.h", "#include \"sim/b/b.h\"\n"
                  "struct a {\n    int x, y;\n    char *z[2], w;\n};\n"
                  "int a(void);\nint b(void);\n/* two lines\n * of this */\n");
    scratch_write(scratch, "sim/b/b.h", "#include \"sim/a/a.h\"\n");
    scratch_write(scratch, "sim/a/a.c", "#include <assert.h>\n"
                  "int count;\nchar more = 1;\n"
                  "int a(void)\n{\n    return ++count;\n}\n"
                  "int b(void)\n{\n    assert(count > 0);\n"
                  "    return more;       /* said here */\n}\n"
                  "int c(void)\n{\n    int x = 1;\n\n"
                  "    assert(x && more);\n    x++;\n    return x;\n}\n");
    scratch_write(scratch, "sim/b/README.md", "# b\n");
    scratch_write(scratch, "policies/policy.h", "int cs_one(void);\n"
                  "int cs_two(void);\nint cs_three(void);\n");
    scratch_write(scratch, "policies/host/host.c",
                  "int cs_one(void) { return 1; }\n"
                  "int cs_two(void) { return 2; }\n");
    scratch_write(scratch, "policies/p.c", "int cs_one(void);\n"
                  "int p(void) { return cs_one(); }\n");
    scratch_write(scratch, "tests/t_test.c", "int t;\nint u;\nint v;\n");
    free(run_in(scratch, "mkdir -p build/tests; for f in sim/a/a policies/host/host policies/p; do "
                "mkdir -p build/$(dirname $f) && "
                "gcc -O1 -w -c -o build/$f.o $f.c; done"));
    scratch_write(scratch, "build/sim/a/a.d",
                  "build/sim/a/a.o: sim/a/a.c policies/state/jobs.h \\\n"
                  " policies/state/state.h\npolicies/state/jobs.h:\n");
    scratch_write(scratch, "build/policies/p.d",
                  "build/policies/p.o: policies/p.c policies/state/jobs.h\n");
    scratch_write(scratch, "build/tests/t_test.d",
                  "build/tests/t_test.o: policies/state/jobs.h\n");
}

static void the_figures_of_a_small_tree_are_its_own(void **state)
{
    /* 36 lines of product are not blank, and 3 of them hold a comment. */
    static const char *const rows[] = {
        "lines of a function: median / p95 / max <= 14 / 40 / 60 4 / 7 / 7 yes",
        "bytes of variables outside structs 0 5 no",
        "circles: of includes / of calls / of rooms 0 / 0 / 0 1 / 0 / 1 no",
        "includes that run up a floor 0 0 yes",
        "files of C in one room <= 40 2 yes sim/a",
        "fields of the largest struct <= 45 4 yes a",
        "prototypes of a header beside policy.h <= 40 2 yes sim/a/a.h",
        "functions that policy.h offers <= 45 3 yes 1 called by no policy",
        ("objects that one part of the host rebuilds <= 15 2 yes "
         "policies/state/jobs.h, state.h 1"),
        "lines of policy.h <= 350 3 yes",
        ("assertions a function: sim / models / host >= 1.0 / 1.0 / 1.0 "
         "0.67 / 0.00 / 0.00 no"),
        "lines with a comment, % of those not blank >= 20 8.3 no",
        "lines of tests, of those of the product >= 0.8 0.08 no",
        "lists that name one kind of thing <= 1 1 yes",
        "lines of a chapter of the manual <= 300 1 yes sim/b/README.md",
        "10 of 15 goals hold",
    };
    struct scratch scratch;
    char *said;

    (void)state;
    scratch_open(&scratch);
    write_tree(&scratch);
    said = run_in(&scratch, "tests/house.sh build | tr -s ' '");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(said, rows[i]) == NULL)
            fail_msg("no line '%s' in\n%s", rows[i], said);
    free(said);
    scratch_close(&scratch);
}

static void a_figure_of_a_gate_is_what_the_gate_refuses(void **state)
{
    struct scratch scratch;
    char *said;

    (void)state;
    scratch_open(&scratch);
    write_tree(&scratch);
    said = run_in(&scratch, "tests/gates/state.sh build || true");
    assert_non_null(strstr(said, "holds count"));
    assert_non_null(strstr(said, "holds more"));
    free(said);
    said = run_in(&scratch, "tests/gates/state.sh --measure build | wc -l");
    assert_int_equal(atoi(said), 2);
    free(said);
    scratch_close(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figures_of_a_small_tree_are_its_own),
        cmocka_unit_test(a_figure_of_a_gate_is_what_the_gate_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
