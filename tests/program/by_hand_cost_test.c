/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_hand_cost_test.c - what jobs of known length cost, draw and wait for on one or two
 * nodes, worked out by hand, from what the manual says.  The working stands above each
 * test, and no law of the product is called.
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

#include "tests/aid/by_hand.h"
#include "tests/aid/program.h"

static struct program program;

static double of(const char *column)
{
    return hand_cell(&program, "summary.csv", "p", NULL, column);
}

static double job(const char *name, const char *column)
{
    return hand_cell(&program, "jobs.csv", "p", name, column);
}

static double then(const char *time_s)
{
    return hand_cell(&program, "timeline.csv", "p", time_s, "cost_usd_per_h");
}

/* Runs jobs (rows of job, submission, duration, GPUs, tenant) on one node of eight
 * A100-80 under a policy, an entry with more keys.  top: lines of the experiment; node:
 * more keys of the node; cluster: lines with an indent of two. */
static void run(const char *top, const char *node, const char *cluster, const char *trace,
                const char *policy, const char *jobs)
{
    char yaml[1500], csv[400];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\n%scluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB%s}\n%s"
             "workload:\n  trace: {file: jobs.csv, format: csv%s,\n"
             "    columns: {job: job, submit: t, duration: d, gpus: g, tenant: who}}\n"
             "policies: [{name: p, policy: %s}]\noutput: {plots: [], timeline_step: 10s}\n",
             top, node, cluster, trace, policy);
    snprintf(csv, sizeof csv, "job,t,d,g,who\n%s", jobs);
    hand_run(&program, yaml, csv);
}

/* A GPU draws 63 to 400 W, a socket at rest 68 W, the rest of a node 181.5 W for each GPU
 * and 60 W for each socket: 1708 W beside the GPUs.  Half an hour with 8 GPUs at work and
 * half an hour with 6, with PUE 1.2.  The grid has 400 and 100 g/kWh in turns of a
 * quarter of an hour.  At 16 USD/h the two tenants held 4 and 3 of 8 GPUs, as a mean. */
static void energy_carbon_and_money_of_tenants(void **state)
{
    double first = 8 * 400 + 1708, second = 6 * 400 + 2 * 63 + 1708;

    (void)state;
    run("", ", price: 16USD/h",
        "  pue: 1.2\n  carbon: {unit: gCO2/kWh, points: [[0h, 400], [15min, 100]],\n"
        "    repeat: 30min}\n", "", "fcfs",
        "a,0,3600,4,x\nb,0,1800,4,y\nc,1800,1800,2,y\n");
    hand_near(of("energy_kwh"), (first + second) / 2 * 1.2 / 1000);
    hand_near(of("carbon_kg"), (first + second) / 2 * 1.2 / 1000 * 0.25);
    hand_near(of("cost_usd"), 16);
    hand_near(of("held_cost_usd"), 14);
    hand_near(of("cost_free_usd"), 2);
    hand_near(hand_cell(&program, "tenants.csv", "p", "x", "cost_usd"), 8);
    hand_near(hand_cell(&program, "tenants.csv", "p", "y", "cost_usd"), 6);
    hand_near(of("tenant_share_jain"), 49.0 / (2 * (16 + 9)));
}

/* All GPUs are held from 0 to 1200 s, by four jobs in turn, at 10 USD/h: nothing is free, and
 * 4.4e-16 USD were left of sums that are rounded differently. */
static void what_is_never_free_costs_nothing_free(void **state)
{
    (void)state;
    run("", ", price: 10USD/h", "", "", "fcfs",
        "a,0,100,8,x\nb,0,100,8,x\nc,0,300,8,x\nd,0,700,8,x\n");
    hand_near(of("held_cost_usd"), 10 / 3.0);
    assert_true(of("cost_free_usd") == 0);
}

/* Owned, with energy at a price per kWh; beside it a node whose price covers its energy. */
static double cost_with_energy_at(const char *price)
{
    char yaml[900];

    snprintf(yaml, sizeof yaml,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, pool: x, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 16USD/h}\n"
             "    - {name: b, pool: x, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: owned}\n"
             "  pue: 1\n  electricity: %s\nworkload:\n  trace: {file: jobs.csv, format: csv,\n"
             "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
             "policies: [{name: p, policy: fcfs}]\noutput: {plots: []}\n", price);
    hand_run(&program, yaml, "job,t,d,g\na,0,3600,16\n");
    return of("cost_usd");
}

/* One job has both nodes for 1 h.  The energy of b alone is paid for: 8 GPUs at 400 W and
 * the 1708 W beside them, which cost 0.5 USD more per kWh. */
static void energy_of_a_gang_is_that_of_each_of_its_nodes(void **state)
{
    (void)state;
    hand_near(cost_with_energy_at("0.75USD/kWh") - cost_with_energy_at("0.25USD/kWh"),
              (8 * 400 + 1708) / 1000.0 * 0.5);
}

/* Paid for while held: 1 h and half an hour of 2 h. */
static void a_node_billed_while_held_is_paid_whole(void **state)
{
    (void)state;
    run("", ", price: 16USD/h, billing: held", "", "", "fcfs",
        "a,0,3600,4,x\nb,5400,1800,4,y\n");
    hand_near(of("cost_usd"), 24);
    hand_near(of("cost_free_usd"), 12);
    hand_near(then("3500") - 16 + 1, 1);
    hand_near(then("4000") + 1, 1);
}

/* The clock of the file: the jobs run from 3600 to 4800 s.  Until 4200 s the node costs
 * 20 USD/h, then 40; until 3600 s 10, which nobody pays.  By the clock of the jobs all
 * of it costs 10. */
static void a_price_over_time_is_that_of_its_clock(void **state)
{
    static const char node[] = ", price: {unit: USD/h, after: hold,\n"
                               "       points: [[0h, 10], [1h, 20], [70min, 40]]}";
    static const char jobs[] = "a,3600,600,8,x\nb,3900,600,8,x\n";

    (void)state;
    run("", node, "", ", origin: file", "fcfs", jobs);
    hand_near(of("cost_usd"), (20 + 40) / 6.0);
    hand_near(job("b", "cost_usd"), 40 / 6.0);
    hand_near(of("makespan_s"), 1200);
    hand_near(then("3600"), 20);
    hand_near(then("4190"), 20);
    hand_near(then("4200"), 40);
    run("", node, "", "", "fcfs", jobs);
    hand_near(of("cost_usd"), 20 / 6.0);
    hand_near(then("1190"), 10);
}

/* A node is paid for while it is held, for 1000 s and for 500 s: 10 USD/h until 600 s, then
 * 40.  That is 600 s at 10, and 400 + 500 s at 40. */
static void a_node_billed_while_held_has_the_price_of_then(void **state)
{
    (void)state;
    run("", ", billing: held,\n       price: {unit: USD/h, after: hold, points: [[0s, 10], "
            "[600s, 40]]}", "", "", "fcfs", "a,0,1000,4,x\nb,2000,500,8,y\n");
    hand_near(of("cost_usd"), (600 * 10 + 900 * 40) / 3600.0);
    hand_near(of("held_cost_usd"), (600 * 5 + 400 * 20 + 500 * 40) / 3600.0);
    hand_near(then("590"), 10);
    hand_near(then("600"), 40);
    hand_near(then("1000") + 1, 1);
    hand_near(then("2490"), 40);
}

/* A rented node of two is paid for from 0 to 900 s, idle for 10 min, and from 901 s on to
 * the end at 1201 s. */
static void the_timeline_has_what_is_rented(void **state)
{
    (void)state;
    run("", ", price: 10USD/h,\n       rent: {start: 4min, keep: 10min, billing: hour}", "",
        "", "fcfs", "a,0,60,8,x\nb,901,60,8,x\n");
    hand_near(then("0"), 10);
    hand_near(then("890"), 10);
    hand_near(then("900"), 9);
    hand_near(then("1200"), 10);
    hand_near(of("cost_usd"), 20);      /* two hours are billed */
}

/* At 2 h node b is the cheaper one.  At 0 h it is a. */
static void gavel_looks_at_the_prices_of_now(void **state)
{
    (void)state;
    hand_run(&program,
             "experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
             "    - {name: a, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB,\n"
             "       price: {unit: USD/h, points: [[0h, 10], [1h, 40]], after: hold}}\n"
             "    - {name: b, count: 1, gpus: {type: a100-80, count: 8},\n"
             "       cpu: {type: epyc-7742, sockets: 2}, memory: 1TB,\n"
             "       price: {unit: USD/h, points: [[0h, 20], [1h, 5]], after: hold}}\n"
             "workload:\n  trace: {file: jobs.csv, format: csv, rates: {a: 1, b: 1},\n"
             "    columns: {job: job, submit: t, duration: d, gpus: g}}\n"
             "policies: [{policy: gavel, name: p, objective: cost}]\noutput: {plots: []}\n",
             "job,t,d,g\na,0,600,8\nb,7200,600,8\n");
    hand_near(job("a", "cost_usd"), 10 / 6.0);
    hand_near(job("b", "cost_usd"), 5 / 6.0);
}

/* Shortest time left first, 30 s to restart.  b stops a at 100 s, c stops b at 150 s and
 * ends at 170 s; b restarts and ends at 250 s, a with its last 500 s at 780 s. */
static void a_stopped_job_pays_its_restart(void **state)
{
    (void)state;
    run("", ", price: 10USD/h", "", "", "srtf, preemption: {cost: 30s}",
        "a,0,600,8,x\nb,100,100,8,x\nc,150,20,8,x\n");
    hand_near(job("c", "end_s"), 170);
    hand_near(job("b", "end_s"), 250);
    hand_near(job("a", "end_s"), 780);
    hand_near(of("cost_switch_usd"), 2 * 30 * 10 / 3600.0);
    hand_near(of("gpu_busy_fraction"), 720.0 / 780);
    /* Turns of 60 s, of which 7 go to the restart: after its first turn a job needs 1140
     * s of work, 21 turns of 53 s and one of 27 s. */
    run("", ", price: 10USD/h", "", "", "time-slice, quantum: 60s, preemption: {cost: 7s}",
        "a,0,1200,8,x\nb,0,1200,8,x\n");
    hand_near(job("a", "end_s"), 22 * 120 + 34);
    hand_near(job("b", "end_s"), 22 * 120 + 34 + 34);
}

/* Shortest first until 1000 s: a, d and c are done after 100, 80 and 190 s, b came at
 * 50 s and is not.  Of the three that are, the median is 100 s, and 95% are not above
 * 190 s. */
static void a_job_that_is_not_done_counts_up_to_the_end(void **state)
{
    (void)state;
    run("until: 1000s\n", ", price: 10USD/h", "", "", "sjf",
        "a,0,100,8,x\nb,50,2000,8,x\nc,60,100,8,x\nd,70,50,8,x\n");
    hand_near(of("jct_mean_s"), (100 + 80 + 190) / 3.0);
    hand_near(of("jct_p50_s"), 100);
    hand_near(of("jct_p95_s"), 190);
    hand_near(of("jct_restricted_mean_s"), (100 + 80 + 190 + 950) / 4.0);
    hand_near(of("cost_to_last_end_usd"), 250 * 10 / 3600.0);
    hand_near(of("cost_usd"), 1000 * 10 / 3600.0);
}

/* 09:00 in a zone of +8 h is 01:00 UTC: the four come after 0, 50, 120 and 300.5 s. */
static void dates_with_zones_are_one_clock(void **state)
{
    (void)state;
    run("", ", price: 10USD/h", "", "", "fcfs",
        "a,2026-01-05T09:00+08:00,100,8,x\nb,2026-01-05T01:00:50Z,100,8,x\n"
        "c,2026-01-05 01:02:00,100,8,x\nd,2026-01-05T03:05:00.5+0200,1.5,8,x\n");
    hand_near(job("b", "submit_s"), 50);
    hand_near(job("c", "wait_s"), 80);
    hand_near(job("d", "end_s"), 302);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_carbon_and_money_of_tenants),
        cmocka_unit_test(what_is_never_free_costs_nothing_free),
        cmocka_unit_test(energy_of_a_gang_is_that_of_each_of_its_nodes),
        cmocka_unit_test(a_node_billed_while_held_is_paid_whole),
        cmocka_unit_test(a_node_billed_while_held_has_the_price_of_then),
        cmocka_unit_test(a_price_over_time_is_that_of_its_clock),
        cmocka_unit_test(the_timeline_has_what_is_rented),
        cmocka_unit_test(gavel_looks_at_the_prices_of_now),
        cmocka_unit_test(a_stopped_job_pays_its_restart),
        cmocka_unit_test(a_job_that_is_not_done_counts_up_to_the_end),
        cmocka_unit_test(dates_with_zones_are_one_clock),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
