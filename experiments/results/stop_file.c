/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop_file.c - one row, so that intervals of the folder are the same when it is
 * read again.
 */
#include "experiments/results/stop_file.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/results/csv_out.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

bool stop_write(struct arena *arena, const struct folder *dir,
                const struct experiment *experiment, struct err *err)
{
    const struct experiment_stop *stop = &experiment->stop;
    struct table *table;
    struct out *out;

    if (stop->rule == LOOKS_NONE)
        return true;
    out = csv_out_open(arena, dir, &csv_seeds, err);
    if (out == NULL)
        return false;
    table = table_new(csv_seeds.columns, csv_seeds.count);
    table_text(table, stop->text);
    table_count(table, stop->at_most);
    table_count(table, experiment->seeds);
    table_count(table, stop->reached);
    table_text(table, stop->why);
    table_end_row(table);
    return csv_out_close(out, table, err);
}

/* Reads seeds.csv back.  False, with err: a column is missing, or a field is not
 * what it should be. */
static bool read_row(struct arena *arena, const struct csv *in,
                     struct experiment_stop *stop, struct err *err)
{
    double at_most, reached;
    size_t c[5];

    for (size_t i = 0; i < csv_seeds.count; i++)
        if (!csv_need_column(in, csv_seeds.columns[i].name, &c[i], err))
            return false;
    if (!csv_number(in, c[1], &at_most, err) ||
        !csv_number(in, c[3], &reached, err))
        return false;
    if (!(at_most >= 1 && at_most <= UINT32_MAX))
        return err_set(err, ERR_RANGE, csv_pos(in, c[1]),
                       "at_most must be a whole number above 0");
    stop->text = arena_text(arena, csv_text(in, c[0]));
    stop->rule = strcmp(stop->text, "decided") == 0 ? LOOKS_DECIDED
                                                    : LOOKS_WIDTH;
    stop->at_most = (uint32_t)at_most;
    stop->reached = reached == 1;
    stop->why = arena_text(arena, csv_text(in, c[4]));
    return true;
}

bool stop_read(struct arena *arena, const char *dir,
               struct experiment_stop *stop, struct err *err)
{
    const char *path = path_join(arena, dir, csv_seeds.file);
    enum csv_step step = CSV_ERROR;
    struct csv *in;

    memset(stop, 0, sizeof *stop);
    if (!path_is_file(path))
        return true;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in == NULL)
        return false;
    step = csv_next(in, err);
    if (step == CSV_ROW && !read_row(arena, in, stop, err))
        step = CSV_ERROR;
    csv_close(in);
    return step != CSV_ERROR;
}
