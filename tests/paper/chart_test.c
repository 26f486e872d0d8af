/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chart_test.c - what charts show is what the tables say: each bar, mark, line and number of
 * the SVG, read back by its axes.
 *
 * One folder has three points, three policies and two seeds, whose figures are those of the
 * functions below.  Of two seeds m - h and m + h, the interval of 95% is m +- 12.7062047 h:
 * Student's t of one degree of freedom, by their standard error, which is h.
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

#include "experiments/report/plot.h"
#include "plots/plot_file.h"
#include "sim/base/err.h"
#include "tests/aid/chart.h"
#include "tests/aid/program.h"
#include "tests/aid/results_aid.h"

#define POINTS 3
#define POLICIES 3
#define T95 12.7062047
#define PALE "5A5A5A"
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static const char *const point[POINTS] = {
    "arrival.rate=2/h", "arrival.rate=4/h", "arrival.rate=9/h"
};
static const char *const point_words[POINTS] = {
    "arrival rate = 2/h", "arrival rate = 4/h", "arrival rate = 9/h"
};
static const char *const policy[POLICIES] = { "first", "second", "third" };

/* A metric is a mean and half of what its two seeds differ by. */
struct figure {
    const char *column;
    double (*mean)(int t, int p);
    double half;
};

static double cost_per_job(int t, int p)
{
    static const double usd[POINTS][POLICIES] = {
        { 2.5, 3.75, 1.2 }, { 6.1, 4.4, 5.2 }, { 9.3, 8.05, 7.7 }
    };
    return usd[t][p];
}

static double cost(int t, int p) { return 31 + 11 * t + 17 * p - 5 * t * p; }
static double utilization(int t, int p) { return 0.30 + 0.1 * t + 0.04 * p; }
static double jct(int t, int p) { return 7200 + 3600 * t + 2160 * p; }
static double wait_mean(int t, int p) { return 600 + 300 * t + 120 * p; }
static double busy(int t, int p) { return 0.25 + 0.08 * t + 0.03 * p; }
static double tail(int t, int p) { return 0.02 + 0.01 * t + 0 * p; }
static double switches(int t, int p) { return 0.03 + 0 * t + 0.02 * p; }
static double bubble(int t, int p) { return 0.08 + 0.02 * t + 0 * p; }
static double queued(int t, int p) { return 0.05 + 0 * t + 0.02 * p; }
static double down(int t, int p) { return 0.06 + 0 * t + 0 * p; }
static double rent(int t, int p) { return 0.04 + 0.004 * t + 0 * p; }
static double gang(int t, int p) { return 0.045 + 0.001 * t + 0 * p; }
static double behind(int t, int p) { return 0.007 * (t + p); }
static double fragment(int t, int p) { return 0.05 - 0.01 * t + 0 * p; }
static double unsuited(int t, int p) { return 0.0003 + 0 * t + 0 * p; }     /* not worth a name */

static double empty(int t, int p)
{
    return 1 - busy(t, p) - tail(t, p) - switches(t, p) - bubble(t, p) - queued(t, p) -
           down(t, p) - rent(t, p);
}

static const struct figure summary[] = {
    { "cost_per_job_usd", cost_per_job, 0.02 }, { "cost_usd", cost, 1 },
    { "gpu_utilization", utilization, 0.004 }, { "jct_mean_s", jct, 600 },
    { "wait_mean_s", wait_mean, 30 }, { "gpu_busy_fraction", busy, 0.001 },
    { "gpu_tail_fraction", tail, 0.001 }, { "gpu_switch_fraction", switches, 0.001 },
    { "gpu_bubble_fraction", bubble, 0.001 }, { "gpu_idle_queued_fraction", queued, 0.001 },
    { "gpu_idle_empty_fraction", empty, 0.001 }, { "gpu_down_fraction", down, 0.001 },
    { "gpu_rent_fraction", rent, 0.001 }, { "gpu_gang_fraction", gang, 0.001 },
    { "gpu_head_of_line_fraction", behind, 0 }, { "gpu_fragment_fraction", fragment, 0.001 },
    { "gpu_unsuited_fraction", unsuited, 0 },
};

/* The cell of a column that no figure fills is 0; of 10 jobs all are done. */
static void print_cell(FILE *file, const char *column, int t, int p, int s)
{
    for (size_t i = 0; i < COUNT_OF(summary); i++)
        if (strcmp(summary[i].column, column) == 0) {
            fprintf(file, ",%.12g", summary[i].mean(t, p) + (2 * s - 1) * summary[i].half);
            return;
        }
    fputs(strcmp(column, "jobs") == 0 || strcmp(column, "jobs_done") == 0 ? ",10"
          : strcmp(column, "without") == 0 ? "," : ",0", file);
}

static FILE *open_table(const char *dir, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void write_summary(const char *dir)
{
    char *head = results_text(dir, "summary.csv"), column[64];
    size_t columns = 1;

    head[strcspn(head, "\n")] = '\0';
    for (const char *c = head; *c != '\0'; c++)
        columns += *c == ',';
    FILE *file = open_table(dir, "summary.csv");
    fprintf(file, "%s\n", head);
    for (int i = 0; i < POINTS * POLICIES * 2; i++) {
        int t = i / (POLICIES * 2), p = i / 2 % POLICIES, s = i % 2;

        fprintf(file, "%s,%s,%d", point[t], policy[p], s);
        for (size_t c = 3; c < columns; c++) {
            csv_field(head, c, column, sizeof column);
            print_cell(file, column, t, p, s);
        }
        fputs("\n", file);
    }
    assert_int_equal(fclose(file), 0);
    free(head);
}

/* Differences to the first policy, in percent; NAN: there is no interval, and INFINITY: it has
 * no ends. */
struct difference {
    int t, p, row;              /* of the chart, from 1 */
    const char *metric;
    double percent, low, high;
};
static const struct difference differences[] = {
    { 0, 1, 1, "cost_per_job_usd", 50, 42, 58 }, { 0, 2, 1, "cost_per_job_usd", -52, -60, -44 },
    { 1, 1, 2, "cost_usd", 28, -9, 65 }, { 1, 2, 2, "cost_usd", 57, 44, 70 },
    { 1, 1, 4, "jct_mean_s", 20, 18, 22 }, { 1, 2, 5, "jct_p95_s", -12, -14, -10 },
    { 2, 1, 6, "makespan_s", 411, 300, 522 }, { 2, 2, 8, "gpu_utilization", 16, NAN, NAN },
    { 2, 2, 6, "makespan_s", 7, -400, 414 }, { 2, 1, 3, "energy_kwh", -33, -36, -30 },
    { 2, 2, 7, "jobs_done", 0, -4, 4 }, { 0, 1, 7, "jobs_done", 3, -INFINITY, INFINITY },
};

static void write_compare(const char *dir)
{
    FILE *file = open_table(dir, "compare.csv");

    fputs("point,policy,metric,seeds,mean,ci95_low,ci95_high,baseline,delta_percent,"
          "delta_ci95_low_percent,delta_ci95_high_percent,p_value\n", file);
    for (size_t i = 0; i < COUNT_OF(differences); i++) {
        const struct difference *d = &differences[i];

        fprintf(file, "%s,%s,%s,2,1,,,first,%g,", point[d->t], policy[d->p], d->metric,
                d->percent);
        if (isnan(d->low))
            fputs(",,\n", file);
        else if (isinf(d->low))
            fputs(",,0.1\n", file);
        else
            fprintf(file, "%g,%g,0.1\n", d->low, d->high);
    }
    assert_int_equal(fclose(file), 0);
}

/* Of four jobs a seed, the last of the third policy's second seed is not done. */
#define JOBS 4
static double jct_of(int t, int p, int s, int j)
{
    return 1800 * (1 + t) * (1 + 0.5 * p) * (1 + 0.2 * s) * (1 + j * j);
}

static bool is_done(int p, int s, int j)
{
    return !(p == 2 && s == 1 && j == JOBS - 1);
}

static void write_jobs(const char *dir)
{
    FILE *file = open_table(dir, "jobs.csv");

    fputs("point,policy,seed,job,kind,jct_s,status\n", file);
    for (int i = 0; i < POINTS * POLICIES * 2 * JOBS; i++) {
        int t = i / (POLICIES * 2 * JOBS), p = i / (2 * JOBS) % POLICIES, s = i / JOBS % 2;
        int j = i % JOBS;

        fprintf(file, "%s,%s,%d,%c,kind,", point[t], policy[p], s, 'a' + j);
        if (is_done(p, s, j))
            fprintf(file, "%g", jct_of(t, p, s, j));
        fprintf(file, ",%s\n", is_done(p, s, j) ? "done" : "unfinished");
    }
    assert_int_equal(fclose(file), 0);
}

/* The trial with detail is the first seed of the middle point. */
#define INTERVALS 5
#define INTERVAL_S 1800
static double leased(int p, int i, int pool) { return (i * 3 + p + pool) % 5; }
static double at_work(int p, int i, int pool) { return 0.5 * leased(p, i, pool); }
static double waiting(int p, int i) { return (2 * i + 3 * p) % 7; }

static void write_timeline(const char *dir)
{
    FILE *file = open_table(dir, "timeline.csv");

    fputs("point,policy,seed,t_s,pool,gpus_total,gpus_allocated,gpus_busy,cores_busy,"
          "jobs_pending,jobs_running,cost_usd_per_h\n", file);
    for (int k = 0; k < POLICIES * INTERVALS * 2; k++) {
        int p = k / (INTERVALS * 2), i = k / 2 % INTERVALS, pool = k % 2;

        fprintf(file, "%s,%s,0,%d,%c,%d,%g,%g,0,%g,0,1\n", point[1], policy[p],
                i * INTERVAL_S, 'a' + pool, pool ? 6 : 4, leased(p, i, pool),
                at_work(p, i, pool), waiting(p, i));
    }
    assert_int_equal(fclose(file), 0);
}

/* Runs on nodes of two GPUs; a job's bar is `rows` high from `row` on. */
struct run {
    int p;
    char job;
    const char *phase, *nodes;
    double start_s, end_s;
    int row, rows;
};
static const struct run runs[] = {
    { 0, 'a', "train", "0:0-1", 0, 7000, 0, 2 }, { 0, 'b', "rollout", "1:0", 500, 9000, 2, 1 },
    { 0, 'c', "train", "2:0-1", 1000, 4000, 4, 2 }, { 0, 'd', "train", "0:0-1", 7000, 12000, 0, 2 },
    { 0, 'c', "rollout", "2:0-1", 6000, 8000, 4, 2 },
    { 1, 'a', "rollout", "1:0-1", 0, 5000, 2, 2 }, { 1, 'b', "train", "0:1", 2000, 12000, 1, 1 },
};

static void write_phases(const char *dir)
{
    FILE *file = open_table(dir, "phases.csv");

    fputs("point,policy,seed,job,phase,start_s,end_s,gpus,nodes\n", file);
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        fprintf(file, "%s,%s,0,%c,%s,%g,%g,%d,%s\n", point[1], policy[runs[i].p], runs[i].job,
                runs[i].phase, runs[i].start_s, runs[i].end_s, runs[i].rows, runs[i].nodes);
    assert_int_equal(fclose(file), 0);
    results_write_text(dir, "provenance.json",
        "{\"experiment\": \"figures\", \"cluster\": {\"nodes\": [{\"name\": \"n\", "
        "\"pool\": \"p\", \"first\": 0, \"count\": 3, \"gpus\": 2}]}}\n");
}

/* ---- the charts of a results folder, drawn once ---- */

static char folder[64];

static int draw_all(void **state)
{
    struct err err = { 0 };

    (void)state;
    if (!results_gnuplot())
        return 0;
    results_make(folder, &results_plain);
    write_summary(folder);
    write_compare(folder);
    write_jobs(folder);
    write_timeline(folder);
    write_phases(folder);
    if (!plot_draw(folder, "svg", &err))
        fail_msg("%s", err.text);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    if (folder[0] != '\0')
        results_remove(folder);
    return 0;
}

static struct chart *read_svg(const char *dir, const char *name)
{
    if (!results_gnuplot()) {
        print_message("skip: gnuplot is not installed\n");
        skip();
    }
    char *svg = results_text(dir, name);
    struct chart *chart = chart_read(svg);
    free(svg);
    return chart;
}

/* Bars of a point stand beside each other within its place, in the order of policies. */
static void bars_of_cost_are_costs(void **state)
{
    static const char *const value[POINTS] = { "2/h", "4/h", "9/h" };
    struct chart *chart = read_svg(folder, "plots/cost.svg");
    char text[32];

    (void)state;
    for (unsigned panel = 1; panel <= 2; panel++) {
        const struct figure *of = &summary[panel - 1];

        chart_ticks(chart, panel, CHART_Y, false);
        chart_names(chart, panel, CHART_X, value, POINTS);
        assert_true(chart_says(chart, panel, panel == 1 ? "cost per job done, USD"
                                                        : "total cost, USD"));
        for (int t = 0; t < POINTS; t++) {
            double right = t + 0.5;

            for (int p = 0; p < POLICIES; p++) {
                double mean = of->mean(t, p), reach = T95 * of->half, middle;
                const struct chart_shape *bar = chart_take_box(
                    chart, panel, chart_colour(chart, 0, policy[p]), NAN, NAN, 0, mean);

                assert_true(chart_value(chart, bar, 0, CHART_X) > right);
                middle = (chart_value(chart, bar, 0, CHART_X) +
                          chart_value(chart, bar, 1, CHART_X)) / 2;
                right = chart_value(chart, bar, 1, CHART_X);
                chart_take_whisker(chart, panel, "000000", CHART_Y, middle, mean - reach,
                                   mean + reach);
                snprintf(text, sizeof text, mean < 100 ? "%.3g" : "%.0f", mean);
                chart_take_text(chart, panel, text, middle, mean + reach, 40);
            }
            assert_true(right < t + 1.5);
        }
    }
    chart_is_empty(chart, 1);
    chart_free(chart);
}

/* The bars of causes lie one behind another from 0 on, and what is less than 0.05% everywhere
 * has none, but its room. */
static void take_shares(struct chart *chart, const struct figure *const *cause,
                        const char *const *name, size_t causes)
{
    char text[16];

    for (unsigned t = 0; t < POINTS; t++) {
        chart_ticks(chart, t + 1, CHART_X, false);
        if (t == 0)
            chart_names(chart, 1, CHART_Y, policy, POLICIES);
        else
            chart_like(chart, t + 1, CHART_Y, 1);
        assert_true(chart_titled(chart, t + 1, point_words[t], 0, 100));
        for (int p = 0; p < POLICIES; p++) {
            double from = 0;

            for (size_t c = 0; c < causes; c++) {
                double share = 100 * cause[c]->mean((int)t, p);

                from += share;
                if (name[c] == NULL)
                    continue;
                chart_take_box(chart, t + 1, chart_colour(chart, 0, name[c]), from - share, from,
                               p + 0.64, p + 1.36);
                snprintf(text, sizeof text, "%.0f", share);
                if (share >= 10.5)
                    chart_take_text(chart, t + 1, text, from - share / 2, p + 1, 1);
            }
        }
    }
}

static void bars_of_gpu_time_are_its_shares(void **state)
{
    static const struct figure *const cause[] = {
        &summary[5], &summary[6], &summary[7], &summary[8], &summary[9], &summary[10],
        &summary[11], &summary[12]
    };
    static const char *const name[] = {
        "busy", "tail", "switch", "bubble", "idle, asks wait", "idle, nothing waits",
        "failures", "starting"
    };
    struct chart *chart = read_svg(folder, "plots/utilization.svg");

    (void)state;
    take_shares(chart, cause, name, COUNT_OF(cause));
    for (int t = 0; t < POINTS; t++)
        for (int p = 0; p < POLICIES; p++) {
            double mean = 100 * utilization(t, p), reach = 100 * T95 * 0.004;

            chart_take_mark(chart, (unsigned)t + 1, "000000", mean, p + 1.36);
            chart_take_whisker(chart, (unsigned)t + 1, "000000", CHART_X, p + 1.36,
                               mean - reach, mean + reach);
        }
    chart_is_empty(chart, 1);
    chart_free(chart);
}

static void bars_of_idle_gpus_are_their_causes(void **state)
{
    static const struct figure *const cause[] = {
        &summary[8], &summary[6], &summary[7], &summary[13], &summary[14], &summary[15],
        &summary[16], &summary[11], &summary[12], &summary[10]
    };
    static const char *const name[] = {
        "bubble", "tail", "switch", "gang", "head of line", "fragment", NULL, "failures",
        "starting", "idle, nothing waits"
    };
    struct chart *chart = read_svg(folder, "plots/idle.svg");

    (void)state;
    take_shares(chart, cause, name, COUNT_OF(cause));
    chart_is_empty(chart, 1);
    chart_free(chart);
}

static double within_axis(double percent)
{
    return fmin(fmax(percent, -100), 150);
}

/* An end within the axis has a cap, and one that goes on an arrow; of -100 to 150 percent, an
 * arrow takes 3%. */
static void take_interval(struct chart *chart, unsigned panel, const char *colour,
                          const struct difference *d, double y)
{
    double low = within_axis(d->low), high = within_axis(d->high);

    if (isnan(d->low))
        return;
    if (high > low)
        chart_take_whisker(chart, panel, colour, CHART_X, y, low, high);
    if (d->low < -100) {
        chart_take_line(chart, panel, colour, (double[][2]){ { low, y }, { NAN, y } }, 2);
        chart_take_arrow(chart, panel, colour, low - 7.5, y, true);
    }
    if (d->high > 150) {
        chart_take_line(chart, panel, colour, (double[][2]){ { high, y }, { NAN, y } }, 2);
        chart_take_arrow(chart, panel, colour, high + 7.5, y, false);
    }
}

/* A row is a metric, and the second policy stands above the third. */
static void marks_of_differences_are_their_percent(void **state)
{
    static const char *const metric[] = {
        "cost per job done", "total cost", "energy", "JCT, mean", "JCT, 95th percentile",
        "makespan", "jobs done", "GPU utilization"
    };
    struct chart *chart = read_svg(folder, "plots/delta.svg");

    (void)state;
    for (unsigned t = 0; t < POINTS; t++) {
        chart_ticks(chart, t + 1, CHART_X, false);
        if (t == 0)
            chart_names(chart, 1, CHART_Y, metric, COUNT_OF(metric));
        else
            chart_like(chart, t + 1, CHART_Y, 1);
        assert_true(chart_titled(chart, t + 1, point_words[t], -110, 160));
    }
    for (size_t i = 0; i < COUNT_OF(differences); i++) {
        const struct difference *d = &differences[i];
        unsigned panel = (unsigned)d->t + 1;
        double y = d->row + (d->p == 1 ? -0.2 : 0.2);
        const char *colour = chart_colour(chart, 0, policy[d->p]);

        chart_take_mark(chart, panel, colour, within_axis(d->percent), y);
        if (d->percent > 150)
            chart_take_text(chart, panel, "+411%", NAN, y, 3);
        take_interval(chart, panel, colour, d, y);
    }
    chart_is_empty(chart, 1);
    chart_free(chart);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The curve steps up by one of all submitted jobs at each completion time. */
static void curves_of_completion_rise_with_each_job(void **state)
{
    struct chart *chart = read_svg(folder, "plots/jct_cdf.svg");

    (void)state;
    for (int i = 0; i < POINTS * POLICIES; i++) {
        int t = i / POLICIES, p = i % POLICIES;
        unsigned panel = (unsigned)t + 1;
        double hours[2 * JOBS], at[4 * JOBS][2];
        size_t done = 0;

        if (p == 0) {
            chart_ticks(chart, panel, CHART_X, true);
            chart_ticks(chart, panel, CHART_Y, false);
            assert_true(chart_says(chart, panel, "job completion time, hours (logarithmic)"));
            chart_take_line(chart, panel, PALE, (double[][2]){ { 0.5, 50 }, { 30, 50 } }, 2);
        }
        for (int k = 0; k < 2 * JOBS; k++)
            if (is_done(p, k / JOBS, k % JOBS))
                hours[done++] = jct_of(t, p, k / JOBS, k % JOBS) / 3600;
        qsort(hours, done, sizeof *hours, compare_numbers);
        for (size_t k = 0; k < done; k++)
            for (size_t up = 0; up < 2; up++) {
                at[2 * k + up][0] = hours[k];
                at[2 * k + up][1] = 100 * (double)(k + up) / (2 * JOBS);
            }
        chart_take_line(chart, panel, chart_colour(chart, 0, policy[p]), at, 2 * done);
    }
    chart_is_empty(chart, 1);
    chart_free(chart);
}

/* Policies stand a few pixels aside of each other.  Intervals end at 0. */
static void lines_of_the_sweep_are_means_by_rate(void **state)
{
    static const double rate[POINTS] = { 2, 4, 9 };
    static const struct { int figure; double factor; const char *axis; } shown[] = {
        { 0, 1, "cost per job done, USD" }, { 2, 100, "GPU utilization, percent" },
        { 3, 1 / 3600.0, "JCT, mean, hours" }, { 4, 1 / 60.0, "wait for GPUs, mean, minutes" },
    };
    struct chart *chart = read_svg(folder, "plots/sweep.svg");

    (void)state;
    chart_slack(chart, CHART_X, 7);
    for (unsigned k = 0; k < COUNT_OF(shown); k++) {
        const struct figure *of = &summary[shown[k].figure];
        double from[POINTS] = { 0, 0, 0 };

        chart_ticks(chart, k + 1, CHART_X, false);
        chart_ticks(chart, k + 1, CHART_Y, false);
        assert_true(chart_says(chart, k + 1, shown[k].axis));
        assert_true(chart_says(chart, k + 1, "arrival rate, per hour"));
        for (int p = 0; p < POLICIES; p++) {
            const char *colour = chart_colour(chart, 0, policy[p]);
            double at[POINTS][2];

            for (int t = 0; t < POINTS; t++) {
                double mean = shown[k].factor * of->mean(t, p);
                double reach = shown[k].factor * T95 * of->half;
                const struct chart_shape *mark = chart_take_mark(chart, k + 1, colour, rate[t],
                                                                 mean);
                double x = chart_value(chart, mark, 0, CHART_X);

                assert_true(x > from[t]);
                from[t] = x;
                chart_take_whisker(chart, k + 1, colour, CHART_Y, x, fmax(0, mean - reach),
                                   mean + reach);
                at[t][0] = x;
                at[t][1] = mean;
            }
            chart_take_line(chart, k + 1, colour, at, POINTS);
        }
    }
    chart_is_empty(chart, 1);
    chart_free(chart);
}

/* Takes an entry of a legend within the plots: its text, and a line or a mark. */
static void take_entry(struct chart *chart, unsigned panel, const char *text, const char *colour,
                       bool line)
{
    chart_take_text(chart, panel, text, NAN, NAN, 1);
    if (line)
        chart_take_line(chart, panel, colour, (double[][2]){ { NAN, NAN }, { NAN, NAN } }, 2);
    else
        chart_take_mark(chart, panel, colour, NAN, NAN);
}

/* An area a policy, then what waits; pools are added up. */
static void areas_of_the_timeline_are_gpus(void **state)
{
    struct chart *chart = read_svg(folder, "plots/timeline.svg");
    const char *light = chart_colour(chart, 0, "leased"), *dark = chart_colour(chart, 0, "at work");
    const unsigned last = POLICIES + 1;

    (void)state;
    chart_ticks(chart, last, CHART_X, false);
    chart_ticks(chart, last, CHART_Y, false);
    assert_true(chart_says(chart, last, "simulated time, hours"));
    for (int p = 0; p < POLICIES; p++) {
        unsigned panel = (unsigned)p + 1;
        double step = INTERVAL_S / 3600.0, at[INTERVALS][2];

        chart_like(chart, panel, CHART_X, last);
        chart_ticks(chart, panel, CHART_Y, false);
        assert_true(chart_says(chart, panel, policy[p]));
        for (int i = 0; i < INTERVALS; i++) {
            double both = leased(p, i, 0) + leased(p, i, 1);
            double work = at_work(p, i, 0) + at_work(p, i, 1);

            at[i][0] = i * step;
            at[i][1] = waiting(p, i);
            if (i == INTERVALS - 1)
                break;
            chart_take_box(chart, panel, light, i * step, (i + 1) * step, 0, both);
            chart_take_box(chart, panel, dark, i * step, (i + 1) * step, 0, work);
        }
        chart_take_all(chart, panel, CHART_LINE, light);    /* borders of areas */
        chart_take_all(chart, panel, CHART_LINE, dark);
        chart_take_line(chart, panel, chart_colour(chart, 0, "all GPUs of the cluster"),
                        (double[][2]){ { 0, 10 }, { (INTERVALS - 1) * step, 10 } }, 2);
        const char *colour = chart_colour(chart, last, policy[p]);
        chart_take_line(chart, last, colour, at, INTERVALS);
        take_entry(chart, last, policy[p], colour, true);
    }
    chart_is_empty(chart, 1);
    chart_free(chart);
}

/* Is a colour one of the three tones of another: mixed with white, by 15% each? */
static bool is_tone(const char *colour, const char *of)
{
    for (int tone = 0; tone < 3; tone++) {
        bool same = true;

        for (int i = 0; i < 6; i += 2) {
            unsigned has, full;

            assert_int_equal(sscanf(&colour[i], "%2x", &has), 1);
            assert_int_equal(sscanf(&of[i], "%2x", &full), 1);
            same = same && fabs(has - (full + (255.0 - full) * 0.15 * tone)) <= 1;
        }
        if (same)
            return true;
    }
    return false;
}

/* Nodes have two rows each: row r lies at (r + 1) / 2 of their names. */
static void bars_of_the_gantt_are_runs(void **state)
{
    static const char *const node[] = { "n 0", "n 1", "n 2" };
    static const struct { int p; const char *job; double at_s, row; } name[] = {
        { 0, "a", 3500, 1 }, { 0, "b", 4750, 2.5 }, { 0, "c", 4500, 5 }, { 0, "d", 9500, 1 },
        { 1, "a", 2500, 3 }, { 1, "b", 7000, 1.5 },
    };
    struct chart *chart = read_svg(folder, "plots/gantt.svg");

    (void)state;
    chart_names(chart, 1, CHART_Y, node, COUNT_OF(node));
    chart_like(chart, 2, CHART_Y, 1);
    for (unsigned panel = 1; panel <= 2; panel++) {
        chart_ticks(chart, panel, CHART_X, false);
        assert_true(chart_says(chart, panel, "simulated time, minutes"));
        assert_true(chart_titled(chart, panel, policy[panel - 1], 0, 200));
    }
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        const struct run *r = &runs[i];
        const struct chart_shape *bar = chart_take_box(
            chart, (unsigned)r->p + 1, NULL, r->start_s / 60, r->end_s / 60, (r->row + 1) / 2.0,
            (r->row + r->rows + 1) / 2.0);

        assert_true(is_tone(bar->colour, chart_colour(chart, 0, r->phase)));
    }
    for (int row = 4; row <= 5; row++)
        chart_take_box(chart, 1, chart_colour(chart, 0, "between two phases of one job"),
                       4000 / 60.0, 6000 / 60.0, (row + 1) / 2.0, (row + 2) / 2.0);
    for (size_t i = 0; i < COUNT_OF(name); i++)
        chart_take_text(chart, (unsigned)name[i].p + 1, name[i].job, name[i].at_s / 60,
                        (name[i].row + 1) / 2, 1.5);
    chart_is_empty(chart, 1);
    chart_free(chart);
}

/* ---- other charts, drawn by their commands ---- */

/* Replaces a text as often as it is there; the result is to be freed. */
static char *replace(const char *text, const char *old, const char *by)
{
    char *out = calloc(1, 2 * strlen(text) + 1), *to = out;

    assert_non_null(out);
    for (const char *at; (at = strstr(text, old)) != NULL; text = at + strlen(old))
        to += sprintf(to, "%.*s%s", (int)(at - text), text, by);
    strcpy(to, text);
    return out;
}

/* Draws a script of a folder as SVG, and reads it.  Letters of several sizes would be texts of
 * several parts. */
static struct chart *draw_script(const struct program *program, const char *name,
                                 const char *script)
{
    char *svg = replace(script, "terminal pngcairo enhanced", "terminal svg noenhanced");
    char *plain = replace(svg, "terminal pngcairo noenhanced", "terminal svg noenhanced");
    char *numbers = replace(plain, "'10^{%L}'", "'%g'"), command[300];

    program_write(program, name, numbers);
    snprintf(command, sizeof command, "cd '%s' && gnuplot -e \"format = 'svg'; file = 'c.svg'\" "
             "'%s'", program->folder, name);
    assert_int_equal(system(command), 0);
    char *drawn = program_read(program_path(program, "c.svg"));
    assert_non_null(drawn);
    struct chart *chart = chart_read(drawn);
    free(svg);
    free(plain);
    free(numbers);
    free(drawn);
    return chart;
}

static const char *program_name;

static void run_program(const struct program *program, const char *const *words)
{
    char *said;

    if (!results_gnuplot()) {
        print_message("skip: gnuplot is not installed\n");
        skip();
    }
    if (program_say(program, words, &said) != 0)
        fail_msg("%s", said);
    free(said);
}

/* On the front the cheapest row is the slowest.  A number of GPUs that is a power of two stands
 * beside the fastest row with this number.  Rows without a cost cannot be drawn. */
static void marks_of_advice_are_its_rows(void **state)
{
    struct program program;
    double front[100][2], count[100][2];
    size_t fronts = 0;
    char cell[64];

    (void)state;
    program_open(&program, program_name);
    const char *words[] = {
        "advise", "experiments/advise/train_70b.yaml", "--gpus", "64", "--csv",
        program_path(&program, "rows.csv"), "--plot", program_path(&program, "chart.png"), NULL
    };
    run_program(&program, words);
    char *script = program_read(program_path(&program, "chart.gp"));
    char *rows = program_read(program_path(&program, "rows.csv"));
    struct chart *chart = draw_script(&program, "chart.gp", script);
    chart_ticks(chart, 1, CHART_X, true);
    chart_ticks(chart, 1, CHART_Y, true);
    assert_true(chart_says(chart, 1, "time, hours (logarithmic)"));
    assert_true(chart_says(chart, 1, "cost, USD (logarithmic)"));
    for (const char *row = strchr(rows, '\n') + 1; *row != '\0'; row = strchr(row, '\n') + 1) {
        csv_field(row, csv_column(rows, "cost_usd"), cell, sizeof cell);
        double usd = strtod(cell, NULL);
        csv_field(row, csv_column(rows, "time_s"), cell, sizeof cell);
        double hours = strtod(cell, NULL) / 3600;
        if (usd <= 0)
            continue;
        csv_field(row, csv_column(rows, "place"), cell, sizeof cell);
        chart_take_mark(chart, 1, chart_colour(chart, 0, cell), hours, usd);
        csv_field(row, csv_column(rows, "pareto"), cell, sizeof cell);
        if (cell[0] != '1')
            continue;
        const struct chart_shape *circle = chart_take_mark(chart, 1, "000000", hours, usd);
        assert_int_equal(circle->sign, 6);
        csv_field(row, csv_column(rows, "gpus"), cell, sizeof cell);
        count[fronts][0] = front[fronts][0] = hours;
        count[fronts][1] = atoi(cell);
        front[fronts++][1] = usd;
    }
    assert_true(fronts > 2);
    qsort(front, fronts, sizeof *front, compare_numbers);
    qsort(count, fronts, sizeof *count, compare_numbers);
    for (size_t i = 0, last = 0; i < fronts; i++) {
        size_t gpus = (size_t)count[i][1];

        if ((gpus & (gpus - 1)) != 0 || gpus == last)
            continue;
        snprintf(cell, sizeof cell, "%zu", gpus);
        chart_take_text(chart, 1, cell, front[i][0], front[i][1], 25);
        last = gpus;
    }
    chart_take_line(chart, 1, "000000", front, fronts);
    chart_is_empty(chart, 1);
    chart_free(chart);
    free(rows);
    free(script);
    program_close(&program);
}

static void marks_of_measurements_are_their_rows(void **state)
{
    struct program program;
    char cell[64];
    size_t count = 0;

    (void)state;
    program_open(&program, program_name);
    const char *words[] = {
        "calibrate", "--data", "models/validation", "--suite", "nets", "--csv",
        program_path(&program, "rows.csv"), "--plots", program.folder, NULL
    };
    run_program(&program, words);
    char *script = program_read(program_path(&program, "nets.gp"));
    char *rows = program_read(program_path(&program, "rows.csv"));
    struct chart *chart = draw_script(&program, "nets.gp", script);
    chart_ticks(chart, 0, CHART_X, true);
    chart_ticks(chart, 0, CHART_Y, true);
    for (const char *row = strchr(rows, '\n') + 1; *row != '\0'; row = strchr(row, '\n') + 1) {
        csv_field(row, csv_column(rows, "chosen"), cell, sizeof cell);
        const char *colour = chart_colour(chart, 0, cell[0] == '1' ? "constants were chosen on"
                                                                  : "held out");
        csv_field(row, csv_column(rows, "measured"), cell, sizeof cell);
        double measured = strtod(cell, NULL);
        csv_field(row, csv_column(rows, "predicted"), cell, sizeof cell);
        chart_take_mark(chart, 0, colour, measured, strtod(cell, NULL));
        count++;
    }
    assert_true(count > 20);
    chart_take_ratio(chart, 0, "222222", 1);
    chart_take_ratio(chart, 0, "7F7F7F", 1.15);
    chart_take_ratio(chart, 0, "7F7F7F", 1 / 1.15);
    take_entry(chart, 0, "equal", "222222", true);
    take_entry(chart, 0, "within 15%", "7F7F7F", true);
    take_entry(chart, 0, "held out", chart_colour(chart, 0, "held out"), false);
    take_entry(chart, 0, "constants were chosen on",
               chart_colour(chart, 0, "constants were chosen on"), false);
    chart_is_empty(chart, 0);
    chart_free(chart);
    free(rows);
    free(script);
    program_close(&program);
}

/* Of curve c at its i-th size: a measured curve has three. */
#define SIZES 3
static double size_of(int c, int i) { return (c == 0 ? 1000 : 100) * pow(10, i); }
static double cost_of(int c, int p, int i) { return 1 + 0.7 * p + 0.4 * i + 0.3 * c; }
static double peak_of(int c, int p, int i) { return 12 + 3 * p + 5 * i + 2 * c; }

/* Three marks and the line through them; value 0: cost, 1: memory. */
static void take_curve(struct chart *chart, unsigned panel, const char *colour, int c, int p,
                       bool memory)
{
    double at[SIZES][2];

    for (int i = 0; i < SIZES; i++) {
        at[i][0] = size_of(c, i);
        at[i][1] = memory ? peak_of(c, p, i) : cost_of(c, p, i);
        chart_take_mark(chart, panel, colour, at[i][0], at[i][1]);
    }
    chart_take_line(chart, panel, colour, at, SIZES);
}

static void write_blocks(char *script)
{
    static const char *const name[] = {
        "fifo", "easy", "srtf", "phases", "hrrn", "drf", "srsf", "dlas", "las", "gittins",
        "conservative", "conservative_late"
    };

    for (int n = 0; n < 12; n++)
        for (int c = 0; c < 4; c++) {
            script += sprintf(script, "$%s_%d << EOD\n", name[n], c + 1);
            for (int i = 0; i < SIZES && (n < 4) == (c < 3); i++)
                script += sprintf(script, "%g %g %g\n", size_of(c, i),
                                  cost_of(c, n < 4 ? n : n - 4, i), peak_of(c, n, i));
            script += sprintf(script, "EOD\n");
        }
    for (unsigned i = 0; i < plot_file_count; i++)
        if (strcmp(plot_file[i].name, "scale.gp") == 0)
            strcpy(script, plot_file[i].text);
}

/* What `clustersim bench --plots` draws: four panels above, and three and a legend below.  Jobs
 * of phases are measured by the number of jobs alone. */
static void curves_of_the_bench_are_its_measurements(void **state)
{
    static const char *const said[] = {
        "FIFO, best fit", "EASY, best fit", "SRTF, count", "FIFO, jobs of five phases"
    };
    static const char *const queue[] = {
        "HRRN", "DRF", "SRSF", "DLAS", "LAS", "Gittins", "conservative, exact",
        "conservative, too long"
    };
    static char script[20000];
    struct program program;

    (void)state;
    if (!results_gnuplot())
        skip();
    program_open(&program, program_name);
    write_blocks(script);
    struct chart *chart = draw_script(&program, "scale.gp", script);
    for (unsigned panel = 0; panel < 7; panel++) {
        chart_ticks(chart, panel, CHART_X, true);
        chart_ticks(chart, panel, CHART_Y, panel == 3);
    }
    for (int k = 0; k < 3 * 4; k++) {
        int c = k / 4, p = k % 4;
        const char *colour = chart_colour(chart, 7, said[p]);

        if (c > 0 && p == 3)
            continue;
        take_curve(chart, (unsigned)c, colour, c, p, false);
        take_curve(chart, (unsigned)c + 4, colour, c, p, true);
    }
    for (int p = 0; p < 8; p++) {
        take_curve(chart, 3, chart_colour(chart, 3, queue[p]), 3, p, false);
        take_entry(chart, 3, queue[p], chart_colour(chart, 3, queue[p]), true);
        chart_take_mark(chart, 3, chart_colour(chart, 3, queue[p]), NAN, NAN);
    }
    for (int p = 0; p < 4; p++) {
        take_entry(chart, 7, said[p], chart_colour(chart, 7, said[p]), true);
        chart_take_mark(chart, 7, chart_colour(chart, 7, said[p]), NAN, NAN);
    }
    assert_true(chart_says(chart, 0, "microseconds") && chart_says(chart, 4, "MB at the peak"));
    chart_is_empty(chart, 0);
    chart_free(chart);
    program_close(&program);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_of_cost_are_costs),
        cmocka_unit_test(bars_of_gpu_time_are_its_shares),
        cmocka_unit_test(bars_of_idle_gpus_are_their_causes),
        cmocka_unit_test(marks_of_differences_are_their_percent),
        cmocka_unit_test(curves_of_completion_rise_with_each_job),
        cmocka_unit_test(lines_of_the_sweep_are_means_by_rate),
        cmocka_unit_test(areas_of_the_timeline_are_gpus),
        cmocka_unit_test(bars_of_the_gantt_are_runs),
        cmocka_unit_test(marks_of_advice_are_its_rows),
        cmocka_unit_test(marks_of_measurements_are_their_rows),
        cmocka_unit_test(curves_of_the_bench_are_its_measurements),
    };

    (void)argc;
    program_name = argv[0];
    return cmocka_run_group_tests(tests, draw_all, remove_all);
}
