/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * distribution_read.c - reads a distribution as a workload file writes it.
 *
 * Every kind is brought to the two parameters of distribution.c.  Mean and
 * coefficient of variation c become: lognormal: sd^2 = ln(1 + c^2),
 * mu = ln m - sd^2 / 2; gamma: shape 1 / c^2, scale m c^2 (Law, Simulation
 * Modeling and Analysis, chapter 6).
 */
#include "workloads/random/distribution_read.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "workloads/random/distribution.h"

/* The keys of all kinds; each kind's table says which it has.  NULL: not
 * written.  Numbers are nodes, since their unit depends on the key that has the
 * distribution. */
struct keys {
    const struct conf_node *mean, *cv, *log_mean, *log_sd, *scale, *shape;
    const char *file, *column;  /* of an empirical one: a CSV, and its column */
};

static const struct conf_field exponential_fields[] = {
    CONF_KEY("mean", CONF_NODE, keys, mean, CONF_REQUIRED,
             "mean, in the unit of the key, > 0"),
};
static const struct conf_field lognormal_fields[] = {
    CONF_KEY("mean", CONF_NODE, keys, mean, CONF_ABSENT,
             "mean of the value itself, > 0; with cv"),
    CONF_KEY("cv", CONF_NODE, keys, cv, CONF_ABSENT,
             "standard deviation over mean, >= 0; with mean"),
    CONF_KEY("log_mean", CONF_NODE, keys, log_mean, CONF_ABSENT,
             "mean of the logarithm; with log_sd"),
    CONF_KEY("log_sd", CONF_NODE, keys, log_sd, CONF_ABSENT,
             "standard deviation of the logarithm; with log_mean"),
};
static const struct conf_field weibull_fields[] = {
    CONF_KEY("scale", CONF_NODE, keys, scale, CONF_REQUIRED,
             "scale, in the unit of the key, > 0"),
    CONF_KEY("shape", CONF_NODE, keys, shape, CONF_REQUIRED,
             "shape, > 0; below 1 a heavy tail"),
};
static const struct conf_field gamma_fields[] = {
    CONF_KEY("mean", CONF_NODE, keys, mean, CONF_REQUIRED,
             "mean, in the unit of the key, > 0"),
    CONF_KEY("cv", CONF_NODE, keys, cv, CONF_REQUIRED,
             "standard deviation over mean, > 0"),
};
static const struct conf_field pareto_fields[] = {
    CONF_KEY("scale", CONF_NODE, keys, scale, CONF_REQUIRED,
             "least value, in the unit of the key, > 0"),
    CONF_KEY("shape", CONF_NODE, keys, shape, CONF_REQUIRED,
             "shape, > 0; the mean is finite above 1"),
};
static const struct conf_field empirical_fields[] = {
    CONF_KEY("file", CONF_TEXT, keys, file, CONF_REQUIRED,
             "CSV file of samples, in base units (seconds, bytes, counts)"),
    CONF_KEY("column", CONF_TEXT, keys, column, CONF_ABSENT,
             "column to draw from; default: the only one"),
};

const struct conf_schema distribution_constant_schema = {
    "distribution.constant", "the same value always", NULL, 0};
const struct conf_schema distribution_uniform_schema = {
    "distribution.uniform", "[low, high], every value alike", NULL, 0};
const struct conf_schema distribution_exponential_schema =
    CONF_SCHEMA("distribution.exponential",
                "memoryless, cv 1", exponential_fields);
const struct conf_schema distribution_lognormal_schema =
    CONF_SCHEMA("distribution.lognormal",
                "product of many small factors", lognormal_fields);
const struct conf_schema distribution_weibull_schema =
    CONF_SCHEMA("distribution.weibull", "lifetimes", weibull_fields);
const struct conf_schema distribution_gamma_schema =
    CONF_SCHEMA("distribution.gamma", "sum of waits; any cv", gamma_fields);
const struct conf_schema distribution_pareto_schema =
    CONF_SCHEMA("distribution.pareto", "power-law tail", pareto_fields);
const struct conf_schema distribution_hyperexponential_schema = {
    "distribution.hyperexponential",
    "{mean: weight, ...}: an exponential of one of these means", NULL, 0};
const struct conf_schema distribution_choice_schema = {
    "distribution.choice", "{value: weight, ...}; weights of any sum, > 0",
    NULL, 0};
const struct conf_schema distribution_empirical_schema =
    CONF_SCHEMA("distribution.empirical",
                "samples of a file, each as likely", empirical_fields);

static const struct conf_schema *const kind_schemas[] = {
    &distribution_constant_schema,
    &distribution_uniform_schema,
    &distribution_exponential_schema,
    &distribution_lognormal_schema,
    &distribution_weibull_schema,
    &distribution_gamma_schema,
    &distribution_pareto_schema,
    &distribution_hyperexponential_schema,
    &distribution_choice_schema,
    &distribution_empirical_schema
};

static const char *const kind_names[] = {
    "constant", "uniform", "exponential", "lognormal", "weibull", "gamma",
    "pareto", "hyperexponential", "choice", "empirical", NULL
};
static const char *const map_names[] = {
    "constant", "uniform", "exponential", "lognormal", "weibull", "gamma",
    "pareto", "hyperexponential", "choice", "empirical", "min", "max", NULL
};

/* What the readers of one distribution share. */
struct reader {
    struct arena *arena;
    enum conf_type type;        /* of a drawn value */
    struct err *err;
};

/* Reads a scalar as a double in base units; times become seconds.  `key` names
 * it in messages. */
static bool read_value(struct reader *r, const struct conf_node *node,
                       const char *key, enum conf_type type, double *out)
{
    struct conf_field field = {.key = key, .type = type};
    int64_t ns;

    if (type != CONF_TIME)
        return conf_read(node, &field, out, r->err);
    if (!conf_read(node, &field, &ns, r->err))
        return false;
    *out = (double)ns / 1e9;
    return true;
}

/* As read_value(), above 0. */
static bool read_positive(struct reader *r, const struct conf_node *node,
                          const char *key, enum conf_type type, double *out)
{
    if (!read_value(r, node, key, type, out))
        return false;
    if (*out > 0.0)
        return true;
    return err_set(r->err, ERR_RANGE, conf_pos(node),
                   "%s must be greater than 0, found %s", key,
                   conf_text(node));
}

/* Reads [low, high]. They may be equal, which makes a constant. */
static bool read_uniform(struct reader *r, const struct conf_node *node,
                         struct distribution *out)
{
    if (conf_kind(node) != CONF_LIST || conf_count(node) != 2)
        return err_set(r->err, ERR_SCHEMA, conf_pos(node),
                       "uniform must be a list of two values, [low, high]");
    if (!read_value(r, conf_item(node, 0), "uniform", r->type, &out->a) ||
        !read_value(r, conf_item(node, 1), "uniform", r->type, &out->b))
        return false;
    if (out->a <= out->b)
        return true;
    return err_set(r->err, ERR_RANGE, conf_pos(node),
                   "uniform must be [low, high], found low %s above high %s",
                   conf_text(conf_item(node, 0)),
                   conf_text(conf_item(node, 1)));
}

/* Reads either the mean and the cv of the value itself, or the mean and the
 * standard deviation of its logarithm. */
static bool read_lognormal(struct reader *r, const struct conf_node *node,
                           const struct keys *keys, struct distribution *out)
{
    double mean, cv;
    bool plain = keys->mean != NULL && keys->cv != NULL &&
                 keys->log_mean == NULL && keys->log_sd == NULL;
    bool logs = keys->log_mean != NULL && keys->log_sd != NULL &&
                keys->mean == NULL && keys->cv == NULL;

    if (!plain && !logs)
        return err_set(r->err, ERR_SCHEMA, conf_pos(node),
                       "lognormal takes either mean and cv, or log_mean and "
                       "log_sd");
    if (logs)
        return read_value(r, keys->log_mean, "log_mean", CONF_REAL,
                          &out->a) &&
               read_positive(r, keys->log_sd, "log_sd", CONF_REAL, &out->b);
    if (!read_positive(r, keys->mean, "mean", r->type, &mean) ||
        !read_value(r, keys->cv, "cv", CONF_REAL, &cv))
        return false;
    if (cv < 0.0)
        return err_set(r->err, ERR_RANGE, conf_pos(keys->cv),
                       "cv must be at least 0, found %s",
                       conf_text(keys->cv));
    out->b = sqrt(log1p(cv * cv));
    out->a = log(mean) - out->b * out->b / 2.0;
    return true;
}

/* Shape 1 / cv^2 and scale mean cv^2, which give that mean and that coefficient of
 * variation. */
static bool read_gamma(struct reader *r, const struct keys *keys,
                       struct distribution *out)
{
    double mean, cv;

    if (!read_positive(r, keys->mean, "mean", r->type, &mean) ||
        !read_positive(r, keys->cv, "cv", CONF_REAL, &cv))
        return false;
    out->a = 1.0 / (cv * cv);
    out->b = mean * cv * cv;
    return true;
}

/* Weibull and Pareto: a scale in the unit of the key, and a shape. */
static bool read_scale_shape(struct reader *r, const struct keys *keys,
                             struct distribution *out)
{
    return read_positive(r, keys->scale, "scale", r->type, &out->a) &&
           read_positive(r, keys->shape, "shape", CONF_REAL, &out->b);
}

/* Reads all rows of one column.  They are kept in the order of the file: a draw
 * takes any of them, each as likely. */
static bool load_samples(struct reader *r, struct csv *csv, size_t column,
                         const char *path, struct distribution *out)
{
    double *sample = NULL;
    size_t count = 0, room = 0;
    enum csv_step step;

    while ((step = csv_next(csv, r->err)) == CSV_ROW) {
        struct csv_field field = *csv_field(csv, column);
        double value;

        if (!scan_f64(field.text, field.bytes, &value))
            return err_set(r->err, ERR_SYNTAX, csv_pos(csv, column),
                           "column %s must be a number, found \"%.40s\"",
                           csv_names(csv)[column], field.text);
        ARENA_ADD(r->arena, sample, count, room, value);
    }
    if (step == CSV_ERROR)
        return false;
    if (count == 0)
        return err_set(r->err, ERR_SYNTAX, (struct err_pos){path, 0, 0},
                       "file has no samples below its header line");
    out->sample = sample;
    out->sample_count = count;
    return true;
}

/* Finds the column: the one that is named, or the only one of the file. */
static bool pick_column(struct reader *r, const struct conf_node *node,
                        const struct csv *csv, const char *name,
                        size_t *column)
{
    const char *near;
    char has[120];

    *column = 0;
    if (name == NULL && csv_names(csv)[1] == NULL)
        return true;
    if (name == NULL)
        return err_set(r->err, ERR_SCHEMA, conf_pos(node),
                       "column must be named: the file has several, %s and "
                       "%s among them",
                       csv_names(csv)[0], csv_names(csv)[1]);
    *column = csv_find(csv, name);
    if (*column != SIZE_MAX)
        return true;
    csv_list(csv, has, sizeof has);
    err_set(r->err, ERR_REFERENCE, conf_pos(node),
            "the file has no column %s: its columns are %s", name, has);
    near = conf_nearest(name, csv_names(csv));
    if (near != NULL)
        err_hint(r->err, "The nearest column is %s.", near);
    return false;
}

/* Reads samples from a column of a file: `empirical: file.csv`, or a mapping of
 * file and column. */
static bool read_empirical(struct reader *r, const struct conf_node *node,
                           struct distribution *out)
{
    struct keys keys = {0};
    struct csv *csv;
    const char *path;
    size_t column;
    bool good;

    if (conf_kind(node) == CONF_SCALAR)
        keys.file = conf_text(node);
    else if (!conf_fill(node, &distribution_empirical_schema, &keys, r->err))
        return false;
    path = path_beside(r->arena, conf_pos(node).file, keys.file);
    if (!path_check_named(path, "empirical", conf_pos(node), r->err))
        return false;
    csv = csv_open(r->arena, path, CSV_COMMA, r->err);
    if (csv == NULL)
        return false;
    good = pick_column(r, node, csv, keys.column, &column) &&
           load_samples(r, csv, column, path, out);
    csv_close(csv);
    return good;
}

/* Sorts values and their weights by value, so that the order of the map does
 * not change the draws. */
static void sort_choice(double *value, double *weight, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double v = value[i], w = weight[i];
        size_t j = i;

        for (; j > 0 && (v < value[j - 1] ||
                         (v == value[j - 1] && w < weight[j - 1])); j--) {
            value[j] = value[j - 1];
            weight[j] = weight[j - 1];
        }
        value[j] = v;
        weight[j] = w;
    }
}

/* Reads a mapping of values to weights, of a choice or of a hyperexponential,
 * whose values are means.  Weights are divided by their sum.  Values of weight
 * 0 are never drawn and are left out. */
static bool read_choice(struct reader *r, const struct conf_node *node,
                        const char *what, struct distribution *out)
{
    size_t count = conf_kind(node) == CONF_MAP ? conf_count(node) : 0;
    double *value, *weight, sum = 0.0;

    if (count == 0)
        return err_set(r->err, ERR_SCHEMA, conf_pos(node),
                       "%s must be a mapping of values to weights, such "
                       "as {1: 0.7, 8: 0.3}", what);
    value = arena_alloc(r->arena, count, sizeof *value);
    weight = arena_alloc(r->arena, count, sizeof *weight);
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *key = conf_key_node(r->arena, node, i);
        const struct conf_node *at = conf_value(node, i);
        size_t kept = out->sample_count;

        if (!read_value(r, key, "a value of choice", r->type, &value[kept]) ||
            !read_value(r, at, "a weight of choice", CONF_REAL,
                        &weight[kept]))
            return false;
        if (!(weight[kept] >= 0.0 && weight[kept] <= 1e12))
            return err_set(r->err, ERR_RANGE, conf_pos(at),
                           "the weight of %s must be from 0 to 1e12, found "
                           "%s", conf_text(key), conf_text(at));
        out->sample_count += weight[kept] > 0.0;
    }
    if (out->sample_count == 0)
        return err_set(r->err, ERR_RANGE, conf_pos(node),
                       "at least one weight of %s must be greater than 0",
                       what);
    sort_choice(value, weight, out->sample_count);
    for (size_t i = 0; i < out->sample_count; i++)
        sum += weight[i];
    for (size_t i = 0; i < out->sample_count; i++)
        weight[i] /= sum;
    out->sample = value;
    out->weight = weight;
    return true;
}

/* A hyperexponential is a choice whose values are means, all above 0. */
static bool read_means(struct reader *r, const struct conf_node *node,
                       struct distribution *out)
{
    if (!read_choice(r, node, "hyperexponential", out))
        return false;
    for (size_t i = 0; i < out->sample_count; i++)
        if (!(out->sample[i] > 0.0 && isfinite(out->sample[i])))
            return err_set(r->err, ERR_RANGE, conf_pos(node),
                           "means of hyperexponential must be greater than "
                           "0");
    return true;
}

/* Fills parameters a and b by the kind. */
static bool read_kind(struct reader *r, const struct conf_node *node,
                      enum distribution_kind kind, struct distribution *out)
{
    struct keys keys = {0};

    out->kind = kind;
    if (kind == DISTRIBUTION_CONSTANT)
        return read_value(r, node, "constant", r->type, &out->a);
    if (kind == DISTRIBUTION_UNIFORM)
        return read_uniform(r, node, out);
    if (kind == DISTRIBUTION_CHOICE)
        return read_choice(r, node, "choice", out);
    if (kind == DISTRIBUTION_HYPEREXPONENTIAL)
        return read_means(r, node, out);
    if (kind == DISTRIBUTION_EMPIRICAL)
        return read_empirical(r, node, out);
    if (conf_kind(node) != CONF_MAP)
        return err_set(r->err, ERR_SCHEMA, conf_pos(node),
                       "%s must be a mapping of its parameters",
                       kind_names[kind]);
    if (!conf_fill(node, kind_schemas[kind], &keys, r->err))
        return false;
    switch (kind) {
    case DISTRIBUTION_EXPONENTIAL:
        return read_positive(r, keys.mean, "mean", r->type, &out->a);
    case DISTRIBUTION_LOGNORMAL:
        return read_lognormal(r, node, &keys, out);
    case DISTRIBUTION_GAMMA:
        return read_gamma(r, &keys, out);
    default:
        return read_scale_shape(r, &keys, out);
    }
}

/* Returns the kind of that name; DISTRIBUTION_KIND_COUNT: there is none. */
static size_t find_kind(const char *name)
{
    size_t i = 0;

    while (kind_names[i] != NULL && strcmp(kind_names[i], name) != 0)
        i++;
    return i;
}

/* Reports a key that is no distribution, with the nearest one. */
static bool report_key(struct reader *r, const struct conf_node *map,
                       size_t i)
{
    const char *near = conf_nearest(conf_key(map, i), map_names);

    err_set(r->err, ERR_SCHEMA, conf_key_pos(map, i),
            "%s is no distribution; allowed are constant, uniform, "
            "exponential, hyperexponential, lognormal, weibull, gamma, pareto, "
            "choice, empirical, and min and max beside one", conf_key(map, i));
    if (near != NULL)
        return err_hint(r->err, "Did you mean %s?", near);
    return err_hint(r->err, "Moments stand in a distribution: {lognormal: {mean: 4, cv: 1}}.");
}

/* Reads a mapping: one distribution, and min and max beside it. */
static bool read_map(struct reader *r, const struct conf_node *map,
                     struct distribution *out)
{
    bool found = false;

    for (size_t i = 0; i < conf_count(map); i++) {
        const char *key = conf_key(map, i);
        const struct conf_node *value = conf_value(map, i);
        size_t kind = find_kind(key);
        bool good;

        if (strcmp(key, "min") == 0)
            good = read_value(r, value, key, r->type, &out->min);
        else if (strcmp(key, "max") == 0)
            good = read_value(r, value, key, r->type, &out->max);
        else if (kind == DISTRIBUTION_KIND_COUNT)
            return report_key(r, map, i);
        else if (found)
            return err_set(r->err, ERR_SCHEMA, conf_key_pos(map, i),
                           "a second distribution, %s, stands beside the "
                           "first", key);
        else
            good = found = read_kind(r, value, (enum distribution_kind)kind,
                                     out);
        if (!good)
            return false;
    }
    if (found)
        return true;
    return err_set(r->err, ERR_SCHEMA, conf_pos(map),
                   "a distribution is missing, such as lognormal: {mean: "
                   "40, cv: 1}");
}

bool distribution_read(struct arena *arena, const struct conf_node *node,
                       enum conf_type type, struct distribution *out,
                       struct err *err)
{
    return distribution_read_as(arena, node, "a value", type, out, err);
}

/* A scalar is a constant; a mapping names the distribution.  min and max clamp
 * what is drawn. */
bool distribution_read_as(struct arena *arena, const struct conf_node *node,
                          const char *key, enum conf_type type,
                          struct distribution *out, struct err *err)
{
    struct reader reader = {arena, type, err};
    struct distribution made = {0};

    assert(node != NULL && out != NULL);
    assert(type == CONF_REAL || type == CONF_TIME || type == CONF_BYTES);
    made.min = -INFINITY;
    made.max = INFINITY;
    if (conf_kind(node) == CONF_SCALAR) {
        if (!read_value(&reader, node, key, type, &made.a))
            return false;
    } else if (conf_kind(node) == CONF_LIST) {
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "a list is no distribution; write a value, or "
                       "{uniform: [low, high]}");
    } else if (!read_map(&reader, node, &made)) {
        return false;
    }
    if (made.min > made.max)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "min must not be above max");
    *out = made;
    return true;
}
