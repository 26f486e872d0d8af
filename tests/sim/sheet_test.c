/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sheet_test.c - one sheet as aligned text, HTML, Markdown and JSON. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/sheet.h"
#include "tests/aid/scratch.h"

static void check_text(struct sheet *sheet, bool bold, const char *wanted)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    assert_non_null(file);
    sheet_print(sheet, file, bold);
    fclose(file);
    assert_string_equal(text, wanted);
    free(text);
}

enum form { HTML, MARKDOWN, LATEX, CSV, JSON };

static void check_file(const struct sheet *sheet, enum form form,
                       const char *wanted)
{
    struct arena *arena = arena_new(4096);
    struct scratch scratch;
    struct err err = { 0 };
    struct out *out;
    char *text;

    scratch_open(&scratch);
    out = out_open(arena, scratch_path(&scratch, "sheet"), &err);
    assert_non_null(out);
    if (form == HTML)
        sheet_html(sheet, 1, out);
    else if (form == MARKDOWN)
        sheet_markdown(sheet, out);
    else if (form == LATEX)
        sheet_latex(sheet, out);
    else if (form == CSV)
        sheet_csv(sheet, out);
    else
        sheet_json(sheet, out);
    assert_true(out_close(out, &err));
    text = scratch_read(&scratch, "sheet");
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
    scratch_close(&scratch);
    arena_free(arena);
}

static void numbers_stand_right_and_texts_left(void **state)
{
    struct sheet *sheet = sheet_new("name:-6\tGPUs:6\tlabel:0");

    (void)state;
    sheet_cells(sheet, "a\t%d\tof %s", 8, "one");
    sheet_cells(sheet, "longer than six\t12\t");
    check_text(sheet, false, "name              GPUs  label\n"
                             "a                    8  of one\n"
                             "longer than six     12\n");
    sheet_cells(sheet, "b\t1\tx");
    check_text(sheet, false, "b           1  x\n");     /* what is new */
    sheet_free(sheet);
    sheet_free(NULL);
}

static void a_column_is_as_wide_as_its_characters(void **state)
{
    struct sheet *sheet = sheet_new(NULL);

    (void)state;
    sheet_gap(sheet, 3);
    sheet_column(sheet, "", 0);
    sheet_column(sheet, "", 1);
    sheet_cell(sheet, "\u00b1\u00b1");
    sheet_cell(sheet, "%d\u00b1", 1);
    sheet_class(sheet, "best");
    sheet_cells(sheet, "x\t123");
    check_text(sheet, true, "\u00b1\u00b1    \033[1m1\u00b1\033[0m\n"
                            "x    123\n");
    sheet_free(sheet);
}

static void many_columns_and_rows_are_kept(void **state)
{
    struct sheet *sheet = sheet_new(NULL);
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    (void)state;
    assert_non_null(file);
    for (int c = 0; c < 1000; c++)
        sheet_column(sheet, "", 1);
    for (int i = 0; i < 100 * 1000; i++)
        sheet_cell(sheet, "%d", i % 1000);
    sheet_close(sheet, file);
    fclose(file);
    /* Columns are as wide as their numbers; a blank or a line end each. */
    assert_int_equal(bytes, 100 * (10 * 2 + 90 * 3 + 900 * 4));
    assert_non_null(strstr(text, " 998 999\n0 1 2 "));
    free(text);
}

static void latex_escapes_marks_and_groups(void **state)
{
    struct sheet *sheet = sheet_new("of:0\tname:0\tn_x (%):4");

    (void)state;
    sheet_cells(sheet, "1 & 2\ta_b\t5 \u00b1 1\u2020");
    sheet_class(sheet, "best");
    sheet_cells(sheet, "\t{^}~\\<>|#$\"\t6");
    check_file(sheet, LATEX,
               "\\begin{tabular}{@{}lr@{}}\n\\toprule\n"
               "name & \\shortstack[r]{n\\_x\\\\(\\%)} \\\\\n\\midrule\n"
               "\\multicolumn{2}{@{}l}{\\textit{1 \\& 2}} \\\\\n"
               "a\\_b & \\textbf{5 $\\pm$ 1\\textdagger{}} \\\\\n"
               "\\{\\textasciicircum{}\\}\\textasciitilde{}\\textbackslash{}"
               "\\textless{}\\textgreater{}\\textbar{}\\#\\$'' & 6 \\\\\n"
               "\\bottomrule\n\\end{tabular}\n");
    check_file(sheet, MARKDOWN, "| of | name | n_x (%) |\n|---|---|---|\n"
                                "| 1 & 2 | a_b | **5 \u00b1 1\u2020** |\n"
                                "|  | {^}~\\\\\\<>\\|#$\" | 6 |\n");
    sheet_free(sheet);
}

static void html_escapes_and_marks(void **state)
{
    struct sheet *sheet = sheet_new("<a>:0\tn:4");

    (void)state;
    sheet_cells(sheet, "x & 'y'\t2");
    sheet_class(sheet, "best");
    sheet_small(sheet, "", "of %d", 3);
    sheet_small(sheet, "worse", "a < b");
    check_file(sheet, HTML,
               "<div class=\"wide\"><table>\n<thead><tr><th>&lt;a&gt;</th>"
               "<th class=\"n\">n</th></tr></thead>\n<tbody>\n"
               "<tr><th>x &amp; &#39;y&#39;</th><td class=\"n best\">2"
               "<small>of 3</small><small class=\"worse\">a &lt; b</small>"
               "</td></tr>\n</tbody></table></div>\n");
    sheet_free(sheet);
    sheet = sheet_new(":0\t:0");
    sheet_cells(sheet, "key\tvalue");
    check_file(sheet, HTML, "<table><tbody>\n<tr><th>key</th><td>value</td>"
                            "</tr>\n</tbody></table>\n");
    sheet_free(sheet);
}

static void markdown_csv_and_json_hold_the_same_cells(void **state)
{
    struct sheet *sheet = sheet_new("of:0\tvalue:1");

    (void)state;
    check_file(sheet, JSON, "[]");
    sheet_cells(sheet, "p99 <s>\t0");
    check_file(sheet, MARKDOWN, "| of | value |\n|---|---|\n| p99 \\<s> | 0 |\n");
    sheet_free(sheet);
    sheet = sheet_new("of:0\tvalue:1");
    sheet_cells(sheet, "a|\"b\"\t1.5");
    sheet_cells(sheet, "c\t2");
    check_file(sheet, MARKDOWN, "| of | value |\n|---|---|\n"
                                "| a\\|\"b\" | 1.5 |\n| c | 2 |\n");
    check_file(sheet, CSV, "of,value\n\"a|\"\"b\"\"\",1.5\nc,2\n");
    check_file(sheet, JSON,
               "[\n    {\"of\": \"a|\\\"b\\\"\", \"value\": 1.5},\n"
               "    {\"of\": \"c\", \"value\": 2}\n  ]");
    sheet_cells(sheet, "true\tfalse");
    sheet_cells(sheet, "d\tfalsely");
    check_file(sheet, JSON,
               "[\n    {\"of\": \"a|\\\"b\\\"\", \"value\": 1.5},\n"
               "    {\"of\": \"c\", \"value\": 2},\n"
               "    {\"of\": \"true\", \"value\": false},\n"
               "    {\"of\": \"d\", \"value\": \"falsely\"}\n  ]");
    sheet_free(sheet);
}

static void what_is_not_finite_is_an_empty_cell(void **state)
{
    struct sheet *sheet = sheet_new("a:1\tb:1\tc:1");

    (void)state;
    sheet_real(sheet, 1.0 / 3);
    sheet_real(sheet, NAN);
    sheet_real(sheet, -0.0);
    check_file(sheet, CSV, "a,b,c\n0.333333333,,0\n");
    sheet_free(sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stand_right_and_texts_left),
        cmocka_unit_test(a_column_is_as_wide_as_its_characters),
        cmocka_unit_test(many_columns_and_rows_are_kept),
        cmocka_unit_test(latex_escapes_marks_and_groups),
        cmocka_unit_test(html_escapes_and_marks),
        cmocka_unit_test(markdown_csv_and_json_hold_the_same_cells),
        cmocka_unit_test(what_is_not_finite_is_an_empty_cell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
