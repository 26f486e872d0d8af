/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * homes_test.c - the pool of a role, whether every role has a place, how much
 * work is offered, and what decides without being said: seen as a user sees it.
 *
 * Offered loads are worked out by hand beside each experiment.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/aid/program.h"

static struct program program;

/* Two pools of so many nodes with eight GPUs each. */
#define POOLS(A, TYPE_A, B, TYPE_B) \
    "cluster:\n  nodes:\n" \
    "    - {name: " A ", count: 1, gpus: {type: " TYPE_A ", count: 8}, " \
    "cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, " \
    "count: 4}}\n" \
    "    - {name: " B ", count: 1, gpus: {type: " TYPE_B ", count: 8}, " \
    "cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, " \
    "count: 4}}\n" \
    "  storage: {bandwidth: 20GB/s}\n"
#define TUNING(ROLE) \
    "workload:\n  arrival: {process: poisson, rate: 6/h}\n  jobs: 4\n" \
    "  mix:\n    - recipe: lora\n      name: tune\n" \
    "      model: qwen2.5-0.5b\n      batch: 16\n      sequence: 512\n" \
    "      steps: 20\n      train: {gpus: 4" ROLE "}\n"
#define ALIGNING(ROLLOUT, TRAIN) \
    "workload:\n  arrival: {process: poisson, rate: 6/h}\n  jobs: 3\n" \
    "  mix:\n    - recipe: grpo\n      name: align\n" \
    "      model: qwen2.5-0.5b\n      prompts: 16\n      responses: 4\n" \
    "      prompt_tokens: 128\n      response: {mean: 100, cv: 1, max: 512}\n" \
    "      steps: 3\n      rollout: {gpus: 8" ROLLOUT "}\n" \
    "      train: {gpus: 8" TRAIN "}\n"

static void write_experiment(const char *cluster, const char *workload,
                             const char *policies)
{
    char text[8192];

    snprintf(text, sizeof text, "experiment: e\nseeds: 2\n%s%spolicies: %s\n"
             "output: {plots: []}\n", cluster, workload, policies);
    program_write(&program, "e.yaml", text);
}

/* What `clustersim COMMAND e.yaml` says, to be freed. */
static char *say(const char *command, int status)
{
    const char *words[] = { command, program_path(&program, "e.yaml"), "-o",
                            program_path(&program, "out"), NULL };
    char *text;
    int got;

    if (strcmp(command, "validate") == 0)
        words[2] = NULL;
    got = program_say(&program, words, &text);
    if (got != status)
        print_error("%s\n", text);
    assert_int_equal(got, status);
    return text;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        print_error("no '%s' in:\n%s\n", part, text);
    assert_non_null(strstr(text, part));
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        print_error("'%s' in:\n%s\n", part, text);
    assert_null(strstr(text, part));
}

static void refused(const char *where, const char *what)
{
    char *text = say("validate", 3);

    has(text, where);
    has(text, what);
    free(text);
}

/* GPUs of a pool that were ever allocated, by timeline.csv. */
static unsigned most_allocated(const char *pool)
{
    char *text = program_read(program_path(&program, "out/timeline.csv")), wanted[64];
    unsigned most = 0;

    assert_non_null(text);
    snprintf(wanted, sizeof wanted, ",%s,", pool);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *at = strstr(line, wanted);
        unsigned total, held;
        if (at == NULL)
            continue;
        assert_int_equal(sscanf(at + strlen(wanted), "%u,%u", &total, &held),
                         2);
        most = held > most ? held : most;
    }
    free(text);
    return most;
}

static void a_role_is_started_at_its_home(void **state)
{
    (void)state;
    write_experiment(POOLS("left", "a100-80", "right", "a100-80"),
                     TUNING(", home: right"), "[static]");
    free(say("run", 0));
    assert_true(most_allocated("right") > 0);
    assert_int_equal(most_allocated("left"), 0);
    write_experiment(POOLS("left", "a100-80", "right", "a100-80"),
                     TUNING(", home: left"), "[static]");
    free(say("run", 0));
    assert_int_equal(most_allocated("right"), 0);
}

/* What bears the role's name is no more its home if another is said. */
static void a_home_that_is_said_goes_before_a_name(void **state)
{
    (void)state;
    write_experiment(POOLS("train", "a100-80", "other", "a100-80"),
                     TUNING(", home: other"), "[static]");
    free(say("run", 0));
    assert_int_equal(most_allocated("train"), 0);
    write_experiment(POOLS("train", "a100-80", "other", "a100-80"), TUNING(""),
                     "[static]");
    char *text = say("run", 0);
    has(text, "home of train: train (it bears the role's name)");
    free(text);
    assert_int_equal(most_allocated("other"), 0);
}

static void a_wrong_home_is_an_error_with_its_line(void **state)
{
    (void)state;
    write_experiment(POOLS("left", "a100-80", "right", "t4"),
                     TUNING(", home: middle"), "[fcfs]");
    refused("e.yaml:18:", "has its home in pool middle, which the cluster "
            "does not have");
    write_experiment(POOLS("left", "a100-80", "right", "t4"),
                     TUNING(", home: left, pool: right"), "[fcfs]");
    refused("e.yaml:18:", "has its home in pool left, but may only use pool "
            "right");
    write_experiment(POOLS("left", "a100-80", "right", "t4"),
                     TUNING(", home: right, types: [a100-80]"), "[fcfs]");
    refused("e.yaml:18:", "can never run");
}

/* The pool `train` has none of the types: static goes nowhere else. */
static void a_name_that_is_no_place_is_told(void **state)
{
    (void)state;
    write_experiment(POOLS("train", "t4", "other", "a100-80"),
                     TUNING(", types: [a100-80]"), "[static, fcfs, dynamic]");
    char *text = say("validate", 3);
    has(text, "e.yaml:18:");
    has(text, "role train of tune has no place under policy static in pool "
        "train (it bears the role's name): it asks for 4 GPUs, and there are 0 "
        "that it may use");
    has(text, "home: POOL");
    lacks(text, "under policy fcfs");
    lacks(text, "under policy dynamic");
    free(text);
    write_experiment(POOLS("train", "t4", "other", "a100-80"),
                     TUNING(", types: [a100-80], home: other"),
                     "[static, fcfs, dynamic]");
    free(say("validate", 0));
}

/* Eight GPUs of the type for two roles of eight: one after the other, not at
 * once. */
static void roles_that_start_together_need_room_together(void **state)
{
    (void)state;
    write_experiment(POOLS("a", "a100-80", "b", "t4"),
                     ALIGNING(", types: [a100-80]", ", types: [a100-80]"),
                     "[fcfs, dynamic]");
    char *text = say("validate", 3);
    has(text, "role train of align has no place under policy fcfs");
    lacks(text, "under policy dynamic");
    free(text);
    text = say("run", 5);
    has(text, "warning: ");
    has(text, "role train of align has no place under policy fcfs");
    free(text);
}

static void a_static_split_without_homes_is_told(void **state)
{
    (void)state;
    write_experiment(POOLS("a", "a100-80", "b", "a100-80"), ALIGNING("", ""),
                     "[static, fcfs]");
    char *text = say("validate", 0);
    has(text, "policy static gives each role its own pool, but no role has a "
        "home");
    has(text, "home of rollout: any pool (none is said, and no pool bears the "
        "role's name)");
    free(text);
    write_experiment(POOLS("a", "a100-80", "b", "a100-80"),
                     ALIGNING(", home: a", ", home: b"), "[static, fcfs]");
    text = say("validate", 0);
    lacks(text, "no role has a home");
    free(text);
}

/* Eight GPUs of a tenant that has four, and may borrow none. */
static void a_quota_that_is_too_small_is_told(void **state)
{
    static const char jobs[] =
        "cluster: {nodes: [{name: a, count: 4, gpus: {type: generic, count: "
        "8}}]}\nworkload: {arrival: {process: poisson, rate: 1/h}, jobs: 2, "
        "mix: [{recipe: trace, name: wide, tenant: a, gpus: 8, duration: 1h}]}"
        "\n";

    (void)state;
    write_experiment(jobs, "", "[{policy: quota, quotas: a=4, borrow: false}]");
    refused("e.yaml:4:", "wide can never start under policy quota: it asks for "
            "more GPUs than the quota of its tenant");
    write_experiment(jobs, "", "[{policy: quota, quotas: a=4 b}]");
    refused("e.yaml:5:", "'quotas' of policy quota must be GPUs or a share of each tenant, "
            "found 'b'");
    write_experiment(jobs, "", "[{policy: quota, quotas: a=25%, borrow: false}, "
                     "{policy: quota, name: lent, quotas: a=4}]");
    free(say("validate", 0));
}

/* ---- offered load ------------------------------------------------------- */

#define COUNTED(ROLE, RATE) \
    "cluster:\n  nodes:\n    - {name: a, count: 3, gpus: {type: generic, " \
    "count: 8}}\n    - {name: b, count: 1, gpus: {type: generic, count: 8}}\n" \
    "workload:\n  arrival: {process: poisson, rate: " RATE "}\n  jobs: 9\n" \
    "  mix:\n    - {recipe: trace, name: j, gpus: 4, duration: 1h, role: {" \
    ROLE "}}\n"

/* 6 jobs an hour of 4 GPU-hours are 24 GPUs of 32: 0.75 in both pools; in pool a
 * alone 24 of 24. */
static void the_load_is_work_over_what_a_pool_can_do(void **state)
{
    (void)state;
    write_experiment(COUNTED("", "6/h"), "", "[fcfs]");
    char *text = say("validate", 0);
    has(text, "24 GPUs   0.750");
    has(text, "8 GPUs   0.750");
    lacks(text, "overload");
    free(text);
    write_experiment(COUNTED("home: a", "5/h"), "", "[fcfs, static]");
    text = say("validate", 0);
    has(text, "leases for a job's life (fcfs)");
    has(text, "24 GPUs   0.625");       /* 20 of 32 */
    has(text, "leases for a job's life, at home (static)");
    has(text, "24 GPUs   0.833");       /* 20 of 24 */
    free(text);
}

/* 8 of 8 GPUs for 300 s, three jobs in 200 s, which is 300 s at their rate. */
/* Three GPUs of 16 and 120 cores of 256 are held for the same time. */
static void cores_beside_gpus_are_a_load_of_their_own(void **state)
{
    double gpus = 0, cores = 0;

    (void)state;
    write_experiment("cluster: {nodes: [{name: gpu, count: 2, gpus: {type: a100-80, "
                     "count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: 1TB}]}"
                     "\n", "workload: {arrival: {process: poisson, rate: 2/h}, "
                     "jobs: 9, mix: [{recipe: lora, name: l, model: llama-3.1-8b, "
                     "batch: 64, sequence: 2048, micro_batch: 2, steps: 500, train: "
                     "{gpus: 3, cores: 40}}]}\n", "[fcfs]");
    char *text = say("validate", 0);
    const char *at = strstr(text, " 16 GPUs ");
    assert_non_null(at);
    gpus = strtod(at + strlen(" 16 GPUs "), NULL);
    at = strstr(text, " 256 cores ");
    assert_non_null(at);
    cores = strtod(at + strlen(" 256 cores "), NULL);
    assert_true(gpus > 0.1 && fabs(cores / gpus - 120.0 * 16 / (3 * 256)) < 0.01);
    has(text, "overload under fcfs");
    free(text);
}

static void the_load_of_a_trace_is_over_its_own_span(void **state)
{
    (void)state;
    program_write(&program, "t.csv", "job,submit,run,gpus\n1,1000,300,8\n2,1100,300,8\n"
               "3,1200,300,8\n");
    write_experiment("cluster: {nodes: [{name: a, count: 4, gpus: {type: generic, "
                     "count: 8}}]}\n", "workload: {trace: {file: t.csv, format: "
                     "csv, columns: {job: job, submit: submit, duration: run, "
                     "gpus: gpus}}}\n", "[fcfs]");
    char *text = say("validate", 0);
    has(text, "32 GPUs   0.750");
    free(text);
}

/* 200 jobs of 1000 s on 1 GPU, one each 100 s, in turns as they are and ten times as fast on
 * these GPUs: (100 x 1000 + 100 x 100) GPU-seconds in 200 x 100 s of 8 GPUs.  Each change of
 * the speed is another kind of job, so there are more kinds than are told apart. */
static void the_load_of_a_trace_has_each_job_at_its_speed(void **state)
{
    char csv[8000] = "job,submit,run,gpus,fast\n";

    (void)state;
    for (int i = 0; i < 200; i++)
        snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "%d,%d,1000,1,%d\n", i, 100 * i,
                 i % 2 == 0 ? 100 : 1000);
    program_write(&program, "t.csv", csv);
    write_experiment("cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, "
                     "count: 8}}]}\n", "workload: {trace: {file: t.csv, format: csv, "
                     "run_times: {generic: fast}, columns: {job: job, submit: submit, "
                     "duration: run, gpus: gpus}}}\n", "[fcfs]");
    char *text = say("validate", 0);
    has(text, "8 GPUs   0.688");        /* 110,000 of 160,000 */
    free(text);
}

/* Work of a kind of known length counts only where its GPUs are: pool a has 8 V100, b has 8 T4.
 * 2 jobs an hour of 2 GPU-hours on V100 alone are 4 of 8 GPUs of a, and 4 an hour of 1 GPU-hour
 * on T4 alone 4 of 8 of b. */
static void the_load_is_where_the_gpus_of_a_job_are(void **state)
{
    static const char mix[] =
        "workload:\n  arrival: {process: poisson, rate: 6/h}\n  jobs: 9\n  mix:\n"
        "    - {recipe: trace, name: v, share: 2, gpus: 2, duration: 1h, "
        "role: {types: [v100-32]}}\n"
        "    - {recipe: trace, name: t, share: 4, gpus: 1, duration: 1h, role: {%s}}\n";
    char text[1024];

    (void)state;
    snprintf(text, sizeof text, mix, "types: [t4]");
    write_experiment(POOLS("a", "v100-32", "b", "t4"), text, "[fcfs]");
    char *said = say("validate", 0);
    has(said, "8 GPUs   0.500  gpus of v 0.500\n");
    has(said, "8 GPUs   0.500  gpus of t 0.500\n");
    free(said);
    program_write(&program, "t.csv", "job,submit,run,gpus,type\n1,0,300,2,v100-32\n"
               "2,100,300,1,t4\n3,200,300,1,t4\n");
    write_experiment(POOLS("a", "v100-32", "b", "t4"), "workload: {trace: {file: t.csv, format: "
                     "csv, columns: {job: job, submit: submit, duration: run, gpus: gpus, "
                     "gpu_types: type}}}\n", "[fcfs]");
    said = say("validate", 0);          /* 600 GPU-seconds in each, in 300 s of 8 GPUs */
    has(said, "    a                 8 GPUs   0.250");
    has(said, "    b                 8 GPUs   0.250");
    free(said);
}

/* Jobs of one trace: 600 GPU-seconds on V100 alone, 600 on T4 alone, and 300 on either, in
 * 400 s of 8 + 8 GPUs.  Kinds that can be in other pools have other names; those that
 * differ in their speeds have one. */
static void loads_of_a_trace_have_names_of_their_own(void **state)
{
    (void)state;
    program_write(&program, "t.csv", "job,submit,run,gpus,type\n1,0,300,2,v100-32\n"
                  "2,100,300,2,t4\n3,200,150,1,\n4,300,150,1,\n");
    write_experiment(POOLS("a", "v100-32", "b", "t4"), "workload: {trace: {file: t.csv, format: "
                     "csv, columns: {job: job, submit: submit, duration: run, gpus: gpus, "
                     "gpu_types: type}}}\n", "[fcfs]");
    char *said = say("validate", 0);
    has(said, "8 GPUs   0.234  gpus of trace (a) 0.188, gpus of trace (a or b) 0.047\n");
    has(said, "8 GPUs   0.234  gpus of trace (b) 0.188, gpus of trace (a or b) 0.047\n");
    free(said);
    program_write(&program, "t.csv", "job,submit,run,gpus,v,t\n1,0,300,1,300,600\n"
                  "2,100,300,1,300,900\n");
    write_experiment(POOLS("a", "v100-32", "b", "t4"), "workload: {trace: {file: t.csv, format: "
                     "csv, run_times: {v100-32: v, t4: t}, columns: {job: job, submit: submit, "
                     "duration: run, gpus: gpus}}}\n", "[fcfs]");
    said = say("validate", 0);
    if (strstr(said, "gpus of trace 0.") == NULL || strstr(said, ", gpus of trace") != NULL)
        fail_msg("%s", said);
    free(said);
}

/* 10 jobs an hour: 40 GPUs of 32. */
static void a_mix_far_above_capacity_is_told_everywhere(void **state)
{
    static const char told[] = "overload under fcfs: the offered load is above "
                               "1 at 1 of 1 points, at most 1.250";

    (void)state;
    write_experiment(COUNTED("", "10/h"), "", "[fcfs]");
    char *text = say("validate", 0);
    has(text, told);
    free(text);
    text = say("run", 0);
    has(text, told);
    free(text);
    text = program_read(program_path(&program, "out/provenance.json"));
    has(text, "\"rho\": 1.25}");
    free(text);
    text = program_read(program_path(&program, "out/report.html"));
    has(text, "<h3>Offered load</h3>");
    has(text, "<td>1.25</td>");
    free(text);
}

/* Jobs that come all at once have no rate. */
static void what_comes_at_no_rate_has_no_load(void **state)
{
    (void)state;
    write_experiment("cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, "
                     "count: 8}}]}\n", "workload: {arrival: {process: all_at_once}, "
                     "jobs: 9, mix: [{recipe: trace, gpus: 4, duration: 1h}]}\n",
                     "[fcfs]");
    char *text = say("validate", 0);
    lacks(text, "offered load");
    free(text);
}

/* ---- what decides without being said ------------------------------------- */

static void defaults_that_decide_stand_beside_the_semantics(void **state)
{
    (void)state;
    write_experiment(POOLS("a", "a100-80", "b", "h100"),
                     ALIGNING(", home: a", ", max: 16, home: b"),
                     "[static, dynamic]");
    char *text = say("run", 0);
    has(text, "policy static: GPUs: as asked, though a role could have more "
        "(train of align 8 to 16)");
    has(text, "policy dynamic: GPUs: up to max of a role (train of align 8 to "
        "16)");
    has(text, "policy dynamic: types: where a phase is soonest over, by "
        "forecast");
    has(text, "job align: method: lora: adapters are trained, not all weights");
    has(text, "job align: train.start: a parked one is back after 0.4 s, also on other hardware, "
        "a new one after 34 s, and its bytes\n");
    has(text, "nodes a: price: ");
    has(text, "on-demand of the catalogue (a100-80-on-demand), tier list, as of ");
    lacks(text, "home of train");       /* the file says it */
    free(text);
    text = program_read(program_path(&program, "out/provenance.json"));
    has(text, "{\"of\": \"job align\", \"key\": \"method\", \"value\": "
        "\"lora: adapters are trained, not all weights\", \"from\": "
        "\"default\"}");
    has(text, "\"prices\": [\n    {\"nodes\": \"a\", \"price\": \"a100-80-on-demand\", \"tier\": "
        "\"list\", \"as_of\": \"2026\", \"assumption\": false}");
    has(text, "\"key\": \"home of train\", \"value\": \"b (home of the role)\", "
        "\"from\": \"file\"}");
    free(text);
    text = program_read(program_path(&program, "out/report.html"));
    has(text, "<h3 id=\"defaults\">What decides beside them</h3>");
    has(text, "adapters are trained, not all weights");
    free(text);
}

/* A replica on a GPU starts a process that captures graphs (64 s), one on cores a lighter
 * server (6.6 s), unless the file says what was measured. */
static void what_a_replica_takes_to_start_is_told(void **state)
{
    const char *words[] = { "validate", "experiments/small_model.yaml", NULL };
    char *text;

    (void)state;
    assert_int_equal(program_say(&program, words, &text), 0);
    has(text, "service small: gpu.process_start: 64 s, and the bytes of its weights\n");
    has(text, "service small: cpu.process_start: 6.6 s, and the bytes of its weights\n");
    lacks(text, "async_scheduling");    /* it generates nothing */
    free(text);
}

/* 8.03e9 parameters of two bytes, 16 tokens of 32 layers, 8 heads of 128, keys and values, of two
 * bytes: of 24 GiB 0.9 x 25.770 - 16.060 - 3.5 GB are 1,732 blocks, of 22.5 GiB 1,041.  Two groups
 * of L4 are one type; what the file says is not told, nor is the room of what answers in one
 * pass. */
static void the_room_of_a_cache_is_told_unless_it_is_said(void **state)
{
    static const char *const cases[][2] = {
        { "model: llama-3.1-8b, gpu: {tp: 1}", ", output: 10" },
        { "model: llama-3.1-8b, gpu: {tp: 1, async_scheduling: false}, kv_tokens: 41408",
          ", output: 10" },
        { "model: llama-3.1-8b, gpu: {tp: 1}", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char workload[512];

        snprintf(workload, sizeof workload, "workload: {services: [{name: s, %s, requests: "
                 "{arrival: {process: poisson, rate: 1/s}, for: 1min, prompt: 100%s}}]}\n",
                 cases[i][0], cases[i][1]);
        write_experiment("cluster: {nodes: [{name: a, count: 1, gpus: {type: l4, count: 1}, cpu: "
                         "{type: xeon-platinum-8380}, memory: 64GB}, {name: b, count: 1, gpus: "
                         "{type: rtx-4090, count: 1}, cpu: {type: xeon-platinum-8380}, memory: "
                         "64GB}, {name: c, count: 1, gpus: {type: l4, count: 2}, cpu: {type: "
                         "xeon-platinum-8380}, memory: 64GB}]}\n", workload, "[fcfs]");
        char *text = say("validate", 0);
        if (i == 0)
            has(text, "service s: kv_tokens: 16656 on l4, 27712 on rtx-4090: what 0.9 of the "
                "memory leaves beside weights and 3.5 GB\n");
        else
            lacks(text, "kv_tokens");
        if (i == 0)
            has(text, "service s: gpu.async_scheduling: false: each step waits for its host, 2.2 "
                "ms and 20 us a response\n");
        else
            lacks(text, "async_scheduling");
        free(text);
    }
}

/* An engine on cores starts as a server there (6.6 s), one on a GPU captures graphs (64 s),
 * and a role that may run on either has both; a start that the file says is not told, and to
 * say that later leases start anew does not say how long that takes. */
static void what_a_role_on_cores_takes_to_start_is_told(void **state)
{
#define NEW(KEY, S) "job batch-infer: infer." KEY ": a parked one is back after " S " s, a new " \
    "one after " S " s, and its bytes\n"
    static const struct { const char *infer, *told[2]; } row[] = {
        { "types: [cpu], cpu: {cores: 28}", { NEW("cpu.process_start", "6.6") } },
        { "types: [cpu], process_start: 5s, cpu: {cores: 28}", { 0 } },
        { "types: [cpu], cpu: {cores: 28, process_start: 5s}", { 0 } },
        { "gpus: 1, cpu: {cores: 28}", { NEW("start", "64"), NEW("cpu.process_start", "6.6") } },
        { "gpus: 1, start: process, cpu: {cores: 28}",
          { NEW("start", "64"), NEW("cpu.process_start", "6.6") } },
        { "gpus: 1, process_start: 5s, cpu: {cores: 28}", { 0 } },
        { "gpus: 1, cpu: {cores: 28, process_start: 5s}", { NEW("start", "64") } },
        { "gpus: 1, process_start: 5s, start: wake, cpu: {cores: 28}", { 0 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char jobs[512];
        snprintf(jobs, sizeof jobs, "workload: {arrival: {process: all_at_once}, jobs: 1, mix: "
                 "[{recipe: batch-infer, model: bert-base, prompts: 500, prompt_tokens: 128, "
                 "steps: 2, infer: {%s}}]}\n", row[i].infer);
        write_experiment("cluster: {storage: {bandwidth: 2GB/s}, nodes: [{name: c, count: 1, "
                         "gpus: {type: t4, count: 1}, cpu: {type: xeon-platinum-8380}, memory: "
                         "256GB}]}\n", jobs, "[fcfs]");
        char *text = say("validate", 0);
        int told = 0, lines = 0;
        for (; told < 2 && row[i].told[told] != NULL; told++)
            has(text, row[i].told[told]);
        for (const char *at = text; (at = strstr(at, "a parked one is")) != NULL; at++)
            lines++;
        assert_int_equal(lines, told);
        free(text);
    }
}

/* Eight cores unless the file says others, which begin at once unless it says when. */
static void what_a_role_without_laws_begins_with_is_told(void **state)
{
#define CORES "job align: data.cores: 8 in all\n"
#define AT_ONCE "job align: data.process_start: 0 s: each lease begins to work at once\n"
    static const struct { const char *data, *told[2], *not_told; } row[] = {
        { "", { CORES, AT_ONCE }, "align: data.start" },
        { "      data: {cores: 4}\n", { AT_ONCE, AT_ONCE }, "data.cores" },
        { "      data: {process_start: 0s}\n", { CORES, CORES }, "data.process_start" },
        { "      data: {process_start: 5s}\n", { CORES, CORES }, "data.process_start" },
        { "      data: {cores: 4, process_start: 5s}\n", { "", "" }, "align: data." },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char jobs[1024];

        snprintf(jobs, sizeof jobs, "%s%s", ALIGNING("", ""), row[i].data);
        write_experiment(POOLS("a", "a100-80", "b", "h100"), jobs, "[fcfs]");
        char *text = say("validate", 0);
        has(text, row[i].told[0]);
        has(text, row[i].told[1]);
        lacks(text, row[i].not_told);
        free(text);
    }
}

/* An H100 has PCIe 5.0 and an EPYC 7742 has 4.0, which sustains 24 GB/s; an A100 has 4.0, too.
 * Two policies meet the node, and one line says it. */
static void a_cpu_that_slows_the_slots_is_told_once(void **state)
{
    static const char line[] = "nodes a: pcie: 24 GB/s a slot, as the CPU decides: epyc-7742 has "
                               "pcie4, and h100 has pcie5\n";

    (void)state;
    write_experiment(POOLS("a", "h100", "b", "a100-80"), ALIGNING("", ""), "[static, dynamic]");
    char *text = say("validate", 0);
    has(text, line);
    assert_null(strstr(strstr(text, line) + strlen(line), "GB/s a slot"));
    free(text);
}

/* A mix, or a trace: of a format that has priorities, jobs with and without. */
#define MIX(PRIORITY) "workload: {arrival: {process: all_at_once}, jobs: 9, mix: [{recipe: " \
    "trace, gpus: 4, duration: 1h" PRIORITY "}]}\n"
#define SPOT(FILE) "workload: {trace: {file: " FILE ", format: spot2026}}\n"
#define SPOT_NAMES "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num," \
    "submit_time,duration,job_type\n"

static void who_looks_at_priorities_is_told(void **state)
{
    static const struct { const char *workload; bool has; } row[] = {
        { MIX(""), false }, { MIX(", priority: 5"), true },
        { SPOT("spot.csv"), false }, { SPOT("both.csv"), true },
    };

    (void)state;
    program_write(&program, "spot.csv", SPOT_NAMES "1,13,A10,20,1,1,0,60,Spot\n");
    program_write(&program, "both.csv", SPOT_NAMES "1,13,A10,20,1,1,0,60,Spot\n"
                  "2,13,A10,20,1,1,0,60,HP\n3,13,A10,20,1,1,0,60,Spot\n");
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        write_experiment("cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, "
                         "count: 8}}]}\n", row[k].workload, "[fcfs, sjf, hybrid]");
        char *text = say("validate", 0);
        if (!row[k].has) {
            lacks(text, "priority");
        } else {
            has(text, "policy fcfs, sjf: priority: it does not look at the priority of jobs");
            has(text, "policy hybrid: priority: jobs of larger priority go first");
        }
        free(text);
    }
}

/* The page names each group of nodes, apart by semicolons. */
static void a_report_names_the_nodes(void **state)
{
    (void)state;
    write_experiment("cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, count: 8}}, "
                     "{name: b, count: 2, pool: q, gpus: {type: generic, count: 4}}]}\n",
                     MIX(""), "[fcfs]");
    free(say("run", 0));
    char *page = program_result(&program, "out", "report.html");
    has(page, "Cluster: 1 node of 8 generic (a); 2 nodes of 4 generic (q).");
    free(page);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_is_started_at_its_home),
        cmocka_unit_test(a_home_that_is_said_goes_before_a_name),
        cmocka_unit_test(a_wrong_home_is_an_error_with_its_line),
        cmocka_unit_test(a_name_that_is_no_place_is_told),
        cmocka_unit_test(roles_that_start_together_need_room_together),
        cmocka_unit_test(a_static_split_without_homes_is_told),
        cmocka_unit_test(a_quota_that_is_too_small_is_told),
        cmocka_unit_test(the_load_is_work_over_what_a_pool_can_do),
        cmocka_unit_test(cores_beside_gpus_are_a_load_of_their_own),
        cmocka_unit_test(the_load_of_a_trace_is_over_its_own_span),
        cmocka_unit_test(the_load_of_a_trace_has_each_job_at_its_speed),
        cmocka_unit_test(the_load_is_where_the_gpus_of_a_job_are),
        cmocka_unit_test(loads_of_a_trace_have_names_of_their_own),
        cmocka_unit_test(a_mix_far_above_capacity_is_told_everywhere),
        cmocka_unit_test(what_comes_at_no_rate_has_no_load),
        cmocka_unit_test(defaults_that_decide_stand_beside_the_semantics),
        cmocka_unit_test(what_a_replica_takes_to_start_is_told),
        cmocka_unit_test(the_room_of_a_cache_is_told_unless_it_is_said),
        cmocka_unit_test(what_a_role_on_cores_takes_to_start_is_told),
        cmocka_unit_test(what_a_role_without_laws_begins_with_is_told),
        cmocka_unit_test(a_cpu_that_slows_the_slots_is_told_once),
        cmocka_unit_test(who_looks_at_priorities_is_told),
        cmocka_unit_test(a_report_names_the_nodes),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
