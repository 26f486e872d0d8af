/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h - what the trials of an environment share.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_PLAN_H
#define EXPERIMENTS_ENV_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/env/env.h"

struct arena;
struct err;
struct experiment;
struct trial_spec;

#define PLAN_PLACES_MAX 64u     /* bits of a mask */
#define PLAN_CHOICES_MAX 64u    /* likewise */
#define PLAN_ROWS_MAX 4096u

#define TASK_FEATURE(ID, NAME, HELP) TASK_AT_##ID,
#define PLACE_FEATURE(ID, NAME, HELP)
#define CLOCK_FEATURE(ID, NAME, HELP)
#define RUNNING_FEATURE(ID, NAME, HELP)
/* Features by number, in the order of features.def. */
enum task_feature {
#include "experiments/env/features.def"
    TASK_FEATURES
};
#undef TASK_FEATURE
#undef PLACE_FEATURE
#define TASK_FEATURE(ID, NAME, HELP)
#define PLACE_FEATURE(ID, NAME, HELP) PLACE_AT_##ID,
enum place_feature {
#include "experiments/env/features.def"
    PLACE_FEATURES
};
#undef PLACE_FEATURE
#undef CLOCK_FEATURE
#define PLACE_FEATURE(ID, NAME, HELP)
#define CLOCK_FEATURE(ID, NAME, HELP) CLOCK_AT_##ID,
enum clock_feature {
#include "experiments/env/features.def"
    CLOCK_FEATURES
};
#undef CLOCK_FEATURE
#undef RUNNING_FEATURE
#define CLOCK_FEATURE(ID, NAME, HELP)
#define RUNNING_FEATURE(ID, NAME, HELP) RUNNING_AT_##ID,
enum running_feature {
#include "experiments/env/features.def"
    RUNNING_FEATURES
};
#undef TASK_FEATURE
#undef PLACE_FEATURE
#undef CLOCK_FEATURE
#undef RUNNING_FEATURE

enum reward {
#define REWARD(ID, NAME, METRIC, HELP) REWARD_##ID,
#include "experiments/env/rewards.def"
#undef REWARD
    REWARD_COUNT
};

/* A type of GPU in a pool, or (place 0) wherever a job's owner asks for. */
struct plan_place {
    const char *name;
    uint32_t pool_mask;         /* 0: all */
    uint32_t gpu_type;          /* as in struct cs_want; 0: any */
    bool shares_pool;           /* the pool has other types, too */
};

struct plan {
    const struct experiment *experiment;
    struct clustersim_env_shape shape;
    struct plan_place place[PLAN_PLACES_MAX];
    uint32_t size[PLAN_CHOICES_MAX];    /* GPUs; the first one is 0: as asked */
    uint32_t sizes;
    bool phases;                /* tasks are phases; else whole jobs */
    enum reward reward;
    enum clustersim_env_split split;
    uint64_t steps_max;         /* of an episode; 0: no limit */
};

/* Checks the options and reads the experiment with the agent as its policy; memory
 * in the arena.  False: err says why. */
bool plan_read(struct plan *plan, struct arena *arena, const char *path,
               const struct clustersim_env_options *options, struct err *err);
/* Returns the trial that a seed names; any number is a seed. */
struct trial_spec plan_trial(const struct plan *plan, uint64_t seed);

#endif
