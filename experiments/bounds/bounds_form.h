/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds_form.h - the least that a job of phases takes, on whatever leases: by
 * its length, by GPU-seconds and by money.
 *
 * Each phase runs on the best gang that any policy could give its role: every
 * GPU type it may use, every number of GPUs, over every number of nodes, links
 * free, no loading and no waiting.  The three minima are taken apart.  A
 * rollout is as long as its draw makes it, rounded down to one of 64 draws.
 */
#ifndef EXPERIMENTS_BOUNDS_BOUNDS_FORM_H
#define EXPERIMENTS_BOUNDS_BOUNDS_FORM_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bounds_form;
struct cluster_spec;
struct job_form;

struct bounds_least {
    double length_s;            /* the longest way through each round */
    double gpu_s;
    double usd;                 /* of those, at the groups' prices */
};

/* Computes the best gang of each phase once for a form, in the arena.  NULL: no bound is
 * known, as there are too many gangs, or a phase of a service. */
struct bounds_form *bounds_form_new(struct arena *arena,
                                    const struct cluster_spec *cluster,
                                    const struct job_form *form);
/* Returns the least that a job of `rounds` rounds takes, whose draws follow from
 * the seed (models/types/truth.h). */
struct bounds_least bounds_form_least(const struct bounds_form *bounds,
                                      uint32_t rounds, uint64_t seed);

#endif
