/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recount_test.c - the second opinion on figures: what it compares, and what it found.
 *
 * That it stops wrong figures is shown by tests/faults.py, which plants them.
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

#include "experiments/recount/cells.h"
#include "experiments/recount/histogram.h"
#include "experiments/recount/judge.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "sim/flow/share.h"
#include "tests/aid/program.h"

static struct program program;

static void figures_within_rounding_are_equal_and_others_are_named(void **state)
{
    struct judge judge = { .compared = 0 };

    (void)state;
    judge_figure(&judge, "a", 1, 1 + 1e-12, 0);
    judge_figure(&judge, "b", NAN, NAN, 0);
    judge_figure(&judge, "c", 1e-9, 0, 1000);
    assert_string_equal(judge.broken, "");
    judge_figure(&judge, "d", 1, 1 + 1e-6, 0);
    judge_figure(&judge, "e", 2, 3, 0);
    assert_string_equal(judge.broken, "d is 1, and 1.000001 when counted again");
    assert_int_equal(judge.compared, 5);
}

/* Four million equal terms, each rounded the same way; a fault of one part in 1e8 is seen. */
static void a_long_sum_may_be_rounded_as_often_as_it_has_terms(void **state)
{
    struct judge judge = { .terms = 4000000 }, brief = { .terms = 0 };
    double sum = 0;

    (void)state;
    for (uint64_t i = 0; i < judge.terms; i++)
        sum += 0.1;
    judge_figure(&judge, "a", sum, 400000, 0);
    assert_string_equal(judge.broken, "");
    judge_figure(&judge, "b", 1, 1 + 1e-8, 0);
    assert_string_equal(judge.broken, "b is 1, and 1.00000001 when counted again");
    judge_figure(&brief, "c", sum, 400000, 0);
    assert_string_not_equal(brief.broken, "");
}

static void an_empty_figure_is_no_number(void **state)
{
    struct judge judge = { .compared = 0 };

    (void)state;
    judge_figure(&judge, "a", NAN, 0, 0);
    assert_string_equal(judge.broken, "a is nan, and 0 when counted again");
}

/* Of 1 to 10,000 all quantiles are known. */
static void a_histogram_refuses_another_quantile(void **state)
{
    static struct histogram histogram;

    (void)state;
    for (int i = 1; i <= 10000; i++)
        histogram_add(&histogram, i);
    assert_true(histogram_holds(&histogram, 9500, 0.95));
    assert_true(histogram_holds(&histogram, 5000, 0.5));
    assert_false(histogram_holds(&histogram, 8500, 0.95));
    assert_false(histogram_holds(&histogram, 4500, 0.5));
    assert_false(histogram_holds(&histogram, NAN, 0.5));
}

static void quoted_cells_are_read_as_they_were(void **state)
{
    static struct cells cells;
    const char text[] = "a,\"b,\"\"c\"\"\n\",,1.5\nrest";
    const char *at = text;

    (void)state;
    assert_true(cells_read(&at, text + sizeof text - 1, &cells));
    assert_int_equal(cells.count, 4);
    assert_string_equal(cells.text[1], "b,\"c\"\n");
    assert_true(isnan(cells_number(&cells, 2)));
    assert_true(cells_number(&cells, 3) == 1.5);
    assert_string_equal(at, "rest");
    assert_false(cells_read(&at, text + sizeof text - 1, &cells));
}

/* Two flows on a link of 10, of weights 1 and 3: 2.5 and 7.5 are fair, nothing else. */
static void rates_are_fair_as_solved_and_no_other_way(void **state)
{
    struct share share;
    uint32_t one, two, unfair;

    (void)state;
    share_init(&share);
    (void)share_link_add(&share, 10);
    one = share_add(&share, 1, INFINITY, 1);
    two = share_add(&share, 3, INFINITY, 1);
    share_use(&share, one, 0, 0, 1);
    share_use(&share, two, 0, 0, 1);
    share.flow[one].rate = 2.5;
    share.flow[two].rate = 7.5;
    assert_true(share_is_fair(&share, &unfair));
    share.flow[two].rate = 7;           /* the link is not full */
    assert_false(share_is_fair(&share, &unfair));
    share.flow[one].rate = 5;           /* full, and the heavier has too little */
    share.flow[two].rate = 5;
    assert_false(share_is_fair(&share, &unfair));
    assert_int_equal(unfair, two);
    share.flow[one].rate = share.flow[two].rate = 6;    /* too full */
    assert_false(share_is_fair(&share, &unfair));
    share.flow[one].rate_max = 1;       /* a cap gives the rest to the other */
    share.flow[one].rate = 1;
    share.flow[two].rate = 9;
    assert_true(share_is_fair(&share, &unfair));
    share_release(&share);
}

static void add_work(void *self, const struct flow_use *use, uint32_t count, double work,
                     uint64_t arg)
{
    assert_int_equal(arg, 7);
    for (uint32_t k = 0; k < count; k++)
        ((double *)self)[use[k].link] += work * use[k].per_unit;
}

/* One flow is done, one is stopped half way, one still runs. */
static void work_that_is_told_is_what_links_carried(void **state)
{
    struct loop *loop = loop_new((struct loop_limits){ .until_ns = 10000000000,
                                                       .event_count_max = 100 });
    struct flow_net *net = flow_new(loop);
    double told[2] = { 0 };
    struct flow_use use[] = { { flow_link_add(net, 6), 1 }, { flow_link_add(net, 100), 2 } };
    struct flow_spec spec = { .work = 10, .weight = 1, .rate_max = INFINITY, .use = use,
                              .use_count = 2, .arg = 7 };

    (void)state;
    flow_listen(net, add_work, told);
    (void)flow_start(net, &spec);
    spec.work = 100;
    struct flow_handle stopped = flow_start(net, &spec);
    (void)flow_start(net, &spec);
    (void)loop_run(loop);
    (void)flow_stop(net, stopped);
    assert_true(told[0] > 10 && told[0] < 60);
    flow_each(net, add_work, told);
    assert_true(fabs(told[0] - flow_link_area(net, 0)) < 1e-6);
    assert_true(fabs(told[1] - flow_link_area(net, 1)) < 1e-6);
    assert_true(fabs(told[0] - 60) < 1e-6);
    flow_free(net);
    loop_free(loop);
}

/* The value of a column in the row of a CSV, from 1. */
static double cell_of(const char *csv, const char *column, int row)
{
    char path[600], *text;
    static struct cells head, cells;
    unsigned c = 0;

    snprintf(path, sizeof path, "%s/out/%s", program.folder, csv);
    text = program_read(path);
    assert_non_null(text);
    const char *at = text, *end = text + strlen(text);
    assert_true(cells_read(&at, end, &head));
    for (int r = 0; r < row; r++)
        assert_true(cells_read(&at, end, &cells));
    while (c < head.count && strcmp(head.text[c], column) != 0)
        c++;
    assert_true(c < head.count);
    free(text);
    return cells_number(&cells, c);
}

static void run(const char *experiment)
{
    char out[600];
    const char *const argv[] = { program.path, "run", experiment, "-o", out, "-q",
                                 "--audit", "full", NULL };

    snprintf(out, sizeof out, "%s/out", program.folder);
    assert_int_equal(program_spawn(argv, NULL), 0);
}

/* Replicas live when the run is cut off: their time at work was added twice, and their
 * requests were called rerouted. */
static void replicas_that_live_at_the_end_count_once(void **state)
{
    (void)state;
    run("tests/faults/chat.yaml");
    assert_true(cell_of("services.csv", "unfinished", 1) > 0);
    assert_true(cell_of("services.csv", "gpu_replica_utilization", 1) <= 1);
    assert_true(cell_of("services.csv", "rerouted", 1) == 0);
}

/* Every figure of these runs is counted again, in both forms. */
static void small_runs_of_all_kinds_pass(void **state)
{
    (void)state;
    run("tests/faults/rl.yaml");
    run("tests/faults/shared.yaml");
    run("tests/faults/counted.yaml");
}

/* The first number of `column` in the rows of a policy and seed. */
static double first_of(const char *csv, const char *column, const char *policy, const char *seed)
{
    char *text = program_result(&program, "out", csv), field[64];
    size_t c = csv_column(text, column);
    double found = NAN;

    for (const char *line = strchr(text, '\n'); line[1] != '\0' && isnan(found);
         line = strchr(line, '\n')) {
        line++;
        csv_field(line, 1, field, sizeof field);
        if (strcmp(field, policy) != 0)
            continue;
        csv_field(line, 2, field, sizeof field);
        if (strcmp(field, seed) != 0)
            continue;
        csv_field(line, c, field, sizeof field);
        found = strtod(field, NULL);
    }
    free(text);
    return found;
}

/* Four blocks of 1000 s with one short job each, after 0, 500, 300 and 600 s.  The time of a
 * trial begins with the first job of its own draw, on nodes that are counted (fcfs) and on the
 * host (sjf); before it stood a row of the timeline that the second opinion refused. */
static void a_trace_of_drawn_blocks_begins_with_its_first_job(void **state)
{
    static const char *const seed[] = { "0", "1", "2", "3", "4", "5" };
    unsigned later = 0;

    (void)state;
    program_write(&program, "t.csv", "job,submit,run,gpus\na,0,50,1\nb,1500,50,1\nc,2300,50,1\n"
                                     "d,3600,50,1\n");
    program_write(&program, "e.yaml", "experiment: e\nseeds: 6\n"
                  "cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, count: 2}}]}\n"
                  "workload: {trace: {file: t.csv, format: csv, resample: {block: 1000s}, columns: "
                  "{job: job, submit: submit, duration: run, gpus: gpus}}}\npolicies: [fcfs, "
                  "sjf]\noutput: {plots: [], detail_seeds: all, tables: [jobs, timeline]}\n");
    run(program_path(&program, "e.yaml"));
    for (unsigned i = 0; i < 6; i++) {
        double first_s = first_of("jobs.csv", "submit_s", "fcfs", seed[i]);

        assert_true(first_s == 0 || first_s == 500 || first_s == 300 || first_s == 600);
        assert_true(first_of("timeline.csv", "t_s", "fcfs", seed[i]) == first_s);
        assert_true(first_of("timeline.csv", "t_s", "sjf", seed[i]) == first_s);
        later += first_s > 0;
    }
    assert_true(later > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_within_rounding_are_equal_and_others_are_named),
        cmocka_unit_test(a_long_sum_may_be_rounded_as_often_as_it_has_terms),
        cmocka_unit_test(an_empty_figure_is_no_number),
        cmocka_unit_test(a_histogram_refuses_another_quantile),
        cmocka_unit_test(quoted_cells_are_read_as_they_were),
        cmocka_unit_test(rates_are_fair_as_solved_and_no_other_way),
        cmocka_unit_test(work_that_is_told_is_what_links_carried),
        cmocka_unit_test(replicas_that_live_at_the_end_count_once),
        cmocka_unit_test(small_runs_of_all_kinds_pass),
        cmocka_unit_test(a_trace_of_drawn_blocks_begins_with_its_first_job),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
