/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster.h - nodes, GPUs, cores, memory: what exists, and what is taken.
 *
 * A cluster_spec is what the file says: read once, shared by all trials.  A
 * cluster is its state in one trial.  Invariant: every GPU is free or taken
 * once, or in parts that add up to one GPU at most; cores and memory of a node
 * never exceed what it has.  Nodes are numbered from 0 in file order, group
 * after group.
 */
#ifndef MODELS_CLUSTER_CLUSTER_H
#define MODELS_CLUSTER_CLUSTER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/cluster/free_index.h"
#include "models/types/placement.h"

struct arena;
struct catalogue;
struct conf_node;
struct conf_schema;
struct time_series;
struct cpu_type;
struct err;
struct gpu_type;
struct link_type;
struct outage_spec;
struct price;
struct rent_spec;
struct reclaimable;

/* Cores and memory of a node whose file names no CPU (traces that know GPUs
 * only): never what limits, and in no total. */
#define CLUSTER_CORES_UNLIMITED (1u << 20)
#define CLUSTER_MEMORY_UNLIMITED (INT64_C(1) << 50)

/* Nodes that are alike.  `pool` is an index into cluster_spec.pool_name.
 * GPU g stands behind PCIe switch g / (gpus / pcie_switches) and in NVLink
 * domain g / nvlink_domain. */
struct node_group {
    const char *name;
    uint32_t pool;
    uint32_t first_node, node_count;
    const struct gpu_type *gpu;         /* NULL: no GPUs */
    uint32_t gpus;                      /* per node, <= NODE_GPUS_MAX */
    const struct cpu_type *cpu;         /* NULL: cores without a number */
    uint32_t sockets;
    uint32_t cores;                     /* per node, all sockets */
    int64_t memory_bytes;
    double nvlink_bps;          /* per GPU, one direction; 0: over PCIe */
    uint32_t nvlink_domain;     /* GPUs of one; 0: all of the node */
    double pcie_bps;            /* per GPU slot, one direction, sustained */
    uint32_t pcie_switches;     /* 0: every slot leads to a CPU */
    double pcie_uplink_bps;     /* of each switch, one direction */
    double nic_bps;             /* per node, one direction, sustained */
    double nic_latency_s;
    double wan_bps;             /* to the storage, of all its nodes; 0: near */
    double nvme_bps;            /* per node, read; 0: none */
    double nvme_bytes;          /* per node, what its drives hold */
    double nvme_access_bytes;   /* what a drive could read while it seeks */
    double usd_per_h;           /* per node; with a course, at time 0 */
    const struct time_series *price; /* over time; NULL: always the same */
    const struct price *tariff; /* of the catalogue: of its GPUs, else of its
                                   cores; NULL: the file says the amount */
    bool price_said;            /* by `price:`; else on-demand by default */
    const struct rent_spec *rent;       /* NULL: there all the time */
    bool energy_included;       /* in usd_per_h */
    bool billed_held;           /* paid for only while a lease is on it */
    double idle_w, max_w;       /* per node without its GPUs */
};

struct cluster_spec {
    const char *name;
    const struct node_group *group;
    uint32_t group_count;
    const char *const *pool_name;
    uint32_t pool_count;                /* <= 32 */
    uint32_t node_count, gpu_count, core_count;
    uint32_t leaf_nodes;        /* nodes under one leaf switch; 0: no tree */
    double oversubscription;    /* >= 1; of the leaf's uplink */
    double storage_bps;         /* shared storage, all readers together */
    double storage_usd_per_h;
    double transfer_usd_per_byte;       /* between it and rented nodes */
    double pue;
    double carbon_g_per_kwh;
    const struct time_series *carbon;        /* over time; NULL: the same */
    double power_cap_w;         /* of all nodes, at the meter; 0: none */
    bool priced;                /* a price changes over time */
    bool unpriced;              /* nothing costs anything */
    bool rents;                 /* a group has `rent` */
    double electricity_usd_per_kwh;     /* where a price has none in it */
    const struct outage_spec *failures; /* NULL: nothing fails */
};

/* Could a trial on it depend on which replica it is: do nodes fail, or are
 * rented ones taken away? */
bool cluster_draws(const struct cluster_spec *spec);

const struct node_group *cluster_group_search(const struct cluster_spec *spec,
                                              uint32_t node);

/* Asked for every share of every lease: most clusters have one group. */
static inline const struct node_group *cluster_group_of(
    const struct cluster_spec *spec, uint32_t node)
{
    assert(node < spec->node_count);
    return spec->group_count == 1 ? spec->group
                                  : cluster_group_search(spec, node);
}

extern const struct conf_schema cluster_schema, cluster_nodes_schema,
    cluster_gpus_schema, cluster_pcie_schema, cluster_nvlink_schema,
    cluster_cpu_schema, cluster_network_schema, cluster_storage_schema,
    cluster_nics_schema;
const struct conf_schema *const *cluster_schemas(size_t *count);

const struct cluster_spec *cluster_read(struct arena *arena,
                                        const struct conf_node *conf,
                                        const struct catalogue *catalogue,
                                        struct err *err);
static inline uint64_t cluster_all_gpus(const struct node_group *group)
{
    return group->gpus == 64 ? UINT64_MAX
                             : (UINT64_C(1) << group->gpus) - 1;
}
/* GPUs of a node that stand behind its PCIe switch `i`. */
uint64_t cluster_switch_gpus(const struct node_group *group, uint32_t i);
/* GPUs of a node in its NVLink domain `i`; what lies past the last: none. */
uint64_t cluster_domain_gpus(const struct node_group *group, uint32_t i);
/* Of one node, at its cheapest moment. */
double cluster_node_least_usd_per_h(const struct node_group *group);
/* What one node costs from one time to another. */
double cluster_node_usd(const struct node_group *group, int64_t from_ns,
                        int64_t to_ns);
double cluster_node_usd_per_h(const struct node_group *group, int64_t now_ns);
/* The same of what a placement holds: of a node its part of the GPUs or, where
 * it has none, of the cores. */
double cluster_held_usd(const struct cluster_spec *spec,
                        const struct placement *placement, int64_t from_ns,
                        int64_t to_ns);
/* The first series that had ended before a time and may not be held; NULL.  In
 * `held_s` the time for which others were. */
const struct time_series *cluster_series_over(const struct cluster_spec *spec,
                                              int64_t end_ns, double *held_s);
/* Pool by name, or UINT32_MAX. */
uint32_t cluster_pool(const struct cluster_spec *spec, const char *name);

/* Beside the masks, once GPUs may be taken in parts: see cluster_split(). */
struct cluster_parts {
    uint32_t *first_gpu;        /* per group: of all GPUs, its first */
    uint16_t *left;             /* per GPU: milli that are free */
    uint32_t *mib_left;         /* per GPU: memory; 0xffffffff: not known */
    uint16_t *core_milli;       /* per node: free beyond free_cores */
    uint16_t *kinds;            /* per node: leases by GPUs they hold there */
    uint32_t kind_count;        /* 0: parts of one, then 1, 2 ... GPUs */
    uint32_t *version;          /* per node: counts its changes, from 1 */
    uint64_t part_milli;        /* free in GPUs that are taken in part */
};

struct cluster {
    const struct cluster_spec *spec;
    struct arena *arena;
    uint64_t *free_mask;        /* per node */
    uint32_t *free_cores;
    int64_t *free_memory;
    uint32_t *group_of;         /* node -> group */
    struct free_index index;    /* of what is free */
    struct reclaimable *spares;       /* NULL: none; see reclaimable.h */
    uint32_t *pool_free_gpus;   /* per pool */
    uint32_t free_gpus;         /* wholly free, as in all of these */
    uint64_t releases;          /* so far: without one, room only shrinks */
    struct cluster_parts *parts;        /* NULL: GPUs are whole */
};

struct cluster *cluster_new(struct arena *arena,
                            const struct cluster_spec *spec);
/* From now on GPUs may be taken in parts; nothing happens the second time. */
void cluster_split(struct cluster *cluster);
/* Milli that are free of each GPU of a node, once split. */
const uint16_t *cluster_left(const struct cluster *cluster, uint32_t node);
const uint32_t *cluster_mib_left(const struct cluster *cluster,
                                 uint32_t node);
/* Thousandths of cores that are free. */
int64_t cluster_core_milli(const struct cluster *cluster, uint32_t node);
bool cluster_can_take(const struct cluster *cluster,
                      const struct placement *placement);
void cluster_take(struct cluster *cluster, const struct placement *placement);
void cluster_release(struct cluster *cluster,
                     const struct placement *placement);

#endif
