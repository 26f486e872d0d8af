/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit.h - the units in which a quantity may be written.
 *
 * One table per type serves the reader, the range errors and the JSON Schema.
 */
#ifndef SIM_CONFIG_UNIT_H
#define SIM_CONFIG_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/config/conf.h"

/* Stored value = number x 10^exp10 x times / per: the power of ten is applied
 * to the decimal digits, so that 3.84TB is exact.  CONF_TIME stores seconds
 * here; the reader makes them ns. */
struct conf_unit {
    const char *name;           /* as users write it: "GB", "h" */
    int exp10;
    double times, per;
    bool shown;         /* the program may choose this unit for output */
};

/* NULL and 0 for a type without units. */
const struct conf_unit *conf_units(enum conf_type type, size_t *count);
/* Returns the unit of that name, letter by letter; NULL: the type has none. */
const struct conf_unit *conf_unit_find(enum conf_type type, const char *name);

#define CONF_QUANTITY_BYTES 48
#define CONF_RANGE_BYTES (2 * CONF_QUANTITY_BYTES + 16)
/* A stored value as a user would write it: in that unit, or, with NULL or
 * when the number would be unwieldy, in the largest that keeps it above 1. */
void conf_unit_format(enum conf_type type, const struct conf_unit *unit,
                      double value, char out[CONF_QUANTITY_BYTES]);

/* "from 1GB to 2TB", "at least 0s"; "" when the field has no range. */
void conf_range_format(const struct conf_field *field,
                       const struct conf_unit *unit,
                       char out[CONF_RANGE_BYTES]);

#endif
