/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder_test.c - other people's files: what a run, met with links and with
 * files that are not its own, leaves as it was.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "tests/aid/program.h"

static const char *argv0;

struct place {
    struct program program;
    char path[256], log[128];
};

/* A path below the scratch folder; the last one asked for. */
static const char *at(struct place *p, const char *name)
{
    snprintf(p->path, sizeof p->path, "%s/%s", p->program.folder, name);
    return p->path;
}

static void put(struct place *p, const char *name, const char *text)
{
    FILE *file = fopen(at(p, name), "wb");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(struct place *p, const char *name, const char *text)
{
    char *found = program_read(at(p, name));

    if (found == NULL)
        fail_msg("%s is gone", name);
    assert_string_equal(found, text);
    free(found);
}

static void make_folder(struct place *p, const char *name)
{
    assert_int_equal(mkdir(at(p, name), 0777), 0);
}

/* A link from one name below the scratch folder to another. */
static void put_link(struct place *p, const char *to, const char *name)
{
    char target[256];

    snprintf(target, sizeof target, "%s/%s", p->program.folder, to);
    assert_int_equal(symlink(target, at(p, name)), 0);
}

static void put_experiment(struct place *p, const char *name, unsigned seeds,
                           const char *output)
{
    char text[1024];

    snprintf(text, sizeof text,
             "experiment: e\nseeds: %u\ncluster: {nodes: [{name: gpu, count: 2, "
             "gpus: {type: generic, count: 8}}]}\n"
             "workload: {arrival: {process: poisson, rate: 9/h}, jobs: 40, "
             "mix: [{recipe: trace, name: a, gpus: {choice: {1: 1, 4: 1}}, "
             "duration: {exponential: {mean: 1h}}}]}\n"
             "policies: [fcfs, sjf]\noutput: {%s}\n"
             "expect: [{metric: jobs_done, policy: sjf, at_least: 40}]\n",
             seeds, output);
    put(p, name, text);
}

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    assert_non_null(p);
    program_open(&p->program, argv0);
    snprintf(p->log, sizeof p->log, "%s/log", p->program.folder);
    put_experiment(p, "e.yaml", 2, "plots: []");
    make_folder(p, "mine");
    put(p, "mine/a", "mine\n");
    put(p, "mine/list.txt", "mine, too\n");
    make_folder(p, "out");
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;

    program_close(&p->program);
    free(p);
    return 0;
}

/* `clustersim WORD SCRATCH/file MORE ...`. */
static int run(struct place *p, const char *word, const char *file,
               const char *option, const char *value)
{
    char whole[256], given[256];
    const char *argv[] = { p->program.path, word, whole, option, given, "-q",
                           NULL };

    snprintf(whole, sizeof whole, "%s/%s", p->program.folder, file);
    if (option == NULL)
        argv[3] = NULL;
    else
        snprintf(given, sizeof given, "%s/%s", p->program.folder, value);
    return program_spawn(argv, p->log);
}

static void assert_said(struct place *p, const char *text)
{
    char *said = program_read(p->log);

    if (said == NULL || strstr(said, text) == NULL)
        fail_msg("no '%s' in: %s", text, said ? said : "");
    free(said);
}

static void assert_mine_as_it_was(struct place *p)
{
    assert_holds(p, "mine/a", "mine\n");
    assert_holds(p, "mine/list.txt", "mine, too\n");
}

static void links_called_trials_and_plots_are_refused(void **state)
{
    static const char *const name[] = { "out/.trials", "out/plots" };
    struct place *p = *state;

    for (size_t i = 0; i < 2; i++) {
        put_link(p, "mine", name[i]);
        assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 4);
        assert_said(p, "is a symbolic link");
        assert_said(p, "hint: ");
        assert_mine_as_it_was(p);
        assert_int_equal(unlink(at(p, name[i])), 0);
    }
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
    put_link(p, "mine", "out/plots");
    assert_int_equal(run(p, "plot", "out", NULL, NULL), 4);
    assert_mine_as_it_was(p);
}

static void links_in_the_way_of_files_are_not_followed(void **state)
{
    struct place *p = *state;
    char *whole, *found;

    assert_int_equal(run(p, "run", "e.yaml", "-o", "whole"), 0);
    put_link(p, "mine/a", "out/jobs.csv.tmp");
    put_link(p, "mine/a", "out/summary.csv.tmp");
    put_link(p, "mine/a", "out/report.html.tmp");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
    assert_mine_as_it_was(p);
    whole = program_read(at(p, "whole/jobs.csv"));
    found = program_read(at(p, "out/jobs.csv"));
    assert_non_null(whole);
    assert_non_null(found);
    assert_string_equal(found, whole);
    free(whole);
    free(found);
    /* A table of ours that someone made a link of: the link is replaced. */
    assert_int_equal(unlink(at(p, "out/jobs.csv")), 0);
    put_link(p, "mine/a", "out/jobs.csv");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
    assert_mine_as_it_was(p);
}

static void a_link_where_a_file_of_ones_own_goes_is_not_followed(void **state)
{
    struct place *p = *state;

    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
    put_link(p, "mine/a", "j.xml.tmp");
    put_link(p, "mine/a", "m.md.tmp");
    put_link(p, "mine/a", "i.yaml.tmp");
    assert_int_equal(run(p, "check", "out", "--junit", "j.xml"), 0);
    assert_int_equal(run(p, "check", "out", "--markdown", "m.md"), 0);
    put(p, "t.csv", "job,submit_s,run_s,gpus\na,0,10,1\n");
    char from[256], to[256];
    snprintf(from, sizeof from, "%s/t.csv", p->program.folder);
    snprintf(to, sizeof to, "%s/i.yaml", p->program.folder);
    const char *argv[] = { p->program.path, "import", "csv", from, "-o", to,
                           NULL };
    assert_int_equal(program_spawn(argv, p->log), 0);
    assert_mine_as_it_was(p);
}

static void files_that_a_run_did_not_make_stay(void **state)
{
    struct place *p = *state;

    make_folder(p, "out/.trials");
    put(p, "out/.trials/a", "mine\n");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 4);
    assert_said(p, ".trials: file error: holds files, and is not from a run");
    assert_holds(p, "out/.trials/a", "mine\n");
    put(p, "out/.trials/clustersim-trials.txt", "");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
    assert_holds(p, "out/.trials/a", "mine\n");
    make_folder(p, "other");
    make_folder(p, "other/plots");
    put(p, "other/plots/cost.gp", "mine\n");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "other"), 4);
    assert_said(p, "not from a run");
    assert_holds(p, "other/plots/cost.gp", "mine\n");
    make_folder(p, "out/plots");
    put(p, "out/plots/list.txt", "cost\n");
    put(p, "out/plots/my.gp", "mine\n");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
    assert_holds(p, "out/plots/my.gp", "mine\n");
    assert_int_not_equal(access(at(p, "out/plots/list.txt"), F_OK), 0);
}

/* Processes that were killed, or are about to write it, leave parts of the mark. */
static void parts_of_the_mark_are_a_runs_own(void **state)
{
    struct place *p = *state;

    make_folder(p, "out/.trials");
    put(p, "out/.trials/clustersim-trials.txt.tmp", "Finis");
    put(p, "out/.trials/clustersim-trials.txt.1.tmp", "");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
    assert_int_not_equal(access(at(p, "out/.trials"), F_OK), 0);
    make_folder(p, "out/.trials");
    put(p, "out/.trials/clustersim-trials.txt.mine", "mine\n");
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 4);
    assert_holds(p, "out/.trials/clustersim-trials.txt.mine", "mine\n");
}

/* gnuplot opens by name what it draws into. */
static void a_link_in_the_way_of_a_chart_is_not_followed(void **state)
{
    struct place *p = *state;
    const char *argv[] = { "gnuplot", "--version", NULL };

    if (program_spawn(argv, NULL) != 0) {
        print_message("skip: gnuplot is not installed\n");
        skip();
    }
    put_experiment(p, "c.yaml", 2, "plots: [utilization]");
    assert_int_equal(run(p, "run", "c.yaml", "-o", "out"), 0);
    assert_int_equal(access(at(p, "out/plots/utilization.png"), F_OK), 0);
    put_link(p, "mine/a", "out/plots/utilization.tmp");
    put_link(p, "mine/a", "out/plots/utilization.dat.tmp");
    assert_int_equal(run(p, "plot", "out", NULL, NULL), 0);
    assert_mine_as_it_was(p);
}

static pid_t start(struct place *p, const char *file)
{
    char e[256], out[256];
    pid_t pid = fork();

    snprintf(e, sizeof e, "%s/%s", p->program.folder, file);
    snprintf(out, sizeof out, "%s/out", p->program.folder);
    assert_true(pid >= 0);
    if (pid == 0) {
        execl(p->program.path, p->program.path, "run", "-q", "-j", "1", e,
              "-o", out, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void two_runs_do_not_write_into_one_folder(void **state)
{
    const struct timespec wait = { 0, 2000000 };
    struct place *p = *state;
    int status;
    pid_t pid;

    put_experiment(p, "long.yaml", 100000, "plots: []");
    pid = start(p, "long.yaml");
    while (access(at(p, "out/.trials/clustersim-trials.txt"), F_OK) != 0) {
        assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
        nanosleep(&wait, NULL);
    }
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 4);
    assert_said(p, "another run is writing here");
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(run(p, "run", "e.yaml", "-o", "out"), 0);
}

#define TEST(F) cmocka_unit_test_setup_teardown(F, setup, teardown)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(links_called_trials_and_plots_are_refused),
        TEST(links_in_the_way_of_files_are_not_followed),
        TEST(a_link_where_a_file_of_ones_own_goes_is_not_followed),
        TEST(files_that_a_run_did_not_make_stay),
        TEST(parts_of_the_mark_are_a_runs_own),
        TEST(a_link_in_the_way_of_a_chart_is_not_followed),
        TEST(two_runs_do_not_write_into_one_folder),
    };

    assert(argc > 0);
    argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
