/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * running.c - jobs that run: what an agent sees of them, and which of them it may stop, or
 * give another number of GPUs.
 *
 * A job that got GPUs at this instant stays as it is.  Else an agent could stop and start
 * one for ever, and time would not go on: so each job is touched once at an instant.
 */
#include "experiments/env/running.h"

#include <assert.h>
#include <string.h>

#include "experiments/env/scale.h"
#include "experiments/env/tenants.h"
#include "models/jobs/job.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/phases.h"
#include "policies/resize.h"
#include "sim/base/arena.h"

void running_begin(struct running *running, const struct plan *plan, struct arena *arena,
                   struct cs_host *host, struct tenants *tenants, double gpus)
{
    uint32_t rows = plan->shape.running_rows;

    *running = (struct running){ .plan = plan, .host = host, .tenants = tenants, .gpus = gpus };
    if (rows == 0)
        return;
    running->job = arena_alloc(arena, rows, sizeof *running->job);
    running->may = arena_alloc(arena, rows, sizeof *running->may);
    running->number = arena_alloc(arena, (size_t)rows * RUNNING_FEATURES,
                                  sizeof *running->number);
}

/* What a job holds. */
struct holding {
    double gpus;                /* parts of GPUs count as such */
    uint32_t leases;
    struct lease_id lease;      /* the last one */
    int64_t since_ns;           /* when it got the last one */
};

/* Adds up what the roles of a job hold now. */
static struct holding find_holding(const struct cs_host *host, struct job_id job)
{
    uint32_t roles = cs_request(host, job)->form->role_count;
    struct holding all = { 0, 0, { ID_NONE }, 0 };

    for (uint32_t role = 0; role < roles; role++) {
        struct lease_id id = cs_role_lease(host, job, role);
        if (id.i == ID_NONE)
            continue;
        const struct cs_lease *lease = cs_lease(host, id);
        uint32_t milli = lease->gpu_milli > 0 ? lease->gpu_milli : GPU_MILLI;
        all.gpus += (double)lease->gpus * milli / GPU_MILLI;
        all.leases++;
        all.lease = id;
        if (lease->since_ns > all.since_ns)
            all.since_ns = lease->since_ns;
    }
    return all;
}

/* Returns a bit for each end that the host would carry out.  A job of several leases keeps
 * their sizes. */
static uint64_t find_ends(const struct running *running, const struct holding *holding,
                          bool waits)
{
    uint64_t ends = waits;

    if (holding->leases == 0 || holding->since_ns >= cs_now_ns(running->host))
        return 0;
    for (uint32_t k = 1; holding->leases == 1 && k < running->plan->shape.ends; k++)
        ends |= (uint64_t)host_could_resize(running->host, holding->lease,
                                            running->plan->size[k]) << k;
    return ends;
}

/* Writes the numbers of a running job, all from 0 to 1. */
static void fill_row(struct running *running, uint32_t r, struct job_id job,
                     const struct holding *holding)
{
    const struct job_request *request = cs_request(running->host, job);
    uint32_t tenant = tenants_number(running->tenants, request->tenant);
    float *out = &running->number[(size_t)r * RUNNING_FEATURES];

    out[RUNNING_AT_JOB] = 1;
    out[RUNNING_AT_GPUS] = scale_share(holding->gpus, running->gpus);
    out[RUNNING_AT_HELD] = scale_time(cs_now_ns(running->host) - holding->since_ns,
                                      SCALE_HOUR_NS);
    out[RUNNING_AT_ESTIMATE] = scale_time(cs_left_ns(running->host, job), SCALE_HOUR_NS);
    out[RUNNING_AT_PRIORITY] = scale_priority(request->priority);
    out[RUNNING_AT_TENANT] = tenant == TENANT_NONE
        ? 0 : scale_share(running->tenants->tenant[tenant].gpus, running->gpus);
}

bool running_see(struct running *running, bool waits)
{
    uint32_t count = running->plan->shape.running_rows == 0 ? 0
                                                            : cs_running_count(running->host);
    uint64_t any = 0;

    running->rows = 0;
    for (uint32_t i = 0; i < count && running->rows < running->plan->shape.running_rows; i++) {
        struct job_id job = cs_running(running->host, i);
        struct holding holding = find_holding(running->host, job);
        uint32_t r = running->rows++;

        running->job[r] = job;
        fill_row(running, r, job, &holding);
        any |= running->may[r] = find_ends(running, &holding, waits);
    }
    return any != 0;
}

void running_end(struct running *running)
{
    running->rows = 0;
}

void running_write(const struct running *running, float *out, uint8_t *mask)
{
    uint32_t rows = running->plan->shape.running_rows, ends = running->plan->shape.ends;
    size_t seen = (size_t)running->rows * RUNNING_FEATURES;

    if (rows == 0)
        return;
    memcpy(out, running->number, seen * sizeof *out);
    memset(out + seen, 0, ((size_t)rows * RUNNING_FEATURES - seen) * sizeof *out);
    for (uint32_t r = 0; r < running->rows; r++)
        for (uint32_t end = 0; end < ends; end++)
            mask[r * ends + end] = running->may[r] >> end & 1;
}

enum cs_verdict running_act(struct running *running, uint32_t row, uint32_t end)
{
    assert(row < running->plan->shape.running_rows && end < running->plan->shape.ends);
    if (row >= running->rows)
        return CS_NOT_PENDING;
    struct holding holding = find_holding(running->host, running->job[row]);
    bool may = running->may[row] >> end & 1;

    if (end == 0)
        return may ? cs_stop(running->host, running->job[row]) : CS_NOT_ALLOWED;
    if (holding.leases != 1 || holding.since_ns >= cs_now_ns(running->host))
        return CS_NOT_ALLOWED;
    return cs_resize(running->host, holding.lease, running->plan->size[end]);
}
