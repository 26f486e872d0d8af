/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * semantics_test.c - every preset does what `clustersim list semantics` says:
 * each row is run on the 480 jobs, and its mean JCT has the digits of the row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/registry/semantics.h"
#include "tests/aid/world.h"

#define TEXT_BYTES 8192

/* An experiment on the trace, by full path: worlds live in /tmp. */
static void experiment(char *text, const char *policies)
{
    char here[300];

    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, TEXT_BYTES,
             "experiment: t\nseeds: 1\nuntil: drained\n"
             "cluster: {nodes: [{name: n, count: 8, gpus: {type: generic, "
             "count: 8}}]}\n"
             "workload: {trace: {file: \"%s/workloads/traces/c480.csv\", "
             "format: csv, columns: {job: job_id, submit: submit_time, "
             "duration: duration, gpus: num_gpu}}}\n"
             "policies: %s\n", here, policies);
}

static bool opened(struct world *world, const char *policies)
{
    char text[TEXT_BYTES];

    experiment(text, policies);
    return world_open(world, text);
}

static void every_preset_gives_the_mean_that_its_row_states(void **state)
{
    char policies[TEXT_BYTES - 1024] = "[";
    const struct semantics_row *row;
    struct world world = { 0 };
    struct trial_result result;
    size_t n = 1, rows = 0;

    (void)state;
    for (; (row = semantics_at(rows)) != NULL; rows++)
        n += (size_t)snprintf(policies + n, sizeof policies - n,
                              "%s{policy: %s, name: p%zu, semantics: %s}",
                              rows == 0 ? "" : ", ", row->policy, rows,
                              row->preset);
    assert_true(n + 2 < sizeof policies);
    strcat(policies, "]");
    if (!opened(&world, policies))
        fail_msg("%s", world_error(&world));
    assert_true(rows >= 20);
    for (uint32_t i = 0; (row = semantics_at(i)) != NULL; i++) {
        const char *point = strchr(row->effect, '.');
        char text[64];

        assert_true(world_run(&world, i, NULL, NULL, &result));
        snprintf(text, sizeof text, "%.*f", (int)strlen(point + 1),
                 result.value[METRIC_JCT_MEAN]);
        if (strcmp(text, row->effect) != 0)
            fail_msg("%s %s: the row says %s, a run %s", row->preset,
                     row->policy, row->effect, text);
        assert_int_equal(result.status_count[JOB_DONE] +
                         result.status_count[JOB_DROPPED], 480);
    }
    world_close(&world);
}

/* Written out, each is accepted: nothing that a preset sets is without effect. */
static void no_preset_sets_a_key_that_does_nothing(void **state)
{
    const struct semantics_row *row;

    (void)state;
    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++) {
        struct world world = { 0 };
        char entry[400];

        snprintf(entry, sizeof entry, "[{policy: %s, %s]", row->policy,
                 row->keys + 1);
        if (!opened(&world, entry))
            fail_msg("%s %s: %s", row->preset, row->policy,
                     world_error(&world));
        world_close(&world);
    }
}

static void semantics_are_told_by_the_keys_that_act(void **state)
{
    static const struct { const char *entry, *told; } row[] = {
        { "fcfs", "blocking=strict placement=pack" },
        { "srtf", "placement=pack estimate=exact" },
        { "{policy: las, rounds: {length: 60s}}",
          "placement=pack rounds.length=60s" },
        { "{policy: fcfs, blocking: commit, backfill: true, estimate: noisy, "
          "noise: 0.25}", "blocking=commit placement=pack "
          "estimate=noisy(cv 0.25) backfill=yes" },
        { "{policy: fcfs, semantics: rlscheduler-backfill, blocking: strict}",
          "blocking=strict placement=count" },
        { "{policy: fcfs, semantics: fgd, placement: random}",
          "blocking=drop placement=random" },
        { "{policy: srtf, semantics: helios}", "placement=count estimate=exact "
          "preemption.cost(1)=7s preemption.cost(8)=30s preemption.cost=60s "
          "tick=1s" },
        { "{policy: quota, quotas: \"\", borrow: false}",
          "placement=pack" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world world = { 0 };
        char entry[300];

        snprintf(entry, sizeof entry, "[%s]", row[i].entry);
        if (!opened(&world, entry))
            fail_msg("%s: %s", entry, world_error(&world));
        assert_string_equal(world.experiment->point[0].policy[0]->semantics,
                            row[i].told);
        world_close(&world);
    }
}

static void a_key_beside_a_preset_goes_before_it(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    assert_true(opened(&world, "[{policy: fcfs, semantics: helios, "
                               "placement: count}]"));
    assert_true(world_run(&world, 0, NULL, NULL, &result));
    assert_true(result.value[METRIC_JCT_MEAN] > 10539.5728 &&
                result.value[METRIC_JCT_MEAN] < 10539.5730);
    world_close(&world);
}

static void wrong_presets_are_refused_by_name(void **state)
{
    static const struct { const char *policies, *says, *hint; } wrong[] = {
        { "[{policy: fcfs, semantics: tiresius}]",
          "there are no semantics named tiresius", "Did you mean tiresias?" },
        { "[{policy: las, semantics: gavel}]",
          "semantics gavel says nothing of policy las, only of fcfs, gavel",
          "list semantics" },
        { "[{policy: fcfs, semantics: [gavel]}]", "expected the name", "" },
        { "[{policy: fcfs, tick: 1s, rounds: {length: 60s}}]",
          "keys rounds and tick exclude each other", "" },
        { "[{policy: fcfs, tick: -1s}]", "tick", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct world world = { 0 };

        assert_false(opened(&world, wrong[i].policies));
        if (!strstr(world_error(&world), wrong[i].says))
            fail_msg("%s", world_error(&world));
        assert_non_null(strstr(world.err.hint, wrong[i].hint));
        world_close(&world);
    }
}

/* Two jobs of 10 s on one GPU, then a short one while the first runs. */
static void what_was_chosen_keeps_its_turn_under_commit(void **state)
{
    struct world_job job[] = {
        { .submit_s = 0, .duration_s = 10, .gpus = 1 },
        { .submit_s = 1, .duration_s = 10, .gpus = 1 },
        { .submit_s = 2, .duration_s = 1, .gpus = 1 },
    };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 1, job, 3, "[sjf, {policy: sjf, name: "
                            "c, blocking: commit}]"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_int_equal(job[2].start_s, 10);
    assert_true(world_run(&world, 1, NULL, job, NULL));
    assert_int_equal(job[1].start_s, 10);
    assert_int_equal(job[2].start_s, 20);
    world_close(&world);
}

/* Helios sorts those that wait before those that run, and stably: a job of the
 * same remaining time stops the one that runs, which then owes 7 s.  Tiresias's
 * list persists, and nothing is stopped for its equal. */
static void a_tie_stops_what_runs_in_helios_and_not_in_tiresias(void **state)
{
    struct world_job job[] = {
        { .submit_s = 0, .duration_s = 10, .gpus = 1 },
        { .submit_s = 5, .duration_s = 5, .gpus = 1 },
    };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 1, job, 2, "[{policy: srtf, semantics: "
                            "helios}, {policy: srtf, name: t, semantics: "
                            "tiresias}]"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_int_equal(job[1].start_s, 5);
    assert_int_equal(job[1].end_s, 11);
    assert_int_equal(job[0].end_s, 11 + 5 + 7 + 1);
    assert_true(world_run(&world, 1, NULL, job, NULL));
    assert_int_equal(job[1].start_s, 10);
    world_close(&world);
}

static void a_tick_is_added_to_each_job_and_starts_are_at_ticks(void **state)
{
    struct world_job job[] = {
        { .submit_s = 0, .duration_s = 7, .gpus = 1 },
        { .submit_s = 3, .duration_s = 4, .gpus = 1 },
    };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 1, job, 2, "[{policy: fcfs, tick: "
                            "5s}]"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_int_equal(job[0].end_s, 12);
    assert_int_equal(job[1].start_s, 15);
    assert_int_equal(job[1].end_s, 24);
    world_close(&world);
}

/* A part of a node is taken: best_fit puts what 12 GPUs leave over of whole
 * nodes there, Helios's simulator on the node that is still empty. */
static void a_remainder_goes_to_the_emptiest_node_in_helios(void **state)
{
    struct world_job job[] = {
        { .submit_s = 0, .duration_s = 100, .gpus = 4 },
        { .submit_s = 0, .duration_s = 10, .gpus = 12 },
        { .submit_s = 0, .duration_s = 10, .gpus = 8 },
    };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 3, 8, job, 3, "[{policy: fcfs, semantics: "
                            "helios}, {policy: fcfs, name: b, placement: "
                            "best_fit}]"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_int_equal(job[2].start_s, 10);
    assert_true(world_run(&world, 1, NULL, job, NULL));
    assert_int_equal(job[2].start_s, 0);
    world_close(&world);
}

/* Jobs 1 and 2 end at 10 s, where 2 was expected to at 5 s: it gives its GPU
 * back first, job 3 starts, then job 1 gives back three, which job 5 takes. */
static void late_jobs_give_back_first_in_rlscheduler(void **state)
{
    struct world_job job[7];
    struct world world = { .folder = "/tmp/clustersim-test-XXXXXX" };

    (void)state;
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv",
                "job,submit,duration,gpus,limit\n"
                "0,0,100,3,100\n1,0,10,3,10\n2,0,10,1,5\n3,1,10,2,10\n"
                "4,2,50,8,50\n5,3,5,3,5\n6,4,5,1,5\n");
    assert_true(world_open(&world,
        "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: n, "
        "count: 1, gpus: {type: generic, count: 8}}]}\n"
        "workload: {trace: {file: jobs.csv, format: csv, origin: file, "
        "estimate: requested, columns: {job: job, submit: submit, duration: "
        "duration, gpus: gpus, limit: limit}}}\n"
        "policies: [{policy: fcfs, semantics: rlscheduler-backfill}]\n"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_int_equal(job[3].start_s, 10);
    assert_int_equal(job[5].start_s, 10);
    assert_int_equal(job[6].start_s, 15);
    world_close(&world);
}

/* Its score has no logarithm of 0: 0.1 s is taken, which is before 1 s. */
static void f1_takes_jobs_of_time_0_before_those_of_1_s(void **state)
{
    struct world_job job[] = {
        { .submit_s = 0, .duration_s = 5, .gpus = 1 },
        { .submit_s = 0, .duration_s = 9, .gpus = 1 },
        { .submit_s = 1, .duration_s = 2, .gpus = 1 },
    };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 1, job, 3, "[f1]"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_int_equal(job[0].start_s, 0);
    assert_int_equal(job[1].start_s, 5);
    assert_int_equal(job[2].start_s, 14);
    world_close(&world);
}

/* dlas looks for demotions at alarms; the last rings when nothing is left. */
static void alarms_after_the_last_job_are_not_of_the_run(void **state)
{
    struct world_job job[] = { { .submit_s = 0, .duration_s = 10, .gpus = 1 } };
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    assert_true(world_trace(&world, 1, 1, job, 1, "[dlas, las, time-slice, "
                            "shockwave, gavel]"));
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(world_run(&world, i, NULL, job, &result));
        assert_true(result.value[METRIC_GPU_UTILIZATION] > 0.999999);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_gives_the_mean_that_its_row_states),
        cmocka_unit_test(no_preset_sets_a_key_that_does_nothing),
        cmocka_unit_test(semantics_are_told_by_the_keys_that_act),
        cmocka_unit_test(a_key_beside_a_preset_goes_before_it),
        cmocka_unit_test(wrong_presets_are_refused_by_name),
        cmocka_unit_test(what_was_chosen_keeps_its_turn_under_commit),
        cmocka_unit_test(a_tie_stops_what_runs_in_helios_and_not_in_tiresias),
        cmocka_unit_test(a_tick_is_added_to_each_job_and_starts_are_at_ticks),
        cmocka_unit_test(a_remainder_goes_to_the_emptiest_node_in_helios),
        cmocka_unit_test(late_jobs_give_back_first_in_rlscheduler),
        cmocka_unit_test(f1_takes_jobs_of_time_0_before_those_of_1_s),
        cmocka_unit_test(alarms_after_the_last_job_are_not_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
