/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shell.h - lines of shell as a user types them, in a folder of the test's own, with the
 * program that was built.
 */
#ifndef TESTS_SHELL_H
#define TESTS_SHELL_H

#include "tests/aid/program.h"
#include "tests/aid/scratch.h"

struct shell {
    struct program program;
    struct scratch scratch;     /* the folder of the lines */
    const char *before;         /* runs before each line; "": nothing */
};

/* A test's state, with cluster.yaml, jobs.csv and e.yaml of scratch_experiment(experiment).
 * main has set program_argv0. */
struct shell *shell_new(const char *experiment);
/* For cmocka_unit_test_setup_teardown: frees it with its folders. */
int shell_teardown(void **state);
/* Runs a line in the folder, where $C is the program.  Checks its status and that it says
 * so on stdout or stderr; says: NULL for anything. */
void run_line(struct shell *shell, const char *line, int status, const char *says);

#endif
