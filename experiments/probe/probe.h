/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probe.h - trials of one experiment at changed keys: the values of each seed,
 * in memory.
 *
 * For searches, which ask for a few trials, look at them and ask for others.  A
 * trial that was asked for before is not run again.  Answers do not depend on
 * the number of threads, nor on what was asked before.  A probe is used by one
 * thread at a time; it starts threads of its own.
 */
#ifndef EXPERIMENTS_PROBE_PROBE_H
#define EXPERIMENTS_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/spec/experiment.h"

struct arena;
struct err;
struct probe;
struct store;

struct probe_options {
    struct experiment_options experiment;   /* of the command line; no point */
    uint32_t threads;           /* at least 1 */
    bool progress;              /* a line on stderr that is rewritten */
    struct store *trials;       /* as for probe_keep(), from the start */
};

/* Some seeds of one policy at one point with settings.  A setting acts as if
 * its key were swept and had this one value: the control of a policy does not
 * follow the settings of that policy. */
struct probe_ask {
    const struct experiment_setting *setting;   /* the last of a key counts */
    size_t setting_count;
    const char *point;          /* label in the experiment; NULL: its first */
    const char *policy;         /* its name in the experiment */
    uint32_t first_seed, seed_count;    /* may go beyond those of the file */
};

struct probe_trial {
    const double *value;        /* by enum metric, as a run has it; NULL: it failed */
    const struct err *failure;  /* NULL: it did not */
};

/* All pointers are good as long as the arena of the probe. */
struct probe_answer {
    const struct err *unread;   /* the settings give no valid experiment: why */
    const struct probe_trial *const *trial;     /* by seed; NULL if unread */
    bool fixed;                 /* nothing is drawn: one trial is all seeds' */
    uint32_t failed;            /* seeds whose trial failed */
};

/* What the searches of a probe took, so far. */
struct probe_counts {
    uint32_t run, recalled;     /* trials: now, and found in the folder */
    uint32_t read;              /* experiments */
};

/* Reads the experiment at `path` as the options say.  All that is kept lies in the
 * arena, since errs point to its texts, and grows by one entry for each trial ever
 * asked for.  NULL: err says why. */
struct probe *probe_open(struct arena *arena, const char *path,
                         const struct probe_options *options, struct err *err);
/* Returns the experiment without settings, with all of its points. */
const struct experiment *probe_experiment(const struct probe *probe);
/* From now on finished trials are kept in the store too, so that a killed search
 * goes on where it was.  It is the caller's, and stays open; NULL: they are
 * kept in memory alone. */
void probe_keep(struct probe *probe, struct store *trials);
/* Answers all asks.  A failed trial stops none of the others.  False: Ctrl-C, or
 * the folder cannot be written; err says so, and what was finished is kept. */
bool probe_run(struct probe *probe, const struct probe_ask *ask, size_t count,
               struct probe_answer *answer, struct err *err);
/* Returns the counts since probe_open(). */
struct probe_counts probe_counts(const struct probe *probe);
/* Returns the hashes of all trials that were asked for, in the arena and in no
 * order, and stores their number, for results_drop(). */
uint64_t *probe_hashes(const struct probe *probe, struct arena *arena,
                       uint32_t *count);

#endif
