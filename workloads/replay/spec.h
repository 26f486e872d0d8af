/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spec.h - the keys of a trace, and what reading its file found.  For trace.c,
 * which reads the keys and gives out jobs, and for file.c, which reads the
 * file.
 */
#ifndef WORKLOADS_REPLAY_SPEC_H
#define WORKLOADS_REPLAY_SPEC_H

#include "workloads/formats/columns.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_row.h"
#include "workloads/recipes/recipe.h"
#include "workloads/replay/resample.h"
#include "workloads/replay/trace.h"

struct applications;
struct job_store;
struct run_times;
struct trace_kinds;
struct where;

/* The first two formats, which are read here. */
enum { FORMAT_CSV, FORMAT_SWF };        /* of formats.def */
/* In the order of unsorted_choices and origin_choices. */
enum { UNSORTED_ERROR, UNSORTED_SORT };
enum { ORIGIN_FIRST, ORIGIN_FILE };

/* A part of the file: from a time after its first row, for some time and number of jobs;
 * 0: no limit. */
struct trace_slice { int64_t from_ns, for_ns, jobs; };
/* Which rows are left out, by the reason for which they are no jobs. */
struct trace_skip { bool reason[IMPORT_REASONS]; };

/* The keys of `trace:` as they are written; whole numbers are places in lists
 * of words. */
struct trace_keys {
    const char *file, *lengths, *gpu_type;
    int format, estimate, unsorted, origin, gpus_are, constraints;
    const struct conf_node *columns, *slice, *skip, *role, *resample,
        *elastic, *rates, *packing, *run_times, *where;
    bool tenant_pools;
    int64_t unknown_run_ns;     /* stands for a negative run time; 0: such a
                                   row is an error */
};

/* A trace: its keys, and what the check of its file found.  It lives in the
 * arena of the world.  Trials share it and change nothing in it. */
struct trace_spec {
    struct trace_keys keys;
    struct trace_columns columns;
    struct trace_slice slice;
    struct trace_skip skip;
    const char *path;           /* of the file, from the folder of the run */
    const struct import_format *import;         /* NULL: csv or swf */
    struct import_request request;
    const struct conf_node *conf;
    struct err_pos columns_pos;         /* of the key `columns` */
    struct job_form form;       /* of jobs that request GPUs only */
    uint32_t gpus_max;          /* GPUs of the largest job that can run */
    uint64_t milli_max;         /* thousandths of GPUs that power_cap lets run */
    const struct job_rates *rates;      /* of all jobs; NULL: none, or kinds */
    const struct speedup_kinds *kinds;  /* rates by kind of job */
    const struct run_times *run_times;  /* rates by row; NULL: none */
    struct where *where;        /* NULL: every row is taken */
    int64_t first_ns;           /* submit time of the first row */
    int64_t origin_ns;          /* subtracted from every submit time */
    int64_t begin_ns, end_ns;   /* in a run: the first submission; the last end
                                   if no job waits */
    struct source_counts counts;
    const char **tenant;        /* of its jobs, each once */
    size_t tenants, tenant_room;
    bool has_priority;          /* a job's priority is not 0 */
    const struct row *sorted;   /* `unsorted: sort`, resample; else NULL */
    size_t sorted_count;
    struct job_store *job_store;        /* the jobs, unless sorted */
    const struct world *world;  /* while the file is checked */
    struct applications *applications;  /* of the catalogue; NULL: none */
    struct trace_kinds *tasks;  /* forms by cores, memory and GPU types */
    struct resample resample;   /* if keys.resample is not NULL */
};

/* Reads the file; sets first_ns, origin_ns, counts, and sorted or job_store.
 * False: *world->err is set, at the first row that is not a job and may not be
 * skipped. */
bool trace_check(struct trace_spec *spec, const struct world *world);

#endif
