/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_date.c - dates and times as logs write them.
 *
 * Own code, because strptime() follows the locale, and mktime() the zone of the
 * machine.  Whole numbers throughout: a fraction of a second is exact.  A leap
 * second (second 60) is read as the first second of the next minute.
 */
#include "sim/text/trace_date.h"

#include <assert.h>
#include <string.h>

#include "sim/base/clock.h"

#define DAY_BYTES 10u           /* "2017-10-09" */
#define MINUTE_BYTES 6u         /* " 07:01" */
#define SECOND_BYTES 9u         /* " 07:01:55" */

/* Digits of a fixed-width part of a date; -1 if another character is among them. */
static int64_t read_digits(const char *text, size_t count)
{
    int64_t value = 0;

    assert(count > 0 && count <= DAY_BYTES);
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

/* Days from 1970-01-01 in the Gregorian calendar: years begin in March, so
 * that the leap day comes last (Richards 2013, in the Explanatory Supplement
 * to the Astronomical Almanac). */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t m = month <= 2 ? month + 9 : month - 3;

    assert(m >= 0 && m < 12 && day >= 1);
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day -
           719469;
}

/* Is it a date of the years 1970 to 2200? */
static bool is_day(int64_t year, int64_t month, int64_t day)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30,
                                  31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return year >= 1970 && year <= 2200 && month >= 1 && month <= 12 &&
           day >= 1 && day <= days[month - 1] + (leap && month == 2);
}

/* ".680", at most nine digits; how many bytes, or 0. */
static size_t read_fraction(const char *text, size_t bytes, int64_t *ns)
{
    int64_t unit = CLOCK_NS_PER_S / 10;
    size_t i = 1;

    if (bytes < 2 || text[0] != '.')
        return 0;
    for (; i < bytes && i <= 9 && read_digits(text + i, 1) >= 0; i++) {
        *ns += read_digits(text + i, 1) * unit;
        unit /= 10;
    }
    assert(*ns >= 0 && *ns < CLOCK_NS_PER_S);
    return i > 1 ? i : 0;
}

/* "", "Z", "+08:00", "+0800", "+08", and a blank before: what is to be taken
 * off. */
static bool read_zone(const char *text, size_t bytes, int64_t *offset_ns)
{
    int64_t hours, minutes = 0;

    *offset_ns = 0;
    if (bytes > 1 && text[0] == ' ') {
        text++;
        bytes--;
    }
    if (bytes == 0 || (bytes == 1 && text[0] == 'Z') ||
        (bytes == 3 && (memcmp(text, "UTC", 3) == 0 ||
                        memcmp(text, "GMT", 3) == 0)))
        return true;
    if ((bytes != 6 && bytes != 5 && bytes != 3) ||
        (text[0] != '+' && text[0] != '-') || (bytes == 6 && text[3] != ':'))
        return false;
    hours = read_digits(text + 1, 2);
    if (bytes > 3)
        minutes = read_digits(text + bytes - 2, 2);
    if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59)
        return false;
    *offset_ns = (hours * 3600 + minutes * 60) * CLOCK_NS_PER_S;
    if (text[0] == '-')
        *offset_ns = -*offset_ns;
    assert(hours >= 0 && minutes >= 0);
    return true;
}

/* "07:01:55.680" or "07:01" behind a date; how many bytes, or 0. */
static size_t read_time(const char *text, size_t bytes, int64_t *ns)
{
    int64_t hour, minute, second = 0, part_ns = 0;
    size_t used = MINUTE_BYTES;

    if (bytes < MINUTE_BYTES || (text[0] != ' ' && text[0] != 'T') ||
        text[3] != ':')
        return 0;
    hour = read_digits(text + 1, 2);
    minute = read_digits(text + 4, 2);
    if (bytes >= SECOND_BYTES && text[6] == ':') {
        second = read_digits(text + 7, 2);
        used = SECOND_BYTES;
        used += read_fraction(text + used, bytes - used, &part_ns);
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 60)
        return 0;
    *ns = clock_after((hour * 3600 + minute * 60 + second) * CLOCK_NS_PER_S,
                      part_ns);
    assert(*ns >= 0 && used <= bytes);
    return used;
}

/* ISO 8601: a day, maybe a time and a zone; without a zone UTC is meant. */
bool date_read(const char *text, size_t bytes, int64_t *ns)
{
    int64_t year, month, day, time_ns = 0, offset_ns = 0;
    size_t used;

    assert(text != NULL && ns != NULL);
    if (bytes < DAY_BYTES || text[4] != '-' || text[7] != '-')
        return false;
    year = read_digits(text, 4);
    month = read_digits(text + 5, 2);
    day = read_digits(text + 8, 2);
    if (!is_day(year, month, day))
        return false;
    if (bytes > DAY_BYTES) {
        used = read_time(text + DAY_BYTES, bytes - DAY_BYTES, &time_ns);
        if (used == 0 || !read_zone(text + DAY_BYTES + used,
                                    bytes - DAY_BYTES - used, &offset_ns))
            return false;
    }
    *ns = clock_after(days_from_date(year, month, day) * 86400 *
                      CLOCK_NS_PER_S, time_ns - offset_ns);
    return *ns >= 0;            /* a zone may lead behind 1970 */
}

/* Month, day and year between slashes, as in logs from America. */
bool date_read_us(const char *text, size_t bytes, int64_t *ns)
{
    int64_t part[3] = {0, 0, 0};
    size_t n = 0, long_enough = 0;

    assert(text != NULL && ns != NULL);
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '/') {
            if (++n > 2 || long_enough == 0)
                return false;
            long_enough = 0;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || ++long_enough > 4)
            return false;
        part[n] = 10 * part[n] + (text[i] - '0');
    }
    if (n != 2 || !is_day(part[2], part[0], part[1]))
        return false;
    *ns = days_from_date(part[2], part[0], part[1]) * 86400 * CLOCK_NS_PER_S;
    assert(*ns >= 0);
    return true;
}
