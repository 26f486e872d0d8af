/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turned.h - what a list says by its order, and what it must not: see turned.c.
 */
#ifndef TESTS_TURNED_H
#define TESTS_TURNED_H

#include "tests/aid/program.h"

/* Of the experiments of a pattern, of which there are so many at least: those whose sorted
 * rows are other bytes with their lists turned round. */
unsigned count_unlike(const char *pattern, size_t at_least);

/* Runs tests in a copy of the tree; argv0: of the test. */
int turned_main(const char *argv0, struct CMUnitTest *tests, size_t count);

#endif
