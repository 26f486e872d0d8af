/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * point_label.h - labels of points of a sweep, word by word.
 *
 * A label is KEY=VALUE for each swept key, with a blank between.
 */
#ifndef EXPERIMENTS_SPEC_POINT_LABEL_H
#define EXPERIMENTS_SPEC_POINT_LABEL_H

#include <stdbool.h>

struct arena;

/* Is every word of `part` (KEY=VALUE, several with blanks) a word of the label? */
bool point_label_has(const char *label, const char *part);
/* Returns the label with the values of `part` for its keys; NULL: the label
 * lacks a key.  Here and below, memory comes from the arena. */
const char *point_label_with(struct arena *arena, const char *label,
                             const char *part);
/* Returns a swept key in words: "arrival rate" for "arrival.rate", "nodes of a"
 * for "nodes.a.count". */
const char *point_key_words(struct arena *arena, const char *key);
/* Returns the unit of a number in words: "per hour" for "/h". */
const char *point_unit_words(const char *unit);
/* Splits a label into its keys in words, "arrival rate, nodes of a", and their
 * values, "4/h, 2".  Both are NULL if a word has no key. */
void point_label_split(struct arena *arena, const char *label,
                       const char **keys, const char **values);
/* Returns the whole label in words: "arrival rate = 4/h, nodes of a = 2". */
const char *point_label_words(struct arena *arena, const char *label);

#endif
