/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.h - what commands share that search by trials of an experiment: a probe, and
 * a results folder that keeps what it holds.
 */
#ifndef EXPERIMENTS_CLI_SEARCH_H
#define EXPERIMENTS_CLI_SEARCH_H

#include <stdbool.h>

#include "experiments/cli/command.h"
#include "experiments/results/results.h"

struct experiment;
struct probe;

#define SEARCH_ARGS \
    (ARG_BIT(ARG_OUT) | ARG_BIT(ARG_THREADS) | ARG_BIT(ARG_SET) | \
     ARG_BIT(ARG_SEEDS) | ARG_BIT(ARG_QUIET))

/* A search under way. */
struct search_command {
    struct cli *cli;
    const struct args *args;
    struct probe *probe;        /* runs trials, or knows them */
    struct results results;     /* its .trials are those of the probe */
    bool keeps;                 /* its trials stay when it ends */
};

/* Reads the experiment and opens its folder; search_close() or search_end() must
 * follow.  False: err says why. */
bool search_begin(struct cli *cli, const struct args *args,
                  struct search_command *search, struct err *err);
/* Closes the folder.  The trials of a search that is done (`ok`) are removed, as
 * nothing needs them any more, unless search->keeps, or another process is at work
 * there.  An interruption is told. */
void search_close(struct search_command *search, bool ok, const struct err *err);
/* The search is done (`ok`), or err says why not: makes the report of the folder
 * again, if there are results, and closes the search.  Returns the exit status: 5
 * if `unknown` answers are missing, because trials failed. */
int search_end(struct search_command *search, bool ok, uint32_t unknown,
               const struct err *err);

/* For `validate`: is no value refused that `border:`, `sensitivity:` and `tune:` write down
 * for a key?  Reads the experiment with each of them, runs nothing and writes nothing.
 * False: err says which one is, at its place. */
bool search_try(struct cli *cli, const struct args *args, const char *path,
                const struct experiment *experiment, struct err *err);

#endif
