/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * string_set.c - a set of texts, each kept once.
 *
 * Linear probing; at most half of the slots are in use, so that a search ends
 * after few steps.  Nothing is removed.  Old tables stay behind in the arena:
 * together they are as large as the last one.
 */
#include "sim/text/string_set.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"

/* Returns the slot of a text, or the free one where it belongs. */
static const char **find_slot(const struct string_set *texts, const char *text)
{
    assert(texts->slots > texts->count && (texts->slots & (texts->slots - 1)) == 0);
    size_t i = rng_hash_text(text) & (texts->slots - 1);

    while (texts->slot[i] != NULL && strcmp(texts->slot[i], text) != 0)
        i = (i + 1) & (texts->slots - 1);
    return &texts->slot[i];
}

/* Doubles the table; its texts are filed again. */
static void enlarge_set(struct string_set *texts, struct arena *arena)
{
    struct string_set larger = {NULL, texts->slots == 0 ? 64 : 2 * texts->slots,
                                texts->count};

    larger.slot = arena_alloc(arena, larger.slots, sizeof *larger.slot);
    for (size_t i = 0; i < texts->slots; i++)
        if (texts->slot[i] != NULL)
            *find_slot(&larger, texts->slot[i]) = texts->slot[i];
    *texts = larger;
    assert(2 * texts->count < texts->slots);
}

/* Open addressing; the table doubles before it is more than half full. */
const char *string_set_keep(struct string_set *texts, struct arena *arena,
                            const char *text, bool *is_new)
{
    const char **slot;

    assert(texts != NULL && text != NULL);
    if (2 * texts->count >= texts->slots)
        enlarge_set(texts, arena);
    slot = find_slot(texts, text);
    if (is_new != NULL)
        *is_new = *slot == NULL;
    if (*slot == NULL) {
        *slot = arena_text(arena, text);
        texts->count++;
    }
    assert(texts->count < texts->slots);    /* else a search would not end */
    return *slot;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Runs of digits at both, without leading zeros: the longer is larger. */
static int compare_digits(const char **a, const char **b)
{
    assert(is_digit(**a) && is_digit(**b));
    size_t na, nb;
    int order;

    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    na = strspn(*a, "0123456789");
    nb = strspn(*b, "0123456789");
    order = na != nb ? (na < nb ? -1 : 1) : memcmp(*a, *b, na);
    *a += na;
    *b += nb;
    return order;
}

/* Numbers in names are compared by value, so that gpu9 comes before gpu10;
 * equal ones by their length and bytes, so that the order is total. */
int string_set_order(const char *a, const char *b)
{
    const char *x = a, *y = b;
    size_t nx = strlen(a), ny = strlen(b);

    while (*x != '\0' && *y != '\0') {
        int order = (int)(unsigned char)*x - (int)(unsigned char)*y;

        if (is_digit(*x) && is_digit(*y)) {
            order = compare_digits(&x, &y);
        } else {
            x++;
            y++;
        }
        if (order != 0)
            return order;
    }
    if (*x != '\0' || *y != '\0')
        return *x != '\0' ? 1 : -1;
    assert(*x == '\0' && *y == '\0');
    return nx != ny ? (nx < ny ? -1 : 1) : strcmp(a, b);
}
