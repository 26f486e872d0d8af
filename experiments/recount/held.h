/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held.h - what leases held, did, drew and cost: one integral a lease.
 */
#ifndef EXPERIMENTS_RECOUNT_HELD_H
#define EXPERIMENTS_RECOUNT_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/job.h"

struct arena;
struct cs_host;
struct events;
struct fact;
struct host_job;
struct host_phase_run;
struct rows;
struct trial_spec;

/* What GPUs of a lease do. */
enum held_does { HELD_LOADS, HELD_WAITS, HELD_WORKS, HELD_COUNT };

/* One lease, and since when it does what it does. */
struct held_lease {
    bool live;                  /* it is held now */
    uint32_t job;               /* by number */
    enum held_does does;
    int64_t milli;              /* of its GPUs */
    int64_t since_ns, take_ns;  /* since when it does this, and is held */
    int64_t busy_ns, load_ns;   /* since when it has `busy`; began to load last */
    double busy, watts;         /* watts: above idle, of all its GPUs, now */
    double usd_per_h;           /* where no price changes */
    double flowed;              /* work of the flow of the phase, 0 to 1; below 0: none ended */
    int64_t memory;             /* bytes of its nodes */
    double cores, idle_w;
};

/* Thousandths of GPUs x ns where it says so, else in seconds; from the warm-up on. */
struct held {
    struct arena *arena;
    const struct trial_spec *spec;
    const struct cs_host *host;
    struct rows *rows;
    int64_t from_ns;
    struct held_lease *lease;   /* [room], by number of the lease */
    uint32_t room;
    __int128_t does[HELD_COUNT];    /* thousandths of GPUs x ns, by what they did */
    struct events *events;      /* NULL: not of the full form */
    bool by_pool;               /* set from outside: the next two are wanted */
    __int128_t *pool;           /* GPUs, by pool */
    double *pool_busy;          /* GPUs x busy fraction x s, by pool */
    double memory_s;            /* bytes x s */
    double busy_s, tail_s, phase_s, bursts_s;   /* GPU-seconds */
    double *group_j;            /* above idle, by group; without PUE */
    double usd;                 /* of leases, from the warm-up on */
    /* Over all time, beside what rows say. */
    double gpu_s, core_s, all_usd, all_compute_usd, all_switch_usd, all_j;
    double peak_flops, flops_s, length_s, unknown_s;    /* held, by what is known */
    double useful_flops, useful_s;      /* what rows of jobs say that was kept */
    bool on_cores;
    int64_t now_milli;
    double *idle_w, *work_w;    /* of a GPU, by group; work: above idle */
    const struct job_form *form;        /* the last one that was asked for, */
    int form_known;             /* ... and what is known of its work */
};

/* Returns an empty book in the arena.  `host` is set from outside before the first
 * lease; `rows` hears what jobs held. */
struct held *held_new(struct arena *arena, const struct trial_spec *spec, struct rows *rows);
/* A lease was granted, or ends while its placement can still be asked for. */
void held_take(struct held *held, const struct fact *fact);
void held_drop(struct held *held, const struct fact *fact);
/* Another part of its GPUs is busy, or it does something else, from this fact on. */
void held_busy(struct held *held, const struct fact *fact);
void held_does(struct held *held, const struct fact *fact, enum held_does does);
/* A flow of a lease has ended, of which that much was done: of the phase that it runs, or of a
 * copy, which says nothing of a phase. */
void held_flowed(struct held *held, uint64_t lease, double work);
/* Its phase ended at this fact; before held_does() is told. */
void held_phase(struct held *held, const struct fact *fact);
/* A row of a job that has ended. */
void held_row(struct held *held, const struct host_job *job, enum job_status status);
/* Without a host: what a role had beside its GPUs for `ns`, and at the end what follows
 * from rows_gpu_ns(). */
void held_count(struct held *held, const struct role_spec *role, uint32_t gpus, int64_t ns);
void held_counted(struct held *held);

#endif
