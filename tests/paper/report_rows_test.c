/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_rows_test.c - tables of report.html that follow a file of the folder row by row, and its
 * answer where nothing was expected.
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

#include "experiments/columns/metric.h"
#include "experiments/report/report.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/stats/stats.h"
#include "tests/aid/page_text.h"
#include "tests/aid/results_aid.h"

/* Fails at the first character in which the page, from `begin` on, differs. */
static void check_from(const char *page, const char *begin, const char *expected)
{
    const char *at = strstr(page, begin);
    size_t same = 0;

    if (at == NULL)
        fail_msg("the page does not say: %s", begin);
    while (expected[same] != '\0' && expected[same] == at[same])
        same++;
    size_t from = same > 100 ? same - 100 : 0;
    if (expected[same] != '\0')
        fail_msg("expected %.200s\nfound    %.200s", expected + from, at + from);
}

/* ---- tables ---- */

/* 19 to 25 trials failed: 20 are shown, and the others are counted. */
static void the_first_twenty_failures_are_shown(void **state)
{
    static char csv[4096], rows[4096];
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    for (int n = 19; n <= 25; n++) {
        int c = sprintf(csv, "point,policy,seed,kind,place,message\n"), r = 0;
        for (int i = 0; i < n; i++)
            c += sprintf(csv + c, "x=1/h,second,%d,limit,e.yaml:%d:1,m%d\n", i, i + 3, i);
        for (int i = 0; i < n && i < 20; i++)
            r += sprintf(rows + r, "<tr><td>x=1/h</td><td>second</td><td>%d</td><td>e.yaml:%d:1"
                                   "</td><td>m%d</td></tr>\n", i, i + 3, i);
        if (n > 20)
            r += sprintf(rows + r, "<tr><td>%d more in failures.csv</td><td></td><td></td><td></td>"
                                   "<td></td></tr>\n", n - 20);
        sprintf(rows + r, "</tbody>");
        results_write_text(dir, "failures.csv", csv);
        page = page_of(dir);
        check_from(page, "<tr><td>x=1/h</td><td>second</td><td>0</td>", rows);
        free(page);
    }
    results_remove(dir);
}

/* Sentences of both files, each once where it follows itself, and inputs with all that is known
 * of them and with all that may be left out. */
static void what_turns_a_verdict_is_told_from_both_files(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    page = page_of(dir);
    assert_null(strstr(page, "What would turn the verdicts"));
    free(page);
    results_write_text(dir, "border.csv", "sentence\nA turns at 3/h.\nA turns at 3/h.\n\"\"\n"
                                          "B never turns.\nA turns at 3/h.\n");
    page = page_of(dir);
    check_from(page, "<tr><td>A turns", "<tr><td>A turns at 3/h.</td></tr>\n<tr><td>B never turns."
               "</td></tr>\n<tr><td>A turns at 3/h.</td></tr>\n</tbody>");
    free(page);
    results_write_text(dir, "sensitivity.csv",
        "claim,metric,policy,versus,point,input,from,to,base,effect,spread,sobol_first,"
        "sobol_first_low,sobol_first_high,sobol_total,sobol_total_low,sobol_total_high,turns,"
        "turns_at,why,sentence\n"
        "A3,cost_usd,second,first,x=1/h,rate,2/h,6/h,4/h,-0.123456,12.3456,0.777,0.5,1.049,0.25,"
        "0.125,0.376,yes,3/h,it waits,C turns at 5/h.\n"
        ",jct_mean_s,second,,,tokens,1,9,,,,,,,,,,no,,,\n");
    page = page_of(dir);
    check_from(page, "<td>B never", "<td>B never turns.</td></tr>\n<tr><td>A turns at 3/h.</td>"
               "</tr>\n<tr><td>C turns at 5/h.</td></tr>\n</tbody>");
    check_from(page, "<tr><th>A3",
        "<tr><th>A3<small>cost_usd of second vs first, x=1/h</small></th><th>rate<small>it waits"
        "</small></th><td>2/h to 6/h</td><td>4/h</td><td class=\"n\">-0.123</td>"
        "<td class=\"n\">12.3</td><td>0.78 [0.50, 1.05]</td><td>0.25 [0.12, 0.38]</td><td>3/h</td>"
        "</tr>\n"
        "<tr><th>jct_mean_s<small>jct_mean_s of second</small></th><th>tokens</th><td>1 to 9</td>"
        "<td>its default</td><td class=\"n\"></td><td class=\"n\"></td><td></td><td></td>"
        "<td>no</td></tr>\n</tbody>");
    free(page);
    results_delete(dir, "border.csv");
    page = page_of(dir);
    check_from(page, "<tr><td>C turns", "<tr><td>C turns at 5/h.</td></tr>\n</tbody>");
    free(page);
    results_remove(dir);
}

/* The table of what was run: the file that was named, and the others that it reads. */
static void the_table_of_the_run_names_its_files_and_points(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "provenance.json",
        "{\"file\": \"a.yaml\", \"inputs\": [{\"file\": \"a.yaml\"}, {\"file\": \"b.yaml\"}, "
        "{\"file\": \"c.csv\"}], \"trials\": 8, \"until_s\": 3600, \"warmup_s\": 60}\n");
    page = page_of(dir);
    check_from(page, "<tr><th>experiment file", "<tr><th>experiment file</th><td>a.yaml</td></tr>\n"
               "<tr><th>other inputs</th><td>b.yaml</td></tr>\n<tr><th></th><td>c.csv</td></tr>\n"
               "<tr><th>points</th><td>x=1/h</td></tr>\n<tr><th></th><td>x=2/h</td></tr>\n"
               "<tr><th>seeds</th><td>2, the same for every policy</td></tr>\n"
               "<tr><th>trials</th><td>8</td></tr>\n");
    check_from(page, "<tr><th>until", "<tr><th>until</th><td>3600 s</td></tr>\n<tr><th>warm-up</th>"
               "<td>60 s</td></tr>\n<tr><th>baseline</th><td>first</td></tr>\n");
    free(page);
    results_remove(dir);
}

/* ---- without expectations ---- */

/* Values of a metric by point, policy and seed: drawn, and of the baseline 0 at some points. */
static double value_at(struct rng *rng, unsigned point, unsigned policy, unsigned zero)
{
    double value = 1 + (double)rng_below(rng, 40);

    return policy == 1 && (zero >> point & 1) ? 0 : value;
}

static void write_summary(const char *dir, struct rng *rng, unsigned points, unsigned policies,
                          double value[7][3][2])
{
    struct text csv = text_new();
    unsigned zero = rng_below(rng, 3) == 0 ? 127 : (unsigned)rng_below(rng, 128);

    add(&csv, "point,policy,seed,jobs,jobs_done,jct_mean_s,cost_per_job_usd\n");
    for (unsigned t = 0; t < points; t++)
        for (unsigned p = 0; p < policies; p++)
            for (unsigned s = 0; s < 2; s++) {
                value[t][p][s] = value_at(rng, t, p, zero);
                add(&csv, "t%u,p%u,%u,10,10,%g,%g\n", t, p, s, value[t][p][s],
                    3 * value[t][p][s]);
            }
    results_write_text(dir, "summary.csv", csv.at);
    csv.used = 0;
    add(&csv, "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,delta_percent,"
              "delta_ci95_low_percent,delta_ci95_high_percent,p_value\n"
              "t0,p0,jct_mean_s,2,1,,,p1,1,,,\n");
    results_write_text(dir, "compare.csv", csv.at);
    free(csv.at);
}

/* The percentage of means of two seeds; its interval is of compare_pair(). */
static void add_difference(struct text *text, const struct grid *grid, unsigned points,
                           unsigned t, unsigned p, enum metric metric, double value[7][3][2])
{
    struct stats_delta delta = compare_pair(grid, t, p, 1, metric);
    double base = value[t][1][0] + value[t][1][1];

    add(text, "<a href=\"#seeds-%u\">%+.1f%%</a>", t,
        100 * (value[t][p][0] + value[t][p][1] - base) / base);
    if (isfinite(delta.percent_low) && isfinite(delta.percent_high))
        add(text, " [%+.1f%%, %+.1f%%]", delta.percent_low, delta.percent_high);
    else if (isinf(delta.percent_low) || isinf(delta.percent_high))
        add(text, " (its interval has no end)");
    if (points > 1)
        add(text, " at t%u", t);
}

/* The baseline is the second policy.  Up to four points are told, of those where it is not 0. */
static void add_against(struct text *text, const struct grid *grid, unsigned points,
                        unsigned policies, enum metric metric, double value[7][3][2])
{
    unsigned any = 0;

    add(text, "<p class=\"answer\">%s against p1</p>\n<ul>\n",
        metric == METRIC_JCT_MEAN ? "JCT, mean" : "cost per job done");
    for (unsigned p = 0; p < policies; p += 2) {
        unsigned told = 0;
        for (unsigned t = 0; t < points; t++) {
            if (value[t][1][0] + value[t][1][1] == 0 || told == 4)
                continue;
            if (told == 0)
                add(text, "<li><strong>p%u</strong>: ", p);
            add(text, told++ > 0 ? "; " : "");
            add_difference(text, grid, points, t, p, metric, value);
        }
        if (told > 0)
            add(text, points > 4 ? "; more points below.</li>\n" : ".</li>\n");
        any += told;
    }
    add(text, any > 0 ? "" : "<li>Not compared: it is 0, has no value, or is not over all jobs."
                             "</li>\n");
    add(text, "</ul>\n");
}

static void without_expectations_policies_are_told_against_the_baseline(void **state)
{
    double value[7][3][2];
    struct rng rng;
    char dir[64];

    (void)state;
    rng_init(&rng, 9, "baselines", 0);
    results_make(dir, &results_plain);
    for (int world = 0; world < 60; world++) {
        struct arena *arena = arena_new(1 << 12);
        struct text text = text_new();
        struct err err = { 0 };
        unsigned points = 1 + (unsigned)rng_below(&rng, 7);
        unsigned policies = 2 + (unsigned)rng_below(&rng, 2);

        write_summary(dir, &rng, points, policies, value);
        const struct grid *grid = grid_from_folder(arena, dir, &err);
        assert_non_null(grid);
        add_against(&text, grid, points, policies, METRIC_JCT_MEAN, value);
        add_against(&text, grid, points, policies, METRIC_COST_PER_JOB, value);
        char *page = page_of(dir);
        check_from(page, "<p class=\"answer\">", text.at);
        free(page);
        free(text.at);
        arena_free(arena);
    }
    results_remove(dir);
}

/* One policy of which nothing is expected. */
static void one_policy_alone_is_not_compared(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "summary.csv", "point,policy,seed,jobs,jobs_done,jct_mean_s\n"
                                           "x=1/h,first,0,1,1,5\n");
    page = page_of(dir);
    assert_non_null(strstr(page, "Nothing is compared: the experiment has one policy"));
    assert_null(strstr(page, "<p class=\"answer\">"));
    free(page);
    results_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_twenty_failures_are_shown),
        cmocka_unit_test(what_turns_a_verdict_is_told_from_both_files),
        cmocka_unit_test(the_table_of_the_run_names_its_files_and_points),
        cmocka_unit_test(without_expectations_policies_are_told_against_the_baseline),
        cmocka_unit_test(one_policy_alone_is_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
