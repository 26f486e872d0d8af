/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advice_check.c - figures of advice against limits.
 *
 * Nothing is drawn, so an expectation holds or does not hold; there is no
 * "undecided", and the tables of `check` show no interval.
 *
 * The steps: the file is read as a tree, --set is applied, each expectation is filled by its keys,
 * and its figure is asked of figures.c.
 */
#include "experiments/advise/advice_check.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "experiments/advise/figures.h"
#include "experiments/spec/expects.h"
#include "experiments/spec/tree.h"
#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/mend.h"
#include "sim/text/paths.h"

/* The keys of the file. */
struct advice_top {
    const char *name, *description;
    const struct conf_node *cluster, *catalogue, *workload, *expect, *sensitivity;
    int64_t gpus;               /* of one kind that are tried at most */
};

static const struct conf_field top_field[] = {
    CONF_KEY("advise", CONF_TEXT, advice_top, name, CONF_REQUIRED,
             "name of the question; names the results folder"),
    CONF_KEY("description", CONF_TEXT, advice_top, description, CONF_ABSENT,
             "what it asks, in a sentence"),
    CONF_KEY("cluster", CONF_NODE, advice_top, cluster, CONF_ABSENT,
             "a cluster file, or its keys inline; without it, the catalogue"),
    CONF_KEY("catalogue", CONF_NODE, advice_top, catalogue, CONF_ABSENT,
             "file or list of files that add to or override the catalogue, a "
             "later one before an earlier one"),
    CONF_KEY("workload", CONF_NODE, advice_top, workload, CONF_REQUIRED,
             "a workload file, or its keys inline: a mix of recipes"),
    CONF_KEY("gpus", CONF_INT, advice_top, gpus, "1024",
             "most GPUs of one kind that are tried", .min = 1, .max = 16384),
    CONF_KEY("expect", CONF_NODE, advice_top, expect, CONF_REQUIRED,
             "list of expectations, judged by `clustersim check`"),
    CONF_KEY("sensitivity", CONF_NODE, advice_top, sensitivity, CONF_ABSENT,
             "a claim and plausible values of inputs, judged by `clustersim "
             "sensitivity`"),
};

const struct conf_schema advice_schema =
    CONF_SCHEMA("advice",
                "a question to `clustersim advise`, with what is expected",
                top_field);

/* The keys of one expectation. */
struct advice_expect {
    const char *claim, *job, *on, *vs_job, *vs_on;
    struct figure_about about;  /* which figure of the answer is judged */
    const struct conf_node *at_most, *at_least, *between;   /* limits; NULL: not given */
};

static const struct conf_field expect_field[] = {
    CONF_KEY("claim", CONF_TEXT, advice_expect, claim, CONF_ABSENT,
             "name of the claim, for the verdict"),
    CONF_KEY("job", CONF_TEXT, advice_expect, job, CONF_REQUIRED,
             "entry of the mix that is judged"),
    CONF_KEY("on", CONF_TEXT, advice_expect, on, CONF_REQUIRED,
             "GPU type of the catalogue, or group of nodes of the cluster"),
    CONF_KEY("figure", CONF_CHOICE, advice_expect, about.figure, CONF_REQUIRED,
             "of the job as written: _gb, fits (0 or 1), batch_max; of its "
             "cheapest layout: the others; feasible (0 or 1): there is a "
             "layout", .choices = figures_name),
    CONF_KEY("gpus", CONF_INT, advice_expect, about.gpus, "0",
             "only layouts with this number of GPUs; 0: any number", .max = 16384),
    CONF_KEY("tier", CONF_CHOICE, advice_expect, about.tier, "list",
             "market of the prices, of both sides where two are compared",
             .choices = price_tier_choices),
    CONF_KEY("vs_job", CONF_TEXT, advice_expect, vs_job, CONF_ABSENT,
             "job that it is compared with"),
    CONF_KEY("vs_on", CONF_TEXT, advice_expect, vs_on, CONF_ABSENT,
             "kind of node that it is compared with"),
    CONF_KEY("at_most", CONF_NODE, advice_expect, at_most, CONF_ABSENT,
             "upper limit; with vs_job or vs_on, -10% means of the other's"),
    CONF_KEY("at_least", CONF_NODE, advice_expect, at_least, CONF_ABSENT,
             "lower limit"),
    CONF_KEY("between", CONF_NODE, advice_expect, between, CONF_ABSENT,
             "[lower, upper]"),
};

const struct conf_schema advice_expect_schema =
    CONF_SCHEMA("advice.expect[]", "what is expected of advice", expect_field);

/* ---- limits ----------------------------------------------------------- */

/* Reads the one of at_most, at_least and between that is given, as experiments do.  What
 * a job needs may be more than a GPU has. */
static bool read_limits(const struct conf_node *map, const struct advice_expect *e,
                        struct experiment_expect *to, struct err *err)
{
    const struct expect_limits_of of = {
        .name = figures_name[e->about.figure], .unit = figures_unit(e->about.figure),
        .compare_with = "vs_job: JOB or vs_on: NODE",
        .compares = e->vs_job != NULL || e->vs_on != NULL,
        .above_one = e->about.figure == FIGURE_FRACTION
    };

    return expect_limits_read(map, &of, to, err);
}

/* Is the name that a key says a job of the mix, or a kind of node?  NULL is
 * allowed.  False: err says which there are. */
static bool check_names(const struct asking *task, const struct conf_node *map,
                        const char *key, const char *name, bool is_job,
                        struct err *err)
{
    if (name == NULL || (is_job ? figures_job(task, name) != SIZE_MAX
                                : figures_place(&task->world, name) != NULL))
        return true;
    return err_set(err, ERR_REFERENCE, conf_pos(conf_get(map, key)),
                   "%s is '%.60s', which is no %s", key, name,
                   is_job ? "job of the mix" : "kind of node here");
}

/* ---- verdicts --------------------------------------------------------- */

/* Returns the limits of an expectation in words.  A side without a limit is
 * infinite, and is left out. */
static const char *format_limits(struct arena *arena,
                                 const struct experiment_expect *e)
{
    const char *unit = e->percent ? "%" : "";

    if (isinf(e->low))
        return text_format(arena, "at most %.10g%s", e->high, unit);
    if (isinf(e->high))
        return text_format(arena, "at least %.10g%s", e->low, unit);
    return text_format(arena, "between %.10g%s and %.10g%s", e->low, unit,
                       e->high, unit);
}

/* Returns why a figure is not there: a price that nobody knows, or no layout
 * that fits. */
static const char *explain_missing(const struct asking *task,
                                   const struct advice_expect *e)
{
    const char *const on[] = { e->on, e->vs_on };

    for (int i = 0; i < 2 && e->about.figure == FIGURE_COST; i++)
        if (on[i] != NULL &&
            isnan(figures_place(&task->tier[e->about.tier], on[i])->gpu_usd_per_h))
            return text_format(task->world.arena, "no %s price of %s is known",
                               price_tier_choices[e->about.tier], on[i]);
    return "no layout fits, so there is no figure";
}

/* Makes the world at the prices of the expectation's tier, once.  A given cluster
 * has prices of its own, so `tier` is refused there. */
static bool find_tier(struct asking *task, const struct conf_node *map,
                      const struct advice_expect *e, struct err *err)
{
    struct advise_world *world = &task->tier[e->about.tier];

    if (task->world.cluster != NULL && conf_get(map, "tier") != NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(conf_get(map, "tier")),
                       "tier has no meaning where the cluster has prices of "
                       "its own");
    if (world->place != NULL)
        return true;
    *world = (struct advise_world){ .arena = task->world.arena,
                                    .catalogue = task->world.catalogue,
                                    .gpus_max = task->world.gpus_max,
                                    .tier = (enum price_tier)e->about.tier };
    task->advice[e->about.tier] = arena_alloc(task->world.arena, task->job_count,
                                        sizeof **task->advice);
    return advise_world_from(world, task->world.cluster, err);
}

/* Judges one figure, or the difference of two, in percent of the second if the
 * limit is. */
static void judge_figure(struct asking *task, const struct advice_expect *e,
                         const struct experiment_expect *limits,
                         struct check_item *item)
{
    struct arena *arena = task->world.arena;
    bool compared = e->vs_job != NULL || e->vs_on != NULL;
    double value = figures_value(task, e->job, e->on, &e->about), other = NAN;

    *item = (struct check_item){
        .expect = limits, .metric = figures_name[e->about.figure], .seeds = 1,
        .low = NAN, .high = NAN,
        .point = text_format(arena, "%s on %s%s%s", e->job, e->on,
                             e->about.gpus == 0 ? ""
                                 : text_format(arena, " x %d", (int)e->about.gpus),
                             e->about.tier == TIER_LIST ? ""
                                 : text_format(arena, ", %s prices",
                                               price_tier_choices[e->about.tier]))
    };
    if (compared)
        other = figures_value(task, e->vs_job != NULL ? e->vs_job : e->job,
                              e->vs_on != NULL ? e->vs_on : e->on, &e->about);
    item->value = !compared ? value
                : limits->percent ? 100 * (value / other - 1) : value - other;
    item->verdict = item->value >= limits->low && item->value <= limits->high
                  ? CHECK_HOLDS : CHECK_FAILS;
    item->name = text_format(
        arena, "%s%s%s of %s%s%s %s", e->claim == NULL ? "" : e->claim,
        e->claim == NULL ? "" : ": ", item->metric, item->point,
        compared ? " vs " : "", limits->versus == NULL ? "" : limits->versus,
        format_limits(arena, limits));
    if (isnan(item->value))
        item->reason = explain_missing(task, e);
    else if (compared)
        item->reason = text_format(arena, "%.5g%s: %.5g against %.5g",
                                   item->value, limits->percent ? "%" : "",
                                   value, other);
    else
        item->reason = text_format(arena, "%.5g", value);
}

/* Reads one expectation and judges it, unless `judging` is false: `validate`
 * checks names and limits alone. */
static bool judge_one(struct asking *task, const struct conf_node *map,
                      bool judging, struct check_item *item, struct err *err)
{
    struct experiment_expect *limits = arena_alloc(task->world.arena, 1,
                                                   sizeof *limits);
    struct advice_expect e = { 0 };

    if (!conf_fill(map, &advice_expect_schema, &e, err) ||
        !check_names(task, map, "job", e.job, true, err) ||
        !check_names(task, map, "vs_job", e.vs_job, true, err) ||
        !check_names(task, map, "on", e.on, false, err) ||
        !check_names(task, map, "vs_on", e.vs_on, false, err) ||
        !read_limits(map, &e, limits, err) || !find_tier(task, map, &e, err))
        return false;
    limits->claim = e.claim;
    limits->policy = "advice";
    limits->confidence = 0.95;
    if (e.vs_job != NULL || e.vs_on != NULL)
        limits->versus = text_format(
            task->world.arena, "%s on %s", e.vs_job != NULL ? e.vs_job : e.job,
            e.vs_on != NULL ? e.vs_on : e.on);
    if (judging)
        judge_figure(task, &e, limits, item);
    return true;
}

/* Judges the entries of `expect`, and counts what holds and what fails.  With
 * `judging` false the entries are only read. */
static bool judge_all(struct asking *task, const struct conf_node *list,
                      bool judging, struct check_list *checks,
                      struct err *err)
{
    struct check_item *item;

    if (conf_kind(list) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "expect must be a list");
    item = arena_alloc(task->world.arena, conf_count(list) + 1, sizeof *item);
    *checks = (struct check_list){ .item = item };
    for (size_t i = 0; i < conf_count(list); i++) {
        if (!judge_one(task, conf_item(list, i), judging, &item[i], err))
            return false;
        checks->count++;
        checks->held += item[i].verdict == CHECK_HOLDS;
        checks->failed += item[i].verdict == CHECK_FAILS;
    }
    return true;
}

bool advice_check_is(struct arena *arena, const char *path)
{
    struct experiment_inputs inputs = { .arena = arena };
    struct err err = { 0 };
    const struct conf_node *root;

    if (!path_is_file(path))
        return false;
    root = tree_load(&inputs, path, &err);
    return root != NULL && conf_get(root, "advise") != NULL;
}

/* One reading of a question and of what is expected of its answers. */
struct question {
    const struct advice_check_options *options; /* of the caller */
    struct experiment_inputs inputs;    /* files that were read */
    struct conf_mend mend;      /* the tree, and errors that were read past */
    bool set;                   /* --set is in mend.root */
    struct advice_check *result;    /* of the caller, filled by each reading anew */
};

/* Reads the question, and judges it only if no earlier reading found an error:
 * verdicts on a mended file would answer another question. */
static bool read_and_judge(struct question *q, const struct conf_node *root,
                           struct err *err)
{
    struct arena *arena = q->inputs.arena;
    struct asking task = { .world = { .arena = arena } };
    struct advice_top top = { 0 };
    bool judging = !q->options->read_only && q->mend.found_count == 0;

    if (!conf_fill(root, &advice_schema, &top, err) ||
        !advice_inputs_read(arena, top.sensitivity, top.expect, &q->result->inputs, err))
        return false;
    task.world.gpus_max = (uint32_t)top.gpus;
    task.world.catalogue = tree_catalogue(arena, top.catalogue, err);
    if (task.world.catalogue == NULL ||
        !advise_world_from(&task.world, top.cluster, err))
        return false;
    task.job_count = advise_jobs_from(&task.world, top.workload, &task.job, err);
    if (task.job_count == 0 && err->kind == ERR_NONE)
        err_set(err, ERR_SCHEMA, conf_pos(top.workload),
                "advise needs a mix of recipes, and the workload has none");
    if (task.job_count == 0)
        return false;
    for (size_t i = 0; i < task.job_count; i++)
        if (!advise_job_check(&task.job[i], err))
            return false;
    task.tier[TIER_LIST] = task.world;
    task.advice[TIER_LIST] = arena_alloc(arena, task.job_count,
                                         sizeof *task.advice[TIER_LIST]);
    q->result->name = top.name;
    return judge_all(&task, top.expect, judging, &q->result->checks, err);
}

/* Reads the tree, for conf_mend_read(), which calls it again for a mended tree;
 * --set is applied once. */
static bool read_question(void *self, const struct conf_node *root,
                          struct err *err)
{
    struct question *q = self;

    if (!q->set) {
        root = tree_sets(&q->inputs, root, q->options->set,
                         q->options->set_count, err);
        if (root == NULL)
            return false;
        q->set = true;
        q->mend.root = root;
    }
    return read_and_judge(q, root, err);
}

bool advice_check_run(struct arena *arena, const char *path,
                      const struct advice_check_options *options,
                      struct advice_check *result, struct err *err)
{
    struct question q = {
        .options = options, .inputs = { .arena = arena },
        .mend = { .arena = arena, .ground = "cluster",
                  .ground_words = tree_ground_words }, .result = result,
    };

    q.mend.stock = tree_stock(arena);
    q.mend.root = tree_load(&q.inputs, path, err);
    return q.mend.root != NULL &&
           conf_mend_read(&q.mend, read_question, &q, err);
}
