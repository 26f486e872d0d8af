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

/* Every word of `part` is a word of the label. */
bool point_label_has(const char *label, const char *part);
/* The label with the values of the keys in `part`; NULL: it lacks a key. */
const char *point_label_with(struct arena *arena, const char *label,
                             const char *part);
/* A swept key in words: "arrival.rate" as "arrival rate", "nodes.a.count" as
 * "nodes of a". */
const char *point_key_words(struct arena *arena, const char *key);
/* A unit behind a number in words: "/h" as "per hour". */
const char *point_unit_words(const char *unit);
/* The keys of a label in words, "arrival rate, nodes of a", and their values,
 * "4/h, 2"; both NULL where a word has no key. */
void point_label_split(struct arena *arena, const char *label,
                       const char **keys, const char **values);
/* The whole label: "arrival rate = 4/h, nodes of a = 2". */
const char *point_label_words(struct arena *arena, const char *label);

#endif
