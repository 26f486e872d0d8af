/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cores.h - language models on cores alone: passes, training, generation.
 *
 * The roofline (Williams et al. 2009) with what the catalogue has of a CPU: its
 * rate for a precision and the bandwidth of its memory.  One process uses all
 * cores of a lease, which are those of one node, and does one thing at a time.
 */
#ifndef MODELS_LAWS_CORES_H
#define MODELS_LAWS_CORES_H

#include <stdbool.h>

#include "models/laws/train.h"
#include "models/types/precision.h"

struct gang;

/* True: the gang has no GPUs, and cores whose rate for that precision and whose
 * bandwidth are known. */
bool cores_can(const struct gang *gang, enum precision precision);
/* Returns the seconds of `flops` operations on weights of that precision, beside
 * which `bytes` bytes cross memory. */
double cores_s(const struct gang *gang, enum precision precision, double flops,
               double bytes);
/* Return what train_step() and forward_step() do.  `mfu` and `hfu` are 0: the
 * catalogue has no peak of a CPU.  The pass ends in a class or an embedding, as that of a
 * service (compute_cpu_encoder_s()): words are looked up, and no logits are computed. */
struct step_time cores_train_step(const struct train_shape *shape,
                                  const struct gang *gang, double sequences);
struct step_time cores_forward_step(const struct llm *llm,
                                    enum precision precision,
                                    const struct gang *gang, double sequences,
                                    double tokens);
/* Returns what training needs of host memory: all of it in one place. */
struct memory_need cores_train_memory(const struct train_shape *shape);
/* Returns how many responses of that context an engine with `host_bytes` of
 * host memory holds beside the weights; 0: none. */
double cores_batch_max(const struct llm *llm, enum precision precision,
                       double context_tokens, double host_bytes);

#endif
