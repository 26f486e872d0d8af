/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share.h - the solver of weighted max-min fair rates on links, without time.
 *
 * It knows how much of each link each flow uses, and computes the rates.
 * flow.c, its only user, turns rates into work and events; therefore the
 * structs are open.
 *
 * A level is rate / weight.  Max-min fairness raises the level of all flows
 * together until each reaches its cap or a full link, its bottleneck.
 *
 * A link that many flows use keeps a crowd: the flows that it limits.  Their
 * rates are the crowd's level times their weights, and are not stored.  See
 * share_crowd.c.
 */
#ifndef SIM_FLOW_SHARE_H
#define SIM_FLOW_SHARE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/containers/lazy_heap.h"

#define SHARE_NONE UINT32_MAX

/* A sum of doubles that keeps the rounding errors (Knuth's two-sum with
 * Neumaier's running error), about 100 bits in all.  A term that is added and
 * subtracted leaves no error, and the value does not depend on the order of the
 * terms. */
struct share_sum {
    double hi, lo;              /* the rounded sum, and the errors of all additions so far */
};

/* Adds a term.  What the addition rounds away goes to `lo`. */
static inline void share_sum_add(struct share_sum *sum, double term)
{
    double total = sum->hi + term;
    double part = total - sum->hi;

    sum->lo += (sum->hi - (total - part)) + (term - part);
    sum->hi = total;
}

/* Returns the sum as one double. */
static inline double share_sum_value(struct share_sum sum)
{
    return sum.hi + sum.lo;
}

/* That a flow uses a link.  Uses of a flow lie in one run of a pool. */
struct share_use {
    uint32_t link;
    uint32_t place;         /* of this flow among the link's members */
    double per_unit;            /* of the link, for each unit of the flow */
};

/* That a link is used by a flow: the other end of a share_use. */
struct share_member {
    uint32_t flow;              /* its number */
    uint32_t use;           /* of the pool: where `place` must be kept */
};

/* A mark that the owner was found in a large component, see share_solve.c.  All
 * zero: no mark. */
struct share_proof {
    uint64_t stamp;             /* of the proof; 0: none */
    uint32_t link;              /* that limits them all */
};

/* A flow as the solver knows it, without time. */
struct share_flow {
    double rate;            /* present rate, part of the links' load; 0 in */
                            /* a crowd: use share_rate()                   */
    double next;            /* solved rate; present after share_commit() */
    double level, level_max, weight, rate_max; /* level_max: rate_max / weight */
    uint32_t use, use_count;    /* where its run begins in the pool of uses; how many it has */
    uint32_t bottleneck;    /* a link, or SHARE_NONE: its cap */
    bool live, dirty, open;     /* live: it was added and not dropped; dirty: the next solution
                                 * looks at it; open: its level is not set yet, while filling */
    bool chosen;            /* in share->set */
    struct share_proof proof;
    uint32_t crowd;         /* its crowd, or SHARE_NONE */
    uint32_t stamp;         /* of its items in heaps, see lazy_heap.h */
};

/* The members that filling uses come first, close together in memory. */
struct share_link {
    struct share_sum left;      /* capacity left while filling */
    struct share_sum demand;    /* weight x per_unit of open flows */
    double top, own;            /* after filling: the highest level here, and */
                                /* the level of the flows that it limits      */
    uint32_t open_count;        /* flows whose level is not set yet */
    uint32_t member, member_count; /* where its run begins in the pool of members; how many it
                                    * has */
    uint8_t member_room_log2;   /* the run has room for 2^this */
    bool over;                  /* flows outside the part exceed the capacity */
    bool dirty;                 /* the next solution looks at it */
    bool chosen;                /* in share->set_link */
    double capacity;            /* units a second */
    struct share_sum load;      /* of the present rates, without crowds' */
    struct share_proof proof;
    uint64_t proof_stamp;       /* of the proof kept here; 0: none is valid */
    uint32_t held_count;        /* flows whose bottleneck it is */
    uint32_t kept;              /* the crowd that it keeps, or SHARE_NONE */
    uint32_t crowd;             /* the crowd whose flows use this link, its */
                                /* own or another link's, or SHARE_NONE     */
};

/* The flows of a crowd that use a link: all, and without those of the part that
 * is being filled. */
struct share_across {
    struct share_sum demand, rest; /* weight x per_unit of them */
    uint32_t count, rest_count; /* flows */
    uint32_t stamp;             /* see lazy_heap.h */
    uint32_t wait_count;        /* ripples until the link may keep a crowd */
};

/* The flows that one link limits, as one: level is rate / weight of each. */
struct share_crowd {
    uint32_t link;
    uint32_t credit;            /* rises with each ripple that succeeded */
    double level;               /* present level */
    struct lazy_heap above;          /* the link's other flows, highest first */
    struct lazy_heap limit;          /* what limits the crowd when it rises */
};

/* Runs of 2^n items in one array, recycled by size. */
struct share_pool {
    unsigned char *items;       /* the array, as bytes */
    size_t item_bytes;
    uint32_t used, room;        /* items handed out, free runs included; items there are */
    uint32_t free[32];          /* offset + 1 of the first free run, or 0 */
};

/* A growing list of numbers of flows or links. */
struct share_list {
    uint32_t *item;
    uint32_t count, room;       /* numbers in it; numbers that there is room for */
};

/* A level with its tie-break: see share_fill.c. */
__extension__ typedef unsigned __int128 share_key;

struct share {
    struct share_flow *flow;    /* by number; removed ones are used again */
    uint32_t flow_count, flow_room, live_count; /* numbers given out, room, and flows that live */
    struct share_list free_flow; /* numbers of removed flows */
    struct share_link *link;    /* by number; links are never removed */
    struct share_across *across;        /* beside link */
    uint32_t link_count, link_room;
    struct share_pool uses, members; /* of flows, and of links */
    struct share_list dirty_flow, dirty_link; /* that the next solution looks at */
    struct share_list set;      /* after share_solve: the flows solved */
    struct share_list set_link; /* and the links of those flows, or changed ones */
    uint32_t part, part_link;   /* where in the sets the part begins that */
                                /* is being solved                        */
    uint64_t proof_count;       /* made so far */
    struct share_crowd *crowd;  /* by number; those of free_crowd are not in use */
    uint32_t crowd_count, crowd_room;   /* slots */
    struct share_list free_crowd; /* numbers of crowds that are not in use */
    bool new_crowd;             /* made by the ripple under way */
    share_key *heap;            /* of levels, while filling */
    uint32_t heap_count, heap_room; /* keys in it; keys that there is room for */
};

/* Makes an empty net, and returns all its memory.  The struct is the caller's. */
void share_init(struct share *share);
void share_release(struct share *share);

/* Adds a link of a capacity (>= 0, per second) and returns its number.
 * share_link_set() changes the capacity; share_solve() then looks at its
 * flows. */
uint32_t share_link_add(struct share *share, double capacity);
void share_link_set(struct share *share, uint32_t link, double capacity);

/* Adds a flow and returns its number.  Its rate is 0 until it is solved and
 * committed.  The caller then sets its use_count uses by share_use(), and calls
 * share_dirty().  A flow without uses is never solved. */
uint32_t share_add(struct share *share, double weight, double rate_max,
                   uint32_t use_count);
void share_use(struct share *share, uint32_t flow, uint32_t k, uint32_t link,
               double per_unit);
/* Removes a flow; sets its cap; notes that the next solution must look at it. */
void share_drop(struct share *share, uint32_t flow);
void share_cap(struct share *share, uint32_t flow, double rate_max);
void share_dirty(struct share *share, uint32_t flow);

/* Returns the first of a flow's uses; good until a run is taken from the pool. */
static inline struct share_use *share_uses(const struct share *share,
                                           const struct share_flow *flow)
{
    assert(flow->use + flow->use_count <= share->uses.used);
    return (struct share_use *)(void *)share->uses.items + flow->use;
}

/* Returns a flow's present rate, in a crowd or not. */
static inline double share_rate(const struct share *share,
                                const struct share_flow *flow)
{
    assert(flow->crowd == SHARE_NONE || flow->crowd < share->crowd_count);
    return flow->crowd == SHARE_NONE
               ? flow->rate
               : share->crowd[flow->crowd].level * flow->weight;
}

/* Returns a link's present load, per second, with that of the crowd that
 * crosses it. */
static inline double share_link_load(const struct share *share,
                                     const struct share_link *link)
{
    double load = share_sum_value(link->load);

    assert(link->crowd == SHARE_NONE || link->crowd < share->crowd_count);
    return link->crowd == SHARE_NONE
               ? load
               : load + share->crowd[link->crowd].level *
                            share_sum_value(
                            share->across[link - share->link].demand);
}

/* Does any link keep a crowd? */
static inline bool share_has_crowds(const struct share *share)
{
    assert(share->crowd_count >= share->free_crowd.count);
    return share->crowd_count > share->free_crowd.count;
}

/* Is there a change that is not solved yet? */
bool share_is_dirty(const struct share *share);
/* Puts into share->set every flow whose rate may have changed, and computes its
 * `next`. */
void share_solve(struct share *share);

/* To be called then, in this order: share_leave() for each flow of the set that
 * is in a crowd; share_levels(), which makes the crowds' new levels present;
 * share_commit() for each flow of the set, with the crowd that share_joins()
 * returns; share_limits(), which updates what limits the crowds. */
void share_leave(struct share *share, uint32_t flow);
void share_levels(struct share *share);
uint32_t share_joins(const struct share *share, uint32_t flow);
void share_commit(struct share *share, uint32_t flow, uint32_t crowd);
void share_limits(struct share *share);

/* Are the present rates weighted max-min fair?  By the definition (share_fair.c).  False:
 * *flow is one whose rate is not. */
bool share_is_fair(const struct share *share, uint32_t *flow);

#endif
