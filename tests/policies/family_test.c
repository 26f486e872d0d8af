/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * family_test.c - what each family of policies promises, on jobs with phases.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/cluster/cluster.h"
#include "tests/aid/family_aid.h"

#define JOBS 12
#define POLICIES 7
#define BUSY_ARRIVAL "{process: poisson, rate: 60/h}"
#define AT_ONCE "{process: all_at_once}"
/* Of mixed_64: nodes 0-3 are pool rollout, 4-7 train, 8-9 cpu. */
#define TRAIN_FIRST 4
#define TRAIN_END 8

static void must_run(struct world *world, uint32_t trial,
                     struct family_run *run)
{
    if (!family_run(world, trial, run))
        fail_msg("%s", world_error(world));
}

/* ---- all families ------------------------------------------------------ */

static void every_policy_ends_all_jobs_and_accounts_for_all_gpu_time(
    void **state)
{
    struct world world = { 0 };

    (void)state;
    assert_true(family_open(&world, BUSY_ARRIVAL, JOBS, 3, FAMILY_ALL));
    for (uint32_t t = 0; t < experiment_trial_count(world.experiment); t++) {
        struct family_run run;
        double sum = 0;
        must_run(&world, t, &run);
        const double *value = run.result.value;
        assert_true(value[METRIC_JOBS] == JOBS);
        assert_true(value[METRIC_JOBS_DONE] == JOBS);
        for (int m = METRIC_GPU_BUSY; m <= METRIC_GPU_IDLE_EMPTY; m++) {
            assert_true(value[m] >= 0);
            sum += value[m];
        }
        assert_true(fabs(sum - 1) < 1e-9);
        assert_true(value[METRIC_GPU_BUSY] > 0);
        for (int c = 0; c < AUDIT_CHECK_COUNT; c++)
            assert_true(run.result.audit_count[c] > 0);
        family_drop(&run);
    }
    world_close(&world);
}

struct stream {
    char kind[JOBS][256], submit[JOBS][256];
    double steps;
};

static void stream_of(const struct family_run *run, struct stream *stream)
{
    struct rows rows = rows_of(run->jobs);

    memset(stream, 0, sizeof *stream);
    while (rows_next(&rows)) {
        uint32_t job = (uint32_t)rows_number(&rows, "job");
        assert_true(job < JOBS);
        rows_text(&rows, "kind", stream->kind[job]);
        rows_text(&rows, "submit_s", stream->submit[job]);
    }
    stream->steps = run->result.value[METRIC_STEPS_DONE];
}

static void every_policy_meets_the_same_jobs(void **state)
{
    struct world world = { 0 };
    struct stream first, other;
    struct family_run run;

    (void)state;
    assert_true(family_open(&world, BUSY_ARRIVAL, JOBS, 2, FAMILY_ALL));
    for (uint32_t seed = 0; seed < 2; seed++)
        for (uint32_t p = 0; p < POLICIES; p++) {
            must_run(&world, p * 2 + seed, &run);
            stream_of(&run, p == 0 ? &first : &other);
            family_drop(&run);
            if (p > 0)
                assert_memory_equal(&first, &other, sizeof first);
        }
    world_close(&world);
}

static void a_phase_names_the_gpus_of_its_own_lease(void **state)
{
    struct world world = { 0 };
    struct family_run run;
    uint32_t seen = 0;

    (void)state;
    assert_true(family_open(&world, BUSY_ARRIVAL, JOBS, 1, "static"));
    must_run(&world, 0, &run);
    struct rows rows = rows_of(run.phases);
    while (rows_next(&rows)) {
        bool gpus = rows_number(&rows, "gpus") > 0;
        const char *type = rows_node(&rows) < TRAIN_FIRST ? "l40s"
                                                          : "a100-80";
        assert_true(rows_are(&rows, "gpu_type", gpus ? type : ""));
        seen += gpus;
    }
    assert_true(seen > JOBS);
    family_drop(&run);
    world_close(&world);
}

/* ---- where roles run --------------------------------------------------- */

/* In the pool of another role? */
static bool foreign(const struct rows *rows)
{
    uint32_t node = rows_node(rows);
    bool train_pool = node >= TRAIN_FIRST && node < TRAIN_END;

    if (rows_number(rows, "gpus") == 0)
        return false;
    return rows_are(rows, "role", "train") ? !train_pool : train_pool;
}

static uint32_t count_foreign(const struct family_run *run)
{
    struct rows rows = rows_of(run->phases);
    uint32_t count = 0;

    while (rows_next(&rows))
        count += foreign(&rows);
    return count;
}

static uint32_t count_starts(const struct family_run *run)
{
    struct rows rows = rows_of(run->decisions);
    uint32_t starts = 0;

    while (rows_next(&rows))
        starts += rows_are(&rows, "action", "start");
    return starts;
}

/* Times at which a role with GPUs ran elsewhere than the time before. */
static uint32_t count_moves(const struct family_run *run)
{
    static const char *const role[] = { "rollout", "train" };
    uint32_t moves = 0;

    for (int r = 0; r < 2; r++)
        for (uint32_t job = 0; job < JOBS; job++) {
            struct rows rows = rows_of(run->phases);
            char last[256] = "", now[256];
            while (rows_next(&rows)) {
                if (rows_number(&rows, "job") != job ||
                    !rows_are(&rows, "role", role[r]))
                    continue;
                rows_text(&rows, "nodes", now);
                moves += last[0] && strcmp(last, now) != 0;
                strcpy(last, now);
            }
        }
    return moves;
}

static void static_decides_once_a_job_and_never_moves_a_role(void **state)
{
    struct world world = { 0 };
    struct family_run run;

    (void)state;
    assert_true(family_open(&world, BUSY_ARRIVAL, JOBS, 3, "static"));
    for (uint32_t t = 0; t < 3; t++) {
        must_run(&world, t, &run);
        struct rows rows = rows_of(run.decisions);
        uint32_t starts = 0;
        while (rows_next(&rows)) {
            assert_true(rows_are(&rows, "action", "start"));
            starts++;
        }
        assert_int_equal(starts, JOBS);
        assert_int_equal(count_moves(&run), 0);
        assert_int_equal(count_foreign(&run), 0);
        assert_true(run.result.value[METRIC_PREEMPTIONS] == 0);
        family_drop(&run);
    }
    world_close(&world);
}

static void dynamic_stays_at_home_unless_it_may_lend(void **state)
{
    struct world world = { 0 };
    struct family_run home, away;

    (void)state;
    assert_true(family_open(&world, BUSY_ARRIVAL, JOBS, 1,
                            "{policy: dynamic, lend: false}, "
                            "{policy: dynamic, name: lends}"));
    must_run(&world, 0, &home);
    must_run(&world, 1, &away);
    assert_int_equal(count_foreign(&home), 0);
    assert_true(count_foreign(&away) > 0);
    family_drop(&home);
    family_drop(&away);
    world_close(&world);
}

/* A grant of GPUs in a pool, and since when its job has waited: since its last phase ended. */
struct grant {
    double ready, at;
    uint32_t pool;
    bool borrowed;
};

static double last_end(const struct family_run *run, double job, double at)
{
    struct rows rows = rows_of(run->phases);
    double last = INFINITY;

    while (rows_next(&rows)) {
        double end = rows_number(&rows, "end_s");
        if (rows_number(&rows, "job") == job && end <= at && (isinf(last) || end > last))
            last = end;
    }
    return last;
}

/* Pairs of a phase that is granted GPUs outside its home and one at home there that has waited
 * before that and goes on waiting. */
static uint32_t owners_passed(const struct family_run *run)
{
    static struct grant grant[2000];
    struct rows rows = rows_of(run->decisions);
    uint32_t count = 0, passed = 0;

    while (rows_next(&rows)) {
        uint32_t node = (uint32_t)rows_number(&rows, "placement");
        bool is_train = rows_are(&rows, "role", "train");

        if (!rows_are(&rows, "action", "start") ||
            (!is_train && !rows_are(&rows, "role", "rollout")))
            continue;
        assert_true(count < 2000);
        double at = rows_number(&rows, "t_s");
        grant[count++] = (struct grant) { last_end(run, rows_number(&rows, "job"), at), at,
                                          node >= TRAIN_FIRST,
                                          is_train != (node >= TRAIN_FIRST) };
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count && grant[i].borrowed; k++)
            passed += !grant[k].borrowed && grant[k].pool == grant[i].pool &&
                      grant[k].ready < grant[i].at && grant[i].at < grant[k].at;
    return passed;
}

static void owners_first_lets_no_borrower_pass(void **state)
{
    struct world world = { 0 };
    struct family_run any, first;

    (void)state;
    assert_true(family_open(&world, "{process: poisson, rate: 600/h}", 40, 1,
                            "dynamic, {policy: dynamic, name: first, owners_first: true}"));
    must_run(&world, 0, &any);
    must_run(&world, 1, &first);
    assert_true(count_foreign(&any) > 0 && count_foreign(&first) > 0);
    assert_true(owners_passed(&any) > 0);
    assert_int_equal(owners_passed(&first), 0);
    family_drop(&any);
    family_drop(&first);
    world_close(&world);
}

struct span {
    double start, end;
    uint32_t pool, gpus;
};

/* Most GPUs of one pool that work for the other role at one instant. */
static uint32_t most_foreign(const struct family_run *run)
{
    static struct span span[20000];
    struct rows rows = rows_of(run->phases);
    uint32_t count = 0, most = 0;

    while (rows_next(&rows))
        if (foreign(&rows)) {
            assert_true(count < 20000);
            span[count++] = (struct span) {
                rows_number(&rows, "start_s"), rows_number(&rows, "end_s"),
                rows_node(&rows) >= TRAIN_FIRST,
                (uint32_t)rows_number(&rows, "gpus"),
            };
        }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t gpus = 0;
        for (uint32_t j = 0; j < count; j++)
            if (span[j].pool == span[i].pool &&
                span[j].start <= span[i].start &&
                span[i].start < span[j].end)
                gpus += span[j].gpus;
        most = gpus > most ? gpus : most;
    }
    return most;
}

/* Phases that go on, by decision, on a lease in the pool of another role. */
static uint32_t foreign_goes_on(const struct family_run *run)
{
    struct rows rows = rows_of(run->decisions);
    uint32_t count = 0;
    char role[256];

    while (rows_next(&rows)) {
        uint32_t node = (uint32_t)rows_number(&rows, "placement");
        bool train_pool = node >= TRAIN_FIRST && node < TRAIN_END;
        rows_text(&rows, "role", role);
        if (rows_are(&rows, "action", "continue") && node < TRAIN_END)
            count += strcmp(role, train_pool ? "rollout" : "train") == 0;
    }
    return count;
}

static void hybrid_never_lends_its_reserve_and_takes_all_back(void **state)
{
    static const uint32_t allowed[] = { 32, 24, 16, 0 };
    struct world world = { 0 };
    struct family_run run;

    (void)state;
    assert_true(family_open(&world, AT_ONCE, JOBS, 1,
                            "{policy: hybrid, name: r0, reserve: 0%}, "
                            "{policy: hybrid, name: r25, reserve: 25%}, "
                            "{policy: hybrid, name: r50, reserve: 50%}, "
                            "{policy: hybrid, name: r100, reserve: 100%}"));
    for (uint32_t t = 0; t < 4; t++) {
        must_run(&world, t, &run);
        assert_true(most_foreign(&run) <= allowed[t]);
        if (t == 0)             /* or the rest would say nothing */
            assert_true(most_foreign(&run) > allowed[2]);
        assert_true(foreign_goes_on(&run) == 0);
        family_drop(&run);
    }
    world_close(&world);
}

/* When the first phase of a lease with GPUs was over, and the first on GPUs of
 * the other role began; INFINITY: none. */
static void first_ends(const struct family_run *run, double *end_s,
                       double *away_s)
{
    struct rows rows = rows_of(run->phases);

    *end_s = *away_s = INFINITY;
    while (rows_next(&rows)) {
        if (rows_number(&rows, "gpus") > 0)
            *end_s = fmin(*end_s, rows_number(&rows, "end_s"));
        if (foreign(&rows))
            *away_s = fmin(*away_s, rows_number(&rows, "start_s"));
    }
}

/* Few jobs: each pool has room, and rollouts are faster on A100. */
static void hybrid_leaves_home_once_it_has_timed_a_phase(void **state)
{
    static const char *const start[] = { "wake", "process" };
    double end_s, away_s;

    (void)state;
    for (int dear = 0; dear < 2; dear++) {
        struct world world = { 0 };
        struct family_run run;

        assert_true(family_open_start(&world, "{process: poisson, rate: 6/h}", JOBS,
                                      1, "hybrid", start[dear]));
        must_run(&world, 0, &run);
        first_ends(&run, &end_s, &away_s);
        assert_true(isfinite(end_s));
        if (dear)               /* GPUs are not given back between phases */
            assert_true(isinf(away_s));
        else
            assert_true(away_s >= end_s && isfinite(away_s));
        family_drop(&run);
        world_close(&world);
    }
}

/* ---- what switches cost ------------------------------------------------ */

static void dearer_switches_make_dynamic_move_less(void **state)
{
    struct world world = { 0 };
    struct family_run run;
    uint32_t moves[3] = { 0 };

    (void)state;
    assert_true(family_open(&world, BUSY_ARRIVAL, JOBS, 3,
                            "{policy: dynamic, name: g1, gain_min: 1}, "
                            "{policy: dynamic, name: g10, gain_min: 10}, "
                            "{policy: dynamic, name: g100, gain_min: 100}"));
    for (uint32_t t = 0; t < 9; t++) {
        must_run(&world, t, &run);
        moves[t / 3] += count_moves(&run);
        family_drop(&run);
    }
    assert_true(moves[1] <= moves[0]);
    assert_true(moves[2] <= moves[1]);
    assert_true(moves[2] < moves[0]);
    world_close(&world);
}

static void slow_starts_make_dynamic_move_less(void **state)
{
    static const char *const start[] = { "wake", "process" };
    uint32_t moves[2] = { 0 };

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct world world = { 0 };
        struct family_run run;
        assert_true(family_open_start(&world, BUSY_ARRIVAL, JOBS, 3,
                                      "dynamic", start[k]));
        for (uint32_t t = 0; t < 3; t++) {
            must_run(&world, t, &run);
            moves[k] += count_moves(&run);
            family_drop(&run);
        }
        world_close(&world);
    }
    assert_true(moves[1] < moves[0]);
}

/* One node whose two roles take turns on the same eight GPUs. */
static bool one_node(struct world *world)
{
    return world_open(
        world,
        "experiment: turns\nseeds: 1\nuntil: drained\n"
        "cluster: {nodes: [{name: gpu, count: 1, gpus: {type: a100-80, "
        "count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: 1900GB, "
        "nics: {type: ib-hdr, count: 8}}], storage: {bandwidth: 20GB/s}}\n"
        "workload: {arrival: {process: all_at_once}, jobs: 1, mix: [{recipe: "
        "dpo, model: qwen2.5-7b, method: lora, recompute: full, zero: 2, "
        "prompts: 64, pairs: 1, prompt_tokens: 256, response: {mean: 200, "
        "cv: 1, max: 1024}, steps: 3, rollout: {gpus: 8}, train: {gpus: 8}, "
        "data: {cores: 8}}]}\n"
        "policies: [random, dynamic]\n");
}

/* Loading that takes the place of an idle lease waits for its bytes to be
 * saved: (saved + loaded) / (GPUs x PCIe rate) + wake-up, by hand.  `random` takes over idle
 * leases when a phase is ready. */
static void a_take_over_pays_for_saving_what_it_throws_out(void **state)
{
    struct world world = { 0 };
    struct family_run run;
    uint32_t seen = 0;
    double asked_s = -1;

    (void)state;
    assert_true(one_node(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    const struct job_form *form = workload_form(spec.workload, 0);
    const struct role_spec *rollout = &form->role[0], *train = &form->role[0];
    for (uint32_t r = 0; r < form->role_count; r++) {
        if (strcmp(form->role[r].name, "rollout") == 0)
            rollout = &form->role[r];
        if (strcmp(form->role[r].name, "train") == 0)
            train = &form->role[r];
    }
    double bps = 8 * spec.cluster->group[0].pcie_bps;
    double expected = (train->save_bytes + rollout->load_bytes) / bps +
                      rollout->wake_s;
    assert_true(train->save_bytes > 0 && rollout->load_bytes > 0);
    must_run(&world, 0, &run);
    struct rows phases = rows_of(run.phases), decisions;
    while (rows_next(&phases)) {
        if (!rows_are(&phases, "phase", "rollout"))
            continue;
        double start_s = rows_number(&phases, "start_s");
        decisions = rows_of(run.decisions);
        while (rows_next(&decisions))
            if (rows_are(&decisions, "role", "rollout") &&
                rows_number(&decisions, "t_s") <= start_s)
                asked_s = rows_number(&decisions, "t_s");
        if (seen++ > 0)         /* the first comes from shared storage */
            assert_true(fabs(start_s - asked_s - expected) < 1e-6);
    }
    assert_int_equal(seen, 3);
    family_drop(&run);
    world_close(&world);
}

/* `dynamic` lets the node go as soon as a phase is over, so that saving begins while data is
 * prepared: it ends no later than `random`, and sooner by less than that takes. */
static void who_can_never_hold_both_roles_gives_back_at_once(void **state)
{
    struct world world = { 0 };
    struct trial_result r[2];

    (void)state;
    assert_true(one_node(&world));
    for (uint32_t p = 0; p < 2; p++)
        assert_true(world_run(&world, p, NULL, NULL, &r[p]));
    double sooner_s = r[0].value[METRIC_JCT_MEAN] - r[1].value[METRIC_JCT_MEAN];
    assert_true(sooner_s >= 0 && sooner_s < 3 * 0.0016);
    world_close(&world);
}

static void two_idle_leases_stay_where_nobody_wants_them(void **state)
{
    struct world world = { 0 };
    struct family_run run;
    struct rows rows;
    uint32_t goes_on = 0;

    /* One job, 64 GPUs: each of its three leases is granted once, then its
     * roles wait in turn, and go on where they are. */
    (void)state;
    assert_true(family_open(&world, AT_ONCE, 1, 1,
                            "{policy: dynamic, lend: false, "
                            "release_max: 0}"));
    must_run(&world, 0, &run);
    rows = rows_of(run.decisions);
    while (rows_next(&rows))
        goes_on += rows_are(&rows, "action", "continue");
    assert_int_equal(count_starts(&run), 4);    /* of cores, twice */
    assert_true(goes_on >= 3);
    assert_int_equal(count_moves(&run), 0);
    family_drop(&run);
    world_close(&world);
}

/* With lend_max 0 a job has all its roles for its life: each of its three leases
 * is granted once and never given back, however many jobs wait.  With release_max
 * 100% GPUs are given back between phases and asked for again. */
static void switches_decide_who_keeps_its_gpus(void **state)
{
    struct world world = { 0 };
    struct family_run run;
    uint32_t starts[4], releases[4] = { 0 };

    (void)state;
    assert_true(family_open(&world, AT_ONCE, 9, 1,
                            "{policy: dynamic, lend_max: 0, release_max: 0}, "
                            "{policy: hybrid, lend_max: 0, release_max: 0}, "
                            "{policy: dynamic, name: a, release_max: 100%}, "
                            "{policy: hybrid, name: b, release_max: 100%}"));
    for (uint32_t t = 0; t < 4; t++) {
        must_run(&world, t, &run);
        starts[t] = count_starts(&run);
        struct rows rows = rows_of(run.decisions);
        while (rows_next(&rows))
            releases[t] += rows_are(&rows, "action", "release") &&
                           !rows_are(&rows, "role", "data");
        family_drop(&run);
    }
    assert_int_equal(releases[0], 0);
    assert_int_equal(releases[1], 0);
    assert_true(releases[2] > 0 && releases[3] > 0);
    assert_true(starts[2] > starts[0] && starts[3] > starts[1]);
    world_close(&world);
}

/* Three jobs fit beside each other; `random` takes what comes first. */
static void nobody_is_thrown_out_while_there_is_room(void **state)
{
    struct world world = { 0 };
    struct family_run run;
    uint32_t starts[3];

    (void)state;
    assert_true(family_open(&world,
                            "{process: fixed, times: [0s, 60s, 85s]}", 3, 1,
                            "{policy: dynamic, lend: false, release_max: 0}, "
                            "{policy: hybrid, release_max: 0}, random"));
    for (uint32_t t = 0; t < 3; t++) {
        must_run(&world, t, &run);
        starts[t] = count_starts(&run);
        family_drop(&run);
    }
    /* Cores are given back by a job that waits for its GPUs: one start more. */
    assert_int_equal(starts[0], 12);
    assert_int_equal(starts[1], 12);
    assert_true(starts[2] > 9);
    world_close(&world);
}

/* ---- bandwidth --------------------------------------------------------- */

static struct cluster_spec faster(const struct cluster_spec *spec,
                                  double factor, struct node_group *group)
{
    struct cluster_spec out = *spec;

    memcpy(group, spec->group, spec->group_count * sizeof *group);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        group[g].pcie_bps *= factor;
        group[g].nvlink_bps *= factor;
        group[g].nic_bps *= factor;
        group[g].nvme_bps *= factor;
    }
    out.storage_bps *= factor;
    out.group = group;
    return out;
}

static void twice_the_bandwidth_never_lengthens_static_jobs(void **state)
{
    struct world world = { 0 };
    struct node_group group[8];
    struct family_run slow, fast;

    (void)state;
    assert_true(family_open(&world, BUSY_ARRIVAL, JOBS, 5, "static"));
    for (uint32_t t = 0; t < 5; t++) {
        struct trial_spec spec = experiment_trial_spec(world.experiment, t);
        assert_true(spec.cluster->group_count <= 8);
        struct cluster_spec twice = faster(spec.cluster, 2, group);
        must_run(&world, t, &slow);
        spec.cluster = &twice;
        assert_true(family_run_spec(&spec, &fast, &world.err));
        assert_true(fast.result.value[METRIC_JCT_MEAN] <
                    slow.result.value[METRIC_JCT_MEAN] + 1e-9);
        family_drop(&slow);
        family_drop(&fast);
    }
    world_close(&world);
}

/* ---- priorities and shares --------------------------------------------- */

static void the_higher_priority_is_served_first(void **state)
{
    static const char *const policy[] = { "dynamic", "hybrid" };
    char text[1024];

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct world world = { 0 };
        struct world_job job[3] = { { 0 } };
        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        world_write(&world, "jobs.csv",
                    "job,submit,duration,gpus,priority\n"
                    "0,0,100,8,0\n1,10,100,8,0\n2,20,100,8,5\n");
        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\nuntil: drained\n"
                 "cluster: {nodes: [{name: n, count: 1, gpus: {type: "
                 "generic, count: 8}}]}\n"
                 "workload: {trace: {file: jobs.csv, format: csv, columns: "
                 "{job: job, submit: submit, duration: duration, gpus: gpus, "
                 "priority: priority}}}\npolicies: [%s]\n", policy[p]);
        assert_true(world_open(&world, text));
        assert_true(world_run(&world, 0, NULL, job, NULL));
        assert_true(job[0].start_s == 0);
        assert_true(job[2].start_s == 100);
        assert_true(job[1].start_s == 200);
        world_close(&world);
    }
}

/* Most jobs of one kind that hold leases at one instant. */
static uint32_t most_of_a_kind(const struct family_run *run)
{
    struct rows a = rows_of(run->jobs), b;
    uint32_t most = 0;
    char kind[256];

    while (rows_next(&a)) {
        uint32_t count = 0;
        rows_text(&a, "kind", kind);
        b = rows_of(run->jobs);
        while (rows_next(&b))
            count += rows_are(&b, "kind", kind) &&
                     rows_number(&b, "start_s") <=
                         rows_number(&a, "start_s") &&
                     rows_number(&a, "start_s") < rows_number(&b, "end_s");
        most = count > most ? count : most;
    }
    return most;
}

static void static_keeps_kinds_of_jobs_below_their_share(void **state)
{
    struct world world = { 0 };
    struct family_run run;

    (void)state;
    assert_true(family_open(&world, AT_ONCE, JOBS, 1,
                            "{policy: static, name: all, blocking: skip}, "
                            "{policy: static, name: half, share_max: 50%, "
                            "blocking: skip}, "
                            "{policy: static, name: quarter, share_max: 25%, "
                            "blocking: skip}"));
    must_run(&world, 0, &run);  /* a job holds 16 of 64 GPUs */
    assert_true(most_of_a_kind(&run) > 2);
    family_drop(&run);
    must_run(&world, 1, &run);
    assert_int_equal(most_of_a_kind(&run), 2);
    family_drop(&run);
    must_run(&world, 2, &run);
    assert_int_equal(most_of_a_kind(&run), 1);
    family_drop(&run);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            every_policy_ends_all_jobs_and_accounts_for_all_gpu_time),
        cmocka_unit_test(every_policy_meets_the_same_jobs),
        cmocka_unit_test(a_phase_names_the_gpus_of_its_own_lease),
        cmocka_unit_test(static_decides_once_a_job_and_never_moves_a_role),
        cmocka_unit_test(dynamic_stays_at_home_unless_it_may_lend),
        cmocka_unit_test(owners_first_lets_no_borrower_pass),
        cmocka_unit_test(hybrid_never_lends_its_reserve_and_takes_all_back),
        cmocka_unit_test(hybrid_leaves_home_once_it_has_timed_a_phase),
        cmocka_unit_test(dearer_switches_make_dynamic_move_less),
        cmocka_unit_test(slow_starts_make_dynamic_move_less),
        cmocka_unit_test(a_take_over_pays_for_saving_what_it_throws_out),
        cmocka_unit_test(who_can_never_hold_both_roles_gives_back_at_once),
        cmocka_unit_test(two_idle_leases_stay_where_nobody_wants_them),
        cmocka_unit_test(switches_decide_who_keeps_its_gpus),
        cmocka_unit_test(nobody_is_thrown_out_while_there_is_room),
        cmocka_unit_test(twice_the_bandwidth_never_lengthens_static_jobs),
        cmocka_unit_test(the_higher_priority_is_served_first),
        cmocka_unit_test(static_keeps_kinds_of_jobs_below_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
