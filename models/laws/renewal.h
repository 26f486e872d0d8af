/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * renewal.h - slots that start a new piece of work when one ends: how many
 * pieces have ended by a time, and how old the running ones are.
 *
 * All slots start at time 0; all lengths have one distribution F (Cox 1962,
 * Renewal Theory).  The expected number of ends by t solves m(t) = F(t) +
 * integral of m(t - u) dF(u), here on a grid.
 */
#ifndef MODELS_LAWS_RENEWAL_H
#define MODELS_LAWS_RENEWAL_H

#define RENEWAL_GRID 256

/* Returns P(length > t). */
typedef double renewal_survival_fn(const void *self, double t);

struct renewal {
    renewal_survival_fn *survival;
    const void *self;           /* handed to `survival` */
    double step;                        /* time between two rows */
    double ends[RENEWAL_GRID + 1];      /* m(t), per slot */
    double alive[RENEWAL_GRID + 1];     /* P(length > t) */
};

/* Solves the equation from 0 to `horizon`.  `self` must outlive `renewal`. */
void renewal_init(struct renewal *renewal, renewal_survival_fn *survival,
                  const void *self, double horizon);
/* Returns the time by which `ends` pieces per slot are expected to have ended,
 * at most the horizon. */
double renewal_time(const struct renewal *renewal, double ends);
/* Returns the share of slots that still work at since + x, if no slot starts
 * new work after `since`. */
double renewal_alive(const struct renewal *renewal, double since, double x);
/* Return the mean age of the running pieces: at `since`, and averaged over the
 * time from 0 to `since`. */
double renewal_age(const struct renewal *renewal, double since);
double renewal_mean_age(const struct renewal *renewal, double since);

#endif
