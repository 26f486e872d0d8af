/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase.h - how fast a phase runs on a gang, and what it uses of links and
 * cores: the one place where phases call the laws.
 *
 * The unit of work is one run of the phase.
 */
#ifndef MODELS_LAWS_PHASE_H
#define MODELS_LAWS_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/laws/loader.h"
#include "models/laws/memory.h"
#include "models/laws/rollout.h"
#include "models/types/gang.h"
#include "models/types/rates.h"

struct job_form;

enum law_kind {
    LAW_FIXED,          /* truth.duration_ns, or `seconds` */
    LAW_TRAIN,          /* models/laws/train.h, fed by a loader */
    LAW_FORWARD,        /* reward or reference pass, batch inference */
    LAW_ROLLOUT,        /* models/laws/rollout.h */
    LAW_CPU,            /* core-seconds, on leased cores */
    LAW_SYNC,           /* weights from one role's lease to another's */
    LAW_CHECKPOINT,     /* bytes to shared storage */
    LAW_RELOAD,         /* a lease changes between training and generating */
    LAW_SERVE           /* a replica of a service; runs until it is stopped */
};

struct phase_law {
    enum law_kind kind;         /* says which of the members below count */
    double seconds;                     /* LAW_FIXED; LAW_RELOAD: added to the
                                           time of moving bytes */
    struct train_shape train;           /* LAW_TRAIN, LAW_FORWARD's model */
    double sequences;                   /* per step: global batch */
    uint32_t repeats;                   /* optimizer steps or passes per run */
    struct loader_item item;            /* LAW_TRAIN: cost of a sample */
    uint32_t loader_workers;            /* 0: one per core */
    bool remote;                        /* buffers at the other socket */
    bool pageable;                      /* buffers that are not pinned: copies
                                           are slow, and GPUs wait for them */
    double epoch_items;                 /* LAW_TRAIN: samples until new workers
                                           start; 0: they stay */
    double worker_start_s;      /* of one worker, LAW_TRAIN with epoch_items */
    enum loader_from from;              /* LAW_TRAIN, LAW_CPU: where the data
                                           is read */
    double dataset_bytes;               /* read before, so that the page cache
                                           has a part; 0: read once */
    double cache_bytes;                 /* for it: per GPU, or in all for a CPU
                                           role */
    enum loader_cache cache;    /* what host memory keeps of the data set */
    struct rollout_shape rollout;       /* LAW_ROLLOUT */
    double core_s;                      /* LAW_CPU: per run */
    double storage_bytes;               /* per run: read at `from` (LAW_CPU),
                                           written to shared storage
                                           (LAW_CHECKPOINT) */
    double reads;                       /* LAW_CPU: random accesses per run */
    double bytes;                       /* LAW_SYNC: weights; LAW_CPU: sent to
                                           the role sync_to; LAW_RELOAD: over
                                           PCIe, per GPU */
    double gather_bytes;                /* LAW_RELOAD: weights that every
                                           replica of engine_tp GPUs gathers */
    uint32_t engine_tp;
    bool zero_copy;                     /* LAW_CPU: bypasses host memory */
};

struct phase_plan {
    double rate_max;            /* runs per second on free links; 0: the gang
                                   cannot run it (no GPU, too few, or a type
                                   without a rate); INFINITY: only links limit
                                   it */
    double gpu_busy_fraction;   /* of the GPUs held, at rate_max */
    double tail_fraction;       /* rollout: GPU time on drained replicas */
    double flops;               /* model FLOPs of one run */
    double mfu, hfu;            /* of the GPUs held, at rate_max; train.h */
    const char *bottleneck;     /* stage that sets rate_max */
    double gpu_rate;            /* LAW_TRAIN, LAW_FORWARD: runs per second if
                                   GPUs never wait for data */
    double feed_rate;           /* runs per second of the loader's cores and
                                   slots; INFINITY: there is no loader */
    const char *feed_bottleneck;
    struct demand_rates rates;  /* of one run */
};

/* Returns the plan of a phase on a gang.  `u` in [0,1) decides the response
 * lengths (LAW_ROLLOUT); 0.5 for a forecast. */
struct phase_plan phase_plan(const struct phase_law *law,
                             const struct gang *gang, double u);
/* Returns the same for LAW_ROLLOUT; `rollout` is the plan of that law and
 * gang. */
struct phase_plan phase_rollout_drawn(const struct phase_law *law,
                                      const struct gang *gang,
                                      const struct rollout_plan *rollout,
                                      double u);
/* False: the gang cannot run the phase; its rate_max is 0. */
bool phase_can_run(const struct phase_law *law, const struct gang *gang);
/* Returns the seconds of one run on that gang on free links. */
double phase_seconds(const struct phase_law *law, const struct gang *gang,
                     double u);

#endif
