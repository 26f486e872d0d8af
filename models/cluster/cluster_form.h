/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_form.h - a cluster while it is read: the values of its keys, and the
 * state that its readers share.  For the cluster_*.c files only.
 */
#ifndef MODELS_CLUSTER_CLUSTER_FORM_H
#define MODELS_CLUSTER_CLUSTER_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/cluster/cluster.h"
#include "sim/config/conf.h"

#define CLUSTER_NODES_MAX 1000000
#define CLUSTER_POOLS_MAX 32u
#define CLUSTER_GENERIC "generic"       /* a GPU that only counts */

/* The keys of the cluster as its table fills them; NULL: not given. */
struct cluster_conf {
    const struct conf_node *at;     /* the cluster itself */
    const char *name;           /* of the cluster, for results and messages */
    /* Nodes: a list; the others: mappings. */
    const struct conf_node *nodes, *network, *storage, *failures;
    double pue, power_cap_w;    /* 0 for power_cap_w: there is no cap */
    const struct conf_node *carbon; /* a number or a series, g CO2 per kWh */
    const struct conf_node *electricity;    /* likewise, of its price */
};

/* The keys of one group of nodes. */
struct nodes_conf {
    const struct conf_node *at;     /* the group itself */
    const char *name, *pool;    /* pool: NULL where it is the group's own name */
    int64_t count, cores;       /* nodes; cores per node, 0: all of its CPUs */
    const struct conf_node *gpus, *pcie, *nvlink, *cpu, *nvme, *nics, *price;
    const struct conf_node *rent;   /* when and how its nodes are rented; NULL: owned */
    double wan_bps;             /* bytes a second between the shared storage and all nodes of
                                   the group */
    const char *nvme_type;      /* a disk of the catalogue; NULL: the first one */
    double memory_bytes;        /* of a node; 0: not given */
    int billing;                /* 1: held */
};

struct item_conf {              /* a type and how many of it per node */
    const char *type, *model;   /* of the catalogue; what jobs of a trace call a generic GPU */
    int64_t count;              /* per node */
};

struct pcie_conf {
    int64_t switches, uplinks;  /* per node; slots' worth of rate per switch */
};

struct nvlink_conf {
    int64_t domain;             /* GPUs; 0: all of the node */
};

struct network_conf {
    const struct conf_node *leaf;   /* nodes under a leaf switch */
    double oversubscription;    /* at least 1 */
};

struct storage_conf {
    double bps, usd_per_h;      /* all readers and writers together; of all of it */
    const struct conf_node *transfer;   /* price of what rented nodes read and write */
};

/* What the readers of a cluster share.  `spec` grows group by group. */
struct cluster_reader {
    struct arena *arena;        /* of the spec: what is read lives there */
    const struct catalogue *catalogue;  /* where types are looked up */
    struct err *err;            /* the caller's */
    const struct gpu_type *generic; /* the GPU that only counts, made for this reader */
    struct cluster_spec *spec;  /* the result; good once all groups are read */
    struct node_group *group;       /* of the spec */
    const char **pool_name;     /* of the spec */
};

/* Reads the next group of the file with its price and rent, and adds it to the
 * totals of the spec.  False: *reader->err is set. */
bool cluster_read_group(const struct cluster_reader *reader,
                        const struct conf_node *at);
/* Reads what a node costs; its GPUs and cores are read already.  False:
 * *reader->err is set. */
bool cluster_read_price(const struct cluster_reader *reader,
                        const struct nodes_conf *conf,
                        struct node_group *group);
/* Is it a GPU that only counts, without speed, price or power?  NULL is none. */
bool cluster_is_generic(const struct cluster_reader *reader,
                        const struct gpu_type *gpu);
/* Returns a value as messages show it. */
const char *cluster_shown(const struct conf_node *node);
/* Returns the length of the decimal number with which `text` begins, and stores
 * its value in *out; 0: there is no number. */
size_t cluster_number(const char *text, double *out);

#endif
