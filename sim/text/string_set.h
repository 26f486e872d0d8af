/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * string_set.h - a set of texts, each kept once.
 *
 * Open addressing, a power of two of slots; looked up, never walked, so that
 * nothing depends on where a text lies.
 */
#ifndef SIM_TEXT_STRING_SET_H
#define SIM_TEXT_STRING_SET_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* All zero: empty. */
struct string_set {
    const char **slot;          /* [slots], a power of two; NULL: empty */
    size_t slots, count;
};

/* The kept copy of a text, in the arena; `*is_new` if it was not met before
 * (NULL: does not matter). */
const char *string_set_keep(struct string_set *texts, struct arena *arena,
                            const char *text, bool *is_new);

/* Below, at or above 0 as a stands before, with or behind b: runs of digits by
 * their value, so that dpo-7b stands before dpo-13b; the rest by its bytes.  Of
 * two that differ in zeros only (7, 07) the shorter is first. */
int string_set_order(const char *a, const char *b);

#endif
