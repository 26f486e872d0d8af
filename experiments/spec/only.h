/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * only.h - `--only a,b`: some policies of an experiment.
 */
#ifndef EXPERIMENTS_SPEC_ONLY_H
#define EXPERIMENTS_SPEC_ONLY_H

#include <stdbool.h>

struct arena;
struct err;

/* Is the name in the list?  A list that is NULL names all. */
bool only_names(const char *only, const char *name);
/* Is each name of the list among `all` (ends with NULL), the policies of the
 * experiment at `path`?  False: err says which is not, and what may be meant. */
bool only_check(struct arena *arena, const char *only, const char *const *all,
                const char *path, struct err *err);

#endif
