/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shares_test.c - over many rounds jobs have the rates that Gavel's program promises them, as an
 * oracle solves it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/world.h"
#include "tests/oracles/plain_gavel.h"

#define ROUNDS 600
#define ROUND_S 10
#define WORLDS 150

/* One test, one thread: rounds of each job in each pool, as the watched policy gave them. */
static struct {
    const struct cs_policy *policy;
    uint32_t rounds[GAVEL_JOBS][GAVEL_POOLS], count;
} watched;

static void decide_and_count(void *self, struct cs_host *host)
{
    watched.policy->decide(self, host);
    if (cs_now_ns(host) % (ROUND_S * INT64_C(1000000000)) != 0 || watched.count == ROUNDS)
        return;
    watched.count++;
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        struct lease_id id = cs_lease_at(host, i);
        uint32_t pools = cs_lease_pools(host, id), pool = 0;
        while (pools >> pool != 1)
            pool++;
        watched.rounds[cs_lease(host, id)->job.i][pool]++;
    }
}

/* All jobs have one GPU, or all have two, so that no GPU is left over. */
static void draw_world(struct rng *rng, struct plain_gavel *g)
{
    double gang = 1 + (double)rng_below(rng, 2);

    memset(g, 0, sizeof *g);
    g->objective = (enum plain_objective)rng_below(rng, 3);
    g->jobs = 1 + (uint32_t)rng_below(rng, GAVEL_JOBS);
    g->pools = 1 + (uint32_t)rng_below(rng, GAVEL_POOLS);
    for (uint32_t p = 0; p < g->pools; p++)
        g->cap[p] = gang * (1 + (double)rng_below(rng, 3));
    for (uint32_t j = 0; j < g->jobs; j++) {
        g->gpus[j] = gang;
        g->left_s[j] = 100000 + (double)rng_below(rng, 200000);
        for (uint32_t p = 0; p < g->pools; p++)
            g->speed[j][p] = p == 0 ? 1 : 0.001 * (double)(100 + rng_below(rng, 3000));
    }
}

/* Jobs and rates as files of Gavel; each pool has one node. */
static void write_world(struct world *world, const struct plain_gavel *g)
{
    static const char *const objective[] = { "max-min", "makespan", "finish-time" };
    char jobs[1000], rates[2000], nodes[1000], text[3000];
    int a = 0, b = 0, c = 0;

    for (uint32_t j = 0; j < g->jobs; j++)
        a += sprintf(jobs + a, "k%u\tc\t-n\t1\t%.0f\t0.0\t%g\n", j, g->left_s[j], g->gpus[j]);
    for (uint32_t p = 0; p < g->pools; p++) {
        b += sprintf(rates + b, "%s\"p%u\": {", p == 0 ? "{" : ", ", p);
        for (uint32_t j = 0; j < g->jobs; j++)
            b += sprintf(rates + b, "%s\"('k%u', %g)\": {\"null\": %.3f}", j == 0 ? "" : ", ", j,
                         g->gpus[j], g->speed[j][p]);
        b += sprintf(rates + b, "}");
        c += sprintf(nodes + c, "%s{name: p%u, count: 1, gpus: {type: generic, count: %g}}",
                     p == 0 ? "" : ", ", p, g->cap[p]);
    }
    sprintf(rates + b, "}");
    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    world_write(world, "jobs.csv", jobs);
    world_write(world, "rates.json", rates);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: %ds\ncluster: {nodes: [%s]}\nworkload: {trace: "
             "{file: jobs.csv, format: gavel, lengths: rates.json, gpu_type: p0, rates: "
             "lengths}}\npolicies: [{policy: gavel, objective: %s, round: %ds}]\n",
             ROUNDS * ROUND_S, nodes, objective[g->objective], ROUND_S);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static void run_watched(const struct plain_gavel *g)
{
    struct world world = { 0 };
    struct cs_policy policy;
    struct host_policy entry;
    char path[128];

    write_world(&world, g);
    entry = *experiment_trial_spec(world.experiment, 0).policy;
    policy = *entry.policy;
    memset(&watched, 0, sizeof watched);
    watched.policy = entry.policy;
    policy.decide = decide_and_count;
    entry.policy = &policy;
    if (!world_run(&world, 0, &entry, NULL, NULL))
        fail_msg("%s", world_error(&world));
    assert_int_equal(watched.count, ROUNDS);
    snprintf(path, sizeof path, "%s/rates.json", world.folder);
    unlink(path);
    world_close(&world);
}

/* What is dealt in 600 rounds is off by a few of them. */
static void gavel_gives_the_rates_that_its_program_promises(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 5, "shares", 0);
    for (int i = 0; i < WORLDS; i++) {
        struct plain_gavel g;
        double best, most, least = INFINITY, sum = 0;
        draw_world(&rng, &g);
        run_watched(&g);
        plain_gavel_solve(&g, &best, &most);
        for (uint32_t j = 0; j < g.jobs; j++) {
            double rate = 0;
            for (uint32_t p = 0; p < g.pools; p++)
                rate += g.speed[j][p] * watched.rounds[j][p] / ROUNDS;
            least = fmin(least, rate / plain_gavel_need(&g, j));
            sum += rate / plain_gavel_equal(&g, j);
        }
        if (least < 0.99 * best || sum < 0.99 * most || least > 1.01 * best)
            fail_msg("world %d, objective %d, %u jobs, %u pools: least %g of %g, sum %g of %g",
                     i, (int)g.objective, g.jobs, g.pools, least, best, sum, most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gavel_gives_the_rates_that_its_program_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
