/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_answer_test.c - the answer of report.html from drawn rows of checks.csv, put together
 * once more, and the table of expectations below it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/report/report.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "tests/aid/page_text.h"
#include "tests/aid/results_aid.h"

#define ROWS_MOST 16

/* ---- drawn checks ---- */

/* A row of checks.csv; numbers are NAN where the field is empty. */
struct row {
    const char *claim, *point, *metric, *policy, *versus, *versus_point, *verdict, *reason;
    bool percent;
    double least, most, value, low, high;
};

#define PICK(RNG, LIST) LIST[rng_below(RNG, sizeof LIST / sizeof LIST[0])]

/* A number of quarters from -60 to 60, below 1 more often; NAN one time in `none`. */
static double draw_number(struct rng *rng, uint32_t none)
{
    double whole = ((double)rng_below(rng, 481) - 240) / 4;

    if (rng_below(rng, none) == 0)
        return NAN;
    return rng_below(rng, 3) == 0 ? whole / 64 : rng_below(rng, 9) == 0 ? whole * 1000 : whole;
}

static void draw_row(struct rng *rng, struct row *row)
{
    static const char *const claim[] = { "", "A3", "B & C" };
    static const char *const point[] = { "x=1/h", "x=2/h", "gone" };
    static const char *const metric[] = { "cost_usd", "jct_mean_s", "preemptions" };
    static const char *const policy[] = { "first", "second" }, *const versus[] = { "", "first" };
    static const char *const verdict[] = { "holds", "holds", "does not hold", "undecided",
                                           "failed trial", "not judged" };
    static const char *const reason[] = { "", "x", "not compared: over 9 of 10 jobs; advice" };

    *row = (struct row){
        .claim = PICK(rng, claim), .point = PICK(rng, point), .metric = PICK(rng, metric),
        .policy = PICK(rng, policy), .versus = PICK(rng, versus), .versus_point = "",
        .verdict = PICK(rng, verdict), .reason = PICK(rng, reason),
        .percent = rng_below(rng, 2) == 0, .least = draw_number(rng, 2),
        .most = draw_number(rng, 2), .value = draw_number(rng, 8), .low = draw_number(rng, 3),
        .high = draw_number(rng, 3),
    };
    if (row->versus[0] == '\0' && rng_below(rng, 2) == 0)
        row->versus_point = "x=1/h";
    if (rng_below(rng, 2) == 0)
        row->least = row->most = 7;             /* so that limits are alike at times */
}

static void add_number(struct text *csv, double value)
{
    if (isnan(value))
        add(csv, ",");
    else
        add(csv, "%.17g,", value);
}

static void write_checks(const char *dir, const struct row *row, size_t count)
{
    struct text csv = text_new();

    add(&csv, "claim,point,metric,policy,vs,vs_point,percent,at_least,at_most,value,ci_low,"
              "ci_high,verdict,reason\n");
    for (size_t i = 0; i < count; i++) {
        add(&csv, "%s,%s,%s,%s,%s,%s,%d,", row[i].claim, row[i].point, row[i].metric,
            row[i].policy, row[i].versus, row[i].versus_point, row[i].percent);
        add_number(&csv, row[i].least);
        add_number(&csv, row[i].most);
        add_number(&csv, row[i].value);
        add_number(&csv, row[i].low);
        add_number(&csv, row[i].high);
        add(&csv, "%s,%s\n", row[i].verdict, row[i].reason);
    }
    results_write_text(dir, "checks.csv", csv.at);
    free(csv.at);
}

/* ---- what the page should say ---- */

static bool is_lost(const struct row *row)
{
    return strncmp(row->reason, "not compared", 12) == 0;
}

static bool has_interval(const struct row *row)
{
    return !is_lost(row) && (!isnan(row->low) || !isnan(row->high));
}

/* Three digits, at least one before the point; of a number up to 1 without a percent five. */
static void add_value(struct text *text, const struct row *row, double value, bool sign)
{
    int digits = fabs(value) <= 1 && !row->percent ? 5 : 3;

    for (double size = fabs(value); size >= 10; size /= 10)
        digits--;
    digits--;
    add(text, sign && row->percent && value > 0 ? "+%.*f" : "%.*f", digits > 0 ? digits : 0,
        value);
    add(text, row->percent ? "%%" : "");
}

static void add_end(struct text *text, const struct row *row, double value, bool sign)
{
    if (isnan(value))
        add(text, "no end");
    else
        add_value(text, row, value, sign);
}

static void add_interval(struct text *text, const struct row *row, bool sign)
{
    if (!has_interval(row))
        return;
    add(text, " [");
    add_end(text, row, row->low, sign);
    add(text, ", ");
    add_end(text, row, row->high, sign);
    add(text, "]");
}

static const char *html(const char *text)
{
    return strcmp(text, "B & C") == 0 ? "B &amp; C" : text;
}

/* The figure with its interval, where, and the verdict with why it is none. */
static void add_figure(struct text *text, const struct row *row)
{
    bool known = strcmp(row->point, "gone") != 0;

    if (is_lost(row) || isnan(row->value))
        add(text, "not compared");
    else {
        if (known)
            add(text, "<a href=\"#seeds-%d\">", row->point[2] - '1');
        add_value(text, row, row->value, true);
        add(text, known ? "</a>" : "");
    }
    add_interval(text, row, true);
    add(text, " at %s (%s", row->point, row->verdict);
    if (strcmp(row->verdict, "undecided") == 0 && has_interval(row))
        add(text, ": the interval lies on both sides of what is expected");
    else if (strcmp(row->verdict, "undecided") == 0 && row->reason[0] != '\0')
        add(text, ": %s", row->reason);
    add(text, ")");
}

static void add_limits(struct text *text, const struct row *row)
{
    const char *unit = row->percent ? "%" : "";

    if (!isnan(row->least))
        add(text, "at least %.6g%s", row->least, unit);
    if (!isnan(row->least) && !isnan(row->most))
        add(text, ", ");
    if (!isnan(row->most))
        add(text, "at most %.6g%s", row->most, unit);
}

/* A key of what belongs together: the claim alone, or all but the point and the limits. */
static void key_of(const struct row *row, bool question, char key[120])
{
    snprintf(key, 120, "%s|%s|%s|%s|%s", row->claim, question ? row->metric : "",
             question ? row->policy : "", question ? row->versus : "",
             question ? row->versus_point : "");
}

/* Is row i of the group of row g?  Row g is the first of it if no row before is. */
static bool together(const struct row *row, size_t g, size_t i, bool question)
{
    char a[120], b[120];

    key_of(&row[g], question, a);
    key_of(&row[i], question, b);
    return strcmp(a, b) == 0;
}

static bool leads(const struct row *row, size_t g, bool question)
{
    size_t i = 0;

    while (!together(row, g, i, question))
        i++;
    return i == g;
}

/* "A3 holds in part: 5 of 9 checks hold; 2 do not; 2 are undecided." */
static void add_headline(struct text *text, const struct row *row, size_t count, size_t g)
{
    unsigned all = 0, by[3] = { 0 };
    static const char *const verdict[] = { "holds", "does not hold", "undecided" };

    for (size_t i = 0; i < count; i++)
        if (together(row, g, i, false)) {
            all++;
            for (int v = 0; v < 3; v++)
                by[v] += strcmp(row[i].verdict, verdict[v]) == 0;
        }
    unsigned left = all - by[0] - by[1] - by[2];
    add(text, "<p class=\"answer\">%s ", row[g].claim[0] ? html(row[g].claim)
                                                         : "What is expected");
    add(text, by[0] == all ? "holds" : by[0] > 0 ? "holds in part" : by[1] > 0
                  ? "does not hold" : "is not decided");
    if (all > 1) {
        add(text, ": %u of %u checks hold%s", by[0], all, by[0] == 1 ? "s" : "");
        if (by[1] > 0)
            add(text, "; %u do%s not", by[1], by[1] == 1 ? "es" : "");
        if (by[2] > 0)
            add(text, "; %u %s undecided", by[2], by[2] == 1 ? "is" : "are");
        if (left > 0)
            add(text, "; %u could not be judged", left);
    }
    add(text, ".</p>\n");
}

/* The first row with the least value, and the first with the most.  Rows without a value are
 * passed over. */
static void find_range(const struct row *row, size_t count, size_t g, const struct row *end[2])
{
    end[0] = end[1] = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!together(row, g, i, true) || is_lost(&row[i]) || isnan(row[i].value))
            continue;
        if (end[0] == NULL || row[i].value < end[0]->value)
            end[0] = &row[i];
        if (end[1] == NULL || row[i].value > end[1]->value)
            end[1] = &row[i];
    }
}

static void add_figures(struct text *text, const struct row *row, size_t count, size_t g)
{
    const struct row *end[2];
    unsigned asked = 0, told = 0;

    for (size_t i = 0; i < count; i++)
        asked += together(row, g, i, true);
    find_range(row, count, g, end);
    if (asked > 4) {
        add(text, "%u checks", asked);
        for (int e = 0; e < 2 && end[0] != NULL; e++) {
            add(text, e == 0 ? ", from " : " to ");
            add_figure(text, end[e]);
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (together(row, g, i, true)) {
            add(text, told++ > 0 ? "; " : "");
            add_figure(text, &row[i]);
        }
}

static void add_question(struct text *text, const struct row *row, size_t count, size_t g)
{
    const char *metric = strcmp(row[g].metric, "cost_usd") == 0 ? "total cost"
        : strcmp(row[g].metric, "jct_mean_s") == 0 ? "JCT, mean" : row[g].metric;
    const char *versus = row[g].versus[0] ? row[g].versus : row[g].versus_point;
    struct text first = text_new(), other = text_new();
    bool same = true;

    add(text, "<li><strong>%s, %s</strong>", metric, row[g].policy);
    if (versus[0] != '\0')
        add(text, " against <strong>%s</strong>", versus);
    add(text, ": ");
    add_figures(text, row, count, g);
    add_limits(&first, &row[g]);
    for (size_t i = 0; i < count; i++) {
        other.used = 0;
        other.at[0] = '\0';
        add_limits(&other, &row[i]);
        same = same && (!together(row, g, i, true) || strcmp(first.at, other.at) == 0);
    }
    add(text, ". Expected: %s.</li>\n", same ? first.at : "see the table");
    free(first.at);
    free(other.at);
}

static void add_answer(struct text *text, const struct row *row, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        if (!leads(row, c, false))
            continue;
        add_headline(text, row, count, c);
        add(text, "<ul>\n");
        for (size_t q = 0; q < count; q++)
            if (together(row, c, q, false) && leads(row, q, true))
                add_question(text, row, count, q);
        add(text, "</ul>\n");
    }
}

/* The table below: a row of it for a row of the file. */
static void add_table(struct text *text, const struct row *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *verdict = row[i].verdict;
        bool fails = strcmp(verdict, "does not hold") == 0 || strcmp(verdict, "failed trial") == 0;
        add(text, "<tr><td class=\"verdict %s\">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s"
                  "</td><td>%s</td><td>", strcmp(verdict, "holds") == 0 ? "holds"
                  : fails ? "fails" : "open", verdict, html(row[i].claim), row[i].metric,
            row[i].policy, row[i].versus[0] ? row[i].versus : row[i].versus_point, row[i].point);
        add_limits(text, &row[i]);
        add(text, "</td><td>");
        if (is_lost(&row[i]))
            add(text, "not compared: over 9 of 10 jobs");
        else {
            if (!isnan(row[i].value))
                add_value(text, &row[i], row[i].value, false);
            add_interval(text, &row[i], false);
        }
        add(text, "</td></tr>\n");
    }
}

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

static void drawn_checks_are_told_as_they_are(void **state)
{
    struct rng rng;
    char dir[64];

    (void)state;
    rng_init(&rng, 7, "answers", 0);
    results_make(dir, &results_plain);
    for (int world = 0; world < 120; world++) {
        struct row row[ROWS_MOST];
        struct text answer = text_new(), table = text_new();
        size_t count = 1 + rng_below(&rng, ROWS_MOST);

        for (size_t i = 0; i < count; i++) {
            draw_row(&rng, &row[i]);
            if (i > 0 && rng_below(&rng, 2) == 0) {         /* the same question once more */
                row[i].claim = row[i - 1].claim;
                row[i].metric = row[i - 1].metric;
                row[i].policy = row[i - 1].policy;
                row[i].versus = row[i - 1].versus;
                row[i].versus_point = row[i - 1].versus_point;
            }
        }
        write_checks(dir, row, count);
        add_answer(&answer, row, count);
        add_table(&table, row, count);
        char *page = page_of(dir);
        check_from(page, "<p class=\"answer\">", answer.at);
        check_from(page, "<tr><td class=\"verdict", table.at);
        free(page);
        free(answer.at);
        free(table.at);
    }
    results_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_checks_are_told_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
