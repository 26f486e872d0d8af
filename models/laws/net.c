/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * net.c - steps, passes and bytes of models that are no transformers.
 *
 * Constants without a source of their own were chosen on ResNet-50 and 3D
 * U-Net trained in mixed precision on one V100 (NVIDIA DeepLearningExamples);
 * other GPUs, more of them, other precisions, inference and DLRM test them
 * (models/validation/README.md).
 */
#include "models/laws/net.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"
#include "models/laws/compute.h"
#include "models/types/gang.h"
#include "models/types/precision.h"

/* Tensor cores reach half of their rate at this width of a layer. */
#define WIDTH_HALF 110.0
/* How often each element that a layer writes passes memory.  Training: the
 * convolution writes it; normalization reads it twice and writes; the next
 * layer reads; back: 9 of the like.  Forward alone: 5.  Engines fuse all but
 * one write and one read. */
#define TRAIN_TOUCHES 14.0
#define EAGER_TOUCHES 5.0
#define ENGINE_TOUCHES 2.0
/* Touches of a row of a table: read, written out, read; its gradient written
 * and read, the row read and written. */
#define TABLE_TRAIN_TOUCHES 7.0
#define TABLE_TOUCHES 3.0
/* Launches of one layer's forward pass: ResNet-50's 54 layers take 13 ms in
 * PyTorch on a V100, and 2.2 ms in TensorRT on an A100, at any batch to 8
 * (DeepLearningExamples: resnet50v1.5/README.md, triton/resnet50). */
#define EAGER_FLOOR_S (13.0e-3 / 54.0)
#define ENGINE_FLOOR_S (2.2e-3 / 54.0)
/* SGD with momentum in FP32: reads weight, gradient and momentum, writes
 * weight and momentum. */
#define OPTIMIZER_BYTES 20.0
/* Under autocast gradients are FP32, and travel behind the backward pass as
 * in train.c. */
#define GRADIENT_BYTES 4.0
#define OVERLAP 0.8
/* As in memory.c: CUDA context, NCCL. */
#define CONTEXT_BYTES (1.1 * 1024.0 * 1024.0 * 1024.0)
#define NCCL_BYTES 0.365e9

static bool is_narrow(enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    return precision != PRECISION_FP32 && precision != PRECISION_TF32;
}

static double element_bytes(enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    return is_narrow(precision) ? 2.0 : 4.0;
}

/* Operations per second; narrow layers leave tensor cores waiting, FP32 units
 * not. */
static double find_rate(const struct net *net, enum precision precision,
                        const struct gpu_type *gpu)
{
    assert(net->width > 0.0);
    assert(gpu != NULL);
    double units = precision == PRECISION_FP32
                       ? 1.0 : net->width / (net->width + WIDTH_HALF);
    double flops = precision == PRECISION_INT8 &&
                           gpu->flops_sustained[PRECISION_INT8] > 0.0
                       ? gpu->flops_sustained[PRECISION_INT8]
                       : compute_sustained_flops(gpu, precision);

    return flops * units;
}

struct touches {
    double passes;              /* in forward passes */
    double elements, rows;
};

static const struct touches training = { 3.0, TRAIN_TOUCHES,
                                         TABLE_TRAIN_TOUCHES };
static const struct touches by_layers = { 1.0, EAGER_TOUCHES, TABLE_TOUCHES };
static const struct touches by_engine = { 1.0, ENGINE_TOUCHES,
                                          TABLE_TOUCHES };

/* Arithmetic and memory traffic of `samples` samples, one after the other:
 * kernels of small layers do not overlap. */
static double time_work(const struct net *net, enum precision precision,
                        const struct gpu_type *gpu, double samples,
                        const struct touches *t)
{
    assert(samples > 0.0);
    assert(gpu->memory_bps_sustained > 0.0);
    double rows = (double)net->tables * net->row_width;
    double bytes = precision == PRECISION_INT8 && t == &by_engine
                       ? 1.0 : element_bytes(precision);
    double traffic = bytes * (t->elements * net->activations +
                              t->rows * rows);

    return samples * (t->passes * net->flops / find_rate(net, precision, gpu) +
                      traffic / gpu->memory_bps_sustained);
}

/* Launches overlap with work: the larger of the two, softly. */
static double add_launches(double work, double floor_s)
{
    assert(work >= 0.0 && floor_s >= 0.0);
    return pow(pow(work, 4.0) + pow(floor_s, 4.0), 0.25);
}

/* Seconds below which the launches of all layers do not come. */
static double find_floor(const struct net *net, bool engine, double passes)
{
    assert(net->layers > 0);
    assert(passes > 0.0);
    return net->layers * passes * (engine ? ENGINE_FLOOR_S : EAGER_FLOOR_S);
}

/* Rows to where their samples are, and their gradients back. */
static double count_row_bytes(const struct train_shape *shape, double samples)
{
    assert(shape->net != NULL);
    assert(samples >= 0.0);
    return samples * shape->net->tables * shape->net->row_width *
           element_bytes(shape->precision);
}

/* The all-reduce hides behind the backward pass, two thirds of the work.  Rows
 * of tables travel twice, and nothing hides that. */
static void add_exchange(const struct train_shape *shape,
                         const struct gang *gang, double samples,
                         double step_work_s, struct step_time *step)
{
    assert(gang->gpus > 0 && gang->nodes > 0);
    assert(samples > 0.0);
    assert(step_work_s >= 0.0);
    double gradient = shape->net->params * GRADIENT_BYTES;
    double rows = count_row_bytes(shape, samples);

    if (gang->gpus <= 1) {
        return;
    }
    step->comm_exposed_s =
        fmax(0.0, comm_gang_s(COMM_ALL_REDUCE, gang, gradient) -
                      OVERLAP * step_work_s * 2.0 / 3.0);
    step->inter_bytes_per_node = comm_inter_bytes(COMM_ALL_REDUCE, gang,
                                                  gradient);
    if (rows > 0.0) {
        step->comm_exposed_s += 2.0 * comm_gang_s(COMM_ALL_TO_ALL, gang,
                                                  rows);
        step->inter_bytes_per_node +=
            2.0 * comm_inter_bytes(COMM_ALL_TO_ALL, gang, rows);
    }
}

/* Data parallel: each GPU has samples / gpus, in micro batches. */
struct step_time net_train_step(const struct train_shape *shape,
                                const struct gang *gang, double samples)
{
    assert(shape && shape->net && gang && gang->gpu && gang->gpus > 0);
    assert(samples > 0.0 && shape->micro_batch > 0.0);
    const struct net *net = shape->net;
    struct step_time step = { 0 };
    double each = ceil(samples / gang->gpus - 1e-9);
    double size = fmin(shape->micro_batch, each);
    double count = ceil(each / size - 1e-9);
    double micro_s = time_work(net, shape->precision, gang->gpu, size,
                               &training);
    double total_s = add_launches(micro_s,
                                  find_floor(net, shape->stack ==
                                                      STACK_ENGINE, 3.0));
    double peak = gang->gpus *
                  compute_peak_flops(gang->gpu, shape->precision);

    step.compute_s = count * micro_s;
    step.launch_s = count * (total_s - micro_s);
    step.optimizer_s = net->params * OPTIMIZER_BYTES /
                       gang->gpu->memory_bps_sustained;
    add_exchange(shape, gang, count * size, total_s, &step);
    step.step_s = step.compute_s + step.launch_s + step.optimizer_s +
                  step.comm_exposed_s;
    step.flops = 3.0 * net->flops * samples;
    step.mfu = step.flops / (step.step_s * peak);
    step.hfu = step.mfu;
    step.busy_fraction = step.compute_s / step.step_s;
    return step;
}

double net_cast_bytes(const struct net *net, enum precision precision)
{
    assert(net);
    return is_narrow(precision) ? net->params * 2.0 : 0.0;
}

struct memory_need net_memory(const struct train_shape *shape, uint32_t gpus)
{
    assert(shape && shape->net && gpus > 0 && shape->micro_batch > 0.0);
    const struct net *net = shape->net;
    double bytes = element_bytes(shape->precision);
    double tables = net->table_rows * net->row_width * 4.0 / gpus;
    double rows = (double)net->tables * net->row_width;
    struct memory_need need = {
        .weights = net->params * 4.0 + net_cast_bytes(net, shape->precision) +
                   tables,
        .gradients = net->params * GRADIENT_BYTES,
        .optimizer = net->params * 4.0,
        /* What each layer wrote, and what normalization made of it. */
        .activations = shape->micro_batch * bytes *
                       (2.0 * net->activations + 2.0 * rows),
        .workspace = CONTEXT_BYTES + (gpus > 1 ? NCCL_BYTES : 0.0),
    };

    need.total = need.weights + need.gradients + need.optimizer +
                 need.activations + need.workspace;
    return need;
}

double net_pass_s(const struct net *net, enum precision precision,
                  const struct gpu_type *gpu, double samples)
{
    assert(net && gpu && samples > 0.0);
    return add_launches(time_work(net, precision, gpu, samples, &by_engine),
                        find_floor(net, true, 1.0));
}

double net_eager_pass_s(const struct net *net, enum precision precision,
                        const struct gpu_type *gpu, double samples)
{
    assert(net && gpu && samples > 0.0);
    return add_launches(time_work(net, precision, gpu, samples, &by_layers),
                        find_floor(net, false, 1.0));
}

double net_cpu_pass_s(const struct net *net, enum precision precision,
                      const struct cpu_type *cpu, double cores,
                      double samples)
{
    assert(net && cpu && cpu->cores > 0 && cores > 0.0 && samples > 0.0);
    double sockets = cores / cpu->cores;
    bool small = precision == PRECISION_INT8;
    double flops = small ? cpu->flops_int8 : cpu->flops_fp32;
    double bytes = samples * (small ? 1.0 : 4.0) *
                   (ENGINE_TOUCHES * net->activations +
                    TABLE_TOUCHES * (double)net->tables * net->row_width);

    /* assumption, as of transformers: half of a socket's cores draw all of
     * its bandwidth. */
    return compute_roofline_s(samples * net->flops, flops * sockets, bytes,
                              cpu->memory_bps_sustained *
                              fmax(sockets, fmin(1.0, 2.0 * sockets)));
}

double net_weight_bytes(const struct net *net, enum precision precision)
{
    assert(net);
    return net->params * precision_weight_bytes(precision) +
           net->table_rows * net->row_width *
               (is_narrow(precision) ? 2.0 : 4.0);
}

double net_serve_bytes(const struct net *net, enum precision precision,
                       double samples)
{
    assert(net && samples > 0.0);
    /* Input and output of the layer at work; at most half of all there is. */
    return net_weight_bytes(net, precision) + CONTEXT_BYTES +
           samples * element_bytes(precision) *
               (net->activations / 2.0 +
                (double)net->tables * net->row_width);
}

double net_checkpoint_bytes(const struct net *net)
{
    assert(net);
    return 8.0 * net->params + 4.0 * net->table_rows * net->row_width;
}
