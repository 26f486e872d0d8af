/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regimes_test.c - jobs whose batch size changes: epochs and times worked out by
 * hand, what a policy sees of them, and shockwave's plans.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/jobs/regimes.h"
#include "policies/resize.h"
#include "tests/aid/world.h"
#include "workloads/formats/regimes.h"

static void assert_about(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fmax(1, fabs(expected))))
        fail_msg("found %.9g, expected %.9g", value, expected);
}

static uint32_t batch(const char *job, enum regime_mode mode, uint32_t gpus,
                      uint32_t epochs, uint32_t epoch)
{
    struct regime_type type;

    assert_true(regime_type_read(job, &type));
    return regime_batch(&type, mode, gpus, epochs, epoch);
}

/* ---- the tables ------------------------------------------------------------ */

static void gns_doubles_batch_sizes_at_its_epochs(void **state)
{
    static const char lm[] = "LM (batch size 5)";

    (void)state;
    assert_int_equal(batch(lm, REGIME_GNS, 1, 100, 30), 5);
    assert_int_equal(batch(lm, REGIME_GNS, 1, 100, 31), 10);
    assert_int_equal(batch(lm, REGIME_GNS, 1, 100, 41), 20);
    assert_int_equal(batch(lm, REGIME_GNS, 1, 100, 61), 40);
    assert_int_equal(batch(lm, REGIME_GNS, 1, 100, 99), 80);
    assert_int_equal(batch(lm, REGIME_GNS, 4, 100, 11), 10);
    assert_int_equal(batch(lm, REGIME_GNS, 8, 100, 99), 5);    /* no entry */
    assert_int_equal(batch("Recommendation (batch size 1024)", REGIME_GNS, 1,
                           100, 95), 8192);
    assert_int_equal(batch("Transformer (batch size 16)", REGIME_GNS, 1, 100,
                           95), 16);
}

/* ResNet-50 is critical in the first ten of every thirty epochs; at first, in
 * all of the first 30%. */
static void accordion_is_small_in_critical_epochs(void **state)
{
    static const char resnet[] = "ResNet-50 (batch size 32)";

    (void)state;
    assert_int_equal(batch(resnet, REGIME_ACCORDION, 1, 100, 15), 32);
    assert_int_equal(batch(resnet, REGIME_ACCORDION, 1, 100, 30), 32);
    assert_int_equal(batch(resnet, REGIME_ACCORDION, 1, 100, 40), 128);
    assert_int_equal(batch(resnet, REGIME_ACCORDION, 1, 100, 60), 32);
    assert_int_equal(batch(resnet, REGIME_STATIC, 1, 100, 70), 32);
    assert_int_equal(batch("LM (batch size 10)", REGIME_ACCORDION, 1, 20, 9),
                     10);
    assert_int_equal(batch("LM (batch size 10)", REGIME_ACCORDION, 1, 20, 10),
                     80);
}

/* Critical epochs as pairs of the first one and the next that is not; where a job has so many
 * epochs that its first 30%, which count as critical, do not hide them. */
static void critical_epochs_begin_and_end_where_the_paper_says(void **state)
{
    static const struct { const char *job; uint32_t most, epochs, from, to; } range[] = {
        { "ResNet-18 (batch size 32)", 256, 400, 150, 160 },
        { "ResNet-18 (batch size 32)", 256, 400, 250, 260 },
        { "ResNet-18 (batch size 32)", 256, 20, 0, 10 },
        { "ResNet-50 (batch size 32)", 128, 1000, 570, 580 },
        { "LM (batch size 10)", 80, 20, 0, 10 },
        { "Recommendation (batch size 512)", 8192, 180, 60, 70 },
        { "Recommendation (batch size 512)", 8192, 200, 80, 90 },
        { "Recommendation (batch size 1024)", 8192, 60, 0, 30 },
        { "Recommendation (batch size 2048)", 8192, 60, 0, 40 },
        { "Recommendation (batch size 4096)", 8192, 20, 0, 10 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        for (uint32_t e = range[i].from > 0 ? range[i].from - 1 : 0; e <= range[i].to; e++) {
            uint32_t first = batch(range[i].job, REGIME_STATIC, 1, range[i].epochs, e);
            bool small = (e >= range[i].from && e < range[i].to) || e * 10 <= range[i].epochs * 3;
            if (batch(range[i].job, REGIME_ACCORDION, 1, range[i].epochs, e) !=
                (small ? first : range[i].most))
                fail_msg("%s: epoch %u", range[i].job, e);
        }
    /* ResNet-50 has critical epochs in its first 600 alone, Transformer no others. */
    assert_int_equal(batch("ResNet-50 (batch size 32)", REGIME_ACCORDION, 1, 1000, 600), 128);
    assert_int_equal(batch("Transformer (batch size 16)", REGIME_ACCORDION, 1, 100, 99), 16);
}

/* Who has an entry doubles from epoch 11 on, at the earliest, until the model's bound. */
static void gns_ends_at_the_largest_batch(void **state)
{
    /* Bits of gpus: an entry for so many. */
    static const struct { const char *model; uint32_t least, most, bound, gpus; } entry[] = {
        { "ResNet-18", 16, 128, 256, 7 }, { "LM", 5, 40, 80, 7 }, { "ResNet-50", 64, 64, 128, 7 },
        { "ResNet-50", 32, 32, 128, 6 }, { "Recommendation", 512, 4096, 8192, 1 },
    };
    char job[64];

    (void)state;
    for (size_t i = 0; i < sizeof entry / sizeof entry[0]; i++)
        for (uint32_t n = entry[i].least; n <= entry[i].most; n *= 2)
            for (uint32_t gpus = 1; gpus <= 8; gpus++) {
                bool has = gpus <= 4 && gpus != 3 && (gpus & entry[i].gpus) != 0;
                snprintf(job, sizeof job, "%s (batch size %u)", entry[i].model, n);
                assert_int_equal(batch(job, REGIME_GNS, gpus, 1000, 10), n);
                assert_int_equal(batch(job, REGIME_GNS, gpus, 1000, 999),
                                 has ? entry[i].bound : n);
            }
}

static void types_without_a_batch_size_are_told(void **state)
{
    struct regime_type type;

    (void)state;
    assert_false(regime_type_read("A3C", &type));
    assert_false(regime_type_read("GPT (batch size 8)", &type));
    assert_false(regime_type_read("LM (batch size x)", &type));
    assert_false(regime_type_read("LM (batch size 8) ", &type));
}

/* ---- time ------------------------------------------------------------------ */

/* Three epochs of 10 s, two of 4 s, one of 10 s. */
static void epochs_are_counted_regime_by_regime(void **state)
{
    const uint32_t sizes[] = { 1, 2 };
    const double epoch_s[] = { 10, 4 };
    const struct job_modes modes = { 6, 2, sizes, epoch_s };
    const struct job_regime regime[] = { { 0, 0 }, { 3, 1 }, { 5, 0 } };
    const struct job_regimes regimes = { regime, 3 };
    uint32_t seen[JOB_MODES_MAX];

    (void)state;
    assert_about(regimes_length_s(&modes, &regimes), 48);
    assert_int_equal(regimes_done(&modes, &regimes, 9.9, seen), 0);
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 0);
    assert_int_equal(regimes_done(&modes, &regimes, 35, seen), 4);
    assert_int_equal(seen[0], 3);
    assert_int_equal(seen[1], 2);
    assert_int_equal(regimes_done(&modes, &regimes, 48, seen), 6);
    assert_int_equal(seen[0], 4);
}

/* ---- a trace --------------------------------------------------------------- */

#define ROW(TYPE, STEPS, MODE, AT) \
    TYPE "\tc\tw\t-n\t1\t" STEPS "\t1\t" MODE "\t1\t-1.000000\t500\t" AT "\n"

#define RATES \
    "{\"v100\": {\"('LM (batch size 40)', 1)\": {\"null\": 10}, " \
    "\"('LM (batch size 80)', 1)\": {\"null\": 8}}}"

static void run_rows(const char *rows, const char *keys, const char *policy,
                     struct world *world, struct world_job *job)
{
    char text[1024], path[128];

    memset(world, 0, sizeof *world);
    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    world_write(world, "jobs.csv", rows);
    world_write(world, "rates.json",
                RATES);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, count: 1, "
             "gpus: {type: generic, count: 1}}]}\nworkload: {trace: {file: "
             "jobs.csv, format: shockwave%s}}\npolicies: [{policy: %s}]\n",
             keys, policy);
    if (!world_open(world, text) || !world_run(world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(world));
    snprintf(path, sizeof path, "%s/rates.json", world->folder);
    unlink(path);
}

/* 59,675 samples: an epoch is 1,492 steps of 40.  20 epochs, of which LM is
 * critical in the first ten: 10 at 40 and 10 steps/s, 10 at 80 and 8. */
static void rates_give_traces_their_regimes(void **state)
{
    const char *rows = ROW("LM (batch size 40)", "29840", "accordion", "0");
    const char *rated = ", lengths: rates.json, gpu_type: v100";
    double small_s = 59675.0 / 40 / 10, large_s = 59675.0 / 80 / 8;
    struct world world;
    struct world_job job[1];

    (void)state;
    run_rows(rows, rated, "fcfs", &world, job);
    assert_about(job[0].end_s, 10 * small_s + 10 * large_s);
    world_close(&world);
    run_rows(rows, "", "fcfs", &world, job);
    assert_about(job[0].end_s, 500);
    world_close(&world);
    run_rows(ROW("LM (batch size 40)", "29840", "static", "0"), rated, "fcfs",
             &world, job);
    assert_about(job[0].end_s, 20 * small_s);
    world_close(&world);
}

static void jobs_without_a_rate_are_refused(void **state)
{
    struct world world = { 0 };

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv",
                ROW("LM (batch size 20)", "29840", "gns", "0"));
    world_write(&world, "experiment.csv",
                "{\"v100\": {\"('LM (batch size 40)', 1)\": {\"null\": 10}}}");
    assert_false(world_open(&world,
        "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, count: 1, gpus: "
        "{type: generic, count: 1}}]}\nworkload: {trace: {file: jobs.csv, "
        "format: shockwave, lengths: experiment.csv, gpu_type: v100}}\n"
        "policies: [fcfs]\n"));
    assert_int_equal(world.err.pos.line, 1);
    assert_non_null(strstr(world.err.pos.file, "jobs.csv"));
    char path[128];
    snprintf(path, sizeof path, "%s/experiment.csv", world.folder);
    unlink(path);
    world_close(&world);
}

/* ---- what a policy sees ---------------------------------------------------- */

struct watch {
    bool started;
};

/* Epochs of the first mode are 10, then some of the second; never one that is
 * to come. */
static void watch_decide(void *self, struct cs_host *host)
{
    struct watch *w = self;
    struct cs_epochs e;

    if (cs_pending_count(host) > 0)
        cs_start(host, cs_pending(host, 0));
    if (cs_running_count(host) == 0)
        return;
    cs_wake_at(host, cs_now_ns(host) + INT64_C(20000000000));
    w->started = true;
    if (!cs_epochs(host, cs_running(host, 0), &e) || e.count != 20 ||
        e.modes != 2 || e.seen[0] + e.seen[1] != e.done + 1 ||
        (e.seen[1] > 0) != (e.done >= 10))
        cs_fail(host, "epochs are not what they are");
}

static void a_policy_sees_the_batch_sizes_that_were(void **state)
{
    static const struct cs_policy policy = {
        .abi_major = CS_POLICY_ABI_MAJOR,
        .size_bytes = sizeof(struct cs_policy), .name = "watch",
        .summary = "looks at epochs", .self_bytes = sizeof(struct watch),
        .decide = watch_decide };
    struct host_policy watch = world_policy(&policy);
    const struct watch params = { 0 };
    struct world world;
    struct world_job job[1];
    char path[128];

    (void)state;
    watch.params = &params;
    run_rows(ROW("LM (batch size 40)", "29840", "accordion", "0"),
             ", lengths: rates.json, gpu_type: v100", "fcfs", &world, job);
    world_write(&world, "rates.json",
                RATES);
    if (!world_run(&world, 0, &watch, job, NULL))
        fail_msg("%s", world_error(&world));
    snprintf(path, sizeof path, "%s/rates.json", world.folder);
    unlink(path);
    world_close(&world);
}

/* ---- shockwave -------------------------------------------------------------- */

static void run_jobs(const char *policy, const struct world_job *job,
                     uint32_t jobs, uint32_t gpus, struct world_job *out,
                     struct trial_result *result)
{
    struct world world = { 0 };

    assert_true(world_trace(&world, 1, gpus, job, jobs, policy));
    if (!world_run(&world, 0, NULL, out, result))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

/* Two of 2400 s on one GPU: the program gives each ten of twenty rounds. */
static void shockwave_shares_a_window_among_equal_jobs(void **state)
{
    const struct world_job job[] = { { 0, 2400, 1, 0, 0 },
                                     { 0, 2400, 1, 0, 0 } };
    struct world_job out[2];

    (void)state;
    run_jobs("[shockwave]", job, 2, 1, out, NULL);
    assert_about(fmax(out[0].end_s, out[1].end_s), 4800);
    assert_true(fmin(out[0].end_s, out[1].end_s) >= 3600);
}

/* log(progress) grows most where little is done: a short job among long ones
 * has a round of the first window, and is late and goes first in the next. */
static void shockwave_lets_short_jobs_through(void **state)
{
    const struct world_job job[] = { { 0, 24000, 1, 0, 0 },
                                     { 0, 24000, 1, 0, 0 },
                                     { 120, 240, 1, 0, 0 } };
    struct world_job out[3];

    (void)state;
    run_jobs("[shockwave]", job, 3, 1, out, NULL);
    assert_true(out[2].end_s <= 2640);
    assert_about(fmax(out[0].end_s, out[1].end_s), 48240);
}

extern const struct cs_policy plain_shockwave_policy;

static void plan_rows_alike(const char *rows, int jobs, const char *policy)
{
    struct world world;
    struct world_job fast[4], slow[4];
    char path[128];

    run_rows(rows, ", lengths: rates.json, gpu_type: v100", policy, &world, fast);
    struct host_policy plain = *experiment_trial_spec(world.experiment, 0).policy;
    plain.policy = &plain_shockwave_policy;
    snprintf(path, sizeof path, "%s/rates.json", world.folder);
    world_write(&world, "rates.json", RATES);
    if (!world_run(&world, 0, &plain, slow, NULL))
        fail_msg("%s", world_error(&world));
    unlink(path);
    for (int j = 0; j < jobs; j++) {
        assert_about(fast[j].start_s, slow[j].start_s);
        assert_about(fast[j].end_s, slow[j].end_s);
    }
    world_close(&world);
}

/* Jobs whose batch size changes, and one whose does not, on one GPU: as planned with the
 * forecast of the paper, by the simplex method. */
static void shockwave_forecasts_the_epochs_that_are_left(void **state)
{
    static const char *const rows[] = {
        ROW("LM (batch size 40)", "29840", "accordion", "0")
        ROW("LM (batch size 40)", "59680", "static", "0")
        ROW("LM (batch size 40)", "14920", "gns", "700"),
        ROW("LM (batch size 40)", "44760", "gns", "0")
        ROW("LM (batch size 40)", "29840", "accordion", "120")
        ROW("LM (batch size 40)", "29840", "gns", "2400"),
    };
    static const char *const policy[] = { "shockwave", "shockwave, rho_max: 100",
                                          "shockwave, round: 60s, rho_max: 1.4, lambda: 2" };

    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++)
            plan_rows_alike(rows[i], 3, policy[k]);
}

/* Forecasts of drawn jobs.  Epochs are 1,492 steps.  Their number is even, so that half of them is
 * exact for each batch size: the forecast takes whole parts.  Few are late: in its last
 * part of a round such a job counts up to 10^12 times as much, which hides the others from a
 * solver. */
static void shockwave_forecasts_drawn_epochs(void **state)
{
    static const char *const mode[] = { "static", "accordion", "gns" };
    struct rng rng;
    char rows[600], policy[120];

    (void)state;
    rng_init(&rng, 4, "epochs", 0);
    for (int i = 0; i < 150; i++) {
        int jobs = 2 + (int)rng_below(&rng, 3), n = 0;
        unsigned at = 0;
        /* One draw after the other: compilers differ in the order of arguments. */
        for (int j = 0; j < jobs; j++, at += 60 * (unsigned)rng_below(&rng, 40)) {
            const char *how = mode[rng_below(&rng, 3)];
            unsigned steps = 1492 * 2 * (2 + (unsigned)rng_below(&rng, 19));
            n += sprintf(rows + n, "LM (batch size 40)\tc\tw\t-n\t1\t%u\t1\t%s\t1\t-1.000000\t"
                         "500\t%u\n", steps, how, at);
        }
        unsigned window = 4 + (unsigned)rng_below(&rng, 17);
        unsigned lambda = 1 + (unsigned)rng_below(&rng, 4);
        double rho_max = 2.5 + 0.01 * (double)rng_below(&rng, 200);
        snprintf(policy, sizeof policy, "shockwave, rho_max: %.2f, lambda: %u, window: %u, round: "
                 "60s", rho_max, lambda, window);
        plan_rows_alike(rows, jobs, policy);
    }
}

static void shockwave_keeps_gpus_at_work(void **state)
{
    struct world_job job[60], out[60];
    struct trial_result result;

    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        world_random_jobs(seed, job, 60);
        for (int i = 0; i < 60; i++)
            job[i].duration_s *= 20;
        run_jobs("[{policy: shockwave, round: 60s}]", job, 60, 8, out,
                 &result);
        assert_true(result.value[METRIC_JOBS_DONE] == 60);
        assert_true(result.value[METRIC_GPU_UTILIZATION] > 0.7);
        assert_true(result.value[METRIC_JCT_MEAN] >=
                    result.value[METRIC_JCT_BOUND]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gns_doubles_batch_sizes_at_its_epochs),
        cmocka_unit_test(accordion_is_small_in_critical_epochs),
        cmocka_unit_test(critical_epochs_begin_and_end_where_the_paper_says),
        cmocka_unit_test(gns_ends_at_the_largest_batch),
        cmocka_unit_test(types_without_a_batch_size_are_told),
        cmocka_unit_test(epochs_are_counted_regime_by_regime),
        cmocka_unit_test(rates_give_traces_their_regimes),
        cmocka_unit_test(jobs_without_a_rate_are_refused),
        cmocka_unit_test(a_policy_sees_the_batch_sizes_that_were),
        cmocka_unit_test(shockwave_shares_a_window_among_equal_jobs),
        cmocka_unit_test(shockwave_lets_short_jobs_through),
        cmocka_unit_test(shockwave_forecasts_the_epochs_that_are_left),
        cmocka_unit_test(shockwave_forecasts_drawn_epochs),
        cmocka_unit_test(shockwave_keeps_gpus_at_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
