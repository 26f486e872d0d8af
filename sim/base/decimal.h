/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decimal.h - decimal numbers in text and binary numbers in memory, exactly.
 *
 * strtod and printf follow the locale, and their quick replacements round
 * wrongly.  Here the common cases are one exact operation (Clinger 1990, "How
 * to read floating point numbers accurately"); the rest are settled by
 * comparing both sides as whole numbers of as many bits as it takes.
 */
#ifndef SIM_BASE_DECIMAL_H
#define SIM_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value is lead x 10^exp10, and a little more when digits were dropped
 * behind lead's 19; `next` is the first of those.  To scale by a power of ten
 * exactly, add to exp10. */
struct decimal {
    uint64_t lead;              /* the first 19 significant digits */
    int32_t exp10;              /* the power of ten of lead's last digit */
    uint8_t next;               /* the digit behind lead; 0: none was dropped */
    bool cut;               /* a digit that was dropped is not zero */
    bool negative;
    const char *text;       /* where it was read, for the dropped digits */
    size_t bytes;               /* of text: digits and point, without sign and exponent */
};

/* Reads the longest number at the start of [text, text+bytes), such as -12,
 * 1.5, .5, 1e-3; returns its length, 0 when there is none.  An e that no
 * digit follows is not part of it (1EB). */
size_t decimal_read(const char *text, size_t bytes, struct decimal *out);

/* The nearest double, ties to even; false when it would be infinite. */
bool decimal_to_f64(const struct decimal *decimal, double *out);

/* Seconds to ns, half away from zero; false when they do not fit (292 y). */
bool decimal_to_ns(const struct decimal *seconds, int64_t *ns);

/* Sign of |decimal| - mantissa x 2^exp2, exactly. */
int decimal_compare(const struct decimal *decimal, uint64_t mantissa,
                    int exp2);

/* Splits a finite double into mantissa x 2^exp2, without its sign. */
uint64_t decimal_split(double value, int *exp2);

/* Digits of value at out, which has room for 20; returns their end. */
char *decimal_put(char *out, uint64_t value);
/* Nine digits, with leading zeros, of a value below 1e9. */
void decimal_put_nine(char out[9], uint32_t value);

/* value x 10^exp10 up to a few units in the last place. */
double decimal_scale(double value, int exp10);

#endif
