/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ci_test.c - verdicts as CI systems read them, and baselines that fit a repository.
 * tests/ci.sh tries the whole as a user has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/ci/baseline.h"
#include "experiments/ci/verdicts.h"
#include "experiments/preflight/fingerprints.h"
#include "experiments/results/check.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "tests/aid/scratch.h"

/* One of each verdict, in the order of the enumeration. */
#define FILE_NAME "./a,b.yaml"
static struct verdicts make_verdicts(struct arena *arena, bool not_judged_passes)
{
    static const char *const name[] = { "one", "a<b & \"c\"", "three", "four", "five" };
    struct check_item *item = arena_alloc(arena, 5, sizeof *item);
    struct verdict_place *place = arena_alloc(arena, 5, sizeof *place);
    struct check_list *list = arena_alloc(arena, 1, sizeof *list);
    const struct verdict_place **places = arena_alloc(arena, 1, sizeof *places);

    for (unsigned i = 0; i < 5; i++) {
        item[i] = (struct check_item){ .name = name[i], .reason = "50%\nof it",
                                       .verdict = (enum check_verdict)i };
        place[i] = (struct verdict_place){ { FILE_NAME, i == 0 ? 0 : 10 + i, 3 }, 0.25 };
        check_count(list, item[i].verdict);
    }
    list->item = item;
    list->not_judged_passes = not_judged_passes;
    places[0] = place;
    return (struct verdicts){ .title = "suite", .list = list, .place = places, .lists = 1,
                              .wall_s = 2 };
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in: %s", part, text);
}

static void junit_tells_failures_errors_and_what_is_skipped_apart(void **state)
{
    struct scratch *w = *state;
    struct verdicts v = make_verdicts(w->arena, false);
    struct err err = { 0 };

    assert_true(verdicts_junit(w->arena, scratch_path(w, "j.xml"), &v, &err));
    char *text = scratch_read(w, "j.xml");

    assert_has(text, "<testsuite name=\"suite\" tests=\"5\" failures=\"2\" errors=\"1\" "
               "skipped=\"1\" time=\"2.000\">");
    assert_has(text, "name=\"one\" time=\"0.250\"/>");
    assert_has(text, "name=\"a&lt;b &amp; &quot;c&quot;\" file=\"./a,b.yaml\" line=\"11\"");
    assert_has(text, "<failure type=\"does not hold\"");
    assert_has(text, "name=\"three\" file=\"./a,b.yaml\" line=\"12\" time=\"0.250\">\n"
               "    <skipped message=");
    assert_has(text, "<error type=\"failed trial\"");
    free(text);
    v = make_verdicts(w->arena, true);
    assert_true(verdicts_junit(w->arena, scratch_path(w, "j.xml"), &v, &err));
    text = scratch_read(w, "j.xml");
    assert_has(text, "failures=\"1\" errors=\"1\" skipped=\"2\"");
    free(text);
}

static void annotations_are_escaped_lines(void **state)
{
    struct scratch *w = *state;
    const struct verdicts v = make_verdicts(w->arena, true);
    char *text = NULL;
    size_t bytes;
    FILE *page = open_memstream(&text, &bytes);

    verdicts_github(page, &v);
    fclose(page);
    assert_string_equal(text,
        "::error file=./a%2Cb.yaml,line=11,col=3,title=does not hold::"
        "a<b & \"c\": 50%25%0Aof it\n"
        "::warning file=./a%2Cb.yaml,line=12,col=3,title=undecided::three: 50%25%0Aof it\n"
        "::warning file=./a%2Cb.yaml,line=13,col=3,title=not judged::four: 50%25%0Aof it\n"
        "::error file=./a%2Cb.yaml,line=14,col=3,title=failed trial::five: 50%25%0Aof it\n");
    free(text);
}

static void code_quality_is_a_list_of_findings(void **state)
{
    struct scratch *w = *state;
    const struct verdicts v = make_verdicts(w->arena, false);
    struct err err = { 0 };

    assert_true(verdicts_code_quality(w->arena, scratch_path(w, "q.json"), &v,
                                      &err));
    char *text = scratch_read(w, "q.json");

    assert_has(text, "[\n  {\"description\": \"a<b & \\\"c\\\": 50%\\u000aof it\"");
    assert_has(text, "\"severity\": \"critical\", \"location\": {\"path\": \"a,b.yaml\", "
               "\"lines\": {\"begin\": 11}}}");
    assert_null(strstr(text, "\"one"));
    free(text);
}

/* What the baseline lacks is told in each form, and in its place, and is no verdict. */
static void what_the_baseline_lacks_is_in_all_forms(void **state)
{
    static const struct verdict_new added[] = {
        { "policy", "a\"b", { "./e.yaml", 7, 5 } }, { "point", "rate=1/h", { NULL, 0, 0 } }
    };
    struct scratch *w = *state;
    struct verdicts v = make_verdicts(w->arena, false);
    struct err err = { 0 };
    char *text = NULL;
    size_t bytes;

    v.added = added;
    v.added_count = 2;
    assert_true(verdicts_junit(w->arena, scratch_path(w, "n"), &v, &err));
    text = scratch_read(w, "n");
    assert_has(text, "time=\"2.000\">\n  <properties>\n    <property name=\"not in the "
               "baseline: policy\" value=\"a&quot;b\"/>\n    <property name=\"not in the "
               "baseline: point\" value=\"rate=1/h\"/>\n  </properties>\n  <testcase");
    assert_has(text, "tests=\"5\"");
    free(text);
    assert_true(verdicts_markdown(w->arena, scratch_path(w, "n"), &v, &err));
    text = scratch_read(w, "n");
    assert_has(text, "|\n\n- not in the baseline: policy a\"b\n- not in the baseline: point "
               "rate=1/h\n");
    free(text);
    assert_true(verdicts_code_quality(w->arena, scratch_path(w, "n"), &v, &err));
    text = scratch_read(w, "n");
    assert_has(text, "\"not in the baseline: policy a\\\"b\", \"check_name\"");
    assert_has(text, "\"severity\": \"info\", \"location\": {\"path\": \"e.yaml\", \"lines\": "
               "{\"begin\": 7}}}");
    free(text);
    FILE *page = open_memstream(&text, &bytes);
    verdicts_github(page, &v);
    fclose(page);
    assert_has(text, "\n::notice file=./e.yaml,line=7,col=5,title=not in the baseline::policy "
               "a\"b\n::notice title=not in the baseline::point rate=1/h\n");
    free(text);
    page = open_memstream(&text, &bytes);
    struct out *out = out_stream(w->arena, "json", page);
    verdicts_json(out, &v, 0);
    assert_true(out_close(out, &err));
    fclose(page);
    assert_has(text, "{\"experiment\": \"suite\", \"status\": 0, \"checks\": 5, \"held\": 1, "
               "\"verdicts\": [\n  {\"kind\": \"expectation\", \"verdict\": \"holds\"");
    assert_has(text, "\n], \"not_in_baseline\": [{\"kind\": \"policy\", \"name\": \"a\\\"b\"}, "
               "{\"kind\": \"point\", \"name\": \"rate=1/h\"}]}\n");
    free(text);
}

/* ---- baselines ---- */

#define POINTS 10u
#define SEEDS 40u

static struct grid *make_grid(struct arena *arena)
{
    const char **point = arena_alloc(arena, POINTS, sizeof *point);
    static const char *const policy[] = { "first", "second" };
    double value[METRIC_COUNT];
    struct grid *grid;

    for (uint32_t t = 0; t < POINTS; t++) {
        char *label = arena_alloc(arena, 40, 1);

        snprintf(label, 40, "workload.arrival.rate=%u/h", t);
        point[t] = label;
    }
    grid = grid_new(arena, NULL, point, POINTS, policy, 2, SEEDS);
    for (uint32_t t = 0; t < POINTS; t++)
        for (uint32_t p = 0; p < 2; p++) {
            for (uint32_t s = 0; s < SEEDS; s++) {
                for (unsigned m = 0; m < METRIC_COUNT; m++)
                    value[m] = 1000.0 / 7 * (1 + t) + p + s / 3.0;
                grid_put(grid, t, p, s, value);
            }
            grid_end(grid, t, p, false);
        }
    return grid;
}

static void a_baseline_has_as_many_seeds_as_it_has_room_for(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena);
    const struct experiment_expect expect = { .metric = METRIC_ENERGY };
    struct baseline_asks asks = { &expect, 1, NULL, 0 };
    struct baseline_told told;
    struct err err = { 0 };

    assert_true(baseline_write(w->arena, w->dir, grid, &asks, &told, &err));
    char *text = scratch_read(w, "summary.csv");

    assert_int_equal(strlen(text), told.bytes);
    assert_true(told.bytes <= BASELINE_BYTES && told.seeds >= 2 && told.seeds < SEEDS);
    assert_has(text, "point,policy,seed,jobs,jobs_done,energy_kwh,jct_mean_s,");
    free(text);
    const struct grid *back = grid_from_folder(w->arena, w->dir, &err);

    assert_non_null(back);
    assert_int_equal(back->seed_count, told.seeds);
    assert_true(grid_value(back, 3, 1, 1, METRIC_ENERGY) ==
                grid_value(grid, 3, 1, 1, METRIC_ENERGY));
    assert_true(grid_lacks(back, METRIC_SLOWDOWN) && !grid_lacks(back, METRIC_ENERGY));
    uint32_t seeds = told.seeds;
    asks.seeds_most = seeds + 1;        /* for one more there is no room */
    assert_true(baseline_write(w->arena, w->dir, grid, &asks, &told, &err));
    assert_int_equal(told.seeds, seeds);
    asks.seeds_most = seeds - 1;
    assert_true(baseline_write(w->arena, w->dir, grid, &asks, &told, &err));
    assert_int_equal(told.seeds, seeds - 1);
    asks.seeds_most = 1;                /* of a rule that may end so early */
    assert_true(baseline_write(w->arena, w->dir, grid, &asks, &told, &err));
    assert_int_equal(told.seeds, 1);
}

/* What it lacks is not compared, and what it has is. */
static void a_run_is_compared_with_what_a_baseline_has(void **state)
{
    struct scratch *w = *state;
    struct grid *grid = make_grid(w->arena);
    const struct baseline_asks asks = { NULL, 0, NULL, 0 };
    struct baseline_told told;
    struct err err = { 0 };
    const char *digits[POINTS];
    const struct fingerprints jobs = { grid->point, digits, POINTS };

    for (uint32_t t = 0; t < POINTS; t++)
        digits[t] = "0123456789abcdef";
    grid->jobs = &jobs;
    assert_true(baseline_write(w->arena, w->dir, grid, &asks, &told, &err));
    struct grid *before = grid_from_folder(w->arena, w->dir, &err);
    assert_true(fingerprints_read(w->arena, w->dir, &before->jobs, &err));
    struct check_list list = check_regressions(w->arena, before, grid, 0, NULL);

    assert_int_equal(list.count, 2 * POINTS);
    assert_int_equal(list.held, 2 * POINTS);
    grid_set(grid, 0, 0, 0, METRIC_SLOWDOWN, 9e9);      /* it is not in the baseline */
    list = check_regressions(w->arena, before, grid, 0, NULL);
    assert_int_equal(list.held, 2 * POINTS);
    grid_set(grid, 0, 0, 0, METRIC_JCT_MEAN,
             grid_value(grid, 0, 0, 0, METRIC_JCT_MEAN) + 1);
    list = check_regressions(w->arena, before, grid, 0, NULL);
    assert_int_equal(list.failed, 1);
    assert_string_equal(list.item[0].policy, "first");
}

static void a_baseline_does_not_replace_the_results_of_a_run(void **state)
{
    struct scratch *w = *state;
    const struct baseline_asks asks = { NULL, 0, NULL, 0 };
    struct baseline_told told;
    struct err err = { 0 };

    scratch_write(w, "provenance.json", "{}");
    assert_false(baseline_write(w->arena, w->dir, make_grid(w->arena), &asks, &told,
                                &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_null(scratch_read(w, "summary.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(junit_tells_failures_errors_and_what_is_skipped_apart),
        TEST(annotations_are_escaped_lines),
        TEST(code_quality_is_a_list_of_findings),
        TEST(what_the_baseline_lacks_is_in_all_forms),
        TEST(a_baseline_has_as_many_seeds_as_it_has_room_for),
        TEST(a_run_is_compared_with_what_a_baseline_has),
        TEST(a_baseline_does_not_replace_the_results_of_a_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
