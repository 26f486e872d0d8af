/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.c - a file of past jobs: CSV whose columns the workload names, or SWF.
 *
 * Fields of the Standard Workload Format (Chapin et al.  1999; version 2.2): 2
 * submit time, 4 run time, 5 allocated processors or, where that is not known,
 * 8 requested processors, 9 requested time.  A processor is taken for a GPU.
 * Other formats are read by workloads/formats, row by row.
 *
 * Invariant: jobs come in file order and submit times never go down.  The file
 * is read before any trial, to be checked (file.c); its jobs go to a job_store,
 * which trials read.  If the workload asks for `unsorted: sort` or `resample`,
 * the rows are kept instead, sorted by (submit time, row), and trials walk that
 * array. */
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/jobs/birth.h"
#include "workloads/replay/spec.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/phase.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "sim/text/string_set.h"
#include "workloads/formats/columns.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_row.h"
#include "workloads/jobs/draw.h"
#include "workloads/jobs/packing.h"
#include "workloads/jobs/speedup_keys.h"
#include "workloads/recipes/recipe.h"
#include "workloads/replay/applications.h"
#include "workloads/replay/job_store.h"
#include "workloads/replay/kind.h"
#include "workloads/replay/resample.h"
#include "workloads/replay/run_times.h"

/* The first two are read here, the others as `import` reads them. */
static const char *const format_choices[] = {
#define FORMAT(ID, NAME) NAME,
#include "workloads/formats/formats.def"
#undef FORMAT
    NULL};
static const char *const estimate_choices[] = {
    "exact", "requested", "noisy", NULL};
static const char *const unsorted_choices[] = {"error", "sort", NULL};
static const char *const origin_choices[] = {"first", "file", NULL};
static const char *const gpus_are_choices[] = {"gpus", "processors", NULL};
static const char *const constraints_choices[] = {"heed", "ignore", NULL};

static const struct conf_field trace_fields[] = {
    CONF_KEY("file", CONF_TEXT, trace_keys, file, CONF_REQUIRED,
             "the file, plain, gzip or zstd"),
    CONF_KEY("format", CONF_CHOICE, trace_keys, format, "csv",
             "how it is written", .choices = format_choices),
    CONF_KEY("columns", CONF_NODE, trace_keys, columns, CONF_ABSENT,
             "csv: which column is what; needed there"),
    CONF_KEY("lengths", CONF_TEXT, trace_keys, lengths, CONF_ABSENT,
             "run times or rates that the format lacks: a file beside it, or, "
             "of pollux and sia, applications: those of the catalogue"),
    CONF_KEY("gpu_type", CONF_TEXT, trace_keys, gpu_type, CONF_ABSENT,
             "whose rates, where lengths has several"),
    CONF_KEY("estimate", CONF_CHOICE, trace_keys, estimate, "exact",
             "what policies are told of run times that say nothing of it "
             "themselves", .choices = estimate_choices),
    CONF_KEY("slice", CONF_NODE, trace_keys, slice, CONF_ABSENT,
             "a part of the file"),
    CONF_KEY("skip", CONF_NODE, trace_keys, skip, CONF_ABSENT,
             "rows to leave out, counted; without it they are errors"),
    CONF_KEY("unknown_run_time", CONF_TIME, trace_keys, unknown_run_ns,
             CONF_ABSENT,
             "csv, swf: what rows run whose run time is negative, counted; "
             "rlscheduler's simulator takes 10 s", .min = 1e-9, .max = 1e9),
    CONF_KEY("unsorted", CONF_CHOICE, trace_keys, unsorted, "error",
             "rows whose submit times go down", .choices = unsorted_choices),
    CONF_KEY("origin", CONF_CHOICE, trace_keys, origin, "first",
             "time 0: the first job's submission, or the file's own zero; "
             "metrics count from the first job's submission either way",
             .choices = origin_choices),
    CONF_KEY("gpus_are", CONF_CHOICE, trace_keys, gpus_are, CONF_ABSENT,
             "what the file counts: swf counts processors, each taken for a "
             "GPU", .choices = gpus_are_choices),
    CONF_KEY("constraints", CONF_CHOICE, trace_keys, constraints, "heed",
             "types of GPU that rows name: jobs take no others, or any",
             .choices = constraints_choices),
    CONF_KEY("resample", CONF_NODE, trace_keys, resample, CONF_ABSENT,
             "drawn anew for each seed: {block: 1d}, whole days, or {until: "
             "130%}, job by job until they ask for that share"),
    CONF_KEY("role", CONF_NODE, trace_keys, role, CONF_ABSENT,
             "per GPU: cores, memory; types, pool"),
    CONF_KEY("elastic", CONF_NODE, trace_keys, elastic, CONF_ABSENT,
             "sizes jobs can be resized to: {min:, max:, scaling:}; default: "
             "they cannot"),
    CONF_KEY("rates", CONF_NODE, trace_keys, rates, CONF_ABSENT,
             "pace by pool or GPU type, {v100: 1, k80: 0.25}, or (gavel) "
             "lengths: by the kind of job too, as that file says"),
    CONF_KEY("packing", CONF_NODE, trace_keys, packing, CONF_ABSENT,
             "{trace: 0.8}: pace of a job while another holds the same GPUs, "
             "over the pace alone; with rates: lengths, that file says it"),
    CONF_KEY("run_times", CONF_NODE, trace_keys, run_times, CONF_ABSENT,
             "csv: columns of run times by pool or GPU type, {a100-80: "
             "run_a100_s}; a job never runs where its cell is empty"),
    CONF_KEY("where", CONF_NODE, trace_keys, where, CONF_ABSENT,
             "condition over the columns of the file, as 'gpus <= 8 and vc == "
             "\"a\"'; other rows are left out, counted"),
    CONF_KEY("tenant_pools", CONF_BOOL, trace_keys, tenant_pools, "false",
             "nodes belong to tenants: a job may use only the pool that has its "
             "tenant's name"),
};
const struct conf_schema trace_schema =
    CONF_SCHEMA("workload.trace", "jobs of a file", trace_fields);

static const struct conf_field slice_fields[] = {
    CONF_KEY("from", CONF_TIME, trace_slice, from_ns, CONF_ABSENT,
             "after the first row of the file that `where` takes, whether it is a job or not",
             .max = 9e9),
    CONF_KEY("for", CONF_TIME, trace_slice, for_ns, CONF_ABSENT,
             "length, from there", .max = 9e9),
    CONF_KEY("jobs", CONF_INT, trace_slice, jobs, CONF_ABSENT,
             "most jobs that are taken", .max = 4e9),
};
const struct conf_schema trace_slice_schema =
    CONF_SCHEMA("workload.trace.slice", "a part of the file", slice_fields);

static const struct conf_field skip_fields[] = {
    CONF_KEY("run_time_not_positive", CONF_BOOL, trace_skip,
             reason[IMPORT_RUN_TIME], "false", "run time <= 0, or unknown"),
    CONF_KEY("gpus_not_positive", CONF_BOOL, trace_skip, reason[IMPORT_GPUS],
             "false", "no GPUs"),
    CONF_KEY("larger_than_cluster", CONF_BOOL, trace_skip,
             reason[IMPORT_TOO_LARGE], "false",
             "more GPUs than the cluster has"),
    CONF_KEY("duplicate_job", CONF_BOOL, trace_skip, reason[IMPORT_DUPLICATE],
             "false", "a name that stands above already"),
    CONF_KEY("fractional_gpus", CONF_BOOL, trace_skip, reason[IMPORT_FRACTION],
             "false", "parts of a GPU"),
    CONF_KEY("type_constraint", CONF_BOOL, trace_skip, reason[IMPORT_TYPES],
             "false", "certain types of GPU only"),
    CONF_KEY("never_ran", CONF_BOOL, trace_skip, reason[IMPORT_NEVER_RAN],
             "false", "no start"),
    CONF_KEY("no_length", CONF_BOOL, trace_skip, reason[IMPORT_NO_LENGTH],
             "false", "lengths say nothing of it"),
    CONF_KEY("no_submit_time", CONF_BOOL, trace_skip, reason[IMPORT_NO_SUBMIT],
             "false", "no time of submission"),
    CONF_KEY("still_running", CONF_BOOL, trace_skip,
             reason[IMPORT_STILL_RUNNING], "false", "no end"),
    CONF_KEY("no_pool", CONF_BOOL, trace_skip, reason[IMPORT_NO_POOL], "false",
             "tenant_pools: no pool is its tenant's"),
};
const struct conf_schema trace_skip_schema =
    CONF_SCHEMA("workload.trace.skip",
                "rows to leave out, counted", skip_fields);

/* The stream of one trial; it reads the store, the sorted rows, or a list drawn
 * from these. */
struct trace {
    struct arena *arena;
    const struct trace_spec *spec;
    struct job_store_reader *job_store; /* NULL: spec->sorted, or: */
    struct resampled drawn;     /* jobs by number; count 0: as in the file */
    uint64_t jobs;              /* handed out */
};

/* ---- a trial's walk ---------------------------------------------------- */

/* Jobs come sorted from memory, or from the store, which may be a temporary
 * file; resampling is drawn anew for each replica. */
struct trace *trace_open(struct arena *arena, const struct trace_spec *spec,
                         uint64_t seed, uint32_t replica)
{
    struct trace *trace;

    assert(spec != NULL && spec->counts.jobs > 0);
    trace = arena_alloc(arena, 1, sizeof *trace);
    trace->arena = arena;
    trace->spec = spec;
    if (spec->sorted == NULL)
        trace->job_store = job_store_read(spec->job_store, arena);
    if (spec->keys.resample != NULL && replica != TRACE_AS_FILED)
        trace->drawn = resample_draw(&spec->resample, arena, spec->sorted,
                                     spec->sorted_count, seed, replica);
    return trace;
}

/* Makes a job of a row.  Times count from the origin of the trace.  What
 * policies may not know, such as the run time, goes into the truth.  What is
 * over when the replay begins has the deadline 1 ns, since 0 would mean that
 * there is none. */
static void fill_birth(struct trace *trace, const struct row *row,
                       struct job_birth *birth)
{
    const struct trace_spec *spec = trace->spec;

    memset(birth, 0, sizeof *birth);
    birth->request.id.i = (uint32_t)(trace->jobs - 1);
    birth->request.form = row->kind != NULL ? &row->kind->form : &spec->form;
    if (row->application != NULL) {
        birth->request.form = row->application->form;
        birth->request.goodput = &row->application->goodput;
    }
    birth->request.gpu_milli = (uint32_t)row->gpu_milli;
    birth->request.gpu_mib = (uint32_t)row->gpu_mib;
    birth->request.name = row->name;
    birth->request.tenant = row->tenant;
    birth->request.submit_ns = row->submit_ns - spec->origin_ns;
    birth->request.limit_ns = row->limit_ns;
    birth->request.deadline_ns = CLOCK_NEVER_NS;
    /* One that is over when the replay begins is missed: 0 would be none. */
    if (row->deadline_ns != CLOCK_NEVER_NS)
        birth->request.deadline_ns =
            row->deadline_ns > spec->origin_ns
                ? row->deadline_ns - spec->origin_ns : 1;
    birth->request.priority = row->priority;
    birth->request.gpus = (uint32_t)row->gpus;
    birth->request.steps = 1;
    birth->request.rates = row->rates != NULL ? row->rates : spec->rates;
    birth->request.rate_known = row->rates != NULL ? row->rate_known : 1.0;
    birth->request.modes = row->modes;
    birth->truth.regimes = row->regimes;
    birth->truth.duration_ns = row->duration_ns;
    birth->truth.seed = row->number;
}

/* Gives the next job of a list that was drawn anew.  Drawn job by job, times
 * are not those of the file, so its origin is not subtracted. */
static enum source_step next_drawn(struct trace *trace,
                                   struct job_birth *birth)
{
    const struct resampled *drawn = &trace->drawn;
    struct row row;

    if (trace->jobs == drawn->count)
        return SOURCE_END;
    row = resampled_row(drawn, trace->arena, trace->jobs++);
    fill_birth(trace, &row, birth);
    if (drawn->place == NULL)
        birth->request.submit_ns = row.submit_ns;
    birth->truth.seed = trace->jobs;
    return SOURCE_JOB;
}

/* Jobs come from one of three places: a list that is drawn anew for the replica, rows
 * that were sorted in memory, or the store, which may lie in a temporary file. */
enum source_step trace_next(struct trace *trace, struct job_birth *birth,
                            struct err *err)
{
    const struct row *row;

    if (trace->drawn.count > 0)
        return next_drawn(trace, birth);

    if (trace->job_store == NULL) {
        if (trace->jobs == trace->spec->sorted_count)
            return SOURCE_END;
        row = &trace->spec->sorted[trace->jobs++];
        fill_birth(trace, row, birth);
        return SOURCE_JOB;
    }
    switch (job_store_next(trace->job_store, &row)) {
    case JOB_STORE_END:
        return SOURCE_END;
    case JOB_STORE_ERROR:
        err_set(err, ERR_IO, (struct err_pos){trace->spec->path, 0, 0},
                "its jobs cannot be read back from the temporary file: %s",
                strerror(errno));
        return SOURCE_ERROR;
    case JOB_STORE_ROW:
        break;
    }
    trace->jobs++;
    fill_birth(trace, row, birth);
    return SOURCE_JOB;
}

/* ---- keys -------------------------------------------------------------- */

/* Reads what a published format needs beside its file: `lengths` for run times
 * or rates that it lacks, and `gpu_type` where those differ by type.  Both are
 * refused where the format has run times of its own. */
static bool read_format(struct trace_spec *spec, const struct world *world,
                        const struct conf_node *conf)
{
    const struct trace_keys *keys = &spec->keys;
    const char *name = format_choices[keys->format];
    struct err *err = world->err;
    const struct conf_node *node = conf_get(conf, "lengths");

    if (keys->format > FORMAT_SWF)
        spec->import = import_format_at((size_t)keys->format);
    spec->request.file = spec->path;
    spec->request.applications = spec->import != NULL &&
                                 spec->import->applications &&
                                 keys->lengths != NULL &&
                                 strcmp(keys->lengths, "applications") == 0;
    if (keys->lengths != NULL && !spec->request.applications)
        spec->request.lengths = path_beside(world->arena, conf_pos(node).file,
                                            keys->lengths);
    spec->request.gpu_type = keys->gpu_type;
    if (spec->import != NULL && spec->import->lengths != NULL) {
        if (keys->lengths == NULL && keys->gpu_type == NULL &&
            spec->import->has_lengths)
            return true;
        if (keys->lengths == NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(conf),
                           "lengths is missing: traces of format %s hold no "
                           "run times", name);
        if (!spec->import->typed && keys->gpu_type != NULL) {
            err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "gpu_type")),
                    "gpu_type has no meaning for format %s: its run times "
                    "are the same on all types", name);
            return err_hint(err, "Leave gpu_type out.");
        }
        if (!spec->import->typed || keys->gpu_type != NULL)
            return spec->request.lengths == NULL ||
                   path_check_named(spec->request.lengths, "lengths", conf_pos(node), err);
        return err_set(err, ERR_SCHEMA, conf_pos(conf), "gpu_type is missing: "
                       "run times depend on the type of GPU");
    }
    if (keys->lengths == NULL && keys->gpu_type == NULL)
        return true;
    if (node == NULL)
        node = conf_get(conf, "gpu_type");
    return err_set(err, ERR_SCHEMA, conf_pos(node),
                   "format %s holds its own run times and takes neither "
                   "lengths nor gpu_type", name);
}

/* Refuses keys of what the format does not have.  The GPU types of a csv are
 * known if a column of them is named.  Keys of `skip` are never refused: such
 * rows may come or not. */
static bool check_format(const struct trace_spec *spec, struct err *err)
{
    bool plain = spec->import == NULL;
    bool typed = !plain || spec->columns.gpu_types != NULL;

    return conf_acts(spec->conf, "constraints", !typed,
                     "needs the column gpu_types", err) &&
           conf_acts(spec->conf, "unknown_run_time", !plain,
                     "needs format csv or swf", err);
}

/* Reads the keys.  What one format lacks or needs is reported at the key's
 * place. */
static bool read_keys(struct trace_spec *spec, const struct world *world,
                      const struct conf_node *conf)
{
    struct trace_keys *keys = &spec->keys;
    struct err *err = world->err;

    spec->conf = conf;
    /* The key has no default: formats differ in what their column of GPUs says. */
    keys->gpus_are = -1;
    if (!conf_fill(conf, &trace_schema, keys, err))
        return false;
    struct err_pos pos = conf_pos(conf_get(conf, "file"));
    /* Relative to the file that has the key, which an experiment may include from elsewhere. */
    spec->path = path_beside(world->arena, pos.file, keys->file);
    if (!path_check_named(spec->path, "trace", pos, err))
        return false;
    if (keys->format == FORMAT_CSV && keys->columns == NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(conf), "columns is missing: format csv needs it");
        return err_hint(err, "Write columns: {submit: A, duration: B, gpus: C}, with the names "
                        "that the first line of the file has.");
    }
    if (keys->format != FORMAT_CSV && keys->columns != NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(keys->columns),
                       "columns has no meaning for format %s",
                       format_choices[keys->format]);
    if (keys->columns != NULL) {
        spec->columns_pos = conf_pos(keys->columns);
        if (!conf_fill(keys->columns, &trace_columns_schema, &spec->columns,
                       err))
            return false;
    }
    if (keys->estimate == ESTIMATE_REQUESTED &&
        keys->format == FORMAT_CSV && spec->columns.limit == NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(conf),
                       "estimate requested needs the column limit");
    if (!read_format(spec, world, conf) || !check_format(spec, err))
        return false;
    if (keys->resample != NULL &&
        !resample_read(keys->resample, world->cluster->gpu_count,
                       &spec->resample, err))
        return false;
    /* Jobs of which none ends before the last has come need no times. */
    if (spec->resample.until_milli > 0 && spec->resample.stay &&
        spec->import != NULL)
        spec->request.untimed = spec->import->untimed;
    if (keys->slice != NULL &&
        !conf_fill(keys->slice, &trace_slice_schema, &spec->slice, err))
        return false;
    if (keys->where != NULL && conf_kind(keys->where) != CONF_SCALAR)
        return err_set(err, ERR_SCHEMA, conf_pos(keys->where),
                       "where must be a condition, such as 'gpus <= 8'");
    if (keys->tenant_pools && keys->format == FORMAT_CSV &&
        spec->columns.tenant == NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "tenant_pools")),
                       "tenant_pools needs the column tenant");
    if (keys->tenant_pools && keys->format == FORMAT_SWF)
        return err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "tenant_pools")),
                       "tenant_pools has no meaning for format swf, whose jobs "
                       "have no tenant in a workload");
    return keys->skip == NULL ||
           conf_fill(keys->skip, &trace_skip_schema, &spec->skip, err);
}

/* Reads `run_times:`, columns that say for each row what `rates` says for all. */
static bool read_run_times(struct trace_spec *spec, const struct world *world)
{
    const struct trace_keys *keys = &spec->keys;

    if (keys->run_times == NULL)
        return true;
    if (keys->format != FORMAT_CSV)
        return err_set(world->err, ERR_SCHEMA, conf_pos(keys->run_times),
                       "run_times has no meaning for format %s: it names "
                       "columns of a csv", format_choices[keys->format]);
    if (keys->rates != NULL)
        return err_set(world->err, ERR_SCHEMA, conf_pos(keys->run_times),
                       "run_times and rates both say how fast jobs are: give "
                       "one");
    spec->form.paced = true;
    spec->run_times = run_times_read(world, keys->run_times);
    return spec->run_times != NULL;
}

/* Reads how fast jobs are with other sizes and in other pools than those of the
 * file: elastic, rates, run_times and packing.  gpus_max is lowered to what the
 * pools that they name have. */
static bool read_pacing(struct trace_spec *spec, const struct world *world)
{
    const struct trace_keys *keys = &spec->keys;
    const struct conf_node *rates = keys->rates;
    uint32_t most;

    if (spec->request.applications && (rates != NULL || keys->elastic != NULL))
        return err_set(world->err, ERR_SCHEMA,
                       conf_pos(rates != NULL ? rates : keys->elastic),
                       "lengths: applications says all sizes and rates: "
                       "elastic and rates have no meaning beside it");

    if (!speedup_keys_read(world, keys->elastic, rates, &spec->form, &spec->rates) ||
        !read_run_times(spec, world))
        return false;
    if (rates != NULL && spec->rates == NULL) {
        if (strcmp(conf_text(rates), "lengths") != 0 ||
            spec->import == NULL || !spec->import->typed ||
            spec->import->has_lengths)
            return err_set(world->err, ERR_SCHEMA, conf_pos(rates),
                           "rates must be a map of pools or GPU types, or, "
                           "for format gavel, lengths");
        spec->kinds = speedup_kinds_read(world, rates, spec->request.lengths,
                                         keys->gpu_type);
        if (spec->kinds == NULL)
            return false;
    } else if (spec->form.scaling != NULL &&
               spec->form.scaling->kind == SCALING_RATES) {
        return err_set(world->err, ERR_SCHEMA, conf_pos(keys->elastic),
                       "scaling rates needs rates by size: rates: lengths of "
                       "format gavel");
    }
    const struct job_form *form = &spec->form;
    if (!packing_read(world, keys->packing, &spec->form) ||
        !packing_names_ok(world, keys->packing, &form, 1))
        return false;
    most = speedup_gpus_max(world, spec->rates ? spec->rates->pool_mask
                                   : spec->run_times
                                       ? run_times_pools(spec->run_times) : 0);
    if ((rates != NULL || spec->run_times != NULL) && most < spec->gpus_max)
        spec->gpus_max = most;
    return true;
}

/* Counts the blocks of `resample`, which is possible only when all rows are
 * read. */
static bool count_blocks(struct trace_spec *spec, struct err *err)
{
    return spec->resample.block_ns == 0 ||
           resample_count(&spec->resample, spec->sorted, spec->sorted_count,
                          conf_pos(conf_get(spec->keys.resample, "block")),
                          &spec->counts.never_drawn, err);
}

/* Order: keys, the form of its jobs, rates, and then the file itself, whose
 * rows are judged by all of these. */
const struct trace_spec *trace_read(const struct world *world,
                                    const struct conf_node *conf)
{
    struct trace_spec *spec = arena_alloc(world->arena, 1, sizeof *spec);

    assert(conf != NULL);
    if (!read_keys(spec, world, conf) ||
        !whole_job_form(world, "trace", &role_trace_schema, spec->keys.role,
                        conf_pos(conf), &spec->form, &spec->gpus_max) ||
        !read_pacing(spec, world))
        return NULL;
    spec->milli_max = draw_most_milli(world->cluster, &spec->form.role[0], spec->gpus_max);
    if (spec->request.applications)
        spec->applications = applications_new(world, &spec->form);
    spec->form.paced |= spec->request.applications;     /* as those of applications are */
    spec->tasks = trace_kinds_new(world, &spec->form);
    spec->world = world;
    if (!trace_check(spec, world) || !count_blocks(spec, world->err))
        return NULL;
    spec->world = NULL;         /* no row is judged from now on */
    return spec;
}

const struct job_form *trace_form(const struct trace_spec *spec)
{
    return &spec->form;
}

struct source_counts trace_counts(const struct trace_spec *spec)
{
    return spec->counts;
}

bool trace_has_applications(const struct trace_spec *spec)
{
    return spec->request.applications;
}

int64_t trace_begin_ns(const struct trace_spec *spec)
{
    return spec->begin_ns;
}

double trace_work_span_s(int64_t first_ns, int64_t last_ns, uint64_t jobs)
{
    assert(last_ns >= first_ns);
    if (jobs < 2 || last_ns == first_ns)
        return 0;
    return clock_s_from_ns(last_ns - first_ns) * (double)jobs / (double)(jobs - 1);
}

bool trace_fits_services(const struct trace_spec *spec, struct err *err)
{
    const struct conf_node *origin = conf_get(spec->conf, "origin");

    if (spec->begin_ns <= spec->end_ns - spec->begin_ns)
        return true;
    err_set(err, ERR_RANGE, conf_pos(origin != NULL ? origin : spec->conf),
            "the first job comes at %.9g s, and the jobs take %.9g s: services "
            "beside them begin at 0 s", clock_s_from_ns(spec->begin_ns),
            clock_s_from_ns(spec->end_ns - spec->begin_ns));
    return err_hint(err, "With `origin: first` both begin together.");
}

enum workload_estimate trace_estimate(const struct trace_spec *spec)
{
    return (enum workload_estimate)spec->keys.estimate;
}

bool trace_states_priority(const struct trace_spec *spec)
{
    return spec->columns.priority != NULL || spec->has_priority;
}

const char *const *trace_tenants(const struct trace_spec *spec, size_t *count)
{
    *count = spec->tenants;
    return spec->tenant;
}

bool trace_draws(const struct trace_spec *spec)
{
    return spec->keys.resample != NULL;
}
