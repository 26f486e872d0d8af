/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader.h - a data loader: storage -> CPU -> PCIe -> GPU with prefetch.
 *
 * In the steady state a pipeline with prefetch runs at the rate of its slowest
 * stage (claim D9 is this law; tf.data, Murray et al. 2021, 2101.12127, and
 * the stall analysis of Mohan et al. 2021, 2007.06775).  Each GPU has a process
 * that collects what its workers prepare.  Workers add up to that process's
 * own limit, which is a rate of items and not a multiple of one worker: light
 * items reach it with four workers, heavy ones scale with the cores.
 */
#ifndef MODELS_LAWS_LOADER_H
#define MODELS_LAWS_LOADER_H

#include <stdint.h>

#include "models/types/precision.h"

struct cpu_type;

enum loader_stage {
    LOADER_STORAGE, LOADER_CPU, LOADER_PCIE, LOADER_GPU, LOADER_STAGE_COUNT
};
const char *loader_stage_name(enum loader_stage stage);

enum loader_kind { LOADER_TOKENS, LOADER_TEXT, LOADER_IMAGE, LOADER_VIDEO };
extern const char *const loader_kind_choices[];

/* Where the data set is: on shared storage, on the drives of the lease's nodes,
 * or in their memory. */
enum loader_from {
    LOADER_FROM_STORAGE, LOADER_FROM_NVME, LOADER_FROM_MEMORY
};
extern const char *const loader_from_choices[];

/* One file for each item, opened in random order; or long files that are read
 * from begin to end. */
enum loader_files { LOADER_ITEMS, LOADER_SHARDS };
extern const char *const loader_files_choices[];
/* Returns the default for that kind of data. */
enum loader_files loader_usual_files(enum loader_kind kind);

/* The cost of one item. */
struct loader_item {
    double core_s;              /* on a core of the reference CPU, of
                                   core_speed 1 */
    double storage_bytes;       /* read for it, before any cache */
    double gpu_bytes;           /* copied to the GPU over PCIe */
    double reads;               /* random accesses to a drive */
    double handover_s;          /* of a core: what a worker adds to core_s */
    double collect_s;           /* of the process that collects; 0: no limit */
};
/* Returns the cost of an item of `size`: tokens of a sequence, pixels of an
 * image, or seconds of video. */
struct loader_item loader_item(enum loader_kind kind, double size);

/* Returns the time from the start of an epoch to its first batch, if new workers are
 * started for it: they start one after the other, each in start_s, and each prepares a
 * batch of its own (PyTorch's DataLoader) on one core.  A GPU waits for all of it.
 * `items`: of the batch of one process.  0 without workers.
 *
 * start_s is about 0 for a fork: on Linux new workers took as long as those that stay
 * (delta-interpolator PR 3).  A spawned one imports its libraries and is sent the data
 * set's index: 3.3 s (pytorch issue 153594), 1 s (rslearn issue 46), 6 and 30 s
 * (olmoearth_pretrain PR 150). */
double loader_restart_s(const struct loader_item *item, uint32_t workers,
                        double start_s, double items, double core_speed);

/* What of a data set is kept in host memory: what the kernel's page cache leaves
 * there, or what was read first, for good (MinIO of Mohan et al. 2021). */
enum loader_cache { LOADER_CACHE_PAGE, LOADER_CACHE_KEEP };
extern const char *const loader_cache_choices[];
/* Returns the share of reads that miss that cache, from the second epoch on.
 * `cached`: the fraction of the data set that one node's cache holds.  Each of
 * the `nodes` reads a random part of the data set in each epoch. */
double loader_miss_fraction(enum loader_cache cache, enum loader_files files,
                            double cached, uint32_t nodes);
/* Returns the same of items that go in the order of their last use. */
double loader_lru_fraction(double cached, uint32_t nodes);

/* Returns the core-seconds that the kernel's TCP stack takes to receive
 * `bytes`. */
double loader_receive_core_s(double bytes);

/* Share of a slot's PCIe rate that is left if the buffer is in the memory of
 * the other socket. */
#define LOADER_REMOTE_FRACTION 0.31
/* Share of it that is left if the buffer is pageable: the driver copies it to a
 * pinned one first.  dask-cuda PR 98, on PCIe 3: "5-6 GB/s, and 11-12 GB/s with"
 * pinned memory. */
#define LOADER_PAGEABLE_FRACTION (5.5 / 11.5)

struct loader_supply {
    double storage_bps;         /* this pipeline's share of the storage */
    double cores;               /* for all workers together */
    double core_speed;          /* cpu_type.core_speed */
    double pcie_bps;            /* per GPU */
    uint32_t processes;         /* usually one per GPU */
    uint32_t workers;           /* per process; 0: the process loads itself */
};

struct loader_rate {
    double items_per_s;         /* of the pipeline: the slowest stage's */
    double stage_per_s[LOADER_STAGE_COUNT]; /* items/s that a stage alone would pass */
    double busy_fraction[LOADER_STAGE_COUNT];   /* items_per_s over that */
    double stall_fraction;      /* share of GPU time spent waiting for data */
    enum loader_stage bottleneck;   /* the slowest stage */
};

/* Returns the rates of all stages.  gpu_items_per_s: what the GPUs of the
 * pipeline would consume if they never waited. */
struct loader_rate loader_rate(const struct loader_item *item,
                               const struct loader_supply *supply,
                               double gpu_items_per_s);
#endif
