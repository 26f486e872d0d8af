/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workload_aid.h - what tests of workloads share: a catalogue, a cluster of
 * two GPU pools and a CPU pool, a workload read from text, jobs pulled.
 */
#ifndef TESTS_WORKLOAD_AID_H
#define TESTS_WORKLOAD_AID_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/source.h"

/* cmocka's own compares floats, and not doubles. */
#define assert_near(A, B, EPSILON) assert_true(fabs((A) - (B)) <= (EPSILON))

struct aid {
    struct arena *arena;
    const struct catalogue *catalogue;
    const struct cluster_spec *cluster;
    struct err err;
};

/* 4 x 8 a100-80 (pool train), 8 x 4 a10 (pool rollout), 2 CPU nodes. */
void aid_open(struct aid *aid);
/* The same with a cluster of that many GPUs that only count. */
void aid_open_generic(struct aid *aid, unsigned gpus);
void aid_close(struct aid *aid);

/* A workload from text; names of files are taken from the folder of `path`.
 * NULL: aid->err says why. */
const struct workload_spec *aid_workload(struct aid *aid, const char *path,
                                         const char *text);
/* The same from a file. */
const struct workload_spec *aid_workload_file(struct aid *aid,
                                              const char *path);
/* At most `max` jobs of a stream; fails the test on an error. */
size_t aid_jobs(struct aid *aid, const struct workload_spec *spec,
                uint64_t seed, uint32_t replica, struct job_birth *birth,
                size_t max);
/* One printed line per message, as users see it: "file:line:col: ...". */
const char *aid_message(struct aid *aid);
/* "$SHARED/path", or NULL and a printed reason if there is none. */
const char *aid_shared(struct aid *aid, const char *path);

#endif
