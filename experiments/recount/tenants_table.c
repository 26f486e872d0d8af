/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tenants_table.c - rows of tenants.csv, against the rows of jobs.
 */
#include "experiments/recount/tables.h"

#include <math.h>
#include <string.h>

#include "experiments/recount/books.h"
#include "experiments/recount/cells.h"
#include "experiments/recount/held.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/recount.h"
#include "experiments/recount/rows.h"
#include "experiments/spec/trial_spec.h"
#include "sim/base/clock.h"
#include "sim/text/table.h"

/* Columns of tenants.csv by place. */
enum { TENANT_NAME = KEYS, TENANT_JOBS, TENANT_DONE, TENANT_GPU_S, TENANT_SHARE,
       TENANT_ASKED, TENANT_USD, TENANT_JCT, TENANT_WAIT, TENANT_SLOWDOWN, TENANT_RHO,
       TENANT_ENVY, TENANT_CELLS };

/* Sums over the jobs of one tenant: times in seconds, what was held and asked for in
 * GPU-seconds.  `slows` and `rhos` count the jobs that have a slowdown and a rho. */
struct tenant_sum {
    double jobs, done, held_s, asked_s, usd, jct_s, wait_s, slowdown, rho, slows, rhos;
};

/* Adds one job.  What it held, asked for and cost counts in any case; its times count if
 * it came after the warm-up and was done.  It asks for its GPUs from its submission, or
 * from the end of the warm-up, to its end. */
static void add_row(const struct recount_books *books, const struct recount_parts *parts,
                    const struct job_row *row, int64_t end_ns, struct tenant_sum *sum)
{
    int64_t from = row->submit_ns > books->held->from_ns ? row->submit_ns
                                                         : books->held->from_ns;
    int64_t to = row->end_ns < end_ns ? row->end_ns : end_ns;
    bool counts = row->submit_ns >= parts->spec->warmup_ns;
    double rho = rows_rho(books->rows, row);
    double jct_s = (double)(row->end_ns - row->submit_ns) / 1e9;

    sum->held_s += (double)((long double)row->held / 1e12L);
    sum->asked_s += to > from ? (double)row->asked_milli / 1000 * ((double)(to - from) / 1e9)
                              : 0;
    sum->usd += row->usd;
    sum->jobs += counts;
    if (!counts || row->status != JOB_DONE)
        return;
    sum->done++;
    sum->jct_s += jct_s;
    sum->wait_s += (double)(row->start_ns - row->submit_ns) / 1e9;
    sum->slows += row->ideal_s > 0;
    sum->slowdown += row->ideal_s > 0 ? jct_s / row->ideal_s : 0;
    sum->rhos += !isnan(rho);
    sum->rho += isnan(rho) ? 0 : rho;
}

/* A mean; NAN where there is nothing to take it of, which is an empty cell. */
static double by(double of, double count)
{
    return count > 0 ? of / count : NAN;
}

/* Compares one row.  `all_s`: the GPU-seconds of all tenants together. */
static void judge_tenant(const struct cells *cells, const struct tenant_sum *sum, double all_s,
                         struct judge *judge)
{
    cells_judge(cells, TENANT_JOBS, "jobs of tenants.csv", sum->jobs, judge);
    cells_judge(cells, TENANT_DONE, "jobs_done of tenants.csv", sum->done, judge);
    cells_judge(cells, TENANT_GPU_S, "gpu_seconds of tenants.csv", sum->held_s, judge);
    cells_judge(cells, TENANT_SHARE, "gpu_share of tenants.csv",
                all_s > 0 ? sum->held_s / all_s : 0, judge);
    cells_judge(cells, TENANT_ASKED, "asked_gpu_seconds of tenants.csv", sum->asked_s, judge);
    cells_judge(cells, TENANT_USD, "cost_usd of tenants.csv", sum->usd, judge);
    cells_judge(cells, TENANT_JCT, "jct_mean_s of tenants.csv", by(sum->jct_s, sum->done), judge);
    cells_judge(cells, TENANT_WAIT, "wait_mean_s of tenants.csv", by(sum->wait_s, sum->done),
                judge);
    cells_judge(cells, TENANT_SLOWDOWN, "slowdown_mean of tenants.csv",
                by(sum->slowdown, sum->slows), judge);
    cells_judge(cells, TENANT_RHO, "ftf_rho_mean of tenants.csv", by(sum->rho, sum->rhos), judge);
}

/* Rows of tenants stand in the order in which tenants came.  The table has no row at all
 * where only one tenant has jobs. */
void tables_judge_tenants(const struct recount_books *books,
                          const struct recount_parts *parts, int64_t end_ns,
                          struct judge *judge)
{
    size_t bytes;
    const char *at = table_bytes(parts->tenants, &bytes), *end = at + bytes;
    uint32_t count, tenants = 0;
    const struct job_row *row = rows_all(books->rows, &count);
    double all_s = 0;
    struct cells cells;

    if (row == NULL || !table_is_whole(parts->tenants))
        return;
    for (uint32_t i = 0; i < count; i++)
        all_s += row[i].tenant != ID_NONE ? (double)((long double)row[i].held / 1e12L) : 0;
    for (; cells_read(&at, end, &cells) && cells.count == TENANT_CELLS; tenants++) {
        struct tenant_sum sum = { 0 };
        const char *name = rows_tenant(books->rows, tenants);

        judge_holds(judge, "tenants.csv", name != NULL &&
                    strncmp(cells.text[TENANT_NAME], name, CELL_BYTES - 1) == 0,
                    "a row is of another tenant");
        for (uint32_t i = 0; i < count; i++)
            if (row[i].tenant == tenants)
                add_row(books, parts, &row[i], end_ns, &sum);
        judge_tenant(&cells, &sum, all_s, judge);
    }
    judge_holds(judge, "tenants.csv", at == end && (tenants == 0 || tenants > 1) &&
                (rows_tenant(books->rows, 1) == NULL ? tenants == 0
                 : rows_tenant(books->rows, tenants) == NULL),
                "a tenant has no row");
}
