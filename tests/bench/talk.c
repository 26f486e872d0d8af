/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * talk.c - probes of policies that are programs: a decision by the clients in C and in
 * Python, and the bare exchange of as many bytes over two pipes.
 *
 * `size` jobs arrive at each instant at which as many end, so each decision has one
 * message: 256 bytes for one job, with a name as clusters give it, and 2 kB for 11.  The
 * whole trial is timed, with the start of the program, less the same trial under the
 * built-in fcfs.  Times are of the wall: what is measured is who waits for whom.
 */
#define _GNU_SOURCE             /* sched_setaffinity */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/bench/probe.h"

#define MINUTES 10              /* between instants */

struct talk {
    char folder[64];
    struct arena *arena;
    const struct experiment *experiment;
    uint32_t decisions;
};

static const char *path_in(const struct talk *talk, const char *name)
{
    static _Thread_local char path[128];

    snprintf(path, sizeof path, "%s/%s", talk->folder, name);
    return path;
}

static bool write_files(const struct talk *talk, uint64_t size, const char *command)
{
    char here[512];
    FILE *jobs = fopen(path_in(talk, "jobs.csv"), "w");
    FILE *file = fopen(path_in(talk, "talk.yaml"), "w");

    if (jobs == NULL || file == NULL || getcwd(here, sizeof here) == NULL)
        return false;
    fprintf(jobs, "name,submit,duration,gpus,tenant\n");
    for (uint32_t i = 0; i < talk->decisions * size; i++)
        fprintf(jobs, "train-7f3a9c51-%08x-worker,%u,%u,1,vision\n", i,
                i / (uint32_t)size * 60 * MINUTES, 60 * MINUTES);
    fprintf(file, "experiment: talk\nseeds: 1\nuntil: drained\n"
            "cluster: {nodes: [{name: gpu, count: 4, gpus: {type: generic, count: 8}}]}\n"
            "workload: {trace: {file: jobs.csv, format: csv, columns: "
            "{job: name, submit: submit, duration: duration, gpus: gpus, tenant: tenant}}}\n"
            "policies: [fcfs, {exec: '");
    fprintf(file, command, strstr(command, "python") != NULL ? here : talk->folder);
    fprintf(file, "', name: program}]\n");
    return fclose(jobs) == 0 && fclose(file) == 0;
}

static void talk_drop(void *self)
{
    static const char *const files[] = { "jobs.csv", "talk.yaml", "client" };
    struct talk *talk = self;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(path_in(talk, files[i]));
    rmdir(talk->folder);
    arena_free(talk->arena);
    free(talk);
}

static bool compile(const struct talk *talk)
{
    char command[256];

    snprintf(command, sizeof command, "cc -O2 -o %s policies/clients/c/client.c 2>&1",
             path_in(talk, "client"));
    return system(command) == 0;
}

/* NULL, and a reason on stderr: there is no such client here. */
static void *make_talk(uint64_t size, const char *command, uint32_t decisions)
{
    struct talk *talk = calloc(1, sizeof *talk);
    struct experiment_options options = { .program_hash = 1 };
    struct err err = { 0 };

    assert(talk != NULL);
    talk->decisions = decisions;
    talk->arena = arena_new((size_t)1 << 16);
    strcpy(talk->folder, "/tmp/clustersim-bench-XXXXXX");
    if (mkdtemp(talk->folder) != NULL && access("policies/clients", R_OK) == 0 &&
        (strstr(command, "python") != NULL || compile(talk)) &&
        write_files(talk, size, command))
        talk->experiment = experiment_read(talk->arena,
                                           arena_text(talk->arena, path_in(talk, "talk.yaml")),
                                           &options, &err);
    if (talk->experiment != NULL)
        return talk;
    fprintf(stderr, "no figure: %s\n", err.text[0] != '\0' ? err.text
            : "policies/clients/c/client.c cannot be compiled from this folder");
    talk_drop(talk);
    return NULL;
}

static void *make_c(uint64_t size, bool quick)
{
    return make_talk(size, "%s/client fcfs", quick ? 20000 : 100000);
}

static void *make_python(uint64_t size, bool quick)
{
    return make_talk(size, "python3 %s/policies/clients/python/fcfs.py",
                     quick ? 10000 : 60000);
}

/* Nanoseconds of a trial; 0: it failed. */
static double time_trial(const struct talk *talk, uint32_t index)
{
    struct trial_spec spec = experiment_trial_spec(talk->experiment, index);
    struct trial_result result;
    struct trial_tables tables = { 0 };
    struct err err = { 0 };
    double begin = bench_clock_ns(CLOCK_MONOTONIC);

    if (trial_run(&spec, &tables, &result, &err))
        return bench_clock_ns(CLOCK_MONOTONIC) - begin;
    fprintf(stderr, "no figure: %s\n%s\n", err.text, err.hint);
    return 0;
}

/* Microseconds a decision. */
static double talk_stretch(void *self)
{
    struct talk *talk = self;
    double built_in_ns = time_trial(talk, 0), ns = time_trial(talk, 1);

    return ns == 0 ? 0 : (ns - built_in_ns) / 1e3 / talk->decisions;
}

/* ---- bytes alone ---- */

struct ping {
    pid_t pid;
    int to, from;
    size_t there, back;         /* bytes of a message and its answer */
    uint32_t times;
};

static bool move_bytes(int fd, size_t bytes, bool out)
{
    static _Thread_local char block[4096];

    for (ssize_t got; bytes > 0; bytes -= (size_t)got) {
        got = out ? write(fd, block, bytes) : read(fd, block, bytes);
        if (got <= 0)
            return false;
    }
    return true;
}

static void *ping_make(uint64_t size, bool quick)
{
    struct ping *ping = calloc(1, sizeof *ping);
    int to[2], from[2];

    assert(ping != NULL && size <= 16);
    ping->there = 80 + 176 * (size_t)size;
    ping->back = 20 + 15 * (size_t)size;
    ping->times = quick ? 10000 : 50000;
    if (pipe(to) != 0 || pipe(from) != 0 || (ping->pid = fork()) < 0)
        abort();
    if (ping->pid == 0) {
        close(to[1]);
        close(from[0]);
        while (move_bytes(to[0], ping->there, false) && move_bytes(from[1], ping->back, true))
            continue;
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    ping->to = to[1];
    ping->from = from[0];
    return ping;
}

/* Both on the processor on which this process runs: the least that there is. */
static double ping_stretch(void *self)
{
    struct ping *ping = self;
    cpu_set_t all, one;
    double begin;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    (void)sched_getaffinity(0, sizeof all, &all);
    (void)sched_setaffinity(0, sizeof one, &one);
    (void)sched_setaffinity(ping->pid, sizeof one, &one);
    begin = bench_clock_ns(CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < ping->times; i++)
        if (!move_bytes(ping->to, ping->there, true) ||
            !move_bytes(ping->from, ping->back, false))
            return 0;
    begin = bench_clock_ns(CLOCK_MONOTONIC) - begin;
    (void)sched_setaffinity(0, sizeof all, &all);
    return begin / 1e3 / ping->times;
}

static void ping_drop(void *self)
{
    struct ping *ping = self;

    close(ping->to);
    close(ping->from);
    waitpid(ping->pid, NULL, 0);
    free(ping);
}

const struct bench_probe_type bench_talk_c = { make_c, talk_stretch, talk_drop };
const struct bench_probe_type bench_talk_python = { make_python, talk_stretch, talk_drop };
const struct bench_probe_type bench_ping = { ping_make, ping_stretch, ping_drop };
