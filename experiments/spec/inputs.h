/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inputs.h - keys and their ranges: what a sensitivity varies, and what a sweep draws
 * samples of.
 */
#ifndef EXPERIMENTS_SPEC_INPUTS_H
#define EXPERIMENTS_SPEC_INPUTS_H

#include <stdint.h>

#include "experiments/spec/quantity.h"
#include "sim/base/err.h"

struct arena;
struct conf_node;
struct conf_schema;
struct experiment_setting;

extern const struct conf_schema input_schema;

/* A key and its plausible values: a range, or words. */
struct input {
    const char *key;            /* dotted, as `--set` takes it */
    struct quantity_range range;        /* without words */
    const char *const *word;            /* one value of several; NULL: a range */
    uint32_t word_count;        /* of `word`; 0: a range */
    const char *why;                    /* reason for the range, or NULL */
    struct err_pos pos;                 /* of the key */
    const struct conf_node *node;       /* the range or the list, as it is written */
};

/* Reads a map from keys to ranges or lists, and stores their number.  Memory comes
 * from the arena.  NULL: err says what is wrong. */
struct input *inputs_read(struct arena *arena, const struct conf_node *map,
                          uint32_t *count, struct err *err);
/* Returns the value at u, from 0 to 1, of a range, as text for a setting. */
const char *input_at(struct arena *arena, const struct input *input, double u);
/* Returns the value that an even draw u from [0, 1] means; words, and whole numbers of a
 * range without `log`, are each as likely.  *u becomes the place of that value: 0 is the
 * first and 1 the last, the others lie evenly between them. */
const char *input_draw(struct arena *arena, const struct input *input, double *u);
/* Returns an array of `count` settings: input i as drawn by u[i], which becomes its place. */
struct experiment_setting *inputs_draw(struct arena *arena, const struct input *input,
                                       uint32_t count, double *u);
/* Returns how many values are written in the file: all words, or the two ends. */
uint32_t input_written(const struct input *input);
/* Returns the written value `i`, and stores its place. */
const char *input_written_at(const struct input *input, uint32_t i, struct err_pos *pos);
/* The first and the last value. */
const char *input_from(const struct input *input);
const char *input_to(const struct input *input);

#endif
