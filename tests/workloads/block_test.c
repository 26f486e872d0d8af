/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_test.c - `resample: {block:}`: whole blocks of a trace, in another
 * order and number, with all that is in them as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/world.h"
#include "workloads/source.h"

#define BLOCK_S 1000
#define BLOCKS 12
#define JOBS_MAX 400

struct drawn_job {
    uint32_t original, again;   /* number in the file; "+2": 2 */
    int64_t submit_ns, duration_ns, deadline_ns;
};

/* Job i of the file comes at submit_s(i); in the last, torn block are five. */
static uint32_t jobs_of_file(int64_t *submit_s)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < BLOCKS; b++)
        for (uint32_t j = 0; j < 3 + b % 4; j++)
            submit_s[n++] = (int64_t)b * BLOCK_S + 13 * b + 90 * j;
    submit_s[0] = 0;
    for (uint32_t j = 0; j < 5; j++)
        submit_s[n++] = BLOCKS * BLOCK_S + 10 * j;
    return n;
}

static void open_trace(struct world *world, const char *more)
{
    char csv[JOBS_MAX * 60], text[1200];
    int64_t submit_s[JOBS_MAX];
    uint32_t n = jobs_of_file(submit_s);
    size_t at = (size_t)sprintf(csv, "job,submit,duration,gpus,deadline\n");

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    for (uint32_t i = 0; i < n; i++)
        at += (size_t)sprintf(csv + at, "j%u,%lld,%u,1,%lld\n", i,
                              5000 + (long long)submit_s[i], 100 + i,
                              5500 + (long long)submit_s[i]);
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 3\ncluster: {nodes: [{name: n, count: 2, "
             "gpus: {type: generic, count: 8}}]}\nworkload: {trace: {file: "
             "jobs.csv, format: csv, columns: {job: job, submit: submit, "
             "duration: duration, gpus: gpus, deadline: deadline}, %s}}\n"
             "policies: [fcfs]\n", more);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static uint32_t draw(const struct world *world, uint32_t replica,
                     struct drawn_job *out)
{
    struct arena *arena = arena_new(1 << 14);
    struct source *source = source_open(
        arena, world->experiment->point[0].workload, world->experiment->seed, replica);
    struct job_birth birth;
    struct err err = { 0 };
    uint32_t n = 0;

    while (source_next(source, &birth, &err) == SOURCE_JOB) {
        const char *plus = strchr(birth.request.name, '+');

        assert_true(n < JOBS_MAX);
        out[n++] = (struct drawn_job){
            (uint32_t)atoi(birth.request.name + 1),
            plus == NULL ? 0 : (uint32_t)atoi(plus + 1),
            birth.request.submit_ns, birth.truth.duration_ns,
            birth.request.deadline_ns
        };
    }
    assert_int_equal(err.kind, ERR_NONE);
    arena_free(arena);
    return n;
}

/* The block of the file that lies at a place of the draw, whole. */
static uint32_t assert_block(const struct drawn_job *job, uint32_t count,
                             const int64_t *submit_s, uint32_t jobs,
                             uint32_t place, uint32_t *seen)
{
    uint32_t block = (uint32_t)(submit_s[job->original] / BLOCK_S), n = 0;

    assert_true(block < BLOCKS);        /* never the torn one */
    for (uint32_t i = 0; i < jobs; i++) {
        int64_t within_s = submit_s[i] - (int64_t)block * BLOCK_S;
        int64_t now_s = (int64_t)place * BLOCK_S + within_s;

        if (submit_s[i] / BLOCK_S != (int64_t)block)
            continue;
        assert_true(n < count);
        assert_int_equal(job[n].original, i);
        assert_int_equal(job[n].again, seen[block]);
        assert_true(job[n].submit_ns == now_s * CLOCK_NS_PER_S);
        assert_true(job[n].deadline_ns == (now_s + 500) * CLOCK_NS_PER_S);
        assert_true(job[n].duration_ns == (100 + i) * CLOCK_NS_PER_S);
        n++;
    }
    seen[block]++;
    return n;
}

static void blocks_are_whole_and_as_many_as_the_trace_has(void **state)
{
    static struct drawn_job job[JOBS_MAX];
    struct world world = { 0 };
    int64_t submit_s[JOBS_MAX];
    uint32_t jobs = jobs_of_file(submit_s), twice = 0, never = 0;

    (void)state;
    open_trace(&world, "resample: {block: 1000s}");
    for (uint32_t replica = 0; replica < 50; replica++) {
        uint32_t n = draw(&world, replica, job), at = 0;
        uint32_t seen[BLOCKS] = { 0 };

        for (uint32_t place = 0; place < BLOCKS; place++)
            at += assert_block(job + at, n - at, submit_s, jobs, place, seen);
        assert_int_equal(at, n);
        for (uint32_t b = 0; b < BLOCKS; b++) {
            twice += seen[b] > 1;
            never += seen[b] == 0;
        }
    }
    /* Of 600 draws each: (11/12)^12 = 35% of blocks never, 26% twice. */
    assert_true(never > 180 && never < 245 && twice > 120 && twice < 200);
    assert_int_equal(workload_counts(world.experiment->point[0].workload)
                         .never_drawn, 5);
    world_close(&world);
}

static void a_seed_draws_the_same_blocks_again(void **state)
{
    static struct drawn_job a[JOBS_MAX], b[JOBS_MAX];
    struct world world = { 0 };
    uint32_t n, differ = 0;

    (void)state;
    open_trace(&world, "resample: {block: 1000s}");
    n = draw(&world, 3, a);
    assert_int_equal(draw(&world, 3, b), n);
    assert_memory_equal(a, b, n * sizeof *a);
    for (uint32_t replica = 4; replica < 8; replica++)
        differ += draw(&world, replica, b) != n ||
                  memcmp(a, b, n * sizeof *a) != 0;
    assert_int_equal(differ, 4);
    world_close(&world);
}

/* By the file's own clock its first job comes at 5,000 s. */
static void blocks_keep_the_clock_of_the_file(void **state)
{
    static struct drawn_job a[JOBS_MAX], b[JOBS_MAX];
    struct world first = { 0 }, file = { 0 };
    uint32_t n;

    (void)state;
    open_trace(&first, "resample: {block: 1000s}");
    open_trace(&file, "origin: file, resample: {block: 1000s}");
    n = draw(&first, 1, a);
    assert_int_equal(draw(&file, 1, b), n);
    for (uint32_t i = 0; i < n; i++)
        assert_true(b[i].submit_ns - a[i].submit_ns == 5000 * CLOCK_NS_PER_S);
    world_close(&first);
    world_close(&file);
}

/* The file is 12,040 s long: that is 11.956 blocks of 1,007 s, of which the
 * last counts, and 10.47 of 1,150 s, of which it does not. */
static void block_that_is_hardly_torn_counts(void **state)
{
    static const struct { uint32_t block_s, blocks; } sizes[] = {
        { 1000, 12 }, { 1007, 12 }, { 1150, 10 }, { 4816, 2 }
    };
    int64_t submit_s[JOBS_MAX];
    uint32_t jobs = jobs_of_file(submit_s);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct world world = { 0 };
        uint32_t beyond = 0;
        char key[60];

        for (uint32_t j = 0; j < jobs; j++)
            beyond += submit_s[j] >= (int64_t)sizes[i].block_s *
                                     sizes[i].blocks;
        snprintf(key, sizeof key, "resample: {block: %us}", sizes[i].block_s);
        open_trace(&world, key);
        assert_int_equal(workload_counts(world.experiment->point[0].workload)
                             .never_drawn, beyond);
        world_close(&world);
    }
}

/* 59 jobs of a GPU each, one each 10 s from 0 on, whatever clock the file has.  16 GPUs: 200%
 * are 32 jobs, each of the file once; 400% are 64, the last five drawn again.  They stay until
 * the last has come, 10 s after which it is over, or for their own time. */
static void jobs_come_one_by_one_until_enough_is_asked_for(void **state)
{
    static const struct { const char *keys; uint32_t jobs; bool stay; } row[] = {
        { "resample: {until: 200%, every: 10s}", 32, true },
        { "resample: {until: 200%, every: 10s, stay: false}", 32, false },
        { "origin: file, resample: {until: 400%, every: 10s}", 64, true },
        { "resample: {until: 400%, every: 10s, stay: false}", 64, false },
    };
    static struct drawn_job job[JOBS_MAX];

    (void)state;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        struct world world = { 0 };
        bool seen[59] = { false };

        open_trace(&world, row[r].keys);
        assert_int_equal(draw(&world, 1, job), row[r].jobs);
        for (uint32_t i = 0; i < row[r].jobs; i++) {
            assert_true(job[i].submit_ns == 10 * i * CLOCK_NS_PER_S);
            assert_true(job[i].deadline_ns == CLOCK_NEVER_NS);
            assert_true(job[i].duration_ns == CLOCK_NS_PER_S *
                        (row[r].stay ? 10 * (row[r].jobs - i) : 100 + job[i].original));
            assert_int_equal(job[i].again, i < 59 ? 0 : i - 58);
            assert_true(i >= 59 || !seen[job[i].original]);
            seen[job[i].original] = true;
        }
        world_close(&world);
    }
}

static void what_has_no_meaning_is_refused(void **state)
{
    static const char *const wrong[][2] = {
        { "{}", "block or until is missing" },
        { "{block: 100s, every: 1s}", "every has no meaning beside block" },
        { "{block: 100s, until: 90%}", "until has no meaning beside block" },
        { "{block: 7000s}", "block must go into the trace twice" },
        { "{block: 1}", "unit" },
    };
    struct world world = { 0 };

    (void)state;
    open_trace(&world, "resample: {block: 100s}");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char set[100];
        const char *sets[] = { set };
        struct experiment_options options = { .set = sets, .set_count = 1 };
        struct err err = { 0 };
        char path[128];

        snprintf(set, sizeof set, "workload.trace.resample=%s", wrong[i][0]);
        snprintf(path, sizeof path, "%s/experiment.yaml", world.folder);
        assert_null(experiment_read(world.arena, path, &options, &err));
        if (strstr(err.text, wrong[i][1]) == NULL)
            fail_msg("%s: %s", wrong[i][0], err.text);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_whole_and_as_many_as_the_trace_has),
        cmocka_unit_test(a_seed_draws_the_same_blocks_again),
        cmocka_unit_test(blocks_keep_the_clock_of_the_file),
        cmocka_unit_test(block_that_is_hardly_torn_counts),
        cmocka_unit_test(jobs_come_one_by_one_until_enough_is_asked_for),
        cmocka_unit_test(what_has_no_meaning_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
