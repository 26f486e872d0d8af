/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster.h - nodes, GPUs, cores and memory: what exists, and what is free.
 *
 * A cluster_spec is what the file states; it is read once, and trials share it.
 * A cluster is the state in one trial.  Invariant: a GPU is free, or taken
 * once, or taken in parts that add up to at most one GPU; taken cores and
 * memory of a node never exceed what it has.  Nodes are numbered from 0 in the
 * order of the file, group after group.
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

/* Cores and memory of a node whose file states no CPU (traces with GPUs only).
 * They never limit a placement and are in no total. */
#define CLUSTER_CORES_UNLIMITED (1u << 20)
#define CLUSTER_MEMORY_UNLIMITED (INT64_C(1) << 50)

/* Nodes of one kind.  `pool` is an index into cluster_spec.pool_name.  GPU g is
 * behind PCIe switch g / (gpus / pcie_switches) and in NVLink domain
 * g / nvlink_domain. */
struct node_group {
    const char *name;           /* of the group; nodes are name-0, name-1 ... */
    uint32_t pool;              /* an index into cluster_spec.pool_name */
    uint32_t first_node, node_count; /* number of its first node; how many it has */
    const struct gpu_type *gpu;         /* NULL: no GPUs */
    uint32_t gpus;                      /* per node, <= NODE_GPUS_MAX */
    const struct cpu_type *cpu;         /* NULL: unlimited cores */
    uint32_t sockets;           /* CPUs per node; 0: no CPU is named */
    uint32_t cores;                     /* per node, all sockets */
    int64_t memory_bytes;       /* of a node */
    double nvlink_bps;          /* per GPU, one direction; 0: no NVLink */
    uint32_t nvlink_domain;     /* GPUs of a domain; 0: all of the node */
    double pcie_bps;            /* per GPU slot, one direction, sustained */
    uint32_t pcie_switches;     /* 0: every slot is connected to a CPU */
    double pcie_uplink_bps;     /* of each switch, one direction */
    double nic_bps;             /* per node, one direction, sustained */
    double nic_latency_s;       /* of the NICs' type; 0: no NICs */
    double wan_bps;             /* line to the storage, all its nodes together;
                                   0: no such line, the storage is near */
    double nvme_bps;            /* per node, read; 0: none */
    double nvme_bytes;          /* per node, size of its drives */
    double nvme_access_bytes;   /* bytes that a drive reads in the time of one
                                   seek */
    double usd_per_h;           /* per node; at time 0 if the price changes */
    const struct time_series *price;    /* over time; NULL: constant */
    const struct price *tariff; /* price in the catalogue of its GPUs, else of
                                   its cores; NULL: the file has the amount */
    bool price_said;            /* the file has `price:`; else on-demand */
    const struct rent_spec *rent;       /* NULL: not rented by the hour */
    bool energy_included;       /* in usd_per_h */
    bool billed_held;           /* billed only while a lease is on the node */
    double idle_w, max_w;       /* per node without its GPUs */
};

struct cluster_spec {
    const char *name;           /* of the cluster */
    const struct node_group *group; /* [group_count], with nodes numbered through */
    uint32_t group_count;       /* of group; in the order of the file */
    const char *const *pool_name;   /* [pool_count], in the order of the file */
    uint32_t pool_count;                /* <= 32 */
    uint32_t node_count, gpu_count, core_count; /* of all groups, rented or not */
    uint32_t leaf_nodes;        /* nodes below one leaf switch; 0: no tree */
    double oversubscription;    /* of the leaf's uplink; >= 1 */
    double storage_bps;         /* shared storage, all readers together */
    double storage_usd_per_h;   /* for all of it */
    double transfer_usd_per_byte;       /* between storage and rented nodes */
    double pue;                 /* energy at the meter over that of nodes */
    double carbon_g_per_kwh;    /* at time 0 if it changes */
    const struct time_series *carbon;   /* over time; NULL: constant */
    double power_cap_w;         /* of all nodes, at the meter; 0: none */
    bool priced;                /* a price changes over time */
    bool unpriced;              /* nothing has a price */
    bool rents;                 /* a group has `rent` */
    double electricity_usd_per_kwh;     /* where a price includes no energy */
    const struct outage_spec *failures; /* NULL: nothing fails */
};

/* True: nodes, GPUs, switches or jobs may fail.  A spec of failures that states only what
 * they would cost has none. */
bool cluster_fails(const struct cluster_spec *spec);
/* True: failures or reclaimed nodes are drawn at random, so that a trial
 * depends on its replica. */
bool cluster_draws(const struct cluster_spec *spec);

/* Returns the group of a node; cluster_group_of() is the faster form. */
const struct node_group *cluster_group_search(const struct cluster_spec *spec,
                                              uint32_t node);

/* Returns the group of a node.  It is called for every share of every lease,
 * and most clusters have one group. */
static inline const struct node_group *cluster_group_of(
    const struct cluster_spec *spec, uint32_t node)
{
    assert(node < spec->node_count);
    return spec->group_count == 1 ? spec->group
                                  : cluster_group_search(spec, node);
}

/* True: what its cores compute is known, by the rates of their type. */
bool cluster_computes(const struct node_group *group);

extern const struct conf_schema cluster_schema, cluster_nodes_schema,
    cluster_gpus_schema, cluster_pcie_schema, cluster_nvlink_schema,
    cluster_cpu_schema, cluster_network_schema, cluster_storage_schema,
    cluster_nics_schema;
/* Returns all key tables of a cluster and stores their number. */
const struct conf_schema *const *cluster_schemas(size_t *count);

/* Returns the cluster of a file, in the arena; it refers to the catalogue.
 * NULL: *err says what is wrong. */
const struct cluster_spec *cluster_read(struct arena *arena,
                                        const struct conf_node *conf,
                                        const struct catalogue *catalogue,
                                        struct err *err);
/* The next three return masks of GPUs of one node. */
static inline uint64_t cluster_all_gpus(const struct node_group *group)
{
    return group->gpus == 64 ? UINT64_MAX
                             : (UINT64_C(1) << group->gpus) - 1;
}
/* The GPUs behind PCIe switch `i`. */
uint64_t cluster_switch_gpus(const struct node_group *group, uint32_t i);
/* The GPUs in NVLink domain `i`; 0 past the last domain. */
uint64_t cluster_domain_gpus(const struct node_group *group, uint32_t i);
/* Returns the lowest price of one node over all time. */
double cluster_node_least_usd_per_h(const struct node_group *group);
/* Returns the cost of one node from from_ns to to_ns. */
double cluster_node_usd(const struct node_group *group, int64_t from_ns,
                        int64_t to_ns);

/* Returns the price of one node at a time. */
double cluster_node_usd_per_h(const struct node_group *group, int64_t now_ns);
/* Returns the cost of a placement: of each node the share of its GPUs that the
 * placement holds; if the node has no GPUs, of its cores. */
double cluster_held_usd(const struct cluster_spec *spec,
                        const struct placement *placement, int64_t from_ns,
                        int64_t to_ns);
/* Returns the first series that ends before end_ns and must not be held; NULL:
 * none.  Stores in *held_s for how long other series were held after their
 * end. */
const struct time_series *cluster_series_over(const struct cluster_spec *spec,
                                              int64_t end_ns, double *held_s);
/* Returns the index of the pool of that name; UINT32_MAX: there is none. */
uint32_t cluster_pool(const struct cluster_spec *spec, const char *name);

/* State beside the masks, if GPUs may be taken in parts: see
 * cluster_split(). */
struct cluster_parts {
    uint32_t *first_gpu;        /* per group: number of its first GPU */
    uint16_t *left;             /* per GPU: free thousandths */
    uint32_t *mib_left;         /* per GPU: free memory; UINT32_MAX: unknown */
    uint16_t *core_milli;       /* per node: free, added to free_cores */
    uint16_t *kinds;            /* per node: number of leases by size: index 0
                                   parts of a GPU, then 1, 2 ... GPUs */
    uint32_t kind_count;        /* sizes in `kinds` */
    uint32_t *version;          /* per node: number of its changes, from 1 */
    uint32_t *changed;          /* the nodes of the last changes, as many as there are
                                   nodes: the i-th change at i % node_count */
    uint64_t changes;           /* so far */
    uint32_t with_left[GPU_MILLI];      /* GPUs that are partly taken, by free
                                   thousandths; [0] means nothing */
    uint64_t has_left[GPU_MILLI / 64 + 1];      /* bits: with_left is not 0 */
};

struct cluster {
    const struct cluster_spec *spec;    /* what there is; it never changes */
    struct arena *arena;
    uint64_t *free_mask;        /* per node */
    uint32_t *free_cores;       /* per node */
    int64_t *free_memory;       /* per node, bytes */
    uint32_t *group_of;         /* node -> group */
    struct free_index index;    /* of the free resources */
    struct reclaimable *spares; /* NULL: none; see reclaimable.h */
    uint32_t *pool_free_gpus;   /* per pool */
    uint32_t free_gpus;         /* wholly free, as everywhere above */
    uint64_t releases;          /* number so far; a search that failed fails
                                   again until it grows */
    uint64_t *pool_releases;    /* the shares of them per pool, likewise; of one
                                   pool they are not counted */
    struct cluster_parts *parts;        /* NULL: GPUs are taken whole */
    struct cluster_freed *freed;        /* NULL: nobody asked */
};

/* Nodes on which something came free that nobody was told of, each once. */
struct cluster_freed {
    uint32_t *node, count;      /* the nodes, in no order; how many */
    bool *is_in;                /* per node */
};

/* Returns a cluster in the arena, all of it free. */
struct cluster *cluster_new(struct arena *arena,
                            const struct cluster_spec *spec);
/* Allows parts of GPUs from now on; a second call does nothing. */
void cluster_split(struct cluster *cluster);
/* Return the free thousandths and the free MiB of each GPU of a node; only
 * after cluster_split(). */
const uint16_t *cluster_left(const struct cluster *cluster, uint32_t node);
const uint32_t *cluster_mib_left(const struct cluster *cluster,
                                 uint32_t node);
/* Returns the whole MiB of a GPU of a group; UINT32_MAX where its memory is not known, so
 * that it never limits. */
uint32_t cluster_gpu_mib(const struct node_group *group);
/* Of the GPUs that are partly taken, returns the free thousandths of the one that has the
 * most; 0: no GPU is partly taken. */
uint32_t cluster_part_max(const struct cluster *cluster);
/* Returns the free cores of a node in thousandths. */
int64_t cluster_core_milli(const struct cluster *cluster, uint32_t node);
/* cluster_take() requires that cluster_can_take() holds; cluster_release() that
 * the placement is taken.  cluster_untake() gives back what was taken on trial,
 * and counts as no release. */
bool cluster_can_take(const struct cluster *cluster,
                      const struct placement *placement);
void cluster_take(struct cluster *cluster, const struct placement *placement);
void cluster_release(struct cluster *cluster,
                     const struct placement *placement);
void cluster_untake(struct cluster *cluster, const struct placement *placement);
/* All that is free on a node: what cluster_take() leaves nothing of. */
static inline struct share cluster_free_share(const struct cluster *cluster, uint32_t node)
{
    return (struct share) {
        .node = node, .gpu_mask = cluster->free_mask[node], .cores = cluster->free_cores[node],
        .memory_bytes = cluster->free_memory[node],
        .core_milli = cluster->parts != NULL ? cluster->parts->core_milli[node] : 0,
    };
}
/* Notes nodes as freed, if anybody asked; cluster_release() does so, too. */
void cluster_note_freed(struct cluster *cluster, const struct placement *placement);
/* Returns one of the nodes that were noted since this was first asked, and forgets it;
 * UINT32_MAX: there is none. */
uint32_t cluster_next_freed(struct cluster *cluster);

#endif
