/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_read.c - a cluster from YAML, its names looked up in the catalogue.
 *
 * Groups of nodes in file order; every fault is located.  `generic` is a GPU
 * without speed, price or power, for traces that know only how many there
 * are; beside it a CPU may be left out, and cores and memory never limit.
 */
#include "models/cluster.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue.h"
#include "models/course.h"
#include "models/faults.h"
#include "models/outage.h"
#include "models/power.h"
#include "models/rented.h"
#include "sim/arena.h"
#include "sim/conf.h"
#include "sim/decimal.h"

#define NODES_MAX 1000000
#define POOLS_MAX 32u
#define GENERIC "generic"

struct cluster_conf {
    const char *name;
    const struct conf_node *nodes, *network, *storage, *failures;
    double pue, power_cap_w;
    const struct conf_node *carbon;
    const struct conf_node *electricity;
};

struct nodes_conf {
    const char *name, *pool;
    int64_t count, cores;
    const struct conf_node *gpus, *pcie, *nvlink, *cpu, *nvme, *nics, *price;
    const struct conf_node *rent;
    double wan_bps;
    const char *nvme_type;
    double memory_bytes;
    int billing;                /* 1: held */
};

struct item_conf {              /* a type and how many of it per node */
    const char *type, *model;
    int64_t count;
};

struct pcie_conf {
    int64_t switches, uplinks;
};

struct nvlink_conf {
    int64_t domain;
};

struct network_conf {
    const struct conf_node *leaf;
    double oversubscription;
};

struct storage_conf {
    double bps, usd_per_h;
    const struct conf_node *transfer;
};

#define AT(type, member) offsetof(struct type, member)

static const char *const billing_choices[] = { "always", "held", NULL };

static const struct conf_field cluster_fields[] = {
    { .key = "name", .type = CONF_TEXT, .offset = AT(cluster_conf, name),
      .fallback = "cluster", .help = "how results call the cluster" },
    { .key = "nodes", .type = CONF_NODE, .offset = AT(cluster_conf, nodes),
      .help = "list of groups of nodes that are alike" },
    { .key = "network", .type = CONF_NODE, .fallback = CONF_ABSENT,
      .offset = AT(cluster_conf, network),
      .help = "leaf switches, one per rack; without it only NICs limit" },
    { .key = "failures", .type = CONF_NODE, .fallback = CONF_ABSENT,
      .offset = AT(cluster_conf, failures),
      .help = "what fails, and how long that takes; without it nothing does" },
    { .key = "storage", .type = CONF_NODE, .fallback = CONF_ABSENT,
      .offset = AT(cluster_conf, storage),
      .help = "shared storage; without it storage never limits" },
    { .key = "pue", .type = CONF_REAL, .offset = AT(cluster_conf, pue),
      .min = 1.0, .max = 5.0, .fallback = CONF_ABSENT,
      .help = "power usage effectiveness of the building" },
    { .key = "carbon", .type = CONF_NODE, .fallback = CONF_ABSENT,
      .offset = AT(cluster_conf, carbon),
      .help = "carbon intensity, as 400gCO2/kWh, or a series of it; without "
              "it none is counted" },
    { .key = "power_cap", .type = CONF_POWER, .fallback = CONF_ABSENT,
      .offset = AT(cluster_conf, power_cap_w), .min = 1, .max = 1e10,
      .help = "of all nodes, PUE included: what could exceed it does not "
              "start" },
    { .key = "electricity", .type = CONF_NODE, .fallback = CONF_ABSENT,
      .offset = AT(cluster_conf, electricity),
      .help = "price of energy for owned nodes, as 0.08USD/kWh (the default)" },
};
static const struct conf_field nodes_fields[] = {
    { .key = "name", .type = CONF_TEXT, .offset = AT(nodes_conf, name),
      .help = "name of the group; its nodes are name-0, name-1 ..." },
    { .key = "count", .type = CONF_INT, .offset = AT(nodes_conf, count),
      .min = 1, .max = NODES_MAX, .fallback = "1", .help = "nodes" },
    { .key = "gpus", .type = CONF_NODE, .offset = AT(nodes_conf, gpus),
      .fallback = CONF_ABSENT, .help = "GPUs of each node: type and count" },
    { .key = "pcie", .type = CONF_NODE, .offset = AT(nodes_conf, pcie),
      .fallback = CONF_ABSENT,
      .help = "PCIe switches of each node; without it every slot leads to a "
              "CPU" },
    { .key = "nvlink", .type = CONF_NODE, .offset = AT(nodes_conf, nvlink),
      .fallback = CONF_ABSENT,
      .help = "NVLink domains of each node; without it one of all GPUs" },
    { .key = "cpu", .type = CONF_NODE, .offset = AT(nodes_conf, cpu),
      .fallback = CONF_ABSENT, .help = "CPUs of each node: type and sockets" },
    { .key = "cores", .type = CONF_INT, .offset = AT(nodes_conf, cores),
      .min = 1, .max = 65536, .fallback = CONF_ABSENT,
      .help = "physical cores per node, if not all of its sockets'" },
    { .key = "memory", .type = CONF_BYTES, .fallback = CONF_ABSENT,
      .offset = AT(nodes_conf, memory_bytes), .min = 1e6, .max = 1e15,
      .help = "host memory per node" },
    { .key = "nvme", .type = CONF_NODE, .offset = AT(nodes_conf, nvme),
      .fallback = CONF_ABSENT, .help = "local drives, as 4x3.84TB" },
    { .key = "nvme_type", .type = CONF_TEXT, .fallback = CONF_ABSENT,
      .offset = AT(nodes_conf, nvme_type),
      .help = "link type of one drive; without it the first disk known" },
    { .key = "nics", .type = CONF_NODE, .offset = AT(nodes_conf, nics),
      .fallback = CONF_ABSENT,
      .help = "NICs of each node; without them the network never limits" },
    { .key = "pool", .type = CONF_TEXT, .offset = AT(nodes_conf, pool),
      .fallback = CONF_ABSENT, .help = "pool; the group's name if left out" },
    { .key = "price", .type = CONF_NODE, .offset = AT(nodes_conf, price),
      .fallback = CONF_ABSENT,
      .help = "on-demand (if left out), reserved, owned, spot from the "
              "catalogue, or of one node, as 2.5USD/h, or a series of it" },
    { .key = "wan", .type = CONF_RATE, .fallback = CONF_ABSENT,
      .offset = AT(nodes_conf, wan_bps), .min = 1.0, .max = 1e15,
      .help = "line between the shared storage and all nodes of the group "
              "together; without it they stand beside it" },
    { .key = "rent", .type = CONF_NODE, .fallback = CONF_ABSENT,
      .offset = AT(nodes_conf, rent),
      .help = "count is the most that are rented at a time; without it all are "
              "there from the beginning to the end" },
    { .key = "billing", .type = CONF_CHOICE, .choices = billing_choices,
      .offset = AT(nodes_conf, billing), .fallback = "always",
      .help = "always, or held: a node is paid for only while something has a "
              "lease on it" },
};
static const struct conf_field gpus_fields[] = {
    { .key = "type", .type = CONF_TEXT, .offset = AT(item_conf, type),
      .help = "GPU of the catalogue, or generic: a GPU that only counts" },
    { .key = "count", .type = CONF_INT, .offset = AT(item_conf, count),
      .min = 1, .max = NODE_GPUS_MAX, .help = "GPUs per node" },
    { .key = "model", .type = CONF_TEXT, .offset = AT(item_conf, model),
      .fallback = CONF_ABSENT,
      .help = "generic: what jobs of a trace that want certain types call it" },
};
static const struct conf_field pcie_fields[] = {
    { .key = "switches", .type = CONF_INT, .offset = AT(pcie_conf, switches),
      .min = 1, .max = NODE_GPUS_MAX,
      .help = "PCIe switches per node; GPUs, NICs and drives are divided "
              "evenly among them" },
    { .key = "uplinks", .type = CONF_INT, .offset = AT(pcie_conf, uplinks),
      .min = 1, .max = NODE_GPUS_MAX, .fallback = "1",
      .help = "links from each switch to its CPU, each of the rate of one "
              "GPU slot" },
};
static const struct conf_field nvlink_fields[] = {
    { .key = "domain", .type = CONF_INT, .offset = AT(nvlink_conf, domain),
      .min = 0, .max = NODE_GPUS_MAX,
      .help = "GPUs that NVLink connects, as 2 with bridges; 0: all of the "
              "node" },
};
static const struct conf_field cpu_fields[] = {
    { .key = "type", .type = CONF_TEXT, .offset = AT(item_conf, type),
      .help = "CPU of the catalogue" },
    { .key = "sockets", .type = CONF_INT, .offset = AT(item_conf, count),
      .min = 1, .max = 16, .fallback = "1", .help = "sockets per node" },
};
static const struct conf_field nics_fields[] = {
    { .key = "type", .type = CONF_TEXT, .offset = AT(item_conf, type),
      .help = "InfiniBand, RoCE or Ethernet link of the catalogue" },
    { .key = "count", .type = CONF_INT, .offset = AT(item_conf, count),
      .min = 1, .max = 64, .fallback = "1", .help = "NICs per node" },
};
static const struct conf_field network_fields[] = {
    { .key = "leaf", .type = CONF_NODE, .offset = AT(network_conf, leaf),
      .help = "nodes under one leaf switch, as 16 or 16 nodes" },
    { .key = "oversubscription", .type = CONF_REAL, .min = 1.0, .max = 1000.0,
      .offset = AT(network_conf, oversubscription), .fallback = "1",
      .help = "NIC bandwidth under a leaf over that of its uplinks" },
};
static const struct conf_field storage_fields[] = {
    { .key = "bandwidth", .type = CONF_RATE, .offset = AT(storage_conf, bps),
      .min = 1.0, .max = 1e15,
      .help = "of the shared storage, all readers and writers together" },
    { .key = "price", .type = CONF_PRICE, .fallback = CONF_ABSENT,
      .offset = AT(storage_conf, usd_per_h), .max = 1e6,
      .help = "of the shared storage, for as long as the run takes" },
    { .key = "transfer", .type = CONF_NODE, .fallback = CONF_ABSENT,
      .offset = AT(storage_conf, transfer),
      .help = "of what rented nodes read from it and write to it, as "
              "0.02USD/GB" },
};

#define SCHEMA(text, about, table) \
    { .name = text, .help = about, .fields = table, \
      .count = sizeof table / sizeof table[0] }

const struct conf_schema cluster_schema =
    SCHEMA("cluster", "nodes, network and storage", cluster_fields);
const struct conf_schema cluster_nodes_schema =
    SCHEMA("cluster.nodes[]", "a group of nodes that are alike", nodes_fields);
const struct conf_schema cluster_gpus_schema =
    SCHEMA("cluster.nodes[].gpus", "GPUs of a node", gpus_fields);
const struct conf_schema cluster_pcie_schema =
    SCHEMA("cluster.nodes[].pcie", "PCIe switches of a node", pcie_fields);
const struct conf_schema cluster_nvlink_schema =
    SCHEMA("cluster.nodes[].nvlink", "NVLink domains of a node",
           nvlink_fields);
const struct conf_schema cluster_cpu_schema =
    SCHEMA("cluster.nodes[].cpu", "CPUs of a node", cpu_fields);
const struct conf_schema cluster_nics_schema =
    SCHEMA("cluster.nodes[].nics", "NICs of a node", nics_fields);
const struct conf_schema cluster_network_schema =
    SCHEMA("cluster.network", "leaf switches", network_fields);
const struct conf_schema cluster_storage_schema =
    SCHEMA("cluster.storage", "shared storage", storage_fields);

const struct conf_schema *const *cluster_schemas(size_t *count)
{
    static const struct conf_schema *const all[] = {
        &cluster_schema, &cluster_nodes_schema, &cluster_gpus_schema,
        &cluster_pcie_schema, &cluster_nvlink_schema, &cluster_cpu_schema,
        &cluster_nics_schema, &cluster_network_schema,
        &cluster_storage_schema, &outage_schema, &faults_schema,
        &rented_schema,
        &course_schema,
    };
    assert(count != NULL);
    *count = sizeof all / sizeof all[0];
    return all;
}

struct reader {
    struct arena *arena;
    const struct catalogue *catalogue;
    struct err *err;
    const struct gpu_type *generic;
    struct cluster_spec *spec;
    struct node_group *group;       /* of the spec */
    const char **pool_name;
};

/* Length of a decimal number at the start of text and its value; 0: none. */
static size_t read_number(const char *text, double *out)
{
    struct decimal decimal;
    size_t bytes = decimal_read(text, strlen(text), &decimal);
    return bytes > 0 && decimal_to_f64(&decimal, out) ? bytes : 0;
}

/* A scalar that is a number and one of the units (ends with NULL). */
static bool read_quantity(const struct conf_node *node,
                          const char *const *units, double *out)
{
    if (conf_kind(node) != CONF_SCALAR)
        return false;
    const char *text = conf_text(node);
    size_t bytes = read_number(text, out);
    if (bytes == 0)
        return false;
    for (text += bytes; *text == ' '; text++)
        ;
    for (; *units != NULL; units++)
        if (strcmp(text, *units) == 0)
            return true;
    return false;
}

static const char *shown(const struct conf_node *node)
{
    return conf_kind(node) == CONF_SCALAR ? conf_text(node)
           : conf_kind(node) == CONF_LIST ? "a list" : "a map";
}

/* Offers the nearest name of the catalogue. */
static bool hint_nearest(const struct reader *reader, const char *what,
                         const char *name, enum catalogue_section section)
{
    const char *near =
        conf_nearest(name, catalogue_names(reader->catalogue, section));
    static const char *const own[] = { GENERIC, NULL };
    if (near == NULL && section == CATALOGUE_GPUS)
        near = conf_nearest(name, own);
    if (near != NULL)
        return err_hint(reader->err, "Did you mean '%s'?", near);
    return err_hint(reader->err,
                    "`clustersim list %ss` prints the names that are known.",
                    what);
}

/* A name that the catalogue does not have: says where, offers the nearest. */
static bool unknown_type(const struct reader *reader,
                         const struct conf_node *at, const char *what,
                         const char *name, enum catalogue_section section)
{
    const struct conf_node *type = conf_get(at, "type");
    err_set(reader->err, ERR_REFERENCE, conf_pos(type != NULL ? type : at),
            "unknown %s type '%s'", what, name);
    return hint_nearest(reader, what, name, section);
}

/* GPUs of one model are one type, whichever group has them. */
static const struct gpu_type *generic_model(const struct reader *reader,
                                            const char *model)
{
    struct gpu_type *gpu;
    uint32_t last = reader->generic->index;

    for (uint32_t i = 0; i < reader->spec->group_count; i++) {
        const struct gpu_type *known = reader->group[i].gpu;
        if (known == NULL || known->index < reader->generic->index)
            continue;
        if (strcmp(known->name, model) == 0)
            return known;
        last = known->index > last ? known->index : last;
    }
    gpu = arena_alloc(reader->arena, 1, sizeof *gpu);
    *gpu = *reader->generic;
    gpu->name = arena_text(reader->arena, model);
    gpu->index = last + 1;
    return gpu;
}

static bool is_generic(const struct reader *reader, const struct gpu_type *gpu)
{
    return gpu != NULL && gpu->index >= reader->generic->index;
}

static bool read_gpus(const struct reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    if (conf->gpus == NULL)
        return true;
    struct item_conf item = { 0 };
    if (!conf_fill(conf->gpus, &cluster_gpus_schema, &item, reader->err))
        return false;
    group->gpu = catalogue_gpu(reader->catalogue, item.type);
    if (group->gpu == NULL && strcmp(item.type, GENERIC) == 0)
        group->gpu = item.model == NULL ? reader->generic
                                        : generic_model(reader, item.model);
    else if (item.model != NULL)
        return err_set(reader->err, ERR_SCHEMA,
                       conf_pos(conf_get(conf->gpus, "model")),
                       "model names GPUs of type generic, and this is %s",
                       item.type);
    if (group->gpu == NULL)
        return unknown_type(reader, conf->gpus, "gpu", item.type,
                            CATALOGUE_GPUS);
    group->gpus = (uint32_t)item.count;
    group->nvlink_bps = group->gpu->nvlink_bps;
    group->pcie_bps = group->gpu->pcie_bps;
    return true;
}

/* Switches and domains divide the GPUs of a node into equal parts. */
static bool read_pcie(const struct reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    if (conf->pcie == NULL)
        return true;
    struct pcie_conf pcie = { 0 };
    if (!conf_fill(conf->pcie, &cluster_pcie_schema, &pcie, reader->err))
        return false;
    if (group->pcie_bps <= 0.0)
        return err_set(reader->err, ERR_SCHEMA, conf_pos(conf->pcie),
                       "pcie needs GPUs of the catalogue: the slots of %s "
                       "have no rate", group->gpu == NULL
                           ? "nodes without GPUs" : group->gpu->name);
    if (group->gpus % (uint32_t)pcie.switches != 0)
        return err_set(reader->err, ERR_RANGE,
                       conf_pos(conf_get(conf->pcie, "switches")),
                       "switches must divide the %u GPUs of a node evenly, "
                       "found %lld", group->gpus, (long long)pcie.switches);
    group->pcie_switches = (uint32_t)pcie.switches;
    group->pcie_uplink_bps = (double)pcie.uplinks * group->pcie_bps;
    return true;
}

static bool read_nvlink(const struct reader *reader,
                        const struct nodes_conf *conf,
                        struct node_group *group)
{
    if (conf->nvlink == NULL)
        return true;
    struct nvlink_conf nvlink = { 0 };
    if (!conf_fill(conf->nvlink, &cluster_nvlink_schema, &nvlink,
                   reader->err))
        return false;
    if (group->nvlink_bps <= 0.0)
        return err_set(reader->err, ERR_SCHEMA, conf_pos(conf->nvlink),
                       "nvlink needs GPUs with NVLink, which %s are not",
                       group->gpu == NULL ? "nodes without GPUs"
                                          : group->gpu->name);
    uint32_t domain = (uint32_t)nvlink.domain;
    if (domain > 0 && (domain > group->gpus || group->gpus % domain != 0))
        return err_set(reader->err, ERR_RANGE,
                       conf_pos(conf_get(conf->nvlink, "domain")),
                       "domain must divide the %u GPUs of a node evenly, "
                       "found %u", group->gpus, domain);
    group->nvlink_domain = domain == group->gpus ? 0 : domain;
    return true;
}

/* Cores and memory where no CPU is named: allowed beside generic GPUs. */
static bool read_no_cpu(const struct reader *reader,
                        const struct conf_node *at,
                        const struct nodes_conf *conf,
                        struct node_group *group)
{
    bool bare = group->gpu == NULL && conf->cores > 0 &&
                conf->memory_bytes > 0.0;
    if (!bare && !is_generic(reader, group->gpu))
        return err_set(reader->err, ERR_SCHEMA, conf_pos(at),
                       "cpu is missing: nodes need one unless their GPUs are "
                       "of type generic, or they have none, but cores and "
                       "memory");
    group->cores = conf->cores > 0 ? (uint32_t)conf->cores
                                   : CLUSTER_CORES_UNLIMITED;
    group->memory_bytes = conf->memory_bytes > 0.0
                              ? (int64_t)conf->memory_bytes
                              : CLUSTER_MEMORY_UNLIMITED;
    return true;
}

static bool read_cpu(const struct reader *reader, const struct conf_node *at,
                     const struct nodes_conf *conf, struct node_group *group)
{
    if (conf->cpu == NULL)
        return read_no_cpu(reader, at, conf, group);
    struct item_conf item = { 0 };
    if (!conf_fill(conf->cpu, &cluster_cpu_schema, &item, reader->err))
        return false;
    group->cpu = catalogue_cpu(reader->catalogue, item.type);
    if (group->cpu == NULL)
        return unknown_type(reader, conf->cpu, "cpu", item.type,
                            CATALOGUE_CPUS);
    group->sockets = (uint32_t)item.count;
    group->cores = group->cpu->cores * group->sockets;
    if (conf->cores > (int64_t)group->cores)
        return err_set(reader->err, ERR_RANGE,
                       conf_pos(conf_get(at, "cores")),
                       "cores must be at most %u, which %u x %s have, found "
                       "%lld", (unsigned)group->cores,
                       (unsigned)group->sockets, group->cpu->name,
                       (long long)conf->cores);
    if (conf->cores > 0)
        group->cores = (uint32_t)conf->cores;
    if (conf->memory_bytes <= 0.0) {
        err_set(reader->err, ERR_SCHEMA, conf_pos(at),
                "memory is missing: nodes with a cpu need it");
        return err_hint(reader->err,
                        "Write the host memory of one node: memory: 1TB");
    }
    group->memory_bytes = (int64_t)conf->memory_bytes;
    return true;
}

static const struct link_type *first_disk(const struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue_link_count(catalogue); i++)
        if (catalogue_link_at(catalogue, i)->kind == LINK_DISK)
            return catalogue_link_at(catalogue, i);
    return NULL;
}

/* "4x3.84TB": drives and the size of each; their number sets the rate. */
static bool read_nvme(const struct reader *reader, const struct conf_node *at,
                      const struct nodes_conf *conf, struct node_group *group)
{
    static const char *const units[] = { "GB", "TB", "GiB", "TiB", NULL };
    if (conf->nvme == NULL)
        return true;
    double drives = 0.0, size = 0.0;
    const char *text = shown(conf->nvme), *unit = "";
    size_t bytes = read_number(text, &drives);
    if (bytes > 0 && text[bytes] == 'x') {
        const char *each = text + bytes + 1;
        unit = each + read_number(each, &size);
    }
    bool known = false;
    for (size_t i = 0; units[i] != NULL; i++)
        known = known || strcmp(unit, units[i]) == 0;
    double si = unit[0] == 'T' ? 1e12 : 1e9;
    double ibi = unit[0] == 'T' ? 0x1p40 : 0x1p30;
    if (!known || size <= 0.0 || drives < 1.0 || drives > 64.0 ||
        drives != (double)(int)drives)
        return err_set(reader->err, ERR_SCHEMA, conf_pos(conf->nvme),
                       "nvme must be 1 to 64 drives and the size of each, as "
                       "4x3.84TB, found '%s'", text);
    const struct link_type *disk =
        conf->nvme_type == NULL ? first_disk(reader->catalogue)
                                : catalogue_link(reader->catalogue,
                                                 conf->nvme_type);
    if (disk == NULL || disk->kind != LINK_DISK) {
        const char *name = conf->nvme_type == NULL ? "none"
                                                   : conf->nvme_type;
        err_set(reader->err, ERR_REFERENCE,
                conf_pos(conf->nvme_type == NULL ? conf->nvme
                                                 : conf_get(at, "nvme_type")),
                "nvme_type must be a disk of the catalogue, found '%s'", name);
        if (disk == NULL)
            hint_nearest(reader, "link", name, CATALOGUE_LINKS);
        return false;
    }
    group->nvme_bps = drives * disk->bps_sustained;
    group->nvme_bytes = drives * size * (unit[1] == 'i' ? ibi : si);
    group->nvme_access_bytes = disk->access_s * disk->bps_sustained;
    return true;
}

static bool read_nics(const struct reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    if (conf->nics == NULL)
        return true;
    struct item_conf item = { 0 };
    if (!conf_fill(conf->nics, &cluster_nics_schema, &item, reader->err))
        return false;
    const struct link_type *link =
        catalogue_link(reader->catalogue, item.type);
    if (link == NULL)
        return unknown_type(reader, conf->nics, "link", item.type,
                            CATALOGUE_LINKS);
    if (link->kind != LINK_IB && link->kind != LINK_ROCE &&
        link->kind != LINK_ETHERNET)
        return err_set(reader->err, ERR_REFERENCE,
                       conf_pos(conf_get(conf->nics, "type")),
                       "nics type must be an InfiniBand, RoCE or Ethernet "
                       "link, found '%s', which is %s", item.type,
                       link_kind_choices[link->kind]);
    group->nic_bps = (double)item.count * link->bps_sustained;
    group->nic_latency_s = link->latency_s;
    return true;
}

static bool no_price(const struct reader *reader, const struct conf_node *at,
                     const char *of, enum price_kind kind)
{
    err_set(reader->err, ERR_REFERENCE, conf_pos(at),
            "no %s price of %s is known", price_kind_choices[kind], of);
    return err_hint(reader->err, "Give the price of one node: price: "
                                 "2.5USD/h");
}

/* GPUs with the cores that come with them, then the cores beyond those. */
static bool catalogue_node_price(const struct reader *reader,
                                 const struct conf_node *at,
                                 enum price_kind kind,
                                 struct node_group *group)
{
    double cores = group->cores;
    group->usd_per_h = 0.0;
    group->energy_included = kind != PRICE_OWNED;
    if (group->gpu != NULL) {
        const struct price *gpu = catalogue_price_of(
            reader->catalogue, group->gpu->name, kind);
        if (gpu == NULL)
            return no_price(reader, at, group->gpu->name, kind);
        group->usd_per_h = group->gpus * gpu->usd_per_h;
        group->energy_included = gpu->energy_included;
        cores -= group->gpus * gpu->cores;
    }
    if (cores <= 0.0)
        return true;
    const struct price *core =
        catalogue_price_of(reader->catalogue, "core", kind);
    if (core == NULL)
        return no_price(reader, at, "core", kind);
    group->usd_per_h += cores * core->usd_per_h;
    return true;
}

static bool read_price(const struct reader *reader, const struct conf_node *at,
                       const struct nodes_conf *conf,
                       struct node_group *group)
{
    if (conf->price == NULL &&
        (is_generic(reader, group->gpu) ||
         (group->gpu == NULL && group->cpu == NULL))) {
        group->energy_included = true;
        return true;
    }
    if (conf->price == NULL)
        return catalogue_node_price(reader, at, PRICE_ON_DEMAND, group);
    if (conf_kind(conf->price) == CONF_MAP) {
        group->price = course_read(reader->arena, conf->price, "USD/h",
                                   reader->err);
        if (group->price == NULL)
            return false;
        group->energy_included = true;
        group->usd_per_h = course_at(group->price, 0);
        reader->spec->priced = true;
        return true;
    }
    const char *text = shown(conf->price);
    for (int kind = 0; price_kind_choices[kind] != NULL; kind++)
        if (strcmp(text, price_kind_choices[kind]) == 0)
            return catalogue_node_price(reader, conf->price,
                                        (enum price_kind)kind, group);
    const char *near = conf_nearest(text, price_kind_choices);
    if (near != NULL) {
        err_set(reader->err, ERR_SCHEMA, conf_pos(conf->price),
                "price must be on-demand, reserved, owned, spot or an amount, "
                "as 2.5USD/h, found '%s'", text);
        return err_hint(reader->err, "Did you mean '%s'?", near);
    }
    static const struct conf_field literal = {
        .key = "price", .type = CONF_PRICE, .min = 0.0, .max = 1e6,
        .help = "of one node",
    };
    group->energy_included = true;
    return conf_read(conf->price, &literal, &group->usd_per_h, reader->err);
}

static bool read_pool(const struct reader *reader, const struct conf_node *at,
                      const char *name, struct node_group *group)
{
    struct cluster_spec *spec = reader->spec;
    for (group->pool = 0; group->pool < spec->pool_count; group->pool++)
        if (strcmp(reader->pool_name[group->pool], name) == 0)
            return true;
    if (spec->pool_count == POOLS_MAX)
        return err_set(reader->err, ERR_RANGE, conf_pos(at),
                       "more than %u pools", POOLS_MAX);
    reader->pool_name[spec->pool_count++] = name;
    return true;
}

/* Adds the group to the totals; ids and sums are 32 bits wide. */
static bool count_group(const struct reader *reader,
                        const struct conf_node *at,
                        struct node_group *group)
{
    struct cluster_spec *spec = reader->spec;
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (strcmp(reader->group[i].name, group->name) == 0)
            return err_set(reader->err, ERR_SCHEMA,
                           conf_pos(conf_get(at, "name")),
                           "name '%s' is given to two groups of nodes",
                           group->name);
    uint64_t nodes = (uint64_t)spec->node_count + group->node_count;
    uint64_t cores = (uint64_t)spec->core_count;
    if (group->cores != CLUSTER_CORES_UNLIMITED)
        cores += (uint64_t)group->cores * group->node_count;
    if (nodes > NODES_MAX || cores > UINT32_MAX)
        return err_set(reader->err, ERR_RANGE, conf_pos(at),
                       "a cluster has at most %d nodes and %u cores, this is "
                       "the group that goes beyond", NODES_MAX,
                       (unsigned)UINT32_MAX);
    group->first_node = spec->node_count;
    spec->node_count = (uint32_t)nodes;
    spec->core_count = (uint32_t)cores;
    spec->gpu_count += group->gpus * group->node_count;
    spec->group_count++;
    return true;
}

static bool read_rent(const struct reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    if (conf->rent == NULL)
        return true;
    if (group->billed_held)
        return err_set(reader->err, ERR_SCHEMA, conf_pos(conf->rent),
                       "rent and `billing: held` cannot stand together");
    struct rent_spec *rent = arena_alloc(reader->arena, 1, sizeof *rent);
    group->rent = rent;
    reader->spec->rents = true;
    return rented_read(reader->arena, conf->rent, group->node_count, rent,
                       reader->err);
}

static void node_power(struct node_group *group)
{
    if (group->cpu == NULL)
        return;
    double rest_w = power_node_rest_w(group->gpus, group->sockets);
    group->idle_w = rest_w + group->sockets * power_cpu_w(group->cpu, 0.0);
    group->max_w = rest_w + group->sockets * power_cpu_w(group->cpu, 1.0);
    assert(group->max_w >= group->idle_w);
}

static bool read_group(const struct reader *reader, const struct conf_node *at)
{
    struct nodes_conf conf = { 0 };
    struct node_group *group = &reader->group[reader->spec->group_count];
    if (!conf_fill(at, &cluster_nodes_schema, &conf, reader->err))
        return false;
    group->name = conf.name;
    group->node_count = (uint32_t)conf.count;
    group->billed_held = conf.billing == 1;
    group->wan_bps = conf.wan_bps;
    if (!read_gpus(reader, &conf, group) ||
        !read_pcie(reader, &conf, group) ||
        !read_nvlink(reader, &conf, group) ||
        !read_cpu(reader, at, &conf, group) ||
        !read_nvme(reader, at, &conf, group) ||
        !read_nics(reader, &conf, group) ||
        !read_price(reader, at, &conf, group) ||
        !read_rent(reader, &conf, group))
        return false;
    node_power(group);
    return read_pool(reader, at, conf.pool != NULL ? conf.pool : conf.name,
                     group) &&
           count_group(reader, at, group);
}

static bool read_groups(const struct reader *reader,
                        const struct conf_node *nodes)
{
    for (size_t i = 0; i < conf_count(nodes); i++)
        if (!read_group(reader, conf_item(nodes, i)))
            return false;
    return true;
}

static bool read_network(struct cluster_spec *spec,
                         const struct conf_node *network, struct err *err)
{
    static const char *const units[] = { "", "node", "nodes", NULL };
    spec->oversubscription = 1.0;
    if (network == NULL)
        return true;
    struct network_conf conf = { 0 };
    if (!conf_fill(network, &cluster_network_schema, &conf, err))
        return false;
    double leaf = 0.0;
    if (!read_quantity(conf.leaf, units, &leaf) || leaf < 1.0 ||
        leaf > NODES_MAX || leaf != (double)(uint32_t)leaf)
        return err_set(err, ERR_SCHEMA, conf_pos(conf.leaf),
                       "leaf must be a number of nodes, as 16 or 16 nodes, "
                       "found '%s'", shown(conf.leaf));
    spec->leaf_nodes = (uint32_t)leaf;
    spec->oversubscription = conf.oversubscription;
    return true;
}

/* Default: industrial customers in the USA paid 8.0 cents in 2023 (EIA,
 * Electric Power Annual, table 2.4; as known, not re-checked). */
static bool read_electricity(struct cluster_spec *spec,
                             const struct conf_node *conf, struct err *err)
{
    static const char *const units[] = { "USD/kWh", NULL };
    double *price = &spec->electricity_usd_per_kwh;
    *price = 0.08;
    if (conf == NULL ||
        (read_quantity(conf, units, price) && *price >= 0.0 && *price <= 10.0))
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(conf),
                   "electricity must be 0 to 10USD/kWh, found '%s'",
                   shown(conf));
}

static bool read_transfer(struct cluster_spec *spec,
                          const struct conf_node *conf, struct err *err)
{
    static const char *const units[] = { "USD/GB", NULL };
    double usd_per_gb = 0.0;
    if (conf == NULL)
        return true;
    if (!read_quantity(conf, units, &usd_per_gb) || usd_per_gb < 0.0 ||
        usd_per_gb > 100.0)
        return err_set(err, ERR_SCHEMA, conf_pos(conf),
                       "transfer must be 0 to 100USD/GB, found '%s'",
                       shown(conf));
    spec->transfer_usd_per_byte = usd_per_gb / 1e9;
    return true;
}

/* What a line leads to must be there. */
static bool check_wans(const struct cluster_spec *spec,
                       const struct cluster_conf *conf, struct err *err)
{
    for (uint32_t g = 0; g < spec->group_count && spec->storage_bps == 0; g++)
        if (spec->group[g].wan_bps > 0)
            return err_set(err, ERR_SCHEMA,
                           conf_pos(conf_get(conf_item(conf->nodes, g),
                                             "wan")),
                           "wan leads to the shared storage, and this cluster "
                           "has none");
    return true;
}

static bool read_failures(struct arena *arena, struct cluster_spec *spec,
                          const struct conf_node *conf, struct err *err)
{
    struct outage_spec *failures;

    if (conf == NULL)
        return true;
    failures = arena_alloc(arena, 1, sizeof *failures);
    spec->failures = failures;
    if (!outage_read(conf, failures, err))
        return false;
    if (failures->trace != NULL) {
        failures->recorded = faults_read(arena, failures->trace,
                                         spec->node_count, err);
        if (failures->recorded == NULL)
            return false;
    }
    if (failures->switch_mtbf_ns == 0 || spec->leaf_nodes > 0)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "switch_mtbf")),
            "switch_mtbf needs leaf switches, and this cluster has none");
    return err_hint(err, "Give `network: {leaf: 16 nodes}`.");
}

static bool read_rest(struct arena *arena, struct cluster_spec *spec,
                      const struct cluster_conf *conf, struct err *err)
{
    static const char *const units[] = { "gCO2/kWh", "g/kWh", NULL };
    spec->pue = conf->pue;
    if (!read_network(spec, conf->network, err))
        return false;
    if (conf->storage != NULL) {
        struct storage_conf storage = { 0 };
        if (!conf_fill(conf->storage, &cluster_storage_schema, &storage, err))
            return false;
        spec->storage_bps = storage.bps;
        spec->storage_usd_per_h = storage.usd_per_h;
        if (!read_transfer(spec, storage.transfer, err))
            return false;
    }
    if (!check_wans(spec, conf, err) ||
        !read_electricity(spec, conf->electricity, err) ||
        !read_failures(arena, spec, conf->failures, err))
        return false;
    spec->power_cap_w = conf->power_cap_w;
    if (conf->carbon == NULL)
        return true;
    if (conf_kind(conf->carbon) == CONF_MAP) {
        spec->carbon = course_read(arena, conf->carbon, "gCO2/kWh", err);
        if (spec->carbon != NULL)
            spec->carbon_g_per_kwh = course_at(spec->carbon, 0);
        return spec->carbon != NULL;
    }
    if (!read_quantity(conf->carbon, units, &spec->carbon_g_per_kwh) ||
        spec->carbon_g_per_kwh < 0.0 || spec->carbon_g_per_kwh > 5000.0)
        return err_set(err, ERR_SCHEMA, conf_pos(conf->carbon),
                       "carbon must be 0 to 5000gCO2/kWh, found '%s'",
                       shown(conf->carbon));
    return true;
}

/* Its index follows those of the catalogue; all its rates are 0. */
static const struct gpu_type *generic_gpu(struct arena *arena,
                                          const struct catalogue *catalogue)
{
    struct gpu_type *gpu = arena_alloc(arena, 1, sizeof *gpu);
    gpu->name = GENERIC;
    gpu->label = "a GPU that only counts";
    gpu->arch = gpu->nvlink = gpu->pcie = gpu->notes = "";
    gpu->source = "no device: speed, price and power are not modelled";
    gpu->index = (uint32_t)catalogue_gpu_count(catalogue);
    return gpu;
}

const struct cluster_spec *cluster_read(struct arena *arena,
                                        const struct conf_node *conf,
                                        const struct catalogue *catalogue,
                                        struct err *err)
{
    assert(arena != NULL && conf != NULL && catalogue != NULL && err != NULL);
    struct cluster_conf top = { .pue = power_pue_default() };
    if (!conf_fill(conf, &cluster_schema, &top, err))
        return NULL;
    if (conf_kind(top.nodes) != CONF_LIST || conf_count(top.nodes) == 0) {
        err_set(err, ERR_SCHEMA, conf_pos(top.nodes),
                "nodes must be a list of at least one group, found %s",
                conf_kind(top.nodes) == CONF_LIST ? "none"
                                                  : shown(top.nodes));
        return NULL;
    }
    struct cluster_spec *spec = arena_alloc(arena, 1, sizeof *spec);
    struct reader reader = {
        .arena = arena, .catalogue = catalogue, .err = err, .spec = spec,
        .generic = generic_gpu(arena, catalogue),
        .group = arena_alloc(arena, conf_count(top.nodes),
                             sizeof *reader.group),
        .pool_name = arena_alloc(arena, POOLS_MAX, sizeof *reader.pool_name),
    };
    spec->name = top.name;
    spec->group = reader.group;
    spec->pool_name = reader.pool_name;
    if (!read_groups(&reader, top.nodes) || !read_rest(arena, spec, &top, err))
        return NULL;
    spec->unpriced = true;
    for (uint32_t g = 0; g < spec->group_count; g++)
        spec->unpriced &= spec->group[g].usd_per_h == 0.0 &&
                          spec->group[g].price == NULL;
    return spec;
}
