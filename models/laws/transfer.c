/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transfer.c - what moves when a lease changes.
 *
 * Moves of weights and training state over storage, NICs and PCIe, for the
 * times when a lease begins, ends or changes.  Only the bytes go to the flow
 * network; `time_s` is what they take alone.
 */
#include "models/laws/transfer.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"
#include "models/types/gang.h"
#include "models/types/precision.h"

/* A start time that was measured, in seconds, and where. */
struct start {
    const char *name;
    double time_s;
    const char *source;
};

/* Everything that a start costs beside moving bytes. */
static const struct start start_table[TRANSFER_START_COUNT] = {
    [TRANSFER_START_PROCESS] = {
        "process", 34.0,
        "assumption: as the engine start and imports of vLLM with warm caches "
        "(34 s, Llama-3.1-8B on L40S, tensorfuse.io, September 2025); "
        "training frameworks import the same libraries" },
    [TRANSFER_START_TRAIN_WAKE] = {
        "train-wake", 0.4,
        "assumption: as waking a sleeping vLLM engine, whose process and "
        "communicators also stay alive" },
    [TRANSFER_START_SERVE] = {
        "serve", 64.0,
        "vLLM with warm caches, weights apart: 10 s bytecode, 13 s graph "
        "compilation, 7 s graph capture, 34 s engine and imports "
        "(Llama-3.1-8B on L40S, tensorfuse.io, September 2025)" },
    [TRANSFER_START_SERVE_WAKE] = {
        "serve-wake", 0.4,
        "vLLM sleep mode wakes in 0.1 to 0.4 s (vllm.ai, October 2025)" },
};

double transfer_start_s(enum transfer_start start)
{
    assert(start < TRANSFER_START_COUNT);
    return start_table[start].time_s;
}

const char *transfer_start_name(enum transfer_start start)
{
    assert(start < TRANSFER_START_COUNT);
    return start_table[start].name;
}

const char *transfer_start_source(enum transfer_start start)
{
    assert(start < TRANSFER_START_COUNT);
    return start_table[start].source;
}

/* The fewest GPUs, a power of two, that hold a copy of the weights. */
static double count_copies(const struct llm *llm, enum precision precision,
                           const struct gang *gang)
{
    assert(llm != NULL);
    assert(gang->gpu != NULL);
    double bytes = memory_weight_bytes(llm, precision);
    double gpus = 1.0;

    while (gpus * 2.0 <= gang->gpus &&
           bytes / gpus > 0.9 * gang->gpu->memory_bytes) {
        gpus *= 2.0;
    }
    return fmax(1.0, floor(gang->gpus / gpus));
}

/* Storage, NICs and PCIe slots work at once; the slowest sets the time. */
static double find_slowest(const struct transfer *t, const struct gang *gang,
                           double storage_bps)
{
    double time_s = t->pcie_bytes_per_gpu / gang->gpu->pcie_bps;

    if (t->storage_bytes > 0.0) {
        assert(storage_bps > 0.0);
        time_s = fmax(time_s, t->storage_bytes / storage_bps);
    }
    if (t->inter_bytes_per_node > 0.0 && gang->inter_bps > 0.0) {
        time_s = fmax(time_s, t->inter_bytes_per_node / gang->inter_bps);
    }
    return time_s;
}

/* Each node reads from storage what its GPUs need of the copies, once. */
struct transfer transfer_load_weights(const struct llm *llm,
                                      enum precision precision,
                                      const struct gang *gang,
                                      double storage_bps)
{
    assert(llm && gang && gang->gpu && gang->gpus > 0);
    struct transfer t = { 0 };
    double bytes = memory_weight_bytes(llm, precision);
    double copies = count_copies(llm, precision, gang);
    double per_node = fmin(bytes, copies * bytes / gang->nodes);

    t.storage_bytes = per_node * gang->nodes;
    t.inter_bytes_per_node = per_node;
    t.pcie_bytes_per_gpu = copies * bytes / gang->gpus;
    t.bytes = t.pcie_bytes_per_gpu * gang->gpus;
    t.time_s = find_slowest(&t, gang, storage_bps);
    return t;
}

/* Bytes of training state on each GPU, as it is parked in host memory. */
static double count_state(const struct train_shape *shape,
                          const struct gang *gang)
{
    assert(shape->llm != NULL || shape->net != NULL);
    assert(gang->gpus > 0);
    struct memory_need need = memory_train(shape, gang->gpus);

    /* Gradients are dropped: a step boundary leaves none worth keeping. */
    return need.weights + need.optimizer;
}

struct transfer transfer_offload(const struct train_shape *shape,
                                 const struct gang *gang)
{
    assert(shape && gang && gang->gpu);
    struct transfer t = { 0 };

    t.pcie_bytes_per_gpu = count_state(shape, gang);
    t.bytes = t.pcie_bytes_per_gpu * gang->gpus;
    t.time_s = find_slowest(&t, gang, 0.0);
    return t;
}

struct transfer transfer_reload(const struct train_shape *shape,
                                const struct gang *gang)
{
    assert(shape != NULL && gang != NULL);
    return transfer_offload(shape, gang);
}

/* The trainer's GPUs hold shards.  On shared GPUs an all-gather rebuilds the
 * copies; across gangs every trainer node sends its shard (2P / (b shards)),
 * every rollout node receives one copy and passes it on inside. */
static struct transfer sync_bytes(double bytes, const struct gang *train,
                                  const struct gang *rollout)
{
    assert(bytes >= 0.0 && train && rollout && rollout->gpu);
    struct transfer t = { 0 };
    bool one_node = train->nodes == 1 && rollout->nodes == 1 &&
                    (train == rollout || train->inter_bps <= 0.0);

    t.bytes = bytes * rollout->nodes;
    if (train == rollout || one_node) {
        t.time_s = comm_gang_s(COMM_ALL_GATHER, rollout, bytes);
        t.inter_bytes_per_node = comm_inter_bytes(COMM_ALL_GATHER, rollout,
                                                  bytes);
        return t;
    }
    double out_s = bytes / (train->inter_bps * train->nodes);
    double in_s = bytes / rollout->inter_bps;
    double inside_s = comm_ring_s(COMM_P2P, 2, bytes, rollout->intra_bps,
                                  rollout->intra_latency_s);

    t.inter_bytes_per_node = bytes;
    t.time_s = fmax(fmax(out_s, in_s), inside_s) + rollout->inter_latency_s;
    return t;
}

struct transfer transfer_weight_sync(const struct llm *llm,
                                     enum precision precision,
                                     const struct gang *train,
                                     const struct gang *rollout)
{
    assert(llm != NULL);
    assert(train != NULL && rollout != NULL);
    return sync_bytes(memory_weight_bytes(llm, precision), train, rollout);
}

struct transfer transfer_adapter_sync(double params, enum precision precision,
                                      const struct gang *train,
                                      const struct gang *rollout)
{
    assert(params > 0.0);
    assert(train != NULL && rollout != NULL);
    return sync_bytes(params * precision_weight_bytes(precision), train,
                      rollout);
}

/* A working copy and Adam's three FP32 values: 14 bytes a parameter (BLOOM's
 * 2.3 TB are 13.1); adapters alone where the base is frozen. */
double transfer_checkpoint_bytes(const struct train_shape *shape)
{
    assert(shape && shape->llm);
    bool full = shape->method == TRAIN_FULL;
    double lora = shape->lora_params > 0.0
                      ? shape->lora_params
                      : memory_lora_params(shape->llm, 16.0);

    return 14.0 * (full ? shape->llm->params : lora);
}

struct transfer transfer_checkpoint_write(const struct train_shape *shape,
                                          const struct gang *gang,
                                          double storage_bps)
{
    assert(gang && gang->gpu && gang->gpus > 0);
    struct transfer t = { 0 };

    t.bytes = transfer_checkpoint_bytes(shape);
    t.storage_bytes = t.bytes;
    t.inter_bytes_per_node = t.bytes / gang->nodes;
    t.pcie_bytes_per_gpu = t.bytes / gang->gpus;
    t.time_s = find_slowest(&t, gang, storage_bps);
    return t;
}

/* The frozen base of an adapter job is read again with the adapters. */
struct transfer transfer_checkpoint_read(const struct train_shape *shape,
                                         const struct gang *gang,
                                         double storage_bps)
{
    assert(shape != NULL && gang != NULL);
    assert(storage_bps > 0.0);
    struct transfer t = transfer_checkpoint_write(shape, gang, storage_bps);

    if (shape->method == TRAIN_FULL) {
        return t;
    }
    enum precision base = shape->method == TRAIN_QLORA ? PRECISION_INT4
                                                       : PRECISION_BF16;
    struct transfer w = transfer_load_weights(shape->llm, base, gang,
                                              storage_bps);
    t.bytes += w.bytes;
    t.storage_bytes += w.storage_bytes;
    t.inter_bytes_per_node += w.inter_bytes_per_node;
    t.pcie_bytes_per_gpu += w.pcie_bytes_per_gpu;
    t.time_s += w.time_s;
    return t;
}
