/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.c - a child tells what it measured through a pipe.
 *
 * The peak of its memory is then its own; times are of the processor.
 */
#include "tests/bench/trial.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/columns/columns.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/text/table.h"
#include "tests/bench/probe.h"

double bench_peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* Rows of jobs go to their file as they come. */
static void sink_jobs(void *self, const char *bytes, size_t count)
{
    FILE *file = self;

    fwrite(bytes, 1, count, file);      /* ferror() is asked at the end */
}

static bool open_jobs(const char *dir, struct table **table, FILE **file,
                      struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    char path[128];

    snprintf(path, sizeof path, "%s/jobs.csv", dir);
    *file = fopen(path, "w");
    if (*file == NULL)
        return err_set(err, ERR_IO, nowhere, "cannot write '%s'", path);
    *table = table_new(csv_jobs.columns, csv_jobs.count);
    table_sink(*table, sink_jobs, *file);
    return true;
}

static bool close_jobs(struct table *table, FILE *file, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    size_t bytes;
    const char *text = table_bytes(table, &bytes);

    sink_jobs(file, text, bytes);
    table_free(table);
    bool ok = ferror(file) == 0;
    ok = fclose(file) == 0 && ok;
    return ok || err_set(err, ERR_IO, nowhere, "cannot write the jobs");
}

static bool run_trial(const struct bench_trial *trial,
                      struct bench_report *report)
{
    struct arena *arena = arena_new((size_t)1 << 16);
    /* Nothing is kept that the hash of this program would name. */
    struct experiment_options options = { .program_hash = 1 };
    struct trial_result result;
    struct trial_tables tables = { 0 };
    FILE *file = NULL;
    char path[128];

    snprintf(path, sizeof path, "%s/experiment.yaml", trial->dir);
    report->base_bytes = bench_peak_bytes();
    if (trial->whole)
        return bench_whole(trial, report);
    double begin = bench_cpu_ns();
    const struct experiment *experiment = experiment_read(arena, path, &options,
                                                          &report->err);
    if (experiment == NULL)
        return false;
    struct trial_spec spec = experiment_trial_spec(experiment, 0);
    spec.by_host = trial->by_host;
    if (trial->written &&
        !open_jobs(trial->dir, &tables.jobs, &file, &report->err))
        return false;
    bool ok = trial_run(&spec, &tables, &result, &report->err);
    if (trial->written)
        ok = close_jobs(tables.jobs, file, &report->err) && ok;
    report->cpu_s = (bench_cpu_ns() - begin) / 1e9;
    report->events = (double)result.event_count;
    report->peak_bytes = bench_peak_bytes();
    return ok;
}

static double run_bare(const struct bench_trial *trial)
{
    if (trial->load->burst >= BENCH_ROWS)
        return 0;
    return trial->written || trial->whole ? bench_bare_written_s(trial->load, trial->dir)
                        : bench_bare_s(trial->load);
}

/* The err has no pointer into this process any more: its place goes into its text. */
static void flatten_err(struct err *err)
{
    char text[sizeof err->text];

    if (err->pos.file != NULL && err->pos.line > 0) {
        snprintf(text, sizeof text, "%.80s:%u:%u: %.140s", err->pos.file, err->pos.line,
                 err->pos.col, err->text);
        memcpy(err->text, text, sizeof text);
    }
    err->pos = (struct err_pos){ NULL, 0, 0 };
    err->key = NULL;
    err->next = NULL;
}

/* The child's side: what it tells has no pointers. */
static void child(const struct bench_trial *trial, bool bare, int fd)
{
    struct bench_report report = { .ok = bare };
    struct rlimit most = { trial->cpu_max_s, trial->cpu_max_s };

    if (trial->cpu_max_s > 0)
        setrlimit(RLIMIT_CPU, &most);

    if (bare)
        report.bare_s = run_bare(trial);
    else
        report.ok = run_trial(trial, &report);
    flatten_err(&report.err);
    bool told = write(fd, &report, sizeof report) == (ssize_t)sizeof report;
    _exit(told ? 0 : 1);
}

bool bench_trial(const struct bench_trial *trial, bool bare,
                 struct bench_report *report, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    int fd[2], status;

    fflush(NULL);
    if (pipe(fd) != 0)
        return err_set(err, ERR_IO, nowhere, "no pipe to a process");
    pid_t pid = fork();
    if (pid < 0) {
        close(fd[0]);
        close(fd[1]);
        return err_set(err, ERR_IO, nowhere, "no process to measure in");
    }
    if (pid == 0) {
        close(fd[0]);
        child(trial, bare, fd[1]);
    }
    close(fd[1]);
    bool told = read(fd[0], report, sizeof *report) ==
                (ssize_t)sizeof *report;
    close(fd[0]);
    waitpid(pid, &status, 0);
    report->late = !told && trial->cpu_max_s > 0 && WIFSIGNALED(status);
    if (report->late)
        return true;
    if (!told)
        return err_set(err, ERR_IO, nowhere, "the trial of %s did not end",
                       trial->name);
    if (!report->ok)
        *err = report->err;
    return report->ok;
}
