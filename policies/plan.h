/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h - reservations: how many GPUs are free over time, and where a job may lie.
 */
#ifndef POLICIES_PLAN_H
#define POLICIES_PLAN_H

#include "policies/policy.h"

/* A plan says how many GPUs are free over time, so that they can be reserved.  The time of a
 * call grows with the logarithm of what is planned.  INT64_MAX as a time means never.  The
 * host owns the memory, which is good to the end of the trial. */
struct cs_plan;
struct cs_plan *cs_plan_new(struct cs_host *host);
/* Forgets all; `gpus` GPUs are free from from_ns on.  Must be called first. */
void cs_plan_clear(struct cs_plan *plan, int64_t from_ns, uint32_t gpus);
/* The plan begins at now_ns: what was before is forgotten. */
void cs_plan_forget(struct cs_plan *plan, int64_t now_ns);
/* Takes `gpus` GPUs out of the plan in [start_ns, end_ns); a number below 0 puts them back. */
void cs_plan_take(struct cs_plan *plan, int64_t start_ns, int64_t end_ns,
                  int64_t gpus);
/* Returns the earliest time before before_ns from which `gpus` GPUs stay free for run_ns, or
 * until before_ns; before_ns: there is none. */
int64_t cs_plan_find(struct cs_plan *plan, uint32_t gpus, int64_t run_ns,
                     int64_t before_ns);
/* Since ABI 2.11.  Returns the fewest GPUs that are free at any time in [start_ns, end_ns),
 * which must not be empty. */
int64_t cs_plan_least(const struct cs_plan *plan, int64_t start_ns, int64_t end_ns);

/* Returns the earliest time, from_ns or later, from which `gpus` GPUs stay free for run_ns.  It
 * looks at the steps of the plan one by one. */
int64_t cs_plan_find_from(struct cs_plan *plan, int64_t from_ns, uint32_t gpus,
                          int64_t run_ns);

/* ---- where a job may lie ---- */

/* A set of groups of nodes: bit g is the g-th group of the cluster's file, from 0.  In a
 * cluster of more than 64 groups, each set is CS_ALL_GROUPS. */
#define CS_ALL_GROUPS UINT64_MAX
#define CS_REACH_MAX 8u

/* Where the GPUs of a role may lie.  A gang has one type of GPU, so each type that the owner
 * names is an option of its own, in the order in which they are named; a role that names
 * none, or more than CS_REACH_MAX, has one option, whose types are counted together. */
struct cs_reach {
    uint32_t gpus, gpu_milli;   /* that it asks for; thousandths of each */
    uint32_t count;             /* options; 0: it needs no GPU, or no GPU suits it */
    struct {
        uint64_t groups;
        uint32_t gpu_type;      /* as in cs_want; 0: as asked */
    } option[CS_REACH_MAX];
};
void cs_role_reach(const struct cs_host *host, struct job_id job, uint32_t role,
                   struct cs_reach *out);
/* Since ABI 2.13.  Could these pools hold the GPUs of a role if no other job ran and all their
 * nodes were here, and could the power cap let them run?  True of a role without GPUs, and of one
 * that may run on cores. */
bool cs_could_hold(const struct cs_host *host, struct job_id job, uint32_t role,
                   uint32_t pool_mask);
/* Since ABI 2.14.  As cs_could_hold(), for the nodes of these groups. */
bool cs_groups_could_hold(const struct cs_host *host, struct job_id job, uint32_t role,
                          uint64_t groups);
/* Returns the groups whose nodes a job may use, those for its roles without GPUs included. */
uint64_t cs_job_groups(const struct cs_host *host, struct job_id job);
/* Returns the groups of these pools (0: of all); and the pools that have one of these groups. */
uint64_t cs_pool_groups(const struct cs_host *host, uint32_t pool_mask);
uint32_t cs_group_pools(const struct cs_host *host, uint64_t groups);
/* As cs_earliest_ns(), but counts only the GPUs of the nodes in these groups. */
int64_t cs_groups_free_ns(struct cs_host *host, uint64_t groups, uint32_t gpus,
                          uint32_t *spare);
/* Returns how many GPUs of these groups should be free at a later time. */
uint32_t cs_groups_free_by(struct cs_host *host, uint64_t groups, int64_t at_ns);
/* A part of a GPU: thousandths of it, and MiB of its memory; 0: none is stated. */
struct cs_part {
    uint32_t milli, mib;
};
/* Since ABI 2.11.  Returns the time from which some GPU of these groups should have this part
 * free; INT64_MAX: never.  Stores in *spare how many more GPUs have it free then, and in
 * *beside what is free beyond it on the GPU with the most thousandths, of equals on the
 * one with the most memory. */
int64_t cs_room_for_part_ns(struct cs_host *host, uint64_t groups, struct cs_part part,
                            uint32_t *spare, struct cs_part *beside);
/* As cs_room_for_part_ns(), for a part that states no memory. */
int64_t cs_part_free_ns(struct cs_host *host, uint64_t groups, uint32_t milli,
                        uint32_t *spare, uint32_t *beside);
/* As cs_find_pending(), but gpus_any_estimate applies only to jobs whose GPUs must lie on nodes
 * of these groups: other jobs may have any estimate. */
uint32_t cs_find_beside(struct cs_host *host, uint32_t i, const struct cs_filter *filter,
                        uint64_t groups);
/* Returns how many GPUs a lease holds on nodes of these groups. */
uint32_t cs_lease_gpus_on(const struct cs_host *host, struct lease_id lease, uint64_t groups);
/* Sets pool_mask and gpu_type of a want for the role want->role of a job, so that they name
 * the nodes of these groups that the role may use. */
void cs_want_groups(const struct cs_host *host, struct job_id job, uint64_t groups,
                    struct cs_want *want);

#endif
