/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.c - the built-in policies: one line here and one file beside this.
 */
#include "policies/registry/registry.h"

#include <string.h>

#include "policies/policy.h"
#include "sim/base/err.h"

extern const struct cs_policy fcfs_policy, sjf_policy, ljf_policy,
    hrrn_policy, wfp3_policy, unicef_policy, f1_policy, edf_policy,
    fair_share_policy, srtf_policy, srsf_policy, fewest_gpus_policy,
    las_policy, dlas_policy, easy_policy, conservative_policy, static_policy,
    dynamic_policy, hybrid_policy, learned_policy, random_policy,
    gittins_policy, time_slice_policy, qssf_policy, drf_policy,
    gavel_policy, allox_policy, themis_policy, optimus_policy, afs_policy,
    elasticflow_policy, starburst_policy, synergy_policy, co_execution_policy,
    harvest_policy, spot_rollout_policy, elastic_hybrid_policy,
    quota_policy, lucid_policy, shockwave_policy, pollux_policy,
    sia_policy;

static const struct cs_policy *const builtin[] = {
    &fcfs_policy, &sjf_policy, &ljf_policy, &hrrn_policy, &wfp3_policy,
    &unicef_policy, &f1_policy, &edf_policy, &fair_share_policy,
    &srtf_policy, &srsf_policy, &fewest_gpus_policy, &las_policy,
    &dlas_policy, &easy_policy, &conservative_policy, &static_policy,
    &dynamic_policy, &hybrid_policy, &learned_policy, &random_policy,
    &gittins_policy, &time_slice_policy, &qssf_policy, &drf_policy,
    &gavel_policy, &allox_policy, &themis_policy, &optimus_policy,
    &afs_policy, &elasticflow_policy, &starburst_policy,
    &synergy_policy, &co_execution_policy, &harvest_policy,
    &spot_rollout_policy, &elastic_hybrid_policy, &quota_policy,
    &lucid_policy, &shockwave_policy, &pollux_policy,
    &sia_policy,
};
#define BUILTIN_COUNT (sizeof builtin / sizeof builtin[0])

static const char *const builtin_name[] = {
    "fcfs", "sjf", "ljf", "hrrn", "wfp3", "unicef", "f1", "edf",
    "fair-share", "srtf", "srsf", "fewest-gpus", "las", "dlas", "easy",
    "conservative", "static", "dynamic", "hybrid", "learned", "random",
    "gittins", "time-slice", "qssf", "drf", "gavel", "allox",
    "themis", "optimus", "afs", "elasticflow", "starburst",
    "synergy", "co-execution", "harvest", "spot-rollout", "elastic-hybrid",
    "quota", "lucid", "shockwave", "pollux",
    "sia", NULL
};

const struct cs_policy *registry_at(size_t i)
{
    return i < BUILTIN_COUNT ? builtin[i] : NULL;
}

const struct cs_policy *registry_find(const char *name)
{
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        if (strcmp(builtin[i]->name, name) == 0)
            return builtin[i];
    return NULL;
}

/* Names in the literature and in other simulators, in small letters and without
 * blanks, - and _; and what they are here. */
static const char *const meant[][2] = {
    { "fifo", "fcfs" },
    { "firstcomefirstserved", "fcfs" },
    { "backfill", "easy" },
    { "backfilling", "easy" },
    { "easybackfill", "easy" },
    { "easybackfilling", "easy" },
    { "fcfsbackfill", "easy" },
    { "fcfseasy", "easy" },
    { "conservativebackfill", "conservative" },
    { "conservativebackfilling", "conservative" },
    { "shortestjobfirst", "sjf" },
    { "spt", "sjf" },
    { "longestjobfirst", "ljf" },
    { "lpt", "ljf" },
    { "srpt", "srtf" },
    { "preemptivesjf", "srtf" },
    { "sjfpreemptive", "srtf" },
    { "smallestfirst", "fewest-gpus" },
    { "deadline", "edf" },
    { "earliestdeadlinefirst", "edf" },
    { "fair", "fair-share" },
    { "dominantresourcefairness", "drf" },
    { "leastattainedservice", "las" },
    { "mlfq", "dlas" },
    { "2dlas", "dlas" },
    { "rr", "time-slice" },
    { "roundrobin", "time-slice" },
    { "gandiva", "time-slice" },
    { "maxmin", "gavel" },
    { "maxminfairness", "gavel" },
    { "tiresias", "{policy: dlas, semantics: tiresias}" },
    { "tiresiasl", "{policy: dlas, semantics: tiresias}" },
    { "tiresiasg", "gittins" },
    { "helios", "qssf" },
    { "pai", "{policy: fcfs, semantics: pai}" },
    { "accasim", "{policy: fcfs, semantics: accasim}" },
    { "fgd", "{policy: fcfs, semantics: fgd}" },
    { "rlscheduler", "{policy: f1, semantics: rlscheduler}" },
};

const char *registry_meant(const char *name)
{
    char key[40];
    size_t n = 0;

    for (; *name != '\0'; name++) {
        if (*name == '-' || *name == '_' || *name == ' ')
            continue;
        if (n + 1 == sizeof key)
            return NULL;
        key[n++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a')
                                                : *name;
    }
    key[n] = '\0';
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
        if (strcmp(meant[i][0], key) == 0)
            return meant[i][1];
    return NULL;
}

const char *const *registry_names(void)
{
    return builtin_name;
}

static bool is_valid_name(const char *name)
{
    if (!name || name[0] < 'a' || name[0] > 'z')
        return false;
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

bool registry_check(const struct cs_policy *policy, struct err *err)
{
    struct err_pos nowhere = { 0 };
    const char *name = policy->name ? policy->name : "(none)";

    if (policy->abi_major != CS_POLICY_ABI_MAJOR)
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: abi %u, this program has %u", name,
                       policy->abi_major, CS_POLICY_ABI_MAJOR);
    if (policy->size_bytes != sizeof *policy)
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: member size_bytes is %u, expected %zu",
                       name, policy->size_bytes, sizeof *policy);
    if (!is_valid_name(policy->name))
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: member name must match [a-z][a-z0-9-]*",
                       name);
    if (!policy->summary)
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: member summary is empty", name);
    if (policy->param_count > 0 && (!policy->param || !policy->self_bytes))
        return err_set(err, ERR_POLICY, nowhere,
                       "policy %s: params without member param or self_bytes",
                       name);
    return true;
}
