/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recount.h - every published figure of a trial, computed once more.
 *
 * A listener that shares no code with what it checks (experiments/measure): it hears
 * the facts of the journal and the rows of jobs, adds them up by the plainest
 * formula, and compares what the trial is about to publish.  A figure that
 * differs beyond the rounding that judge.h states breaks the trial's audit.
 *
 * The quick form keeps the rows of RECOUNT_ROWS jobs at most, beyond which
 * quantiles are checked by a histogram, and what needs rows is not; the full
 * form keeps all, and checks all rates of links.
 */
#ifndef EXPERIMENTS_RECOUNT_RECOUNT_H
#define EXPERIMENTS_RECOUNT_RECOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct cs_host;
struct err;
struct fabric;
struct flow_net;
struct host_job;
struct job_request;
struct journal;
struct loop;
struct recount;
struct table;
struct trial_spec;

#define RECOUNT_ROWS 4096u

/* What a trial gives to its second opinion.  All must live as long as the trial. */
struct recount_parts {
    struct arena *arena;
    struct journal *journal;    /* tells the facts that it adds up */
    struct loop *loop;          /* the clock */
    struct flow_net *net;       /* whose links' areas and rates are checked */
    const struct fabric *fabric;
    const struct trial_spec *spec;
    const struct table *jobs, *timeline, *tenants, *services;   /* or NULL */
};

/* Returns the second opinion, in the arena of the parts.  It listens to the journal from
 * now on, behind those that listen already; it must be made after what writes the rows of
 * jobs. */
struct recount *recount_new(const struct recount_parts *parts);
/* Names the host, and listens to the net and the loop from now on; before the first
 * event of the trial. */
void recount_watch(struct recount *recount, struct cs_host *host);
/* The warm-up is over at this instant. */
void recount_begin(struct recount *recount);

/* Without a host: how many jobs wait and run, to be looked at when an instant is over, for
 * timeline.csv.  They must live as long. */
void recount_watch_count(struct recount *recount, const uint32_t *pending,
                         const uint32_t *running);
/* By hand, without a host: a job came, or was done now that had what it asks for of group 0
 * from its start on. */
void recount_count_submitted(struct recount *recount, const struct job_request *request,
                             int64_t now_ns);
void recount_count_ended(struct recount *recount, const struct host_job *job,
                         int64_t now_ns);

/* The tables hold all rows, and `value` all metrics of the trial but the experiment's
 * own.  Stores how many figures were compared.  False: err (ERR_BUG) names the
 * first that differs, with both figures. */
bool recount_close(struct recount *recount, const double *value, int64_t end_ns,
                   uint64_t *compared, struct err *err);

#endif
