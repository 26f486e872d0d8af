/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - is a row a job?  It is, or it is left out for a reason that the workload
 * names, or it is an error.
 */
#include "workloads/replay/judge.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "models/jobs/speedup.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"
#include "workloads/jobs/speedup_keys.h"
#include "workloads/replay/kind.h"
#include "workloads/replay/run_times.h"
#include "workloads/replay/spec.h"

/* Names that are whole numbers below 2^26 are bits, of at most 8 MiB together.
 * Most traces have such names. */
#define SEEN_BITS (INT64_C(1) << 26)

/* Returns the GPUs that a row asks for, in thousandths. */
static uint64_t milli_of(const struct row *row)
{
    return row->gpu_milli > 0 ? (uint64_t)row->gpu_milli : (uint64_t)row->gpus * GPU_MILLI;
}

/* What the cluster has for a row if nothing runs. */
struct place {
    uint32_t gpus_max;          /* that the largest job there may ask for */
    uint64_t milli_max;         /* of these, thousandths that power_cap lets run */
    bool capped;                /* it has the GPUs, but power_cap does not let them run */
};

/* Reports a job that is larger than any place for it: GPUs, the parts of one
 * node that a pod needs, or what the power cap allows. */
static void report_too_large(const struct reading *in, const struct row *row,
                             const struct place *place, struct err *err)
{
    struct err_pos pos = csv_pos(in->csv, in->at.gpus);

    if (place->capped)
        err_set(err, ERR_RANGE, pos,
                "job asks for %g GPUs and can never run: power_cap allows at most %g GPUs to "
                "run at a time", (double)milli_of(row) / GPU_MILLI,
                (double)place->milli_max / GPU_MILLI);
    else if (row->pod)
        err_set(err, ERR_RANGE, pos,
                "job asks for %lld GPUs, %.3f cores and %.1f GB of one node "
                "and can never run: no node that it may use has them%s",
                (long long)row->gpus, (double)row->core_milli / 1e3,
                (double)row->memory_bytes / 1e9,
                in->spec->world->cluster->power_cap_w > 0 && row->gpus == 0
                    ? ", or power_cap forbids it" : "");
    else
        err_set(err, ERR_RANGE, pos,
                "job asks for %lld GPUs and can never run: the cluster has %u "
                "that it may use", (long long)row->gpus, place->gpus_max);
    err_hint(err, "Leave such rows out with skip: {larger_than_cluster: true}.");
}

/* Judges a row whose GPUs need more memory than any has: it is left out as one
 * that is too large, or an error. */
static enum fate judge_memory(struct reading *in, struct err *err)
{
    char what[80];

    if (in->spec->skip.reason[IMPORT_TOO_LARGE]) {
        in->counts.skipped_too_large++;
        return FATE_SKIP;
    }
    snprintf(what, sizeof what, "at most %u, the most memory of a GPU that jobs may use",
             trace_kinds_memory(in->spec->tasks));
    row_fault(in->csv, in->at.gpu_memory_mib, ERR_RANGE, what, err);
    err_hint(err, "Leave such rows out with skip: {larger_than_cluster: true}.");
    return FATE_ERROR;
}

/* Was the name met before?  If not, it is noted.  Numbers with a sign or
 * leading zeros are texts: 07 and 7 are two names. */
static bool is_duplicate(struct seen *seen, const char *name)
{
    int64_t number;
    size_t bytes = strlen(name), at;
    uint8_t mask;
    bool is_new;

    if (bytes == 0 || name[0] == '+' || name[0] == '-' ||
        (name[0] == '0' && bytes > 1) || !scan_i64(name, bytes, &number) ||
        number >= SEEN_BITS) {
        string_set_keep(&seen->texts, seen->arena, name, &is_new);
        return !is_new;
    }
    at = (size_t)number / 8;
    mask = (uint8_t)(1u << number % 8);
    ARENA_REACH(seen->arena, seen->bit, seen->bytes, at);
    if (seen->bit[at] & mask)
        return true;
    seen->bit[at] |= mask;
    return false;
}

enum fate judge_reason(struct reading *in, enum import_reason reason,
                       size_t column, struct err *err)
{
    const char *meaning;
    const char *name = import_reason_name(reason, &meaning);

    if (in->spec->skip.reason[reason]) {
        in->counts.skipped_other++;
        return FATE_SKIP;
    }
    err_set(err, ERR_RANGE, csv_pos(in->csv, column),
            "row is no job: %s (column %s is \"%.40s\")", meaning,
            csv_names(in->csv)[column],
            csv_field(in->csv, column)->text);
    err_hint(err, "Leave such rows out with skip: {%s: true}.", name);
    return FATE_ERROR;
}

/* With `tenant_pools`, sets the pool that has the name of the job's tenant.
 * False: there is none. */
static bool find_pool(const struct reading *in, struct row *row)
{
    const struct cluster_spec *cluster;
    uint32_t pool;

    if (!in->spec->keys.tenant_pools)
        return true;
    cluster = in->spec->world->cluster;
    pool = row->tenant == NULL ? UINT32_MAX
                               : cluster_pool(cluster, row->tenant);
    row->pool = pool == UINT32_MAX ? NULL : cluster->pool_name[pool];
    return row->pool != NULL;
}

/* Sets the kind of a row that asks for more than a number of GPUs.  False: the
 * cluster has none of the types that the row names. */
static bool find_kind(struct reading *in, struct row *row)
{
    const struct trace_spec *spec = in->spec;

    if (spec->keys.constraints == 1)
        row->types = NULL;
    row->kind = NULL;
    if (!trace_kind_needed(spec->tasks, row))
        return true;
    row->kind = trace_kind_make(spec->tasks, spec->world, row);
    return row->kind->has_type;
}

/* Returns the fewest thousandths of GPUs that a policy may give to the job:
 * those of its smallest size, if it can be resized. */
static uint64_t least_milli(const struct trace_spec *spec, const struct row *row)
{
    uint64_t asked = milli_of(row), least = asked;

    if (spec->applications != NULL)
        least = GPU_MILLI;
    else if (spec->form.scaling != NULL)
        least = (uint64_t)spec->form.scaling->gpus_min * GPU_MILLI;
    return least < asked ? least : asked;
}

/* Could the job run if the cluster were empty?  *place tells what there is.
 * Pods of a list that is drawn to a bound (`resample: {until: ...}`) always
 * count as such: a job that finds no room is part of that experiment. */
static bool has_place(const struct reading *in, const struct row *row,
                      struct place *place)
{
    place->gpus_max = row->kind == NULL ? in->spec->gpus_max : row->kind->gpus_max;
    place->milli_max = row->kind == NULL ? in->spec->milli_max : row->kind->milli_max;
    place->capped = false;
    if (in->spec->resample.until_milli > 0 && row->pod)
        return true;            /* it arrives, and finds no room */
    if (row->gpus == 0)
        return row->kind != NULL && row->kind->runs;
    if (row->gpus > (int64_t)place->gpus_max)
        return false;
    place->capped = least_milli(in->spec, row) > place->milli_max;
    return !place->capped;
}

/* The table of `elastic` must have the size of the job.  Pods and parts of a
 * GPU are never resized. */
static bool check_size(const struct reading *in, const struct row *row, struct err *err)
{
    assert(row->gpus >= 0);
    return in->spec->form.scaling == NULL || row->pod || row->gpus == 0 ||
           row->gpu_milli > 0 ||
           speedup_check_size(in->spec->form.scaling, (uint32_t)row->gpus,
                              csv_pos(in->csv, in->at.gpus), err);
}

/* Is the speed of the job known at its size, in some pool at least? */
static bool has_rate(const struct trace_spec *spec,
                     const struct row *row)
{
    if (spec->applications != NULL)
        return row->application != NULL;
    if (spec->kinds == NULL && spec->run_times == NULL)
        return true;
    struct job_request request = {
        .form = &spec->form, .gpus = (uint32_t)row->gpus,
        .rates = row->rates, .rate_known = row->rate_known};
    for (uint32_t p = 0; row->rates != NULL && p < row->rates->pool_count;
         p++)
        if (speedup_of(&request, p, request.gpus) > 0.0)
            return true;
    return false;
}

/* Reports an application's job without a rate: the application is unknown, or
 * it cannot have that number of GPUs with that batch.  The name of the
 * application stands in the column of the run time. */
static void report_application(const struct reading *in,
                               const struct row *row, struct err *err)
{
    const struct catalogue *catalogue = in->spec->world->catalogue;
    const char *name = csv_field(in->csv, in->at.duration)->text, *near;
    const struct application *app = catalogue_application(catalogue, name);

    if (app != NULL) {
        err_set(err, ERR_RANGE, csv_pos(in->csv, in->at.gpus),
                "application %s cannot have %lld GPUs with that batch: it "
                "takes batches of %u to %u samples, %u a GPU at least, on "
                "GPU types that it is known on",
                name, (long long)row->gpus, app->batch_first, app->batch_max,
                app->local_min);
        err_hint(err, "Its types: `clustersim list applications`.  Leave such "
                      "rows out with skip: {no_length: true}.");
        return;
    }
    near = conf_nearest(name, catalogue_names(catalogue, CATALOGUE_APPLICATIONS));
    err_set(err, ERR_REFERENCE, csv_pos(in->csv, in->at.duration),
            "application \"%.40s\" is not in the catalogue", name);
    err_hint(err, "%s%s%sLeave such rows out with skip: {no_length: true}.",
             near != NULL ? "The nearest is " : "", near != NULL ? near : "",
             near != NULL ? ".  " : "");
}

/* Judges a row without a rate: it is left out if the workload says so, else it
 * is an error with the reason. */
static enum fate judge_rate(struct reading *in, const struct row *row,
                            struct err *err)
{
    const struct trace_spec *spec = in->spec;

    if (spec->applications == NULL || spec->skip.reason[IMPORT_NO_LENGTH])
        return judge_reason(in, IMPORT_NO_LENGTH, in->at.gpus, err);
    report_application(in, row, err);
    return FATE_ERROR;
}

/* A run time below 0 means that it is not known.  With `unknown_run_time` such
 * a row runs that long, and is counted. */
static void assume_run_time(struct reading *in, struct row *row)
{
    int64_t unknown_ns = in->spec->keys.unknown_run_ns;

    if (in->import != NULL || unknown_ns == 0 || row->duration_ns >= 0)
        return;
    row->duration_ns = unknown_ns;
    in->counts.assumed_run_time++;
}

/* Does the row ask for GPUs?  A pod may run on cores alone; but with `rates` or
 * `elastic`, which say nothing of cores, its speed would not be known. */
static bool requests_enough(const struct reading *in, const struct row *row)
{
    return row->gpus > 0 || (row->pod && row->gpus == 0 &&
                             row->core_milli > 0 && !in->spec->form.paced);
}

/* Judges a row that the cluster has a place for: its speed must be known, and
 * its name be new. */
static enum fate judge_placed(struct reading *in, struct row *row, struct err *err)
{
    assert(row->duration_ns > 0);
    if (!has_rate(in->spec, row))
        return judge_rate(in, row, err);
    if (!check_size(in, row, err))
        return FATE_ERROR;
    if (in->seen == NULL || row->name == NULL || !is_duplicate(in->seen, row->name))
        return FATE_JOB;
    return judge_reason(in, IMPORT_DUPLICATE, in->at.job, err);
}

/* Order: run time, GPUs, pool, memory of GPUs, types, run times by type, place,
 * rate, name.  The first that is wrong decides what the row is counted as. */
enum fate judge_values(struct reading *in, struct row *row, struct err *err)
{
    const struct trace_spec *spec = in->spec;
    const struct trace_skip *skip = &spec->skip;
    struct place place;

    assume_run_time(in, row);
    if (row->duration_ns <= 0) {
        if (skip->reason[IMPORT_RUN_TIME]) {
            in->counts.skipped_run_time++;
            return FATE_SKIP;
        }
        row_fault(in->csv, in->at.duration, ERR_RANGE,
                  "greater than 0", err);
        err_hint(err, "Leave such rows out with skip: "
                      "{run_time_not_positive: true}%s.",
                 row->duration_ns < 0 && in->import == NULL
                     ? ", or say how long they run with unknown_run_time: 10s"
                     : "");
        return FATE_ERROR;
    }
    if (!requests_enough(in, row)) {
        if (skip->reason[IMPORT_GPUS]) {
            in->counts.skipped_gpus++;
            return FATE_SKIP;
        }
        row_fault(in->csv, in->at.gpus, ERR_RANGE, "greater than 0",
                  err);
        err_hint(err, "Leave such rows out with skip: {gpus_not_positive: "
                      "true}%s.", row->pod && in->spec->form.paced
                          ? ", or leave out rates and elastic, which say "
                            "nothing of jobs without GPUs" : "");
        return FATE_ERROR;
    }
    if (!find_pool(in, row))
        return judge_reason(in, IMPORT_NO_POOL,
                            in->import == NULL ? in->at.tenant : in->at.submit,
                            err);
    /* Memory that the file has no column for is the format's own, and never too much. */
    if (row->gpus > 0 && row->gpu_mib > trace_kinds_memory(spec->tasks) &&
        in->at.gpu_memory_mib != ROW_NO_COLUMN)
        return judge_memory(in, err);
    if (!find_kind(in, row))
        return judge_reason(in, IMPORT_TYPES, in->at.types, err);
    if (spec->run_times != NULL &&
        !run_times_row(spec->run_times, in->arena, in->csv, row, err))
        return FATE_ERROR;
    /* `place` says how large a job may be, for the message of a larger one. */
    if (has_place(in, row, &place))
        return judge_placed(in, row, err);
    if (skip->reason[IMPORT_TOO_LARGE]) {
        in->counts.skipped_too_large++;
        return FATE_SKIP;
    }
    report_too_large(in, row, &place, err);
    return FATE_ERROR;
}
