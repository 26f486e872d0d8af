/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - key tables of the experiment file: top level, output, expect.
 */
#include "experiments/spec/keys.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "sim/text/paths.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define TOP(member) offsetof(struct experiment_top, member)

static const char *const fidelity_choices[] = { "fluid", "step", NULL };

static const struct conf_field top_field[] = {
    { "experiment", CONF_TEXT, TOP(name), 0, 0, NULL, NULL,
      "name of the experiment; names the results folder" },
    { "description", CONF_TEXT, TOP(description), 0, 0, CONF_ABSENT, NULL,
      "what it asks, in a sentence, for the report" },
    { "seed", CONF_INT, TOP(seed), 0, 9007199254740992.0, "1", NULL,
      "of all random streams" },
    { "seeds", CONF_INT, TOP(seeds), 1, 1000000, "1", NULL,
      "replicas of each point and policy, with common random numbers" },
    { "cluster", CONF_NODE, TOP(cluster), 0, 0, NULL, NULL,
      "a cluster file, or its keys inline" },
    { "workload", CONF_NODE, TOP(workload), 0, 0, NULL, NULL,
      "a workload file, or its keys inline" },
    { "until", CONF_NODE, TOP(until), 0, 0, CONF_ABSENT, NULL,
      "end of the run: a time such as 14d, or drained (the default)" },
    { "fidelity", CONF_CHOICE, TOP(fidelity), 0, 0, "fluid", fidelity_choices,
      "training at the mean pace of its steps and rollouts in closed form, or "
      "every step, batch and response" },
    { "warmup", CONF_TIME, TOP(warmup_ns), 0, 1e9, "0s", NULL,
      "jobs submitted before it do not count, and of what the hardware does "
      "and costs only what comes after it" },
    { "policies", CONF_NODE, TOP(policies), 0, 0, NULL, NULL,
      "list of policies: a name, or {policy: NAME, name: LABEL, keys}; results "
      "have them in this order" },
    { "baseline", CONF_TEXT, TOP(baseline), 0, 0, CONF_ABSENT, NULL,
      "policy that the others are compared with; the first if not given" },
    { "sweep", CONF_NODE, TOP(sweep), 0, 0, CONF_ABSENT, NULL,
      "map from a dotted key (workload. cluster. policies.NAME.) to a list; "
      "results have the points in this order" },
    { "output", CONF_NODE, TOP(output), 0, 0, CONF_ABSENT, NULL,
      "where results go and which" },
    { "expect", CONF_NODE, TOP(expect), 0, 0, CONF_ABSENT, NULL,
      "list of expectations, judged by `clustersim check`; verdicts stand in "
      "this order" },
    { "catalogue", CONF_NODE, TOP(catalogue), 0, 0, CONF_ABSENT, NULL,
      "file or list of files that add to or override the catalogue, a later "
      "one an earlier one" },
    { "stalled_after", CONF_TIME, TOP(stalled_ns), 3600, 4e9, "365d", NULL,
      "a trial that is run until drained fails when for so long no job came, "
      "ended or got further than before" },
    { "event_count_max", CONF_INT, TOP(event_count_max), 1, 1e15, "100000000000",
      NULL, "a trial with more events than this fails" },
    { "train", CONF_NODE, TOP(train), 0, 0, CONF_ABSENT, NULL,
      "how `clustersim train` learns weights" },
};

const struct conf_schema experiment_schema = {
    "experiment", "an experiment file", top_field, COUNT_OF(top_field)
};

const char *const experiment_plot_names[] = {
#define FIGURE(NAME, WITH, QUESTION) #NAME,
#include "experiments/columns/figures.def"
#undef FIGURE
    NULL
};
static const char *const table_names[] = {
    "summary", "compare", "jobs", "phases", "timeline", "decisions", NULL
};
static const char *const trace_names[] = { "none", "perfetto", NULL };

struct output_keys {
    const char *dir;
    const struct conf_node *tables, *plots;
    int trace;
    const char *detail_seeds;
    int64_t step_ns;
};
#define OUTPUT(member) offsetof(struct output_keys, member)

static const struct conf_field output_field[] = {
    { "dir", CONF_TEXT, OUTPUT(dir), 0, 0, CONF_ABSENT, NULL,
      "results folder, relative to this file; without it out/EXPERIMENT in "
      "the working folder" },
    { "tables", CONF_NODE, OUTPUT(tables), 0, 0, CONF_ABSENT, NULL,
      "list of summary (always), compare, jobs, phases, timeline, "
      "decisions; all but decisions if not given" },
    { "plots", CONF_NODE, OUTPUT(plots), 0, 0, CONF_ABSENT, NULL,
      "list of "
#define FIGURE(NAME, WITH, QUESTION) #NAME ", "
#include "experiments/columns/figures.def"
#include "sim/base/err.h"
#undef FIGURE
      "or not given: all" },
    { "trace", CONF_CHOICE, OUTPUT(trace), 0, 0, "none", trace_names,
      "perfetto: trace.json of the detailed seeds, for ui.perfetto.dev" },
    { "timeline_step", CONF_TIME, OUTPUT(step_ns), 0, 1e9, "0s", NULL,
      "interval of timeline.csv; 0s: a two-hundredth of the run" },
    { "detail_seeds", CONF_TEXT, OUTPUT(detail_seeds), 0, 0, "1", NULL,
      "phases, timeline and decisions of the first so many seeds, or of all; "
      "jobs and summary are of all seeds anyway" },
};

const struct conf_schema experiment_output_schema = {
    "experiment.output", "where results go and which", output_field,
    COUNT_OF(output_field)
};

struct expect_keys {
    const char *claim, *metric, *policy, *versus, *versus_point, *point;
    const struct conf_node *at_most, *at_least, *between;
    double confidence;
};
#define EXPECT(member) offsetof(struct expect_keys, member)

static const struct conf_field expect_field[] = {
    { "claim", CONF_TEXT, EXPECT(claim), 0, 0, CONF_ABSENT, NULL,
      "name of the claim, for the verdict" },
    { "metric", CONF_TEXT, EXPECT(metric), 0, 0, NULL, NULL,
      "a column of summary.csv" },
    { "policy", CONF_TEXT, EXPECT(policy), 0, 0, NULL, NULL,
      "policy that is judged" },
    { "vs", CONF_TEXT, EXPECT(versus), 0, 0, CONF_ABSENT, NULL,
      "policy it is compared with, seed by seed" },
    { "vs_point", CONF_TEXT, EXPECT(versus_point), 0, 0, CONF_ABSENT, NULL,
      "KEY=VALUE: compared with the point of that value, all else alike" },
    { "point", CONF_TEXT, EXPECT(point), 0, 0, CONF_ABSENT, NULL,
      "KEY=VALUE of the points judged, several with blanks; without it, all" },
    { "at_most", CONF_NODE, EXPECT(at_most), 0, 0, CONF_ABSENT, NULL,
      "upper limit; with vs or vs_point, -10% means of the other's mean" },
    { "at_least", CONF_NODE, EXPECT(at_least), 0, 0, CONF_ABSENT, NULL,
      "lower limit" },
    { "between", CONF_NODE, EXPECT(between), 0, 0, CONF_ABSENT, NULL,
      "[lower, upper]" },
    { "confidence", CONF_FRACTION, EXPECT(confidence), 0.5, 0.9999, "0.95",
      NULL, "of the interval that must lie inside the limits" },
};

const struct conf_schema experiment_expect_schema = {
    "experiment.expect[]", "what is expected of the results", expect_field,
    COUNT_OF(expect_field)
};

bool experiment_top_read(const struct conf_node *root, struct experiment_top *top,
                         struct err *err)
{
    memset(top, 0, sizeof *top);
    return conf_fill(root, &experiment_schema, top, err);
}

bool experiment_by_step(const struct conf_node *node, bool *by_step,
                        struct err *err)
{
    const struct conf_field field = {
        "fidelity", CONF_CHOICE, 0, 0, 0, NULL, fidelity_choices, ""
    };
    int chosen = 0;

    if (node != NULL && !conf_read(node, &field, &chosen, err))
        return false;
    *by_step = chosen == 1;
    return true;
}

bool experiment_until(const struct conf_node *node, int64_t *until_ns,
                      struct err *err)
{
    static const struct conf_field field = {
        "until", CONF_TIME, 0, 1e-9, 9e9, NULL, NULL, ""
    };

    *until_ns = CLOCK_NEVER_NS;
    if (node == NULL)
        return true;
    if (conf_kind(node) == CONF_SCALAR &&
        strcmp(conf_text(node), "drained") == 0)
        return true;
    if (conf_read(node, &field, until_ns, err))
        return true;
    return err_hint(err, "Write a time such as 14d, or drained.");
}

/* The index in `names` of each item of a list of words. */
static bool word_read(const struct conf_node *node, const char *key,
                      const char *const *names, int *index, struct err *err)
{
    const struct conf_field field = {
        key, CONF_CHOICE, 0, 0, 0, NULL, names, ""
    };

    return conf_read(node, &field, index, err);
}

static bool list_check(const struct conf_node *node, const char *key,
                       struct err *err)
{
    if (conf_kind(node) == CONF_LIST)
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(node), "%s must be a list", key);
}

static bool tables_read(const struct conf_node *list, uint32_t *tables,
                        struct err *err)
{
    *tables = EXPERIMENT_COMPARE | EXPERIMENT_JOBS | EXPERIMENT_PHASES | EXPERIMENT_TIMELINE;
    if (list == NULL)
        return true;
    if (!list_check(list, "tables", err))
        return false;
    *tables = 0;
    for (size_t i = 0; i < conf_count(list); i++) {
        int index;

        if (!word_read(conf_item(list, i), "tables", table_names, &index, err))
            return false;
        if (index > 0)
            *tables |= 1u << (index - 1);
    }
    return true;
}

static bool plots_read(struct arena *arena, const struct conf_node *list,
                       struct experiment *experiment, struct err *err)
{
    const char **plot;

    experiment->plot = experiment_plot_names;
    experiment->plot_count = COUNT_OF(experiment_plot_names) - 1;
    if (list == NULL)
        return true;
    if (!list_check(list, "plots", err))
        return false;
    plot = arena_alloc(arena, conf_count(list) + 1, sizeof *plot);
    for (size_t i = 0; i < conf_count(list); i++) {
        int index;

        if (!word_read(conf_item(list, i), "plots", experiment_plot_names, &index,
                       err))
            return false;
        plot[i] = experiment_plot_names[index];
    }
    experiment->plot = plot;
    experiment->plot_count = conf_count(list);
    return true;
}

/* A number, or all. */
static bool detail_read(const struct conf_node *output, const char *text,
                        struct experiment *experiment, struct err *err)
{
    const struct conf_field field = {
        "detail_seeds", CONF_INT, 0, 1, 1000000, NULL, NULL, ""
    };
    const struct conf_node *node = output == NULL
        ? NULL : conf_get(output, "detail_seeds");
    struct err why = { 0 };
    int64_t seeds = 1;

    if (strcmp(text, "all") == 0) {
        seeds = experiment->seeds;
    } else if (node != NULL && !conf_read(node, &field, &seeds, &why)) {
        err_set(err, why.kind, conf_pos(node), "detail_seeds must be how "
                "many seeds, from 1 on, or all, found '%.40s'", text);
        return err_hint(err, "0 is no number of seeds here: `tables` leaves "
                        "out phases and timeline.");
    }
    experiment->detail_seeds = seeds < experiment->seeds ? (uint32_t)seeds
                                               : experiment->seeds;
    return true;
}

bool experiment_output(struct arena *arena, const struct conf_node *node,
                       struct experiment *experiment, struct err *err)
{
    struct output_keys keys = { .detail_seeds = "1" };

    if (node != NULL && !conf_fill(node, &experiment_output_schema, &keys, err))
        return false;
    if (!tables_read(keys.tables, &experiment->tables, err) ||
        !plots_read(arena, keys.plots, experiment, err))
        return false;
    if (keys.dir != NULL && keys.dir[0] == '\0')
        return err_set(err, ERR_RANGE, conf_pos(conf_get(node, "dir")),
                       "dir must name a folder, found ''");
    if (keys.dir == NULL)
        experiment->dir = path_join(arena, "out", experiment->name);
    else
        experiment->dir = path_beside(arena,
                                      conf_pos(conf_get(node, "dir")).file,
                                      keys.dir);
    experiment->perfetto = keys.trace == 1;
    if (experiment->perfetto)
        experiment->tables |= EXPERIMENT_PHASES;     /* it is made from phases.csv */
    experiment->timeline_step_ns = keys.step_ns;
    if (!conf_acts(node, "timeline_step", !(experiment->tables & EXPERIMENT_TIMELINE),
                   "needs timeline in `tables`", err) ||
        !conf_acts(node, "detail_seeds",
                   !(experiment->tables & (EXPERIMENT_PHASES | EXPERIMENT_TIMELINE |
                                           EXPERIMENT_DECISIONS)),
                   "needs phases, timeline or decisions in `tables`", err))
        return false;
    return detail_read(node, keys.detail_seeds, experiment, err);
}

/* No percentage of nothing, no fraction that none can reach. */
static bool limit_suits(const struct conf_node *node, enum metric metric,
                        bool percent, bool compares, double limit,
                        struct err *err)
{
    const struct metric_info *info = metric_info(metric);
    bool fraction = strcmp(info->unit, "fraction") == 0;

    if (percent && !compares && !fraction) {
        err_set(err, ERR_RANGE, conf_pos(node), "%s has no percentage without "
                "something to compare it with, found '%.40s'", info->name,
                conf_text(node));
        return err_hint(err, "Add vs: POLICY, or write a number.");
    }
    if (percent || !fraction || fabs(limit) <= 1 ||
        metric == METRIC_GAP || metric == METRIC_MAKESPAN_GAP)
        return true;
    err_set(err, ERR_RANGE, conf_pos(node), "%s is a fraction from 0 to 1, "
            "found '%.40s'", info->name, conf_text(node));
    return err_hint(err, "%.10g%% is written with its mark.", limit);
}

/* A limit: a number in the metric's unit, a time where that is seconds, or a
 * percentage. */
static bool limit_read(const struct conf_node *node, const char *key,
                       struct experiment_expect *e, double *limit, bool *percent,
                       struct err *err)
{
    const struct conf_field as_number = {
        key, CONF_FRACTION, 0, 0, 0, NULL, NULL, ""
    }, as_time = { key, CONF_TIME, 0, 0, 0, NULL, NULL, "" };
    const char *text = conf_kind(node) == CONF_SCALAR ? conf_text(node) : "";
    size_t bytes = strlen(text);
    bool compares = e->versus != NULL || e->versus_point != NULL;
    int64_t ns;

    *percent = bytes > 0 && text[bytes - 1] == '%';
    if (bytes > 0 && strchr("smhdw", text[bytes - 1]) != NULL &&
        strcmp(metric_info(e->metric)->unit, "s") == 0) {
        if (!conf_read(node, &as_time, &ns, err))
            return false;
        *limit = clock_s_from_ns(ns);
        return true;
    }
    if (!conf_read(node, &as_number, limit, err) ||
        !limit_suits(node, e->metric, *percent, compares, *limit, err))
        return false;
    *percent = *percent && compares;
    if (*percent)
        *limit *= 100;
    return true;
}

static bool between_read(const struct conf_node *node, struct experiment_expect *e,
                         struct err *err)
{
    bool other;

    if (conf_kind(node) != CONF_LIST || conf_count(node) != 2)
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "between must be a list of two: [lower, upper]");
    if (!limit_read(conf_item(node, 0), "between", e, &e->low, &e->percent,
                    err) ||
        !limit_read(conf_item(node, 1), "between", e, &e->high, &other, err))
        return false;
    if (other != e->percent)
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "between must have two percentages or two numbers");
    if (e->low > e->high)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "between has its lower limit above its upper one");
    return true;
}

static bool limits_read(const struct conf_node *map,
                        const struct expect_keys *keys,
                        struct experiment_expect *e, struct err *err)
{
    int given = (keys->at_most != NULL) + (keys->at_least != NULL) +
                (keys->between != NULL);

    e->low = -INFINITY;
    e->high = INFINITY;
    if (given != 1)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "an expectation needs one of at_most, at_least and "
                       "between, and has %d", given);
    if (keys->at_most != NULL)
        return limit_read(keys->at_most, "at_most", e, &e->high, &e->percent,
                          err);
    if (keys->at_least != NULL)
        return limit_read(keys->at_least, "at_least", e, &e->low, &e->percent,
                          err);
    return between_read(keys->between, e, err);
}

static const char *nearest_metric(const char *word)
{
    const char *names[METRIC_COUNT + 1];

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        names[m] = metric_info((enum metric)m)->name;
    names[METRIC_COUNT] = NULL;
    return conf_nearest(word, names);
}

static bool expect_read(const struct conf_node *map, struct experiment_expect *e,
                        struct err *err)
{
    struct expect_keys keys = { 0 };
    const char *near;

    if (!conf_fill(map, &experiment_expect_schema, &keys, err))
        return false;
    e->claim = keys.claim;
    e->policy = keys.policy;
    e->versus = keys.versus;
    e->versus_point = keys.versus_point;
    e->point = keys.point;
    e->confidence = keys.confidence;
    e->pos = conf_pos(map);
    e->policy_pos = conf_pos(conf_get(map, "policy"));
    e->versus_pos = keys.versus == NULL ? e->pos
                                        : conf_pos(conf_get(map, "vs"));
    e->point_pos = keys.point == NULL ? e->pos
                                      : conf_pos(conf_get(map, "point"));
    e->versus_point_pos = keys.versus_point == NULL
                              ? e->pos : conf_pos(conf_get(map, "vs_point"));
    e->metric = metric_find(keys.metric);
    if (e->metric != METRIC_COUNT)
        return limits_read(map, &keys, e, err);
    near = nearest_metric(keys.metric);
    err_set(err, ERR_REFERENCE, conf_pos(conf_get(map, "metric")),
            "there is no metric '%.60s'", keys.metric);
    if (near != NULL)
        return err_hint(err, "Did you mean %s?", near);
    return err_hint(err, "`clustersim list metrics` shows them all.");
}

bool experiment_expects(struct arena *arena, const struct conf_node *node,
                        struct experiment *experiment, struct err *err)
{
    struct experiment_expect *expect;

    if (node == NULL)
        return true;
    if (!list_check(node, "expect", err))
        return false;
    expect = arena_alloc(arena, conf_count(node) + 1, sizeof *expect);
    for (size_t i = 0; i < conf_count(node); i++) {
        if (!expect_read(conf_item(node, i), &expect[i], err))
            return false;
        /* A flag must not turn an interval into a value that holds alone. */
        expect[i].seeds_min = experiment->fewer_seeds ? 2 : 0;
    }
    experiment->expect = expect;
    experiment->expect_count = (uint32_t)conf_count(node);
    return true;
}
