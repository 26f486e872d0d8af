/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise.c - `clustersim advise`: which GPUs, how many, laid out how.
 *
 * Reads the options and the file, then for each service and each job: search,
 * rank, print, and on request CSV, chart and plan.  Services come first, since
 * a workload with both is mostly about them.
 */
#include <math.h>
#include <string.h>

#include "experiments/advise/advice_check.h"
#include "experiments/advise/advise.h"
#include "experiments/advise/print.h"
#include "experiments/advise/rank.h"
#include "experiments/advise/service.h"
#include "experiments/cli/command.h"
#include "experiments/options/args.h"
#include "experiments/spec/tree.h"
#include "models/jobs/job.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "workloads/requests/services.h"

#define GPUS_DEFAULT 1024
/* Beyond, a search over counts takes minutes. */
#define GPUS_MAX     16384
#define TOP_DEFAULT  10         /* rows that are printed */

/* One run of the command: what was read, and how to show it. */
struct advising {
    struct cli *cli;            /* of the program */
    const struct args *args;    /* the words of the command line */
    struct advise_world world;  /* what there is to choose from */
    struct advise_job *job;     /* [job_count], of the workload */
    size_t job_count;
    struct advise_service *service; /* [service_count], likewise */
    size_t service_count;
    uint32_t top;               /* rows that are printed for each job or service */
    bool by_time;               /* --sort time; else by cost */
    struct sheet *csv;          /* or NULL */
};

/* Reads --sort: cost, the default, or time.  False, with err, for another word. */
static bool read_sort(struct advising *a, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *sort = a->args->given[ARG_SORT] ? a->args->value[ARG_SORT]
                                                : "cost";

    a->by_time = strcmp(sort, "time") == 0;
    return a->by_time || strcmp(sort, "cost") == 0 ||
           err_set(err, ERR_USAGE, nowhere,
                   "--sort must be cost or time, and is '%.40s'", sort);
}

/* False, with err, unless --plot names a PNG: no other chart is drawn. */
static bool check_plot(const struct args *args, struct err *err)
{
    const char *path = args->value[ARG_PLOT];
    size_t bytes = args->given[ARG_PLOT] ? strlen(path) : 0;

    return !args->given[ARG_PLOT] || (bytes > 4 && strcmp(path + bytes - 4, ".png") == 0) ||
           err_set(err, ERR_USAGE, (struct err_pos){ NULL, 0, 0 },
                   "--plot must name a file that ends with .png, and is '%.100s'", path);
}

/* Reads --tier, whose prices rank the GPUs.  A cluster that is given has prices
 * of its own, so both together are refused.  Owned hardware has no market: what
 * it costs stands in a file of a cluster. */
static bool read_tier(struct advising *a, const char *cluster,
                      struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *text = a->args->value[ARG_TIER], *near;
    int tier = 0;

    if (!a->args->given[ARG_TIER])
        return true;
    while (tier < TIER_COUNT && strcmp(price_tier_choices[tier], text) != 0)
        tier++;
    if (tier == TIER_COUNT || tier == TIER_OWNED) {
        near = conf_nearest(text, price_tier_choices);
        err_set(err, ERR_USAGE, nowhere, "--tier must be list, marketplace, "
                "reserved, spot or assumption, and is '%.40s'", text);
        if (tier == TIER_OWNED)
            return err_hint(err, "What you own stands in a file: --cluster "
                                 "FILE, with price: owned.");
        return near == NULL ? false
                            : err_hint(err, "Did you mean %s?", near);
    }
    if (cluster != NULL)
        return err_set(err, ERR_USAGE, nowhere, "--tier ranks prices of the "
                       "catalogue: the nodes of %s have prices of their own",
                       cluster);
    a->world.tier = (enum price_tier)tier;
    return true;
}

/* Keeps the one job or service that --job names; the other list becomes empty.
 * A name that is not there is an error with the nearest name. */
static bool pick_job(struct advising *a, struct err *err)
{
    struct err_pos pos = { a->args->word[0], 0, 0 };
    const char *wanted = a->args->value[ARG_JOB], *near;
    const char *names[64];
    size_t n = 0;

    if (!a->args->given[ARG_JOB])
        return true;
    for (size_t i = 0; i < a->job_count; i++) {
        if (strcmp(a->job[i].form->name, wanted) == 0) {
            a->job = &a->job[i];
            a->job_count = 1;
            a->service_count = 0;
            return true;
        }
        if (n + 1 < sizeof names / sizeof names[0])
            names[n++] = a->job[i].form->name;
    }
    for (size_t i = 0; i < a->service_count; i++) {
        if (strcmp(a->service[i].entry->spec.name, wanted) == 0) {
            a->service = &a->service[i];
            a->service_count = 1;
            a->job_count = 0;
            return true;
        }
        if (n + 1 < sizeof names / sizeof names[0])
            names[n++] = a->service[i].entry->spec.name;
    }
    names[n] = NULL;
    err_set(err, ERR_REFERENCE, pos, "there is no job or service called "
            "'%.60s'", wanted);
    near = conf_nearest(wanted, names);
    return err_hint(err, "There is %s.", near != NULL ? near : names[0]);
}

/* False, with err, if the only thing that is asked about is a job on cores alone. */
static bool check_job(const struct advising *a, struct err *err)
{
    return a->job_count + a->service_count > 1 || a->job_count == 0 ||
           advise_job_check(&a->job[0], err);
}

/* Loads the catalogue, with the files that the workload's file names under
 * `catalogue:`. The experiment that `-o` writes would not have them, so both
 * together are refused. */
static bool read_catalogue(struct advising *a, struct err *err)
{
    struct experiment_inputs inputs = { .arena = a->cli->arena };
    const struct conf_node *root = tree_load(&inputs, a->args->word[0], err), *own;

    own = root != NULL && conf_kind(root) == CONF_MAP ? conf_get(root, "catalogue")
                                                      : NULL;
    if (own != NULL && a->args->given[ARG_OUT]) {
        err_set(err, ERR_USAGE, conf_pos(own), "-o writes an experiment for the "
                "built-in catalogue, and this file has one of its own");
        return err_hint(err, "Leave -o out, and write the row by hand.");
    }
    if (root != NULL)
        a->world.catalogue = tree_catalogue(a->cli->arena, own, err);
    return root != NULL && a->world.catalogue != NULL;
}

/* Reads options, catalogue, cluster, services and jobs, so that everything
 * wrong is found before the first search.  A question to `advise` holds its own
 * cluster. */
static bool read_all(struct advising *a, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *cluster = a->args->value[ARG_CLUSTER];
    uint32_t top = TOP_DEFAULT;

    if (cluster == NULL &&
        advice_check_is(a->cli->arena, a->args->word[0]))
        cluster = a->args->word[0];         /* a question has its own */
    a->world.arena = a->cli->arena;
    a->world.gpus_max = GPUS_DEFAULT;
    if (!args_number(a->args, ARG_GPUS, 1, GPUS_MAX, &a->world.gpus_max,
                     err) ||
        !args_number(a->args, ARG_TOP, 1, 1000, &top, err) ||
        !read_sort(a, err) || !check_plot(a->args, err) || !read_tier(a, cluster, err) ||
        !read_catalogue(a, err) || !advise_world_read(&a->world, cluster, err))
        return false;
    a->top = top;
    a->service_count = advise_services_read(&a->world, a->args->word[0],
                                            &a->service, err);
    if (a->service_count == 0 && err->kind != ERR_NONE)
        return false;
    a->job_count = advise_jobs_read(&a->world, a->args->word[0], &a->job,
                                    err);
    if (a->job_count + a->service_count == 0 || err->kind != ERR_NONE ||
        !pick_job(a, err) || !check_job(a, err))
        return false;
    if (a->job_count + a->service_count > 1 &&
        (a->args->given[ARG_OUT] || a->args->given[ARG_PLOT] ||
         ((a->args->given[ARG_CSV] || a->args->given[ARG_JSON]) &&
          a->job_count > 0 && a->service_count > 0)))
        return err_set(err, ERR_USAGE, nowhere, "-o and --plot, and beside services "
                       "--csv and --json, take one job or service: there are %zu; "
                       "choose one with --job",
                       a->job_count + a->service_count);
    return true;
}

/* Writes the best row as an experiment, into the file of -o.  False, with err:
 * there is no row, or no file. */
static bool write_plan(const struct advising *a, const struct advice *advice,
                       struct err *err)
{
    struct err_pos pos = { a->args->word[0], 0, 0 };
    const struct advise_row **rows;
    struct out *out;

    if (advise_order(advice, a->by_time, &rows) == 0)
        return err_set(err, ERR_RANGE, pos,
                       "nothing fits: there is no row to write to %s",
                       a->args->value[ARG_OUT]);
    out = out_open(a->cli->arena, a->args->value[ARG_OUT], err);
    if (out == NULL)
        return false;
    out_text(out, advise_plan_text(advice, rows[0]));
    return out_close(out, err);
}

/* Answers for one job.  --memory needs no search: it tells of the job as it is
 * written. */
static bool advise_one(const struct advising *a, const struct advise_job *job,
                       struct err *err)
{
    FILE *file = a->cli->out;
    struct advice advice;
    struct err cores = { 0 };

    if (!advise_job_check(job, &cores)) {       /* one of several */
        command_warn(a->cli, &cores);
        return true;
    }
    if (a->args->given[ARG_MEMORY]) {
        advise_print_memory(file, &a->world, job);
        return true;
    }
    advise_search(&a->world, job, &advice);
    advise_rank(&advice, a->top);
    advise_print(file, &advice, a->by_time, a->top);
    advise_print_misses(file, &advice);
    if (a->csv != NULL)
        advise_csv(a->csv, &advice, a->by_time);
    return (!a->args->given[ARG_OUT] || write_plan(a, &advice, err)) &&
           (!a->args->given[ARG_PLOT] ||
            advise_plot(a->cli->arena, a->args->value[ARG_PLOT], &advice,
                        err));
}

/* Writes the experiment that the advice amounts to (-o).  False, with err: there is
 * none, or it cannot be written. */
static bool write_service_plan(const struct advising *a,
                               const struct advise_service *service,
                               struct err *err)
{
    struct err_pos pos = { a->args->word[0], 0, 0 };
    char *text = advise_service_plan(service);
    struct out *out;

    if (text == NULL)
        return err_set(err, ERR_RANGE, pos, "there is no plan to write to %s: "
                       "nothing keeps the promise, or requests are of a file "
                       "or too many", a->args->value[ARG_OUT]);
    out = out_open(a->cli->arena, a->args->value[ARG_OUT], err);
    if (out == NULL)
        return false;
    out_text(out, text);
    return out_close(out, err);
}

/* Answers for one service: searches, prints, and writes what options ask for. */
static bool advise_service(const struct advising *a,
                           struct advise_service *service, struct err *err)
{
    if (!advise_service_search(service, a->by_time, err))
        return false;
    advise_service_print(a->cli->out, service, a->top);
    if (a->csv != NULL)
        advise_service_csv(a->csv, service);
    if (a->args->given[ARG_PLOT] &&
        !advise_service_plot(a->cli->arena, a->args->value[ARG_PLOT], service,
                             err))
        return false;
    return !a->args->given[ARG_OUT] || write_service_plan(a, service, err);
}

/* Answers for each service and then each job, with an empty line between two
 * answers. */
static bool advise_all(struct advising *a, struct err *err)
{
    for (size_t i = 0; i < a->service_count; i++) {
        if (i > 0)
            fputs("\n", a->cli->out);
        if (!advise_service(a, &a->service[i], err))
            return false;
    }
    if (a->service_count > 0 && a->job_count > 0)
        fputs("\n", a->cli->out);
    for (size_t i = 0; i < a->job_count; i++) {
        if (i > 0)
            fputs("\n", a->cli->out);
        if (!advise_one(a, &a->job[i], err))
            return false;
    }
    return true;
}

/* Prints the rows of --csv as JSON, in the place of the text for people, which
 * goes to /dev/null meanwhile.  Returns the exit status. */
static int print_json(struct advising *a)
{
    FILE *out = a->cli->out, *unread = fopen("/dev/null", "w");
    struct out *answer = out_stream(a->cli->arena, "the answer", out);
    struct err err = { 0 };
    bool good;

    if (unread == NULL) {
        err_set(&err, ERR_IO, (struct err_pos){ "/dev/null", 0, 0 }, "cannot be opened");
        out_abandon(answer);
        return command_fail(a->cli, &err);
    }
    a->csv = a->job_count > 0 ? advise_csv_new() : advise_service_csv_new();
    a->cli->out = unread;
    good = advise_all(a, &err);
    a->cli->out = out;
    fclose(unread);
    if (good) {
        sheet_json(a->csv, answer);
        out_text(answer, "\n");
        good = out_close(answer, &err);
    } else {
        out_abandon(answer);
    }
    sheet_free(a->csv);
    return good ? 0 : command_fail(a->cli, &err);
}

/* False, with err: a file that is read would be written over. */
static bool check_apart(const struct args *args, struct err *err)
{
    static const enum arg written[] = { ARG_OUT, ARG_CSV, ARG_PLOT };
    struct err_pos nowhere = { NULL, 0, 0 };

    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        const char *path = args->value[written[i]];

        if (args->given[written[i]] &&
            (path_same(path, args->word[0]) ||
             (args->given[ARG_CLUSTER] && path_same(path, args->value[ARG_CLUSTER]))))
            return err_set(err, ERR_USAGE, nowhere, "%.80s would be overwritten: give %s "
                           "another name", path, arg_info(written[i])->name);
    }
    return true;
}

/* --json cannot stand beside options that print another answer. */
static bool check_json(const struct args *args, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    return !args->given[ARG_JSON] || !(args->given[ARG_CSV] || args->given[ARG_MEMORY]) ||
           err_set(err, ERR_USAGE, nowhere, "--json cannot be given with --csv or "
                   "--memory: it prints the rows of --csv");
}

/* False, with err, if --memory stands beside an option of the search, which is not made then. */
static bool check_memory(const struct args *args, struct err *err)
{
    static const enum arg of_search[] = { ARG_OUT, ARG_CSV, ARG_PLOT, ARG_SORT, ARG_TOP,
                                          ARG_TIER };
    struct err_pos nowhere = { NULL, 0, 0 };

    for (size_t i = 0; args->given[ARG_MEMORY] && i < sizeof of_search / sizeof of_search[0]; i++)
        if (args->given[of_search[i]])
            return err_set(err, ERR_USAGE, nowhere, "%s has no effect with --memory, which tells "
                           "of the job as it is written", arg_info(of_search[i])->name);
    return true;
}

/* The CSV is opened before the search, so that a path that cannot be written is
 * found at once, and abandoned if the search fails. */
static int run_advise(struct cli *cli, const struct args *args)
{
    struct advising a = { .cli = cli, .args = args };
    struct err err = { 0 };
    struct out *out = NULL;
    bool good = check_json(args, &err) && check_memory(args, &err) && check_apart(args, &err) &&
                read_all(&a, &err);

    if (good && args->given[ARG_JSON])
        return print_json(&a);
    if (good && args->given[ARG_CSV]) {
        a.csv = a.job_count > 0 ? advise_csv_new() : advise_service_csv_new();
        out = out_open(cli->arena, args->value[ARG_CSV], &err);
        good = out != NULL;
    }
    good = good && advise_all(&a, &err);
    if (good && out != NULL) {
        sheet_csv(a.csv, out);
        good = out_close(out, &err);
    } else {
        out_abandon(out);
    }
    sheet_free(a.csv);
    return good ? 0 : command_fail(cli, &err);
}

const struct command command_advise = {
    "advise", "WORKLOAD.yaml [--cluster FILE] [--job NAME] [--gpus MAX] "
    "[--sort cost|time] [--tier TIER] [--top N] [--memory] [--csv FILE] [--json] "
    "[--plot FILE.png] [-o EXPERIMENT.yaml]",
    "which GPUs, how many, laid out how; what it takes and costs",
    "For each job of the mix: all GPU types of the cluster, or of the whole\n"
    "catalogue at its prices; powers of two and multiples of eight GPUs;\n"
    "tensor, pipeline and data parallelism, ZeRO, recomputing, micro batch.\n"
    "Prices are of one tier, published list prices unless --tier names\n"
    "another; GPUs without one are not ranked by cost.\n"
    "Printed are the best rows, by cost or by time, the Pareto front, and\n"
    "for what does not fit the bytes that are missing and each change that\n"
    "would make it fit, with its price in time.\n"
    "The best row is written by -o as an experiment that runs it: `clustersim\n"
    "check` then compares the simulation with the advice.\n"
    "--json prints the rows of --csv as JSON, and nothing else.\n"
    "--memory prints what each GPU holds of the job as it is written.\n"
    "For each service: on every GPU type, on cores, and divided among up to\n"
    "8 GPUs, the fewest replicas that answer 99% of requests as promised at\n"
    "the highest rate, simulated request by request.\n",
    ARG_BIT(ARG_CLUSTER) | ARG_BIT(ARG_JOB) | ARG_BIT(ARG_GPUS) |
        ARG_BIT(ARG_SORT) | ARG_BIT(ARG_TIER) | ARG_BIT(ARG_TOP) | ARG_BIT(ARG_MEMORY) |
        ARG_BIT(ARG_CSV) | ARG_BIT(ARG_JSON) | ARG_BIT(ARG_PLOT) | ARG_BIT(ARG_OUT), 1, 1,
    run_advise
};
