/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs_table.c - the row of jobs.csv that was written last, against the job that ended.
 */
#include "experiments/recount/tables.h"

#include <math.h>
#include <string.h>

#include "experiments/recount/cells.h"
#include "experiments/recount/judge.h"
#include "models/jobs/job.h"
#include "policies/state/terms.h"
#include "sim/base/clock.h"
#include "sim/text/table.h"

/* Columns of jobs.csv by place, as its header has them.  They are listed here once more on
 * purpose: a column that is moved by mistake is then seen. */
enum { JOB_KIND = KEYS + 1, JOB_SUBMIT, JOB_START, JOB_END, JOB_WAIT, JOB_JCT, JOB_GPUS,
       JOB_TYPE, JOB_GPU_S, JOB_CORE_S, JOB_COST, JOB_ENERGY, JOB_STOPS, JOB_STATUS,
       JOB_COMPUTE, JOB_WAITED, JOB_SWITCH, JOB_TRANSFER, JOB_FAILS, JOB_TENANT,
       JOB_PRIORITY, JOB_DUE, JOB_MET, JOB_LIMIT, JOB_CELLS };

/* A time since another, in seconds; NAN: never. */
static double since_s(int64_t ns, int64_t from_ns)
{
    return ns == CLOCK_NEVER_NS || ns == 0 ? NAN : (double)(ns - from_ns) / 1e9;
}

/* Compares the times of the row, in seconds.  A job that was cut off at the end of the run
 * has no end, and only one that was done has a completion time. */
static void judge_times(const struct cells *cells, const struct host_job *job,
                        enum job_status status, struct judge *judge)
{
    const struct job_request *request = &job->request;
    int64_t submit = request->submit_ns;
    int64_t start = job->start_ns;
    int64_t end = status != JOB_UNFINISHED ? job->end_ns : CLOCK_NEVER_NS;
    bool started = start != CLOCK_NEVER_NS;

    cells_judge(cells, JOB_SUBMIT, "submit_s of jobs.csv", (double)submit / 1e9, judge);
    cells_judge(cells, JOB_START, "start_s of jobs.csv", started ? (double)start / 1e9 : NAN,
                judge);
    cells_judge(cells, JOB_END, "end_s of jobs.csv",
                end == CLOCK_NEVER_NS ? NAN : (double)end / 1e9, judge);
    cells_judge(cells, JOB_WAIT, "wait_s of jobs.csv",
                started ? (double)(start - submit) / 1e9 : NAN, judge);
    cells_judge(cells, JOB_JCT, "jct_s of jobs.csv",
                status == JOB_DONE ? (double)(end - submit) / 1e9 : NAN, judge);
    cells_judge(cells, JOB_DUE, "deadline_s of jobs.csv", since_s(request->deadline_ns, 0), judge);
    cells_judge(cells, JOB_LIMIT, "limit_s of jobs.csv", since_s(request->limit_ns, 0), judge);
}

/* Compares what the job held, cost and drew.  Dollars of waiting are not kept by the job:
 * they are what is left of its cost, and rounding may leave less than nothing. */
static void judge_sums(const struct cells *cells, const struct host_job *job,
                       struct judge *judge)
{
    double waited = job->usd - job->usd_compute - job->usd_switch;

    cells_judge(cells, JOB_GPU_S, "gpu_seconds of jobs.csv", job->gpu_seconds, judge);
    cells_judge(cells, JOB_CORE_S, "core_seconds of jobs.csv", job->core_seconds, judge);
    cells_judge(cells, JOB_COST, "cost_usd of jobs.csv", job->usd, judge);
    cells_judge(cells, JOB_ENERGY, "energy_kwh of jobs.csv", job->joules / 3.6e6, judge);
    cells_judge(cells, JOB_COMPUTE, "cost_compute_usd of jobs.csv", job->usd_compute, judge);
    judge_figure(judge, "cost_wait_usd of jobs.csv", cells_number(cells, JOB_WAITED),
                 waited > 0 ? waited : 0, DIGITS * job->usd);
    cells_judge(cells, JOB_SWITCH, "cost_switch_usd of jobs.csv", job->usd_switch, judge);
    cells_judge(cells, JOB_TRANSFER, "cost_transfer_usd of jobs.csv", job->usd_transfer, judge);
    cells_judge(cells, JOB_STOPS, "preemptions of jobs.csv", job->preemptions, judge);
    cells_judge(cells, JOB_FAILS, "interruptions of jobs.csv", job->interruptions, judge);
}

/* Compares texts, counts and whether a deadline was met.  Of a job that was cut off before
 * its deadline, nobody knows that, and the cell is empty. */
static void judge_words(const struct cells *cells, const struct host_job *job,
                        enum job_status status, struct judge *judge)
{
    static const char *const name[JOB_STATUS_COUNT] = {
        [JOB_DONE] = "done", [JOB_FAILED] = "failed", [JOB_UNFINISHED] = "unfinished",
        [JOB_DROPPED] = "dropped",
    };
    const struct job_request *request = &job->request;
    bool cut = status == JOB_UNFINISHED && job->end_ns < request->deadline_ns;
    bool due = request->deadline_ns != CLOCK_NEVER_NS && request->deadline_ns != 0 && !cut;
    double gpus = 0;

    for (uint32_t r = 0; r < request->form->role_count; r++)
        gpus += job_role_amount(request, r);
    cells_judge(cells, JOB_GPUS, "gpus of jobs.csv", gpus, judge);
    cells_judge(cells, JOB_PRIORITY, "priority of jobs.csv",
                request->priority != 0 ? (double)request->priority : NAN, judge);
    cells_judge(cells, JOB_MET, "deadline_met of jobs.csv",
                due ? status == JOB_DONE && job->end_ns <= request->deadline_ns : NAN, judge);
    judge_holds(judge, "status of jobs.csv",
                name[status] != NULL && strcmp(cells->text[JOB_STATUS], name[status]) == 0,
                "it differs from the job");
    judge_holds(judge, "tenant of jobs.csv",
                strncmp(cells->text[JOB_TENANT], request->tenant ? request->tenant : "",
                        CELL_BYTES - 1) == 0, "it differs from the job");
    judge_holds(judge, "gpu_type of jobs.csv",
                strncmp(cells->text[JOB_TYPE], job->gpu_type ? job->gpu_type : "",
                        CELL_BYTES - 1) == 0, "it differs from the job");
}

void tables_job(const struct table *table, size_t *since, const struct host_job *job,
                enum job_status status, struct judge *judge)
{
    size_t bytes;
    const char *at = table_bytes(table, &bytes), *end = at + bytes;
    struct cells cells;

    if (!table_is_whole(table))
        return;
    at += *since;
    *since = bytes;
    judge_holds(judge, "jobs.csv", cells_read(&at, end, &cells) && at == end &&
                cells.count == JOB_CELLS, "a job that ended has no row, or several");
    if (cells.count != JOB_CELLS)
        return;
    judge_times(&cells, job, status, judge);
    judge_sums(&cells, job, judge);
    judge_words(&cells, job, status, judge);
}
