/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase.h - from a phase and a lease to work, a highest rate and the links it
 * crosses: the one place where laws, links and leases meet.
 *
 * The unit of work is one run of the phase (one step's share of it).
 */
#ifndef MODELS_LAWS_PHASE_H
#define MODELS_LAWS_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/laws/rollout.h"
#include "models/types/rates.h"
#include "models/types/gang.h"
#include "models/laws/loader.h"
#include "models/laws/memory.h"

struct job_form;

enum law_kind {
    LAW_FIXED,          /* truth.duration_ns, or seconds below */
    LAW_TRAIN,          /* models/laws/train.h, fed by a loader */
    LAW_FORWARD,        /* reward or reference pass, batch inference */
    LAW_ROLLOUT,        /* models/laws/rollout.h */
    LAW_CPU,            /* core-seconds, on leased cores */
    LAW_SYNC,           /* weights from one role's lease to another's */
    LAW_CHECKPOINT,     /* bytes to shared storage */
    LAW_RELOAD,         /* one lease changes between training and generating */
    LAW_SERVE           /* a replica of a service, until it is let go */
};

struct phase_law {
    enum law_kind kind;
    double seconds;                     /* LAW_FIXED; LAW_RELOAD: beside what
                                           is moved */
    struct train_shape train;           /* LAW_TRAIN, LAW_FORWARD's model */
    double sequences;                   /* per step: global batch */
    uint32_t repeats;                   /* optimizer steps or passes per run */
    struct loader_item item;            /* LAW_TRAIN: what a sample costs */
    uint32_t loader_workers;            /* 0: one per core */
    bool remote;                        /* buffers at the other socket */
    enum loader_from from;              /* LAW_TRAIN, LAW_CPU: what is read */
    double dataset_bytes;               /* read before, so that a part of it
                                           is in memory; 0: nothing is */
    double cache_bytes;                 /* memory for it: per GPU, or in all
                                           for a CPU role */
    struct rollout_shape rollout;       /* LAW_ROLLOUT */
    double core_s;                      /* LAW_CPU: per run */
    double storage_bytes;               /* LAW_CPU, LAW_CHECKPOINT: per run;
                                           of `from`, a checkpoint's of shared
                                           storage */
    double reads;                       /* LAW_CPU: random accesses per run */
    double bytes;                       /* LAW_SYNC: weights; LAW_CPU: what is
                                           sent to the role sync_to;
                                           LAW_RELOAD: over PCIe, per GPU */
    double gather_bytes;                /* LAW_RELOAD: weights that every
                                           replica of engine_tp GPUs gathers */
    uint32_t engine_tp;
    bool zero_copy;                     /* LAW_CPU: past host memory */
};

struct phase_plan {
    double rate_max;            /* runs per second if links were free; 0: this
                                   gang cannot run it (no GPU, too few, or
                                   one without speed); INFINITY: only links
                                   hold it back */
    double gpu_busy_fraction;   /* of the GPUs held, at rate_max */
    double tail_fraction;       /* of GPU time, replicas drained (rollout) */
    double flops;               /* model FLOPs of one run */
    double mfu, hfu;            /* of the GPUs held, at rate_max; train.h */
    const char *bottleneck;     /* stage that sets rate_max */
    double gpu_rate;            /* LAW_TRAIN, LAW_FORWARD: were data at hand */
    double feed_rate;           /* of the loader's cores and slots; INFINITY:
                                   it has none */
    const char *feed_bottleneck;
    struct demand_rates rates;  /* what one run takes of the links */
};

/* `u` in [0,1) decides response lengths (LAW_ROLLOUT); 0.5 for a forecast. */
struct phase_plan phase_plan(const struct phase_law *law,
                             const struct gang *gang, double u);
/* The same for LAW_ROLLOUT from a plan made before for that gang. */
struct phase_plan phase_rollout_drawn(const struct phase_law *law,
                                      const struct gang *gang,
                                      const struct rollout_plan *rollout,
                                      double u);
/* False: no gang of that kind and size can run the phase. */
bool phase_can_run(const struct phase_law *law, const struct gang *gang);
/* Seconds of one run on that gang if links were free. */
double phase_seconds(const struct phase_law *law, const struct gang *gang,
                     double u);
#endif
