/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_parts.h - what the files of the solver share, for them only.
 *
 * share.c keeps links, flows and who uses what; share_crowd.c the crowds;
 * share_fill.c fills one part of the net; share_solve.c says which.  Each calls
 * only those before it.
 */
#ifndef SIM_FLOW_SHARE_PARTS_H
#define SIM_FLOW_SHARE_PARTS_H

#include "sim/base/arena.h"
#include "sim/flow/share.h"

static inline void share_list_push(struct share_list *list, uint32_t item)
{
    ARENA_ADD(NULL, list->item, list->count, list->room, item);
}

static inline struct share_member *share_members(const struct share *share,
                                                 const struct share_link *link)
{
    return (struct share_member *)(void *)share->members.items + link->member;
}

/* Proofs, see share_solve.c: one stands until it is withdrawn. */
static inline bool share_proof_stands(const struct share *share,
                                      const struct share_proof *proof)
{
    return proof->stamp != 0 &&
           share->link[proof->link].proof_stamp == proof->stamp;
}

static inline void share_proof_withdraw(struct share *share,
                                        const struct share_proof *proof)
{
    if (share_proof_stands(share, proof))
        share->link[proof->link].proof_stamp = 0;
}

/* Levels and loads that differ by less are the same to a ripple. */
#define SHARE_TOLERANCE 1e-13

/* Links of so many flows keep a crowd, until they are fewer than the latter,
 * which are more than a small component has. */
#define SHARE_CROWD_MIN 64u
#define SHARE_CROWD_LEAST 32u
/* A ripple that fails costs a crowd so much of its credit, which a good one
 * adds one to; a crowd that cannot pay is given up for so many ripples, as it
 * only costs where its flows are tied up with others (measured: up to five
 * times the plain way). */
#define SHARE_CREDIT_FAIL 8u
#define SHARE_CREDIT_MAX 16u
#define SHARE_CROWD_WAIT 256u

/* Whether an item of `limit` is about a link, not about a flow. */
static inline bool share_is_link(const struct lazy_heap_item *item)
{
    return item->tail > 0;
}

/* Whether an item of `above` or `limit` does. */
bool share_holds(const void *share, const struct lazy_heap_item *item);

void share_crowd_new(struct share *share, uint32_t link);

/* Whether the crowd of another link crosses this one. */
static inline bool share_has_guests(const struct share_link *link)
{
    return link->crowd != SHARE_NONE && link->crowd != link->kept;
}

/* Finds `next` and the bottleneck of each flow of the part, the flows outside
 * keeping their rates.  Whole: there are none outside on its links. */
void share_fill(struct share *share, bool whole);

#endif
