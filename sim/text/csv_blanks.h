/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_blanks.h - a line cut into fields at its blanks: spaces, tabs and
 * carriage returns, any number of them.
 *
 * Internal to csv.c.  The line ends with NUL, and SCAN_SLACK bytes behind it
 * may be read.
 */
#ifndef SIM_TEXT_CSV_BLANKS_H
#define SIM_TEXT_CSV_BLANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_field;

static inline bool blanks_is(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Returns how many characters of a block have their bit set.  Without -mpopcnt a compiler
 * calls a function for this; one that does not call is faster. */
static inline size_t blanks_count(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (size_t)(bits * 0x0101010101010101u >> 56);
}

/* Cuts the first `max` fields out and ends them with NUL; returns how many
 * the line has in all. */
size_t blanks_split(char *line, struct csv_field *field, size_t max);
/* As blanks_split(), but the last of `max` fields takes the rest of the line,
 * without the blanks at its end.  Returns at most `max`. */
size_t blanks_split_rest(char *line, struct csv_field *field, size_t max);

#endif
