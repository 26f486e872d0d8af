/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_metrics.c - `metrics:` of an experiment.
 *
 * Reads the map name -> {of, unit, better, over, title, help}, in the order of
 * the file.  An expression may read only the metrics before it, so that no
 * circle can be written.  Reading also derives two facts that no key gives: for
 * each aggregate, whether it is of done jobs alone, and for the metric, of what
 * it is a figure (enum metric_of), which decides where policies are not
 * compared.  See the header for both rules.
 *
 * It does not compute values: own_book.c does.
 */
#include "experiments/own/own_metrics.h"

#include <assert.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "sim/expr/expr.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/hash.h"

/* A column's name that tables on paper still can show; key_shapes.h has the same
 * bound in OWN_NAME. */
#define NAME_BYTES_MAX 60

/* By `better` + 1, and by enum metric_of: the words of the file are the numbers in
 * memory. */
static const char *const better_choices[] = { "less", "neither", "more", NULL };
static const char *const over_choices[] = {
    [METRIC_OF_ALL] = "all", [METRIC_OF_JOBS_DONE] = "jobs_done",
    [METRIC_OF_REQUESTS_DONE] = "requests_done", [METRIC_OF_BOTH_DONE] = "both_done",
    [METRIC_OF_BOTH_DONE + 1] = NULL
};

/* One entry as the key table fills it; `over` is -1 where the key is not given. */
struct own_keys {
    const char *of, *unit, *title, *help;
    int better, over;           /* numbers in their lists of words */
};

static const struct conf_field own_field[] = {
    CONF_KEY("of", CONF_TEXT, own_keys, of, CONF_REQUIRED,
             "the expression: columns of summary.csv, and count, sum, mean, min, max, "
             "quantile or p95 over columns of jobs.csv, with where"),
    CONF_KEY("unit", CONF_TEXT, own_keys, unit, "1",
             "of its values: s, USD, fraction, 1 ..."),
    CONF_KEY("better", CONF_CHOICE, own_keys, better, "neither",
             "which values are better", .choices = better_choices),
    CONF_KEY("over", CONF_CHOICE, own_keys, over, CONF_ABSENT,
             "what it says something of; all: it is compared also where jobs or "
             "requests were not done; if not given, what it reads decides",
             .choices = over_choices),
    CONF_KEY("title", CONF_TEXT, own_keys, title, CONF_ABSENT,
             "what tables and charts call it; its name if not given"),
    CONF_KEY("help", CONF_TEXT, own_keys, help, CONF_ABSENT, "what it means"),
};

const struct conf_schema own_metrics_schema =
    CONF_SCHEMA("experiment.metrics[]", "a metric of the experiment's own", own_field);

const char *own_metric_better(int better)
{
    assert(better >= -1 && better <= 1);
    return better_choices[better + 1];
}

const char *own_metric_over(enum metric_of of)
{
    assert((unsigned)of <= METRIC_OF_BOTH_DONE);
    return over_choices[of];
}

bool own_metric_better_read(const char *text, int *better)
{
    for (int i = -1; i <= 1; i++)
        if (strcmp(own_metric_better(i), text) == 0) {
            *better = i;
            return true;
        }
    return false;
}

bool own_metric_over_read(const char *text, enum metric_of *of)
{
    for (unsigned i = 0; i <= METRIC_OF_BOTH_DONE; i++)
        if (strcmp(over_choices[i], text) == 0) {
            *of = (enum metric_of)i;
            return true;
        }
    return false;
}

/* ---- names ---- */

/* Is it a name that can stand in an expression without quotes? */
static bool is_word(const char *name)
{
    size_t bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return bytes > 0 && bytes <= NAME_BYTES_MAX && name[bytes] == '\0' &&
           name[0] >= 'a' && name[0] <= 'z';
}

/* Is the name a word with a meaning in expressions: an operator, or a column of
 * summary.csv that is no metric (point, policy, seed)? */
static bool is_taken(const char *name)
{
    static const char *const word[] = { "and", "or", "not", "where" };

    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        if (strcmp(word[i], name) == 0)
            return true;
    for (size_t i = 0; i < csv_summary.count; i++)
        if (strcmp(csv_summary.columns[i].name, name) == 0)
            return true;
    return false;
}

/* False, with err, unless the name is new and can be written in an expression.  A
 * built-in metric has a message of its own, as its user most likely wants to read
 * it. */
static bool check_name(const char *name, struct err_pos pos, struct err *err)
{
    if (!is_word(name))
        return err_set(err, ERR_SCHEMA, pos, "a metric's name must be of at most %d "
                       "small letters, digits and _, a letter first, found '%.60s'",
                       NAME_BYTES_MAX, name);
    if (metric_find(NULL, name) != METRIC_COUNT) {
        err_set(err, ERR_SCHEMA, pos, "'%.60s' is a built-in metric", name);
        return err_hint(err, "Give it another name; an expression may read %.60s.",
                        name);
    }
    return !is_taken(name) ||
           err_set(err, ERR_SCHEMA, pos, "'%.60s' already has a meaning here", name);
}

/* ---- what expressions may read ---- */

/* The columns that an expression may read outside aggregates: all metrics so far. */
static struct expr_table scalars_of(struct arena *arena, const struct metric_set *set)
{
    uint32_t count = metric_count(set);
    struct expr_column *column = arena_alloc(arena, count, sizeof *column);

    for (uint32_t m = 0; m < count; m++)
        column[m].name = metric_info(set, (enum metric)m)->name;
    return (struct expr_table){ csv_summary.file, column, count };
}

/* The columns that aggregates read: those of jobs.csv behind its three keys.  All
 * rows of a trial have equal keys, so these say nothing there. */
static struct expr_table rows_of(struct arena *arena)
{
    struct expr_column *column = arena_alloc(arena, JOB_CELL_COUNT, sizeof *column);

    for (uint32_t i = 0; i < JOB_CELL_COUNT; i++) {
        const struct table_column *from = &csv_jobs.columns[3 + i];

        column[i].name = from->name;
        column[i].type = from->type == TABLE_TEXT ? EXPR_TEXT : EXPR_NUMBER;
    }
    return (struct expr_table){ csv_jobs.file, column, JOB_CELL_COUNT };
}

/* ---- jobs that were not done ---- */

/* METRIC_OF_BOTH_DONE is the union of the two kinds of `done`, bit by bit. */
/* enum metric_of is a set of two bits: jobs done, requests done. */
static enum metric_of join_of(enum metric_of a, enum metric_of b)
{
    return (enum metric_of)((unsigned)a | (unsigned)b);
}

/* Returns what a metric is of that the expression reads (enum metric_of).  A count of jobs done is
 * of all jobs, since a lost job lowers it as it should.  As a divisor it makes a mean over jobs
 * that were done. */
static enum metric_of of_scalar(const struct metric_set *set,
                                const struct expr_read *read)
{
    if (read->divisor && read->column == METRIC_JOBS_DONE)
        return METRIC_OF_JOBS_DONE;
    if (read->divisor && read->column == METRIC_REQUESTS_DONE)
        return METRIC_OF_REQUESTS_DONE;
    return metric_info(set, (enum metric)read->column)->of;
}

/* Returns of what the expression is a figure, and sets metric->of_done: which
 * aggregates are of done jobs alone.  The second loop undoes that for an aggregate
 * that reads `status`: its author chooses the jobs.  O(reads). */
static enum metric_of derive_of(struct arena *arena, const struct metric_set *set,
                                struct own_metric *metric)
{
    uint32_t folds = expr_aggregate_count(metric->expr), count;
    const struct expr_read *read = expr_reads(metric->expr, &count);
    bool *done = arena_alloc(arena, folds + 1, sizeof *done);
    enum metric_of of = METRIC_OF_ALL;

    for (uint32_t i = 0; i < count; i++) {
        bool scalar = read[i].aggregate == EXPR_NO_AGGREGATE;

        if (scalar)
            of = join_of(of, of_scalar(set, &read[i]));
        else if (job_cell_of_done((enum job_cell)read[i].column)) {
            of = join_of(of, METRIC_OF_JOBS_DONE);
            done[read[i].aggregate] = true;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (read[i].aggregate != EXPR_NO_AGGREGATE &&
            read[i].column == JOB_CELL_STATUS)
            done[read[i].aggregate] = false;
    metric->of_done = done;
    return of;
}

/* ---- the key ---- */

/* Reads one entry into info and metric.  An error within the expression gets the
 * place of the character in the file.  `conf_stands_in`: the text is unknown (a
 * key of a template that is only checked); "0" stands for it. */
static bool read_one(struct arena *arena, const struct conf_node *map,
                     const struct expr_table *rows, struct own_metrics *own,
                     struct metric_info *info, struct own_metric *metric,
                     struct err *err)
{
    struct own_keys keys = { .over = -1 };
    struct expr_table scalars = scalars_of(arena, &own->set);
    enum metric_of of;
    size_t at;

    if (!conf_fill(map, &own_metrics_schema, &keys, err))
        return false;
    if (conf_stands_in(conf_get(map, "of")))
        keys.of = "0";
    metric->expr = expr_parse(arena, keys.of, &scalars, rows, &at, err);
    if (metric->expr == NULL) {
        err->pos = conf_text_pos(conf_get(map, "of"), at);
        err->fault = FAULT_VALUE;
        return false;
    }
    of = derive_of(arena, &own->set, metric);
    info->unit = keys.unit;
    info->help = keys.help != NULL ? keys.help : "";
    info->title = keys.title != NULL && *keys.title != '\0' ? keys.title : info->name;
    info->of = keys.over < 0 ? of : (enum metric_of)keys.over;
    info->better = keys.better - 1;
    info->expression = keys.of;
    own->of_rows = own->of_rows || expr_aggregate_count(metric->expr) > 0;
    own->hash = hash_text(own->hash, keys.of);
    return true;
}

/* The hash goes over the expressions alone, since only these change what a trial
 * stores; a title does not make old trials useless. */
const struct own_metrics *own_metrics_read(struct arena *arena,
                                           const struct conf_node *node,
                                           struct err *err)
{
    struct own_metrics *own = arena_alloc(arena, 1, sizeof *own);
    const struct expr_table rows = rows_of(arena);
    size_t count = 0;

    if (node == NULL)
        return own;
    if (conf_kind(node) == CONF_MAP)
        count = conf_count(node);
    if (count == 0 || count > METRIC_OWN_MAX) {
        err_set(err, ERR_SCHEMA, conf_pos(node), "metrics must be a map of 1 to %d "
                "names", METRIC_OWN_MAX);
        err_hint(err, "Write metrics: {usd_per_step: {of: cost_usd / steps_done, unit: "
                      "USD, better: less}}");
        return NULL;
    }
    struct metric_info *info = arena_alloc(arena, count, sizeof *info);
    struct own_metric *metric = arena_alloc(arena, count, sizeof *metric);

    own->set.own = info;
    own->metric = metric;
    own->hash = HASH_START;
    for (size_t i = 0; i < count; i++) {
        info[i].name = conf_key(node, i);
        if (!check_name(info[i].name, conf_key_pos(node, i), err)) {
            err->fault = FAULT_KEY;
            return NULL;
        }
        if (!read_one(arena, conf_value(node, i), &rows, own, &info[i], &metric[i],
                      err))
            return NULL;
        own->set.own_count++;
    }
    return own;
}
