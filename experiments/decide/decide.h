/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decide.h - which of the options of an experiment to take, and how sure that is.
 *
 * At each point: the options that keep the conditions, the best mean among them, and what
 * the seeds say of its difference to each other option, paired by seed.
 */
#ifndef EXPERIMENTS_DECIDE_DECIDE_H
#define EXPERIMENTS_DECIDE_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/results/check.h"
#include "sim/stats/stats.h"

struct arena;
struct err;
struct experiment_decide;
struct folder;
struct grid;
struct metric_set;
struct out;
struct sheet;

enum decide_verdict {
    DECIDE_TAKE,                /* the best, beyond chance better than the first */
    DECIDE_BEST,                /* the best mean; the seeds do not decide */
    DECIDE_LEVEL,               /* keeps the conditions; its difference may be chance */
    DECIDE_WORSE,               /* keeps the conditions and is worse than the best */
    DECIDE_DROPPED,             /* does not keep a condition */
    DECIDE_UNDECIDED,           /* whether it keeps them, or how good it is, is not known */
    DECIDE_VERDICT_COUNT
};
/* Returns "take", "best mean", "level" ..., static: the words of options.csv. */
const char *decide_verdict_name(enum decide_verdict verdict);

/* Of seeds that count for a risk: how many are bad, and the 95% interval of their share
 * (Clopper and Pearson, Biometrika 26, 1934); NAN where seeds are copies. */
struct decide_risk {
    uint32_t bad, seeds;
    double low, high;
};

/* One option at one point. */
struct decide_option {
    uint32_t policy;            /* in the grid; UINT32_MAX: it was not run */
    enum decide_verdict verdict;
    const char *why;            /* it is dropped or undecided, in words; or NULL */
    struct stats_mean mean;     /* of the metric that decides */
    struct stats_delta delta;   /* to the first option; NAN for that itself */
    double p_holm;              /* of that, corrected for all pairs of all points */
    struct stats_delta above;   /* to the best one likewise */
    double above_p_holm;
    struct decide_risk risk;    /* a condition is broken, or it is worse than the first */
    double tail, worst;         /* value at the quantile of the seeds, and of the worst */
};

enum decide_outcome {
    DECIDE_IS_TAKEN, DECIDE_IS_KEPT, DECIDE_IS_NONE, DECIDE_IS_OPEN
};

struct decide_point {
    const char *label;          /* of the point */
    struct decide_option *option;   /* in the order of the experiment */
    uint32_t best;              /* the best mean among the options that keep the
                                   conditions; UINT32_MAX: no option keeps them */
    enum decide_outcome outcome;    /* how sure the choice is */
    const char *sentence;       /* which one to take, and why */
    size_t headline;            /* bytes at its beginning that say what to do */
};

struct decision {
    const struct experiment_decide *spec;
    const struct grid *grid;
    struct decide_point *point;     /* in the order of the grid */
};

/* Returns the decision at each point of the grid, in the arena; NULL: `spec` has no
 * options, or none of them was run. */
const struct decision *decide_make(struct arena *arena, const struct grid *grid,
                                   const struct experiment_decide *spec);

/* Judges, for `check`, at each point whether an option can be taken: it holds if one is
 * taken or kept, does not hold if none keeps the conditions, and else is undecided. */
struct check_list decide_checks(struct arena *arena, const struct decision *decision);

/* Returns a condition in words, "jct_p95_s at most 10800 s". */
const char *decide_keep_text(struct arena *arena, const struct metric_set *metrics,
                             const struct experiment_decide *spec, uint32_t keep);
/* Returns in how many seeds an option breaks a condition. */
struct decide_risk decide_keep_risk(struct arena *arena, const struct decision *decision,
                                    uint32_t point, uint32_t option, uint32_t keep);
/* Returns what risk means here, for the line below the table. */
const char *decide_legend(struct arena *arena, const struct decision *decision);
/* Returns the table of a point, which the caller frees.  page: for HTML, where small texts
 * below the cells say what each option is, how each metric differs from the first, and
 * the worst seed. */
struct sheet *decide_sheet(struct arena *arena, const struct decision *decision,
                           uint32_t point, bool page);
/* Prints sentence, table and legend of each point; bold: for terminals. */
void decide_print(FILE *file, const struct decision *decision, bool bold);
/* Writes the same as Markdown. */
void decide_markdown(struct out *out, const struct decision *decision);

/* Writes options.csv.  False: err says why. */
bool decide_write(struct arena *arena, const struct folder *dir,
                  const struct decision *decision, struct err *err);
/* Reads the options and how one is chosen from options.csv of a results folder, and
 * decides again on `grid`.  *decision NULL: there is no such file.  False: err says why. */
bool decide_read(struct arena *arena, const char *dir, const struct grid *grid,
                 const struct decision **decision, struct err *err);

#endif
