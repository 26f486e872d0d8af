/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turn.h - where a verdict turns along one key, by bisection.  Private to
 * experiments/sensitivity.
 *
 * First the ends and some values between are judged.  If the verdicts run in one
 * direction, from holds over undecided to does not hold, two places are bisected:
 * where it ceases to hold, and where it does not hold any more or not yet.
 */
#ifndef EXPERIMENTS_SENSITIVITY_TURN_H
#define EXPERIMENTS_SENSITIVITY_TURN_H

#include "experiments/results/check.h"
#include "experiments/spec/quantity.h"

struct judge_row;
struct probe;

struct turn_axis {
    const char *key;
    struct quantity_range range;
    double within;              /* of the range: two values so near are not parted */
    uint32_t points;            /* judged between the ends before any bisection */
};

enum turn_kind {
    TURN_NOT,                   /* the same verdict at all values that were judged */
    TURN_ONCE,                  /* in one direction */
    TURN_MIXED,                 /* forth and back */
    TURN_UNKNOWN                /* a value could not be judged: why */
};

/* Texts are values of the key, as they were judged; NULL: there is none. */
struct turn {
    enum turn_kind kind;        /* which of the texts are set */
    enum check_verdict from, to;        /* at the ends */
    double value_from, value_to;        /* what is judged there; NAN: not known */
    bool falls;                 /* TURN_ONCE: it holds, or is nearer to it, at `from` */
    const char *holds_at;       /* the last that holds, coming from where it does */
    const char *ceases_at;      /* the next one, which does not */
    const char *not_yet_at;     /* the last that is not refuted */
    const char *fails_at;       /* the next one, which does not hold */
    const char *why;            /* TURN_MIXED: all verdicts; TURN_UNKNOWN: the reason */
    uint32_t values, trials;    /* judged for it; run for it */
};

/* Returns the most values that turn_find() judges on the axis, for the bound that
 * is told before a search. */
uint32_t turn_values_max(const struct turn_axis *axis);
/* Finds where the verdict of a row turns along the axis.  Texts of *turn are in
 * the arena.  A value that cannot be judged makes it TURN_UNKNOWN, and not an
 * error.  False: Ctrl-C, or a folder cannot be written; err says so. */
bool turn_find(struct arena *arena, struct probe *probe, const struct judge_row *row,
               const struct turn_axis *axis, struct turn *turn, struct err *err);

#endif
