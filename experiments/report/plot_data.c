/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_data.c - what all charts need: the tables read, texts and numbers
 * written so that gnuplot takes them for nothing else.
 *
 * Names come from users, and a gnuplot script can run programs; so texts stand
 * in single quotation marks, in which gnuplot expands nothing, and characters
 * that would end or break them are replaced (plot_quote).
 */
#include "experiments/report/plot_data.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/trust.h"
#include "experiments/run/trial.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/stats/stats.h"
#include "sim/text/csv.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

#define CONFIDENCE 0.95

void plot_keep_err(struct err *err, const char *dir)
{
    struct err was = *err;
    size_t bytes = strlen(dir);
    const char *name = was.pos.file;

    if (name == NULL)
        return;
    if (strncmp(name, dir, bytes) == 0)
        for (name += bytes; *name == '/'; name++)
            continue;
    err->pos = (struct err_pos){ dir, 0, 0 };
    if (name[0] == '\0')
        return;
    if (was.pos.line > 0)
        snprintf(err->text, sizeof err->text, "%.80s:%u: %.140s", name,
                 was.pos.line, was.text);
    else
        snprintf(err->text, sizeof err->text, "%.80s: %.150s", name,
                 was.text);
}

/* Counts characters and not bytes: the later bytes of a character of UTF-8
 * begin with the bits 10. */
void plot_quote(struct out *out, const char *text, size_t characters)
{
    size_t count = 0;

    out_text(out, "'");
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        if ((c & 0xc0) != 0x80 && count++ == characters) {
            out_text(out, "\u2026");
            break;
        }
        if (c == '\'')
            out_text(out, "\u2019");
        else if (c < 0x20 || c == 0x7f)
            out_text(out, " ");
        else
            out_bytes(out, p, 1);
    }
    out_text(out, "'");
}

void plot_names(struct out *out, const char *name, const char *const *item,
                uint32_t count, size_t characters)
{
    assert(count > 0);
    out_printf(out, "array %s[%u] = [", name, count);
    for (uint32_t i = 0; i < count; i++) {
        out_text(out, i == 0 ? "" : ", ");
        plot_quote(out, item[i], characters);
    }
    out_text(out, "]\n");
}

void plot_real(struct out *out, double value)
{
    if (isfinite(value))
        out_printf(out, " %.9g", value);
    else
        out_text(out, " NaN");
}

void plot_put_mean(struct out *out, struct stats_mean m)
{
    plot_real(out, m.count > 0 ? m.mean : NAN);
    plot_real(out, m.low);
    plot_real(out, m.high);
}

/* Rounds to microseconds, so that sums of doubles, which may differ in their
 * last bits, print equal bytes. */
void plot_time(struct out *out, double seconds)
{
    if (isfinite(seconds))
        out_printf(out, " %.15g", nearbyint(seconds * 1e6) / 1e6);
    else
        out_text(out, " NaN");
}

/* Times that begin far from 0, compared with their span, are of a trace that
 * keeps its calendar. */
double plot_zero(double start_s, double end_s)
{
    return start_s > end_s - start_s ? start_s : 0;
}

/* Takes the largest unit of which there are at least two: 100 minutes are "100
 * minutes", 121 are 2.02 hours. */
struct plot_unit plot_time_unit(double seconds)
{
    static const struct plot_unit unit[] = {
        { "days", 86400 }, { "hours", 3600 }, { "minutes", 60 },
        { "seconds", 1 }
    };
    size_t i = 0;

    while (i < 3 && !(seconds >= 2 * unit[i].seconds))
        i++;
    return unit[i];
}

void plot_put_unit(struct out *out, struct plot_unit unit)
{
    out_printf(out, "time_unit = %g.\ntime_name = '%s'\n", unit.seconds,
               unit.name);
}

/* A table that is not there is a reason to skip a chart, a column that is not
 * there is an error. */
struct csv *plot_open(const struct plot_source *source, const char *table,
                      const char *const *names, size_t *column,
                      size_t count, struct plot_sink *sink,
                      struct err *err)
{
    const char *path = path_join(source->arena, source->dir, table);
    struct csv *in;

    if (!path_is_file(path)) {
        sink->skip = text_format(source->arena, "there is no %s", table);
        return NULL;
    }
    in = csv_open(source->arena, path, CSV_TABLE, err);
    for (size_t i = 0; in != NULL && i < count; i++)
        if (!csv_need_column(in, names[i], &column[i], err)) {
            csv_close(in);
            return NULL;
        }
    return in;
}

void plot_cut(struct csv *in, const size_t *column, size_t count)
{
    size_t last = 0;

    for (size_t i = 0; i < count; i++)
        last = column[i] > last ? column[i] : last;
    csv_cut(in, last + 1);
}

/* Are the cells of point, policy and seed those of the row before?  If not,
 * they are kept.  In our tables they stand side by side, so that one comparison
 * of memory is enough; in tables of other orders nothing is kept, and each row
 * is read anew. */
static bool keep_cells(struct plot_trial *trial, const struct csv *in,
                       const size_t column[3])
{
    const struct csv_field *field[3];
    size_t bytes = 0;
    bool together = true;

    for (int i = 0; i < 3; i++) {
        field[i] = csv_field(in, column[i]);
        together = together && field[i]->text == field[0]->text + bytes;
        bytes += field[i]->bytes + 1;
    }
    together = together && bytes <= sizeof trial->text;
    bool same = together && bytes == trial->bytes &&
                memcmp(trial->text, field[0]->text, bytes) == 0;
    if (together && !same)
        memcpy(trial->text, field[0]->text, bytes);
    trial->bytes = together ? bytes : 0;
    return same;
}

bool plot_find_trial(const struct plot_source *source, const struct csv *in,
                     const size_t column[3], struct plot_trial *trial, struct err *err)
{
    if (keep_cells(trial, in, column))
        return true;
    trial->point = grid_point(source->grid, csv_text(in, column[0]));
    trial->policy = grid_policy(source->grid, csv_text(in, column[1]));
    return csv_number(in, column[2], &trial->seed, err);
}

struct stats_mean plot_mean(const struct plot_source *source, uint32_t point,
                            uint32_t policy, unsigned metric)
{
    return trust_mean(source->grid, point, policy, (enum metric)metric, CONFIDENCE, NULL);
}

const struct plot_delta *plot_delta_of(const struct plot_source *source,
                                       uint32_t point, uint32_t policy,
                                       unsigned metric)
{
    unsigned metrics = metric_count(source->grid->metrics);

    assert(source->delta != NULL && metric < metrics);
    return &source->delta[((size_t)point * source->grid->policy_count +
                           policy) * metrics + metric];
}

/* The columns of compare.csv that are read. */
enum delta_column {
    D_POINT, D_POLICY, D_METRIC, D_BASELINE, D_PERCENT, D_LOW, D_HIGH, D_P,
    D_COUNT
};
static const char *const delta_name[D_COUNT] = {
    "point", "policy", "metric", "baseline", "delta_percent",
    "delta_ci95_low_percent", "delta_ci95_high_percent", "p_value"
};

/* Takes a row of compare.csv.  Rows of points, policies or metrics that
 * summary.csv lacks are passed over: another version wrote them.  *near: the
 * point of the row before, where the search begins. */
static bool read_delta(struct plot_source *source, struct plot_delta *delta,
                       const struct csv *in, const size_t *c, uint32_t *near,
                       struct err *err)
{
    const struct grid *grid = source->grid;
    uint32_t point = *near = grid_point_near(grid, csv_text(in, c[D_POINT]), *near);
    uint32_t policy = grid_policy(grid, csv_text(in, c[D_POLICY]));
    enum metric metric = metric_find(grid->metrics, csv_text(in, c[D_METRIC]));
    unsigned metrics = metric_count(grid->metrics);
    struct plot_delta d;

    if (point == UINT32_MAX || policy == UINT32_MAX || metric == metrics)
        return true;        /* written by another version */
    source->baseline = grid_policy(grid, csv_text(in, c[D_BASELINE]));
    if (!csv_number(in, c[D_PERCENT], &d.percent, err) ||
        !csv_number(in, c[D_LOW], &d.low, err) ||
        !csv_number(in, c[D_HIGH], &d.high, err) ||
        !csv_number(in, c[D_P], &d.p_value, err))
        return false;
    delta[((size_t)point * grid->policy_count + policy) * metrics + metric] = d;
    return true;
}

/* Corrects the p-values of each metric by Holm's method, over all points and
 * policies: one family, as in compare.csv. */
static void correct_deltas(const struct plot_source *source,
                           struct plot_delta *delta)
{
    size_t family = (size_t)source->grid->point_count *
                    source->grid->policy_count;
    double *p = arena_alloc(source->arena, family + 1, sizeof *p);
    unsigned metrics = metric_count(source->grid->metrics);

    for (size_t m = 0; m < metrics; m++) {
        for (size_t i = 0; i < family; i++)
            p[i] = delta[i * metrics + m].p_value;
        stats_holm(source->arena, p, family);
        for (size_t i = 0; i < family; i++)
            delta[i * metrics + m].p_holm = p[i];
    }
}

/* Reads the differences of compare.csv into a table by point, policy and metric;
 * without the file no chart has them. */
static bool read_deltas(struct plot_source *source, struct err *err)
{
    const struct grid *grid = source->grid;
    size_t count = (size_t)grid->point_count * grid->policy_count *
                   metric_count(grid->metrics), column[D_COUNT];
    struct plot_delta *delta = arena_alloc(source->arena, count + 1,
                                           sizeof *delta);
    struct plot_sink sink = { NULL, NULL, NULL };
    struct csv *in = plot_open(source, csv_compare.file, delta_name,
                                  column, D_COUNT, &sink, err);
    enum csv_step step;
    uint32_t near = 0;

    if (in == NULL)
        return sink.skip != NULL;
    for (size_t i = 0; i < count; i++)
        delta[i] = (struct plot_delta){ NAN, NAN, NAN, NAN, NAN };
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!read_delta(source, delta, in, column, &near, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_close(in);
    correct_deltas(source, delta);
    source->delta = delta;
    return step == CSV_END;
}

/* Returns a number of a map; 0 if it is not there. */
static double read_seconds(const struct conf_node *map, const char *key)
{
    const struct conf_node *node = conf_get(map, key);
    const char *text = node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node) : "";
    double value;

    return scan_f64(text, strlen(text), &value) ? value : 0;
}

/* Reads the experiment's name, the warm-up and the cluster; the folder's own name will do where
 * provenance.json is gone. */
static void read_provenance(struct arena *arena, const char *dir,
                            struct plot_source *source)
{
    const char *path = path_join(arena, dir, "provenance.json");
    const struct conf_node *tree = NULL, *name = NULL;
    struct err ignored = { 0 };

    source->experiment = path_stem(arena, dir);
    if (path_is_file(path))
        tree = conf_load(arena, path, &ignored);
    if (tree == NULL || conf_kind(tree) != CONF_MAP)
        return;
    name = conf_get(tree, "experiment");
    if (name != NULL && conf_kind(name) == CONF_SCALAR)
        source->experiment = conf_text(name);
    source->cluster = conf_get(tree, "cluster");
    source->warmup_s = read_seconds(tree, "warmup_s");
}

bool plot_source_read(struct arena *arena, const char *dir, const struct grid *grid,
                      struct plot_source *source, struct err *err)
{
    struct err_pos pos = { dir, 0, 0 };

    *source = (struct plot_source){ .arena = arena, .dir = dir,
                                    .baseline = UINT32_MAX };
    source->grid = grid != NULL ? grid : grid_from_folder(arena, dir, err);
    if (source->grid == NULL)
        return false;
    if (source->grid->point_count == 0)
        return err_set(err, ERR_SCHEMA, pos,
                       "summary.csv has no row: nothing can be shown");
    read_provenance(arena, dir, source);
    return read_deltas(source, err);
}
