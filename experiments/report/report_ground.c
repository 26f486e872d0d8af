/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_ground.c - on what the answer stands, in words: the cluster, prices,
 * seeds, the end; and below each point its means seed by seed.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_parts.h"
#include "experiments/results/grid.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

/* Returns "4 nodes of 8 l40s (rollout)" for a group of nodes. */
static const char *group_text(struct arena *arena, const struct conf_node *group)
{
    const char *count = report_word(group, "count"),
               *gpus = report_word(group, "gpus"),
               *type = report_word(group, "gpu"),
               *pool = report_word(group, "pool");
    const char *what = strcmp(gpus, "0") == 0 ? "without GPUs" : text_format(
        arena, "of %s %s", gpus, *type ? type : "GPUs");

    return text_format(arena, "%s node%s %s (%s)", count,
                       strcmp(count, "1") == 0 ? "" : "s", what, pool);
}

/* Writes the nodes in words; those of one point where the cluster is swept. */
static void put_cluster(const struct report *r)
{
    const struct conf_node *nodes = report_list(r->source.cluster, "nodes");

    if (nodes == NULL || conf_count(nodes) == 0)
        return;
    out_text(r->out, "<li>Cluster: ");
    for (size_t i = 0; i < conf_count(nodes); i++) {
        out_text(r->out, i == 0 ? "" : "; ");
        out_html_text(r->out, group_text(r->arena, conf_item(nodes, i)));
    }
    if (r->source.grid->point_count > 1) {
        out_text(r->out, ", at the point ");
        out_html_text(r->out, report_word(r->source.cluster, "point"));
    }
    out_text(r->out, ".</li>\n");
}

/* The prices of the catalogue that were taken, and which of them are assumptions. */
static void put_prices(const struct report *r)
{
    const struct conf_node *prices = report_list(r->made_from, "prices");

    if (prices == NULL || conf_count(prices) == 0)
        return;
    out_text(r->out, "<li>Prices of the catalogue: ");
    for (size_t i = 0; i < conf_count(prices); i++) {
        const struct conf_node *item = conf_item(prices, i);
        bool assumed = strcmp(report_word(item, "assumption"), "true") == 0;

        out_html_text(r->out, text_format(
            r->arena, "%s%s for %s (%s, %s%s)", i == 0 ? "" : "; ",
            report_word(item, "price"), report_word(item, "nodes"),
            report_word(item, "tier"), report_word(item, "as_of"),
            assumed ? ", an assumption" : ""));
    }
    out_text(r->out, ".</li>\n");
}

/* How many seeds there are, and when runs begin and end to count. */
static void put_seeds(const struct report *r)
{
    const char *until = report_word(r->made_from, "until_s"),
               *warmup = report_word(r->made_from, "warmup_s");
    uint32_t seeds = r->source.grid->seed_count;

    out_printf(r->out, "<li>Runs: %u seed%s", seeds, seeds == 1 ? "" : "s");
    if (seeds > 1)
        out_text(r->out, "; all policies meet the same jobs");
    if (strcmp(until, "null") == 0)
        out_text(r->out, "; each run ends when all jobs have ended");
    else if (*until)
        out_printf(r->out, "; each run ends after %s s", until);
    if (*warmup && strcmp(warmup, "0") != 0)
        out_printf(r->out, "; what comes before %s s does not count", warmup);
    out_text(r->out, ".</li>\n");
}

/* Returns an offered load of provenance.json. */
static double rho_of(const struct conf_node *item)
{
    return strtod(report_word(item, "rho"), NULL);
}

/* Is no other pool of the same policies and point as full? */
static bool is_fullest(const struct conf_node *load, size_t at)
{
    const struct conf_node *item = conf_item(load, at);

    for (size_t i = 0; i < conf_count(load); i++) {
        const struct conf_node *other = conf_item(load, i);

        if (strcmp(report_word(other, "point"), report_word(item, "point")) == 0 &&
            strcmp(report_word(other, "policies"),
                   report_word(item, "policies")) == 0 &&
            (rho_of(other) > rho_of(item) ||
             (i < at && rho_of(other) == rho_of(item))))
            return false;
    }
    return true;
}

/* Names the pools on which more work comes than they can do. */
static void put_overload(const struct report *r)
{
    const struct conf_node *load = report_list(r->made_from, "load");
    const char *before = "<li>Overload: more work comes than can be done by ";
    bool any = false;

    for (size_t i = 0; load != NULL && i < conf_count(load); i++) {
        const struct conf_node *item = conf_item(load, i);
        double rho = rho_of(item);

        if (rho <= 1 || !is_fullest(load, i))
            continue;
        out_text(r->out, any ? "; " : before);
        out_html_text(r->out, text_format(
            r->arena, "%s at %s (%s of %s: load %.2f)",
            report_word(item, "policies"), report_word(item, "point"),
            report_word(item, "of"), report_word(item, "pool"), rho));
        any = true;
    }
    if (any)
        out_text(r->out, ". There the queue grows as long as jobs come, so a "
                 "mean time says how long they came.</li>\n");
}

/* Says how many values were decided by defaults, and where they stand. */
static void put_defaults(const struct report *r)
{
    size_t rules = report_default_rows(r);

    if (rules > 0)
        out_printf(r->out, "<li>Not said in the files, and decided by defaults "
                   "and rules: <a href=\"#defaults\">%zu value%s</a>.</li>\n",
                   rules, rules == 1 ? "" : "s");
}

/* What the answer stands on: hardware, prices, seeds, load, and what was not said.  A
 * reader who doubts the answer looks here first. */
void report_ground(const struct report *r)
{
    out_text(r->out, "<ul>\n");
    put_cluster(r);
    put_prices(r);
    put_seeds(r);
    put_overload(r);
    put_defaults(r);
    out_text(r->out, "</ul>\n");
}

/* ---- seed by seed ---- */

#define SEEDS_SHOWN 500u        /* a page of 100,000 rows is of use to nobody */

/* Adds a row: a metric of one seed under each policy.  Where one trial stands for
 * all seeds, the others are empty. */
static void add_seed(struct sheet *sheet, const struct report *r,
                     uint32_t point, enum metric metric, uint32_t seed)
{
    const struct grid *grid = r->source.grid;

    sheet_cell(sheet, "%u", grid->seed[seed]);
    for (uint32_t p = 0; p < grid->policy_count; p++)
        sheet_real(sheet, grid_fixed(grid, point, p) && seed > 0
                   ? NAN : grid_value(grid, point, p, seed, metric));
}

/* JCT and cost of each seed beside each other: pairs, as the tests compare them.  The
 * number of the point makes the id that a link of the tables leads to. */
void report_seeds(const struct report *r, uint32_t point)
{
    static const enum metric metrics[] = { METRIC_JCT_MEAN,
                                           METRIC_COST_PER_JOB };
    const struct grid *grid = r->source.grid;
    uint32_t shown = grid->seed_count < SEEDS_SHOWN ? grid->seed_count : SEEDS_SHOWN;

    out_printf(r->out, "<details><summary>Seed by seed</summary>\n"
               "<div id=\"seeds-%u\">\n", point);
    for (size_t m = 0; m < COUNT_OF(metrics); m++) {
        const struct metric_info *info = metric_info(grid->metrics, metrics[m]);
        struct sheet *sheet = sheet_new("seed:0");

        for (uint32_t p = 0; p < grid->policy_count; p++)
            sheet_column(sheet, grid->policy[p], 1);
        for (uint32_t s = 0; s < shown; s++)
            add_seed(sheet, r, point, metrics[m], s);
        html_element(r->out, "h4", text_format(r->arena, "%s, %s", info->title,
                                               info->unit));
        sheet_html(sheet, 1, r->out);
        sheet_free(sheet);
    }
    if (shown < grid->seed_count)
        out_printf(r->out, "<p>These are the first %u of %u seeds; all of them are in "
                   "summary.csv.</p>\n", shown, grid->seed_count);
    out_text(r->out, "</div></details>\n");
}
