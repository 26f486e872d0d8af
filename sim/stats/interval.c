/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interval.c - an interval of a difference, in words.
 */
#include "sim/stats/interval.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define END_BYTES (INTERVAL_BYTES / 2 - 2)

/* One end, with its sign. */
static void write_end(char *out, struct interval_form form, double value)
{
    int used = !isfinite(value) ? snprintf(out, END_BYTES, "no end")
             : form.in_all ? snprintf(out, END_BYTES, "%+.*g%s", form.digits, value, form.unit)
             : snprintf(out, END_BYTES, "%+.*f%s", form.digits, value, form.unit);

    /* Only what is written in full can be so long: then by its first digits. */
    if (used >= (int)END_BYTES)
        snprintf(out, END_BYTES, "%+.6g%s", value, form.unit);
    assert(used > 0);
}

const char *interval_text(char *out, struct interval_form form, double low, double high)
{
    char from[END_BYTES], to[END_BYTES];

    assert(form.digits >= 0 && form.digits <= 9 && strlen(form.unit) < 8);
    write_end(from, form, low);
    write_end(to, form, high);
    snprintf(out, INTERVAL_BYTES, "[%s, %s]", from, to);
    return out;
}
