/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * preemptive_schedule_test.c - when jobs start and end under policies that deal all GPUs anew by
 * a key, in worlds that a seed draws, beside an oracle that knows their descriptions alone.
 *
 * srtf, srsf, fewest-gpus, las, dlas and gittins are those of Tiresias (Gu et al., NSDI 2019);
 * dlas as Tiresias-L, by GPU-time or time, with promotion.  All GPUs are on one node, which goes
 * out of service from time to time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/world.h"
#include "tests/published/schedule.h"

#define JOBS 12u
#define OUTAGES 3u
#define NEAR 1e-7               /* seconds, or GPU-seconds, that are the same */

enum kind { SRTF, SRSF, FEWEST, LAS, DLAS, GITTINS, KINDS };

static const char *const kind_name[KINDS] = {
    "srtf", "srsf", "fewest-gpus", "las", "dlas", "gittins"
};

struct job {
    double submit_s, length_s, gpus;
    double left_s, owed_s, had_gpu_s;           /* owed: before it goes on */
    double start_s, end_s;                      /* -1: not yet */
    bool on;
    double before_gpu_s, waited_s, wait_from_s; /* dlas: since it was promoted */
    uint32_t queue;
};

struct plain {
    enum kind kind;
    double now_s, alarm_s;
    double quantum_s, limit_s[2], promotion;    /* the last three are those of dlas */
    bool by_time;
    double gpus, stop_s, restart_s, save_s;     /* save: 0: never */
    uint32_t jobs, came, outages, over;         /* over: outages that have begun or ended, twice */
    double down_s[2 * OUTAGES];                 /* begins and ends */
    struct job job[JOBS];
    uint32_t order[JOBS], count;                /* jobs that have not ended */
    double ended_gpu_s[JOBS];                   /* of jobs that have ended */
    uint32_t ended;
    bool news, tied;
};

/* ---- time ---- */

static double end_of(const struct plain *p, const struct job *job)
{
    return p->now_s + job->owed_s + job->left_s;
}

static double next_s(const struct plain *p)
{
    double at_s = p->alarm_s;

    if (p->came < p->jobs)
        at_s = fmin(at_s, p->job[p->came].submit_s);
    if (p->over < 2 * p->outages)
        at_s = fmin(at_s, p->down_s[p->over]);
    for (uint32_t k = 0; k < p->count; k++)
        if (p->job[p->order[k]].on)
            at_s = fmin(at_s, end_of(p, &p->job[p->order[k]]));
    return at_s;
}

static void pass_time(struct plain *p, double to_s)
{
    for (uint32_t k = 0; k < p->count; k++) {
        struct job *job = &p->job[p->order[k]];
        double s = to_s - p->now_s, paid_s = fmin(job->owed_s, s);
        if (!job->on)
            continue;
        job->owed_s -= paid_s;
        job->left_s -= s - paid_s;
        job->had_gpu_s += s * job->gpus;
    }
    p->now_s = to_s;
}

static void take_out(struct plain *p, uint32_t at)
{
    for (p->count--; at < p->count; at++)
        p->order[at] = p->order[at + 1];
}

static void end_jobs(struct plain *p)
{
    for (uint32_t k = 0; k < p->count;) {
        struct job *job = &p->job[p->order[k]];
        if (!job->on || job->owed_s > NEAR || job->left_s > NEAR) {
            k++;
            continue;
        }
        job->on = false;
        job->end_s = p->now_s;
        p->ended_gpu_s[p->ended++] = job->had_gpu_s;
        p->news = true;
        take_out(p, k);
    }
}

/* All work since the job saved is lost; that it was stopped, and moved, saves nothing. */
static void lose_node(struct plain *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        struct job *job = &p->job[p->order[k]];
        double done_s = job->length_s - job->left_s;
        if (!job->on)
            continue;
        job->on = false;
        job->owed_s = p->restart_s;
        job->left_s = job->length_s;
        if (p->save_s > 0)
            job->left_s -= floor(done_s / p->save_s + 1e-9) * p->save_s;
    }
}

/* ---- a deal ---- */

/* The best chance to end within some more service over the service that it takes (Gittins 1989),
 * of the jobs that have ended; below 0, so that the highest goes first. */
static double gittins_key(const struct plain *p, double had_gpu_s)
{
    double best = 0;

    for (uint32_t d = 0; d < p->ended; d++) {
        double ends = 0, takes = 0;
        if (p->ended_gpu_s[d] <= had_gpu_s + NEAR)
            continue;
        for (uint32_t k = 0; k < p->ended; k++) {
            if (p->ended_gpu_s[k] <= had_gpu_s + NEAR)
                continue;
            ends += p->ended_gpu_s[k] <= p->ended_gpu_s[d];
            takes += fmin(p->ended_gpu_s[k], p->ended_gpu_s[d]) - had_gpu_s;
        }
        best = fmax(best, ends / takes);
    }
    return best > 0 ? -best : had_gpu_s;
}

static double key_of(const struct plain *p, const struct job *job)
{
    switch (p->kind) {
    case SRTF: return job->left_s + job->owed_s;
    case SRSF: return (job->left_s + job->owed_s) * job->gpus;
    case FEWEST: return job->gpus;
    case LAS: return job->had_gpu_s;
    case DLAS: return job->queue;
    default: return gittins_key(p, job->had_gpu_s);
    }
}

/* By insertion: equal keys keep their order. */
static void sort_order(struct plain *p, const double *key)
{
    for (uint32_t k = 1; k < p->count; k++) {
        uint32_t job = p->order[k], at = k;
        for (; at > 0 && key[p->order[at - 1]] > key[job]; at--)
            p->order[at] = p->order[at - 1];
        p->order[at] = job;
    }
    for (uint32_t k = 1; k < p->count; k++) {
        double more = key[p->order[k]] - key[p->order[k - 1]];
        p->tied |= more > 0 && more < NEAR;
    }
}

static void deal_all(struct plain *p)
{
    double key[JOBS], room = p->over % 2 == 1 ? 0 : p->gpus;
    bool gets[JOBS];

    for (uint32_t j = 0; j < p->jobs; j++)
        key[j] = key_of(p, &p->job[j]);
    sort_order(p, key);
    for (uint32_t k = 0; k < p->count; k++) {
        struct job *job = &p->job[p->order[k]];
        gets[k] = job->gpus <= room;
        room -= gets[k] ? job->gpus : 0;
        if (job->on && !gets[k])
            job->owed_s += p->stop_s;
    }
    for (uint32_t k = 0; k < p->count; k++) {
        struct job *job = &p->job[p->order[k]];
        job->on = gets[k];
        /* Where a restart comes first, a job starts after it. */
        if (gets[k] && job->start_s < 0)
            job->start_s = p->now_s;
    }
}

/* ---- dlas ---- */

static double service_s(const struct job *job)
{
    return job->had_gpu_s - job->before_gpu_s;
}

static double to_limit_s(const struct plain *p, const struct job *job)
{
    double limit = p->limit_s[job->queue] * (p->by_time ? job->gpus : 1);

    return (limit - service_s(job)) / job->gpus;
}

static double to_promotion_s(const struct plain *p, const struct job *job)
{
    if (p->promotion <= 0 || job->queue == 0 || service_s(job) <= NEAR)
        return INFINITY;
    return p->promotion * service_s(job) / job->gpus - job->waited_s -
           (p->now_s - job->wait_from_s);
}

static void put_last(struct plain *p, uint32_t j)
{
    uint32_t at = 0;

    while (p->order[at] != j)
        at++;
    take_out(p, at);
    p->order[p->count++] = j;
}

/* The oldest moves first. */
static void change_queues(struct plain *p)
{
    for (uint32_t j = 0; j < p->came; j++) {
        struct job *job = &p->job[j];
        if (job->end_s >= 0)
            continue;
        if (job->on && job->queue < 2 && to_limit_s(p, job) <= NEAR) {
            job->queue++;
            put_last(p, j);
        } else if (!job->on && to_promotion_s(p, job) <= NEAR) {
            job->queue = 0;
            job->before_gpu_s = job->had_gpu_s;
            job->waited_s = 0;
            job->wait_from_s = p->now_s;
            put_last(p, j);
        }
    }
}

/* Waits that began or ended. */
static void keep_clocks(struct plain *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        struct job *job = &p->job[p->order[k]];
        if (!job->on && job->wait_from_s < 0)
            job->wait_from_s = p->now_s;
        if (!job->on || job->wait_from_s < 0)
            continue;
        if (service_s(job) > 0)
            job->waited_s += p->now_s - job->wait_from_s;
        job->wait_from_s = -1;
    }
}

static void decide_dlas(struct plain *p)
{
    double key[JOBS];

    keep_clocks(p);
    change_queues(p);
    deal_all(p);
    keep_clocks(p);
    for (uint32_t j = 0; j < p->jobs; j++)
        key[j] = 2 * p->job[j].queue + !p->job[j].on;
    sort_order(p, key);
    p->alarm_s = INFINITY;
    for (uint32_t k = 0; k < p->count; k++) {
        const struct job *job = &p->job[p->order[k]];
        double in_s = job->on ? INFINITY : to_promotion_s(p, job);
        if (job->on && job->queue < 2)
            in_s = to_limit_s(p, job);
        if (in_s > NEAR)
            p->alarm_s = fmin(p->alarm_s, p->now_s + in_s);
    }
}

/* ---- las, gittins ---- */

/* A deal is due with jobs that come or end, at a quantum's end, and where a job that waits has
 * room, as after a repair; but only while a job waits.  All jobs may use all GPUs here. */
static void decide_in_quanta(struct plain *p)
{
    double to_s = p->quantum_s * (floor(p->now_s / p->quantum_s + 1e-9) + 1);
    double room = p->over % 2 == 1 ? 0 : p->gpus;
    bool due = p->news || to_s - p->quantum_s > p->now_s - NEAR, waits = false;

    for (uint32_t k = 0; k < p->count; k++)
        room -= p->job[p->order[k]].on ? p->job[p->order[k]].gpus : 0;
    for (uint32_t k = 0; k < p->count; k++) {
        const struct job *job = &p->job[p->order[k]];
        waits |= !job->on;
        due |= !job->on && job->gpus <= room;
    }
    if (waits && due)
        deal_all(p);
    p->alarm_s = INFINITY;
    for (uint32_t k = 0; k < p->count; k++)
        if (!p->job[p->order[k]].on)
            p->alarm_s = to_s;
}

/* Jobs end, the node goes or comes back, jobs come, and one decision follows. */
static void run_plain(struct plain *p)
{
    double at_s;

    while ((p->came < p->jobs || p->count > 0) && (at_s = next_s(p)) < INFINITY) {
        pass_time(p, at_s);
        end_jobs(p);
        while (p->over < 2 * p->outages && p->down_s[p->over] <= p->now_s)
            if (++p->over % 2 == 1)
                lose_node(p);
        while (p->came < p->jobs && p->job[p->came].submit_s <= p->now_s) {
            p->order[p->count++] = p->came++;
            p->news = true;
        }
        if (p->kind == DLAS)
            decide_dlas(p);
        else if (p->kind == LAS || p->kind == GITTINS)
            decide_in_quanta(p);
        else
            deal_all(p);
        p->news = false;
    }
}

/* ---- worlds ---- */

/* Thousandths of a second, so that few things happen at one time by chance. */
static double draw_s(struct rng *rng, uint32_t from_s, uint32_t to_s)
{
    return 0.001 * (double)(1000u * from_s + rng_below(rng, 1000u * (to_s - from_s)));
}

static void draw_outages(struct rng *rng, struct plain *p)
{
    double at_s = 0;

    p->outages = (uint32_t)rng_below(rng, OUTAGES + 1);
    for (uint32_t o = 0; o < p->outages; o++) {
        p->down_s[2 * o] = at_s += draw_s(rng, 20, 3000);
        p->down_s[2 * o + 1] = at_s += draw_s(rng, 1, 500);
    }
}

/* GPUs of a job divide the limits of dlas to the nanosecond. */
static void draw_world(struct rng *rng, struct plain *p)
{
    static const double gpus[] = { 1, 1, 1, 2, 2, 4, 5, 8 }, stop_s[] = { 0, 0, 13, 31 };
    static const double quantum_s[] = { 600, 97, 73 }, limit_s[] = { 100, 700, 3250 };
    static const double more_s[] = { 130, 900, 4000 }, save_s[] = { 0, 57.3, 400 };
    double at_s = 0;

    *p = (struct plain) { .kind = (enum kind)rng_below(rng, KINDS), .alarm_s = INFINITY };
    p->gpus = (double)(1 + rng_below(rng, 8));
    p->jobs = 2 + (uint32_t)rng_below(rng, JOBS - 1);
    for (uint32_t j = 0; j < p->jobs; j++) {
        at_s += rng_below(rng, 3) > 0 ? draw_s(rng, 0, 9) : draw_s(rng, 1, 900);
        double length_s = draw_s(rng, 20, rng_below(rng, 2) > 0 ? 300 : 4000);
        double asks = gpus[rng_below(rng, 8)];
        p->job[j] = (struct job) { .submit_s = at_s, .length_s = length_s, .left_s = length_s,
                                   .gpus = asks <= p->gpus ? asks : 1, .start_s = -1,
                                   .end_s = -1, .wait_from_s = at_s };
    }
    p->stop_s = stop_s[rng_below(rng, 4)];
    p->quantum_s = quantum_s[rng_below(rng, 3)];
    p->limit_s[0] = limit_s[rng_below(rng, 3)];
    p->limit_s[1] = p->limit_s[0] + more_s[rng_below(rng, 3)];
    p->by_time = rng_below(rng, 2) > 0;
    p->promotion = p->stop_s > 0 ? 0 : (double)rng_below(rng, 3);
    p->save_s = save_s[rng_below(rng, 3)];
    p->restart_s = draw_s(rng, 0, 60);
    draw_outages(rng, p);
}

static void write_files(const struct world *world, const struct plain *p)
{
    char jobs[1000], faults[400];
    int a = sprintf(jobs, "job,submit,duration,gpus\n");
    int b = sprintf(faults, "series,time_s,value\n");

    for (uint32_t j = 0; j < p->jobs; j++)
        a += sprintf(jobs + a, "%u,%.3f,%.3f,%g\n", j, p->job[j].submit_s, p->job[j].length_s,
                     p->job[j].gpus);
    for (uint32_t o = 0; o < 2 * p->outages; o++)
        b += sprintf(faults + b, "s,%.3f,%u\n", p->down_s[o], 1 - o % 2);
    world_write(world, "jobs.csv", jobs);
    world_write(world, "faults.csv", faults);
}

static void run_product(const struct plain *p, struct world_job *job)
{
    struct world world = { 0 };
    char text[1500], fails[200] = "", keys[200] = "";

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    write_files(&world, p);
    int n = p->outages == 0 ? 0 :
        sprintf(fails, ", failures: {trace: {file: faults.csv, servers: 1}, restart: %.3fs",
                p->restart_s);
    if (n > 0)
        sprintf(fails + n, p->save_s > 0 ? ", checkpoint: %gs}" : "}", p->save_s);
    if (p->kind == LAS || p->kind == GITTINS)
        sprintf(keys, ", quantum: %gs", p->quantum_s);
    if (p->kind == DLAS)
        sprintf(keys, ", limit_1: %gs, limit_2: %gs, service: %s, promotion: %g", p->limit_s[0],
                p->limit_s[1], p->by_time ? "time" : "gpu-time", p->promotion);
    if (p->stop_s > 0)
        sprintf(keys + strlen(keys), ", preemption: {cost: %gs}", p->stop_s);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: n, count: 1, gpus: "
             "{type: generic, count: %g}}]%s}\n" "workload: {trace: {file: jobs.csv, format: csv, "
             "origin: file, columns: {job: job, submit: submit, duration: duration, gpus: gpus}}}\n"
             "policies: [{policy: %s, placement: count%s}]\n", p->gpus, fails,
             kind_name[p->kind], keys);
    schedule_run(&world, text, "faults.csv", job);
}

#define WORLDS 900
#define JUDGED 100              /* of each policy, where no tie leaves the answer open */

static void jobs_start_and_end_as_described(void **state)
{
    struct world_job job[JOBS];
    struct plain p;
    struct rng rng;
    int judged[KINDS] = { 0 };

    (void)state;
    rng_init(&rng, 5, "preemptive", 0);
    for (int w = 0; w < WORLDS; w++) {
        draw_world(&rng, &p);
        run_product(&p, job);
        run_plain(&p);
        judged[p.kind] += !p.tied;
        for (uint32_t j = 0; !p.tied && j < p.jobs; j++)
            schedule_check(w, kind_name[p.kind], j, &job[j], p.job[j].start_s, p.job[j].end_s);
    }
    for (int k = 0; k < KINDS; k++)
        assert_true(judged[k] >= JUDGED);
}

/* Jobs 0 and 1 may use the first GPU alone, 2 the two others, and 3 all.  Each takes 200 s and is
 * dealt one of three GPUs that are counted.  At 200 s jobs 0 and 2 have had least, then 1: job 3 is
 * stopped, 2 goes on after 10 s, and 0 finds its GPU held by 1.  That 2 has been loaded at 210 s is
 * no reason to deal: 1 ends at 220 s, and then 0 and 3 start, each after 10 s. */
static void a_job_that_has_been_loaded_starts_no_deal(void **state)
{
    struct world world = { 0 };
    struct world_job job[4];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,types\n0,0,200,1,M0\n"
                "1,0,200,1,M0\n2,10,200,1,M1\n3,20,200,1,\n");
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: a, "
                    "count: 1, gpus: {type: generic, model: M0, count: 1}}, {name: b, count: 1, "
                    "gpus: {type: generic, model: M1, count: 2}}]}\nworkload: {trace: {file: "
                    "jobs.csv, format: csv, origin: file, columns: {job: job, submit: submit, "
                    "duration: duration, gpus: gpus, gpu_types: types}}}\npolicies: [{policy: las, "
                    "placement: count, quantum: 100s, preemption: {cost: 10s}}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    world_close(&world);
    assert_true(job[1].end_s == 220 && job[0].end_s == 410);
    assert_true(job[3].end_s == 250 && job[2].end_s == 320);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_has_been_loaded_starts_no_deal),
        cmocka_unit_test(jobs_start_and_end_as_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
