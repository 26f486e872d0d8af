/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * without.h - what cannot happen in a trial, by its cluster, workload and policy.
 *
 * A metric of what cannot happen is known before the run: 0, and slo_attained_fraction 1.
 * Seeds that have it alike are no sample of what is rare.
 */
#ifndef EXPERIMENTS_RESULTS_WITHOUT_H
#define EXPERIMENTS_RESULTS_WITHOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/columns/metric.h"

struct experiment;

#define WITHOUT_BYTES 100u      /* hold every text of without_text() */

/* Returns what the policy cannot meet at the point: a set of bits, for the functions below. */
uint32_t without_of(const struct experiment *experiment, uint32_t point, uint32_t policy);
/* Stores the set as words with blanks between them, "failures rent", as the column `without`
 * of summary.csv has them. */
void without_text(uint32_t without, char out[WITHOUT_BYTES]);
/* Returns the set of such a text.  Words that are not known, as of a later version, are left
 * out. */
uint32_t without_read(const char *text);
/* Does all that the metric counts belong to the set?  Then its value is known. */
bool without_all(uint32_t without, enum metric metric);

#endif
