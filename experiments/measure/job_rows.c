/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_rows.c - the columns of jobs.csv and phases.csv, in the order of
 * columns.h.
 *
 * A run may have millions of rows: the cells that all rows of a trial begin
 * with are formatted once.
 */
#include "experiments/measure/job_rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/measure/metrics.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/phase.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/decimal.h"
#include "sim/text/table.h"

struct job_rows {
    struct arena *arena;
    const struct trial_spec *spec;
    const struct trial_tables *tables;  /* where rows go */
    const char *keys;           /* cells that begin each row; NULL: none yet */
    size_t keys_bytes;
};

struct job_rows *job_rows_new(const struct metrics_parts *parts)
{
    struct job_rows *rows = arena_alloc(parts->arena, 1, sizeof *rows);

    rows->arena = parts->arena;
    rows->spec = parts->spec;
    rows->tables = parts->tables;
    return rows;
}

/* Writes the name of a job, or its number. */
static void name_cell(struct table *table, const struct job_request *request)
{
    if (request->name)
        table_text(table, request->name);
    else
        table_number(table, request->id.i);
}

/* The first cells of all rows of a trial, formatted once. */
static void row_keys(struct job_rows *rows, struct table *table)
{
    const char *bytes;

    if (rows->keys != NULL) {
        table_repeat(table, rows->keys, rows->keys_bytes, 3);
        return;
    }
    table_text(table, rows->spec->point);
    table_text(table, rows->spec->policy->name);
    table_count(table, rows->spec->replica);
    rows->keys_bytes = table_begun(table, &bytes);
    rows->keys = memcpy(arena_alloc(rows->arena, rows->keys_bytes, 1), bytes,
                     rows->keys_bytes);
}

/* Returns the GPUs that a job asks for in all its roles, in thousandths. */
static uint64_t milli_asked(const struct job_request *request)
{
    uint64_t milli = 0;

    for (uint32_t r = 0; r < request->form->role_count; r++)
        milli += (uint64_t)job_role_gpus(request, r) *
                 job_role_milli(request, r);
    return milli;
}

/* Writes a time in seconds; CLOCK_NEVER_NS is an empty cell. */
static void time_or_empty(struct table *table, int64_t ns)
{
    if (ns == CLOCK_NEVER_NS)
        table_empty(table);
    else
        table_time(table, ns);
}

static bool has_deadline(const struct job_request *request)
{
    return request->deadline_ns != CLOCK_NEVER_NS && request->deadline_ns != 0;
}

/* Is it known whether the job meets its deadline?  It is not if `until` cuts the job off
 * before its deadline. */
static bool is_due(const struct host_job *job, enum job_status status)
{
    return has_deadline(&job->request) &&
           (status != JOB_UNFINISHED || job->end_ns >= job->request.deadline_ns);
}

/* Was the job done by its deadline? */
static bool met_deadline(const struct host_job *job, enum job_status status)
{
    return status == JOB_DONE && job->end_ns <= job->request.deadline_ns;
}

/* What the owner said of it; of most jobs of most traces, nothing. */
static void owner_cells(struct table *table, const struct host_job *job,
                        enum job_status status)
{
    const struct job_request *request = &job->request;
    bool dated = has_deadline(request);

    if (request->tenant == NULL && request->priority == 0 && !dated &&
        request->limit_ns <= 0) {
        table_repeat(table, ",,,,,", 5, 5);
        return;
    }
    table_text(table, request->tenant != NULL ? request->tenant : "");
    if (request->priority != 0)
        table_real(table, request->priority);
    else
        table_empty(table);
    if (dated)
        table_time(table, request->deadline_ns);
    else
        table_empty(table);
    if (is_due(job, status))
        table_count(table, met_deadline(job, status));
    else
        table_empty(table);
    time_or_empty(table, request->limit_ns > 0 ? request->limit_ns
                                               : CLOCK_NEVER_NS);
}

void job_rows_job(struct job_rows *rows, const struct host_job *job,
                  enum job_status status)
{
    struct table *table = rows->tables->jobs;
    const struct job_request *request = &job->request;
    bool started = job->start_ns != CLOCK_NEVER_NS;
    bool ended = status != JOB_UNFINISHED;
    const double sums[] = {job->gpu_seconds, job->core_seconds, job->usd,
                           job->joules / 3.6e6};
    const double parts[] = {
        job->usd_compute, job->usd_wait, job->usd_switch, job->usd_transfer};

    if (table == NULL)
        return;
    row_keys(rows, table);
    name_cell(table, request);
    table_text(table, request->form->name);
    table_time(table, request->submit_ns);
    time_or_empty(table, job->start_ns);
    time_or_empty(table, ended ? job->end_ns : CLOCK_NEVER_NS);
    time_or_empty(table, started ? job->start_ns - request->submit_ns
                                 : CLOCK_NEVER_NS);
    time_or_empty(table, status == JOB_DONE ? job->end_ns - request->submit_ns
                                            : CLOCK_NEVER_NS);
    table_milli(table, milli_asked(request));
    table_text(table, job->gpu_type ? job->gpu_type : "");
    table_reals(table, sums, sizeof sums / sizeof sums[0]);
    table_count(table, job->preemptions);
    table_text(table, job_status_name(status));
    table_reals(table, parts, sizeof parts / sizeof parts[0]);
    table_count(table, job->interruptions);
    owner_cells(table, job, status);
    table_end_row(table);
}

/* ---- one cell at a time, for expressions ---- */

void job_rows_view(struct job_view *view, const struct host_job *job,
                   enum job_status status)
{
    view->job = job;
    view->status = status;
    *decimal_put(view->number, job->request.id.i) = '\0';
}

/* Returns a cell of a text column for an expression; never NULL. */
static const char *text_cell(const struct job_view *view, enum job_cell column)
{
    const struct host_job *job = view->job;
    const char *text;

    switch (column) {
    case JOB_CELL_JOB:
        text = job->request.name != NULL ? job->request.name : view->number;
        break;
    case JOB_CELL_KIND: text = job->request.form->name; break;
    case JOB_CELL_GPU_TYPE: text = job->gpu_type; break;
    case JOB_CELL_STATUS: text = job_status_name(view->status); break;
    case JOB_CELL_TENANT: text = job->request.tenant; break;
    default: assert(false); return "";
    }
    return text != NULL ? text : "";
}

/* Returns a cell of a column of times, in seconds; NAN: it is empty, as in
 * jobs.csv. */
static double time_cell(const struct job_view *view, enum job_cell column)
{
    const struct host_job *job = view->job;
    const struct job_request *request = &job->request;
    bool ended = view->status != JOB_UNFINISHED;
    int64_t ns = CLOCK_NEVER_NS, from_ns = 0;

    if (column == JOB_CELL_WAIT_S || column == JOB_CELL_JCT_S)
        from_ns = request->submit_ns;
    switch (column) {
    case JOB_CELL_SUBMIT_S: ns = request->submit_ns; break;
    case JOB_CELL_START_S: case JOB_CELL_WAIT_S: ns = job->start_ns; break;
    case JOB_CELL_END_S: ns = ended ? job->end_ns : CLOCK_NEVER_NS; break;
    case JOB_CELL_JCT_S: ns = view->status == JOB_DONE ? job->end_ns : CLOCK_NEVER_NS; break;
    case JOB_CELL_DEADLINE_S: ns = has_deadline(request) ? request->deadline_ns : ns; break;
    case JOB_CELL_LIMIT_S: ns = request->limit_ns > 0 ? request->limit_ns : ns; break;
    default: assert(false); break;
    }
    return ns == CLOCK_NEVER_NS ? NAN : clock_s_from_ns(ns - from_ns);
}

/* Returns a cell of any other column; NAN: it is empty. */
static double number_cell(const struct job_view *view, enum job_cell column)
{
    const struct host_job *job = view->job;

    switch (column) {
    case JOB_CELL_GPUS: return (double)milli_asked(&job->request) / 1000;
    case JOB_CELL_GPU_SECONDS: return job->gpu_seconds;
    case JOB_CELL_CORE_SECONDS: return job->core_seconds;
    case JOB_CELL_COST_USD: return job->usd;
    case JOB_CELL_ENERGY_KWH: return job->joules / 3.6e6;
    case JOB_CELL_PREEMPTIONS: return job->preemptions;
    case JOB_CELL_COST_COMPUTE_USD: return job->usd_compute;
    case JOB_CELL_COST_WAIT_USD: return job->usd_wait;
    case JOB_CELL_COST_SWITCH_USD: return job->usd_switch;
    case JOB_CELL_COST_TRANSFER_USD: return job->usd_transfer;
    case JOB_CELL_INTERRUPTIONS: return job->interruptions;
    case JOB_CELL_PRIORITY: return job->request.priority;
    case JOB_CELL_DEADLINE_MET:
        return is_due(job, view->status) ? met_deadline(job, view->status) : NAN;
    default: return time_cell(view, column);
    }
}

/* Columns are numbered as in jobs.csv without the three keys of a row (point,
 * policy, seed). */
struct expr_cell job_rows_cell(const void *self, uint32_t column)
{
    assert(column < JOB_CELL_COUNT);
    if (csv_jobs.columns[3 + column].type == TABLE_TEXT)
        return (struct expr_cell){ .text = text_cell(self, (enum job_cell)column) };
    return (struct expr_cell){
        .number = number_cell(self, (enum job_cell)column) };
}

/* Returns the type of GPU of a placement.  A job may have several: one for each role. */
static const char *placed_gpu_type(const struct job_rows *rows,
                                   const struct placement *at)
{
    for (uint32_t i = 0; i < at->share_count; i++) {
        const struct share *share = &at->share[i];
        if (share->gpu_mask)
            return cluster_group_of(rows->spec->cluster, share->node)
                ->gpu->name;
    }
    return "";
}

void job_rows_phase(struct job_rows *rows, const struct host_job *job,
                    const struct host_phase_run *run, const struct placement *at,
                    uint64_t gpu_milli, int64_t end_ns, double busy_fraction)
{
    struct table *table = rows->tables->phases;
    const struct job_form *form = job->request.form;
    char where[256];

    if (table == NULL)
        return;
    row_keys(rows, table);
    name_cell(table, &job->request);
    table_text(table, run->phase->name);
    table_text(table, form->role[run->phase->role].name);
    table_time(table, run->start_ns);
    table_time(table, end_ns);
    table_milli(table, gpu_milli);
    table_text(table, placed_gpu_type(rows, at));
    table_plain(table, where, trial_placement_text(at, where, sizeof where));
    table_text(table, run->bottleneck);
    double share = isfinite(run->rate_max) && run->rate_max > 0.0
                       ? run->rate / run->rate_max : 0.0;

    table_real(table, run->rate);
    table_real(table, busy_fraction);
    table_real(table, run->mfu * share);
    table_real(table, run->hfu * share);
    table_end_row(table);
}
