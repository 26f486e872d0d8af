/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_rent_test.c - the whole program with a naive count of the nodes that waiting tasks need
 * (oracles/naive_backlog.h), against the program as it is: the same bytes.
 *
 * Called with arguments this test is that program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_errno.h>

#include "experiments/cli/cli.h"
#include "tests/aid/program.h"
#include "tests/oracles/naive_backlog.h"

#define ON_ITS_OWN_COUNT 99     /* a status: the library called its own function */

static const char *self;        /* this program */

static void both_write_the_same(const char *text)
{
    static const char *const more[] = { "-j", "1", NULL };
    struct program program;
    char experiment[128];

    program_open(&program, self);
    snprintf(experiment, sizeof experiment, "%s/x.yaml", program.folder);
    FILE *file = fopen(experiment, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(program_experiment(&program, experiment, "fast", more), 0);
    snprintf(program.path, sizeof program.path, "%s", self);
    assert_int_equal(program_experiment(&program, experiment, "slow", more), 0);
    program_same(&program, "jobs.csv");
    program_same(&program, "audit.json");     /* every event at the same time */
    program_close(&program);
}

#define NODES(NAME, COUNT, GPUS, MORE) \
    "{name: " NAME ", count: " COUNT ", " GPUS "cpu: {type: epyc-7742, sockets: 2}, memory: 1TB" \
    MORE "}"
#define A100 "gpus: {type: a100-80, count: 4}, "
#define L40S "gpus: {type: l40s, count: 8}, "
#define RENT(KEYS) \
    ", nics: {type: ib-hdr}, price: 9USD/h, rent: {start: 100s, keep: 60s, least: 0s" KEYS "}"
#define JOB(NAME, GPUS, ROLE) \
    "{recipe: trace, name: " NAME ", gpus: " GPUS ", duration: {exponential: {mean: 4min}}, " \
    "role: {" ROLE "}}"

/* Some of each kind suit one group, several, or owned nodes too; some have cores alone, or parts
 * of a node. */
#define WORLD(CAP, MIX) \
    "experiment: rent\nseeds: 2\nuntil: drained\ncluster: {nodes: [" \
    NODES("own", "1", A100, ", nics: {type: ib-hdr}, price: 0USD/h") ", " \
    NODES("a", "3", A100, RENT(", wait: 45s, spare: 1")) ", " \
    NODES("l", "2", L40S, RENT("")) ", " \
    NODES("b", "3", A100, RENT(", min: 1")) ", " \
    NODES("c", "2", "", RENT(", wait: 20s")) "]" CAP "}\n" \
    "workload: {arrival: {process: poisson, rate: 100/h}, jobs: 36, mix: [" \
    JOB("x", "{choice: {1: 2, 2: 1, 4: 1, 6: 1}}", "cores: 2, types: [a100-80]") ", " \
    JOB("y", "{choice: {1: 1, 3: 2, 8: 1}}", "types: [l40s]") ", " \
    JOB("z", "{choice: {1: 2, 4: 1, 7: 1}}", "memory: 90GB, types: [a100-80, l40s]") ", " \
    JOB("w", "{choice: {1: 2, 2: 1}}", "cores: 30") MIX "]}\n"
#define DPO \
    ", {recipe: dpo, name: d, model: qwen2.5-7b, method: lora, recompute: full, zero: 2, " \
    "prompts: 64, pairs: 1, prompt_tokens: 256, response: {mean: 200, cv: 1, max: 1024}, " \
    "reward: {on: cpu, core_time: 100ms}, steps: {uniform: [1, 4]}, checkpoint_every: 2, " \
    "rollout: {gpus: 4, min: 2, max: 8, types: [l40s, a100-80]}, train: {gpus: 4, min: 2, " \
    "max: 8, types: [a100-80]}, data: {cores: 40}}"
#define OUTPUT "output: {tables: [jobs], plots: []}\n"

static void jobs_are_counted_as_by_a_list(void **state)
{
    static const char *const text[] = {
        WORLD("", "") "policies: [fcfs, {policy: sjf, name: b, blocking: skip}, {policy: srtf, "
        "name: c}]\n" OUTPUT,
        WORLD(", pue: 1.1, power_cap: 14kW", "") "policies: [{policy: fcfs, blocking: skip}, "
        "{policy: sjf, name: b, blocking: skip}, gavel]\n" OUTPUT,
        WORLD(", power_cap: 15kW", "") "policies: [{policy: sjf, blocking: skip}, {policy: "
        "las, name: b}]\n" OUTPUT,
        WORLD("", DPO) "policies: [dynamic, {policy: fcfs, blocking: skip}]\n" OUTPUT,
        WORLD(", power_cap: 13kW", DPO) "policies: [dynamic, {policy: fcfs, blocking: skip}]\n"
        OUTPUT,
    };

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        both_write_the_same(text[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_counted_as_by_a_list),
    };

    gsl_set_error_handler_off();
    if (argc > 1) {
        int status = cli_main(argc, argv, stdout, stderr);
        return status == 0 && naive_backlogs == 0 ? ON_ITS_OWN_COUNT : status;
    }
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
