/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results_aid.h - a small results folder for tests: two points, two policies,
 * two seeds, four nodes of two GPUs.
 */
#ifndef TESTS_RESULTS_AID_H
#define TESTS_RESULTS_AID_H

#include <stdbool.h>

struct results_names {
    const char *point[2], *policy[2], *phase, *experiment;
};

/* "x=1/h", "x=2/h"; "first", "second"; "train"; "little" */
extern const struct results_names results_plain;

/* Makes a folder (mkdtemp) and its tables; the first policy is the baseline.
 * The caller removes it. */
void results_make(char dir[64], const struct results_names *names);
void results_remove(const char *dir);
/* DIR/name as a whole; free it.  Fails the test if it is not there. */
char *results_text(const char *dir, const char *name);
void results_write_text(const char *dir, const char *name, const char *text);
bool results_has(const char *dir, const char *name);
void results_delete(const char *dir, const char *name);
/* Whether `gnuplot` runs. */
bool results_gnuplot(void);

#endif
