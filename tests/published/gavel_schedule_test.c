/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gavel_schedule_test.c - when jobs start and end under Gavel, in worlds that a seed draws, beside
 * an oracle that knows the paper alone.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/world.h"
#include "tests/published/schedule.h"
#include "tests/oracles/plain_gavel_rounds.h"

#define WORLDS 400
#define JUDGED 200              /* where no tie leaves the answer open */

static double draw_thousandths(struct rng *rng, uint64_t from, uint64_t to)
{
    return 0.001 * (double)(from + rng_below(rng, to - from));
}

/* Two in five pairs gain something over turns. */
static void draw_pairs(struct rng *rng, struct gavel *g)
{
    for (uint32_t a = 0; a < g->jobs; a++)
        for (uint32_t b = 0; b < g->jobs; b++)
            for (uint32_t p = 0; p < g->pools; p++)
                g->job[a].beside[b][p] =
                    floor(1000 * g->job[a].speed[p] * draw_thousandths(rng, 200, 800)) * 0.001;
}

static void draw_world(struct rng *rng, struct gavel *g)
{
    double most = 0;

    memset(g, 0, sizeof *g);
    g->objective = (enum objective)rng_below(rng, 4);
    g->packing = rng_below(rng, 3) == 0;
    g->every_s = rng_below(rng, 3) == 0 ? 5 * ROUND_S : 0;
    g->jobs = 2 + (uint32_t)rng_below(rng, JOBS - 1);
    g->pools = 1 + (uint32_t)rng_below(rng, POOLS);
    for (uint32_t p = 0; p < g->pools; p++) {
        g->cap[p] = 1 + (double)rng_below(rng, 4);
        g->usd[p] = draw_thousandths(rng, 500, 9000);
        most = fmax(most, g->cap[p]);
    }
    for (uint32_t j = 0; j < g->jobs; j++) {
        struct job *job = &g->job[j];
        job->submit_s = j == 0 ? 7 : g->job[j - 1].submit_s + 10 * (double)rng_below(rng, 40);
        job->left_s = 50 + (double)rng_below(rng, 1500);
        job->gpus = 1 + (double)rng_below(rng, (uint64_t)fmin(most, 3));
        job->start_s = job->end_s = -1;
        for (uint32_t p = 0; p < g->pools; p++)
            job->speed[p] = p == 0 ? 1 : draw_thousandths(rng, 100, 3000);
    }
    draw_pairs(rng, g);
}

static void write_files(const struct world *world, const struct gavel *g)
{
    char jobs[1000], rates[16000];
    int a = 0, b = 0;

    for (uint32_t j = 0; j < g->jobs; j++)
        a += sprintf(jobs + a, "k%u\tc\t-n\t1\t%.0f\t%.1f\t%g\n", j, g->job[j].left_s,
                     g->job[j].submit_s, g->job[j].gpus);
    for (uint32_t p = 0; p < g->pools; p++) {
        b += sprintf(rates + b, "%s\"p%u\": {", p == 0 ? "{" : ", ", p);
        for (uint32_t j = 0; j < g->jobs; j++) {
            b += sprintf(rates + b, "%s\"('k%u', %g)\": {\"null\": %.3f", j == 0 ? "" : ", ", j,
                         g->job[j].gpus, g->job[j].speed[p]);
            for (uint32_t k = 0; k < g->jobs; k++)
                b += sprintf(rates + b, ", \"('k%u', %g)\": [%.3f, %.3f]", k, g->job[k].gpus,
                             g->job[j].beside[k][p], g->job[k].beside[j][p]);
            b += sprintf(rates + b, "}");
        }
        b += sprintf(rates + b, "}");
    }
    sprintf(rates + b, "}");
    world_write(world, "jobs.csv", jobs);
    world_write(world, "rates.json", rates);
}

static const char *const objective[] = { "max-min", "makespan", "finish-time", "cost" };

static void run_product(const struct gavel *g, struct world_job *job)
{
    struct world world = { 0 };
    char nodes[400], rounds[120], text[3000];
    int c = 0;

    for (uint32_t p = 0; p < g->pools; p++)
        c += sprintf(nodes + c, "%s{name: p%u, count: 1, gpus: {type: generic, count: %g}, "
                     "price: %.3fUSD/h}", p == 0 ? "" : ", ", p, g->cap[p],
                     g->usd[p] * g->cap[p]);
    if (g->every_s > 0)
        sprintf(rounds, "rounds: {length: %ds, resolve_at_most_every: %gs}", ROUND_S, g->every_s);
    else
        sprintf(rounds, "round: %ds", ROUND_S);
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    write_files(&world, g);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [%s]}\nworkload: {trace: "
             "{file: jobs.csv, format: gavel, lengths: rates.json, gpu_type: p0, rates: lengths, "
             "origin: file}}\npolicies: [{policy: gavel, objective: %s, placement: count, packing: "
             "%s, %s}]\n", nodes, objective[g->objective], g->packing ? "true" : "false", rounds);
    schedule_run(&world, text, "rates.json", job);
}

static void jobs_start_and_end_as_by_the_paper(void **state)
{
    struct world_job job[JOBS];
    struct gavel g;
    struct rng rng;
    int judged = 0;

    (void)state;
    rng_init(&rng, 11, "gavel", 0);
    for (int w = 0; w < WORLDS; w++) {
        draw_world(&rng, &g);
        run_product(&g, job);
        run_plain(&g);
        judged += !g.tied;
        for (uint32_t j = 0; !g.tied && j < g.jobs; j++)
            schedule_check(w, objective[g.objective], j, &job[j], g.job[j].start_s, g.job[j].end_s);
    }
    assert_true(judged >= JUDGED);
}

/* A job that fails within a round waits for the next, and starts again in the pool where it was:
 * each has all of its time in the end. */
static void jobs_that_fail_start_again(void **state)
{
    struct world_job job[8], out[8];
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    for (uint32_t j = 0; j < 8; j++)
        job[j] = (struct world_job) { .submit_s = 50 * j, .duration_s = 1200, .gpus = 1 };
    if (!world_trace_on(&world, "nodes: [{name: n, count: 1, gpus: {type: generic, count: 3}}], "
                        "failures: {job_mtbf: 10min, restart: 7s}", job, 8,
                        "[{policy: gavel, round: 60s}]", 1) ||
        !world_run(&world, 0, NULL, out, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] == 8);
    for (uint32_t j = 0; j < 8; j++)
        assert_true(out[j].end_s >= out[j].start_s + 1200);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_start_and_end_as_by_the_paper),
        cmocka_unit_test(jobs_that_fail_start_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
