/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_hint.h - what a field that is no number may be meant to say.
 */
#ifndef WORKLOADS_FORMATS_ROW_HINT_H
#define WORKLOADS_FORMATS_ROW_HINT_H

#include <stddef.h>

struct err;

/* Hints at separators of thousands, a decimal comma, h:mm:ss, milliseconds, or
 * a unit; nothing where it looks like none of them. */
void row_hint(const char *text, size_t bytes, struct err *err);

#endif
