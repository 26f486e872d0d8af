/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_loader_test.c - input pipelines: measured rates and the slowest stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/laws/loader.h"
#include "tests/law_aids.h"

static const struct loader_supply plenty = {
    .storage_bps = 1e12, .cores = 1024.0, .core_speed = 1.0,
    .pcie_bps = 1e12, .processes = 1, .workers = 1,
};

/* EPYC 9B14, torchvision: 613, 1030, 1495 and 1596 images a second with 0, 2,
 * 4 and 8 workers. */
static void image_loading_matches_imread_benchmark(void **state)
{
    static const uint32_t workers[] = { 0, 2, 4, 8 };
    static const double images[] = { 612.5, 1030.3, 1495.4, 1595.5 };
    struct loader_item item = loader_item(LOADER_IMAGE, 500.0 * 375.0);

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct loader_supply supply = plenty;
        supply.workers = workers[i];
        struct loader_rate rate = loader_rate(&item, &supply, 1e6);
        assert_int_equal(rate.bottleneck, LOADER_CPU);
        assert_true(law_error(rate.items_per_s, images[i]) < 0.12);
    }
}

/* ResNet-50 takes 2,470 images a second on an A100 (DeepLearningExamples):
 * one loader of any number of workers starves it, 1 - 2.3 x 612.5 / 2470 =
 * 43% of the time; two processes' worth of cores do not. */
static void one_loader_starves_resnet_on_an_a100(void **state)
{
    struct loader_item item = loader_item(LOADER_IMAGE, 500.0 * 375.0);
    struct loader_supply supply = plenty;

    (void)state;
    supply.workers = 8;
    struct loader_rate rate = loader_rate(&item, &supply, 2470.0);
    assert_int_equal(rate.bottleneck, LOADER_CPU);
    assert_true(fabs(rate.stall_fraction - 0.43) < 0.005);
    supply.processes = 2;
    rate = loader_rate(&item, &supply, 2470.0);
    assert_int_equal(rate.bottleneck, LOADER_GPU);
    assert_true(rate.stall_fraction == 0.0);
}

/* Each stage in turn is made the slowest; it sets the pace exactly. */
static void slowest_stage_sets_the_speedup_and_is_named(void **state)
{
    struct loader_item item = { .core_s = 0.01, .storage_bytes = 1e6,
                                .gpu_bytes = 2e6 };
    struct loader_supply supply = plenty;

    (void)state;
    supply.storage_bps = 50e6;
    struct loader_rate rate = loader_rate(&item, &supply, 1e3);
    assert_int_equal(rate.bottleneck, LOADER_STORAGE);
    assert_true(fabs(rate.items_per_s - 50.0) < 1e-9);
    supply.storage_bps = 1e12;
    rate = loader_rate(&item, &supply, 1e3);
    assert_int_equal(rate.bottleneck, LOADER_CPU);
    assert_true(fabs(rate.items_per_s - 100.0) < 1e-9);
    supply.pcie_bps = 50e6;
    rate = loader_rate(&item, &supply, 1e3);
    assert_int_equal(rate.bottleneck, LOADER_PCIE);
    assert_true(fabs(rate.items_per_s - 25.0) < 1e-9);
    rate = loader_rate(&item, &supply, 10.0);
    assert_int_equal(rate.bottleneck, LOADER_GPU);
    assert_true(rate.stall_fraction == 0.0);
    for (int i = 0; i < LOADER_STAGE_COUNT; i++) {
        assert_true(rate.busy_fraction[i] > 0.0);
        assert_true(rate.busy_fraction[i] <= 1.0);
    }
}

static void workers_beyond_the_cores_add_nothing(void **state)
{
    struct loader_item item = loader_item(LOADER_TEXT, 2048.0);
    struct loader_supply supply = plenty;

    (void)state;
    supply.cores = 1.5;
    supply.workers = 4;
    double few = loader_rate(&item, &supply, 1e9).items_per_s;
    supply.cores = 1.0;
    assert_true(law_error(few, 1.5 * loader_rate(&item, &supply,
                                                 1e9).items_per_s) < 1e-9);
    assert_true(loader_worker_speedup(8) == loader_worker_speedup(4));
    assert_true(loader_worker_speedup(2) > loader_worker_speedup(1));
}

/* Two hundred images cost as much as one of 200 times the pixels. */
static void cost_of_an_item_is_proportional_to_its_size(void **state)
{
    (void)state;
    for (int k = LOADER_TOKENS; k <= LOADER_VIDEO; k++) {
        struct loader_item one = loader_item((enum loader_kind)k, 3.0);
        struct loader_item more = loader_item((enum loader_kind)k, 600.0);
        assert_true(law_error(more.core_s, 200.0 * one.core_s) < 1e-12);
        assert_true(law_error(more.storage_bytes,
                              200.0 * one.storage_bytes) < 1e-12);
        assert_true(law_error(more.gpu_bytes, 200.0 * one.gpu_bytes) <
                    1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_loading_matches_imread_benchmark),
        cmocka_unit_test(one_loader_starves_resnet_on_an_a100),
        cmocka_unit_test(slowest_stage_sets_the_speedup_and_is_named),
        cmocka_unit_test(workers_beyond_the_cores_add_nothing),
        cmocka_unit_test(cost_of_an_item_is_proportional_to_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
