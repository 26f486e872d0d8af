/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent_forecast_test.c - nodes that are rented ahead of the jobs: a stated number, or
 * by a forecast of arrivals, which sees the past alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "sim/base/rng.h"
#include "tests/aid/world.h"

#define DAYS 12
#define DAY_S 86400

/* Jobs on four nodes of 8 GPUs, which take 5 min to start; `keys` of rent. */
static void run_jobs(struct world_job *job, uint32_t jobs, const char *keys,
                     struct trial_result *out)
{
    struct world world = { 0 };
    char text[1200], csv[20000];
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus\n");

    for (uint32_t i = 0; i < jobs; i++)
        n += (size_t)snprintf(csv + n, sizeof csv - n, "%u,%lld,%lld,8\n", i,
                              (long long)job[i].submit_s,
                              (long long)job[i].duration_s);
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: %dd\ncluster: {nodes: [{name: n, "
             "count: 4, gpus: {type: generic, count: 8}, price: 8USD/h, rent: "
             "{start: 5min, keep: 1min, %s}}]}\nworkload: {trace: {file: "
             "jobs.csv, format: csv, origin: file, columns: {job: job, submit: "
             "submit, duration: duration, gpus: gpus}, role: {cores: 1}}}\n"
             "policies: [fcfs]\n", DAYS, keys);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, out))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

static uint32_t count_late(const struct world_job *job, uint32_t from,
                           uint32_t jobs)
{
    uint32_t late = 0;

    for (uint32_t i = from; i < jobs; i++)
        late += job[i].start_s > (double)job[i].submit_s;
    return late;
}

/* One job a day at 10:30.  Reacting is late each time.  The forecast knows nothing in
 * the first season; then a node is there in the slot from 10:00 on, and in no other:
 * P(0) = exp(-6/60) is below 95% there. */
static void a_daily_job_finds_a_node_from_the_second_day_on(void **state)
{
    struct world_job job[DAYS] = { { 0 } };
    struct trial_result react, ahead, flat;

    (void)state;
    for (int d = 0; d < DAYS; d++) {
        job[d].submit_s = d * DAY_S + 37800;
        job[d].duration_s = 600;
    }
    run_jobs(job, DAYS, "scale: queue", &react);
    assert_int_equal(count_late(job, 0, DAYS), DAYS);
    assert_true(isnan(react.value[METRIC_RENT_FORECAST]));
    run_jobs(job, DAYS, "scale: forecast, ready: 95%", &ahead);
    assert_int_equal(count_late(job, 0, 1), 1);
    assert_int_equal(count_late(job, 1, DAYS), 0);
    assert_true(ahead.value[METRIC_RENT_FORECAST] == 0);
    double hours = (ahead.value[METRIC_COST] - react.value[METRIC_COST]) / 8;
    assert_true(hours > (DAYS - 1) * 0.7 && hours < (DAYS - 1) * 1.2);
    /* Without a season there is nothing to prepare for: 1/24 of a job an hour. */
    run_jobs(job, DAYS, "scale: forecast, season: 0s, ready: 95%", &flat);
    assert_int_equal(count_late(job, 0, DAYS), DAYS);
    assert_true(flat.value[METRIC_RENT_FORECAST] > 1);
}

/* One node ahead: a job that comes alone finds it, of two at once one does.  It is ordered at 0 and
 * there at 300 s, so that the first job, at 400 s, finds it too. */
static void a_spare_node_is_there_for_the_next_job(void **state)
{
    struct world_job job[] = { { 0, 600, 8, 0, 0 }, { 1000, 600, 8, 0, 0 },
                               { 5000, 600, 8, 0, 0 }, { 9000, 600, 8, 0, 0 },
                               { 9000, 600, 8, 0, 0 } };
    struct trial_result r;

    (void)state;
    run_jobs(job, 5, "spare: 1", &r);
    assert_true(job[0].start_s == 300);
    assert_true(job[1].start_s == 1000 && job[2].start_s == 5000);
    assert_true(job[3].start_s == 9000 && job[4].start_s > 9000);
    job[0].submit_s = 400;
    run_jobs(job, 5, "spare: 1", &r);
    assert_true(job[0].start_s == 400 && job[1].start_s == 1000);
    run_jobs(job, 5, "spare: 2", &r);
    assert_true(job[3].start_s == 9000 && job[4].start_s == 9000);
}

/* Two jobs come at 3000 s: one finds the spare node, and two more nodes are ordered, one of them to
 * be ahead.  The job of 3320 s takes that one, and another node is ordered, which the job of 3330 s
 * has at 3620 s: there is no fourth one before. */
static void no_more_nodes_are_ordered_than_are_ahead(void **state)
{
    struct world_job job[] = { { 3000, 900, 8, 0, 0 }, { 3000, 900, 8, 0, 0 },
                               { 3320, 900, 8, 0, 0 }, { 3330, 900, 8, 0, 0 } };
    struct trial_result r;

    (void)state;
    run_jobs(job, 4, "spare: 1", &r);
    assert_true(job[0].start_s == 3000 && job[1].start_s == 3300);
    assert_true(job[2].start_s == 3320 && job[3].start_s == 3620);
}

/* What comes later decides nothing earlier: two traces that part after some days have
 * the same starts until then. */
static void a_forecast_sees_the_past_alone(void **state)
{
    struct world_job job[2][300] = { { { 0 } } };
    int64_t parts_s = 6 * DAY_S, now = 0;
    struct trial_result r;
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "past", 0);
    for (int i = 0; i < 300; i++) {
        now += 1 + (int64_t)rng_exponential(&rng, 3600);
        for (int k = 0; k < 2; k++) {
            job[k][i].submit_s = now > parts_s && k == 1
                                 ? parts_s + (now - parts_s) / 8 : now;
            job[k][i].duration_s = 900;
        }
    }
    for (int k = 0; k < 2; k++)
        run_jobs(job[k], 240, "scale: forecast, season: 24h, ready: 80%", &r);
    uint32_t early = 0, differ = 0;
    for (int i = 0; i < 240; i++) {
        if (job[0][i].submit_s < parts_s) {
            assert_true(job[0][i].start_s == job[1][i].start_s);
            early++;
        }
        differ += job[0][i].start_s != job[1][i].start_s;
    }
    assert_true(early > 100 && differ > 50);
}

/* With reclaims, failures and a supply that ends for hours, and no jobs for days. */
static void a_forecast_survives_chaos(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct world world = { 0 };
        char text[2000];
        snprintf(text, sizeof text,
            "experiment: t\nseeds: 6\nuntil: 9d\nwarmup: 1d\ncluster:\n  nodes:\n"
            "    - {name: a, count: 5, gpus: {type: generic, count: 8}, price: "
            "8USD/h, rent: {start: 3min, keep: %s, min: 1, scale: forecast, slot: "
            "30min, season: 12h, reclaim: 40min, notice: 20s, on_notice: %s, "
            "available: {unit: nodes, repeat: 5h, points: [[0h, 5], [2h, 1], [3h, "
            "0], [4h, 3]]}}}\n"
            "    - {name: b, count: 2, gpus: {type: generic, count: 8}, rent: "
            "{start: 10s, spare: 1, wait: 2min}}\n"
            "  failures: {node_mtbf: 6h, job_mtbf: 20h}\n"
            "workload:\n  arrival: {process: poisson, rate: 10/h}\n  for: 5d\n"
            "  mix: [{recipe: trace, name: j, gpus: 8, duration: {exponential: "
            "{mean: 20min}}}]\n"
            "policies: [{policy: fcfs, blocking: skip}, srtf, las]\n",
            k ? "0s" : "4min", k ? "save" : "work");
        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        for (uint32_t i = 0; i < 18; i++)
            if (!world_run(&world, i, NULL, NULL, NULL))
                fail_msg("trial %u: %s", i, world_error(&world));
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daily_job_finds_a_node_from_the_second_day_on),
        cmocka_unit_test(a_spare_node_is_there_for_the_next_job),
        cmocka_unit_test(no_more_nodes_are_ordered_than_are_ahead),
        cmocka_unit_test(a_forecast_sees_the_past_alone),
        cmocka_unit_test(a_forecast_survives_chaos),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
