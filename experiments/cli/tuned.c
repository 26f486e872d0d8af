/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuned.c - see the header.
 */
#include "experiments/cli/tuned.h"

#include "experiments/cli/experiment.h"
#include "experiments/cli/search.h"
#include "experiments/probe/probe.h"
#include "experiments/spec/experiment.h"
#include "experiments/tune/tune.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"

/* Returns the words of --set, and behind them, so that they win, what was found. */
static const char *const *add_found(struct arena *arena, const struct args *args,
                                    const struct tune_found *found, uint32_t found_count,
                                    size_t *count)
{
    size_t room = args->set_count;
    const char **word;

    for (uint32_t i = 0; i < found_count; i++)
        room += found[i].setting_count;
    word = arena_alloc(arena, room + 1, sizeof *word);
    for (*count = 0; *count < args->set_count; (*count)++)
        word[*count] = args->set[*count];
    for (uint32_t i = 0; i < found_count; i++)
        for (uint32_t k = 0; k < found[i].setting_count; k++)
            word[(*count)++] = text_format(arena, "%s=%s", found[i].setting[k].key,
                                           found[i].setting[k].text);
    return word;
}

/* Adds the trials of the search, which are removed when the run has ended: until
 * then a run that was interrupted finds them again. */
static const struct experiment *add_searched(struct arena *arena,
                                             const struct experiment *experiment,
                                             const uint64_t *hash, uint32_t count)
{
    struct experiment *tuned = arena_alloc(arena, 1, sizeof *tuned);

    *tuned = *experiment;
    tuned->searched = hash;
    tuned->searched_count = count;
    return tuned;
}

/* Tunes, writes tuned.yaml, and reads the experiment again with what was found. */
static const struct experiment *tune_and_read(struct cli *cli, const struct args *args,
                                              struct err *err)
{
    FILE *log = args->given[ARG_QUIET] ? NULL : cli->err;
    const struct tune_options how = { .only = args->value[ARG_ONLY], .log = log };
    const struct tune_found *found;
    struct search_command search;
    const struct experiment *experiment;
    const char *const *set;
    uint32_t count, hashes;
    const uint64_t *hash;
    size_t set_count;

    if (!search_begin(cli, args, &search, err))
        return NULL;
    search.keeps = true;
    found = !tune_try(cli->arena, search.probe, err) ? NULL
          : tune_run(cli->arena, search.probe, &how, &count, err);
    if (found != NULL && log != NULL)
        tune_print(probe_experiment(search.probe), found, count, log);
    if (found != NULL && !tune_write(cli->arena, search.probe, found, count,
                                     search.results.dir, err))
        found = NULL;
    hash = probe_hashes(search.probe, cli->arena, &hashes);
    search_close(&search, found != NULL, err);
    if (found == NULL)
        return NULL;
    set = add_found(cli->arena, args, found, count, &set_count);
    experiment = cmd_experiment_read(cli, args, set, set_count, err);
    return experiment == NULL ? NULL
                              : add_searched(cli->arena, experiment, hash, hashes);
}

const struct experiment *cmd_tuned_read(struct cli *cli, const struct args *args,
                                        struct err *err)
{
    const struct experiment *experiment =
        cmd_experiment_read(cli, args, args->set, args->set_count, err);

    return experiment != NULL && experiment->tuned ? tune_and_read(cli, args, err)
                                                   : experiment;
}
