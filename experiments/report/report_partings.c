/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_partings.c - the decision in which each policy parts from the baseline.
 *
 * decisions.csv holds what policies asked for, of the seeds with detail.  The first
 * decision that differs is where to begin to understand why figures differ.
 */
#include "experiments/report/report_parts.h"

#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/results/diff.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define PAIRS_MAX 60u           /* each reads the file once; beyond: one point alone */

/* Adds a decision with its time. */
static void add_choice(struct sheet *sheet, const struct diff_choice *choice)
{
    if (choice->time_s[0] == '\0')
        sheet_cell(sheet, "%s", choice->text);
    else
        sheet_cell(sheet, "%s s: %s", choice->time_s, choice->text);
}

/* Adds the first decision in which a policy differs from the baseline at a point,
 * if the log has one. */
static bool add_parting(const struct report *r, struct sheet *sheet, uint32_t point,
                        const char *const policy[2], struct err *err)
{
    struct diff_part part;

    if (!diff_find_part(r->arena, r->source.dir, r->source.grid->point[point], policy,
                        &part, err))
        return false;
    if (part.seed == NULL)
        return true;
    sheet_cell(sheet, "%s", r->source.grid->point[point]);
    sheet_cell(sheet, "%s", policy[1]);
    sheet_cell(sheet, "%s", part.seed);
    add_choice(sheet, &part.choice[0]);
    add_choice(sheet, &part.choice[1]);
    return true;
}

/* Where each policy first decides otherwise than the baseline, by the rows of
 * decisions.csv: what a difference of figures begins with.  Reading them takes time
 * for each pair, so beyond PAIRS_MAX pairs only the point in the middle is looked at. */
struct sheet *report_partings(const struct report *r, struct err *err)
{
    const struct grid *grid = r->source.grid;
    uint32_t base = r->source.baseline == UINT32_MAX ? 0 : r->source.baseline;
    bool all = grid->point_count * (grid->policy_count - 1) <= PAIRS_MAX;
    struct sheet *sheet;

    if (grid->policy_count < 2 ||
        !path_is_file(path_join(r->arena, r->source.dir, csv_decisions.file)))
        return NULL;
    sheet = sheet_new("point:0\tpolicy:0\tseed:0");
    sheet_column(sheet, text_format(r->arena, "%s decides", grid->policy[base]), 0);
    sheet_column(sheet, "the policy decides", 0);
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            if (p != base && (all || t == grid->point_count / 2) &&
                !add_parting(r, sheet, t, (const char *const[]){ grid->policy[base],
                                                                 grid->policy[p] }, err))
                return sheet;
    return sheet;
}
