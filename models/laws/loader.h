/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loader.h - storage -> CPU -> PCIe -> GPU with prefetch: who sets the pace.
 *
 * In the steady state a prefetched pipeline runs at the rate of its slowest
 * stage (claim D9 is this law; tf.data, Murray et al. 2021, 2101.12127, and
 * the stall analysis of Mohan et al. 2021, 2007.06775).  Workers of one
 * process scale as measured, 1, 1.6, 2.3, 2.3 at 1, 2, 4, 8, not linearly.
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

/* Where the data set lies: shared storage, drives of the lease's nodes, or
 * their memory. */
enum loader_from {
    LOADER_FROM_STORAGE, LOADER_FROM_NVME, LOADER_FROM_MEMORY
};
extern const char *const loader_from_choices[];

/* How it lies there: a file for each item, opened in random order, or long
 * files that are read from end to end. */
enum loader_files { LOADER_ITEMS, LOADER_SHARDS };
extern const char *const loader_files_choices[];
enum loader_files loader_usual_files(enum loader_kind kind);

/* What one item costs: on one core of the reference CPU (core_speed 1). */
struct loader_item {
    double core_s;
    double storage_bytes;
    double gpu_bytes;
    double reads;               /* random accesses to a drive */
};
/* `size`: tokens of the sequence, pixels of the image, seconds of video. */
struct loader_item loader_item(enum loader_kind kind, double size);

/* Share of reads that miss the page cache of a node which holds `cached` of
 * the data set, from the second epoch on; each of `nodes` reads a random
 * part of it in each epoch. */
double loader_miss_fraction(double cached, uint32_t nodes);

/* Core-seconds in which a kernel's TCP stack receives so many bytes. */
double loader_receive_core_s(double bytes);

/* Of the rate of a slot, where the buffer lies at the other socket. */
#define LOADER_REMOTE_FRACTION 0.31

struct loader_supply {
    double storage_bps;         /* the share this pipeline gets */
    double cores;               /* all workers together may use */
    double core_speed;          /* cpu_type.core_speed */
    double pcie_bps;            /* per GPU */
    uint32_t processes;         /* one per GPU as a rule */
    uint32_t workers;           /* per process; 0: in the process itself */
};

struct loader_rate {
    double items_per_s;         /* what arrives: the least of the stages */
    double stage_per_s[LOADER_STAGE_COUNT];
    double busy_fraction[LOADER_STAGE_COUNT];
    double stall_fraction;      /* of GPU time lost waiting for data */
    enum loader_stage bottleneck;
};

/* gpu_items_per_s: what the GPUs of the pipeline would consume, unstarved. */
struct loader_rate loader_rate(const struct loader_item *item,
                               const struct loader_supply *supply,
                               double gpu_items_per_s);
/* Throughput of `workers` in units of one worker. */
double loader_worker_speedup(uint32_t workers);

#endif
