/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * where.h - `where:` of a trace: a condition over the columns of its file.
 *
 * A column is a number if all of its cells are, of the first WHERE_ROWS rows,
 * else a text.  An empty cell is an empty number: what is compared with it does
 * not hold.  A condition that needs x / 0, or the root of -1, has no value.
 */
#ifndef WORKLOADS_REPLAY_WHERE_H
#define WORKLOADS_REPLAY_WHERE_H

#include <stdbool.h>
#include <stddef.h>

#define WHERE_ROWS 1000u

struct arena;
struct conf_node;
struct csv;
struct err;
struct where;

/* Begins with the columns of an open file. */
struct where *where_new(struct arena *arena, const struct csv *csv);
/* Looks at the cells of a row, of the first ones. */
void where_look(struct where *where, const struct csv *csv);
/* Reads the condition.  False: err says what is wrong with it, at its place. */
bool where_read(struct where *where, struct arena *arena,
                const struct conf_node *text, struct err *err);
/* WHERE_NO_VALUE: the condition has no value for the row, so it is not taken either. */
enum where_verdict { WHERE_TAKEN, WHERE_NOT_TAKEN, WHERE_NO_VALUE };
/* Judges the row that csv has read.  False: a cell of a column of numbers holds none;
 * err says so. */
bool where_judge(const struct where *where, const struct csv *csv,
                 enum where_verdict *verdict, struct err *err);

#endif
