/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue_file.h - the files of models/catalogue, carried in the program.
 *
 * The Makefile generates the data from the YAML files, in name order.
 */
#ifndef MODELS_CATALOGUE_CATALOGUE_FILE_H
#define MODELS_CATALOGUE_CATALOGUE_FILE_H

#include <stddef.h>

struct catalogue_file {
    const char *name;           /* as messages call it */
    const char *text;
    size_t bytes;
};

extern const struct catalogue_file catalogue_file[];
extern const unsigned catalogue_file_count;

#endif
