/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue_schedule_test.c - schedules of policies that look at tenants and at budgets of waiting, in
 * worlds that a seed draws, beside an oracle that knows their descriptions alone.  Jobs of drf are
 * pods.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/world.h"
#include "tests/published/plain_queues.h"
#include "tests/published/schedule.h"

#define WORLDS 600
#define JUDGED 100              /* of each policy, at least */

static const char *const kind_name[KINDS] = { "fair-share", "drf", "quota", "starburst" };
static const char *const tenant_name[TENANTS] = { "a", "b", "c", "" };
static const char *const wait_name[] = { "none", "constant", "runtime", "compute", "infinite" };


/* ---- worlds ---- */

static double draw_s(struct rng *rng, uint32_t from_s, uint32_t to_s)
{
    return 0.001 * (double)(1000u * from_s + rng_below(rng, 1000u * (to_s - from_s)));
}

/* A job that some pool can hold. */
static void draw_job(struct rng *rng, const struct plain *p, struct job *job)
{
    double most[RESOURCES];
    uint32_t fits = (uint32_t)rng_below(rng, p->pools);

    for (uint32_t what = 0; what < RESOURCES; what++) {
        most[what] = p->kind == DRF || what == GPUS ? p->has[fits][what] : 0;
        job->asks[what] = most[what] > 0 ? 1 + (double)rng_below(rng, (uint64_t)most[what]) : 0;
    }
    for (uint32_t what = CORES; what < RESOURCES; what++)
        job->asks[what] = ceil(job->asks[what] / 2);
    job->types = rng_below(rng, 2) > 0 ? 0 : (uint32_t)rng_below(rng, 8) | 1u << fits;
    job->types &= (1u << p->pools) - 1;
    job->length_s = job->left_s = draw_s(rng, 20, rng_below(rng, 2) > 0 ? 300 : 2000);
    job->tenant = (uint32_t)rng_below(rng, TENANTS);
    job->priority = (uint32_t)rng_below(rng, 3);
    job->ready_s = job->submit_s;
    job->pool = NOWHERE;
    job->start_s = job->end_s = -1;
}

static void draw_world(struct rng *rng, struct plain *p)
{
    double at_s = 0;

    *p = (struct plain) { .kind = (enum kind)rng_below(rng, KINDS), .alarm_s = INFINITY };
    p->pools = (p->kind == STARBURST ? 2 : 1) + (uint32_t)rng_below(rng, 2);
    p->cloud = (uint32_t)rng_below(rng, p->pools);
    for (uint32_t pool = 0; pool < p->pools; pool++) {
        p->has[pool][GPUS] = 1 + (double)rng_below(rng, 5);
        p->has[pool][CORES] = 4 + (double)rng_below(rng, 36);
        p->has[pool][MEMORY] = 16 + (double)rng_below(rng, 180);
    }
    p->jobs = 4 + (uint32_t)rng_below(rng, JOBS - 3);
    for (uint32_t j = 0; j < p->jobs; j++) {
        p->job[j].submit_s = at_s += draw_s(rng, 1, rng_below(rng, 3) > 0 ? 9 : 600);
        draw_job(rng, p, &p->job[j]);
    }
    for (uint32_t t = 0; t < TENANTS - 1; t++) {
        p->job[t].tenant = t;           /* quotas may name no tenant that has no job */
        p->quota[t] = 0.5 * (double)rng_below(rng, 8);
    }
    p->skips = rng_below(rng, 2) > 0;
    p->reclaims = rng_below(rng, 4) > 0;
    p->wait = (enum wait)rng_below(rng, 5);
    p->budget_s = draw_s(rng, 1, 900);
    p->factor = 0.25 * (double)(1 + rng_below(rng, 5));
    p->stop_s = p->reclaims ? (double)(13 * rng_below(rng, 3)) : 0;
    p->restart_s = draw_s(rng, 0, 60);
    p->outages = rng_below(rng, 2) > 0 ? (uint32_t)rng_below(rng, OUTAGES + 1) : 0;
    at_s = 0;
    for (uint32_t o = 0; o < p->outages; o++) {
        p->down_s[2 * o] = at_s += draw_s(rng, 20, 1500);
        p->down_s[2 * o + 1] = at_s += draw_s(rng, 1, 300);
    }
}

static void write_files(const struct world *world, const struct plain *p)
{
    char jobs[1200], faults[600];
    int a = sprintf(jobs, "job,submit,duration,gpus,types,cores,mem,tenant,priority\n");
    int b = sprintf(faults, "series,time_s,value\n");

    for (uint32_t j = 0; j < p->jobs; j++) {
        const struct job *job = &p->job[j];
        a += sprintf(jobs + a, "%u,%.3f,%.3f,%g,", j, job->submit_s, job->length_s,
                     job->asks[GPUS]);
        for (uint32_t pool = 0, n = 0; pool < p->pools; pool++)
            if (job->types >> pool & 1u)
                a += sprintf(jobs + a, "%sM%u", n++ > 0 ? "|" : "", pool);
        a += sprintf(jobs + a, ",%g,%g,%s,%u\n", job->asks[CORES], 1024 * job->asks[MEMORY],
                     tenant_name[job->tenant], job->priority);
    }
    for (uint32_t o = 0; o < 2 * p->outages * p->pools; o++)
        b += sprintf(faults + b, "s%u,%.3f,%u\n", o / (2 * p->outages),
                     p->down_s[o % (2 * p->outages)], 1 - o % 2);
    world_write(world, "jobs.csv", jobs);
    world_write(world, "faults.csv", faults);
}

static void write_cluster(const struct plain *p, char *text)
{
    text += sprintf(text, "nodes: [");
    for (uint32_t pool = 0; pool < p->pools; pool++) {
        text += sprintf(text, "%s{name: p%u, count: 1, gpus: {type: generic, model: M%u, count: "
                        "%g}", pool > 0 ? ", " : "", pool, pool, p->has[pool][GPUS]);
        if (p->kind == DRF)
            text += sprintf(text, ", cores: %g, memory: %gGiB", p->has[pool][CORES],
                            p->has[pool][MEMORY]);
        text += sprintf(text, "}");
    }
    text += sprintf(text, "]");
    if (p->outages > 0)
        sprintf(text, ", failures: {trace: {file: faults.csv, servers: %u}, restart: %.3fs}",
                p->pools, p->restart_s);
}

static void write_policy(const struct plain *p, char *text)
{
    text += sprintf(text, "policy: %s, placement: count", kind_name[p->kind]);
    if (p->kind != QUOTA)
        text += sprintf(text, ", blocking: %s", p->skips ? "skip" : "strict");
    if (p->kind == QUOTA)
        text += sprintf(text, ", reclaim: %s, quotas: \"a=%g b=%g c=%g\"",
                        p->reclaims ? "true" : "false", p->quota[0], p->quota[1], p->quota[2]);
    if (p->kind == QUOTA && p->stop_s > 0)
        text += sprintf(text, ", preemption: {cost: %gs}", p->stop_s);
    if (p->kind == STARBURST)
        text += sprintf(text, ", cloud: p%u, wait: %s", p->cloud, wait_name[p->wait]);
    if (p->kind == STARBURST && p->wait == CONSTANT)
        text += sprintf(text, ", budget: %.3fs", p->budget_s);
    if (p->kind == STARBURST && (p->wait == RUNTIME || p->wait == COMPUTE))
        sprintf(text, ", factor: %g", p->factor);
}

static void run_product(const struct plain *p, struct world_job *job)
{
    struct world world = { 0 };
    char text[2500], cluster[800], policy[300];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    write_files(&world, p);
    write_cluster(p, cluster);
    write_policy(p, policy);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {%s}\nworkload: {trace: {file: "
             "jobs.csv, format: csv, origin: file, columns: {job: job, submit: submit, duration: "
             "duration, gpus: gpus, gpu_types: types, tenant: tenant, priority: priority%s}}}\n"
             "policies: [{%s}]\n", cluster, p->kind == DRF ? ", cores: cores, memory_mib: mem" : "",
             policy);
    schedule_run(&world, text, "faults.csv", job);
}

static void jobs_start_and_end_as_described(void **state)
{
    struct world_job job[JOBS];
    struct plain p;
    struct rng rng;
    int judged[KINDS] = { 0 };

    (void)state;
    rng_init(&rng, 3, "queues", 0);
    for (int w = 0; w < WORLDS; w++) {
        draw_world(&rng, &p);
        run_product(&p, job);
        run_plain(&p);
        judged[p.kind]++;
        for (uint32_t j = 0; j < p.jobs; j++)
            schedule_check(w, kind_name[p.kind], j, &job[j], p.job[j].start_s, p.job[j].end_s);
    }
    for (int k = 0; k < KINDS; k++)
        assert_true(judged[k] >= JUDGED);
}

/* ---- by hand ---- */

static struct job job_of(double submit_s, double length_s, double gpus, uint32_t tenant)
{
    return (struct job) { .submit_s = submit_s, .length_s = length_s, .asks = { gpus },
                          .tenant = tenant };
}

/* b's job has had 100 GPU-seconds when its node fails at 100 s, and a's none: a's is first when
 * the node is back at 200 s. */
static void what_a_job_lost_was_used(void **state)
{
    struct plain p = { .kind = FAIR_SHARE, .pools = 1, .has = { { 1 } }, .jobs = 2,
                       .outages = 1, .down_s = { 100, 200 } };
    struct world_job job[2];

    (void)state;
    p.job[0] = job_of(0, 500, 1, 1);
    p.job[1] = job_of(5, 300, 1, 0);
    run_product(&p, job);
    assert_true(job[1].start_s == 200 && job[1].end_s == 500 && job[0].end_s == 1000);
}

/* Of a's gang of four three GPUs are borrowed, and b asks for its own four. */
static void a_gang_that_is_borrowed_in_part_is_stopped(void **state)
{
    struct plain p = { .kind = QUOTA, .pools = 1, .has = { { 4 } }, .jobs = 3,
                       .reclaims = true, .quota = { 1, 4, 0 } };
    struct world_job job[3];

    (void)state;
    p.job[0] = job_of(0, 500, 4, 0);
    p.job[1] = job_of(10, 300, 4, 1);
    p.job[2] = job_of(20, 100, 4, 2);           /* quotas name c */
    run_product(&p, job);
    assert_true(job[1].start_s == 10 && job[1].end_s == 310 && job[0].end_s == 800);
}

/* Of 8 GPUs and 40 cores a holds a pod of 4 and 10, half of the GPUs; b one of 1 and 24, six tenths
 * of the cores.  At 100 s three GPUs are free, for a, though b has waited for longer. */
static void a_pod_has_its_cores_once(void **state)
{
    static const double cores[] = { 10, 24, 2, 1, 1 };
    struct plain p = { .kind = DRF, .pools = 1, .has = { { 8, 40, 400 } }, .jobs = 5 };
    struct world_job job[5];

    (void)state;
    p.job[0] = job_of(0, 1000, 4, 0);
    p.job[1] = job_of(1, 1000, 1, 1);
    p.job[2] = job_of(2, 98, 3, 2);
    p.job[3] = job_of(20, 100, 3, 1);
    p.job[4] = job_of(30, 100, 3, 0);
    for (uint32_t j = 0; j < 5; j++) {
        p.job[j].asks[CORES] = cores[j];
        p.job[j].asks[MEMORY] = 1;
    }
    run_product(&p, job);
    assert_true(job[4].start_s == 100 && job[3].start_s == 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_job_lost_was_used),
        cmocka_unit_test(a_gang_that_is_borrowed_in_part_is_stopped),
        cmocka_unit_test(a_pod_has_its_cores_once),
        cmocka_unit_test(jobs_start_and_end_as_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
