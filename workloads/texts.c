/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.c - a set of texts, each kept once.
 */
#include "workloads/texts.h"

#include <assert.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/rng.h"

static const char **find_slot(const struct texts *texts, const char *text)
{
    size_t i = rng_hash_text(text) & (texts->slots - 1);

    while (texts->slot[i] != NULL && strcmp(texts->slot[i], text) != 0)
        i = (i + 1) & (texts->slots - 1);
    return &texts->slot[i];
}

static void enlarge(struct texts *texts, struct arena *arena)
{
    struct texts larger = {NULL, texts->slots == 0 ? 64 : 2 * texts->slots,
                           texts->count};

    larger.slot = arena_alloc(arena, larger.slots, sizeof *larger.slot);
    for (size_t i = 0; i < texts->slots; i++)
        if (texts->slot[i] != NULL)
            *find_slot(&larger, texts->slot[i]) = texts->slot[i];
    *texts = larger;
}

const char *texts_keep(struct texts *texts, struct arena *arena,
                       const char *text, bool *is_new)
{
    const char **slot;

    assert(texts != NULL && text != NULL);
    if (2 * texts->count >= texts->slots)
        enlarge(texts, arena);
    slot = find_slot(texts, text);
    if (is_new != NULL)
        *is_new = *slot == NULL;
    if (*slot == NULL) {
        *slot = arena_text(arena, text);
        texts->count++;
    }
    return *slot;
}
