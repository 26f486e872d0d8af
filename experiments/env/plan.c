/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - an experiment as an environment: its shape, its places, the trials
 * that seeds name.
 *
 * The agent takes the place of `policies:` as a guest of the registry, so that
 * all else of the experiment is read as `run` reads it.  A seed names a point
 * of the sweep and a replica: s % points, and the s / points-th replica of the
 * split, so that an agent meets all points alike.
 */
#include "experiments/env/plan.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "experiments/env/agent.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

/* Rows and trials that fit into memory: 65,536 trials of 4,096 rows are some 10 GB. */
#define ROWS_USUAL 128u
#define COUNT_MAX 65536u

static const struct err_pos nowhere = { NULL, 0, 0 };

static const char *const reward_name[] = {
#define REWARD(ID, NAME, METRIC, HELP) NAME,
#include "experiments/env/rewards.def"
#undef REWARD
};

/* Splits are ranges of replicas that never meet.  `run` draws replicas from 0 on,
 * so test trials can be compared with it. */
void clustersim_env_replicas(enum clustersim_env_split split, uint32_t *first,
                             uint32_t *count)
{
    static const uint32_t range[CLUSTERSIM_ENV_SPLIT_COUNT][2] = {
        [CLUSTERSIM_ENV_TEST] = { 0, 1000000 },
        [CLUSTERSIM_ENV_VALIDATION] = { 1000000, 1000000 },
        [CLUSTERSIM_ENV_TRAIN] = { 2000000, 2000000000 },
    };

    assert(split < CLUSTERSIM_ENV_SPLIT_COUNT);
    *first = range[split][0];
    *count = range[split][1];
}

/* ---- options ---- */

/* Without a name, the first reward of rewards.def. */
static bool find_reward(const char *name, enum reward *reward, struct err *err)
{
    for (uint32_t r = 0; r < REWARD_COUNT; r++)
        if (name == NULL || strcmp(name, reward_name[r]) == 0) {
            *reward = (enum reward)r;
            return true;
        }
    return err_set(err, ERR_USAGE, nowhere, "reward must be jct, wait or makespan, found "
                   "'%.60s'", name);
}

/* Takes options into the plan, with the usual value where one is 0.  False, with err:
 * one is out of its range. */
static bool check_options(struct plan *plan, const char *path,
                          const struct clustersim_env_options *options, struct err *err)
{
    plan->shape.count = options->count == 0 ? 1 : options->count;
    plan->shape.rows = options->rows == 0 ? ROWS_USUAL : options->rows;
    plan->phases = options->phases;
    plan->shape.running_rows = options->running;
    plan->split = options->split;
    plan->steps_max = options->steps_max;
    if (path == NULL)
        return err_set(err, ERR_USAGE, nowhere, "clustersim_env_open needs a path");
    if (plan->shape.count > COUNT_MAX)
        return err_set(err, ERR_USAGE, nowhere, "count must be from 1 to %u, found %u",
                       COUNT_MAX, plan->shape.count);
    if (plan->shape.rows > PLAN_ROWS_MAX)
        return err_set(err, ERR_USAGE, nowhere, "rows must be from 1 to %u, found %u",
                       PLAN_ROWS_MAX, plan->shape.rows);
    if (options->running > PLAN_ROWS_MAX)
        return err_set(err, ERR_USAGE, nowhere, "running must be from 0 to %u, found %u",
                       PLAN_ROWS_MAX, options->running);
    if ((unsigned)options->split >= CLUSTERSIM_ENV_SPLIT_COUNT)
        return err_set(err, ERR_USAGE, nowhere, "split must be from 0 to %u, found %u",
                       CLUSTERSIM_ENV_SPLIT_COUNT - 1, (unsigned)options->split);
    return find_reward(options->reward, &plan->reward, err);
}

/* Writes the agent as the only entry of `policies:`, with the keys that were
 * given.  Whether these keys may stand there is checked by the reader of the
 * experiment. */
static bool write_entry(struct arena *arena, const char *rules, const char **entry,
                        struct err *err)
{
    size_t bytes = rules == NULL ? 0 : strlen(rules);

    if (bytes == 0) {
        *entry = "[{policy: agent}]";
        return true;
    }
    if (bytes < 2 || rules[0] != '{' || rules[bytes - 1] != '}')
        return err_set(err, ERR_USAGE, nowhere, "rules must be a map as "
                       "{placement: count}, found '%.80s'", rules);
    *entry = text_format(arena, "[{policy: agent%s%.*s}]", bytes > 2 ? ", " : "",
                         (int)(bytes - 2), rules + 1);
    return true;
}

/* Keys that speak of policies are those of none here: without this they would name
 * policies that the agent stands for. */
static void replace_keys(struct arena *arena, const struct clustersim_env_options *options,
                         struct experiment_options *reading)
{
    const char **set = arena_alloc(arena, options->set_count + 2, sizeof *set);

    for (size_t i = 0; i < options->set_count; i++)
        set[i] = options->set[i];
    set[options->set_count] = "baseline=agent";
    set[options->set_count + 1] = "expect=[]";
    reading->set = set;
    reading->set_count = options->set_count + 2;
}

/* Nothing is stored, so the program's hash does not matter. */
static const struct experiment *read_experiment(struct arena *arena, const char *path,
                                                const struct clustersim_env_options *options,
                                                struct err *err)
{
    const struct cs_policy *agent = agent_policy(options->phases, options->running > 0);
    struct registry_guest *guest = arena_alloc(arena, 1, sizeof *guest);
    struct experiment_options reading = {
        .text = options->text,
        .program_hash = 1,      /* nothing is kept that it would be of */
        .guest = guest, .guest_count = 1
    };
    const struct experiment *experiment;

    *guest = (struct registry_guest){ "agent", agent, 1 };
    replace_keys(arena, options, &reading);
    if (!write_entry(arena, options->rules, &reading.policies, err))
        return NULL;
    experiment = experiment_read(arena, path, &reading, err);
    if (experiment == NULL || !experiment->tuned)
        return experiment;
    err_set(err, ERR_SCHEMA, nowhere, "the experiment tunes its policies first, which an "
            "environment does not do");
    return NULL;
}

/* ---- places ---- */

/* Returns the cluster that the agent meets at a point: it is the only policy. */
static const struct cluster_spec *find_cluster(const struct plan *plan, uint32_t point)
{
    return plan->experiment->point[point].met[0]->cluster;
}

/* Is there a place already for that pool and type? */
static bool has_place(const struct plan *plan, const struct node_group *group)
{
    for (uint32_t p = 1; p < plan->shape.places; p++)
        if (plan->place[p].pool_mask == 1u << group->pool &&
            plan->place[p].gpu_type == group->gpu->index + 1)
            return true;
    return false;
}

/* Adds the place POOL/TYPE, and notes where a pool has several types. */
static bool add_place(struct plan *plan, struct arena *arena, const struct node_group *group,
                      const char *pool, struct err *err)
{
    struct plan_place *place = &plan->place[plan->shape.places];

    if (plan->shape.places == PLAN_PLACES_MAX)
        return err_set(err, ERR_LIMIT, nowhere, "the cluster has more than %u types of GPU "
                       "in pools", PLAN_PLACES_MAX - 1);
    *place = (struct plan_place){
        .name = text_format(arena, "%s/%s", pool, group->gpu->name),
        .pool_mask = 1u << group->pool, .gpu_type = group->gpu->index + 1
    };
    for (uint32_t p = 1; p < plan->shape.places; p++)
        if (plan->place[p].pool_mask == place->pool_mask)
            place->shares_pool = plan->place[p].shares_pool = true;
    plan->shape.places++;
    return true;
}

/* Place 0 is where the owner asks for; then each type in each pool.  If there is
 * one place only, choosing it would choose nothing, and place 0 stays alone. */
static bool find_places(struct plan *plan, struct arena *arena, struct err *err)
{
    const struct cluster_spec *cluster = find_cluster(plan, 0);

    plan->place[0] = (struct plan_place){ .name = "as asked" };
    plan->shape.places = 1;
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];
        if (group->gpu != NULL && group->gpus > 0 && !has_place(plan, group) &&
            !add_place(plan, arena, group, cluster->pool_name[group->pool], err))
            return false;
    }
    if (plan->shape.places == 2)
        plan->shape.places = 1;
    return true;
}

/* Do all points have the same places?  The number of actions is fixed for an
 * environment. */
static bool check_points(const struct plan *plan, struct arena *arena, struct err *err)
{
    for (uint32_t i = 1; i < plan->experiment->point_count; i++) {
        struct plan other = { .experiment = plan->experiment };

        if (find_cluster(plan, i) == find_cluster(plan, 0))
            continue;
        other.shape.places = 1;
        for (uint32_t g = 0; g < find_cluster(plan, i)->group_count; g++) {
            const struct cluster_spec *cluster = find_cluster(plan, i);
            const struct node_group *group = &cluster->group[g];
            if (group->gpu != NULL && group->gpus > 0 && !has_place(&other, group) &&
                !add_place(&other, arena, group, cluster->pool_name[group->pool], err))
                return false;
        }
        other.shape.places -= other.shape.places == 2;
        bool alike = other.shape.places == plan->shape.places;
        for (uint32_t p = 1; alike && p < plan->shape.places; p++)
            alike = strcmp(other.place[p].name, plan->place[p].name) == 0;
        if (alike)
            continue;
        err_set(err, ERR_RANGE, nowhere, "point %.80s has other places than %.80s",
                plan->experiment->point[i].label, plan->experiment->point[0].label);
        return err_hint(err, "An environment needs the same pools with the same types of GPU "
                        "at all points. Set the swept key to one value.");
    }
    return true;
}

/* ---- the plan ---- */

/* The sizes rise, so that none stands there twice. */
static bool read_sizes(struct plan *plan, const struct clustersim_env_options *options,
                       struct err *err)
{
    uint32_t count = options->size_count, most = PLAN_CHOICES_MAX / plan->shape.places - 1;

    if (count > most)
        return err_set(err, ERR_USAGE, nowhere, "sizes must be at most %u where there are %u "
                       "places, found %u", most, plan->shape.places, count);
    for (uint32_t i = 0; i < count; i++) {
        plan->size[i + 1] = options->sizes[i];
        if (plan->size[i + 1] <= plan->size[i])
            return err_set(err, ERR_USAGE, nowhere, "sizes must be from 1 on and rise, found "
                           "%u behind %u", plan->size[i + 1], plan->size[i]);
    }
    plan->sizes = count + 1;
    return true;
}

bool plan_read(struct plan *plan, struct arena *arena, const char *path,
               const struct clustersim_env_options *options, struct err *err)
{
    struct clustersim_env_shape *shape = &plan->shape;

    if (!check_options(plan, path, options, err))
        return false;
    plan->experiment = read_experiment(arena, path, options, err);
    if (plan->experiment == NULL || !find_places(plan, arena, err) ||
        !check_points(plan, arena, err))
        return false;
    shape->row_features = TASK_FEATURES;
    shape->place_features = PLACE_FEATURES;
    shape->clock_features = CLOCK_FEATURES;
    shape->running_features = RUNNING_FEATURES;
    if (!read_sizes(plan, options, err))
        return false;
    shape->choices = shape->places * plan->sizes;
    shape->ends = plan->sizes;
    shape->actions = shape->rows * shape->choices + shape->running_rows * shape->ends + 1;
    shape->floats = shape->rows * TASK_FEATURES + shape->places * PLACE_FEATURES +
                    CLOCK_FEATURES + shape->running_rows * RUNNING_FEATURES;
    shape->points = plan->experiment->point_count;
    return true;
}

/* by_host: the shortcut for trials that need no decisions is not taken. */
struct trial_spec plan_trial(const struct plan *plan, uint64_t seed)
{
    const struct experiment *experiment = plan->experiment;
    uint32_t point = (uint32_t)(seed % plan->shape.points), first, count;
    struct trial_spec spec =
        experiment_trial_spec(experiment, point * experiment->policy_count * experiment->seeds);

    clustersim_env_replicas(plan->split, &first, &count);
    spec.replica = first + (uint32_t)(seed / plan->shape.points % count);
    spec.by_host = true;
    return spec;
}
