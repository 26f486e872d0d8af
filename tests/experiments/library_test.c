/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * library_test.c - experiments within another program: results in memory, facts, errors
 * as values, policies of the program's own.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/library/clustersim.h"
#include "policies/policy.h"
#include "tests/aid/scratch.h"

static const char text[] =
    "experiment: within\n"
    "seeds: 3\n"
    "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 30/h}\n"
    "  jobs: 40\n"
    "  mix:\n"
    "    - {recipe: trace, name: part, share: 2, gpus: 4, duration: 10min}\n"
    "    - {recipe: trace, name: node, share: 1, gpus: 8, duration: 14min}\n"
    "policies: [fcfs, sjf]\n";

static struct clustersim_options options_of(const char *experiment)
{
    struct clustersim_options options = { .size_bytes = sizeof options };

    options.text = experiment;
    return options;
}

static void assert_fine(struct clustersim *run)
{
    const struct clustersim_error *error = clustersim_error(run);

    if (error != NULL)
        fail_msg("%s", clustersim_error_text(run, error));
}

static bool shortest(const void *self, const struct cs_host *host, struct task_id a,
                     struct task_id b)
{
    (void)self;
    return cs_task(host, a)->estimate_ns < cs_task(host, b)->estimate_ns;
}

static void fall(void *self, struct cs_host *host)
{
    (void)self;
    if (cs_now_ns(host) > 0)
        raise(SIGSEGV);
}

static const struct cs_policy short_first = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "short-first", .summary = "the shortest first", .before = shortest,
    .flags = CS_ASKS_ESTIMATES,
};
static const struct cs_policy falls = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "falls", .summary = "crashes", .decide = fall,
};
static bool refuse(void *self, struct cs_host *host)
{
    (void)self;
    cs_fail(host, "refuses each cluster that it sees");
    return false;
}

static const struct cs_policy refuses = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "refuses", .summary = "fails at once", .init = refuse,
};
static const struct cs_policy like_a_built_in = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "fcfs", .summary = "has a name that is taken",
};

/* ---- results ---- */

static void results_are_columns_with_units_by_row(void **state)
{
    struct clustersim_options options = options_of(text);
    struct clustersim *run = clustersim_run("within.yaml", &options);
    const struct clustersim_table *summary = clustersim_table(run, "summary");
    const struct clustersim_table *jobs = clustersim_table(run, "jobs");
    const struct clustersim_column *jct, *end, *submit, *name;
    double sum = 0;

    (void)state;
    assert_fine(run);
    assert_int_equal(summary->row_count, 6);
    assert_int_equal(jobs->row_count, 6 * 40);
    jct = clustersim_column(jobs, "jct_s");
    end = clustersim_column(jobs, "end_s");
    submit = clustersim_column(jobs, "submit_s");
    name = clustersim_column(jobs, "policy");
    assert_null(name->number);
    assert_string_equal(jct->unit, "s");
    assert_string_equal(clustersim_column(summary, "cost_usd")->unit, "USD");
    for (size_t i = 0; i < 40; i++) {
        assert_string_equal(name->text[i], "fcfs");
        assert_true(fabs(end->number[i] - submit->number[i] - jct->number[i]) < 1e-6);
        sum += jct->number[i];
    }
    assert_true(fabs(clustersim_column(summary, "jct_mean_s")->number[0] - sum / 40) <
                1e-5 * sum);
    assert_null(clustersim_table(run, "failures"));
    assert_null(clustersim_table(run, "../summary"));
    assert_null(clustersim_column(summary, "jct"));
    assert_ptr_equal(clustersim_table(run, "jobs"), jobs);
    clustersim_free(run);
}

static void a_temporary_folder_goes_with_its_run(void **state)
{
    struct clustersim_options options = options_of(text);
    struct clustersim *run = clustersim_run("within.yaml", &options);
    char dir[200];
    struct stat st;

    (void)state;
    assert_fine(run);
    snprintf(dir, sizeof dir, "%s", clustersim_dir(run));
    assert_int_equal(stat(dir, &st), 0);
    clustersim_free(run);
    assert_int_not_equal(stat(dir, &st), 0);
}

static void a_folder_that_is_named_stays(void **state)
{
    struct scratch *s = *state;
    struct clustersim_options options = options_of(text);
    struct clustersim *run;
    char *csv;

    options.dir = scratch_path(s, "out");
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    clustersim_free(run);
    csv = scratch_read(s, "out/summary.csv");
    assert_non_null(csv);
    assert_non_null(strstr(csv, "base,sjf,2,"));
    free(csv);
    assert_null(scratch_read(s, "out/report.html"));
}

/* ---- options ---- */

static void options_replace_what_the_file_says(void **state)
{
    static const char *const set[] = { "workload.jobs=7", "workload.arrival.rate=2/h" };
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.seeds = 2;
    options.policies = "[easy]";
    options.set = set;
    options.set_count = 2;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_int_equal(clustersim_table(run, "summary")->row_count, 2);
    assert_int_equal(clustersim_table(run, "jobs")->row_count, 14);
    assert_string_equal(clustersim_column(clustersim_table(run, "jobs"), "policy")->text[0],
                        "easy");
    clustersim_free(run);
}

static void a_name_of_the_file_is_that_policy_with_its_keys(void **state)
{
    struct clustersim_options options = options_of(text);
    const struct clustersim_table *summary;
    struct clustersim *run;
    char mine[1000];

    (void)state;
    snprintf(mine, sizeof mine, "%s", text);
    strcpy(strstr(mine, "policies:"),
           "policies: [{policy: fcfs, name: sjf-not, placement: count}]\n");
    options.text = mine;
    options.policies = "[{policy: sjf, name: last}, sjf-not]";
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    summary = clustersim_table(run, "summary");
    assert_int_equal(summary->row_count, 6);
    assert_string_equal(clustersim_column(summary, "policy")->text[0], "last");
    assert_string_equal(clustersim_column(summary, "policy")->text[3], "sjf-not");
    clustersim_free(run);
}

static void a_check_runs_nothing(void **state)
{
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.check_only = true;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_null(clustersim_dir(run));
    assert_null(clustersim_table(run, "summary"));
    clustersim_free(run);
}

static void a_policy_of_the_program_gives_what_the_built_in_one_gives(void **state)
{
    static const struct cs_policy *const table[] = { &short_first };
    struct clustersim_options options = options_of(text);
    const struct clustersim_column *policy, *jct;
    struct clustersim *run;

    (void)state;
    options.policies = "[sjf, short-first]";
    options.table = table;
    options.table_count = 1;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    policy = clustersim_column(clustersim_table(run, "summary"), "policy");
    jct = clustersim_column(clustersim_table(run, "summary"), "jct_mean_s");
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(policy->text[i], "sjf");
        assert_string_equal(policy->text[3 + i], "short-first");
        assert_string_equal(jct->text[i], jct->text[3 + i]);
    }
    clustersim_free(run);
}

/* An entry of the experiment stands for its name: one that is another policy would run in the
 * place of the program's. */
static void a_name_of_two_policies_is_refused(void **state)
{
    static const struct cs_policy *const table[] = { &short_first };
    static const struct { const char *entry; bool two; } of[] = {
        { "{policy: fcfs, name: short-first}", true },
        { "{policy: short-first, estimate: exact}", false }, { "short-first", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        char mine[900];
        struct clustersim *run;

        snprintf(mine, sizeof mine, "%.*s[%s]\n", (int)(strrchr(text, '[') - text), text,
                 of[i].entry);
        struct clustersim_options options = options_of(mine);
        options.policies = "[short-first]";
        options.table = table;
        options.table_count = 1;
        run = clustersim_run("within.yaml", &options);
        assert_int_equal(clustersim_error(run) != NULL, of[i].two);
        if (of[i].two)
            assert_string_equal(clustersim_error(run)->message, "policy short-first of the "
                                "program has the name of another one of the experiment");
        clustersim_free(run);
    }
}

/* ---- facts ---- */

struct facts {
    uint32_t told, failed, asked;
    char first[200];            /* error */
};

static void note(void *self, const struct clustersim_trial *trial)
{
    struct facts *facts = self;
    double jct_s = 0;

    assert_int_equal(trial->index, facts->told);
    assert_int_equal(trial->count, 6);
    assert_int_equal(trial->seed, facts->told % 3);
    assert_string_equal(trial->point, "base");
    assert_int_equal(clustersim_metric(trial, "jct_mean_s", &jct_s), trial->error == NULL);
    assert_true(trial->error != NULL || jct_s > 0);
    assert_false(clustersim_metric(trial, "no_such_metric", &jct_s));
    if (trial->error != NULL && facts->failed++ == 0)
        snprintf(facts->first, sizeof facts->first, "%s", trial->error->message);
    facts->told++;
}

static bool count_calls(void *self, uint32_t done, uint32_t count)
{
    struct facts *facts = self;

    assert_int_equal(count, 6);
    assert_true(done <= count);
    facts->asked++;
    return true;
}

static bool stop_at_once(void *self, uint32_t done, uint32_t count)
{
    (void)self;
    (void)done;
    (void)count;
    return false;
}

static void trials_are_told_once_each_in_their_order(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct clustersim_options options = options_of(text);
        struct facts facts = { 0 };

        options.threads = threads;
        options.self = &facts;
        options.trial_ended = note;
        options.go_on = count_calls;
        struct clustersim *run = clustersim_run("within.yaml", &options);
        assert_fine(run);
        assert_int_equal(facts.told, 6);
        assert_int_equal(facts.failed, 0);
        assert_true(facts.asked > 0);
        clustersim_free(run);
    }
}

static void a_run_is_called_off_by_its_caller(void **state)
{
    static const char *const set[] = { "workload.jobs=200000" };
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.set = set;
    options.set_count = 1;
    options.go_on = stop_at_once;
    run = clustersim_run("within.yaml", &options);
    assert_non_null(clustersim_error(run));
    assert_int_equal(clustersim_error(run)->status, 130);
    assert_null(clustersim_table(run, "summary"));
    clustersim_free(run);
}

#define MANY_TRIALS 2000
static const char refusal[] = "policy refuses: refuses each cluster that it sees";

static void judge_refusal(void *self, const struct clustersim_trial *trial)
{
    uint32_t *told = self;

    assert_non_null(trial->error);
    assert_string_equal(trial->error->message, refusal);
    ++*told;
}

/* Threads store the errors of trials while this one copies those that it tells. */
static void failures_of_many_threads_keep_their_words(void **state)
{
    static const struct cs_policy *const table[] = { &refuses };
    static const char *const set[] = { "plugins.isolate=false" };
    struct clustersim_options options = options_of(text);
    const struct clustersim_column *message;
    struct clustersim *run;
    uint32_t told = 0;

    (void)state;
    options.policies = "[refuses]";
    options.table = table;
    options.table_count = 1;
    options.set = set;
    options.set_count = 1;
    options.seeds = MANY_TRIALS;
    options.threads = 4;
    options.self = &told;
    options.trial_ended = judge_refusal;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_int_equal(told, MANY_TRIALS);
    message = clustersim_column(clustersim_table(run, "failures"), "message");
    for (size_t i = 0; i < MANY_TRIALS; i++)
        assert_string_equal(message->text[i], refusal);
    clustersim_free(run);
}

static void a_policy_that_crashes_fails_its_trials_alone(void **state)
{
    static const struct cs_policy *const table[] = { &falls };
    struct clustersim_options options = options_of(text);
    const struct clustersim_error *first;
    const struct clustersim_table *failures;
    struct facts facts = { 0 };
    struct clustersim *run;

    (void)state;
    options.policies = "[fcfs, falls]";
    options.table = table;
    options.table_count = 1;
    options.self = &facts;
    options.trial_ended = note;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_int_equal(facts.told, 6);
    assert_int_equal(facts.failed, 3);
    assert_int_equal(clustersim_failed(run, &first), 3);
    assert_int_equal(first->status, 5);
    assert_non_null(strstr(first->message, "policy falls crashed"));
    assert_string_equal(first->message, facts.first);
    failures = clustersim_table(run, "failures");
    assert_int_equal(failures->row_count, 3);
    assert_string_equal(clustersim_column(failures, "message")->text[0], first->message);
    assert_int_equal(clustersim_table(run, "summary")->row_count, 3);
    clustersim_free(run);
}

/* Counts, and lets the trial's process say what it was told. */
struct forks {
    int before, after;
};

static void note_before(void *self)
{
    ((struct forks *)self)->before++;
}

static void note_after(void *self)
{
    ((struct forks *)self)->after++;
}

/* A wrong limit ends the process of the trial. */
static void check_in_child(void *self, double event_limit_s)
{
    const struct forks *forks = self;

    if (forks->before != forks->after + 1 || event_limit_s != 7)
        _exit(9);
}

static void an_interpreter_is_told_of_each_fork(void **state)
{
    static const struct cs_policy *const table[] = { &short_first };
    static const char *const set[] = { "plugins={event_limit: 7s}" };
    static const char *const together[] = { "plugins={isolate: false}" };
    struct forks forks = { 0, 0 };
    const struct clustersim_fork fork = { note_before, note_after, check_in_child, &forks };
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.policies = "[fcfs, short-first]";
    options.table = table;
    options.table_count = options.set_count = options.threads = 1;
    options.fork = &fork;
    options.set = set;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_int_equal(clustersim_failed(run, NULL), 0);
    assert_int_equal(forks.before, 3);
    assert_int_equal(forks.after, 3);
    clustersim_free(run);
    options.set = together;
    run = clustersim_run("within.yaml", &options);
    assert_non_null(clustersim_error(run));
    assert_non_null(strstr(clustersim_error(run)->message, "isolate must be true"));
    clustersim_free(run);
}

/* ---- errors ---- */

static const struct clustersim_error *only_error(struct clustersim *run)
{
    assert_non_null(clustersim_error(run));
    assert_null(clustersim_table(run, "summary"));
    return clustersim_error(run);
}

static void an_error_has_its_place_its_key_and_a_hint(void **state)
{
    static const char wrong[] =
        "experiment: within\n"
        "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, cuont: 8}}]}\n"
        "workload: {arrival: {process: poisson, rate: -1/h}, jobs: 4, mix: [{recipe: "
        "trace, gpus: 4, duration: 10min}]}\n"
        "policies: [fcfs]\n";
    struct clustersim_options options = options_of(wrong);
    struct clustersim *run = clustersim_run("within.yaml", &options);
    const struct clustersim_error *error = only_error(run);

    (void)state;
    assert_int_equal(error->status, 3);
    assert_string_equal(error->kind, "schema error");
    assert_string_equal(error->file, "within.yaml");
    assert_int_equal(error->line, 2);
    assert_int_equal(error->column, 61);
    assert_string_equal(error->key, "cluster.nodes.0.gpus.cuont");
    assert_non_null(strstr(error->message, "cuont"));
    assert_non_null(strstr(error->hint, "count"));
    assert_non_null(strstr(clustersim_error_text(run, error), "within.yaml:2:61: schema"));
    assert_non_null(error->next);
    assert_string_equal(error->next->key, "workload.arrival.rate");
    clustersim_free(run);
}

static void what_cannot_run_is_an_error_of_its_kind(void **state)
{
    static const struct cs_policy *const taken[] = { &like_a_built_in };
    static const struct cs_policy *const twice[] = { &short_first, &short_first };
    struct clustersim_options options = { .size_bytes = sizeof options };
    struct clustersim *run = clustersim_run("/nowhere/at/all.yaml", NULL);

    (void)state;
    assert_int_equal(only_error(run)->status, 4);
    assert_string_equal(only_error(run)->file, "/nowhere/at/all.yaml");
    clustersim_free(run);
    run = clustersim_run(NULL, NULL);
    assert_int_equal(only_error(run)->status, 2);
    clustersim_free(run);
    options = options_of(text);
    options.draw = true;
    run = clustersim_run("within.yaml", &options);
    assert_non_null(strstr(only_error(run)->message, "draw needs dir"));
    clustersim_free(run);
    options = options_of(text);
    options.table = taken;
    options.table_count = 1;
    run = clustersim_run("within.yaml", &options);
    assert_non_null(strstr(only_error(run)->message, "fcfs has the name of a built-in one"));
    clustersim_free(run);
    options.table = twice;
    options.table_count = 2;
    run = clustersim_run("within.yaml", &options);
    assert_non_null(strstr(only_error(run)->message, "two policies of the program"));
    clustersim_free(run);
    options = options_of("[1, 2]");
    run = clustersim_run("within.yaml", &options);
    assert_non_null(strstr(only_error(run)->message, "must hold a map of keys"));
    clustersim_free(run);
}

/* The file of that name has other lines, and another key at line 2, column 61. */
static void an_error_of_a_text_shows_the_text_and_not_the_file_of_its_name(void **state)
{
    struct scratch *s = *state;
    struct clustersim_options options = options_of(
        "experiment: within\n"
        "seeds: 2\n"
        "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"
        "wrokload: {jobs: 3}\n"
        "policies: [fcfs]\n");
    const struct clustersim_error *error;
    struct clustersim *run;
    const char *shown;

    scratch_write(s, "same.yaml", "# a file\nexperiment: file\njobs: 5\nseeds: 7\n");
    run = clustersim_run(scratch_path(s, "same.yaml"), &options);   /* no later path */
    error = only_error(run);
    assert_int_equal(error->line, 4);
    assert_string_equal(error->key, "wrokload");
    shown = clustersim_error_text(run, error);
    assert_non_null(strstr(shown, "4 | wrokload: {jobs: 3}\n      | ^\n"));
    assert_null(strstr(shown, "seeds: 7"));
    clustersim_free(run);
}

/* The key is that of the setting, whose text has places of its own: line 1, column 1. */
static void an_error_of_a_setting_has_the_key_of_the_setting(void **state)
{
    static const char *const set[] = { "workload.jobs=-3" };
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.set = set;
    options.set_count = 1;
    run = clustersim_run("within.yaml", &options);
    assert_string_equal(only_error(run)->key, "workload.jobs");
    clustersim_free(run);
    options = options_of(text);
    options.policies = "[fcsf]";
    run = clustersim_run("within.yaml", &options);
    assert_string_equal(only_error(run)->key, "policies");
    clustersim_free(run);
}

/* Nothing that a caller asks for is passed over: without a size, all would be. */
static void options_without_a_size_or_of_a_later_version_are_errors(void **state)
{
    struct later {
        struct clustersim_options options;
        uint64_t new_member;
    } later = { .options = options_of(text) };
    struct clustersim_options sizeless = options_of(text);
    struct clustersim *run;

    (void)state;
    sizeless.size_bytes = 0;
    run = clustersim_run("within.yaml", &sizeless);
    assert_int_equal(only_error(run)->status, 2);
    assert_non_null(strstr(only_error(run)->message, "size_bytes of the options is 0"));
    clustersim_free(run);
    later.options.size_bytes = sizeof later;
    run = clustersim_run("within.yaml", &later.options);
    assert_fine(run);
    clustersim_free(run);
    later.new_member = 1;
    run = clustersim_run("within.yaml", &later.options);
    assert_int_equal(only_error(run)->status, 2);
    assert_non_null(strstr(only_error(run)->message, "this version does not know"));
    clustersim_free(run);
}

/* What the system would throw away is how each process of a trial ended. */
static void a_caller_that_ignores_sigchld_is_told_so(void **state)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    sigaction(SIGCHLD, &ignore, &before);
    run = clustersim_run("within.yaml", &options);
    sigaction(SIGCHLD, &before, NULL);
    assert_int_equal(only_error(run)->status, 2);
    assert_non_null(strstr(only_error(run)->message, "SIGCHLD is ignored"));
    clustersim_free(run);
}

/* Results of an earlier run lie in the folder; a check has none of its own. */
static void a_check_shows_no_results_of_an_earlier_run(void **state)
{
    struct scratch *s = *state;
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    options.dir = scratch_path(s, "out");
    run = clustersim_run("within.yaml", &options);
    assert_non_null(clustersim_table(run, "summary"));
    clustersim_free(run);
    options.check_only = true;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_null(clustersim_table(run, "summary"));
    clustersim_free(run);
}

/* seed is declared as a number, so `none` in it makes the table one that cannot be read;
 * it is no table that is not there. */
static void a_table_that_cannot_be_read_is_told(void **state)
{
    struct scratch *s = *state;
    struct clustersim_options options = options_of(text);
    struct clustersim *run;
    char dir[256];

    snprintf(dir, sizeof dir, "%s", scratch_path(s, "out"));
    options.dir = dir;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_null(clustersim_table(run, "failures"));
    assert_null(clustersim_warnings(run));
    scratch_write(s, "out/failures.csv", "point,policy,seed,place,message,hint\n"
                                         "base,fcfs,none,,why,\n");
    assert_null(clustersim_table(run, "failures"));
    assert_non_null(clustersim_warnings(run));
    assert_non_null(strstr(clustersim_warnings(run)->file, "failures.csv"));
    assert_int_equal(clustersim_warnings(run)->line, 2);
    clustersim_free(run);
}

/* As `clustersim list columns` has them: GPU-seconds are no seconds. */
static void units_are_those_of_the_list_of_columns(void **state)
{
    static const char *const of[][3] = {
        { "jobs", "gpu_seconds", "GPU-s" }, { "jobs", "gpus", "count" },
        { "jobs", "priority", "1" }, { "timeline", "cost_usd_per_h", "USD/h" },
        { "timeline", "gpus_busy", "count" }, { "phases", "mfu", "fraction" },
        { "summary", "jct_mean_s", "s" },
    };
    static const char *const set[] = { "output={tables: [jobs, phases, timeline]}" };
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.set = set;
    options.set_count = 1;
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        const struct clustersim_table *table = clustersim_table(run, of[i][0]);

        assert_string_equal(clustersim_column(table, of[i][1])->unit, of[i][2]);
        assert_non_null(clustersim_column(table, of[i][1])->number);
    }
    clustersim_free(run);
}

static void an_older_caller_has_fewer_options(void **state)
{
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.size_bytes = offsetof(struct clustersim_options, seeds);
    options.seeds = 1;          /* behind what that caller knows of */
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_int_equal(clustersim_table(run, "summary")->row_count, 6);
    clustersim_free(run);
}

static void warnings_are_values_too(void **state)
{
    struct clustersim_options options = options_of(text);
    struct clustersim *run;

    (void)state;
    options.policies = "[fcfs, static]";
    run = clustersim_run("within.yaml", &options);
    assert_fine(run);
    assert_non_null(clustersim_warnings(run));
    assert_non_null(clustersim_warnings(run)->message);
    clustersim_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_columns_with_units_by_row),
        cmocka_unit_test(a_temporary_folder_goes_with_its_run),
        cmocka_unit_test_setup_teardown(a_folder_that_is_named_stays, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(options_replace_what_the_file_says),
        cmocka_unit_test(a_check_runs_nothing),
        cmocka_unit_test(a_policy_of_the_program_gives_what_the_built_in_one_gives),
        cmocka_unit_test(a_name_of_two_policies_is_refused),
        cmocka_unit_test(trials_are_told_once_each_in_their_order),
        cmocka_unit_test(a_run_is_called_off_by_its_caller),
        cmocka_unit_test(a_policy_that_crashes_fails_its_trials_alone),
        cmocka_unit_test(failures_of_many_threads_keep_their_words),
        cmocka_unit_test(an_interpreter_is_told_of_each_fork),
        cmocka_unit_test(a_name_of_the_file_is_that_policy_with_its_keys),
        cmocka_unit_test(an_error_has_its_place_its_key_and_a_hint),
        cmocka_unit_test(what_cannot_run_is_an_error_of_its_kind),
        cmocka_unit_test(an_older_caller_has_fewer_options),
        cmocka_unit_test_setup_teardown(
            an_error_of_a_text_shows_the_text_and_not_the_file_of_its_name, scratch_setup,
            scratch_teardown),
        cmocka_unit_test(an_error_of_a_setting_has_the_key_of_the_setting),
        cmocka_unit_test(options_without_a_size_or_of_a_later_version_are_errors),
        cmocka_unit_test(a_caller_that_ignores_sigchld_is_told_so),
        cmocka_unit_test_setup_teardown(a_check_shows_no_results_of_an_earlier_run,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_table_that_cannot_be_read_is_told, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(units_are_those_of_the_list_of_columns),
        cmocka_unit_test(warnings_are_values_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
