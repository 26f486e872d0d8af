/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seeds_test.c - where nothing is said to be drawn, seeds are copies; where
 * something is, they are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>

#include "policies/registry/registry.h"
#include "tests/aid/world.h"

#define EVENTS_MAX 150000u      /* enough to part, if they did */

static struct trial_result result_of(const struct experiment *experiment,
                                     uint32_t point, uint32_t policy,
                                     uint32_t replica)
{
    struct trial_spec spec = experiment_trial_spec(
        experiment, (point * experiment->policy_count + policy) * experiment->seeds);
    struct trial_tables none = { 0 };
    struct trial_result result;
    struct err err = { 0 };

    memset(&result, 0, sizeof result);
    spec.replica = replica;
    if (spec.event_count_max > EVENTS_MAX)
        spec.event_count_max = EVENTS_MAX;
    /* Some policies want pools by name: that is told before anything runs. */
    if (!trial_run(&spec, &none, &result, &err) && err.kind != ERR_LIMIT &&
        (err.kind != ERR_POLICY || strstr(err.text, "pool") == NULL))
        fail_msg("%s: %s", experiment->policy_name[policy], err.text);
    return result;
}

static bool alike(const struct trial_result *a, const struct trial_result *b)
{
    return a->digest == b->digest && a->event_count == b->event_count &&
           memcmp(a->value, b->value, sizeof a->value) == 0;
}

/* The cells that draw nothing; how many there are. */
static uint32_t assert_copies(const struct experiment *experiment, const char *where)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < experiment->point_count; t++)
        for (uint32_t p = 0; p < experiment->policy_count; p++) {
            struct trial_result first, other;

            if (experiment_draws(experiment, t, p))
                continue;
            first = result_of(experiment, t, p, 0);
            other = result_of(experiment, t, p, 12345);
            if (!alike(&first, &other))
                fail_msg("%s: %s at %s draws", where, experiment->policy_name[p],
                         experiment->point[t].label);
            count++;
        }
    return count;
}

static void policy_that_declares_no_draw_has_copies_for_seeds(void **state)
{
    static const char *const cluster =
        "nodes: [{name: a, count: 4, gpus: {type: generic, count: 8}}, "
        "{name: b, pool: cloud, count: 3, gpus: {type: generic, count: 8}}]";
    uint32_t copies = 0, draw = 0;

    (void)state;
    for (size_t i = 0; registry_at(i) != NULL; i++) {
        const struct cs_policy *policy = registry_at(i);
        struct world world = { .tenants = 3 };
        struct world_job job[120];
        char list[80];

        world_random_jobs(i + 1, job, 120);
        snprintf(list, sizeof list, "[%s]", policy->name);
        if (world_trace_on(&world, cluster, job, 120, list, 3)) {
            copies += assert_copies(world.experiment, policy->name);
            draw += experiment_draws(world.experiment, 0, 0);
        } else {
            print_message("%s: %s\n", policy->name, world_error(&world));
        }
        world_close(&world);
    }
    assert_true(copies >= 30 && draw >= 4);
}

static uint32_t check_files(const char *pattern)
{
    uint32_t cells = 0;
    glob_t found;

    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct arena *arena = arena_new(1 << 16);
        struct experiment_options options = { 0 };
        struct err err = { 0 };
        const struct experiment *experiment = experiment_read(arena, found.gl_pathv[i],
                                                              &options, &err);

        if (experiment != NULL)
            cells += assert_copies(experiment, found.gl_pathv[i]);
        else
            print_message("skip: %s: %s\n", found.gl_pathv[i], err.text);
        arena_free(arena);
    }
    globfree(&found);
    return cells;
}

static void shipped_experiments_that_draw_nothing_have_copies(void **state)
{
    (void)state;
    assert_true(check_files("experiments/conformance/*.yaml") > 5);
    check_files("experiments/*.yaml");
    check_files("tests/golden/*/experiment.yaml");
}

struct drawn {
    const char *what, *cluster, *trace, *policy;
};

#define NODES "nodes: [{name: n, count: 4, gpus: {type: generic, count: 8}"

static const struct drawn drawn[] = {
    { "nothing", "", "", "easy" },
    { "placement", "", "", "{policy: fcfs, placement: random}" },
    { "estimates", "", "", "{policy: sjf, estimate: noisy, noise: 1}" },
    { "estimates of the trace", "", ", estimate: noisy",
      "{policy: sjf, noise: 1}" },
    { "a policy", "", "", "random" },
    { "nodes that fail", "}], failures: {node_mtbf: 2h, repair: 10min", "",
      "easy" },
    { "jobs that fail", "}], failures: {job_mtbf: 2h", "", "easy" },
    { "spot nodes", ", rent: {start: 10s, keep: 60s, reclaim: 1h}", "",
      "easy" },
    { "blocks of the trace", "", ", resample: {block: 5min}", "easy" },
    { "the list of jobs", "", ", resample: {until: 90%}", "easy" },
};

static void open_drawn(struct world *world, const struct drawn *d)
{
    struct world_job job[200];
    char csv[8000] = "job,submit,duration,gpus\n", text[2000];
    size_t n = strlen(csv);
    bool closed = d->cluster[0] == '}';

    world_random_jobs(7, job, 200);
    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    for (uint32_t i = 0; i < 200; i++)
        n += (size_t)sprintf(csv + n, "%u,%u,%lld,%u\n", i, 20 * i,
                             (long long)job[i].duration_s, job[i].gpus);
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text, "experiment: t\nseeds: 4\n"
             "cluster: {" NODES "%s%s}\n"
             "workload: {trace: {file: jobs.csv, format: csv, columns: {job: "
             "job, submit: submit, duration: duration, gpus: gpus}%s}}\n"
             "policies: [%s]\n", d->cluster, closed ? "}" : "}]", d->trace,
             d->policy);
    if (!world_open(world, text))
        fail_msg("%s: %s", d->what, world_error(world));
}

static void what_draws_says_so_and_its_seeds_differ(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        struct world world = { 0 };
        struct trial_result first;
        bool differ = false;

        open_drawn(&world, &drawn[i]);
        first = result_of(world.experiment, 0, 0, 0);
        for (uint32_t s = 1; s < 4; s++) {
            struct trial_result other = result_of(world.experiment, 0, 0, s);

            differ = differ || !alike(&first, &other);
        }
        if (experiment_draws(world.experiment, 0, 0) != (i > 0) || differ != (i > 0))
            fail_msg("%s: said to draw %d, seeds differ %d", drawn[i].what,
                     experiment_draws(world.experiment, 0, 0), differ);
        assert_int_equal(experiment_run_count(world.experiment), i > 0 ? 4 : 1);
        world_close(&world);
    }
}

/* One that draws and does not say so is stopped, not believed. */
static void policy_that_draws_unsaid_fails(void **state)
{
    struct cs_policy liar = *registry_find("random");
    struct host_policy policy = world_policy(&liar);
    struct world_job job[20];
    struct world world = { 0 };

    (void)state;
    liar.flags &= ~(uint32_t)CS_DRAWS;
    world_random_jobs(3, job, 20);
    assert_true(world_trace(&world, 2, 8, job, 20, "[fcfs]"));
    assert_false(world_run(&world, 0, &policy, NULL, NULL));
    assert_non_null(strstr(world_error(&world), "CS_DRAWS"));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_that_declares_no_draw_has_copies_for_seeds),
        cmocka_unit_test(shipped_experiments_that_draw_nothing_have_copies),
        cmocka_unit_test(what_draws_says_so_and_its_seeds_differ),
        cmocka_unit_test(policy_that_draws_unsaid_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
