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
 * clustersim_free().  What a caller hands in must live until then, too; nothing of it
 * is changed.
 *
 * Errors are values: a run has one, or none.  Nothing is printed, and the process is not
 * ended, but for lack of memory and for a bug of the library, which an assertion finds.
 * A trial of a policy that is not built in runs in a process of its own (fork), unless
 * the experiment says otherwise, so that what it does ends that trial alone.
 *
 * Threads: several runs may go on at once, in threads of the caller's.  Callbacks are
 * called by the thread that called clustersim_run().  Trials run in threads that take
 * no signals.  The locale must write numbers as C does (LC_NUMERIC): it is checked.
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
    int status;                 /* what the program would end with: 2 usage, 3 the
                                   experiment, 4 files, 5 trials, 70 a bug, 130 called
                                   off */
    const char *kind;           /* "range error", "file error" ... */
    const char *message;        /* telegram style */
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
    bool copy;                  /* not run: nothing is drawn, so it is as seed 0 */
    const struct clustersim_error *error;   /* why it failed; NULL: it did not */
    const struct clustersim *run;
};

/* Whom forks for trials are told, by the thread that forks: for programs with an
 * interpreter.  All three are given `self`; in_child() hears how long the trial may need for
 * one event (`plugins: {event_limit: }`), after which its process is ended. */
struct clustersim_fork {
    void (*before)(void *self);
    void (*in_parent)(void *self);
    void (*in_child)(void *self, double event_limit_s);
    void *self;
};

/* Zeroed but for size_bytes: as the file says.  Members are only added, at the end.  A
 * size_bytes of 0, and members that this library does not know and that are not 0, are
 * errors: nothing of what a caller asks for is passed over. */
struct clustersim_options {
    size_t size_bytes;          /* sizeof(struct clustersim_options) */
    const char *text;           /* the experiment itself; the path is then its name in
                                   messages, beside which its files lie */
    uint32_t seeds;             /* 0: as the file says */
    uint32_t threads;           /* 0: one per processor */
    const char *policies;       /* "[fcfs, mine]", as in YAML: instead of the file's; the
                                   name of a policy of the file is that one, with its
                                   keys.  NULL: as the file says */
    const char *const *set;     /* "KEY=VALUE", as --set of the program */
    size_t set_count;
    /* Policies of the program's own, known to the experiment by their names. */
    const struct cs_policy *const *table;
    size_t table_count;
    const struct clustersim_fork *fork;     /* NULL: nobody is told */
    const char *dir;            /* the results folder; NULL: a temporary one, which goes
                                   with the run, */
    bool usual_dir;             /* or that of the file, as the program has it: out/NAME */
    bool draw;                  /* charts and report.html, too: needs a folder that stays */
    bool check_only;            /* reads and checks, and runs nothing */
    void *self;                 /* of the two below, which may be NULL */
    /* Facts: a trial has ended, and so have all before it. */
    void (*trial_ended)(void *self, const struct clustersim_trial *trial);
    /* Called five times a second or more: `done` trials of `count` have ended.  False
     * calls the run off. */
    bool (*go_on)(void *self, uint32_t done, uint32_t count);
};

/* ---- runs ----------------------------------------------------------------- */

/* Reads an experiment, runs its trials and reads the results.  Never NULL.  `options`
 * may be NULL. */
struct clustersim *clustersim_run(const char *path,
                                  const struct clustersim_options *options);
void clustersim_free(struct clustersim *run);           /* accepts NULL */

/* Why there are no results; NULL: there are.  That trials failed is none: the table
 * "failures" has them. */
const struct clustersim_error *clustersim_error(const struct clustersim *run);
/* What the user should read; NULL: nothing. */
const struct clustersim_error *clustersim_warnings(const struct clustersim *run);
/* Trials that failed, and the first of their errors. */
uint32_t clustersim_failed(const struct clustersim *run,
                           const struct clustersim_error **first);
/* Where the results lie. */
const char *clustersim_dir(const struct clustersim *run);
/* "file:line:column: kind: message", the line with a caret, and the hint. */
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

/* A table of the results by its name, or NULL: "summary" (a row a trial: every metric),
 * "compare" (intervals), "jobs" (a row a job), "failures", and those that the experiment
 * asks for under `output:`.  It is read when it is first asked for; of one that cannot be
 * read, clustersim_warnings() then says why. */
const struct clustersim_table *clustersim_table(struct clustersim *run, const char *name);
/* NULL: there is none of that name. */
const struct clustersim_column *clustersim_column(const struct clustersim_table *table,
                                                  const char *name);
/* A metric of a trial, within trial_ended().  False: it has no value. */
bool clustersim_metric(const struct clustersim_trial *trial, const char *name,
                       double *value);

/* "0.1.0": of the library that runs. */
const char *clustersim_version(void);

#ifdef __cplusplus
}
#endif

#endif
