/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop_file.h - seeds.csv: how many seeds were run, and why no more.
 */
#ifndef EXPERIMENTS_RESULTS_STOP_FILE_H
#define EXPERIMENTS_RESULTS_STOP_FILE_H

#include <stdbool.h>

struct arena;
struct err;
struct experiment;
struct experiment_stop;
struct folder;

/* Writes the file; nothing where seeds are a number. */
bool stop_write(struct arena *arena, const struct folder *dir,
                const struct experiment *experiment, struct err *err);
/* Reads it; no file: seeds are a number. */
bool stop_read(struct arena *arena, const char *dir,
               struct experiment_stop *stop, struct err *err);

#endif
