/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole.c - a run as `clustersim run` makes it: all tables, charts and the report.
 *
 * What gnuplot takes counts, too: it is a child, so that its time is told when it has ended.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "experiments/process/scratch.h"
#include "experiments/runner/runner.h"
#include "experiments/run/trial.h"
#include "experiments/session/session.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "tests/bench/trial.h"

/* Processor time of this process and of all its children that ended, in seconds. */
static double whole_cpu_s(void)
{
    static const int who[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
    double s = 0;

    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        struct rusage usage;

        getrusage(who[i], &usage);
        s += (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    return s;
}

/* Charts that could not be drawn would make the run look short. */
static void note_warning(void *self, const struct err *err)
{
    struct bench_report *report = self;

    report->err = *err;
}

bool bench_whole(const struct bench_trial *trial, struct bench_report *report)
{
    struct arena *arena = arena_new((size_t)1 << 16);
    char path[128], *word[] = { "clustersim", "run", path };
    struct session_options options = {
        .threads = 1, .shard_count = 1, .command = { 3, word }, .results = true,
        .warn = note_warning, .self = report
    };
    /* Nothing is kept that the hash of this program would name. */
    struct experiment_options reading = { .program_hash = 1,
                                          .dir = scratch_make(arena, &report->err) };
    struct session session = { .grid = NULL };

    snprintf(path, sizeof path, "%s/experiment.yaml", trial->dir);
    if (reading.dir == NULL)
        return false;
    double begin = whole_cpu_s();
    const struct experiment *experiment = experiment_read(arena, path, &reading, &report->err);
    bool ok = experiment != NULL &&
              session_run(arena, experiment, &options, &session, &report->err);

    report->cpu_s = whole_cpu_s() - begin;
    report->peak_bytes = bench_peak_bytes();
    scratch_remove(reading.dir);
    if (!ok || report->err.kind != ERR_NONE)
        return false;
    report->events = (double)session.trial[0].result->event_count;
    return true;
}
