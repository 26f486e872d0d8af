/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * start_file.h - the YAML files of workloads/start, embedded in the program: a
 * workload to begin with for each recipe, named by it.
 *
 * The Makefile generates the data from the files, sorted by name.
 */
#ifndef WORKLOADS_START_START_FILE_H
#define WORKLOADS_START_START_FILE_H

#include <stddef.h>

struct start_file {
    const char *name;           /* "lora.yaml" */
    const char *text;
    size_t bytes;
};

extern const struct start_file start_file[];
extern const unsigned start_file_count;

#endif
