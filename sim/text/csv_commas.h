/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_commas.h - a line cut into fields at its commas, where nothing is quoted.
 *
 * Internal to csv*.c.  Behind the line stands a NUL, and SCAN_SLACK bytes behind that may be
 * read.
 */
#ifndef SIM_TEXT_CSV_COMMAS_H
#define SIM_TEXT_CSV_COMMAS_H

#include <stddef.h>

struct csv_field;

/* Cuts the first `max` fields out and ends them with NUL; returns how many the line has.
 * Stops where a quotation mark or an apostrophe stands a little further on, and stores the
 * beginning of the next field in *rest; NULL: the line is done. */
size_t commas_split(char *line, size_t bytes, struct csv_field *field, size_t max, char **rest);

#endif
