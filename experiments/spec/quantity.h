/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quantity.h - a number with its unit, and values between two of them.
 */
#ifndef EXPERIMENTS_SPEC_QUANTITY_H
#define EXPERIMENTS_SPEC_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct conf_node;
struct err;

/* The values from one quantity to another of the same unit. */
struct quantity_range {
    const char *from_text, *to_text;    /* as written, with their units */
    double from, to;            /* the numbers, in the unit */
    const char *unit;           /* "/h", "%", "" */
    bool whole;                 /* whole numbers alone: both are written so, without
                                   a unit and without a point */
    bool log;                   /* spaced by ratios; both are then above 0 */
};

/* Reads both ends; they differ, and `log` needs both above 0.  False: err says what
 * is wrong. */
bool quantity_range_read(const struct conf_node *from, const struct conf_node *to,
                         bool log, struct quantity_range *range, struct err *err);
/* Returns the value at a place of the range, from 0 to 1, as text.  Between the ends
 * it is rounded, to a tenth of the part `step` of the range; *place becomes that of
 * the rounded value. */
const char *quantity_at(struct arena *arena, const struct quantity_range *range,
                        double *place, double step);
/* Reads the number of a text in the range's unit; false: it has another unit. */
bool quantity_number(const struct quantity_range *range, const char *text,
                     double *number);

#endif
