/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - key tables of the experiment file: top level, output.
 *
 * A table says of each key its type, bounds, default and help; conf_fill()
 * reads by it, and explain, manual and JSON Schema are printed from it.  What a
 * table cannot say (a list of words, a number or a word) is read by the
 * functions below.
 */
#include "experiments/spec/keys.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static const char *const fidelity_choices[] = { "fluid", "step", NULL };

static const struct conf_field top_field[] = {
    CONF_KEY("experiment", CONF_TEXT, experiment_top, name, CONF_REQUIRED,
             "name of the experiment; names the results folder"),
    CONF_KEY("description", CONF_TEXT, experiment_top, description,
             CONF_ABSENT, "what it asks, in a sentence, for the report"),
    CONF_KEY("seed", CONF_INT, experiment_top, seed, "1",
             "of all random streams; another number draws other jobs",
             .max = 9007199254740992.0),
    CONF_KEY("seeds", CONF_NODE, experiment_top, seeds, CONF_ABSENT,
             "replicas of each point and policy, with common random numbers: a "
             "number (1 if not given), or {until, at_most}, what they are to "
             "suffice for"),
    CONF_KEY("cluster", CONF_NODE, experiment_top, cluster, CONF_REQUIRED,
             "a cluster file, or its keys inline"),
    CONF_KEY("workload", CONF_NODE, experiment_top, workload, CONF_REQUIRED,
             "a workload file, or its keys inline"),
    CONF_KEY("until", CONF_NODE, experiment_top, until, CONF_ABSENT,
             "end of the run: a time such as 14d, or drained (the default)"),
    CONF_KEY("fidelity", CONF_CHOICE, experiment_top, fidelity, "fluid",
             "training at the mean pace of its steps and rollouts in closed "
             "form, or every step, batch and response",
             .choices = fidelity_choices),
    CONF_KEY("warmup", CONF_TIME, experiment_top, warmup_ns, "0s",
             "jobs submitted before it do not count, and of what the hardware "
             "does and costs only what comes after it", .max = 1e9),
    CONF_KEY("policies", CONF_NODE, experiment_top, policies, CONF_REQUIRED,
             "list of policies: a name, or {policy: NAME, name: LABEL, keys}; "
             "results have them in this order"),
    CONF_KEY("plugins", CONF_NODE, experiment_top, plugins, CONF_ABSENT,
             "how trials of policies from files (.c, .so) and programs run"),
    CONF_KEY("trial_limits", CONF_NODE, experiment_top, trial_limits, CONF_ABSENT,
             "wall time and memory that one trial may take; one that takes more fails, and "
             "no other"),
    CONF_KEY("controls", CONF_NODE, experiment_top, controls, CONF_ABSENT,
             "list of what else to run, so that results say what decides: "
             "random (the floor), no_growth, no_lending (each policy with that "
             "part off), colocated (fcfs on groups that generate and train in "
             "turn)"),
    CONF_KEY("options", CONF_NODE, experiment_top, options, CONF_ABSENT,
             "list of what may be done: a name, or {name, policy, set}; each is run in place "
             "of its policy, and the first is what the others are compared with"),
    CONF_KEY("decide", CONF_NODE, experiment_top, decide, CONF_ABSENT,
             "how one of the options is chosen: by cost_usd if not given"),
    CONF_KEY("baseline", CONF_TEXT, experiment_top, baseline, CONF_ABSENT,
             "policy that the others are compared with; the first if not "
             "given"),
    CONF_KEY("sweep", CONF_NODE, experiment_top, sweep, CONF_ABSENT,
             "map from a dotted key (workload. cluster. policies.NAME.) to a "
             "list; results have the points in this order; or {sample, points, keys}"),
    CONF_KEY("output", CONF_NODE, experiment_top, output, CONF_ABSENT,
             "where results go and which"),
    CONF_KEY("metrics", CONF_NODE, experiment_top, metrics, CONF_ABSENT,
             "metrics of the experiment's own: a map from a name to {of, unit, better}; "
             "results have them in this order, behind the built-in ones"),
    CONF_KEY("expect", CONF_NODE, experiment_top, expect, CONF_ABSENT,
             "list of expectations, judged by `clustersim check`; verdicts "
             "stand in this order"),
    CONF_KEY("catalogue", CONF_NODE, experiment_top, catalogue, CONF_ABSENT,
             "file or list of files that add to or override the catalogue, a "
             "later one an earlier one"),
    CONF_KEY("stalled_after", CONF_TIME, experiment_top, stalled_ns, "365d",
             "time after which a trial that is run until drained fails, if no job "
             "came, ended or got further than before", .min = 3600, .max = 4e9),
    CONF_KEY("event_count_max", CONF_INT, experiment_top, event_count_max,
             "100000000000", "a trial with more events than this fails",
             .min = 1, .max = 1e15),
    CONF_KEY("train", CONF_NODE, experiment_top, train, CONF_ABSENT,
             "how `clustersim train` learns weights"),
    CONF_KEY("border", CONF_NODE, experiment_top, border, CONF_ABSENT,
             "list of claims and keys: `clustersim border` finds where their "
             "verdicts turn; results have them in this order"),
    CONF_KEY("sensitivity", CONF_NODE, experiment_top, sensitivity, CONF_ABSENT,
             "a claim and ranges of keys: `clustersim sensitivity` says which of "
             "them it turns on"),
    CONF_KEY("tune", CONF_NODE, experiment_top, tune, CONF_ABSENT,
             "what may vary: `clustersim tune` finds the best keys of each policy"),
    CONF_KEY("tuned", CONF_BOOL, experiment_top, tuned, "false",
             "each policy is tuned before the run, as `tune` says, and runs with what "
             "was found"),
};

const struct conf_schema experiment_schema =
    CONF_SCHEMA("experiment", "an experiment file", top_field);

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

/* The keys of `output:`. */
struct output_keys {
    const char *dir;            /* where results go, unless the command line says it */
    const struct conf_node *tables, *plots; /* lists of names */
    int trace;                  /* by trace_names */
    const char *detail_seeds;   /* how many have rows of phases and decisions, or all */
    int64_t step_ns;            /* of an interval of timeline.csv; 0: 400 of them at most */
};

static const char plots_help[] =
    "list of "
#define FIGURE(NAME, WITH, QUESTION) #NAME ", "
#include "experiments/columns/figures.def"
#undef FIGURE
    "or not given: all";

static const struct conf_field output_field[] = {
    CONF_KEY("dir", CONF_TEXT, output_keys, dir, CONF_ABSENT,
             "results folder, relative to this file; without it out/EXPERIMENT "
             "in the working folder"),
    CONF_KEY("tables", CONF_NODE, output_keys, tables, CONF_ABSENT,
             "list of summary (always), compare, jobs, phases, timeline, "
             "decisions; all but decisions if not given"),
    CONF_KEY("plots", CONF_NODE, output_keys, plots, CONF_ABSENT, plots_help),
    CONF_KEY("trace", CONF_CHOICE, output_keys, trace, "none",
             "perfetto: trace.json of the detailed seeds, for ui.perfetto.dev",
             .choices = trace_names),
    CONF_KEY("timeline_step", CONF_TIME, output_keys, step_ns, "0s",
             "interval of timeline.csv; 0s: at most 400 of them",
             .max = 1e9),
    CONF_KEY("detail_seeds", CONF_TEXT, output_keys, detail_seeds, "1",
             "number of seeds, from the first on, that phases, timeline and decisions are of, or "
             "all; jobs and summary are of all seeds anyway"),
};

const struct conf_schema experiment_output_schema =
    CONF_SCHEMA("experiment.output",
                "where results go and which", output_field);

/* The `name:` of a map, else its `policy:`; a word is its own name. */
const char *experiment_entry_name(const struct conf_node *entry)
{
    const struct conf_node *name;

    if (conf_kind(entry) == CONF_SCALAR)
        return conf_text(entry);
    if (conf_kind(entry) != CONF_MAP)
        return NULL;
    name = conf_get(entry, "name");
    if (name == NULL)
        name = conf_get(entry, "policy");
    if (name == NULL || conf_kind(name) != CONF_SCALAR)
        return NULL;
    return conf_text(name);
}

bool experiment_entry_key(const struct conf_node *entry, struct err *err)
{
    static const char *const policy[] = { "policy", NULL };

    if (conf_kind(entry) != CONF_MAP || conf_get(entry, "policy") != NULL)
        return true;
    for (size_t i = 0; i < conf_count(entry); i++) {
        const char *key = conf_key(entry, i);

        if (conf_nearest(key, policy) == NULL)
            continue;
        err_set(err, ERR_SCHEMA, conf_key_pos(entry, i), "key '%.80s' is not known in "
                "'experiment.policies[]'", key);
        err->fault = FAULT_KEY;
        return err_hint(err, "Did you mean 'policy'?");
    }
    return true;
}

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
        .key = "fidelity", .type = CONF_CHOICE, .choices = fidelity_choices
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
        .key = "until", .type = CONF_TIME, .min = 1e-9, .max = 9e9
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

/* Reads a word as its index in `names`. */
static bool read_word(const struct conf_node *node, const char *key,
                      const char *const *names, int *index, struct err *err)
{
    const struct conf_field field = {
        .key = key, .type = CONF_CHOICE, .choices = names
    };

    return conf_read(node, &field, index, err);
}

/* False, with err, unless the node is a list. */
static bool check_list(const struct conf_node *node, const char *key,
                       struct err *err)
{
    if (conf_kind(node) == CONF_LIST)
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(node), "%s must be a list", key);
}

/* Reads which tables are wanted, as bits.  `summary` is always written and has
 * no bit. */
static bool read_tables(const struct conf_node *list, uint32_t *tables,
                        struct err *err)
{
    *tables = EXPERIMENT_COMPARE | EXPERIMENT_JOBS | EXPERIMENT_PHASES | EXPERIMENT_TIMELINE;
    if (list == NULL)
        return true;
    if (!check_list(list, "tables", err))
        return false;
    *tables = 0;
    for (size_t i = 0; i < conf_count(list); i++) {
        int index;

        if (!read_word(conf_item(list, i), "tables", table_names, &index, err))
            return false;
        if (index > 0)
            *tables |= 1u << (index - 1);
    }
    return true;
}

/* Reads which charts are wanted; without the key all are. */
static bool read_plots(struct arena *arena, const struct conf_node *list,
                       struct experiment *experiment, struct err *err)
{
    const char **plot;

    experiment->plot = experiment_plot_names;
    experiment->plot_count = COUNT_OF(experiment_plot_names) - 1;
    if (list == NULL)
        return true;
    if (!check_list(list, "plots", err))
        return false;
    plot = arena_alloc(arena, conf_count(list) + 1, sizeof *plot);
    for (size_t i = 0; i < conf_count(list); i++) {
        int index;

        if (!read_word(conf_item(list, i), "plots", experiment_plot_names, &index,
                       err))
            return false;
        plot[i] = experiment_plot_names[index];
    }
    experiment->plot = plot;
    experiment->plot_count = conf_count(list);
    return true;
}

/* Reads detail_seeds: a number, or all; at most the seeds there are. */
static bool read_detail(const struct conf_node *output, const char *text,
                        struct experiment *experiment, struct err *err)
{
    const struct conf_field field = {
        .key = "detail_seeds", .type = CONF_INT, .min = 1, .max = 1000000
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

/* Keys that have no effect beside the others are refused (conf_acts). */
bool experiment_output(struct arena *arena, const struct conf_node *node,
                       struct experiment *experiment, struct err *err)
{
    struct output_keys keys = { .detail_seeds = "1" };

    if (node != NULL && !conf_fill(node, &experiment_output_schema, &keys, err))
        return false;
    if (!read_tables(keys.tables, &experiment->tables, err) ||
        !read_plots(arena, keys.plots, experiment, err))
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
    return read_detail(node, keys.detail_seeds, experiment, err);
}
