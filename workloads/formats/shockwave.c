/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shockwave.c - traces of Shockwave (Zheng et al., NSDI 2023), 12 fields
 * between tabs.
 *
 * Job type, command, folder, argument, needs data, steps, GPUs, mode (static,
 * accordion, gns), priority weight, SLO (-1: none), duration, arrival.  Jobs
 * that are not static change their batch size while they run.  The duration is
 * that of the first batch size; with a file of rates, run times follow from
 * steps, the samples of an epoch and the batch sizes of the epochs, as the
 * traces' own simulator has them (workloads/formats/regimes.h).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/jobs/regimes.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "workloads/formats/regimes.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

#define EPOCHS_MAX 1000000.0    /* more are no job of these traces */

/* Fields that are read, by their number from 0. */
enum { TYPE, STEPS = 5, GPUS, MODE, WEIGHT, SLO, RUN, ARRIVAL, FIELDS };

/* The file has no header, so the number of its fields is all that tells it from
 * others. */
static bool open_shockwave(struct importer *importer, struct err *err)
{
    size_t count = csv_columns(importer->csv);

    if (count != FIELDS)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){importer->request->file, 1, 1},
                       "row has %zu fields between tabs, traces of Shockwave "
                       "have %d", count, FIELDS);
    return importer->request->lengths == NULL ||
           import_lengths_gavel(importer, err);
}

/* Returns the seconds of an epoch with that batch size on that many GPUs.  0:
 * the table has no such rate.  Its keys are Python's: "('ResNet-18 (batch size
 * 64)', 1)". */
static double find_epoch_s(const struct importer *importer,
                           const struct regime_type *type, uint32_t batch,
                           int64_t gpus)
{
    char key[128];
    double rate;

    snprintf(key, sizeof key, "('%s (batch size %u)', %lld)", type->model,
             batch, (long long)gpus);
    rate = import_length(importer->lengths, key);
    return rate > 0.0 ? (double)type->samples / batch / rate : 0.0;
}

/* A job's epochs, as they are found. */
#define REGIMES_MAX 64u         /* ResNet-50 has most: 41, under accordion */
/* What is found of one job, before it is kept in the arena.  A mode is a batch
 * size; a regime is a run of epochs of one mode.  batch[m] and epoch_s[m] are
 * of mode m. */
struct draft {
    struct job_modes modes;     /* what policies are told of them */
    uint32_t batch[JOB_MODES_MAX];          /* samples of a step */
    double epoch_s[JOB_MODES_MAX];          /* seconds of an epoch on the GPUs asked for */
    struct job_regime regime[REGIMES_MAX];  /* in the order in which they come */
    uint32_t regimes;
};

/* Finds the mode of a batch size, or adds it; its number is in *out.  False: it
 * has no rate, or the job has more than JOB_MODES_MAX modes. */
static bool find_mode(const struct importer *importer,
                      const struct regime_type *type, uint32_t batch,
                      int64_t gpus, struct draft *draft, uint32_t *out)
{
    uint32_t count = draft->modes.count;

    for (*out = 0; *out < count; (*out)++)
        if (draft->batch[*out] == batch)
            return true;
    if (count == JOB_MODES_MAX)
        return false;
    draft->batch[count] = batch;
    draft->epoch_s[count] = find_epoch_s(importer, type, batch, gpus);
    draft->modes.count++;
    return draft->epoch_s[count] > 0.0;
}

/* Goes through the epochs and notes where the batch size changes.  False: a
 * rate is missing, or there are more regimes than fit. */
static bool find_regimes(const struct importer *importer,
                         const struct regime_type *type,
                         enum regime_mode mode, int64_t gpus,
                         struct draft *draft)
{
    for (uint32_t e = 0; e < draft->modes.epochs; e++) {
        uint32_t batch = regime_batch(type, mode, (uint32_t)gpus,
                                      draft->modes.epochs, e), m;

        if (!find_mode(importer, type, batch, gpus, draft, &m))
            return false;
        if (draft->regimes > 0 && draft->regime[draft->regimes - 1].mode == m)
            continue;
        if (draft->regimes == REGIMES_MAX)
            return false;
        draft->regime[draft->regimes++] = (struct job_regime){e, m};
    }
    return draft->modes.epochs > 0;
}

/* Returns a copy of `count` items in the arena. */
static void *copy_items(struct arena *arena, const void *from, size_t count,
                        size_t bytes)
{
    return memcpy(arena_alloc(arena, count, bytes), from, count * bytes);
}

/* Copies what was found into the arena, for the job. */
static void keep_draft(struct arena *arena, const struct draft *draft,
                       struct import_job *job)
{
    struct job_modes *modes = copy_items(arena, &draft->modes, 1, sizeof *modes);
    struct job_regimes *regimes = arena_alloc(arena, 1, sizeof *regimes);
    uint32_t count = modes->count;

    modes->batch = copy_items(arena, draft->batch, count, sizeof *draft->batch);
    modes->epoch_s = copy_items(arena, draft->epoch_s, count,
                                sizeof *draft->epoch_s);
    regimes->regime = copy_items(arena, draft->regime, draft->regimes,
                                 sizeof *draft->regime);
    regimes->count = draft->regimes;
    job->modes = modes;
    job->regimes = regimes;
}

/* Sets the run time from the table of rates.  The steps are those of the first
 * batch size, which gives the epochs; each epoch then takes what its own batch
 * size takes.  A job without a rate for one of its batch sizes is dropped
 * (IMPORT_NO_LENGTH). */
static void find_length(struct importer *importer, enum regime_mode mode,
                        int64_t steps, struct import_row *row)
{
    const char *text = csv_field(importer->csv, TYPE)->text;
    struct draft draft = {.regimes = 0};
    struct regime_type type;
    double epochs;

    row->job.run_ns = 0;
    if (row->job.gpus <= 0 || steps <= 0)
        return;
    if (regime_type_read(text, &type)) {
        epochs = ceil((double)steps /
                      ceil((double)type.samples / type.batch));
        draft.modes.epochs = epochs <= EPOCHS_MAX ? (uint32_t)epochs : 0;
        if (find_regimes(importer, &type, mode, row->job.gpus, &draft)) {
            keep_draft(importer->arena, &draft, &row->job);
            if (clock_ns_from_s(regimes_length_s(row->job.modes,
                                                 row->job.regimes),
                                &row->job.run_ns))
                return;
        }
    }
    row->job.run_ns = 0;
    row->job.modes = NULL;
    import_drop(row, IMPORT_NO_LENGTH, TYPE);
}

/* Reads a job.  With a table of rates the length follows from steps and mode,
 * and the run time of the file is not used. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    static const struct row_columns at = {
        .job = ROW_NO_COLUMN, .submit = ARRIVAL, .duration = RUN,
        .gpus = GPUS, .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    static const char *const name[] = {"static", "accordion", "gns"};
    const char *text = csv_field(importer->csv, MODE)->text;
    bool rated = importer->request->lengths != NULL;
    int64_t steps = 0;
    int mode = 0;

    while (mode < 3 && strcmp(text, name[mode]) != 0)
        mode++;
    if (mode == 3)
        return row_fault(importer->csv, MODE, ERR_RANGE,
                         "static, accordion or gns", err);
    row->remark[REMARK_DYNAMIC] = mode != 0 && !rated;
    row->remark[REMARK_WEIGHT] = !import_says(importer->csv, WEIGHT, 1.0);
    row->remark[REMARK_SLO] = !import_says(importer->csv, SLO, -1.0);
    if ((rated && !row_whole(importer->csv, STEPS, &steps, err)) ||
        !import_plain(importer, &at, row, err))
        return false;
    if (rated)
        find_length(importer, (enum regime_mode)mode, steps, row);
    return true;
}

const struct import_format import_shockwave = {
    .name = "shockwave",
    .cites = "zheng2023shockwave",
    .summary = "Shockwave's traces of 12 fields; with --lengths "
               "THROUGHPUTS.json --gpu-type TYPE, batch sizes change",
    .about = "# A synthetic trace of Shockwave (NSDI 2023).  Jobs of mode "
             "accordion and gns change\n"
             "# their batch size as they run; the run time is what the file "
             "states or, with lengths,\n"
             "# what follows from steps and rates.\n",
    .lengths = "a *_throughputs.json of Gavel or Shockwave, plain, gzip or zstd",
    .typed = true, .has_lengths = true,
    .layout = CSV_TAB, .open = open_shockwave, .row = read_row,
};
