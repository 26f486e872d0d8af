/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit_parts.h - what fit.c, fit_seats.c and fit_pack.c share: one search, its passes over
 * nodes, and the rules that rank all nodes.  For these files only.  What is pointed to is
 * the caller's.
 *
 * A unit is a GPU with its cores and memory, or, for a want without GPUs, a
 * core.  Every node that may hold the gang is a seat: units that are free,
 * units for which cores and memory suffice as well (cap), and all its units
 * (size).  Where cores and memory cannot limit (`loose`) the number of free GPUs
 * says all, and sums are taken over these numbers instead of the nodes.
 */
#ifndef MODELS_CLUSTER_FIT_PARTS_H
#define MODELS_CLUSTER_FIT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"

struct free_index;
struct gpu_type;

/* One search: what is looked for, and where. */
struct fit_hunt {
    const struct cluster *cluster;
    const struct free_index *index; /* of what is free, or spare too */
    const struct fit_want *want;
    const struct gpu_type *type;    /* of the gang; NULL: cores only */
    bool bare_nodes;                /* cores only: nodes without GPUs */
    bool by_domain;                 /* pack: keep to NVLink domains */
    bool indexed;                   /* GPUs by index->room */
    bool loose;                     /* ... and each brings what it needs */
    bool cores_indexed;             /* cores by index->cores */
    uint32_t units;             /* that are looked for */
    uint32_t unit_cores;        /* of each unit */
    int64_t unit_memory;            /* whole bytes of a unit, and ... */
    uint32_t memory_rest, memory_parts; /* ... rest / parts of a byte: of cores
                                   that share what is asked for all of them */
    struct share *share;            /* NULL: only whether it fits */
    uint32_t share_max, share_count; /* room in `share`, and what is used */
};

/* A cursor over the nodes of a hunt. */
struct fit_seat {
    uint32_t group, node;           /* node: of the next call */
    uint32_t at;                    /* the node this seat is */
    uint32_t free, cap, size;   /* units that are free; of these with cores and memory; of the
                                 * whole node */
};

/* ---- fit_seats.c ---- */

/* May nodes of this group be used: its pool, its GPU type, or its CPU? */
static inline bool fit_group_matches(const struct fit_hunt *hunt,
                                     const struct node_group *group)
{
    if (!fit_allows(hunt->want, (uint32_t)(group - hunt->cluster->spec->group), group->pool))
        return false;
    if (hunt->type != NULL)
        return group->gpu == hunt->type;
    if (hunt->want->computes && !cluster_computes(group))
        return false;
    return !hunt->bare_nodes || group->gpus == 0;
}

/* Returns the bytes of `units` units, rounded up once for all of them. */
static inline int64_t fit_memory_of(const struct fit_hunt *hunt, uint32_t units)
{
    uint64_t parts = hunt->memory_parts;

    return units * hunt->unit_memory +
           (int64_t)(((uint64_t)units * hunt->memory_rest + parts - 1) / parts);
}

/* Returns for how many units, at most `units`, that memory suffices. */
uint32_t fit_count_memory(const struct fit_hunt *hunt, uint32_t units, int64_t have);
/* Fills in what the node seat->at has: what is free now, with `extra`, or all of it. */
void fit_seat_fill(const struct fit_hunt *hunt, const struct node_group *group,
                   struct fit_seat *seat);
#define FIT_ANY_COUNT UINT64_MAX    /* of free GPUs, see gpu_index.h */
/* Moves to the next node that may be used at all.  An index passes over those whose
 * number of free GPUs is not in `counts`.  False: past the last. */
bool fit_seat_next(const struct fit_hunt *hunt, struct fit_seat *seat, uint64_t counts);
/* Puts units of a node into the result, which stays in node order.  False: it has no room
 * for another node. */
bool fit_give_units(struct fit_hunt *hunt, uint32_t node, uint32_t units);

/* ---- fit_pack.c ---- */

/* Pack and spread, once hunt->type and the passes are chosen.  False: the gang does not
 * fit. */
bool fit_pack(struct fit_hunt *hunt);
bool fit_spread(struct fit_hunt *hunt);

#endif
