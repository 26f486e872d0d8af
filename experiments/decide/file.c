/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - options.csv: what was decided, and all that is needed to decide again.
 *
 * A row for each point, option and metric.  What the metric is for stands in `use`: it
 * decides, it is a condition, or it is shown.
 */
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/decide/shown.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/grid.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* Columns of options.csv by place, as csv_options has them. */
enum {
    C_POINT, C_OPTION, C_POLICY, C_SET, C_VERDICT, C_METRIC, C_USE, C_AT_LEAST, C_AT_MOST,
    C_SEEDS, C_MEAN, C_LOW, C_HIGH, C_DELTA, C_DELTA_LOW, C_DELTA_HIGH, C_P, C_BAD, C_RISK,
    C_RISK_LOW, C_RISK_HIGH, C_QUANTILE, C_TAIL, C_WORST, C_SENTENCE, C_COUNT
};

/* Words of `use`, by USE_ number. */
static const char *const use_name[] = { "decides", "condition", "shown" };
enum { USE_DECIDES, USE_KEEP, USE_SHOWN };

/* ---- writing ---- */

/* One row; keep: which condition it is, of USE_KEEP. */
struct row {
    uint32_t point, option, keep;
    int use;                    /* what the row is about: a USE_ number */
    enum metric metric;         /* of the row */
};

/* Four cells: seeds that are bad, their share in 0..1, and its interval.  All are
 * empty where the row's metric carries no risk. */
static void put_risk(struct table *table, const struct decide_risk *r)
{
    if (r->seeds == 0) {
        for (int i = 0; i < 4; i++)
            table_empty(table);
        return;
    }
    table_count(table, r->bad);
    table_real(table, (double)r->bad / r->seeds);
    table_real_or_empty(table, r->low);
    table_real_or_empty(table, r->high);
}

/* Writes the cells that only the metric that decides has. */
static void put_decision(struct table *table, const struct decision *decision,
                         const struct decide_option *o, uint32_t point)
{
    table_real(table, decision->spec->quantile);
    table_real_or_empty(table, o->tail);
    table_real_or_empty(table, o->worst);
    table_text(table, decision->point[point].sentence);
}

/* Writes the cells of one row in the order of csv_options; differences are in percent of
 * the first option's mean. */
static void put_row(struct arena *arena, const struct decision *decision, const struct row *r,
                    struct table *table)
{
    const struct experiment_decide *spec = decision->spec;
    const struct decide_option *o = &decision->point[r->point].option[r->option];
    struct stats_mean m = decide_mean(decision, r->point, r->option, r->metric);
    struct stats_delta d = decide_delta(decision, r->point, r->option, r->metric);
    struct decide_risk risk = { 0, 0, NAN, NAN };

    if (r->use == USE_DECIDES)
        risk = o->risk;
    else if (r->use == USE_KEEP)
        risk = decide_keep_risk(arena, decision, r->point, r->option, r->keep);
    table_text(table, decision->point[r->point].label);
    table_text(table, spec->choice[r->option].name);
    table_text(table, spec->choice[r->option].policy);
    table_text(table, spec->choice[r->option].set);
    table_text(table, decide_verdict_name(o->verdict));
    table_text(table, metric_info(decision->grid->metrics, r->metric)->name);
    table_text(table, use_name[r->use]);
    table_real_or_empty(table, r->use == USE_KEEP ? spec->keep[r->keep].low : NAN);
    table_real_or_empty(table, r->use == USE_KEEP ? spec->keep[r->keep].high : NAN);
    table_count(table, m.count);
    table_real_or_empty(table, m.mean);
    table_real_or_empty(table, m.low);
    table_real_or_empty(table, m.high);
    table_real_or_empty(table, d.percent);
    table_real_or_empty(table, d.percent_low);
    table_real_or_empty(table, d.percent_high);
    table_real_or_empty(table, r->use == USE_DECIDES ? o->p_holm : NAN);
    put_risk(table, &risk);
    if (r->use == USE_DECIDES)
        put_decision(table, decision, o, r->point);
    else
        for (int i = C_QUANTILE; i < C_COUNT; i++)
            table_empty(table);
    table_end_row(table);
}

/* Returns whether a metric is that of a condition. */
static bool is_condition(const struct experiment_decide *spec, enum metric metric)
{
    for (uint32_t k = 0; k < spec->keep_count; k++)
        if (spec->keep[k].metric == metric)
            return true;
    return false;
}

/* Writes all rows of an option at a point.  A metric that decides may be a
 * condition, too: then it has a row of each. */
static void put_option(struct arena *arena, const struct decision *decision, uint32_t point,
                       uint32_t option, struct table *table)
{
    const struct experiment_decide *spec = decision->spec;
    struct row row = { point, option, 0, USE_DECIDES, spec->metric };
    uint32_t count;
    const enum metric *shown = decide_shown(arena, decision, &count);

    put_row(arena, decision, &row, table);
    row.use = USE_KEEP;
    for (row.keep = 0; row.keep < spec->keep_count; row.keep++) {
        row.metric = spec->keep[row.keep].metric;
        put_row(arena, decision, &row, table);
    }
    row.use = USE_SHOWN;
    for (uint32_t m = 0; m < count; m++) {
        row.metric = shown[m];
        if (row.metric != spec->metric && !is_condition(spec, row.metric))
            put_row(arena, decision, &row, table);
    }
}

bool decide_write(struct arena *arena, const struct folder *dir,
                  const struct decision *decision, struct err *err)
{
    struct out *out = csv_out_open(arena, dir, &csv_options, err);
    struct table *table;

    if (out == NULL)
        return false;
    table = table_new(csv_options.columns, csv_options.count);
    for (uint32_t t = 0; t < decision->grid->point_count; t++)
        for (uint32_t i = 0; i < decision->spec->choice_count; i++)
            put_option(arena, decision, t, i, table);
    return csv_out_close(out, table, err);
}

/* ---- reading ---- */

/* What is gathered while rows are read. */
struct reading {
    struct arena *arena;
    const struct metric_set *metrics;       /* of the folder: own ones, too */
    size_t column[C_COUNT];     /* of options.csv, by C_ number */
    struct experiment_decide spec;          /* what the rows say so far */
    struct experiment_choice *choice;       /* the options, in the order of rows */
    struct experiment_keep *keep;           /* the conditions */
    uint32_t choice_room, keep_room;        /* memory for entries */
    const char *point;          /* the first: all points say the same */
};

/* Returns a cell of the row that was read last, by its C_ number. */
static const char *field(const struct reading *r, const struct csv *in, int column)
{
    return csv_text(in, r->column[column]);
}

/* Adds the condition of a row; an empty limit is none (infinite). */
static bool read_keep(struct reading *r, const struct csv *in, enum metric metric,
                      struct err *err)
{
    struct experiment_keep keep = { metric, NAN, NAN };

    if (!csv_number(in, r->column[C_AT_LEAST], &keep.low, err) ||
        !csv_number(in, r->column[C_AT_MOST], &keep.high, err))
        return false;
    keep.low = isnan(keep.low) ? -INFINITY : keep.low;
    keep.high = isnan(keep.high) ? INFINITY : keep.high;
    ARENA_ADD(r->arena, r->keep, r->spec.keep_count, r->keep_room, keep);
    return true;
}

/* Reads the quantile.  False, with err: it is none, of which a tail could be told. */
static bool read_quantile(struct reading *r, const struct csv *in, struct err *err)
{
    size_t at = r->column[C_QUANTILE];

    if (!csv_number(in, at, &r->spec.quantile, err))
        return false;
    return (r->spec.quantile >= 0 && r->spec.quantile <= 1) ||
           err_set(err, ERR_RANGE, csv_pos(in, at), "quantile must be from 0 to 1, found '%.40s'",
                   csv_text(in, at));
}

/* Takes what is needed to decide again: options and quantile from the first point, and
 * the conditions from its first option, as all others repeat them. */
static bool read_row(struct reading *r, const struct csv *in, struct err *err)
{
    enum metric metric = metric_find(r->metrics, field(r, in, C_METRIC));
    const char *name = field(r, in, C_OPTION), *use = field(r, in, C_USE);

    if (r->point == NULL)
        r->point = arena_text(r->arena, field(r, in, C_POINT));
    if (strcmp(r->point, field(r, in, C_POINT)) != 0)
        return true;
    if (metric == metric_count(r->metrics))
        return err_set(err, ERR_REFERENCE, csv_pos(in, r->column[C_METRIC]),
                       "there is no metric '%.60s'", field(r, in, C_METRIC));
    if (strcmp(use, use_name[USE_DECIDES]) == 0) {
        struct experiment_choice choice = {
            arena_text(r->arena, name), arena_text(r->arena, field(r, in, C_POLICY)),
            arena_text(r->arena, field(r, in, C_SET))
        };

        r->spec.metric = metric;
        ARENA_ADD(r->arena, r->choice, r->spec.choice_count, r->choice_room, choice);
        return read_quantile(r, in, err);
    }
    return strcmp(use, use_name[USE_KEEP]) != 0 || r->spec.choice_count != 1 ||
           read_keep(r, in, metric, err);
}

/* Reads all rows.  False: err says which column or cell is wrong. */
static bool read_rows(struct reading *r, struct csv *in, struct err *err)
{
    enum csv_step step;

    for (size_t i = 0; i < C_COUNT; i++)
        if (!csv_need_column(in, csv_options.columns[i].name, &r->column[i], err))
            return false;
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!read_row(r, in, err))
            return false;
    return step == CSV_END;
}

/* What was decided is computed again from the results, and not believed: the
 * file says only what to decide. */
bool decide_read(struct arena *arena, const char *dir, const struct grid *grid,
                 const struct decision **decision, struct err *err)
{
    struct reading r = { .arena = arena, .metrics = grid->metrics };
    const char *path = path_join(arena, dir, csv_options.file);
    struct experiment_decide *spec;
    struct csv *in;
    bool ok;

    *decision = NULL;
    if (!path_is_file(path))
        return true;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in == NULL)
        return false;
    ok = read_rows(&r, in, err);
    csv_close(in);
    if (!ok)
        return false;
    spec = arena_alloc(arena, 1, sizeof *spec);
    *spec = r.spec;
    spec->choice = r.choice;
    spec->keep = r.keep;
    *decision = decide_make(arena, grid, spec);
    return true;
}
