/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paper_table_test.c - a table of a paper says means, intervals, units and what differs
 * from the baseline, and names cannot break LaTeX.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/paper/table.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/aid/results_aid.h"

static const struct results_names odd_names = {
    { "a_b=1%", "a_b=2%" }, { "fi_rst", "50%&#${}~^\\" }, "tra_in", "odd_name"
};

/* Returns what is printed, to be freed. */
static char *print(const char *dir, enum table_form form, const char *metrics)
{
    struct arena *arena = arena_new(4096);
    struct table_wish wish = { dir, form, metrics };
    struct err err = { 0 };
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    assert_non_null(file);
    if (!table_print(arena, &wish, file, &err))
        fail_msg("%s", err.text);
    fclose(file);
    arena_free(arena);
    return text;
}

static char *text_join(const char *a, const char *b, const char *c)
{
    size_t bytes = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(bytes);

    assert_non_null(text);
    snprintf(text, bytes, "%s%s%s", a, b, c);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

/* compare.csv, with p-values of the second policy at both points. */
static void write_compare(const char *dir, const char *p1, const char *p2)
{
    char text[600];

    snprintf(text, sizeof text,
             "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,delta_percent,"
             "delta_ci95_low_percent,delta_ci95_high_percent,p_value\n"
             "x=1/h,first,cost_usd,2,21,,,first,,,,\n"
             "x=1/h,second,cost_usd,2,11,,,first,-48,-50,-46,%s\n"
             "x=2/h,first,cost_usd,2,41,,,first,,,,\n"
             "x=2/h,second,cost_usd,2,21,,,first,-48,-50,-46,%s\n", p1, p2);
    results_write_text(dir, "compare.csv", text);
}

/* 12.7062047 is Student's t for one degree of freedom; s / sqrt 2 is 1.  Holm makes 0.02
 * and 0.008 of the p-values. */
static void a_cell_has_mean_half_interval_and_dagger(void **state)
{
    char dir[64], *text;

    (void)state;
    results_make(dir, &results_plain);
    write_compare(dir, "0.02", "0.004");
    text = print(dir, TABLE_CSV, "cost_usd");
    assert_string_equal(text, "point,policy,total cost (USD)\n"
                              "x = 1/h,first,21 \u00b1 13\n"
                              "x = 1/h,second,11 \u00b1 13\u2020\n"
                              "x = 2/h,first,41 \u00b1 13\n"
                              "x = 2/h,second,21 \u00b1 13\u2021\n");
    free(text);
    text = print(dir, TABLE_TEXT, "cost_usd");
    assert_has(text, "means over 2 seeds \u00b1 the longer side of the 95% interval.");
    assert_has(text, "\u2020: it differs from the baseline first, p < 0.05, \u2021: p < 0.01;");
    free(text);
    results_remove(dir);
}

/* 11 is less than 21: bold where there is bold, and a star in plain text. */
static void a_caption_tells_the_mark_that_is_there(void **state)
{
    char dir[64], *text;

    (void)state;
    results_make(dir, &results_plain);
    text = print(dir, TABLE_TEXT, "cost_usd");
    assert_has(text, " 21 \u00b1 13\n");
    assert_has(text, " *11 \u00b1 13\u2021\n");
    assert_has(text, " *: the best mean of a column, among those that did the most jobs.");
    assert_null(strstr(text, "Bold"));
    free(text);
    text = print(dir, TABLE_MARKDOWN, "cost_usd");
    assert_has(text, "**11 \u00b1 13\u2021** |");
    assert_has(text, " Bold: the best mean of a column, among those that did the most jobs.");
    free(text);
    results_remove(dir);
}

/* A difference that compare.csv has no row for is not known: it has no dagger. */
static void what_was_not_compared_has_no_dagger(void **state)
{
    char dir[64], *text;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "compare.csv",
                       "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,delta_percent,"
                       "delta_ci95_low_percent,delta_ci95_high_percent,p_value\n"
                       "x=2/h,first,jobs,2,10,,,second,-9,-10,-8,0.004\n");
    text = print(dir, TABLE_CSV, "jobs");
    assert_has(text, "\nx = 1/h,first,10 \u00b1 0\n");
    assert_has(text, "\nx = 2/h,first,10 \u00b1 0\u2021\n");
    free(text);
    results_remove(dir);
}

/* 0.026 is 0.052 of two comparisons. */
static void what_holm_does_not_reject_has_no_dagger(void **state)
{
    char dir[64], *text;

    (void)state;
    results_make(dir, &results_plain);
    write_compare(dir, "0.026", "0.9");
    text = print(dir, TABLE_MARKDOWN, "cost_usd");
    assert_null(strstr(text, "\u2020"));
    assert_has(text, "| x = 1/h | first | 21 \u00b1 13 |\n|  | second | **11 \u00b1 13** |\n");
    assert_has(text, "None differs from the baseline first at p < 0.05");
    free(text);
    results_remove(dir);
}

/* Each line is whole: outside of commands no character is left that TeX would read as
 * anything but a letter. */
static void names_cannot_break_latex(void **state)
{
    char dir[64], *text;

    (void)state;
    results_make(dir, &odd_names);
    text = print(dir, TABLE_LATEX, "cost_usd,jct_mean_s");
    assert_has(text, "\nfi\\_rst & ");
    assert_has(text, "\n50\\%\\&\\#\\$\\{\\}\\textasciitilde{}\\textasciicircum{}"
                     "\\textbackslash{} & ");
    assert_has(text, "\\shortstack[r]{total cost\\\\(USD)}");
    assert_has(text, "\\begin{table}[t]");
    assert_has(text, "\\bottomrule\n\\end{tabular}\n\\end{table}\n");
    assert_null(strstr(text, "fi_rst"));
    free(text);
    text = print(dir, TABLE_LATEX, NULL);           /* too wide for a column */
    assert_has(text, "\\begin{table*}[t]");
    free(text);
    results_remove(dir);
}

/* 12.706 x 0.5 x 1e-10, in percent. */
static void an_interval_that_is_small_is_no_zero(void **state)
{
    char dir[64], *text, *at;

    (void)state;
    results_make(dir, &results_plain);
    text = results_text(dir, "summary.csv");
    at = strstr(text, ",0.75,");
    assert_non_null(at);
    *at = '\0';
    at = text_join(text, ",0.7500000001,", at + strlen(",0.75,"));
    results_write_text(dir, "summary.csv", at);
    free(at);
    free(text);
    text = print(dir, TABLE_CSV, "gpu_allocated_fraction");
    assert_has(text, "x = 1/h,first,75.00 \u00b1 6.4e-08");
    assert_has(text, "x = 1/h,second,75 \u00b1 0\n");
    free(text);
    text = print(dir, TABLE_CSV, "jct_p99_s");      /* has no words of its own */
    assert_has(text, "point,policy,jct_p99 (");
    free(text);
    results_remove(dir);
}

static void a_metric_that_is_none_is_refused(void **state)
{
    struct table_wish wish = { NULL, TABLE_TEXT, "cost_usd,jct_men_s" };
    struct arena *arena = arena_new(4096);
    struct err err = { 0 };
    char dir[64];

    (void)state;
    results_make(dir, &results_plain);
    wish.dir = dir;
    assert_false(table_print(arena, &wish, stdout, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_has(err.text, "--metrics: there is no metric 'jct_men_s'");
    assert_has(err.hint, "jct_mean_s");
    arena_free(arena);
    results_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_has_mean_half_interval_and_dagger),
        cmocka_unit_test(a_caption_tells_the_mark_that_is_there),
        cmocka_unit_test(what_was_not_compared_has_no_dagger),
        cmocka_unit_test(what_holm_does_not_reject_has_no_dagger),
        cmocka_unit_test(names_cannot_break_latex),
        cmocka_unit_test(an_interval_that_is_small_is_no_zero),
        cmocka_unit_test(a_metric_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
