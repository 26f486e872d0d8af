/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * meets.h - a policy and a slow one that decides alike: jobs start and end by both at the
 * same times.
 */
#ifndef TESTS_MEETS_H
#define TESTS_MEETS_H

#include "tests/aid/world.h"

#define MEETS_JOBS 200

extern const char *const meets_rule[5];         /* placements */

/* The first task from i on that a filter lets pass; cs_pending_count(): none. */
uint32_t walk_pending(const struct cs_host *host, uint32_t i, const struct cs_filter *filter);
/* When that many GPUs are free by the expected ends of leases, and how many more. */
int64_t walk_earliest(const struct cs_host *host, uint32_t gpus, uint32_t *spare);

/* Jobs a[MEETS_JOBS] start and end by both at the same times.  fast: a policy and its keys;
 * params: of the slow one; rule: a placement. */
void agrees(const struct cs_policy *slow, const void *params, const char *fast, uint64_t seed,
            const char *rule, struct world_job *a);
/* Random jobs that queue start and end by both policies at the same times. */
void meets(const struct cs_policy *slow, const void *params, const char *fast, uint64_t seed,
           const char *rule);

#endif
