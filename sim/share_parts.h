/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_parts.h - what the files of the solver share, for them only.
 *
 * share.c keeps links, flows and who uses what; share_fill.c fills one part of
 * the net; share_solve.c says which.  Each calls only those before it.
 */
#ifndef SIM_SHARE_PARTS_H
#define SIM_SHARE_PARTS_H

#include "sim/share.h"

/* Twice the room, 16 at first; all that was there is kept. */
void *share_grown(void *items, uint32_t *room, size_t item_bytes);

static inline void share_list_push(struct share_list *list, uint32_t item)
{
    if (list->count == list->room)
        list->item = share_grown(list->item, &list->room, sizeof *list->item);
    list->item[list->count++] = item;
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

/* Finds `next` and the bottleneck of each flow of the part, the flows outside
 * keeping their rates.  Whole: there are none outside on its links. */
void share_fill(struct share *share, bool whole);

#endif
