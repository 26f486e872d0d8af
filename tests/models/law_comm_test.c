/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_comm_test.c - collectives, by hand and against nccl-tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/laws/comm.h"
#include "tests/aid/law_aids.h"

/* Four peers, 1 GB at 100 GB/s, 10 us a hop: all-reduce 6 hops and 3/2 of
 * 10 ms = 15.06 ms; all-gather half; p2p 10.01 ms; one peer nothing. */
static void rings_cost_what_the_formula_says(void **state)
{
    (void)state;
    assert_true(fabs(comm_ring_s(COMM_ALL_REDUCE, 4, 1e9, 100e9, 1e-5) -
                     0.01506) < 1e-12);
    assert_true(fabs(comm_ring_s(COMM_ALL_GATHER, 4, 1e9, 100e9, 1e-5) -
                     0.00753) < 1e-12);
    assert_true(fabs(comm_ring_s(COMM_P2P, 2, 1e9, 100e9, 1e-5) -
                     0.01001) < 1e-12);
    assert_true(comm_ring_s(COMM_ALL_REDUCE, 1, 1e9, 100e9, 1e-5) == 0.0);
}

/* nccl-tests on 8 x A100 SXM4 (ml-engineering 744d01e): 1 GiB 8.204 ms,
 * 16 GiB 127.997 ms, 512 MiB 4.218 ms.  The law's table ends at 512 MiB,
 * and beyond goes on in proportion. */
static void large_all_reduces_on_a100_match_nccl_tests(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 0.0);
    double gib = 1073741824.0;

    (void)state;
    assert_true(law_error(comm_gang_s(COMM_ALL_REDUCE, &gang, gib),
                          8.2039e-3) < 0.05);
    assert_true(law_error(comm_gang_s(COMM_ALL_REDUCE, &gang, 16.0 * gib),
                          127.997e-3) < 0.07);
    assert_true(law_error(comm_gang_s(COMM_ALL_REDUCE, &gang, gib / 2.0),
                          4.2184e-3) < 0.05);
    law_aids_free(&aids);
}

/* L40S over PCIe: bus rates 20.1, 5.9 and 2.1 GB/s at 2, 4 and 8 GPUs; RTX
 * PRO 6000 keeps 24.7 at 8.  The law stands between: only the fall is sure. */
static void pcie_collectives_collapse_with_the_number_of_gpus(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "l40s", 8, 1, 0.0);

    (void)state;
    double two = comm_intra_bps(&gang, 2);
    double four = comm_intra_bps(&gang, 4);
    double eight = comm_intra_bps(&gang, 8);
    assert_true(two > four && four > eight);
    assert_true(law_error(two, 20.1e9) < 0.10);
    assert_true(four > 5.9e9 && four < 26.4e9);
    assert_true(eight > 2.1e9 && eight < 24.7e9);
    law_aids_free(&aids);
}

/* Two nodes of 8, 100 GB/s of NICs each, links of 200 GB/s, no latency, 8 GB:
 * inside 2 x 7/8 x 8 / 200 = 70 ms, across 2 x 1/2 x (8/8) / (100/8) = 80. */
static void two_levels_add_inside_and_across(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "v100-32", 16, 2, 100e9);

    (void)state;
    gang.intra_bps = 200e9;     /* of a link that no table has */
    gang.intra_latency_s = gang.inter_latency_s = 0.0;
    assert_true(fabs(comm_gang_s(COMM_ALL_REDUCE, &gang, 8e9) - 0.150) <
                1e-9);
    assert_true(comm_inter_bytes(COMM_ALL_REDUCE, &gang, 8e9) == 8e9);
    gang.nodes = 1;
    assert_true(comm_inter_bytes(COMM_ALL_REDUCE, &gang, 8e9) == 0.0);
    law_aids_free(&aids);
}

/* Eight tensor-parallel GPUs fill a node, so their data-parallel partners all
 * sit elsewhere: 2 x 3/4 x 1 GB / (100 / 8 GB/s) = 120 ms over 4 nodes. */
/* On one node all members are near, however far apart: no NIC is crossed. */
static void strides_within_a_node_change_nothing(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "h100", 8, 1, 1e9);

    (void)state;
    for (int op = COMM_ALL_REDUCE; op <= COMM_P2P; op++)
        for (uint32_t n = 1; n <= 8; n++)
            for (uint32_t stride = 1; stride <= 8; stride++)
                assert_true(comm_strided_s(op, &gang, n, stride, 1e8) ==
                            comm_strided_s(op, &gang, n, 1, 1e8));
    law_aids_free(&aids);
}

static void strided_groups_share_the_nics_of_their_node(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 32, 4, 100e9);

    (void)state;
    gang.inter_latency_s = 0.0;
    assert_true(fabs(comm_strided_s(COMM_ALL_REDUCE, &gang, 4, 8, 1e9) -
                     0.120) < 1e-9);
    law_aids_free(&aids);
}

static void time_falls_with_bandwidth_and_grows_with_bytes(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "h100", 32, 4, 200e9);

    (void)state;
    for (int op = 0; op < COMM_OP_COUNT; op++) {
        double last = 0.0;
        for (double bytes = 1e3; bytes < 1e11; bytes *= 10.0) {
            double now = comm_gang_s((enum comm_op)op, &gang, bytes);
            struct gang fast = gang;
            fast.inter_bps *= 2.0;
            fast.intra_bps *= 2.0;
            assert_true(now > last);
            assert_true(comm_gang_s((enum comm_op)op, &fast, bytes) < now);
            last = now;
        }
    }
    law_aids_free(&aids);
}

/* aiconfigurator 095f58a51, nccl_perf, microseconds; odd powers of the table's
 * systems, and systems that it does not have. */
static void collectives_match_measured_ones(void **state)
{
    static const struct {
        const char *gpu;
        enum comm_op op;
        uint32_t n;
        double bytes, us;
    } row[] = {
        { "a100-80", COMM_ALL_REDUCE, 8, 1 << 20, 38.85 },
        { "a100-80", COMM_ALL_REDUCE, 4, 1 << 28, 1926.6 },
        { "h100", COMM_ALL_REDUCE, 8, 1 << 24, 121.91 },
        { "h100", COMM_ALL_TO_ALL, 8, 1 << 28, 763.91 },
        { "h100", COMM_REDUCE_SCATTER, 2, 1 << 26, 169.09 },
        { "b200", COMM_ALL_REDUCE, 2, 1 << 28, 521.29 },
        { "rtx-pro-6000", COMM_ALL_REDUCE, 4, 1 << 26, 4032.04 },
    };
    struct law_aids aids = law_aids_new();

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct gang gang = law_gang(&aids, row[i].gpu, row[i].n, 1, 0.0);
        assert_true(law_error(1e6 * comm_gang_s(row[i].op, &gang,
                                                row[i].bytes),
                              row[i].us) < 0.12);
    }
    law_aids_free(&aids);
}

/* Two RTX PRO 6000 on PCIe 5, where a GPU copies 52 GB/s: an all-reduce of 512 MiB was measured
 * to take 13,900 us, and one of 512 B 6.34.  Slots of 26 GB/s take twice as long for what
 * is beyond the latency: 6.34 + 2 x (13900 - 6.34) = 27,793.66 us. */
static void measured_collectives_over_pcie_follow_the_rate_of_a_slot(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "rtx-pro-6000", 2, 1, 0.0);

    (void)state;
    assert_true(law_error(1e6 * comm_gang_s(COMM_ALL_REDUCE, &gang, 512 << 20), 13900) < 1e-6);
    gang.intra_bps = 26e9;
    assert_true(law_error(1e6 * comm_gang_s(COMM_ALL_REDUCE, &gang, 512 << 20), 27793.66) <
                1e-6);
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_cost_what_the_formula_says),
        cmocka_unit_test(collectives_match_measured_ones),
        cmocka_unit_test(large_all_reduces_on_a100_match_nccl_tests),
        cmocka_unit_test(pcie_collectives_collapse_with_the_number_of_gpus),
        cmocka_unit_test(measured_collectives_over_pcie_follow_the_rate_of_a_slot),
        cmocka_unit_test(two_levels_add_inside_and_across),
        cmocka_unit_test(strides_within_a_node_change_nothing),
        cmocka_unit_test(strided_groups_share_the_nics_of_their_node),
        cmocka_unit_test(time_falls_with_bandwidth_and_grows_with_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
