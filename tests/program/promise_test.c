/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * promise_test.c - starts that backfill promises, worked out by hand: to jobs that may use
 * one pool, to parts of GPUs, where cores are short, and where a node is down.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "tests/aid/by_hand.h"
#include "tests/aid/program.h"

static struct program program;

#define TRACE(more) \
    "workload:\n  trace: {file: jobs.csv, format: csv, " more "}\n" \
    "policies: [easy, conservative]\noutput: {plots: []}\n"
#define COLUMNS "columns: {job: job, submit: t, duration: d, gpus: g}"
#define IN_POOLS "tenant_pools: true, columns: {job: job, submit: t, duration: d, gpus: g, " \
    "tenant: v}"

/* The job starts at that second under both policies, or (easy_s) at another one. */
static void starts(const char *job, double easy_s, double conservative_s)
{
    hand_near(hand_cell(&program, "jobs.csv", "easy", job, "start_s"), easy_s);
    hand_near(hand_cell(&program, "jobs.csv", "conservative", job, "start_s"), conservative_s);
}

/* Pools a and b of two GPUs.  p holds one GPU of a until 100 s, so h, for both GPUs of a, has
 * its start at 100 s and ends at 150 s.  x, long and for one GPU of a, would delay it: it
 * starts at 150 s.  y, for pool b, which is empty, starts as it comes. */
static void a_promise_counts_the_pool_of_the_head(void **state)
{
    (void)state;
    hand_run(&program, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: generic, count: 2}}\n"
             "    - {name: b, count: 1, gpus: {type: generic, count: 2}}\n" TRACE(IN_POOLS),
             "job,t,d,g,v\np,0,100,1,a\nh,10,50,2,a\nx,20,1000,1,a\ny,60,1000,2,b\n");
    starts("h", 100, 100);
    starts("x", 150, 150);
    starts("y", 60, 60);
}

#define CPU "cpu: {type: epyc-7742}, memory: 256GB"

/* Four GPUs of each of two types.  p holds all of one until 300 s, and q three of the other until
 * 100 s: h, for four of one type, whichever, starts at 100 s where q was, and ends at 150 s.  x,
 * long and for one GPU there, would delay it: it starts at 150 s.  y is over at 90 s.  So it is
 * whichever of the types stands first. */
static void a_promise_is_of_the_type_that_is_free_first(void **state)
{
    static const char *const type[] = { "t4", "l40s" };
    char jobs[300];

    (void)state;
    for (int soon = 0; soon < 2; soon++) {
        const char *q = type[soon], *p = type[1 - soon];
        snprintf(jobs, sizeof jobs, "job,t,d,g,w\np,0,300,4,%s\nq,0,100,3,%s\nh,10,50,4,t4|l40s\n"
                 "x,20,1000,1,%s\ny,30,60,1,%s\n", p, q, q, q);
        hand_run(&program, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
                 "    - {name: a, count: 1, gpus: {type: t4, count: 4}, " CPU "}\n"
                 "    - {name: b, count: 1, gpus: {type: l40s, count: 4}, " CPU "}\n"
                 TRACE("columns: {job: job, submit: t, duration: d, gpus: g, gpu_types: w}"), jobs);
        starts("h", 100, 100);
        starts("x", 150, 150);
        starts("y", 30, 30);
    }
}

/* 64 cores and eight GPUs, of which each brings 16 cores.  h takes all cores with four GPUs: it
 * starts when p has left, at 100 s, and x, that would still hold 16 of them, behind it. */
static void a_promise_may_be_of_all_cores(void **state)
{
    (void)state;
    hand_run(&program, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n    - {name: a, count: 1, "
             "gpus: {type: generic, count: 8}, cores: 64, memory: 256GB}\n"
             TRACE(COLUMNS ", role: {cores: 16}"),
             "job,t,d,g\np,0,100,1\nh,10,50,4\nx,20,1000,1\n");
    starts("h", 100, 100);
    starts("x", 150, 150);
}

/* One GPU.  a has 0.3 of it until 100 s, b 0.4 until 1000 s: h, for a half, starts at 100 s,
 * when 0.6 are free, and ends at 150 s.  y, for 0.1 until 530 s, leaves it the half.  x, for
 * 0.3 until 820 s, does not: after h 0.5 are free, and it starts at 150 s. */
static void a_promise_counts_parts_of_a_gpu(void **state)
{
    (void)state;
    hand_run(&program, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: generic, count: 1}}\n" TRACE(COLUMNS),
             "job,t,d,g\na,0,100,0.3\nb,0,1000,0.4\nh,10,50,0.5\nx,20,800,0.3\n"
             "y,30,500,0.1\n");
    starts("b", 0, 0);
    starts("h", 100, 100);
    starts("x", 150, 150);
    starts("y", 30, 30);
}

/* Six GPUs and 40 cores; a GPU brings 10 cores.  p has 10 until 100 s and q 10 until 1000 s: h,
 * for 30, starts at 100 s, although four GPUs are free, and ends at 150 s.  x, for one GPU and
 * 1000 s, would take cores that h needs at 100 s: it starts at 150 s.  y ends at 80 s and
 * may start as it comes; conservative has a place for it in the plan after x. */
static void a_promise_keeps_cores_against_jobs_with_gpus(void **state)
{
    (void)state;
    hand_run(&program, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n    - {name: a, count: 1, "
             "gpus: {type: generic, count: 6}, cores: 40, memory: 256GB}\n"
             TRACE(COLUMNS ", role: {cores: 10}"),
             "job,t,d,g\np,0,100,1\nq,0,1000,1\nh,10,50,3\nx,20,1000,1\ny,30,50,1\n");
    starts("h", 100, 100);
    starts("x", 150, 150);
    starts("y", 30, 150);
}

/* The same on two such nodes, of which one is down from 5 s on: its 40 cores are not there.  All
 * but o comes 10 s later. */
static void cores_of_a_node_that_is_down_are_not_promised(void **state)
{
    (void)state;
    program_write(&program, "faults.csv", "series,time_s,value\ns,0,0\ns,5,1\ns,100000,0\n");
    hand_run(&program, "experiment: e\nseeds: 1\ncluster:\n  failures: {restart: 0s, trace: {file: "
             "faults.csv, servers: 2}}\n  nodes:\n    - {name: a, count: 2, "
             "gpus: {type: generic, count: 6}, cores: 40, memory: 256GB}\n"
             TRACE(COLUMNS ", role: {cores: 10}"),
             "job,t,d,g\no,0,1,1\np,10,100,1\nq,10,1000,1\nh,20,50,3\nx,30,1000,1\n");
    starts("p", 10, 10);
    starts("h", 110, 110);
    starts("x", 160, 160);
}

/* Nine types of GPU that all jobs name: two T4 and one of each other.  f1 holds a T4 until 100 s,
 * f2 the other until 15 s, eight jobs all else until 5000 s.  So h, for two, starts at 100 s and
 * ends at 150 s, and x, long, would delay it.  Eight L4, which no job names, are no part of the
 * promise. */
static void a_promise_counts_the_types_of_a_role(void **state)
{
    static const char *const type[] = { "t4", "l40s", "h100", "h200", "a100-80", "a100-40", "b200",
                                        "a10", "v100-32", "l4" };
    char yaml[4000], jobs[500], *at = yaml, *row = jobs;

    (void)state;
    at += sprintf(at, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n");
    for (int i = 0; i < 10; i++)
        at += sprintf(at, "    - {name: n%d, count: 1, gpus: {type: %s, count: %d}, cpu: {type: "
                      "epyc-7763, sockets: 1}, memory: 256GB, price: 1USD/h}\n", i, type[i],
                      i == 0 ? 2 : i < 9 ? 1 : 8);
    sprintf(at, TRACE(COLUMNS ", role: {types: [t4, l40s, h100, h200, a100-80, a100-40, b200, "
                      "a10, v100-32]}"));
    row += sprintf(row, "job,t,d,g\nf1,0,100,1\nf2,0,15,1\n");
    for (int i = 3; i <= 10; i++)
        row += sprintf(row, "f%d,0,5000,1\n", i);
    sprintf(row, "h,10,50,2\nx,20,1000,1\n");
    hand_run(&program, yaml, jobs);
    starts("h", 100, 100);
    starts("x", 150, 150);
}

/* 17 pools of two types of GPU, of which each job names one: 34 parts of the cluster with plans of
 * their own.  The first jobs, of 1 s, name 32 of them; p, h and x of the last pool are those of
 * the test above. */
static void each_part_of_a_cluster_has_a_plan(void **state)
{
    char yaml[8000], jobs[2000], *at = yaml, *row = jobs;

    (void)state;
    at += sprintf(at, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n");
    row += sprintf(row, "job,t,d,g,v,y\n");
    for (int pool = 0; pool < 17; pool++)
        for (int type = 0; type < 2; type++) {
            at += sprintf(at, "    - {name: n%d-%d, pool: p%d, count: 1, gpus: {type: %s, count: "
                          "2}, cpu: {type: epyc-7763, sockets: 1}, memory: 256GB}\n", pool, type,
                          pool, type == 0 ? "t4" : "l4");
            if (pool < 16)
                row += sprintf(row, "f%d-%d,0,1,1,p%d,%s\n", pool, type, pool,
                               type == 0 ? "t4" : "l4");
        }
    sprintf(row, "p,0,100,1,p16,t4\nh,10,50,2,p16,t4\nx,20,1000,1,p16,t4\n");
    sprintf(at, TRACE("tenant_pools: true, columns: {job: job, submit: t, duration: d, gpus: g, "
                      "tenant: v, gpu_types: y}"));
    hand_run(&program, yaml, jobs);
    starts("h", 100, 100);
    starts("x", 150, 150);
}

#define JOBS 80u

struct row {
    int submit_s, duration_s, gpus;
    char pool;
};

/* Writes the jobs of some pools; the first of each comes at 0 s, so that time begins alike. */
static void write_rows(char *out, const struct row *row, const char *pools)
{
    out += sprintf(out, "job,t,d,g,v\n");
    for (uint32_t i = 0; i < JOBS; i++)
        if (strchr(pools, row[i].pool) != NULL)
            out += sprintf(out, "j%u,%d,%d,%d,%c\n", i, row[i].submit_s, row[i].duration_s,
                           row[i].gpus, row[i].pool);
}

static void run_pools(const struct row *row, const char *pools)
{
    char yaml[1000], jobs[JOBS * 40], *at = yaml;

    at += sprintf(at, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n");
    for (const char *pool = pools; *pool != 0; pool++)
        at += sprintf(at, "    - {name: %c, count: 2, gpus: {type: generic, count: 4}}\n", *pool);
    sprintf(at, "workload:\n  trace: {file: jobs.csv, format: csv, " IN_POOLS "}\n"
            "policies: [{policy: conservative, placement: count}]\noutput: {plots: []}\n");
    write_rows(jobs, row, pools);
    hand_run(&program, yaml, jobs);
}

/* Jobs of one pool start as if there were no other pool. */
static void plans_of_pools_are_independent(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct row row[JOBS];
        double start_s[JOBS];
        struct rng rng;
        int at_s = 0, waits = 0;
        rng_init(&rng, seed, "pools", 0);
        for (uint32_t i = 0; i < JOBS; i++) {
            if (i > 1 && rng_below(&rng, 3) == 0)
                at_s += (int)rng_below(&rng, 300);
            row[i] = (struct row) { at_s, 1 + (int)rng_below(&rng, 400),
                                    1 + (int)rng_below(&rng, 8),
                                    i < 2 ? (char)('a' + i) : (char)('a' + rng_below(&rng, 2)) };
        }
        run_pools(row, "ab");
        for (uint32_t i = 0; i < JOBS; i++) {
            char name[16];
            snprintf(name, sizeof name, "j%u", i);
            start_s[i] = hand_cell(&program, "jobs.csv", "conservative", name, "start_s");
            waits += start_s[i] > row[i].submit_s;
        }
        assert_true(waits > 20);
        for (const char *pool = "ab"; *pool != 0; pool++) {
            char one[2] = { *pool, 0 };
            run_pools(row, one);
            for (uint32_t i = 0; i < JOBS; i++) {
                char name[16];
                snprintf(name, sizeof name, "j%u", i);
                if (row[i].pool == *pool)
                    hand_near(hand_cell(&program, "jobs.csv", "conservative", name, "start_s"),
                              start_s[i]);
            }
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_promise_counts_the_pool_of_the_head),
        cmocka_unit_test(a_promise_is_of_the_type_that_is_free_first),
        cmocka_unit_test(a_promise_may_be_of_all_cores),
        cmocka_unit_test(a_promise_counts_parts_of_a_gpu),
        cmocka_unit_test(a_promise_keeps_cores_against_jobs_with_gpus),
        cmocka_unit_test(cores_of_a_node_that_is_down_are_not_promised),
        cmocka_unit_test(a_promise_counts_the_types_of_a_role),
        cmocka_unit_test(each_part_of_a_cluster_has_a_plan),
        cmocka_unit_test(plans_of_pools_are_independent),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
