/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - a training: generations, validations, and the verdict.
 *
 * A generation tries weight vectors on the same cells, points and seeds.  At a
 * validation the mean is tried on points that are never trained on; the best
 * mean is kept, and when no better one comes the training ends.  Without
 * validation the best vector of all generations is kept.  The result is judged on
 * seeds that training and validation never saw.
 */
#include "experiments/train/train.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/train_keys.h"
#include "experiments/train/training.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* ---- what is trained on -------------------------------------------------- */

/* Draws the cells of a generation.  The stream is of the seed and the generation alone, so
 * that a training that is resumed draws the same.  A cell may be drawn twice. */
static void draw_cells(struct training *t)
{
    const struct experiment *e = t->experiment;
    struct rng rng;

    rng_init(&rng, e->seed, "train cells", t->generation);
    for (uint32_t k = 0; k < t->cell_count; k++) {
        uint32_t point;

        do
            point = (uint32_t)rng_below(&rng, e->point_count);
        while (t->keys.is_held[point]);
        t->cell[k] = (struct train_cell) {
            point, (uint32_t)(t->keys.seeds.from +
                              (int64_t)rng_below(&rng, (uint64_t)t->keys.seeds.count))
        };
    }
}

/* What the initial weights do on the cells of this generation. */
static bool run_reference(struct training *t, struct err *err)
{
    if (!train_run_batch(t, &t->first, 1, t->cell, t->cell_count, &t->reference,
                         err))
        return false;
    if (t->reference.first.kind != ERR_NONE)
        *err = t->reference.first;
    return err->kind == ERR_NONE;
}

/* ---- generations --------------------------------------------------------- */

/* Prints a line for a generation, after train_move() sorted it: the best is the
 * first. */
static void log_generation(struct training *t, const struct candidate *batch)
{
    uint32_t failed = 0, undone = 0, count = (uint32_t)t->keys.population;

    if (t->options->log == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        failed += isinf(batch[i].score) != 0;
        undone += !isinf(batch[i].score) && batch[i].score >= UNDONE_SCORE;
    }
    fprintf(t->options->log, "generation %u of %" PRId64 ": %s at "
            "%.4f of its start, best so far %.4f", t->generation,
            t->keys.generations, t->keys.objective_name, batch[0].score,
            t->best.score);
    if (failed > 0 || undone > 0)
        fprintf(t->options->log, "; of %u vectors %u failed and %u left more jobs undone "
                "or requests unanswered than the start", count, failed, undone);
    fputc('\n', t->options->log);
}

/* Scores the vectors of a generation on all of its cells. */
static bool score_all(struct training *t, struct candidate *batch, struct err *err)
{
    uint32_t count = (uint32_t)t->keys.population;
    struct outcome o;

    if (!train_run_batch(t, batch, count, t->cell, t->cell_count, &o, err))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        batch[i].score = train_score(t, &o, i, &t->reference, t->cell_count);
        batch[i].cells = t->cell_count;
    }
    return true;
}

/* Tries the vectors of one generation, scores them and moves the mean.  Without
 * validation the best vector ever seen is kept here; with it, validate_mean() keeps
 * the best mean.  With `cells` the reference changes from generation to generation, and so the
 * initial weights are run on them, too. */
static bool run_generation(struct training *t, struct err *err)
{
    uint32_t count = (uint32_t)t->keys.population;
    struct candidate *batch = arena_alloc(t->arena, count, sizeof *batch);

    if (t->keys.cells > 0) {
        draw_cells(t);
        if (!run_reference(t, err))
            return false;
    }
    train_draw(t, batch);
    if (!(t->keys.race ? train_race(t, batch, err) : score_all(t, batch, err)))
        return false;
    for (uint32_t i = 0; i < count; i++)
        t->matters |= batch[i].score != 1;
    train_move(t, batch);
    t->generation++;
    if (t->keys.validation.every == 0 && batch[0].cells == t->cell_count &&
        batch[0].score < t->best.score)
        t->best = batch[0];
    log_generation(t, batch);
    return true;
}

/* Tries the mean where nothing is trained, and keeps it if it is the best. */
static bool validate_mean(struct training *t, struct err *err)
{
    struct candidate mean = train_candidate(t, t->mean, 0);
    struct outcome o;

    if (!train_run_batch(t, &mean, 1, t->validation_cell, t->validation_count, &o,
                         err))
        return false;
    mean.score = train_score(t, &o, 0, &t->validation_reference,
                             t->validation_count);
    t->stale = mean.score < t->best.score ? 0 : t->stale + 1;
    if (t->stale == 0)
        t->best = mean;
    if (t->options->log != NULL)
        fprintf(t->options->log, "validation: %.4f of its start, best %.4f\n",
                mean.score, t->best.score);
    return true;
}

/* Runs generations until the last one, or until validations bring nothing better
 * `patience` times.  State is written after each, so --resume loses one generation
 * at most. */
static bool run_generations(struct training *t, struct err *err)
{
    const struct train_validation *v = &t->keys.validation;

    while (t->generation < t->keys.generations &&
           (v->every == 0 || t->stale < v->patience)) {
        if (!run_generation(t, err) ||
            (v->every > 0 && t->generation % v->every == 0 &&
             !validate_mean(t, err)) ||
            !train_state_write(t, err))
            return false;
    }
    return true;
}

/* Weights that no policy reads, or advice where there is no choice, would be written as if
 * they had been learned.  False: err is set, and the state of the training is removed, so that
 * --resume does not go on with it. */
static bool check_matters(const struct training *t, struct err *err)
{
    if (t->matters)
        return true;
    train_state_drop(t);
    err_set(err, ERR_RANGE, conf_pos(t->experiment->train),
            "no weights changed %s: of %u vectors a generation, all did as the initial ones",
            t->keys.objective_name, (uint32_t)t->keys.population);
    return err_hint(err, "Policy %.60s may read none of these weights, or has no choice on these "
                    "jobs. Nothing was written.", t->keys.policy_name);
}

/* ---- the verdict --------------------------------------------------------- */

/* What a side left on the held-out seeds. */
struct left {
    double undone, unanswered;  /* jobs, requests */
    uint32_t failed;            /* trials */
};

/* The held-out seeds, first with the initial weights, then the learned.  What both sets of
 * weights, and the rivals, did on seeds that were never used. */
struct judgement {
    struct stats_mean before, after; /* of the objective, with 95% intervals */
    struct stats_delta delta;   /* paired, cell by cell */
    struct left left_before, left_after;
    struct left *left_against;  /* by policy, as `against` */
    struct stats_mean *against; /* by policy: how much more the learned has, in parts of
                                   the size of its value */
    uint32_t best;              /* of them: against which least is gained */
};

/* Sums what candidate i left on all cells. */
static struct left sum_left(const struct outcome *o, uint32_t i)
{
    struct left sum = { 0, 0, 0 };

    for (uint32_t k = i * o->cells; k < (i + 1) * o->cells; k++) {
        bool failed = isnan(o->undone[k]) != 0;

        sum.failed += failed;
        sum.undone += failed ? 0 : o->undone[k];
        sum.unanswered += failed ? 0 : o->unanswered[k];
    }
    return sum;
}

/* Returns what two sides left, as "; jobs left undone: 3 -> 0", or nothing: told only where
 * there are any, since the means would then mislead.  In the arena, or static. */
static const char *left_text(struct arena *arena, const struct left *from,
                             const struct left *to)
{
    const char *text = "";

    if (from->undone > 0 || to->undone > 0)
        text = text_format(arena, "%s; jobs left undone: %.0f -> %.0f", text, from->undone,
                           to->undone);
    if (from->unanswered > 0 || to->unanswered > 0)
        text = text_format(arena, "%s; requests unanswered: %.0f -> %.0f", text,
                           from->unanswered, to->unanswered);
    if (from->failed > 0 || to->failed > 0)
        text = text_format(arena, "%s; failed trials: %u -> %u", text, from->failed,
                           to->failed);
    return text;
}

/* Cell by cell, so that points of different load weigh alike.  For example, 90 against 100 of
 * a rival is -0.1: of a metric of which less is better, a gain of 10%. */
static void judge_against(struct training *t, struct judgement *j,
                          const struct outcome *o)
{
    const double *value = o->value;
    uint32_t count = o->cells;
    double *ratio = arena_alloc(t->arena, count, sizeof *ratio);
    int better = metric_info(experiment_metrics(t->experiment),
                             t->keys.objective)->better;

    j->against = arena_alloc(t->arena, t->keys.against_count + 1,
                             sizeof *j->against);
    j->left_against = arena_alloc(t->arena, t->keys.against_count + 1,
                                  sizeof *j->left_against);
    for (uint32_t a = 0; a < t->keys.against_count; a++) {
        for (uint32_t i = 0; i < count; i++) {
            double other = value[(a + 2) * count + i];

            ratio[i] = (value[count + i] / other - 1) * copysign(1, other);
        }
        j->against[a] = stats_mean(ratio, count, 0.95);
        j->left_against[a] = sum_left(o, a + 2);
        if ((j->against[a].mean - j->against[j->best].mean) * better < 0)
            j->best = a;
    }
}

/* Judges what was learned: the initial weights, the best ones and the rivals on
 * seeds that were never used.  All meet the same cells, so that differences are
 * paired. */
static bool judge_weights(struct training *t, struct judgement *j,
                          struct err *err)
{
    struct train_cell *cell;
    bool held = t->keys.validation.points_node != NULL;
    uint32_t count = train_all_cells(t, &t->keys.held_out, held, &cell);
    struct candidate *all = arena_alloc(t->arena, 2 + t->keys.against_count,
                                        sizeof *all);
    struct outcome o;

    all[0] = t->first;
    all[1] = t->best;
    for (uint32_t a = 0; a < t->keys.against_count; a++)
        all[2 + a] = train_rival(t, t->keys.against[a]);
    if (!train_run_batch(t, all, 2 + t->keys.against_count, cell, count, &o, err))
        return false;
    *j = (struct judgement){ .left_before = sum_left(&o, 0), .left_after = sum_left(&o, 1) };
    j->before = stats_mean(o.value, count, 0.95);
    j->after = stats_mean(o.value + count, count, 0.95);
    j->delta = stats_delta(o.value + count, o.value, count, 0.95);
    judge_against(t, j, &o);
    return true;
}

/* Returns the judgement as one sentence. */
static const char *judgement_text(struct training *t, const struct judgement *j)
{
    return text_format(
        t->arena, "%s %.6g -> %.6g, %+.3g%% [%+.3g%%, %+.3g%%] on seeds %"
        PRId64 " to %" PRId64 ", not trained on%s", t->keys.objective_name,
        j->before.mean, j->after.mean, j->delta.percent, j->delta.percent_low,
        j->delta.percent_high, t->keys.held_out.from,
        t->keys.held_out.from + t->keys.held_out.count - 1,
        left_text(t->arena, &j->left_before, &j->left_after));
}

/* A line for each policy it is set against, after `start`, with what that one and then the
 * learned weights left. */
static void put_against(const struct training *t, const struct judgement *j,
                        const char *start, struct out *out)
{
    for (uint32_t a = 0; a < t->keys.against_count; a++)
        out_printf(out, "%sagainst %s%s: %+.3g%% [%+.3g%%, %+.3g%%], cell by cell%s\n",
                   start, t->experiment->policy_name[t->keys.against[a]],
                   a == j->best ? ", the best of them" : "",
                   100 * j->against[a].mean, 100 * j->against[a].low,
                   100 * j->against[a].high,
                   left_text(t->arena, &j->left_against[a], &j->left_after));
}

/* Writes how the weights were made, as comments of the file. */
static void put_training(const struct training *t, struct out *out)
{
    const struct train_keys *keys = &t->keys;

    out_printf(out, "# Trained on seeds %" PRId64 " to %" PRId64 " of seed %" PRIu64
               ", %u generations of %" PRId64 ".\n", keys->seeds.from,
               keys->seeds.from + keys->seeds.count - 1, t->experiment->seed,
               t->generation, keys->population);
    if (keys->validation.every > 0)
        out_printf(out, "# Kept: the best on seeds %" PRId64 " to %" PRId64
                   " of the points for validation,\n# %.4f of its start.\n",
                   keys->validation.seeds.from,
                   keys->validation.seeds.from + keys->validation.seeds.count - 1,
                   t->best.score);
    if (keys->validation.every > 0 || keys->race)
        out_printf(out, "# Trials in all: %" PRIu64 ".\n", t->trials);
}

#define NUMBERS_A_LINE 6u

/* Writes the weights of one key, in as few digits as give the same number back.
 * NUMBERS_A_LINE numbers stand on each line of a list. */
static void put_group(struct out *out, const struct train_group *group,
                      const double *weight)
{
    out_printf(out, "  %s:%s", group->key, group->list ? " [" : " ");
    for (uint32_t i = 0; i < group->count; i++) {
        char number[32];
        size_t bytes = table_format_real(weight[group->first + i], number);

        if (i > 0)
            out_text(out, i % NUMBERS_A_LINE == 0 ? ",\n    " : ", ");
        out_bytes(out, number, bytes);
    }
    out_text(out, group->list ? "]\n" : "\n");
}

/* Writes the command that makes the file again; a value of --set stays on its line. */
static void put_command(const struct training *t, struct out *out)
{
    out_printf(out, "# Made by clustersim %s: `clustersim train %s", CLUSTERSIM_VERSION,
               t->experiment->path);
    for (size_t i = 0; i < t->options->set_count; i++) {
        out_text(out, " --set ");
        out_json_text(out, t->options->set[i]);
    }
    out_text(out, "`\n");
}

/* Writes the file of weights.  Its head holds all that is needed to make it again:
 * version, command, seeds, and the hashes of the inputs. */
static bool write_weights(struct training *t, const struct judgement *j,
                          struct err *err)
{
    const struct experiment *experiment = t->experiment;
    const struct train_keys *keys = &t->keys;
    struct out *out = out_open(t->arena, t->options->path, err);

    if (out == NULL)
        return false;
    out_printf(out, "# SPDX-License-Identifier: GPL-3.0-or-later\n#\n"
               "# Weights of the policy %s, learned; do not edit.\n",
               keys->policy_name);
    put_command(t, out);
    put_training(t, out);
    out_printf(out, "# Judged, with a 95%% interval:\n#   %s\n", judgement_text(t, j));
    put_against(t, j, "#   ", out);
    out_printf(out, "# Inputs (XXH64):\n");
    for (size_t i = 0; i < experiment->input_count; i++)
        out_printf(out, "#   %016" PRIx64 " %s\n", experiment->input[i].hash,
                   experiment->input[i].path);
    out_printf(out, "policy: %s\nobjective: %s\nweights:\n", keys->policy_name,
               keys->objective_name);
    for (uint32_t g = 0; g < keys->group_count; g++)
        put_group(out, &keys->group[g], t->best.weight);
    return out_close(out, err);
}

/* Where a training begins: the initial weights, and what they do where all generations
 * have the same cells. */
static bool begin(struct training *t, struct err *err)
{
    const struct train_validation *v = &t->keys.validation;

    t->mean = t->keys.weight;
    t->spread = arena_alloc(t->arena, t->keys.weight_count, sizeof *t->spread);
    for (uint32_t i = 0; i < t->keys.weight_count; i++)
        t->spread[i] = t->keys.spread;
    rng_init(&t->rng, t->experiment->seed, "train", 0);
    t->first = train_candidate(t, t->mean, 0);
    t->first.score = 1;
    t->best = t->first;
    t->cell_count = train_all_cells(t, &t->keys.seeds, false, &t->cell);
    if (t->keys.cells > 0) {
        t->cell_count = (uint32_t)t->keys.cells;
        t->cell = arena_alloc(t->arena, t->cell_count, sizeof *t->cell);
    } else if (!run_reference(t, err)) {
        return false;
    }
    if (v->every == 0)
        return true;
    t->validation_count = train_all_cells(t, &v->seeds, v->points_node != NULL,
                                          &t->validation_cell);
    return train_run_batch(t, &t->first, 1, t->validation_cell,
                           t->validation_count, &t->validation_reference, err);
}

bool train_run(struct arena *arena, const struct experiment *experiment,
               const struct train_options *options, struct err *err)
{
    struct training t = { .arena = arena, .experiment = experiment,
                          .options = options };
    struct judgement j;

    if (!train_keys_read(arena, experiment, &t.keys, err) || !begin(&t, err))
        return false;
    if (options->resume && !train_state_read(&t, err) && err->kind != ERR_NONE)
        return false;
    if (!run_generations(&t, err) || !check_matters(&t, err) ||
        !judge_weights(&t, &j, err) || !write_weights(&t, &j, err))
        return false;
    train_state_drop(&t);
    struct out *out = out_stream(arena, "stdout", options->out);
    out_printf(out, "%s\n", judgement_text(&t, &j));
    put_against(&t, &j, "", out);
    out_printf(out, "weights: %s\n", options->path);
    return out_close(out, err);
}
