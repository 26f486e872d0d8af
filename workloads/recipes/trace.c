/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.c - whole jobs: some GPUs for some time, and nothing inside.
 *
 * The model of scheduling studies (Feitelson 2015, Workload Modeling for
 * Computer Systems Performance Evaluation): a job is a rectangle.  One role,
 * one phase of known length, as the jobs of a trace file; here sizes and
 * lengths are drawn.  Size, length and limit come from streams of their own,
 * so that a change of one moves no other.
 */
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/jobs/demand.h"
#include "workloads/random/distribution.h"
#include "workloads/random/distribution_read.h"
#include "workloads/recipes/recipe.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "workloads/jobs/draw.h"
#include "workloads/jobs/packing.h"
#include "workloads/jobs/speedup_keys.h"

static const struct conf_field whole_fields[] = {
    KEYS_OF_ENTRY_BUT_LIMIT,
    CONF_KEY("gpus", CONF_NODE, recipe_keys, gpus, CONF_REQUIRED,
             "GPUs of a job: a whole number, or a part of one, as 0.25, or a "
             "distribution of these"),
    CONF_KEY("duration", CONF_NODE, recipe_keys, duration, CONF_REQUIRED,
             "run time of a job, a time or a distribution of times; draws "
             "below 1ns are 1ns, above 1e9s are 1e9s"),
    CONF_KEY("limit", CONF_NODE, recipe_keys, limit, CONF_ABSENT,
             "requested time over run time, a number or a distribution, at "
             "least 1; default: no limit is given"),
    CONF_KEY("role", CONF_NODE, recipe_keys, role, CONF_ABSENT,
             "what a GPU brings with it: cores, memory; types, pool"),
    CONF_KEY("elastic", CONF_NODE, recipe_keys, elastic, CONF_ABSENT,
             "sizes a job can be resized to: {min:, max:, scaling:}; default: "
             "it cannot"),
    CONF_KEY("rates", CONF_NODE, recipe_keys, rates, CONF_ABSENT,
             "pace by pool or GPU type, {v100: 1, k80: 0.25}, 1 being that of "
             "`duration`; one that is not named cannot run it"),
    CONF_KEY("packing", CONF_NODE, recipe_keys, packing, CONF_ABSENT,
             "pace while a job of that name holds the same GPUs, {lm: 0.8}, "
             "over the pace alone; both must name the other; default: it has "
             "its GPUs to itself"),
};
const struct conf_schema recipe_trace_schema =
    CONF_SCHEMA("workload.mix[].trace",
                "jobs of known size and length", whole_fields);

/* Returns the most GPUs that a job of the role could ever have.  Bisection:
 * what has room with n GPUs has room with fewer.  The errors of the tries go to
 * an err that nobody reads. */
uint32_t whole_job_gpus_max(const struct world *world,
                            const struct role_spec *role)
{
    uint32_t low = 0, high = world->cluster->gpu_count;
    struct role_spec asked = *role;
    struct err ignored;
    struct world quiet = *world;
    struct demand demand = {"trace", {NULL, 0, 0}, NULL, {NULL, 0, 0}};

    quiet.err = &ignored;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        memset(&ignored, 0, sizeof ignored);
        asked.gpus = asked.gpus_min = middle;
        if (demand_room(&quiet, &demand, &asked))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Makes the form of a whole job: one role and one phase.  Its GPUs need no
 * memory and have no state, and each job has a length of its own.  *gpus_max is
 * the largest gang that the cluster could hold. */
bool whole_job_form(const struct world *world, const char *name,
                    const struct conf_schema *schema,
                    const struct conf_node *conf, struct err_pos pos,
                    struct job_form *form, uint32_t *gpus_max)
{
    struct role_spec *role = &form->role[0];
    struct phase_law *law = arena_alloc(world->arena, 1, sizeof *law);
    struct role_keys keys = {0};
    struct demand demand = {name, conf != NULL ? conf_pos(conf) : pos, NULL,
                            {NULL, 0, 0}};
    const struct gpu_type *best;

    if (conf != NULL && !conf_fill(conf, schema, &keys, world->err))
        return false;
    demand.types = keys.types;
    if (keys.home != NULL)
        demand.home = conf_pos(conf_get(conf, "home"));
    form->name = name;
    form->recipe = "trace";
    form->role_count = form->phase_count = 1;
    role->name = "gpus";
    role->gpus = role->gpus_min = role->gpus_max = role->gpus_multiple = 1;
    role->cores = (uint32_t)keys.cores;
    role->memory_bytes = (int64_t)keys.memory_bytes;
    role->pool = keys.pool;
    role->home = keys.home;
    role->pos = demand.pos;
    law->kind = LAW_FIXED;
    form->phase[0].kind = PHASE_TRAIN;
    form->phase[0].name = "train";
    form->phase[0].every = 1;
    form->phase[0].law = law;
    if (!demand_types(world, &demand, role, &best) ||
        !demand_room(world, &demand, role))
        return false;
    *gpus_max = whole_job_gpus_max(world, role);
    return true;
}

/* The power cap must allow the largest job to run, or the smallest size to
 * which it may be resized. */
static bool check_power(const struct draft *draft, uint32_t gpus_max, double asked)
{
    const struct job_form *form = draft->form;
    uint64_t most = draw_most_milli(draft->world->cluster, &form->role[0], gpus_max);
    double least = form->scaling == NULL ? asked : fmin(asked, form->scaling->gpus_min);

    if (least * GPU_MILLI <= (double)most)
        return true;
    err_set(draft->world->err, ERR_RANGE, conf_pos(draft->keys.gpus),
            "jobs of %s ask for up to %g GPUs and can never run: power_cap allows at most %g "
            "GPUs to run at a time", form->name, asked, (double)most / GPU_MILLI);
    return err_hint(draft->world->err, "It takes a higher power_cap, or fewer GPUs.");
}

/* The table of `elastic` must have a speedup for each size that is drawn.
 * Parts of a GPU are never resized, so they need none. */
static bool check_sizes(const struct draft *draft, const struct distribution *d)
{
    size_t count = d->kind == DISTRIBUTION_CONSTANT ? 1 : d->sample_count;

    assert(distribution_gpus(d));
    for (size_t i = 0; i < count; i++) {
        double gpus = d->kind == DISTRIBUTION_CONSTANT ? d->a : d->sample[i];

        gpus = fmin(fmax(gpus, d->min), d->max);
        if (gpus >= 1.0 &&
            !speedup_check_size(draft->form->scaling, (uint32_t)gpus,
                                conf_pos(draft->keys.gpus), draft->world->err))
            return false;
    }
    return true;
}

/* Reads `gpus`: whole numbers, or parts of one GPU, none larger than the
 * largest gang that the cluster could hold. */
static bool read_gpus(const struct draft *draft, uint32_t gpus_max,
                      struct distribution *out)
{
    const struct conf_node *node = draft->keys.gpus;
    struct err *err = draft->world->err;

    if (!distribution_read_as(draft->world->arena, node, "gpus", CONF_REAL, out,
                              err))
        return false;
    if (!distribution_gpus(out)) {
        err_set(err, ERR_RANGE, conf_pos(node),
                "gpus must be whole numbers of at least 1, or parts of one "
                "GPU in thousandths");
        return err_hint(err, "Write a number, or {choice: {0.5: 0.2, 1: 0.5, "
                             "8: 0.3}}, or an empirical distribution.");
    }
    if (distribution_most(out) <= gpus_max)
        return check_sizes(draft, out) &&
               check_power(draft, gpus_max, distribution_most(out));
    return err_set(err, ERR_RANGE, conf_pos(node),
                   "jobs of %s ask for up to %.0f GPUs and can never run: the "
                   "cluster has %u that they may use", draft->form->name,
                   distribution_most(out), gpus_max);
}

/* Reads run times and limits.  A limit is a factor of at least 1, so it is
 * never below the run time. */
static bool read_durations(const struct draft *draft, struct entry *entry)
{
    const struct recipe_keys *keys = &draft->keys;
    const struct distribution *d = &entry->duration;
    struct arena *arena = draft->world->arena;
    struct err *err = draft->world->err;

    if (!distribution_read_as(arena, keys->duration, "duration", CONF_TIME,
                              &entry->duration, err))
        return false;
    if (distribution_least(d) < 0.0 || distribution_most(d) <= 0.0 ||
        distribution_least(d) > WHOLE_JOB_MAX_S)
        return err_set(err, ERR_RANGE, conf_pos(keys->duration),
                       "duration must be greater than 0s and at most 1e9s, "
                       "found draws from %gs to %gs", distribution_least(d),
                       distribution_most(d));
    if (keys->limit == NULL)
        return true;
    if (!distribution_read_as(arena, keys->limit, "limit", CONF_REAL,
                              &entry->limit, err))
        return false;
    entry->limit_is_factor = true;
    if (distribution_least(&entry->limit) >= 1.0)
        return true;
    err_set(err, ERR_RANGE, conf_pos(keys->limit),
            "limit must be at least 1, times the duration, found draws down "
            "to %g", distribution_least(&entry->limit));
    return err_hint(err, "Put min: 1 beside the distribution.");
}

/* Checks `rates` and lowers *gpus_max to the largest gang within the pools that
 * it names: elsewhere the job does not run. */
static bool check_rates(const struct draft *draft, uint32_t *gpus_max)
{
    const struct conf_node *rates = draft->keys.rates;
    uint32_t most;

    if (rates == NULL)
        return true;
    if (draft->entry.rates == NULL)
        return err_set(draft->world->err, ERR_SCHEMA, conf_pos(rates),
                       "rates must be a map of pools or GPU types, such as "
                       "{v100: 1, k80: 0.25}");
    most = speedup_gpus_max(draft->world, draft->entry.rates->pool_mask);
    if (most < *gpus_max)
        *gpus_max = most;
    return true;
}

/* Expands an entry: one role and one phase.  Sizes and lengths are drawn for
 * each job by source.c. */
static bool expand_entry(const struct recipe *recipe, const struct world *world,
                         const struct conf_node *conf, struct entry *out)
{
    struct draft draft;
    uint32_t gpus_max;

    if (!draft_open(&draft, world, conf, recipe) ||
        !whole_job_form(world, draft.keys.name, &role_whole_schema,
                        draft.keys.role, conf_pos(conf), draft.form,
                        &gpus_max) ||
        !speedup_keys_read(world, draft.keys.elastic, draft.keys.rates, draft.form,
                           &draft.entry.rates) ||
        !packing_read(world, draft.keys.packing, draft.form) ||
        !check_rates(&draft, &gpus_max) ||
        !read_gpus(&draft, gpus_max, &draft.entry.gpus) ||
        !read_durations(&draft, &draft.entry))
        return false;
    draft.entry.whole = true;
    *out = draft.entry;
    return true;
}

const struct recipe recipe_trace = {
    "trace", "one role of known length: drawn, or from a file of jobs",
    &recipe_trace_schema, expand_entry, 0};
