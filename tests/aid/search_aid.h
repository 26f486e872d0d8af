/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search_aid.h - commands that search, run in this process on a small experiment,
 * and the tables that they write.
 */
#ifndef TESTS_SEARCH_AID_H
#define TESTS_SEARCH_AID_H

#include "tests/aid/scratch.h"

struct arena;

/* Twelve seeds of 100 jobs for two nodes, under fcfs and sjf. */
extern const char search_head[];

struct search_world {
    struct arena *arena;
    struct scratch scratch;
    char said[16384];           /* by the last command, answers and messages */
};

int search_setup(void **state);
int search_teardown(void **state);
/* Writes e.yaml: the head, and what follows. */
void search_write(struct search_world *w, const char *rest);
/* `clustersim NAME e.yaml -o FOLDER -j THREADS [--set SET]`; its status. */
int search_command(struct search_world *w, const char *name, const char *folder,
                   const char *set, const char *threads);
/* `clustersim validate e.yaml`; its status. */
int search_validate(struct search_world *w);
/* Fills the cells of a column, from the first row on; "" behind the last. */
#define SEARCH_ROWS 8
#define SEARCH_BYTES 400
typedef char search_cells[SEARCH_ROWS][SEARCH_BYTES];
void search_column(struct search_world *w, const char *name, const char *column,
                   search_cells cell);
/* Asserts what `check` says of the claim with the key at the value. */
void search_assert_verdict(struct search_world *w, const char *claim, const char *key,
                           const char *value, const char *verdict);
/* Asserts that a file is the same, byte for byte, made on one thread and on four. */
void search_assert_threads(struct search_world *w, const char *name, const char *file);

#endif
