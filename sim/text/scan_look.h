/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_look.h - the layout of the lines of a text file, for reports on what
 * reading accepts without an error.
 */
#ifndef SIM_TEXT_SCAN_LOOK_H
#define SIM_TEXT_SCAN_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct scan_look {
    uint64_t lines;
    uint64_t returns;           /* that end with CR LF */
    uint64_t blank;             /* with nothing but blanks */
    bool mark;                  /* a byte order mark stands before the first */
    bool open_end;              /* the last line has no end, and the file is no
                                   JSON whose brackets are closed */
};

/* Reads all of a file, plain, gzip or zstd, that scan_line has read to its end. */
bool scan_look(const char *path, struct scan_look *look, struct err *err);

#endif
