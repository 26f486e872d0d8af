/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * net.h - models that are not transformers: convolutional networks, and
 * recommenders with embedding tables.
 *
 * A sample takes operations at a share of the rate of large matrices, and
 * element-wise traffic at the rate of the memory.  The two times are added,
 * because normalization and activation wait for the convolution before them (a
 * roofline for each kind of kernel: Williams et al. 2009).  Narrow layers use
 * tensor cores badly.  A recommender also reads and updates rows of its tables.
 * The tables are divided over all GPUs of the gang, the rest is data parallel;
 * an all-to-all moves the rows, forward and back (Naumov et al. 2019, arXiv
 * 1906.00091, section 4).
 *
 * Functions ending in _s return seconds.
 */
#ifndef MODELS_LAWS_NET_H
#define MODELS_LAWS_NET_H

#include <stdbool.h>

#include "models/laws/memory.h"
#include "models/laws/train.h"

struct cpu_type;
struct gang;
struct gpu_type;
struct net;

/* Returns the time of one optimizer step over `samples` in all.  Of the shape
 * only net, precision, micro_batch and stack are used. */
struct step_time net_train_step(const struct train_shape *shape,
                                const struct gang *gang, double samples);
/* Returns what training needs on each of `gpus` GPUs, in bytes. */
struct memory_need net_memory(const struct train_shape *shape, uint32_t gpus);

/* Returns the bytes of the 16-bit copy at work that autocast keeps beside FP32
 * weights on each GPU.  It is cast from these: never saved, never loaded. */
double net_cast_bytes(const struct net *net, enum precision precision);

/* Forward pass over `samples` in an inference engine with fused kernels. */
double net_pass_s(const struct net *net, enum precision precision,
                  const struct gpu_type *gpu, double samples);
double net_cpu_pass_s(const struct net *net, enum precision precision,
                      const struct cpu_type *cpu, double cores,
                      double samples);
/* Forward pass over `samples` in a framework, layer by layer. */
double net_eager_pass_s(const struct net *net, enum precision precision,
                        const struct gpu_type *gpu, double samples);

/* Returns the bytes of weights and tables. */
double net_weight_bytes(const struct net *net, enum precision precision);
/* Returns the bytes of a GPU that serves batches of `samples`. */
double net_serve_bytes(const struct net *net, enum precision precision,
                       double samples);
/* Returns the bytes of a checkpoint: FP32 weights and momentum, and the rows of
 * tables, which have no momentum. */
double net_checkpoint_bytes(const struct net *net);

#endif
