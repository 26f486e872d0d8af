/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rl_policy_test.c - policies for RL post-training: what groups share, what is
 * borrowed from services, what spot instances lose, and leases that are taken
 * back at bad instants.  Every trial audits itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/rollout.h"
#include "models/types/gang.h"
#include "policies/known.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/rank.h"
#include "tests/aid/world.h"

#define NODE(NAME, COUNT, GPU, MORE) \
    "    - {name: " NAME ", count: " COUNT ", gpus: {type: " GPU \
    ", count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: 2TB, nics: " \
    "{type: ib-hdr, count: 4}, price: 16USD/h" MORE "}\n"

static const char grpo[] =
    "  mix:\n    - recipe: grpo\n      name: grpo\n      share: 1\n"
    "      model: qwen2.5-7b\n      zero: 3\n      recompute: full\n"
    "      micro_batch: 1\n      prompts: 32\n      responses: 4\n"
    "      prompt_tokens: 512\n"
    "      response: {mean: 1000, cv: 1, max: 8192}\n"
    "      reward: {on: cpu, core_time: 20ms}\n      checkpoint_every: 3\n"
    "      steps: {uniform: [3, 9]}\n"
    "      data: {cores: 8}\n";

static void open_seeds(struct world *world, unsigned seeds, const char *nodes, const char *work,
                       const char *roles, const char *policies)
{
    char text[6000];

    snprintf(text, sizeof text,
             "experiment: t\nseeds: %u\nuntil: drained\ncluster:\n  nodes:\n%s"
             "  storage: {bandwidth: 20GB/s}\nworkload:\n%s%s%spolicies: %s\n",
             seeds, nodes, work, grpo, roles, policies);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static void open_rl(struct world *world, const char *nodes, const char *work,
                    const char *roles, const char *policies)
{
    open_seeds(world, 3, nodes, work, roles, policies);
}

static void run_all(struct world *world, uint32_t trials)
{
    struct trial_result r;

    for (uint32_t i = 0; i < trials; i++) {
        if (!world_run(world, i, NULL, NULL, &r))
            fail_msg("trial %u: %s", i, world_error(world));
        assert_true(r.value[METRIC_JOBS] == r.value[METRIC_JOBS_DONE]);
        assert_true(r.value[METRIC_REFUSED] == 0);
    }
}

static const char apart[] =
    "      rollout: {gpus: 8, min: 4, max: 16, types: [a100-80]}\n"
    "      train: {gpus: 8, types: [h100]}\n";

/* Three jobs alike on three nodes of either kind: alone, each holds two for its
 * life; in groups they need fewer for little more time. */
static void groups_hold_less_than_jobs_apart(void **state)
{
    struct world world = { 0 };
    struct trial_result r[2];

    (void)state;
    open_rl(&world, NODE("rollout", "3", "a100-80", ", billing: held")
                    NODE("train", "3", "h100", ", billing: held"),
            "  arrival: {process: all_at_once}\n  jobs: 3\n", apart,
            "[static, {policy: co-execution, slowdown: 1.5}]");
    for (int p = 0; p < 2; p++)
        if (!world_run(&world, (uint32_t)p * 3, NULL, NULL, &r[p]))
            fail_msg("%s", world_error(&world));
    assert_true(r[1].value[METRIC_COST] < 0.95 * r[0].value[METRIC_COST]);
    assert_true(r[1].value[METRIC_GPU_BUBBLE] < r[0].value[METRIC_GPU_BUBBLE]);
    world_close(&world);
}

static void groups_do_all_jobs_where_nodes_and_memory_are_few(void **state)
{
    const char *memory[] = { "80%", "20%" };

    (void)state;
    for (int m = 0; m < 2; m++) {
        struct world world = { 0 };
        char policies[200];
        sprintf(policies, "[{policy: co-execution, memory: %s}, {policy: "
                "co-execution, name: two, jobs_max: 2, memory: %s}]",
                memory[m], memory[m]);
        open_rl(&world, NODE("rollout", "2", "a100-80", "")
                        NODE("train", "2", "h100", ""),
                "  arrival: {process: poisson, rate: 30/h}\n  jobs: 8\n",
                apart, policies);
        run_all(&world, 6);
        world_close(&world);
    }
}

/* No two pools bear the names of their roles: a job that holds idle GPUs while
 * it waits for others' idle ones must not keep all from going on. */
static void jobs_without_two_pools_do_not_block_one_another(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_rl(&world, NODE("any", "2", "a100-80", ""),
            "  arrival: {process: all_at_once}\n  jobs: 5\n",
            "      rollout: {gpus: 8}\n      train: {gpus: 8}\n",
            "[co-execution]");
    run_all(&world, 3);
    world_close(&world);
}

/* Jobs of several roles wait for what is owned, and burst, as a whole. */
static void starburst_starts_jobs_of_several_roles(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_rl(&world, NODE("own", "2", "a100-80", "")
                    NODE("cloud", "2", "a100-80", ", billing: held"),
            "  arrival: {process: all_at_once}\n  jobs: 4\n",
            "      rollout: {gpus: 8}\n      train: {gpus: 8}\n",
            "[{policy: starburst, wait: constant, budget: 60s}]");
    run_all(&world, 3);
    world_close(&world);
}

/* Three jobs, of two kinds that a seed draws: one that holds 8 GPUs for 100,000 s, at 0 s; one
 * of two roles that needs all 24, at 10 s; and another one of 8 GPUs at 20 s.  Returns how many
 * trials drew them in this order. */
static int check_whole_cluster(const char *nodes, const char *roles, const char *plain)
{
    struct world world = { 0 };
    char more[600];
    int drawn = 0;

    snprintf(more, sizeof more, "%s    - {recipe: trace, name: plain, share: 2, gpus: 8, "
             "duration: 100000s%s}\n", roles, plain);
    open_seeds(&world, 20, nodes, "  arrival: {process: fixed, times: [0s, 10s, 20s]}\n", more,
               "[easy, conservative]");
    for (uint32_t i = 0; i < 40; i++) {
        struct world_job job[3];
        if (!world_run(&world, i, NULL, job, NULL))
            fail_msg("trial %u: %s", i, world_error(&world));
        if (job[0].end_s != 1e5 || job[1].end_s - job[1].start_s > 9e4)
            continue;
        drawn++;
        if (job[1].start_s != 1e5 || job[2].start_s < job[1].end_s)
            fail_msg("trial %u: the whole cluster from %g to %g s, the third job from %g s", i,
                     job[1].start_s, job[1].end_s, job[2].start_s);
    }
    world_close(&world);
    return drawn;
}

/* What starts in the meantime would be in its way: it waits until both roles have had theirs,
 * on nodes of one type, which the roles share, and of two. */
static void a_job_of_two_roles_is_promised_both(void **state)
{
    (void)state;
    assert_true(check_whole_cluster(NODE("any", "3", "a100-80", ""),
        "      rollout: {gpus: 16}\n      train: {gpus: 8}\n", "") > 0);
    assert_true(check_whole_cluster(NODE("any", "3", "a100-80", ""),
        "      rollout: {gpus: 8}\n      train: {gpus: 16}\n", "") > 0);
    assert_true(check_whole_cluster(NODE("r", "2", "a100-80", "") NODE("t", "1", "h100", ""),
        "      rollout: {gpus: 16, types: [a100-80]}\n      train: {gpus: 8, types: [h100]}\n",
        ", role: {types: [h100]}") > 0);
    assert_true(check_whole_cluster(NODE("r", "2", "a100-80", "") NODE("t", "1", "h100", ""),
        "      rollout: {gpus: 16, types: [a100-80]}\n      train: {gpus: 8, types: [h100]}\n",
        ", role: {types: [a100-80]}") > 0);
}

static const char chat[] =
    "  services:\n    - name: chat\n      model: qwen2.5-7b\n"
    "      gpu: {tp: 1, types: [a100-80], cores: 4}\n"
    "      replicas: {min: 1, max: 8}\n      batch: 32\n"
    "      requests:\n"
    "        arrival: {process: diurnal, rate: 4/s, amplitude: 0.9, peak: "
    "10min}\n"
    "        prompt: {lognormal: {mean: 600, cv: 0.7}, max: 4000}\n"
    "        output: {lognormal: {mean: 150, cv: 0.7}, max: 1000}\n"
    "        for: 30min\n"
    "      slo: {ttft: 2s, tpot: 50ms}\n"
    "      scaling: {signal: concurrency, target: 4, interval: 15s, down: "
    "60s}\n"
    "  arrival: {process: all_at_once}\n  jobs: 2\n";

/* Services take back at once: they answer as if nobody had borrowed. */
static void services_lose_nothing_if_given_back_at_once(void **state)
{
    struct world world = { 0 };
    struct trial_result r[3];

    (void)state;
    open_rl(&world, NODE("serve", "1", "a100-80", "")
                    NODE("rollout", "1", "a100-80", "")
                    NODE("train", "2", "h100", ""), chat, apart,
            "[{policy: harvest, name: apart, reserve: 100%}, harvest, "
            "{policy: harvest, name: late, delay: 30s}]");
    run_all(&world, 9);
    for (int p = 0; p < 3; p++)
        assert_true(world_run(&world, (uint32_t)p * 3, NULL, NULL, &r[p]));
    assert_true(fabs(r[1].value[METRIC_SLO] - r[0].value[METRIC_SLO]) <
                0.002);
    assert_true(r[1].value[METRIC_PREEMPTIONS] > 0);
    assert_true(r[0].value[METRIC_PREEMPTIONS] == 0);
    assert_true(r[1].value[METRIC_JCT_MEAN] < r[0].value[METRIC_JCT_MEAN]);
    world_close(&world);
}

static const char together[] =
    "      rollout: {gpus: 8, min: 4, max: 24, types: [h100]}\n"
    "      train: {gpus: 8, types: [h100]}\n";

static void spot_rollouts_survive_reclaims(void **state)
{
    (void)state;
    for (int save = 0; save < 2; save++) {
        struct world world = { 0 };
        char nodes[1500];
        sprintf(nodes, NODE("train", "2", "h100", "") NODE("spot", "2", "h100",
                ", rent: {start: 20s, scale: always, reclaim: 3min, notice: "
                "%ds, on_notice: %s}"), save ? 5 : 0, save ? "save" : "work");
        open_rl(&world, nodes,
                "  arrival: {process: poisson, rate: 60/h}\n  jobs: 4\n",
                together, "[spot-rollout, dynamic, hybrid, elastic-hybrid]");
        run_all(&world, 12);
        world_close(&world);
    }
}

/* What is left of a rollout never grows with the time it had, is all of it at
 * the beginning, and takes no longer than the whole. */
static void kept_responses_only_shorten_a_rollout(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_rl(&world, NODE("rollout", "1", "a100-80", "")
                    NODE("train", "1", "h100", ""),
            "  arrival: {process: all_at_once}\n  jobs: 1\n", apart,
            "[static]");
    const struct llm *llm = catalogue_llm(world.experiment->catalogue,
                                          "qwen2.5-7b");
    const struct gpu_type *gpu = catalogue_gpu(world.experiment->catalogue,
                                               "a100-80");
    assert_non_null(llm);
    struct gang gang = { .gpu = gpu, .gpus = 8, .nodes = 1 };
    struct rollout_shape shape = {
        .llm = llm, .tp = 1, .responses = 512, .responses_per_prompt = 8,
        .prompt_tokens = 512, .response_mean_tokens = 1000,
        .response_max_tokens = 8192,
    };
    for (shape.response_cv = 0.5; shape.response_cv < 3.5;
         shape.response_cv += 0.5) {
        double whole = rollout_time(&shape, &gang, 0.5).total_s;
        double before = shape.responses + 1;
        for (int k = 0; k <= 40; k++) {
            struct rollout_shape rest =
                rollout_rest(&shape, &gang, whole * k / 40);
            assert_true(rest.responses <= before);
            assert_true(k > 0 || rest.responses == shape.responses);
            assert_true(rollout_time(&rest, &gang, 0.5).total_s <=
                        1.02 * whole);
            before = rest.responses;
        }
        assert_true(before < 0.05 * shape.responses);
    }
    world_close(&world);
}

/* ---- leases taken back at bad instants --------------------------------------- */

/* Takes every lease back: when its phase is expected to end, a nanosecond
 * before or after, or while it loads. */
struct grabber {
    int64_t delay_ns;
    uint32_t grabbed, saved;
};

static uint32_t all_saved;      /* leases that saved their state, over all looks */

/* The sums over all leases of a job, with those that belong to no role any more because
 * they save their state, are what the host says that it holds, and at most what it says that
 * it has held. */
static void add_up(struct grabber *grabber, const struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        struct job_id job = cs_lease(host, cs_lease_at(host, i))->job;
        double gpus = 0, gpu_s = 0;

        for (uint32_t k = 0; k < cs_lease_count(host); k++) {
            const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, k));
            if (lease->job.i != job.i)
                continue;
            gpus += lease->gpus;
            gpu_s += lease->gpus * (double)(cs_now_ns(host) - lease->since_ns) / 1e9;
            grabber->saved += cs_role_lease(host, job, lease->role).i !=
                              cs_lease_at(host, k).i;
        }
        assert_true(cs_attained_per_s(host, job) == gpus);
        assert_true(cs_attained_gpu_s(host, job) >= gpu_s * (1 - 1e-9));
    }
    all_saved = grabber->saved;
}

static void grab(void *self, struct cs_host *host)
{
    struct grabber *grabber = self;

    add_up(grabber, host);

    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        struct cs_want want = { .role = cs_task(host, task)->role };
        bool started = cs_task(host, task)->held.i != ID_NONE
            ? cs_continue(host, task) == CS_DONE
            : cs_start_want(host, task, &want) == CS_DONE;
        i += !started;
    }
    for (uint32_t i = 0; i < cs_lease_count(host) && grabber->grabbed < 60;
         i++) {
        struct lease_id id = cs_lease_at(host, i);
        const struct cs_lease *lease = cs_lease(host, id);
        if (lease->state == CS_LEASE_IDLE)
            continue;
        int64_t left = lease->expected_end_ns - cs_now_ns(host) +
                       (int64_t)(grabber->grabbed % 3) - 1;
        if (lease->state == CS_LEASE_LOADING)
            left = grabber->grabbed % 2 ? 0 : left;
        grabber->grabbed++;
        cs_take_back(host, id, left > 0 ? left : 0);
    }
}

static void leases_taken_back_when_phases_end_lose_nothing(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR,
        .size_bytes = sizeof(struct cs_policy),
        .name = "grabber", .summary = "takes all back",
        .flags = CS_PER_PHASE | CS_PREEMPTS,
        .self_bytes = sizeof(struct grabber), .decide = grab,
    };
    struct host_policy policy = world_policy(&table);
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    open_rl(&world, NODE("rollout", "2", "a100-80", "")
                    NODE("train", "2", "h100", ""),
            "  arrival: {process: poisson, rate: 60/h}\n  jobs: 3\n", apart,
            "[fcfs]");
    for (uint32_t i = 0; i < 3; i++) {
        if (!world_run(&world, i, &policy, NULL, &r))
            fail_msg("%s", world_error(&world));
        assert_true(r.value[METRIC_JOBS_DONE] == 3);
        assert_true(r.value[METRIC_PREEMPTIONS] > 20 && all_saved > 0);
    }
    world_close(&world);
}

/* A job of two roles is settled if one of them has a lease. */
static void ask_settled(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        struct job_id job = cs_task(host, task)->job;
        bool held = cs_task(host, task)->held.i != ID_NONE, leased = false;
        for (uint32_t r = 0; r < cs_request(host, job)->form->role_count; r++)
            leased |= cs_request(host, job)->form->role[r].gpus > 0 &&
                      cs_role_lease(host, job, r).i != ID_NONE;
        assert_true(cs_settled(host, job) == leased);
        struct cs_want want = { .role = cs_task(host, task)->role };
        bool started = held ? cs_continue(host, task) == CS_DONE
                            : cs_start_want(host, task, &want) == CS_DONE;
        i += !started;
    }
}

/* Also where each of its roles has one GPU. */
static void a_job_of_two_roles_is_settled_by_its_first_lease(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = "settler", .summary = "starts all", .flags = CS_PER_PHASE,
        .self_bytes = 1, .decide = ask_settled,
    };
    struct host_policy policy = world_policy(&table);
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    open_rl(&world, NODE("rollout", "1", "h100", "") NODE("train", "1", "h200", ""),
            "  arrival: {process: all_at_once}\n  jobs: 1\n",
            "      method: lora\n      rollout: {gpus: 1, types: [h100]}\n"
            "      train: {gpus: 1, types: [h200]}\n", "[fcfs]");
    if (!world_run(&world, 0, &policy, NULL, &r))
        fail_msg("%s", world_error(&world));
    assert_true(r.value[METRIC_JOBS_DONE] == 1);
    world_close(&world);
}

/* Jobs of a trace bring sizes of their own, beyond their role's. */
static void elastic_hybrid_runs_whole_jobs_of_any_size(void **state)
{
    struct world_job job[] = { { 0, 100, 16, 0, 0 }, { 0, 50, 3, 0, 0 },
                               { 10, 70, 1, 0, 0 } };
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 2, 8, job, 3, "[elastic-hybrid]"));
    if (!world_run(&world, 0, NULL, job, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] == 3);
    assert_true(job[0].end_s > 0);
    world_close(&world);
}

static void (*dynamic_itself)(void *self, struct cs_host *host);
static uint32_t saves;          /* that waited for their own lease */

/* The law's forecast on the lease that a save may go on with, which has the GPUs that its role
 * asks for, is as long as the estimate of the task. */
static void compare_saves(void *self, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id id = cs_pending(host, i);
        const struct cs_task *task = cs_task(host, id);
        const struct job_form *form = cs_request(host, task->job)->form;
        struct cs_forecast f;

        if (form->phase[task->phase].kind != PHASE_CHECKPOINT ||
            !cs_forecast_held(host, id, &f))
            continue;
        saves++;
        assert_int_equal(form->phase[task->phase].every, 3);
        if (fabs(f.run_s / (1e-9 * (double)task->estimate_ns) - 1) > 0.01)
            fail_msg("a save takes %g s, and its task is estimated at %g s", f.run_s,
                     1e-9 * (double)task->estimate_ns);
    }
    dynamic_itself(self, host);
}

/* A save comes in each third step.  A step counts a third of it, but its task is the whole. */
static void a_phase_of_each_third_step_is_estimated_wholly(void **state)
{
    struct cs_policy table = *registry_find("dynamic");
    struct world world = { 0 };

    (void)state;
    dynamic_itself = table.decide;
    table.decide = compare_saves;
    struct host_policy policy = world_policy(&table);
    saves = 0;
    open_rl(&world, NODE("rollout", "2", "a100-80", "") NODE("train", "2", "h100", ""),
            "  arrival: {process: all_at_once}\n  jobs: 2\n", apart, "[dynamic]");
    policy.params = world.experiment->point[0].policy[0]->params;
    if (!world_run(&world, 0, &policy, NULL, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(saves > 0);
    world_close(&world);
}

static void (*hybrid_itself)(void *self, struct cs_host *host);
static uint32_t both_waited, both_held, unequal;

/* A job holds no more than its roles ask for together, 8 + 8, whatever is free, and each role no
 * less than its least; of roles that waited together none takes more than it asks for. */
static void check_sum(struct cs_host *host, struct job_id job, bool both)
{
    uint32_t sum = 0, leases = 0, least = UINT32_MAX, most = 0;

    for (uint32_t r = 0; r < cs_request(host, job)->form->role_count; r++) {
        struct lease_id id = cs_role_lease(host, job, r);
        uint32_t gpus = id.i == ID_NONE ? 0 : cs_lease(host, id)->gpus;
        sum += gpus;
        leases += gpus > 0;
        least = gpus > 0 && gpus < least ? gpus : least;
        most = gpus > most ? gpus : most;
    }
    if (sum > 16 || least < 4 || (both && most > 8))
        fail_msg("%u leases of job %u hold %u GPUs, from %u to %u", leases, job.i, sum, least,
                 most);
    both_held += leases > 1;
    unequal += leases > 1 && least * 2 != sum;
}

static void watch_sums(void *self, struct cs_host *host)
{
    uint32_t waits[3] = { 0 };

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        if (task->gpus > 0)
            both_waited += ++waits[task->job.i] > 1;
    }
    hybrid_itself(self, host);
    for (uint32_t j = 0; j < 3; j++)
        if (cs_job_known(host, (struct job_id) { j }))
            check_sum(host, (struct job_id) { j }, waits[j] > 1);
}

/* Both roles run at a time, one step off: GPUs that one gains the other loses.  Three jobs have
 * 8 or 32 GPUs: they wait for each other, or not at all. */
static void elastic_hybrid_divides_what_both_roles_ask_for(void **state)
{
    struct cs_policy table = *registry_find("elastic-hybrid");
    const char *const nodes[] = { NODE("n", "1", "h100", ""), NODE("n", "4", "h100", "") };

    (void)state;
    hybrid_itself = table.decide;
    table.decide = watch_sums;
    both_waited = both_held = unequal = 0;
    for (int n = 0; n < 2; n++) {
        struct host_policy policy = world_policy(&table);
        struct world world = { 0 };
        struct trial_result result;

        open_rl(&world, nodes[n], "  arrival: {process: all_at_once}\n  jobs: 3\n",
                "      schedule: one-step-off\n"
                "      rollout: {gpus: 8, min: 4, max: 16, types: [h100]}\n"
                "      train: {gpus: 8, min: 4, max: 16, types: [h100]}\n", "[elastic-hybrid]");
        policy.params = world.experiment->point[0].policy[0]->params;
        if (!world_run(&world, 0, &policy, NULL, &result))
            fail_msg("%s", world_error(&world));
        assert_true(result.value[METRIC_JOBS_DONE] == 3);
        world_close(&world);
    }
    assert_true(both_waited > 0 && both_held > 0 && unequal > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_of_each_third_step_is_estimated_wholly),
        cmocka_unit_test(groups_hold_less_than_jobs_apart),
        cmocka_unit_test(groups_do_all_jobs_where_nodes_and_memory_are_few),
        cmocka_unit_test(jobs_without_two_pools_do_not_block_one_another),
        cmocka_unit_test(starburst_starts_jobs_of_several_roles),
        cmocka_unit_test(a_job_of_two_roles_is_promised_both),
        cmocka_unit_test(services_lose_nothing_if_given_back_at_once),
        cmocka_unit_test(spot_rollouts_survive_reclaims),
        cmocka_unit_test(kept_responses_only_shorten_a_rollout),
        cmocka_unit_test(leases_taken_back_when_phases_end_lose_nothing),
        cmocka_unit_test(a_job_of_two_roles_is_settled_by_its_first_lease),
        cmocka_unit_test(elastic_hybrid_runs_whole_jobs_of_any_size),
        cmocka_unit_test(elastic_hybrid_divides_what_both_roles_ask_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
