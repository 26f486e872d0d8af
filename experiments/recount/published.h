/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * published.h - what is published, beside what the books say.
 */
#ifndef EXPERIMENTS_RECOUNT_PUBLISHED_H
#define EXPERIMENTS_RECOUNT_PUBLISHED_H

#include <stdint.h>

struct judge;
struct recount_books;
struct recount_parts;

/* Compares all metrics, and what tables sum up to, of a run that ended at end_ns. */
void published_judge(struct recount_books *books, const struct recount_parts *parts,
                     int64_t end_ns, struct judge *judge);

#endif
