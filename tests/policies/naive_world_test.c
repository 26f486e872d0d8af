/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_world_test.c - the whole program with a naive order below it, against
 * the program as it is: the same bytes.
 *
 * This test is linked with a plain list in place of sim/containers/order.c, and with walks
 * over all that waits, runs or is held in place of what keeps them in order: classes of
 * candidates (policies/state/kinds.c), those that found no room (full.c), tournaments, turns,
 * tenants and calendars of ends there, idle leases (policies/leases/idle.c), when there will
 * be room (policies/host/reach.c), and lists that move with time (lanes.c, left.c).
 * So it is one oracle under all policies.  Called
 * with arguments it is that program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_errno.h>

#include "experiments/cli/cli.h"
#include "policies/phases.h"
#include "policies/state/full.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/base/rng.h"
#include "tests/aid/program.h"

#define NAIVE(name) order_##name
#include "tests/oracles/naive_order.c"
#include "tests/oracles/naive_ends.h"
#include "tests/oracles/naive_idle.h"
#include "tests/oracles/naive_reach.h"
#include "tests/oracles/naive_waiting.h"

/* ---- candidates without classes: one after the other ---- */

static bool asked;              /* one of the walks below was */
static uint32_t tried;          /* so many tasks that wait; one thread */
static uint64_t trying;         /* which task is being tried */

void host_kinds_insert(struct cs_host *host, uint32_t task)
{
    (void)host;
    (void)task;
}

void host_kinds_remove(struct cs_host *host, uint32_t task)
{
    (void)host;
    (void)task;
}

void host_kinds_again(struct cs_host *host, uint32_t task)
{
    (void)host;
    (void)task;
}

/* Nobody rests. */
bool host_kinds_rests(const struct cs_host *host, uint32_t task)
{
    (void)host;
    (void)task;
    return false;
}

void host_kinds_wake(struct cs_host *host, uint32_t task)
{
    (void)host;
    (void)task;
}

void cs_try_anew(struct cs_host *host)
{
    (void)host;
    asked = true;
    tried = 0;
}

struct task_id cs_next_candidate(struct cs_host *host)
{
    struct task_id none = { ID_NONE };

    if (tried >= cs_pending_count(host))
        return none;
    trying = host->tasks->slot[cs_pending(host, tried).i].seq;
    return cs_pending(host, tried);
}

bool host_kinds_tried(struct cs_host *host, struct task_id task, enum cs_alike alike)
{
    const struct host_task_slot *slot = &host->tasks->slot[task.i];

    (void)alike;
    tried += slot->live && slot->seq == trying;
    return true;
}

/* ---- whole jobs without classes: each is tried at each decision ---- */

void host_note_full(struct cs_host *host, uint32_t form, uint32_t gpus, uint32_t milli)
{
    (void)host;
    (void)form;
    (void)gpus;
    (void)milli;
}

void host_note_capped(struct cs_host *host, uint32_t form, uint32_t gpus)
{
    host_note_full(host, form, gpus, 1000);
}

void host_full_forget(struct cs_host *host)
{
    (void)host;
}

bool host_known_full(const struct cs_host *host, uint32_t form, uint32_t gpus, uint32_t milli)
{
    (void)host;
    (void)form;
    (void)gpus;
    (void)milli;
    asked = true;
    return false;
}

uint32_t host_full_most(const struct cs_host *host, uint32_t form, uint32_t gpus_max)
{
    (void)host;
    (void)form;
    return gpus_max;
}

bool host_task_known_full(void *owner, uint32_t item)
{
    (void)owner;
    (void)item;
    return false;
}

bool host_full_by_form(const struct cs_host *host, uint32_t *gpus_max)
{
    (void)host;
    (void)gpus_max;
    return false;
}

struct order_filter host_startable(const struct cs_host *host, uint32_t gpus_max)
{
    (void)host;
    asked = true;
    return (struct order_filter) { .gpus_max = gpus_max, .span_max_ns = INT64_MAX };
}

/* ---- the same experiment, twice ---- */

#define ON_ITS_OWN_ORDER 99     /* a status: the library called its own functions */

static const char *self;        /* this program */

/* Jobs that come in bursts, of five tenants; `part` and `mib` are for parts of GPUs. */
static void write_trace(const char *path)
{
    static const char *const part[] = { "0.25", "0.5", "0.6", "0.75", "1" };
    FILE *file = fopen(path, "w");
    struct rng rng;
    uint64_t at = 0;

    assert_non_null(file);
    rng_init(&rng, 7, "naive", 0);
    fputs("job,submit,duration,gpus,tenant,part,mib\n", file);
    for (int i = 0; i < 150; i++) {
        uint64_t few = 1 + rng_below(&rng, 4), many = 1 + rng_below(&rng, 24);
        if (rng_below(&rng, 5) == 0)
            at += rng_below(&rng, 400);
        fprintf(file, "%d,%d,%d,%d,t%d,", i, (int)at,
                1 + (int)(rng_below(&rng, 30) * rng_below(&rng, 30)),
                (int)(rng_below(&rng, 4) == 0 ? many : few),
                (int)rng_below(&rng, 5));
        fprintf(file, "%s,%d\n", part[i * 7 % 5], i * 7919 % 44000);
    }
    fclose(file);
}

static void both_write_the_same(const char *text)
{
    static const char *const more[] = { "-j", "1", NULL };
    struct program program;
    char experiment[128], path[512];

    program_open(&program, self);
    snprintf(path, sizeof path, "%s", program.path);
    snprintf(experiment, sizeof experiment, "%s/x.yaml", program.folder);
    FILE *file = fopen(experiment, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(program.path, sizeof program.path, "%s/x.csv", program.folder);
    write_trace(program.path);
    snprintf(program.path, sizeof program.path, "%s", path);
    assert_int_equal(program_experiment(&program, experiment, "fast", more), 0);
    snprintf(program.path, sizeof program.path, "%s", self);
    assert_int_equal(program_experiment(&program, experiment, "slow", more), 0);
    program_same(&program, "jobs.csv");
    program_same(&program, "decisions.csv");
    program_same(&program, "audit.json");     /* every event at the same time */
    program_close(&program);
}

#define OUTPUT "output: {tables: [jobs, decisions], plots: []}\n"
#define COMMIT "blocking: commit, backfill: true, "

static void policies_run_the_same_on_a_naive_order(void **state)
{
    static const char text[] =
        "experiment: naive\nseeds: 3\nuntil: drained\n"
        "cluster: {nodes: [{name: n, count: 6, gpus: {type: generic, count: "
        "4}}]}\n"
        "workload: {trace: {file: x.csv, columns: {job: job, submit: submit, "
        "duration: duration, gpus: gpus, tenant: tenant}}}\n"
        "policies:\n"
        "  - {policy: fcfs, name: a1, blocking: skip}\n"
        "  - {policy: sjf, name: a2, " COMMIT "placement: count}\n"
        "  - {policy: hrrn, name: a3, blocking: skip}\n"
        "  - {policy: wfp3, name: a4, " COMMIT "placement: count}\n"
        "  - {policy: unicef, name: a5, " COMMIT "placement: count}\n"
        "  - {policy: wfp3, name: a6, " COMMIT "placement: spread}\n"
        "  - {policy: hrrn, name: a7, " COMMIT "placement: count}\n"
        "  - {policy: hrrn, name: a8}\n"
        "  - {policy: easy, name: b1, estimate: noisy, noise: 1}\n"
        "  - {policy: easy, name: b2, placement: count}\n"
        "  - {policy: conservative, name: b3, estimate: noisy, noise: 1}\n"
        "  - {policy: srtf, name: c1}\n"
        "  - {policy: srtf, name: c2, preemption: {cost: 60s}}\n"
        "  - {policy: srsf, name: c3, placement: count}\n"
        "  - {policy: las, name: c4, placement: count}\n"
        "  - {policy: dlas, name: c5, limit_1: 300s, limit_2: 900s, "
        "promotion: 2}\n"
        "  - {policy: dlas, name: c6, limit_1: 300s, limit_2: 900s, "
        "demotion: tiresias}\n"
        "  - {policy: gittins, name: c7, quantum: 60s}\n"
        "  - {policy: time-slice, name: c8}\n"
        "  - {policy: fair-share, name: d1}\n"
        "  - {policy: fair-share, name: d2, blocking: skip}\n"
        "  - {policy: drf, name: d3, blocking: skip}\n" OUTPUT;

    (void)state;
    both_write_the_same(text);
}

#define ROLES(start) \
    "rollout: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], start: " \
    start "}, train: {gpus: 8, min: 4, max: 16, types: [a100-80, l40s], " \
    "start: " start "}, data: {cores: 40}"
#define DPO \
    "{recipe: dpo, name: dpo, share: 2, model: qwen2.5-7b, method: lora, " \
    "recompute: full, zero: 2, prompts: 64, pairs: 1, prompt_tokens: 256, " \
    "response: {mean: 200, cv: 1, max: 1024}, reward: {on: cpu, core_time: " \
    "100ms}, steps: {uniform: [1, 4]}, " ROLES("wake") "}"
#define GRPO \
    "{recipe: grpo, name: grpo, share: 1, model: llama-2-13b, method: lora, " \
    "recompute: full, zero: 2, prompts: 32, prompt_tokens: 256, response: " \
    "{mean: 300, cv: 1, max: 1024}, reward: {on: cpu, core_time: 100ms}, " \
    "steps: 2, " ROLES("process") "}"

static void phases_run_the_same_on_a_naive_order(void **state)
{
    static const char format[] =
        "experiment: naive\nseeds: 2\nuntil: drained\n"
        "cluster: %s/models/clusters/mixed_64.yaml\n"
        "workload: {arrival: {process: poisson, rate: 400/h}, jobs: 50, mix: ["
        DPO ", " GRPO "]}\n"
        "policies:\n"
        "  - {policy: static, name: a, blocking: skip}\n"
        "  - {policy: static, name: b, blocking: skip, share_max: 0.25}\n"
        "  - {policy: static, name: c, blocking: skip, placement: random}\n"
        "  - {policy: hybrid, name: d}\n"
        "  - {policy: hybrid, name: e, reserve: 0, placement: best_fit}\n"
        "  - {policy: hybrid, name: f, placement: random}\n"
        "  - {policy: dynamic, name: g}\n"
        "  - {policy: dynamic, name: h, placement: spread}\n"
        "  - {policy: elastic-hybrid, name: i}\n"
        "  - {policy: elastic-hybrid, name: j, placement: spread}\n" OUTPUT;
    char here[512], text[4096];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text, format, here);
    both_write_the_same(text);
}

#define KNOWN \
    "{recipe: trace, name: known, share: 2, duration: {lognormal: {mean: 60s, " \
    "cv: 2}}, gpus: {choice: {1: 1, 4: 1, 12: 1}}}"

/* On few nodes, that fail or lack power, so that idle leases are thrown out.  With 25 kW, all
 * that is held may be idle and leave too little power for any phase; with 17 kW the GPUs of
 * which forecasts are best are refused to any phase: all jobs end nevertheless. */
static void dynamic_runs_the_same_on_a_naive_order(void **state)
{
    static const char format[] =
        "experiment: naive\nseeds: 2\nuntil: drained\n"
        "cluster: {nodes: [{name: rollout, count: 2, gpus: {type: l40s, count: "
        "8}, cpu: {type: epyc-7763}, memory: 512GB, nics: {type: "
        "ethernet-100}, price: 10USD/h}, {name: train, count: 2, gpus: {type: "
        "a100-80, count: 8}, cpu: {type: epyc-7742}, memory: 512GB, nics: "
        "{type: ib-hdr}, price: 20USD/h}]%s}\n"
        "workload: {arrival: {process: poisson, rate: 400/h}, jobs: 50, mix: ["
        DPO ", " GRPO "%s]}\n"
        "policies:\n"
        "  - {policy: dynamic, name: a}\n"
        "  - {policy: dynamic, name: b, gain_min: 5}\n"
        "  - {policy: dynamic, name: c, lend: false}\n"
        "  - {policy: dynamic, name: d, placement: random}\n"
        "  - {policy: dynamic, name: e, placement: consolidate}\n"
        "  - {policy: dynamic, name: f, placement: spread}\n" OUTPUT;
    static const char *const more[][2] = {
        { "", ", " KNOWN },
        { ", failures: {node_mtbf: 4h, repair: 10m, restart: 30s}", ", " KNOWN },
        { ", power_cap: 30kW", ", " KNOWN },
        { ", power_cap: 25kW", ", " KNOWN },
        { ", power_cap: 17kW", "" },
    };
    char text[4096];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        int n = snprintf(text, sizeof text, format, more[m][0], more[m][1]);
        assert_true(n > 0 && (size_t)n < sizeof text);
        both_write_the_same(text);
    }
}

/* With so little power jobs hold the GPUs of one role and wait for those of the next: the lease
 * that has been idle for longest is given back, and all jobs end.  Standing by, the nodes draw
 * 12,780 W; 1,974 W more is the least for four GPUs that generate. */
static void phases_end_under_a_power_cap(void **state)
{
    static const char format[] =
        "experiment: naive\nseeds: 1\nuntil: drained\n"
        "cluster: {nodes: [{name: rollout, count: 2, gpus: {type: l40s, count: "
        "8}, cpu: {type: epyc-7763}, memory: 512GB, nics: {type: "
        "ethernet-100}, price: 10USD/h}, {name: train, count: 2, gpus: {type: "
        "a100-80, count: 8}, cpu: {type: epyc-7742}, memory: 512GB, nics: "
        "{type: ib-hdr}, price: 20USD/h}], power_cap: %s}\n"
        "workload: {arrival: {process: poisson, rate: 400/h}, jobs: 40, mix: ["
        DPO ", " GRPO "]}\n"
        "policies: [dynamic, hybrid, elastic-hybrid, co-execution]\n" OUTPUT;
    static const char *const cap[] = { "14800W", "15500W", "17kW", "18kW", "20kW", "24kW", "1MW" };
    char text[4096];

    (void)state;
    for (size_t c = 0; c < sizeof cap / sizeof *cap; c++) {
        int n = snprintf(text, sizeof text, format, cap[c]);
        assert_true(n > 0 && (size_t)n < sizeof text);
        both_write_the_same(text);
    }
}

/* Forms that may use one pool, the other, or both, of one role or three; those of a
 * full pool stand before those of a pool with room.  More forms than groups. */
#define WHOLE(name, role, more) \
    "{recipe: trace, name: " name ", share: 1, role: {" role "}, duration: " \
    "{lognormal: {mean: 600s, cv: 2}}, gpus: {choice: {1: 3, 2: 1, 4: 1, 8: 1, 12: 1}}" \
    more "}, "
#define WHOLES \
    WHOLE("a", "pool: rollout, cores: 2", "") WHOLE("b", "pool: train", "") \
    WHOLE("c", "cores: 1", "") WHOLE("d", "pool: train, memory: 40GB", "")
#define MANY(l) \
    WHOLE(l "a", "pool: rollout", "") WHOLE(l "b", "pool: train", "") \
    WHOLE(l "c", "memory: 1GB", "") WHOLE(l "d", "pool: train, cores: 6", "")

static void whole_jobs_run_the_same_on_a_naive_order(void **state)
{
    static const char format[] =
        "experiment: naive\nseeds: 2\nuntil: drained\n"
        "cluster: {nodes: [{name: rollout, count: 3, gpus: {type: l40s, count: "
        "8}, cpu: {type: epyc-7763}, memory: 512GB, nics: {type: "
        "ethernet-100}, price: 10USD/h}, {name: train, count: 2, gpus: {type: "
        "a100-80, count: 8}, cpu: {type: epyc-7742}, memory: 512GB, nics: "
        "{type: ib-hdr}, price: 20USD/h}]%s}\n"
        "workload: {arrival: {process: poisson, rate: 150/h}, jobs: 120, mix: [%s"
        DPO ", " GRPO "]}\n"
        "policies:\n"
        "  - {policy: fcfs, name: a, blocking: skip}\n"
        "  - {policy: sjf, name: b, blocking: skip, placement: spread}\n"
        "  - {policy: hrrn, name: c, blocking: skip}\n"
        "  - {policy: wfp3, name: d, blocking: skip, placement: best_fit}\n"
        "  - {policy: unicef, name: e, blocking: skip, placement: consolidate}\n"
        "  - {policy: fair-share, name: f, blocking: skip}\n"
        "  - {policy: drf, name: g, blocking: skip}\n"
        "  - {policy: qssf, name: h, blocking: skip, placement: first_fit}\n"
        "  - {policy: easy, name: i}\n"
        "  - {policy: static, name: j, blocking: skip}\n"
        "  - {policy: srtf, name: k}\n"
        "  - {policy: fcfs, name: l, blocking: skip, placement: random}\n" OUTPUT;
    static const char *const more[] = {
        "",
        ", failures: {node_mtbf: 4h, repair: 10m, restart: 30s}",
        ", power_cap: 30kW",
    };
    char text[16384];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        int n = snprintf(text, sizeof text, format, more[m], m == 1
                             ? MANY("p") MANY("q") MANY("r") MANY("s") MANY("t") : WHOLES);
        assert_true(n > 0 && (size_t)n < sizeof text);
        both_write_the_same(text);
    }
}

#define PART(name, role, gpus) \
    "{recipe: trace, name: " name ", role: {" role "}, duration: {lognormal: {mean: " \
    "900s, cv: 2}}, gpus: " gpus "}"

/* Parts of GPUs beside whole ones, in forms of their own and in one, for one pool or both:
 * a GPU that lacks room for a half may have it for a quarter. */
static void parts_run_the_same_on_a_naive_order(void **state)
{
    static const char format[] =
        "experiment: naive\nseeds: 2\nuntil: drained\n"
        "cluster: {nodes: [{name: a, count: 2, gpus: {type: a100-80, count: 4}, cpu: {type: "
        "epyc-7763}, memory: 512GB, price: 10USD/h}, {name: b, count: 1, gpus: {type: "
        "a100-80, count: 8}, cpu: {type: epyc-7763}, memory: 512GB, price: 20USD/h}]%s}\n"
        "workload: {arrival: {process: poisson, rate: 150/h}, jobs: 150, mix: ["
        PART("k", "cores: 1", "0.5") ", " PART("l", "pool: a", "{choice: {0.25: 2, 0.75: 1, "
        "1: 1, 2: 1}}") ", " PART("m", "pool: b, memory: 40GB", "{choice: {1: 1, 2: 1, 4: "
        "1}}") "]}\n"
        "policies:\n"
        "  - {policy: fcfs, name: a, blocking: skip}\n"
        "  - {policy: sjf, name: b, blocking: skip, placement: fgd}\n"
        "  - {policy: hrrn, name: c, blocking: skip}\n"
        "  - {policy: fair-share, name: d, blocking: skip, placement: random}\n"
        "  - {policy: drf, name: e, blocking: skip}\n"
        "  - {policy: easy, name: f}\n"
        "  - {policy: conservative, name: g}\n"
        "  - {policy: static, name: h, blocking: skip}\n"
        "  - {policy: srtf, name: i}\n" OUTPUT;
    static const char *const more[] = { "", ", power_cap: 9kW" };
    char text[4096];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        int n = snprintf(text, sizeof text, format, more[m]);
        assert_true(n > 0 && (size_t)n < sizeof text);
        both_write_the_same(text);
    }
}

/* Nodes that fail, that are rented and reclaimed under notice, and both; pools that some jobs
 * may not use, cores that are gone before GPUs are, and parts of GPUs; lengths that are over-
 * and underestimated; one policy that takes over from another. */
#define AWAY_NODES(more_a, more_b) \
    "cluster: {nodes: [{name: a, count: 3, gpus: {type: a100-80, count: 4}, cpu: {type: " \
    "epyc-7763}, memory: 512GB, nics: {type: ethernet-100}, price: 10USD/h" more_a "}, {name: " \
    "b, count: 2, gpus: {type: l40s, count: 8}, cpu: {type: epyc-7763}, memory: 512GB, nics: " \
    "{type: ethernet-100}, price: 20USD/h" more_b "}, {name: c, count: 2, cpu: {type: " \
    "epyc-7763}, memory: 256GB, nics: {type: ethernet-100}, price: 2USD/h}]"
#define RENT(more) ", rent: {start: 3m, keep: 10m" more "}"
#define FAILS ", failures: {node_mtbf: 30h, job_mtbf: 9h, repair: 20m, restart: 30s}"

static void nodes_that_go_run_the_same_on_a_naive_order(void **state)
{
    static const char format[] =
        "experiment: naive\nseeds: 1\nuntil: drained\n%s}\n"
        "workload: {arrival: {process: gamma, rate: 60/h, cv: 3}, jobs: 90, mix: ["
        PART("k", "cores: 20, pool: a", "{choice: {1: 2, 2: 2, 4: 1, 8: 1}}") ", "
        PART("l", "cores: 12, pool: b", "{choice: {1: 1, 4: 1, 8: 1}}") ", "
        PART("m", "cores: 1", "{choice: {1: 2, 2: 1, 12: 1}}") "%s]}\n"
        "policies:\n"
        "  - {policy: easy, name: a1, estimate: noisy, noise: 1}\n"
        "  - {policy: easy, name: a2, placement: spread}\n"
        "  - {policy: conservative, name: a3, estimate: noisy, noise: 1}\n"
        "  - {policy: wfp3, name: b1, " COMMIT "estimate: noisy, noise: 1}\n"
        "  - {policy: sjf, name: b2, " COMMIT "placement: spread}\n"
        "  - {policy: fair-share, name: c1, blocking: skip}\n"
        "  - {policy: fcfs, name: c2, blocking: skip, then: {at: 40m, policy: wfp3, " COMMIT
        "}}\n" OUTPUT;
    static const char *const world[][2] = {
        { AWAY_NODES("", "") FAILS, "" },
        { AWAY_NODES("", RENT(", reclaim: 1h, notice: 2m")), ", " PART("n", "pool: a, cores: 1",
                                                                    "0.5") },
        { AWAY_NODES(RENT(", min: 1"), RENT("")) FAILS, "" },
    };
    char text[4096];

    (void)state;
    for (size_t w = 0; w < sizeof world / sizeof *world; w++) {
        int n = snprintf(text, sizeof text, format, world[w][0], world[w][1]);
        assert_true(n > 0 && (size_t)n < sizeof text);
        both_write_the_same(text);
    }
}

/* Queues in which parts of GPUs stand in front: an opening that is promised is one GPU with room
 * among many, and what fits beside it is counted. */
static void promised_parts_are_the_same_on_a_naive_order(void **state)
{
    static const char text[] =
        "experiment: naive\nseeds: 2\nuntil: drained\n"
        "cluster: {nodes: [{name: a, count: 1, gpus: {type: a100-80, count: 3}, cpu: {type: "
        "epyc-7763}, memory: 512GB, price: 10USD/h}, {name: b, count: 2, gpus: {type: l40s, "
        "count: 2}, cpu: {type: epyc-7763}, memory: 512GB, price: 20USD/h}]}\n"
        "workload: {arrival: {process: gamma, rate: 90/h, cv: 2}, jobs: 120, mix: ["
        PART("k", "cores: 20", "{choice: {0.25: 1, 0.5: 1, 0.75: 2}}") ", "
        PART("l", "pool: a", "{choice: {0.25: 2, 0.6: 1, 1: 1}}") ", "
        PART("m", "pool: b", "{choice: {0.4: 1, 0.75: 2, 2: 1}}") "]}\n"
        "policies:\n"
        "  - {policy: easy, name: a, estimate: noisy, noise: 1}\n"
        "  - {policy: easy, name: b, placement: spread}\n"
        "  - {policy: easy, name: c, placement: fgd, depth_max: 3}\n"
        "  - {policy: conservative, name: d, estimate: noisy, noise: 1}\n" OUTPUT;

    (void)state;
    both_write_the_same(text);
}

/* Jobs state memory of GPUs: a GPU may have enough thousandths left, and too little memory. */
static void promised_memory_is_the_same_on_a_naive_order(void **state)
{
    static const char text[] =
        "experiment: naive\nseeds: 1\nuntil: drained\n"
        "cluster: {nodes: [{name: a, count: 1, gpus: {type: a100-80, count: 1}, cpu: {type: "
        "epyc-7763}, memory: 512GB}, {name: b, count: 1, gpus: {type: l40s, count: 2}, cpu: "
        "{type: epyc-7763}, memory: 512GB}]}\n"
        "workload: {trace: {file: x.csv, columns: {job: job, submit: submit, duration: duration, "
        "gpus: part, gpu_memory_mib: mib}}}\n"
        "policies:\n"
        "  - {policy: easy, name: a, estimate: noisy, noise: 1}\n"
        "  - {policy: easy, name: b, placement: spread}\n"
        "  - {policy: easy, name: c, placement: fgd, depth_max: 3}\n" OUTPUT;

    (void)state;
    both_write_the_same(text);
}

/* Jobs that are stopped for each other, whose keys move with time: where nodes fail, as well. */
static void deals_are_the_same_on_a_naive_order(void **state)
{
    static const char format[] =
        "experiment: naive\nseeds: 2\nuntil: drained\n"
        "cluster: {nodes: [{name: n, count: 6, gpus: {type: generic, count: 4}%s}]%s}\n"
        "workload: {trace: {file: x.csv, columns: {job: job, submit: submit, "
        "duration: duration, gpus: gpus, tenant: tenant}}}\n"
        "policies:\n"
        "  - {policy: srtf, name: a, preemption: {cost: 30s}}\n"
        "  - {policy: srsf, name: b, preemption: {cost: 300s}}\n"
        "  - {policy: srsf, name: c}\n"
        "  - {policy: las, name: d}\n"
        "  - {policy: las, name: e, placement: count, preemption: {cost: 60s}}\n"
        "  - {policy: gittins, name: f, quantum: 120s}\n"
        "  - {policy: dlas, name: g, limit_1: 300s, limit_2: 900s, promotion: 2}\n"
        "  - {policy: time-slice, name: h}\n" OUTPUT;
    static const char *const more[][2] = {
        { ", price: 3USD/h", "" },
        { "", ", failures: {node_mtbf: 3h, job_mtbf: 2h, repair: 10m, restart: 30s}" },
        { ", price: 3USD/h, rent: {start: 2m, keep: 5m, min: 1}", "" },
    };
    char text[4096];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        int n = snprintf(text, sizeof text, format, more[m][0], more[m][1]);
        assert_true(n > 0 && (size_t)n < sizeof text);
        both_write_the_same(text);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_run_the_same_on_a_naive_order),
        cmocka_unit_test(phases_run_the_same_on_a_naive_order),
        cmocka_unit_test(dynamic_runs_the_same_on_a_naive_order),
        cmocka_unit_test(phases_end_under_a_power_cap),
        cmocka_unit_test(whole_jobs_run_the_same_on_a_naive_order),
        cmocka_unit_test(parts_run_the_same_on_a_naive_order),
        cmocka_unit_test(nodes_that_go_run_the_same_on_a_naive_order),
        cmocka_unit_test(promised_parts_are_the_same_on_a_naive_order),
        cmocka_unit_test(promised_memory_is_the_same_on_a_naive_order),
        cmocka_unit_test(deals_are_the_same_on_a_naive_order),
    };

    gsl_set_error_handler_off();
    if (argc > 1) {
        int status = cli_main(argc, argv, stdout, stderr);
        return status == 0 && !asked ? ON_ITS_OWN_ORDER : status;
    }
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
