/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sized.h - structs of a caller that begin with their size (`size_t size_bytes`).
 *
 * Members are only added at their end, so a caller that was built with an earlier header
 * has fewer, and one that was built with a later header has more.
 */
#ifndef SIM_BASE_SIZED_H
#define SIM_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Copies what both know of `given` to `own`, of own_bytes zeros; NULL: nothing.  False, with
 * err: it has no size, so that all of it would be passed over, or members that are not
 * known here are not 0. */
bool sized_copy(void *own, size_t own_bytes, const void *given, struct err *err);

#endif
