/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probe.h - what bench.c measures: probes that run in turns.
 *
 * A probe is a small world that can be run for a stretch at a time and says
 * how much processor time one unit of its work took.  Probes that are to be
 * compared run turn by turn in the same minute, because a shared machine's
 * speed changes between minutes.
 */
#ifndef TESTS_BENCH_PROBE_H
#define TESTS_BENCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Makes a world of some size; NULL: there is no figure, and stderr says why. */
struct bench_probe_type {
    void *(*make)(uint64_t size, bool quick);
    double (*stretch)(void *world);     /* ns, bytes or a ratio, per unit */
    void (*drop)(void *world);
};

/* RNG and one dependent load of 64 bytes among size records, per event. */
extern const struct bench_probe_type bench_bound;
/* Pop the earliest, push it back; loop.h and the plain heap. */
extern const struct bench_probe_type bench_hold_loop, bench_hold_heap;
/* The same where each job has a kill timer that its end cancels. */
extern const struct bench_probe_type bench_cancel_loop, bench_cancel_heap;
/* M/M/1 at load 0.9, per customer. */
extern const struct bench_probe_type bench_mm1_loop, bench_mm1_heap;
extern const struct bench_probe_type bench_bytes;

extern const struct bench_probe_type bench_u64, bench_exponential,
    bench_normal, bench_lognormal;

/* Microseconds a change: all links (the solver alone, and all of it), one flow
 * of many, one flow in its leaf. */
extern const struct bench_probe_type bench_flow_solve, bench_flow_full,
    bench_flow_giant, bench_flow_local;

/* The same: one flow ends on a full link that many cross, another begins; the
 * link alone, each on one of its own, too, and with caps near the share. */
extern const struct bench_probe_type bench_flow_link, bench_flow_own,
    bench_flow_caps;

/* A request to a service: one pass of a small model, in batches; an answer of
 * 200 tokens on average. */
extern const struct bench_probe_type bench_serve_pass, bench_serve_answer;

/* Rate of a phase: asked for again, a step of training that was never asked for,
 * and (microseconds) a rollout. */
extern const struct bench_probe_type bench_law_again, bench_law_step,
    bench_law_rollout;

/* Milliseconds of the search for a 70B over the whole catalogue. */
extern const struct bench_probe_type bench_advise;

/* Microseconds a decision of `advised` beyond one of `dynamic`, where `size` tasks are new;
 * those of a decision of `dynamic`. */
extern const struct bench_probe_type bench_advised, bench_advised_rule;

/* Microseconds a step of an environment, of so many trials in one call. */
extern const struct bench_probe_type bench_env;

/* Time of one worker over time of two, same digest or no figure. */
extern const struct bench_probe_type bench_workers;

/* A run of so many trials of 50 jobs on one thread: microseconds of wall time a trial, time
 * of one thread over that of two, and bytes of memory that a trial adds. */
extern const struct bench_probe_type bench_many_trial, bench_many_speed, bench_many_bytes;

/* Microseconds of wall time a decision of a program, for `size` jobs each; those that
 * the bytes alone take. */
extern const struct bench_probe_type bench_talk_c, bench_talk_python, bench_ping;

static inline double bench_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline double bench_cpu_ns(void)
{
    return bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
