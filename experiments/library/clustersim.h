/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustersim.h - experiments within a program of one's own.
 *
 *   struct clustersim_options options = { .size_bytes = sizeof options };
 *   options.seeds = 10;
 *   struct clustersim *run = clustersim_run("first.yaml", &options);
 *   if (clustersim_error(run) == NULL)
 *       use(clustersim_table(run, "summary"));
 *   clustersim_free(run);
 *
 * Compile with `pkg-config --cflags --libs clustersim`.
 *
 * Ownership: what a function returns belongs to the run, and is good until
 * clustersim_free().  What a caller hands in must live until then, too.  The library does
 * not change it.
 *
 * Errors are values: a run has one, or none.  The library prints nothing.  It ends the
 * process only if memory runs out, or if an assertion finds a bug of the library.  A trial
 * of a policy that is not built in runs in a process of its own (fork), unless the
 * experiment says otherwise.  So a policy that crashes ends only its own trial.
 *
 * Threads: a caller may have several runs at once, each in a thread of its own.  Callbacks
 * are called by the thread that called clustersim_run().  Trials run in threads that take
 * no signals.  The locale must write numbers as C does (LC_NUMERIC): this is checked.
 *
 * Results are the same bytes for any number of threads.  Names of columns end with their
 * unit: jct_mean_s, cost_usd.  Instants are seconds from the begin of the run.
 * GSL's error handler, which ends the process, is turned off.
 */
#ifndef CLUSTERSIM_CLUSTERSIM_H
#define CLUSTERSIM_CLUSTERSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct clustersim;              /* a run */
struct cs_policy;               /* policies/policy.h */

/* ---- errors --------------------------------------------------------------- */

struct clustersim_error {
    int status;                 /* the exit status that the program would have: 2 usage,
                                   3 the experiment, 4 files, 5 trials, 70 a bug, 130
                                   interrupted */
    const char *kind;           /* "range error", "file error" ... */
    const char *message;        /* one phrase, without a full stop */
    const char *hint;           /* whole sentences; NULL: none */
    const char *file;           /* NULL: no place */
    uint32_t line, column;      /* from 1; 0: the file as a whole */
    const char *key;            /* "cluster.nodes.0.count", of its file; NULL: of none */
    const struct clustersim_error *next;    /* of the same file; NULL: no more */
};

/* ---- what to run ---------------------------------------------------------- */

/* A trial that has ended: a point of the sweep under a policy with a seed. */
struct clustersim_trial {
    uint32_t index, count;      /* of all trials, from 0 */
    const char *point;          /* "arrival.rate=4/h", or "base" */
    const char *policy;
    uint32_t seed;              /* from 0 */
    bool copy;                  /* not run: nothing is random, so it equals seed 0 */
    const struct clustersim_error *error;   /* why it failed; NULL: it did not */
    const struct clustersim *run;
};

/* Functions that are called around each fork for a trial, by the thread that forks: for
 * programs with an interpreter.  All three get `self`.  in_child() also gets the seconds that
 * the trial may need for one event (`plugins: {event_limit: }`): after them its process is
 * ended. */
struct clustersim_fork {
    void (*before)(void *self);
    void (*in_parent)(void *self);
    void (*in_child)(void *self, double event_limit_s);
    void *self;
};

/* A member that is 0 or NULL leaves what the file says.  Later versions add members at the
 * end alone.  It is an error if size_bytes is 0, or if a member that this library does not
 * know is not 0: the library ignores nothing that a caller asks for. */
struct clustersim_options {
    size_t size_bytes;          /* sizeof(struct clustersim_options) */
    const char *text;           /* the experiment itself; the path is then its name in
                                   messages, beside which its files lie */
    uint32_t seeds;             /* 0: as the file says */
    uint32_t threads;           /* 0: one per processor */
    const char *policies;       /* "[fcfs, mine]", as in YAML: instead of the file's; the
                                   name of a policy of the file is that one, with its
                                   keys.  If `table` has another one of that name, it is
                                   an error.  NULL: as the file says */
    const char *const *set;     /* "KEY=VALUE", as --set of the program */
    size_t set_count;
    /* Policies of the program's own, known to the experiment by their names. */
    const struct cs_policy *const *table;
    size_t table_count;
    const struct clustersim_fork *fork;     /* NULL: nothing is called */
    const char *dir;            /* the results folder; NULL: a temporary one, which
                                   clustersim_free() removes */
    bool usual_dir;             /* without dir: the folder that the program takes, as the
                                   file says or out/NAME */
    bool draw;                  /* charts and report.html, too: needs a folder that stays */
    bool check_only;            /* reads and checks, and runs nothing */
    void *self;                 /* of the two below, which may be NULL */
    /* Called once for each trial that has ended, in the order of trials. */
    void (*trial_ended)(void *self, const struct clustersim_trial *trial);
    /* Called five times a second or more: `done` trials of `count` have ended.  False ends
     * the run. */
    bool (*go_on)(void *self, uint32_t done, uint32_t count);
};

/* ---- runs ----------------------------------------------------------------- */

/* Reads an experiment, runs its trials and reads the results.  Returns the run, never NULL,
 * which the caller gives back by clustersim_free().  `options` may be NULL. */
struct clustersim *clustersim_run(const char *path,
                                  const struct clustersim_options *options);
void clustersim_free(struct clustersim *run);           /* accepts NULL */

/* Returns why there are no results; NULL: there are results.  Trials that failed are no such
 * error: clustersim_failed() counts them, and the table "failures" lists them. */
const struct clustersim_error *clustersim_error(const struct clustersim *run);
/* Returns the first warning, with the others behind `next`; NULL: there is none. */
const struct clustersim_error *clustersim_warnings(const struct clustersim *run);
/* Returns how many trials failed, and stores the first of their errors in *first, unless
 * first is NULL. */
uint32_t clustersim_failed(const struct clustersim *run,
                           const struct clustersim_error **first);
/* Returns the folder of the results; NULL: there is none. */
const char *clustersim_dir(const struct clustersim *run);
/* Returns an error as text: "file:line:column: kind: message", the line of the file with a
 * caret, and the hint. */
const char *clustersim_error_text(struct clustersim *run,
                                  const struct clustersim_error *error);

/* ---- results -------------------------------------------------------------- */

struct clustersim_column {
    const char *name;
    const char *unit;           /* "s", "USD", "GPU-s", "fraction", "count", as
                                   `clustersim list columns` has it; "" if none */
    const char *const *text;    /* as written, by row; "": no value */
    const double *number;       /* by row, NAN: no value; NULL: a column of texts */
};

struct clustersim_table {
    const char *name;
    size_t row_count, column_count;
    const struct clustersim_column *column;
};

/* Returns a table of the results by its name: "summary" (a row a trial: every metric),
 * "compare" (intervals), "jobs" (a row a job), "failures", and those that the experiment
 * asks for under `output:`.  It is read at the first call.  NULL: there is none, or it
 * cannot be read, and clustersim_warnings() says why. */
const struct clustersim_table *clustersim_table(struct clustersim *run, const char *name);
/* Returns a column by its name; NULL: there is none of that name. */
const struct clustersim_column *clustersim_column(const struct clustersim_table *table,
                                                  const char *name);
/* Stores the value of a metric of a trial.  Only within trial_ended().  False: it has none. */
bool clustersim_metric(const struct clustersim_trial *trial, const char *name,
                       double *value);

/* Returns the version of the library that runs, such as "0.1.0". */
const char *clustersim_version(void);

#ifdef __cplusplus
}
#endif

#endif
