/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.h - a folder for one test's files, gone when the test is done.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

struct scratch {
    char dir[64];
    char path[256];             /* of scratch_path, until the next call */
};

void scratch_open(struct scratch *scratch);
void scratch_close(struct scratch *scratch);
/* For cmocka_unit_test_setup_teardown: a scratch of its own is a test's state. */
int scratch_setup(void **state);
int scratch_teardown(void **state);
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

#endif
