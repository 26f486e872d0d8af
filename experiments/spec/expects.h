/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expects.h - reads what is expected of a metric: `expect:`, and the conditions of
 * `keep:`.  For read.c, choices.c and advice_check.c.  Limits are in the metric's unit, or percent.
 */
#ifndef EXPERIMENTS_SPEC_EXPECTS_H
#define EXPERIMENTS_SPEC_EXPECTS_H

#include <stdbool.h>

struct arena;
struct conf_node;
struct err;
struct experiment;
struct experiment_expect;
struct experiment_keep;

/* Reads `expect:` and checks metrics and limits.  The caller checks the names
 * of policies and points. */
bool experiment_expects(struct arena *arena, const struct conf_node *node,
                        struct experiment *experiment, struct err *err);
/* What a limit is of. */
struct expect_limits_of {
    const char *name;           /* of the metric or figure */
    const char *unit;           /* "s": times are taken; "fraction": percentages */
    const char *compare_with;   /* the key that compares, for a hint; NULL: there is none */
    bool compares;              /* with another value, of which a limit may be percent */
    bool above_one;             /* a fraction that may be larger than 1 */
};
/* Reads the one of at_most, at_least and between that the map has: e->low and e->high, in
 * the unit or in percent (e->percent).  False: err says what is wrong. */
bool expect_limits_read(const struct conf_node *map, const struct expect_limits_of *of,
                        struct experiment_expect *e, struct err *err);
/* Reads one condition of `keep:`. */
bool experiment_keep_read(const struct experiment *experiment, const struct conf_node *map,
                          struct experiment_keep *keep, struct err *err);

#endif
