/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out.h - a file that is there whole or not at all.
 *
 * It is written beside, as NAME.tmp or, where there is such a file already,
 * NAME.1.tmp and so on, brought to disk, and renamed.  Nothing that is there is
 * written to: a link of the name is replaced, and not followed.  Every write
 * is checked: a full disk is an error with the file's name.
 */
#ifndef SIM_TEXT_OUT_H
#define SIM_TEXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/base/err.h"

struct arena;
struct folder;

/* Makes an empty file beside `name`, as seen from a handle of a folder, that
 * nobody else has; returns its handle, or -1 and errno. */
int out_part(struct arena *arena, int folder, const char *name,
             const char **part);

/* A failed write is remembered: out_close reports the first. */
struct out;

/* Opens a file that the user named.  One that is no regular file (/dev/stdout, a
 * pipe) is written in place, and so is an open file by its name in /dev or /proc.
 * The out lives in the arena and ends with out_close(), out_close_fast() or
 * out_abandon().  NULL and an err: it cannot be made. */
struct out *out_open(struct arena *arena, const char *path, struct err *err);
/* An open file, which out_close flushes and leaves open; messages call it `name`. */
struct out *out_stream(struct arena *arena, const char *name, FILE *file);
/* A file of a folder, by a name without folders. */
struct out *out_in(struct arena *arena, const struct folder *folder,
                   const char *name, struct err *err);
/* Write to the file.  A failure is kept for out_good() and out_close(). */
void out_bytes(struct out *out, const void *bytes, size_t count);
void out_text(struct out *out, const char *text);
void out_printf(struct out *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The text in quotation marks, escaped for JSON. */
void out_json_text(struct out *out, const char *text);
/* For HTML and XML: no character is left that they give a meaning, and a blank
 * stands for each that is not printed. */
void out_html_text(struct out *out, const char *text);
/* For LaTeX: no character is left that it gives a meaning; +/- signs and daggers become
 * its own, and a blank stands for each that is not printed.  Other characters of UTF-8
 * stay. */
void out_latex_text(struct out *out, const char *text);
/* Has every write so far been taken?  err says why not; what stands in a
 * buffer has not been tried. */
bool out_good(const struct out *out, struct err *err);
/* Renames; on failure nothing is left but an older file of that name. */
bool out_close(struct out *out, struct err *err);
/* Throws it away; accepts NULL. */
void out_abandon(struct out *out);
/* As out_close(), without waiting for the disk: for what can be made again. */
bool out_close_fast(struct out *out, struct err *err);

#endif
