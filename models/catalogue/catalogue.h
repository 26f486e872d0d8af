/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.h - the GPUs, CPUs, links, prices, instances and models that names
 * refer to.
 *
 * The values stand in models/catalogue/ as YAML, each with its source, and
 * travel inside the program.  A user's file of the same form adds entries, or
 * overrides single keys of an entry with the same name.  Read-only once
 * loaded, so any number of trials share it.
 *
 * Rates named `_sustained` are what programs were measured to reach; laws use
 * those, never a datasheet's peak.  A peak is kept to state MFU against.
 */
#ifndef MODELS_CATALOGUE_CATALOGUE_H
#define MODELS_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/types/precision.h"
#include "sim/config/conf.h"

struct arena;
struct application;
struct catalogue;

struct gpu_type {
    const char *name;           /* "a100-80" */
    const char *label;          /* "NVIDIA A100 SXM4 80 GB" */
    const char *arch;
    double memory_bytes;        /* as the driver reports it */
    double memory_bps;          /* peak */
    double memory_bps_sustained;
    double flops_peak[PRECISION_COUNT];         /* dense; 0: unsupported */
    double flops_sustained[PRECISION_COUNT];    /* large matrices */
    const char *nvlink;         /* link name, or "" */
    const char *pcie;           /* link name */
    /* From the links named above, sustained, one direction, per GPU. */
    double nvlink_bps;          /* 0: none */
    double nvlink_latency_s;
    double pcie_bps;
    double pcie_latency_s;
    double tdp_w;
    double idle_w;
    const char *source;
    const char *notes;
    const struct conf_node *sources;    /* key: text, or NULL */
    uint32_t index;
};

struct cpu_type {               /* one socket */
    const char *name;
    const char *label;
    const char *arch;
    uint32_t cores, threads;
    double clock_hz;            /* base */
    double memory_bps;          /* peak */
    double memory_bps_sustained;
    double flops_fp32, flops_int8;  /* sustained, whole socket */
    double core_speed;          /* of one core at image decode; EPYC 9B14: 1 */
    const char *pcie;
    double tdp_w;
    double idle_w;
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

enum link_kind {
    LINK_PCIE, LINK_NVLINK, LINK_IB, LINK_ROCE, LINK_ETHERNET, LINK_DISK
};
extern const char *const link_kind_choices[];

struct link_type {              /* one slot, port, NIC or drive */
    const char *name;
    const char *label;
    int kind;                   /* enum link_kind */
    double bps;                 /* peak, one direction (disk: read) */
    double bps_sustained;
    double write_bps_sustained; /* equal to the above but for disks */
    double read_iops;           /* disk: random reads of 4 KiB, per second */
    double access_s;            /* disk: of such a read, beside the transfer */
    double latency_us;          /* of one message between two neighbours */
    double latency_s;           /* the same */
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

enum price_kind { PRICE_ON_DEMAND, PRICE_RESERVED, PRICE_OWNED, PRICE_SPOT };
extern const char *const price_kind_choices[];

/* The market of a price, best known first: prices of two tiers do not compare,
 * and an assumption is of a paper, which nobody is known to have paid. */
enum price_tier { TIER_LIST, TIER_MARKETPLACE, TIER_RESERVED, TIER_SPOT,
                  TIER_OWNED, TIER_ASSUMPTION, TIER_COUNT };
extern const char *const price_tier_choices[];

/* One price of one unit of one thing.  A rented GPU brings `cores` of its
 * host; an owned one brings nothing but itself and pays its energy apart. */
struct price {
    const char *name;           /* "a100-80-on-demand" */
    const char *label;
    const char *of;             /* a GPU's name, or "core" */
    int kind;                   /* enum price_kind */
    int tier;                   /* enum price_tier */
    double usd_per_h;           /* per GPU, or per physical core */
    double cores;               /* physical cores included per GPU */
    int64_t granularity_ns;     /* billed in units of this */
    bool energy_included;
    const char *as_of;
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

/* A node of GPUs of one type, as it is rented or sold. */
struct instance {
    const char *name;           /* "p5.48xlarge" */
    const char *label;
    const char *of;             /* a GPU's name; or "nvlink", "pcie": of every
                                   other GPU with NVLink, or without */
    uint32_t gpus;              /* of a whole node */
    double memory_bytes;        /* host memory; 0: as catalogue_instance_of */
    const char *cpu;            /* a CPU's name */
    uint32_t sockets;
    const char *nic;            /* a link's name */
    uint32_t nics;
    const char *drive;          /* a link's name */
    uint32_t drives;
    double drive_bytes;         /* of each */
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

struct llm {
    const char *name;
    const char *label;
    uint32_t layers, hidden, heads, kv_heads, head_dim;
    uint32_t ffn;               /* width of the MLP, of one expert in an MoE */
    uint32_t ffn_matrices;      /* 2, or 3 where gated (SwiGLU) */
    uint32_t vocab;
    uint32_t context_tokens;    /* the longest it was trained for */
    uint32_t experts, experts_active;   /* 0, 0: dense; shared ones counted */
    uint32_t experts_shared;    /* of those, work on every token */
    uint32_t kv_width;          /* elements per token and layer; MLA differs */
    bool tied;                  /* one table for input and output tokens */
    double params, params_active;
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

enum net_class { NET_CONVOLUTION, NET_RECOMMENDATION };
extern const char *const net_class_choices[];

struct net {                    /* no transformer; of one sample: */
    const char *name;
    const char *label;
    int class;                  /* enum net_class */
    const char *sample;         /* what it is */
    double params;              /* tables left out */
    double flops;               /* forward */
    double activations;         /* elements that layers write */
    double width;               /* of layers, in the mean */
    uint32_t layers;
    uint32_t tables;            /* a row is read of each; 0: none */
    uint32_t row_width;
    double table_rows;          /* of all tables */
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

/* NULL and an err when a file is wrong.  Everything lives in the arena. */
const struct catalogue *catalogue_load(struct arena *arena,
                                       const char *const *extra_paths,
                                       size_t extra_count, struct err *err);
/* As above, from files that were read into trees before. */
const struct catalogue *catalogue_read(struct arena *arena,
                                       const struct conf_node *const *roots,
                                       size_t count, struct err *err);

/* NULL when there is no such name.  GPUs, CPUs, links, models and nets answer
 * to their aliases, too, in any case; the entry has the name in the catalogue. */
const struct gpu_type *catalogue_gpu(const struct catalogue *catalogue,
                                     const char *name);
const struct cpu_type *catalogue_cpu(const struct catalogue *catalogue,
                                     const char *name);
const struct link_type *catalogue_link(const struct catalogue *catalogue,
                                       const char *name);
const struct price *catalogue_price(const struct catalogue *catalogue,
                                    const char *name);
const struct llm *catalogue_llm(const struct catalogue *catalogue,
                                const char *name);
const struct net *catalogue_net(const struct catalogue *catalogue,
                                const char *name);
const struct application *catalogue_application(
    const struct catalogue *catalogue, const char *name);
/* The price of that thing and kind, of the best known tier; NULL: none is. */
const struct price *catalogue_price_of(const struct catalogue *catalogue,
                                       const char *of, enum price_kind kind);
/* The first price of that thing in that tier; NULL: none is known. */
const struct price *catalogue_price_in(const struct catalogue *catalogue,
                                       const char *of, enum price_tier tier);
/* The first instance of that GPU, or else the one of its kind, which the
 * catalogue always has; an instance without host memory gets 32 GB for each GPU
 * beside what the GPU has. */
struct instance catalogue_instance_of(const struct catalogue *catalogue,
                                      const struct gpu_type *gpu);
/* Was it assumed, or derived by an assumption, and not found anywhere? */
bool price_is_assumption(const struct price *price);

size_t catalogue_gpu_count(const struct catalogue *catalogue);
size_t catalogue_cpu_count(const struct catalogue *catalogue);
size_t catalogue_link_count(const struct catalogue *catalogue);
size_t catalogue_price_count(const struct catalogue *catalogue);
size_t catalogue_instance_count(const struct catalogue *catalogue);
size_t catalogue_llm_count(const struct catalogue *catalogue);
size_t catalogue_net_count(const struct catalogue *catalogue);
const struct gpu_type *catalogue_gpu_at(const struct catalogue *catalogue,
                                        size_t i);
const struct cpu_type *catalogue_cpu_at(const struct catalogue *catalogue,
                                        size_t i);
const struct link_type *catalogue_link_at(const struct catalogue *catalogue,
                                          size_t i);
const struct price *catalogue_price_at(const struct catalogue *catalogue,
                                       size_t i);
const struct instance *catalogue_instance_at(
    const struct catalogue *catalogue, size_t i);
const struct llm *catalogue_llm_at(const struct catalogue *catalogue,
                                   size_t i);
const struct net *catalogue_net_at(const struct catalogue *catalogue,
                                   size_t i);

size_t catalogue_application_count(const struct catalogue *catalogue);
const struct application *catalogue_application_at(
    const struct catalogue *catalogue, size_t i);

enum catalogue_section {
    CATALOGUE_GPUS, CATALOGUE_CPUS, CATALOGUE_LINKS, CATALOGUE_PRICES,
    CATALOGUE_LLMS, CATALOGUE_NETS, CATALOGUE_APPLICATIONS,
    CATALOGUE_INSTANCES,
    CATALOGUE_SECTION_COUNT
};
/* All names of a section, ends with NULL: for conf_nearest and lists. */
const char *const *catalogue_names(const struct catalogue *catalogue,
                                   enum catalogue_section section);
/* Other names of an entry: a list of texts, or NULL. */
const struct conf_node *catalogue_aliases(const struct catalogue *catalogue,
                                          enum catalogue_section section,
                                          size_t i);
/* What a name that is not known may have meant, as a hint: the entries of its
 * family, the nearest name, or the list to look at. */
bool catalogue_hint(const struct catalogue *catalogue,
                    enum catalogue_section section, const char *name,
                    struct err *err);
/* The key table of each section, for explain, schema and the manual. */
extern const struct conf_schema catalogue_schema[CATALOGUE_SECTION_COUNT];
/* The source of one key of an entry: its own, or the entry's. */
const char *catalogue_source(const struct conf_node *sources, const char *key,
                             const char *entry_source);

#endif
