/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * many.c - probes of whole runs of many short trials: `clustersim run`, the program beside
 * this one, over `size` trials of 50 jobs into a folder under the current one.
 *
 * What is measured is all that a user waits for: the file read, trials, logs, tables and
 * report.  Times are of the wall, since two threads are compared with one.
 */
#define _DEFAULT_SOURCE         /* wait4 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/process/self.h"
#include "tests/bench/probe.h"

#define FEW 100u                /* trials of the run that shows what a run takes without */

struct many {
    char folder[64];
    char program[PATH_MAX];
    uint32_t trials;
};

struct run {
    double wall_ns, peak_bytes; /* 0: the run failed */
};

static const char name[] = "clustersim";
static const char text[] =
    "experiment: many\n"
    "cluster: {nodes: [{name: gpu, count: 4, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 12/h}\n"
    "  jobs: 50\n"
    "  mix: [{recipe: trace, gpus: {choice: {1: 1, 4: 1, 8: 1}}, "
    "duration: {exponential: {mean: 1h}}}]\n"
    "policies: [fcfs]\n"
    "output: {plots: [], tables: [summary, compare]}\n";

static void find_program(char path[PATH_MAX])
{
    char *slash;

    if (!self_path(path, PATH_MAX - sizeof name))
        path[0] = '\0';
    slash = strrchr(path, '/');
    strcpy(slash == NULL ? path : slash + 1, name);
}

static void *many_make(uint64_t size, bool quick)
{
    struct many *many = calloc(1, sizeof *many);
    char path[96];
    FILE *file;

    (void)quick;
    assert(many != NULL && size > FEW);
    many->trials = (uint32_t)size;
    find_program(many->program);
    strcpy(many->folder, "clustersim-bench-XXXXXX");
    file = mkdtemp(many->folder) == NULL ? NULL
         : (snprintf(path, sizeof path, "%s/many.yaml", many->folder), fopen(path, "w"));
    if (file == NULL) {
        perror("bench: no folder for runs here");
        free(many);
        return NULL;
    }
    fputs(text, file);
    fclose(file);
    return many;
}

static void become(const struct many *many, const char *threads, const char *trials)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0 || chdir(many->folder) != 0 || dup2(null, 1) < 0)
        _exit(1);
    execl(many->program, name, "run", "many.yaml", "-q", "-j", threads, "--seeds",
          trials, "-o", threads, (char *)NULL);
    _exit(1);
}

static struct run run_trials(const struct many *many, unsigned threads, uint32_t trials)
{
    char of_threads[16], of_trials[16];
    double start = bench_clock_ns(CLOCK_MONOTONIC);
    struct run run = { 0, 0 };
    struct rusage usage;
    int status = 1;
    pid_t pid;

    snprintf(of_threads, sizeof of_threads, "%u", threads);
    snprintf(of_trials, sizeof of_trials, "%u", trials);
    pid = fork();
    if (pid == 0)
        become(many, of_threads, of_trials);
    if (pid > 0 && wait4(pid, &status, 0, &usage) == pid && status == 0)
        run = (struct run){ bench_clock_ns(CLOCK_MONOTONIC) - start,
                            (double)usage.ru_maxrss * 1024 };
    return run;
}

/* In microseconds. */
static double many_trial(void *self)
{
    const struct many *many = self;

    return run_trials(many, 1, many->trials).wall_ns / many->trials / 1e3;
}

/* Did both write the same? */
static bool are_equal(const struct many *many)
{
    char command[256];

    snprintf(command, sizeof command, "cmp -s %s/1/summary.csv %s/2/summary.csv",
             many->folder, many->folder);
    return system(command) == 0;
}

static double many_speed(void *self)
{
    const struct many *many = self;
    struct run one = run_trials(many, 1, many->trials);
    struct run two = run_trials(many, 2, many->trials);

    return two.wall_ns > 0 && are_equal(many) ? one.wall_ns / two.wall_ns : 0;
}

static double many_bytes(void *self)
{
    const struct many *many = self;
    struct run few = run_trials(many, 1, FEW), all = run_trials(many, 1, many->trials);

    return few.peak_bytes == 0 ? 0
         : (all.peak_bytes - few.peak_bytes) / (many->trials - FEW);
}

static void many_drop(void *self)
{
    struct many *many = self;
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", many->folder);
    if (system(command) != 0)
        perror("bench: a folder of runs stays");
    free(many);
}

const struct bench_probe_type bench_many_trial = {many_make, many_trial, many_drop};
const struct bench_probe_type bench_many_speed = {many_make, many_speed, many_drop};
const struct bench_probe_type bench_many_bytes = {many_make, many_bytes, many_drop};
