/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * books.h - all that is kept of a trial, for recount.c, which fills it, and published.c,
 * which reads it.
 */
#ifndef EXPERIMENTS_RECOUNT_BOOKS_H
#define EXPERIMENTS_RECOUNT_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct cs_host;
struct held;
struct lost;
struct nodes;
struct rows;

/* Sums over rows of jobs and over facts. */
struct recount_told {
    double gpu_s, core_s, usd, compute_usd, switch_usd, joules, transfer_usd;
    struct { double gpu_s, core_s, usd, joules; } service;     /* replicas alone */
    uint64_t preemptions, interruptions, dropped;       /* of rows */
    uint64_t stops, take_backs, interrupts, all_interrupts;     /* of facts */
    uint64_t decisions, refused, changes;   /* requests carried out; refused; resizes and moves */
};

/* What flows that ended took of a link. */
struct recount_link {
    double units, before;       /* before: the warm-up was over */
    uint64_t ends;
};

/* What GPUs are free for while tasks wait. */
enum recount_idle { IDLE_UNSUITED, IDLE_GANG, IDLE_FRAGMENT, IDLE_BEHIND, IDLE_KINDS };

struct recount_books {
    const struct cs_host *host; /* NULL: the trial has none (trial_count.h) */
    struct rows *rows;          /* of jobs */
    struct held *held;          /* of leases */
    struct lost *lost;          /* or NULL */
    struct nodes *nodes;        /* of nodes that fail or are rented */
    struct recount_told told;   /* sums that no other book keeps */
    struct recount_link *carried; /* by link */
    uint32_t links;
    bool full;                  /* the full form: `--audit full` */
    bool alone, begun, pays_held;       /* a trace alone; its first job has come */
    int64_t first_ns;           /* when the first job came */
    int64_t last_ns;            /* of the last fact that is of the run */
    __int128_t queued;          /* free GPUs, in thousandths, x ns while tasks wait */
    __int128_t idle[IDLE_KINDS];        /* of those; full alone */
    __int128_t pending, running;        /* x ns, from time 0 on */
};

#endif
