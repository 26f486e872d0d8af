/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept_test.c - what a switch moves: state that nodes keep in memory while a role has
 * no GPUs, and weights that were renewed meanwhile.
 *
 * Oracles are worked out from published figures alone: Qwen2.5-7B has 7,615,616,512
 * parameters; its full training keeps 14 bytes for each (weights of 2, and 4 each for
 * master weights and two moments).  A PCIe 4 slot copies 24 GB/s, the storage of these
 * worlds 2 GB/s, Ethernet of 10 Gb/s 1.125 GB/s (all sustained, of the catalogue).
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

#define PARAMS 7615616512.0
#define NODES(name, pool, count, nics) NODES_OF(name, pool, count, nics, "")
#define NODES_OF(name, pool, count, nics, more) \
    "    - {name: " name ", pool: " pool ", count: " count ",\n" more \
    "       gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, sockets: 2},\n" \
    "       memory: 1TB, nics: {type: " nics ", count: 1}}\n"
#define TWO_JOBS \
    "  storage: {bandwidth: 2GB/s}\n%s" \
    "workload:\n  arrival: {process: fixed, times: [0s, 10s]}\n  mix:\n" \
    "    - {recipe: sft, name: s, model: qwen2.5-7b, zero: 3, batch: 64, sequence: 2048,\n" \
    "       micro_batch: 1, recompute: full, steps: 200, checkpoint_every: 0,\n" \
    "       train: {gpus: 16, cores: 8}}\n" \
    "policies: [{policy: time-slice, quantum: 400s}]\noutput: {plots: []}\n"

static struct program program;

/* Runs an experiment with this seed into FOLDER/out. */
static void run(const char *yaml, const char *seed)
{
    char set[32], *said;

    program_write(&program, "e.yaml", yaml);
    snprintf(set, sizeof set, "seed=%s", seed);
    const char *words[] = { "run", program_path(&program, "e.yaml"), "-q", "--set", set,
                            "-o", program_path(&program, "out"), NULL };
    int status = program_say(&program, words, &said);
    if (status != 0)
        print_error("%s\n", said);
    free(said);
    assert_int_equal(status, 0);
}

/* The n-th (from 0) row of a phase of a job under a policy: its start or its end. */
static double phase_at(const char *policy, const char *job, const char *phase, int n,
                       const char *column)
{
    char *text = program_result(&program, "out", "phases.csv"), field[64];
    double at = NAN;

    assert_non_null(text);
    size_t wanted = csv_column(text, column);
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        const char *const key[] = { policy, job, phase };
        const size_t where[] = { 1, 3, 4 };
        bool same = true;
        for (int k = 0; k < 3; k++) {
            csv_field(line + 1, where[k], field, sizeof field);
            same = same && strcmp(field, key[k]) == 0;
        }
        if (!same || n-- > 0)
            continue;
        csv_field(line + 1, wanted, field, sizeof field);
        at = strtod(field, NULL);
        break;
    }
    free(text);
    assert_true(isfinite(at));
    return at;
}

/* A column of the first policy's row of a job. */
static double job_at(const char *job, const char *column)
{
    char *text = program_result(&program, "out", "jobs.csv"), field[64];
    double at = NAN;

    assert_non_null(text);
    for (const char *line = strchr(text, '\n'); line && line[1] && isnan(at);
         line = strchr(line + 1, '\n')) {
        csv_field(line + 1, csv_column(text, "job"), field, sizeof field);
        if (strcmp(field, job) != 0)
            continue;
        csv_field(line + 1, csv_column(text, column), field, sizeof field);
        at = strtod(field, NULL);
    }
    free(text);
    assert_true(isfinite(at));
    return at;
}

static void near(double value, double expected, double part)
{
    if (!(fabs(value - expected) <= part * expected))
        fail_msg("%.9g for %.9g", value, expected);
}

/* The rollout of `dynamic` has no GPUs when the weights are renewed on another node, so
 * its next load brings them: 2 bytes a parameter over 1.125 GB/s, 13.54 s, as long as
 * the sync of `static` takes.  The rest of its load stays on its node, and it is woken:
 * 2 s at most are granted for that. */
static void weights_renewed_meanwhile_cross_the_network(void **state)
{
    double copy_s = 2 * PARAMS / 1.125e9;

    (void)state;
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        NODES("r", "rollout", "1", "ethernet-10") NODES("t", "train", "1", "ethernet-10")
        "    - {name: d, pool: data, count: 1, cpu: {type: epyc-7742, sockets: 2},\n"
        "       memory: 1TB, nics: {type: ethernet-10, count: 1}}\n"
        "  storage: {bandwidth: 20GB/s}\n"
        "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
        "    - {recipe: grpo, name: g, model: qwen2.5-7b, method: full, zero: 3,\n"
        "       prompts: 64, responses: 4, prompt_tokens: 500, micro_batch: 1,\n"
        "       response: {mean: 300, cv: 0.5, max: 1024}, recompute: full, steps: 2,\n"
        "       checkpoint_every: 0, rollout: {gpus: 8, pool: rollout},\n"
        "       train: {gpus: 8, pool: train}, data: {cores: 32}}\n"
        "policies: [static, {policy: dynamic, release_max: 100%, lend_max: 100%}]\n"
        "output: {plots: []}\n", "1");
    near(phase_at("static", "0", "sync", 0, "end_s") -
             phase_at("static", "0", "sync", 0, "start_s"), copy_s, 1e-3);
    double gap_s = phase_at("dynamic", "0", "rollout", 1, "start_s") -
                   phase_at("dynamic", "0", "sync", 0, "end_s");
    assert_true(gap_s > copy_s && gap_s < copy_s + 2);
}

/* Job 1 is shorter and comes while job 0 loads its weights.  Then nothing of job 0 is on the
 * node: when job 1 is done, job 0 loads from the storage and starts a process, which takes as
 * long as it took job 1, 2 bytes a parameter over 2 GB/s and the start. */
static void what_was_on_its_way_is_loaded_again(void **state)
{
    (void)state;
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n" NODES("a", "a", "1", "ib-hdr")
        "  storage: {bandwidth: 2GB/s}\n"
        "workload:\n  arrival: {process: fixed, times: [0s, 3s]}\n  mix:\n"
        "    - {recipe: sft, name: s, model: qwen2.5-7b, zero: 3, batch: 64, sequence: 2048,\n"
        "       micro_batch: 1, recompute: full, steps: {exponential: {mean: 100}, min: 10},\n"
        "       checkpoint_every: 0, train: {gpus: 8, cores: 8}}\n"
        "policies: [srtf]\noutput: {plots: []}\n", "1");
    double took_s = phase_at("srtf", "1", "train", 0, "start_s") - 3;
    double again_s = phase_at("srtf", "0", "train", 0, "start_s") -
                     job_at("1", "end_s");
    assert_true(took_s > 2 * PARAMS / 2e9 + 1);
    near(again_s, took_s, 1e-3);
}

/* Two jobs of 16 GPUs take turns on two nodes.  Job 0 loads its weights, 2 bytes a
 * parameter, from the storage, 7.6 s, and starts a process, s seconds.  At the end of job
 * 1's turn its state of 14 bytes a parameter is saved over 16 slots of PCIe, 0.278 s, and
 * that of job 0, half of which each of the same two nodes has kept, is loaded over them,
 * 0.278 s: no NIC is crossed. */
static void a_gang_finds_its_state_on_its_own_nodes(void **state)
{
    double bytes = 14 * PARAMS, pcie_s = bytes / (16 * 24e9);
    char yaml[2048];

    (void)state;
    snprintf(yaml, sizeof yaml, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             NODES("a", "a", "2", "ib-hdr") TWO_JOBS, "");
    run(yaml, "1");
    double start_s = phase_at("time-slice", "0", "train", 0, "start_s") -
                     2 * PARAMS / 2e9;
    assert_true(start_s > 1);
    near(phase_at("time-slice", "0", "train", 5, "start_s") -
             phase_at("time-slice", "1", "train", 4, "end_s"),
         start_s + 2 * pcie_s, 1e-3);
}

/* The run of the test above, but at 600 s one of the two nodes fails; the seed chooses which.
 * Job 1 runs on that node, and job 0 has half of its state there.  So each of the two jobs is
 * interrupted once. */
static void lose_a_node(const char *nodes)
{
    const char *const seed[] = { "1", "2", "3", "4", "5", "6" };
    char yaml[2048];

    program_write(&program, "f.csv",
                  "series,time_s,value\ns0,0,0\ns0,600,1\ns0,700,0\ns0,100000,0\n");
    snprintf(yaml, sizeof yaml, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n%s" TWO_JOBS,
             nodes, "  failures: {trace: {file: f.csv, servers: 2}, restart: 60s}\n");
    for (int i = 0; i < 6; i++) {
        char cell[64];
        run(yaml, seed[i]);
        char *text = program_result(&program, "out", "summary.csv");
        assert_non_null(text);
        assert_true(csv_cell(text, "time-slice", NULL, "interruptions", cell, sizeof cell));
        free(text);
        assert_string_equal(cell, "2");
    }
}

static void a_parked_gang_loses_its_state_with_any_of_its_nodes(void **state)
{
    (void)state;
    lose_a_node(NODES("a", "a", "2", "ib-hdr"));
    lose_a_node(NODES_OF("a", "a", "2", "ib-hdr", "       rent: {start: 10s},\n"));
}

/* The first rollout on node 0, all else on node 1, in the place of what is idle there.
 * Roles: 0 rollout, 1 train, 2 data. */
static const char MOVER[] =
    "#include \"policies/policy.h\"\n"
    "struct mover { int rollouts; };\n"
    "static void decide(void *self, struct cs_host *host)\n"
    "{\n"
    "    struct mover *mover = self;\n"
    "    for (uint32_t i = 0; i < cs_pending_count(host);) {\n"
    "        struct task_id id = cs_pending(host, i);\n"
    "        const struct cs_task *task = cs_task(host, id);\n"
    "        struct cs_want want = { .pool_mask = 2, .take_idle = true };\n"
    "        if (task->role == 0 && mover->rollouts == 0)\n"
    "            want.pool_mask = 1;\n"
    "        if (task->role == 2)\n"
    "            want = (struct cs_want) { 0 };\n"
    "        uint32_t role = task->role;\n"
    "        enum cs_verdict verdict = task->held.i == UINT32_MAX || role == 0\n"
    "            ? cs_start_want(host, id, &want) : cs_continue(host, id);\n"
    "        if (verdict == CS_DONE)\n"
    "            mover->rollouts += role == 0;\n"
    "        else\n"
    "            i++;\n"
    "    }\n"
    "}\n"
    "static void idle(void *self, struct cs_host *host, struct lease_id lease)\n"
    "{\n"
    "    (void)self;\n"
    "    if (cs_lease(host, lease)->role == 0)\n"
    "        cs_release(host, lease);\n"
    "}\n"
    "extern const struct cs_policy mover_policy;\n"
    "const struct cs_policy mover_policy = {\n"
    "    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),\n"
    "    .name = \"mover\", .summary = \"moves\", .flags = CS_PER_PHASE,\n"
    "    .self_bytes = sizeof(struct mover), .decide = decide, .lease_idle = idle,\n"
    "};\n";

/* The second rollout takes node 1 from the idle trainer, while its own weights are in
 * the memory of node 0.  They cross the NICs all the same: 2 bytes a parameter, once for
 * all 8 engines of the node, 13.5 s, beside which saving the trainer's adapters and waking
 * take 2 s at most. */
static void state_crosses_the_network_where_an_idle_lease_is_thrown_out(void **state)
{
    double load_s = 2 * PARAMS / 1.125e9;

    (void)state;
    program_write(&program, "mover.c", MOVER);
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        NODES("r", "x", "1", "ethernet-10") NODES("t", "y", "1", "ethernet-10")
        "    - {name: d, pool: data, count: 1, cpu: {type: epyc-7742, sockets: 2},\n"
        "       memory: 1TB, nics: {type: ethernet-10, count: 1}}\n"
        "  storage: {bandwidth: 20GB/s}\n"
        "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
        "    - {recipe: grpo, name: g, model: qwen2.5-7b, method: lora, zero: 3,\n"
        "       prompts: 64, responses: 4, prompt_tokens: 500, micro_batch: 1,\n"
        "       response: {mean: 300, cv: 0.5, max: 1024}, recompute: full, steps: 2,\n"
        "       checkpoint_every: 0, rollout: {gpus: 8}, train: {gpus: 8},\n"
        "       data: {cores: 32}}\n"
        "policies: [./mover.c]\noutput: {plots: []}\n", "1");
    double gap_s = phase_at("mover", "0", "rollout", 1, "start_s") -
                   phase_at("mover", "0", "sync", 0, "end_s");
    if (!(gap_s > load_s && gap_s < load_s + 2))
        fail_msg("%.9g s for %.9g", gap_s, load_s);
}

/* Full training on 8 GPUs behind storage of 2 GB/s: a new job reads its weights, 2 bytes a
 * parameter, 7.6 s.  It fails at fails_s, and its node is back at 900 s: 60 s of restart
 * later it loads anew.  After a checkpoint, of which the first ends at 192 s, that is all
 * state, 14 bytes a parameter, 53.3 s; before, there are only the weights again. */
static void check_reload(const char *fails_s, int run_of_restart, double bytes)
{
    char text[160];

    snprintf(text, sizeof text, "series,time_s,value\ns0,0,0\ns0,%s,1\ns0,900,0\n"
             "s0,100000,0\n", fails_s);
    program_write(&program, "f.csv", text);
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n" NODES("a", "a", "1", "ib-hdr")
        "  storage: {bandwidth: 2GB/s}\n"
        "  failures: {trace: {file: f.csv, servers: 1}, restart: 60s}\n"
        "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
        "    - {recipe: sft, name: s, model: qwen2.5-7b, zero: 3, batch: 64, sequence: 2048,\n"
        "       micro_batch: 1, recompute: full, steps: 200, checkpoint_every: 20,\n"
        "       train: {gpus: 8, cores: 8}}\n"
        "policies: [fcfs]\noutput: {plots: []}\n", "1");
    double first_s = phase_at("fcfs", "0", "train", 0, "start_s");
    near(phase_at("fcfs", "0", "train", run_of_restart, "start_s") - 900 - 60,
         first_s + (bytes - 2) * PARAMS / 2e9, 1e-4);
}

static void a_job_reloads_what_it_has_saved(void **state)
{
    (void)state;
    check_reload("800", 6, 14);
    check_reload("80", 1, 2);
}

/* A step that lies off by one: the rollout of the next step runs for 300 s beside training,
 * and the checkpoint of the step with it.  The node fails at 1510 s, after that checkpoint
 * and before the rollout is over: then nothing counts as saved, and the job begins again.  So
 * it does at the second failure, in its second step: its first step trains nothing. */
static void a_checkpoint_counts_when_its_step_is_over(void **state)
{
    (void)state;
    program_write(&program, "f.csv", "series,time_s,value\ns0,0,0\ns0,1510,1\ns0,1520,0\n"
                  "s0,2000,1\ns0,2010,0\ns0,100000,0\n");
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        NODES("r", "rollout", "1", "ib-hdr") NODES("t", "train", "1", "ib-hdr")
        "  storage: {bandwidth: 20GB/s}\n"
        "  failures: {trace: {file: f.csv, servers: 2}, restart: 0s}\n"
        "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
        "    - {recipe: grpo, name: g, model: qwen2.5-7b, method: full, zero: 3,\n"
        "       prompts: 256, responses: 8, prompt_tokens: 500, micro_batch: 1,\n"
        "       response: {mean: 2000, cv: 0.5, max: 4096}, recompute: full, steps: 12,\n"
        "       schedule: one-step-off, checkpoint_every: 4,\n"
        "       rollout: {gpus: 2, pool: rollout}, train: {gpus: 8, pool: train},\n"
        "       data: {cores: 32}}\n"
        "policies: [static]\noutput: {plots: []}\n", "1");
    double saved_s = phase_at("static", "0", "checkpoint", 0, "end_s");
    assert_true(saved_s > 1400 && saved_s < 1510);
    near(phase_at("static", "0", "rollout", 4, "end_s"), 1510, 1e-9);
    assert_true(phase_at("static", "0", "rollout", 5, "end_s") < 2000);
    near(phase_at("static", "0", "train", 4, "end_s"), 2000, 1e-9);
    assert_true(phase_at("static", "0", "train", 5, "start_s") >
                phase_at("static", "0", "rollout", 7, "end_s"));
}

/* Eight engines of one GPU on a node read the weights from the storage once: 2 bytes for
 * each of 8.03e9 parameters at 2 GB/s, 8 s, on one node and, half of them there, on each
 * of two, which share the storage: 16 s. */
static void engines_of_a_node_read_weights_once(void **state)
{
    double start_s[2];

    (void)state;
    for (int nodes = 1; nodes <= 2; nodes++) {
        char yaml[1500];
        snprintf(yaml, sizeof yaml, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
                 NODES("a", "a", "2", "ib-hdr") "  storage: {bandwidth: 2GB/s}\n"
                 "workload:\n  arrival: {process: fixed, times: [0s]}\n  mix:\n"
                 "    - {recipe: batch-infer, name: b, model: llama-3.1-8b, prompts: 64,\n"
                 "       prompt_tokens: 500, response: {mean: 200, cv: 1, max: 512},\n"
                 "       steps: 1, infer: {gpus: %d}}\n"
                 "policies: [fcfs]\noutput: {plots: []}\n", 8 * nodes);
        run(yaml, "1");
        start_s[nodes - 1] = phase_at("fcfs", "0", "infer", 0, "start_s");
    }
    near(start_s[1] - start_s[0], 2 * 8.03e9 / 2e9, 1e-2);
    assert_true(start_s[0] < 64 + 8.1);     /* 64 s: vLLM comes up */
}

/* After its second step the first job has left the GPUs of a100 idle when the second asks for
 * them, whose switch there (evicting and loading, from the grant to its phase) takes
 * longer than the phase.  They may be taken once they have been idle for the rest of it:
 * less than the switch after the first job's phase ended. */
static void an_idle_lease_is_taken_when_it_has_been_idle_long_enough(void **state)
{
    (void)state;
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        "    - {name: train, count: 1, gpus: {type: a100-80, count: 2},\n"
        "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: "
        "2}}\n"
        "    - {name: rollout, count: 2, gpus: {type: l40s, count: 2},\n"
        "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: "
        "1}}\n  storage: {bandwidth: 20GB/s}\n"
        "workload:\n  arrival: {process: fixed, times: [0s, 210s]}\n  mix:\n"
        "    - {recipe: dpo, model: qwen2.5-1.5b, method: lora, name: dpo, prompts: 64,\n"
        "       responses: 4, prompt_tokens: 200, response: {mean: 4000, cv: 0.3, max: "
        "8192},\n       steps: 6, train: {gpus: 2, types: [a100-80], home: train},\n"
        "       rollout: {gpus: 2, types: [l40s], home: rollout}}\n"
        "policies: [{policy: hybrid, release_max: 0%, lend_max: 10000%}]\n"
        "output: {tables: [jobs, phases, decisions], plots: []}\n", "1");
    double start_s = phase_at("hybrid", "1", "reference", 0, "start_s"), granted_s = NAN;
    double idle_s = phase_at("hybrid", "0", "sync", 1, "end_s");
    char *text = program_result(&program, "out", "decisions.csv"), field[64];

    for (const char *line = strchr(text, '\n'); line && line[1] && isnan(granted_s);
         line = strchr(line + 1, '\n')) {
        static const char *const key[] = { "start", "1", "train" };
        static const char *const column[] = { "action", "job", "role" };
        bool same = true;
        for (int k = 0; k < 3; k++) {
            csv_field(line + 1, csv_column(text, column[k]), field, sizeof field);
            same = same && strcmp(field, key[k]) == 0;
        }
        csv_field(line + 1, csv_column(text, "t_s"), field, sizeof field);
        granted_s = same ? strtod(field, NULL) : NAN;
    }
    free(text);
    assert_true(granted_s > idle_s && granted_s < start_s);
    if (!(granted_s - idle_s < start_s - granted_s))
        fail_msg("granted after %g s idle, for a switch of %g s", granted_s - idle_s,
                 start_s - granted_s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_renewed_meanwhile_cross_the_network),
        cmocka_unit_test(what_was_on_its_way_is_loaded_again),
        cmocka_unit_test(a_gang_finds_its_state_on_its_own_nodes),
        cmocka_unit_test(a_parked_gang_loses_its_state_with_any_of_its_nodes),
        cmocka_unit_test(state_crosses_the_network_where_an_idle_lease_is_thrown_out),
        cmocka_unit_test(a_job_reloads_what_it_has_saved),
        cmocka_unit_test(a_checkpoint_counts_when_its_step_is_over),
        cmocka_unit_test(engines_of_a_node_read_weights_once),
        cmocka_unit_test(an_idle_lease_is_taken_when_it_has_been_idle_long_enough),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
