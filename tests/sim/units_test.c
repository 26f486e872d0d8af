/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * units_test.c - what one of each unit is, by the SI and by binary prefixes; how a value is
 * written with it, and read again.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/unit.h"

/* One of the unit; `chosen`: the program writes with it. */
static const struct {
    enum conf_type type;
    const char *unit;
    double size;
    bool chosen;
} units[] = {
    { CONF_FRACTION, "", 1, true }, { CONF_FRACTION, "%", 0.01, false },
    { CONF_TIME, "ns", 1e-9, true }, { CONF_TIME, "us", 1e-6, true },
    { CONF_TIME, "ms", 1e-3, true }, { CONF_TIME, "s", 1, true }, { CONF_TIME, "min", 60, true },
    { CONF_TIME, "m", 60, false }, { CONF_TIME, "h", 3600, true }, { CONF_TIME, "d", 86400, true },
    { CONF_TIME, "w", 604800, false },
    { CONF_BYTES, "B", 1, true }, { CONF_BYTES, "kB", 1e3, true }, { CONF_BYTES, "KB", 1e3, false },
    { CONF_BYTES, "MB", 1e6, true }, { CONF_BYTES, "GB", 1e9, true },
    { CONF_BYTES, "TB", 1e12, true }, { CONF_BYTES, "PB", 1e15, true },
    { CONF_BYTES, "EB", 1e18, true }, { CONF_BYTES, "KiB", 0x1p10, false },
    { CONF_BYTES, "MiB", 0x1p20, false }, { CONF_BYTES, "GiB", 0x1p30, false },
    { CONF_BYTES, "TiB", 0x1p40, false }, { CONF_BYTES, "PiB", 0x1p50, false },
    { CONF_RATE, "B/s", 1, true }, { CONF_RATE, "kB/s", 1e3, true },
    { CONF_RATE, "MB/s", 1e6, true },
    { CONF_RATE, "GB/s", 1e9, true }, { CONF_RATE, "TB/s", 1e12, true },
    { CONF_RATE, "KiB/s", 0x1p10, false }, { CONF_RATE, "MiB/s", 0x1p20, false },
    { CONF_RATE, "GiB/s", 0x1p30, false }, { CONF_RATE, "TiB/s", 0x1p40, false },
    { CONF_RATE, "b/s", 0.125, false }, { CONF_RATE, "kb/s", 125, false },
    { CONF_RATE, "Mb/s", 125e3, false }, { CONF_RATE, "Gb/s", 125e6, false },
    { CONF_RATE, "Tb/s", 125e9, false }, { CONF_RATE, "bps", 0.125, false },
    { CONF_RATE, "kbps", 125, false }, { CONF_RATE, "Mbps", 125e3, false },
    { CONF_RATE, "Gbps", 125e6, false }, { CONF_RATE, "Tbps", 125e9, false },
    { CONF_FLOPS, "FLOPS", 1, true }, { CONF_FLOPS, "kFLOPS", 1e3, false },
    { CONF_FLOPS, "MFLOPS", 1e6, true }, { CONF_FLOPS, "GFLOPS", 1e9, true },
    { CONF_FLOPS, "TFLOPS", 1e12, true }, { CONF_FLOPS, "PFLOPS", 1e15, true },
    { CONF_FLOPS, "EFLOPS", 1e18, true }, { CONF_FLOPS, "OPS", 1, false },
    { CONF_FLOPS, "GOPS", 1e9, false }, { CONF_FLOPS, "TOPS", 1e12, false },
    { CONF_FLOPS, "POPS", 1e15, false },
    { CONF_POWER, "mW", 1e-3, false }, { CONF_POWER, "W", 1, true },
    { CONF_POWER, "kW", 1e3, true },
    { CONF_POWER, "MW", 1e6, true },
    { CONF_PRICE, "USD/h", 1, true }, { CONF_PRICE, "USD/s", 3600, false },
    { CONF_PRICE, "USD/min", 60, false }, { CONF_PRICE, "USD/d", 1.0 / 24, false },
    { CONF_FREQUENCY, "/w", 1.0 / 604800, false }, { CONF_FREQUENCY, "/d", 1.0 / 86400, true },
    { CONF_FREQUENCY, "/h", 1.0 / 3600, true }, { CONF_FREQUENCY, "/min", 1.0 / 60, true },
    { CONF_FREQUENCY, "/s", 1, true },
};
#define UNITS (sizeof units / sizeof units[0])

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* A text as a value of the type, in its stored unit; times in seconds. */
static double value_of(enum conf_type type, const char *text)
{
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    const struct conf_field field = { .key = "key", .type = type, .min = -INFINITY,
                                      .max = INFINITY };
    const struct conf_node *node = conf_parse(arena, "t", text, strlen(text), &err);
    double real = NAN;
    int64_t whole = 0;

    assert_non_null(node);
    bool is_whole = type == CONF_TIME;
    if (!conf_read(node, &field, is_whole ? (void *)&whole : (void *)&real, &err))
        fail_msg("%s: %s", text, err.text);
    arena_free(arena);
    return is_whole ? 1e-9 * (double)whole : real;
}

static void one_of_each_unit_is_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNITS; i++) {
        double size = NAN;
        char text[40];

        assert_true(conf_unit_size(units[i].type, units[i].unit, &size));
        if (!near(size, units[i].size))
            fail_msg("1 %s is %.17g", units[i].unit, size);
        snprintf(text, sizeof text, "8%s", units[i].unit);
        if (!near(value_of(units[i].type, text), 8 * units[i].size))
            fail_msg("%s is %.17g", text, value_of(units[i].type, text));
    }
    for (size_t i = 0; i < UNITS; i++) {
        size_t count, listed = 0;
        (void)conf_units(units[i].type, &count);
        for (size_t k = 0; k < UNITS; k++)
            listed += units[k].type == units[i].type;
        assert_int_equal(listed, count);
    }
}

/* The writer chooses the largest unit of which a value has at least one: 1.25 of a unit is
 * written with that unit. */
static void values_are_written_in_the_largest_unit_that_is_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNITS; i++) {
        char said[CONF_QUANTITY_BYTES], want[40];
        double value = 1.25 * units[i].size;
        size_t best = UNITS;

        for (size_t k = 0; k < UNITS; k++)
            if (units[k].type == units[i].type && units[k].chosen &&
                units[k].size <= value * (1 + 1e-12) &&
                (best == UNITS || units[k].size > units[best].size))
                best = k;
        if (best == UNITS)
            continue;           /* below all of them */
        conf_unit_format(units[i].type, NULL, value, said);
        snprintf(want, sizeof want, "%.6g%s", value / units[best].size, units[best].unit);
        bool part_of_ns = units[i].type == CONF_TIME && units[i].size < 1e-8;
        if ((!part_of_ns && fabs(value_of(units[i].type, said) - value) > 1e-8 * value) ||
            (units[i].chosen && strcmp(said, want) != 0))
            fail_msg("1.25 %s is written %s, wanted is %s", units[i].unit, said, want);
        conf_unit_format(units[i].type, conf_unit_find(units[i].type, units[i].unit), value, said);
        snprintf(want, sizeof want, "1.25%s", units[i].unit);
        assert_string_equal(said, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_each_unit_is_what_it_says),
        cmocka_unit_test(values_are_written_in_the_largest_unit_that_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
