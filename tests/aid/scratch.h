/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.h - a folder for one test's files and an arena, gone when the test is done.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stddef.h>

struct arena;

struct scratch {
    struct arena *arena;
    char dir[64];
    char path[256];             /* of scratch_path, until the next call */
};

void scratch_open(struct scratch *scratch);
void scratch_close(struct scratch *scratch);
/* For cmocka_unit_test_setup_teardown: a scratch of its own is a test's state. */
int scratch_setup(void **state);
int scratch_teardown(void **state);
/* Makes a test's state of so many bytes, zeroed, whose first member is a struct scratch,
 * which is opened.  scratch_teardown frees it.  Returns 0. */
int scratch_state(void **state, size_t bytes);
/* DIR/name, good until the next call. */
const char *scratch_path(struct scratch *scratch, const char *name);
/* Writes a file; its folder is there. */
void scratch_write(struct scratch *scratch, const char *name,
                   const char *text);
/* The whole file, to be freed; NULL: it is not there. */
char *scratch_read(struct scratch *scratch, const char *name);

/* An experiment on 4 nodes of 8 GPUs that only count, and 40 jobs of known
 * length, which runs in milliseconds: writes cluster.yaml, jobs.csv and
 * e.yaml, whose text is given but for cluster and workload. */
void scratch_experiment(struct scratch *scratch, const char *text);

/* Writes the path of the program that was built with the test, from the root, so that
 * it can be run from any folder.  argv0: of the test, as main got it. */
void scratch_program(char *path, size_t room, const char *argv0);

#endif
