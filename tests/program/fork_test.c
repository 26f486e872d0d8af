/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fork_test.c - `clustersim fork`: the branch that goes on is the run itself, one that
 * parts at the beginning is the run of the other policy, and all have one past.
 *
 * The oracle is `clustersim run`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/program.h"

static const char *self;

static int setup(void **state)
{
    struct program *program = malloc(sizeof *program);

    program_open(program, self);
    *state = program;
    return 0;
}

static int teardown(void **state)
{
    program_close(*state);
    free(*state);
    return 0;
}

/* Two groups of nodes, jobs of phases and whole ones, nodes that fail. */
static void write_day(const struct program *program, const char *policies, const char *more)
{
    char text[3000];

    snprintf(text, sizeof text, "experiment: day\nseeds: 2\nuntil: 20h\n"
             "cluster: {nodes: [{name: rollout, count: 2, gpus: {type: l40s, count: 8}, cpu: "
             "{type: epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ethernet-100, count: 2}}, "
             "{name: train, count: 2, gpus: {type: "
             "a100-80, count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, nics: {type: "
             "ib-hdr, count: 8}}], storage: {bandwidth: 20GB/s}, failures: {node_mtbf: 40h, "
             "repair: 20min}}\n"
             "workload: {arrival: {process: poisson, rate: 9/h}, jobs: 90, mix: ["
             "{recipe: dpo, name: dpo, share: 2, model: qwen2.5-7b, method: lora, recompute: "
             "full, zero: 2, prompts: 64, pairs: 1, prompt_tokens: 256, response: {mean: 200, "
             "cv: 1, max: 1024}, reward: {on: cpu, core_time: 100ms}, steps: {uniform: [10, "
             "40]}, rollout: {gpus: 8, types: [l40s, a100-80], home: rollout}, train: {gpus: 8, "
             "types: [a100-80, l40s], home: train}, data: {cores: 8}}, {recipe: lora, name: "
             "lora, model: llama-3.1-8b, recompute: full, batch: 64, sequence: 2048, "
             "micro_batch: 1, steps: {uniform: [200, 800]}, train: {gpus: 8, types: [a100-80, "
             "l40s]}}]}\n"
             "policies: [%s]\n%soutput: {tables: [summary, jobs, phases, timeline, decisions], "
             "plots: [], detail_seeds: all}\n", policies, more);
    program_write(program, "day.yaml", text);
}

/* Returns the status of `clustersim COMMAND day.yaml WORDS -o FOLDER -q`; *said is to be
 * freed. */
static int run(const struct program *program, const char *command, const char *folder,
               const char *const *more, char **said)
{
    const char *word[24] = { command, program_path(program, "day.yaml"), "-q", "-o",
                             program_path(program, folder) };
    size_t n = 5;

    while (*more != NULL)
        word[n++] = *more++;
    return program_say(program, word, said);
}

static void run_well(const struct program *program, const char *command, const char *folder,
                     const char *const *more)
{
    char *said;
    int status = run(program, command, folder, more, &said);

    if (status != 0)
        fail_msg("%s: status %d: %s", command, status, said);
    free(said);
}

/* The rows of a policy, its name put out; to be freed. */
static char *rows_of(const struct program *program, const char *folder, const char *file,
                     const char *policy)
{
    char *csv = program_result(program, folder, file), name[64];
    assert_non_null(csv);
    char *out = calloc(1, strlen(csv) + 1), *end = out;

    snprintf(name, sizeof name, ",%s,", policy);
    for (char *line = strtok(csv, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *at = strstr(line, name);

        if (at != NULL && at == strchr(line, ','))
            end += sprintf(end, "%s\n", at + strlen(name));
    }
    free(csv);
    assert_true(end > out);
    return out;
}

static const char *const files[] = { "summary.csv", "jobs.csv", "phases.csv", "timeline.csv",
                                     "decisions.csv" };
#define FILES (sizeof files / sizeof files[0])

static void assert_same(const struct program *program, const char *folder, const char *policy,
                        const char *other_folder, const char *other)
{
    for (size_t i = 0; i < FILES; i++) {
        char *left = rows_of(program, folder, files[i], policy);
        char *right = rows_of(program, other_folder, files[i], other);

        if (strcmp(left, right) != 0)
            fail_msg("%s of %s in %s is not that of %s in %s", files[i], policy, folder, other,
                     other_folder);
        free(left);
        free(right);
    }
}

#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }

static void the_branch_that_goes_on_is_the_run_itself(void **state)
{
    const struct program *program = *state;

    write_day(program, "{policy: static, blocking: skip}", "");
    run_well(program, "run", "run", WORDS("-j", "1"));
    run_well(program, "fork", "fork", WORDS("--at", "5h", "--set", "policy=dynamic", "--set",
                                            "{policy: hybrid, reserve: 0.5}", "-j", "2"));
    assert_same(program, "fork", "static", "run", "static");
    /* The two others are others. */
    for (size_t i = 1; i < 3; i++) {
        char *left = rows_of(program, "fork", "jobs.csv", "static");
        char *right = rows_of(program, "fork", "jobs.csv",
                              i == 1 ? "policy=dynamic" : "policy=hybrid+reserve=0.5");

        assert_string_not_equal(left, right);
        free(left);
        free(right);
    }
}

static void a_branch_from_the_beginning_is_the_run_of_the_other(void **state)
{
    const struct program *program = *state;

    write_day(program, "{policy: static, blocking: skip}", "");
    run_well(program, "fork", "fork", WORDS("--at", "0s", "--set", "policy=dynamic", "--set",
                                            "{policy: hybrid, reserve: 20%}", "--set",
                                            "share_max=0.5"));
    write_day(program, "dynamic, {policy: hybrid, reserve: 20%}, {policy: static, name: s, "
              "blocking: skip, share_max: 0.5}", "");
    run_well(program, "run", "run", WORDS("-j", "2"));
    assert_same(program, "fork", "policy=dynamic", "run", "dynamic");
    assert_same(program, "fork", "policy=hybrid+reserve=20%", "run", "hybrid");
    assert_same(program, "fork", "share_max=0.5", "run", "s");
}

/* Up to 5 h all rows are the same; the instant is the column after the seed.  A row of the
 * timeline is of some minutes from then on. */
static void assert_one_past(const struct program *program, const char *file)
{
    char *left = rows_of(program, "fork", file, "static");
    char *right = rows_of(program, "fork", file, "policy=dynamic"), *a = left, *b = right;
    unsigned same = 0;

    while (*a != '\0' && strtod(strchr(a, ',') + 1, NULL) < 5 * 3600 - 600) {
        size_t bytes = strcspn(a, "\n") + 1;

        if (strncmp(a, b, bytes) != 0)
            fail_msg("%s: %.80s", file, a);
        a += bytes;
        b += bytes;
        same++;
    }
    assert_true(same > 10);
    assert_string_not_equal(a, b);      /* and later they are not */
    free(left);
    free(right);
}

static void branches_have_one_past(void **state)
{
    const struct program *program = *state;

    write_day(program, "{policy: static, blocking: skip}", "");
    run_well(program, "fork", "fork", WORDS("--at", "5h", "--set", "policy=dynamic", "--seeds",
                                            "1"));
    assert_one_past(program, "decisions.csv");
    assert_one_past(program, "timeline.csv");
}

static void threads_change_no_byte(void **state)
{
    const struct program *program = *state;
    const char *const set[] = { "--at", "5h", "--set", "policy=dynamic", "--set",
                                "policy=easy" };

    write_day(program, "fcfs, {policy: static, blocking: skip}", "");
    run_well(program, "fork", "one", WORDS("-j", "1", "--only", "static", set[0], set[1], set[2],
                                           set[3], set[4], set[5]));
    run_well(program, "fork", "two", WORDS("-j", "2", "--only", "static", set[0], set[1], set[2],
                                           set[3], set[4], set[5]));
    for (size_t i = 0; i < FILES; i++) {
        char *one = program_result(program, "one", files[i]);
        char *two = program_result(program, "two", files[i]);

        assert_string_equal(one, two);
        free(one);
        free(two);
    }
}

/* `then` in a file says what the command says. */
static void an_entry_with_then_is_a_branch(void **state)
{
    const struct program *program = *state;

    write_day(program, "{policy: static, blocking: skip}", "");
    run_well(program, "fork", "fork", WORDS("--at", "5h", "--set", "policy=dynamic"));
    write_day(program, "{policy: static, blocking: skip, name: b, then: {at: 5h, policy: "
              "dynamic}}", "");
    run_well(program, "run", "run", WORDS("-j", "1"));
    assert_same(program, "fork", "policy=dynamic", "run", "b");
}

static void assert_refused(const struct program *program, int status, const char *part,
                           const char *const *more)
{
    char *said;

    assert_int_equal(run(program, "fork", "no", more, &said), status);
    if (strstr(said, part) == NULL)
        fail_msg("'%s' lacks '%s'", said, part);
    free(said);
}

static void what_cannot_change_is_refused(void **state)
{
    static const struct {
        int status;
        const char *at, *set, *only, *part;
    } cases[] = {
        { 2, "1h", "lend=false", "dynamik", "--only names 'dynamik'" },
        { 2, "1h", "lend", "dynamic", "--set needs KEY=VALUE" },
        { 2, "1h", "cluster.nodes=[]", "dynamic",
          "'cluster.nodes' cannot change while a trial runs" },
        { 3, "1h", "placement=spread", "dynamic",
          "key 'placement' cannot change while a trial runs" },
        { 3, "1h", "estimate=noisy", "fcfs", "Keys that can: policy, blocking, backfill" },
        { 3, "1h", "policy=dlas", "fcfs", "policy dlas cannot begin while jobs run" },
        { 3, "1h", "policy=fcfs", "dynamic", "policy fcfs leases for a job's life" },
        { 3, "1h", "lend=true", "dynamic", "then changes nothing" },
        { 3, "1h", "lemd=true", "dynamic", "Did you mean 'lend'?" },
        { 3, "20h", "lend=false", "dynamic", "then must begin before until" },
        { 3, "1h", "lend=false", "late", "policy late has `then` already" },
    };
    const struct program *program = *state;

    write_day(program, "fcfs, dynamic, {policy: static, name: late, blocking: skip, then: {at: "
              "1h, policy: dynamic}}", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(program, cases[i].status, cases[i].part,
                       WORDS("--at", cases[i].at, "--set", cases[i].set, "--only",
                             cases[i].only));
    assert_refused(program, 2, "fork needs --at", WORDS("--set", "lend=false"));
    assert_refused(program, 2, "usage error: '--at' must be a time such as ",
                   WORDS("--at", "1hh", "--set", "lend=false", "--only", "dynamic"));
    assert_refused(program, 2, "the experiment has 3 policies",
                   WORDS("--at", "1h", "--set", "lend=false"));
    assert_refused(program, 3, "two policies are called 'lend=false'",
                   WORDS("--at", "1h", "--set", "lend=false", "--set", "lend=false", "--only",
                         "dynamic"));
}

/* What is refused is one error, where another key of the entry needs a value that it replaces. */
static void one_wrong_key_is_one_error(void **state)
{
    const struct program *program = *state;
    char *said;

    write_day(program, "{policy: easy, estimate: noisy}", "");
    assert_int_equal(run(program, "fork", "no", WORDS("--at", "1h", "--set", "reservation=hed"),
                         &said), 3);
    assert_non_null(strstr(said, "--set reservation:1:1: schema error: 'reservation' must be "));
    assert_null(strstr(said, "'estimate'"));
    assert_null(strstr(said, "errors\n"));
    free(said);
}

/* A service scales beside jobs that wait: what goes on is the run, a branch from the
 * beginning is the run of the other policy, and an entry with `then` is the same in shards. */
static void a_service_goes_on_in_all_branches(void **state)
{
    static const char day[] =
        "experiment: day\nseeds: 2\nuntil: 2h\ncluster: {nodes: [{name: a, count: 1, gpus: "
        "{type: a100-80, count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}]}\n"
        "workload: {arrival: {process: poisson, rate: 12/h}, for: 2h, mix: [{recipe: trace, "
        "gpus: {choice: {1: 1, 4: 1}}, duration: {exponential: {mean: 30min}}}], services: [{"
        "name: chat, model: llama-3.1-8b, gpu: {tp: 1}, replicas: {min: 1, max: 4}, requests: "
        "{arrival: {process: bursty, rate: 2/s, burst: {high: 4, low: 1, stay_high: 5min, "
        "stay_low: 10min}}, prompt: 200, output: 50, for: 2h}, slo: {ttft: 2s, tpot: 100ms}}]}\n"
        "output: {tables: [summary, jobs, phases, timeline, decisions], plots: [], "
        "detail_seeds: all}\npolicies: ";
    const struct program *program = *state;
    char text[2400], *left, *right;

    snprintf(text, sizeof text, "%s[fcfs, sjf]\n", day);
    program_write(program, "day.yaml", text);
    run_well(program, "run", "run", WORDS("-j", "1"));
    run_well(program, "fork", "fork", WORDS("--only", "fcfs", "--at", "0s", "--set",
                                            "policy=sjf"));
    assert_same(program, "fork", "fcfs", "run", "fcfs");
    assert_same(program, "fork", "policy=sjf", "run", "sjf");
    left = rows_of(program, "fork", "services.csv", "policy=sjf");
    right = rows_of(program, "run", "services.csv", "sjf");
    assert_string_equal(left, right);
    free(left);
    free(right);
    snprintf(text, sizeof text, "%s[fcfs, {policy: fcfs, name: later, then: {at: 1h, policy: "
             "sjf}}]\n", day);
    program_write(program, "day.yaml", text);
    run_well(program, "fork", "fork", WORDS("--only", "fcfs", "--at", "1h", "--set",
                                            "policy=sjf"));
    run_well(program, "run", "whole", WORDS("-j", "1"));
    run_well(program, "run", "s1", WORDS("--shard", "1/2"));
    run_well(program, "run", "s2", WORDS("--shard", "2/2"));
    const char *merge[] = { "merge", program_path(program, "s1"), program_path(program, "s2"),
                            "-q", "-o", program_path(program, "all"), NULL };
    assert_int_equal(program_say(program, merge, &left), 0);
    free(left);
    assert_same(program, "all", "later", "fork", "policy=sjf");
    assert_same(program, "all", "later", "whole", "later");
}

/* With two seeds Student's t is 12.7, so a mean of 0 is not ruled out for what goes on, and no
 * time falls by more than 100%.  `compare` says the same of two folders. */
static void an_interval_without_an_end_says_so(void **state)
{
    static const char day[] =
        "experiment: day\nseeds: 2\n"
        "cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, count: 8}}]}\n"
        "workload: {arrival: {process: poisson, rate: 6/h}, jobs: 12, mix: [{recipe: trace, "
        "name: part, share: 2, gpus: 4, duration: 10min}, {recipe: trace, name: whole, share: 1, "
        "gpus: 8, duration: 20min}]}\npolicies: [fcfs]\noutput: {tables: [summary], plots: []}\n";
    const struct program *program = *state;
    const char *fork[] = { "fork", program_write(program, "day.yaml", day), "--at", "10min",
                           "--set", "policy=sjf", "-o", program_path(program, "fork"), NULL };
    char *said;

    assert_int_equal(program_say(program, fork, &said), 0);
    assert_part(said, "[-100.0, no end]");
    assert_null(strstr(said, "inf]"));
    free(said);
    run_well(program, "run", "left", WORDS("--set", "seed=1"));
    run_well(program, "run", "right", WORDS("--set", "seed=1", "--set",
                                            "workload.mix.part.gpus=8"));
    const char *compare[] = { "compare", program_path(program, "left"),
                              program_path(program, "right"), NULL };
    program_say(program, compare, &said);
    assert_part(said, "[-100%, no end] p=");
    assert_null(strstr(said, "inf%]"));
    free(said);
}

/* Three jobs of one GPU come at 0 s, of 9, 9 and 2 h; two GPUs, until 10 h.  fcfs ends two, at
 * 9 h each; sjf ends two, at 2 h and 9 h.  Their means are over other jobs, and not the same.
 * Both have 19 of 20 GPU-hours at work. */
static void means_over_other_jobs_are_not_called_the_same(void **state)
{
    const struct program *program = *state;
    char *said;

    program_write(program, "t.csv", "job,submit,run,gpus\na,0,32400,1\nb,0,32400,1\n"
                                    "c,0,7200,1\n");
    program_write(program, "short.yaml", "experiment: short\nuntil: 10h\n"
                  "cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, count: 2}}]}\n"
                  "workload: {trace: {file: t.csv, format: csv, columns: {job: job, submit: "
                  "submit, duration: run, gpus: gpus}}}\npolicies: [fcfs]\n"
                  "output: {plots: []}\n");
    const char *word[] = { "fork", program_path(program, "short.yaml"), "--at", "0s", "--set",
                           "policy=sjf", "-o", program_path(program, "short"), NULL };
    assert_int_equal(program_say(program, word, &said), 0);
    const char *table = strstr(said, "seed by seed");
    assert_non_null(table);
    const char *row = strstr(table, "\npolicy=sjf ");
    assert_non_null(row);
    char jct[32], p95[32], wait[32], busy[32], rest[32];
    assert_int_equal(sscanf(row, " policy=sjf %31s %31s %31s %31s %31s", jct, p95, wait, busy,
                            rest), 5);
    assert_string_equal(jct, "-");
    assert_string_equal(p95, "-");
    assert_string_equal(wait, "-");
    assert_string_equal(busy, "+0.0%");
    assert_string_equal(rest, "same");          /* nothing has a price */
    assert_non_null(strstr(row, "\n-: not compared, as a mean is not over all jobs, or is 0 under "
                                "fcfs\n"));
    free(said);
}

static void branches_of_branches_and_sweeps_are_refused(void **state)
{
    const struct program *program = *state;

    write_day(program, "dynamic", "sweep: {policies.dynamic.lend: [true, false]}\n");
    assert_refused(program, 3, "branches have one past",
                   WORDS("--at", "1h", "--set", "lend_max=1"));
    write_day(program, "{policy: fcfs, then: {at: 1h}}", "");
    assert_refused(program, 3, "policy fcfs has `then` already",
                   WORDS("--at", "1h", "--set", "policy=easy"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_branch_that_goes_on_is_the_run_itself),
        TEST(a_branch_from_the_beginning_is_the_run_of_the_other),
        TEST(branches_have_one_past),
        TEST(threads_change_no_byte),
        TEST(an_entry_with_then_is_a_branch),
        TEST(what_cannot_change_is_refused),
        TEST(one_wrong_key_is_one_error),
        TEST(a_service_goes_on_in_all_branches),
        TEST(branches_of_branches_and_sweeps_are_refused),
        TEST(an_interval_without_an_end_says_so),
        TEST(means_over_other_jobs_are_not_called_the_same),
    };

    (void)argc;
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
