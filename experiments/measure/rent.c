/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.c - a book of rentals: per node the one that is open, per group the sum
 * of those that ended.
 *
 * What ends while no job is in the system ends the run, if none comes any
 * more, with its last job: it is entered when the next job comes.
 *
 * Example: a node is ordered at 0, is up after 2 minutes and is given back
 * after 50 minutes, by a provider that bills whole hours.  An hour is paid, 50
 * minutes were there, and the price of the 2 minutes before it was up and of
 * the 10 after its end is `unused`.
 */
#include "experiments/measure/rent.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/journal.h"

/* The rental of one node: from its order, over the time when it is there, to its end. */
struct rental {
    bool open;                  /* it was ordered and has not ended */
    uint32_t leases;            /* billed while held */
    int64_t from_ns, up_ns, end_ns;     /* CLOCK_NEVER_NS: not yet */
};

__extension__ typedef __int128 wide_ns;   /* nodes x nanoseconds */

/* What the rentals of a group add up to. */
struct rent_sum {
    wide_ns node_ns;            /* nodes x ns, from order to end */
    double usd, unused_usd, used_usd;   /* unused: of usd, as rent_usd() says; used:
                                   without parts of units */
};

/* The book: the open rental of each node, and the sums of each group. */
struct rent {
    const struct cluster_spec *spec;
    const struct cs_host *host; /* which nodes are there */
    int64_t begin_ns;           /* the end of the warm-up: rents before it do not count */
    struct rental *node;        /* by node */
    struct rent_sum *group;     /* by group of nodes */
    bool ended;                 /* a rental waits to be entered */
};

/* Adds a rental that ends at a time, as far as it counts. */
static void enter(const struct rent *rent, uint32_t node, int64_t end_ns,
                  struct rent_sum *sum)
{
    const struct rental *rental = &rent->node[node];
    const struct node_group *group = cluster_group_of(rent->spec, node);
    int64_t from = rental->from_ns > rent->begin_ns ? rental->from_ns
                                                    : rent->begin_ns;
    int64_t paid = end_ns, up = rental->up_ns;

    if (end_ns < from)
        return;
    if (group->rent != NULL)
        paid = clock_after(rental->from_ns,
                           rented_billed_ns(group->rent,
                                            end_ns - rental->from_ns));
    if (paid < end_ns)
        paid = end_ns;
    up = up < from ? from : up > end_ns ? end_ns : up;
    sum->node_ns += (wide_ns)(end_ns - from);
    sum->usd += cluster_node_usd(group, from, paid);
    sum->used_usd += cluster_node_usd(group, from, end_ns);
    sum->unused_usd += cluster_node_usd(group, from, up) +
                       cluster_node_usd(group, end_ns, paid);
}

/* Returns the sums of the group of a node. */
static struct rent_sum *sum_of(const struct rent *rent, uint32_t node)
{
    return &rent->group[cluster_group_of(rent->spec, node) -
                        rent->spec->group];
}

/* A node is paid for from now on, and cannot be used yet. */
static void begin(struct rent *rent, uint32_t node, int64_t now)
{
    assert(!rent->node[node].open);
    rent->node[node].open = true;
    rent->node[node].from_ns = now;
    rent->node[node].up_ns = rent->node[node].end_ns = CLOCK_NEVER_NS;
}

/* Enters the open rental of a node, which ends now, into the sums of its group. */
static void end(struct rent *rent, uint32_t node, int64_t now)
{
    assert(rent->node[node].open);
    enter(rent, node, now, sum_of(rent, node));
    rent->node[node].open = false;
}

/* Enters the rentals that ended while no job was in the system: another one has come. */
static void end_later(struct rent *rent)
{
    for (uint32_t n = 0; rent->ended && n < rent->spec->node_count; n++)
        if (rent->node[n].open && rent->node[n].end_ns != CLOCK_NEVER_NS)
            end(rent, n, rent->node[n].end_ns);
    rent->ended = false;
}

/* Nodes that are billed while held: the first lease begins a rental that can be used at
 * once, and the last one ends it. */
static void hear_lease(struct rent *rent, const struct fact *fact)
{
    struct lease_id id = { fact->subject };
    const struct placement *place = &cs_lease(rent->host, id)->placement;

    for (uint32_t i = 0; i < place->share_count; i++) {
        uint32_t node = place->share[i].node;

        if (!cluster_group_of(rent->spec, node)->billed_held)
            continue;
        if (fact->kind == FACT_LEASE_TAKE && rent->node[node].leases++ == 0) {
            begin(rent, node, fact->time_ns);
            rent->node[node].up_ns = fact->time_ns;
        }
        if (fact->kind != FACT_LEASE_DROP)
            continue;
        assert(rent->node[node].leases > 0);
        if (--rent->node[node].leases == 0)
            end(rent, node, fact->time_ns);
    }
}

/* A rental that ends while no job is left waits for the next job (end_later). */
static void hear(void *self, const struct fact *fact)
{
    struct rent *rent = self;

    switch ((enum fact_kind)fact->kind) {
    case FACT_JOB_SUBMIT: end_later(rent); break;
    case FACT_RENT_ORDER:
        end_later(rent);        /* the same node may have gone just now */
        begin(rent, fact->subject, fact->time_ns);
        break;
    case FACT_RENT_UP: rent->node[fact->subject].up_ns = fact->time_ns; break;
    case FACT_RENT_END:
        rent->node[fact->subject].end_ns = fact->time_ns;
        rent->ended = true;
        if (host_jobs_left(rent->host) > 0)
            end_later(rent);
        break;
    default: hear_lease(rent, fact); break;
    }
}

/* A cluster whose nodes are all paid for all of the time needs no book. */
struct rent *rent_new(const struct metrics_parts *parts)
{
    const struct cluster_spec *spec = parts->spec->cluster;
    struct rent *rent = NULL;

    for (uint32_t g = 0; g < spec->group_count && rent == NULL; g++)
        if (spec->group[g].billed_held || spec->group[g].rent != NULL)
            rent = arena_alloc(parts->arena, 1, sizeof *rent);
    if (rent == NULL)
        return NULL;
    rent->spec = spec;
    rent->node = arena_alloc(parts->arena, spec->node_count,
                             sizeof *rent->node);
    rent->group = arena_alloc(parts->arena, spec->group_count,
                              sizeof *rent->group);
    journal_listen(parts->journal, UINT64_C(1) << FACT_LEASE_TAKE |
                                       UINT64_C(1) << FACT_LEASE_DROP |
                                       UINT64_C(1) << FACT_JOB_SUBMIT |
                                       UINT64_C(1) << FACT_RENT_ORDER |
                                       UINT64_C(1) << FACT_RENT_UP |
                                       UINT64_C(1) << FACT_RENT_END,
                   hear, rent);
    return rent;
}

void rent_watch(struct rent *rent, const struct cs_host *host)
{
    if (rent != NULL)
        rent->host = host;
}

/* Rentals that are open go on, and count from now. */
void rent_begin(struct rent *rent, int64_t now_ns)
{
    if (rent == NULL)
        return;
    end_later(rent);
    rent->begin_ns = now_ns;
    for (uint32_t g = 0; g < rent->spec->group_count; g++)
        rent->group[g] = (struct rent_sum) { 0 };
}

/* Returns the sums of a group: rentals that ended, and the open ones as if they
 * ended now. */
static struct rent_sum all(const struct rent *rent, uint32_t g, int64_t now)
{
    const struct node_group *group = &rent->spec->group[g];
    struct rent_sum sum = rent->group[g];

    assert(group->billed_held || group->rent != NULL);
    for (uint32_t n = group->first_node;
         n < group->first_node + group->node_count; n++) {
        const struct rental *rental = &rent->node[n];
        if (rental->open && rental->from_ns <= now)
            enter(rent, n, rental->end_ns < now ? rental->end_ns : now, &sum);
    }
    return sum;
}

double rent_node_s(const struct rent *rent, uint32_t group, int64_t now_ns)
{
    assert(rent != NULL && group < rent->spec->group_count);
    return (double)all(rent, group, now_ns).node_ns / 1e9;
}

double rent_used_usd(const struct rent *rent, uint32_t group, int64_t now_ns)
{
    assert(rent != NULL && group < rent->spec->group_count);
    return all(rent, group, now_ns).used_usd;
}

double rent_usd(const struct rent *rent, uint32_t group, int64_t now_ns,
                double *unused_usd)
{
    assert(rent != NULL && group < rent->spec->group_count);
    struct rent_sum sum = all(rent, group, now_ns);

    if (unused_usd != NULL)
        *unused_usd = sum.unused_usd;
    return sum.usd;
}
