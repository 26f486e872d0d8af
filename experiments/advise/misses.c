/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * misses.c - why a job does not fit a kind of node, and what would make it fit.
 *
 * Bytes are those of one GPU.  A change is told with its cost: in time, in GPU time
 * where it takes more GPUs, per token where sequences are shorter.
 */
#include "experiments/advise/print.h"

#include <math.h>
#include <stdint.h>

#include "experiments/advise/advise.h"
#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/memory.h"
#include "models/types/gang.h"
#include "models/types/precision.h"
#include "sim/text/paths.h"

#define GB 1e9

/* Prints what would make the job fit, each change with what it costs in time,
 * in GPU time and, where the sequence changes, per token. */
static void print_changes(FILE *file, const struct advise_world *world,
                          const struct advise_task *task,
                          const struct gang *gang,
                          const struct advise_place *place)
{
    struct advise_change change[ADVISE_CHANGES_MAX];
    size_t count = advise_changes(task, gang, place->node_gpus,
                                  place->gpus_max, change);
    double run_s = advise_train_s(task, &task->law->train, gang);

    if (count == 0)
        fputs("    no single change nor all together make it fit\n", file);
    for (size_t i = 0; i < count; i++) {
        const char *what = advise_shape_diff(world->arena, &task->law->train,
                                             &change[i].shape);

        if (change[i].gpus != gang->gpus)
            what = text_format(world->arena, "%u GPUs%s%s", change[i].gpus,
                               *what != '\0' ? ", " : "", what);
        fprintf(file, "    fits with %-46s %6.1f GB, time %+.1f%%", what,
                change[i].bytes / GB,
                100.0 * (change[i].run_s / run_s - 1.0));
        if (change[i].gpus != gang->gpus)
            fprintf(file, ", GPU time %+.1f%%",
                    100.0 * (change[i].run_s * change[i].gpus /
                                 (run_s * gang->gpus) - 1.0));
        if (change[i].shape.sequence_tokens !=
            task->law->train.sequence_tokens)
            fprintf(file, ", per token %+.1f%%",
                    100.0 * (change[i].run_s *
                                 task->law->train.sequence_tokens /
                                 (run_s * change[i].shape.sequence_tokens) -
                             1.0));
        fputs("\n", file);
    }
}

/* Prints whether the job as written fits a place; memory is all that can be
 * missing. */
static void print_as_written(FILE *file, const struct advise_world *world,
                             const struct advise_job *job,
                             const struct advise_place *place)
{
    const struct role_spec *role = &job->form->role[job->train];
    double has = place->group->gpu->memory_bytes, need;
    uint32_t gpus = role->gpus;

    if (gpus > place->gpus_max) {
        fprintf(file, "%s: %u GPUs are wanted, it has %u\n", place->name,
                gpus, place->gpus_max);
        return;
    }
    struct gang gang = advise_gang(place, gpus);
    need = advise_need(&job->task, &job->task.law->train, gpus).total;
    if (need <= has) {
        fprintf(file, "%s: fits, %.1f of %.1f GB\n", place->name, need / GB,
                has / GB);
        return;
    }
    fprintf(file, "%s: needs %.1f GB of %.1f: %.0f bytes (%.1f GB) are "
            "missing\n", place->name, need / GB, has / GB, need - has,
            (need - has) / GB);
    print_changes(file, world, &job->task, &gang, place);
}

/* Prints, of a place on which no layout of any number of GPUs fits, the layout
 * that needs least, and by how much it is too large. */
static void print_never(FILE *file, const struct advice *advice, size_t i)
{
    const struct advise_place *place = &advice->world->place[i];
    const struct advise_layout *miss = &advice->miss[i];
    double has = place->group->gpu->memory_bytes;

    if (!isfinite(miss->least_bytes) || miss->least_bytes <= has)
        return;
    fprintf(file, "%s: no layout of up to %u GPUs fits; the smallest (%u "
            "GPUs, tp%u pp%u zero%d %s) needs %.1f GB of %.1f: %.0f bytes "
            "are missing\n", place->name, place->gpus_max,
            advice->miss_gpus[i], miss->least.tp, miss->least.pp,
            miss->least.zero, recompute_choices[miss->least.recompute],
            miss->least_bytes / GB, has / GB, miss->least_bytes - has);
    struct phase_law law = *advice->job->task.law;
    struct advise_task task = advice->job->task;
    struct gang gang = advise_gang(place, advice->miss_gpus[i]);
    law.train = miss->least;
    task.law = &law;
    print_changes(file, advice->world, &task, &gang, place);
}

/* Prints whether one response fits; if not, the smallest tp, or the precision,
 * with which it would.  The engine may use nine tenths of a GPU's memory. */
static void print_engine_miss(FILE *file, const struct advise_job *job,
                              const struct advise_place *place)
{
    const struct rollout_shape *shape = &job->generate->rollout;
    uint32_t tp = shape->tp > 0 ? shape->tp : 1;
    double has = place->group->gpu->memory_bytes;
    struct memory_need need = memory_decode(shape->llm, shape->precision, tp,
                                            1.0, job->context_tokens);

    fprintf(file, "%s: ", place->name);
    if (memory_decode_batch_max(shape->llm, shape->precision, tp,
                                job->context_tokens, has) >= 1.0) {
        fprintf(file, "fits, %.0f of the longest responses at a time\n",
                memory_decode_batch_max(shape->llm, shape->precision, tp,
                                        job->context_tokens, has));
        return;
    }
    fprintf(file, "one response needs %.1f GB of the nine tenths of %.1f "
            "that an engine takes: %.0f bytes are missing\n", need.total / GB,
            has / GB, need.total - 0.9 * has);
    for (uint32_t more = 2 * tp; more <= place->node_gpus; more *= 2)
        if (memory_decode_batch_max(shape->llm, shape->precision, more,
                                    job->context_tokens, has) >= 1.0) {
            fprintf(file, "    fits with tp: %u\n", more);
            break;
        }
    for (int p = PRECISION_INT8; p <= PRECISION_INT4; p++)
        if (memory_decode_batch_max(shape->llm, (enum precision)p, tp,
                                    job->context_tokens, has) >= 1.0)
            fprintf(file, "    fits with precision: %s\n",
                    precision_name((enum precision)p));
}

void advise_print_misses(FILE *file, const struct advice *advice)
{
    const struct advise_world *world = advice->world;
    const struct advise_job *job = advice->job;

    if (job->trains) {
        fprintf(file, "\nas written (%u GPUs), and what a change costs in "
                "time\n", job->form->role[job->train].gpus);
        for (size_t i = 0; i < world->place_count; i++)
            print_as_written(file, world, job, &world->place[i]);
        for (size_t i = 0; i < world->place_count; i++)
            print_never(file, advice, i);
    }
    if (job->engine == ADVISE_NONE)
        return;
    fprintf(file, "\ngenerating as written (tp %u)\n",
            job->generate->rollout.tp);
    for (size_t i = 0; i < world->place_count; i++)
        print_engine_miss(file, job, &world->place[i]);
}
