/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - one scalar becomes a value of its type, or a located error.
 *
 * Quantities are a number and a unit; the number is kept decimal until the
 * unit's power of ten is in it, so that 3.84TB is 3,840,000,000,000 exactly.
 */
#include "sim/config/conf.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/decimal.h"
#include "sim/base/err.h"
#include "sim/config/node.h"
#include "sim/config/unit.h"

#define SHOWN_BYTES 60      /* of a wrong value that are quoted */

/* What is read, its reader, and where complaints go. */
struct reading {
    const struct conf_node *node; /* the value that the user wrote */
    const struct conf_field *field; /* what the key takes */
    struct err *err;            /* the caller's */
    char name[80];                      /* "'memory'", for messages */
    char shown[SHOWN_BYTES + 4];        /* the text, clipped */
};

/* False, with err: "KEY MUST, found VALUE".  The place is that of the value. */
static bool report_fault(const struct reading *reading, enum err_kind kind,
                         const char *must)
{
    assert(kind != ERR_NONE && must[0] != '\0');
    return err_set(reading->err, kind, reading->node->pos,
                   "%s %s, found '%s'", reading->name, must, reading->shown);
}

/* Reports a text that is not of the field's type, with an example. */
static bool report_type(const struct reading *reading)
{
    char must[160];

    snprintf(must, sizeof must, "must be a %s such as %s",
             conf_type_name(reading->field->type),
             conf_type_example(reading->field->type));
    return report_fault(reading, ERR_SCHEMA, must);
}

/* The range in the unit that the user chose.  A field whose min and max are both 0 has no
 * range; it may be negative only if its type is a plain number. */
static bool check_range(const struct reading *reading, double value,
                        const struct conf_unit *unit)
{
    const struct conf_field *field = reading->field;
    char range[CONF_RANGE_BYTES];
    char must[sizeof range + 16];

    assert(!isnan(value));
    if (field->min == 0.0 && field->max == 0.0) {
        bool may_be_negative = field->type == CONF_INT ||
            field->type == CONF_REAL || field->type == CONF_FRACTION;
        if (value >= 0.0 || may_be_negative)
            return true;
        return report_fault(reading, ERR_RANGE, "must not be negative");
    }
    if (value >= field->min && value <= field->max)
        return true;
    conf_range_format(field, unit, range);
    snprintf(must, sizeof must, "must be %s", range);
    return report_fault(reading, ERR_RANGE, must);
}

/* YAML 1.1 knows many words for true and false; one spelling is accepted, and
 * the hint names it to users of the others. */
static bool read_bool(const struct reading *reading, bool *out)
{
    static const char *const others[] = {"yes", "no", "on", "off", "True",
        "False", "TRUE", "FALSE", "Yes", "No", "On", "Off", "1", "0", NULL};
    const char *text = reading->node->text;

    assert(reading->field->type == CONF_BOOL);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *out = text[0] == 't';
        return true;
    }
    report_fault(reading, ERR_SCHEMA, "must be true or false");
    for (size_t i = 0; others[i] != NULL; i++) {
        if (strcmp(text, others[i]) == 0)
            err_hint(reading->err, "Write true or false, in small letters.");
    }
    return false;
}

/* Returns the one name that begins with the word; NULL: none does, or several do.  For example
 * "round" for "round-robin".  A word of one letter begins too many. */
static const char *find_begun(const char *word, const char *const *names)
{
    const char *begun = NULL;

    for (size_t i = 0; names[i] != NULL && strlen(word) > 1; i++)
        if (strncmp(names[i], word, strlen(word)) == 0) {
            if (begun != NULL)
                return NULL;
            begun = names[i];
        }
    return begun;
}

/* Hints at the choice that was probably meant; where none is near, at those that the
 * message, `shown`, had no room for. */
static void hint_choice(const struct reading *reading, const char *shown)
{
    const char *const *choices = reading->field->choices;
    const char *word = reading->node->text, *nearest = conf_nearest(word, choices);
    size_t bytes = strlen(shown), count = 0;
    char rest[200];

    if (nearest == NULL)
        nearest = find_begun(word, choices);
    if (nearest != NULL) {
        err_hint(reading->err, "Did you mean '%s'?", nearest);
    } else if (bytes > 3 && strcmp(shown + bytes - 3, "...") == 0) {
        for (const char *p = shown; (p = strchr(p, ',')) != NULL; p++)
            count++;
        conf_join(choices + count, rest, sizeof rest);
        err_hint(reading->err, "The others are %s.", rest);
    }
}

/* A choice is read as its place in the list of words. */
static bool read_choice(const struct reading *reading, int *out)
{
    const char *const *choices = reading->field->choices;
    char must[140] = "must be one of ";
    size_t used = strlen(must);

    assert(choices != NULL && choices[0] != NULL);
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(reading->node->text, choices[i]) == 0) {
            *out = i;
            return true;
        }
    }
    conf_join(choices, must + used, sizeof must - used);
    report_fault(reading, ERR_SCHEMA, must);
    hint_choice(reading, must + used);
    return false;
}

/* Digits alone, exactly, up to 64 bits: no double lies between. */
static bool read_int(const struct reading *reading, int64_t *out)
{
    const char *text = reading->node->text;
    const char *digit = text + (text[0] == '-' || text[0] == '+');
    uint64_t limit = (uint64_t)INT64_MAX + (text[0] == '-');
    uint64_t size = 0;

    assert(reading->field->type == CONF_INT);
    if (*digit == '\0')
        return report_type(reading);
    for (; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9') {
            report_type(reading);
            return err_hint(reading->err, "Write it with digits only.");
        }
        uint64_t value = (uint64_t)(*digit - '0');
        if (size > (limit - value) / 10)
            return report_fault(reading, ERR_RANGE, "must fit in 64 bits");
        size = size * 10 + value;
    }
    int64_t value = text[0] == '-' ? (int64_t)(0 - size) : (int64_t)size;
    if (!check_range(reading, (double)value,
                     conf_unit_find(CONF_INT, "")))
        return false;
    *out = value;
    return true;
}

/* Says which units there are; the text has none of them. */
static bool report_unit(const struct reading *reading, const char *unit)
{
    enum conf_type type = reading->field->type;
    const char *names[32];
    char list[120];
    char must[160];
    size_t count;
    const struct conf_unit *units = conf_units(type, &count);

    assert(count > 0 && count < sizeof names / sizeof names[0]);
    if (unit[0] == '\0') {
        snprintf(must, sizeof must, "needs a unit, as in %s",
                 conf_type_example(type));
        return report_fault(reading, ERR_SCHEMA, must);
    }
    if (type == CONF_REAL)
        return report_fault(reading, ERR_SCHEMA, "must be a number without a unit");
    for (size_t i = 0; i < count; i++)
        names[i] = units[i].name[0] == '\0' ? "none" : units[i].name;
    names[count] = NULL;
    conf_join(names, list, sizeof list);
    snprintf(must, sizeof must, "must be a %s such as %s",
             conf_type_name(type), conf_type_example(type));
    report_fault(reading, ERR_SCHEMA, must);
    const char *nearest = conf_nearest(unit, names);
    if (nearest != NULL)
        return err_hint(reading->err, "Did you mean the unit '%s'?", nearest);
    return err_hint(reading->err, "Units are %s.", list);
}

/* Reads "4x" before a size, as in 4x3.84TB: four of them. */
static size_t read_times(const struct reading *reading, double *times)
{
    const char *text = reading->node->text;
    size_t digits = strspn(text, "0123456789");

    *times = 1.0;
    if (reading->field->type != CONF_BYTES || digits == 0 || digits > 9 ||
        text[digits] != 'x')
        return 0;
    *times = 0.0;
    for (size_t i = 0; i < digits; i++)
        *times = *times * 10.0 + (text[i] - '0');
    assert(*times < 1e9);
    return digits + 1;
}

/* Splits the text into a number and its unit.  One blank may stand between number and unit.
 * *times is 1 unless the text begins as "4x". */
static bool read_parts(const struct reading *reading, double *times,
                       struct decimal *number, const struct conf_unit **unit)
{
    const char *text = reading->node->text;

    text += read_times(reading, times);
    size_t bytes = decimal_read(text, strlen(text), number);
    if (bytes == 0)
        return report_type(reading);
    const char *name = text + bytes;
    if (*name == ' ' && name[1] != '\0')
        name++;                         /* "80 GB" */
    *unit = conf_unit_find(reading->field->type, name);
    if (*unit == NULL)
        return report_unit(reading, name);
    return true;
}

/* value = number x 10^exp10 x times / per, see unit.h.  The range is checked
 * on the stored value and reported in the user's own unit. */
static bool read_quantity(const struct reading *reading, double *out)
{
    struct decimal number;
    const struct conf_unit *unit;
    double times;
    double value;

    assert(reading->field->type != CONF_TIME);
    if (!read_parts(reading, &times, &number, &unit))
        return false;
    number.exp10 += unit->exp10;
    if (!decimal_to_f64(&number, &value))
        return report_fault(reading, ERR_RANGE, "is too large");
    value = value * times * unit->times / unit->per;
    if (!isfinite(value))
        return report_fault(reading, ERR_RANGE, "is too large");
    if (!check_range(reading, value, unit))
        return false;
    *out = value;
    return true;
}

/* Units of seconds and below are exact; the others are whole seconds times
 * a number, exact as far as that product is. */
static bool read_time(const struct reading *reading, int64_t *out)
{
    struct decimal number;
    const struct conf_unit *unit;
    double times;
    double s;
    int64_t ns = 0;

    assert(reading->field->type == CONF_TIME);
    if (!read_parts(reading, &times, &number, &unit))
        return false;
    number.exp10 += unit->exp10;
    bool fits = decimal_to_f64(&number, &s);
    if (fits && unit->times == 1.0)
        fits = decimal_to_ns(&number, &ns);
    else if (fits)
        fits = clock_ns_from_s(s * unit->times, &ns);
    if (!fits)
        return report_fault(reading, ERR_RANGE, "must be below 292 years");
    if (!check_range(reading, s * unit->times, unit))
        return false;
    *out = ns;
    return true;
}

/* False, with err: the key stands there without a value. */
static bool report_no_value(const struct reading *reading)
{
    enum conf_type type = reading->field->type;

    assert(conf_is_null(reading->node));
    err_set(reading->err, ERR_SCHEMA, reading->node->pos, "%s has no value",
            reading->name);
    if (type == CONF_CHOICE || type == CONF_NODE)
        return err_hint(reading->err, "Write a value, or remove the key.");
    return err_hint(reading->err, "Write a %s such as %s, or remove the key.",
                    conf_type_name(type), conf_type_example(type));
}

/* Reads a scalar by the type of its field. */
static bool read_scalar(const struct reading *reading, void *out)
{
    assert(reading->node->kind == CONF_SCALAR);
    switch (reading->field->type) {
    case CONF_BOOL: return read_bool(reading, out);
    case CONF_INT: return read_int(reading, out);
    case CONF_CHOICE: return read_choice(reading, out);
    case CONF_TIME: return read_time(reading, out);
    case CONF_TEXT:
        *(const char **)out = reading->node->text;
        return true;
    case CONF_REAL:
    case CONF_FRACTION:
    case CONF_BYTES:
    case CONF_RATE:
    case CONF_FLOPS:
    case CONF_POWER:
    case CONF_PRICE:
    case CONF_FREQUENCY: return read_quantity(reading, out);
    case CONF_NODE: break;
    }
    assert(false);
    return false;
}

/* A value that the field allows, where the user's own was at fault.  1, or the bound of the
 * range that is nearest to 1. */
static bool read_neutral(const struct conf_node *node,
                         const struct conf_field *field, void *out)
{
    bool no_range = field->min == 0.0 && field->max == 0.0;
    double value = no_range ? 1.0 : fmin(fmax(1.0, field->min), field->max);

    assert((node->marks & CONF_NEUTRAL) != 0 && field->min <= field->max);
    switch (field->type) {
    case CONF_BOOL: *(bool *)out = false; break;
    case CONF_CHOICE: *(int *)out = 0; break;
    case CONF_INT: *(int64_t *)out = (int64_t)value; break;
    case CONF_TIME: return clock_ns_from_s(value, out);
    case CONF_TEXT: *(const char **)out = node->text; break;
    case CONF_NODE: *(const struct conf_node **)out = node; break;
    case CONF_REAL:
    case CONF_FRACTION:
    case CONF_BYTES:
    case CONF_RATE:
    case CONF_FLOPS:
    case CONF_POWER:
    case CONF_PRICE:
    case CONF_FREQUENCY: *(double *)out = value; break;
    }
    return true;
}

/* Reads a scalar that the user wrote, or hands on a node unread. */
static bool read_value(const struct conf_node *node,
                       const struct conf_field *field, void *out,
                       struct err *err)
{
    struct reading reading = {.node = node, .field = field, .err = err};

    if (field->key == NULL || field->key[0] == '\0')
        snprintf(reading.name, sizeof reading.name, "the value");
    else
        snprintf(reading.name, sizeof reading.name, "'%s'", field->key);
    if (conf_is_null(node))
        return report_no_value(&reading);
    if (field->type == CONF_NODE) {
        *(const struct conf_node **)out = node;
        return true;
    }
    if (node->kind != CONF_SCALAR) {
        err_set(err, ERR_SCHEMA, node->pos, "%s must be a %s such as %s, found %s", reading.name,
                conf_type_name(field->type), conf_type_example(field->type),
                conf_kind_name(node));
        return field->help == NULL ? false : err_hint(err, "It says: %s.", field->help);
    }
    assert(node->text != NULL);
    snprintf(reading.shown, sizeof reading.shown, "%.*s%s", SHOWN_BYTES,
             node->text, strlen(node->text) > SHOWN_BYTES ? "..." : "");
    return read_scalar(&reading, out);
}

bool conf_read(const struct conf_node *node, const struct conf_field *field,
               void *out, struct err *err)
{
    assert(node != NULL && field != NULL);
    assert(out != NULL && err != NULL);
    if ((node->marks & CONF_NEUTRAL) != 0)
        return read_neutral(node, field, out);
    if (read_value(node, field, out, err))
        return true;
    err->fault = FAULT_VALUE;
    return false;
}
