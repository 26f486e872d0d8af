/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schema.c - `clustersim schema`.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/schema/file_schema.h"
#include "models/catalogue/catalogue.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Without a kind, prints the schema of all files.  Status 2 for a kind that is
 * not known. */
static int run_schema(struct cli *cli, const struct args *args)
{
    const char *kind = args->word_count > 0 ? args->word[0] : NULL, *near;
    const struct catalogue *catalogue;
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };
    size_t i = 0;

    while (kind != NULL && file_schema_kinds[i] != NULL &&
           strcmp(file_schema_kinds[i], kind) != 0)
        i++;
    if (kind != NULL && file_schema_kinds[i] == NULL) {
        near = conf_nearest(kind, file_schema_kinds);
        err_set(&err, ERR_USAGE, nowhere, "there is no kind of file '%.60s'",
                kind);
        err_hint(&err, "%s%s%s", near == NULL ? "Kinds are experiment, "
                 "advise, cluster, workload, catalogue and weights."
                 : "Did you mean ", near == NULL ? "" : near,
                 near == NULL ? "" : "?");
        return command_fail(cli, &err);
    }
    catalogue = catalogue_load(cli->arena, NULL, 0, &err);
    if (catalogue == NULL)
        return command_fail(cli, &err);
    fputs(file_schema(cli->arena, catalogue, kind), cli->out);
    return 0;
}

const struct command command_schema = {
    "schema", "[experiment|advise|cluster|workload|catalogue|weights]",
    "JSON Schema of a kind of file, for editors",
    "Printed from the key tables that read the files, with the names of the\n"
    "catalogue, of recipes and of policies; draft 07.  Without a kind: one for\n"
    "all files, which tells them apart by their keys.  What only a reader can\n"
    "know (sums, ranges of quantities, files) it does not: see `validate`.\n",
    0, 0, 1, run_schema
};
