/* SPDX-License-Identifier: GPL-3.0-or-later */
/* expr_test.c - expressions: values worked out by hand, types, errors and their places. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/expr/expr.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

enum { COST, JOBS, VOID, BIG };
static const struct expr_column scalar[] = {
    { "cost", EXPR_NUMBER }, { "jobs", EXPR_NUMBER }, { "void", EXPR_NUMBER },
    { "big", EXPR_NUMBER },
};
static const double scalar_value[] = { 12, 4, NAN, 1e308 };

static const struct expr_column column[] = {
    { "jct", EXPR_NUMBER }, { "gpus", EXPR_NUMBER }, { "tenant", EXPR_TEXT },
    { "limit", EXPR_NUMBER },
};
struct row {
    double number[4];
    const char *tenant;
};
static const struct row rows[] = {
    { { 10, 1, 0, NAN }, "a" }, { { 20, 2, 0, 5 }, "b" },
    { { 30, 8, 0, NAN }, "a" }, { { NAN, 0, 0, NAN }, "" },
};

static const struct expr_table scalars = { "summary.csv", scalar, COUNT_OF(scalar) };
static const struct expr_table table = { "jobs.csv", column, COUNT_OF(column) };

static struct expr_cell scalar_cell(const void *self, uint32_t i)
{
    (void)self;
    return (struct expr_cell){ .number = scalar_value[i] };
}

static struct expr_cell row_cell(const void *self, uint32_t i)
{
    const struct row *row = self;

    return (struct expr_cell){ row->number[i], row->tenant };
}

static double value_of(const char *text, enum expr_gap *gap)
{
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    size_t at;
    const struct expr *expr = expr_parse(arena, text, &scalars, &table, &at, &err);
    const struct expr_cells cells = { scalar_cell, NULL };
    struct expr_sums *sums;
    double value;

    if (expr == NULL)
        fail_msg("%s: %zu: %s", text, at, err.text);
    sums = expr_sums_new(arena, expr);
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        for (uint32_t i = 0; i < expr_aggregate_count(expr); i++) {
            const struct expr_cells row = { row_cell, &rows[r] };

            expr_sums_add(sums, i, &row);
        }
    value = expr_value(expr, sums, &cells, gap);
    arena_free(arena);
    return value;
}

static void values_are_those_worked_out_by_hand(void **state)
{
    static const struct { const char *text; double value; } known[] = {
        { "1 + 2 * 3", 7 }, { "(1 + 2) * 3", 9 }, { "2 - 3 - 4", -5 },
        { "24 / 4 / 3", 2 }, { "-2 * -3", 6 }, { "- (1 - 3)", 2 }, { "1.5e1", 15 },
        { ".5", 0.5 }, { "90s + 1min", 150 }, { "1h", 3600 }, { "5%", 0.05 },
        { "cost / jobs", 3 }, { "cost > 10", 1 }, { "not cost > 10", 0 },
        { "cost > 10 and jobs > 10", 0 }, { "cost > 10 or jobs > 10", 1 },
        { "1 == 1 or 1 == 1 and 1 == 2", 1 }, { "'a' == \"a\"", 1 }, { "'a' != 'b'", 1 },
        { "min(3, 1, 2)", 1 }, { "max(3, 1, 2)", 3 }, { "abs(-3)", 3 },
        { "sqrt(9)", 3 }, { "log(exp(2))", 2 }, { "if(cost > 10, 1, 2)", 1 },
        { "if(cost < 10, 1, 2)", 2 }, { "coalesce(void, 7)", 7 },
        { "coalesce(1 / 0, void, 8)", 8 }, { "0 * -1", 0 },
        { "count()", 4 }, { "count(jct)", 3 }, { "sum(jct)", 60 }, { "mean(jct)", 20 },
        { "min(jct)", 10 }, { "max(jct)", 30 }, { "p50(jct)", 20 },
        { "quantile(jct, 90%)", 30 }, { "quantile(jct, 1)", 30 }, { "quantile(jct, 0)", 10 },
        { "mean(jct where gpus <= 2)", 15 },
        { "sum(jct where tenant == 'a')", 40 }, { "count(where tenant == '')", 1 },
        { "count(where tenant != 'a' and not gpus > 1)", 1 },
        { "count(where jct > 15)", 2 }, { "count(where not jct > 15)", 1 },
        { "count(where jct > 15 or gpus == 0)", 3 }, { "mean(jct > 15)", 2.0 / 3 },
        { "sum(if(gpus == 1, 1e16, if(gpus == 2, 1, -1e16)) where gpus > 0)", 1 },
        { "sum(jct * gpus)", 290 }, { "sum(jct where gpus > 100)", 0 },
        { "count(where gpus > 100)", 0 }, { "sum(limit)", 5 },
        { "mean(min(jct, 15))", 40.0 / 3 }, { "max(mean(jct), p95(gpus))", 20 },
        { "cost / count(where jct <= 20) + mean(gpus)", 8.75 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        enum expr_gap gap;
        double value = value_of(known[i].text, &gap);

        if (!(fabs(value - known[i].value) < 1e-12) || gap != EXPR_WHOLE)
            fail_msg("%s is %.17g", known[i].text, value);
    }
}

static void what_cannot_be_computed_is_empty_and_says_why(void **state)
{
    static const struct { const char *text; enum expr_gap gap; } known[] = {
        { "void", EXPR_EMPTY_CELL }, { "void + 1", EXPR_EMPTY_CELL },
        { "void > 1", EXPR_EMPTY_CELL }, { "min(void, 1)", EXPR_EMPTY_CELL },
        { "if(void > 1, 1, 2)", EXPR_EMPTY_CELL }, { "not void > 1", EXPR_EMPTY_CELL },
        { "cost / (jobs - 4)", EXPR_BY_ZERO }, { "0 / 0", EXPR_BY_ZERO },
        { "big * 10", EXPR_NOT_FINITE }, { "exp(1000)", EXPR_NOT_FINITE },
        { "sqrt(-1)", EXPR_NOT_FINITE }, { "log(0)", EXPR_NOT_FINITE },
        { "mean(jct where gpus > 100)", EXPR_NO_ROW },
        { "p95(jct where gpus > 100)", EXPR_NO_ROW },
        { "sum(limit where gpus == 8)", EXPR_NO_ROW },
        { "mean(1 / (gpus - gpus))", EXPR_BY_ZERO },
        { "sum(jct * 5.9e306)", EXPR_NOT_FINITE },      /* each product is finite */
        { "mean(jct * 5.9e306) * 0", EXPR_NOT_FINITE },
    };
    enum expr_gap gap;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        double value = value_of(known[i].text, &gap);

        if (!isnan(value) || gap != known[i].gap)
            fail_msg("%s is %g, %s", known[i].text, value, expr_gap_text(gap));
    }
    assert_true(value_of("sum(8 / gpus)", &gap) == 8 + 4 + 1);
    assert_int_equal(gap, EXPR_ROWS_BY_ZERO);
    assert_true(value_of("void > 1 or cost > 1", &gap) == 1);
}

static void mistakes_are_told_at_their_place(void **state)
{
    static const struct { const char *text; size_t at; const char *say, *hint; } bad[] = {
        { "", 0, "found its end", "" }, { "1 +", 3, "found its end", "" },
        { "cost + jop", 7, "no column 'jop'", "" },
        { "cost + jobz", 7, "no column 'jobz' of summary.csv", "Did you mean jobs?" },
        { "sum(gpu)", 4, "no column 'gpu' of jobs.csv", "Did you mean gpus?" },
        { "gpus * 2", 0, "stands only within an aggregate", "mean(gpus)" },
        { "sum(cost)", 4, "cannot stand within an aggregate", "jobs.csv" },
        { "mean(p90(jct))", 5, "p90 stands within another aggregate", "" },
        { "count(where tenant == unlike)", 22, "no column 'unlike' of jobs.csv",
          "A text stands in quotation marks; " },
        { "mean(1 + sum(jct))", 9, "sum stands within another aggregate", "" },
        { "1 + mean(tenant)", 9, "'mean' needs a number, found a text", "" },
        { "sum(tenant + 1)", 4, "'+' needs a number, found a text", "" },
        { "sum(jct where tenant == 1)", 21, "cannot compare a text with a number", "" },
        { "sum(jct where tenant < 'b')", 21, "cannot compare a text with a text", "" },
        { "sum(jct where gpus)", 14, "'where' needs a condition, found a number", "" },
        { "cost and jobs > 1", 0, "'and' needs a condition", "" },
        { "'a'", 0, "a number or a condition, and is a text", "only be compared" },
        { "'a' jobs == 1", 4, "must end here", "" },
        { "avg(jct)", 0, "no function 'avg'", "Aggregates are" },
        { "maen(jct)", 0, "no function 'maen'", "Did you mean mean?" },
        { "quantile(jct, 2)", 14, "from 0 to 1, found 2", "" },
        { "quantile(jct, gpus)", 14, "must be a number", "" },
        { "quantile(jct)", 12, "another number of arguments", "p90(jct_s)" },
        { "if(cost > 1, 2)", 14, "another number of arguments", "OTHERWISE" },
        { "sum()", 4, "another number of arguments", "It takes 1." },
        { "count(gpus > 2)", 6, "counts all rows", "count(where" },
        { "1 < 2 < 3", 6, "cannot be compared again", "a < b and b < c" },
        { "cost where jobs > 1", 5, "must end here", "within an aggregate" },
        { "cost 5", 5, "must end here", "" }, { "(cost", 5, "go on with ')'", "" },
        { "cost = 5", 5, "'=' compares nothing", "==" },
        { "cost ? 1", 5, "'?' has no meaning", "" }, { "'a", 0, "has no end", "" },
        { "5GB", 1, "'GB' behind a number", "10min" }, { "cost \x01", 5, "byte 0x01", "" },
        { "cost + 1e308h", 7, "'1e308h' is too large", "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct arena *arena = arena_new(0);
        struct err err = { 0 };
        size_t at = 999;

        assert_null(expr_parse(arena, bad[i].text, &scalars, &table, &at, &err));
        if (at != bad[i].at || strstr(err.text, bad[i].say) == NULL ||
            strstr(err.hint, bad[i].hint) == NULL)
            fail_msg("%s: %zu: %s; %s", bad[i].text, at, err.text, err.hint);
        arena_free(arena);
    }
}

/* Fills what the next calls take for their variables. */
static void spoil_stack(void)
{
    volatile char spoilt[8000];

    for (size_t i = 0; i < sizeof spoilt; i++)
        spoilt[i] = 'x';
}

/* Of a word what there is of it, and no more. */
static void words_are_told_to_their_end(void **state)
{
    static const char *const bad[][2] = {
        { "avg(jct)", "there is no function 'avg'" },
        { "1 + )", "the expression needs a number, a column or a function, found )" },
        { "(cost jobs", "the expression must go on with ')', found jobs" },
        { "cost 55", "the expression must end here or go on with an operator, found 55" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct arena *arena = arena_new(0);
        struct err err = { 0 };
        size_t at;

        spoil_stack();
        assert_null(expr_parse(arena, bad[i][0], &scalars, &table, &at, &err));
        assert_string_equal(err.text, bad[i][1]);
        arena_free(arena);
    }
}

static const char *refusal(struct arena *arena, const char *text)
{
    static struct err err;
    size_t at;

    memset(&err, 0, sizeof err);
    return expr_parse(arena, text, &scalars, &table, &at, &err) == NULL ? err.text : "";
}

static void size_and_nesting_are_bounded(void **state)
{
    struct arena *arena = arena_new(0);
    char text[EXPR_TEXT_BYTES + 2];
    size_t deep = EXPR_DEPTH;

    (void)state;
    memset(text, '(', deep);
    text[deep] = '\0';
    strcat(text, "1");
    assert_non_null(strstr(refusal(arena, text), "nested more than 40 deep"));
    memset(text, '-', sizeof text - 1);
    text[100] = '\0';
    assert_non_null(strstr(refusal(arena, text), "nested more than"));
    for (size_t i = 0; i < EXPR_TEXT_BYTES; i++)
        text[i] = i % 2 ? '+' : '1';
    text[EXPR_TEXT_BYTES - 1] = '\0';
    assert_string_equal(refusal(arena, text), "");
    text[EXPR_TEXT_BYTES - 1] = ' ';
    text[EXPR_TEXT_BYTES] = '\0';
    assert_string_equal(refusal(arena, text), "");
    text[EXPR_TEXT_BYTES] = ' ';
    text[EXPR_TEXT_BYTES + 1] = '\0';
    assert_non_null(strstr(refusal(arena, text), "at most 2000 bytes"));
    arena_free(arena);
}

static void reads_name_aggregate_and_divisor(void **state)
{
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    uint32_t count;
    size_t at;
    const struct expr *expr = expr_parse(
        arena, "cost / (jobs * 2) + mean(jct) / count(where gpus > 1)", &scalars, &table,
        &at, &err);
    const struct expr_read *read = expr_reads(expr, &count);

    (void)state;
    assert_int_equal(count, 4);
    assert_true(read[0].column == COST && !read[0].divisor &&
                read[0].aggregate == EXPR_NO_AGGREGATE);
    assert_true(read[1].column == JOBS && read[1].divisor);
    assert_true(read[2].aggregate == 0 && !read[2].divisor);
    assert_true(read[3].aggregate == 1 && read[3].divisor);
    assert_int_equal(expr_aggregate_count(expr), 2);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_worked_out_by_hand),
        cmocka_unit_test(what_cannot_be_computed_is_empty_and_says_why),
        cmocka_unit_test(mistakes_are_told_at_their_place),
        cmocka_unit_test(words_are_told_to_their_end),
        cmocka_unit_test(size_and_nesting_are_bounded),
        cmocka_unit_test(reads_name_aggregate_and_divisor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
