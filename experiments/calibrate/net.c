/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * net.c - rows of models that are no transformers: the time of a
 * batch.
 *
 * A row's `pass` is train, forward (a framework, layer by layer), engine
 * (TensorRT) or cores (of one socket, which stands in the place of the GPU).
 * Recommenders ran as graphs, which an engine's floor stands for.
 */
#include "experiments/calibrate/suites.h"

#include <math.h>

#include "experiments/calibrate/row.h"
#include "models/catalogue/catalogue.h"
#include "models/laws/net.h"

/* As NVIDIA's DGX: 8 NICs of 200 Gb/s, 0.925 of it (see train.c). */
#define NODE_BPS (8.0 * 185e9 / 8.0)

/* The column `gpu` names a processor; all of its cores work. */
static const char *predict_cores(const struct calibrate_row *row,
                                 const struct net *net, enum precision precision,
                                 double *predicted)
{
    const struct cpu_type *cpu = catalogue_cpu(row->catalogue,
                                               row_text(row, "gpu"));

    if (cpu == NULL)
        return "the CPU is not in the catalogue";
    *predicted = net_cpu_pass_s(net, precision, cpu, cpu->cores,
                                row_number(row, "gbs", 1.0));
    return NULL;
}

/* Compares seconds of a step, or of a pass: rows state samples/s. A pass is `cores`, `engine` or
 * `forward`; without one the row is of training. */
const char *calibrate_net(const struct calibrate_row *row, double *measured,
                          double *predicted)
{
    const struct net *net = row_net(row);
    const struct gpu_type *gpu = row_gpu(row, "gpu");
    double batch = row_number(row, "gbs", 0.0);
    struct train_shape shape = { .net = net, .tp = 1, .pp = 1 };

    if (net == NULL)
        return calibrate_not_mine;
    *measured = batch / row_number(row, "samples_s", NAN);
    shape.micro_batch = row_number(row, "mbs", batch);
    if (!(batch > 0.0) || !(shape.micro_batch > 0.0))
        return "the batch is not in the row";
    if (!row_precision(row_text(row, "precision"), &shape.precision))
        return "the precision is unknown";
    if (row_is(row, "pass", "cores"))
        return predict_cores(row, net, shape.precision, predicted);
    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    struct gang gang = row_gang(gpu, row_count(row, "gpus", 1),
                                row_count(row, "gpus_per_node", 8), NODE_BPS);

    shape.stack = net->tables > 0 ? STACK_ENGINE : STACK_EAGER;
    if (row_is(row, "pass", "engine"))
        *predicted = net_pass_s(net, shape.precision, gpu, batch);
    else if (row_is(row, "pass", "forward"))
        *predicted = net_eager_pass_s(net, shape.precision, gpu, batch);
    else
        *predicted = net_train_step(&shape, &gang, batch).step_s;
    return NULL;
}
