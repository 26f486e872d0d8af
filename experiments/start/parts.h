/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - the answers as values.  Private to experiments/start.
 */
#ifndef EXPERIMENTS_START_PARTS_H
#define EXPERIMENTS_START_PARTS_H

#include <stddef.h>

#include "experiments/start/start.h"

#define START_POOLS 8u
#define START_NAMES 64u

struct catalogue;
struct gpu_type;
struct start_file;

enum start_compare { COMPARE_POLICIES, COMPARE_LOAD, COMPARE_SIZE };

/* GPUs of one type, in equal nodes. */
struct start_pool {
    const char *type;           /* "generic": GPUs that only count */
    const struct gpu_type *gpu; /* NULL: generic */
    uint32_t gpus;              /* in all */
    uint32_t each;              /* of a node */
    const char *name;           /* of the nodes; set by start_make() */
};

struct start {
    struct arena *arena;
    const struct catalogue *catalogue;
    const char *path, *name;    /* the experiment's file; its stem */
    const char *columns;        /* of a trace, "submit=arrived,gpus=1"; NULL: not given */
    bool set[START_COUNT];
    enum start_compare compare;
    struct start_pool pool[START_POOLS];    /* the nodes to simulate */
    uint32_t pool_count;
    const struct start_file *job[START_NAMES];  /* of the recipes */
    uint32_t job_count;         /* 0: a trace or a workload file */
    const char *trace;          /* its path; or NULL */
    const char *trace_columns;  /* YAML of `columns:`; NULL: SWF */
    const char *workload;       /* path of a workload file; or NULL */
    double load;                /* 0.8: the fullest pool is busy for 80% */
    const char *policy[START_NAMES];    /* [policy_count] */
    uint32_t policy_count;
    /* By start_make(): texts of the files. */
    const char *experiment_text, *cluster_text, *workload_text;
};

/* Returns the name of the recipe that a file is for. */
const char *start_recipe(const struct start *start, const struct start_file *file);
/* Is none of the three files there yet?  False: err says which is. */
bool start_check_free(const struct start *start, struct err *err);
/* Does a job of the answers generate and train on roles of its own? */
bool start_has_rollouts(const struct start *start);
/* Returns the most GPUs that a role of a job asks for: what each pool holds, 8 at
 * most. */
uint32_t start_role_gpus(const struct start *start);
/* Divides the pools into those for the roles `rollout` and `train` if the jobs have
 * them, and gives all pools their names. */
bool start_name_pools(struct start *start, struct err *err);
/* Returns the text of the cluster's file: keys at the margin, and comments. */
const char *start_cluster_text(const struct start *start);
/* Returns the path of the workload or the trace as the experiment's folder sees it. */
const char *start_seen_path(const struct start *start, const char *path);
/* Reads the header of a trace and finds the columns that a workload needs. */
bool start_read_trace(struct start *start, const char *path, struct err *err);

#endif
