/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * defaults.h - values that decide a result although the file may not state
 * them: of policies, of recipes and of prices.  Printed beside the semantics.
 */
#ifndef EXPERIMENTS_PREFLIGHT_DEFAULTS_H
#define EXPERIMENTS_PREFLIGHT_DEFAULTS_H

#include <stdint.h>
#include <stdio.h>

struct arena;
struct out;
struct experiment;

struct default_row {
    const char *of;             /* "policy dynamic", "job dpo-7b", "nodes a" */
    const char *key, *value;
    const char *from;           /* "file", "default", "assumption", "rule" or
                                   "tuned" */
};

/* Returns the values, each once, from the first point that has it, and stores
 * their number.  Memory comes from the arena. */
struct default_row *defaults_of(struct arena *arena,
                                const struct experiment *experiment, uint32_t *count);
/* Prints, for people, what the experiment does not say itself; nothing if it says
 * all. */
void defaults_print(struct arena *arena, const struct experiment *experiment, FILE *to);
/* Writes all values as an array of provenance.json. */
void defaults_write(struct arena *arena, const struct experiment *experiment,
                    struct out *out);

#endif
