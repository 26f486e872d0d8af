/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machines.c - nodes become groups of a cluster's file.
 *
 * A GPU that the catalogue knows becomes that entry, with its price and power;
 * of a family (a100) the one with most memory is taken.  Others are of type
 * generic: they only count.  A node of the catalogue's GPUs needs a CPU, which
 * no manager names.
 *
 * Example: 20 nodes n1 to n20 with 8 GPUs of type a100 each become one entry of
 * `nodes:`, named n1 with a count of 20, if all have as many cores and as much
 * memory.
 */
#include "experiments/import/machines.h"

#include <inttypes.h>
#include <string.h>

#include "experiments/import/report.h"
#include "models/catalogue/catalogue.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/string_set.h"

/* What stands for a CPU that nobody names. */
#define CPU_GUESS "epyc-7763"
#define NAME_BYTES 64u

bool machines_name(const char *text)
{
    size_t bytes = strlen(text);

    return bytes > 0 && bytes < NAME_BYTES &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-.") == bytes;
}

/* A node that no cluster could hold is refused where it stands, with its
 * position in the list. */
bool machines_add(struct machines *machines, struct machine machine,
                  struct err *err)
{
    if (!machines_name(machine.name))
        return err_set(err, ERR_RANGE, machine.pos,
                       "a node's name must be of letters, digits, _, - and ., "
                       "and is '%.60s'", machine.name);
    if (machine.cores < 1 || machine.cores > 65536)
        return err_set(err, ERR_RANGE, machine.pos,
                       "node %s must have 1 to 65536 CPUs, and has %" PRId64,
                       machine.name, machine.cores);
    if (machine.memory_mib < 1 || machine.memory_mib > 900000000)
        return err_set(err, ERR_RANGE, machine.pos,
                       "node %s must have 1 to 900000000 MiB of memory, and has "
                       "%" PRId64, machine.name, machine.memory_mib);
    if (machine.gpus < 0 || machine.gpus > (int64_t)NODE_GPUS_MAX)
        return err_set(err, ERR_RANGE, machine.pos,
                       "node %s must have 0 to %u GPUs, and has %" PRId64,
                       machine.name, NODE_GPUS_MAX, machine.gpus);
    if (machine.gpus > 0 && machine.gpu != NULL && !machines_name(machine.gpu))
        return err_set(err, ERR_RANGE, machine.pos,
                       "the GPU type of node %s must be of letters, digits, _, "
                       "- and ., and is '%.60s'", machine.name, machine.gpu);
    ARENA_REACH(machines->arena, machines->machine, machines->room,
                machines->count);
    machines->machine[machines->count++] = machine;
    return true;
}

/* Returns whether there are nodes and each has a name of its own: two of one
 * name would be one node. */
static bool check_names(struct machines *machines, struct err *err)
{
    struct string_set names = { 0 };
    bool is_new;

    for (size_t i = 0; i < machines->count; i++) {
        const struct machine *machine = &machines->machine[i];

        (void)string_set_keep(&names, machines->arena, machine->name, &is_new);
        if (!is_new)
            return err_set(err, ERR_RANGE, machine->pos,
                           "node %s stands above already", machine->name);
    }
    return machines->count > 0 ||
           err_set(err, ERR_RANGE, (struct err_pos){ machines->file, 0, 0 },
                   "the list has no nodes");
}

/* Are both texts the same, or both not there? */
static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Are two nodes alike but for their names? */
static bool is_same_kind(const struct machine *a, const struct machine *b)
{
    return a->cores == b->cores && a->gpus == b->gpus &&
           a->memory_mib == b->memory_mib && same_text(a->gpu, b->gpu);
}

/* Writes `gpus:` and, for a GPU of the catalogue, `cpu:`. */
static void write_gpus(struct machines *machines, struct out *out,
                       const struct catalogue *catalogue,
                       const struct machine *machine)
{
    struct notes *notes = &machines->notes;
    const int64_t cores = catalogue_cpu(catalogue, CPU_GUESS)->cores;
    char others[120] = "";
    const struct gpu_type *gpu =
        machine->gpu == NULL || machines->format->hidden
            ? NULL : catalogue_gpu_guess(catalogue, machine->gpu,
                                                   others, sizeof others);

    if (gpu == NULL) {
        out_printf(out, ",\n     gpus: {type: generic, model: %s, count: "
                   "%" PRId64 "}", machine->gpu == NULL ? "gpu" : machine->gpu,
                   machine->gpus);
        if (machines->format->hidden)
            notes_file(notes, "GPUs are of type generic: no speed, price or "
                       "power is known of them");
        else if (machine->gpu == NULL)
            notes_file(notes, "the GPU type of %s is not said: generic, which "
                       "only counts", machine->name);
        else
            notes_file(notes, "GPU type %s is not in the catalogue: generic, "
                       "which only counts", machine->gpu);
        return;
    }
    if (others[0] != '\0')
        notes_file(notes, "GPU type %s may be %s: %s is taken", machine->gpu,
                   others, gpu->name);
    else if (strcmp(gpu->name, machine->gpu) != 0)
        notes_file(notes, "GPU type %s is %s of the catalogue", machine->gpu,
                   gpu->name);
    notes_file(notes, "CPUs are not named: " CPU_GUESS " is taken beside GPUs "
               "of the catalogue, with as many cores as the list says");
    out_printf(out, ",\n     gpus: {type: %s, count: %" PRId64 "}, cpu: {type: "
               CPU_GUESS ", sockets: %" PRId64 "}", gpu->name, machine->gpus,
               (machine->cores + cores - 1) / cores);
}

/* Writes one entry of `nodes:`, named as its first node. */
static void write_group(struct machines *machines, struct out *out,
                        const struct catalogue *catalogue,
                        const struct machine *machine, int64_t count)
{
    out_printf(out, "  - {name: %s, count: %" PRId64 ", pool: %s, cores: "
               "%" PRId64 ", memory: %" PRId64 "MiB", machine->name, count,
               machine->gpus == 0 ? "cpu"
               : machine->gpu == NULL ? "gpu" : machine->gpu,
               machine->cores, machine->memory_mib);
    if (machine->gpus > 0)
        write_gpus(machines, out, catalogue, machine);
    out_text(out, "}\n");
}

/* Writes an entry for each run of nodes that are alike, and returns how many
 * there are.  The order of the list is kept, so nodes that are alike and not
 * side by side make several entries. */
static size_t write_groups(struct machines *machines, struct out *out,
                           const struct catalogue *catalogue)
{
    size_t groups = 0, next;

    for (size_t i = 0; i < machines->count; i = next, groups++) {
        const struct machine *first = &machines->machine[i];
        int64_t count = first->count;

        for (next = i + 1; next < machines->count &&
                           is_same_kind(first, &machines->machine[next]);
             next++)
            count += machines->machine[next].count;
        write_group(machines, out, catalogue, first, count);
    }
    return groups;
}

/* Prints what was read, and what was taken for granted, each with its count. */
static void print_report(const struct machines *machines, size_t groups,
                         FILE *report)
{
    int64_t nodes = 0, gpu_nodes = 0, gpus = 0;

    for (size_t i = 0; i < machines->count; i++) {
        const struct machine *machine = &machines->machine[i];

        nodes += machine->count;
        gpu_nodes += machine->gpus > 0 ? machine->count : 0;
        gpus += machine->gpus * machine->count;
    }
    fprintf(report, "%s: format %s\nnodes        %" PRId64 ", %" PRId64
            " with GPUs, in %zu groups\nGPUs         %" PRId64 "\n",
            machines->file, machines->format->name, nodes, gpu_nodes, groups, gpus);
    for (size_t i = 0; i < machines->notes.count; i++) {
        const struct note *note = &machines->notes.note[i];

        if (note->count > 0)
            fprintf(report, "  %" PRIu64 " %s\n", note->count, note->text);
        else
            fprintf(report, "  %s\n", note->text);
    }
}

/* Notes are gathered while groups are written, so the report comes last. */
bool machines_write(struct machines *machines, const char *path, FILE *report,
                    struct err *err)
{
    const struct catalogue *catalogue;
    struct out *out;
    size_t groups;

    if (!check_names(machines, err))
        return false;
    catalogue = catalogue_load(machines->arena, NULL, 0, err);
    out = catalogue == NULL ? NULL : out_open(machines->arena, path, err);
    if (out == NULL)
        return false;
    out_printf(out, "# From a node list by clustersim import %s.  NICs, "
               "drives and links between\n# racks are not in it: without them "
               "the network never limits.\nname: ", machines->format->name);
    import_quoted(out, path_stem(machines->arena, path));
    out_text(out, "\nnodes:\n");
    groups = write_groups(machines, out, catalogue);
    notes_file(&machines->notes, "NICs, drives and racks are not said: the "
               "network never limits");
    if (!out_close(out, err))
        return false;
    print_report(machines, groups, report);
    return true;
}
