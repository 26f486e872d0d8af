/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breaks.h - characters that end a line to libyaml, and to nobody else.
 *
 * YAML 1.1, which libyaml reads, ends lines at U+0085, U+2028 and U+2029 too; YAML 1.2,
 * editors and our messages do not.  They are replaced before libyaml reads a text, by
 * characters of as many bytes that no text has, and put back into what it read.
 */
#ifndef SIM_CONFIG_BREAKS_H
#define SIM_CONFIG_BREAKS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* Returns the text without such characters: itself, if it has none (*hidden: false), else a
 * copy in the arena.  A text that contains one of the substitutes already is not changed. */
const char *breaks_hide(struct arena *arena, const char *text, size_t bytes, bool *hidden);
/* Puts them back into a text that ends with NUL. */
void breaks_show(char *text);

#endif
