/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.c - `clustersim export`: whole jobs of a workload as CSV or SWF, or for
 * BatSim or OpenDC.
 *
 * The workload is read and its jobs of one seed are drawn, then written
 * (experiments/import/jobs_out.h).  Only jobs of known length have a run time
 * to write; what a format cannot hold is counted and told.
 */
#include <inttypes.h>
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/import/jobs_out.h"
#include "experiments/import/simulators_out.h"
#include "experiments/options/args.h"
#include "experiments/spec/tree.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "workloads/formats/import.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

/* Without a cluster: GPUs that only count, more than any trace asks for. */
#define GPUS_DEFAULT 131072u
#define GPUS_MAX 1000000u

static const struct err_pos nowhere = { NULL, 0, 0 };

/* The format of the file, in the order of shape_name. */
enum shape { SHAPE_CSV, SHAPE_SWF, SHAPE_BATSIM, SHAPE_OPENDC, SHAPES };
static const char *const shape_name[SHAPES + 1] = {
    "csv", "swf", "batsim", "opendc", NULL
};

/* Numbers of jobs that have what no format holds. */
struct unwritten {
    uint64_t elastic;           /* may be resized */
    uint64_t rates;             /* have a pace of their own on some GPUs */
    uint64_t packing;           /* may share GPUs */
    uint64_t batches;           /* change their batch size, or have a goodput */
    uint64_t places;            /* name a pool, cores or memory of a role */
    uint64_t types;             /* name types of GPU that all of their entry name */
    uint64_t names;             /* are of an entry of `mix:` with a name of its own */
};

/* One run of the command: the workload, what it was read against, and its jobs. */
struct exporting {
    struct cli *cli;
    const struct args *args;
    const struct workload_spec *spec;
    const struct cluster_spec *cluster;     /* against which `spec` was read */
    struct import_job *job;     /* drawn, in the order of submission */
    size_t count, room;         /* of them; memory for them */
    struct unwritten lost;
    uint32_t seed;              /* of --seed; it draws jobs of a mix */
    enum shape shape;           /* of --format */
};

/* Returns the cluster against which the workload is read: the one of --cluster,
 * or GPUs that only count.  NULL: err is set. */
static const struct conf_node *make_cluster(const struct exporting *e,
                                            struct err *err)
{
    struct experiment_inputs inputs = { .arena = e->cli->arena };
    const struct conf_node *root;
    uint32_t gpus = GPUS_DEFAULT;
    char *text;

    if (e->args->given[ARG_CLUSTER]) {
        root = tree_load(&inputs, e->args->value[ARG_CLUSTER], err);
        return root == NULL ? NULL : tree_unwrap(root, "cluster");
    }
    if (!args_number(e->args, ARG_GPUS, 1, GPUS_MAX, &gpus, err))
        return NULL;
    text = text_format(e->cli->arena, "nodes: [{name: gpu, count: %u, gpus: "
                       "{type: generic, count: %u}}]\n",
                       gpus % 8 == 0 ? gpus / 8 : gpus,
                       gpus % 8 == 0 ? 8 : 1);
    return conf_parse(e->cli->arena, "cluster", text, strlen(text), err);
}

/* False, with err, if a job has phases: it has no length of its own, as that
 * depends on where and when it runs. */
static bool check_whole(const struct exporting *e, struct err *err)
{
    for (size_t i = 0; i < workload_form_count(e->spec); i++) {
        const struct job_form *form = workload_form(e->spec, i);

        if (strcmp(form->recipe, "trace") == 0)
            continue;
        err_set(err, ERR_RANGE, (struct err_pos){ e->args->word[0], 0, 0 },
                "job %.60s is of recipe %s: it has phases, and no run time "
                "of its own", form->name, form->recipe);
        return err_hint(err, "Traces and mixes of recipe trace can be "
                             "exported: whole jobs.");
    }
    return true;
}

/* False, with err, if the file of the trace is the one that would be written. */
static bool check_trace(const struct exporting *e,
                        const struct conf_node *workload, struct err *err)
{
    const struct conf_node *trace = conf_get(workload, "trace");
    const struct conf_node *file =
        trace != NULL && conf_kind(trace) == CONF_MAP
            ? conf_get(trace, "file") : NULL;
    const char *path;

    if (file == NULL || conf_kind(file) != CONF_SCALAR)
        return true;
    path = path_beside(e->cli->arena, conf_pos(file).file, conf_text(file));
    return !path_same(path, e->args->value[ARG_OUT]) ||
           err_set(err, ERR_USAGE, nowhere,
                   "%.80s would be overwritten: give -o another name", path);
}

/* Reads the workload against a cluster that has room for all of it, and checks that
 * its jobs have a run time to write. */
static bool read_workload(struct exporting *e, struct err *err)
{
    struct arena *arena = e->cli->arena;
    struct experiment_inputs inputs = { .arena = arena };
    const struct catalogue *catalogue = catalogue_load(arena, NULL, 0, err);
    const struct conf_node *cluster =
        catalogue == NULL ? NULL : make_cluster(e, err);
    const struct cluster_spec *spec =
        cluster == NULL ? NULL : cluster_read(arena, cluster, catalogue, err);
    const struct conf_node *root =
        spec == NULL ? NULL : tree_load(&inputs, e->args->word[0], err);

    if (root == NULL || !tree_is_no_experiment(root, "workload", err))
        return false;
    e->cluster = spec;
    root = tree_unwrap(root, "workload");
    if (conf_kind(root) == CONF_MAP && !check_trace(e, root, err))
        return false;
    e->spec = workload_read(arena, root, catalogue, spec, err);
    return e->spec != NULL && check_whole(e, err);
}

/* Returns the GPU types that a job takes, as "V100|T4", if it takes fewer than
 * others of its workload.  NULL: it takes all that these take. */
static const char *type_names(const struct exporting *e,
                              const struct job_form *form)
{
    const struct role_spec *role = &form->role[0];
    const char *text = NULL;

    for (size_t i = 0; i < workload_form_count(e->spec); i++)
        if (workload_form(e->spec, i)->role[0].gpu_types == role->gpu_types)
            return NULL;
    for (uint32_t t = 0; t < role->gpu_type_count; t++)
        for (uint32_t g = 0; g < e->cluster->group_count; g++) {
            const struct gpu_type *gpu = e->cluster->group[g].gpu;
            if (gpu == NULL || gpu->index != role->gpu_types[t])
                continue;
            text = text == NULL
                       ? gpu->name : text_format(e->cli->arena, "%s|%s", text,
                                                 gpu->name);
            break;
        }
    return text;
}

/* Has the cluster a GPU type that the job does not take? */
static bool is_typed(const struct exporting *e, const struct job_form *form)
{
    for (uint32_t g = 0; g < e->cluster->group_count; g++) {
        const struct gpu_type *gpu = e->cluster->group[g].gpu;
        if (gpu != NULL && !job_role_takes_type(&form->role[0], gpu->index))
            return true;
    }
    return false;
}

/* Counts what the job has beside the columns of its row. */
static void count_unwritten(struct exporting *e, const struct job_request *request,
                            const char *types)
{
    const struct role_spec *role = &request->form->role[0];
    struct unwritten *lost = &e->lost;

    lost->elastic += request->form->scaling != NULL;
    lost->rates += request->rates != NULL;
    lost->packing += request->form->packing != NULL;
    lost->batches += request->goodput != NULL || request->modes != NULL;
    lost->places += role->pool != NULL || role->on_cores.cores > 0 ||
                    (!role->pod && (role->cores > 0 || role->memory_bytes > 0));
    lost->names += strcmp(request->form->name, request->form->recipe) != 0;
    lost->types += types == NULL && role->pool == NULL && job_role_gpus(request, 0) > 0 &&
                   is_typed(e, request->form);
}

/* Keeps a job.  Its name is copied, since the stream overwrites it with the
 * next. */
static void keep_job(struct exporting *e, const struct job_birth *birth)
{
    const struct job_request *request = &birth->request;

    ARENA_REACH(e->cli->arena, e->job, e->room, e->count);
    e->job[e->count] = (struct import_job){
        .name = request->name == NULL
                    ? NULL : arena_text(e->cli->arena, request->name),
        .tenant = request->tenant,
        .submit_ns = request->submit_ns, .run_ns = birth->truth.duration_ns,
        .limit_ns = request->limit_ns, .deadline_ns = request->deadline_ns,
        .gpus = job_role_gpus(request, 0), .priority = request->priority,
        .row = e->count,
        .gpu_milli = request->gpu_milli, .gpu_mib = request->gpu_mib,
        .pod = request->form->role[0].pod,
        .core_milli = request->form->role[0].core_milli,
        .types = type_names(e, request->form) };
    if (request->form->role[0].pod)
        e->job[e->count].memory_bytes = request->form->role[0].memory_bytes;
    count_unwritten(e, request, e->job[e->count].types);
    e->count++;
}

/* Draws all jobs of replica 0, with the seed of --seed.  False, with err: there
 * is none, or the stream failed. */
static bool draw_jobs(struct exporting *e, struct err *err)
{
    struct source *source = source_open(e->cli->arena, e->spec, e->seed, 0);
    enum source_step step = SOURCE_ERROR;
    struct job_birth birth;

    while ((step = source_next(source, &birth, err)) == SOURCE_JOB)
        keep_job(e, &birth);
    return step == SOURCE_END &&
           (e->count > 0 ||
            err_set(err, ERR_RANGE,
                    (struct err_pos){ e->args->word[0], 0, 0 },
                    "the workload has no jobs"));
}

/* Reads --format; false, with err and the nearest name. */
static bool read_shape(struct exporting *e, const char *name, struct err *err)
{
    const char *near;

    for (int s = 0; s < SHAPES; s++)
        if (strcmp(name, shape_name[s]) == 0) {
            e->shape = (enum shape)s;
            return true;
        }
    near = conf_nearest(name, shape_name);
    err_set(err, ERR_USAGE, nowhere,
            "--format must be csv, swf, batsim or opendc, and is '%.40s'",
            name);
    return near == NULL ? false : err_hint(err, "Did you mean %s?", near);
}

/* Does the name end as those of the Standard Workload Format do? */
static bool is_named_swf(const char *path)
{
    size_t bytes = strlen(path);

    return bytes > 4 && strcmp(path + bytes - 4, ".swf") == 0;
}

/* Checks what can be wrong without the workload being read. */
static bool read_options(struct exporting *e, struct err *err)
{
    const struct args *args = e->args;
    const char *format = args->given[ARG_SHAPE] ? args->value[ARG_SHAPE]
                                                : "csv";

    e->seed = 1;
    if (!read_shape(e, format, err))
        return false;
    if (!args->given[ARG_OUT])
        return err_set(err, ERR_USAGE, nowhere, "export needs -o FILE");
    if (!args->given[ARG_SHAPE] && is_named_swf(args->value[ARG_OUT]))
        return err_set(err, ERR_USAGE, nowhere, "%.80s would be a CSV: --format swf writes SWF",
                       args->value[ARG_OUT]);
    if (args->given[ARG_CLUSTER] && args->given[ARG_GPUS])
        return err_set(err, ERR_USAGE, nowhere,
                       "--gpus and --cluster both say how many GPUs there "
                       "are: give one");
    if (path_same(args->value[ARG_OUT], args->word[0]))
        return err_set(err, ERR_USAGE, nowhere,
                       "%.80s would be overwritten: give -o another name",
                       args->word[0]);
    return args_number(args, ARG_SEED, 0, UINT32_MAX, &e->seed, err);
}

/* Prints a line such as "3 jobs: have a deadline", and nothing for a count of
 * 0. */
static void print_lost(FILE *file, uint64_t count, const char *what)
{
    if (count > 0)
        fprintf(file, "  %" PRIu64 " jobs: %s\n", count, what);
}

/* Prints what no format holds: if the file is read back, its jobs are others in
 * that. */
static void print_unwritten(FILE *file, const struct exporting *e)
{
    const struct unwritten *lost = &e->lost;

    print_lost(file, lost->elastic, "are elastic: written with the GPUs that they ask for alone");
    print_lost(file, lost->rates, "have rates by pool or type of GPU: not written");
    print_lost(file, lost->packing, "may share GPUs by `packing`: not written");
    print_lost(file, lost->batches, "have batch sizes that change, or a goodput: not written");
    print_lost(file, lost->places, "name a pool, cores or memory of their role: not written");
    print_lost(file, lost->types, "name types of GPU, as all of their entry do: not written");
    print_lost(file, lost->names, "have the name of their entry of `mix:`, the kind of results: "
               "not written");
    if (workload_service_count(e->spec) > 0)
        fprintf(file, "  services are no jobs: not written\n");
}

/* What neither BatSim nor OpenDC has a field for. */
static void print_simulators_lost(FILE *file,
                                  const struct simulators_lost *lost)
{
    print_lost(file, lost->no_gpus, "ask for no GPU: left out");
    print_lost(file, lost->parts, "take a part of a GPU: written as a whole "
                                  "one");
    print_lost(file, lost->rounded, "have times that are no whole "
                                    "milliseconds: rounded up");
    print_lost(file, lost->limits, "have a limit, for which there is no field");
    print_lost(file, lost->cores, "ask for cores or memory of a node: not "
                                  "written, but for mem_capacity of OpenDC");
    print_lost(file, lost->types, "ask for types of GPU, for which there is no "
                                  "field");
    print_lost(file, lost->tenants, "have a tenant, for which there is no "
                                    "field");
    print_lost(file, lost->priorities, "have a priority, for which there is no "
                                       "field");
    print_lost(file, lost->deadlines, "have a deadline, for which there is no "
                                      "field");
}

/* Returns the path of a second file beside that of -o: NAME.fragments.csv
 * beside NAME.csv. */
static const char *path_of(const struct exporting *e, const char *ending)
{
    const char *path = e->args->value[ARG_OUT];
    size_t bytes = strlen(path);

    if (bytes > 4 && strcmp(path + bytes - 4, ".csv") == 0)
        bytes -= 4;
    return text_format(e->cli->arena, "%.*s.%s", (int)bytes, path, ending);
}

/* Counts the jobs that ask for more GPUs than any node has. */
static uint64_t count_wide(const struct exporting *e)
{
    int64_t most = 0;
    uint64_t wide = 0;

    for (uint32_t g = 0; g < e->cluster->group_count; g++)
        if ((int64_t)e->cluster->group[g].gpus > most)
            most = e->cluster->group[g].gpus;
    for (size_t i = 0; i < e->count; i++)
        wide += e->job[i].gpus > most;
    return wide;
}

/* Writes what OpenDC reads beside the tasks: their fragments and, of a cluster that
 * was given, the topology. */
static bool write_beside(const struct exporting *e, struct err *err)
{
    struct jobs jobs = { e->job, e->count };
    const char *path = path_of(e, "fragments.csv");
    struct out *out = out_open(e->cli->arena, path, err);

    if (out == NULL)
        return false;
    opendc_fragments_out(out, &jobs);
    if (!out_close(out, err))
        return false;
    fprintf(e->cli->out, "%s: a fragment for each\n", path);
    if (!e->args->given[ARG_CLUSTER])
        return true;
    path = path_of(e, "topology.json");
    out = out_open(e->cli->arena, path, err);
    if (out == NULL)
        return false;
    opendc_topology_out(out, e->cluster);
    print_lost(e->cli->out, count_wide(e), "ask for more GPUs than any node has: "
               "OpenDC runs a task on one host");
    fprintf(e->cli->out, "%s: the nodes with GPUs\n", path);
    return out_close(out, err);
}

/* Returns the resources of BatSim's workload: those of the cluster that was given,
 * else those of the largest job. */
static uint64_t batsim_resources(const struct exporting *e)
{
    uint64_t most = 1;

    if (e->args->given[ARG_CLUSTER] || e->args->given[ARG_GPUS])
        return e->cluster->gpu_count;
    for (size_t i = 0; i < e->count; i++)
        if (e->job[i].gpus > (int64_t)most)
            most = (uint64_t)e->job[i].gpus;
    return most;
}

/* Writes the jobs for BatSim or OpenDC, and tells what was lost. */
static bool write_simulator(const struct exporting *e, struct err *err)
{
    const char *path = e->args->value[ARG_OUT];
    struct jobs jobs = { e->job, e->count };
    struct out *out = out_open(e->cli->arena, path, err);
    struct simulators_lost lost;

    if (out == NULL)
        return false;
    lost = e->shape == SHAPE_BATSIM
               ? batsim_out(e->cli->arena, out, &jobs, batsim_resources(e))
               : opendc_tasks_out(out, &jobs);
    if (!out_close(out, err))
        return false;
    fprintf(e->cli->out, "%s: %zu jobs\n", path,
            e->count - (size_t)lost.no_gpus);
    print_simulators_lost(e->cli->out, &lost);
    print_unwritten(e->cli->out, e);
    return e->shape == SHAPE_BATSIM || write_beside(e, err);
}

/* Writes the jobs, and tells how many of them lost what the format cannot hold. */
static bool write_jobs(const struct exporting *e, struct err *err)
{
    const char *path = e->args->value[ARG_OUT];
    struct jobs jobs = { e->job, e->count };
    struct jobs_lost lost = { 0 };
    FILE *file = e->cli->out;
    struct out *out;

    if (e->shape == SHAPE_BATSIM || e->shape == SHAPE_OPENDC)
        return write_simulator(e, err);
    out = out_open(e->cli->arena, path, err);
    if (out == NULL)
        return false;
    if (e->shape == SHAPE_SWF)
        lost = jobs_out_swf(e->cli->arena, out, &jobs, e->args->word[0]);
    else
        jobs_out_csv(out, &jobs);
    if (!out_close(out, err))
        return false;
    fprintf(file, "%s: %zu jobs\n", path, e->count);
    print_lost(file, lost.names, "have a name that is no whole number above 0; all "
                                 "are numbered from 1");
    print_lost(file, lost.tenants, "have a tenant that is no whole number above 0; "
                                   "all are numbered, see the file's notes");
    print_lost(file, lost.fractions, "have times with parts of a second, which "
                                     "some readers of SWF refuse");
    print_lost(file, lost.deadlines, "have a deadline, for which SWF has no field");
    print_lost(file, lost.no_gpus, "ask for no GPU: written with 0 processors, "
                                   "which import leaves out with --skip "
                                   "gpus_not_positive");
    print_lost(file, lost.parts, "take a part of a GPU: written as a whole one");
    print_lost(file, lost.demands, "ask for cores, memory or types of GPU, for "
                                   "which SWF has no field");
    print_lost(file, lost.priorities, "have a priority, for which SWF has no "
                                      "field");
    print_unwritten(file, e);
    return true;
}

/* Nothing is written before all jobs are drawn, so that a wrong entry leaves no file. */
static int run_export(struct cli *cli, const struct args *args)
{
    struct exporting e = { .cli = cli, .args = args };
    struct err err = { 0 };

    if (!read_options(&e, &err) || !read_workload(&e, &err) ||
        !draw_jobs(&e, &err) || !write_jobs(&e, &err))
        return command_fail(cli, &err);
    return 0;
}

const struct command command_export = {
    "export", "WORKLOAD.yaml -o FILE [--format csv|swf|batsim|opendc]\n"
    "       [--seed N] [--cluster FILE|--gpus N]",
    "whole jobs of a workload as a trace that others read",
    "Writes a trace, or jobs drawn by recipe `trace`, with exact decimal\n"
    "seconds; `clustersim import csv` or `import swf` reads them back.  Jobs\n"
    "with phases are refused: how long one takes depends on where and when\n"
    "it runs.  What the file has no field for is counted.  The workload is\n"
    "read against --cluster, or against GPUs that only count.\n"
    "batsim is a workload of BatSim, a JSON, for as many resources as the\n"
    "cluster has GPUs.  opendc are the tables of a trace of OpenDC, FILE and\n"
    "NAME.fragments.csv, which OpenDC takes as Parquet, and, with --cluster,\n"
    "NAME.topology.json; a GPU is written as a CPU of 1000 MHz.\n",
    ARG_BIT(ARG_OUT) | ARG_BIT(ARG_SHAPE) | ARG_BIT(ARG_SEED) |
        ARG_BIT(ARG_CLUSTER) | ARG_BIT(ARG_GPUS), 1, 1, run_export
};
