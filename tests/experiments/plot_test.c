/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot_test.c - data of charts to the byte, and charts as files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/report/plot.h"
#include "experiments/report/plot_gnuplot.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "tests/aid/results_aid.h"

static const char *const figures[] = {
    "cost", "utilization", "idle", "delta", "jct_cdf", "gantt", "timeline",
    "sweep"
};
#define FIGURES (sizeof figures / sizeof figures[0])

/* Data files are written before gnuplot is asked: enough where it is not
 * installed. */
static void draw(const char *dir, const char *format)
{
    struct err err = { 0 };

    if (!plot_draw(dir, format, &err) &&
        strstr(err.text, "gnuplot is not installed") == NULL)
        fail_msg("%s", err.text);
}

static void check_text(const char *dir, const char *name, const char *wanted)
{
    char *text = results_text(dir, name);

    assert_string_equal(text, wanted);
    free(text);
}

/* 12.7062047 is Student's t for one degree of freedom; s / sqrt 2 is 1. */
static void data_of_means_hold_means_and_intervals(void **state)
{
    char dir[64];

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    check_text(dir, "plots/cost.dat",
               "# point policy cost_per_job_usd ci95_low ci95_high cost_usd "
               "ci95_low ci95_high, then where each ends\n"
               "1 1 2.1 0.829379526 3.37062047 21 8.29379526 33.7062047 "
               "3.37062047 33.7062047\n"
               "1 2 1.1 -0.170620474 2.37062047 11 -1.70620474 23.7062047 "
               "2.37062047 23.7062047\n"
               "2 1 4.1 2.82937953 5.37062047 41 28.2937953 53.7062047 "
               "5.37062047 53.7062047\n"
               "2 2 2.1 0.829379526 3.37062047 21 8.29379526 33.7062047 "
               "3.37062047 33.7062047\n");
    check_text(dir, "plots/utilization.dat",
               "# point policy busy tail switch bubble idle_queued idle_empty "
               "down rent gpu_utilization ci95_low ci95_high (fractions of "
               "all GPU time)\n"
               "1 1 0.25 0 0 0.5 0 0.25 0 0 0.25 0.25 0.25\n"
               "1 2 0.5 0 0 0.25 0 0.25 0 0 0.5 0.5 0.5\n"
               "2 1 0.25 0 0 0.5 0 0.25 0 0 0.25 0.25 0.25\n"
               "2 2 0.5 0 0 0.25 0 0.25 0 0 0.5 0.5 0.5\n");
    check_text(dir, "plots/delta.dat",
               "# point policy metric delta_percent ci95_low ci95_high, then "
               "the same within the axis\n"
               "1 2 2 -48 -50 -46 -48 -50 -46\n"
               "2 2 2 -48 -50 -46 -48 -50 -46\n");
    results_remove(dir);
}

static void the_sweep_is_read_from_the_labels_of_points(void **state)
{
    char dir[64], *head;

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    check_text(dir, "plots/sweep.dat",
               "# value, then mean ci95_low ci95_high of: cost_per_job_usd "
               "gpu_utilization jct_mean_s wait_mean_s\n# policy 1\n"
               " 1 2.1 0.829379526 3.37062047 0.25 0.25 0.25 3600 3600 3600 "
               "0 0 0\n"
               " 2 4.1 2.82937953 5.37062047 0.25 0.25 0.25 7200 7200 7200 "
               "0 0 0\n\n\n# policy 2\n"
               " 1 1.1 -0.170620474 2.37062047 0.5 0.5 0.5 3600 3600 3600 "
               "0 0 0\n"
               " 2 2.1 0.829379526 3.37062047 0.5 0.5 0.5 7200 7200 7200 "
               "0 0 0\n");
    head = results_text(dir, "plots/sweep.gp");
    assert_non_null(strstr(head, "\nswept_key = 'x'\nswept_unit = 'per hour'\n"
                                 "swept_span = 1\n"));
    assert_non_null(strstr(head, "\narray policy[2] = ['first', 'second']\n"));
    free(head);
    results_remove(dir);
}

/* Draws one figure alone: fewer seconds than all. */
static void draw_only(const char *dir, const char *figure)
{
    char path[80];

    snprintf(path, sizeof path, "%s/plots", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    results_write_text(dir, "plots/list.txt", figure);
    draw(dir, "png");
}

/* Of two points of a sweep, the rows of the first policy begin with these. */
static void assert_sweep_rows(const char *point0, const char *point1, const char *begin,
                              const char *then, const char *second)
{
    struct results_names two = results_plain;
    char dir[64], *rows;

    two.point[0] = point0;
    two.point[1] = point1;
    results_make(dir, &two);
    draw_only(dir, "sweep\n");
    rows = results_text(dir, "plots/sweep.dat");
    const char *first = strstr(rows, begin), *next = strstr(rows, then);
    assert_non_null(first);
    assert_true(next > first && next < strstr(rows, second));
    free(rows);
    results_remove(dir);
}

/* Lines join the points from the least value on, in whatever order a sweep lists them. */
static void a_sweep_that_falls_is_drawn_from_its_least_value(void **state)
{
    (void)state;
    assert_sweep_rows("x=10/h", "x=2/h", "# policy 1\n 2 4.1 ", "\n 10 2.1 ",
                      "# policy 2\n 2 2.1 ");
}

/* Two ways to write 2 are two points; neither goes before the other by its value. */
static void points_of_one_value_stand_as_the_sweep_lists_them(void **state)
{
    (void)state;
    assert_sweep_rows("x=2.0/h", "x=2/h", "# policy 1\n 2 2.1 ", "\n 2 4.1 ",
                      "# policy 2\n 2 1.1 ");
}

static void jobs_that_are_not_done_hold_their_curve_down(void **state)
{
    char dir[64], *text;

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    text = results_text(dir, "plots/jct_cdf.dat");
    assert_non_null(strstr(text, "# point 1 policy 1\n 100 0\n 100 0.25\n"
                                 " 100 0.25\n 100 0.5\n 200 0.5\n 200 0.75\n"
                                 " 200 0.75\n 200 1\n\n\n"
                                 "# point 1 policy 2\n 200 0\n 200 0.25\n"
                                 " 200 0.25\n 200 0.5\n 400 0.5\n 400 0.75\n"
                                 "\n\n# point 2"));
    free(text);
    results_remove(dir);
}

static void check_in(const char *dir, const char *name, const char *part)
{
    char *text = results_text(dir, name);

    if (strstr(text, part) == NULL)
        fail_msg("%s lacks %s:\n%s", name, part, text);
    free(text);
}

/* Captions speak of jobs that were not done, and of seeds that add nothing,
 * by these two. */
static void heads_say_whether_jobs_were_lost_and_seeds_add_nothing(
    void **state)
{
    static const char was[] = "first,0,10,10,";
    char dir[64], *text, *at;

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    check_in(dir, "plots/sweep.gp", "\nlost = 0\nfixed = 0\n");
    text = results_text(dir, "summary.csv");
    at = strstr(text, was);
    assert_non_null(at);
    memcpy(at, "first,0,10,09,", sizeof was - 1);
    results_write_text(dir, "summary.csv", text);
    draw(dir, "png");
    for (size_t f = 0; f < FIGURES; f++) {
        char name[64];

        snprintf(name, sizeof name, "plots/%s.gp", figures[f]);
        check_in(dir, name, "\nlost = 1\nfixed = 0\n");
    }
    for (at = text; (at = strstr(at, ",0,\n")) != NULL; at++)
        at[1] = '1';                    /* deterministic; the last column is empty */
    results_write_text(dir, "summary.csv", text);
    free(text);
    draw(dir, "png");
    check_in(dir, "plots/sweep.gp", "\nlost = 1\nfixed = 1\n");
    results_remove(dir);
}

/* A bar without an interval has its label at its own end. */
static void values_stand_at_bars_without_whiskers(void **state)
{
    char dir[64], *text, *to;

    (void)state;
    results_make(dir, &results_plain);
    text = results_text(dir, "summary.csv");
    to = text;
    for (char *line = text; *line != '\0';) {
        size_t bytes = strcspn(line, "\n") + 1;
        const char *seed = strchr(strchr(line, ',') + 1, ',') + 1;

        if (seed[0] != '1') {
            memmove(to, line, bytes);
            to += bytes;
        }
        line += bytes;
    }
    *to = '\0';
    results_write_text(dir, "summary.csv", text);
    free(text);
    draw(dir, "png");
    check_in(dir, "plots/cost.dat", "\n1 1 2 NaN NaN 20 NaN NaN 2 20\n");
    results_remove(dir);
}

/* Of a trace with `origin: file` time counts from 1970: the axis does not. */
static void calendar_times_are_shown_from_the_first_job(void **state)
{
    char dir[64], *text, more[2048] = "";
    size_t used = 0;

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    check_in(dir, "plots/timeline.gp", "\nzero_s = 0\nend_s = 60\n");
    text = results_text(dir, "timeline.csv");
    used = strcspn(text, "\n");
    snprintf(more, sizeof more, "%.*s\n"
             "x=2/h,first,0,1760000015,a,8,5,2,0,0,1,0\n"
             "x=2/h,first,0,1760000095.25,a,8,5,3,0,1,1,0\n", (int)used,
             text);
    free(text);
    results_write_text(dir, "timeline.csv", more);
    draw(dir, "png");
    check_in(dir, "plots/timeline.gp",
             "\nzero_s = 1760000015\nend_s = 1760000095.25\n");
    check_in(dir, "plots/timeline.dat",
             "\n 1760000015 8 5 2 0\n 1760000095.25 8 5 3 1\n");
    results_remove(dir);
}

static void intervals_add_up_their_pools(void **state)
{
    char dir[64];

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    check_text(dir, "plots/timeline.dat",
               "# t_s gpus_total gpus_allocated gpus_busy jobs_pending (means "
               "from t_s to the next)\n"
               "# policy 1\n 0 8 5 2 0\n 60 8 5 3 1\n\n\n"
               "# policy 2\n 0 8 5 2 1\n 60 8 5 3 2\n");
    results_remove(dir);
}

/* Rows: GPUs 0 and 1 of node 0, 0 of node 1, then node 3, whose GPU 0 never
 * ran anything but lies below one that did. */
static void the_gantt_has_a_row_per_gpu_and_boxes_per_run(void **state)
{
    char dir[64], *text, *head;

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    text = results_text(dir, "plots/gantt.dat");
    assert_non_null(strstr(text,
        "# policy 1: between phases\n0 1 10 12 0 0 1\n1 2 10 12 0 0 1\n"
        "2 3 10 12 0 0 1\nNaN NaN NaN NaN NaN NaN NaN\n\n\n"
        "# policy 1: phases\n0 2 0 10 1 1 1\n2 3 0 10 1 1 1\n"
        "0 2 12 20 1 1 1\n2 3 12 20 1 1 1\n4 5 5 15 2 1 2\nNaN NaN NaN NaN NaN NaN NaN\n\n\n"
        "# policy 1: time_s, row and number of the names of jobs\n"
        " 10 1 1\n 10 2.5 1\n 10 4.5 2\n-1 -1 1\n"));
    free(text);
    head = results_text(dir, "plots/gantt.gp");
    assert_non_null(strstr(head, "array kind[2] = ['train', 'rollout']\n"));
    assert_non_null(strstr(head, "array node[3] = ['node 0', 'node 1', "
                                 "'node 3']\n"));
    assert_non_null(strstr(head, "node_row[3] = 3\nnode_row[4] = 5\n"));
    free(head);
    results_remove(dir);
}

/* 40 nodes of eight GPUs that generate, 16 of two that train: 352 GPUs of which
 * each node ran something.  A share of 128 is 116 and 11: 14 nodes of 8, and 5
 * of 2. */
static void of_many_gpus_each_pool_shows_its_share(void **state)
{
    char dir[64], *head, *table = malloc(200000), *end = table;

    (void)state;
    assert_non_null(table);
    results_make(dir, &results_plain);
    end += sprintf(end, "point,policy,seed,job,phase,start_s,end_s,gpus,"
                        "nodes\n");
    for (int p = 0; p < 2; p++)
        for (int n = 0; n < 56; n++)
            end += sprintf(end, "x=2/h,%s,0,job-%d,train,0,10,1,%d:0\n",
                           p == 0 ? "first" : "second", n, n);
    results_write_text(dir, "phases.csv", table);
    free(table);
    results_write_text(dir, "provenance.json",
        "{\"experiment\": \"e\", \"cluster\": {\"point\": \"x=2/h\", "
        "\"nodes\": [\n{\"name\": \"gen\", \"pool\": \"left\", "
        "\"first\": 0, \"count\": 40, \"gpus\": 8},\n{\"name\": "
        "\"dgx\", \"pool\": \"right\", \"first\": 40, \"count\": 16, "
        "\"gpus\": 2},\n{\"name\": \"cpu\", \"pool\": \"cpu\", "
        "\"first\": 56, \"count\": 3, \"gpus\": 0}]}}\n");
    draw(dir, "png");
    head = results_text(dir, "plots/gantt.gp");
    assert_non_null(strstr(head, "\nrows = 122\n"));
    assert_non_null(strstr(head, "\nrows_left_out = 230\n"));
    assert_non_null(strstr(head, "\nchosen = '112 of 320 of pool left, 10 of "
                                 "32 of pool right'\n"));
    assert_non_null(strstr(head, "\narray pool[2] = ['left', 'right']\n"));
    assert_non_null(strstr(head, "\npool_row[2] = 112\n"));
    assert_non_null(strstr(head, "\narray node[19] = ['gen 0', 'gen 3', "));
    assert_non_null(strstr(head, "'gen 39', 'dgx 0', 'dgx 3', 'dgx 7', "
                                 "'dgx 11', 'dgx 15']\n"));
    assert_non_null(strstr(head, "\nlabels = 0\n"));   /* rows are too low */
    free(head);
    results_remove(dir);
}

/* A folder without provenance.json does not name its nodes: 140 that ran something on one GPU
 * are 12 more than the 128 rows of the chart. */
static void nodes_that_nothing_names_are_too_many_as_well(void **state)
{
    char dir[64], *head, *table = malloc(20000), *end = table;

    (void)state;
    assert_non_null(table);
    results_make(dir, &results_plain);
    end += sprintf(end, "point,policy,seed,job,phase,start_s,end_s,gpus,nodes\n");
    for (int n = 0; n < 140; n++)
        end += sprintf(end, "x=2/h,first,0,job-%d,train,0,10,1,%d:0\n", n, n);
    results_write_text(dir, "phases.csv", table);
    free(table);
    draw_only(dir, "gantt\n");
    head = results_text(dir, "plots/gantt.gp");
    assert_non_null(strstr(head, "\nrows = 128\n"));
    assert_non_null(strstr(head, "\nrows_left_out = 12\n"));
    free(head);
    results_remove(dir);
}

/* Two kinds of job, told by jobs.csv; all GPUs are shown, idle ones too. */
static void bars_have_the_colour_of_their_kind_and_the_name_of_their_job(
    void **state)
{
    char dir[64], *head, *text;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "phases.csv",
        "point,policy,seed,job,phase,start_s,end_s,gpus,nodes\n"
        "x=2/h,first,0,alpha,train,0,10,2,0:0-1\n"
        "x=2/h,first,0,beta,train,10,20,2,0:0-1\n"
        "x=2/h,second,0,beta,train,0,20,2,0:0-1\n");
    results_write_text(dir, "jobs.csv",
        "point,policy,seed,job,kind,jct_s,status\n"
        "x=2/h,first,0,alpha,small,10,done\n"
        "x=2/h,first,0,beta,large,20,done\n"
        "x=2/h,first,1,beta,small,20,done\n");
    results_write_text(dir, "provenance.json",
        "{\"cluster\": {\"nodes\": [{\"name\": \"n\", \"pool\": "
        "\"p\", \"first\": 0, \"count\": 2, \"gpus\": 4}]}}\n");
    draw(dir, "png");
    head = results_text(dir, "plots/gantt.gp");
    assert_non_null(strstr(head, "array kind[2] = ['small: train', "
                                 "'large: train']\n"));
    assert_non_null(strstr(head, "\narray job_name[2] = ['alpha', 'beta']\n"));
    assert_non_null(strstr(head, "\nrows = 8\n"));
    assert_non_null(strstr(head, "\nrows_left_out = 0\n"));
    assert_non_null(strstr(head, "\narray node[2] = ['n 0', 'n 1']\n"));
    free(head);
    text = results_text(dir, "plots/gantt.dat");
    assert_non_null(strstr(text, "\n0 2 0 10 1 "));
    assert_non_null(strstr(text, "\n0 2 10 20 2 "));
    assert_non_null(strstr(text, "\n 5 1 1\n"));     /* alpha, at its middle */
    assert_non_null(strstr(text, "\n 15 1 2\n"));
    free(text);
    results_remove(dir);
}

/* Of 24 colours each has its name; of more, what comes last shares one. */
static void kinds_beyond_the_last_colour_are_others(void **state)
{
    static const char *const name[] = { "'kind 22', 'kind 23']", "'kind 22', 'other']" };

    (void)state;
    for (int more = 0; more < 2; more++) {
        char dir[64], *head, table[4000], *end = table;

        results_make(dir, &results_plain);
        end += sprintf(end, "point,policy,seed,job,phase,start_s,end_s,gpus,nodes\n");
        for (int k = 0; k < 24 + more; k++)
            end += sprintf(end, "x=2/h,first,0,j%d,kind %d,%d,%d,1,0:0\n", k, k, k, k + 1);
        results_write_text(dir, "phases.csv", table);
        draw_only(dir, "gantt\n");
        head = results_text(dir, "plots/gantt.gp");
        assert_non_null(strstr(head, "array kind[24] = ['kind 0', "));
        assert_non_null(strstr(head, name[more]));
        assert_non_null(strstr(head, "\nkinds = 24\n"));
        free(head);
        results_remove(dir);
    }
}

/* Cost is 411% more, its interval wider still; each row has a place on the
 * axis, and its number beside. */
static void what_lies_beyond_the_axis_stands_at_its_end(void **state)
{
    char dir[64], *head;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "compare.csv",
        "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,"
        "delta_percent,delta_ci95_low_percent,delta_ci95_high_percent,"
        "p_value\n"
        "x=1/h,second,cost_usd,2,1,,,first,411,-20,900,0.1\n"
        "x=1/h,second,energy_kwh,2,1,,,first,-20,,,\n"
        "x=2/h,second,cost_usd,2,1,,,first,12,10,14,0.1\n"
        "x=2/h,second,jct_mean_s,2,1,,,first,-99,-100,500,0.1\n");
    draw(dir, "png");
    check_text(dir, "plots/delta.dat",
               "# point policy metric delta_percent ci95_low ci95_high, then "
               "the same within the axis\n"
               "1 2 2 411 -20 900 150 -20 150\n"
               "1 2 3 -20 NaN NaN -20 NaN NaN\n"
               "2 2 2 12 10 14 12 10 14\n"
               "2 2 4 -99 -100 500 -99 -100 150\n");
    head = results_text(dir, "plots/delta.gp");
    assert_non_null(strstr(head, "\nlowest = -100\nhighest = 150\n"));
    free(head);
    results_remove(dir);
}

/* The interval of the first has no end, as its p-value says, and goes over the whole axis:
 * means are 5 and -4, so the axis may take -10 to 10 for whiskers.  The second has one
 * seed, and no interval. */
static void an_interval_without_an_end_goes_over_the_axis(void **state)
{
    char dir[64], *head;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "compare.csv",
        "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,"
        "delta_percent,delta_ci95_low_percent,delta_ci95_high_percent,"
        "p_value\n"
        "x=1/h,second,cost_usd,2,1,,,first,5,,,0.4\n"
        "x=2/h,second,cost_usd,1,1,,,first,-4,,,\n");
    draw(dir, "png");
    check_text(dir, "plots/delta.dat",
               "# point policy metric delta_percent ci95_low ci95_high, then "
               "the same within the axis\n"
               "1 2 2 5 -Inf Inf 5 -10 10\n"
               "2 2 2 -4 NaN NaN -4 NaN NaN\n");
    head = results_text(dir, "plots/delta.gp");
    assert_non_null(strstr(head, "\nlowest = -10\nhighest = 10\n"));
    free(head);
    results_remove(dir);
}

/* A baseline that may be 0 leaves one end open: the whisker goes to that side of the axis, which
 * may take as much again as the means of 20 and -40 do. */
static void an_interval_with_one_end_goes_over_one_side(void **state)
{
    char dir[64];

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "compare.csv",
        "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,"
        "delta_percent,delta_ci95_low_percent,delta_ci95_high_percent,"
        "p_value\n"
        "x=1/h,second,cost_usd,2,1,,,first,20,15,,0.01\n"
        "x=2/h,second,cost_usd,2,1,,,first,-40,,-5,0.01\n");
    draw(dir, "png");
    check_text(dir, "plots/delta.dat",
               "# point policy metric delta_percent ci95_low ci95_high, then "
               "the same within the axis\n"
               "1 2 2 20 15 Inf 20 15 40\n"
               "2 2 2 -40 -Inf -5 -40 -80 -5\n");
    results_remove(dir);
}

/* All less, by up to 30%: nothing of the page is kept for more. */
static void the_axis_of_differences_is_as_wide_as_they_are(void **state)
{
    char dir[64], *head;

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "compare.csv",
        "point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,"
        "delta_percent,delta_ci95_low_percent,delta_ci95_high_percent,"
        "p_value\n"
        "x=1/h,second,cost_usd,1,1,,,first,-30,,,\n"
        "x=2/h,second,cost_usd,1,1,,,first,-5,,,\n");
    draw(dir, "png");
    head = results_text(dir, "plots/delta.gp");
    assert_non_null(strstr(head, "\nlowest = -30\nhighest = 1\n"));
    free(head);
    results_remove(dir);
}

/* Neither tails nor switches nor failures occur, nor does anything wait. */
static void legends_name_causes_that_occur(void **state)
{
    char dir[64], *head;

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    head = results_text(dir, "plots/utilization.gp");
    assert_non_null(strstr(head, "\npresent = '1 4 6'\narray cause[3] = ["
                                 "'busy', 'bubble', 'idle, nothing waits']"));
    free(head);
    head = results_text(dir, "plots/idle.gp");
    assert_non_null(strstr(head, "\npresent = '1 10'\narray cause[2] = ["
                                 "'bubble', 'idle, nothing waits']\n"));
    free(head);
    results_remove(dir);
}

/* Points are told apart by a key of the experiment file; no axis and no title
 * is that key. */
static void axes_have_words_and_units(void **state)
{
    static const struct results_names keys = {
        { "arrival.rate=1/h", "arrival.rate=2/h" }, { "first", "second" },
        "train", "little"
    };
    char dir[64], name[64], *head, *array;

    (void)state;
    results_make(dir, &keys);
    draw(dir, "png");
    for (size_t f = 0; f < FIGURES; f++) {
        snprintf(name, sizeof name, "plots/%s.gp", figures[f]);
        head = results_text(dir, name);
        array = strstr(head, "array point_name[");
        assert_non_null(array);         /* as tables have them */
        memset(array, ' ', strcspn(array, "\n"));
        assert_null(strstr(head, "arrival.rate"));
        assert_null(strstr(head, "_s'"));
        assert_null(strstr(head, "_usd'"));
        assert_non_null(strstr(head, "\narray point_title[2] = ["
                                     "'arrival rate = 1/h', "));
        free(head);
    }
    head = results_text(dir, "plots/sweep.gp");
    assert_non_null(strstr(head, "\nswept_key = 'arrival rate'\nswept_unit = "
                                 "'per hour'\n"));
    assert_non_null(strstr(head, "\narray what[4] = ['cost per job done', "
                                 "'GPU utilization', 'JCT, mean', "
                                 "'wait for GPUs, mean']\narray unit_of[4] = "
                                 "['USD', 'percent', 'hours', "));
    assert_non_null(strstr(head, "\npresent = '1 2 3'\n"));  /* nobody waits */
    free(head);
    results_remove(dir);
}

static void keys_are_told_in_words(void **state)
{
    static const struct { const char *label, *words; } wanted[] = {
        { "base", "base" },
        { "arrival.rate=4/h", "arrival rate = 4/h" },
        { "nodes.gpu.count=8", "nodes of gpu = 8" },
        { "nodes.gpu.memory=1TB b=2", "memory of gpu nodes = 1TB, b = 2" },
        { "policies.hybrid.reserve=20%", "reserve of hybrid = 20%" },
        { "mix.dpo-7b.checkpoint_every=5",
          "checkpoint every of dpo-7b jobs = 5" },
        { "arrival.cv=", "arrival coefficient of variation = " },
    };
    struct arena *arena = arena_new(1 << 12);

    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_string_equal(point_label_words(arena, wanted[i].label),
                            wanted[i].words);
    assert_string_equal(point_unit_words("/h"), "per hour");
    assert_string_equal(point_unit_words("GB"), "GB");
    arena_free(arena);
}

/* 5000 runs of 10 s, every 20 s, of one job on GPU 0; a job on GPU 1 that waits
 * from long before the window to within it; node 1 is busy from 40040 s on:
 * there is the window, of 40 mean runs. */
static void a_long_table_is_cut_to_the_window_with_its_gaps(void **state)
{
    char dir[64], *text, *table = malloc(800000), *end = table;

    (void)state;
    assert_non_null(table);
    results_make(dir, &results_plain);
    end += sprintf(end, "point,policy,seed,job,phase,start_s,end_s,gpus,"
                        "nodes\nx=2/h,second,0,k,train,10,20,1,0:1\n"
                        "x=2/h,second,0,k,train,40200,40210,1,0:1\n");
    for (int i = 0; i < 5000; i++) {
        end += sprintf(end, "x=2/h,second,0,j,train,%d,%d,1,0:0\n", 20 * i,
                       20 * i + 10);
        if (i >= 2002 && i < 2042)
            end += sprintf(end, "x=2/h,second,0,l,rollout,%d,%d,200,1:0-1\n",
                           20 * i, 20 * i + 10);
    }
    assert_true(end - table < 800000);
    results_write_text(dir, "phases.csv", table);
    free(table);
    draw(dir, "png");
    text = results_text(dir, "plots/gantt.gp");
    assert_non_null(strstr(text, "start_s = 40040\nend_s = 40440\n"));
    free(text);
    text = results_text(dir, "plots/gantt.dat");
    assert_non_null(strstr(text, "\n1 2 40040 40200 0 0 "));
    assert_non_null(strstr(text, "\n0 1 40410 40420 0 0 "));
    assert_non_null(strstr(text, "\n0 1 40430 40440 0 0 "));
    assert_non_null(strstr(text, "\n0 1 40040 40050 1 "));
    assert_non_null(strstr(text, "\n2 4 40420 40430 2 "));
    assert_null(strstr(text, "40450"));
    free(text);
    results_remove(dir);
}

/* 12 jobs, one after the other, of 500 runs of 10 s each with a checkpoint of
 * 1 s between: eight jobs are shown, not forty runs, and each is one bar. */
static void steps_of_one_phase_are_shown_as_the_stay_of_their_job(void **state)
{
    char dir[64], *text, *table = malloc(800000), *end = table;

    (void)state;
    assert_non_null(table);
    results_make(dir, &results_plain);
    end += sprintf(end, "point,policy,seed,job,phase,start_s,end_s,gpus,"
                        "nodes\n");
    for (int i = 0; i < 6000; i++) {
        end += sprintf(end, "x=2/h,first,0,%d,train,%d,%d,1,0:0\n", i / 500,
                       11 * i, 11 * i + 10);
        end += sprintf(end, "x=2/h,first,0,%d,checkpoint,%d,%d,1,0:0\n",
                       i / 500, 11 * i + 10, 11 * i + 11);
    }
    assert_true(end - table < 800000);
    results_write_text(dir, "phases.csv", table);
    free(table);
    draw(dir, "png");
    text = results_text(dir, "plots/gantt.gp");
    assert_non_null(strstr(text, "start_s = 0\nend_s = 44000\n"));
    assert_non_null(strstr(text, "\narray kind[2] = ['train', 'checkpoint']\n"));
    assert_non_null(strstr(text, "\npresent = '1'\n"));     /* too short */
    free(text);
    text = results_text(dir, "plots/gantt.dat");
    assert_non_null(strstr(text, "# policy 1: phases\n0 1 0 5499 1 "));
    assert_non_null(strstr(text, "\n0 1 5500 10999 1 "));
    assert_non_null(strstr(text, "\n0 1 38500 43999 1 "));
    free(text);
    results_remove(dir);
}

/* 10,000 jobs of 1 to 10,000 s: half of them are done in 5000 s. */
static void a_curve_of_many_jobs_keeps_its_shape(void **state)
{
    char dir[64], *text, *line, *table = malloc(800000), *end = table;
    bool half = false;
    double jct, part;

    (void)state;
    assert_non_null(table);
    results_make(dir, &results_plain);
    end += sprintf(end, "point,policy,seed,job,kind,jct_s,status\n");
    for (int i = 0; i < 10000; i++)
        end += sprintf(end, "x=1/h,first,0,%d,k,%d,done\n",
                       i, 1 + i * 7919 % 10000);
    assert_true(end - table < 800000);
    results_write_text(dir, "jobs.csv", table);
    free(table);
    draw(dir, "png");
    text = results_text(dir, "plots/jct_cdf.dat");
    for (line = text; (line = strchr(line, '\n')) != NULL;) {
        if (sscanf(++line, "%lf %lf", &jct, &part) != 2 || isnan(jct))
            continue;
        assert_true(fabs(jct - 10000 * part) < 60);
        half = half || part == 0.5;
    }
    assert_true(half);
    free(text);
    results_remove(dir);
}

static void drawing_twice_gives_the_same_data(void **state)
{
    char dir[64], name[64], *first[FIGURES];

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    for (size_t f = 0; f < FIGURES; f++) {
        snprintf(name, sizeof name, "plots/%s.dat", figures[f]);
        first[f] = results_text(dir, name);
    }
    draw(dir, "png");
    for (size_t f = 0; f < FIGURES; f++) {
        snprintf(name, sizeof name, "plots/%s.dat", figures[f]);
        check_text(dir, name, first[f]);
        free(first[f]);
    }
    results_remove(dir);
}

static uint32_t number_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* Its size stands in the first chunk of a PNG (RFC 2083). */
static void check_png(const char *dir, const char *name)
{
    char *bytes = results_text(dir, name);

    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
    assert_in_range(number_at((unsigned char *)bytes + 16), 1200, 1200);
    assert_in_range(number_at((unsigned char *)bytes + 20), 300, 2000);
    free(bytes);
}

static void need_gnuplot(void)
{
    if (!results_gnuplot()) {
        print_message("gnuplot is not installed: no chart is drawn\n");
        skip();
    }
}

static void every_figure_is_a_png_of_sane_size(void **state)
{
    char dir[64], name[64];
    struct err err = { 0 };

    (void)state;
    need_gnuplot();
    results_make(dir, &results_plain);
    assert_true(plot_draw(dir, "png", &err));
    for (size_t f = 0; f < FIGURES; f++) {
        snprintf(name, sizeof name, "plots/%s.png", figures[f]);
        check_png(dir, name);
    }
    assert_false(results_has(dir, "plots/skipped.txt"));
    results_remove(dir);
}

static void svg_and_pdf_are_drawn_on_request(void **state)
{
    char dir[64], *text;
    struct err err = { 0 };

    (void)state;
    need_gnuplot();
    results_make(dir, &results_plain);
    assert_true(plot_draw(dir, "svg", &err));
    assert_true(plot_draw(dir, "pdf", &err));
    text = results_text(dir, "plots/cost.svg");
    assert_non_null(strstr(text, "<svg"));
    free(text);
    text = results_text(dir, "plots/gantt.pdf");
    assert_memory_equal(text, "%PDF", 4);
    free(text);
    assert_false(results_has(dir, "plots/cost.png"));
    results_remove(dir);
}

static void each_figure_is_redrawn_by_gnuplot_alone(void **state)
{
    char dir[64], command[160], name[64];
    struct err err = { 0 };

    (void)state;
    need_gnuplot();
    results_make(dir, &results_plain);
    assert_true(plot_draw(dir, "svg", &err));
    for (size_t f = 0; f < FIGURES; f++) {
        snprintf(command, sizeof command,
                 "cd '%s/plots' && gnuplot %s.gp 2>&1 >/dev/null", dir,
                 figures[f]);
        assert_int_equal(system(command), 0);
        snprintf(name, sizeof name, "plots/%s.png", figures[f]);
        check_png(dir, name);
    }
    results_remove(dir);
}

static void a_figure_without_its_table_is_skipped_with_a_reason(void **state)
{
    char dir[64];

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    results_delete(dir, "phases.csv");
    results_delete(dir, "compare.csv");
    draw(dir, "png");
    check_text(dir, "plots/skipped.txt",
               "delta: there is no compare.csv\n"
               "gantt: there is no phases.csv\n");
    assert_false(results_has(dir, "plots/gantt.gp"));
    assert_false(results_has(dir, "plots/gantt.dat"));
    assert_false(results_has(dir, "plots/gantt.png"));
    assert_true(results_has(dir, "plots/cost.dat"));
    results_remove(dir);
}

static void only_listed_figures_are_drawn(void **state)
{
    char dir[64];

    (void)state;
    results_make(dir, &results_plain);
    draw(dir, "png");
    results_write_text(dir, "plots/list.txt", "timeline\n");
    draw(dir, "png");
    assert_true(results_has(dir, "plots/timeline.gp"));
    assert_false(results_has(dir, "plots/cost.gp"));
    assert_false(results_has(dir, "plots/delta.gp"));
    results_remove(dir);
}

static const struct results_names hostile = {
    { "it's `touch PWNED1` \\", "\"`touch PWNED2`\" %s%n #" },
    { "a'; system(\"touch PWNED3\"); b='", "<script>x</script> @p {/Bold \t" },
    "'.system('touch PWNED4').'", "unused"
};

static void hostile_names_run_nothing(void **state)
{
    static const char *const formats[] = { "png", "svg", "pdf" };
    char dir[64], name[64];
    struct err err = { 0 };

    (void)state;
    need_gnuplot();
    results_make(dir, &hostile);        /* a table has no line feeds */
    results_write_text(dir, "provenance.json", "{\"experiment\": "
                       "\"`touch PWNED6`'\\n!touch PWNED6 \\\\ \\u0001 "
                       "%n\"}\n");
    for (size_t i = 0; i < 3; i++)
        if (!plot_draw(dir, formats[i], &err))
            fail_msg("%s", err.text);
    for (int i = 1; i <= 6; i++) {
        snprintf(name, sizeof name, "plots/PWNED%d", i);
        assert_false(results_has(dir, name));
        snprintf(name, sizeof name, "PWNED%d", i);
        assert_false(results_has(dir, name));
    }
    check_png(dir, "plots/cost.png");
    check_png(dir, "plots/gantt.png");
    results_remove(dir);
}

static void a_folder_that_cannot_be_written_is_an_error(void **state)
{
    char dir[64];
    struct err err = { 0 };

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "plots", "a file is in the way\n");
    assert_false(plot_draw(dir, "png", &err));
    assert_int_equal(err.kind, ERR_IO);
    results_remove(dir);
}

static void a_broken_table_is_named_with_its_line(void **state)
{
    char dir[64];
    struct err err = { 0 };

    (void)state;
    results_make(dir, &results_plain);
    results_write_text(dir, "jobs.csv",
                       "point,policy,seed,job,kind,jct_s,status\n"
                       "x=1/h,first,0,a,k,ten,done\n");
    assert_false(plot_draw(dir, "png", &err));
    assert_int_equal(err.kind, ERR_SYNTAX);
    assert_string_equal(err.pos.file, dir);
    assert_non_null(strstr(err.text, "jobs.csv:2: jct_s must be a number"));
    assert_false(results_has(dir, "plots/jct_cdf.dat"));
    results_remove(dir);
}

static void what_gnuplot_complains_of_is_told(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    char dir[64];
    struct err err = { 0 };

    (void)state;
    need_gnuplot();
    results_make(dir, &results_plain);
    results_write_text(dir, "bad.gp", "print nonsense(1)\n");
    struct folder *folder = folder_make(arena, dir, &err);
    assert_false(plot_gnuplot(arena, folder, "bad", "png", &err));
    folder_close(folder);
    assert_int_equal(err.kind, ERR_IO);
    assert_non_null(strstr(err.text, "gnuplot failed: "));
    assert_non_null(strstr(err.text, "undefined function"));
    assert_false(results_has(dir, "bad.png"));
    results_remove(dir);
    arena_free(arena);
}

/* A gnuplot that keeps the script it was given, and a fontconfig that says so of its fonts. */
static void write_programs(const char *dir, const char *fonts)
{
    char path[100];

    results_write_text(dir, "gnuplot", "#!/bin/sh\ncp \"$4\" seen\n");
    results_write_text(dir, "fc-list", fonts);
    snprintf(path, sizeof path, "%s/gnuplot", dir);
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(path, sizeof path, "%s/fc-list", dir);
    assert_int_equal(chmod(path, 0700), 0);
}

/* Pango draws the number of such a letter, over all of the chart.  Of U+4FDD and U+5B88 two
 * fonts have the first one.  A machine that does not tell of fonts is taken to have them. */
static void a_letter_without_a_font_is_a_square_in_pictures(void **state)
{
    static const char names[] = "p = '\xe4\xbf\x9d\xe5\xae\x88 \xc3\xa9 \xe2\x80\xa6'\n";
    struct arena *arena = arena_new(1 << 12);
    char dir[64], path[4096], *before = strdup(getenv("PATH"));
    struct err err = { 0 };

    (void)state;
    results_make(dir, &results_plain);
    write_programs(dir, "#!/bin/sh\n[ \"$1\" = --format ] && printf '20-7e 4fdd 61 4fdc-4fdd '\n");
    results_write_text(dir, "names.gp", names);
    snprintf(path, sizeof path, "%s:%s", dir, before);
    setenv("PATH", path, 1);
    struct folder *folder = folder_make(arena, dir, &err);
    assert_true(plot_gnuplot(arena, folder, "names", "png", &err));
    check_text(dir, "seen", "p = '\xe4\xbf\x9d\xe2\x96\xa1 \xc3\xa9 \xe2\x80\xa6'\n");
    assert_true(plot_gnuplot(arena, folder, "names", "svg", &err));
    check_text(dir, "seen", names);
    check_text(dir, "names.gp", names);
    assert_false(results_has(dir, "names.gp.tmp"));
    results_write_text(dir, "fc-list", "#!/bin/sh\nexit 1\n");
    assert_true(plot_gnuplot(arena, folder, "names", "png", &err));
    check_text(dir, "seen", names);
    results_write_text(dir, "fc-list", "#!/bin/sh\necho '20-7e: DejaVu'\n");
    assert_true(plot_gnuplot(arena, folder, "names", "png", &err));
    check_text(dir, "seen", names);
    folder_close(folder);
    setenv("PATH", before, 1);
    free(before);
    results_remove(dir);
    arena_free(arena);
}

/* Returns the bytes of a file of the folder. */
static char *read_bytes(const char *dir, const char *name, size_t *count)
{
    char path[128], *bytes;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *count = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*count + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *count, file), *count);
    fclose(file);
    return bytes;
}

/* What a chart before it sets, a chart does not see: variables, functions, axes, panels, and how
 * the letters of a text are counted. */
static void charts_of_one_gnuplot_are_those_of_one_each(void **state)
{
    static const char *const format[] = { "png", "svg" };
    static const char *const chart[] = { "cost", "delta", "utilization", "idle", "jct_cdf",
                                         "sweep", "timeline", "gantt" };
    struct arena *arena = arena_new(1 << 12);
    char dir[64], plots[80], name[64];
    struct err err = { 0 };
    unsigned compared = 0;

    (void)state;
    need_gnuplot();
    results_make(dir, &results_plain);
    snprintf(plots, sizeof plots, "%s/plots", dir);
    for (size_t f = 0; f < 2; f++) {
        assert_true(plot_draw(dir, format[f], &err));
        struct folder *folder = folder_make(arena, plots, &err);
        for (size_t c = 0; c < sizeof chart / sizeof *chart; c++) {
            size_t together, alone;

            snprintf(name, sizeof name, "%s.%s", chart[c], format[f]);
            if (!results_has(plots, name))
                continue;
            char *first = read_bytes(plots, name, &together);
            assert_true(plot_gnuplot(arena, folder, chart[c], format[f], &err));
            char *second = read_bytes(plots, name, &alone);
            assert_int_equal(together, alone);
            assert_memory_equal(first, second, alone);
            compared++;
            free(first);
            free(second);
        }
        folder_close(folder);
    }
    assert_true(compared >= 14);
    results_remove(dir);
    arena_free(arena);
}

/* What failed is told as if it had been drawn alone; the charts before it are there. */
static void a_chart_that_fails_leaves_those_before_it(void **state)
{
    static const char *const name[] = { "good", "bad", "last" };
    static const char good[] = "set terminal pngcairo size 1200,400\nset output file\nplot x\n";
    struct arena *arena = arena_new(1 << 12);
    char dir[64];
    struct err err = { 0 };

    (void)state;
    need_gnuplot();
    results_make(dir, &results_plain);
    results_write_text(dir, "good.gp", good);
    results_write_text(dir, "bad.gp", "print nonsense(1)\n");
    results_write_text(dir, "last.gp", good);
    struct folder *folder = folder_make(arena, dir, &err);
    assert_false(plot_gnuplot_all(arena, folder, name, 3, "png", &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_non_null(strstr(err.text, "undefined function"));
    check_png(dir, "good.png");
    assert_false(results_has(dir, "bad.png"));
    assert_false(results_has(dir, "last.png"));
    assert_false(results_has(dir, "good.tmp"));
    assert_false(results_has(dir, "bad.tmp"));
    folder_close(folder);
    results_remove(dir);
    arena_free(arena);
}

/* A gnuplot that writes a line for each of its runs. */
static void several_charts_are_one_run_of_gnuplot(void **state)
{
    static const char *const name[] = { "a", "b", "c" };
    struct arena *arena = arena_new(1 << 12);
    char dir[64], path[4096], *before = strdup(getenv("PATH"));
    struct err err = { 0 };

    (void)state;
    results_make(dir, &results_plain);
    write_programs(dir, "#!/bin/sh\nexit 1\n");
    results_write_text(dir, "gnuplot", "#!/bin/sh\nshift 2\nfor w; do echo \"$w\"; done |\n"
                       "grep -v -e file -e ^-e >>seen\necho . >>seen\n");
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s.gp", name[i]);
        results_write_text(dir, path, "");
    }
    snprintf(path, sizeof path, "%s:%s", dir, before);
    setenv("PATH", path, 1);
    struct folder *folder = folder_make(arena, dir, &err);
    assert_true(plot_gnuplot_all(arena, folder, name, 3, "png", &err));
    check_text(dir, "seen", "a.gp\nreset session\nset encoding default\nb.gp\n"
                            "reset session\nset encoding default\nc.gp\n.\n");
    assert_true(plot_gnuplot_all(arena, folder, name, 0, "png", &err));
    assert_true(plot_gnuplot_all(arena, folder, name, 1, "png", &err));
    assert_true(plot_gnuplot_all(arena, folder, name, 2, "svg", &err));     /* one each */
    check_text(dir, "seen", "a.gp\nreset session\nset encoding default\nb.gp\n"
                            "reset session\nset encoding default\nc.gp\n.\n"
                            "a.gp\n.\na.gp\n.\nb.gp\n.\n");
    folder_close(folder);
    setenv("PATH", before, 1);
    free(before);
    results_remove(dir);
    arena_free(arena);
}

static void without_gnuplot_the_package_is_named(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    char dir[64], *path = strdup(getenv("PATH"));
    struct err err = { 0 };

    (void)state;
    results_make(dir, &results_plain);
    setenv("PATH", dir, 1);
    struct folder *folder = folder_make(arena, dir, &err);
    assert_false(plot_gnuplot(arena, folder, "cost", "png", &err));
    folder_close(folder);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.text, "gnuplot is not installed: no chart drawn");
    assert_non_null(strstr(err.hint, "gnuplot-nox"));
    results_remove(dir);
    arena_free(arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_of_means_hold_means_and_intervals),
        cmocka_unit_test(the_sweep_is_read_from_the_labels_of_points),
        cmocka_unit_test(a_sweep_that_falls_is_drawn_from_its_least_value),
        cmocka_unit_test(points_of_one_value_stand_as_the_sweep_lists_them),
        cmocka_unit_test(jobs_that_are_not_done_hold_their_curve_down),
        cmocka_unit_test(intervals_add_up_their_pools),
        cmocka_unit_test(heads_say_whether_jobs_were_lost_and_seeds_add_nothing),
        cmocka_unit_test(values_stand_at_bars_without_whiskers),
        cmocka_unit_test(calendar_times_are_shown_from_the_first_job),
        cmocka_unit_test(the_gantt_has_a_row_per_gpu_and_boxes_per_run),
        cmocka_unit_test(of_many_gpus_each_pool_shows_its_share),
        cmocka_unit_test(nodes_that_nothing_names_are_too_many_as_well),
        cmocka_unit_test(
            bars_have_the_colour_of_their_kind_and_the_name_of_their_job),
        cmocka_unit_test(kinds_beyond_the_last_colour_are_others),
        cmocka_unit_test(what_lies_beyond_the_axis_stands_at_its_end),
        cmocka_unit_test(the_axis_of_differences_is_as_wide_as_they_are),
        cmocka_unit_test(an_interval_without_an_end_goes_over_the_axis),
        cmocka_unit_test(an_interval_with_one_end_goes_over_one_side),
        cmocka_unit_test(legends_name_causes_that_occur),
        cmocka_unit_test(axes_have_words_and_units),
        cmocka_unit_test(keys_are_told_in_words),
        cmocka_unit_test(a_long_table_is_cut_to_the_window_with_its_gaps),
        cmocka_unit_test(steps_of_one_phase_are_shown_as_the_stay_of_their_job),
        cmocka_unit_test(a_curve_of_many_jobs_keeps_its_shape),
        cmocka_unit_test(drawing_twice_gives_the_same_data),
        cmocka_unit_test(every_figure_is_a_png_of_sane_size),
        cmocka_unit_test(svg_and_pdf_are_drawn_on_request),
        cmocka_unit_test(each_figure_is_redrawn_by_gnuplot_alone),
        cmocka_unit_test(a_figure_without_its_table_is_skipped_with_a_reason),
        cmocka_unit_test(only_listed_figures_are_drawn),
        cmocka_unit_test(hostile_names_run_nothing),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_broken_table_is_named_with_its_line),
        cmocka_unit_test(what_gnuplot_complains_of_is_told),
        cmocka_unit_test(a_letter_without_a_font_is_a_square_in_pictures),
        cmocka_unit_test(charts_of_one_gnuplot_are_those_of_one_each),
        cmocka_unit_test(a_chart_that_fails_leaves_those_before_it),
        cmocka_unit_test(several_charts_are_one_run_of_gnuplot),
        cmocka_unit_test(without_gnuplot_the_package_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
