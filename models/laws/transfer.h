/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transfer.h - what moves when a lease changes, and how long it takes.
 *
 * Loading weights, parking training state in host memory and bringing it
 * back, giving new weights to rollout replicas, writing and reading a
 * checkpoint, starting again.  Bytes come from memory.h's counts, rates from
 * the gang and the storage; nothing here is a free constant but the start-up
 * times, which transfer_start_s lists with their sources.
 */
#ifndef MODELS_LAWS_TRANSFER_H
#define MODELS_LAWS_TRANSFER_H

#include "models/laws/memory.h"

struct gang;

struct transfer {
    double time_s;
    double bytes;               /* in all */
    double inter_bytes_per_node;    /* of those, over NICs, one direction */
    double storage_bytes;       /* of those, from or to shared storage */
    double pcie_bytes_per_gpu;  /* of those, host <-> GPU */
};

/* All replicas of a model read it from shared storage (storage_bps in all)
 * once per node, then copy it to the GPUs over PCIe. */
struct transfer transfer_load_weights(const struct llm *llm,
                                      enum precision precision,
                                      const struct gang *gang,
                                      double storage_bps);
/* Training state out to host memory, or back: per GPU over its own PCIe. */
struct transfer transfer_offload(const struct train_shape *shape,
                                 const struct gang *gang);
struct transfer transfer_reload(const struct train_shape *shape,
                                const struct gang *gang);
/* New weights from training GPUs to rollout GPUs; both may be one gang. */
struct transfer transfer_weight_sync(const struct llm *llm,
                                     enum precision precision,
                                     const struct gang *train,
                                     const struct gang *rollout);
/* Adapters alone (LoRA): `params` in the given precision. */
struct transfer transfer_adapter_sync(double params,
                                      enum precision precision,
                                      const struct gang *train,
                                      const struct gang *rollout);
struct transfer transfer_checkpoint_write(const struct train_shape *shape,
                                          const struct gang *gang,
                                          double storage_bps);
struct transfer transfer_checkpoint_read(const struct train_shape *shape,
                                         const struct gang *gang,
                                         double storage_bps);

double transfer_checkpoint_bytes(const struct train_shape *shape);

enum transfer_start {
    TRANSFER_START_PROCESS,     /* new container, framework, communicators */
    TRANSFER_START_TRAIN_WAKE,  /* a parked trainer takes its GPUs again */
    TRANSFER_START_SERVE,       /* a new inference engine, graphs captured */
    TRANSFER_START_SERVE_WAKE,  /* a sleeping engine takes its GPUs again */
    TRANSFER_START_COUNT
};
/* Fixed part beside the bytes; see the table in transfer.c for sources. */
double transfer_start_s(enum transfer_start start);
const char *transfer_start_name(enum transfer_start start);
const char *transfer_start_source(enum transfer_start start);

#endif
