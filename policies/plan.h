/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h - reservations: how many GPUs are free over time.
 */
#ifndef POLICIES_PLAN_H
#define POLICIES_PLAN_H

#include "policies/policy.h"

/* A plan: how many GPUs are free over time, to reserve them.  What it costs grows
 * with the logarithm of what is planned.  A time of INT64_MAX is never. */
struct cs_plan;
struct cs_plan *cs_plan_new(struct cs_host *host);
/* So many are free, from then on; before anything else. */
void cs_plan_clear(struct cs_plan *plan, int64_t from_ns, uint32_t gpus);
/* The plan begins now: the past is no longer looked at. */
void cs_plan_forget(struct cs_plan *plan, int64_t now_ns);
/* Takes GPUs out of it for a time, or puts them back (negative). */
void cs_plan_take(struct cs_plan *plan, int64_t start_ns, int64_t end_ns,
                  int64_t gpus);
/* The earliest time at which so many stay free for so long, or until
 * `before_ns`; that if there is none before. */
int64_t cs_plan_find(struct cs_plan *plan, uint32_t gpus, int64_t run_ns,
                     int64_t before_ns);

#endif
