/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.c - a row of advice as an experiment of one job: text, as a user would
 * write it.
 *
 * Keys of the entry that the layout decides (degrees, GPUs, cores, workers) are
 * replaced, all others are kept as they were written.  The text is read back by
 * the usual readers (time.c), so that what is advised is what `run` runs; a
 * layout that the reader refuses is left out and counted.
 */
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* Is the key in a list that ends with NULL? */
static bool is_among(const char *key, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, key) == 0)
            return true;
    return false;
}

/* Returns ", key: value" for each key of a map that is not among the names. */
static const char *format_kept(struct arena *arena,
                               const struct conf_node *map,
                               const char *const *names)
{
    const char *text = "";

    for (size_t i = 0; map != NULL && conf_kind(map) == CONF_MAP &&
                       i < conf_count(map); i++)
        if (!is_among(conf_key(map, i), names))
            text = text_format(arena, "%s, %s: %s", text, conf_key(map, i),
                               advise_conf_text(arena, conf_value(map, i)));
    return text;
}

static const char *const role_replaced[] = {
    "gpus", "min", "max", "types", "pool", "home", "cores", "cpu", "tp", NULL };

/* Returns the pool of a role: its own in the plan's cluster, or the given one's. */
static const char *find_pool(const struct advise_world *world,
                             const struct advise_choice *choice,
                             const char *name)
{
    const struct cluster_spec *spec = choice->place->spec;

    return world->cluster == NULL ? name
                                  : spec->pool_name[choice->place->group
                                                        ->pool];
}

/* Returns the role on the chosen GPUs.  tp is left out where the GPUs that
 * train also generate: it stands with the rollout. */
static const char *format_role(const struct advice *advice, const char *name,
                               const struct conf_node *conf,
                               const struct advise_choice *choice,
                               uint32_t cores)
{
    struct arena *arena = advice->world->arena;
    const char *tp = choice->engine.tp == 0 || advice->job->shares
                         ? "" : text_format(arena, ", tp: %u",
                                            choice->engine.tp);

    return text_format(arena, ",\n       %s: {gpus: %u, types: [%s], pool: "
                       "%s, cores: %u%s%s}", name, choice->gpus,
                       choice->place->group->gpu->name,
                       find_pool(advice->world, choice, name), cores, tp,
                       format_kept(arena, conf, role_replaced));
}

/* Returns the loader as written, but for its workers, which are as many as the
 * cores. */
static const char *format_loader(const struct advice *advice,
                                 const struct advise_row *row)
{
    static const char *const replaced[] = { "workers", NULL };
    const struct conf_node *conf = advice->job->keys.loader;

    if (conf == NULL)
        return "";
    return text_format(advice->world->arena,
                       ",\n       loader: {workers: %u%s}", row->workers,
                       format_kept(advice->world->arena, conf, replaced));
}

/* Returns the role without GPUs: at most one, called data; NULL: there is none. */
static const struct role_spec *find_data_role(const struct advise_job *job)
{
    for (uint32_t r = 0; r < job->form->role_count; r++)
        if (job->form->role[r].gpus == 0)
            return &job->form->role[r];
    return NULL;
}

/* Returns the line of the data role; "" where there is none, or where it stands as
 * it was.  On a cluster of the user's own the entry is kept; on rented nodes the
 * role has a pool of its own, whose name replaces what was written. */
static const char *format_data(const struct advice *advice)
{
    static const char *const replaced[] = { "pool", "home", "cores",
                                            NULL };
    const struct role_spec *role = find_data_role(advice->job);
    const struct conf_node *conf = advice->job->keys.data;
    struct arena *arena = advice->world->arena;

    if (role == NULL)
        return "";
    if (advice->world->cluster != NULL)
        return conf == NULL ? "" : text_format(
            arena, ",\n       data: %s", advise_conf_text(arena, conf));
    return text_format(arena, ",\n       data: {pool: data, cores: %u%s}",
                       role->cores, format_kept(arena, conf, replaced));
}

/* Returns the keys of the layout.  Degrees of 1 are left out, except tp and pp. */
static const char *format_layout(struct arena *arena,
                                 const struct advise_choice *choice)
{
    const struct train_shape *shape = &choice->layout.shape;
    const char *rest = "";

    if (shape->net != NULL)
        return text_format(arena, ",\n       micro_batch: %g",
                           shape->micro_batch);
    if (shape->ep > 1)
        rest = text_format(arena, "%s ep: %u,", rest, shape->ep);
    if (shape->cp > 1)
        rest = text_format(arena, "%s cp: %u,", rest, shape->cp);
    if (shape->vp > 1)
        rest = text_format(arena, "%s vp: %u,", rest, shape->vp);
    if (shape->sequence_parallel)
        rest = text_format(arena, "%s sequence_parallel: true,", rest);
    return text_format(arena, ",\n       tp: %u, pp: %u,%s zero: %d, "
                       "recompute: %s, micro_batch: %g", shape->tp, shape->pp,
                       rest, shape->zero, recompute_choices[shape->recompute],
                       shape->micro_batch);
}

/* Returns the key of the role that generates: beside training it makes rollouts. */
static const char *engine_key(const struct advise_job *job)
{
    return job->trains ? "rollout" : "infer";
}

uint32_t advise_engine_cores(const struct advise_job *job,
                             const struct advise_choice *choice)
{
    uint32_t cores = job->form->role[job->engine].cores;

    return cores < choice->place->cores ? cores : choice->place->cores;
}

/* Returns the entry of the mix.  Limits, deadlines and tenants are left out:
 * they are of no use to a single job. */
static const char *format_entry(const struct advice *advice,
                                const struct advise_row *row)
{
    static const char *const replaced[] = {
        "recipe", "name", "share", "steps", "limit", "deadline", "priority",
        "tenant", "tp", "pp", "ep", "cp", "vp", "sequence_parallel",
        "zero", "recompute", "micro_batch", "train",
        "rollout", "infer", "data", "loader", NULL };
    static const char *const only_tp[] = { "tp", NULL };
    const struct advise_job *job = advice->job;
    struct arena *arena = advice->world->arena;
    const char *text = text_format(
        arena, "    - {recipe: %s, name: %s, steps: %.0f%s", job->keys.recipe,
        advise_conf_text(arena, conf_get(job->conf, "name") != NULL
                                    ? conf_get(job->conf, "name")
                                    : conf_get(job->conf, "recipe")),
        job->steps, format_kept(arena, job->conf, replaced));

    if (job->trains)
        text = text_format(arena, "%s%s%s", text,
                           format_layout(arena, &row->train),
                           format_role(advice, "train", job->keys.train,
                                       &row->train, row->cores));
    if (job->shares)
        text = text_format(arena, "%s,\n       rollout: {tp: %u%s}", text,
                           row->train.engine.tp,
                           format_kept(arena, job->keys.rollout, only_tp));
    if (job->engine != ADVISE_NONE)
        text = text_format(arena, "%s%s", text,
                           format_role(advice, engine_key(job),
                                       job->trains ? job->keys.rollout
                                                   : job->keys.infer,
                                       &row->engine,
                                       advise_engine_cores(job,
                                                             &row->engine)));
    return text_format(arena, "%s%s%s}\n", text, format_loader(advice, row),
                       format_data(advice));
}

/* Returns the nodes of the data role, for which the catalogue has no instance;
 * "" if there is no such role. */
static const char *format_data_nodes(const struct advice *advice)
{
    const struct role_spec *role = find_data_role(advice->job);

    if (role == NULL)
        return "";
    /* assumption: a socket for each 64 cores, rented by the core, and the
     * drive of models/clusters/mixed_64.yaml */
    return text_format(advice->world->arena,
                       "  - {name: data, cpu: {type: epyc-7763, sockets: %u}, "
                       "cores: %u, memory: %.0fGB,\n     nvme: 1x1.9TB, "
                       "nvme_type: nvme-gen4}\n",
                       (role->cores + 63) / 64, role->cores,
                       ceil((double)role->memory_bytes / 1e9) + 1.0);
}

/* Returns the cluster of a row: the user's own, as it was written, or rented nodes,
 * as many as this row's roles take and no more. */
static const char *format_cluster(const struct advice *advice,
                                  const struct advise_row *row)
{
    const struct advise_world *world = advice->world;
    const struct advise_job *job = advice->job;
    const char *nodes = "";

    if (world->cluster != NULL)
        return text_format(world->arena, "cluster: %s\n",
                           advise_conf_text(world->arena, world->cluster));
    if (job->trains)
        nodes = advise_nodes_text(world, row->train.place, "train",
                                  row->train.gpus, row->cores);
    if (job->engine != ADVISE_NONE)
        nodes = text_format(world->arena, "%s%s", nodes,
                            advise_nodes_text(world, row->engine.place,
                                              engine_key(job),
                                              row->engine.gpus,
                                              advise_engine_cores(
                                                  job, &row->engine)));
    return text_format(world->arena, "cluster:\n  nodes:\n%s",
                       text_format(world->arena, "%s%s", nodes,
                                   format_data_nodes(advice)));
}

/* Returns an expectation of 2% on both sides of a value: draws of rollouts, and
 * rounding, may change it by that. */
static const char *format_within(struct arena *arena, const char *metric,
                                 double value)
{
    return text_format(arena, "  - {metric: %s, policy: fcfs, between: "
                       "[%.6g, %.6g]}\n", metric, 0.98 * value,
                       1.02 * value);
}

/* Returns the expectations of a timed row.  A given cluster is larger than the
 * row and costs more, so that only the time is expected there. */
static const char *format_expect(const struct advice *advice,
                                 const struct advise_row *row)
{
    struct arena *arena = advice->world->arena;
    bool priced = advice->world->cluster == NULL && row->usd > 0.0;

    if (!row->timed)
        return "";
    return text_format(arena, "expect:   # 2%% around what was advised\n%s%s",
                       format_within(arena, "jct_mean_s", row->time_s),
                       priced ? format_within(arena, "cost_usd", row->usd)
                              : "");
}

char *advise_plan_text(const struct advice *advice,
                       const struct advise_row *row)
{
    struct arena *arena = advice->world->arena;
    return text_format(
        arena, "# Made by `clustersim advise`: one row of its advice.\n"
        "experiment: advice\nseeds: 1\n%sworkload:\n"
        "  arrival: {process: fixed, times: [0s]}\n  jobs: 1\n  mix:\n%s"
        "until: drained\npolicies: [{policy: fcfs, placement: first_fit}]\n"
        "output: {tables: [summary, jobs, phases], plots: [gantt]}\n%s",
        format_cluster(advice, row), format_entry(advice, row),
        format_expect(advice, row));
}
