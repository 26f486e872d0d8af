/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * defaults.h - what decides a result though the experiment may not say it: of
 * policies, of recipes and of prices.  Printed beside the semantics.
 */
#ifndef EXPERIMENTS_SPEC_DEFAULTS_H
#define EXPERIMENTS_SPEC_DEFAULTS_H

#include <stdint.h>
#include <stdio.h>

struct arena;
struct out;
struct experiment;

struct default_row {
    const char *of;             /* "policy dynamic", "job dpo-7b", "nodes a" */
    const char *key, *value;
    const char *from;           /* "file", "default", "assumption" or "rule" */
};

/* Of the first point that has them, each once, in an order of its own. */
struct default_row *defaults_of(struct arena *arena,
                                const struct experiment *experiment, uint32_t *count);
/* All of them: for people, and as an array of provenance.json. */
void defaults_print(struct arena *arena, const struct experiment *experiment, FILE *to);
void defaults_write(struct arena *arena, const struct experiment *experiment,
                    struct out *out);

#endif
