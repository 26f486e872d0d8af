/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * openb_nodes.c - node lists of Alibaba's "openb".
 *
 * The list is that of Weng et al. (Beware of fragmentation: scheduling
 * GPU-sharing workloads with fragmentation gradient descent, USENIX ATC 2023):
 * sn, cpu_milli, memory_mib, gpu, model.
 *
 * GPUs are of type generic, by the model that the list gives (G1, G2 and G3 are
 * hidden names): jobs may want certain models, and no speed, price or power is
 * known.
 */
#include "experiments/import/machines.h"

#include <string.h>

#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "workloads/formats/trace_row.h"

enum { NAME, CPU, MEMORY, GPUS, MODEL, COLUMNS };

/* The list as it is read; at: the column of each of what is needed. */
struct listing {
    struct machines *machines;
    struct csv *csv;            /* the open list */
    size_t at[COLUMNS];
};

/* Finds the columns by their names in the first line, in any order. */
static bool find_columns(struct listing *l, struct err *err)
{
    static const char *const name[COLUMNS] = {
        "sn", "cpu_milli", "memory_mib", "gpu", "model"
    };

    for (size_t i = 0; i < COLUMNS; i++) {
        l->at[i] = csv_find(l->csv, name[i]);
        if (l->at[i] == ROW_NO_COLUMN)
            return err_set(err, ERR_SYNTAX,
                           (struct err_pos){ l->machines->file, 1, 1 },
                           "file has no column %s, and format %s needs it",
                           name[i], l->machines->format->name);
    }
    return true;
}

/* Reads a name that YAML takes as it stands; only a model may be empty. */
static bool read_text(const struct listing *l, size_t column, const char **out,
                      struct err *err)
{
    struct csv_field field = *csv_field(l->csv, column);

    if (!machines_name(field.text) &&
        (field.bytes > 0 || column != l->at[MODEL]))
        return row_fault(l->csv, column, ERR_RANGE,
                         "a name of letters, digits, _, - and .", err);
    *out = field.bytes == 0 ? NULL : arena_text(l->machines->arena, field.text);
    return true;
}

/* Reads one line.  Cores must be whole, since a cluster has whole ones. */
static bool read_node(const struct listing *l, struct machine *node,
                      struct err *err)
{
    const size_t *at = l->at;
    int64_t cpu_milli;

    *node = (struct machine){ .count = 1, .pos = csv_pos(l->csv, at[NAME]) };
    if (!read_text(l, at[NAME], &node->name, err) ||
        !read_text(l, at[MODEL], &node->gpu, err) ||
        !row_whole(l->csv, at[CPU], &cpu_milli, err) ||
        !row_whole(l->csv, at[MEMORY], &node->memory_mib, err) ||
        !row_whole(l->csv, at[GPUS], &node->gpus, err))
        return false;
    if (cpu_milli < 1000 || cpu_milli % 1000 != 0 || cpu_milli > 65536000)
        return row_fault(l->csv, at[CPU], ERR_RANGE,
                         "whole cores, 1000 to 65536000 by 1000", err);
    node->cores = cpu_milli / 1000;
    if (node->memory_mib < 1 || node->memory_mib > 900000000)
        return row_fault(l->csv, at[MEMORY], ERR_RANGE,
                         "MiB from 1 to 900000000", err);
    if (node->gpus < 0 || node->gpus > (int64_t)NODE_GPUS_MAX)
        return row_fault(l->csv, at[GPUS], ERR_RANGE, "GPUs from 0 to 64",
                         err);
    if ((node->gpus > 0) == (node->gpu != NULL))
        return true;
    return row_fault(l->csv, at[MODEL], ERR_RANGE,
                     "the model of the GPUs, and empty without any", err);
}

/* Adds a node for each row.  False: err is at the place that is wrong. */
static bool read_nodes(struct listing *l, struct err *err)
{
    struct machine node;
    enum csv_step step;

    if (!find_columns(l, err))
        return false;
    while ((step = csv_next(l->csv, err)) == CSV_ROW)
        if (!read_node(l, &node, err) ||
            !machines_add(l->machines, node, err))
            return false;
    return step == CSV_END;
}

bool openb_nodes_read(struct machines *machines, struct err *err)
{
    struct listing l = { .machines = machines,
                         .csv = csv_open(machines->arena, machines->file,
                                         CSV_COMMA, err) };
    bool good = l.csv != NULL && read_nodes(&l, err);

    csv_close(l.csv);
    return good;
}
