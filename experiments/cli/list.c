/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.c - `clustersim list`: the names that files may use (experiments/lists).
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/lists/lists.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

/* Prints rows as JSON and frees them.  Models are in two lists (`more`), since
 * their columns differ. */
static int print_json(struct cli *cli, struct sheet *sheet, struct sheet *more)
{
    struct out *out = out_stream(cli->arena, "the answer", cli->out);
    struct err err = { 0 };

    if (more == NULL) {
        sheet_json(sheet, out);
    } else {
        out_text(out, "{\"transformers\": ");
        sheet_json(sheet, out);
        out_text(out, ",\n  \"networks\": ");
        sheet_json(more, out);
        out_text(out, "}");
    }
    out_text(out, "\n");
    sheet_free(sheet);
    sheet_free(more);
    return out_close(out, &err) ? 0 : command_fail(cli, &err);
}

/* Lists the metrics of an experiment: the built-in ones and its own. */
static int list_own_metrics(struct cli *cli, const struct args *args)
{
    const struct experiment_options options = { .set_count = 0 };
    struct err_pos nowhere = { NULL, 0, 0 };
    const struct experiment *experiment;
    struct err err = { 0 };
    struct sheet *sheet;

    if (strcmp(args->word[0], "metrics") != 0) {
        err_set(&err, ERR_USAGE, nowhere, "list of '%.60s' takes no file, found '%.120s'",
                args->word[0], args->word[1]);
        return command_fail(cli, &err);
    }
    experiment = experiment_read(cli->arena, args->word[1], &options, &err);
    if (experiment == NULL)
        return command_fail(cli, &err);
    sheet = lists_metrics(experiment_metrics(experiment));
    if (args->given[ARG_JSON])
        return print_json(cli, sheet, NULL);
    sheet_close(sheet, cli->out);
    return 0;
}

/* Prints one list, as text or as JSON. */
static int print_one(struct cli *cli, const struct args *args, const struct list *list)
{
    struct err err = { 0 };
    const struct catalogue *catalogue = catalogue_load(cli->arena, NULL, 0, &err);

    if (catalogue == NULL)
        return command_fail(cli, &err);
    if (args->given[ARG_JSON])
        return print_json(cli, list->rows(catalogue),
                          list->more == NULL ? NULL : list->more(catalogue));
    lists_print(cli->out, list, catalogue);
    return 0;
}

/* Reports a list that is not there, with the nearest name or all of them.
 * Returns the status. */
static int refuse_list(struct cli *cli, const char *word)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *all = "", **names, *near;
    const struct list *list;
    struct err err = { 0 };
    size_t count = 0;

    while (lists_at(count) != NULL)
        count++;
    names = arena_alloc(cli->arena, count + 1, sizeof *names);
    for (size_t i = 0; (list = lists_at(i)) != NULL; i++) {
        names[i] = list->name;
        all = text_format(cli->arena, "%s%s%s", all, i == 0 ? "" : ", ", list->name);
    }
    names[count] = NULL;
    near = conf_nearest(word, names);
    err_set(&err, ERR_USAGE, nowhere, "there is no list of '%.60s'", word);
    if (near != NULL)
        err_hint(&err, "Did you mean %s?", near);
    else
        err_hint(&err, "There are %s.", all);
    return command_fail(cli, &err);
}

/* Status 2, with the nearest name, for a list that is not there. */
static int run_list(struct cli *cli, const struct args *args)
{
    const struct list *list;

    if (args->word_count > 1)
        return list_own_metrics(cli, args);
    for (size_t i = 0; (list = lists_at(i)) != NULL; i++)
        if (strcmp(args->word[0], list->name) == 0)
            return print_one(cli, args, list);
    return refuse_list(cli, args->word[0]);
}

const struct command command_list = {
    "list",
    "policies|gpus|cpus|links|models|prices|formats|metrics|recipes|semantics\n"
    "       |placements|applications|instances|columns [--json]\n"
    "       metrics EXPERIMENT.yaml [--json]",
    "the names that files may use",
    "What is built in; a file under `catalogue:` of an experiment can add\n"
    "GPUs, CPUs, links, prices, models, applications and instances.  Metrics of\n"
    "an experiment are the built-in ones and its own, with what those are over.\n"
    "Columns are those of the tables of a results folder.\n",
    ARG_BIT(ARG_JSON), 1, 2, run_list
};
