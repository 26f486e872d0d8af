/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * training.h - a training that is under way.  Private to experiments/train.
 */
#ifndef EXPERIMENTS_TRAIN_TRAINING_H
#define EXPERIMENTS_TRAIN_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/train/train.h"
#include "experiments/train/train_keys.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"

struct arena;
struct host_policy;

/* What one trial of a batch meets. */
struct train_cell {
    uint32_t point, seed;       /* of the experiment; a replica */
};

/* A vector of weights of a generation.  All vectors of it meet the same cells; in a race the
 * better ones meet more. */
struct candidate {
    double *weight;                 /* NULL: a policy that does not learn */
    const struct host_policy **policy;      /* by point */
    uint32_t number;                /* of the experiment's policies */
    double score;                   /* less is better; 1: as the initial */
    uint32_t index;             /* its number in the generation */
    uint32_t cells;                 /* cells that the score is over */
};

/* The objective of each trial of a batch, candidate by candidate and cell by cell,
 * the jobs that were not done, and the requests that were not answered; NAN where the trial
 * failed.  excused: by how many more of these another trial may have on the same cell. */
struct outcome {
    double *value, *undone, *unanswered, *excused;
    uint32_t cells;                 /* of each candidate */
    struct err first;               /* of the first trial that failed */
};

/* All that a training knows; it lives on the stack of train_run(). */
struct training {
    struct arena *arena;
    const struct experiment *experiment;
    const struct train_options *options;
    struct train_keys keys;     /* as read */
    double *mean, *spread;          /* of the draw, by weight */
    struct candidate first, best; /* the initial weights, and the best so far */
    uint32_t generation;            /* done */
    uint32_t stale;                 /* validations since the best */
    struct rng rng;                 /* cross-entropy: of all generations */
    uint64_t trials;            /* run so far */
    bool matters;                   /* some vector did otherwise than the initial one */
    /* What is trained on, and what the initial weights did there. */
    struct train_cell *cell, *validation_cell;
    uint32_t cell_count, validation_count;
    struct outcome reference, validation_reference;
    /* The batch being run. */
    const struct candidate *batch;
    const struct train_cell *batch_cell;
    uint32_t batch_cells;       /* cells of each candidate */
};

/* Jobs that are never done have no completion time, and requests without an answer no
 * latency: leaving them must not pay, so it scores worse than anything else, and the
 * worse the more. */
#define UNDONE_SCORE 1000.0

/* ---- train_batch.c ---- */

/* Rounds to exactly what the file will say, so that what was judged is what is
 * used. */
double train_as_written(double value);
/* A candidate of these weights; of policy `number`, which does not learn. */
struct candidate train_candidate(struct training *t, const double *weight,
                                 uint32_t index);
struct candidate train_rival(struct training *t, uint32_t number);
/* Runs all candidates on all cells. */
bool train_run_batch(struct training *t, const struct candidate *batch,
                     uint32_t count, const struct train_cell *cell,
                     uint32_t cells, struct outcome *o, struct err *err);
/* Every seed of the range at each point that is, or is not, held back. */
uint32_t train_all_cells(struct training *t, const struct train_seeds *seeds,
                         bool held, struct train_cell **cell);
/* Stores what trial `to` was in another outcome: as trial `from` of that one. */
void train_copy_outcome(struct outcome *o, uint32_t to, const struct outcome *other,
                        uint32_t from);
struct outcome train_outcome(struct arena *arena, uint32_t count, uint32_t cells);
/* Scores candidate i of an outcome by the reference on the first `cells` cells, which
 * are the same in both. */
double train_score(const struct training *t, const struct outcome *o, uint32_t i,
                   const struct outcome *reference, uint32_t cells);

/* ---- train_search.c ---- */

/* Draws generation t->generation; moves the mean by its scores, sorts it. */
void train_draw(struct training *t, struct candidate *batch);
void train_move(struct training *t, struct candidate *batch);

/* ---- train_race.c ---- */

/* Scores the vectors of generation t->generation, the better ones on all cells. */
bool train_race(struct training *t, struct candidate *batch, struct err *err);

/* ---- train_state.c ---- */

/* Writes or reads PATH.state.  Reading: false with no error means that there is
 * none. */
bool train_state_write(const struct training *t, struct err *err);
bool train_state_read(struct training *t, struct err *err);
/* Removes it. */
void train_state_drop(const struct training *t);

#endif
