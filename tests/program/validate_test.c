/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * validate_test.c - what `clustersim validate` says of each kind of file, with figures that are
 * counted here by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/shell.h"

/* Three nodes of 4 and one of 8 GPUs, in two pools; the CPU has 64 cores a socket. */
#define CLUSTER \
    "nodes:\n" \
    "  - {name: a, count: 3, gpus: {type: a100-80, count: 4}, cpu: {type: epyc-7763, sockets: 1}," \
    " memory: 512GB, price: 2USD/h}\n" \
    "  - {name: b, count: 1, gpus: {type: l40s, count: 8}, cpu: {type: epyc-7763, sockets: 2}," \
    " memory: 512GB, price: 2USD/h}\n"
/* Jobs of so many hours on so many GPUs. */
#define JOBS(RATE, HOURS, GPUS) \
    "arrival: {process: poisson, rate: " RATE "}\njobs: 10\n" \
    "mix: [{recipe: trace, name: x, duration: " HOURS ", gpus: " GPUS "}]\n"
#define WORKLOAD JOBS("2/h", "2h", "3")

static int set_up(void **state)
{
    struct shell *shell = shell_new("policies: [fcfs]\n");

    scratch_write(&shell->scratch, "cluster.yaml", CLUSTER);
    scratch_write(&shell->scratch, "workload.yaml", WORKLOAD);
    *state = shell;
    return 0;
}

/* Writes x.yaml and validates it with these words behind. */
static void validate(void **state, const char *text, const char *words, int status,
                     const char *says)
{
    struct shell *shell = *state;
    char line[200];

    scratch_write(&shell->scratch, "x.yaml", text);
    snprintf(line, sizeof line, "$C validate x.yaml %s", words);
    run_line(shell, line, status, says);
}

/* Rounds of 7 steps, as 7 is below a tenth of 150, and 150 / 7 is 21.4.  140 are 20 rounds. */
static void steps_that_are_no_whole_rounds_are_told(void **state)
{
    static const char world[] =
        "experiment: e\ncluster: cluster.yaml\npolicies: [fcfs]\nworkload:\n"
        "  arrival: {process: fixed, times: [0s]}\n  mix:\n"
        "    - {recipe: lora, name: x, model: qwen2.5-0.5b, batch: 8, sequence: 1024, steps: 150,\n"
        "       checkpoint_every: 7, train: {gpus: 1}}\n";

    validate(state, world, "--set workload.mix.x.steps=150", 0,
             "job x: steps: 150 count as 147: 21 rounds of 7\n");
    validate(state, world, "--set workload.mix.x.steps=140 | grep 'count as'", 1, "");
    validate(state, world, "--set workload.mix.x.checkpoint_every=5 | grep 'count as'", 1, "");
}

/* The longest response has 2,048 tokens, so that parts of as many are whole ones; of one tp,
 * there is no sequence to share. */
static void values_that_change_nothing_beside_others_are_told(void **state)
{
    static const char world[] =
        "experiment: e\ncluster: cluster.yaml\npolicies: [static]\nworkload:\n"
        "  arrival: {process: fixed, times: [0s]}\n  mix:\n"
        "    - {recipe: grpo, name: x, model: qwen2.5-0.5b, prompts: 8, prompt_tokens: 100,\n"
        "       response: {mean: 200, cv: 1, max: 2048, partial: 2048}, steps: 4, tp: 1,\n"
        "       sequence_parallel: true, rollout: {gpus: 1}, train: {gpus: 2}}\n";

    validate(state, world, "", 0,
             "job x: response.partial: 2048 does nothing: no response is longer than 2048\n");
    validate(state, world, "", 0, "job x: sequence_parallel: true does nothing: tp is 1\n");
    validate(state, world, "--set workload.mix.x.response.partial=2047 "
             "--set workload.mix.x.tp=2 | grep 'does nothing'", 1, "");
    validate(state, world, "--set workload.mix.x.sequence_parallel=false "
             "| grep 'sequence_parallel: true'", 1, "");
}

static void a_cluster_is_counted(void **state)
{
    validate(state, CLUSTER, "", 0,
             "x.yaml: ok: cluster: 4 nodes, 20 GPUs, 320 cores, 2 pools\n");
    validate(state, "cluster:\n  nodes: [{name: a, gpus: {type: generic, count: 1}}]\n", "", 0,
             "x.yaml: ok: cluster: 1 node, 1 GPU, 0 cores, 1 pool\n");
}

static void a_workload_is_read_against_a_cluster_or_every_gpu(void **state)
{
    static const char two[] =
        "workload:\n  arrival: {process: poisson, rate: 2/h}\n  jobs: 10\n  mix:\n"
        "    - {recipe: trace, name: x, duration: 2h, gpus: 3}\n"
        "    - {recipe: trace, name: y, duration: 2h, gpus: 4}\n";

    validate(state, WORKLOAD, "", 0, "x.yaml: ok: workload: 1 kind of job, checked against 512 of "
             "each GPU of the catalogue in each pool\n");
    validate(state, two, "--cluster cluster.yaml", 0,
             "x.yaml: ok: workload: 2 kinds of job, checked against cluster.yaml\n");
    /* More GPUs than there are of one type. */
    validate(state, JOBS("2/h", "2h", "13"), "--cluster cluster.yaml", 3, "x.yaml:3:");
    validate(state, WORKLOAD, "--cluster nowhere.yaml", 4, "nowhere.yaml");
    validate(state, WORKLOAD, "--cluster workload.yaml", 3, "workload.yaml:1:");
}

/* One more of a kind than are built in. */
static void a_catalogue_is_counted_with_what_is_built_in(void **state)
{
    validate(state, "llms: {}\n", "", 0, "x.yaml: ok: catalogue, which then has");
    run_line(*state, "$C validate x.yaml >one; printf 'prices:\\n  mine: {of: t4, kind: spot, "
             "price: 1USD/h, as_of: \"2026\", source: me}\\n' >p.yaml\n"
             "$C validate p.yaml >two || cat two\n"
             "test $(($(sed 's/.* \\([0-9]*\\) prices.*/\\1/' one) + 1)) = "
             "$(sed 's/.* \\([0-9]*\\) prices.*/\\1/' two)", 0, NULL);
    run_line(*state, "for kind in gpus cpus links prices; do\n"
             "    a=$($C list $kind --json | grep -c '\"name\"')\n"
             "    b=$(sed \"s/.* \\([0-9]*\\) $kind.*/\\1/I\" one)\n"
             "    test \"$a\" = \"$b\" || exit 9\ndone", 0, NULL);
}

static void weights_are_numbers_by_name(void **state)
{
    validate(state, "weights: {a: 1.5, b: -2, c: 0}\n", "", 0, "x.yaml: ok: 3 weights\n");
    validate(state, "weights: {a: 1.5, b: much}\n", "", 3, "x.yaml:1:22: ");
    validate(state, "weights:\n", "", 3, "x.yaml:1:");
    validate(state, "weights: [1, 2]\n", "", 3, "weights must be a map from feature to number");
}

static void a_file_of_no_kind_is_told_what_the_kinds_are(void **state)
{
    validate(state, "colour: green\n", "", 3, "it has none of their keys");
    validate(state, "name: a\n", "", 3, "An experiment has policies, a cluster has nodes");
    run_line(*state, "$C validate nowhere.yaml", 4, "nowhere.yaml");
}

#define EXPERIMENT "experiment: e\nuntil: drained\ncluster: cluster.yaml\nworkload: workload.yaml\n"

static void an_experiment_is_points_policies_and_seeds(void **state)
{
    /* 3 x 2 x 4, of 24 all differ: jobs are drawn. */
    validate(state, EXPERIMENT "policies: [fcfs, sjf]\nseeds: 4\nsweep: {workload.arrival.rate: "
             "[1/h, 2/h, 3/h]}\nexpect: [{metric: jobs_done, policy: sjf, at_least: 10}]\n", "", 0,
             "x.yaml: ok: experiment e: 3 points x 2 policies x 4 seeds = 24 trials, 1 "
             "expectation\n");
    validate(state, EXPERIMENT "policies: [fcfs]\nseeds: 1\n", "", 0,
             "x.yaml: ok: experiment e: 1 point x 1 policy x 1 seed = 1 trials, 0 expectations\n");
    /* A trace draws nothing: fcfs once, random 5 times. */
    run_line(*state, "sed 's/^policies:.*/policies: [fcfs, random]/' e.yaml >t.yaml; echo "
             "'nodes: [{name: n, count: 9, gpus: {type: generic, count: 8}}]' >cluster.yaml; "
             "printf 'experiment: t\\nuntil: drained\\nseeds: 5\\n' >>t.yaml; $C validate t.yaml",
             0, "1 point x 2 policies x 5 seeds, of which deterministic ones run once: 6 trials");
}

/* Two jobs an hour hold 3 GPUs for two hours: 12 GPU hours an hour, on 12 GPUs. */
static void the_load_is_work_over_what_a_pool_can_do(void **state)
{
    static const struct { const char *workload, *says, *also; } rows[] = {
        { JOBS("2/h", "2h", "3"), "12 GPUs   1.000", NULL },
        { JOBS("1/h", "1h", "3"), "12 GPUs   0.250", NULL },
        { JOBS("10/h", "2h", "3"), "12 GPUs   5.000", "at most 5.000" },
    };
    struct shell *shell = *state;

    scratch_write(&shell->scratch, "cluster.yaml",
                  "nodes: [{name: a, count: 3, gpus: {type: generic, count: 4}}]\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *said;

        scratch_write(&shell->scratch, "workload.yaml", rows[i].workload);
        validate(state, EXPERIMENT "policies: [fcfs]\nseeds: 1\n", "", 0, rows[i].says);
        said = scratch_read(&shell->scratch, "said");
        assert_true((strstr(said, "overload") != NULL) == (rows[i].also != NULL));
        assert_true(rows[i].also == NULL || strstr(said, rows[i].also) != NULL);
        free(said);
    }
}

#define CHAT_OF(REQUESTS) \
    "services: [{name: chat, model: llama-3-8b, gpu: {tp: 1, types: [a100-80], cores: 4}, " \
    "replicas: {min: 1, max: 1}, requests: {" REQUESTS "}}]\n"
#define CHAT(PROMPT, OUTPUT) \
    CHAT_OF("arrival: {process: fixed, times: [1s, 2s]}, prompt: " PROMPT ", output: " OUTPUT \
            ", for: 1h")
#define TOLD CHAT_OF("trace: {file: r.csv, columns: {arrive: t, prompt: in, output: out}}")

/* Llama 3 was trained for 8192 tokens: 8000 and 192 are as many, one more is longer. */
static void requests_longer_than_the_context_are_told(void **state)
{
    static const struct { const char *workload, *says; } rows[] = {
        { CHAT("8000", "192"), NULL },
        { CHAT("8000", "193"), "chat has requests of up to 8193 tokens, prompt and answer; "
                               "llama-3-8b was trained for 8192" },
        { CHAT("{uniform: [100, 200], max: 150}", "9000"), "chat has requests of up to 91" },
        { TOLD, "chat has requests of up to 8500 tokens" },
    };
    struct shell *shell = *state;

    scratch_write(&shell->scratch, "r.csv", "t,in,out\n0,10,10\n1,8400,100\n2,20,20\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *said;

        scratch_write(&shell->scratch, "workload.yaml", rows[i].workload);
        validate(state, EXPERIMENT "policies: [fcfs]\nseeds: 1\n", "", 0, rows[i].says);
        said = scratch_read(&shell->scratch, "said");
        assert_true((strstr(said, "was trained for") != NULL) == (rows[i].says != NULL));
        free(said);
    }
    run_line(shell, "$C run x.yaml", 0, "chat has requests of up to 8500 tokens");
}

/* As many replicas at most as at least: no load changes their number.  Where a point of a sweep
 * has more, or the key that is written acts all the same (`interval` ends the last replica),
 * nothing is said. */
static void scaling_of_a_fixed_number_is_told(void **state)
{
    static const struct { const char *replicas, *scaling, *sweep, *told; } rows[] = {
        { "{min: 2, max: 2}", "{target: 4}", "", "workload.yaml:1:" },
        { "{min: 2, max: 2}", "{interval: 5s, down: 1min}", "", "workload.yaml:1:" },
        { "{min: 2, max: 2}", "{signal: rate}", "", "workload.yaml:1:" },
        { "{min: 2, max: 2}", "{interval: 5s}", "", NULL },
        { "{min: 2, max: 3}", "{target: 4}", "", NULL },
        { "{min: 2, max: 2}", "{target: 4}", "sweep: {workload.services.chat.replicas.max: "
          "[2, 4]}\n", NULL },
        { "{min: 2, max: 2}", "{target: 4}", "sweep: {workload.services.chat.scaling.target: "
          "[2, 4]}\n", "x.yaml:7:49: " },
    };
    struct shell *shell = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1000], *said;

        snprintf(text, sizeof text, "services: [{name: chat, model: llama-3-8b, gpu: {tp: 1, "
                 "types: [a100-80], cores: 4}, replicas: %s, scaling: %s, requests: {arrival: "
                 "{process: poisson, rate: 1/s}, prompt: 100, output: 50, for: 1h}}]\n",
                 rows[i].replicas, rows[i].scaling);
        scratch_write(&shell->scratch, "workload.yaml", text);
        snprintf(text, sizeof text, EXPERIMENT "policies: [fcfs]\nseeds: 1\n%s", rows[i].sweep);
        validate(state, text, "", 0, "");
        said = scratch_read(&shell->scratch, "said");
        bool told = strstr(said, "service chat has a fixed number of replicas") != NULL;
        if (told != (rows[i].told != NULL) || (told && strstr(said, rows[i].told) == NULL))
            fail_msg("row %zu: %s", i, said);
        free(said);
    }
    run_line(shell, "$C run x.yaml", 0, "chat has a fixed number of replicas");
}

static void every_file_is_reported_and_the_first_fault_is_the_status(void **state)
{
    validate(state, "colour: green\n", "nowhere.yaml cluster.yaml", 3,
             "cluster.yaml: ok: cluster: 4 nodes");
    run_line(*state, "$C validate nowhere.yaml x.yaml cluster.yaml", 4, "x.yaml:1:");
}

/* With --set a file is read as `run` reads it. */
static void keys_are_replaced_as_by_run(void **state)
{
    static const char text[] = EXPERIMENT "policies: [fcfs]\nseeds: 1\n";

    validate(state, text, "--set seeds=3 --set 'policies=[fcfs, sjf]'", 0,
             "1 point x 2 policies x 3 seeds = 6 trials");
    validate(state, text, "--set seed=x", 3, "--set");
    validate(state, text, "--json --set seeds=3", 2, "as it is written, without --set");
    validate(state, CLUSTER, "--set seeds=3", 2, "x.yaml: usage error: --set replaces keys of an "
             "experiment, and the file is none");
}

static void json_is_the_file_as_it_is_written(void **state)
{
    run_line(*state, "$C validate --json cluster.yaml x.yaml", 2,
             "--json takes one file, found 2");
    validate(state, WORKLOAD, "--json", 0, "\"jobs\": 10,\n");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, shell_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(steps_that_are_no_whole_rounds_are_told),
        TEST(values_that_change_nothing_beside_others_are_told),
        TEST(a_cluster_is_counted),
        TEST(a_workload_is_read_against_a_cluster_or_every_gpu),
        TEST(a_catalogue_is_counted_with_what_is_built_in),
        TEST(weights_are_numbers_by_name),
        TEST(a_file_of_no_kind_is_told_what_the_kinds_are),
        TEST(an_experiment_is_points_policies_and_seeds),
        TEST(the_load_is_work_over_what_a_pool_can_do),
        TEST(requests_longer_than_the_context_are_told),
        TEST(scaling_of_a_fixed_number_is_told),
        TEST(every_file_is_reported_and_the_first_fault_is_the_status),
        TEST(keys_are_replaced_as_by_run),
        TEST(json_is_the_file_as_it_is_written),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
