/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * foreign.h - files that are no text, known by their first bytes.
 */
#ifndef SIM_TEXT_FOREIGN_H
#define SIM_TEXT_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Do these bytes, the first of the file, begin an archive or a table in binary?  Then err
 * says which, and how to make text of it.  `unpacked`: the bytes are what gzip or zstd made
 * text of, if they were packed.  `path` lives as long as err. */
bool foreign_find(const char *path, const char *bytes, size_t count, bool unpacked,
                  struct err *err);

#endif
