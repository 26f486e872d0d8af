/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clock.c - seconds as doubles become whole nanoseconds, and back.
 *
 * Seconds are split into a whole and a fractional part before they are
 * scaled.  The split is exact, so whole seconds stay exact however many they
 * are, and only the fraction is rounded.  This is the one place where work
 * becomes time.
 */
#include "sim/base/clock.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "sim/base/decimal.h"

/* Below INT64_MAX ns by 0.85 s, so that no fraction can overflow (292 y). */
#define S_LIMIT 9223372036.0

/* Whole seconds and the rest are converted apart: their product with 1e9 would
 * round a time of more than 104 days to less than a nanosecond's precision. */
bool clock_ns_from_s(double s, int64_t *ns)
{
    assert(ns != NULL);
    if (!isfinite(s) || fabs(s) >= S_LIMIT)
        return false;
    double whole_s = trunc(s);
    double rest_ns = round((s - whole_s) * 1e9);    /* half away from zero */

    assert(fabs(rest_ns) <= 1e9);
    *ns = (int64_t)whole_s * CLOCK_NS_PER_S + (int64_t)rest_ns;
    return true;
}

/*
 * Rounding up must not turn the noise of floating point into a nanosecond:
 * 1.1 at 0.1 per second is 11 s, not 11 s and 1 ns.  `work` and `work_per_s`
 * are each known to half a unit in the last place (they were decimals, or
 * results, once), the quotient and its scaling are rounded once more each:
 * four errors of at most DBL_EPSILON / 2.  A quotient that is above a whole
 * nanosecond by no more than their sum cannot be told from it, and is it.
 * The work then left undone is below 5e-16 of the whole.  For example 10 units at 3 per second
 * are 3.33.. s and become 3 333 333 334 ns, the first whole nanosecond at which all is done.
 */
int64_t clock_ns_for_work(double work, double work_per_s)
{
    assert(isfinite(work) && work >= 0.0);
    assert(work_per_s >= 0.0);      /* false for NaN as well */
    if (work == 0.0)
        return 0;
    if (work_per_s == 0.0)
        return CLOCK_NEVER_NS;
    double s = work / work_per_s;
    if (s >= S_LIMIT)
        return CLOCK_NEVER_NS;

    /* Conversion to a whole number is a floor here, and no call. */
    int64_t whole_s = (int64_t)s;
    double rest_ns = (s - (double)whole_s) * 1e9;
    double noise_ns = s * 1e9 * (4.0 * DBL_EPSILON / 2.0);
    int64_t nearest_ns = (int64_t)(rest_ns + 0.5);
    int64_t up_ns = (int64_t)rest_ns;
    if ((double)up_ns < rest_ns)
        up_ns++;
    if (rest_ns - (double)nearest_ns <= noise_ns)
        up_ns = nearest_ns;
    assert(up_ns >= 0 && up_ns <= CLOCK_NS_PER_S);
    return whole_s * CLOCK_NS_PER_S + up_ns;
}

/* Trailing zeros of the fraction are left out, and the point with them. */
char *clock_put_s(char *out, int64_t ns)
{
    /* Unsigned, for INT64_MIN has no positive twin. */
    uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    uint64_t whole_s = size_ns / (uint64_t)CLOCK_NS_PER_S;
    uint32_t rest_ns = (uint32_t)(size_ns % (uint64_t)CLOCK_NS_PER_S);

    assert(whole_s <= INT64_MAX / CLOCK_NS_PER_S + 1);
    if (ns < 0)
        *out++ = '-';
    out = decimal_put(out, whole_s);
    if (rest_ns == 0)
        return out;
    *out++ = '.';
    decimal_put_nine(out, rest_ns);
    out += 9;
    while (out[-1] == '0')
        out--;
    return out;
}

size_t clock_format_s(int64_t ns, char *out, size_t out_bytes)
{
    assert(out != NULL || out_bytes == 0);
    char text[CLOCK_TEXT_BYTES];
    size_t bytes = (size_t)(clock_put_s(text, ns) - text);

    assert(bytes < sizeof text);
    if (out_bytes > 0) {
        size_t copied = bytes < out_bytes ? bytes : out_bytes - 1;
        memcpy(out, text, copied);
        out[copied] = '\0';
    }
    return bytes;
}
