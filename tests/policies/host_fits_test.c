/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_fits_test.c - a law in drawn worlds: host_fits() says yes exactly where a start that
 * is asked for next is done, as cs_forecast() does, and host_could_resize() where a lease gets
 * another size; cs_fits_without() says it of less that is held.  Asking changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/phases.h"
#include "policies/resize.h"
#include "tests/aid/family_aid.h"

#define STOPS_MAX 20            /* of a run, so that it ends */
#define CHANGES_MAX 100
#define SEEDS 2
#define STALE 123456789u        /* a task that never was */

/* How often it was said that a start as asked, one as wanted and another size are not
 * possible, and that they are. */
static struct {
    bool asks;
    uint32_t said[3][2];
    uint32_t without;           /* so often it would be possible without a job that runs */
} fits;                         /* one thread */

struct self {
    uint32_t stops, changes;
};

static uint32_t draw(struct cs_host *host, uint32_t low, uint32_t count)
{
    return low + (uint32_t)(cs_random(host) * count);
}

/* Wants of any shape; some are of no use. */
static struct cs_want draw_want(struct cs_host *host, struct cs_node_gpus spot[2])
{
    struct cs_want want = { .take_idle = cs_random(host) < 0.4 };

    if (cs_random(host) < 0.2)
        want.role = draw(host, 0, 4);
    if (cs_random(host) < 0.3)
        want.pool_mask = draw(host, 0, 8);
    if (cs_random(host) < 0.3)
        want.gpus = draw(host, 0, 10);
    if (cs_random(host) < 0.3)
        want.idle_ns = draw(host, 0, 20) * CLOCK_NS_PER_S;
    if (cs_random(host) < 0.2)
        want.cores = draw(host, 1, 30);
    if (cs_random(host) < 0.2) {
        want.first_node = draw(host, 0, cs_node_count(host) - 1);
        want.node_count = draw(host, 1, 2);
    }
    if (cs_random(host) < 0.1)
        want.gpu_type = CS_ON_CORES;
    if (cs_random(host) < 0.15) {
        spot[0] = (struct cs_node_gpus) { .node = 0, .gpus = draw(host, 0, 5) };
        spot[1] = (struct cs_node_gpus) { .node = 1, .gpus = draw(host, 1, 4) };
        want.spot = spot;
        want.spot_count = draw(host, 1, 2);
    }
    return want;
}

/* Is it a role that is forecast, and not all of them? */
static bool is_one_role(const struct cs_host *host, struct task_id task)
{
    return task.i != STALE && (cs_task(host, task)->role != CS_ALL_ROLES ||
                               cs_request(host, cs_task(host, task)->job)->form->role_count == 1);
}

/* cs_fits_without() nobody says the same, and what fits beside a job fits without it. */
static void ask_without(struct cs_host *host, struct task_id task, bool says)
{
    if (task.i == STALE || cs_task(host, task)->role != CS_ALL_ROLES)
        return;
    assert_int_equal(cs_fits_without(host, task, NULL, 0), says);
    if (cs_running_count(host) == 0)
        return;
    struct job_id first = cs_running(host, 0);
    bool without = cs_fits_without(host, task, &first, 1);
    assert_true(without || !says);
    fits.without += without && !says;
}

static void ask_and_start(struct cs_host *host, struct task_id task, const struct cs_want *want)
{
    bool says = fits.asks && host_fits(host, task, want);
    struct cs_forecast forecast;

    if (fits.asks && want == NULL)
        ask_without(host, task, says);
    if (fits.asks && want != NULL && is_one_role(host, task))
        assert_int_equal(cs_forecast(host, task, want, &forecast), says);
    enum cs_verdict verdict = want ? cs_start_want(host, task, want) : cs_start(host, task);

    if (!fits.asks)
        return;
    fits.said[want != NULL][says]++;
    if (says != (verdict == CS_DONE))
        fail_msg("%s: fits says %d, and the start was answered %s", want ? "wanted" : "as asked",
                 says, host_verdict_name(verdict));
}

/* Likewise of another size of a lease. */
static void ask_and_resize(struct cs_host *host, struct lease_id lease, uint32_t gpus)
{
    bool says = fits.asks && host_could_resize(host, lease, gpus);
    uint32_t before = cs_lease(host, lease)->gpus;
    enum cs_verdict verdict = cs_resize(host, lease, gpus);

    if (!fits.asks)
        return;
    fits.said[2][says]++;
    if (says != (verdict == CS_DONE && gpus != before))
        fail_msg("%u to %u GPUs: fits says %d, and it was answered %s", before, gpus, says,
                 host_verdict_name(verdict));
}

static void fits_decide(void *self_, struct cs_host *host)
{
    struct self *self = self_;
    struct cs_node_gpus spot[2];

    ask_and_start(host, (struct task_id) { STALE }, NULL);
    if (cs_lease_count(host) > 0 && self->changes < CHANGES_MAX && ++self->changes)
        ask_and_resize(host, cs_lease_at(host, draw(host, 0, cs_lease_count(host))),
                       draw(host, 0, 9));
    if (cs_lease_count(host) > 0 && cs_random(host) < 0.5)
        cs_release(host, cs_lease_at(host, draw(host, 0, cs_lease_count(host))));
    if (cs_running_count(host) > 0 && self->stops < STOPS_MAX && cs_random(host) < 0.1 &&
        ++self->stops)
        cs_stop(host, cs_running(host, draw(host, 0, cs_running_count(host))));
    for (uint32_t tries = cs_pending_count(host); tries > 0 && cs_pending_count(host) > 0;
         tries--) {
        struct task_id task = cs_pending(host, draw(host, 0, cs_pending_count(host)));
        struct cs_want want = draw_want(host, spot);
        ask_and_start(host, task, cs_random(host) < 0.3 ? NULL : &want);
    }
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        uint32_t before = cs_pending_count(host);
        ask_and_start(host, cs_pending(host, i), NULL);
        i += cs_pending_count(host) == before;
    }
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, cs_now_ns(host) + 15 * CLOCK_NS_PER_S);
}

static void fits_idle(void *self, struct cs_host *host, struct lease_id lease)
{
    (void)self;
    if (cs_random(host) < 0.4)
        cs_release(host, lease);
}

#define TABLE(NAME, MORE) { \
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy), .name = NAME, \
    .summary = "asks before it starts", .flags = CS_PREEMPTS | CS_RESIZES | CS_DRAWS | (MORE), \
    .self_bytes = sizeof(struct self), .decide = fits_decide, .lease_idle = fits_idle, \
}
static const struct cs_policy of_jobs = TABLE("of-jobs", 0);
static const struct cs_policy of_phases = TABLE("of-phases", CS_PER_PHASE);

/* ---- worlds ---- */

#define CPU "cpu: {type: epyc-7763}, memory: 512GB, nics: {type: ethernet-100}"
#define NODES \
    "nodes: [{name: a, count: 3, gpus: {type: a100-80, count: 4}, " CPU "%s}, {name: b, count: " \
    "2, gpus: {type: l40s, count: 8}, " CPU "}, {name: c, count: 1, " CPU "}]%s"
#define KNOWN(NAME, ROLE, GPUS, MORE) \
    "{recipe: trace, name: " NAME ", share: 2, role: {" ROLE "}, duration: {lognormal: {mean: " \
    "150s, cv: 1}}, gpus: " GPUS MORE "}"
#define ALIGN \
    "{recipe: dpo, name: d, share: 3, model: qwen2.5-0.5b, prompts: 16, prompt_tokens: 128, " \
    "response: {mean: 64, cv: 1, max: 512}, steps: {uniform: [1, 3]}, reward: {on: cpu, " \
    "core_time: 50ms}, rollout: {gpus: 4, min: 1, max: 8, start: wake, types: [l40s, a100-80]}, " \
    "train: {gpus: 4, min: 1, max: 8, start: process}, data: {cores: 8}}"
#define TWO_ROLES \
    "{recipe: multimodal, name: two, model: qwen2.5-0.5b, batch: 16, sequence: 512, steps: " \
    "{uniform: [5, 50]}, train: {gpus: 2}, data: {cores: 8}, loader: {kind: image, size: 2e5}}"
#define INFER \
    "{recipe: batch-infer, name: i, share: 2, model: qwen2.5-0.5b, prompts: 64, prompt_tokens: " \
    "200, response: {mean: 100, cv: 1, max: 400}, steps: {uniform: [1, 3]}, infer: {gpus: 1, " \
    "min: 1, max: 8, types: [cpu, a100-80, l40s], cpu: {cores: 20}}}"

/* Runs a world with and without questions: the same tables and events. */
static void agrees(const struct trial_spec *of, const struct cs_policy *table)
{
    struct host_policy policy = world_policy(table);
    struct trial_spec spec = *of;
    struct family_run asked, still;
    struct err err;

    policy.rules.placement = of->policy->rules.placement;
    spec.policy = &policy;
    fits.asks = true;
    assert_true(family_run_spec(&spec, &asked, &err));
    fits.asks = false;
    assert_true(family_run_spec(&spec, &still, &err));
    assert_true(asked.result.value[METRIC_JOBS_DONE] == asked.result.value[METRIC_JOBS]);
    assert_true(asked.result.digest == still.result.digest);
    assert_string_equal(asked.jobs, still.jobs);
    assert_string_equal(asked.decisions, still.decisions);
    family_drop(&asked);
    family_drop(&still);
}

/* In worlds of two pools and of cores, with parts of GPUs or without; each rule of placement. */
static void agree_in(const char *nodes, const char *more, const char *workload)
{
    static const char format[] =
        "experiment: fits\nseeds: %d\nuntil: drained\ncluster: {" NODES "}\nworkload: "
        "{arrival: {process: poisson, rate: 120/h}, jobs: 24, mix: [%s]}\npolicies: [{policy: "
        "fcfs, placement: first_fit}, {policy: fcfs, name: b, placement: best_fit}, {policy: "
        "fcfs, name: c, placement: spread}, {policy: fcfs, name: d, placement: random}, "
        "{policy: fcfs, name: e, placement: pack}, {policy: fcfs, name: f, placement: "
        "consolidate}]\n";
    struct world world = { 0 };
    char text[4096];

    int n = snprintf(text, sizeof text, format, SEEDS, nodes, more, workload);
    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(&world, text))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    memset(&fits, 0, sizeof fits);
    for (uint32_t t = 0; t < experiment_trial_count(world.experiment); t++) {
        struct trial_spec spec = experiment_trial_spec(world.experiment, t);
        agrees(&spec, &of_jobs);
        agrees(&spec, &of_phases);
    }
    for (int k = 0; k < 6; k++)
        assert_true(fits.said[k / 2][k % 2] > 10);
    assert_true(fits.without > 10);
    world_close(&world);
}

#define PHASES ALIGN ", " TWO_ROLES ", " INFER
#define WHOLE \
    KNOWN("k", "cores: 2", "{choice: {1: 2, 2: 1, 4: 1, 8: 1}}", \
          ", elastic: {min: 1, max: 8, scaling: linear}") ", " \
    KNOWN("l", "pool: a, memory: 40GB", "{choice: {1: 1, 4: 1}}", "")
#define PARTS \
    KNOWN("m", "cores: 3", "{choice: {0.25: 1, 0.5: 1, 0.6: 1, 1: 1}}", "") ", " \
    KNOWN("n", "pool: b", "{choice: {0.4: 1, 1: 2, 2: 1}}", "")

static void a_start_is_done_where_it_is_said_to_fit(void **state)
{
    (void)state;
    agree_in("", "", PHASES ", " WHOLE);
    agree_in("", "", PHASES ", " WHOLE ", " PARTS);
}

/* Nodes that stand by draw 11,753 W. */
static void a_start_is_done_where_it_is_said_to_fit_under_a_power_cap(void **state)
{
    (void)state;
    agree_in("", ", power_cap: 18kW", PHASES ", " WHOLE);
    agree_in("", ", power_cap: 16kW", PHASES ", " WHOLE ", " PARTS);
}

static void a_start_is_done_where_it_is_said_to_fit_while_nodes_go(void **state)
{
    (void)state;
    agree_in("", ", failures: {node_mtbf: 3h, job_mtbf: 2h, repair: 5m, restart: 10s}",
             PHASES ", " WHOLE ", " PARTS);
    agree_in(", price: 3USD/h, rent: {start: 1m, keep: 2m, reclaim: 1h, notice: 1m}", "",
             PHASES ", " WHOLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_is_done_where_it_is_said_to_fit),
        cmocka_unit_test(a_start_is_done_where_it_is_said_to_fit_under_a_power_cap),
        cmocka_unit_test(a_start_is_done_where_it_is_said_to_fit_while_nodes_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
