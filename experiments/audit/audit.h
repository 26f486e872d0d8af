/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit.h - books of a trial kept a second time, from its facts alone.
 *
 * A listener that never looks at the host's own counters, but at placements
 * when a lease is told of, and at a job's totals when it ends.  It checks
 * what enum audit_check says; the first thing that does not hold stops the
 * trial.
 */
#ifndef EXPERIMENTS_AUDIT_AUDIT_H
#define EXPERIMENTS_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct audit;
struct cluster_spec;
struct cs_host;
struct err;
struct flow_net;
struct journal;
struct loop;

/* What the audit checked, how often.  Each is explained at the top of audit.c.  The names in
 * audit.json are those of audit_check_name(). */
enum audit_check {
    AUDIT_CAPACITY, AUDIT_STATES, AUDIT_WORK, AUDIT_COST, AUDIT_TIME,
    AUDIT_LITTLE, AUDIT_LINKS, AUDIT_GPUS, AUDIT_FIGURES, AUDIT_CHECK_COUNT
};
/* Returns the name of a check in audit.json, static. */
const char *audit_check_name(enum audit_check check);

/* What a trial gives to its audit; all must live as long as the trial. */
struct audit_parts {
    struct arena *arena;
    struct journal *journal;    /* tells the facts that are checked */
    struct loop *loop;          /* the clock, which must never go back */
    struct flow_net *net;       /* whose links must not carry more than they can */
    const struct cluster_spec *cluster;     /* what there is to hold */
};

/* Returns the audit, which listens to the journal from now on; it lives in the
 * arena of the parts. */
struct audit *audit_new(const struct audit_parts *parts);
/* Tells it the host, which is made after its listeners. */
void audit_watch(struct audit *audit, const struct cs_host *host);
/* Tells it whether the causes that metrics know add up to all GPU time, and to all
 * cost; before audit_close(). */
void audit_causes(struct audit *audit, bool gpus, bool cost);
/* After the host was closed: checks the sums.  Stores how often each check was
 * made, so that one that never looked is seen.  False: err (ERR_BUG) says what
 * broke. */
bool audit_close(struct audit *audit, uint64_t count[AUDIT_CHECK_COUNT],
                 struct err *err);

#endif
