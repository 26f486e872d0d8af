/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alone.h - a role alone in an empty cluster: the gang that it would have there, and
 * how long its phases and its switches take.
 *
 * Only for recipes, where a key of an entry asks for a forecast.  Slow in a
 * large cluster.
 */
#ifndef WORKLOADS_RECIPES_ALONE_H
#define WORKLOADS_RECIPES_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/gang.h"

struct draft;
struct phase_law;

/* The best place of a role in the empty cluster. */
struct alone {
    struct gang gang;           /* its GPUs there, for the laws */
    uint32_t switches;          /* of the network, that it hangs on */
    bool found;                 /* false: the cluster has no room for it */
};

/* Returns the gang that the role gets at the size that its owner requests. */
struct alone alone_gang(const struct draft *draft, uint32_t role);
/* Seconds of a law on a role, and of one run of the phases so far; 0 where there
 * is no room. */
double alone_law_s(const struct draft *draft, uint32_t role,
                   const struct phase_law *law);
double alone_run_s(const struct draft *draft);
/* Returns what is lost if all roles give their GPUs away after each phase: their
 * switches, state included, by one run of the phases alone. */
double alone_switch_loss(const struct draft *draft);

#endif
