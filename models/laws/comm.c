/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * comm.c - time and traffic of collectives.
 *
 * Collectives of one node come from a table of measurements where its link was
 * measured, else from the ring's formula.  Between nodes they are rings over
 * the NICs, one ring for each GPU of a node (two levels). All sizes are bytes
 * of the whole buffer that one member ends up with or starts from, see comm.h.
 */
#include "models/laws/comm.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm_table.h"
#include "models/types/gang.h"

double comm_ring_s(enum comm_op op, uint32_t n, double bytes, double bps,
                   double latency_s)
{
    assert(bytes >= 0.0 && n > 0);
    if (n == 1) {
        return 0.0;
    }
    assert(bps > 0.0);
    double hops = n - 1.0;
    double share = hops / n * bytes / bps;

    switch (op) {
    case COMM_ALL_REDUCE:
        return 2.0 * (hops * latency_s + share);
    case COMM_ALL_GATHER:
    case COMM_REDUCE_SCATTER:
    case COMM_ALL_TO_ALL:
        return hops * latency_s + share;
    case COMM_P2P:
        return latency_s + bytes / bps;
    case COMM_OP_COUNT:
        break;
    }
    assert(false && "a collective");
    return 0.0;
}

uint32_t comm_gpus_per_node(const struct gang *gang)
{
    assert(gang && gang->nodes > 0);
    return (gang->gpus + gang->nodes - 1) / gang->nodes;
}

double comm_pcie_bps(const struct gang *gang)
{
    assert(gang != NULL && gang->pcie_bps >= 0.0);
    if (gang->pcie_bps > 0.0) {
        return gang->pcie_bps;
    }
    return gang->gpu != NULL ? gang->gpu->pcie_bps : 0.0;
}

/* All-reduce bus rate over PCIe alone, as a share of one GPU's copy rate, at
 * 2, 4 and 8 GPUs: geometric means of L40S on PCIe 4 (20.1, 5.9, 2.1 of
 * 24 GB/s) and RTX PRO 6000 on PCIe 5 (38.6, 26.4, 24.7 of 54 GB/s), measured
 * collectives of aiconfigurator 095f58a51.  Hosts differ by a factor of five
 * at 8 GPUs; a gang's own intra_bps can say better. */
static const double pcie_share[4] = { 1.0, 0.77, 0.35, 0.20 };

/* Without NVLink GPUs share PCIe, of which each gets less the more there are:
 * the measured shares are for 1, 2, 4 and 8, and between these by the
 * logarithm. */
double comm_intra_bps(const struct gang *gang, uint32_t n)
{
    assert(gang && n > 0);
    if (!gang->gpu || gang->gpu->nvlink_bps > 0.0) {
        return gang->intra_bps;
    }
    double at = fmin(3.0, log2((double)n));
    int low = (int)at < 3 ? (int)at : 2;
    double part = at - low;

    return gang->intra_bps * (pcie_share[low] +
                              part * (pcie_share[low + 1] - pcie_share[low]));
}

/* Links whose collectives were measured, and the rate of one GPU there that a
 * gang's own rate is held against. */
static const struct measured {
    const char *link;
    double bps;
} measured[COMM_TABLE_LINKS] = {
    { "nvlink3", 226e9 }, { "nvlink4", 384e9 }, { "nvlink5", 632e9 },
    { "pcie5", 52e9 },
};

/* Returns the row of the table for the link between the gang's GPUs; -1: it
 * was not measured. */
static int find_link(const struct gang *gang)
{
    assert(gang != NULL);
    assert(gang->gpu != NULL);
    const struct gpu_type *gpu = gang->gpu;

    if (gpu == NULL || gpu->pcie == NULL || gpu->nvlink == NULL) {
        return -1;
    }
    const char *name = gpu->nvlink_bps > 0.0 ? gpu->nvlink : gpu->pcie;

    for (int i = 0; i < COMM_TABLE_LINKS; i++) {
        if (strcmp(measured[i].link, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Microseconds, between two sizes straight in both logarithms; beyond the
 * last in proportion. */
static double interpolate_us(const float *us, double bytes)
{
    assert(us != NULL);
    assert(bytes >= 0.0);
    double at = bytes > 512.0 ? log2(bytes / 512.0) / 2.0 : 0.0;
    int last = COMM_TABLE_SIZES - 1;

    if (at >= last) {
        return us[last] * exp2(2.0 * (at - last));
    }
    int low = (int)at;

    return us[low] * pow((double)us[low + 1] / us[low], at - low);
}

/* Scales a measured time to this link and this number of GPUs.  The time of the smallest
 * message is latency: among more than 8 GPUs it grows with the logarithm of their number.  The
 * rest scales with the link's rate, and beyond 8 GPUs as the share of a ring. */
static double time_measured(int link, enum comm_op op, const struct gang *gang,
                            uint32_t n, double bytes)
{
    assert(link >= 0 && link < COMM_TABLE_LINKS);
    assert(n >= 2);
    assert(bytes >= 0.0);
    const float(*rows)[COMM_TABLE_SIZES] = comm_table_us[link][op];
    double at = fmin(log2((double)n), 3.0) - 1.0;
    int low = at < 1.0 ? 0 : 1;
    double part = at - low;
    double least = rows[low][0] + part * ((double)rows[low + 1][0] -
                                          rows[low][0]);
    double one = interpolate_us(rows[low], bytes);
    double all = one + part * (interpolate_us(rows[low + 1], bytes) - one);
    double rate = measured[link].bps / gang->intra_bps;

    if (n > 8) {
        least *= log2((double)n) / 3.0;
        rate *= (n - 1.0) / n / (7.0 / 8.0);
    }
    return (least + fmax(0.0, all - least) * rate) * 1e-6;
}

/* Returns the seconds of a collective among n GPUs of one node: scaled from a measurement
 * where the link has one (comm_table.h), else by a ring. */
static double time_inside(enum comm_op op, const struct gang *gang, uint32_t n,
                          double bytes)
{
    assert(gang != NULL);
    assert(n > 0);
    assert(bytes >= 0.0);
    int link = op == COMM_P2P || n < 2 ? -1 : find_link(gang);

    if (link >= 0) {
        return time_measured(link, op, gang, n, bytes);
    }
    return comm_ring_s(op, n, bytes, comm_intra_bps(gang, n),
                       gang->intra_latency_s);
}

/* What stays on a node and what leaves it move at once. */
static double time_all_to_all(const struct gang *gang, uint32_t n,
                              uint32_t local, double bytes)
{
    assert(gang != NULL && gang->nodes > 0);
    assert(local > 0);
    assert(bytes >= 0.0);
    double per_gpu = gang->inter_bps / comm_gpus_per_node(gang);
    double away = (double)(n - local) / n * bytes;
    double inside = time_inside(COMM_ALL_TO_ALL, gang, local,
                                bytes * local / n);

    return fmax(inside, away / per_gpu +
                (double)(n - local) * gang->inter_latency_s);
}

/* `local` members of the group share a node, n / local nodes take part. */
static double time_two_levels(enum comm_op op, const struct gang *gang,
                              uint32_t n, uint32_t local, double bytes)
{
    assert(gang != NULL && gang->nodes > 0);
    assert(local > 0 && local <= n);
    assert(bytes >= 0.0);
    uint32_t groups = (n + local - 1) / local;
    double per_gpu = gang->inter_bps / comm_gpus_per_node(gang);
    double across = comm_ring_s(op, groups, bytes / local, per_gpu,
                                gang->inter_latency_s);

    if (op == COMM_ALL_REDUCE) {
        return across + time_inside(COMM_REDUCE_SCATTER, gang, local, bytes) +
               time_inside(COMM_ALL_GATHER, gang, local, bytes);
    }
    return across + time_inside(op, gang, local, bytes);
}

/* Members of a group are `stride` GPUs apart, which decides how many share a node. */
double comm_strided_s(enum comm_op op, const struct gang *gang, uint32_t n,
                      uint32_t stride, double bytes)
{
    assert(gang && n > 0 && stride > 0);
    uint32_t per_node = comm_gpus_per_node(gang);
    uint32_t local = per_node / stride;

    if (local < 1) {
        local = 1;
    }
    /* All members are on one node: the gang has no other, or they stand close enough. */
    if (gang->nodes == 1 || local >= n) {
        return time_inside(op, gang, n, bytes);
    }
    if (op == COMM_P2P) {
        return comm_ring_s(op, 2, bytes, gang->inter_bps / per_node,
                           gang->inter_latency_s);
    }
    if (op == COMM_ALL_TO_ALL) {
        return time_all_to_all(gang, n, local, bytes);
    }
    return time_two_levels(op, gang, n, local, bytes);
}

double comm_group_s(enum comm_op op, const struct gang *gang, uint32_t n,
                    double bytes)
{
    assert(gang != NULL);
    assert(n > 0);
    assert(bytes >= 0.0);
    return comm_strided_s(op, gang, n, 1, bytes);
}

double comm_gang_s(enum comm_op op, const struct gang *gang, double bytes)
{
    assert(gang && gang->gpus > 0);
    return comm_strided_s(op, gang, gang->gpus, 1, bytes);
}

/* In units of the bytes of the ring: what one member sends in all. */
static double count_ring_traffic(enum comm_op op, double n)
{
    switch (op) {
    case COMM_ALL_REDUCE:
        return 2.0 * (n - 1.0) / n;
    case COMM_ALL_GATHER:
    case COMM_REDUCE_SCATTER:
        return (n - 1.0) / n;
    case COMM_ALL_TO_ALL:
    case COMM_P2P:
        return 1.0;
    case COMM_OP_COUNT:
        break;
    }
    assert(false && "a collective");
    return 0.0;
}

/* Bytes that leave a node.  Ranks of a group that are on one node send once
 * between nodes; all groups of the node do so at the same time. */
double comm_strided_inter_bytes(enum comm_op op, const struct gang *gang,
                                uint32_t n, uint32_t stride, double bytes)
{
    assert(gang && n > 0 && stride > 0 && bytes >= 0.0);
    uint32_t per_node = comm_gpus_per_node(gang);
    uint32_t local = per_node / stride > 1 ? per_node / stride : 1;

    if (gang->nodes == 1 || local >= n) {
        return 0.0;
    }
    double groups = ceil((double)n / local);

    if (op == COMM_P2P) {
        return bytes;
    }
    if (op == COMM_ALL_TO_ALL) {
        return (double)(n - local) / n * bytes * per_node;
    }
    return count_ring_traffic(op, groups) * bytes / local * per_node;
}

double comm_inter_bytes(enum comm_op op, const struct gang *gang,
                        double bytes)
{
    assert(gang && gang->gpus > 0);
    return comm_strided_inter_bytes(op, gang, gang->gpus, 1, bytes);
}
