/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * make.c - the three texts, checked before a file is written.
 *
 * A recipe gets the largest of its models that fits: each is tried by reading the
 * experiment, so what fits is decided by the code that runs it.  The rate of
 * arrivals follows from the load that the first policy has at one job an hour.
 */
#include <string.h>

#include "experiments/preflight/load.h"
#include "experiments/preflight/places.h"
#include "experiments/spec/experiment.h"
#include "experiments/start/parts.h"
#include "experiments/start/start.h"
#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"
#include "workloads/start/start_file.h"

#define SEEDS 5

static const struct err_pos nowhere = { NULL, 0, 0 };

/* ---- texts ------------------------------------------------------------- */

/* Returns the text with each `from` replaced. */
static const char *replace_all(struct arena *arena, const char *text, const char *from,
                               const char *to)
{
    const char *done = "", *at;

    while ((at = strstr(text, from)) != NULL) {
        done = text_format(arena, "%s%.*s%s", done, (int)(at - text), text, to);
        text = at + strlen(from);
    }
    return text_format(arena, "%s%s", done, text);
}

/* Returns the text with two blanks before each line. */
static const char *indent_text(struct arena *arena, const char *text)
{
    const char *done = text_format(arena, "  %s", replace_all(arena, text, "\n", "\n  "));

    return replace_all(arena, done, "\n  \n", "\n\n");
}

/* Do all GPU types compute in bf16?  Generic GPUs compute nothing, and do no harm. */
static bool has_bf16(const struct start *start)
{
    for (uint32_t i = 0; i < start->pool_count; i++)
        if (start->pool[i].gpu != NULL &&
            !(start->pool[i].gpu->flops_peak[PRECISION_BF16] > 0))
            return false;
    return true;
}

/* Takes the next model of the list "# models: a b c\n"; NULL at its end.  A recipe
 * without models has "", once. */
static const char *take_model(struct arena *arena, const struct start_file *file,
                              const char **at)
{
    const char *list = *at != NULL ? *at : strstr(file->text, "# models:") + strlen("# models:");
    size_t blanks = strspn(list, " "), bytes = strcspn(list + blanks, " \n");

    if (*at != NULL && bytes == 0)
        return NULL;
    *at = list + blanks + bytes;
    return text_format(arena, "%.*s", (int)bytes, list + blanks);
}

/* Do jobs of the recipe train or run a model?  Else they have known lengths, and any
 * GPUs will do. */
static bool has_models(const struct start_file *file)
{
    return strstr(file->text, "# models: ") != NULL;
}

/* Returns the entry of `mix:` with that model, for the GPUs there are. */
static const char *format_entry(const struct start *start, const struct start_file *file,
                                const char *model)
{
    static const char *const sizes[] = { ", 8: 0.1", ", 4: 0.2", ", 2: 0.2" };
    struct arena *arena = start->arena;
    const char *text = strstr(file->text, "mix:\n") + strlen("mix:\n"), *at, *from = NULL;
    uint32_t gpus = start_role_gpus(start), size = 8;

    at = take_model(arena, file, &from);
    text = replace_all(arena, text, text_format(arena, "model: %s\n", at),
                       text_format(arena, "model: %s\n", model));
    if (!has_bf16(start))
        text = replace_all(arena, text, "precision: bf16", "precision: fp16");
    text = replace_all(arena, text, "{gpus: 8}", text_format(arena, "{gpus: %u}", gpus));
    for (size_t i = 0; i < 3; i++, size /= 2)
        if (gpus < size)
            text = replace_all(arena, text, sizes[i], "");
    return text;
}

/* Returns the key `trace:` of the workload, for a trace of the user's. */
static const char *format_trace(const struct start *start)
{
    return text_format(
        start->arena, "trace:\n  file: %s\n  format: %s\n%s",
        start_seen_path(start, start->trace), start->trace_columns != NULL ? "csv" : "swf",
        start->trace_columns == NULL ? "" : text_format(
            start->arena, "  columns: {%s}\n", start->trace_columns));
}

/* Returns the workload's text.  mix: its entries; rate: of jobs in an hour. */
static const char *format_workload(const struct start *start, const char *mix, double rate)
{
    struct arena *arena = start->arena;
    const char *head = text_format(
        arena, "# The jobs of %s.yaml, made by `clustersim new`.\n", start->name);
    uint32_t jobs = 200;

    if (start->trace != NULL)
        return text_format(arena, "%s# `clustersim explain workload.trace` names the other "
                           "keys.\n%s", head, format_trace(start));
    for (uint32_t i = 0; i < start->job_count; i++)
        if (strstr(start->job[i]->text, "jobs: 60\n") != NULL)
            jobs = 60;
    return text_format(
        arena, "%s# `clustersim explain KEY` says what a key means.  Sizes and lengths are\n"
        "# assumptions: put yours in their place.\n"
        "arrival: {process: poisson, rate: %.4g/h}\njobs: %u\nmix:\n%s", head, rate, jobs, mix);
}

/* Returns the policies with ", " between them. */
static const char *format_policies(const struct start *start)
{
    const char *text = "";

    for (uint32_t i = 0; i < start->policy_count; i++)
        text = text_format(start->arena, "%s%s%s", text, i == 0 ? "" : ", ",
                           start->policy[i]);
    return text;
}

/* Returns `sweep:` with its comment, or "". */
static const char *format_sweep(const struct start *start, double rate)
{
    const struct start_pool *first = &start->pool[0], *second = &start->pool[1];
    uint32_t nodes = first->gpus / first->each, step = (nodes + 1) / 2;
    bool alike = start->pool_count == 1 ||
                 (start->pool_count == 2 && second->gpus / second->each == nodes);

    if (start->compare == COMPARE_LOAD)
        return text_format(
            start->arena, "sweep:                           # a run for each value\n"
            "  workload.arrival.rate: [%.4g/h, %.4g/h, %.4g/h]\n", rate / 2, rate * 3 / 4, rate);
    if (start->compare == COMPARE_SIZE)
        return text_format(
            start->arena, "sweep:                           # a run for each value%s\n"
            "  cluster.nodes.%s.count: [%u, %u, %u]\n", alike ? "; *: of every pool" : "",
            alike ? "*" : first->name, nodes, nodes + step, nodes + 2 * step);
    return "";
}

/* Returns the experiment's text around what stands behind `cluster:` and
 * `workload:`. */
static const char *format_experiment(const struct start *start, const char *cluster,
                                     const char *workload, double rate)
{
    const char *last = start->policy[start->policy_count - 1];

    return text_format(
        start->arena,
        "# Made by `clustersim new`.  Check it: clustersim validate %s.yaml\n"
        "# Run it: clustersim %s.yaml    Look a word up: clustersim explain WORD\n"
        "experiment: %s\n"
        "seed: 1\n"
        "seeds: %-26d# how often jobs are drawn anew; each policy has the same ones\n"
        "cluster:%s\n"
        "workload:%s\n"
        "policies: [%s]\n"
        "%s"
        "# What you expect; `clustersim check` says whether it holds:\n"
        "# expect:\n"
        "#   - {metric: jct_mean_s, policy: %s, vs: %s, at_most: 0%%}\n",
        start->name, start->name, start->name, SEEDS, cluster, workload,
        format_policies(start), format_sweep(start, rate), last, start->policy[0]);
}

/* ---- checks ------------------------------------------------------------ */

/* Hears of each place at which a job does not fit, and keeps the first. */
static void keep_first(void *self, const struct err *err)
{
    struct err *first = self;

    if (first->kind == ERR_NONE)
        *first = *err;
}

/* Reads the experiment as it would stand on disk; NULL: err says why, and that no
 * file holds it. */
static const struct experiment *read_whole(const struct start *start, const char *workload,
                                           double rate, struct err *err)
{
    struct arena *arena = start->arena;
    const char *inside = start->workload != NULL
        ? text_format(arena, " %s", start_seen_path(start, start->workload))
        : text_format(arena, "\n%s", indent_text(arena, workload));
    const char *cluster = text_format(arena, "\n%s", indent_text(arena, start->cluster_text));
    struct experiment_options options = {
        .text = format_experiment(start, cluster, inside, rate), .program_hash = 1
    };
    const struct experiment *experiment = experiment_read(arena, start->path, &options, err);

    if (experiment != NULL && places_check(arena, experiment, keep_first, err) == 0)
        return experiment;
    if (err->pos.file != NULL && strcmp(err->pos.file, start->path) == 0)
        err->pos = nowhere;
    err->next = NULL;
    err->more = 0;
    return NULL;
}

/* Returns the entry of one recipe with the first of its models that fits. */
static const char *fit_entry(const struct start *start, const struct start_file *file,
                             struct err *err)
{
    struct start alone = *start;
    struct err last = { 0 };
    const char *at = NULL, *model;

    alone.job[0] = file;
    alone.job_count = 1;
    alone.policy[0] = "fcfs";
    alone.policy_count = 1;
    alone.compare = COMPARE_POLICIES;
    while ((model = take_model(start->arena, file, &at)) != NULL) {
        const char *entry = format_entry(start, file, model);

        last = (struct err){ 0 };
        if (read_whole(&alone, format_workload(&alone, entry, 1), 1, &last) != NULL)
            return entry;
    }
    *err = last;
    return NULL;
}

/* False, with err: an answer contradicts another one, though each is allowed by
 * itself. */
static bool check_generic(const struct start *start, struct err *err)
{
    for (uint32_t p = 0; p < start->pool_count; p++)
        for (uint32_t i = 0; i < start->job_count; i++)
            if (start->pool[p].gpu == NULL && has_models(start->job[i])) {
                err_set(err, ERR_USAGE, nowhere, "generic GPUs run jobs of known length "
                        "only, found %s", start_recipe(start, start->job[i]));
                return err_hint(err, "Take a type of `clustersim list gpus`, or a trace.");
            }
    if (start->job_count == 0 && start->compare == COMPARE_LOAD) {
        err_set(err, ERR_USAGE, nowhere, "a file of jobs has a load of its own, found the "
                "comparison 'load'");
        return err_hint(err, "Compare policies or size, or take a recipe.");
    }
    return true;
}

/* Finds the entries, then the rate that makes the load. */
static bool make_workload(struct start *start, double *rate, struct err *err)
{
    struct arena *arena = start->arena;
    const struct experiment *experiment;
    const char *mix = "";
    struct load load;

    *rate = 1;
    for (uint32_t i = 0; i < start->job_count; i++) {
        const char *entry = fit_entry(start, start->job[i], err);

        if (entry == NULL)
            return false;
        mix = text_format(arena, "%s%s", mix, entry);
    }
    start->workload_text = format_workload(start, mix, 1);
    experiment = read_whole(start, start->workload_text, 1, err);
    if (experiment == NULL)
        return false;
    if (start->job_count == 0)
        return true;
    load = load_of(arena, experiment, &experiment->point[0], experiment->point[0].policy[0]);
    if (load.known && load.most > 0)
        *rate = start->load / load.most;
    start->workload_text = format_workload(start, mix, *rate);
    return read_whole(start, start->workload_text, *rate, err) != NULL;
}

bool start_make(struct start *start, struct err *err)
{
    double rate;

    for (int q = 0; q < START_COUNT; q++)
        if (!start->set[q] && start_asks(start, (enum start_question)q) &&
            !start_set(start, (enum start_question)q,
                       start_info(start, (enum start_question)q).usual, err))
            return false;
    if (!check_generic(start, err) || !start_name_pools(start, err))
        return false;
    start->cluster_text = start_cluster_text(start);
    if (!make_workload(start, &rate, err))
        return false;
    start->experiment_text = format_experiment(
        start, text_format(start->arena, " %s-cluster.yaml", start->name),
        text_format(start->arena, " %s", start->workload != NULL
                    ? start_seen_path(start, start->workload)
                    : text_format(start->arena, "%s-workload.yaml", start->name)), rate);
    return true;
}
