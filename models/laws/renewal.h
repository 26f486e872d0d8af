/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * renewal.h - slots that take a new piece of work when one ends: how many have
 * ended by a time, and what is still under way then.
 *
 * All slots begin fresh at time 0 with lengths of one distribution (Cox 1962,
 * Renewal Theory).  The expected number of ends by t solves m(t) = F(t) +
 * integral of m(t - u) dF(u), here on a grid.
 */
#ifndef MODELS_LAWS_RENEWAL_H
#define MODELS_LAWS_RENEWAL_H

#define RENEWAL_GRID 256

/* P(length > t). */
typedef double renewal_survival_fn(const void *self, double t);

struct renewal {
    renewal_survival_fn *survival;
    const void *self;
    double step;                        /* between rows, from time 0 */
    double ends[RENEWAL_GRID + 1];      /* m(t), per slot */
    double alive[RENEWAL_GRID + 1];     /* P(length > t) */
};

/* `self` must outlive it. */
void renewal_init(struct renewal *renewal, renewal_survival_fn *survival,
                  const void *self, double horizon);
/* When so many have ended per slot; the horizon, if it is later. */
double renewal_time(const struct renewal *renewal, double ends);
/* At `since` slots stop taking new work: share still at work x later. */
double renewal_alive(const struct renewal *renewal, double since, double x);
/* Mean age of what is under way at `since`, and its mean from 0 to there. */
double renewal_age(const struct renewal *renewal, double since);
double renewal_mean_age(const struct renewal *renewal, double since);

#endif
