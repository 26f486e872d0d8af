/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cite_file.h - experiments/CITATION.cff, held in the program (models/embed.sh).
 */
#ifndef EXPERIMENTS_PAPER_CITE_FILE_H
#define EXPERIMENTS_PAPER_CITE_FILE_H

#include <stddef.h>

struct cite_file {
    const char *name;   /* "CITATION.cff" */
    const char *text;   /* ends with NUL */
    size_t bytes;       /* of text, without the NUL */
};

extern const struct cite_file cite_file[];
extern const unsigned cite_file_count;

#endif
