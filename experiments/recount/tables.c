/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tables.c - what rows say, beside the books.  Each table has a file: jobs_table.c,
 * timeline_table.c, tenants_table.c and services_table.c.
 */
#include "experiments/recount/tables.h"

#include <assert.h>

#include "experiments/recount/recount.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "sim/text/table.h"

void tables_judge(const struct recount_books *books, const struct recount_parts *parts,
                  int64_t end_ns, struct judge *judge)
{
    uint32_t pools = parts->spec->cluster->pool_count;

    assert(judge != NULL);
    for (uint32_t p = 0; parts->timeline != NULL && table_is_whole(parts->timeline) &&
                         p < pools; p++)
        tables_judge_pool(books, parts, p, (double)end_ns / 1e9, judge);
    if (parts->tenants != NULL)
        tables_judge_tenants(books, parts, end_ns, judge);
    if (parts->services != NULL && table_is_whole(parts->services))
        tables_judge_services(books, parts, judge);
}
