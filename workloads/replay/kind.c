/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kind.c - a hash table of forms, in the order they were met.
 *
 * The hash only finds; nothing is done in its order.
 */
#include "workloads/replay/kind.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "workloads/jobs/draw.h"
#include "workloads/recipes/recipe.h"

#define TYPE_BYTES 64u          /* longer than any name of a GPU */

/* A kind, and what tells it from others. */
struct entry_of_kind {
    struct trace_kind kind;
    bool pod, no_gpus;          /* by which kinds are told apart, as are the next ones */
    int64_t core_milli, memory_bytes;
    const char *types;          /* "": any */
    const char *pool;           /* of the cluster; NULL: any */
    size_t memory;              /* how many sizes of `mib` its jobs exceed */
};

/* The kinds that were made so far, in a hash table of open addressing: at most
 * half of the slots are in use. */
struct trace_kinds {
    struct arena *arena;
    struct job_form base;       /* which each kind's form copies */
    uint32_t *mib;              /* of the GPU types that the base may use, ascending */
    size_t mibs;
    struct entry_of_kind **slot;        /* open addressing */
    size_t slots, count;        /* slots: a power of two, at most half in use */
};

/* Returns the whole MiB of a GPU; UINT32_MAX where its memory is not known, so
 * that it never limits. */
static uint32_t mib_of(const struct gpu_type *gpu)
{
    return gpu->memory_bytes > 0 ? (uint32_t)(gpu->memory_bytes / 1048576.0) : UINT32_MAX;
}

/* Adds the memory of a type, in ascending order. */
static void add_mib(struct trace_kinds *kinds, uint32_t mib)
{
    size_t i = kinds->mibs++;

    for (; i > 0 && kinds->mib[i - 1] > mib; i--)
        kinds->mib[i] = kinds->mib[i - 1];
    kinds->mib[i] = mib;
}

struct trace_kinds *trace_kinds_new(const struct world *world, const struct job_form *base)
{
    struct trace_kinds *kinds = arena_alloc(world->arena, 1, sizeof *kinds);
    const struct role_spec *role = &base->role[0];

    kinds->arena = world->arena;
    kinds->base = *base;
    kinds->mib = arena_alloc(world->arena, role->gpu_type_count + 1, sizeof *kinds->mib);
    for (uint32_t t = 0; t < role->gpu_type_count; t++)
        for (uint32_t g = 0; g < world->cluster->group_count; g++) {
            const struct gpu_type *gpu = world->cluster->group[g].gpu;
            if (gpu == NULL || gpu->index != role->gpu_types[t])
                continue;
            add_mib(kinds, mib_of(gpu));
            break;
        }
    kinds->slots = 64;
    kinds->slot = arena_alloc(world->arena, kinds->slots, sizeof *kinds->slot);
    return kinds;
}

/* Returns how many types have less memory than each GPU of the row takes. */
static size_t count_smaller(const struct trace_kinds *kinds, const struct row *row)
{
    size_t n = 0;

    while (row->gpus > 0 && n < kinds->mibs && kinds->mib[n] < row->gpu_mib)
        n++;
    return n;
}

bool trace_kind_needed(const struct trace_kinds *kinds, const struct row *row)
{
    return row->pod || row->pool != NULL || count_smaller(kinds, row) > 0 ||
           (row->types != NULL && row->types[0] != '\0');
}

uint32_t trace_kinds_memory(const struct trace_kinds *kinds)
{
    return kinds->mibs > 0 ? kinds->mib[kinds->mibs - 1] : UINT32_MAX;
}

/* Returns the types that a row allows, as it has them; "" allows all. */
static const char *types_of(const struct row *row)
{
    return row->types == NULL ? "" : row->types;
}

/* Mixes everything by which kinds differ. */
static size_t hash_row(const struct trace_kinds *kinds, const struct row *row)
{
    uint64_t h = rng_hash_text(types_of(row));

    h = h * 31 + (uint64_t)row->core_milli;
    h = h * 31 + (uint64_t)row->memory_bytes;
    h = h * 31 + (row->pool == NULL ? 0 : rng_hash_text(row->pool));
    h = h * 31 + row->pod * 2 + (row->gpus == 0);
    h = h * 31 + count_smaller(kinds, row);
    return (size_t)(h ^ h >> 29);
}

/* Does the row ask for exactly what the entry does?  Pools are compared by
 * address, as the cluster owns each name once. */
static bool is_equal(const struct trace_kinds *kinds, const struct entry_of_kind *entry,
                     const struct row *row)
{
    return entry->pod == row->pod && entry->no_gpus == (row->gpus == 0) &&
           entry->core_milli == row->core_milli &&
           entry->memory_bytes == row->memory_bytes &&
           entry->pool == row->pool && entry->memory == count_smaller(kinds, row) &&
           strcmp(entry->types, types_of(row)) == 0;
}

/* Returns the slot of the row's kind, or the empty slot where it would go. */
static size_t find_slot(const struct trace_kinds *kinds, const struct row *row)
{
    size_t i = hash_row(kinds, row) & (kinds->slots - 1);

    while (kinds->slot[i] != NULL && !is_equal(kinds, kinds->slot[i], row))
        i = (i + 1) & (kinds->slots - 1);
    return i;
}

/* Returns a row that asks for what the entry does, to find its slot in a larger
 * table. */
static struct row row_of(const struct trace_kinds *kinds, const struct entry_of_kind *entry)
{
    return (struct row){ .gpu_mib = entry->memory > 0 ? kinds->mib[entry->memory - 1] + 1LL : 0,
                         .pod = entry->pod, .types = entry->types,
                         .gpus = !entry->no_gpus,
                         .core_milli = entry->core_milli,
                         .memory_bytes = entry->memory_bytes,
                         .pool = entry->pool };
}

/* Doubles the slots; at most half of them are in use. */
static void grow_table(struct trace_kinds *kinds)
{
    struct entry_of_kind **old = kinds->slot;
    size_t slots = kinds->slots;

    kinds->slots *= 2;
    kinds->slot = arena_alloc(kinds->arena, kinds->slots,
                              sizeof *kinds->slot);
    for (size_t i = 0; i < slots; i++)
        if (old[i] != NULL) {
            struct row row = row_of(kinds, old[i]);
            kinds->slot[find_slot(kinds, &row)] = old[i];
        }
}

/* Does one of the names in "a|b|c" mean that GPU? A log may call it by an
 * alias, or by its family. */
static bool has_name(const struct world *world, const char *types,
                     const char *gpu)
{
    for (;; types++) {
        size_t bytes = strcspn(types, "|");
        char name[TYPE_BYTES];

        if (bytes < sizeof name) {
            memcpy(name, types, bytes);
            name[bytes] = '\0';
            if (bytes > 0 && catalogue_gpu_named(world->catalogue, gpu, name))
                return true;
        }
        types += bytes;
        if (*types == '\0')
            return false;
    }
}

/* Are there only separators?  Then every type is allowed. */
static bool has_no_name(const char *types)
{
    return types[strspn(types, "|")] == '\0';
}

/* Keeps, of the types that the base may use, those that the row names and that
 * have enough memory.  `smaller` is how many types have too little.
 * kind->has_type tells if one is left. */
static void narrow_types(struct trace_kinds *kinds, const struct world *world,
                         const char *names_of, size_t smaller, struct trace_kind *kind)
{
    const struct role_spec *base = &kinds->base.role[0];
    struct role_spec *role = &kind->form.role[0];
    const struct cluster_spec *cluster = world->cluster;
    uint32_t *types;

    kind->has_type = true;
    if (has_no_name(names_of) && smaller == 0)
        return;
    types = arena_alloc(kinds->arena, base->gpu_type_count + 1,
                        sizeof *types);
    role->gpu_types = types;
    role->gpu_type_count = 0;
    for (uint32_t t = 0; t < base->gpu_type_count; t++)
        for (uint32_t g = 0; g < cluster->group_count; g++) {
            const struct gpu_type *gpu = cluster->group[g].gpu;
            if (gpu == NULL || gpu->index != base->gpu_types[t] ||
                (!has_no_name(names_of) && !has_name(world, names_of, gpu->name)) ||
                (smaller > 0 && mib_of(gpu) <= kinds->mib[smaller - 1]))
                continue;
            types[role->gpu_type_count++] = gpu->index;
            break;
        }
    kind->has_type = role->gpu_type_count > 0;
}

/* May the role use GPUs of that group? */
static bool has_type(const struct role_spec *role,
                     const struct node_group *group)
{
    for (uint32_t t = 0; t < role->gpu_type_count; t++)
        if (group->gpu != NULL && group->gpu->index == role->gpu_types[t])
            return true;
    return false;
}

/* Finds the most GPUs that one node has for such a pod, which needs its cores
 * and memory on the same node. */
static void measure_pod(const struct world *world, bool no_gpus,
                        struct trace_kind *kind)
{
    const struct role_spec *role = &kind->form.role[0];

    for (uint32_t g = 0; g < world->cluster->group_count; g++) {
        const struct node_group *group = &world->cluster->group[g];
        if ((int64_t)group->cores * 1000 < role->core_milli ||
            group->memory_bytes < role->memory_bytes ||
            (role->pool != NULL &&
             strcmp(world->cluster->pool_name[group->pool], role->pool) != 0))
            continue;
        kind->runs = kind->runs || no_gpus;
        if (!no_gpus && has_type(role, group) &&
            group->gpus > kind->gpus_max)
            kind->gpus_max = group->gpus;
    }
}

/* Does the power cap allow a pod without GPUs? */
static bool allows_cores(const struct world *world, const struct role_spec *role)
{
    return world->cluster->power_cap_w <= 0 ||
           draw_least_mw(world->cluster, role, 0) <= 1000 * world->cluster->power_cap_w;
}

/* The form is the base's, with the row's types and pool and, of a pod, its
 * cores and memory.  What the cluster can hold of it is found once, here. */
const struct trace_kind *trace_kind_make(struct trace_kinds *kinds,
                                         const struct world *world,
                                         const struct row *row)
{
    size_t at = find_slot(kinds, row);
    struct entry_of_kind *entry = kinds->slot[at];
    struct role_spec *role;

    if (entry != NULL)
        return &entry->kind;
    entry = arena_alloc(kinds->arena, 1, sizeof *entry);
    entry->pod = row->pod;
    entry->no_gpus = row->gpus == 0;
    entry->core_milli = row->core_milli;
    entry->memory_bytes = row->memory_bytes;
    entry->pool = row->pool;
    entry->memory = count_smaller(kinds, row);
    entry->types = arena_text(kinds->arena, types_of(row));
    entry->kind.form = kinds->base;
    role = &entry->kind.form.role[0];
    if (row->pool != NULL)
        role->pool = row->pool;
    narrow_types(kinds, world, entry->types, entry->memory, &entry->kind);
    if (row->pod) {
        role->pod = true;
        /* Whole cores, for laws; placement goes by core_milli. */
        role->cores = (uint32_t)((row->core_milli + 999) / 1000);
        role->core_milli = row->core_milli;
        role->memory_bytes = row->memory_bytes;
        if (entry->no_gpus)
            role->gpus = role->gpus_min = role->gpus_max = 0;
        measure_pod(world, entry->no_gpus, &entry->kind);
        entry->kind.runs = entry->kind.runs && allows_cores(world, role);
    } else if (entry->kind.has_type) {
        entry->kind.gpus_max = whole_job_gpus_max(world, role);
    }
    entry->kind.milli_max = draw_most_milli(world->cluster, role, entry->kind.gpus_max);
    kinds->slot[at] = entry;
    if (2 * ++kinds->count > kinds->slots)
        grow_table(kinds);
    return &entry->kind;
}
