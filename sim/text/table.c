/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - rows of CSV in memory.
 *
 * A cell and a comma are appended to one growing buffer, and the last comma of
 * a row becomes its line end; `next` is the column to fill, so that a row with
 * a cell too many, too few or of another type cannot be ended.
 */
#include "sim/text/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/decimal.h"

#define NUMBER_BYTES_MAX    40      /* longest cell that is not a text */
_Static_assert(NUMBER_BYTES_MAX >= CLOCK_TEXT_BYTES, "a time has room");
#define SHORT_TEXT_BYTES    32      /* most texts are shorter */
#define SINK_BYTES ((size_t)1 << 18)    /* kept back before a sink gets them */

struct table {
    const struct table_column *columns, *columns_end;
    const struct table_column *next;    /* to fill in this row */
    char *buffer, *buffer_end;  /* one row fits at least */
    char *at;                   /* of the buffer, where the next cell goes */
    char *row;                  /* where this row began */
    bool sunk;                  /* a sink has rows */
    table_sink_fn *sink;        /* or NULL */
    void *sink_self;
};

struct table *table_new(const struct table_column *columns, size_t count)
{
    assert(columns != NULL);
    assert(count > 0);
    struct table *table = arena_resize_own(NULL, 1, sizeof *table);

    *table = (struct table){.columns = columns, .next = columns,
                            .columns_end = columns + count};
    return table;
}

void table_free(struct table *table)
{
    if (table == NULL)
        return;
    assert(table->at <= table->buffer_end);
    free(table->buffer);
    free(table);
}

/* Bytes of rows in the buffer, the row that is begun included. */
static size_t count_used(const struct table *table)
{
    return table->buffer == NULL ? 0 : (size_t)(table->at - table->buffer);
}

/* Makes room for `bytes` more, and doubles what is used.  Kept out of line, as
 * it is seldom called and every cell would save its registers. */
__attribute__((noinline)) static void grow_buffer(struct table *table, size_t bytes)
{
    size_t used = count_used(table);
    size_t row = used == 0 ? 0 : (size_t)(table->row - table->buffer);
    size_t room = 2 * used + bytes + 4096;

    table->buffer = arena_resize_own(table->buffer, room, 1);
    table->buffer_end = table->buffer + room;
    table->at = table->buffer + used;
    table->row = table->buffer + row;
    assert(table->row <= table->at && bytes <= (size_t)(table->buffer_end - table->at));
}

/* Where the next `bytes` bytes go; `at` is moved by the caller. */
static inline char *reserve_bytes(struct table *table, size_t bytes)
{
    if ((size_t)(table->buffer_end - table->at) < bytes)
        grow_buffer(table, bytes);
    assert(bytes <= (size_t)(table->buffer_end - table->at));
    return table->at;
}

/* Starts a cell of at most `bytes` bytes and asserts its type. */
static inline char *begin_cell(struct table *table, enum table_type type,
                               size_t bytes)
{
    assert(table != NULL);
    assert(table->next != table->columns_end);
    assert(table->next->type == type);
    table->next++;
    return reserve_bytes(table, bytes + 1);
}

/* The cell ends there. */
static inline void end_cell(struct table *table, char *out)
{
    assert(out < table->buffer_end);
    *out = ',';
    table->at = out + 1;
}

/* What a text needs quotes for, or ends with. */
static const bool not_plain[256] = {
    ['\0'] = true, [','] = true, ['"'] = true, ['\r'] = true, ['\n'] = true};

/* What a spreadsheet takes for a formula begins so, or has apostrophes before it. */
static const bool odd_begin[256] = {
    ['='] = true, ['+'] = true, ['-'] = true, ['@'] = true, ['\t'] = true, ['\r'] = true,
    ['\''] = true};

/* A number with its sign, perhaps in percent, is none, nor is what a verdict says behind
 * one: "-12.5%; one seed", "-12.5% [-14%, -11%]", "-12.5%: 7 against 8". */
static bool is_signed_number(const char *text)
{
    size_t digits = strspn(text + 1, "0123456789.");
    const char *after = text + 1 + digits;

    after += *after == '%';
    return (*text == '-' || *text == '+') && digits > 0 &&
           (*after == '\0' || strncmp(after, "; ", 2) == 0 || strncmp(after, ": ", 2) == 0 ||
            strncmp(after, " [", 2) == 0);
}

bool table_guards(const char *text)
{
    const char *after = text + strspn(text, "'");

    return *after != '\0' && odd_begin[(unsigned char)*after] && !is_signed_number(after);
}

/* A text that is long, or has to be quoted, or guarded by an apostrophe. */
__attribute__((noinline)) static void put_text(struct table *table, const char *text)
{
    size_t bytes = strlen(text), plain = 0;
    char *out = reserve_bytes(table, 2 * bytes + 4);
    bool guarded = table_guards(text);

    while (!not_plain[(unsigned char)text[plain]])
        plain++;
    if (plain == bytes) {
        if (guarded)
            *out++ = '\'';
        memcpy(out, text, bytes);
        end_cell(table, out + bytes);
        return;
    }
    *out++ = '"';
    if (guarded)
        *out++ = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '"')
            *out++ = '"';
        *out++ = *text;
    }
    *out++ = '"';
    end_cell(table, out);
}

/* A short text without characters that need quotes is copied as it is looked
 * at; most cells are such. */
void table_text(struct table *table, const char *text)
{
    assert(text != NULL);
    char *out = begin_cell(table, TABLE_TEXT, SHORT_TEXT_BYTES);
    size_t i = 0;

    for (; i < SHORT_TEXT_BYTES && !not_plain[(unsigned char)text[i]]; i++)
        out[i] = text[i];
    if (i < SHORT_TEXT_BYTES && text[i] == '\0' && !odd_begin[(unsigned char)text[0]])
        end_cell(table, out + i);
    else
        put_text(table, text);
}

void table_plain(struct table *table, const char *text, size_t bytes)
{
    char *out = begin_cell(table, TABLE_TEXT, bytes);

    assert(bytes == 0 || (!odd_begin[(unsigned char)text[0]] && memchr(text, ',', bytes) == NULL));
    memcpy(out, text, bytes);
    end_cell(table, out + bytes);
}

/* Most cells are one digit: no call for that. */
static inline char *put_whole(char *out, uint64_t value)
{
    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    return decimal_put(out, value);
}

void table_count(struct table *table, uint64_t count)
{
    char *out = begin_cell(table, TABLE_COUNT, NUMBER_BYTES_MAX);

    end_cell(table, put_whole(out, count));
}

void table_number(struct table *table, uint64_t number)
{
    char *out = begin_cell(table, TABLE_TEXT, NUMBER_BYTES_MAX);

    end_cell(table, put_whole(out, number));
}

void table_milli(struct table *table, uint64_t milli)
{
    char *out = begin_cell(table, TABLE_COUNT, NUMBER_BYTES_MAX);

    assert(milli <= INT64_MAX / 1000000);
    end_cell(table, clock_put_s(out, (int64_t)milli * 1000000));
}

void table_time(struct table *table, int64_t time_ns)
{
    assert(time_ns != CLOCK_NEVER_NS);
    char *out = begin_cell(table, TABLE_TIME, NUMBER_BYTES_MAX);
    uint64_t whole_s = (uint64_t)time_ns / (uint64_t)CLOCK_NS_PER_S;

    /* Most traces know whole seconds. */
    if (time_ns >= 0 && whole_s * CLOCK_NS_PER_S == (uint64_t)time_ns)
        end_cell(table, put_whole(out, whole_s));
    else
        end_cell(table, clock_put_s(out, time_ns));
}

/* "%.9g".  Most are 0 or small whole numbers.  -0 is 0: nobody wants to see its
 * sign. */
static inline char *put_real(char *out, double value)
{
    if (value == 0) {
        *out = '0';
        return out + 1;
    }
    if (value >= 0 && value < 1e9 && value == (double)(uint32_t)value)
        return put_whole(out, (uint32_t)value);
    return out + table_format_real(value + 0.0, out);
}

void table_real(struct table *table, double value)
{
    char *out = begin_cell(table, TABLE_REAL, NUMBER_BYTES_MAX);

    end_cell(table, put_real(out, value));
}

void table_real_or_empty(struct table *table, double value)
{
    if (isfinite(value))
        table_real(table, value);
    else
        table_empty(table);
}

void table_reals(struct table *table, const double *value, size_t count)
{
    assert(table != NULL && value != NULL);
    assert(count <= (size_t)(table->columns_end - table->next));
    char *out = reserve_bytes(table, count * (NUMBER_BYTES_MAX + 1));

    for (size_t i = 0; i < count; i++) {
        assert(table->next[i].type == TABLE_REAL);
        out = put_real(out, value[i]);
        *out++ = ',';
    }
    assert(out <= table->buffer_end);
    table->next += count;
    table->at = out;
}

void table_empty(struct table *table)
{
    assert(table->next != table->columns_end);
    end_cell(table, begin_cell(table, table->next->type, 0));
}

void table_end_row(struct table *table)
{
    assert(table != NULL);
    assert(table->next == table->columns_end);
    table->at[-1] = '\n';       /* for the comma behind the last cell */
    table->next = table->columns;
    if (table->sink != NULL && count_used(table) >= SINK_BYTES) {
        table->sink(table->sink_self, table->buffer, count_used(table));
        table->sunk = true;
        table->at = table->buffer;
    }
    table->row = table->at;
}

size_t table_begun(const struct table *table, const char **bytes)
{
    assert(table != NULL && bytes != NULL);
    assert(table->next != table->columns);
    *bytes = table->row;
    return (size_t)(table->at - table->row);
}

/* The bytes hold whole cells with their commas, so that nothing is formatted
 * anew. */
void table_repeat(struct table *table, const char *bytes, size_t count,
                  size_t columns)
{
    assert(table != NULL && bytes != NULL);
    assert(columns <= (size_t)(table->columns_end - table->next));
    memcpy(reserve_bytes(table, count), bytes, count);
    table->at += count;
    table->next += columns;
}

void table_sink(struct table *table, table_sink_fn *fn, void *self)
{
    assert(table != NULL && fn != NULL);
    assert(table->sink == NULL);
    table->sink = fn;
    table->sink_self = self;
}

const char *table_bytes(const struct table *table, size_t *bytes)
{
    assert(table != NULL && bytes != NULL);
    assert(table->next == table->columns);
    *bytes = count_used(table);
    return table->buffer == NULL ? "" : table->buffer;
}

bool table_is_whole(const struct table *table)
{
    assert(table != NULL && table->next == table->columns);
    return !table->sunk;
}

void table_clear(struct table *table)
{
    assert(table != NULL);
    table->at = table->row = table->buffer;
    table->next = table->columns;
}

size_t table_header(const struct table_column *columns, size_t count,
                    char *out, size_t out_bytes)
{
    size_t wanted = 0;

    assert(columns != NULL && count > 0);
    assert(out != NULL || out_bytes == 0);
    for (size_t i = 0; i < count; i++) {
        for (const char *c = columns[i].name; *c != '\0'; c++, wanted++) {
            assert(*c != ',' && *c != '"' && *c != '\n');
            if (wanted + 1 < out_bytes)
                out[wanted] = *c;
        }
        if (wanted + 1 < out_bytes)
            out[wanted] = i + 1 < count ? ',' : '\n';
        wanted++;
    }
    if (out_bytes > 0)
        out[wanted < out_bytes ? wanted : out_bytes - 1] = '\0';
    return wanted;
}

/*
 * The nine digits of a positive value and their exponent: value is about
 * digits x 10^(exp10 - 8).  Scaling is off by less than 1e-5 of a digit (at
 * most 16 roundings of 2^-53 in 1e9), so rounding is certain but near a half,
 * where the exact comparison decides; ties go to even, as glibc's do.
 */
static uint32_t nine_digits(double value, int *exp10)
{
    int exp2;
    uint64_t mantissa = decimal_split(value, &exp2);
    int bits = 0;

    assert(mantissa > 0);
    for (uint64_t m = mantissa; exp2 == -1074 && m >> 52 == 0; m <<= 1)
        bits--;                         /* a subnormal's missing bits */
    /* floor(log10) or one less: 1233 / 4096 is just below log10(2). */
    int e = ((exp2 + 52 + bits) * 1233) >> 12;
    double scaled = decimal_scale(value, 8 - e);
    while (scaled >= 1e9)
        scaled = decimal_scale(value, 8 - ++e);
    while (scaled < 1e8)
        scaled = decimal_scale(value, 8 - --e);

    uint32_t digits = (uint32_t)scaled;
    double rest = scaled - (double)digits;
    if (fabs(rest - 0.5) > 1e-5) {
        digits += rest > 0.5;
    } else {
        struct decimal half = {.lead = 2 * (uint64_t)digits + 1,
                               .exp10 = e - 8};
        int order = decimal_compare(&half, mantissa, exp2 + 1);
        digits += order < 0 || (order == 0 && digits % 2 == 1);
    }
    if (digits == 1000000000) {
        digits = 100000000;
        e++;
    }
    *exp10 = e;
    return digits;
}

/* Nine digits at out, without the zeros at their end. */
static char *put_fraction(char *out, uint32_t digits)
{
    decimal_put_nine(out, digits);
    for (out += 9; out[-1] == '0'; out--)
        assert(digits > 0);
    return out;
}

/* d.ddde-05 */
static char *put_scientific(char *out, uint32_t digits, int exp10)
{
    uint32_t rest = digits % 100000000 * 10;

    assert(exp10 > -400 && exp10 < 400);
    *out++ = (char)('0' + digits / 100000000);
    if (rest > 0) {
        *out++ = '.';
        out = put_fraction(out, rest);
    }
    *out++ = 'e';
    *out++ = exp10 < 0 ? '-' : '+';
    uint32_t size = (uint32_t)(exp10 < 0 ? -exp10 : exp10);
    if (size < 10)
        *out++ = '0';
    return decimal_put(out, size);
}

/* ddd.ddd, ddd000 or 0.000ddd */
static char *put_plain(char *out, uint32_t digits, int exp10)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000,
                                      1000000, 10000000, 100000000,
                                      1000000000};

    assert(exp10 >= -4 && exp10 < 9);
    assert(digits >= 100000000 && digits < 1000000000);
    if (exp10 < 0) {
        memcpy(out, "0.000", 5);
        return put_fraction(out + 1 - exp10, digits);
    }
    uint32_t unit = powers[8 - exp10];
    uint32_t rest = digits % unit * powers[exp10 + 1];
    out = decimal_put(out, digits / unit);
    if (rest == 0)
        return out;
    *out++ = '.';
    return put_fraction(out, rest);
}

static char *put_digits(char *out, uint32_t digits, int exp10)
{
    return exp10 < -4 || exp10 >= 9 ? put_scientific(out, digits, exp10)
                                    : put_plain(out, digits, exp10);
}

/* Nine significant digits, without zeros at the end; whole numbers below 1e9
 * exactly. */
size_t table_format_real(double value, char out[32])
{
    assert(isfinite(value));
    char *end = out;
    int exp10;

    if (signbit(value))
        *end++ = '-';
    value = fabs(value);
    if (value < 1e9 && value == (double)(uint32_t)value) {
        end = decimal_put(end, (uint32_t)value);
    } else {
        uint32_t digits = nine_digits(value, &exp10);
        end = put_digits(end, digits, exp10);
    }
    *end = '\0';
    assert(end - out < 32);
    return (size_t)(end - out);
}

/* The double nearest to the nine digits, which stand as a text, too. */
static double read_digits(uint32_t digits, int exp10, const char *text, size_t bytes)
{
    static const double power[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
                                   1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
                                   1e20, 1e21, 1e22};
    const int most = (int)(sizeof power / sizeof power[0]) - 1;
    struct decimal decimal;
    double read;

    assert(digits <= 999999999 && bytes > 0);
    exp10 -= 8;
    /* Both numbers are exact, so there is one rounding: it gives the nearest double. */
    if (exp10 >= 0 && exp10 <= most)
        return digits * power[exp10];
    if (exp10 < 0 && -exp10 <= most)
        return digits / power[-exp10];
    return decimal_read(text, bytes, &decimal) != 0 && decimal_to_f64(&decimal, &read) ? read
                                                                                      : NAN;
}

double table_real_read(struct table *table, double value)
{
    double size = fabs(value), read;
    uint32_t digits;
    char *out, *from;
    int exp10;

    assert(isfinite(value));
    if (size < 1e9 && size == (double)(uint32_t)size) {
        table_real(table, value);
        return value + 0.0;             /* -0 is written as 0 */
    }
    from = out = begin_cell(table, TABLE_REAL, NUMBER_BYTES_MAX);
    if (value < 0)
        *from++ = '-';
    digits = nine_digits(size, &exp10);
    out = put_digits(from, digits, exp10);
    read = read_digits(digits, exp10, from, (size_t)(out - from));
    end_cell(table, out);
    return value < 0 ? -read : read;
}
