/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_net_test.c - models that are no transformers, by hand and against
 * published throughput that chose no constant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/advise/advise.h"
#include "models/laws/net.h"
#include "models/laws/phase.h"
#include "models/serving/serve.h"
#include "tests/aid/law_aids.h"

#define HDR_NODE_BPS (8.0 * 185e9 / 8.0)

static struct train_shape shape_of(const struct law_aids *aids,
                                   const char *name, enum precision precision,
                                   double micro_batch)
{
    struct train_shape shape = {
        .net = catalogue_net(aids->catalogue, name), .precision = precision,
        .micro_batch = micro_batch, .sequence_tokens = 1.0, .tp = 1, .pp = 1,
        .stack = STACK_EAGER,
    };
    assert_non_null(shape.net);
    return shape;
}

/* ResNet-50 by an engine on an A100, 256 images: 8.178e9 operations at 262e12
 * x 187 / (187 + 110), and 11.115e6 elements of 2 bytes, written and read, at
 * 1.62e12: 12.7 + 7.0 ms; 54 launches of 41 us take 2.2 and hide. */
static void a_pass_is_operations_and_traffic(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct net *net = catalogue_net(aids.catalogue, "resnet-50");
    const struct gpu_type *gpu = catalogue_gpu(aids.catalogue, "a100-80");
    double hand_s = 256.0 * (8.178e9 / (262e12 * 187.0 / 297.0) +
                             2.0 * 2.0 * 11.115e6 / 1.62e12);

    (void)state;
    double pass_s = net_pass_s(net, PRECISION_FP16, gpu, 256.0);
    assert_true(law_error(pass_s, hand_s) < 1e-3);
    /* One image waits for launches, and eight take no longer. */
    assert_true(law_error(net_pass_s(net, PRECISION_FP16, gpu, 1.0),
                          2.2e-3) < 0.01);
    assert_true(law_error(net_pass_s(net, PRECISION_FP16, gpu, 8.0),
                          2.2e-3) < 0.02);
    assert_true(net_pass_s(net, PRECISION_INT8, gpu, 256.0) < pass_s);
    assert_true(net_eager_pass_s(net, PRECISION_FP16, gpu, 256.0) > pass_s);
    law_aids_free(&aids);
}

/* NVIDIA DeepLearningExamples, images a second; none chose a constant. */
static void resnet_steps_are_within_a_fifth_of_published_v100(void **state)
{
    static const struct { uint32_t gpus; enum precision p; double per_s; }
    row[] = {
        { 8, PRECISION_FP16, 8056.0 }, { 1, PRECISION_FP32, 356.0 },
        { 8, PRECISION_FP32, 2766.0 },
    };
    struct law_aids aids = law_aids_new();

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct train_shape shape = shape_of(&aids, "resnet-50", row[i].p,
                                            256.0);
        struct gang gang = law_gang(&aids, "v100-32", row[i].gpus, 1,
                                    HDR_NODE_BPS);
        double batch = 256.0 * row[i].gpus;
        double step_s = net_train_step(&shape, &gang, batch).step_s;
        assert_true(law_error(step_s, batch / row[i].per_s) < 0.20);
    }
    law_aids_free(&aids);
}

/* 187,767,399 rows of 128 FP32 numbers are 96.1 GB: no A100 holds them, two
 * do with half each. */
static void tables_are_divided_over_all_gpus(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = shape_of(&aids, "dlrm-mlperf", PRECISION_FP16,
                                        8192.0);
    double room = catalogue_gpu(aids.catalogue, "a100-80")->memory_bytes;
    double tables = 187767399.0 * 128.0 * 4.0;

    (void)state;
    double one = memory_train(&shape, 1).total;
    double two = memory_train(&shape, 2).total;
    assert_true(one > room && two < room);
    assert_true(law_error(one - two + 0.365e9, tables / 2.0) < 1e-6);
    law_aids_free(&aids);
}

/* 65,536 clicks on 2 nodes of 8: each GPU sends 26 rows of 128 x 2 bytes for
 * 4,096 clicks, half of them to the other node, forward and back; and a
 * node's ring of gradients sends them once. */
static void rows_cross_nodes_twice_a_step(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = shape_of(&aids, "dlrm-mlperf", PRECISION_FP16,
                                        4096.0);
    struct gang gang = law_gang(&aids, "a100-80", 16, 2, HDR_NODE_BPS);
    double rows = 2.0 * 8.0 * 0.5 * 4096.0 * 26.0 * 128.0 * 2.0;
    double gradients = 2.0 * 0.5 * 2.369e6 * 4.0;

    (void)state;
    struct step_time step = net_train_step(&shape, &gang, 65536.0);
    assert_true(law_error(step.inter_bytes_per_node, rows + gradients) <
                1e-9);
    gang.inter_bps /= 10.0;
    assert_true(net_train_step(&shape, &gang, 65536.0).comm_exposed_s >
                5.0 * step.comm_exposed_s);
    law_aids_free(&aids);
}

static void parts_of_a_step_add_up_and_mfu_is_three_passes(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = shape_of(&aids, "unet-3d", PRECISION_FP16,
                                        2.0);
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, HDR_NODE_BPS);

    (void)state;
    struct step_time t = train_step(&shape, &gang, 32.0);
    assert_true(law_error(t.compute_s + t.launch_s + t.optimizer_s +
                              t.comm_exposed_s, t.step_s) < 1e-12);
    assert_true(law_error(t.flops, 3.0 * 979.6e9 * 32.0) < 1e-12);
    assert_true(law_error(t.mfu, t.flops / (t.step_s * 8.0 * 312e12)) <
                1e-12);
    assert_true(t.hfu == t.mfu);
    law_aids_free(&aids);
}

/* 96.1 GB of tables fit two A100 and not one; the search says so, and of the
 * micro batches that fit it takes the largest. */
static void advice_finds_gpus_for_a_recommender(void **state)
{
    struct law_aids aids = law_aids_new();
    struct phase_law law = {
        .kind = LAW_TRAIN, .sequences = 65536, .repeats = 1,
        .train = shape_of(&aids, "dlrm-mlperf", PRECISION_FP16, 1024.0),
    };
    struct advise_task task = { &law, 1.0, 0.0, NULL };
    struct gang gang = law_gang(&aids, "a100-80", 1, 1, HDR_NODE_BPS);
    struct advise_change change[ADVISE_CHANGES_MAX];

    (void)state;
    gang.cores = 8;
    assert_true(isinf(advise_train(&task, &gang, 8).run_s));
    assert_int_equal(advise_changes(&task, &gang, 8, 64, change), 1);
    assert_int_equal(change[0].gpus, 2);
    gang.gpus = 2;
    struct advise_layout best = advise_train(&task, &gang, 8);
    assert_true(best.shape.micro_batch == 32768.0);
    assert_true(law_error(best.run_s,
                          advise_train_s(&task, &best.shape, &gang)) < 1e-12);
    law_aids_free(&aids);
}

static void replicas_answer_in_passes_of_the_law(void **state)
{
    struct law_aids aids = law_aids_new();
    struct serve_law law = {
        .kind = SERVE_ENCODE, .precision = PRECISION_FP16, .tp = 1,
        .net = catalogue_net(aids.catalogue, "resnet-50"),
    };
    struct gang gpu = law_gang(&aids, "t4", 1, 1, 0.0);
    struct gang cpu = { .nodes = 1, .cores = 40,
                        .cpu = catalogue_cpu(aids.catalogue, "xeon-platinum-8380") };

    (void)state;
    /* T4 behind Triton with TensorRT: 1,280 images a second at 128. */
    assert_true(law_error(serve_batch_s(&law, &gpu, 128), 128.0 / 1280.0) <
                0.05);
    assert_non_null(cpu.cpu);
    /* A socket: 2.3e12 operations a second, 8.178e9 an image. */
    assert_true(law_error(serve_batch_s(&law, &cpu, 4),
                          4.0 * 8.178e9 / cpu.cpu->flops_fp32) < 0.01);
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_is_operations_and_traffic),
        cmocka_unit_test(resnet_steps_are_within_a_fifth_of_published_v100),
        cmocka_unit_test(tables_are_divided_over_all_gpus),
        cmocka_unit_test(rows_cross_nodes_twice_a_step),
        cmocka_unit_test(parts_of_a_step_add_up_and_mfu_is_three_passes),
        cmocka_unit_test(advice_finds_gpus_for_a_recommender),
        cmocka_unit_test(replicas_answer_in_passes_of_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
