/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * logs.h - logs of finished trials, counted as they lie on the disk.
 *
 * It knows that the head of a record is five numbers of 8 bytes, of which the third says
 * what it is and the fourth how many bytes follow.
 */
#ifndef TESTS_LOGS_H
#define TESTS_LOGS_H

/* Returns how many logs lie in BASE/NAME, and the paths of the first `most`. */
unsigned logs_list(const char *base, const char *name, char (*path)[300], unsigned most);
/* The whole trials in them, before the first record that is not whole. */
unsigned logs_count(const char *base, const char *name);

#endif
