/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lists.h - the names that files may use: what a registry or the catalogue holds.
 */
#ifndef EXPERIMENTS_LISTS_LISTS_H
#define EXPERIMENTS_LISTS_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct catalogue;
struct metric_set;
struct sheet;

/* A list: its word, what prints it for people, and its rows. */
struct list {
    const char *name;           /* as `clustersim list NAME` has it */
    void (*print)(FILE *out, const struct catalogue *catalogue);    /* NULL: the rows */
    struct sheet *(*rows)(const struct catalogue *catalogue);       /* the caller frees */
    struct sheet *(*more)(const struct catalogue *catalogue);       /* likewise, or NULL */
    bool values;                /* its names are values of keys: lists_find() looks here */
    const char *heading;        /* for lists_find(), where what is printed has none */
};

/* Returns a list; NULL behind the last. */
const struct list *lists_at(size_t i);
/* Prints a list for people. */
void lists_print(FILE *out, const struct list *list, const struct catalogue *catalogue);
/* Prints the rows of the lists of values that begin with the word, each below its heading.
 * `found`: how many rows were printed before; an empty line separates rows.  Returns how
 * many rows were printed in all. */
unsigned lists_find(FILE *out, const struct catalogue *catalogue, const char *word,
                    unsigned found);
/* Returns the metrics of a set as rows, which the caller frees; NULL: the built-in ones. */
struct sheet *lists_metrics(const struct metric_set *set);

#endif
