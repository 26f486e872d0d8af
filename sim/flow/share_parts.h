/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_parts.h - what the files of the solver share.  For these files only.
 *
 * share.c keeps links, flows and uses; share_crowd.c keeps the crowds;
 * share_fill.c fills one part of the net; share_solve.c decides which part.
 * Each file calls only those before it.
 */
#ifndef SIM_FLOW_SHARE_PARTS_H
#define SIM_FLOW_SHARE_PARTS_H

#include <assert.h>

#include "sim/base/arena.h"
#include "sim/flow/share.h"

/* Adds a number at the end of a list. */
static inline void share_list_push(struct share_list *list, uint32_t item)
{
    ARENA_ADD(NULL, list->item, list->count, list->room, item);
    assert(list->count <= list->room);
}

/* Returns the first member of a link; good until a run is taken from the
 * pool. */
static inline struct share_member *share_members(const struct share *share,
                                                 const struct share_link *link)
{
    assert(link->member < share->members.used);
    return (struct share_member *)(void *)share->members.items + link->member;
}

/* Proofs, see share_solve.c: a proof is valid until it is withdrawn. */
static inline bool share_proof_stands(const struct share *share,
                                      const struct share_proof *proof)
{
    assert(proof->stamp <= share->proof_count);
    return proof->stamp != 0 &&
           share->link[proof->link].proof_stamp == proof->stamp;
}

/* A mark without a valid proof is left as it is. */
static inline void share_proof_withdraw(struct share *share,
                                        const struct share_proof *proof)
{
    if (share_proof_stands(share, proof))
        share->link[proof->link].proof_stamp = 0;
    assert(!share_proof_stands(share, proof));
}

/* A ripple takes levels and loads that differ by less for equal. */
#define SHARE_TOLERANCE 1e-13   /* relative; some hundred roundings of a double */

/* A link with SHARE_CROWD_MIN flows keeps a crowd, until it has fewer than
 * SHARE_CROWD_LEAST, which are more than a small component has. */
#define SHARE_CROWD_MIN 64u
#define SHARE_CROWD_LEAST 32u
/* A ripple that succeeds adds 1 to a crowd's credit; one that fails takes
 * SHARE_CREDIT_FAIL.  A crowd without credit is given up for SHARE_CROWD_WAIT
 * ripples, because crowds are slower than none if their flows depend on many
 * others (measured: up to five times). */
#define SHARE_CREDIT_FAIL 8u
#define SHARE_CREDIT_MAX 16u
#define SHARE_CROWD_WAIT 256u

/* True: an item of `limit` is about a link, not about a flow. */
static inline bool share_is_link(const struct lazy_heap_item *item)
{
    return item->tail > 0;
}

/* True: an item of `above` or `limit` is valid; a lazy_heap_holds_fn. */
bool share_holds(const void *share, const struct lazy_heap_item *item);

/* Gives a link an empty crowd; its flows join it as they are committed. */
void share_crowd_new(struct share *share, uint32_t link);

/* True: flows of another link's crowd use this link. */
static inline bool share_has_guests(const struct share_link *link)
{
    return link->crowd != SHARE_NONE && link->crowd != link->kept;
}

/* Computes `next` and the bottleneck of each flow of the part; flows outside
 * keep their rates.  whole: no flow outside uses its links. */
void share_fill(struct share *share, bool whole);

#endif
