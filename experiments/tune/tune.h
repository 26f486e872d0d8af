/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tune.h - the best keys of each policy: searched on training seeds, judged on
 * others.
 *
 * Training seeds, judging seeds and the seeds of the experiment are three ranges
 * that never meet: an experiment has at most a million seeds, from 0 on.
 */
#ifndef EXPERIMENTS_TUNE_TUNE_H
#define EXPERIMENTS_TUNE_TUNE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/spec/experiment.h"
#include "sim/stats/stats.h"

struct arena;
struct conf_schema;
struct err;
struct folder;
struct probe;

/* First training seed, first judging seed. */
#define TUNE_TRAINING_FROM 1000000u
#define TUNE_JUDGING_FROM  2000000u

/* What was found for a policy. */
struct tune_found {
    const char *policy;         /* as results call it */
    /* The keys that are set, `policies.NAME.key` or `policies.NAME.with`; none if
     * the entry stays as it is. */
    const struct experiment_setting *setting;
    uint32_t setting_count;
    const char *entry;          /* the whole entry, as YAML; paths as in the file */
    const char *best;           /* the candidate that won on the training seeds */
    bool kept;                  /* the entry stays: nothing beat it when judged */
    bool out;                   /* the winner was out on the judging seeds */
    uint32_t candidates, refused, failed;   /* refused: no valid experiment; failed:
                                   a trial failed, or fewer jobs were done or requests
                                   answered */
    const char *refusal;        /* the first that was refused, and why; NULL: none */
    uint32_t trials;            /* of the training seeds */
    struct stats_delta judged;  /* the winner against the entry as it was; count 0:
                                   that is the winner, or `out`; 1: all seeds are alike */
};

struct tune_options {
    const char *only;           /* "a,b"; NULL: all policies of the file */
    FILE *log;                  /* may be NULL: a line for each round */
};

/* Reads `tune:` of the probe's experiment and searches.  Returns what was found, by
 * policy in the order of the file, in the arena, and stores their number.  NULL: err
 * says why; the trials that were finished are kept by the probe.  The same for any
 * number of threads and of processes. */
const struct tune_found *tune_run(struct arena *arena, struct probe *probe,
                                  const struct tune_options *options,
                                  uint32_t *count, struct err *err);
/* Writes what was found as YAML into the folder: tuned.yaml.  False: err says why. */
bool tune_write(struct arena *arena, const struct probe *probe,
                const struct tune_found *found, uint32_t count,
                const struct folder *dir, struct err *err);
/* Prints a sentence for each policy. */
void tune_print(const struct experiment *experiment, const struct tune_found *found,
                uint32_t count, FILE *to);
/* Is `tune:` right, if it is there?  False: err says what is wrong.  For
 * `validate`, which runs nothing. */
bool tune_check(struct arena *arena, const struct experiment *experiment,
                struct err *err);

/* Is there a candidate with each value that `tune: over:` writes down, of some policy?  Reads
 * candidates and runs nothing.  False: err says which value is refused, at its place. */
bool tune_try(struct arena *arena, struct probe *probe, struct err *err);

extern const struct conf_schema tune_schema, tune_split_schema, tune_range_schema;

#endif
