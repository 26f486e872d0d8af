/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claims_test.c - what the experiments of claims stand on: points compared
 * with points, expectations of advice, nodes that are rented while held, and
 * that each claim has its file.
 */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiments/advise/advice_check.h"
#include "experiments/results/check.h"
#include "experiments/results/grid.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "tests/aid/program.h"

static struct program program;

static void labels_match_word_by_word(void **state)
{
    (void)state;
    assert_true(point_label_has("a.b=1 c=2/h", "c=2/h"));
    assert_true(point_label_has("a.b=1 c=2/h", "c=2/h a.b=1"));
    assert_false(point_label_has("a.b=1 c=2/h", "c=2"));
    assert_false(point_label_has("a.b=12 c=2/h", "a.b=1"));
    assert_false(point_label_has("a.b=1", "b=1"));
    assert_true(point_label_has("base", "base"));
    assert_true(point_label_has("base", ""));
}

static void labels_take_other_values_of_their_keys(void **state)
{
    struct arena *arena = arena_new(1 << 12);

    (void)state;
    assert_string_equal(point_label_with(arena, "a=1 b=2 c=3", "b=9"),
                        "a=1 b=9 c=3");
    assert_string_equal(point_label_with(arena, "a=1 b=2", "b=8 a=7"),
                        "a=7 b=8");
    assert_null(point_label_with(arena, "a=1 b=2", "d=1"));
    assert_null(point_label_with(arena, "base", "a=1"));
    arena_free(arena);
}

/* Two policies at x=1 and x=2; the metric is 10, 20, 15, 40. */
static struct grid *two_points(struct arena *arena)
{
    static const char *const point[] = { "x=1", "x=2" };
    static const char *const policy[] = { "a", "b" };
    static const uint32_t seed[] = { 0 };
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);
    const double mean[] = { 10, 20, 15, 40 };

    *grid = (struct grid){ .point = point, .point_count = 2, .policy = policy,
                            .policy_count = 2, .seed_count = 1, .seed = seed };
    grid_begin(arena, grid);
    for (unsigned i = 0; i < 4; i++)
        grid_set(grid, i / 2, i % 2, 0, METRIC_COST, mean[i]);
    return grid;
}

static void points_are_compared_with_the_point_named(void **state)
{
    struct arena *arena = arena_new(1 << 14);
    struct experiment_expect e = {
        .metric = METRIC_COST, .policy = "a", .versus_point = "x=1",
        .low = 50, .high = 50, .percent = true, .confidence = 0.95
    };
    struct check_list list = check_expects(arena, two_points(arena), &e, 1);

    (void)state;
    assert_int_equal(list.count, 1);    /* x=1 is not compared with itself */
    assert_string_equal(list.item[0].point, "x=2");
    assert_true(fabs(list.item[0].value - 50) < 1e-9);
    assert_int_equal(list.item[0].verdict, CHECK_HOLDS);
    e.versus = "b";                     /* b at x=1: 15 against 20 */
    e.point = "x=2";
    list = check_expects(arena, two_points(arena), &e, 1);
    assert_true(fabs(list.item[0].value + 25) < 1e-9);
    arena_free(arena);
}

static void point_and_its_other_come_back_from_checks_csv(void **state)
{
    struct arena *arena = arena_new(1 << 14);
    struct experiment_expect e = {
        .metric = METRIC_COST, .policy = "a", .versus_point = "x=1",
        .low = 0, .high = 60, .percent = true, .confidence = 0.95
    };
    struct check_list list = check_expects(arena, two_points(arena), &e, 1);
    const struct experiment_expect *back;
    struct err err = { 0 };
    struct folder *folder = folder_make(arena, program.folder, &err);
    uint32_t count;

    (void)state;
    assert_true(check_write(arena, folder, &list, &err));
    folder_close(folder);
    assert_true(check_read(arena, program.folder, NULL, &back, &count, &err));
    assert_int_equal(count, 1);
    list = check_expects(arena, two_points(arena), back, count);
    assert_int_equal(list.held, 1);
    assert_true(fabs(list.item[0].value - 50) < 1e-9);
    arena_free(arena);
}

/* Writes a question; the status of `clustersim check` on it. */
static int task(const char *expect, const char *log)
{
    char path[128], out[128], logged[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/ask.yaml", program.folder);
    snprintf(out, sizeof out, "%s/ask", program.folder);
    snprintf(logged, sizeof logged, "%s/%s", program.folder, log);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "advise: ask\ncluster:\n  nodes:\n    - {name: big, gpus: "
            "{type: a100-80, count: 1}, cpu: {type: epyc-7763}, memory: "
            "512GB, price: 2USD/h}\nworkload:\n  arrival: {process: fixed, "
            "times: [0s]}\n  jobs: 1\n  mix:\n    - {recipe: lora, name: l, "
            "model: llama-2-7b, batch: 16, sequence: 512, steps: 10, "
            "recompute: full, train: {gpus: 1}}\n    - {recipe: sft, name: f, "
            "model: llama-2-7b, batch: 16, sequence: 512, steps: 10, "
            "recompute: full, train: {gpus: 1}}\nexpect:\n  - {%s}\n",
            expect);
    assert_int_equal(fclose(file), 0);
    const char *argv[] = { program.path, "check", path, "-o", out, NULL };
    return program_spawn(argv, logged);
}

/* An A100 of 7 GiB holds no model of 7B. */
static void advice_heeds_a_catalogue_of_its_own(void **state)
{
    char path[200];

    (void)state;
    snprintf(path, sizeof path, "%s/own.yaml", program.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("gpus:\n  a100-80: {memory: 7GiB}\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(task("job: l, on: big, figure: fits, at_least: 1}\ncatalogue: "
                          "own.yaml\n#{", "a"), 1);
    assert_int_equal(task("job: l, on: big, figure: fits, at_most: 0}\ncatalogue: "
                          "[own.yaml]\n#{", "a"), 0);
    assert_int_equal(task("job: l, on: big, figure: fits, at_most: 0}\ncatalogue: "
                          "none.yaml\n#{", "a"), 4);
}

static void advice_is_judged_by_its_figures(void **state)
{
    (void)state;
    assert_int_equal(task("job: l, on: big, figure: fits, at_least: 1", "a"),
                     0);
    assert_int_equal(task("job: f, on: big, figure: fits, at_least: 1", "a"),
                     1);
    /* 6.738e9 parameters of two bytes, and adapters. */
    assert_int_equal(task("job: l, on: big, figure: weights_gb, "
                          "between: [13.47, 13.7]", "a"), 0);
    assert_int_equal(task("job: f, on: big, vs_job: l, figure: total_gb, "
                          "at_least: 100%", "a"), 0);
    assert_int_equal(task("job: f, on: big, figure: feasible, at_most: 0",
                          "a"), 0);
    assert_int_equal(task("job: l, on: big, figure: gpus, between: [1, 1]",
                          "a"), 0);
}

static void advice_that_has_no_figure_does_not_hold(void **state)
{
    (void)state;
    assert_int_equal(task("job: f, on: big, figure: cost_usd, at_least: 0",
                          "a"), 1);
}

static void questions_take_other_values_by_set(void **state)
{
    char path[128], out[128];

    (void)state;
    assert_int_equal(task("job: f, on: big, figure: fits, at_least: 1", "a"),
                     1);
    snprintf(path, sizeof path, "%s/ask.yaml", program.folder);
    snprintf(out, sizeof out, "%s/ask", program.folder);
    const char *smaller[] = { program.path, "check", path, "-o", out, "--set",
                              "workload.mix.f.model=qwen2.5-0.5b", NULL };
    assert_int_equal(program_spawn(smaller, NULL), 0);
    const char *compared[] = { program.path, "check", path, "--baseline",
                               out, NULL };
    assert_int_equal(program_spawn(compared, NULL), 2);
    const char *ran[] = { program.path, "run", path, NULL };
    assert_int_equal(program_spawn(ran, NULL), 2);
    const char *advised[] = { program.path, "advise", path, "--memory",
                              NULL };
    assert_int_equal(program_spawn(advised, NULL), 0);
}

static void wrong_questions_are_refused_with_their_place(void **state)
{
    char path[128], *text;

    (void)state;
    assert_int_equal(task("job: no, on: big, figure: fits, at_least: 1", "w"),
                     3);
    snprintf(path, sizeof path, "%s/w", program.folder);
    text = program_read(path);
    assert_non_null(strstr(text, "job is 'no', which is no job of the mix"));
    assert_non_null(strstr(text, "ask.yaml:"));
    free(text);
    assert_int_equal(task("job: l, on: no, figure: fits, at_least: 1", "w"),
                     3);
    assert_int_equal(task("job: l, on: big, figure: fit, at_least: 1", "w"),
                     3);
    assert_int_equal(task("job: l, on: big, figure: fits", "w"), 3);
    assert_int_equal(task("job: l, on: big, figure: fits, at_most: 1, "
                          "at_least: 1", "w"), 3);
}

/* The status of a question whose expectation is read as an experiment's would be, and what
 * it says. */
static int limit(const char *expect, const char *said)
{
    int status = task(expect, "w");
    char *text = program_read(program_path(&program, "w"));

    assert_non_null(text);
    if (strstr(text, said) == NULL)
        fail_msg("%s: no '%s' in: %s", expect, said, text);
    free(text);
    return status;
}

static void limits_of_advice_are_read_as_those_of_experiments(void **state)
{
    (void)state;
    assert_int_equal(limit("job: l, on: big, figure: time_s, at_most: 14d",
                           "time_s of l on big at most 1209600"), 0);
    assert_int_equal(limit("job: l, on: big, figure: time_s, at_least: -1h",
                           "a time below 0 is a number of seconds without a unit"), 3);
    assert_int_equal(limit("job: l, on: big, figure: cost_usd, at_most: 10%",
                           "cost_usd has no percentage without something to compare it with"),
                     3);
    assert_int_equal(limit("job: l, on: big, figure: cost_usd, at_most: 10%",
                           "Add vs_job: JOB or vs_on: NODE, or write a number."), 3);
    assert_int_equal(limit("job: l, on: big, figure: gpu_busy_fraction, at_least: 90",
                           "gpu_busy_fraction is a fraction from 0 to 1"), 3);
    assert_int_equal(limit("job: l, on: big, figure: total_gb, between: [20, 10]",
                           "between has its lower limit above its upper one"), 3);
    assert_int_equal(limit("job: f, on: big, vs_job: l, figure: total_gb, between: [1, 2%]",
                           "between must have two percentages or two numbers"), 3);
    /* Full training of 6.7e9 parameters needs 18 bytes of each, more than 80 GB. */
    assert_int_equal(limit("job: f, on: big, figure: total_fraction, at_least: 120%",
                           "1 of 1 checks hold"), 0);
}

/* One node of two is held for half an hour, twice, at 8 USD an hour. */
static void rented_nodes_cost_while_they_are_held(void **state)
{
    static const char text[] =
        "experiment: rent\nseeds: 1\ncluster:\n  nodes:\n    - {name: n, "
        "count: 2, gpus: {type: generic, count: 8}, price: 8USD/h, billing: "
        "%s}\nworkload:\n  arrival: {process: fixed, times: [0s, 1h]}\n"
        "  jobs: 2\n  mix:\n    - {recipe: trace, gpus: 8, duration: 30min}\n"
        "policies: [{policy: fcfs, placement: first_fit}]\n"
        "output: {timeline_step: 15min, tables: [timeline], plots: []}\n"
        "expect:\n  - {metric: cost_usd, policy: fcfs, between: [%s]}\n";
    char path[128], out[128], rows[160], *timeline;

    (void)state;
    snprintf(path, sizeof path, "%s/rent.yaml", program.folder);
    snprintf(out, sizeof out, "%s/rent", program.folder);
    snprintf(rows, sizeof rows, "%s/timeline.csv", out);
    const char *argv[] = { program.path, "check", path, "-o", out, NULL };
    for (int held = 0; held < 2; held++) {
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        fprintf(file, text, held ? "held" : "always",
                held ? "7.999999, 8.000001" : "23.999999, 24.000001");
        assert_int_equal(fclose(file), 0);
        assert_int_equal(program_spawn(argv, NULL), 0);
        timeline = program_read(rows);
        assert_non_null(strstr(timeline, held ? "fcfs,0,900,n,16,8,8,0,0,1,8\n"
                                              : "fcfs,0,900,n,16,8,8,0,0,1,16"
                                                "\n"));
        assert_true(!held || strstr(timeline, "fcfs,0,1800,n,16,0,0,0,0,0,0"));
        free(timeline);
    }
}

/* There is a file of the claim, and no file of it is refused. */
static void validate_claim(const char *id)
{
    char pattern[64];
    glob_t found;

    snprintf(pattern, sizeof pattern, "experiments/claims/%s_*.yaml", id);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *argv[] = { program.path, "validate", found.gl_pathv[i],
                               NULL };

        if (program_spawn(argv, NULL) != 0)
            fail_msg("%s is refused", found.gl_pathv[i]);
    }
    globfree(&found);
}

static void every_claim_has_a_file_that_is_right(void **state)
{
    static const char *const group[] = { "A6", "B7", "C6", "D9" };
    static const char *const asked[] = { "E1", "E3", "E4", "E5", "E6", "E7",
                                         "E10" };
    char id[3] = "";

    (void)state;
    for (size_t g = 0; g < 4; g++)
        for (char row = '1'; row <= group[g][1]; row++) {
            id[0] = group[g][0];
            id[1] = row;
            validate_claim(id);
        }
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        validate_claim(asked[i]);
}

/* Whoever reads a claim's row can tell what would turn its verdict: in words, and as
 * plausible values that were tried, whose answers are stored or found in seconds. */
static void answers_say_what_turns_them(void **state)
{
    glob_t found;

    (void)state;
    assert_int_equal(glob("experiments/claims/[A-E][0-9]*_*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = program_read(found.gl_pathv[i]);

        if (!strstr(text, "# What turns it: "))
            fail_msg("%s does not say what turns it", found.gl_pathv[i]);
        if (!strstr(text, "\nsensitivity:\n"))
            fail_msg("%s has no plausible values of inputs", found.gl_pathv[i]);
        free(text);
    }
    globfree(&found);
}

/* page.awk on two expectations of claim X1, of which the first holds. */
static char *make_page(const char *turn)
{
    static const char head[] =
        "claim,point,metric,policy,vs,percent,at_least,at_most,confidence,"
        "seeds,value,ci_low,ci_high,verdict,reason,vs_point\n";
    static const char searched[] =
        "search,claim,metric,policy,versus,point,key,from,to,turns,at,value_from,"
        "value_to,holds_at,fails_at,at_from,seeds,why\n";
    char in[128], set[128], page[128];
    FILE *file;

    snprintf(in, sizeof in, "%s/claims.in", program.folder);
    snprintf(set, sizeof set, "out=%s", program.folder);
    snprintf(page, sizeof page, "%s/report.html", program.folder);
    file = fopen(in, "w");
    assert_non_null(file);
    fprintf(file,
            "@claim X1_ask\nClaim X1: \"it pays\"\n\nRun: a day.\n%s"
            "Assumed: nothing.\n@checks\n%s"
            "X1,rate=1/h,jct_mean_s,dynamic,static,1,,-10,0.95,9,-25,-30,-20,"
            "holds,why,\n"
            "X1,rate=2/h,jct_mean_s,dynamic,static,1,,-10,0.95,9,5,4,6,"
            "does not hold,why,\n"
            "X1,base,time_s,advice,,0,,604800,,,259200,,,holds,why,\n"
            "X1,job on a100,feasible,advice,,0,,0,,,0,,,holds,why,\n"
            "X1 aside,base,cost_usd,fcfs,,0,,1,,1,7,,,does not hold,why,\n"
            "@turns\n# 1\n%s"
            "sensitivity,X1,time_s,fcfs,,rate=1/h,cluster.nodes.t4.price,1USD/h,9USD/h,yes,"
            "4USD/h,1,9,,,,8,of two clouds\n"
            "sensitivity,X1,time_s,fcfs,,rate=2/h,cluster.nodes.t4.price,1USD/h,9USD/h,no,,"
            "1,9,,,,8,of two clouds\n"
            "sensitivity,X1,time_s,fcfs,,rate=1/h,workload.mix.*.batch,1,8,no,,1,1,,,,8,\n"
            "border,X1,time_s,fcfs,,,workload.arrival.rate,1/h,9/h,yes,,,,3/h,4/h,holds,8,"
            "\n", turn, head, searched);
    assert_int_equal(fclose(file), 0);
    const char *argv[] = { "awk", "-v", set, "-f", "experiments/claims/csv.awk", "-f",
                           "experiments/claims/page.awk", in, NULL };
    assert_int_equal(program_spawn(argv, NULL), 0);
    return program_read(page);
}

static void the_page_answers_in_plain_words(void **state)
{
    char *page = make_page("What turns it: the\nrate.\n");
    char *details = strstr(page, "<h2");

    (void)state;
    assert_non_null(details);
    *details = '\0';                    /* what stands above all details */
    assert_non_null(strstr(page, "<p>0 hold, 1 hold in part, 0 do not"));
    assert_non_null(strstr(page, "holds in part: 3 of 4"));
    assert_non_null(strstr(page, "<b>mean completion time of dynamic against "
                                 "static</b>: -25% (-30% to -20%), rate 1/h; "
                                 "+5% (+4% to +6%), rate 2/h. <i>Expected at "
                                 "most -10%: 1 of 2 so"));
    assert_non_null(strstr(page, "3.0 days"));
    assert_non_null(strstr(page, "a layout fits</b>: no, job on a100"));
    assert_non_null(strstr(page, "<td>The\nrate.<p"));
    assert_null(strstr(page, "7 USD"));     /* it does not decide */
    free(page);
}

static void the_page_names_borders_if_nothing_says_what_turns_it(void **state)
{
    char *page = make_page("");

    (void)state;
    assert_non_null(strstr(page, "<td>rate between 1/h and 2/h<p"));
    free(page);
}

static void the_page_names_inputs_that_turn_an_answer(void **state)
{
    char *page = make_page("What turns it: the\nrate.\n");

    (void)state;
    assert_non_null(strstr(page, "<b>t4 price</b> at 4USD/h, of 1USD/h to 9USD/h: 1 of 2 "
                                 "answers turn"));
    assert_non_null(strstr(page, "No other input asked turns an answer: batch"));
    assert_non_null(strstr(page, "holds at 3/h, does not at 4/h"));
    assert_non_null(strstr(page, "1USD/h to 9USD/h: of two clouds"));
    free(page);
}

/* Adds `sensitivity:` to the question that task() wrote. */
static int turns_of_task(const char *said, const char *log)
{
    char path[128], out[128], logged[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/ask.yaml", program.folder);
    snprintf(out, sizeof out, "%s/ask", program.folder);
    snprintf(logged, sizeof logged, "%s/%s", program.folder, log);
    file = fopen(path, "a");
    assert_non_null(file);
    fputs(said, file);
    assert_int_equal(fclose(file), 0);
    const char *argv[] = { program.path, "sensitivity", path, "-o", out, NULL };
    return program_spawn(argv, logged);
}

static void advice_is_judged_at_plausible_values(void **state)
{
    char path[128], *text;

    (void)state;
    task("claim: F, job: l, on: big, figure: fits, at_least: 1", "a");
    assert_int_equal(turns_of_task("sensitivity:\n  claim: F\n  inputs:\n"
                                   "    workload.mix.l.model: [llama-2-7b, llama-2-70b]\n"
                                   "    workload.mix.l.recompute: [none, full]\n"
                                   "    workload.mix.l.steps: {from: 10, to: 50}\n", "t"), 0);
    snprintf(path, sizeof path, "%s/t", program.folder);
    text = program_read(path);
    assert_string_equal(text, "F: fits of l on big at least 1 holds, and turns if "
                              "mix.l.model is llama-2-70b; no other input turns it within "
                              "its range\n");
    free(text);
    snprintf(path, sizeof path, "%s/ask/sensitivity.csv", program.folder);
    text = program_read(path);
    assert_non_null(strstr(text, "\nF,fits,advice,,l on big,workload.mix.l.model,llama-2-7b,"
                                 "llama-2-70b,"));
    assert_non_null(strstr(text, ",yes,llama-2-70b,1,0,"));
    free(text);
}

static void wrong_plausible_values_of_advice_are_refused(void **state)
{
    char path[128], *text;

    (void)state;
    task("claim: F, job: l, on: big, figure: fits, at_least: 1", "a");
    assert_int_equal(turns_of_task("", "t"), 3);
    task("claim: F, job: l, on: big, figure: fits, at_least: 1", "a");
    assert_int_equal(turns_of_task("sensitivity: {claim: G, inputs: "
                                   "{workload.mix.l.steps: [1, 2]}}\n", "t"), 3);
    snprintf(path, sizeof path, "%s/t", program.folder);
    text = program_read(path);
    assert_non_null(strstr(text, "claim names 'G', which no expectation has"));
    assert_non_null(strstr(text, "ask.yaml:"));
    free(text);
    task("claim: F, job: l, on: big, figure: fits, at_least: 1", "a");
    assert_int_equal(turns_of_task("sensitivity: {claim: F, inputs: "
                                   "{workload.mix.l.steps: [1]}}\n", "t"), 3);
}

static int tear_down(void **state)
{
    (void)state;
    program_close(&program);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_match_word_by_word),
        cmocka_unit_test(labels_take_other_values_of_their_keys),
        cmocka_unit_test(points_are_compared_with_the_point_named),
        cmocka_unit_test(point_and_its_other_come_back_from_checks_csv),
        cmocka_unit_test(advice_heeds_a_catalogue_of_its_own),
        cmocka_unit_test(advice_is_judged_by_its_figures),
        cmocka_unit_test(advice_that_has_no_figure_does_not_hold),
        cmocka_unit_test(questions_take_other_values_by_set),
        cmocka_unit_test(wrong_questions_are_refused_with_their_place),
        cmocka_unit_test(limits_of_advice_are_read_as_those_of_experiments),
        cmocka_unit_test(rented_nodes_cost_while_they_are_held),
        cmocka_unit_test(every_claim_has_a_file_that_is_right),
        cmocka_unit_test(answers_say_what_turns_them),
        cmocka_unit_test(the_page_answers_in_plain_words),
        cmocka_unit_test(the_page_names_borders_if_nothing_says_what_turns_it),
        cmocka_unit_test(the_page_names_inputs_that_turn_an_answer),
        cmocka_unit_test(advice_is_judged_at_plausible_values),
        cmocka_unit_test(wrong_plausible_values_of_advice_are_refused),
    };

    (void)argc;
    program_open(&program, argv[0]);
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
