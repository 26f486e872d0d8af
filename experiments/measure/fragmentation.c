/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fragmentation.c - how much of the GPUs is allocated when jobs that ask for so
 * much have arrived.
 *
 * Studies of packing (Weng et al., ATC 2023) let jobs come that stay, drop
 * what does not fit, and plot GPUs allocated over GPUs asked for, both in
 * percent of all GPUs.  After the decision on each arrival a sample is taken;
 * a row is the mean of the samples that round to that percent, as there.
 */
#include "experiments/measure/fragmentation.h"

#include <assert.h>
#include <math.h>

#include "experiments/columns/metric.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/event/journal.h"
#include "sim/text/table.h"

#define PERCENT_MAX 1000u       /* later arrivals are not in the table */

struct bin {                    /* samples at one percent */
    double sum;
    uint64_t count, jobs, dropped;      /* jobs, dropped: at the last one */
};

/* What came and what is allocated now, and the samples so far. */
struct arrived {
    struct metrics_parts parts;
    const struct cs_host *host;
    uint64_t all_milli, arrived_milli, allocated_milli; /* thousandths of GPUs */
    uint64_t jobs, dropped;     /* that came, and of them that were dropped */
    int64_t at_ns;              /* of the arrivals not yet sampled */
    bool due;                   /* there are such */
    struct bin *bin;            /* by percent */
};

/* Takes the sample of the last arrivals, if that was not done.  Jobs and drops of its
 * row are those at the last sample of that percent. */
static void sample(struct arrived *a)
{
    double percent;

    if (!a->due)
        return;
    a->due = false;
    percent = round(100.0 * (double)a->arrived_milli / (double)a->all_milli);
    if (percent > PERCENT_MAX)
        return;
    struct bin *bin = &a->bin[(size_t)percent];
    bin->sum += (double)a->allocated_milli / (double)a->all_milli;
    bin->count++;
    bin->jobs = a->jobs;
    bin->dropped = a->dropped;
}

/* Returns the GPUs of a lease, in thousandths. */
static uint64_t lease_milli(const struct arrived *a, uint32_t lease)
{
    const struct cs_lease *held =
        cs_lease(a->host, (struct lease_id){ lease });

    return (uint64_t)held->gpus * held->gpu_milli;
}

/* A sample is taken at the first fact of a later instant: by then the policy has
 * answered the arrival. */
static void hear(void *self, const struct fact *fact)
{
    struct arrived *a = self;

    if (a->due && fact->time_ns > a->at_ns)
        sample(a);              /* what was decided then, has been */
    if (fact->kind == FACT_JOB_SUBMIT) {
        const struct job_request *request =
            cs_request(a->host, (struct job_id){ fact->subject });
        for (uint32_t r = 0; r < request->form->role_count; r++)
            a->arrived_milli += (uint64_t)job_role_gpus(request, r) *
                                job_role_milli(request, r);
        a->jobs++;
        a->due = true;
        a->at_ns = fact->time_ns;
    } else if (fact->kind == FACT_LEASE_TAKE) {
        a->allocated_milli += lease_milli(a, fact->subject);
    } else if (fact->kind == FACT_LEASE_DROP) {
        assert(a->allocated_milli >= lease_milli(a, fact->subject));
        a->allocated_milli -= lease_milli(a, fact->subject);
    } else if (fact->object == JOB_DROPPED) {
        a->dropped++;
    }
}

/* Only a policy that drops what does not fit (`blocking: drop`) is measured so. */
struct arrived *arrived_new(const struct metrics_parts *parts)
{
    const struct trial_spec *spec = parts->spec;
    struct arrived *a;

    if (spec->policy->rules.blocking != HOST_DROP ||
        spec->cluster->gpu_count == 0)
        return NULL;
    a = arena_alloc(parts->arena, 1, sizeof *a);
    a->parts = *parts;
    a->all_milli = (uint64_t)spec->cluster->gpu_count * GPU_MILLI;
    a->bin = arena_alloc(parts->arena, PERCENT_MAX + 1, sizeof *a->bin);
    journal_listen(parts->journal,
                   UINT64_C(1) << FACT_JOB_SUBMIT |
                       UINT64_C(1) << FACT_LEASE_TAKE |
                       UINT64_C(1) << FACT_LEASE_DROP |
                       UINT64_C(1) << FACT_JOB_END,
                   hear, a);
    return a;
}

void arrived_watch(struct arrived *arrived, const struct cs_host *host)
{
    if (arrived != NULL)
        arrived->host = host;
}

/* No later fact comes for the last arrivals, so their sample is taken here. */
void arrived_stop(struct arrived *arrived)
{
    if (arrived != NULL)
        sample(arrived);
}

/* Returns the mean of the samples at a percent, or where there is none, of
 * those beside it. */
static double mean_at(const struct arrived *a, uint32_t percent)
{
    struct bin all = a->bin[percent];

    if (all.count == 0 && percent > 0 && percent < PERCENT_MAX) {
        all.sum = a->bin[percent - 1].sum + a->bin[percent + 1].sum;
        all.count = a->bin[percent - 1].count + a->bin[percent + 1].count;
    }
    return all.count > 0 ? all.sum / (double)all.count : NAN;
}

/* Writes a row for each percent at which there was a sample. */
static void put_rows(struct arrived *a, struct table *table)
{
    const struct trial_spec *spec = a->parts.spec;

    for (uint32_t p = 0; p <= PERCENT_MAX; p++) {
        if (a->bin[p].count == 0)
            continue;
        table_text(table, spec->point);
        table_text(table, spec->policy->name);
        table_count(table, spec->replica);
        table_count(table, p);
        table_real(table, mean_at(a, p));
        table_count(table, a->bin[p].jobs);
        table_count(table, a->bin[p].dropped);
        table_end_row(table);
    }
}

/* The last percent is the largest at which there was a sample. */
void arrived_result(struct arrived *arrived, struct trial_result *result)
{
    uint32_t last = PERCENT_MAX;

    result->value[METRIC_AT_100] = result->value[METRIC_AT_LAST] = NAN;
    if (arrived == NULL)
        return;
    result->value[METRIC_DROPPED] = (double)arrived->dropped;
    while (last > 0 && arrived->bin[last].count == 0)
        last--;
    result->value[METRIC_AT_100] = mean_at(arrived, 100);
    result->value[METRIC_AT_LAST] = mean_at(arrived, last);
    if (arrived->parts.tables->arrived != NULL)
        put_rows(arrived, arrived->parts.tables->arrived);
}
