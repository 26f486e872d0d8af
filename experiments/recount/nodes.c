/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nodes.c - a list of what was told of nodes, gone through once at the end.
 *
 * An integral of a level is the sum over its changes of change x (end - instant),
 * where what came before the warm-up counts from there.
 *
 * Example: a node with 8 GPUs fails at 100 s and is back at 400 s, in a run
 * that ends at 1,000 s.  The changes are +8 and -8, and 8 x 900 - 8 x 600 =
 * 2,400 GPU-seconds were out of service.
 */
#include "experiments/recount/nodes.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "models/types/facts.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

/* Of GPUs in thousandths: out of service, paid for but not usable, not rented. */
enum level { DOWN, STARTING, AWAY, LEVELS };

/* By how much each level changes at an instant. */
struct change {
    int64_t at_ns, milli[LEVELS];
};

/* One time for which a node was paid: from the order of it, or from its first
 * lease where it is billed while held. */
struct rental {
    uint32_t node, leases;      /* leases: that hold the node now */
    int64_t from_ns, up_ns, end_ns;     /* CLOCK_NEVER_NS: not yet */
};

struct nodes {
    struct arena *arena;
    const struct cluster_spec *cluster;
    struct change *change;
    uint32_t changes, change_room;  /* of `change` */
    uint32_t entered;           /* of them */
    struct rental *rental;
    uint32_t rentals, rental_room;
    uint32_t *open;             /* rental by node + 1; 0: none */
    int64_t now[LEVELS];        /* of what is entered */
    __int128_t area[LEVELS];    /* of each level, x ns */
    struct nodes_sum *group;    /* by group of nodes */
};

/* A rented node begins as one that is not there. */
struct nodes *nodes_new(struct arena *arena, const struct cluster_spec *cluster)
{
    struct nodes *nodes = arena_alloc(arena, 1, sizeof *nodes);
    struct change first = { .at_ns = 0 };
    bool rents = false;

    nodes->arena = arena;
    nodes->cluster = cluster;
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        rents |= group->rent != NULL || group->billed_held;
        if (group->rent != NULL)
            first.milli[AWAY] += (int64_t)group->gpus * group->node_count * 1000;
    }
    if (rents)
        nodes->open = arena_alloc(arena, cluster->node_count, sizeof *nodes->open);
    nodes->group = arena_alloc(arena, cluster->group_count, sizeof *nodes->group);
    nodes->now[AWAY] = first.milli[AWAY];
    ARENA_ADD(arena, nodes->change, nodes->changes, nodes->change_room, first);
    nodes->entered = 1;
    return nodes;
}

/* Opens a rental of a node that has none, from now on; up_ns: when it can be used. */
static void rental_open(struct nodes *nodes, uint32_t node, int64_t now, int64_t up_ns)
{
    assert(nodes->open != NULL && nodes->open[node] == 0);
    ARENA_ADD(nodes->arena, nodes->rental, nodes->rentals, nodes->rental_room,
              (struct rental){ node, 0, now, up_ns, CLOCK_NEVER_NS });
    nodes->open[node] = nodes->rentals;
}

/* Keeps the rental of a node by what is told of it; a notice changes nothing here. */
static void rental_fact(struct nodes *nodes, const struct fact *fact)
{
    struct rental *rental = NULL;

    if (fact->kind == FACT_RENT_ORDER) {
        rental_open(nodes, fact->subject, fact->time_ns, CLOCK_NEVER_NS);
        return;
    }
    assert(nodes->open != NULL && nodes->open[fact->subject] > 0);
    rental = &nodes->rental[nodes->open[fact->subject] - 1];
    if (fact->kind == FACT_RENT_UP)
        rental->up_ns = fact->time_ns;
    if (fact->kind != FACT_RENT_END)
        return;
    rental->end_ns = fact->time_ns;
    nodes->open[fact->subject] = 0;
}

/* Enters all changes that were told and not entered. */
void nodes_job(struct nodes *nodes)
{
    for (; nodes->entered < nodes->changes; nodes->entered++)
        for (int l = 0; l < LEVELS; l++)
            nodes->now[l] += nodes->change[nodes->entered].milli[l];
}

/* Turns the fact into a change of levels.  Example: an order moves the GPUs of
 * a node from AWAY to STARTING. */
void nodes_fact(struct nodes *nodes, const struct fact *fact, int64_t inside)
{
    int64_t milli = llround(fact->amount * 1000), all =
        (int64_t)cluster_group_of(nodes->cluster, fact->subject)->gpus * 1000;
    struct change change = { .at_ns = fact->time_ns };

    switch (fact->kind) {
    case FACT_NODE_DOWN: change.milli[DOWN] = milli; break;
    case FACT_NODE_UP: change.milli[DOWN] = -milli; break;
    case FACT_RENT_ORDER:
        change.milli[AWAY] = -milli;
        change.milli[STARTING] = milli;
        break;
    case FACT_RENT_UP: change.milli[STARTING] = -milli; break;
    case FACT_RENT_END:         /* all that it has is withdrawn by now */
        change.milli[STARTING] = milli - all;
        change.milli[AWAY] = all;
        break;
    default: change.milli[STARTING] = milli; break;
    }
    ARENA_ADD(nodes->arena, nodes->change, nodes->changes, nodes->change_room, change);
    if (inside > 0)
        nodes_job(nodes);
    if (fact->kind >= FACT_RENT_ORDER && fact->kind <= FACT_RENT_TAKEN)
        rental_fact(nodes, fact);
}

/* The first lease on a node begins its rental, and the end of the last one ends
 * it. */
void nodes_lease(struct nodes *nodes, uint32_t node, int64_t now, int change)
{
    struct rental *rental;

    if (!cluster_group_of(nodes->cluster, node)->billed_held)
        return;
    if (nodes->open[node] == 0)
        rental_open(nodes, node, now, now);
    rental = &nodes->rental[nodes->open[node] - 1];
    rental->leases += (uint32_t)change;
    if (rental->leases > 0)
        return;
    rental->end_ns = now;
    nodes->open[node] = 0;
}

int64_t nodes_gone_milli(const struct nodes *nodes)
{
    return nodes->now[DOWN] + nodes->now[STARTING] + nodes->now[AWAY];
}

/* Returns the later of two times. */
static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Adds a rental to the sums of its group, as far as it lies in [begin, end].  A unit
 * that was begun is paid whole, even beyond the end. */
static void sum_rental(struct nodes *nodes, const struct rental *rental, int64_t begin,
                       int64_t end)
{
    const struct node_group *group = cluster_group_of(nodes->cluster, rental->node);
    struct nodes_sum *sum = &nodes->group[group - nodes->cluster->group];
    int64_t from = later(rental->from_ns, begin), to = rental->end_ns, paid, up;

    if (to > end)
        to = end;               /* open, or left behind when all was done */
    if (rental->from_ns > end || to < from)
        return;
    paid = to;
    if (group->rent != NULL)
        paid = later(to, clock_after(rental->from_ns,
                                     rented_billed_ns(group->rent, to - rental->from_ns)));
    up = rental->up_ns < from ? from : rental->up_ns > to ? to : rental->up_ns;
    sum->node_s += (double)(to - from) / 1e9;
    sum->usd += cluster_node_usd(group, from, paid);
    sum->used_usd += cluster_node_usd(group, from, to);
    sum->unused_usd += cluster_node_usd(group, from, up) +
                       cluster_node_usd(group, to, paid);
}

void nodes_close(struct nodes *nodes, int64_t from_ns, int64_t end_ns)
{
    for (uint32_t i = 0; i < nodes->changes; i++) {
        const struct change *change = &nodes->change[i];

        for (int l = 0; l < LEVELS && change->at_ns <= end_ns; l++)
            nodes->area[l] += (__int128_t)change->milli[l] *
                              (end_ns - later(change->at_ns, from_ns));
    }
    for (uint32_t i = 0; i < nodes->rentals; i++)
        sum_rental(nodes, &nodes->rental[i], from_ns, end_ns);
}

__int128_t nodes_down(const struct nodes *nodes)
{
    return nodes->area[DOWN];
}

__int128_t nodes_starting(const struct nodes *nodes)
{
    return nodes->area[STARTING];
}

__int128_t nodes_away(const struct nodes *nodes)
{
    return nodes->area[AWAY];
}

struct nodes_sum nodes_group(const struct nodes *nodes, uint32_t group)
{
    assert(group < nodes->cluster->group_count);
    return nodes->group[group];
}
