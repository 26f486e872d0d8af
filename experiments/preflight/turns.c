/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns.c - jobs that take longer to start than their turn lasts.
 *
 * A stop while a process starts keeps nothing of it, so that the next turn begins anew: if all that
 * wait are such jobs, none ever ends.  What is copied before a process starts takes time, too; it
 * is not counted, as it depends on the place.
 */
#include "experiments/preflight/turns.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/preflight/kinds.h"
#include "experiments/spec/experiment.h"
#include "models/jobs/job.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"

/* Returns how long a turn of a policy of the program lasts; INFINITY: it knows no turns. */
static double find_turn_s(const struct host_policy *policy)
{
    const struct cs_policy *p = policy->policy;
    int64_t ns = 0;

    assert(p != NULL);
    if (registry_find(p->name) != p || policy->params == NULL || !(p->flags & CS_PREEMPTS))
        return INFINITY;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->param[i].type == CS_PARAM_TIME && strcmp(p->param[i].key, "quantum") == 0)
            memcpy(&ns, (const char *)policy->params + p->param[i].offset, sizeof ns);
    return ns > 0 ? clock_s_from_ns(ns) : INFINITY;
}

/* Returns the role of a job that takes longest to start the first time, and for how long. */
static const struct role_spec *find_slowest(const struct job_request *request, double *start_s)
{
    const struct job_form *form = request->form;
    const struct role_spec *slowest = &form->role[0];

    *start_s = 0;
    for (uint32_t r = 0; r < form->role_count; r++) {
        double s = job_role_start_s(&form->role[r], false, form->role[r].gpus > 0);
        if (s > *start_s) {
            *start_s = s;
            slowest = &form->role[r];
        }
    }
    assert(*start_s >= 0);
    return slowest;
}

/* Tells the kind of job of a point that takes longest to start, if a turn is too short for it. */
static bool tell_kind(const struct experiment *experiment, const struct experiment_point *met,
                      const char *name, double turn_s, struct err *err)
{
    struct arena *arena = arena_new(0);
    const struct role_spec *slowest = NULL;
    const struct job_request *kind = NULL;
    uint32_t count;
    const struct job_request *request = kinds_of_point(arena, experiment, met, &count);
    double longest_s = 0, s;

    for (uint32_t i = 0; i < count; i++) {
        const struct role_spec *role = find_slowest(&request[i], &s);
        if (s > longest_s) {
            longest_s = s;
            slowest = role;
            kind = &request[i];
        }
    }
    bool told = slowest != NULL && longest_s >= turn_s;
    if (told) {
        err_set(err, ERR_RANGE, slowest->pos, "policy %.60s stops jobs after %.3g s (quantum) if "
                "others wait, and role %.60s of %.60s takes %.3g s to start: it may be stopped "
                "each time before its work counts", name, turn_s, slowest->name,
                kind->form->name, longest_s);
        err_hint(err, "Let `quantum` be several times as long as a start.");
    }
    arena_free(arena);
    return told;
}

void turns_warn(const struct experiment *experiment, turns_fn *warn, void *self)
{
    assert(experiment != NULL && warn != NULL);
    for (uint32_t p = 0; p < experiment->policy_count; p++) {
        bool told = false;

        for (uint32_t i = 0; i < experiment->point_count && !told; i++) {
            double turn_s = find_turn_s(experiment->point[i].policy[p]);
            struct err err = { 0 };

            if (isinf(turn_s))
                continue;
            told = tell_kind(experiment, experiment->point[i].met[p],
                             experiment->policy_name[p], turn_s, &err);
            if (told)
                warn(self, &err);
        }
    }
}
