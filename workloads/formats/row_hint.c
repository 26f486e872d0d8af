/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_hint.c - numbers as people, spreadsheets and other programs write them.
 *
 * Only words about a field that was refused: nothing here is read as a number.
 * The order of the checks matters, as "1,234" may be a number with thousands or
 * with a decimal comma.
 */
#include "workloads/formats/row_hint.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "sim/base/err.h"
#include "sim/text/scan.h"

#define HINT_BYTES 24u          /* of a number as a hint shows it; longer ones get
                                   no hint */
#define MILLI_MAX INT64_C(9200000000000)        /* the year 2261 */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the bytes of a separator of thousands at this place: ' , ’ a blank,
 * or one of two blanks that do not break (UTF-8). 0: there is none. */
static size_t separator_bytes(const char *at)
{
    static const char *const known[] = {"'", ",", " ", "\xE2\x80\x99",
                                        "\xC2\xA0", "\xE2\x80\xAF"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return strlen(known[i]);
    return 0;
}

/* Copies a number such as "1'234'567.5" without what separates groups of three
 * digits.  False: it is no such number.  *comma tells whether a comma is among
 * the separators. */
static bool drop_thousands(const char *text, char out[HINT_BYTES],
                           bool *comma)
{
    size_t used = 0, group = 0, groups = 0, bytes;

    *comma = false;
    for (; *text != '\0' && *text != '.'; text += bytes) {
        bytes = 1;
        if (used + 2 > HINT_BYTES)
            return false;
        if (is_digit(*text)) {
            out[used++] = *text;
            group++;
            continue;
        }
        bytes = separator_bytes(text);
        if (bytes == 0 || group == 0 || group > 3 ||
            (groups > 0 && group != 3))
            return false;
        *comma |= *text == ',';
        groups++;
        group = 0;
    }
    if (groups == 0 || group != 3 || used + strlen(text) + 1 > HINT_BYTES)
        return false;
    strcpy(out + used, text);
    return true;
}

/* Copies a number such as "12,5" with a point for its comma.  False: there is
 * not exactly one comma with digits on both sides. */
static bool read_decimal_comma(const char *text, char out[HINT_BYTES])
{
    const char *comma = strchr(text, ',');

    if (comma == NULL || strlen(text) >= HINT_BYTES ||
        strspn(text, "0123456789-") != (size_t)(comma - text) ||
        comma == text || comma[1] == '\0' ||
        comma[1 + strspn(comma + 1, "0123456789")] != '\0')
        return false;
    strcpy(out, text);
    out[comma - text] = '.';
    return true;
}

/* Reads "1:02:03" (hours first) or "2:30" as seconds.  "2:30" is taken for
 * hours and minutes; the hint says so.  -1: it is no clock. */
static int64_t read_clock(const char *text)
{
    int64_t part = 0, all = 0;
    int parts = 1;

    if (!is_digit(*text) || text[strspn(text, "0123456789:")] != '\0' ||
        strlen(text) > 12)
        return -1;
    for (; *text != '\0'; text++) {
        if (*text == ':') {
            all = 60 * (all + part);
            part = 0;
            parts++;
        } else {
            part = 10 * part + (*text - '0');
        }
    }
    return parts == 3 ? all + part : parts == 2 ? 60 * (all + part) : -1;
}

/* What pandas, R, SQL and spreadsheets write where there is none. */
static bool is_missing(const char *text)
{
    static const char *const known[] = {"nan", "na", "n/a", "#n/a", "null",
                                        "none", "nat", "-", "\\n"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(text, known[i]) == 0)
            return true;
    return false;
}

/* Hints at a date that is not read: three numbers between points or slashes, as
 * 05.01.2026, or a date of ISO 8601 with a named time zone behind it. */
static void hint_date(const char *text, struct err *err)
{
    size_t first = strspn(text, "0123456789");
    char mark = text[first];
    const char *second = text + first + 1;

    if (first == 0)
        return;
    if ((mark == '/' || mark == '.') && strchr(second, mark) != NULL)
        err_hint(err, "Write the year first, as 2026-03-01 09:00: which of "
                      "the others is the day is not guessed.");
    else if (mark == '-' && first == 4 && strlen(text) > 16 &&
             strpbrk(text + 16, "ABCDEFGHIJKLMNOPQRSTUVWXY") != NULL)
        err_hint(err, "Names of time zones are not read: write +02:00, or Z "
                      "for UTC.");
}

/* Adds a hint about what was meant by a field that is no number.  Only one hint
 * is given, so the likeliest is tried first. */
void row_hint(const char *text, size_t bytes, struct err *err)
{
    char other[HINT_BYTES];
    int64_t number;
    size_t digits = strspn(text, "0123456789.");
    bool comma;

    if (drop_thousands(text, other, &comma) && comma) {
        char decimal[HINT_BYTES];

        if (read_decimal_comma(text, decimal))
            err_hint(err, "Is the comma one of thousands, or of decimals? "
                          "Write %s, or %s.", other, decimal);
        else
            err_hint(err, "Leave out what separates thousands: %s.", other);
    } else if (drop_thousands(text, other, &comma)) {
        err_hint(err, "Leave out what separates thousands: %s.", other);
    } else if (read_decimal_comma(text, other)) {
        err_hint(err, "A decimal comma is not read: write %s.", other);
    } else if (read_clock(text) >= 0) {
        err_hint(err, "Write seconds: %s is %" PRId64 "%s.", text,
                 read_clock(text),
                 strchr(text, ':') == strrchr(text, ':')
                     ? " if it has hours and minutes" : "");
    } else if (scan_i64(text, bytes, &number) && number > 0 &&
               number <= MILLI_MAX) {
        err_hint(err, "Does it count milliseconds? In seconds it is "
                      "%" PRId64 ".%03d.", number / 1000,
                 (int)(number % 1000));
    } else if (digits > 0 && digits < bytes && bytes < digits + 8 &&
               strspn(text + digits, " abcdefghijklmnopqrstuvwxyzABGHKMT") ==
                   bytes - digits) {
        err_hint(err, "Fields are numbers without a unit: times in seconds, "
                      "memory in MiB.");
    } else if (bytes == 0) {
        err_hint(err, "The field is empty. A missing value is not guessed: "
                      "fill it, or remove the row.");
    } else if (is_missing(text)) {
        err_hint(err, "A missing value is not guessed: write a number, or "
                      "remove the row.");
    } else {
        hint_date(text, err);
    }
}
