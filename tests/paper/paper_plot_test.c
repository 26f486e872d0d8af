/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paper_plot_test.c - charts for print: as wide as a column, told apart in grey, with
 * names that TeX can set.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/figures.h"
#include "experiments/report/plot.h"
#include "sim/base/err.h"
#include "tests/aid/results_aid.h"

#define BIG_POINTS_PER_TEX_POINT (72 / 72.27)

static const struct results_names odd_names = {
    { "a_b=1%", "a_b=2%" }, { "fi_rst", "50%&#${}~^\\" }, "tra_in", "odd_name"
};

static void need_gnuplot(void)
{
    if (results_gnuplot())
        return;
    print_message("skip: gnuplot is not installed\n");
    skip();
}

static char *draw(const char *paper, const struct results_names *names, char dir[64],
                  const char *file)
{
    struct err err = { 0 };

    results_make(dir, names);
    if (!plot_draw_paper(dir, paper_find(paper), &err))
        fail_msg("%s", err.text);
    return results_text(dir, file);
}

/* The page's width and height of a PDF of cairo, which writes them as plain text. */
static void read_page(const char *dir, const char *name, double *wide, double *tall)
{
    char path[160], command[260];
    FILE *pipe;

    snprintf(path, sizeof path, "%s/plots/%s", dir, name);
    snprintf(command, sizeof command, "grep -a -m 1 /MediaBox '%s'", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, " /MediaBox [ 0 0 %lf %lf", wide, tall), 2);
    assert_int_equal(pclose(pipe), 0);
}

/* The widths are those of the classes, as measured with \the\columnwidth, or as
 * computed from their lengths. */
static void figures_are_as_wide_as_the_column(void **state)
{
    static const struct { const char *paper; double column_pt; } wanted[] = {
        { "ieee", 252 }, { "acm", 241.1475 }, { "usenix", 241.02 }, { "slide", 398.3386 }
    };
    double wide, tall;
    char dir[64], name[64];

    (void)state;
    need_gnuplot();
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        free(draw(wanted[i].paper, &results_plain, dir, "summary.csv"));
        for (unsigned f = 0; figure_name(f) != NULL; f++) {
            snprintf(name, sizeof name, "%s/%s.pdf", wanted[i].paper, figure_name(f));
            read_page(dir, name, &wide, &tall);
            assert_true(wide <= wanted[i].column_pt * BIG_POINTS_PER_TEX_POINT + 0.01);
            assert_true(wide > wanted[i].column_pt * BIG_POINTS_PER_TEX_POINT - 1.5);
            assert_true(tall <= paper_find(wanted[i].paper)->height_pt + 1);
        }
        results_remove(dir);
    }
}

static void names_are_escaped_for_tex(void **state)
{
    char dir[64], *text;

    (void)state;
    need_gnuplot();
    text = draw("ieee", &odd_names, dir, "plots/ieee/cost-tex.tex");
    assert_non_null(strstr(text, "}fi\\_rst}"));
    assert_non_null(strstr(text, "50\\%\\&\\#\\$\\{\\}\\textasciitilde{}"
                                 "\\textasciicircum{}\\textbackslash{}"));
    assert_null(strstr(text, "fi_rst"));
    free(text);
    text = results_text(dir, "plots/ieee/cost-caption.tex");
    assert_memory_equal(text, "\\caption{%\n", 11);
    for (const char *at = text; (at = strpbrk(at, "_&#$^~")) != NULL; at++)
        assert_true(at[-1] == '\\');
    free(text);
    results_remove(dir);
}

/* What stands in \caption does not stand in the figure, and letters have the size of the
 * style. */
static void there_is_no_title_within(void **state)
{
    char dir[64], *text;

    (void)state;
    need_gnuplot();
    text = draw("acm", &results_plain, dir, "plots/acm/cost-tex.tex");
    assert_null(strstr(text, "Cost by policy"));
    assert_non_null(strstr(text, "\\fontsize{8}{9.6}\\selectfont"));
    free(text);
    text = results_text(dir, "plots/acm/cost-caption.tex");
    assert_non_null(strstr(text, "Cost by policy"));
    free(text);
    results_remove(dir);
}

/* Of a colour "#RRGGBB", as printers weigh it (Rec. 601): 0 to 1. */
static double grey_of(const char *colour)
{
    unsigned r, g, b;

    assert_int_equal(sscanf(colour, "#%2x%2x%2x", &r, &g, &b), 3);
    return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

/* The words of a line of style.gp that begins so. */
static void read_words(const char *style, const char *before, char word[8][16])
{
    const char *at = strstr(style, before);

    assert_non_null(at);
    at += strlen(before);
    for (int i = 0, used; i < 8; i++, at += used)
        assert_int_equal(sscanf(at, " %15[#0-9A-F]%n", word[i], &used), 1);
}

/* Two of eight policies differ in grey by an eighth, or in hatch and in dash. */
static void policies_are_told_apart_in_grey(void **state)
{
    char dir[64], *style, colour[8][16], hatch[8][16], dash[8][16];

    (void)state;
    need_gnuplot();
    style = draw("ieee", &results_plain, dir, "plots/ieee/style.gp");
    read_words(style, "colour[i] = word('", colour);
    read_words(style, "hatch[i] = int(word('", hatch);
    for (char *c = strstr(style, "array dash[8] = ["); *c != '\n'; c++)
        if (*c == ',' || *c == '[')
            *c = ' ';
    read_words(style, "array dash 8] = ", dash);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++) {
            bool grey = fabs(grey_of(colour[i]) - grey_of(colour[j])) >= 0.125;

            assert_true(grey || strcmp(hatch[i], hatch[j]) != 0);
            assert_true(grey || strcmp(dash[i], dash[j]) != 0);
        }
    free(style);
    results_remove(dir);
}

/* Charts of the report stay where they are, and a paper's are no part of them. */
static void charts_of_the_report_are_left_alone(void **state)
{
    char dir[64], *before, *after;
    struct err err = { 0 };

    (void)state;
    need_gnuplot();
    results_make(dir, &results_plain);
    assert_true(plot_draw(dir, "svg", &err));
    before = results_text(dir, "plots/cost.svg");
    assert_true(plot_draw_paper(dir, paper_find("ieee"), &err));
    after = results_text(dir, "plots/cost.svg");
    assert_string_equal(before, after);
    assert_false(results_has(dir, "plots/cost.pdf"));
    free(before);
    free(after);
    results_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_as_wide_as_the_column),
        cmocka_unit_test(names_are_escaped_for_tex),
        cmocka_unit_test(there_is_no_title_within),
        cmocka_unit_test(policies_are_told_apart_in_grey),
        cmocka_unit_test(charts_of_the_report_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
