/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiment.h - what `run` and `check` share: options to experiment to session.
 */
#ifndef EXPERIMENTS_CLI_EXPERIMENT_H
#define EXPERIMENTS_CLI_EXPERIMENT_H

#include <stdbool.h>

#include "experiments/cli/command.h"
#include "experiments/session/session.h"

struct experiment_options;
struct fleet;

#define EXPERIMENT_ARGS \
    (ARG_BIT(ARG_OUT) | ARG_BIT(ARG_THREADS) | ARG_BIT(ARG_SET) | \
     ARG_BIT(ARG_SEEDS) | ARG_BIT(ARG_ONLY) | ARG_BIT(ARG_RESUME) | \
     ARG_BIT(ARG_QUIET) | ARG_BIT(ARG_AUDIT))

/* Stores the number of threads: one per processor if -j does not say.  False: err
 * says what is wrong with -j. */
bool cmd_threads(const struct args *args, uint32_t *threads, struct err *err);
/* Checks the keys of an experiment that only some commands read: `train`,
 * `border`, `sensitivity`, `tune`.  False: err says what is wrong. */
bool cmd_experiment_check(struct arena *arena, const struct experiment *experiment,
                          struct err *err);
/* Reads the experiment that is the first operand, with these --set words and the
 * other options of the command line.  NULL: err says why. */
const struct experiment *cmd_experiment_read(struct cli *cli, const struct args *args,
                                             const char *const *set, size_t set_count,
                                             struct err *err);
/* As cmd_experiment_read(), with other options of reading than --set and --only. */
const struct experiment *cmd_experiment_read_as(struct cli *cli, const struct args *args,
                                                const struct experiment_options *some,
                                                struct err *err);
/* Runs the experiment and writes its results.  Returns the exit status: 0, 5 (some
 * trials failed), 70 (an audit failed), or that of an error.  Messages about
 * failed and interrupted trials are printed here; session->grid is NULL unless
 * there are results. */
int cmd_experiment_run(struct cli *cli, const struct args *args,
                       const struct experiment *experiment, struct session *session);

/* As cmd_experiment_run(), in one process of an MPI run.  fleet NULL: this process runs
 * alone; if the environment says that it is one of several, the run is refused. */
int cmd_experiment_run_ranks(struct cli *cli, const struct args *args,
                             const struct experiment *experiment, struct fleet *fleet,
                             struct session *session);
/* What a run prints when it has ended. */
void cmd_results_print(struct cli *cli, const struct session *session);

#endif
