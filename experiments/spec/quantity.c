/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quantity.c - numbers with units, as they are written in a file.
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
#define DECIMALS_MAX 9

/* How many bytes of the text are its number. */
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

static bool end_read(const struct conf_node *node, const char *key, double *number,
                     const char **text, const char **unit, struct err *err)
{
    size_t bytes;

    *text = conf_kind(node) == CONF_SCALAR ? conf_text(node) : "";
    bytes = number_bytes(*text);
    *unit = *text + bytes;
    if (bytes > 0 && scan_f64(*text, bytes, number))
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(node), "%s must be a number with its unit, such "
            "as 4/h, found '%.40s'", key, *text);
    return err_hint(err, "Of words, write a list where a list is allowed.");
}

bool quantity_range_read(const struct conf_node *from, const struct conf_node *to,
                         bool log, struct quantity_range *range, struct err *err)
{
    struct quantity_range r = { .log = log };
    const char *unit;

    if (!end_read(from, "from", &r.from, &r.from_text, &r.unit, err) ||
        !end_read(to, "to", &r.to, &r.to_text, &unit, err))
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

static double number_at(const struct quantity_range *r, double place)
{
    return r->log ? r->from * pow(r->to / r->from, place)
                  : r->from + (r->to - r->from) * place;
}

static double place_of(const struct quantity_range *r, double number)
{
    return r->log ? log(number / r->from) / log(r->to / r->from)
                  : (number - r->from) / (r->to - r->from);
}

/* Digits behind the point that tell a tenth of `step` of the range. */
static int decimals_at(const struct quantity_range *r, double place, double step)
{
    double beside = place + step <= 1 ? place + step : place - step;
    double width = fabs(number_at(r, beside) - number_at(r, place));
    int decimals = (int)ceil(1 - log10(width));

    return r->whole || decimals < 0 ? 0
         : decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;
}

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
    bytes = snprintf(text, sizeof text, "%.*f", decimals_at(range, *place, step),
                     number_at(range, *place));
    if (strchr(text, '.') != NULL) {
        while (text[bytes - 1] == '0')
            bytes--;
        bytes -= text[bytes - 1] == '.';
        text[bytes] = '\0';
    }
    ok = scan_f64(text, (size_t)bytes, &number);
    assert(ok);
    (void)ok;
    *place = fmin(1, fmax(0, place_of(range, number)));
    if (*place == 0 || *place == 1)
        return *place == 0 ? range->from_text : range->to_text;
    return text_format(arena, "%s%s", text, range->unit);
}

bool quantity_number(const struct quantity_range *range, const char *text,
                     double *number)
{
    size_t bytes = number_bytes(text);

    return bytes > 0 && strcmp(text + bytes, range->unit) == 0 &&
           scan_f64(text, bytes, number);
}
