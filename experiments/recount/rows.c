/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - sums over all jobs, and the rows themselves while they are few.
 *
 * Times are added up in whole nanoseconds.  Run times are added up less the first
 * of them, so that their moments do not cancel.  What the sums say of the published
 * figures is in judge_rows.c.
 */
#include "experiments/recount/rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/recount/histogram.h"
#include "experiments/recount/rows_sums.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "models/laws/phase.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "workloads/source.h"

#define BOUND_S 10.0            /* Feitelson 2001 */

struct rows *rows_new(struct arena *arena, const struct trial_spec *spec, uint32_t most)
{
    struct rows *rows = arena_alloc(arena, 1, sizeof *rows);

    assert(most > 0);
    rows->arena = arena;
    rows->spec = spec;
    rows->most = most;
    rows->rigid = true;
    for (size_t i = 0; i < workload_form_count(spec->workload); i++) {
        const struct job_form *form = workload_form(spec->workload, i);

        rows->rigid = rows->rigid && form->phase_count == 1 && !form->paced &&
                      form->phase[0].law->kind == LAW_FIXED && form->packing == NULL;
    }
    rows->plain = spec->warmup_ns == 0 && workload_service_count(spec->workload) == 0;
    rows->first_ns = CLOCK_NEVER_NS;
    return rows;
}

int64_t rows_inside(const struct rows *rows)
{
    return rows->inside;
}

/* A replica of a service is a job of the host, and no job of a user. */
static bool is_replica(const struct job_request *request)
{
    return request->form->phase[0].law->kind == LAW_SERVE;
}

/* Returns the number of a tenant, a new one at its first job.  There are few, so that all
 * names are compared. */
static uint32_t tenant_of(struct rows *rows, const char *name)
{
    uint32_t t = 0;

    if (name == NULL || name[0] == '\0')
        return ID_NONE;
    while (t < rows->tenants && strcmp(rows->tenant[t], name) != 0)
        t++;
    if (t == rows->tenants)
        ARENA_ADD(rows->arena, rows->tenant, rows->tenants, rows->tenant_room,
                  arena_text(rows->arena, name));
    return t;
}

/* Adds the jobs in the system times the time since they last changed.  The difference of
 * two such sums is what was in the system during a job's life, which finish-time fairness
 * needs. */
static void inside_moves(struct rows *rows, int64_t now, int change)
{
    rows->area += (__int128_t)rows->users * (now - rows->since_ns);
    rows->since_ns = now;
    rows->users += change;
}

/* Keeps the row of a job, if there is room; of more jobs than `most` no row is used. */
static void row_add(struct rows *rows, const struct job_request *request,
                    int64_t now, bool replica)
{
    struct job_row row = {
        .submit_ns = now, .start_ns = CLOCK_NEVER_NS, .end_ns = CLOCK_NEVER_NS,
        .tenant = replica ? ID_NONE : tenant_of(rows, request->tenant),
        .status = JOB_PENDING, .replica = replica,
    };

    if (rows->count == rows->most || request->id.i != rows->count) {
        rows->over = true;
        return;
    }
    for (uint32_t r = 0; r < request->form->role_count; r++)
        row.asked_milli += (int64_t)job_role_gpus(request, r) *
                           job_role_milli(request, r);
    if (!replica)
        inside_moves(rows, now, +1);
    row.inside = -rows->area;
    ARENA_ADD(rows->arena, rows->row, rows->count, rows->room, row);
}

void rows_submit(struct rows *rows, const struct job_request *request, int64_t now)
{
    bool replica = !rows->plain && is_replica(request);

    rows->inside++;
    if (!rows->over)
        row_add(rows, request, now, replica);
    if (!rows->plain && (replica || now < rows->spec->warmup_ns))
        return;
    rows->jobs++;
    if (now < rows->first_ns)
        rows->first_ns = now;
}

/* Fills the row of a job that has ended.  `inside` becomes what was in the system during
 * its life, in jobs x ns. */
static void row_end(struct rows *rows, const struct host_job *job,
                    enum job_status status, int64_t now)
{
    struct job_row *row = &rows->row[job->request.id.i];

    if (!row->replica)
        inside_moves(rows, now, -1);
    row->inside += rows->area;
    row->status = status;
    row->start_ns = job->start_ns;
    row->end_ns = now;
    row->ideal_s = job->ideal_s;
    row->usd = job->usd;
    rows->rigid = rows->rigid && job->request.goodput == NULL;
}

/* Adds the slowdown of a job that was done, and powers of its time alone for the shape of
 * run times.  Powers are of the distance to the first job, so that large times lose no
 * digits. */
static inline void add_length(struct rows *rows, double jct_s, double ideal_s)
{
    double times, off, bounded = jct_s / (ideal_s > BOUND_S ? ideal_s : BOUND_S);

    rows->bounded += bounded > 1 ? bounded : 1;
    if (!(ideal_s > 0))
        return;
    if (rows->slowdown.count++ == 0)
        rows->ideal_first = ideal_s;
    times = jct_s / ideal_s;
    rows->slowdown.sum += times;
    rows->slowdown.square += times * times;
    off = ideal_s - rows->ideal_first;
    rows->ideal[0] += off;
    rows->ideal[1] += off * off;
    rows->ideal[2] += off * off * off;
}

/* Adds the times of a job that was done and counts. */
static inline void add_done(struct rows *rows, const struct host_job *job, int64_t now)
{
    int64_t jct = now - job->request.submit_ns;
    int64_t wait = job->start_ns - job->request.submit_ns;
    double jct_s = (double)jct / 1e9;

    rows->done++;
    if (now > rows->last_ns)
        rows->last_ns = now;
    rows->jct_sum += jct;
    rows->wait_sum += wait;
    histogram_add(&rows->jct, jct_s);
    histogram_add(&rows->wait, (double)wait / 1e9);
    add_length(rows, jct_s, job->ideal_s);
}

/* Counts a job with a deadline, and whether it was done in time. */
static void add_due(struct rows *rows, const struct host_job *job, enum job_status status,
                    int64_t now)
{
    bool done = status == JOB_DONE;

    if (job->request.deadline_ns == CLOCK_NEVER_NS || job->request.deadline_ns == 0)
        return;
    if (status == JOB_UNFINISHED && now < job->request.deadline_ns)
        return;                 /* cut off before it was due */
    rows->due++;
    rows->in_time += done && now <= job->request.deadline_ns;
}

/* A job has ended.  Jobs of the warm-up count for no figure, but are still inside until
 * then.  A job that did not end well is lost from its submission to the end of the run
 * (lost_sum, in ns; 128 bits, as 10^9 such jobs do not fit 64). */
void rows_end(struct rows *rows, const struct host_job *job, enum job_status status,
              int64_t now)
{
    const struct job_request *request = &job->request;

    rows->inside--;
    if (!rows->over)
        row_end(rows, job, status, now);
    if (!rows->plain && (request->submit_ns < rows->spec->warmup_ns || is_replica(request)))
        return;
    /* The first rounds of a job that trains on what it generated before train nothing. */
    if (job->step > request->form->lag)
        rows->steps += (uint64_t)(job->step - request->form->lag) *
                       (request->form->round_steps > 1 ? request->form->round_steps : 1);
    rows->failed += status == JOB_FAILED;
    add_due(rows, job, status, now);
    if (status == JOB_DONE)
        add_done(rows, job, now);
    else
        rows->lost_sum += (__int128_t)(rows->spec->until_ns - request->submit_ns);
}

void rows_end_plain(struct rows *rows, const struct host_job *job, uint32_t gpus,
                    int64_t now)
{
    int64_t ns = now - job->start_ns;

    assert(rows->plain);
    rows->inside--;
    rows->steps++;
    rows->gpu_sum += (__int128_t)ns * gpus;
    if (!rows->over) {
        row_end(rows, job, JOB_DONE, now);
        rows_held(rows, job->request.id.i, (int64_t)gpus * 1000, ns);
    }
    if (job->request.deadline_ns != CLOCK_NEVER_NS)
        add_due(rows, job, JOB_DONE, now);
    add_done(rows, job, now);
}

__int128_t rows_gpu_ns(const struct rows *rows)
{
    return rows->gpu_sum;
}

void rows_held(struct rows *rows, uint32_t job, int64_t milli, int64_t ns)
{
    if (!rows->over && job < rows->count && ns > 0)
        rows->row[job].held += (__int128_t)milli * ns;
}

void rows_rented(struct rows *rows, uint32_t job)
{
    if (!rows->over && job < rows->count)
        rows->row[job].rented = true;
}

bool rows_had_rented(const struct rows *rows, uint32_t job)
{
    return rows->over || job >= rows->count || rows->row[job].rented;
}

const struct job_row *rows_all(const struct rows *rows, uint32_t *count)
{
    *count = rows->count;
    return rows->over ? NULL : rows->row;
}

const char *rows_tenant(const struct rows *rows, uint32_t tenant)
{
    return tenant < rows->tenants ? rows->tenant[tenant] : NULL;
}

double rows_rho(const struct rows *rows, const struct job_row *row)
{
    double all = rows->spec->cluster->gpu_count * 1000.0;
    double jct = (double)(row->end_ns - row->submit_ns);

    if (row->status != JOB_DONE || !(row->ideal_s > 0) || !(jct > 0) ||
        row->asked_milli == 0 || !(all > 0) ||
        row->submit_ns < rows->spec->warmup_ns)
        return NAN;
    double others = (double)row->inside / jct;       /* N, over its life */
    double share = all / others / (double)row->asked_milli;
    return jct / 1e9 / (share < 1 ? row->ideal_s / share : row->ideal_s);
}

int64_t rows_last_ns(const struct rows *rows)
{
    return rows->last_ns;
}

bool rows_rigid(const struct rows *rows, double *alone_s, double *asked_s)
{
    const struct host_rules *rules = &rows->spec->policy->rules;

    *alone_s = *asked_s = 0;
    if (rows->over || !rows->rigid || rules->tick_ns > 0 || rows->done == 0)
        return false;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct job_row *row = &rows->row[i];

        if (row->status != JOB_DONE || row->replica ||
            row->submit_ns < rows->spec->warmup_ns)
            continue;
        *alone_s += row->ideal_s / (double)rows->done;
        *asked_s += row->ideal_s * (double)row->asked_milli / 1000;
    }
    return true;
}
