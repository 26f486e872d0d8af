/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * comm.h - time and traffic of collectives: alpha-beta over rings.
 *
 * Ring all-reduce 2(n-1)a + 2(n-1)/n S/b (Thakur et al. 2005; Patarasuk and
 * Yuan 2009); reduce-scatter and all-gather half of it; over several nodes
 * reduce-scatter inside, all-reduce across, all-gather inside.  S is what
 * every GPU contributes (all-reduce, all-to-all) or ends with (all-gather).
 */
#ifndef MODELS_LAWS_COMM_H
#define MODELS_LAWS_COMM_H

#include <stdint.h>

struct gang;

enum comm_op {
    COMM_ALL_REDUCE, COMM_ALL_GATHER, COMM_REDUCE_SCATTER, COMM_ALL_TO_ALL,
    COMM_P2P, COMM_OP_COUNT
};

const char *comm_op_name(enum comm_op op);

/* Among n equal peers on links of one speed. */
double comm_ring_s(enum comm_op op, uint32_t n, double bytes, double bps,
                   double latency_s);
/* Among all GPUs of a gang. */
double comm_gang_s(enum comm_op op, const struct gang *gang, double bytes);
/* Among `n` neighbouring GPUs: inside a node where they fit in one. */
double comm_group_s(enum comm_op op, const struct gang *gang, uint32_t n,
                    double bytes);
/* Among n GPUs that each stand `stride` apart, all stride groups at once: the
 * data-parallel groups beside tensor parallel groups of `stride`. */
double comm_strided_s(enum comm_op op, const struct gang *gang, uint32_t n,
                      uint32_t stride, double bytes);
/* What leaves one node over its NICs, one direction, for comm_strided_s. */
double comm_strided_inter_bytes(enum comm_op op, const struct gang *gang,
                                uint32_t n, uint32_t stride, double bytes);
/* The same for comm_gang_s. */
double comm_inter_bytes(enum comm_op op, const struct gang *gang,
                        double bytes);
/* Usable ring rate of one GPU inside its node among n: PCIe shares uplinks. */
double comm_intra_bps(const struct gang *gang, uint32_t n);
uint32_t comm_gpus_per_node(const struct gang *gang);

#endif
