/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe.c - what a workload is, for plans, checks and reports: its
 * forms, its rate, how many jobs it has and what they need.
 *
 * Nothing here depends on a trial; means of what is rounded are averages over MEAN_DRAWS
 * draws of a fixed stream, so that they are always the same.
 */
#include "workloads/source.h"

#include <assert.h>
#include <math.h>

#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "workloads/jobs/birth.h"
#include "workloads/random/arrival.h"
#include "workloads/random/distribution.h"
#include "workloads/recipes/notes.h"
#include "workloads/recipes/recipe.h"
#include "workloads/replay/trace.h"
#include "workloads/requests/services.h"
#include "workloads/workload_spec.h"

#define MEAN_DRAWS 20000u       /* the error of a mean is 0.7% of a standard
                                   deviation */

size_t workload_service_count(const struct workload_spec *spec)
{
    return spec->service_count;
}

const struct service_entry *workload_service(const struct workload_spec *spec,
                                             size_t i)
{
    assert(i < spec->service_count);
    return &spec->service[i];
}

bool workload_draws(const struct workload_spec *spec)
{
    return spec->entry_count > 0 || spec->service_count > 0 ||
           (spec->trace != NULL && trace_draws(spec->trace));
}

size_t workload_form_count(const struct workload_spec *spec)
{
    return spec->trace != NULL ? 1 : spec->entry_count;
}

const struct job_form *workload_form(const struct workload_spec *spec,
                                     size_t i)
{
    assert(i < workload_form_count(spec));
    return spec->trace != NULL ? trace_form(spec->trace)
                               : spec->entry[i].form;
}

bool workload_is_trace_alone(const struct workload_spec *spec)
{
    return spec->trace != NULL && spec->service_count == 0;
}

int64_t workload_begin_ns(const struct workload_spec *spec)
{
    return spec->trace != NULL ? trace_begin_ns(spec->trace) : 0;
}

/* Parts of a GPU become thousandths, rounded to the nearest. */
struct job_request workload_request(const struct workload_spec *spec, size_t i)
{
    struct job_request request = {.form = workload_form(spec, i), .steps = 1,
                                  .rate_known = 1.0};
    const struct entry *entry = spec->trace != NULL ? NULL : &spec->entry[i];

    request.tenant = entry != NULL ? entry->tenant : NULL;
    if (entry != NULL && entry->whole) {
        double most = distribution_most(&entry->gpus);

        request.rates = entry->rates;
        request.gpus = most < 1.0 ? 1 : (uint32_t)most;
        request.gpu_milli = most < 1.0 ? (uint32_t)rint(most * 1000.0) : 0;
    }
    return request;
}

size_t workload_notes(struct arena *arena, const struct workload_spec *spec,
                      size_t i, struct workload_note *note, size_t room)
{
    if (spec->trace != NULL || spec->entry[i].whole)
        return 0;
    return entry_notes(arena, &spec->entry[i], note, room);
}

/* Returns the mean of draws that are divided by `unit`, rounded, and at least
 * `least`. Rounding has no closed form, so the mean is found by drawing, always
 * the same draws. */
static double average_draws(const struct distribution *d, double least,
                            double unit)
{
    struct rng rng;
    double sum = 0.0;

    rng_init(&rng, 1, "mean", 0);
    for (uint32_t k = 0; k < MEAN_DRAWS; k++)
        sum += fmax(round(distribution_draw(d, &rng) / unit), least);
    return sum / MEAN_DRAWS;
}

/* Returns the mean of a time in seconds.  Draws longer than a job may be count
 * as that bound. */
static double average_time(const struct distribution *d)
{
    struct distribution cut = *d;

    cut.min = fmin(d->min, WHOLE_JOB_MAX_S);
    cut.max = fmin(d->max, WHOLE_JOB_MAX_S);
    return distribution_clamped_mean(&cut);
}

/* Returns the mean job of one entry, and the share of the entry in all jobs. */
struct workload_mean workload_mean(const struct workload_spec *spec, size_t i)
{
    struct workload_mean part = {.runs = 1.0};
    double sum = 0.0;

    assert(spec->trace == NULL && i < spec->entry_count);
    const struct entry *entry = &spec->entry[i];
    for (size_t k = 0; k < spec->entry_count; k++)
        sum += spec->share[k];
    part.share = spec->share[i] / sum;
    if (entry->whole) {
        part.gpus = distribution_clamped_mean(&entry->gpus);
        part.gpu_s = part.gpus * average_time(&entry->duration);
    } else {
        part.runs = average_draws(&entry->steps, 1.0, entry->form->round_steps) +
                    entry->form->lag;
    }
    return part;
}

/* Returns the jobs that are expected in a second; 0 where no rate is known. */
double workload_rate_per_s(const struct workload_spec *spec)
{
    const struct arrival *arrival = &spec->arrival;

    if (spec->trace != NULL || spec->entry_count == 0 ||
        arrival->process == ARRIVAL_ALL_AT_ONCE)
        return 0.0;
    if (arrival->process == ARRIVAL_FIXED)
        return arrival->every_ns > 0 ? 1e9 / (double)arrival->every_ns : 0.0;
    return arrival->rate_per_s;
}

bool workload_is_trace(const struct workload_spec *spec)
{
    return spec->trace != NULL;
}

uint64_t workload_jobs(const struct workload_spec *spec)
{
    if (spec->trace != NULL)
        return trace_counts(spec->trace).jobs;
    return spec->jobs_max == UINT64_MAX ? 0 : spec->jobs_max;
}

int64_t workload_for_ns(const struct workload_spec *spec)
{
    return spec->trace != NULL ? CLOCK_NEVER_NS : spec->for_ns;
}

int64_t workload_arrivals_end_ns(const struct workload_spec *spec)
{
    return spec->entry_count == 0 ? CLOCK_NEVER_NS
                                  : arrival_end_ns(&spec->arrival);
}

/* Only the clock of arrivals runs.  It does not depend on what the jobs are. */
uint64_t workload_arrivals(const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica)
{
    struct arrival_clock clock;
    uint64_t count = 0;

    assert(workload_arrivals_end_ns(spec) != CLOCK_NEVER_NS);
    arrival_start(&clock, &spec->arrival, seed, replica);
    while (count < spec->jobs_max && arrival_next(&clock) < spec->for_ns)
        count++;
    return count;
}

struct source_counts workload_counts(const struct workload_spec *spec)
{
    return spec->trace != NULL ? trace_counts(spec->trace)
                               : (struct source_counts){0};
}

bool workload_has_limits(const struct workload_spec *spec)
{
    bool any = spec->trace != NULL && trace_counts(spec->trace).limits > 0;

    for (size_t i = 0; i < spec->entry_count; i++)
        any |= spec->entry[i].has_limit || spec->entry[i].limit_is_factor;
    return any;
}

bool workload_has_deadlines(const struct workload_spec *spec)
{
    bool any = spec->trace != NULL && trace_counts(spec->trace).deadlines > 0;

    for (size_t i = 0; i < spec->entry_count; i++)
        any |= spec->entry[i].has_deadline;
    return any;
}

bool workload_has_parts(const struct workload_spec *spec)
{
    bool any = spec->trace != NULL && trace_counts(spec->trace).parts > 0;

    for (size_t i = 0; i < spec->entry_count; i++)
        any |= spec->entry[i].whole &&
               distribution_least(&spec->entry[i].gpus) < 1.0;
    return any;
}

bool workload_has_steps(const struct workload_spec *spec)
{
    for (size_t i = 0; i < spec->entry_count; i++)
        if (!spec->entry[i].whole)
            return true;
    return false;
}

bool workload_has_applications(const struct workload_spec *spec)
{
    return spec->trace != NULL && trace_has_applications(spec->trace);
}

bool workload_generates(const struct workload_spec *spec)
{
    for (size_t i = 0; i < workload_form_count(spec); i++) {
        const struct job_form *form = workload_form(spec, i);

        for (uint32_t p = 0; p < form->phase_count; p++)
            if (form->phase[p].law->kind == LAW_ROLLOUT ||
                (form->phase[p].later != NULL && form->phase[p].later->kind == LAW_ROLLOUT))
                return true;
    }
    return false;
}

bool workload_has_choices(const struct workload_spec *spec)
{
    for (size_t i = 0; i < workload_form_count(spec); i++) {
        const struct job_form *form = workload_form(spec, i);

        for (uint32_t r = 0; r < form->role_count; r++)
            if (job_role_chooses(&form->role[r]))
                return true;
    }
    return false;
}

bool workload_states_priority(const struct workload_spec *spec)
{
    for (size_t i = 0; i < spec->entry_count; i++)
        if (spec->entry[i].priority != 0)
            return true;
    for (size_t i = 0; i < workload_service_count(spec); i++)
        if (workload_service(spec, i)->spec.priority != 0)
            return true;
    return spec->trace != NULL && trace_states_priority(spec->trace);
}

/* The numbers go through entries, then services, then the tenants of the trace. */
const char *workload_tenant(const struct workload_spec *spec, size_t i)
{
    size_t services = workload_service_count(spec), count = 0;
    const char *const *tenant, *name = NULL;

    if (i < spec->entry_count + services) {
        name = i < spec->entry_count
                   ? spec->entry[i].tenant
                   : workload_service(spec, i - spec->entry_count)->spec.tenant;
        return name != NULL ? name : "";
    }
    tenant = spec->trace != NULL ? trace_tenants(spec->trace, &count) : NULL;
    i -= spec->entry_count + services;
    return i < count ? tenant[i] : NULL;
}

enum workload_estimate workload_estimate(const struct workload_spec *spec)
{
    return spec->trace != NULL ? trace_estimate(spec->trace)
                               : ESTIMATE_EXACT;
}
