/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.h - GPUs, CPUs, links, prices, instances and models by name.
 *
 * The values are in models/catalogue/ as YAML, each with its source, and are
 * embedded in the program.  A user's file of the same form adds entries, or
 * replaces single keys of an entry of the same name.  A catalogue does not
 * change once it is loaded, so that any number of trials share it.
 *
 * Rates named `_sustained` are rates that programs were measured to reach.
 * Laws use these, never the peak of a datasheet.  The peak only serves to state
 * MFU.
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

/* One GPU, with its own memory.  FLOPS are operations per second, an add and a
 * multiply being two. */
struct gpu_type {
    const char *name;           /* "a100-80" */
    const char *label;          /* "NVIDIA A100 SXM4 80 GB" */
    const char *arch;           /* "Ampere"; no law reads it */
    double memory_bytes;        /* as the driver reports */
    double memory_bps;          /* peak */
    double memory_bps_sustained;    /* bytes/s that kernels reach */
    double flops_peak[PRECISION_COUNT];         /* dense; 0: unsupported */
    double flops_sustained[PRECISION_COUNT];    /* large matrices */
    const char *nvlink;         /* link name, or "" */
    const char *pcie;           /* link name */
    /* Of the two links, sustained, one direction, per GPU. */
    double nvlink_bps;          /* 0: none */
    double nvlink_latency_s;    /* of one message between two GPUs */
    double pcie_bps;
    double pcie_latency_s;      /* of one copy */
    double tdp_w;               /* watts at full load */
    double idle_w;              /* watts when nothing runs */
    const char *source;         /* where the values are from */
    const char *notes;          /* what a reader should know; "": nothing */
    const struct conf_node *sources;    /* key: text, or NULL */
    uint32_t index;             /* among the catalogue's GPUs; kept while it lives */
};

struct cpu_type {               /* one socket */
    const char *name;
    const char *label;
    const char *arch;
    uint32_t cores, threads;    /* physical cores, and hardware threads */
    double clock_hz;            /* base */
    double memory_bps;          /* peak */
    double memory_bps_sustained;    /* bytes/s, all cores together */
    double flops_fp32, flops_int8;  /* sustained, whole socket */
    double flops_bf16;          /* the same; 0: 16 bits go as FP32 */
    double core_speed;          /* of one core at image decode; EPYC 9B14: 1 */
    const char *pcie;           /* a link's name: what its slots are */
    double pcie_bps;            /* sustained, of that link; 0: none is named */
    double tdp_w;               /* watts at full load, all cores */
    double idle_w;              /* watts when nothing runs */
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
    double bps_sustained;       /* that programs reach; disk: read */
    double write_bps_sustained; /* bps_sustained, except for disks */
    double read_iops;           /* disk: random reads of 4 KiB, per second */
    double access_s;            /* disk: time of such a read before it transfers */
    double latency_us;          /* of one message between two neighbours */
    double latency_s;           /* latency_us in seconds */
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

enum price_kind { PRICE_ON_DEMAND, PRICE_RESERVED, PRICE_OWNED, PRICE_SPOT };
extern const char *const price_kind_choices[];

/* The market of a price, most reliable first.  Prices of two tiers cannot be
 * compared.  An assumption is a price from a paper that no published list or
 * bill confirms. */
enum price_tier { TIER_LIST, TIER_MARKETPLACE, TIER_RESERVED, TIER_SPOT,
                  TIER_OWNED, TIER_ASSUMPTION, TIER_COUNT };
extern const char *const price_tier_choices[];

/* The price of one GPU or one core.  A rented GPU includes `cores` of its host.
 * An owned one includes nothing else; its energy is paid separately. */
struct price {
    const char *name;           /* "a100-80-on-demand" */
    const char *label;
    const char *of;             /* a GPU's name, or "core" */
    int kind;                   /* enum price_kind */
    int tier;                   /* enum price_tier */
    double usd_per_h;           /* per GPU, or per physical core */
    double cores;               /* physical cores included per GPU */
    int64_t granularity_ns;     /* billed in units of this */
    bool energy_included;       /* else it is paid beside it, at `electricity` */
    const char *as_of;          /* date of the price: "2026-03" */
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
    uint32_t sockets;           /* of a node */
    const char *nic;            /* a link's name */
    uint32_t nics;              /* of a node */
    const char *drive;          /* a link's name */
    uint32_t drives;            /* of a node; 0: none */
    double drive_bytes;         /* of each */
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

/* A transformer that generates text, as the laws see it. */
struct llm {
    const char *name;
    const char *label;
    uint32_t layers, hidden, heads, kv_heads, head_dim;
    uint32_t ffn;               /* width of the MLP, of one expert in an MoE */
    uint32_t ffn_matrices;      /* 2, or 3 where gated (SwiGLU) */
    uint32_t vocab;             /* tokens that there are */
    uint32_t context_tokens;    /* longest context in training */
    uint32_t experts, experts_active;   /* shared ones included; 0, 0: dense */
    uint32_t experts_shared;    /* of those, used by every token */
    uint32_t kv_width;          /* elements per token and layer, less with MLA */
    uint32_t window;            /* tokens that a layer with a window attends to; 0: all */
    uint32_t window_layers;     /* layers that have it, at most `layers` */
    bool tied;                  /* input and output tokens share one table */
    double params, params_active; /* parameters, and those that work on one
                                     token */
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

enum net_class { NET_CONVOLUTION, NET_RECOMMENDATION };
extern const char *const net_class_choices[];

struct net {                    /* not a transformer */
    const char *name;
    const char *label;
    int class;                  /* enum net_class */
    const char *sample;         /* what one sample is, in words */
    double params;              /* without tables */
    double flops;               /* forward pass of one sample */
    double activations;         /* elements that the layers write per sample */
    double width;               /* mean width of a layer */
    uint32_t layers;
    uint32_t tables;            /* a sample reads a row of each; 0: none */
    uint32_t row_width;         /* elements of a row */
    double table_rows;          /* of all tables */
    const char *source;
    const char *notes;
    const struct conf_node *sources;
    uint32_t index;
};

/* Returns the embedded catalogue with the entries of the extra files, in the
 * arena.  NULL: a file is wrong, and *err says how. */
const struct catalogue *catalogue_load(struct arena *arena,
                                       const char *const *extra_paths,
                                       size_t extra_count, struct err *err);
/* As catalogue_load(), from extra files that were read into trees before. */
const struct catalogue *catalogue_read(struct arena *arena,
                                       const struct conf_node *const *roots,
                                       size_t count, struct err *err);

/* Return the entry of that name; NULL: there is none.  GPUs, CPUs, links,
 * models and nets are found by their aliases, too, in upper or lower case. */
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
/* Returns the price of `of` of that kind, from the first tier that has one;
 * NULL: none has. */
const struct price *catalogue_price_of(const struct catalogue *catalogue,
                                       const char *of, enum price_kind kind);
/* Returns the first price of `of` in that tier; NULL: none is known. */
const struct price *catalogue_price_in(const struct catalogue *catalogue,
                                       const char *of, enum price_tier tier);
/* Returns the first instance of that GPU, else the one of its kind, which the
 * catalogue always has.  An instance without host memory gets, for each GPU, the
 * memory of the GPU and 32 GB. */
struct instance catalogue_instance_of(const struct catalogue *catalogue,
                                      const struct gpu_type *gpu);
/* True: the price is an assumption, or was derived with one. */
bool price_is_assumption(const struct price *price);

/* Return how many entries a section has, and the entry of an index below that. */
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

/* The sections of a catalogue file, one for each kind of entry. */
enum catalogue_section {
    CATALOGUE_GPUS, CATALOGUE_CPUS, CATALOGUE_LINKS, CATALOGUE_PRICES,
    CATALOGUE_LLMS, CATALOGUE_NETS, CATALOGUE_APPLICATIONS,
    CATALOGUE_INSTANCES,
    CATALOGUE_SECTION_COUNT
};
/* Returns all names of a section; NULL ends the list. */
const char *const *catalogue_names(const struct catalogue *catalogue,
                                   enum catalogue_section section);
/* Returns the aliases of an entry, a list of texts; NULL: it has none. */
const struct conf_node *catalogue_aliases(const struct catalogue *catalogue,
                                          enum catalogue_section section,
                                          size_t i);
/* May a log that says `name` mean the GPU `gpu`, the name of an entry or of a model?
 * It may by an alias, and by the name of a family: V100 is v100-32, and v100s. */
bool catalogue_gpu_named(const struct catalogue *catalogue, const char *gpu,
                         const char *name);
/* Returns the entry of that name or alias; else, of the family of that name, the
 * first of those with most memory, and writes all of them into `others`: "a100-40
 * or a100-80".  NULL: no entry is called so.  `others` is empty if there was no
 * choice. */
const struct gpu_type *catalogue_gpu_guess(const struct catalogue *catalogue,
                                           const char *name, char *others,
                                           size_t room);
/* Adds a hint to *err for an unknown name: the entries of its family, the
 * nearest name, or the command that lists all names.  Returns false. */
bool catalogue_hint(const struct catalogue *catalogue,
                    enum catalogue_section section, const char *name,
                    struct err *err);
/* The keys of each section, for `explain`, the schema and the manual. */
extern const struct conf_schema catalogue_schema[CATALOGUE_SECTION_COUNT];
/* Returns the source of one key of an entry: its own, else entry_source. */
const char *catalogue_source(const struct conf_node *sources, const char *key,
                             const char *entry_source);

#endif
