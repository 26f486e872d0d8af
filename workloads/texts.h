/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * texts.h - a set of texts, each kept once.
 *
 * Open addressing, a power of two of slots; looked up, never walked, so that
 * nothing depends on where a text lies.
 */
#ifndef WORKLOADS_TEXTS_H
#define WORKLOADS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct texts {
    const char **slot;
    size_t slots, count;
};

/* The kept copy of a text, in the arena; `*is_new` if it was not met before
 * (NULL: does not matter). */
const char *texts_keep(struct texts *texts, struct arena *arena,
                       const char *text, bool *is_new);

#endif
