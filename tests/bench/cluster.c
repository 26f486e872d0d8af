/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster.c - what a simulated job costs: whole trials, from a file in
 * SWF to the metrics, by number of jobs, of GPUs, and of jobs that wait.
 *
 * Every trial runs in a process of its own (trial.c), and so does the
 * loop beside it.  In the same minute runs a bare loop in C over the same jobs
 * (jobs.c), which checks nothing and knows strict FIFO over a count
 * alone; it reads a file and writes a table where the trial writes one, else
 * its jobs are in arrays.
 */
#include "tests/bench/cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gnuplot.h"
#include "plots/plot_file.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "tests/bench/trial.h"

#define TURNS 3u
#define TURN_JOBS_MAX 200000u   /* of more, one turn, unless that is brief */

#define COUNT "{policy: fcfs, placement: count}"
#define BEST "{policy: fcfs, placement: best_fit}"
#define EASY "{policy: easy, placement: best_fit, estimate: requested}"
#define SRTF "{policy: srtf, placement: count}"
#define EASY_100 "{policy: easy, placement: count, depth_max: 100, " \
                 "estimate: requested}"
#define TIRESIAS "{policy: srtf, semantics: tiresias}"
#define ACCASIM "{policy: easy, semantics: accasim}"
#define HELIOS "{policy: sjf, semantics: helios}"
#define PEER_RATIO 100.0

enum curve { NO_CURVE, BY_JOBS, BY_GPUS, BY_BACKLOG, BY_POLICY };

/* A goal of 0 is no goal; the goals in seconds are for a core at 3 GHz or so.  A peer is
 * a published simulator that was given 20,000 jobs: its jobs a second, where a
 * hundred times as many are the goal. */
struct row {
    const char *name;
    struct bench_load load;
    enum curve curve;
    double goal_s;
    double goal_bare;           /* x the bare loop; 0: no goal */
    bool whole;                 /* the run with all tables, charts and the report */
    bool written;               /* with the table of jobs, written to a file */
    bool quick;
    double peer_jobs_s;
    bool once;                  /* one turn */
    bool by_host;               /* even where trial_count would do */
};

#define ROW(NAME, JOBS, NODES, BURST, POLICY, ...) \
    { .name = NAME, .load = { JOBS, NODES, BURST, POLICY }, __VA_ARGS__ }
/* The same jobs at once under a policy whose queue is not one of arrival. */
#define BACKLOG(POLICY, JOBS, BURST) \
    ROW(POLICY, JOBS, 13, BURST, "{policy: " POLICY ", placement: count}", \
        .curve = BY_POLICY, .once = true)
#define BACKLOGS(POLICY) \
    BACKLOG(POLICY, 10000, 10), BACKLOG(POLICY, 10000, 100), \
    BACKLOG(POLICY, 10000, 1000), BACKLOG(POLICY, 10000, 10000)
#define LATE(BURST) \
    ROW("conservative-late", 10000, 13, BURST, "{policy: conservative, " \
        "placement: count, estimate: requested}", .curve = BY_POLICY, \
        .once = true)
/* Like a public trace of which the requested times are far too long. */
#define RICC(JOBS, ...) \
    ROW("conservative-ricc", JOBS, 1024, BENCH_ROWS, "{policy: conservative, " \
        "placement: count, estimate: requested}", .once = true, __VA_ARGS__)
/* Chosen and backfilled as RLScheduler does, all jobs of a burst at once. */
#define COMMIT(JOBS, BURST) \
    ROW("commit-backfill", JOBS, 13, BURST, "{policy: sjf, semantics: " \
        "rlscheduler-backfill}", .once = true)
/* The same where the order moves with time. */
#define COMMIT_MOVING(POLICY, JOBS, BURST) \
    ROW(POLICY "-commit", JOBS, 13, BURST, "{policy: " POLICY ", blocking: " \
        "commit, backfill: true, placement: count}", .once = true)
/* Passing over what does not fit, by tenant. */
#define SKIP(JOBS, BURST) \
    ROW("fair-share-skip", JOBS, 13, BURST, "{policy: fair-share, " \
        "placement: count, blocking: skip}", .once = true)
/* Nearly full: what a deal costs where many run and few wait. */
#define RUNNING(POLICY) \
    ROW(POLICY "-gpus", 20000, 125, 0, "{policy: " POLICY ", placement: " \
        "count}", .once = true), \
    ROW(POLICY "-gpus", 20000, 1250, 0, "{policy: " POLICY ", placement: " \
        "count}", .once = true)
/* Policies that plan for all jobs at each decision. */
#define PLAN(POLICY, JOBS, ...) \
    ROW("plan-" POLICY, JOBS, 4, BENCH_ELASTIC, "{policy: " POLICY "}", \
        .once = true, __VA_ARGS__)
#define PLANS(POLICY) \
    PLAN(POLICY, 125, .quick = true), PLAN(POLICY, 250, .quick = false), \
    PLAN(POLICY, 500, .quick = false), PLAN(POLICY, 1000, .quick = false),
static const struct row rows[] = {
    ROW("fifo", 1000, 1250, 0, BEST, .curve = BY_JOBS, .quick = true),
    ROW("fifo", 10000, 1250, 0, BEST, .curve = BY_JOBS, .quick = true),
    ROW("fifo", 100000, 1250, 0, BEST, .curve = BY_JOBS, .quick = true),
    ROW("fifo", 1000000, 1250, 0, BEST, .curve = BY_JOBS, .goal_s = 3),
    ROW("easy", 1000, 1250, 0, EASY, .curve = BY_JOBS, .quick = true),
    ROW("easy", 10000, 1250, 0, EASY, .curve = BY_JOBS, .quick = true),
    ROW("easy", 100000, 1250, 0, EASY, .curve = BY_JOBS, .quick = true),
    ROW("easy", 1000000, 1250, 0, EASY, .curve = BY_JOBS, .goal_s = 15),
    ROW("srtf", 1000, 1250, 0, SRTF, .curve = BY_JOBS, .quick = true),
    ROW("srtf", 10000, 1250, 0, SRTF, .curve = BY_JOBS, .quick = true),
    ROW("srtf", 100000, 1250, 0, SRTF, .curve = BY_JOBS),
    ROW("srtf", 1000000, 1250, 0, SRTF, .curve = BY_JOBS, .goal_s = 15),
    ROW("fifo", 100000, 13, 0, BEST, .curve = BY_GPUS, .quick = true),
    ROW("fifo", 100000, 125, 0, BEST, .curve = BY_GPUS, .quick = true),
    ROW("fifo", 100000, 1250, 0, BEST, .curve = BY_GPUS, .quick = true),
    ROW("fifo", 100000, 12500, 0, BEST, .curve = BY_GPUS, .quick = true),
    ROW("easy", 100000, 13, 0, EASY, .curve = BY_GPUS),
    ROW("easy", 100000, 125, 0, EASY, .curve = BY_GPUS),
    ROW("easy", 100000, 1250, 0, EASY, .curve = BY_GPUS),
    ROW("easy", 100000, 12500, 0, EASY, .curve = BY_GPUS),
    ROW("srtf", 100000, 13, 0, SRTF, .curve = BY_GPUS),
    ROW("srtf", 100000, 125, 0, SRTF, .curve = BY_GPUS),
    ROW("srtf", 100000, 1250, 0, SRTF, .curve = BY_GPUS),
    ROW("srtf", 100000, 12500, 0, SRTF, .curve = BY_GPUS),
    ROW("fifo", 100000, 13, 10, BEST, .curve = BY_BACKLOG),
    ROW("fifo", 100000, 13, 100, BEST, .curve = BY_BACKLOG),
    ROW("fifo", 100000, 13, 1000, BEST, .curve = BY_BACKLOG),
    ROW("fifo", 100000, 13, 10000, BEST, .curve = BY_BACKLOG),
    ROW("fifo", 100000, 13, 100000, BEST, .curve = BY_BACKLOG),
    ROW("easy", 100000, 13, 10, EASY, .curve = BY_BACKLOG, .quick = true),
    ROW("easy", 100000, 13, 100, EASY, .curve = BY_BACKLOG, .quick = true),
    ROW("easy", 100000, 13, 1000, EASY, .curve = BY_BACKLOG, .quick = true),
    ROW("easy", 100000, 13, 10000, EASY, .curve = BY_BACKLOG, .quick = true),
    ROW("easy", 100000, 13, 100000, EASY, .curve = BY_BACKLOG, .quick = true),
    ROW("srtf", 100000, 13, 10, SRTF, .curve = BY_BACKLOG),
    ROW("srtf", 100000, 13, 100, SRTF, .curve = BY_BACKLOG),
    ROW("srtf", 100000, 13, 1000, SRTF, .curve = BY_BACKLOG),
    ROW("srtf", 100000, 13, 10000, SRTF, .curve = BY_BACKLOG),
    ROW("srtf", 100000, 13, 100000, SRTF, .curve = BY_BACKLOG),
    BACKLOGS("hrrn"), BACKLOG("hrrn", 100000, 100000),
    BACKLOGS("unicef"), BACKLOG("unicef", 100000, 100000),
    BACKLOGS("qssf"), BACKLOG("qssf", 100000, 100000),
    BACKLOGS("drf"), BACKLOG("drf", 100000, 100000),
    BACKLOGS("fair-share"), BACKLOG("fair-share", 100000, 100000),
    BACKLOGS("srsf"), BACKLOG("srsf", 100000, 100000),
    BACKLOGS("conservative"), BACKLOG("conservative", 100000, 100000),
    BACKLOGS("dlas"), BACKLOG("dlas", 100000, 100000),
    BACKLOGS("las"), BACKLOGS("gittins"), BACKLOGS("time-slice"),
    LATE(10), LATE(100), LATE(1000),
    RICC(60000, .quick = true), RICC(447794, .goal_s = 60),
    COMMIT(10000, 1000), COMMIT(10000, 10000), COMMIT(100000, 100000),
    COMMIT_MOVING("wfp3", 10000, 1000), COMMIT_MOVING("wfp3", 10000, 10000),
    COMMIT_MOVING("wfp3", 100000, 100000),
    COMMIT_MOVING("unicef", 10000, 1000),
    COMMIT_MOVING("unicef", 10000, 10000),
    COMMIT_MOVING("unicef", 100000, 100000),
    RUNNING("srsf"), RUNNING("las"), RUNNING("dlas"), RUNNING("gittins"),
    RUNNING("time-slice"), RUNNING("fair-share"),
    SKIP(10000, 10), SKIP(10000, 100), SKIP(10000, 1000), SKIP(10000, 10000),
    SKIP(100000, 100000),
    ROW("fifo-count-written", 100000, 1250, 0, COUNT,
        .written = true, .quick = true),
    ROW("fifo-count-written", 1000000, 1250, 0, COUNT,
        .goal_s = 0.5, .written = true),
    ROW("easy-100-written", 1000000, 1250, 0, EASY_100,
        .goal_s = 1, .written = true),
    ROW("fifo-count-host", 1000000, 1250, 0, COUNT,
        .goal_s = 0.5, .written = true, .by_host = true),
    ROW("easy-100-host", 1000000, 1250, 0, EASY_100,
        .goal_s = 1, .written = true, .by_host = true),
    ROW("default-output", 100000, 1250, 0, COUNT, .whole = true, .quick = true),
    ROW("default-output", 1000000, 1250, 0, COUNT, .goal_bare = 8, .whole = true),
    ROW("default-best-fit", 1000000, 1250, 0, BEST, .goal_bare = 8, .whole = true),
    ROW("fifo-large", 1000000, 12500, 0, BEST, .curve = NO_CURVE),
    ROW("easy-large", 1000000, 12500, 0, EASY, .curve = NO_CURVE),
    ROW("srtf-large", 1000000, 12500, 0, SRTF, .curve = NO_CURVE),
    ROW("phases", 10000, 1250, BENCH_PHASES, COUNT,
        .curve = BY_JOBS, .quick = true),
    ROW("phases", 100000, 1250, BENCH_PHASES, COUNT, .curve = BY_JOBS),
    ROW("phases", 1000000, 1250, BENCH_PHASES, COUNT,
        .curve = BY_JOBS, .goal_s = 60),
    ROW("phases-large", 1000000, 12500, BENCH_PHASES, COUNT, .curve = NO_CURVE),
#include "tests/bench/planners.def"
    ROW("peer-tiresias", 20000, 8, 0, TIRESIAS,
        .written = true, .quick = true, .peer_jobs_s = 110),
    ROW("peer-accasim", 20000, 8, 0, ACCASIM,
        .written = true, .quick = true, .peer_jobs_s = 2300),
    ROW("peer-helios", 20000, 8, 0, HELIOS,
        .written = true, .quick = true, .peer_jobs_s = 1800),
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

struct session {
    const struct bench_cluster_options *options;
    char dir[64];
    struct bench_report report[ROW_COUNT];
    bool measured[ROW_COUNT];
};

/* The shortest of the turns: what disturbs only ever adds. */
static bool measure(struct session *session, const struct row *row,
                    struct bench_report *out, struct err *err)
{
    bool brief = row->load.jobs <= TURN_JOBS_MAX || row->written || row->whole;
    uint32_t turns = brief && !row->once ? TURNS : 1;
    struct bench_trial trial = { .name = row->name, .load = &row->load,
                                 .written = row->written, .by_host = row->by_host,
                                 .whole = row->whole,
                                 .dir = session->dir };

    if (!bench_write(&row->load, session->dir, err))
        return false;
    for (uint32_t t = 0; t < turns; t++) {
        struct bench_report turn, bare;
        if (!bench_trial(&trial, false, &turn, err) ||
            !bench_trial(&trial, true, &bare, err))
            return false;
        turn.bare_s = bare.bare_s;
        if (t == 0)
            *out = turn;
        if (turn.cpu_s < out->cpu_s)
            out->cpu_s = turn.cpu_s;
        if (turn.bare_s < out->bare_s)
            out->bare_s = turn.bare_s;
    }
    return true;
}

static double job_bytes(const struct row *row,
                        const struct bench_report *report)
{
    return (report->peak_bytes - report->base_bytes) / row->load.jobs;
}

/* yes, no, or - where there is none; the goal itself in words. */
static const char *goal_met(const struct row *row,
                            const struct bench_report *report, char goal[32])
{
    double jobs_s = row->load.jobs / report->cpu_s;

    strcpy(goal, "-");
    if (row->peer_jobs_s > 0) {
        snprintf(goal, 32, "%.0f/s", PEER_RATIO * row->peer_jobs_s);
        return jobs_s >= PEER_RATIO * row->peer_jobs_s ? "yes" : "no";
    }
    if (row->goal_bare > 0) {
        snprintf(goal, 32, "%.0f x", row->goal_bare);
        return report->cpu_s <= row->goal_bare * report->bare_s ? "yes" : "no";
    }
    if (row->goal_s == 0)
        return "-";
    snprintf(goal, 32, "%.1f", row->goal_s);
    return report->cpu_s <= row->goal_s ? "yes" : "no";
}

static void print_row(const struct row *row, const struct bench_report *report)
{
    char goal[32], bare[32] = "-", burst[32] = "-";
    const char *met = goal_met(row, report, goal);

    if (report->bare_s > 0)
        snprintf(bare, sizeof bare, "%.1f", report->cpu_s / report->bare_s);
    if (row->load.burst > 0 && row->load.burst < BENCH_ROWS)
        snprintf(burst, sizeof burst, "%u", row->load.burst);
    printf("%-18s %8u %7u %7s %8.3f %9.0f %8.0f %7s %8.1f %6.0f %8s %s\n",
           row->name, row->load.jobs, row->load.nodes * 8, burst,
           report->cpu_s, row->load.jobs / report->cpu_s,
           report->cpu_s * 1e9 / report->events, bare,
           report->peak_bytes / 1e6, job_bytes(row, report), goal, met);
    if (row->peer_jobs_s > 0)
        printf("%18s %.0f times the %.0f jobs/s published of it\n", "",
               row->load.jobs / report->cpu_s / row->peer_jobs_s,
               row->peer_jobs_s);
    fflush(stdout);
}

static void number_or_empty(FILE *csv, double value)
{
    if (value > 0)
        fprintf(csv, "%.6g", value);
}

static void write_row(FILE *csv, const struct row *row,
                      const struct bench_report *report)
{
    bool burst = row->load.burst < BENCH_ROWS;
    double bare_s = report->bare_s;
    char goal[32];
    const char *met = goal_met(row, report, goal);

    fprintf(csv, "%s,%u,%u,%u,%.6g,%.6g,%.6g,", row->name, row->load.jobs,
            row->load.nodes * 8, burst ? row->load.burst : 0, report->cpu_s,
            row->load.jobs / report->cpu_s,
            report->cpu_s * 1e9 / report->events);
    number_or_empty(csv, bare_s);
    fputc(',', csv);
    number_or_empty(csv, bare_s > 0 ? report->cpu_s / bare_s : 0);
    fprintf(csv, ",%.6g,%.6g,", report->peak_bytes, job_bytes(row, report));
    number_or_empty(csv, row->goal_s);
    fprintf(csv, ",%s,", *met == '-' ? "" : met);
    number_or_empty(csv, row->peer_jobs_s);
    fputc('\n', csv);
}

static bool row_is_wanted(const struct row *row,
                          const struct bench_cluster_options *options)
{
    if (options->quick && !row->quick)
        return false;
    return options->only == NULL || strstr(row->name, options->only) != NULL;
}

/* ---- the figure ---- */

static void write_curve(struct out *file, const struct session *session,
                        enum curve curve, const char *name)
{
    out_text(file, "$");
    for (const char *c = name; *c != '\0'; c++)
        out_bytes(file, *c == '-' ? "_" : c, 1);
    out_printf(file, "_%d << EOD\n", (int)curve);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct bench_load *load = &rows[i].load;
        const struct bench_report *report = &session->report[i];
        if (!session->measured[i] || rows[i].curve != curve ||
            strcmp(rows[i].name, name) != 0)
            continue;
        out_printf(file, "%u %.6g %.6g\n",
                curve == BY_JOBS ? load->jobs
                : curve == BY_GPUS ? load->nodes * 8 : load->burst,
                report->cpu_s * 1e6 / load->jobs, report->peak_bytes / 1e6);
    }
    out_text(file, "EOD\n");
}

static bool write_figure(const struct session *session, struct err *err)
{
    static const char *const names[] = {
        "fifo", "easy", "srtf", "phases", "hrrn", "drf", "srsf", "dlas",
        "las", "gittins", "conservative", "conservative-late",
    };
    struct arena *arena = arena_new((size_t)1 << 16);
    struct folder *dir = folder_make(arena, session->options->plots, err);
    struct out *file = dir == NULL ? NULL
                                   : out_in(arena, dir, "scale.gp", err);
    bool ok = file != NULL;

    if (ok) {
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            for (enum curve c = BY_JOBS; c <= BY_POLICY; c++)
                write_curve(file, session, c, names[n]);
        for (unsigned i = 0; i < plot_file_count; i++)
            if (strcmp(plot_file[i].name, "scale.gp") == 0)
                out_bytes(file, plot_file[i].text, plot_file[i].bytes);
        ok = out_close_fast(file, err) &&
             plot_gnuplot(arena, dir, "scale", "png", err);
    }
    if (!ok)
        plot_keep_err(err, session->options->plots);
    folder_close(dir);
    arena_free(arena);
    return ok;
}

static bool run_rows(struct session *session, struct err *err)
{
    const struct bench_cluster_options *options = session->options;
    struct err_pos nowhere = { NULL, 0, 0 };
    size_t found = 0;

    printf("%-18s %8s %7s %7s %8s %9s %8s %7s %8s %6s %8s %s\n", "measure",
           "jobs", "GPUs", "burst", "CPU s", "jobs/s", "ns/event", "x bare",
           "peak MB", "B/job", "goal", "met");
    if (options->csv != NULL)
        fputs("measure,jobs,gpus,burst_jobs,cpu_s,jobs_per_s,event_ns,bare_s,"
              "bare_ratio,peak_bytes,job_bytes,goal_s,goal_met,"
              "peer_jobs_per_s\n",
              options->csv);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!row_is_wanted(&rows[i], options))
            continue;
        found++;
        if (!measure(session, &rows[i], &session->report[i], err))
            return false;
        session->measured[i] = true;
        print_row(&rows[i], &session->report[i]);
        if (options->csv != NULL)
            write_row(options->csv, &rows[i], &session->report[i]);
    }
    if (found == 0)
        return err_set(err, ERR_USAGE, nowhere,
                       "no %smeasure of the suite cluster has '%s' in its "
                       "name", options->quick ? "quick " : "",
                       options->only);
    return options->plots == NULL || write_figure(session, err);
}

bool bench_cluster(const struct bench_cluster_options *options,
                   struct err *err)
{
    static const char *const files[] = { "jobs.swf", "experiment.yaml",
                                         "jobs.csv", "bare.csv" };
    struct err_pos nowhere = { NULL, 0, 0 };
    struct session *session = calloc(1, sizeof *session);
    char path[128];

    assert(session != NULL);
    session->options = options;
    strcpy(session->dir, "/tmp/clustersim-bench-XXXXXX");
    if (mkdtemp(session->dir) == NULL) {
        free(session);
        return err_set(err, ERR_IO, nowhere, "no folder can be made in /tmp");
    }
    bool ok = run_rows(session, err);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", session->dir, files[i]);
        unlink(path);
    }
    rmdir(session->dir);
    free(session);
    return ok;
}
