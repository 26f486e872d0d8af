/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * useful.h - work that jobs kept, and the peak of what they held for it.
 *
 * Two definitions, never mixed.  Of a job of phases: model FLOPs of its phases
 * that are done (6N + 12LHQT a token of training and the like, without what is
 * computed again: Chowdhery et al. 2022, appendix B), over the dense BF16 peak
 * of the catalogue of the GPUs that it held.  Of a job of known length, of which
 * nobody knows FLOPs: GPU-seconds at the speed and on the GPUs of its
 * measurement, over those that it held.  Under both, what failures and
 * preemption made jobs do again counts once; loading, saving, checkpoints and
 * waiting count nothing.  Replicas of services are left out.
 *
 * What failures cost is GPU time of any use, not work: see useful_lost_s().
 */
#ifndef EXPERIMENTS_MEASURE_USEFUL_H
#define EXPERIMENTS_MEASURE_USEFUL_H

#include <stdint.h>

struct cs_host;
struct host_job;
struct metrics_parts;
struct useful;

/* Returns the accumulator; it lives in the arena of the parts. */
struct useful *useful_new(const struct metrics_parts *parts);
/* Names the host, before the first lease. */
void useful_watch(struct useful *useful, const struct cs_host *host);
/* From here on it counts: the end of the warm-up. */
void useful_begin(struct useful *useful, int64_t now_ns);
/* A job has ended that is no replica and did not fail: of one that failed
 * nothing is kept.  By hand, without a host: it held that many GPU-seconds, all
 * of them work; with one, gpu_s is 0. */
void useful_job(struct useful *useful, const struct host_job *job, double gpu_s);
/* Returns the GPU-seconds since the warm-up that interrupted jobs held for nothing: from
 * their last save, or an interruption that came later, to the interruption. */
double useful_lost_s(const struct useful *useful);
/* Stores the metrics; METRIC_HELD_COST is there already. */
void useful_result(const struct useful *useful, double *value);

#endif
