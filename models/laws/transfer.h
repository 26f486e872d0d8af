/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transfer.h - what a checkpoint takes, and what the start of a process takes
 * beside the bytes that it loads.
 *
 * The start-up times are constants; transfer.c has them with their sources.  Bytes
 * that a lease loads or saves are no matter of this law: they are flows over links.
 */
#ifndef MODELS_LAWS_TRANSFER_H
#define MODELS_LAWS_TRANSFER_H

#include "models/laws/memory.h"

struct gang;

struct transfer {
    double time_s;              /* by the slowest link, all copies at once */
    double bytes;               /* in all */
    double inter_bytes_per_node;    /* of those, over NICs, one direction */
    double storage_bytes;       /* of those, from or to shared storage */
    double pcie_bytes_per_gpu;  /* of those, between host and GPU */
};

/* `bytes`: of one checkpoint.  storage_bps: shared storage, for the whole gang. */
struct transfer transfer_checkpoint_write(double bytes, const struct gang *gang,
                                          double storage_bps);
/* Returns the bytes of one checkpoint of the model that is trained. */
double transfer_checkpoint_bytes(const struct train_shape *shape);

enum transfer_start {
    TRANSFER_START_PROCESS,     /* new container, framework, communicators */
    TRANSFER_START_TRAIN_WAKE,  /* a sleeping trainer takes its GPUs again */
    TRANSFER_START_SERVE,       /* a new inference engine, graphs captured */
    TRANSFER_START_SERVE_WAKE,  /* a sleeping engine takes its GPUs again */
    TRANSFER_START_CORES,       /* a new process that computes on cores */
    TRANSFER_START_COUNT
};
/* Returns the seconds of a start, without the bytes that it loads. */
double transfer_start_s(enum transfer_start start);
const char *transfer_start_name(enum transfer_start start);
const char *transfer_start_source(enum transfer_start start);

#endif
