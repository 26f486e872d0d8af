/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * newcomer_test.c - mistakes of a first day: what the program answers to each,
 * by its status and by what it says and does not say.
 */
#include <setjmp.h>
#include <stdarg.h>
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

struct answer {
    const char *typed;          /* `clustersim` is the program */
    int status;
    const char *says, *not;     /* NULL: anything */
};

static void task(struct scratch *scratch, const struct answer *answer)
{
    for (; answer->typed != NULL; answer++) {
        char command[8192];

        snprintf(command, sizeof command, "cd %s; clustersim() { '%s' \"$@\"; "
                 "}; { %s\n} >said 2>&1", scratch->dir, program,
                 answer->typed);
        int status = system(command);
        char *said = scratch_read(scratch, "said");

        assert_non_null(said);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != answer->status ||
            (answer->says != NULL && strstr(said, answer->says) == NULL) ||
            (answer->not != NULL && strstr(said, answer->not) != NULL))
            fail_msg("%s: status %d for %d, and it says\n%s", answer->typed,
                     WEXITSTATUS(status), answer->status, said);
        free(said);
    }
}

static int setup(void **state)
{
    struct scratch *scratch = calloc(1, sizeof *scratch);

    assert_non_null(scratch);
    scratch_open(scratch);
    scratch_write(scratch, "e.yaml",
        "experiment: e\n"
        "seeds: 3\n"
        "cluster: {nodes: [{name: dgx, count: 1, gpus: {type: a100-80, count: "
        "8}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}], storage: "
        "{bandwidth: 20GB/s}}\n"
        "workload:\n"
        "  arrival: {process: poisson, rate: 20/h}\n"
        "  jobs: 12\n"
        "  mix: [{recipe: lora, name: j, model: llama-3.1-8b, recompute: full, "
        "batch: 64, sequence: 2048, micro_batch: 2, steps: {lognormal: {mean: "
        "300, cv: 1}, min: 50, max: 2000}, train: {gpus: 8}}]\n"
        "policies: [fcfs, sjf]\n"
        "output: {plots: [], tables: [compare]}\n");
    *state = scratch;
    return 0;
}

static int teardown(void **state)
{
    scratch_close(*state);
    free(*state);
    return 0;
}

static void a_baseline_is_not_where_results_go(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -q", 0, NULL, NULL },
        { "cp out/e/summary.csv before", 0, NULL, NULL },
        /* out/e is where they go if nothing is said */
        { "clustersim check e.yaml --baseline out/e --set workload.jobs=15", 2,
          "--baseline and the results are one folder, 'out/e'", NULL },
        { "cmp before out/e/summary.csv", 0, NULL, NULL },
        { "clustersim check e.yaml --baseline out/e -o now", 0, "2 of 2",
          NULL },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

static void other_jobs_are_no_regression_to_measure(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -q -o b", 0, NULL, NULL },
        { "clustersim check e.yaml --baseline b -o c --set workload.jobs=1", 1,
          "the workload differs: 1 job in seed 0, and 12 in the "
          "baseline", NULL },
        { "clustersim check e.yaml --baseline b -o c", 0, NULL, "another" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* As many jobs, and other ones: by the run's own folder as baseline, by a small one, and
 * by two folders. */
static void jobs_of_another_seed_are_other_jobs(void **state)
{
    static const struct answer answers[] = {
        { "clustersim check e.yaml -q -o b --update-baseline small", 0, NULL, NULL },
        { "ls small", 0, "jobs.json\nsummary.csv\n", "provenance" },
        { "clustersim check e.yaml --baseline small -o c --set seed=7", 1,
          "its jobs are not those of the baseline (`seed`, ", "worse" },
        { "clustersim check e.yaml --baseline b -o c --set seed=7", 1,
          "its jobs are not those of the baseline", "worse" },
        { "clustersim check c --baseline b", 1, "its jobs are not those", "worse" },
        { "clustersim compare b c", 0, "the jobs differ at 1 point: `seed`", NULL },
        { "clustersim compare b c --json", 0, "\"other_jobs\": 1,", NULL },
        { "clustersim check e.yaml --baseline small -o c", 0, "nothing worse", NULL },
        { "clustersim compare b c --json", 0, "\"other_jobs\": 0,", NULL },
        /* one of a program that wrote none */
        { "rm small/jobs.json && clustersim check e.yaml --baseline small -o c --set seed=7",
          1, "worse", "its jobs are not" },
        { "clustersim check e.yaml --baseline small -o c", 1,
          "whether its jobs are those of the baseline is not known: the baseline has neither "
          "jobs.json ", "does not hold" },
        { "clustersim check e.yaml --baseline small -o c --allow-not-judged", 0, "not judged",
          NULL },
        { "clustersim compare b small", 0, "whether the jobs are the same is not known at 1 "
          "point: a folder has neither jobs.json ", NULL },
        { "clustersim compare b small --json", 0, "\"unknown_jobs\": 1,", NULL },
        { "clustersim compare b c --json", 0, "\"unknown_jobs\": 0,", NULL },
        { "echo '{\"jobs\": [3, {\"point\": [], \"fingerprint\": {}}]}' >small/jobs.json && "
          "clustersim check e.yaml --baseline small -o c", 3,
          "small/jobs.json:1:11: schema error: a fingerprint must have a point and", NULL },
        { "echo '{\"jobs\": 3}' >small/jobs.json; clustersim compare small b", 3,
          "small/jobs.json:1:10: schema error: jobs must be a list of fingerprints", NULL },
        { "echo '{\"jobs' >small/jobs.json; clustersim compare small b", 3,
          "small/jobs.json:1", NULL },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* Of the columns that are kept one has values; the other has none, since nothing serves, and is
 * not counted.  Without the first nothing is compared, which is no success. */
static void what_has_no_value_is_not_compared(void **state)
{
#define KEEP(COLUMNS) \
    "awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(point|policy|seed|jobs|" \
    COLUMNS "service_latency_p99_s)$/) c[++n] = i } { s = $c[1]; for (i = 2; i <= n; i++) s = s " \
    "OFS $c[i]; print s }' b/summary.csv >kept/summary.csv"
    static const struct answer answers[] = {
        { "clustersim e.yaml -q -o b && mkdir kept && cp b/provenance.json kept", 0, NULL, NULL },
        { KEEP("jct_mean_s|") " && head -n 1 kept/summary.csv", 0,
          "point,policy,seed,jobs,jct_mean_s,service_latency_p99_s\n", NULL },
        { "clustersim check e.yaml --baseline kept -o c", 0, " 1 metric\n", NULL },
        { KEEP(""), 0, NULL, NULL },
        { "clustersim check e.yaml --baseline kept -o c", 1,
          "the baseline has no value that could get worse", "nothing worse" },
        { NULL, 0, NULL, NULL }
    };
#undef KEEP

    task(*state, answers);
}

/* A run on another cluster has the same jobs, so it is compared.  Jobs that ask for another
 * number of GPUs are other jobs. */
static void jobs_are_the_same_on_another_cluster(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -q -o b", 0, NULL, NULL },
        { "clustersim check e.yaml --baseline b -o c --set cluster.nodes.dgx.count=2", 1,
          "makespan_gap_to_bound worse", "its jobs are not those" },
        { "clustersim check e.yaml --baseline b -o c --set workload.mix.0.train.gpus=4", 1,
          "its jobs are not those", "worse" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

static void figures_that_differ_are_printed_so(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -q -o b && cp -r b c", 0, NULL, NULL },
        { "for d in b c; do awk -F, -v OFS=, -v d=$d 'NR == 1 { for (i = 1; "
          "i <= NF; i++) if ($i == \"jct_p99_s\") c = i } NR > 1 { $c = d == "
          "\"b\" ? \"2000\" : \"2000.000000004\" } { print }' $d/summary.csv "
          ">s && mv s $d/summary.csv; done", 0, NULL, NULL },
        { "clustersim check c --baseline b", 1,
          "jct_p99_s worse in 3 of 3 seeds (seed 0: 2000 -> 2000.000000004)",
          NULL },
        { "clustersim check e.yaml --baseline b -o w --set "
          "cluster.storage.bandwidth=0.1GB/s", 1,
          "more metrics worse, which `clustersim compare` shows", NULL },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

static void a_tolerance_of_5_is_no_fraction(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -q -o b", 0, NULL, NULL },
        { "clustersim check e.yaml -o c --baseline b --tolerance 5", 2,
          "must be a fraction such as 0.5% or 0.005, and is '5'", NULL },
        { "clustersim check e.yaml -o c --baseline b --tolerance 5%", 0, NULL,
          NULL },
        { "clustersim check e.yaml -o c --baseline b --tolerance 500%", 0,
          NULL, NULL },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* A job of 100 s on a node of 3, 3.15 and 3.1501 USD an hour: 0.08333.., 0.0875, which is 5%
 * more, and 0.0875028 USD. */
static void a_change_of_the_tolerance_is_kept(void **state)
{
    static const struct answer answers[] = {
        { "printf 'experiment: k\nseeds: 1\ncluster: {nodes: [{name: g, count: 1, gpus: {type: "
          "generic, count: 8}, price: 3USD/h}]}\nworkload:\n  arrival: {process: fixed, times: "
          "[0s]}\n  mix: [{recipe: trace, gpus: 8, duration: 100s}]\npolicies: [fcfs]\n"
          "output: {plots: []}\n' >k.yaml && clustersim k.yaml -q -o k", 0, NULL, NULL },
        { "clustersim check k.yaml --baseline k -o l --tolerance 5% "
          "--set cluster.nodes.g.price=3.15USD/h", 0, "nothing worse", NULL },
        { "clustersim check k.yaml --baseline k -o l --tolerance 5% "
          "--set cluster.nodes.g.price=3.1501USD/h", 1, "cost_usd worse", NULL },
        { "clustersim check k.yaml --baseline k -o l --set cluster.nodes.g.price=3.00001USD/h",
          1, "cost_usd worse", NULL },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* Nearly empty, two policies do the same: whatever the jobs' lengths, their
 * ratio is 1, and known. */
static void equal_policies_differ_by_nothing(void **state)
{
    static const struct answer answers[] = {
        { "printf 'expect: [{metric: jct_mean_s, policy: sjf, vs: fcfs, "
          "at_most: 0%%}]\\n' >>e.yaml", 0, NULL, NULL },
        { "clustersim check e.yaml -o b --set workload.arrival.rate=1/d --set "
          "workload.jobs=3", 0, "0%, 95% interval [0%, 0%], 3 seeds", "inf" },
        { "clustersim e.yaml -o c --set workload.jobs=3 --set seeds=2", 0,
          "undecided", "inf%" },
        { "clustersim e.yaml -o c --set workload.jobs=3 --set seeds=2", 0,
          "over 2 seeds the mean of fcfs may be 0", NULL },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

static void a_run_in_which_no_job_counts_says_so(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -o b --set warmup=30d --set "
          "output.plots=[utilization,idle]", 0,
          "in 6 of 6 trials no job counts", "gave equal results" },
        { "clustersim e.yaml -o b --set warmup=30d", 0, NULL, "* best" },
        { "clustersim e.yaml -o b --set warmup=30d --set "
          "output.plots=[utilization,idle]", 0, NULL, "gnuplot failed" },
        { "clustersim e.yaml -o b", 0, "* best", "no job counts" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

static void a_folder_without_results_says_what_it_is(void **state)
{
    static const struct answer answers[] = {
        { "mkdir empty && clustersim check empty", 4,
          "empty: file error: no results folder: there is no summary.csv",
          "relative" },
        { "clustersim compare e.yaml e.yaml", 4,
          "e.yaml: file error: no results folder: it is a file", NULL },
        { "clustersim e.yaml --shard 1/2 -o half -q", 0, NULL, NULL },
        { "clustersim check e.yaml --baseline half", 4,
          "run their experiment with -o half --resume", NULL },
        { "clustersim plot half", 4, "Its trials are not put together", NULL },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* fcfs holds leases for a job's life and dynamic for a phase: of jobs of one
 * phase that is the same load, and one warning. */
static void one_overload_is_told_once(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -o b --set policies=[fcfs,dynamic,sjf]", 0,
          "overload under fcfs, dynamic, sjf: ", NULL },
        /* nor is a home where there is one pool */
        { "clustersim e.yaml -o b --set policies=[fcfs,dynamic,sjf]", 0,
          "what decides", "home of" },
        { "clustersim e.yaml -o b --set policies=[fcfs,dynamic,sjf] 2>&1 | "
          "grep -c overload", 0, "1\n", NULL },
        /* of nine groups of nodes without a price, eight are named; dgx has one */
        { "N=; for i in 0 1 2 3 4 5 6 7 8; do N=\"$N{name: a$i, count: 1, gpus: {type: "
          "generic, count: 1}},\"; done; sed \"s/nodes: \\[/nodes: [$N/\" e.yaml >ten.yaml; "
          "clustersim ten.yaml -o b", 0, "a5, a6, a7 and 1 more: price: none", "a8: price" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* The list of the message is cut: the hint has the nearest name, also where the word only
 * begins it, or the rest. */
static void a_placement_that_is_none_gets_the_nearest_or_the_others(void **state)
{
    static const struct answer answers[] = {
        { "clustersim e.yaml -o b --set 'policies=[{policy: fcfs, placement: topolgy}]'", 3,
          "Did you mean 'topology'?", NULL },
        { "clustersim e.yaml -o b --set 'policies=[{policy: fcfs, placement: topo}]'", 3,
          "Did you mean 'topology'?", NULL },
        { "clustersim e.yaml -o b --set 'policies=[{policy: fcfs, placement: lucid}]'", 3,
          "consolidate, ..., found 'lucid'", "Did you mean" },
        { "clustersim e.yaml -o b --set 'policies=[{policy: fcfs, placement: gpu}]'", 3,
          "The others are topology, helios.", "Did you mean" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* A quota of a tenant without jobs is told; where none has a tenant, it is refused. */
static void quotas_of_nobody_are_told(void **state)
{
    static const struct answer answers[] = {
        { "sed 's/name: j,/name: j, tenant: team-a,/' e.yaml >t.yaml; clustersim t.yaml -o b "
          "--set 'policies=[{policy: quota, quotas: team-a=4 vision=4}]'", 0,
          "'quotas' of policy quota names 'vision', and no job or service is of that tenant",
          NULL },
        { "clustersim t.yaml -o b --set 'policies=[{policy: quota, quotas: team-a=8}]'", 0,
          "quota", "is of that tenant" },
        { "sed 's/name: j,/name: j, tenant: team a,/' e.yaml >u.yaml; clustersim u.yaml -o b "
          "--set \"policies=[{policy: quota, quotas: \\\"'team a'=8 'our own'=4 x=2\\\"}]\"", 0,
          "names 'our own', and no job or service is of that tenant", "names 'team" },
        { "clustersim e.yaml -o b --set 'policies=[{policy: quota, quotas: vision=4}]'", 3,
          "tenants: none", NULL },
        /* from some time on, and in a fork */
        { "clustersim t.yaml -o b --set 'policies=[{policy: fcfs, then: {at: 1s, policy: "
          "quota, quotas: vision=4}}]'", 0,
          "'quotas' of policy fcfs names 'vision', and no job or service is of that tenant",
          NULL },
        { "clustersim t.yaml -o b --set 'policies=[{policy: fcfs, then: {at: 1s, policy: "
          "quota, quotas: teem-a=4}}]'", 3, "Did you mean 'team-a'?", NULL },
        { "clustersim fork t.yaml -o f --only fcfs --at 1s --set '{policy: quota, quotas: "
          "teem-a=4}'", 3, "Did you mean 'team-a'?", NULL },
        /* of a sweep, all points are known to one trial */
        { "clustersim t.yaml --trial 1 --set 'policies=[{policy: quota, quotas: team-a=4 "
          "vision=4}]' --set 'sweep={workload.mix.j.tenant: [team-a, vision]}'", 0,
          "trial 1", "is of that tenant" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* Keys that act on some workloads, and on none of these jobs. */
static void keys_that_no_job_lets_act_are_told(void **state)
{
    static const struct answer answers[] = {
        { "sed 's/mix: .*/mix: [{recipe: trace, gpus: 1, duration: 1h}]/' e.yaml "
          ">w.yaml; clustersim run w.yaml -o w --set 'policies=[{policy: sjf, "
          "estimate: requested}]'", 0,
          "estimate requested does nothing under sjf at 1 of 1 points", NULL },
        { "clustersim run w.yaml -o w --set 'policies=[{policy: fcfs, ties: "
          "shuffled}]'", 0, "ties shuffled does nothing under fcfs", NULL },
        { "clustersim run w.yaml -o w --set fidelity=step", 0,
          "fidelity step does nothing at 1 of 1 points", NULL },
        { "clustersim run w.yaml -o w --set 'policies=[{policy: fcfs, ties: "
          "shuffled, placement: fgd}]'", 0, NULL, "ties shuffled does nothing" },
        { "clustersim run e.yaml -o w --set fidelity=step", 0, NULL,
          "fidelity step does nothing" },
        { "clustersim run e.yaml -o w --set 'policies=[{policy: dynamic, grow: false}]'", 0,
          "grow false does nothing under dynamic at 1 of 1 points", NULL },
        { "sed 's/train: {gpus: 8}/train: {gpus: 4, max: 8}/' e.yaml >g.yaml; clustersim run "
          "g.yaml -o w --set 'policies=[{policy: dynamic, grow: false}]'", 0, NULL,
          "grow false does nothing" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* A word that is in the summary of a format leads to it; a column called id is no summary. */
static void a_trace_of_ones_own_gets_a_way_in(void **state)
{
    static const struct answer answers[] = {
        { "clustersim import slurm x -o w.yaml", 2, "one of sacct, slurm-nodes?", NULL },
        { "clustersim import kubernetes x -o w.yaml", 2, "one of kube, kube-nodes?", NULL },
        { "clustersim import KUBERNETES x -o w.yaml", 2, "one of kube, kube-nodes?", NULL },
        { "clustersim import acmi x -o w.yaml", 2, "Did you mean acme?", NULL },
        { "clustersim import xy x -o w.yaml", 2, "", "one of" },
        { "printf 'id,arrived,runtime,n\\n1,0,60,1\\n' >f.csv; clustersim import csv f.csv "
          "-o w.yaml", 3, "--columns job=NAME,submit=NAME", "summary of clusters" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
}

/* Where jobs may use two types, and nothing says how fast each is. */
static void a_length_that_knows_no_types_is_told(void **state)
{
#define NODES "--set cluster.nodes='[{name: a, count: 1, gpus: {type: generic, count: 8}}, " \
    "{name: b, count: 1, gpus: {type: l4, count: 8}, cpu: {type: epyc-7742}, memory: 1TB}]'"
    static const struct answer answers[] = {
        { "sed 's/mix: .*/mix: [{recipe: trace, gpus: 1, duration: 1h}]/' e.yaml >w.yaml; "
          "clustersim w.yaml -o b", 0, NULL, "the same on every type of GPU" },
        { "clustersim w.yaml -o b " NODES, 0,
          "job trace: length: the same on every type of GPU: `rates:` is not given", NULL },
        { "clustersim w.yaml -o b " NODES " --set workload.mix.0.rates='{a: 1, b: 0.5}'", 0,
          NULL, "the same on every type of GPU" },
        { NULL, 0, NULL, NULL }
    };

    task(*state, answers);
#undef NODES
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)
        TEST(a_placement_that_is_none_gets_the_nearest_or_the_others),
        TEST(quotas_of_nobody_are_told),
        TEST(keys_that_no_job_lets_act_are_told),
        TEST(a_trace_of_ones_own_gets_a_way_in),
        TEST(a_length_that_knows_no_types_is_told),
        TEST(a_baseline_is_not_where_results_go),
        TEST(other_jobs_are_no_regression_to_measure),
        TEST(jobs_of_another_seed_are_other_jobs),
        TEST(what_has_no_value_is_not_compared),
        TEST(jobs_are_the_same_on_another_cluster),
        TEST(figures_that_differ_are_printed_so),
        TEST(a_tolerance_of_5_is_no_fraction),
        TEST(a_change_of_the_tolerance_is_kept),
        TEST(equal_policies_differ_by_nothing),
        TEST(a_run_in_which_no_job_counts_says_so),
        TEST(a_folder_without_results_says_what_it_is),
        TEST(one_overload_is_told_once),
    };
    char here[2048];
    const char *slash = strrchr(argv[0], '/');

    (void)argc;
    assert_non_null(getcwd(here, sizeof here));
    assert_non_null(slash);
    snprintf(program, sizeof program, "%s%s%.*s/../clustersim",
             argv[0][0] == '/' ? "" : here, argv[0][0] == '/' ? "" : "/",
             (int)(slash - argv[0]), argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
