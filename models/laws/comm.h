/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * comm.h - time and traffic of collectives: alpha-beta over rings.
 *
 * A ring all-reduce takes 2(n-1)a + 2(n-1)/n S/b (Thakur et al. 2005; Patarasuk
 * and Yuan 2009); reduce-scatter and all-gather take half of it.  Over several
 * nodes an all-reduce is a reduce-scatter inside each node, an all-reduce
 * between nodes and an all-gather inside.  `bytes` is S: what every GPU
 * contributes (all-reduce, all-to-all) or ends with (all-gather).
 *
 * Functions ending in _s return seconds; 0 for a single GPU.
 */
#ifndef MODELS_LAWS_COMM_H
#define MODELS_LAWS_COMM_H

#include <stdint.h>

struct gang;

enum comm_op {
    COMM_ALL_REDUCE, COMM_ALL_GATHER, COMM_REDUCE_SCATTER, COMM_ALL_TO_ALL,
    COMM_P2P, COMM_OP_COUNT
};


/* Time among n peers on links of `bps` bytes per second and `latency_s`. */
double comm_ring_s(enum comm_op op, uint32_t n, double bytes, double bps,
                   double latency_s);
/* Time among all GPUs of a gang. */
double comm_gang_s(enum comm_op op, const struct gang *gang, double bytes);
/* Time among n neighbouring GPUs; they are in one node if one holds them. */
double comm_group_s(enum comm_op op, const struct gang *gang, uint32_t n,
                    double bytes);
/* Time among n GPUs whose indexes are `stride` apart, while all `stride` such
 * groups communicate at once.  So the data-parallel groups lie, if tensor
 * parallelism has the degree `stride`. */
double comm_strided_s(enum comm_op op, const struct gang *gang, uint32_t n,
                      uint32_t stride, double bytes);
/* Returns the bytes that leave one node over its NICs, in one direction,
 * during comm_strided_s. */
double comm_strided_inter_bytes(enum comm_op op, const struct gang *gang,
                                uint32_t n, uint32_t stride, double bytes);
/* Returns the same for comm_gang_s. */
double comm_inter_bytes(enum comm_op op, const struct gang *gang,
                        double bytes);
/* Returns the ring rate of one GPU among n in its node, in bytes per second.
 * Over PCIe it falls with n, because GPUs share uplinks. */
double comm_intra_bps(const struct gang *gang, uint32_t n);
/* Returns the rate of one slot of the gang's GPUs; 0: not known. */
double comm_pcie_bps(const struct gang *gang);
/* Returns gpus / nodes, rounded up. */
uint32_t comm_gpus_per_node(const struct gang *gang);

#endif
