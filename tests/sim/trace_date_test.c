/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_date_test.c - dates of logs: every day of the calendar that is read, against a count of
 * days; each part of a time at its least and most; and texts that are no dates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/clock.h"
#include "sim/text/trace_date.h"

#define DAY_NS (86400 * CLOCK_NS_PER_S)

static int days_of(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return days[month - 1] +
           (month == 2 && (year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)));
}

static void every_day_is_one_after_the_last(void **state)
{
    int64_t day = 0, ns;
    char text[32];

    (void)state;
    for (int year = 1970; year <= 2200; year++)
        for (int month = 1; month <= 12; month++) {
            for (int d = 1; d <= days_of(year, month); d++, day++) {
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, d);
                if (!date_read(text, 10, &ns) || ns != day * DAY_NS)
                    fail_msg("%s", text);
                snprintf(text, sizeof text, "%d/%d/%04d", month, d, year);
                if (!date_read_us(text, strlen(text), &ns) || ns != day * DAY_NS)
                    fail_msg("%s", text);
            }
            snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, days_of(year, month) + 1);
            assert_false(date_read(text, 10, &ns));
        }
    assert_int_equal(day, 84371);       /* date -u -d 2201-01-01 +%s, over 86400 */
}

/* What follows a day, and the seconds since its midnight, UTC. */
static const struct { const char *text; double s; } times[] = {
    { "", 0 }, { " 00:00", 0 }, { "T00:01", 60 }, { " 23:59", 86340 }, { " 23:00:59", 82859 },
    { " 23:59:60", 86400 }, { " 00:00:00.5", 0.5 }, { " 00:00:00.000000001", 1e-9 },
    { " 01:02:03Z", 3723 }, { " 01:02Z", 3720 }, { " 01:02:03 UTC", 3723 },
    { " 01:02:03GMT", 3723 }, { " 09:00+08:00", 3600 }, { " 09:00+0800", 3600 },
    { " 09:00+08", 3600 }, { " 09:00 +08", 3600 }, { " 09:00-08:30", 63000 },
    { " 14:59+14:59", 0 }, { " 01:00+00:59", 60 }, { " 00:00:01.25+00:00", 1.25 },
};

static const char *const wrong[] = {
    " ", "Z", "+01:00", " +01:00", " 1:00", " 24:00", " 00:60", " 00:00:61", " 0a:00", " 00:0a",
    " 00:00:0a", "X00:00", " 00.00", " 00:00:00.", " 00:00:00.5x", " 00:00:00.0000000001",
    " 00:00 ", " 00:00z", " 00:00+15:00", " 00:00+00:60", " 00:00+1:00", " 00:00*01:00",
    " 00:00+01.00", " 00:00+ab", " 00:00UT", " 00:00UTCx", " 00:00+01:000",
};

static void times_stand_behind_a_day(void **state)
{
    char text[64];
    int64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        snprintf(text, sizeof text, "2000-03-01%s", times[i].text);
        if (!date_read(text, strlen(text), &ns) ||
            ns != 11017 * DAY_NS + (int64_t)(times[i].s * 1e9))
            fail_msg("%s: %lld", text, (long long)ns);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "2000-03-01%s", wrong[i]);
        if (date_read(text, strlen(text), &ns))
            fail_msg("%s was read", text);
    }
}

static void what_is_no_day_is_refused(void **state)
{
    static const char *const days[] = {
        "", "2000-03-0", "1969-12-31", "2201-01-01", "2000-00-01", "2000-13-01", "2000-01-00",
        "2000/01/01", "2000-01/01", "20a0-01-01", "2000-0a-01", "2000-01-0a", " 000-01-01",
    };
    static const char *const us[] = {
        "", "1/1", "1/1/2000/", "1//2000", "/1/2000", "13/1/2000", "0/1/2000", "1/32/2000",
        "2/29/2001", "1/1/1969", "1/1/2201", "1-1-2000", "1/1/02000", "1/1/20x0", "00001/1/2000",
    };
    int64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++)
        if (date_read(days[i], strlen(days[i]), &ns))
            fail_msg("%s was read", days[i]);
    for (size_t i = 0; i < sizeof us / sizeof us[0]; i++)
        if (date_read_us(us[i], strlen(us[i]), &ns))
            fail_msg("%s was read", us[i]);
    /* A zone may lead behind 1970: 00:00 at +08:00 is 16:00 of the day before. */
    assert_false(date_read("1970-01-01 00:00:00+08:00", 25, &ns));
    assert_true(date_read("1970-01-01 08:00:00+08:00", 25, &ns) && ns == 0);
}

/* Each number may have one to four digits. */
static void numbers_between_slashes_have_at_most_four_digits(void **state)
{
    char text[32];
    int64_t ns;

    (void)state;
    for (int m = 1; m <= 5; m++)
        for (int d = 1; d <= 5; d++) {
            snprintf(text, sizeof text, "%0*d/%0*d/2000", m, 1, d, 2);
            if (date_read_us(text, strlen(text), &ns) != (m <= 4 && d <= 4) ||
                (m <= 4 && d <= 4 && ns != 10958 * DAY_NS))
                fail_msg("%s", text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_is_one_after_the_last),
        cmocka_unit_test(times_stand_behind_a_day),
        cmocka_unit_test(what_is_no_day_is_refused),
        cmocka_unit_test(numbers_between_slashes_have_at_most_four_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
