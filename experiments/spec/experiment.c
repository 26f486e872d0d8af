/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiment.c - the trials of an experiment by their number, and what each
 * depends on.
 *
 * index = (point x policies + policy) x seeds + seed: the seed runs fastest, so
 * that trials of a policy at a point stand side by side.  The hash of a trial
 * names its file in .trials; whatever may change a row of its tables must be in
 * it, and nothing else should be, or trials are run again in vain.
 */
#include "experiments/spec/experiment.h"

#include <assert.h>
#include <string.h>

#include "experiments/own/own_metrics.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "policies/registry/rules.h"
#include "sim/config/conf.h"
#include "sim/text/hash.h"
#include "workloads/source.h"

uint32_t experiment_trial_count(const struct experiment *experiment)
{
    return experiment->point_count * experiment->policy_count * experiment->seeds;
}

struct experiment_trial experiment_trial(const struct experiment *experiment, uint32_t index)
{
    assert(index < experiment_trial_count(experiment));
    return (struct experiment_trial){
        .point = index / experiment->seeds / experiment->policy_count,
        .policy = index / experiment->seeds % experiment->policy_count,
        .seed = index % experiment->seeds
    };
}

bool experiment_draws(const struct experiment *experiment, uint32_t point, uint32_t policy)
{
    const struct experiment_point *at = experiment->point[point].met[policy];

    return workload_draws(at->workload) || cluster_draws(at->cluster) ||
           host_policy_draws(at->policy[policy]);
}

/* Where nothing is drawn, the trial of seed 0 stands for all seeds. */
bool experiment_is_copy(const struct experiment *experiment, uint32_t index)
{
    struct experiment_trial trial = experiment_trial(experiment, index);

    return trial.seed > 0 && !experiment_draws(experiment, trial.point, trial.policy);
}

uint32_t experiment_run_count(const struct experiment *experiment)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < experiment->point_count; t++)
        for (uint32_t p = 0; p < experiment->policy_count; p++)
            count += experiment_draws(experiment, t, p) ? experiment->seeds : 1;
    return count;
}

const struct metric_set *experiment_metrics(const struct experiment *experiment)
{
    return &experiment->own->set;
}

/* The point is the one that the policy meets, with the keys of its `with:`. */
struct trial_spec experiment_trial_spec(const struct experiment *experiment, uint32_t index)
{
    struct experiment_trial trial = experiment_trial(experiment, index);
    const struct experiment_point *point =
        experiment->point[trial.point].met[trial.policy];
    bool guest = point->policy[trial.policy]->guest;

    return (struct trial_spec){
        .cluster = point->cluster,
        .workload = point->workload,
        .policy = point->policy[trial.policy],
        .guest = guest ? experiment->process.guest : experiment->process.built_in,
        .alone = !guest && experiment->process.built_in.apart,
        .seed = experiment->seed,
        .replica = trial.seed,
        .warmup_ns = experiment->warmup_ns,
        .until_ns = experiment->until_ns,
        .stalled_ns = experiment->stalled_ns,
        .event_count_max = experiment->event_count_max,
        .by_step = point->by_step,
        .audit_full = experiment->option.audit_full,
        .own = experiment->own,
        .point = point->label,
        .stop = NULL
    };
}

/* The hash of the program's own file is part of it: a new build may compute
 * other results. */
uint64_t experiment_trial_hash(const struct experiment *experiment, uint32_t index)
{
    struct experiment_trial trial = experiment_trial(experiment, index);
    const struct experiment_point *point =
        experiment->point[trial.point].met[trial.policy];
    const uint64_t number[] = {
        experiment->program_hash, experiment->catalogue_hash, point->cluster_hash,
        point->workload_hash, point->policy_hash[trial.policy], experiment->seed, trial.seed,
        (uint64_t)experiment->warmup_ns, (uint64_t)experiment->until_ns,
        (uint64_t)experiment->stalled_ns, experiment->event_count_max,
        (uint64_t)experiment->timeline_step_ns, point->by_step, experiment->tables,
        experiment->perfetto, trial.seed < experiment->detail_seeds, experiment->own->hash,
        experiment->option.audit_full
    };
    uint64_t hash = hash_text(HASH_START, CLUSTERSIM_VERSION);

    hash = hash_text(hash, point->label);
    hash = hash_text(hash, experiment->policy_name[trial.policy]);
    return hash_numbers(hash, number, sizeof number / sizeof number[0]);
}

/* An entry may be a map by now that the file has as a word: both are looked for
 * by their name. */
struct err_pos experiment_policy_pos(const struct experiment *experiment, const char *policy)
{
    struct err_pos pos = { experiment->path, 0, 0 };
    const struct conf_node *tree = experiment->tree, *list = NULL;

    if (tree != NULL)
        list = conf_get(tree, conf_get(tree, "options") != NULL ? "options" : "policies");
    if (list == NULL)
        return pos;
    for (size_t i = 0; policy != NULL && i < conf_count(list); i++) {
        const struct conf_node *entry = conf_item(list, i), *name = entry;

        if (conf_kind(entry) == CONF_MAP)
            name = conf_get(entry, conf_get(entry, "name") != NULL ? "name" : "policy");
        if (name == NULL || strcmp(conf_text(name), policy) != 0)
            continue;
        /* A policy from a file is a word there, which became a map. */
        return conf_pos(conf_kind(entry) == CONF_MAP ? conf_get(entry, "policy") : entry);
    }
    return conf_pos(list);
}
