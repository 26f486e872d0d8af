/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.h - sorts the words of a command line into options and operands.
 *
 * All commands share one list of options; each command says which of them it
 * takes.  `-j4`, `-j 4`, `--seeds 4` and `--seeds=4` are forms of an option;
 * after `--` all words are operands.  Each function returns false if err says
 * what is wrong (kind ERR_USAGE).  Texts are those of argv, which must live as
 * long as the result; arrays come from the arena.
 */
#ifndef EXPERIMENTS_OPTIONS_ARGS_H
#define EXPERIMENTS_OPTIONS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;

/* By number of the table in args.c.  At most 64, since a mask has a bit for each. */
enum arg {
    ARG_OUT, ARG_THREADS, ARG_SET, ARG_SEEDS, ARG_SHARD, ARG_RESUME, ARG_ONLY,
    ARG_QUIET, ARG_BASELINE, ARG_TOLERANCE, ARG_JUNIT, ARG_MARKDOWN,
    ARG_FORMAT, ARG_CLUSTER, ARG_DATA, ARG_SUITE, ARG_CSV, ARG_PLOTS,
    ARG_JOB, ARG_GPUS, ARG_SORT, ARG_TOP, ARG_MEMORY, ARG_PLOT, ARG_SKIP,
    ARG_IN_ORDER, ARG_LENGTHS, ARG_GPU_TYPE, ARG_SEED, ARG_SHAPE,
    ARG_NOT_JUDGED, ARG_JOBS, ARG_BLOCK, ARG_TIER, ARG_COLUMNS, ARG_JSON, ARG_SLURM,
    ARG_DRY_RUN, ARG_TRIAL, ARG_PAPER, ARG_TABLE_FORM, ARG_METRICS, ARG_UPDATE, ARG_ANNOTATE,
    ARG_QUALITY, ARG_COMPARE, ARG_NEW_GPUS, ARG_NEW_JOBS, ARG_LOAD, ARG_POLICIES, ARG_AUDIT,
    ARG_AT, ARG_BRANCH, ARG_FORKED,
    ARG_HELP,
    ARG_COUNT
};

struct arg_info {
    const char *name;           /* "--seeds" */
    char letter;                /* 'o', or 0 */
    const char *value;          /* "N"; NULL: takes none */
    const char *help;
};
/* Returns the entry of the table; static. */
const struct arg_info *arg_info(enum arg arg);

struct args {
    const char **word;          /* operands */
    size_t word_count;
    bool given[ARG_COUNT];      /* by enum arg */
    const char *value[ARG_COUNT];       /* the last one given */
    const char **set;           /* of --set and of --skip, all of them, in order */
    size_t set_count;
    int argc;                   /* the whole command line, as it came */
    char *const *argv;
};

/* Sorts the words from argv[first] on into `args`.  `mask` has bit 1 << arg for
 * each option that the command takes; --help is taken by all.  The last of a
 * repeated option counts, but for `set`. */
bool args_read(struct arena *arena, int argc, char *const *argv, int first,
               uint64_t mask, struct args *args, struct err *err);
/* Reads the value of an option as a whole number from min to max; `*out` keeps its
 * value if the option was not given, and is not touched on failure. */
bool args_number(const struct args *args, enum arg arg, uint32_t min,
                 uint32_t max, uint32_t *out, struct err *err);
/* Reads --shard: "2/8" sets *shard to 1 (from 0) and *count to 8.  Both keep their
 * values if it was not given. */
bool args_shard(const struct args *args, uint32_t *shard, uint32_t *count,
                struct err *err);
/* Reads a fraction of at least 0: "0.5%" or "0.005" sets 0.005.  Without '%' at
 * most 1, since "5" could mean 5 or 500 percent.  `*out` keeps its value if the
 * option was not given. */
bool args_fraction(const struct args *args, enum arg arg, double *out,
                   struct err *err);

#endif
