/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transfer.h - bytes that move when a lease changes, and the time they take.
 *
 * Loading weights; moving training state to host memory and back; sending new
 * weights to rollout replicas; writing and reading a checkpoint; starting a
 * process.  Bytes follow from memory.h, rates from the gang and the storage.
 * Only the start-up times are constants; transfer.c has them with their
 * sources.
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
    double pcie_bytes_per_gpu;  /* of those, between host and GPU */
};

/* Loads a model: each node reads it once from shared storage (storage_bps for
 * all nodes together), then copies it to its GPUs over PCIe. */
struct transfer transfer_load_weights(const struct llm *llm,
                                      enum precision precision,
                                      const struct gang *gang,
                                      double storage_bps);
/* Move the training state to host memory, or back; each GPU over its own PCIe
 * slot. */
struct transfer transfer_offload(const struct train_shape *shape,
                                 const struct gang *gang);
struct transfer transfer_reload(const struct train_shape *shape,
                                const struct gang *gang);
/* Sends new weights from training GPUs to rollout GPUs; both may be one
 * gang. */
struct transfer transfer_weight_sync(const struct llm *llm,
                                     enum precision precision,
                                     const struct gang *train,
                                     const struct gang *rollout);
/* Sends adapters only (LoRA), of `params` parameters. */
struct transfer transfer_adapter_sync(double params,
                                      enum precision precision,
                                      const struct gang *train,
                                      const struct gang *rollout);
/* storage_bps: shared storage, for the whole gang. */
struct transfer transfer_checkpoint_write(const struct train_shape *shape,
                                          const struct gang *gang,
                                          double storage_bps);
struct transfer transfer_checkpoint_read(const struct train_shape *shape,
                                         const struct gang *gang,
                                         double storage_bps);

/* Returns the bytes of one checkpoint. */
double transfer_checkpoint_bytes(const struct train_shape *shape);

enum transfer_start {
    TRANSFER_START_PROCESS,     /* new container, framework, communicators */
    TRANSFER_START_TRAIN_WAKE,  /* a sleeping trainer takes its GPUs again */
    TRANSFER_START_SERVE,       /* a new inference engine, graphs captured */
    TRANSFER_START_SERVE_WAKE,  /* a sleeping engine takes its GPUs again */
    TRANSFER_START_COUNT
};
/* Returns the seconds of a start, without the bytes that it loads. */
double transfer_start_s(enum transfer_start start);
const char *transfer_start_name(enum transfer_start start);
const char *transfer_start_source(enum transfer_start start);

#endif
