/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole_test.c - recipe `trace`: whole jobs of drawn size and length, and the
 * places that a data set may be read from.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/laws/phase.h"
#include "models/types/rates.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "tests/aid/workload_aid.h"

#define JOBS 4000
#define HEAD "arrival: {process: poisson, rate: 60/h}\njobs: 4000\nmix:\n"

static const struct workload_spec *read_entry(struct aid *aid,
                                              const char *entry)
{
    char text[2048];

    snprintf(text, sizeof text, "%s%s\n", HEAD, entry);
    return aid_workload(aid, "w.yaml", text);
}

static struct job_birth *draw(struct aid *aid, const char *entry)
{
    const struct workload_spec *spec = read_entry(aid, entry);
    struct job_birth *job = arena_alloc(aid->arena, JOBS, sizeof *job);

    if (spec == NULL)
        fail_msg("%s", aid_message(aid));
    assert_int_equal(aid_jobs(aid, spec, 1, 0, job, JOBS), JOBS);
    return job;
}

#define PLAIN "  - {recipe: trace, gpus: {choice: {1: 5, 2: 2, 8: 3}}, " \
              "duration: {exponential: {mean: 1h}}, limit: {uniform: [1, 4]}}"

static void sizes_come_in_the_shares_of_the_choice(void **state)
{
    struct aid aid;
    uint32_t count[9] = { 0 };

    (void)state;
    aid_open_generic(&aid, 64);
    const struct job_birth *job = draw(&aid, PLAIN);
    for (size_t i = 0; i < JOBS; i++) {
        assert_in_range(job[i].request.gpus, 1, 8);
        count[job[i].request.gpus]++;
    }
    assert_int_equal(count[1] + count[2] + count[8], JOBS);
    /* four standard deviations */
    assert_near(count[1], JOBS * 0.5, 4 * sqrt(JOBS * 0.25));
    assert_near(count[2], JOBS * 0.2, 4 * sqrt(JOBS * 0.16));
    aid_close(&aid);
}

static void a_job_is_one_phase_of_known_length_below_its_limit(void **state)
{
    struct aid aid;
    double sum_s = 0;

    (void)state;
    aid_open_generic(&aid, 64);
    const struct job_birth *job = draw(&aid, PLAIN);
    const struct job_form *form = job[0].request.form;
    assert_string_equal(form->recipe, "trace");
    assert_int_equal(form->phase_count, 1);
    assert_int_equal(form->phase[0].law->kind, LAW_FIXED);
    for (size_t i = 0; i < JOBS; i++) {
        int64_t ns = job[i].truth.duration_ns;
        assert_int_equal(job[i].request.steps, 1);
        assert_true(ns > 0);
        assert_true(job[i].request.limit_ns >= ns);
        assert_true(job[i].request.limit_ns <= 4 * ns + 1);
        sum_s += (double)ns / 1e9;
    }
    assert_near(sum_s / JOBS, 3600, 4 * 3600 / sqrt(JOBS));
    aid_close(&aid);
}

/* Common random numbers: each property has a stream of its own. */
static void a_change_of_one_property_moves_no_other(void **state)
{
    struct aid aid;

    (void)state;
    aid_open_generic(&aid, 64);
    const struct job_birth *a = draw(&aid, PLAIN);
    const struct job_birth *b = draw(
        &aid, "  - {recipe: trace, gpus: 4, "
              "duration: {exponential: {mean: 1h}}, role: {cores: 2}}");
    for (size_t i = 0; i < JOBS; i++) {
        assert_true(a[i].request.submit_ns == b[i].request.submit_ns);
        assert_true(a[i].truth.duration_ns == b[i].truth.duration_ns);
        assert_int_equal(b[i].request.gpus, 4);
        assert_true(b[i].request.limit_ns == 0);
    }
    aid_close(&aid);
}

static void a_limit_of_once_the_run_time_is_the_run_time(void **state)
{
    struct aid aid;

    (void)state;
    aid_open_generic(&aid, 64);
    const struct job_birth *job = draw(
        &aid, "  - {recipe: trace, gpus: 1, limit: 1, "
              "duration: {lognormal: {mean: 7d, cv: 3}}}");
    for (size_t i = 0; i < JOBS; i++)
        assert_true(job[i].request.limit_ns == job[i].truth.duration_ns);
    job = draw(&aid, "  - {recipe: trace, gpus: 1, duration: 90.000000001s}");
    assert_true(job[7].truth.duration_ns == INT64_C(90000000001));
    aid_close(&aid);
}

static void impossible_whole_jobs_are_refused_with_a_place(void **state)
{
    static const struct { const char *entry, *says; } row[] = {
        { "  - {recipe: trace, gpus: 65, duration: 1h}",
          "w.yaml:4:27: jobs of trace ask for up to 65 GPUs" },
        { "  - {recipe: trace, gpus: {choice: {1: 9, 128: 1}}, "
          "duration: 1h}", "up to 128 GPUs and can never run" },
        { "  - {recipe: trace, gpus: 1.5, duration: 1h}", "whole numbers" },
        { "  - {recipe: trace, gpus: {uniform: [1, 8]}, duration: 1h}",
          "whole numbers of at least 1" },
        { "  - {recipe: trace, gpus: {choice: {0: 1, 1: 1}}, duration: 1h}",
          "at least 1" },
        { "  - {recipe: trace, gpus: 1, duration: 0s}", "greater than 0s" },
        { "  - {recipe: trace, gpus: 1, duration: 60}", "unit" },
        { "  - {recipe: trace, gpus: 1, duration: 1h, limit: 0.5}",
          "w.yaml:4:51: limit must be at least 1" },
        { "  - {recipe: trace, gpus: 1, duration: 1h, limit: {exponential: "
          "{mean: 2}}}", "Put min: 1 beside" },
        { "  - {recipe: trace, gpus: 1}", "duration" },
        { "  - {recipe: trace, gpus: 1, duration: 1h, role: {pool: x}}",
          "wants pool x" },
    };
    struct aid aid;

    (void)state;
    aid_open_generic(&aid, 64);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (read_entry(&aid, row[i].entry) != NULL)
            fail_msg("accepted: %s", row[i].entry);
        if (strstr(aid_message(&aid), row[i].says) == NULL)
            fail_msg("%s lacks \"%s\"", aid_message(&aid), row[i].says);
    }
    aid_close(&aid);
}

/* ---- where the data set lies ------------------------------------------ */

/* Two pools of A100s, one with drives, and CPU nodes with drives. */
static void open_drives(struct aid *aid)
{
    static const char text[] =
        "nodes:\n"
        "  - {name: fed, count: 2, gpus: {type: a100-80, count: 8},\n"
        "     cpu: {type: epyc-7742, sockets: 2}, memory: 2TB,\n"
        "     nvme: 4x3.84TB, price: 1USD/h}\n"
        "  - {name: bare, count: 2, gpus: {type: a100-80, count: 8},\n"
        "     cpu: {type: epyc-7742, sockets: 2}, memory: 2TB,\n"
        "     price: 1USD/h}\n"
        "  - {name: cpu, count: 2, cpu: {type: epyc-7742}, memory: 1TB,\n"
        "     nvme: 1x3.84TB, price: 1USD/h}\n"
        "storage: {bandwidth: 1GB/s}\n";
    const struct conf_node *conf;

    aid_open(aid);
    conf = conf_parse(aid->arena, "c.yaml", text, strlen(text), &aid->err);
    assert_non_null(conf);
    aid->cluster = cluster_read(aid->arena, conf, aid->catalogue, &aid->err);
    assert_non_null(aid->cluster);
}

#define LORA "  - {recipe: lora, model: qwen2.5-7b, batch: 16, " \
             "sequence: 1024, steps: 300, "
#define DPO "  - {recipe: dpo, generation: offline, model: qwen2.5-7b, " \
            "prompts: 32, prompt_tokens: 300, train: {gpus: 8}, steps: 400," \
            "\n     response: {mean: 500, cv: 1, max: 2048}, "

/* The demands of the phase that reads, on four GPUs or eight cores. */
static struct demand_rates reads(struct aid *aid, const char *entry,
                                 const char *phase)
{
    const struct workload_spec *spec = read_entry(aid, entry);

    if (spec == NULL)
        fail_msg("%s: %s", entry, aid_message(aid));
    const struct job_form *form = workload_form(spec, 0);
    for (uint32_t p = 0; p < form->phase_count; p++) {
        if (strcmp(form->phase[p].name, phase) != 0)
            continue;
        bool gpus = form->role[form->phase[p].role].gpus > 0;
        struct share share = { .node = gpus ? 0 : 4, .cores = 8,
                               .gpu_mask = gpus ? 0xf : 0 };
        struct placement place = { .share = &share, .share_count = 1 };
        struct gang gang = fabric_gang(aid->cluster, &place);
        return phase_plan(form->phase[p].law, &gang, 0.5).rates;
    }
    fail_msg("no phase %s", phase);
    return (struct demand_rates){ 0 };
}

static void data_are_read_where_the_loader_says(void **state)
{
    static const struct {
        const char *before, *phase;
    } row[] = {
        { LORA "train: {gpus: 4, pool: fed}", "train" },
        { LORA "train: {gpus: 4}, data: {cores: 8, pool: cpu}",
          "preprocess" },
        { DPO "data: {cores: 8, pool: cpu}", "data" },
    };
    struct aid aid;
    char entry[512];

    (void)state;
    open_drives(&aid);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(entry, sizeof entry, "%s}", row[i].before);
        struct demand_rates usual = reads(&aid, entry, row[i].phase);
        assert_true(usual.storage_bytes > 0 && usual.nvme_bytes == 0);
        snprintf(entry, sizeof entry, "%s, loader: {from: nvme}}",
                 row[i].before);
        struct demand_rates nvme = reads(&aid, entry, row[i].phase);
        assert_true(nvme.storage_bytes == 0);
        assert_true(nvme.nvme_bytes == usual.storage_bytes);
        assert_true(nvme.core_s == usual.core_s);
        snprintf(entry, sizeof entry, "%s, loader: {from: memory}}",
                 row[i].before);
        struct demand_rates memory = reads(&aid, entry, row[i].phase);
        assert_true(memory.storage_bytes == 0 && memory.nvme_bytes == 0);
    }
    aid_close(&aid);
}

/* On two nodes with drives: half of the bytes cross the drives of each, none
 * the storage or a NIC. */
static void a_read_from_nvme_crosses_the_drives_of_the_lease(void **state)
{
    struct aid aid;
    struct flow_use use[32];
    struct share share[2] = { { .node = 0, .gpu_mask = 0xff },
                              { .node = 1, .gpu_mask = 0xff } };
    struct placement place = { .share = share, .share_count = 2 };
    struct demand_rates rates = { .nvme_bytes = 10 };

    (void)state;
    open_drives(&aid);
    struct loop *loop = loop_new((struct loop_limits){ INT64_MAX,
                                                       UINT64_MAX, NULL });
    struct flow_net *net = flow_new(loop);
    struct fabric *fabric = fabric_new(aid.arena, aid.cluster, net);
    assert_int_equal(fabric_uses(fabric, &place, &rates, use), 2);
    for (uint32_t n = 0; n < 2; n++) {
        assert_int_equal(use[n].link, fabric_link(fabric, FABRIC_NVME, n));
        assert_true(use[n].per_unit == 5);
    }
    flow_free(net);
    loop_free(loop);
    aid_close(&aid);
}

static void nvme_that_is_not_there_is_refused_with_a_place(void **state)
{
    static const struct { const char *entry, *says; } row[] = {
        { LORA "train: {gpus: 4}, loader: {from: nvme}}",
          "nodes bare, on which it may run, have none" },
        { LORA "train: {gpus: 4, pool: bare}, loader: {from: nvme}}",
          "w.yaml:4:123: role train of lora reads from nvme, but no node" },
        { DPO "data: {cores: 8}, loader: {from: nvme}}",
          "role data of dpo reads from nvme" },
        { DPO "loader: {from: memory, kind: image}}",
          "kind has no meaning for recipe dpo" },
        { LORA "train: {gpus: 4}, loader: {from: disk}}", "nvme" },
    };
    struct aid aid;

    (void)state;
    open_drives(&aid);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (read_entry(&aid, row[i].entry) != NULL)
            fail_msg("accepted: %s", row[i].entry);
        if (strstr(aid_message(&aid), row[i].says) == NULL)
            fail_msg("%s lacks \"%s\"", aid_message(&aid), row[i].says);
    }
    aid_close(&aid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_come_in_the_shares_of_the_choice),
        cmocka_unit_test(a_job_is_one_phase_of_known_length_below_its_limit),
        cmocka_unit_test(a_change_of_one_property_moves_no_other),
        cmocka_unit_test(a_limit_of_once_the_run_time_is_the_run_time),
        cmocka_unit_test(impossible_whole_jobs_are_refused_with_a_place),
        cmocka_unit_test(data_are_read_where_the_loader_says),
        cmocka_unit_test(a_read_from_nvme_crosses_the_drives_of_the_lease),
        cmocka_unit_test(nvme_that_is_not_there_is_refused_with_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
