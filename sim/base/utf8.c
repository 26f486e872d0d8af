/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.c - one character at a time.
 */
#include "sim/base/utf8.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* The first byte tells the length.  The second byte has narrower bounds after four first
 * bytes: E0 and F0 would begin an overlong form, ED a surrogate, and F4 a code above U+10FFFF. */
size_t utf8_character(const char *at, size_t bytes)
{
    const unsigned char *text = (const unsigned char *)at;

    assert(bytes > 0);
    if (text[0] < 0x80)
        return 1;
    if (text[0] < 0xC2 || text[0] > 0xF4)
        return 0;
    size_t wanted = text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
    unsigned char low = 0x80, high = 0xBF;
    if (text[0] == 0xE0)
        low = 0xA0;
    if (text[0] == 0xED)
        high = 0x9F;
    if (text[0] == 0xF0)
        low = 0x90;
    if (text[0] == 0xF4)
        high = 0x8F;
    for (size_t i = 1; i < wanted; i++) {
        if (i == bytes)
            return SIZE_MAX;
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
    }
    return wanted;
}

/* It writes one '?' for each byte, so the length stays. */
void utf8_mend(char *text)
{
    size_t all = strlen(text), bytes;

    for (size_t i = 0; i < all; i += bytes) {
        bytes = utf8_character(text + i, all - i);
        if (bytes > 1 && bytes != SIZE_MAX)
            continue;
        if (bytes != 1 || (unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            text[i] = '?';
        bytes = 1;
    }
}
