/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expects.h - reads what is expected of a metric: `expect:`, and the conditions of
 * `keep:`.  For read.c and choices.c.  Limits are in the metric's unit, or percent.
 */
#ifndef EXPERIMENTS_SPEC_EXPECTS_H
#define EXPERIMENTS_SPEC_EXPECTS_H

#include <stdbool.h>

struct arena;
struct conf_node;
struct err;
struct experiment;
struct experiment_keep;

/* Reads `expect:` and checks metrics and limits.  The caller checks the names
 * of policies and points. */
bool experiment_expects(struct arena *arena, const struct conf_node *node,
                        struct experiment *experiment, struct err *err);
/* Reads one condition of `keep:`. */
bool experiment_keep_read(const struct experiment *experiment, const struct conf_node *map,
                          struct experiment_keep *keep, struct err *err);

#endif
