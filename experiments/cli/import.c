/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import.c - `clustersim import`: a public trace becomes a workload.
 *
 * Four kinds of formats (jobs, series, nodes, requests), told apart by their
 * names; each has its reader in experiments/import and workloads.  Nothing is
 * left out, mended or sorted unless it is asked for, and then it is counted.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/import/args.h"
#include "experiments/import/jobs_out.h"
#include "experiments/import/machines.h"
#include "experiments/import/report.h"
#include "experiments/import/requests.h"
#include "experiments/import/series.h"
#include "experiments/options/args.h"
#include "experiments/spec/tree.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "workloads/formats/import.h"
#include "workloads/series/series.h"

#define GPUS_MAX 100000000u

static const struct err_pos nowhere = { NULL, 0, 0 };

/* Finds the GPUs of the cluster for which the load is told: --gpus, or those of
 * --cluster.  0: none is given. */
static bool read_gpus(struct cli *cli, const struct args *args,
                      uint32_t *gpus, struct err *err)
{
    struct experiment_inputs inputs = { .arena = cli->arena };
    const struct catalogue *catalogue;
    const struct cluster_spec *spec;
    const struct conf_node *root;

    *gpus = 0;
    if (!args->given[ARG_CLUSTER])
        return args_number(args, ARG_GPUS, 1, GPUS_MAX, gpus, err);
    if (args->given[ARG_GPUS])
        return err_set(err, ERR_USAGE, nowhere,
                       "--gpus and --cluster both say how many GPUs there "
                       "are: give one");
    catalogue = catalogue_load(cli->arena, NULL, 0, err);
    root = catalogue == NULL
               ? NULL : tree_load(&inputs, args->value[ARG_CLUSTER], err);
    spec = root == NULL ? NULL
                        : cluster_read(cli->arena,
                                       tree_unwrap(root, "cluster"),
                                       catalogue, err);
    if (spec == NULL)
        return false;
    *gpus = spec->gpu_count;
    return *gpus > 0 ||
           err_set(err, ERR_RANGE, conf_pos(root),
                   "the cluster has no GPU for jobs of a trace");
}

/* Writes the jobs as CSV, and then the workload: a workload must not name a
 * file that is not there. */
static bool write_files(const struct imported *imported, const char *yaml,
                        const char *csv, struct err *err)
{
    struct arena *arena = imported->arena;
    struct jobs jobs = { imported->result->job, imported->result->count };
    const char *slash = strrchr(csv, '/');
    struct out *out = out_open(arena, csv, err);

    if (out == NULL)
        return false;
    jobs_out_csv(out, &jobs);
    if (!out_close(out, err))
        return false;
    out = out_open(arena, yaml, err);
    if (out == NULL)
        return false;
    import_yaml(out, imported, path_stem(arena, yaml),
                slash == NULL ? csv : slash + 1);
    return out_close(out, err);
}

/* False, with err, for an option that is of jobs alone, except `taken`: it
 * means nothing for series, nodes and requests. */
static bool check_options(const struct args *args, enum arg taken,
                          struct err *err)
{
    static const enum arg of_jobs[] = { ARG_SKIP, ARG_IN_ORDER, ARG_CLUSTER,
                                        ARG_GPUS, ARG_LENGTHS, ARG_GPU_TYPE,
                                        ARG_COLUMNS };

    for (size_t i = 0; i < sizeof of_jobs / sizeof of_jobs[0]; i++)
        if (args->given[of_jobs[i]] && of_jobs[i] != taken)
            return err_set(err, ERR_USAGE, nowhere,
                           "format %s holds no jobs: it takes no %s",
                           args->word[0], arg_info(of_jobs[i])->name);
    return true;
}

/* Prints the report, and leaves a copy of it beside the CSV. */
static bool report_jobs(struct cli *cli, const struct imported *imported,
                        const char *csv, struct err *err)
{
    struct import_paper paper = { 0 };
    bool good;

    if (!import_paper_begin(&paper, err))
        return false;
    import_report(paper.file, imported);
    good = import_layout(paper.file, imported->request->file, false, err) &&
           import_paper_end(&paper, cli->arena, cli->out, csv, err);
    import_paper_drop(&paper);
    return good;
}

/* Prints an error and drops the report that was begun.  Returns the status. */
static int fail(struct cli *cli, struct import_paper *paper, const struct err *err)
{
    import_paper_drop(paper);
    return command_fail(cli, err);
}

/* Imports a series: its CSV, and the file that names it.  Returns the status. */
static int import_series_file(struct cli *cli, const struct args *args)
{
    struct series_import import = {
        .arena = cli->arena, .format = series_format_find(args->word[0]),
        .request = { args->word[1], args->given[ARG_IN_ORDER] } };
    struct import_paper paper = { 0 };
    struct err err = { 0 };
    const char *csv = NULL;

    if (!import_arg_csv(cli->arena, args, true, &csv, &err) ||
        !check_options(args, ARG_IN_ORDER, &err) ||
        !import_series(&import, args->value[ARG_OUT], csv, &err) ||
        !import_paper_begin(&paper, &err))
        return fail(cli, &paper, &err);
    import_series_report(paper.file, &import);
    if (!import_layout(paper.file, args->word[1], true, &err) ||
        !import_paper_end(&paper, cli->arena, cli->out, csv, &err))
        return fail(cli, &paper, &err);
    fprintf(cli->out, "written      %s, %s\n", args->value[ARG_OUT], csv);
    return 0;
}

/* Imports requests of a service: the workload reads the file where it is.
 * Returns the status. */
static int import_requests(struct cli *cli, const struct args *args)
{
    struct requests_import import = {
        .arena = cli->arena, .format = args->word[0], .file = args->word[1] };
    struct import_paper paper = { 0 };
    struct err err = { 0 };
    const char *csv = NULL;

    if (!import_arg_csv(cli->arena, args, false, &csv, &err) ||
        !check_options(args, ARG_SKIP, &err) ||
        !import_requests_skip(args, &import, &err) ||
        !import_requests_read(&import, &err) ||
        !import_requests_write(&import, args->value[ARG_OUT], &err) ||
        !import_paper_begin(&paper, &err))
        return fail(cli, &paper, &err);
    import_requests_report(paper.file, &import);
    if (!import_layout(paper.file, args->word[1], true, &err) ||
        !import_paper_end(&paper, cli->arena, cli->out, csv, &err))
        return fail(cli, &paper, &err);
    fprintf(cli->out, "written      %s\n", args->value[ARG_OUT]);
    return 0;
}

/* Imports nodes, as a cluster manager lists them, as a cluster.  Returns the
 * status. */
static int import_machines(struct cli *cli, const struct args *args)
{
    const struct machines_format *format =
        machines_format_find(args->word[0]);
    struct machines machines = { .arena = cli->arena, .file = args->word[1],
                                 .format = format,
                                 .notes = { .arena = cli->arena } };
    struct import_paper paper = { 0 };
    struct err err = { 0 };
    const char *csv = NULL;

    if (!import_arg_csv(cli->arena, args, false, &csv, &err) ||
        !check_options(args, ARG_IN_ORDER, &err) ||
        !format->read(&machines, &err) ||
        !import_paper_begin(&paper, &err) ||
        !machines_write(&machines, args->value[ARG_OUT], paper.file, &err) ||
        !import_layout(paper.file, machines.file, false, &err) ||
        !import_paper_end(&paper, cli->arena, cli->out, csv, &err))
        return fail(cli, &paper, &err);
    fprintf(cli->out, "written      %s\n", args->value[ARG_OUT]);
    return 0;
}

/* Imports jobs, unless the format is one of series, nodes or requests. */
static int import(struct cli *cli, const struct args *args)
{
    struct import_request request = {
        .file = args->word[1], .lengths = args->value[ARG_LENGTHS],
        .gpu_type = args->value[ARG_GPU_TYPE],
        .sort = args->given[ARG_IN_ORDER] };
    struct import_result result = { 0 };
    struct imported imported = { .arena = cli->arena, .request = &request,
                                 .result = &result };
    struct err err = { 0 };
    const char *csv = NULL;

    if (series_format_find(args->word[0]) != NULL)
        return import_series_file(cli, args);
    if (machines_format_find(args->word[0]) != NULL)
        return import_machines(cli, args);
    if (import_requests_find(args->word[0]))
        return import_requests(cli, args);
    imported.format = import_arg_format(args->word[0], true, &err);
    if (imported.format == NULL ||
        !import_arg_csv(cli->arena, args, true, &csv, &err) ||
        !import_arg_skips(args, &request, &err) ||
        !import_arg_columns(cli->arena, args, &request.columns, &err) ||
        !read_gpus(cli, args, &imported.cluster_gpus, &err))
        return command_fail(cli, &err);
    request.gpus_max = imported.cluster_gpus;
    if (!import_read(cli->arena, imported.format, &request, &result, &err) ||
        !write_files(&imported, args->value[ARG_OUT], csv, &err) ||
        !report_jobs(cli, &imported, csv, &err))
        return command_fail(cli, &err);
    fprintf(cli->out, "written      %s, %s\n", args->value[ARG_OUT], csv);
    return 0;
}

const struct command command_import = {
    "import", "FORMAT FILE -o WORKLOAD.yaml [--skip REASON,..] [--sort]\n"
    "       [--columns KEY=NAME,..] [--cluster FILE|--gpus N]\n"
    "       [--lengths FILE [--gpu-type NAME]]",
    "a public trace becomes a workload, with a report of what is in it",
    "Reads FILE, plain, gzip or zstd (kube: plain), in one of the formats of\n"
    "`clustersim list formats`; writes its jobs as CSV beside the workload\n"
    "that reads them, and prints jobs, span, GPU-hours, quantiles and load.\n"
    "Nothing is left out, mended or sorted unless it is asked for, and then it\n"
    "is counted: a row that is no job is refused with file, line and column,\n"
    "and the message names the --skip that leaves such rows out.\n"
    "A CSV of your own is of format csv: --columns says which of its columns\n"
    "is what, as in submit=arrived,duration=runtime,gpus=1, where a number\n"
    "stands for every row.\n"
    "Formats of series - prices, availability, carbon, faults - become series\n"
    "in one common form, a CSV and the file that names it; a list of nodes\n"
    "(slurm-nodes, kube-nodes, openb-nodes) becomes a cluster; requests (azure,\n"
    "burstgpt, mooncake, servegen) become a service that reads them from FILE.\n"
    "The report is kept beside what was written, in\n"
    "WORKLOAD.report.txt.\n",
    ARG_BIT(ARG_OUT) | ARG_BIT(ARG_SKIP) | ARG_BIT(ARG_IN_ORDER) |
        ARG_BIT(ARG_CLUSTER) | ARG_BIT(ARG_GPUS) | ARG_BIT(ARG_LENGTHS) |
        ARG_BIT(ARG_GPU_TYPE) | ARG_BIT(ARG_COLUMNS), 2, 2, import
};
