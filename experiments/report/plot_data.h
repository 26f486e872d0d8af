/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_data.h - what each chart shows, taken from the tables of a results
 * folder.
 *
 * A chart is a data file of numbers alone and a head: assignments that its
 * gnuplot template reads.  Names that people chose (policies, points, jobs)
 * stand only in the head, in gnuplot's single quotation marks, in which
 * nothing is expanded or run.  The same tables give the same bytes.
 */
#ifndef EXPERIMENTS_REPORT_PLOT_DATA_H
#define EXPERIMENTS_REPORT_PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct conf_node;
struct csv;
struct err;
struct grid;
struct out;
struct plot_jobs;
struct quantile;
struct stats_mean;

/* One row of compare.csv; NAN where there is nothing to compare. */
struct plot_delta {
    double percent, low, high, p_value;
    double p_holm;              /* over all comparisons of the metric */
};

/* What the figures and the report are made from: the tables of one folder. */
struct plot_source {
    struct arena *arena;
    const char *dir;
    const char *experiment;         /* its name */
    const struct conf_node *cluster;    /* of the middle point, of
                                       provenance.json; NULL: not known */
    const struct grid *grid;        /* summary.csv */
    const struct plot_delta *delta; /* use plot_delta_of; NULL: no table */
    uint32_t baseline;              /* policy; UINT32_MAX: none */
    double warmup_s;                /* of provenance.json; 0: none, or not known */
    struct plot_jobs *jobs;         /* jobs.csv, of all charts; NULL: no chart is drawn */
};

/* Reads summary.csv, compare.csv and the name in provenance.json; only the
 * first must be there, and is not read where `grid` has it already (NULL: it does not).
 * All in the arena; `dir` and `grid` must live as long.  False: err says why. */
bool plot_source_read(struct arena *arena, const char *dir, const struct grid *grid,
                      struct plot_source *source, struct err *err);
/* Returns the row of compare.csv; source->delta must be there.  metric: enum metric, of the
 * grid's set. */
const struct plot_delta *plot_delta_of(const struct plot_source *source,
                                       uint32_t point, uint32_t policy,
                                       unsigned metric);

/* Returns the mean of a metric over the seeds with its interval of 95%, those of
 * compare.csv.  metric: enum metric, of the grid's set. */
struct stats_mean plot_mean(const struct plot_source *source, uint32_t point,
                            uint32_t policy, unsigned metric);

/* An err whose place lies in an arena that is about to go: the file's name
 * moves into its text, and its place becomes `dir`. */
void plot_keep_err(struct err *err, const char *dir);

/* Where a chart goes. */
struct plot_sink {
    struct out *head, *data;
    const char *skip;       /* why there is no chart */
};

enum plot_made { PLOT_MADE, PLOT_SKIPPED, PLOT_FAILED };

/* Makes one chart: its data into sink->data, its own assignments into sink->head.
 * PLOT_SKIPPED: sink->skip says why; PLOT_FAILED: err. */
typedef enum plot_made plot_maker(const struct plot_source *source,
                                  struct plot_sink *sink, struct err *err);

/* plot_make_NAME of each chart of figures.def. */
#define FIGURE(NAME, WITH, QUESTION) plot_maker plot_make_##NAME;
#include "experiments/columns/figures.def"
#undef FIGURE

/* 'text' for gnuplot, in quotation marks within which it expands nothing: an
 * apostrophe becomes U+2019 (gnuplot 5.4 takes three in a row for the end of a
 * text), control characters become blank; longer than `characters`, it is cut with an ellipsis. */
void plot_quote(struct out *out, const char *text, size_t characters);
/* array NAME[COUNT] = ['a', ...] */
void plot_names(struct out *out, const char *name, const char *const *item,
                uint32_t count, size_t characters);
/* A blank and "%.9g", or NaN. */
void plot_real(struct out *out, double value);
/* A mean and both ends of its interval; NaN without samples. */
void plot_put_mean(struct out *out, struct stats_mean m);

/* Calendar times need more digits than plot_real writes: microseconds. */
void plot_time(struct out *out, double seconds);
/* Where a time axis begins to count: at 0, or, where a trace keeps its
 * calendar (`origin: file`), at its start. */
double plot_zero(double start_s, double end_s);

/* The unit in which that many seconds are best read. */
struct plot_unit {
    const char *name;
    double seconds;
};
struct plot_unit plot_time_unit(double seconds);
/* time_unit = ..., time_name = ... */
void plot_put_unit(struct out *out, struct plot_unit unit);

/* The trial of a row.  Rows of one trial mostly follow each other, so the texts of the last
 * row are kept; all zero: no row yet. */
struct plot_trial {
    uint32_t point, policy;     /* of the grid; UINT32_MAX: not there */
    double seed;
    size_t bytes;               /* of text: the three cells, each with its NUL; 0: none */
    char text[256];
};
/* Finds the trial of the row that was read last.  column: those of point, policy and seed.
 * False: err says that the seed is no number. */
bool plot_find_trial(const struct plot_source *source, const struct csv *in,
                     const size_t column[3], struct plot_trial *trial, struct err *err);

/* Opens a table of the folder and finds its columns.  NULL: skip or err is
 * set. */
struct csv *plot_open(const struct plot_source *source, const char *table,
                      const char *const *names, size_t *column,
                      size_t count, struct plot_sink *sink,
                      struct err *err);

/* These columns alone will be read: for long tables. */
void plot_cut(struct csv *in, const size_t *column, size_t count);

/* jobs.csv, read once for all charts.  Memory does not grow with the number of jobs: of
 * more than a few thousand, a distribution is that of sim/stats/tally.h's quantiles. */
/* A row; the texts are good until the next one. */
struct plot_job {
    uint32_t point, policy;     /* of the grid; UINT32_MAX: not there */
    double seed;
    const char *name, *kind;
};
typedef void plot_job_fn(void *self, const struct plot_job *job);

/* The JCTs of one policy at one point, all seeds. */
struct plot_curve {
    struct quantile *jct_s;     /* of the jobs that are done */
    uint64_t submitted;
};

/* Returns what nothing is read of yet.  curves: will plot_jobs_curves() be asked? */
struct plot_jobs *plot_jobs_new(struct arena *arena, bool curves);
/* Reads source->jobs and hands each row to fn (NULL: to none).  The first reading makes
 * the curves, too.  False: sink->skip says that there is no table, or err why it cannot be
 * read. */
bool plot_jobs_read(const struct plot_source *source, plot_job_fn *fn, void *self,
                    struct plot_sink *sink, struct err *err);
/* Returns the curves by point and policy; reads the table unless that was done. NULL: as
 * plot_jobs_read(). */
const struct plot_curve *plot_jobs_curves(const struct plot_source *source,
                                          struct plot_sink *sink, struct err *err);

#endif
