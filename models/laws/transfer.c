/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * transfer.c - checkpoints and start-up times.
 */
#include "models/laws/transfer.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"
#include "models/types/gang.h"

/* A start time that was measured, in seconds, and where. */
struct start {
    const char *name;           /* of the process */
    double time_s;
    const char *source;         /* where it was measured */
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
        "vLLM sleep mode wakes in 0.1 to 0.4 s, on the GPUs where it slept (vllm.ai, October "
        "2025); assumption: no longer on others, since an engine sleeps on each of their nodes" },
    [TRANSFER_START_CORES] = {
        "cores", 6.6,
        "processor time from exec to the first answer, files in the page cache, two cores "
        "of an AMD EPYC, BERT-base behind HTTP (own runs, November 2026): PyTorch 2.15 "
        "and transformers 6.6 s; OpenVINO 1.6 to 2.5 s, ONNX Runtime 0.7 to 1.3 s; a trainer "
        "of the same takes as long: 3.6 to 5.4 s without its first step, where the server "
        "takes 4.5 to 5.3 s without its answer" },
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

/* Storage, NICs and PCIe slots work at once; the slowest sets the time.  On cores state
 * crosses no slot. */
static double find_slowest(const struct transfer *t, const struct gang *gang,
                           double storage_bps)
{
    double time_s = gang->gpu != NULL ? t->pcie_bytes_per_gpu / comm_pcie_bps(gang) : 0;

    if (t->storage_bytes > 0.0) {
        assert(storage_bps > 0.0);
        time_s = fmax(time_s, t->storage_bytes / storage_bps);
    }
    if (t->inter_bytes_per_node > 0.0 && gang->inter_bps > 0.0) {
        time_s = fmax(time_s, t->inter_bytes_per_node / gang->inter_bps);
    }
    return time_s;
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

struct transfer transfer_checkpoint_write(double bytes, const struct gang *gang,
                                          double storage_bps)
{
    assert(gang && (gang->gpu == NULL || gang->gpus > 0) && gang->nodes > 0 && bytes >= 0.0);
    struct transfer t = { 0 };

    t.bytes = bytes;
    t.storage_bytes = t.bytes;
    t.inter_bytes_per_node = t.bytes / gang->nodes;
    t.pcie_bytes_per_gpu = gang->gpu != NULL ? t.bytes / gang->gpus : 0;
    t.time_s = find_slowest(&t, gang, storage_bps);
    return t;
}
