/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise_service_test.c - advice for services: the fewest replicas that keep
 * the promise do so in a trial, one fewer do not.
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

#include "tests/aid/program.h"

static const char *program_name;

#define CHAT \
    "services:\n  - name: chat\n    model: llama-3-8b\n" \
    "    gpu: {tp: 1, types: [l40s, t4]}\n    batch: 64\n" \
    "    slo: {ttft: 2s, tpot: 60ms}\n    requests:\n" \
    "      arrival: {process: diurnal, rate: 12/s, amplitude: 0.5, peak: " \
    "14h}\n      prompt: {lognormal: {mean: 800, cv: 0.7}, max: 4000}\n" \
    "      output: {lognormal: {mean: 150, cv: 0.7}, max: 1000}\n" \
    "      for: 24h\n"
#define PASSES \
    "services:\n  - name: small\n    model: bert-base\n" \
    "    precision: int8\n    gpu: {tp: 1}\n    cpu: {cores: 8}\n" \
    "    batch: 8\n    batch_delay: 2ms\n%s    requests:\n" \
    "      arrival: {process: poisson, rate: 200/s}\n      prompt: 128\n" \
    "      for: 24h\n"

/* Runs advise on the text; its status and what it said, the caller's. */
static int advise(struct program *program, const char *text, char **said)
{
    const char *words[] = {"advise", program_write(program, "w.yaml", text),
                           "-o", program_path(program, "plan.yaml"), "--csv",
                           program_path(program, "rows.csv"), NULL};

    return program_say(program, words, said);
}

/* slo_attained_fraction of the plan with other numbers of replicas. */
static double attained(struct program *program, unsigned replicas)
{
    char plan[128], out[128], low[96], high[96];

    snprintf(plan, sizeof plan, "%s/plan.yaml", program->folder);
    snprintf(out, sizeof out, "%s/out", program->folder);
    snprintf(low, sizeof low, "workload.services.chat.replicas.min=%u",
             replicas);
    snprintf(high, sizeof high, "workload.services.chat.replicas.max=%u",
             replicas);
    const char *argv[] = {program->path, "run", plan, "-q", "-o", out,
                          "--set", low, "--set", high, NULL};
    assert_int_equal(program_spawn(argv, NULL), 0);
    snprintf(out, sizeof out, "%s/out/services.csv", program->folder);
    char *csv = program_read(out);
    assert_non_null(csv);
    const char *head = csv, *row = strchr(csv, '\n') + 1;
    while (strncmp(head, "slo_attained_fraction", 21) != 0) {
        head = strchr(head, ',') + 1;
        row = strchr(row, ',') + 1;
    }
    double value = atof(row);
    free(csv);
    return value;
}

/* A cell of rows.csv in the row of that name, number of GPUs and of cores. */
static double cell_of(const char *csv, const char *on, unsigned tp, unsigned cores,
                      const char *column)
{
    char wanted[96], cell[64];

    snprintf(wanted, sizeof wanted, ",%s,%u,%u,", on, tp, cores);
    const char *row = strstr(csv, wanted);
    assert_non_null(row);
    while (row > csv && row[-1] != '\n')
        row--;
    csv_field(row, csv_column(csv, column), cell, sizeof cell);
    return strtod(cell, NULL);
}

/* "64.67ms", "22.72s" or "2400s" in seconds. */
static double seconds_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    assert_true(strcmp(end, "ms") == 0 || strcmp(end, "s") == 0);
    return strcmp(end, "ms") == 0 ? value / 1000 : value;
}

static void is_near(double printed, double value, double half)
{
    if (!(fabs(printed - value) <= half * 1.001))
        fail_msg("%g is printed of %g", printed, value);
}

/* The table that is printed has the figures of rows.csv, rounded.  Returns its rows. */
static unsigned table_is_rows(const char *said, const char *csv, bool generates)
{
    const char *line = strstr(said, "USD/million\n");
    unsigned rows = 0;

    assert_non_null(line);
    while ((line = strchr(line, '\n') + 1), *line == '*' || *line == ' ') {
        char on[32], cores[16], time[3][16] = { "0s", "0s", "0s" };
        unsigned tp, replicas, gpus;
        double busy, kept, per_h, per_day, per_million;
        int used, wanted = generates ? 3 : 1;

        assert_int_equal(sscanf(line + 1, "%31s %u %15s %u %u %lf%% %n", on, &tp, cores, &replicas,
                                &gpus, &busy, &used), 6);
        const char *at = line + 1 + used;
        for (int i = 3 - wanted; i < 3; i++, at += used)
            assert_int_equal(sscanf(at, "%15s%n", time[i], &used), 1);
        assert_int_equal(sscanf(at, " %lf%% %lf %lf %lf", &kept, &per_h, &per_day, &per_million),
                         4);
        unsigned n = cores[0] == '-' ? 0 : (unsigned)atoi(cores);
        is_near(replicas, cell_of(csv, on, tp, n, "replicas"), 0);
        is_near(gpus, tp * cell_of(csv, on, tp, n, "replicas"), 0);
        is_near(busy, 100 * cell_of(csv, on, tp, n, "busy_fraction"), 0.5);
        is_near(kept, 100 * cell_of(csv, on, tp, n, "attained_fraction"), 0.005);
        is_near(per_h, cell_of(csv, on, tp, n, "usd_per_h"), 0.005);
        is_near(per_day, 24 * cell_of(csv, on, tp, n, "usd_per_h"), 0.005);
        is_near(per_million / cell_of(csv, on, tp, n, "usd_per_million"), 1, 5e-4);
        assert_int_equal(*line == '*', cell_of(csv, on, tp, n, "pareto") > 0);
        for (int i = 3 - wanted; i < 3; i++) {
            double s = cell_of(csv, on, tp, n, i == 0 ? "ttft_p99_s" : i == 1 ? "tpot_p99_s"
                               : "latency_p99_s");
            is_near(seconds_of(time[i]), s, s < 1 ? 5e-6 : s < 100 ? 0.005 : 0.5);
        }
        rows++;
    }
    return rows;
}

static void the_fewest_replicas_keep_the_promise_and_one_less_do_not(
    void **state)
{
    struct program program;
    char *said, path[128];
    unsigned replicas = 0, tp = 0;

    (void)state;
    program_open(&program, program_name);
    assert_int_equal(advise(&program, CHAT, &said), 0);
    assert_non_null(strstr(said, "service chat: 18 requests a second at most"));
    assert_non_null(strstr(said, " GB of memory are missing"));
    snprintf(path, sizeof path, "%s/rows.csv", program.folder);
    char *rows = program_read(path);
    assert_non_null(rows);
    assert_int_equal(sscanf(strchr(rows, '\n') + 1, "chat,l40s,%u,0,%u,", &tp,
                            &replicas), 2);
    assert_true(replicas >= 3);
    assert_int_equal(table_is_rows(said, rows, true), 7);
    assert_true(attained(&program, replicas) > 0.97);
    assert_true(attained(&program, replicas - 1) < 0.99);
    free(rows);
    free(said);
    program_close(&program);
}

static void cores_stand_beside_gpus_and_a_promise_is_needed(void **state)
{
    struct program program;
    char *said, text[1024];

    (void)state;
    program_open(&program, program_name);
    snprintf(text, sizeof text, PASSES, "    slo: {latency: 100ms}\n");
    assert_int_equal(advise(&program, text, &said), 0);
    assert_non_null(strstr(said, "epyc-9654"));
    assert_non_null(strstr(said, "rtx-4090"));
    assert_null(strstr(said, "have nothing left over"));
    char *rows = program_read(program_path(&program, "rows.csv"));
    assert_int_equal(table_is_rows(said, rows, false), 10);
    free(rows);
    free(said);
    const char *plot[] = {"advise", program_path(&program, "w.yaml"), "--plot",
                          program_path(&program, "chart.png"), NULL};
    assert_int_equal(program_say(&program, plot, &said), 0);
    free(said);
    char *data = program_read(program_path(&program, "chart.dat"));
    assert_non_null(data);
    assert_ptr_equal(strstr(data, "# kind p99_s USD_per_day replicas\n1 0.0"), data);
    free(data);
    const char *over[] = {"advise", program_path(&program, "w.yaml"), "--csv",
                          program_path(&program, "./w.yaml"), NULL};
    assert_int_equal(program_say(&program, over, &said), 2);
    assert_non_null(strstr(said, "w.yaml would be overwritten: give --csv another name"));
    free(said);
    const char *other[] = {"advise", program_path(&program, "w.yaml"), "--job", "smal", NULL};
    assert_int_equal(program_say(&program, other, &said), 3);
    assert_non_null(strstr(said, "there is no job or service called 'smal'"));
    assert_non_null(strstr(said, "hint: There is small."));
    free(said);
    snprintf(text, sizeof text, PASSES, "");
    assert_int_equal(advise(&program, text, &said), 3);
    assert_non_null(strstr(said, "w.yaml:2:5: schema error: slo is missing"));
    free(said);
    program_close(&program);
}

/* Replicas of that kind of node in rows.csv. */
static unsigned replicas_on(struct program *program, const char *kind)
{
    char *rows = program_read(program_path(program, "rows.csv"));
    const char *row = rows == NULL ? NULL : strstr(rows, kind);
    unsigned replicas = 0;

    assert_non_null(row);
    assert_int_equal(sscanf(row + strlen(kind), ",%*u,%*u,%u,", &replicas), 1);
    free(rows);
    return replicas;
}

/* A window is finite, so a few replicas less than full batches need may keep a promise
 * of seconds in it; that many are then the most, and the search ends. */
static void fewer_replicas_than_full_batches_need_may_be_the_most(void **state)
{
    static const char text[] =
        "services:\n  - {name: small, model: bert-base, precision: int8,\n"
        "     cpu: {cores: 1}, batch: 8, batch_delay: 2ms, slo: {latency: 3s},\n"
        "     requests: {arrival: {process: poisson, rate: 1000/s}, prompt: 512, for: 24h}}\n";
    struct program program;
    char most[16], *said;
    unsigned replicas;

    (void)state;
    program_open(&program, program_name);
    for (int less = 0; less < 2; less++) {
        const char *words[] = {"advise", program_write(&program, "w.yaml", text), "--csv",
                               program_path(&program, "rows.csv"), "--gpus",
                               less ? most : "16384", NULL};

        assert_int_equal(program_say(&program, words, &said), 0);
        free(said);
        replicas = replicas_on(&program, "\nsmall,xeon-platinum-8480+");
        if (!less)
            snprintf(most, sizeof most, "%u", replicas - 2);
        else
            assert_in_range(replicas, 1, (unsigned)atoi(most));
    }
    program_close(&program);
}

/* A window of a hundred answers is cut into slices where it has too many requests.  A
 * lenient promise makes it no dearer, and no more replicas are told than there may be. */
static void a_lenient_promise_takes_no_more_replicas(void **state)
{
    static const char text[] =
        "services:\n  - {name: small, model: bert-base, precision: fp16, batch: 8,\n"
        "     gpu: {tp: 1, types: [t4]}, batch_delay: 2ms, slo: {latency: %s},\n"
        "     requests: {arrival: {process: poisson, rate: 200000/s}, prompt: 128, for: 24h}}"
        "\n";
    struct program program;
    unsigned strict = 0, lenient;
    char *said, promised[600];

    (void)state;
    program_open(&program, program_name);
    for (int k = 0; k < 2; k++) {
        snprintf(promised, sizeof promised, text, k == 0 ? "50ms" : "20s");
        const char *words[] = {"advise", program_write(&program, "w.yaml", promised), "--csv",
                               program_path(&program, "rows.csv"), "--gpus", "300", NULL};

        assert_int_equal(program_say(&program, words, &said), 0);
        assert_non_null(strstr(said, "have nothing left over"));
        free(said);
        lenient = replicas_on(&program, "\nsmall,t4");
        strict = k == 0 ? lenient : strict;
    }
    assert_in_range(strict, 200, 300);
    assert_in_range(lenient, 200, strict);
    program_close(&program);
}

/* 100 answers of 1 s at 1600 requests/s are 160,000, which two slices have; with one GPU
 * there can be one replica, or none, and models that take two GPUs are not tried. */
static void slices_take_no_more_gpus_than_there_may_be(void **state)
{
    static const char text[] =
        "services:\n  - {name: chat, model: qwen2.5-0.5b, gpu: {tp: 1, types: [h100]},\n"
        "     replicas: {min: 1, max: 8}, slo: {latency: 1s}, requests: {arrival: {process:\n"
        "     poisson, rate: 1600/s}, prompt: 20, output: 2, for: 1h}}\n";
    struct program program;
    char *said;

    (void)state;
    program_open(&program, program_name);
    const char *words[] = {"advise", program_write(&program, "w.yaml", text), "--csv",
                           program_path(&program, "rows.csv"), "--gpus", "1", NULL};
    assert_int_equal(program_say(&program, words, &said), 0);
    free(said);
    assert_in_range(replicas_on(&program, "\nchat,h100"), 0, 1);
    program_close(&program);
}

/* Three T4 that are busy 97% work off 3% of what comes: a queue of 20 s that came while
 * they start would be there for ten minutes, and the plan would fail its own check. */
static void a_plan_of_busy_replicas_holds(void **state)
{
    static const char text[] =
        "services:\n  - {name: small, model: bert-base, precision: fp16, batch: 8,\n"
        "     gpu: {tp: 1, types: [t4]}, batch_delay: 2ms, slo: {latency: 20s},\n"
        "     requests: {arrival: {process: poisson, rate: 2345/s}, prompt: 128, for: 24h}}\n";
    struct program program;
    char *said;

    (void)state;
    program_open(&program, program_name);
    assert_int_equal(advise(&program, text, &said), 0);
    assert_non_null(strstr(said, "have nothing left over"));
    free(said);
    assert_int_equal(replicas_on(&program, "\nsmall,t4"), 3);
    const char *check[] = {"check", program_path(&program, "plan.yaml"), "-o",
                           program_path(&program, "out"), NULL};
    assert_int_equal(program_say(&program, check, &said), 0);
    free(said);
    program_close(&program);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_fewest_replicas_keep_the_promise_and_one_less_do_not),
        cmocka_unit_test(cores_stand_beside_gpus_and_a_promise_is_needed),
        cmocka_unit_test(fewer_replicas_than_full_batches_need_may_be_the_most),
        cmocka_unit_test(a_lenient_promise_takes_no_more_replicas),
        cmocka_unit_test(slices_take_no_more_gpus_than_there_may_be),
        cmocka_unit_test(a_plan_of_busy_replicas_holds),
    };
    (void)argc;
    program_name = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
