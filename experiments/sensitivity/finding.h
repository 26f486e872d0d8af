/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finding.h - what is found of one input, for one claim at one point.  Private to
 * experiments/sensitivity.
 */
#ifndef EXPERIMENTS_SENSITIVITY_FINDING_H
#define EXPERIMENTS_SENSITIVITY_FINDING_H

#include "experiments/sensitivity/judge.h"
#include "experiments/sensitivity/turn.h"
#include "sim/stats/indices.h"
#include "sim/stats/morris.h"

struct input;
struct sensitivity_keys;

/* One row of sensitivity.csv.  Effects and values are in the unit of what is judged. */
struct finding {
    const struct input *input;
    const char *base;           /* value in the experiment; "": by default */
    struct morris_effect effect;        /* NAN where a step of it is not known */
    uint32_t rank;              /* from 1 */
    struct indices index;       /* NAN: it has none */
    /* Alone, all others at base: */
    enum turn_kind turns;
    const char *turns_at;       /* first value of another verdict; NULL: none */
    const char *clause;         /* "arrival.rate falls below 3.1/h"; NULL: no turn */
    double value_from, value_to;
    const char *why;            /* something is not known; NULL */
};

/* The findings for one row. */
struct findings {
    struct arena *arena;
    struct probe *probe;
    const struct sensitivity_keys *keys;
    const struct judge_row *row;
    struct judge_answer base;   /* without settings */
    struct finding *finding;    /* keys->input_count, in the order of the file */
    uint32_t *by_rank;          /* indices of them */
    uint64_t trials;
};

/* Each returns false for Ctrl-C, or if a folder cannot be written; err says so.
 *
 * find_effects ranks the inputs by elementary effects; find_indices then gives
 * Sobol's indices to the first; find_alone varies each input by itself. */
bool find_effects(struct findings *f, struct err *err);
bool find_indices(struct findings *f, struct err *err);
bool find_alone(struct findings *f, struct err *err);

#endif
