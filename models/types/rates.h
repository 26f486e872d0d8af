/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates.h - what one unit of a phase's work takes of links and of cores.
 *
 * A law fills it and the fabric spends it; neither needs to know the other.
 */
#ifndef MODELS_TYPES_RATES_H
#define MODELS_TYPES_RATES_H

/* Stands for a rate that the file does not give: never what limits. */
#define FABRIC_UNLIMITED_BPS 1e15

/* What one unit of a phase's work takes; spread evenly over the nodes. */
struct demand_rates {
    double core_s;              /* core-seconds */
    double storage_bytes;       /* read or written on shared storage */
    double nvme_bytes;          /* read or written on drives of the nodes */
    double nvme_reads;          /* random accesses to those drives */
    double pcie_bytes;          /* host to device or back, all GPUs */
    double network_bytes;       /* over the NIC of each node, per node */
};

#endif
