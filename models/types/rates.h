/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rates.h - the use of links and cores by one unit of a phase's work.
 *
 * A law fills the struct; the fabric turns it into flows.  Neither includes
 * the other.
 */
#ifndef MODELS_TYPES_RATES_H
#define MODELS_TYPES_RATES_H

/* Stands for a rate that the file does not give; it never limits a phase. */
#define FABRIC_UNLIMITED_BPS 1e15

/* Per unit of work, spread evenly over the nodes of the lease. */
struct demand_rates {
    double core_s;              /* core-seconds */
    double storage_bytes;       /* read or written on shared storage */
    double nvme_bytes;          /* read or written on drives of the nodes */
    double nvme_reads;          /* random accesses to those drives */
    double pcie_bytes;          /* host to device or back, all GPUs */
    double network_bytes;       /* per node, over its NIC */
};

#endif
