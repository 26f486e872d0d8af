/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * works.h - papers and books that an experiment rests on.
 */
#ifndef EXPERIMENTS_WORKS_WORKS_H
#define EXPERIMENTS_WORKS_WORKS_H

#include <stdbool.h>
#include <stddef.h>

struct experiment;

/* Of works.def; texts are static, and are BibTeX's. */
struct work {
    const char *key, *when, *type, *authors, *title, *venue;
    int year;
    const char *more;
};

/* Returns work `i` in the order of works.def; NULL past the last. */
const struct work *work_at(unsigned i);
/* Returns the work of that key, or NULL. */
const struct work *work_find(const char *key);
/* Does the experiment rest on the work: by a policy, a trace's format, a law, or its
 * statistics?  Of the policies, cites of those at the first point. */
bool work_is_used(const struct work *work, const struct experiment *experiment);

#endif
