/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrivals.c - draws the arrivals of each point and seed whose rates end, and counts
 * the draws that have fewer jobs than the file says.
 *
 * A run that ends at its `until` before the rates do is no such case.
 */
#include "experiments/preflight/arrivals.h"

#include <inttypes.h>

#include "experiments/spec/experiment.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "workloads/random/arrival.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

#define HINT "With `repeat: 24h` they begin anew, with `after: hold` the last one stays"

/* All draws, those that have fewer jobs, and the jobs of the one with fewest. */
struct shortage {
    uint64_t drawn, low, least; /* seeds; those with too few jobs; fewest jobs */
    const struct experiment_point *point;
    const struct workload_spec *workload;
};

/* Returns what a policy meets at a point; NULL: a policy before it meets the same. */
static const struct workload_spec *find_workload(const struct experiment_point *point,
                                                 uint32_t policy)
{
    for (uint32_t p = 0; p < policy; p++)
        if (point->met[p]->workload == point->met[policy]->workload)
            return NULL;
    return point->met[policy]->workload;
}

/* Draws the arrivals of each seed of a workload whose rates end before its `for` and
 * before the run does, and counts the draws with fewer jobs than `jobs:` says. */
static void draw_seeds(const struct experiment *experiment,
                       const struct experiment_point *point,
                       const struct workload_spec *workload, struct shortage *shortage)
{
    int64_t end_ns = workload_arrivals_end_ns(workload);

    if (workload_jobs(workload) == 0 || end_ns >= workload_for_ns(workload) ||
        end_ns >= experiment->until_ns)
        return;
    for (uint32_t seed = 0; seed < experiment->seeds; seed++) {
        uint64_t jobs = workload_arrivals(workload, experiment->seed, seed);

        shortage->drawn++;
        if (jobs >= workload_jobs(workload))
            continue;
        shortage->low++;
        if (shortage->point != NULL && jobs >= shortage->least)
            continue;
        shortage->point = point;
        shortage->workload = workload;
        shortage->least = jobs;
    }
}

/* One warning for all points and policies, with the draw that has fewest jobs. */
static void warn_jobs(const struct experiment *experiment, arrivals_fn *warn, void *self)
{
    struct shortage shortage = { 0 };
    struct err err = { 0 };
    char text[32];

    for (uint32_t i = 0; i < experiment->point_count; i++)
        for (uint32_t p = 0; p < experiment->policy_count; p++) {
            const struct experiment_point *point = &experiment->point[i];
            const struct workload_spec *workload = find_workload(point, p);

            if (workload != NULL)
                draw_seeds(experiment, point, workload, &shortage);
        }
    if (shortage.low == 0)
        return;
    clock_format_s(workload_arrivals_end_ns(shortage.workload), text, sizeof text);
    err_set(&err, ERR_LIMIT, (struct err_pos){ experiment->path, 0, 0 },
            "the rates of arrival end at %s s, before all jobs came, in %" PRIu64 " of %"
            PRIu64 " draws; the fewest are %" PRIu64 " of %" PRIu64 " jobs (%.60s)",
            text, shortage.low, shortage.drawn, shortage.least,
            workload_jobs(shortage.workload), shortage.point->label);
    err_hint(&err, HINT "; without `jobs` they may end.");
    warn(self, &err);
}

/* One warning for the first service of the first point whose rates end early. */
static void warn_service(const struct experiment *experiment, arrivals_fn *warn, void *self)
{
    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct workload_spec *workload = experiment->point[i].workload;

        for (size_t s = 0; s < workload_service_count(workload); s++) {
            const struct service_entry *service = workload_service(workload, s);
            int64_t end_ns = arrival_end_ns(&service->arrival);
            char at[32], until[32];
            struct err err = { 0 };

            if (service->trace != NULL || end_ns >= service->for_ns ||
                end_ns >= experiment->until_ns || service->arrival.rates == NULL)
                continue;
            clock_format_s(end_ns, at, sizeof at);
            clock_format_s(service->for_ns, until, sizeof until);
            err_set(&err, ERR_LIMIT, (struct err_pos){ experiment->path, 0, 0 },
                    "the rates of arrival of service %.60s end at %s s, before `for`, %s s: "
                    "it has no requests between them (%.60s)", service->spec.name, at, until,
                    experiment->point[i].label);
            err_hint(&err, HINT ".");
            warn(self, &err);
            return;
        }
    }
}

void arrivals_warn(const struct experiment *experiment, arrivals_fn *warn, void *self)
{
    warn_jobs(experiment, warn, self);
    warn_service(experiment, warn, self);
}
