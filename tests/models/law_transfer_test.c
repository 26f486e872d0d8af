/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_transfer_test.c - what moves when a lease changes, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "models/laws/outage.h"
#include "models/laws/transfer.h"
#include "tests/aid/law_aids.h"

static struct train_shape shape_of(const struct llm *llm)
{
    struct train_shape shape = {
        .llm = llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .zero = 3, .recompute = RECOMPUTE_FULL, .sequence_tokens = 2048.0,
        .micro_batch = 1.0, .tp = 1, .pp = 1,
    };
    return shape;
}

/* Llama-2-7B, 13.476 GB, on 8 A100 of one node: read once at 10 GB/s, 1.348
 * s; each GPU copies it over PCIe at 24 GB/s, 0.562 s; the slower counts. */
static void weights_load_at_the_speedup_of_the_slowest_hop(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-2-7b");
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 185e9);

    (void)state;
    struct transfer t = transfer_load_weights(llm, PRECISION_BF16, &gang,
                                              10e9);
    assert_true(fabs(t.time_s - 1.3476) < 1e-4);
    assert_true(t.storage_bytes == 2.0 * 6.738e9);
    t = transfer_load_weights(llm, PRECISION_BF16, &gang, 1e12);
    assert_true(fabs(t.time_s - 13.476 / 24.0) < 1e-4);
    law_aids_free(&aids);
}

/* ZeRO-3 over 8 GPUs: (2 + 12) x 6.738e9 / 8 = 11.79 GB a GPU, 0.491 s. */
static void offloading_moves_weights_and_optimizer(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 0.0);
    struct train_shape shape = shape_of(catalogue_llm(aids.catalogue,
                                                      "llama-2-7b"));

    (void)state;
    struct transfer t = transfer_offload(&shape, &gang);
    assert_true(law_error(t.pcie_bytes_per_gpu, 14.0 * 6.738e9 / 8.0) < 1e-9);
    assert_true(fabs(t.time_s - 0.4913) < 1e-3);
    assert_true(transfer_reload(&shape, &gang).time_s == t.time_s);
    law_aids_free(&aids);
}

/* Across gangs: 13.476 GB into each rollout node at 50 GB/s: 0.2695 s.  On
 * one gang an all-gather over NVLink, as measured up to 512 MiB and in
 * proportion beyond: 0.0574 s (7/8 of it at 205 GB/s). */
static void weight_sync_crosses_nics_only_between_gangs(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-2-7b");
    struct gang train = law_gang(&aids, "a100-80", 16, 2, 50e9);
    struct gang rollout = law_gang(&aids, "a100-80", 8, 1, 50e9);

    (void)state;
    struct transfer apart = transfer_weight_sync(llm, PRECISION_BF16, &train,
                                                 &rollout);
    struct transfer same = transfer_weight_sync(llm, PRECISION_BF16, &rollout,
                                                &rollout);
    assert_true(fabs(apart.time_s - 0.2695) < 1e-3);
    assert_true(apart.inter_bytes_per_node == 2.0 * 6.738e9);
    assert_true(fabs(same.time_s - 0.0574) < 1e-3);
    assert_true(same.inter_bytes_per_node == 0.0);
    double lora = transfer_adapter_sync(40e6, PRECISION_BF16, &train,
                                        &rollout).time_s;
    assert_true(lora < apart.time_s / 50.0);
    law_aids_free(&aids);
}

/* BLOOM-176B: 2.3 TB of checkpoint (13.1 bytes a parameter; ours has 14),
 * written in 40 s at 57.5 GB/s over 384 GPUs. */
static void checkpoint_of_bloom_takes_what_was_measured(void **state)
{
    struct law_aids aids = law_aids_new();
    struct llm bloom = *catalogue_llm(aids.catalogue, "gpt-3-175b");
    struct gang gang = law_gang(&aids, "a100-80", 384, 48, 50e9);

    (void)state;
    bloom.params = bloom.params_active = 176e9;
    struct train_shape shape = shape_of(&bloom);
    struct transfer t = transfer_checkpoint_write(&shape, &gang, 57.5e9);
    assert_true(law_error(t.bytes, 2.3e12) < 0.10);
    assert_true(law_error(t.time_s, 40.0) < 0.10);
    law_aids_free(&aids);
}

/* Adapters checkpoint alone; to come back they need their base too. */
static void adapter_checkpoints_are_small_but_need_their_base(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 50e9);
    struct train_shape shape = shape_of(catalogue_llm(aids.catalogue,
                                                      "llama-3-8b"));

    (void)state;
    shape.method = TRAIN_LORA;
    struct transfer write = transfer_checkpoint_write(&shape, &gang, 10e9);
    struct transfer read = transfer_checkpoint_read(&shape, &gang, 10e9);
    assert_true(write.bytes == 14.0 * 41943040.0);
    assert_true(read.storage_bytes > 16e9);
    assert_true(read.time_s > 20.0 * write.time_s);
    law_aids_free(&aids);
}

/* Young: sqrt(2 x 60 x 86400) = 3220 s; Daly takes 60 s off and adds the
 * second-order terms: 3220 (1 + 0.01863 / 3 + ...) - 60 = 3180. */
static void best_checkpoint_interval_is_youngs_refined_by_daly(void **state)
{
    (void)state;
    assert_true(fabs(outage_daly_s(60.0, 86400.0) -
                     3180.0) < 1.0);
    assert_true(outage_daly_s(600.0, 86400.0) >
                outage_daly_s(60.0, 86400.0));
    assert_true(outage_daly_s(300.0, 100.0) == 100.0);
}

static void faster_links_and_storage_never_slow_a_transfer(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "llama-3-70b");
    double last = 1e18;

    (void)state;
    for (double bps = 1e9; bps < 1e12; bps *= 2.0) {
        struct gang gang = law_gang(&aids, "a100-80", 32, 4, bps);
        struct gang other = law_gang(&aids, "a100-80", 16, 2, bps);
        double now = transfer_load_weights(llm, PRECISION_BF16, &gang,
                                           bps).time_s +
                     transfer_weight_sync(llm, PRECISION_BF16, &other,
                                          &gang).time_s;
        assert_true(now <= last);
        last = now;
    }
    law_aids_free(&aids);
}

static void every_start_up_time_names_its_source(void **state)
{
    (void)state;
    for (int i = 0; i < TRANSFER_START_COUNT; i++) {
        enum transfer_start start = (enum transfer_start)i;
        assert_true(transfer_start_s(start) > 0.0);
        assert_true(strlen(transfer_start_name(start)) > 0);
        assert_true(strlen(transfer_start_source(start)) > 20);
    }
    assert_true(transfer_start_s(TRANSFER_START_SERVE) >
                transfer_start_s(TRANSFER_START_SERVE_WAKE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_load_at_the_speedup_of_the_slowest_hop),
        cmocka_unit_test(offloading_moves_weights_and_optimizer),
        cmocka_unit_test(weight_sync_crosses_nics_only_between_gangs),
        cmocka_unit_test(checkpoint_of_bloom_takes_what_was_measured),
        cmocka_unit_test(adapter_checkpoints_are_small_but_need_their_base),
        cmocka_unit_test(best_checkpoint_interval_is_youngs_refined_by_daly),
        cmocka_unit_test(faster_links_and_storage_never_slow_a_transfer),
        cmocka_unit_test(every_start_up_time_names_its_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
