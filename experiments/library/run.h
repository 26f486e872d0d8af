/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run.h - a run of the library.  Private to experiments/library.
 */
#ifndef EXPERIMENTS_LIBRARY_RUN_H
#define EXPERIMENTS_LIBRARY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/library/clustersim.h"
#include "experiments/runner/runner.h"
#include "experiments/session/session.h"
#include "sim/base/err.h"

struct arena;
struct experiment;

/* An error as others see it, and as it came. */
struct told {
    struct clustersim_error error;      /* first: a pointer to it is one to all */
    struct err err;
};

struct table_list {
    struct clustersim_table table;      /* first, likewise */
    struct table_list *next;
};

struct clustersim {
    struct arena *arena;        /* of the thread that called */
    struct arena *trials;       /* that threads of trials share, which this one leaves alone
                                   while they work */
    struct clustersim_options options;  /* of a later version: what is known of it */
    const char *path;           /* of the experiment; with options.text its name */
    const struct experiment *experiment;
    struct session session;     /* its folder and its store of trials */
    struct runner_ear ear;      /* hands news of trials to the caller */
    uint32_t told_from, seeds;  /* of the trials that are told now: the first seed, all */
    const struct clustersim_error *error, *failure;
    struct told *warning, *last_warning;
    const char *dir;            /* or NULL */
    bool temporary;             /* dir is the run's own */
    struct table_list *table;
};

/* Returns a copy of the error in the run's arena, as callers see it. */
struct told *told_new(struct clustersim *run, const struct err *err);
/* For warnings: self is the run. */
void told_warn(void *self, const struct err *err);

#endif
