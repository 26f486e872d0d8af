/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signals.c - the program is sent signals at moments drawn by a fixed seed.
 */
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

#include "tests/aid/signals.h"

#define HANG_MS 120000          /* after which a wait is given up */
#define END_CPU_S 3.0           /* of one thread, to hear and to end */

struct program signalled;
static uint32_t seed = 12345;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

void pause_ms(long ms)
{
    struct timespec wait = { ms / 1000, ms % 1000 * 1000000 };

    (void)nanosleep(&wait, NULL);
}

/* A line of /proc/PID/status; false: there is none. */
bool status_of(pid_t pid, const char *key, unsigned long long *mask)
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

void write_text(const char *name, const char *text, mode_t mode)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", signalled.folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

pid_t begin(const char *const argv[], const char *bin)
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
int end_of(pid_t pid, double *cpu)
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
int cut_off(const char *const argv[], const char *bin, uint32_t within_ms)
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

void cut_off_often(const char *experiment, int times, uint32_t within_ms)
{
    char e[300], out[300];
    const char *const argv[] = { signalled.path, "run", e, "-o", out, "-j", "1", "-q", NULL };

    snprintf(e, sizeof e, "%s/%s", signalled.folder, experiment);
    for (int i = 0; i < times; i++) {
        snprintf(out, sizeof out, "%s/out-%u", signalled.folder, draw(1000000));
        assert_int_equal(cut_off(argv, NULL, within_ms), 130);
    }
}
