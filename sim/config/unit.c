/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit.c - names, examples and units of the types of values.
 *
 * Prefixes are those of the SI (k = 1000) and of IEC 80000-13 (Ki = 1024); a
 * byte is 8 bits; b is a bit, B a byte.
 *
 * A name may stand in several types ("m" is a minute, "B" a byte). The units
 * that are `shown` rise from first to last, which conf_unit_format() relies on.
 */
#include "sim/config/unit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/text/table.h"

#define KI 1024.0

static const struct conf_unit no_units[] = {{"", 0, 1, 1, true}};

static const struct conf_unit fraction_units[] = {
    {"", 0, 1, 1, true}, {"%", -2, 1, 1, false},
};

static const struct conf_unit time_units[] = {
    {"ns", -9, 1, 1, true},  {"us", -6, 1, 1, true}, {"ms", -3, 1, 1, true},
    {"s", 0, 1, 1, true},    {"min", 0, 60, 1, true}, {"m", 0, 60, 1, false},
    {"h", 0, 3600, 1, true}, {"d", 0, 86400, 1, true},
    {"w", 0, 604800, 1, false},
};

static const struct conf_unit bytes_units[] = {
    {"B", 0, 1, 1, true},    {"kB", 3, 1, 1, true},  {"KB", 3, 1, 1, false},
    {"MB", 6, 1, 1, true},   {"GB", 9, 1, 1, true},  {"TB", 12, 1, 1, true},
    {"PB", 15, 1, 1, true},  {"EB", 18, 1, 1, true},
    {"KiB", 0, KI, 1, false},
    {"MiB", 0, KI * KI, 1, false},
    {"GiB", 0, KI * KI * KI, 1, false},
    {"TiB", 0, KI * KI * KI * KI, 1, false},
    {"PiB", 0, KI * KI * KI * KI * KI, 1, false},
};

static const struct conf_unit rate_units[] = {
    {"B/s", 0, 1, 1, true},   {"kB/s", 3, 1, 1, true},
    {"MB/s", 6, 1, 1, true},  {"GB/s", 9, 1, 1, true},
    {"TB/s", 12, 1, 1, true}, {"KiB/s", 0, KI, 1, false},
    {"MiB/s", 0, KI * KI, 1, false},
    {"GiB/s", 0, KI * KI * KI, 1, false},
    {"TiB/s", 0, KI * KI * KI * KI, 1, false},
    {"b/s", 0, 1, 8, false},  {"kb/s", 3, 1, 8, false},
    {"Mb/s", 6, 1, 8, false}, {"Gb/s", 9, 1, 8, false},
    {"Tb/s", 12, 1, 8, false}, {"bps", 0, 1, 8, false},
    {"kbps", 3, 1, 8, false}, {"Mbps", 6, 1, 8, false},
    {"Gbps", 9, 1, 8, false}, {"Tbps", 12, 1, 8, false},
};

static const struct conf_unit flops_units[] = {
    {"FLOPS", 0, 1, 1, true},   {"kFLOPS", 3, 1, 1, false},
    {"MFLOPS", 6, 1, 1, true},  {"GFLOPS", 9, 1, 1, true},
    {"TFLOPS", 12, 1, 1, true}, {"PFLOPS", 15, 1, 1, true},
    {"EFLOPS", 18, 1, 1, true}, {"OPS", 0, 1, 1, false},
    {"GOPS", 9, 1, 1, false},   {"TOPS", 12, 1, 1, false},
    {"POPS", 15, 1, 1, false},
};

static const struct conf_unit power_units[] = {
    {"mW", -3, 1, 1, false}, {"W", 0, 1, 1, true}, {"kW", 3, 1, 1, true},
    {"MW", 6, 1, 1, true},
};

static const struct conf_unit price_units[] = {
    {"USD/h", 0, 1, 1, true},      {"USD/s", 0, 3600, 1, false},
    {"USD/min", 0, 60, 1, false},  {"USD/d", 0, 1, 24, false},
};

static const struct conf_unit frequency_units[] = {
    {"/w", 0, 1, 604800, false}, {"/d", 0, 1, 86400, true},
    {"/h", 0, 1, 3600, true},    {"/min", 0, 1, 60, true},
    {"/s", 0, 1, 1, true},
};

/* What a type is called, how it is written, and in which units. */
struct type_row {
    const char *name;           /* "time": as messages say it */
    const char *example;
    const struct conf_unit *units;  /* [unit_count]; NULL: a plain number */
    size_t unit_count;
};

#define NO_UNITS NULL, 0
#define UNITS(table) table, sizeof table / sizeof table[0]

static const struct type_row type_rows[] = {
    [CONF_BOOL] = {"true or false", "true", NO_UNITS},
    [CONF_INT] = {"whole number", "12", UNITS(no_units)},
    [CONF_REAL] = {"number", "0.5", UNITS(no_units)},
    [CONF_FRACTION] = {"fraction", "0.2 or 20%", UNITS(fraction_units)},
    [CONF_TEXT] = {"text", "dpo_vs_static", NO_UNITS},
    [CONF_CHOICE] = {"choice", "one of its words", NO_UNITS},
    [CONF_TIME] = {"time", "90s, 1.5h or 7d", UNITS(time_units)},
    [CONF_BYTES] = {"size", "80GB, 80GiB or 4x3.84TB", UNITS(bytes_units)},
    [CONF_RATE] = {"rate", "50GB/s or 400Gb/s", UNITS(rate_units)},
    [CONF_FLOPS] = {"compute rate", "312TFLOPS or 130TOPS",
                    UNITS(flops_units)},
    [CONF_POWER] = {"power", "700W or 6.5kW", UNITS(power_units)},
    [CONF_PRICE] = {"price", "2.10USD/h", UNITS(price_units)},
    [CONF_FREQUENCY] = {"frequency", "4/h or 0.1/s", UNITS(frequency_units)},
    [CONF_NODE] = {"value, list or map", "see its own keys", NO_UNITS},
};

#define TYPE_COUNT (sizeof type_rows / sizeof type_rows[0])

const char *conf_type_name(enum conf_type type)
{
    assert(type < TYPE_COUNT);
    return type_rows[type].name;
}

const char *conf_type_example(enum conf_type type)
{
    assert(type < TYPE_COUNT);
    return type_rows[type].example;
}

const struct conf_unit *conf_units(enum conf_type type, size_t *count)
{
    assert(type < TYPE_COUNT);
    assert(count != NULL);
    *count = type_rows[type].unit_count;
    return type_rows[type].units;
}

const struct conf_unit *conf_unit_find(enum conf_type type, const char *name)
{
    size_t count;
    const struct conf_unit *units = conf_units(type, &count);

    assert(name != NULL);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    }
    return NULL;
}

/* One of the unit in stored values. */
static double unit_size(const struct conf_unit *unit)
{
    assert(unit->per > 0.0);
    return pow(10.0, unit->exp10) * unit->times / unit->per;
}

/* Writes a value in the unit given, if it has a readable size there; else in
 * the largest unit of which it has one or more. */
void conf_unit_format(enum conf_type type, const struct conf_unit *unit,
                      double value, char out[CONF_QUANTITY_BYTES])
{
    size_t count;
    const struct conf_unit *units = conf_units(type, &count);
    char number[32];

    assert(count > 0);
    assert(isfinite(value));
    if (unit != NULL && value != 0.0) {         /* not 0.00000116d */
        double number_size = fabs(value) / unit_size(unit);
        if (number_size < 1e-3 || number_size >= 1e6)
            unit = NULL;
    }
    for (size_t i = 0; unit == NULL && i < count; i++) {
        bool larger_fits = false;
        for (size_t j = i + 1; j < count; j++)
            larger_fits = larger_fits || (units[j].shown &&
                unit_size(&units[j]) <= fabs(value));
        if (units[i].shown && !larger_fits)
            unit = &units[i];
    }
    assert(unit != NULL);
    /* 0 is written in a unit that everybody reads. */
    if (value == 0.0 && type == CONF_TIME)
        unit = conf_unit_find(type, "s");
    table_format_real(value / unit_size(unit), number);
    snprintf(out, CONF_QUANTITY_BYTES, "%s%s", number, unit->name);
}

bool conf_unit_size(enum conf_type type, const char *name, double *size)
{
    const struct conf_unit *unit = conf_unit_find(type, name);

    if (unit != NULL)
        *size = unit_size(unit);
    assert(unit == NULL || *size > 0);
    return unit != NULL;
}

void conf_range_format(const struct conf_field *field,
                       const struct conf_unit *unit,
                       char out[CONF_RANGE_BYTES])
{
    size_t room = CONF_RANGE_BYTES;
    char low[CONF_QUANTITY_BYTES] = "";
    char high[CONF_QUANTITY_BYTES] = "";
    size_t count;

    out[0] = '\0';
    conf_units(field->type, &count);
    if ((field->min == 0.0 && field->max == 0.0) || count == 0)
        return;
    assert(field->min <= field->max);
    bool has_low = isfinite(field->min);
    bool has_high = isfinite(field->max);
    if (has_low)
        conf_unit_format(field->type, unit, field->min, low);
    if (has_high)
        conf_unit_format(field->type, unit, field->max, high);
    if (has_low && has_high)
        snprintf(out, room, "from %s to %s", low, high);
    else if (has_low)
        snprintf(out, room, "at least %s", low);
    else if (has_high)
        snprintf(out, room, "at most %s", high);
}
