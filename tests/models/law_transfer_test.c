/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_transfer_test.c - checkpoints and start-up times, by hand. */
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
    struct transfer t = transfer_checkpoint_write(transfer_checkpoint_bytes(&shape), &gang,
                                                  57.5e9);
    assert_true(law_error(t.bytes, 2.3e12) < 0.10);
    assert_true(law_error(t.time_s, 40.0) < 0.10);
    law_aids_free(&aids);
}

static void checkpoints_of_adapters_leave_out_their_base(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 50e9);
    struct train_shape shape = shape_of(catalogue_llm(aids.catalogue,
                                                      "llama-3-8b"));

    (void)state;
    shape.method = TRAIN_LORA;
    struct transfer write = transfer_checkpoint_write(transfer_checkpoint_bytes(&shape), &gang,
                                                      10e9);
    assert_true(write.bytes == 14.0 * 41943040.0);
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

static void faster_storage_never_slows_a_checkpoint(void **state)
{
    struct law_aids aids = law_aids_new();
    struct train_shape shape = shape_of(catalogue_llm(aids.catalogue, "llama-3-70b"));
    double last = 1e18;

    (void)state;
    for (double bps = 1e9; bps < 1e12; bps *= 2.0) {
        struct gang gang = law_gang(&aids, "a100-80", 32, 4, bps);
        double bytes = transfer_checkpoint_bytes(&shape);
        double now = transfer_checkpoint_write(bytes, &gang, bps).time_s;
        assert_true(now <= last);
        last = now;
    }
    law_aids_free(&aids);
}

/* 1.2 TB of 4 nodes, 0.3 TB each: 300 s by links of 1 GB/s, 120 s by a storage of 10 GB/s, and
 * 1.2 TB / 32 GPUs by slots.  The slowest sets the time.  Without links nothing is sent. */
static void a_checkpoint_takes_what_its_slowest_part_takes(void **state)
{
    static const struct { double inter_bps, storage_bps, time_s; } row[] = {
        { 1e9, 1e10, 300 }, { 1e11, 1e10, 120 }, { 1e9, 2e9, 600 }, { 2.5e9, 1e10, 120 },
        { 2e9, 1e10, 150 }, { 0, 1e10, 120 },
    };
    struct law_aids aids = law_aids_new();

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct gang gang = law_gang(&aids, "a100-80", 32, 4, row[i].inter_bps);
        gang.gpu = &(struct gpu_type){ .pcie_bps = 1e10 };
        gang.inter_bps = row[i].inter_bps;
        struct transfer t = transfer_checkpoint_write(1.2e12, &gang, row[i].storage_bps);
        assert_true(law_error(t.time_s, row[i].time_s) < 1e-12);
        assert_true(t.inter_bytes_per_node == 3e11 && t.pcie_bytes_per_gpu == 3.75e10);
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
        cmocka_unit_test(checkpoint_of_bloom_takes_what_was_measured),
        cmocka_unit_test(checkpoints_of_adapters_leave_out_their_base),
        cmocka_unit_test(best_checkpoint_interval_is_youngs_refined_by_daly),
        cmocka_unit_test(faster_storage_never_slows_a_checkpoint),
        cmocka_unit_test(a_checkpoint_takes_what_its_slowest_part_takes),
        cmocka_unit_test(every_start_up_time_names_its_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
