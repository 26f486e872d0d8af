/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_loader_test.c - input pipelines: measured rates and the slowest stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/laws/loader.h"
#include "tests/aid/law_aids.h"

static const struct loader_supply plenty = {
    .storage_bps = 1e12, .cores = 1024.0, .core_speed = 1.0,
    .pcie_bps = 1e12, .processes = 1, .workers = 1,
};

/* imread_benchmark, torchvision, with 0, 2, 4, 8 workers: EPYC 9B14, and Xeon
 * 8581C, whose core is 709 / 613 as fast.  4 workers were kept aside. */
static void image_loading_matches_imread_benchmark(void **state)
{
    static const uint32_t workers[] = { 0, 2, 4, 8 };
    static const double images[2][4] = {
        { 612.5, 1030.3, 1495.4, 1595.5 }, { 708.6, 1115.2, 1611.6, 1609.3 }
    };
    static const double limit[] = { 0.005, 0.05, 0.075, 0.005 };
    struct loader_item item = loader_item(LOADER_IMAGE, 500.0 * 375.0);

    (void)state;
    for (int i = 0; i < 8; i++) {
        struct loader_supply supply = plenty;
        supply.workers = workers[i % 4];
        supply.core_speed = images[i / 4][0] / images[0][0];
        struct loader_rate rate = loader_rate(&item, &supply, 1e6);
        assert_int_equal(rate.bottleneck, LOADER_CPU);
        assert_true(law_error(rate.items_per_s, images[i / 4][i % 4]) <
                    limit[i % 4]);
    }
}

/* pytorch PR 8371, 16 workers and batches of 256: an epoch of 196 batches took 426 s, of
 * which 37.3 s until the first one.  The other 195 say that a worker takes 31.9 s for a
 * batch; nothing was chosen on them.  16 spawned workers that take 3.3 s each were ready
 * after "approximately 50 seconds" (pytorch issue 153594). */
static void new_workers_take_as_long_as_measured(void **state)
{
    struct loader_item item = { .core_s = 16 * (426.3 - 37.3) / 195 / 256 };
    struct loader_item light = { .core_s = 1e-6 };

    (void)state;
    double fork_s = loader_restart_s(&item, 16, 0, 256, 1);
    assert_true(law_error(fork_s, 37.3) < 0.16);
    assert_true(loader_restart_s(&item, 4, 0, 256, 2) == fork_s / 2);
    assert_true(law_error(loader_restart_s(&light, 16, 3.3, 256, 1), 50) < 0.06);
    assert_true(loader_restart_s(&item, 0, 3.3, 256, 1) == 0);
}

/* Chosen on dask-cuda PR 98.  Kept aside: GTX 280, 4.5 of 5.9 GB/s, the best of several
 * ways (johanneshabich.blogspot.com, 2009), which is faster than the law by 37%. */
static void pageable_memory_is_at_half_the_rate(void **state)
{
    (void)state;
    assert_true(law_error(LOADER_PAGEABLE_FRACTION * 11.5, 5.5) < 1e-9);
    assert_true(law_error(LOADER_PAGEABLE_FRACTION * 5.9, 4.5) < 0.38);
}

/* A clip takes a core 12 s: 32 workers prepare 32 times what one does.  Images
 * of 0.19 million pixels end at what one process collects. */
static void heavy_items_scale_with_the_cores(void **state)
{
    struct loader_item clip = loader_item(LOADER_VIDEO, 60.0);
    struct loader_supply supply = plenty;

    (void)state;
    double one = loader_rate(&clip, &supply, 1e9).items_per_s;
    supply.workers = 32;
    assert_true(law_error(loader_rate(&clip, &supply, 1e9).items_per_s,
                          32.0 * one) < 1e-9);
    struct loader_item image = loader_item(LOADER_IMAGE, 500.0 * 375.0);
    double many = loader_rate(&image, &supply, 1e9).items_per_s;
    supply.workers = 8;
    assert_true(many == loader_rate(&image, &supply, 1e9).items_per_s);
    supply.processes = 3;
    assert_true(law_error(loader_rate(&image, &supply, 1e9).items_per_s,
                          3.0 * many) < 1e-9);
}

/* ResNet-50 takes 2,470 images a second on an A100 (DeepLearningExamples):
 * one loader of any number of workers starves it, 1 - 1602 / 2470 = 35% of the
 * time; two processes' worth of cores do not. */
static void one_loader_starves_resnet_on_an_a100(void **state)
{
    struct loader_item item = loader_item(LOADER_IMAGE, 500.0 * 375.0);
    struct loader_supply supply = plenty;

    (void)state;
    supply.workers = 8;
    struct loader_rate rate = loader_rate(&item, &supply, 2470.0);
    assert_int_equal(rate.bottleneck, LOADER_CPU);
    assert_true(fabs(rate.stall_fraction - 0.351) < 0.005);
    supply.processes = 2;
    rate = loader_rate(&item, &supply, 2470.0);
    assert_int_equal(rate.bottleneck, LOADER_GPU);
    assert_true(rate.stall_fraction == 0.0);
}

/* Each stage in turn is made the slowest; it sets the rate exactly. */
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
    supply.cores = 1024.0;
    assert_true(law_error(loader_rate(&item, &supply, 1e9).items_per_s,
                          4.0 / 1.5 * few) < 1e-9);
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

/* What the sources above the constants say, of a sequence of 2048 tokens, an image of 500 x 375
 * pixels and 10 s of video:
 * tokens: 2048 of 8 B copied at 1 GB/s; 4 B each stored;
 * text:   2048 at 1.49e6 a second, 6.55 B stored for each 1.49 tokens;
 * image:  one of 612.5 a second; 138e9 B / 1281167 files; 3 B a pixel;
 * video:  10 s at 5.1 times real time; 5 Mb/s; a frame of 224 x 224 x 3 B each second.
 * Images and videos are files of their own, handed over in 0.35 ms and collected at 1602/s. */
static void an_item_costs_what_its_sources_say(void **state)
{
    static const struct {
        double size, core_s, storage_bytes, gpu_bytes;
        bool apart;
    } row[] = {
        [LOADER_TOKENS] = { 2048, 1.6384e-5, 8192, 16384, false },
        [LOADER_TEXT] = { 2048, 2048 / 1.49e6, 2048 * 6.55 / 1.49, 16384, false },
        [LOADER_IMAGE] = { 187500, 1 / 612.5, 138e9 / 1281167, 562500, true },
        [LOADER_VIDEO] = { 10, 10 / 5.1, 6.25e6, 1505280, true },
    };

    (void)state;
    for (int k = LOADER_TOKENS; k <= LOADER_VIDEO; k++) {
        struct loader_item item = loader_item((enum loader_kind)k, row[k].size);
        assert_true(law_error(item.core_s, row[k].core_s) < 1e-12);
        assert_true(law_error(item.storage_bytes, row[k].storage_bytes) < 1e-12);
        assert_true(law_error(item.gpu_bytes, row[k].gpu_bytes) < 1e-12);
        assert_true(item.reads == (row[k].apart ? 1.0 : 0.0));
        assert_true(item.handover_s == (row[k].apart ? 0.35e-3 : 0.0));
        assert_true(item.collect_s == (row[k].apart ? 1.0 / 1602.0 : 0.0));
        assert_int_equal(loader_usual_files((enum loader_kind)k),
                         row[k].apart ? LOADER_ITEMS : LOADER_SHARDS);
    }
    assert_true(loader_receive_core_s(42e9) == 8);      /* 42 Gb/s on one core */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_loading_matches_imread_benchmark),
        cmocka_unit_test(heavy_items_scale_with_the_cores),
        cmocka_unit_test(new_workers_take_as_long_as_measured),
        cmocka_unit_test(pageable_memory_is_at_half_the_rate),
        cmocka_unit_test(one_loader_starves_resnet_on_an_a100),
        cmocka_unit_test(slowest_stage_sets_the_speedup_and_is_named),
        cmocka_unit_test(workers_beyond_the_cores_add_nothing),
        cmocka_unit_test(an_item_costs_what_its_sources_say),
        cmocka_unit_test(cost_of_an_item_is_proportional_to_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
