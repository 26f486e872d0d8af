/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * controls_test.c - `controls:` adds the policies that it says, and they differ
 * from the others in the part that they are named after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/aid/scratch.h"

static char program[4096];      /* its path */

/* Two GRPO jobs that may roll out on twice the GPUs that they ask for. */
static const char experiment[] =
    "experiment: e\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: rollout, count: 2, gpus: {type: a100-80, count: 8},"
    " cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr, count: 8}}\n"
    "    - {name: train, count: 1, gpus: {type: a100-80, count: 8},"
    " cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr, count: 8}}\n"
    "    - {name: cpu, count: 1, cpu: {type: epyc-7763}, memory: 512GB}\n"
    "  storage: {bandwidth: 40GB/s}\n"
    "workload:\n"
    "  arrival: {process: all_at_once}\n"
    "  jobs: 2\n"
    "  mix:\n"
    "    - {recipe: grpo, model: llama-3.2-3b, zero: 3, recompute: full,"
    " micro_batch: 1, prompts: 64, responses: 8, prompt_tokens: 512,"
    " response: {mean: 1000, cv: 1, max: 4096}, steps: 4,"
    " reward: {on: cpu, core_time: 100ms}, checkpoint_every: 0,"
    " rollout: {gpus: 8, max: 16, pool: rollout}, train: {gpus: 8, pool: train},"
    " data: {cores: 8, pool: cpu}}\n"
    "policies: %s\n"
    "controls: %s\n"
    "output: {tables: [summary, phases, compare]}\n";

/* Returns what the program says, to be freed, and its status. */
static char *run(struct scratch *scratch, const char *policies,
                 const char *controls, int *status)
{
    char text[4096], command[8192];

    snprintf(text, sizeof text, experiment, policies, controls);
    scratch_write(scratch, "e.yaml", text);
    snprintf(command, sizeof command, "cd %s && '%s' e.yaml -o d >said 2>&1",
             scratch->dir, program);
    *status = WEXITSTATUS(system(command));
    return scratch_read(scratch, "said");
}

/* The most GPUs of a rollout of that policy in phases.csv; 0: it has none. */
static int most_gpus(struct scratch *scratch, const char *policy)
{
    char *csv = scratch_read(scratch, "d/phases.csv");
    int most = 0;

    assert_non_null(csv);
    for (char *line = strtok(csv, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char of[64], phase[64];
        int gpus;

        if (sscanf(line, "%*[^,],%63[^,],%*[^,],%*[^,],%63[^,],%*[^,],%*[^,],"
                   "%*[^,],%d", of, phase, &gpus) == 3 &&
            strcmp(of, policy) == 0 && strcmp(phase, "rollout") == 0 &&
            gpus > most)
            most = gpus;
    }
    free(csv);
    return most;
}

static void each_part_is_off_where_its_control_says_so(void **state)
{
    int status;
    char *said = run(*state, "[{policy: dynamic, name: mine}, static]",
                     "[random, no_growth, no_lending]", &status);

    if (status != 0)
        fail_msg("%s", said);
    free(said);
    assert_int_equal(most_gpus(*state, "mine"), 16);
    assert_int_equal(most_gpus(*state, "mine-no_growth"), 8);
    assert_int_equal(most_gpus(*state, "mine-no_lending"), 8);
    assert_int_equal(most_gpus(*state, "random"), 8);
    assert_int_equal(most_gpus(*state, "static"), 8);
    assert_int_equal(most_gpus(*state, "static-no_growth"), 0);
}

static void what_would_change_nothing_is_refused(void **state)
{
    static const struct { const char *policies, *controls, *says; } wrong[] = {
        { "[static]", "[no_growth]", "changes none of the policies" },
        { "[{policy: dynamic, lend: false}]", "[no_lending]",
          "changes none of the policies" },
        { "[dynamic]", "[no_growht]", "Did you mean no_growth?" },
        { "[dynamic]", "random", "must be a list" },
        { "[dynamic]", "[]", "must be a list" },
        { "[random]", "[random]", "two policies are called 'random'" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int status;
        char *said = run(*state, wrong[i].policies, wrong[i].controls, &status);

        if (status != 3 || strstr(said, wrong[i].says) == NULL)
            fail_msg("%s: status %d\n%s", wrong[i].controls, status, said);
        free(said);
    }
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(each_part_is_off_where_its_control_says_so),
        TEST(what_would_change_nothing_is_refused),
    };

    (void)argc;
    scratch_program(program, sizeof program, argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
