/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signal_test.c - SIGINT, SIGTERM and SIGHUP at 40 moments: status 130, each time.
 *
 * A run is sent a signal at a moment drawn by a fixed seed, once it has its handlers:
 * in a planner's search that takes for ever, in reading a trace, in a run of many
 * trials, and while gnuplot hangs.  What it takes to end is measured in processor time,
 * which other programs do not lengthen; the wait has a limit only to end a hang.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/aid/program.h"

#define HANG_MS 120000          /* after which a wait is given up */
#define END_CPU_S 3.0           /* of one thread, to hear and to end */

static struct program program;
static uint32_t seed = 12345;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void pause_ms(long ms)
{
    struct timespec wait = { ms / 1000, ms % 1000 * 1000000 };

    (void)nanosleep(&wait, NULL);
}

/* A line of /proc/PID/status; false: there is none. */
static bool status_of(pid_t pid, const char *key, unsigned long long *mask)
{
    char path[64], line[256];
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, key, strlen(key)) == 0 &&
                sscanf(line + strlen(key), "%llx", mask) == 1;
    if (file != NULL)
        fclose(file);
    return found;
}

/* Seconds of processor time of a process that lives. */
static double cpu_s(pid_t pid)
{
    clockid_t clock;
    struct timespec spent = { 0, 0 };

    if (clock_getcpuclockid(pid, &clock) == 0)
        (void)clock_gettime(clock, &spent);
    return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

static void write_text(const char *name, const char *text, mode_t mode)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", program.folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static pid_t begin(const char *const argv[], const char *bin)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        char path[700];
        int null = open("/dev/null", O_WRONLY);

        (void)dup2(null, 1);
        (void)dup2(null, 2);
        if (bin != NULL) {
            snprintf(path, sizeof path, "%s:%s", bin, getenv("PATH"));
            setenv("PATH", path, 1);
        }
        execv(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    return pid;
}

/* Waits for an end; -1: it hangs, and was killed. */
static int end_of(pid_t pid, double *cpu)
{
    int status = 0;

    for (long ms = 0; ms < HANG_MS; ms += 5) {
        double now = cpu_s(pid);

        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        *cpu = now;
        pause_ms(5);
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    return -1;
}

/* Sends a signal some milliseconds after the handlers are there, and returns the status. */
static int cut_off(const char *const argv[], const char *bin, uint32_t within_ms)
{
    static const int number[] = { SIGINT, SIGTERM, SIGHUP };
    int sent = number[draw(3)], status;
    pid_t pid = begin(argv, bin);
    unsigned long long caught = 0;
    double before, after = 0;

    for (int i = 0; i < 20000 && (caught >> (SIGHUP - 1) & 1) == 0; i++) {
        if (!status_of(pid, "SigCgt:", &caught))
            break;
        pause_ms(1);
    }
    pause_ms(draw(within_ms));
    before = after = cpu_s(pid);
    assert_int_equal(kill(pid, sent), 0);
    status = end_of(pid, &after);
    if (after - before > END_CPU_S)
        print_message("%.1f s of processor time to end\n", after - before);
    assert_true(after - before <= END_CPU_S);
    return status;
}

static const char planner[] =
    "experiment: planner\n"
    "cluster:\n  nodes:\n"
    "    - {name: t4, count: 48, gpus: {type: t4, count: 4},\n"
    "       cpu: {type: epyc-7742, sockets: 1}, memory: 192GB}\n"
    "workload:\n  trace: {file: %s/workloads/traces/goodput.csv, format: pollux,\n"
    "          lengths: applications}\n"
    "policies: [{policy: pollux, population: 1000, generations: 100000}]\n"
    "output: {tables: [summary], plots: []}\n";

static const char huge[] =
    "experiment: huge\n"
    "cluster: {nodes: [{name: n, count: 100, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n  trace: {file: huge.csv, format: csv,\n"
    "          columns: {job: j, submit: s, duration: d, gpus: g}}\n"
    "policies: [{policy: srtf, placement: pack}]\n"
    "output: {tables: [summary], plots: []}\n";

static void write_trace(void)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof path, "%s/huge.csv", program.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("j,s,d,g\n", file);
    for (int i = 0; i < 1000000; i++)
        fprintf(file, "%d,%d,%d,%d\n", i, i, 100 + i * 37 % 1001, 1 << i % 4);
    assert_int_equal(fclose(file), 0);
}

static void cut_off_often(const char *experiment, int times, uint32_t within_ms)
{
    char e[300], out[300];
    const char *const argv[] = { program.path, "run", e, "-o", out, "-j", "1", "-q", NULL };

    snprintf(e, sizeof e, "%s/%s", program.folder, experiment);
    for (int i = 0; i < times; i++) {
        snprintf(out, sizeof out, "%s/out-%u", program.folder, draw(1000000));
        assert_int_equal(cut_off(argv, NULL, within_ms), 130);
    }
}

static void a_planner_in_its_search_is_ended(void **state)
{
    char text[1200], here[400];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text, planner, here);
    write_text("planner.yaml", text, 0600);
    cut_off_often("planner.yaml", 12, 600);
}

static void a_start_that_reads_much_is_ended(void **state)
{
    (void)state;
    write_text("huge.yaml", huge, 0600);
    write_trace();
    cut_off_often("huge.yaml", 16, 500);
}

/* gnuplot that hangs, and has a child that does. */
static const char hangs[] = "#!/bin/sh\nsleep 1000 &\necho $$ $! >> \"$0.pids\"\nwait\n";

static bool lives(pid_t pid)
{
    unsigned long long mask;
    char path[64], state[64] = "";
    FILE *file;

    if (!status_of(pid, "SigCgt:", &mask))
        return false;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file != NULL) {
        (void)!fscanf(file, "%*d %*s %60s", state);
        fclose(file);
    }
    return state[0] != 'Z' && state[0] != '\0';
}

static void no_gnuplot_is_left(void)
{
    char path[300];
    int one, two, count = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/bin/gnuplot.pids", program.folder);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%d %d", &one, &two) == 2) {
        for (int i = 0; i < 2000 && (lives(one) || lives(two)); i++)
            pause_ms(5);
        assert_false(lives(one));
        assert_false(lives(two));
        count++;
    }
    fclose(file);
    assert_true(count > 0);
}

static void charts_are_ended_with_gnuplot_and_its_children(void **state)
{
    char out[300], bin[300];
    const char *const run[] = { program.path, "run", "tests/faults/counted.yaml", "-o", out,
                                "-q", NULL };
    const char *const plot[] = { program.path, "plot", out, NULL };

    (void)state;
    snprintf(out, sizeof out, "%s/charts", program.folder);
    snprintf(bin, sizeof bin, "%s/bin", program.folder);
    assert_int_equal(program_spawn(run, NULL), 0);
    assert_int_equal(mkdir(bin, 0700), 0);
    write_text("bin/gnuplot", hangs, 0700);
    for (int i = 0; i < 12; i++)
        assert_int_equal(cut_off(plot, bin, 300), 130);
    no_gnuplot_is_left();
}

/* A gnuplot that says what it was given. */
static void the_environment_does_not_decide_about_charts(void **state)
{
    static const char tells[] = "#!/bin/sh\nenv > \"$0.env\"\nexit 1\n";
    char out[300], bin[300], path[300], *text;
    const char *const plot[] = { program.path, "plot", out, NULL };

    (void)state;
    snprintf(out, sizeof out, "%s/charts", program.folder);
    snprintf(bin, sizeof bin, "%s/bin", program.folder);
    write_text("bin/gnuplot", tells, 0700);
    setenv("GNUTERM", "x11", 1);
    setenv("GNUPLOT_LIB", "/nowhere", 1);
    setenv("LC_NUMERIC", "de_DE.UTF-8", 1);
    setenv("KEPT", "yes", 1);
    (void)end_of(begin(plot, bin), &(double){ 0 });
    snprintf(path, sizeof path, "%s/bin/gnuplot.env", program.folder);
    text = program_read(path);
    assert_non_null(text);
    assert_null(strstr(text, "GNUTERM"));
    assert_null(strstr(text, "GNUPLOT_LIB"));
    assert_null(strstr(text, "LC_NUMERIC"));
    assert_non_null(strstr(text, "LC_ALL=C.UTF-8"));
    assert_non_null(strstr(text, "KEPT=yes"));
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planner_in_its_search_is_ended),
        cmocka_unit_test(a_start_that_reads_much_is_ended),
        cmocka_unit_test(charts_are_ended_with_gnuplot_and_its_children),
        cmocka_unit_test(the_environment_does_not_decide_about_charts),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
