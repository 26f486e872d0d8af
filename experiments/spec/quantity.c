/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quantity.c - numbers with units, as they are written in a file.
 *
 * Values between two ends are written as a user would write them: the unit of
 * the ends, and as few digits as tell a tenth of a step.  So settings are
 * readable, equal values have equal texts (and trials are found again), and
 * `place` is moved to where the rounded value lies.
 *
 * An example: from 2/h to 6/h at the place 0.3333 with a step of 0.001.  A step is 0.004, a
 * tenth of it 0.0004, so that four digits behind the point are kept: 3.3332/h.
 */
#include "experiments/spec/quantity.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

#define DIGITS "0123456789"
/* Digits behind the point; more than any key of a file resolves. */
#define DECIMALS_MAX 9

/* Returns how many bytes of the text are its number; the unit stands behind them. */
static size_t number_bytes(const char *text)
{
    size_t bytes = strspn(text, "+-");
    size_t digits;

    bytes += strspn(text + bytes, DIGITS);
    if (text[bytes] == '.')
        bytes += 1 + strspn(text + bytes + 1, DIGITS);
    if (text[bytes] != 'e' && text[bytes] != 'E')
        return bytes;
    digits = 1 + strspn(text + bytes + 1, "+-");
    if (strspn(text + bytes + digits, DIGITS) == 0)
        return bytes;
    return bytes + digits + strspn(text + bytes + digits, DIGITS);
}

#define END_MOST 1e18           /* a number between is written with all its digits */

/* Reads one end of a range. */
static bool read_end(const struct conf_node *node, const char *key, double *number,
                     const char **text, const char **unit, struct err *err)
{
    size_t bytes;

    *text = conf_kind(node) == CONF_SCALAR ? conf_text(node) : "";
    bytes = number_bytes(*text);
    *unit = *text + bytes;
    if (bytes > 0 && scan_f64(*text, bytes, number))
        return fabs(*number) <= END_MOST ||
               err_set(err, ERR_RANGE, conf_pos(node), "%s must be at most 1e18 in size, "
                       "found '%.40s'", key, *text);
    err_set(err, ERR_SCHEMA, conf_pos(node), "%s must be a number with its unit, such "
            "as 4/h, found '%.40s'", key, *text);
    return err_hint(err, "If the values are words, give a list of them, where "
                         "a list is allowed.");
}

bool quantity_range_read(const struct conf_node *from, const struct conf_node *to,
                         bool log, struct quantity_range *range, struct err *err)
{
    struct quantity_range r = { .log = log };
    const char *unit;

    if (!read_end(from, "from", &r.from, &r.from_text, &r.unit, err) ||
        !read_end(to, "to", &r.to, &r.to_text, &unit, err))
        return false;
    if (strcmp(r.unit, unit) != 0)
        return err_set(err, ERR_RANGE, conf_pos(to), "from and to must have the same "
                       "unit, found '%.40s' and '%.40s'", r.from_text, r.to_text);
    if (r.from == r.to)
        return err_set(err, ERR_RANGE, conf_pos(to), "from and to must differ, found "
                       "'%.40s' and '%.40s'", r.from_text, r.to_text);
    if (log && (r.from <= 0 || r.to <= 0))
        return err_set(err, ERR_RANGE, conf_pos(to), "from and to must be above 0 with "
                       "`log: true`, found '%.40s' and '%.40s'", r.from_text,
                       r.to_text);
    r.whole = *unit == '\0' && strpbrk(r.from_text, ".eE") == NULL &&
              strpbrk(r.to_text, ".eE") == NULL;
    *range = r;
    return true;
}

/* Returns the number at a place from 0 to 1. */
static double find_number(const struct quantity_range *r, double place)
{
    return r->log ? r->from * pow(r->to / r->from, place)
                  : r->from + (r->to - r->from) * place;
}

/* Returns the place of a number, the reverse of find_number(). */
static double find_place(const struct quantity_range *r, double number)
{
    return r->log ? log(number / r->from) / log(r->to / r->from)
                  : (number - r->from) / (r->to - r->from);
}

/* Returns the digits behind the point that tell a tenth of `step` of the range, at
 * this place: a range of ratios needs more of them at its small end. */
static int count_decimals(const struct quantity_range *r, double place, double step)
{
    double beside = place + step <= 1 ? place + step : place - step;
    double width = fabs(find_number(r, beside) - find_number(r, place));
    int decimals = (int)ceil(1 - log10(width));

    return r->whole || decimals < 0 ? 0
         : decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;
}

/* The number that was written is read back, as it would be from a file, so that
 * *place is exactly that of the text. */
const char *quantity_at(struct arena *arena, const struct quantity_range *range,
                        double *place, double step)
{
    char text[64];
    int bytes;
    double number;
    bool ok;

    assert(*place >= 0 && *place <= 1);
    if (*place == 0 || *place == 1)
        return *place == 0 ? range->from_text : range->to_text;
    bytes = snprintf(text, sizeof text, "%.*f", count_decimals(range, *place, step),
                     find_number(range, *place));
    if (strchr(text, '.') != NULL) {
        while (text[bytes - 1] == '0')
            bytes--;
        bytes -= text[bytes - 1] == '.';
        text[bytes] = '\0';
    }
    ok = scan_f64(text, (size_t)bytes, &number);
    assert(ok);
    (void)ok;
    *place = fmin(1, fmax(0, find_place(range, number)));
    if (*place == 0 || *place == 1)
        return *place == 0 ? range->from_text : range->to_text;
    return text_format(arena, "%s%s", text, range->unit);
}

/* The unit must be the range's own, letter by letter. */
bool quantity_number(const struct quantity_range *range, const char *text,
                     double *number)
{
    size_t bytes = number_bytes(text);

    return bytes > 0 && strcmp(text + bytes, range->unit) == 0 &&
           scan_f64(text, bytes, number);
}
