/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h - the lists by where they come from.  Private to experiments/lists.
 */
#ifndef EXPERIMENTS_LISTS_PARTS_H
#define EXPERIMENTS_LISTS_PARTS_H

#include "experiments/lists/lists.h"

/* Each ends with a list without a name. */
extern const struct list lists_of_names[];
extern const struct list lists_of_catalogue[];

#endif
