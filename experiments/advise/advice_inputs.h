/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advice_inputs.h - `sensitivity:` of a question to advise: a claim, and the values
 * of inputs that are plausible.
 */
#ifndef EXPERIMENTS_ADVISE_ADVICE_INPUTS_H
#define EXPERIMENTS_ADVISE_ADVICE_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct conf_node;
struct conf_schema;
struct err;

/* As filled by the key table, then read from `node`. */
struct advice_inputs {
    const char *claim;          /* NULL: the question has no sensitivity */
    const struct conf_node *node;   /* a map: key, and its range or words */
    struct input *input;        /* [count], read from it */
    uint32_t count;
};

extern const struct conf_schema advice_inputs_schema;

/* Reads the map; NULL gives no inputs.  `expect` is the list whose claims it may
 * name.  False: err says what is wrong. */
bool advice_inputs_read(struct arena *arena, const struct conf_node *map,
                        const struct conf_node *expect, struct advice_inputs *inputs,
                        struct err *err);

#endif
