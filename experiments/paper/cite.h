/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cite.h - BibTeX of clustersim, and of the works behind an experiment.
 */
#ifndef EXPERIMENTS_PAPER_CITE_H
#define EXPERIMENTS_PAPER_CITE_H

#include <stdbool.h>
#include <stdio.h>

struct arena;
struct err;
struct experiment;

/* Prints the entry of clustersim itself, from experiments/CITATION.cff. */
void cite_print_own(struct arena *arena, FILE *file);
/* Prints the works of an experiment. */
void cite_print_experiment(FILE *file, const struct experiment *experiment);
/* Prints clustersim's entry, and the works that provenance.json of a results folder lists.
 * False: err says why, and nothing is printed. */
bool cite_print_folder(struct arena *arena, FILE *file, const char *dir, struct err *err);

#endif
