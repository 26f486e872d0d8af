/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * net.h - models that are no transformers: convolutional networks and
 * recommenders with embedding tables.
 *
 * A sample costs operations at a share of the rate of large matrices, and
 * element-wise traffic at the memory's rate; both are added, as normalization
 * and activation wait for the convolution before them (a roofline for each
 * kind of kernel: Williams et al. 2009).  Narrow layers fill tensor cores
 * badly.  A recommender reads and updates rows of its tables besides, which
 * are divided over all GPUs of the gang, while the rest is data parallel:
 * rows travel by all-to-all, forward and back (Naumov et al. 2019, arXiv
 * 1906.00091, section 4).
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

/* One optimizer step over `samples`; shape->net, precision, micro_batch and
 * stack count, nothing else of the shape. */
struct step_time net_train_step(const struct train_shape *shape,
                                const struct gang *gang, double samples);
struct memory_need net_memory(const struct train_shape *shape, uint32_t gpus);

/* One pass over a batch: kernels fused by an inference engine. */
double net_pass_s(const struct net *net, enum precision precision,
                  const struct gpu_type *gpu, double samples);
double net_cpu_pass_s(const struct net *net, enum precision precision,
                      const struct cpu_type *cpu, double cores,
                      double samples);
/* The same by a framework, layer by layer. */
double net_eager_pass_s(const struct net *net, enum precision precision,
                        const struct gpu_type *gpu, double samples);

double net_weight_bytes(const struct net *net, enum precision precision);
/* On a GPU that serves batches of so many. */
double net_serve_bytes(const struct net *net, enum precision precision,
                       double samples);
/* FP32 weights and momentum; of tables, which have none, the rows. */
double net_checkpoint_bytes(const struct net *net);

#endif
