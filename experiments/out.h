/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out.h - a file that is there whole or not at all.
 *
 * It is written as NAME.tmp, brought to disk, and renamed.  Every write is
 * checked: a full disk is an error with the file's name.  A target that is no
 * regular file (/dev/stdout, a pipe) is written in place.
 */
#ifndef EXPERIMENTS_OUT_H
#define EXPERIMENTS_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/err.h"

struct arena;

/* A failed write is remembered: out_close reports the first. */
struct out;

struct out *out_open(struct arena *arena, const char *path, struct err *err);
void out_bytes(struct out *out, const void *bytes, size_t count);
void out_text(struct out *out, const char *text);
void out_printf(struct out *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The text in quotation marks, escaped for JSON. */
void out_json_text(struct out *out, const char *text);
/* Has every write so far been taken?  err says why not; what stands in a
 * buffer has not been tried. */
bool out_good(const struct out *out, struct err *err);
/* Renames; on failure nothing is left but an older file of that name. */
bool out_close(struct out *out, struct err *err);
/* Throws it away; accepts NULL. */
void out_abandon(struct out *out);
/* The same without waiting for the disk: for what can be made again. */
bool out_close_fast(struct out *out, struct err *err);

#endif
