/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * journal.c - facts to listeners, in the order the listeners were added.
 *
 * Each kind has its own list, so a fact that nobody wants costs one load and
 * one comparison, and no listener pays for another's kinds.
 *
 * Data: for each kind a list that only grows, with a pointer to its end so that
 * the order of joining is the order of hearing. All memory is the arena's.
 */
#include "sim/event/journal.h"

#include <assert.h>
#include <stddef.h>

#include "sim/base/arena.h"

#define KIND_COUNT 64u

/* One subscriber of one kind of fact; a chain for each kind. */
struct listener {
    journal_fn *fn;             /* called with self for each fact of the kind */
    void *self;
    struct listener *next;      /* NULL: the last one */
};

struct journal {
    struct arena *arena;        /* of the trial */
    struct listener *first[KIND_COUNT]; /* by kind; NULL: nobody listens */
    struct listener **end[KIND_COUNT];      /* where the next one goes */
    uint32_t telling;                       /* facts being told, nested */
};

struct journal *journal_new(struct arena *arena)
{
    struct journal *journal = arena_alloc(arena, 1, sizeof *journal);
    uint32_t kind;

    assert(arena != NULL);
    journal->arena = arena;
    for (kind = 0; kind < KIND_COUNT; kind++)
        journal->end[kind] = &journal->first[kind];
    return journal;
}

/* Listeners of a kind are told in the order in which they came, so each kind
 * keeps its end. */
void journal_listen(struct journal *journal, uint64_t kind_mask,
                    journal_fn *fn, void *self)
{
    uint32_t kind;

    assert(fn != NULL && kind_mask != 0);
    assert(journal->telling == 0);      /* else it might not hear the present fact */
    for (kind = 0; kind < KIND_COUNT; kind++) {
        struct listener *listener;

        if ((kind_mask >> kind & 1) == 0)
            continue;
        listener = arena_alloc(journal->arena, 1, sizeof *listener);
        listener->fn = fn;
        listener->self = self;
        *journal->end[kind] = listener;
        journal->end[kind] = &listener->next;
    }
}

void journal_tell(struct journal *journal, const struct fact *fact)
{
    const struct listener *listener;

    assert(fact->kind < KIND_COUNT && fact->time_ns >= 0);
    listener = journal->first[fact->kind];
    if (listener == NULL)
        return;
    journal->telling++;
    for (; listener != NULL; listener = listener->next)
        listener->fn(listener->self, fact);
    assert(journal->telling > 0);
    journal->telling--;
}
