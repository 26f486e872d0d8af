/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.c - a search from the command line to its end.
 *
 * A search (border, sensitivity, tune) keeps its trials in .trials of the
 * results folder while it runs, so that it can be interrupted and shared by
 * processes; when it is done, the trials go, unless another process still uses
 * the folder.
 */
#include "experiments/cli/search.h"

#include "experiments/cli/experiment.h"
#include "experiments/options/args.h"
#include "experiments/probe/probe.h"
#include "experiments/report/report.h"
#include "experiments/sensitivity/border.h"
#include "experiments/sensitivity/sensitivity.h"
#include "experiments/spec/experiment.h"
#include "experiments/tune/tune.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"

/* Several processes may search in the folder at once, so its lock is shared
 * with them; no run can begin there meanwhile. */
bool search_begin(struct cli *cli, const struct args *args,
                  struct search_command *search, struct err *err)
{
    struct probe_options options = {
        .experiment = { .set = args->set, .set_count = args->set_count,
                        .dir = args->value[ARG_OUT], .check = cmd_experiment_check },
        .progress = cli->progress && !args->given[ARG_QUIET]
    };

    *search = (struct search_command){ .cli = cli, .args = args };
    if (!cmd_threads(args, &options.threads, err) ||
        !args_number(args, ARG_SEEDS, 1, 1000000, &options.experiment.seeds, err))
        return false;
    search->probe = probe_open(cli->arena, args->word[0], &options, err);
    if (search->probe == NULL)
        return false;
    if (!results_open(cli->arena, probe_experiment(search->probe)->dir,
                      &search->results, err))
        return false;
    probe_keep(search->probe, search->results.store);
    return true;
}

/* Makes the report of the folder again, with the new answers, if there are
 * results. */
static bool renew_report(const struct search_command *search, struct err *err)
{
    return !folder_holds_file(search->results.dir, "summary.csv") ||
           report_write(folder_path(search->results.dir), NULL, err);
}

void search_close(struct search_command *search, bool ok, const struct err *err)
{
    uint32_t count;
    uint64_t *hash = probe_hashes(search->probe, search->cli->arena, &count);

    if (!ok && err->kind == ERR_INTERRUPTED)
        fprintf(search->cli->err, "interrupted: finished trials are kept in %s/.trials; "
                "the same command goes on\n", folder_path(search->results.dir));
    if (ok && !search->keeps && results_alone(&search->results))
        (void)results_drop(&search->results, hash, count);
    results_close(&search->results);
}

int search_end(struct search_command *search, bool ok, uint32_t unknown,
               const struct err *err)
{
    struct err own = *err;

    ok = ok && renew_report(search, &own);
    search_close(search, ok, &own);
    if (!ok)
        return own.kind == ERR_INTERRUPTED ? err_exit_status(own.kind)
                                           : command_fail(search->cli, &own);
    return unknown > 0 ? 5 : 0;
}

bool search_try(struct cli *cli, const struct args *args, const char *path,
                const struct experiment *experiment, struct err *err)
{
    const struct probe_options options = {
        .experiment = { .set = args->set, .set_count = args->set_count }, .threads = 1
    };
    struct probe *probe;

    if (experiment->border == NULL && experiment->sensitivity == NULL &&
        experiment->tune == NULL)
        return true;
    probe = probe_open(cli->arena, path, &options, err);
    return probe != NULL && border_try(cli->arena, probe, err) &&
           sensitivity_try(cli->arena, probe, err) && tune_try(cli->arena, probe, err);
}
