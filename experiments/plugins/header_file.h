/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header_file.h - the headers that a policy may include, held in the program.
 *
 * The build turns the headers of policies/, and what these include, into the items of this
 * table (see models/embed.sh).  So a source is compiled against the headers of the
 * program that loads it, and needs no checkout.
 */
#ifndef EXPERIMENTS_PLUGINS_HEADER_FILE_H
#define EXPERIMENTS_PLUGINS_HEADER_FILE_H

#include <stddef.h>

struct header_file {
    const char *name;   /* as it is included: "policies/policy.h" */
    const char *text;   /* ends with NUL */
    size_t bytes;       /* of text, without the NUL */
};

extern const struct header_file header_file[];
extern const unsigned header_file_count;

#endif
