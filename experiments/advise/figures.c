/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figures.c - figures of advice, searched for once.
 */
#include "experiments/advise/figures.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/advise/rank.h"
#include "models/advise/advise.h"
#include "models/cluster/cluster.h"
#include "models/laws/memory.h"
#include "sim/base/err.h"

/* Rows timed exactly by cost and by time: the cheapest is sure to be among them. */
#define TOP_ROWS 10

const char *const figures_name[] = {
    [FIGURE_WEIGHTS] = "weights_gb", [FIGURE_GRADIENTS] = "gradients_gb",
    [FIGURE_OPTIMIZER] = "optimizer_gb", [FIGURE_ACTIVATIONS] = "activations_gb",
    [FIGURE_KV] = "kv_gb", [FIGURE_TOTAL] = "total_gb", [FIGURE_FRACTION] = "total_fraction",
    [FIGURE_FITS] = "fits", [FIGURE_MOST] = "batch_max",
    [FIGURE_FEASIBLE] = "feasible", [FIGURE_COST] = "cost_usd", [FIGURE_TIME] = "time_s",
    [FIGURE_GPUS] = "gpus", [FIGURE_BUSY] = "gpu_busy_fraction",
    [FIGURE_MFU] = "mfu", [FIGURE_CORES] = "cores_per_gpu", [FIGURE_WORKERS] = "workers_per_gpu",
    [FIGURE_COUNT] = NULL
};

const char *figures_unit(int figure)
{
    switch (figure) {
    case FIGURE_TIME:
        return "s";
    case FIGURE_FRACTION: case FIGURE_BUSY: case FIGURE_MFU:
        return "fraction";
    case FIGURE_COST:
        return "USD";
    default:
        return figure <= FIGURE_TOTAL ? "GB" : "count";
    }
}

size_t figures_job(const struct asking *task, const char *name)
{
    for (size_t i = 0; i < task->job_count; i++)
        if (strcmp(task->job[i].form->name, name) == 0)
            return i;
    return SIZE_MAX;
}

const struct advise_place *figures_place(const struct advise_world *world, const char *name)
{
    for (size_t i = 0; i < world->place_count; i++)
        if (strcmp(world->place[i].name, name) == 0)
            return &world->place[i];
    return NULL;
}

/* Returns a part of a need in GB (1e9 bytes), or its share of what the GPU has. */
static double pick_bytes(const struct memory_need *need, double has, int figure)
{
    const double part_bytes[] = {
        [FIGURE_WEIGHTS] = need->weights, [FIGURE_GRADIENTS] = need->gradients,
        [FIGURE_OPTIMIZER] = need->optimizer, [FIGURE_ACTIVATIONS] = need->activations,
        [FIGURE_KV] = need->kv, [FIGURE_TOTAL] = need->total
    };

    if (figure == FIGURE_FITS)
        return need->total <= has;
    if (figure == FIGURE_FRACTION)
        return need->total / has;
    assert(figure <= FIGURE_TOTAL);
    return part_bytes[figure] / 1e9;
}

/* Returns a figure of the job as written: of the training role, or of the engine
 * if it does not train. */
static double memory_figure(const struct advise_job *job,
                            const struct advise_place *place, int figure)
{
    double has = place->group->gpu->memory_bytes, most;
    struct memory_need need;

    if (job->trains) {
        const struct train_shape *shape = &job->task.law->train;
        uint32_t gpus = job->form->role[job->train].gpus;

        need = advise_need(&job->task, shape, gpus);
        most = advise_micro_batch_max(&job->task, shape, gpus, has);
    } else {
        const struct rollout_shape *shape = &job->generate->rollout;

        most = memory_decode_batch_max(shape->llm, shape->precision,
                                       shape->tp, job->context_tokens, has);
        need = memory_decode(shape->llm, shape->precision, shape->tp, 1.0,
                             job->context_tokens);
        if (figure == FIGURE_FITS)
            return most >= 1.0;
    }
    return figure == FIGURE_MOST ? most : pick_bytes(&need, has, figure);
}

/* Is the row's main role on that place, with that many GPUs (0: any number)? */
static bool is_at(const struct advise_row *row,
                  const struct advise_place *place, int64_t gpus)
{
    const struct advise_choice *main = row->train.place != NULL
                                           ? &row->train : &row->engine;

    return main->place == place && (gpus == 0 || main->gpus == gpus);
}

/* Times the row with the fastest guess, where the ranking timed none of that place and
 * count.  NULL: there is none, or the reader refused it. */
static const struct advise_row *time_fastest(struct advice *advice,
                                             const struct advise_place *place,
                                             int64_t gpus)
{
    struct advise_row *best = NULL;
    struct err ignored = { 0 };

    for (size_t i = 0; i < advice->row_count; i++)
        if (is_at(&advice->row[i], place, gpus) &&
            (best == NULL || advice->row[i].guess_s < best->guess_s))
            best = &advice->row[i];
    return best != NULL && advise_plan_time(advice, best, &ignored) ? best
                                                                    : NULL;
}

/* Returns the cheapest timed row of a place, or the fastest where no price is
 * known; NULL: nothing fits.  The first question about a job and tier makes the
 * search. */
static const struct advise_row *find_best_row(struct asking *task, size_t job,
                                              const struct advise_place *place,
                                              const struct figure_about *about)
{
    struct advice *advice = &task->advice[about->tier][job];
    const struct advise_row **rows;
    size_t count;

    if (advice->job == NULL) {
        advise_search(&task->tier[about->tier], &task->job[job], advice);
        advise_rank(advice, TOP_ROWS);
    }
    count = advise_order(advice, false, &rows);
    for (size_t i = 0; i < count; i++)
        if (is_at(rows[i], place, about->gpus))
            return rows[i];
    return time_fastest(advice, place, about->gpus);
}

/* Returns a figure of a row: in USD, s, GPUs, fractions, or counts a GPU, as
 * its name says. */
static double row_figure(const struct advise_row *row, int figure)
{
    const struct advise_choice *main = row->train.place != NULL ? &row->train
                                                                : &row->engine;

    switch (figure) {
    case FIGURE_COST: return row->usd;
    case FIGURE_TIME: return row->time_s;
    case FIGURE_GPUS: return main->gpus;
    case FIGURE_BUSY: return row->busy[ADVISE_GPU];
    case FIGURE_MFU: return row->mfu;
    case FIGURE_CORES: return row->cores;
    default:
        assert(figure == FIGURE_WORKERS);
        return row->workers;
    }
}

/* Figures of the job as written come first in the enum, and need no search. */
double figures_value(struct asking *task, const char *job, const char *on,
                     const struct figure_about *about)
{
    size_t j = figures_job(task, job);
    const struct advise_place *place = figures_place(&task->tier[about->tier], on);
    const struct advise_row *row;

    if (about->figure < FIGURE_FEASIBLE)
        return memory_figure(&task->job[j], place, about->figure);
    row = find_best_row(task, j, place, about);
    if (about->figure == FIGURE_FEASIBLE)
        return row != NULL;
    return row == NULL ? NAN : row_figure(row, about->figure);
}
