/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_test.c - report.html is whole, well formed, and harmless. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "experiments/report/plot.h"
#include "experiments/report/report.h"
#include "sim/base/err.h"
#include "tests/aid/results_aid.h"

/* Takes out the page's own script, which must be the last thing in it and the only
 * one: what is left is made of the folder's tables. */
static void cut_script(char *page)
{
    char *begin = strstr(page, "<script>\n"), *end;

    assert_non_null(begin);
    end = strstr(begin, "</script>\n</body>\n</html>\n");
    assert_non_null(end);
    assert_null(strstr(begin + 1, "<script"));
    assert_ptr_equal(strstr(begin, "</script"), end);
    end += strlen("</script>\n");
    memmove(begin, end, strlen(end) + 1);
}

static char *report(const char *dir)
{
    struct err err = { 0 };
    char *page;

    if (!report_write(dir, NULL, &err))
        fail_msg("%s", err.text);
    page = results_text(dir, "report.html");
    cut_script(page);
    return page;
}

static void check_has(const char *page, const char *text)
{
    if (strstr(page, text) == NULL)
        fail_msg("the page does not say: %s", text);
}

static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "img") == 0 ||
           strcmp(name, "br") == 0;
}

/* Every element that is opened is closed, in order. */
static void check_elements(const char *page)
{
    char open[32][16], name[16];
    int depth = 0;

    for (const char *p = strchr(page + 1, '<'); p != NULL;
         p = strchr(p + 1, '<')) {
        bool closing = p[1] == '/';
        const char *q = p + 1 + closing;
        size_t bytes = 0;

        while (isalnum((unsigned char)*q) && bytes < sizeof name - 1)
            name[bytes++] = *q++;
        name[bytes] = '\0';
        assert_true(bytes > 0);
        if (is_void(name))
            continue;
        if (!closing) {
            assert_true(depth < 32);
            memcpy(open[depth++], name, sizeof name);
            continue;
        }
        assert_true(depth > 0);
        assert_string_equal(open[--depth], name);
    }
    assert_int_equal(depth, 0);
}

static const char checks[] =
    "claim,point,metric,policy,vs,percent,at_least,at_most,confidence,seeds,"
    "value,ci_low,ci_high,verdict,reason\n"
    "A3,x=1/h,cost_usd,second,first,1,,-10,0.95,2,-48,-50,-46,holds,x\n"
    ",x=2/h,cost_usd,second,,0,1,40,0.95,2,41,,,does not hold,x\n"
    ",x=2/h,jct_mean_s,second,first,1,,0,0.95,2,-30,-40,-20,undecided,"
    "not compared: it is over 9 of 10 and 8 of 10 jobs; advice\n";

static void the_report_says_what_the_tables_say(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "checks.csv", checks);
    results_write_text(dir, "audit.json",
        "{\"trials\": 8, \"violations\": 0, \"events\": 77, \"checks\": "
        "{\"capacity\": 123}}\n");
    results_write_text(dir, "provenance.json",
        "{\"version\": \"9.9\", \"experiment\": \"little\", \"until_s\": "
        "null, \"policies\": [{\"name\": \"first\", \"policy\": \"static\", "
        "\"semantics\": \"blocking=skip\", \"clairvoyant\": true}], "
        "\"defaults\": ["
        "{\"of\": \"job a\", \"key\": \"k\", \"value\": \"v\", "
        "\"from\": \"rule\"}, "
        "{\"of\": \"job b\", \"key\": \"k\", \"value\": \"w\", "
        "\"from\": \"rule\"}, "
        "{\"of\": \"job c\", \"key\": \"k\", \"value\": \"v\", "
        "\"from\": \"rule\"}, "
        "{\"of\": \"job d\", \"key\": \"k\", \"value\": \"u\", "
        "\"from\": \"file\"}]}\n");
    results_write_text(dir, "tenants.csv", "point\n");
    page = report(dir);
    check_has(page, "<title>little - clustersim report</title>");
    check_has(page, "<td class=\"verdict holds\">holds</td><td>A3</td>");
    check_has(page, "<td>at most -10%</td><td>-48.0% [-50.0%, -46.0%]</td>");
    check_has(page, "<td>at least 1, at most 40</td><td>41.0</td>");
    check_has(page, "<td>at most 0%</td><td>not compared: it is over 9 of 10 "
                    "and 8 of 10 jobs</td>");
    check_has(page, "<tr><th>job a, c</th><td>k</td><td>v</td>");
    check_has(page, "<tr><th>job b</th><td>k</td><td>w</td>");
    check_has(page, "<a href=\"#defaults\">2 values</a>");
    check_has(page, "<td>blocking=skip</td><td>the truth</td>");
    check_has(page, "all jobs have ended");
    check_has(page, "<td class=\"n\">21.00 \u00b1 12.71</td><td class=\"n "
                    "best\">11.00 \u00b1 12.71 \u2713<small class=\"better\">"
                    "-48.0% [-50.0, -46.0] p = 0.004 (Holm 0.008)</small></td>");
    check_has(page, "<strong>first</strong> leases 75% of all GPU time; 25% "
                    "is computing (GPU utilization 25%). Besides, 50% is "
                    "bubble");
    check_has(page, "Against first: bubble -25.0 points; computing +25.0 "
                    "points.");
    check_has(page, "0 violations in 8 trials and 77 events");
    check_has(page, "checks: capacity</th><td class=\"n\">123</td>");
    check_has(page, "<td>9.9</td>");
    check_has(page, "<a href=\"tenants.csv\">tenants.csv</a>");
    check_elements(page);
    free(page);
    results_remove(dir);
}

/* Gives a column of the summary one value in all rows of a policy; "": of all.  None of
 * its cells has a comma. */
static void set_column(const char *dir, const char *name, const char *policy,
                       const char *value)
{
    char *old = results_text(dir, "summary.csv"), new[16384];
    const char *stands = strstr(old, name), *row = old;
    int column = 0, at = 0;
    size_t used = 0;

    assert_non_null(stands);
    for (const char *c = old; c < stands; c++)
        column += *c == ',';
    for (const char *c = old, *end; *c != '\0'; c = end) {
        bool set = at == column && c > stands &&
                   strncmp(strchr(row, ',') + 1, policy, strlen(policy)) == 0;

        end = c + strcspn(c, ",\n");
        used += (size_t)snprintf(new + used, sizeof new - used, "%.*s%c",
                                 (int)(set ? strlen(value) : (size_t)(end - c)),
                                 set ? value : c, *end);
        assert_true(used < sizeof new);
        at = *end == '\n' ? 0 : at + 1;
        end += *end != '\0';
        row = at == 0 ? end : row;
    }
    results_write_text(dir, "summary.csv", new);
    free(old);
}

static void rented_nodes_that_start_are_a_cause(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    page = report(dir);
    assert_null(strstr(page, "rented, not usable"));
    free(page);
    set_column(dir, "gpu_rent_fraction", "", "0.07");
    page = report(dir);
    check_has(page, "<tr><th>rented, not usable</th><td class=\"n\">7.0");
    check_has(page, ", 7% is of rented nodes that are starting or under notice.");
    free(page);
    results_remove(dir);
}

/* The stored seeds cost 2 and 2.2 USD a job under the first policy, 1 and 1.2
 * under the second, at the first point: paired, -47.6% of the mean. */
static void the_page_begins_with_the_answer(void **state)
{
    char dir[64], *page;
    const char *answer, *tables;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "checks.csv", checks);
    page = report(dir);
    check_has(page, "<p class=\"answer\">A3 holds.</p>");
    check_has(page, "<p class=\"answer\">What is expected does not hold: 0 of 2 "
                    "checks hold; 1 does not; 1 is undecided.</p>");
    check_has(page, "<li><strong>total cost, second</strong> against <strong>"
                    "first</strong>: <a href=\"#seeds-0\">-48.0%</a> [-50.0%, "
                    "-46.0%] at x=1/h (holds). Expected: at most -10%.</li>");
    check_has(page, "<strong>JCT, mean, second</strong> against <strong>first"
                    "</strong>: not compared at x=2/h (undecided: not compared: it is "
                    "over 9 of 10 and 8 of 10 jobs; advice)");
    check_has(page, "id=\"seeds-0\"");
    check_has(page, "<tr><th>x=2/h</th><td class=\"best\">first<small>level with "
                    "it: second</small></td><td class=\"best\">second</td></tr>");
    check_has(page, "<tr><th>second</th>");
    check_has(page, "<td>it is the best at every point</td></tr>");
    check_has(page, "<td>+95.2% [");
    check_has(page, "<tr><th>0</th><td class=\"n\">2</td><td class=\"n\">1</td>"
                    "</tr>");
    assert_null(strstr(page, "What decides</h3>"));
    assert_null(strstr(page, "These are the first"));   /* all two seeds are shown */
    answer = strstr(page, "<h2>Answer</h2>");
    tables = strstr(page, "<h2>Expectations</h2>");
    assert_true(answer != NULL && tables != NULL && answer < tables);
    check_elements(page);
    free(page);
    results_remove(dir);
}

/* Nothing has a price, and one policy did no job. */
static void costs_of_zero_have_no_best(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    set_column(dir, "cost_per_job_usd", "first", "0");
    set_column(dir, "cost_per_job_usd", "second", "");
    page = report(dir);
    check_has(page, "level with it: second</small></td><td>-</td></tr>");
    free(page);
    results_remove(dir);
}

/* Both seeds of the second policy cost nothing, those of the first 5: no percentage says
 * how much the first is above 0, and it is not the best. */
static void a_choice_above_a_best_of_zero_is_not_the_best(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    set_column(dir, "cost_per_job_usd", "first", "5");
    set_column(dir, "cost_per_job_usd", "second", "0");
    page = report(dir);
    const char *regret = strstr(page, "<th>cost per job done above the best, at most");
    assert_non_null(regret);
    const char *first = strstr(regret, "<tr><th>first</th>");
    const char *second = strstr(regret, "<tr><th>second</th>");
    const char *zero = strstr(regret, "<td>above a best of 0 at 2 of 2 points</td></tr>");
    assert_true(first != NULL && zero > first && second > zero);
    check_has(second, "<td>it is the best at every point</td></tr>");
    free(page);
    results_remove(dir);
}

/* The second policy costs 1.0 and 1.2 there, so its mean may be 0, and there is no end to how far
 * 5 may be above it. */
static void a_choice_whose_loss_has_no_end_is_told_without_an_interval(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    set_column(dir, "cost_per_job_usd", "first", "5");
    page = report(dir);
    const char *regret = strstr(page, "<th>cost per job done above the best, at most");
    assert_non_null(regret);
    check_has(regret, "<tr><th>first</th>");
    check_has(regret, "+354.5%, with no end to its interval<small>x=1/h</small>");
    free(page);
    results_remove(dir);
}

/* Two policies are two, though nothing names a baseline; and an interval without an end,
 * whose p-value is there, is not told as if there were none. */
static void what_is_compared_with_what_is_said_truly(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "compare.csv",
        "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,delta_percent,"
        "delta_ci95_low_percent,delta_ci95_high_percent,p_value\n"
        "x=1/h,second,cost_usd,2,11,,,first,-48,,,0.3\n");
    page = report(dir);
    check_has(page, "-48.0%, with no end to its interval; p = 0.3 (Holm 0.3)</small>");
    free(page);
    /* with one end it excludes 0 all the same: less cost is better, and more is worse */
    results_write_text(dir, "compare.csv",
        "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,delta_percent,"
        "delta_ci95_low_percent,delta_ci95_high_percent,p_value\n"
        "x=1/h,second,cost_usd,2,11,,,first,-48,,-5,0.03\n"
        "x=2/h,second,cost_usd,2,11,,,first,50,7,,0.02\n");
    page = report(dir);
    check_has(page, "better\">-48.0% [no end, -5.0] p = 0.03");
    check_has(page, "worse\">+50.0% [+7.0, no end] p = 0.02");
    free(page);
    results_delete(dir, "compare.csv");
    page = report(dir);
    check_has(page, "Nothing is compared with a baseline: there is no compare.csv");
    assert_null(strstr(page, "one policy"));
    free(page);
    results_remove(dir);
}

/* A check that was not judged, or whose trial failed, is not an open question. */
static void checks_without_a_verdict_are_told_apart(void **state)
{
    static const char rows[] =
        "claim,point,metric,policy,vs,percent,at_least,at_most,confidence,seeds,"
        "value,ci_low,ci_high,verdict,reason\n"
        "B,x=1/h,cost_usd,second,first,1,,-10,0.95,2,-8,-15,-6,undecided,x\n"
        "B,x=2/h,cost_usd,second,first,1,,-10,0.95,0,,,,failed trial,x\n"
        "B,x=2/h,cost_usd,first,,0,,-10,0.95,1,,,,not judged,x\n";
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "checks.csv", rows);
    page = report(dir);
    check_has(page, "<p class=\"answer\">B is not decided: 0 of 3 checks hold; 1 is "
                    "undecided; 2 could not be judged.</p>");
    check_has(page, "[-15.0%, -6.00%]");
    free(page);
    /* an interval with one end is not told as none */
    results_write_text(dir, "checks.csv",
        "claim,point,metric,policy,vs,percent,at_least,at_most,confidence,seeds,"
        "value,ci_low,ci_high,verdict,reason\n"
        "B,x=1/h,cost_usd,second,first,1,,-10,0.95,2,-8,,-6,undecided,x\n"
        "B,x=2/h,cost_usd,second,first,1,9,,0.95,2,80,70,,holds,x\n");
    page = report(dir);
    check_has(page, "[no end, -6.00%] at x=1/h (undecided: the interval lies on both sides");
    check_has(page, "[+70.0%, no end]");
    check_has(page, "-8.00% [no end, -6.00%]</td>");
    free(page);
    results_remove(dir);
}

static void without_expectations_the_answer_is_against_the_baseline(void **state)
{
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    page = report(dir);
    check_has(page, "<p class=\"answer\">cost per job done against first</p>\n<ul>\n"
              "<li><strong>second</strong>: <a href=\"#seeds-0\">-47.6%</a> [");
    free(page);
    results_remove(dir);
}

static void a_control_says_what_a_part_decides(void **state)
{
    static const struct results_names names = {
        { "x=1/h", "x=2/h" }, { "dynamic", "dynamic-no_growth" }, "train",
        "little"
    };
    char dir[64], *page;

    (void)state;
    results_make(dir, &names);
    page = report(dir);
    check_has(page, "What decides</h3>");
    check_has(page, "<th>no_growth</th>");
    assert_null(strstr(page, "<th>no_lending</th>"));
    assert_null(strstr(page, "<th>random order</th>"));
    check_has(page, "<th>dynamic</th><th>cost per job done</th><th>x=1/h</th>"
                    "<td>it is the baseline</td><td>-47.6%");
    check_has(page, "dynamic against it: +90.9%");
    assert_null(strstr(page, "<th>dynamic-no_growth</th><th>cost"));
    check_elements(page);
    free(page);
    results_remove(dir);
}

static void charts_stand_in_the_page_itself(void **state)
{
    char dir[64], *page;
    struct err err = { 0 };

    (void)state;
    if (!results_gnuplot()) {
        print_message("gnuplot is not installed: no chart is drawn\n");
        skip();
    }
    results_make(dir, &results_plain);
    results_delete(dir, "phases.csv");
    assert_true(plot_draw(dir, "png", &err));
    page = report(dir);
    check_has(page, "src=\"data:image/png;base64,iVBORw0KGgo");
    check_has(page, "Not drawn: gantt: there is no phases.csv.");
    assert_null(strstr(page, "src=\"plots"));
    assert_null(strstr(page, "http"));
    check_elements(page);
    free(page);
    results_remove(dir);
}

static void numbers_of_a_chart_stand_beside_it_line_by_line(void **state)
{
    char dir[64], path[96], *page, *figure;

    (void)state;
    results_make(dir, &results_plain);
    snprintf(path, sizeof path, "%s/plots", dir);
    assert_int_equal(mkdir(path, 0777), 0);
    results_write_text(dir, "plots/jct_cdf.svg", "<svg/>");
    results_write_text(dir, "plots/jct_cdf.gp", "array policy[1] = ['<b>&']\ndata = 'x'\n");
    results_write_text(dir, "plots/jct_cdf.dat", "# jct\n1 0.5\n\n\n2 1\n");
    results_write_text(dir, "plots/cost.svg", "<svg/>");
    page = report(dir);
    figure = strstr(page, "<figure data-figure=\"jct_cdf\">");
    assert_non_null(figure);
    check_has(figure, "<pre hidden class=\"gp\">array policy[1] = [&#39;&lt;b&gt;&amp;&#39;]\n"
                      "data = &#39;x&#39;\n</pre>");
    check_has(figure, "<pre hidden class=\"dat\"># jct\n1 0.5\n\n\n2 1\n</pre>");
    check_has(page, "<figure><img alt=");           /* cost: only a picture */
    check_elements(page);
    free(page);
    results_remove(dir);
}

static void the_page_tells_where_policies_part(void **state)
{
    static const char decisions[] =
        "point,policy,seed,t_s,seq,action,job,role,placement,verdict,pending,free_gpus\n"
        "x=1/h,first,0,5,1,start,0,all,0:0-7,done,0,8\n"
        "x=1/h,first,0,9,2,start,1,all,1:0-7,done,1,0\n"
        "x=1/h,second,0,5,1,start,0,all,0:0-7,done,0,8\n"
        "x=1/h,second,0,9,2,start,<b>,all,1:0-3,done,1,4\n"
        "x=2/h,first,0,5,1,start,0,all,0:0-7,done,0,8\n"
        "x=2/h,second,0,5,1,start,0,all,0:0-7,done,0,8\n"
        "x=2/h,second,0,7,2,start,1,all,0:0-7,done,0,8\n";
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "decisions.csv", decisions);
    page = report(dir);
    check_has(page, "<tr><th>x=1/h</th><th>second</th><td>0</td>"
                    "<td>9 s: start job 1 role all on [1:0-7]: done</td>"
                    "<td>9 s: start job &lt;b&gt; role all on [1:0-3]: done</td></tr>");
    check_has(page, "<tr><th>x=2/h</th><th>second</th><td>0</td>"
                    "<td>no further decision</td>"
                    "<td>7 s: start job 1 role all on [0:0-7]: done</td></tr>");
    check_elements(page);
    free(page);
    results_remove(dir);
}

static void hostile_names_are_only_text(void **state)
{
    static const struct results_names names = {
        { "<script>alert(1)</script>", "\"><img src=x onerror=y>" },
        { "a&b'c", "`id` %n \\" }, "</td>", "x"
    };
    char dir[64], *page;

    (void)state;
    results_make(dir, &names);
    results_write_text(dir, "provenance.json",
        "{\"experiment\": \"<script>\", \"description\": \"</p><script>\", "
        "\"command\": [\"a\\u0001<b>\"], \"inputs\": [{\"file\": \"<i>\", "
        "\"xxh64\": \"<u>\"}]}\n");
    results_write_text(dir, "failures.csv",
        "point,policy,seed,place,message\n<b>,<b>,0,<b>,<b>&\n");
    results_write_text(dir, "audit.json", "{\"trials\": \"<s>\", \"checks\": "
                       "{\"<q>\": \"<q>\"}}\n");
    page = report(dir);
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "<img src=x"));
    assert_null(strstr(page, "<b>"));
    check_has(page, "&lt;script&gt;alert(1)&lt;/script&gt;");
    check_has(page, "a&amp;b&#39;c");
    check_has(page, "&quot;&gt;&lt;img src=x onerror=y&gt;");
    check_elements(page);
    free(page);
    results_remove(dir);
}

static void summary_alone_is_enough(void **state)
{
    static const char *const others[] = {
        "compare.csv", "jobs.csv", "phases.csv", "timeline.csv"
    };
    char dir[64], *page;

    (void)state;
    results_make(dir, &results_plain);
    for (size_t i = 0; i < 4; i++)
        results_delete(dir, others[i]);
    page = report(dir);
    check_has(page, "There is no audit.json.");
    check_has(page, "There is no provenance.json.");
    check_has(page, "<strong>second</strong> leases 75%");
    check_elements(page);
    free(page);
    results_remove(dir);
}

static void a_page_that_cannot_be_written_is_an_error(void **state)
{
    char dir[64], path[96];
    struct err err = { 0 };

    (void)state;
    results_make(dir, &results_plain);
    snprintf(path, sizeof path, "%s/report.html", dir);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_false(report_write(dir, NULL, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.pos.file, dir);
    assert_non_null(strstr(err.text, "report.html: cannot be written"));
    results_remove(dir);
}

static void a_broken_table_leaves_no_page(void **state)
{
    char dir[64];
    struct err err = { 0 };

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "compare.csv", "point,policy\nx=1/h,first\n");
    assert_false(report_write(dir, NULL, &err));
    assert_int_equal(err.kind, ERR_SCHEMA);
    assert_non_null(strstr(err.text, "compare.csv:"));
    assert_false(results_has(dir, "report.html"));
    results_remove(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_says_what_the_tables_say),
        cmocka_unit_test(rented_nodes_that_start_are_a_cause),
        cmocka_unit_test(the_page_begins_with_the_answer),
        cmocka_unit_test(costs_of_zero_have_no_best),
        cmocka_unit_test(a_choice_above_a_best_of_zero_is_not_the_best),
        cmocka_unit_test(a_choice_whose_loss_has_no_end_is_told_without_an_interval),
        cmocka_unit_test(what_is_compared_with_what_is_said_truly),
        cmocka_unit_test(checks_without_a_verdict_are_told_apart),
        cmocka_unit_test(without_expectations_the_answer_is_against_the_baseline),
        cmocka_unit_test(a_control_says_what_a_part_decides),
        cmocka_unit_test(charts_stand_in_the_page_itself),
        cmocka_unit_test(numbers_of_a_chart_stand_beside_it_line_by_line),
        cmocka_unit_test(the_page_tells_where_policies_part),
        cmocka_unit_test(hostile_names_are_only_text),
        cmocka_unit_test(summary_alone_is_enough),
        cmocka_unit_test(a_page_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_broken_table_leaves_no_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
