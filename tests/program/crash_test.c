/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crash_test.c - a trial that crashes, spins or takes all memory ends alone.
 *
 * Built-in policies have no crash to test with, so the test sends the signal of one to the
 * thread, or to the process, in which a trial runs.
 */
#define _DEFAULT_SOURCE         /* syscall */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define HEAD(JOBS)                                                              \
    "experiment: e\n"                                                           \
    "seeds: 2\n"                                                                \
    "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"  \
    "workload:\n"                                                               \
    "  arrival: {process: poisson, rate: 30/h}\n"                               \
    "  jobs: " JOBS "\n"                                                        \
    "  mix: [{recipe: trace, name: x, share: 1, gpus: 4, duration: 4min}]\n"    \
    "output: {tables: [summary, compare], plots: []}\n"

/* A trial of a quarter of a second or more, so that it can be met. */
#define LONG HEAD("60000") "policies: [fcfs, sjf]\n"

static int run(const struct program *program, const char *text, const char *name,
               const char *more, char **said)
{
    const char *words[] = { "run", program_write(program, "e.yaml", text), "-q", "-j1", "-o",
                            program_path(program, name), more, NULL };

    return program_say(program, words, said);
}

/* Starts the run of LONG into folder/out, with what it says in folder/said. */
static pid_t start(const struct program *program)
{
    const char *path = program_write(program, "e.yaml", LONG);
    const char *out = program_path(program, "out"), *said = program_path(program, "said");
    pid_t pid = fork();

    if (pid == 0) {
        (void)!freopen(said, "wb", stderr);
        execl(program->path, "clustersim", "run", path, "-q", "-j1", "-o", out, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int wait_for(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

/* Processor time of a task, in ticks; -1: it is not there. */
static long task_ticks(pid_t pid, long task)
{
    char path[64], *text, *at;
    long user = -1;

    snprintf(path, sizeof path, "/proc/%d/task/%ld/stat", (int)pid, task);
    text = program_read(path);
    at = text == NULL ? NULL : strrchr(text, ')');
    if (at != NULL)
        (void)!sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld", &user);
    free(text);
    return user;
}

/* The task of the process, other than its first, that has worked; waits until there is
 * one. */
static long find_worker(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    for (;;) {
        DIR *dir = opendir(path);
        struct dirent *entry;
        long found = 0;

        assert_non_null(dir);
        while (found == 0 && (entry = readdir(dir)) != NULL) {
            long task = strtol(entry->d_name, NULL, 10);

            if (task > 0 && task != pid && task_ticks(pid, task) > 2)
                found = task;
        }
        closedir(dir);
        if (found != 0)
            return found;
        pause_a_little();
    }
}

/* The process that this one has started; waits until there is one. */
static pid_t find_child(pid_t pid)
{
    for (;;) {
        DIR *dir = opendir("/proc");
        struct dirent *entry;
        int found = 0;

        assert_non_null(dir);
        while (found == 0 && (entry = readdir(dir)) != NULL) {
            char path[300], *text, *at;
            int parent = 0;

            snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
            text = entry->d_name[0] > '9' ? NULL : program_read(path);
            at = text == NULL ? NULL : strrchr(text, ')');
            if (at != NULL && sscanf(at + 1, " %*c %d", &parent) == 1 && parent == pid)
                found = (int)strtol(entry->d_name, NULL, 10);
            free(text);
        }
        closedir(dir);
        if (found != 0)
            return found;
        pause_a_little();
    }
}

static void assert_same(const struct program *program, const char *one, const char *other)
{
    char *a = program_result(program, one, "summary.csv");
    char *b = program_result(program, other, "summary.csv");

    assert_non_null(a);
    assert_non_null(b);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void a_crash_of_a_thread_changes_no_byte(void **state)
{
    const struct program *program = *state;
    pid_t pid = start(program);
    long worker = find_worker(pid);
    char *said;

    assert_int_equal(syscall(SYS_tgkill, pid, worker, SIGABRT), 0);
    assert_int_equal(wait_for(pid), 0);
    said = program_read(program_path(program, "said"));
    assert_part(said, "a trial has crashed the program, which begins anew");
    free(said);
    assert_int_equal(run(program, LONG, "whole", NULL, &said), 0);
    free(said);
    assert_same(program, "out", "whole");
    assert_null(program_result(program, "out", "failures.csv"));
}

/* Crashes a trial in a thread, and then in the process that it gets. */
static void crash_twice(const struct program *program)
{
    pid_t pid = start(program);
    long worker = find_worker(pid);

    assert_int_equal(syscall(SYS_tgkill, pid, worker, SIGABRT), 0);
    assert_int_equal(kill(find_child(pid), SIGABRT), 0);
    assert_int_equal(wait_for(pid), 70);
}

/* The command that the text gives runs the trial, from the folder of the results. */
static void assert_runs_again(const struct program *program, const char *repro)
{
    const char *line = strstr(repro, "\n  cd "), *end = line == NULL ? NULL
                                                                     : strchr(line + 1, '\n');
    char command[1500], *slash;
    const char *words[] = { "/bin/sh", "-c", command, NULL };
    const char *log = program_path(program, "again");
    char path[600], *said;

    assert_non_null(end);
    assert_non_null(realpath(program->path, path));
    slash = strrchr(path, '/');
    snprintf(command, sizeof command, "PATH=%.*s:$PATH; cd %s && %.*s", (int)(slash - path),
             path, program_path(program, "out"), (int)(end - line - 3), line + 3);
    assert_int_equal(program_spawn(words, log), 0);
    said = program_read(log);
    assert_part(said, "trial 0: point base, policy fcfs, seed 0\ndone: ");
    free(said);
}

static void a_crash_of_a_trial_is_a_fault_of_the_program(void **state)
{
    const struct program *program = *state;
    char *said, *failures, *repro;

    crash_twice(program);
    failures = program_result(program, "out", "failures.csv");
    assert_part(failures, "base,fcfs,0,,\"policy fcfs ended itself (");
    assert_null(strstr(failures, "base,fcfs,1"));
    free(failures);
    repro = program_result(program, "out", "repro.txt");
    assert_part(repro, "trial 0: point base, policy fcfs, seed 0\n");
    assert_int_equal(unlink(program_path(program, "e.yaml")), 0);
    assert_runs_again(program, repro);
    free(repro);
    said = program_read(program_path(program, "said"));
    assert_part(said, "1 of 4 trials failed");
    assert_part(said, "repro.txt says how to see it again");
    free(said);
}

static void what_crashed_is_passed_over(void **state)
{
    const struct program *program = *state;
    char *said;

    crash_twice(program);
    assert_int_equal(run(program, LONG, "out", "--resume", &said), 70);
    assert_part(said, "1 of them were lost in an earlier run and passed over");
    free(said);
    assert_int_equal(unlink(program_path(program, "out/.trials/crashed")), 0);
    assert_int_equal(run(program, LONG, "out", "--resume", &said), 0);
    free(said);
    assert_null(program_result(program, "out", "repro.txt"));
    assert_int_equal(run(program, LONG, "whole", NULL, &said), 0);
    free(said);
    assert_same(program, "out", "whole");
}

static void one_trial_is_run_alone(void **state)
{
    const struct program *program = *state;
    const char *path = program_write(program, "e.yaml",
                                     HEAD("40") "policies: [fcfs, sjf]\n");
    const char *words[] = { "run", path, "--trial", "3", NULL };
    const char *much[] = { "run", path, "--trial", "4", NULL };
    const char *idle[] = { "run", path, "--trial", "3", "--resume", NULL };
    char *said;

    assert_int_equal(program_say(program, words, &said), 0);
    assert_part(said, "trial 3: point base, policy sjf, seed 1\ndone: ");
    free(said);
    assert_int_equal(program_say(program, much, &said), 2);
    assert_part(said, "--trial must be a whole number from 0 to 3");
    free(said);
    assert_int_equal(program_say(program, idle, &said), 2);
    assert_part(said, "--resume has no effect with --trial");
    free(said);
}

/* A policy from a file that crashes in a thread of this process, which its user wanted. */
static void a_policy_in_this_process_ends_alone(void **state)
{
    const struct program *program = *state;
    char *said, *failures, *summary;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    print_message("skip: such a signal is the sanitizer's own\n");
    skip();
#endif
#endif
    assert_int_equal(setenv("XDG_CACHE_HOME", program->folder, 1), 0);
    program_write(program, "mine.c",
                  "#include \"policies/policy.h\"\n"
                  "static void decide(void *self, struct cs_host *host)\n"
                  "{\n"
                  "    (void)self;\n"
                  "    if (cs_now_ns(host) > 3600000000000)\n"
                  "        __builtin_trap();\n"
                  "}\n"
                  "const struct cs_policy mine_policy = {\n"
                  "    .abi_major = CS_POLICY_ABI_MAJOR,\n"
                  "    .size_bytes = sizeof(struct cs_policy),\n"
                  "    .name = \"mine\", .summary = \"x\", .decide = decide,\n"
                  "};\n");
    assert_int_equal(run(program, HEAD("400") "policies: [fcfs, ./mine.c, sjf]\n"
                         "plugins: {isolate: false}\n", "out", NULL, &said), 5);
    assert_part(said, "begins anew");
    assert_null(strstr(strstr(said, "begins anew") + 1, "begins anew"));
    free(said);
    failures = program_result(program, "out", "failures.csv");
    assert_part(failures, "base,mine,0,,policy mine crashed (");
    assert_part(failures, "base,mine,1,,policy mine crashed (");
    free(failures);
    summary = program_result(program, "out", "summary.csv");
    assert_part(summary, "\nbase,sjf,1,400,400,");
    free(summary);
}

static void limits_end_one_trial(void **state)
{
    const struct program *program = *state;
    char *said;

    assert_int_equal(run(program, HEAD("400") "policies: [fcfs]\ntrial_limits: {event: 9s, "
                         "time: 1h}\n", "out", NULL, &said), 0);
    free(said);
    assert_int_equal(run(program, HEAD("100000000") "policies: [fcfs]\n"
                         "trial_limits: {time: 1s}\n", "out", NULL, &said), 5);
    assert_part(said, "policy fcfs needs more than 1 s of wall time for a trial");
    free(said);
    assert_int_equal(run(program, HEAD("100000000") "policies: [fcfs]\n"
                         "trial_limits: {time: 1s}\n", "out", "--resume", &said), 5);
    assert_part(said, "2 of them were lost in an earlier run and passed over");
    free(said);
}

static void memory_ends_one_trial(void **state)
{
    const struct program *program = *state;
    char *said;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    print_message("skip: a sanitizer reserves more addresses than any limit allows\n");
    skip();
#endif
#endif
    /* A queue that grows: three hundred times as many jobs come as can be served. */
    assert_int_equal(run(program, HEAD("400000") "policies: [fcfs]\ntrial_limits: {memory: "
                         "150MB}\nsweep: {workload.arrival.rate: [9000/h]}\n", "out", NULL,
                         &said), 5);
    assert_part(said, "policy fcfs needs more than 150 MB of memory, at ");
    free(said);
}

static void limits_that_are_none_are_refused(void **state)
{
    char *said;

    assert_int_equal(run(*state, HEAD("4") "policies: [fcfs]\ntrial_limits: {}\n", "out", NULL,
                         &said), 3);
    assert_part(said, "trial_limits needs event, time or memory");
    free(said);
    assert_int_equal(run(*state, HEAD("4") "policies: [fcfs]\ntrial_limits: {events: 4s}\n",
                         "out", NULL, &said), 3);
    assert_part(said, "Did you mean 'event'?");
    free(said);
    assert_int_equal(run(*state, HEAD("4") "policies: [fcfs]\ntrial_limits: {memory: 1MB}\n",
                         "out", NULL, &said), 3);
    assert_part(said, "'memory' must be from 100MB");
    free(said);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, program_setup, program_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_crash_of_a_thread_changes_no_byte),
        TEST(a_crash_of_a_trial_is_a_fault_of_the_program),
        TEST(what_crashed_is_passed_over),
        TEST(one_trial_is_run_alone),
        TEST(a_policy_in_this_process_ends_alone),
        TEST(limits_end_one_trial),
        TEST(memory_ends_one_trial),
        TEST(limits_that_are_none_are_refused),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
