/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle_keys.c - values of keys that need jobs of a certain kind.
 *
 * A table of five keys: which value is meant, what it lacks, what would help.
 * is_said() and key_acts() ask, for one of them at one point under one policy,
 * whether the value is set and whether something is there for it to act on.
 */
#include "experiments/preflight/idle_keys.h"

#include <string.h>

#include "experiments/spec/experiment.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/host/host.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/source.h"

enum idle { IDLE_ESTIMATE, IDLE_TIES, IDLE_HARDWARE, IDLE_GROW, IDLE_FIDELITY, IDLE_COUNT };

/* The value that is meant of each key, what it lacks to act on, and what would help. */
static const struct {
    const char *key, *value, *lacks, *hint;
} idle_text[IDLE_COUNT] = {
    { "estimate", "requested", "no job says how long it may run",
      "Estimates are exact there.  Give jobs a `limit`." },
    { "ties", "shuffled", "placement goes by no score and no job wants part of "
      "a GPU", "Take a placement that goes by score (`clustersim explain "
      "placement`), or leave `ties` out." },
    { "hardware", "gpus or cores", "no role may run on either",
      "Give a role `cpu`, and name cpu and GPUs in its `types`." },
    { "grow", "false", "no role may have more GPUs than it asks for",
      "Give a role a `max` above its `gpus`, or leave `grow` out." },
    { "fidelity", "step", "no job has steps",
      "Jobs of known length and services are the same either way." },
};

/* Is the value set at the point? */
static bool is_said(const struct experiment_point *point,
                    const struct host_policy *policy, enum idle what)
{
    switch (what) {
    case IDLE_ESTIMATE: return policy->rules.estimate == HOST_REQUESTED;
    case IDLE_TIES: return policy->rules.ties_shuffled;
    case IDLE_HARDWARE:
        return policy->rules.hardware != HOST_ANY_HARDWARE;
    case IDLE_GROW: return policy->rules.no_growth;
    case IDLE_FIDELITY: return point->by_step;
    case IDLE_COUNT: break;
    }
    return false;
}

/* May a role get more GPUs than it asks for?  Where each job asks for its own number (0 in
 * the form), it may. */
static bool may_grow(const struct workload_spec *workload)
{
    for (size_t i = 0; i < workload_form_count(workload); i++) {
        const struct job_form *form = workload_form(workload, i);

        for (uint32_t r = 0; r < form->role_count; r++)
            if (form->role[r].gpus_max > form->role[r].gpus)
                return true;
    }
    return false;
}

/* Has it something to act on there? */
static bool key_acts(const struct experiment_point *point,
                     const struct host_policy *policy, enum idle what)
{
    const struct workload_spec *workload = point->workload;

    switch (what) {
    case IDLE_ESTIMATE: return workload_has_limits(workload);
    case IDLE_TIES:
        return place_goes_by_score(policy->rules.placement) ||
               workload_has_parts(workload);
    case IDLE_HARDWARE: return workload_has_choices(workload);
    case IDLE_GROW: return may_grow(workload);
    case IDLE_FIDELITY: return workload_has_steps(workload);
    case IDLE_COUNT: break;
    }
    return true;
}

/* Returns where the key stands in the file; else where its policy does. */
static struct err_pos find_key_place(const struct experiment *experiment, const char *policy,
                                     const char *key)
{
    const struct conf_node *list = conf_get(experiment->tree, "policies");
    const struct conf_node *top = conf_get(experiment->tree, key);

    for (size_t i = 0; top == NULL && i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i), *name = item;

        if (conf_kind(item) == CONF_MAP) {
            name = conf_get(item, "name");
            if (name == NULL)
                name = conf_get(item, "policy");
        }
        if (name == NULL || strcmp(conf_text(name), policy) != 0)
            continue;
        top = conf_kind(item) == CONF_MAP ? conf_get(item, key) : NULL;
        return conf_pos(top != NULL ? top : item);
    }
    return top != NULL ? conf_pos(top) : (struct err_pos){ experiment->path, 0, 0 };
}

/* One warning for a key and policy, with how many points it is idle at and the
 * first of them. */
static void warn_key(const struct experiment *experiment, uint32_t policy, enum idle what,
                     idle_keys_fn *warn, void *self)
{
    const char *name = experiment->policy_name[policy], *where = NULL;
    uint32_t idle = 0;
    struct err err = { 0 };

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct experiment_point *point = experiment->point[i].met[policy];
        const struct host_policy *read = point->policy[policy];

        if (!is_said(point, read, what) || key_acts(point, read, what))
            continue;
        idle++;
        where = where == NULL ? point->label : where;
    }
    if (idle == 0)
        return;
    err_set(&err, ERR_LIMIT, find_key_place(experiment, name, idle_text[what].key),
            "%s %s does nothing%s%.60s at %u of %u points (%.60s): %s",
            idle_text[what].key, idle_text[what].value,
            what == IDLE_FIDELITY ? "" : " under ",
            what == IDLE_FIDELITY ? "" : name, idle, experiment->point_count, where,
            idle_text[what].lacks);
    err_hint(&err, "%s", idle_text[what].hint);
    warn(self, &err);
}

void idle_keys_warn(const struct experiment *experiment, idle_keys_fn *warn, void *self)
{
    for (uint32_t p = 0; p < experiment->policy_count; p++)
        for (int what = 0; what < IDLE_FIDELITY; what++)
            warn_key(experiment, p, (enum idle)what, warn, self);
    if (experiment->policy_count > 0)
        warn_key(experiment, 0, IDLE_FIDELITY, warn, self);
}
