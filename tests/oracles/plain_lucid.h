/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_lucid.h - an oracle: the binder, the order and the profiler of Lucid (Hu, Zhang, Sun, Wen
 * and Zhang, ASPLOS 2023) on two counts of GPUs, with jobs of known length.  It shares no line
 * with the product and simulates by itself.
 */
#ifndef TESTS_PLAIN_LUCID_H
#define TESTS_PLAIN_LUCID_H

#include <stdint.h>

#define LUCID_KINDS 9u
#define LUCID_JOBS 40u

enum plain_packs { PLAIN_LOADED, PLAIN_ALWAYS, PLAIN_NEVER };
enum plain_place { PLAIN_MAIN, PLAIN_TRY, PLAIN_PLACES };       /* TRY: the profiler */

struct plain_kind {
    double run_s;
    uint32_t gpus;
    double rate[PLAIN_PLACES];  /* 0: it may not run there */
    double beside[LUCID_KINDS]; /* speed over its speed alone; 0: not stated */
};

struct plain_lucid_job {
    uint32_t kind;
    double submit_s;
    double start_s, end_s;      /* answers */
};

struct plain_lucid {
    enum plain_packs packs;
    uint32_t score_max, gpus_max;
    double profile_s;           /* 0: there is no profiler */
    double restart_s;           /* of who left the profiler */
    uint32_t gpus[PLAIN_PLACES];
    uint32_t kinds, jobs;
    struct plain_kind kind[LUCID_KINDS];
    struct plain_lucid_job job[LUCID_JOBS];     /* in order of submission */
};

void plain_lucid_run(struct plain_lucid *lucid);

#endif
