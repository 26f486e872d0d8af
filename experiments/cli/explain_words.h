/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_words.h - words that stand as values in files: choices of keys,
 * presets, and all that `clustersim list` has a row for.
 */
#ifndef EXPERIMENTS_CLI_EXPLAIN_WORDS_H
#define EXPERIMENTS_CLI_EXPLAIN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;
struct catalogue;
struct conf_schema;

/* Where words are looked for, and where their meaning is printed. */
struct explain_words {
    struct arena *arena;
    FILE *out;                  /* where meanings are printed */
    const struct conf_schema *const *schema;
    size_t schema_count;
    const struct catalogue *catalogue;  /* names of GPUs, models and the like */
};

/* Prints all that a word means as a value; `found` is how much was printed
 * before, and what is printed after something stands after an empty line.
 * Returns how much was printed in all. */
unsigned explain_words(const struct explain_words *e, const char *word,
                       unsigned found);
/* Adds all such words, for the nearest spelling; returns how many.  names may be
 * NULL. */
size_t explain_words_names(const struct explain_words *e, const char **names);

#endif
