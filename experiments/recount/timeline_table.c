/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline_table.c - rows of timeline.csv, integrated over time, against the books.
 */
#include "experiments/recount/tables.h"

#include <math.h>
#include <string.h>

#include "experiments/recount/books.h"
#include "experiments/recount/cells.h"
#include "experiments/recount/held.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/nodes.h"
#include "experiments/recount/recount.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "sim/base/clock.h"
#include "sim/text/table.h"

/* Columns of timeline.csv by place. */
enum { LINE_T = KEYS, LINE_POOL, LINE_GPUS, LINE_ALLOCATED, LINE_BUSY, LINE_CORES,
       LINE_PENDING, LINE_RUNNING, LINE_USD, LINE_CELLS };

/* Integrals of the columns of one pool. */
struct line_sum {
    double of[LINE_CELLS];      /* cell x seconds of its interval */
    double last[LINE_CELLS], since_s, first_s;
    bool any;
};

/* Adds what the last row says, for the time from that row to t_s.  A row holds until the
 * next row of its pool. */
static void line_until(struct line_sum *sum, double t_s)
{
    for (unsigned c = LINE_ALLOCATED; sum->any && c < LINE_CELLS; c++)
        sum->of[c] += sum->last[c] * (t_s - sum->since_s);
    sum->since_s = t_s;
}

/* Reads all rows of a pool and integrates each column up to end_s, in its unit x seconds.
 * *gpus becomes what the last row says of the GPUs that there are. */
static void sum_lines(const struct table *table, const char *pool, double end_s,
                      struct line_sum *sum, double *gpus)
{
    size_t bytes;
    const char *at = table_bytes(table, &bytes), *end = at + bytes;
    struct cells cells;

    while (cells_read(&at, end, &cells) && cells.count == LINE_CELLS) {
        if (strncmp(cells.text[LINE_POOL], pool, CELL_BYTES - 1) != 0)
            continue;
        line_until(sum, cells_number(&cells, LINE_T));
        if (!sum->any)
            sum->first_s = sum->since_s;
        for (unsigned c = LINE_ALLOCATED; c < LINE_CELLS; c++)
            sum->last[c] = cells_number(&cells, c);
        *gpus = cells_number(&cells, LINE_GPUS);
        sum->any = true;
    }
    line_until(sum, end_s);
}

/* What the nodes of a pool cost from from_s to end_s, without parts of units, times 3600. */
static double pool_usd(const struct recount_books *books, const struct cluster_spec *cluster,
                       uint32_t pool, double from_s, double end_s)
{
    double usd = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (group->pool != pool)
            continue;
        usd += 3600 * (group->billed_held || group->rent != NULL
                           ? nodes_group(books->nodes, g).used_usd
                           : group->node_count * cluster_node_usd(group, llround(from_s * 1e9),
                                                                  llround(end_s * 1e9)));
    }
    return usd;
}

/* Has a pool nodes whose time counts from the end of the warm-up only? */
static bool has_rentals(const struct cluster_spec *cluster, uint32_t pool)
{
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].pool == pool &&
            (cluster->group[g].billed_held || cluster->group[g].rent != NULL))
            return true;
    return false;
}

/* *rounded: a flow ends at the next whole nanosecond, and keeps at most all cores of its
 * node busy until then. */
static double pool_core_s(const struct recount_books *books,
                          const struct recount_parts *parts, uint32_t pool, double *rounded)
{
    const struct cluster_spec *cluster = parts->spec->cluster;
    double s = 0;

    *rounded = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        uint32_t l = fabric_link(parts->fabric, FABRIC_CPU, n);

        if (l >= books->links || cluster_group_of(cluster, n)->pool != pool)
            continue;
        s += books->carried[l].units;
        *rounded += 1e-9 * (double)books->carried[l].ends * cluster_group_of(cluster, n)->cores;
    }
    return s;
}

/* Nine printed digits leave an error in each column.  Busy GPUs may differ by a thousandth of a
 * GPU more, over all of the time, and cores by what pool_core_s() says. */
void tables_judge_pool(const struct recount_books *books, const struct recount_parts *parts,
                       uint32_t pool, double end_s, struct judge *judge)
{
    const struct cluster_spec *cluster = parts->spec->cluster;
    struct line_sum sum = { .any = false };
    double gpus = NAN, all = 0, from_s = books->alone ? (double)books->first_ns / 1e9 : 0;
    double span_s = end_s - from_s, core_s, rounded_s;

    sum_lines(parts->timeline, cluster->pool_name[pool], end_s, &sum, &gpus);
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].pool == pool)
            all += cluster->group[g].gpus * cluster->group[g].node_count;
    if (!sum.any) {
        judge_holds(judge, "timeline.csv", !(span_s > 0), "a pool has no row");
        return;
    }
    judge_figure(judge, "t_s of timeline.csv, first", sum.first_s, from_s, 0);
    judge_figure(judge, "gpus_total of timeline.csv", gpus, all, 0);
    judge_figure(judge, "gpus_allocated of timeline.csv", sum.of[LINE_ALLOCATED],
                 (double)((long double)books->held->pool[pool] / 1e12L),
                 DIGITS * sum.of[LINE_ALLOCATED]);
    judge_figure(judge, "gpus_busy of timeline.csv", sum.of[LINE_BUSY],
                 books->held->pool_busy[pool], DIGITS * (sum.of[LINE_BUSY] + span_s * 1e-3));
    core_s = pool_core_s(books, parts, pool, &rounded_s);
    judge_figure(judge, "cores_busy of timeline.csv", sum.of[LINE_CORES], core_s,
                 rounded_s / JUDGE_NEAR + DIGITS * sum.of[LINE_CORES]);
    judge_figure(judge, "jobs_pending of timeline.csv", sum.of[LINE_PENDING],
                 (double)((long double)books->pending / 1e9L), DIGITS * sum.of[LINE_PENDING]);
    judge_figure(judge, "jobs_running of timeline.csv", sum.of[LINE_RUNNING],
                 (double)((long double)books->running / 1e9L), DIGITS * sum.of[LINE_RUNNING]);
    if (parts->spec->warmup_ns == 0 || !has_rentals(cluster, pool))
        judge_figure(judge, "cost_usd_per_h of timeline.csv", sum.of[LINE_USD],
                     pool_usd(books, cluster, pool, from_s, end_s), DIGITS * sum.of[LINE_USD]);
}
