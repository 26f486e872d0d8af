/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nodes.c - node lists of Alibaba's "openb" become a cluster.
 *
 * The list is that of Weng et al. (Beware of fragmentation: scheduling
 * GPU-sharing workloads with fragmentation gradient descent, USENIX ATC 2023):
 * sn, cpu_milli, memory_mib, gpu, model.
 *
 * Neighbours in the list that are alike are a group, so that nodes stand in the
 * order of the list: ties between nodes go by it.  GPUs are of type generic, by
 * the model that the list gives (G1, G2 and G3 are hidden names): jobs may want
 * certain models, and no speed, price or power is known.
 *
 * The cluster is written while the list is read; a fault in a later line
 * abandons the file.
 */
#include "experiments/import/nodes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/import/report.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/out.h"
#include "workloads/formats/trace_row.h"

enum { NAME, CPU, MEMORY, GPUS, MODEL, COLUMNS };
/* Longer than any name of the list, with its 0. */
#define TEXT_BYTES 64u

struct nodes {                  /* that are alike, one after the other */
    char name[TEXT_BYTES], model[TEXT_BYTES];
    int64_t cpu_milli, memory_mib, gpus;
    uint64_t count;
};

/* A node's name, and where it stands. */
struct named { const char *name; uint32_t line; };

/* The list that is read, and the group of nodes that is not written yet. */
struct listing {
    struct arena *arena;
    struct named *named;
    size_t named_room;
    struct csv *csv;
    size_t at[COLUMNS];
    struct out *out;
    struct nodes group;
    uint64_t nodes, groups, gpus, gpu_nodes;
};

/* Finds the columns by their names in the first line, in any order. */
static bool find_columns(struct listing *l, const char *file, struct err *err)
{
    static const char *const name[COLUMNS] = {
        "sn", "cpu_milli", "memory_mib", "gpu", "model"
    };

    for (size_t i = 0; i < COLUMNS; i++) {
        l->at[i] = csv_find(l->csv, name[i]);
        if (l->at[i] == ROW_NO_COLUMN)
            return err_set(err, ERR_SYNTAX, (struct err_pos){ file, 1, 1 },
                           "file has no column %s, and format " IMPORT_NODES
                           " needs it", name[i]);
    }
    return true;
}

/* Reads a name that YAML takes as it stands; only a model may be empty. */
static bool read_text(const struct listing *l, size_t column, char *out,
                      struct err *err)
{
    struct csv_field field = *csv_field(l->csv, column);

    if (field.bytes >= TEXT_BYTES || (field.bytes == 0 && column != l->at[MODEL]) ||
        strspn(field.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                           "WXYZ0123456789_-.") != field.bytes)
        return row_fault(l->csv, column, ERR_RANGE,
                         "a name of letters, digits, _, - and .", err);
    memcpy(out, field.text, field.bytes + 1);
    return true;
}

/* Reads one line.  Cores must be whole, since a cluster has whole ones. */
static bool read_node(const struct listing *l, struct nodes *node,
                      struct err *err)
{
    const size_t *at = l->at;

    memset(node, 0, sizeof *node);
    node->count = 1;
    if (!read_text(l, at[NAME], node->name, err) ||
        !read_text(l, at[MODEL], node->model, err) ||
        !row_whole(l->csv, at[CPU], &node->cpu_milli, err) ||
        !row_whole(l->csv, at[MEMORY], &node->memory_mib, err) ||
        !row_whole(l->csv, at[GPUS], &node->gpus, err))
        return false;
    if (node->cpu_milli < 1000 || node->cpu_milli % 1000 != 0 ||
        node->cpu_milli > 65536000)
        return row_fault(l->csv, at[CPU], ERR_RANGE,
                         "whole cores, 1000 to 65536000 by 1000", err);
    if (node->memory_mib < 1 || node->memory_mib > 900000000)
        return row_fault(l->csv, at[MEMORY], ERR_RANGE,
                         "MiB from 1 to 900000000", err);
    if (node->gpus < 0 || node->gpus > (int64_t)NODE_GPUS_MAX)
        return row_fault(l->csv, at[GPUS], ERR_RANGE, "GPUs from 0 to 64",
                         err);
    if ((node->gpus > 0) == (node->model[0] != '\0'))
        return true;
    return row_fault(l->csv, at[MODEL], ERR_RANGE,
                     "the model of the GPUs, and empty without any", err);
}

/* Writes the group as one entry of `nodes:`; its name is that of its first node. */
static void write_group(struct listing *l)
{
    const struct nodes *group = &l->group;

    if (group->count == 0)
        return;
    l->groups++;
    out_printf(l->out, "  - {name: %s, count: %" PRIu64 ", pool: %s, cores: "
               "%" PRId64 ", memory: %" PRId64 "MiB", group->name,
               group->count, group->gpus > 0 ? group->model : "cpu",
               group->cpu_milli / 1000, group->memory_mib);
    if (group->gpus > 0)
        out_printf(l->out, ",\n     gpus: {type: generic, model: %s, count: "
                   "%" PRId64 "}", group->model, group->gpus);
    out_text(l->out, "}\n");
}

/* Are two nodes alike but for their names? */
static bool is_same_kind(const struct nodes *a, const struct nodes *b)
{
    return a->cpu_milli == b->cpu_milli && a->gpus == b->gpus &&
           a->memory_mib == b->memory_mib && strcmp(a->model, b->model) == 0;
}

/* Keeps the name with its line, to find names that stand twice. */
static void note_name(struct listing *l, const char *name)
{
    ARENA_REACH(l->arena, l->named, l->named_room, l->nodes);
    l->named[l->nodes] = (struct named){ arena_text(l->arena, name),
                                         csv_pos(l->csv, l->at[NAME]).line };
}

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : a->line < b->line ? -1 : a->line > b->line;
}

/* Sorts the names, and refuses one that stands twice, at the first line that
 * repeats one. */
static bool check_names(struct listing *l, const char *file, struct err *err)
{
    const struct named *again = NULL;

    if (l->nodes > 0)
        qsort(l->named, l->nodes, sizeof *l->named, compare_names);
    for (size_t i = 1; i < l->nodes; i++)
        if (strcmp(l->named[i - 1].name, l->named[i].name) == 0 &&
            (again == NULL || l->named[i].line < again->line))
            again = &l->named[i];
    return again == NULL ||
           err_set(err, ERR_RANGE, (struct err_pos){ file, again->line, 1 },
                   "node %s stands above already", again->name);
}

/* Adds each line to the group, or writes the group and begins another one. */
static bool write_nodes(struct listing *l, struct err *err)
{
    struct nodes node;
    enum csv_step step;

    while ((step = csv_next(l->csv, err)) == CSV_ROW) {
        if (!read_node(l, &node, err))
            return false;
        note_name(l, node.name);
        l->nodes++;
        l->gpus += (uint64_t)node.gpus;
        l->gpu_nodes += node.gpus > 0;
        if (l->group.count > 0 && is_same_kind(&l->group, &node)) {
            l->group.count++;
            continue;
        }
        write_group(l);
        l->group = node;
    }
    write_group(l);
    return step == CSV_END;
}

bool import_nodes(struct arena *arena, const char *file, const char *path,
                  FILE *report, struct err *err)
{
    struct listing l = { .arena = arena,
                         .csv = csv_open(arena, file, CSV_COMMA, err) };
    bool good;

    if (l.csv == NULL)
        return false;
    good = find_columns(&l, file, err);
    l.out = good ? out_open(arena, path, err) : NULL;
    good = l.out != NULL;
    if (good)
        out_text(l.out, "# From a node list by clustersim import "
                 IMPORT_NODES ".  GPUs only count: no speed,\n"
                 "# price or power is known of them.\nname: openb\nnodes:\n");
    good = good && write_nodes(&l, err) && check_names(&l, file, err);
    if (good && l.nodes == 0)
        good = err_set(err, ERR_RANGE, (struct err_pos){ file, 0, 0 },
                       "the list has no nodes");
    csv_close(l.csv);
    if (!good)
        out_abandon(l.out);
    if (!good || !out_close(l.out, err))
        return false;
    fprintf(report, "%s: format " IMPORT_NODES "\nnodes        %" PRIu64
            ", %" PRIu64 " with GPUs, in %" PRIu64 " groups\nGPUs        "
            " %" PRIu64 "\n", file, l.nodes, l.gpu_nodes, l.groups, l.gpus);
    if (!import_layout(report, file, true, err))
        return false;
    fprintf(report, "written      %s\n", path);
    return true;
}
