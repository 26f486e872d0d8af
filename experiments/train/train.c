/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - the cross-entropy method over a policy's weights.
 *
 * A generation draws weight vectors from independent normals, runs each on
 * every point and training seed, keeps the elite, and moves the normals to
 * the elite's mean and spread.  All vectors meet the same seeds (common
 * random numbers), and a score is the objective relative to that of the
 * initial weights on the same point and seed, so that points of different
 * load weigh alike.  The result is judged on seeds that training never saw.
 * (Rubinstein, Methodology and Computing in Applied Probability 1, 1999;
 * Szita and Lorincz, Neural Computation 18, 2006: noise that keeps the spread
 * from collapsing.)
 */
#include "experiments/train/train.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/run/runner.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/train_keys.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/scan.h"
#include "sim/text/table.h"

struct candidate {
    double *weight;
    struct host_policy *policy;     /* by point */
    double score;                   /* less is better; 1: as the initial */
    uint32_t index;
};

struct training {
    struct arena *arena;
    const struct experiment *experiment;
    const struct train_options *options;
    struct train_keys keys;
    double *mean, *spread;          /* of the normals, by weight */
    double *reference;              /* objective of the initial weights */
    double *undone;                 /* their jobs that were not done */
    struct candidate first, best;   /* the initial and the best so far */
    struct rng rng;
    /* The batch being run. */
    struct candidate *batch;
    uint32_t batch_count;
    struct train_seeds batch_seeds;
};

/* Exactly what the file will say, so that what was judged is what is used. */
static double as_written(double value)
{
    char text[32];
    size_t bytes = table_format_real(value, text);
    bool ok = scan_f64(text, bytes, &value);

    assert(ok);
    (void)ok;
    return value;
}

/* The policy of each point, with these weights. */
static void candidate_make(struct training *t, struct candidate *c,
                           const double *weight, uint32_t index)
{
    struct host_weight *list;

    c->index = index;
    c->weight = arena_alloc(t->arena, t->keys.weight_count, sizeof *c->weight);
    list = arena_alloc(t->arena, t->keys.weight_count, sizeof *list);
    for (uint32_t i = 0; i < t->keys.weight_count; i++) {
        c->weight[i] = as_written(weight[i]);
        list[i] = (struct host_weight){ t->keys.weight_name[i], c->weight[i] };
    }
    c->policy = arena_alloc(t->arena, t->experiment->point_count,
                            sizeof *c->policy);
    for (uint32_t p = 0; p < t->experiment->point_count; p++) {
        c->policy[p] = *t->experiment->point[p].policy[t->keys.policy];
        c->policy[p].weight = list;
        c->policy[p].weight_count = t->keys.weight_count;
    }
}

/* Trials of a batch: candidate by candidate, point by point, seed by seed. */
static struct trial_spec batch_spec(void *self, uint32_t index,
                                    uint32_t *tables)
{
    const struct training *t = self;
    uint32_t seeds = (uint32_t)t->batch_seeds.count;
    uint32_t points = t->experiment->point_count;
    uint32_t point = index / seeds % points;
    const struct candidate *c = &t->batch[index / seeds / points];
    struct trial_spec spec = experiment_trial_spec(
        t->experiment, point * t->experiment->policy_count * t->experiment->seeds);

    *tables = 0;
    spec.policy = &c->policy[point];
    spec.replica = (uint32_t)t->batch_seeds.from + index % seeds;
    return spec;
}

/* The objective of each trial of the batch, and the jobs that were not done;
 * NAN where the trial failed. */
struct outcome {
    double *value, *undone;
    struct err first;               /* of the first trial that failed */
};

static struct outcome outcome_new(struct arena *arena, size_t trials)
{
    return (struct outcome){
        .value = arena_alloc(arena, trials, sizeof(double)),
        .undone = arena_alloc(arena, trials, sizeof(double))
    };
}

static bool run_batch(struct training *t, struct candidate *batch,
                      uint32_t count, struct train_seeds seeds,
                      struct outcome *o, struct err *err)
{
    uint32_t trials = count * t->experiment->point_count * (uint32_t)seeds.count;
    struct arena *scratch = arena_new((size_t)1 << 16);
    struct runner_trial *trial = arena_alloc(scratch, trials, sizeof *trial);
    const struct runner_plan plan = {
        .count = trials, .threads = t->options->threads,
        .progress = t->options->progress, .spec = batch_spec, .self = t
    };
    bool ok;

    t->batch = batch;
    t->batch_count = count;
    t->batch_seeds = seeds;
    ok = runner_run(&plan, trial, err);
    for (uint32_t i = 0; ok && i < trials; i++) {
        bool done = trial[i].state == RUNNER_DONE;
        const double *v = trial[i].result.value;

        o->value[i] = done ? v[t->keys.objective] : NAN;
        o->undone[i] = done ? v[METRIC_JOBS] - v[METRIC_JOBS_DONE] : NAN;
        if (!done && o->first.kind == ERR_NONE)
            o->first = trial[i].err;
    }
    arena_free(scratch);
    return ok;
}

static uint32_t count_cells(const struct training *t)
{
    return t->experiment->point_count * (uint32_t)t->keys.seeds.count;
}

/* Jobs that are never done have no completion time: leaving them undone must
 * not pay, so it scores worse than anything else, and the worse the more. */
#define UNDONE_SCORE 1000.0

/* Returns the score of a candidate, less is better: the mean of objective over
 * reference, or of its inverse if more of the objective is better. */
static double compute_score(const struct training *t, const double *value,
                            const double *undone)
{
    double sum = 0, left = 0;

    for (uint32_t i = 0; i < count_cells(t); i++) {
        double ratio = metric_info(experiment_metrics(t->experiment), t->keys.objective)->better < 0
                     ? value[i] / t->reference[i] : t->reference[i] / value[i];

        if (t->reference[i] == value[i])
            ratio = 1;
        left += fmax(0, undone[i] - t->undone[i]);
        if (isnan(undone[i]) || !isfinite(ratio))
            return INFINITY;
        sum += ratio;
    }
    return left > 0 ? UNDONE_SCORE + left : sum / count_cells(t);
}

static bool run_first(struct training *t, struct err *err)
{
    struct outcome o = outcome_new(t->arena, count_cells(t));

    candidate_make(t, &t->first, t->mean, 0);
    if (!run_batch(t, &t->first, 1, t->keys.seeds, &o, err))
        return false;
    if (o.first.kind != ERR_NONE) {
        *err = o.first;
        return false;
    }
    t->reference = o.value;
    t->undone = o.undone;
    t->first.score = 1;
    t->best = t->first;
    return true;
}

static bool goes_first(const struct candidate *a, const struct candidate *b)
{
    if (a->score != b->score)
        return a->score < b->score;
    return a->index < b->index;
}

/* Insertion sort: a generation is small. */
static void sort_batch(struct candidate *batch, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct candidate c = batch[i];
        uint32_t j = i;

        for (; j > 0 && goes_first(&c, &batch[j - 1]); j--)
            batch[j] = batch[j - 1];
        batch[j] = c;
    }
}

/* Of those that could be run at all; one alone tells nothing of the spread. */
static void move_to_elite(struct training *t, const struct candidate *batch)
{
    uint32_t elite = 0;

    while (elite < (uint32_t)t->keys.elite && isfinite(batch[elite].score))
        elite++;
    if (elite < 2 && elite < (uint32_t)t->keys.elite)
        return;
    for (uint32_t w = 0; w < t->keys.weight_count; w++) {
        double mean = 0, square = 0;

        for (uint32_t i = 0; i < elite; i++)
            mean += batch[i].weight[w];
        mean /= elite;
        for (uint32_t i = 0; i < elite; i++)
            square += (batch[i].weight[w] - mean) *
                      (batch[i].weight[w] - mean);
        t->mean[w] = mean;
        t->spread[w] = fmax(sqrt(square / elite), t->keys.spread_min);
    }
}

/* Draws a batch of candidates.  The first one is the mean itself, so that a
 * generation never loses the weights learned so far. */
static void draw_batch(struct training *t, struct candidate *batch,
                       uint32_t count)
{
    double *weight = arena_alloc(t->arena, t->keys.weight_count,
                                 sizeof *weight);

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t w = 0; w < t->keys.weight_count; w++)
            weight[w] = i == 0 ? t->mean[w]
                      : rng_normal(&t->rng, t->mean[w], t->spread[w]);
        candidate_make(t, &batch[i], weight, i);
    }
}

static void log_generation(struct training *t, int64_t number,
                           const struct candidate *batch, uint32_t count)
{
    uint32_t failed = 0, undone = 0;

    if (t->options->log == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        failed += isinf(batch[i].score) != 0;
        undone += !isinf(batch[i].score) && batch[i].score >= UNDONE_SCORE;
    }
    fprintf(t->options->log, "generation %" PRId64 " of %" PRId64 ": %s at "
            "%.4f of its start, best so far %.4f", number + 1,
            t->keys.generations, t->keys.objective_name, batch[0].score,
            t->best.score);
    if (failed > 0 || undone > 0)
        fprintf(t->options->log, "; of %u vectors %u failed and %u left jobs "
                "undone", count, failed, undone);
    fputc('\n', t->options->log);
}

static bool run_generation(struct training *t, int64_t number, struct err *err)
{
    uint32_t count = (uint32_t)t->keys.population;
    struct candidate *batch = arena_alloc(t->arena, count, sizeof *batch);
    struct outcome o = outcome_new(t->arena, (size_t)count * count_cells(t));

    draw_batch(t, batch, count);
    if (!run_batch(t, batch, count, t->keys.seeds, &o, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        batch[i].score = compute_score(t, o.value + (size_t)i * count_cells(t),
                                       o.undone + (size_t)i * count_cells(t));
    sort_batch(batch, count);
    if (batch[0].score < t->best.score)
        t->best = batch[0];
    move_to_elite(t, batch);
    log_generation(t, number, batch, count);
    return true;
}

/* The held-out seeds, first with the initial weights, then the learned. */
struct judgement {
    struct stats_mean before, after;
    struct stats_delta delta;
    double undone_before, undone_after;
    uint32_t failed_before, failed_after;
};

static void add_undone(double undone, double *sum, uint32_t *failed)
{
    if (isnan(undone))
        ++*failed;
    else
        *sum += undone;
}

static bool judge_weights(struct training *t, struct judgement *j,
                          struct err *err)
{
    uint32_t count = t->experiment->point_count * (uint32_t)t->keys.held_out.count;
    struct candidate *pair = arena_alloc(t->arena, 2, sizeof *pair);
    struct outcome o = outcome_new(t->arena, 2 * (size_t)count);
    const double *value = o.value;

    pair[0] = t->first;
    pair[1] = t->best;
    if (!run_batch(t, pair, 2, t->keys.held_out, &o, err))
        return false;
    *j = (struct judgement){ .undone_before = 0 };
    for (uint32_t i = 0; i < count; i++) {
        add_undone(o.undone[i], &j->undone_before, &j->failed_before);
        add_undone(o.undone[count + i], &j->undone_after, &j->failed_after);
    }
    j->before = stats_mean(value, count, 0.95);
    j->after = stats_mean(value + count, count, 0.95);
    j->delta = stats_delta(value + count, value, count, 0.95);
    return true;
}

static void put_judgement(struct training *t, const struct judgement *j,
                          char *text, size_t bytes)
{
    int n = snprintf(
        text, bytes, "%s %.6g -> %.6g, %+.3g%% [%+.3g%%, %+.3g%%] on seeds %"
        PRId64 " to %" PRId64 ", not trained on", t->keys.objective_name,
        j->before.mean, j->after.mean, j->delta.percent, j->delta.percent_low,
        j->delta.percent_high, t->keys.held_out.from,
        t->keys.held_out.from + t->keys.held_out.count - 1);
    if (j->undone_before > 0 || j->undone_after > 0)
        n += snprintf(text + n, bytes - (size_t)n, "; jobs left undone: %.0f "
                      "-> %.0f", j->undone_before, j->undone_after);
    if (j->failed_before > 0 || j->failed_after > 0)
        snprintf(text + n, bytes - (size_t)n, "; failed trials: %u -> %u",
                 j->failed_before, j->failed_after);
}

static bool write_weights(struct training *t, const struct judgement *j,
                          struct err *err)
{
    const struct experiment *experiment = t->experiment;
    const struct train_keys *keys = &t->keys;
    struct out *out = out_open(t->arena, t->options->path, err);
    char text[512];

    if (out == NULL)
        return false;
    put_judgement(t, j, text, sizeof text);
    out_printf(out, "# SPDX-License-Identifier: GPL-3.0-or-later\n#\n"
               "# Weights of the policy %s, learned; do not edit.\n"
               "# Made by clustersim %s: `clustersim train %s`\n",
               keys->policy_name, CLUSTERSIM_VERSION, experiment->path);
    out_printf(out, "# Trained on seeds %" PRId64 " to %" PRId64
               " of seed %" PRIu64 ", %" PRId64 " generations of %" PRId64
               ".\n# Judged, with a 95%% interval:\n#   %s\n"
               "# Inputs (XXH64):\n",
               keys->seeds.from, keys->seeds.from + keys->seeds.count - 1,
               experiment->seed, keys->generations, keys->population, text);
    for (size_t i = 0; i < experiment->input_count; i++)
        out_printf(out, "#   %016" PRIx64 " %s\n", experiment->input[i].hash,
                   experiment->input[i].path);
    out_printf(out, "policy: %s\nobjective: %s\nweights:\n", keys->policy_name,
               keys->objective_name);
    for (uint32_t i = 0; i < keys->weight_count; i++) {
        char number[32];
        size_t bytes = table_format_real(t->best.weight[i], number);

        out_printf(out, "  %s: %.*s\n", keys->weight_name[i], (int)bytes,
                   number);
    }
    return out_close(out, err);
}

bool train_run(struct arena *arena, const struct experiment *experiment,
               const struct train_options *options, struct err *err)
{
    struct training t = { .arena = arena, .experiment = experiment,
                          .options = options };
    struct judgement j;
    char text[512];

    if (!train_keys_read(arena, experiment, &t.keys, err))
        return false;
    t.mean = t.keys.weight;
    t.spread = arena_alloc(arena, t.keys.weight_count, sizeof *t.spread);
    for (uint32_t i = 0; i < t.keys.weight_count; i++)
        t.spread[i] = t.keys.spread;
    rng_init(&t.rng, experiment->seed, "train", 0);
    if (!run_first(&t, err))
        return false;
    for (int64_t g = 0; g < t.keys.generations; g++)
        if (!run_generation(&t, g, err))
            return false;
    if (!judge_weights(&t, &j, err) || !write_weights(&t, &j, err))
        return false;
    put_judgement(&t, &j, text, sizeof text);
    fprintf(options->out, "%s\nweights: %s\n", text, options->path);
    return true;
}
