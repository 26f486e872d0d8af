/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sensitivity_keys.h - reads and checks `sensitivity:`.  Private to
 * experiments/sensitivity.
 */
#ifndef EXPERIMENTS_SENSITIVITY_SENSITIVITY_KEYS_H
#define EXPERIMENTS_SENSITIVITY_SENSITIVITY_KEYS_H

#include <stddef.h>

#include "experiments/spec/inputs.h"

struct experiment;
struct judge_row;

/* How many inputs get indices, and rows of the sequence. */
struct sobol_keys {
    int64_t inputs, samples;
};

/* The keys as the file has them, then what they mean. */
struct sensitivity_keys {
    const char *claim, *metric, *policy, *versus, *point;
    const struct conf_node *inputs_node, *sobol_node;
    int64_t trajectories, points;
    double within;
    /* Found by them: */
    struct sobol_keys sobol;            /* no inputs: none is asked for */
    const struct input *input;
    uint32_t input_count;
    const struct judge_row *row;        /* where it is judged; at least one */
    size_t row_count;
};

/* Reads and checks `sensitivity:` of the experiment; memory in the arena.  False:
 * err says what is wrong, also if there is no such key. */
bool sensitivity_keys_read(struct arena *arena, const struct experiment *experiment,
                           struct sensitivity_keys *keys, struct err *err);

#endif
