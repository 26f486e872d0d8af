/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * study.c - the trials of an experiment by their number, and what each depends
 * on.
 */
#include "experiments/spec/study.h"

#include <assert.h>

#include "sim/text/hash.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "workloads/source.h"

uint32_t study_trial_count(const struct study *study)
{
    return study->point_count * study->policy_count * study->seeds;
}

struct study_trial study_trial(const struct study *study, uint32_t index)
{
    assert(index < study_trial_count(study));
    return (struct study_trial){
        .point = index / study->seeds / study->policy_count,
        .policy = index / study->seeds % study->policy_count,
        .seed = index % study->seeds
    };
}

bool study_draws(const struct study *study, uint32_t point, uint32_t policy)
{
    const struct study_point *at = &study->point[point];

    return workload_draws(at->workload) || cluster_draws(at->cluster) ||
           host_policy_draws(at->policy[policy]);
}

bool study_is_copy(const struct study *study, uint32_t index)
{
    struct study_trial trial = study_trial(study, index);

    return trial.seed > 0 && !study_draws(study, trial.point, trial.policy);
}

uint32_t study_run_count(const struct study *study)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < study->point_count; t++)
        for (uint32_t p = 0; p < study->policy_count; p++)
            count += study_draws(study, t, p) ? study->seeds : 1;
    return count;
}

struct trial_spec study_trial_spec(const struct study *study, uint32_t index)
{
    struct study_trial trial = study_trial(study, index);
    const struct study_point *point = &study->point[trial.point];

    return (struct trial_spec){
        .cluster = point->cluster,
        .workload = point->workload,
        .policy = point->policy[trial.policy],
        .seed = study->seed,
        .replica = trial.seed,
        .warmup_ns = study->warmup_ns,
        .until_ns = study->until_ns,
        .stalled_ns = study->stalled_ns,
        .event_count_max = study->event_count_max,
        .by_step = point->by_step,
        .point = point->label,
        .stop = NULL
    };
}

uint64_t study_trial_hash(const struct study *study, uint32_t index)
{
    struct study_trial trial = study_trial(study, index);
    const struct study_point *point = &study->point[trial.point];
    uint64_t hash = hash_text(HASH_START, CLUSTERSIM_VERSION);

    hash = hash_u64(hash, study->program_hash);
    hash = hash_u64(hash, study->catalogue_hash);
    hash = hash_u64(hash, point->cluster_hash);
    hash = hash_u64(hash, point->workload_hash);
    hash = hash_u64(hash, point->policy_hash[trial.policy]);
    hash = hash_text(hash, point->label);
    hash = hash_text(hash, study->policy_name[trial.policy]);
    hash = hash_u64(hash, study->seed);
    hash = hash_u64(hash, trial.seed);
    hash = hash_u64(hash, (uint64_t)study->warmup_ns);
    hash = hash_u64(hash, (uint64_t)study->until_ns);
    hash = hash_u64(hash, (uint64_t)study->stalled_ns);
    hash = hash_u64(hash, study->event_count_max);
    hash = hash_u64(hash, (uint64_t)study->timeline_step_ns);
    hash = hash_u64(hash, point->by_step);
    hash = hash_u64(hash, study->tables);
    hash = hash_u64(hash, study->perfetto);
    hash = hash_u64(hash, trial.seed < study->detail_seeds);
    return hash;
}
