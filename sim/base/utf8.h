/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.h - is a text one that can be shown?  By RFC 3629: no overlong forms, no
 * surrogates.
 */
#ifndef SIM_BASE_UTF8_H
#define SIM_BASE_UTF8_H

#include <stddef.h>

/* Returns the bytes of the character at text, 0 if it is none, SIZE_MAX if the end of the
 * bytes, at least 1, cuts it off. */
size_t utf8_character(const char *text, size_t bytes);
/* Writes '?' over each control character and each byte that is of no character, so that a
 * text from elsewhere can neither move the cursor of a terminal nor spoil a table. */
void utf8_mend(char *text);

#endif
