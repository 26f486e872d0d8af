/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue_file.h - the YAML files of models/catalogue, embedded in the
 * program.
 *
 * The Makefile generates the data from the files, sorted by name.
 */
#ifndef MODELS_CATALOGUE_CATALOGUE_FILE_H
#define MODELS_CATALOGUE_CATALOGUE_FILE_H

#include <stddef.h>

struct catalogue_file {
    const char *name;           /* as messages show it */
    const char *text;           /* YAML, embedded in the program */
    size_t bytes;               /* of `text`, without its NUL */
};

extern const struct catalogue_file catalogue_file[];
extern const unsigned catalogue_file_count;

#endif
