/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h - text files, plain, gzip or zstd, read line by line; numbers in them.
 *
 * A file is streamed: memory does not grow with it.  Numbers are decimal,
 * independent of the locale.
 */
#ifndef SIM_TEXT_SCAN_H
#define SIM_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct scan;

/* NULL and an err when the file cannot be opened.  Gzip is recognized by its
 * first two bytes, not by its name.  `path` must live as long as the errs. */
struct scan *scan_open(const char *path, struct err *err);
void scan_close(struct scan *scan);                     /* accepts NULL */

#define SCAN_LONG_LINE "the line is longer than 1 MiB"     /* text of that err */
#define SCAN_SLACK 64u          /* whatever stands there */
enum scan_step { SCAN_LINE, SCAN_END, SCAN_ERROR };

/* The next line without its end (LF or CRLF), NUL-terminated, writable, good
 * until the next call; SCAN_SLACK bytes behind the NUL may be read.  A NUL
 * byte, invalid UTF-8 in the first block, a line over 1 MiB, a truncated or
 * corrupt gzip stream, bytes behind it, a carriage return within a line of the
 * first block are errors, and so is a file whose size changes before its end
 * is met. */
enum scan_step scan_line(struct scan *scan, char **line, size_t *bytes,
                         struct err *err);
/* The line given last; col counts characters from 1. */
struct err_pos scan_pos(const struct scan *scan, uint32_t col);

/* Each reads a whole field [text, text+bytes): false unless all of it is one
 * finite number.  scan_f64 gives the nearest double; scan_time reads decimal
 * seconds exactly into ns, half away from zero.  Blanks are not trimmed. */
bool scan_i64(const char *text, size_t bytes, int64_t *out);
bool scan_f64(const char *text, size_t bytes, double *out);
bool scan_time(const char *text, size_t bytes, int64_t *ns);

#endif
