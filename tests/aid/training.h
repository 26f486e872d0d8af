/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * training.h - small trainings, run and interrupted.
 */
#ifndef TESTS_TRAINING_H
#define TESTS_TRAINING_H

#include "tests/aid/program.h"

/* Writes t.yaml: an evolution of advised. */
void write_training(const struct program *program, int generations, int patience);
/* Writes t.yaml: a cross-entropy search of learned; race: keys of train, or "". */
void write_race(const struct program *program, const char *race, int seed, int generations);

/* Trains t.yaml into folder/name; to be freed. */
char *train(const struct program *program, const char *name, const char *threads,
            const char *more);
/* Starts a training into folder/part and interrupts it when a generation is done. */
void interrupt_training(const struct program *program);

#endif
