/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runner_test.c - threads, files that are whole or absent, results read back.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/columns/columns.h"
#include "experiments/runner/page.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/train.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/expr/expr.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "tests/aid/scratch.h"

struct world {
    struct arena *arena;
    struct scratch scratch;
    struct folder *folder;      /* the scratch folder */
    const struct experiment *experiment;
    struct err err;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    const struct experiment_options none = { 0 };

    w->arena = arena_new(1 << 16);
    scratch_open(&w->scratch);
    scratch_experiment(&w->scratch, "experiment: x\npolicies: [fcfs, sjf]\n"
                       "seeds: 3\n");
    w->experiment = experiment_read(w->arena, scratch_path(&w->scratch, "e.yaml"),
                                    &none, &w->err);
    w->folder = folder_make(w->arena, w->scratch.dir, &w->err);
    *state = w;
    return w->experiment == NULL || w->folder == NULL;
}

static int teardown(void **state)
{
    struct world *w = *state;

    scratch_close(&w->scratch);
    folder_close(w->folder);
    arena_free(w->arena);
    free(w);
    return 0;
}

static struct trial_spec good_spec(void *self, uint32_t index,
                                   uint32_t *tables)
{
    struct world *w = self;

    *tables = EXPERIMENT_JOBS;
    return experiment_trial_spec(w->experiment, index);
}

/* Trial 2 may have no more than 3 events. */
static struct trial_spec one_bad_spec(void *self, uint32_t index,
                                      uint32_t *tables)
{
    struct trial_spec spec = good_spec(self, index, tables);

    if (index == 2)
        spec.event_count_max = 3;
    return spec;
}

static void *begin_any(void *self, uint32_t thread, uint32_t index,
                       const struct trial_tables *tables, volatile int *stop)
{
    (void)thread;
    (void)index;
    (void)tables;
    (void)stop;
    return self;
}

static bool keep_none(void *begun, const struct trial_result *result,
                      struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    (void)begun;
    (void)result;
    return err_set(err, ERR_IO, nowhere, "the disk is full");
}

static struct runner_plan plan_of(struct world *w, uint32_t threads)
{
    return (struct runner_plan){ .count = experiment_trial_count(w->experiment),
                                 .threads = threads, .spec = good_spec,
                                 .arena = w->arena, .self = w };
}

static void results_do_not_depend_on_threads(void **state)
{
    struct world *w = *state;
    struct runner_trial *one = runner_trials(w->arena, 6, true);
    struct runner_trial *many = runner_trials(w->arena, 6, true);
    struct runner_plan plan = plan_of(w, 1);

    assert_true(runner_run(&plan, one, &w->err));
    plan.threads = 4;
    assert_true(runner_run(&plan, many, &w->err));
    for (int i = 0; i < 6; i++) {
        assert_int_equal(one[i].state, RUNNER_DONE);
        assert_true(one[i].result->digest == many[i].result->digest);
        assert_memory_equal(one[i].result->value, many[i].result->value,
                            sizeof one[i].result->value);
    }
}

static void failed_trial_does_not_stop_the_others(void **state)
{
    struct world *w = *state;
    struct runner_trial trial[6] = { 0 };
    struct runner_plan plan = plan_of(w, 2);

    plan.spec = one_bad_spec;
    assert_true(runner_run(&plan, trial, &w->err));
    for (int i = 0; i < 6; i++)
        assert_int_equal(trial[i].state,
                         i == 2 ? RUNNER_FAILED : RUNNER_DONE);
    assert_int_equal(trial[2].err->kind, ERR_LIMIT);
}

static void failure_to_keep_ends_the_run(void **state)
{
    struct world *w = *state;
    struct runner_trial trial[6] = { 0 };
    struct runner_plan plan = plan_of(w, 1);

    plan.begin = begin_any;
    plan.keep = keep_none;
    assert_false(runner_run(&plan, trial, &w->err));
    assert_int_equal(w->err.kind, ERR_IO);
    assert_int_equal(trial[0].state, RUNNER_WAITING);
}

/* The path of this error lies in memory of the process that says it. */
static bool keep_none_by_copy(void *begun, const struct trial_result *result, struct err *err)
{
    (void)begun;
    (void)result;
    return err_set(err, ERR_IO, (struct err_pos){ strdup("jobs.csv"), 7, 3 },
                   "the disk is full");
}

static struct trial_spec spec_apart(void *self, uint32_t index, uint32_t *tables)
{
    struct trial_spec spec = good_spec(self, index, tables);

    spec.alone = true;
    spec.guest = (struct trial_guest){ .apart = true, .event_limit_ns = CLOCK_NEVER_NS,
                                       .time_limit_ns = CLOCK_NEVER_NS };
    return spec;
}

static void the_place_of_an_error_comes_out_of_its_process(void **state)
{
    struct world *w = *state;
    struct runner_trial *trial = runner_trials(w->arena, 6, false);
    struct runner_plan plan = plan_of(w, 1);

    plan.spec = spec_apart;
    plan.begin = begin_any;
    plan.keep = keep_none_by_copy;
    assert_false(runner_run(&plan, trial, &w->err));
    assert_string_equal(w->err.text, "the disk is full");
    assert_string_equal(w->err.pos.file, "jobs.csv");
    assert_int_equal(w->err.pos.line, 7);
    assert_int_equal(w->err.pos.col, 3);
}

/* 0xC8 begins a character of two bytes, and is none alone: each becomes a question mark,
 * and a text ends within its room.  Kinds and states are none that there are. */
static void a_page_full_of_garbage_is_read_without_harm(void **state)
{
    struct world *w = *state;
    static const char torn[] = "at 1\xC3 s: start job 17";
    struct guest_page *page = malloc(sizeof *page);
    struct trial_watch watch;
    struct err err;

    memset(page, 0xC8, sizeof *page);
    assert_false(page_whole(page));
    err = page_err(w->arena, &page->err);
    assert_int_equal(err.kind, ERR_BUG);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strspn(err.text, "?"), sizeof err.text - 1);
    assert_int_equal(strspn(err.hint, "?"), sizeof err.hint - 1);
    assert_int_equal(strspn(err.pos.file, "?"), sizeof page->err.file - 1);
    assert_true(err.next == NULL && err.key == NULL && err.more == 0);
    watch = page_watch(page);
    for (size_t i = 0; i < TRIAL_LAST; i++)
        assert_int_equal(strspn(watch.last[i], "?"), sizeof watch.last[i] - 1);
    for (size_t m = 0; m < METRIC_OWN_MAX; m++)
        assert_true(page_result(page).own_gap[m] < EXPR_GAP_COUNT);
    /* What a kill leaves of "at 1 s" over an older line. */
    memcpy(page->watch.last[0], torn, sizeof torn);
    assert_string_equal(page_watch(page).last[0], "at 1? s: start job 17");
    free(page);
}

static void trials_that_are_done_are_not_run_again(void **state)
{
    struct world *w = *state;
    struct runner_trial trial[6] = { 0 };
    struct runner_plan plan = plan_of(w, 1);

    for (int i = 0; i < 6; i++)
        trial[i].state = i % 2 ? RUNNER_DONE : RUNNER_SKIPPED;
    plan.begin = begin_any;
    plan.keep = keep_none;
    assert_true(runner_run(&plan, trial, &w->err));
}

static void file_is_there_only_after_close(void **state)
{
    struct world *w = *state;
    const char *path = arena_text(w->arena,
                                  scratch_path(&w->scratch, "f.csv"));
    struct out *out = out_open(w->arena, path, &w->err);
    char *text;

    assert_non_null(out);
    out_text(out, "a,b\n");
    assert_null(scratch_read(&w->scratch, "f.csv"));
    assert_true(out_close(out, &w->err));
    text = scratch_read(&w->scratch, "f.csv");
    assert_string_equal(text, "a,b\n");
    free(text);
    assert_null(scratch_read(&w->scratch, "f.csv.tmp"));
    out = out_open(w->arena, path, &w->err);
    out_text(out, "half");
    out_abandon(out);
    text = scratch_read(&w->scratch, "f.csv");
    assert_string_equal(text, "a,b\n");
    free(text);
}

static void write_that_fails_is_reported_with_the_name(void **state)
{
    struct world *w = *state;
    struct out *out = out_open(w->arena, "/dev/full", &w->err);

    assert_non_null(out);
    out_text(out, "text");
    assert_false(out_close(out, &w->err));
    assert_int_equal(w->err.kind, ERR_IO);
    assert_string_equal(w->err.pos.file, "/dev/full");
}

/* Under `> FILE` the name /dev/stdout leads to a regular file.  /dev/fd/N does so too, and
 * nobody can replace it. */
static void an_open_file_is_written_in_place(void **state)
{
    struct world *w = *state;
    FILE *file = fopen(scratch_path(&w->scratch, "open"), "w+b");
    char name[40], *text;

    assert_non_null(file);
    snprintf(name, sizeof name, "/dev/fd/%d", fileno(file));
    struct out *named = out_open(w->arena, name, &w->err);
    assert_non_null(named);
    out_text(named, "first");
    assert_true(out_close(named, &w->err));
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    struct out *shared = out_stream(w->arena, "open", file);
    out_text(shared, " second");
    assert_true(out_close(shared, &w->err));
    assert_int_equal(fclose(file), 0);
    text = scratch_read(&w->scratch, "open");
    assert_string_equal(text, "first second");
    free(text);
}

static void json_text_is_escaped(void **state)
{
    struct world *w = *state;
    struct out *out = out_open(w->arena, scratch_path(&w->scratch, "j"),
                               &w->err);
    char *text;

    out_json_text(out, "a\"b\\c\nd");
    assert_true(out_close(out, &w->err));
    text = scratch_read(&w->scratch, "j");
    assert_string_equal(text, "\"a\\\"b\\\\c\\u000ad\"");
    free(text);
}

static void csv_fields_come_back_unquoted(void **state)
{
    struct world *w = *state;
    struct csv *in;
    double number;
    size_t a, b;

    scratch_write(&w->scratch, "t.csv",
                  "a,b\n\"x, \"\"y\"\"\",1.5\n x ,\n1\n");
    in = csv_open(w->arena, scratch_path(&w->scratch, "t.csv"), CSV_TABLE,
                  &w->err);
    assert_non_null(in);
    assert_true(csv_need_column(in, "a", &a, &w->err));
    assert_true(csv_need_column(in, "b", &b, &w->err));
    assert_int_equal(csv_next(in, &w->err), CSV_ROW);
    assert_string_equal(csv_text(in, a), "x, \"y\"");
    assert_true(csv_number(in, b, &number, &w->err) && number == 1.5);
    assert_int_equal(csv_next(in, &w->err), CSV_ROW);
    assert_string_equal(csv_text(in, a), " x ");
    assert_true(csv_number(in, b, &number, &w->err) && isnan(number));
    assert_int_equal(csv_next(in, &w->err), CSV_ERROR);
    assert_int_equal(w->err.pos.line, 4);
    csv_close(in);
    w->err = (struct err){0};
    scratch_write(&w->scratch, "t.csv", "a,b\n1,\"never ends\n");
    in = csv_open(w->arena, scratch_path(&w->scratch, "t.csv"), CSV_TABLE,
                  &w->err);
    assert_non_null(in);
    assert_int_equal(csv_next(in, &w->err), CSV_ERROR);
    assert_int_equal(w->err.pos.col, 3);
    csv_close(in);
}

static void paths_are_relative_to_the_file_that_names_them(void **state)
{
    struct world *w = *state;

    assert_string_equal(path_beside(w->arena, "a/b.yaml", "c"), "a/c");
    assert_string_equal(path_beside(w->arena, "b.yaml", "c"), "c");
    assert_string_equal(path_beside(w->arena, "a/b.yaml", "/c"), "/c");
    assert_string_equal(path_beside(w->arena, NULL, "c"), "c");
}

/* The name of a file without its folders and what stands behind its last dot.  A dot at the
 * beginning of a name, or in that of a folder, begins no such part. */
static void a_stem_is_a_name_without_folders_and_ending(void **state)
{
    static const char *const of[][2] = {
        { "a/b.c.yaml", "b.c" }, { "b.yaml", "b" }, { "b", "b" }, { "a.b/c", "c" },
        { "a/.b", ".b" }, { ".b", ".b" }, { "a/.b.c", ".b" }, { "a/", "" }, { "b.", "b" },
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        assert_string_equal(path_stem(w->arena, of[i][0]), of[i][1]);
}

/* Test vectors of FNV-1a 64 from its authors' page. */
/* 777 octal less a umask of 2, and 700; a folder that is there keeps its mode. */
static void a_folder_is_made_for_all_or_for_its_owner(void **state)
{
    static const struct { const char *path; bool own; mode_t mode; } made[] = {
        { "all", false, 0775 }, { "all/own", true, 0700 }, { "up/own", true, 0700 },
        { "up", false, 0700 },
    };
    struct world *w = *state;
    mode_t before = umask(2);

    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        const char *path = scratch_path(&w->scratch, made[i].path);
        struct stat found;

        assert_true(made[i].own ? path_make_own_folder(path, &w->err)
                                : path_make_folder(path, &w->err));
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(found.st_mode & 0777, made[i].mode);
    }
    umask(before);
}

static void hash_is_fnv_1a(void **state)
{
    (void)state;
    assert_true(hash_bytes(HASH_START, "", 0) ==
                UINT64_C(0xcbf29ce484222325));
    assert_true(hash_bytes(HASH_START, "a", 1) ==
                UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_bytes(HASH_START, "foobar", 6) ==
                UINT64_C(0x85944171f73967e8));
}

/* As `xxhsum -H1` prints it; the file is longer than a block. */
static void hash_of_a_file_is_xxh64(void **state)
{
    struct world *w = *state;
    const char *path = scratch_path(&w->scratch, "hashed");
    FILE *file = fopen(path, "w");
    uint64_t hash = 1;

    assert_non_null(file);
    for (int i = 0; i < 100000; i++)
        fputs("a", file);
    assert_int_equal(fclose(file), 0);
    assert_true(hash_file(path, &hash));
    assert_true(hash == UINT64_C(0x57ba7e3afdfe4e2f));
    assert_int_equal(remove(path), 0);
    assert_false(hash_file(path, &hash));
}

static const char training[] =
    "experiment: t\npolicies: [{policy: learned, placement: random}]\ntrain:\n"
    "  objective: jct_mean_s\n  generations: 2\n  population: 4\n"
    "  elite: 2\n  seeds: {from: 100, count: 2}\n"
    "  held_out: {from: 0, count: 2}\n  features: [age, gpus]\n";

static bool train_into(struct world *w, const char *name, uint32_t threads,
                       const char *text)
{
    const struct experiment_options none = { 0 };
    FILE *out = tmpfile();
    const struct train_options options = {
        .threads = threads, .out = out,
        .path = arena_text(w->arena, scratch_path(&w->scratch, name))
    };
    const struct experiment *experiment;
    bool ok;

    assert_non_null(out);
    scratch_experiment(&w->scratch, text);
    experiment = experiment_read(w->arena, scratch_path(&w->scratch, "e.yaml"), &none,
                                 &w->err);
    ok = experiment != NULL && train_run(w->arena, experiment, &options, &w->err);
    fclose(out);
    return ok;
}

static void training_twice_gives_the_same_bytes(void **state)
{
    struct world *w = *state;
    char *one, *two;

    if (!train_into(w, "one.yaml", 1, training) ||
        !train_into(w, "two.yaml", 3, training))
        fail_msg("%s", w->err.text);
    one = scratch_read(&w->scratch, "one.yaml");
    two = scratch_read(&w->scratch, "two.yaml");
    assert_string_equal(one, two);
    assert_non_null(strstr(one, "\nweights:\n  age: "));
    free(one);
    free(two);
}

/* Where nothing is drawn, the seeds that it is judged on are copies. */
static void training_on_copies_is_refused(void **state)
{
    struct world *w = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s", training);
    memcpy(strstr(text, "placement: random"), "placement: spread", 17);
    assert_false(train_into(w, "x.yaml", 1, text));
    assert_non_null(strstr(w->err.text, "nothing is drawn"));
    assert_non_null(strstr(w->err.hint, "resample: {block: 1d}"));
}

static void training_on_the_seeds_it_is_judged_on_is_refused(void **state)
{
    struct world *w = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s", training);
    memcpy(strstr(text, "from: 100"), "from: 001", 9);
    assert_false(train_into(w, "x.yaml", 1, text));
    assert_non_null(strstr(w->err.text, "must not overlap"));
    assert_null(scratch_read(&w->scratch, "x.yaml"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(results_do_not_depend_on_threads),
        TEST(failed_trial_does_not_stop_the_others),
        TEST(failure_to_keep_ends_the_run),
        TEST(the_place_of_an_error_comes_out_of_its_process),
        TEST(a_page_full_of_garbage_is_read_without_harm),
        TEST(trials_that_are_done_are_not_run_again),
        TEST(file_is_there_only_after_close),
        TEST(write_that_fails_is_reported_with_the_name),
        TEST(an_open_file_is_written_in_place),
        TEST(json_text_is_escaped),
        TEST(csv_fields_come_back_unquoted),
        TEST(paths_are_relative_to_the_file_that_names_them),
        TEST(a_stem_is_a_name_without_folders_and_ending),
        TEST(a_folder_is_made_for_all_or_for_its_owner),
        TEST(hash_is_fnv_1a),
        TEST(hash_of_a_file_is_xxh64),
        TEST(training_twice_gives_the_same_bytes),
        TEST(training_on_copies_is_refused),
        TEST(training_on_the_seeds_it_is_judged_on_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
