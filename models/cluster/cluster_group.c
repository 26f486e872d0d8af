/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_group.c - one group of nodes from YAML: what a node holds.
 *
 * Names are looked up in the catalogue; the nearest is offered for one that is
 * not there.  Each part of a node is read after those that its checks need:
 * GPUs first, the price last but the rent.
 */
#include "models/cluster/cluster_form.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/power.h"
#include "models/cluster/rented.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Offers the nearest name of the catalogue. */
static bool hint_nearest(const struct cluster_reader *reader, const char *name,
                         enum catalogue_section section)
{
    assert(name != NULL);
    static const char *const own[] = { CLUSTER_GENERIC, NULL };
    if (section == CATALOGUE_GPUS && conf_nearest(name, own) != NULL)
        return err_hint(reader->err, "Did you mean '%s'?", own[0]);
    return catalogue_hint(reader->catalogue, section, name, reader->err);
}

/* A name that the catalogue does not have: says where, offers the nearest. */
static bool report_type(const struct cluster_reader *reader,
                        const struct conf_node *at, const char *what,
                        const char *name, enum catalogue_section section)
{
    assert(at != NULL);
    assert(what != NULL && name != NULL);
    const struct conf_node *type = conf_get(at, "type");
    err_set(reader->err, ERR_REFERENCE, conf_pos(type != NULL ? type : at),
            "unknown %s type '%s'", what, name);
    return hint_nearest(reader, name, section);
}

/* GPUs of one model are one type, whichever group has them.  A new model gets the index behind
 * the last one, so that laws tell them apart by index alone. */
static const struct gpu_type *generic_model(const struct cluster_reader *reader,
                                            const char *model)
{
    assert(model != NULL);
    struct gpu_type *gpu;
    uint32_t last = reader->generic->index;

    for (uint32_t i = 0; i < reader->spec->group_count; i++) {
        const struct gpu_type *known = reader->group[i].gpu;
        /* Types of the catalogue have lower indices than the generic ones, which follow them. */
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

/* The type is one of the catalogue, or `generic`: a GPU that only counts.  The
 * group takes over the rates of its links. */
static bool read_gpus(const struct cluster_reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    assert(conf != NULL && group != NULL);
    if (conf->gpus == NULL)
        return true;
    struct item_conf item = { 0 };
    if (!conf_fill(conf->gpus, &cluster_gpus_schema, &item, reader->err))
        return false;
    group->gpu = catalogue_gpu(reader->catalogue, item.type);
    if (group->gpu == NULL && strcmp(item.type, CLUSTER_GENERIC) == 0)
        group->gpu = item.model == NULL ? reader->generic
                                        : generic_model(reader, item.model);
    else if (item.model != NULL)
        return err_set(reader->err, ERR_SCHEMA,
                       conf_pos(conf_get(conf->gpus, "model")),
                       "model names GPUs of type generic, and this is %s",
                       item.type);
    if (group->gpu == NULL)
        return report_type(reader, conf->gpus, "gpu", item.type,
                           CATALOGUE_GPUS);
    group->gpus = (uint32_t)item.count;
    /* The rates of a slot; read_cpu() lowers them to those of an older host. */
    group->nvlink_bps = group->gpu->nvlink_bps;
    group->pcie_bps = group->gpu->pcie_bps;
    return true;
}

/* Switches and domains divide the GPUs of a node into equal parts.  For example, 8 GPUs behind
 * 4 switches with 1 uplink each: two GPUs share the rate of one slot. */
static bool read_pcie(const struct cluster_reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    assert(conf != NULL && group != NULL);
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

/* A domain of all GPUs is stored as 0, as if none were stated. */
static bool read_nvlink(const struct cluster_reader *reader,
                        const struct nodes_conf *conf,
                        struct node_group *group)
{
    assert(conf != NULL && group != NULL);
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
static bool read_no_cpu(const struct cluster_reader *reader,
                        const struct nodes_conf *conf,
                        struct node_group *group)
{
    assert(conf != NULL && group != NULL);
    /* Nodes of cores alone whose type does not matter: only their number is known. */
    bool bare = group->gpu == NULL && conf->cores > 0 &&
                conf->memory_bytes > 0.0;
    if (!bare && !cluster_is_generic(reader, group->gpu)) {
        err_set(reader->err, ERR_SCHEMA, conf_pos(conf->at),
                "cpu is missing: nodes need one unless their GPUs are of type "
                "generic, or they have none, but cores and memory");
        return err_hint(reader->err,
                        "Write what one node has, as cpu: {type: epyc-7763, sockets: 2} "
                        "and memory: 1TB.  `clustersim list cpus` names the types.");
    }
    group->cores = conf->cores > 0 ? (uint32_t)conf->cores
                                   : CLUSTER_CORES_UNLIMITED;
    group->memory_bytes = conf->memory_bytes > 0.0
                              ? (int64_t)conf->memory_bytes
                              : CLUSTER_MEMORY_UNLIMITED;
    return true;
}

/* A CPU needs `memory`; `cores` may be fewer than its sockets have. */
static bool read_cpu(const struct cluster_reader *reader,
                     const struct nodes_conf *conf, struct node_group *group)
{
    assert(conf != NULL && group != NULL);
    if (conf->cpu == NULL)
        return read_no_cpu(reader, conf, group);
    struct item_conf item = { 0 };
    if (!conf_fill(conf->cpu, &cluster_cpu_schema, &item, reader->err))
        return false;
    group->cpu = catalogue_cpu(reader->catalogue, item.type);
    if (group->cpu == NULL)
        return report_type(reader, conf->cpu, "cpu", item.type,
                           CATALOGUE_CPUS);
    group->sockets = (uint32_t)item.count;
    if (group->pcie_bps > 0.0 && group->cpu->pcie_bps > 0.0)    /* the older end decides */
        group->pcie_bps = fmin(group->pcie_bps, group->cpu->pcie_bps);
    /* All of the sockets, unless `cores` says that fewer are to be had. */
    group->cores = group->cpu->cores * group->sockets;
    if (conf->cores > (int64_t)group->cores)
        return err_set(reader->err, ERR_RANGE,
                       conf_pos(conf_get(conf->at, "cores")),
                       "cores must be at most %u, which %u x %s have, found "
                       "%lld", (unsigned)group->cores,
                       (unsigned)group->sockets, group->cpu->name,
                       (long long)conf->cores);
    if (conf->cores > 0)
        group->cores = (uint32_t)conf->cores;
    if (conf->memory_bytes <= 0.0) {
        err_set(reader->err, ERR_SCHEMA, conf_pos(conf->at),
                "memory is missing: nodes with a cpu need it");
        return err_hint(reader->err,
                        "Write the host memory of one node: memory: 1TB");
    }
    group->memory_bytes = (int64_t)conf->memory_bytes;
    return true;
}

/* "4x3.84TB": drives and the size of each.  True: both are set. "4x3.84TB" are 4 drives of
 * 3.84e12 bytes. */
static bool read_drives(const struct conf_node *conf, double *drives,
                        double *each_bytes, struct err *err)
{
    assert(drives != NULL && each_bytes != NULL);
    static const struct { const char *name; double bytes; } units[] = {
        { "GB", 1e9 }, { "TB", 1e12 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 },
    };
    const char *text = cluster_shown(conf), *unit = "";
    size_t length = cluster_number(text, drives);
    double size = 0.0;
    if (length > 0 && text[length] == 'x') {
        const char *each = text + length + 1;
        unit = each + cluster_number(each, &size);
    }
    /* No unit, or another one: it stays 0 and is refused below. */
    *each_bytes = 0.0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].name) == 0)
            *each_bytes = size * units[i].bytes;
    if (*each_bytes > 0.0 && *drives >= 1.0 && *drives <= 64.0 &&
        *drives == (double)(int)*drives)
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(conf),
                   "nvme must be 1 to 64 drives and the size of each, as "
                   "4x3.84TB, found '%s'", text);
}

/* The drive of nodes whose file names no type. */
static const struct link_type *first_disk(const struct catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue_link_count(catalogue); i++)
        if (catalogue_link_at(catalogue, i)->kind == LINK_DISK)
            return catalogue_link_at(catalogue, i);
    return NULL;
}

/* What one drive is; NULL after a message. */
static const struct link_type *read_disk(const struct cluster_reader *reader,
                                         const struct nodes_conf *conf)
{
    assert(conf != NULL);
    const char *name = conf->nvme_type;
    const struct link_type *disk =
        name == NULL ? first_disk(reader->catalogue)
                     : catalogue_link(reader->catalogue, name);
    if (disk != NULL && disk->kind == LINK_DISK)
        return disk;
    err_set(reader->err, ERR_REFERENCE,
            conf_pos(name == NULL ? conf->nvme
                                  : conf_get(conf->at, "nvme_type")),
            "nvme_type must be a disk of the catalogue, found '%s'",
            name == NULL ? "none" : name);
    if (disk == NULL)
        hint_nearest(reader, name == NULL ? "none" : name, CATALOGUE_LINKS);
    return NULL;
}

/* A seek costs what the drive could have read meanwhile (nvme_access_bytes). */
static bool read_nvme(const struct cluster_reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    assert(conf != NULL && group != NULL);
    double drives = 0.0, each_bytes = 0.0;
    if (conf->nvme == NULL && conf->nvme_type != NULL) {
        err_set(reader->err, ERR_SCHEMA,
                conf_pos(conf_get(conf->at, "nvme_type")),
                "nvme_type has no meaning without nvme");
        return err_hint(reader->err, "Say how many drives of what size there "
                                     "are, as nvme: 4x3.84TB");
    }
    if (conf->nvme == NULL)
        return true;
    if (!read_drives(conf->nvme, &drives, &each_bytes, reader->err))
        return false;
    const struct link_type *disk = read_disk(reader, conf);
    if (disk == NULL)
        return false;
    /* Drives are read side by side, as a stripe of all. */
    group->nvme_bps = drives * disk->bps_sustained;
    group->nvme_bytes = drives * each_bytes;
    /* What one drive loses by a seek: the others read on meanwhile. */
    group->nvme_access_bytes = disk->access_s * disk->bps_sustained;
    return true;
}

/* The NICs of a node act as one link of their summed rate. */
static bool read_nics(const struct cluster_reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    assert(conf != NULL && group != NULL);
    if (conf->nics == NULL)
        return true;
    struct item_conf item = { 0 };
    if (!conf_fill(conf->nics, &cluster_nics_schema, &item, reader->err))
        return false;
    const struct link_type *link =
        catalogue_link(reader->catalogue, item.type);
    if (link == NULL)
        return report_type(reader, conf->nics, "link", item.type,
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

/* Finds the pool of a group, or adds it.  A group that names none has a pool of its own name.
 * False: *reader->err is set; masks of pools have 32 bits. */
static bool read_pool(const struct cluster_reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    assert(reader->spec->pool_count <= CLUSTER_POOLS_MAX);
    const char *name = conf->pool != NULL ? conf->pool : conf->name;
    struct cluster_spec *spec = reader->spec;
    /* Pools are numbered in the order in which groups first name them. */
    for (group->pool = 0; group->pool < spec->pool_count; group->pool++)
        if (strcmp(reader->pool_name[group->pool], name) == 0)
            return true;
    if (spec->pool_count == CLUSTER_POOLS_MAX)
        return err_set(reader->err, ERR_RANGE, conf_pos(conf->at),
                       "more than %u pools", CLUSTER_POOLS_MAX);
    reader->pool_name[spec->pool_count++] = name;
    return true;
}

/* Adds the group to the totals; ids and sums are 32 bits wide.  The name must be new.
 * Unlimited cores are in no total. */
static bool count_group(const struct cluster_reader *reader,
                        const struct conf_node *at,
                        struct node_group *group)
{
    assert(group->gpus <= NODE_GPUS_MAX);
    struct cluster_spec *spec = reader->spec;
    for (uint32_t i = 0; i < spec->group_count; i++)
        if (strcmp(reader->group[i].name, group->name) == 0)
            return err_set(reader->err, ERR_SCHEMA,
                           conf_pos(conf_get(at, "name")),
                           "name '%s' is given to two groups of nodes",
                           group->name);
    /* In 64 bits, so that a sum beyond 32 is seen before it is stored. */
    uint64_t nodes = (uint64_t)spec->node_count + group->node_count;
    uint64_t cores = (uint64_t)spec->core_count;
    if (group->cores != CLUSTER_CORES_UNLIMITED)
        cores += (uint64_t)group->cores * group->node_count;
    if (nodes > CLUSTER_NODES_MAX || cores > UINT32_MAX)
        return err_set(reader->err, ERR_RANGE, conf_pos(at),
                       "a cluster has at most %d nodes and %u cores, this is "
                       "the group that goes beyond", CLUSTER_NODES_MAX,
                       (unsigned)UINT32_MAX);
    group->first_node = spec->node_count;
    spec->node_count = (uint32_t)nodes;
    spec->core_count = (uint32_t)cores;
    spec->gpu_count += group->gpus * group->node_count;
    spec->group_count++;
    return true;
}

/* Rented nodes are billed while rented, so `billing: held` contradicts them. */
static bool read_rent(const struct cluster_reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    assert(conf != NULL && group != NULL);
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

/* Watts without the GPUs, idle and at full load; 0 where no CPU is known. */
static void set_power(struct node_group *group)
{
    if (group->cpu == NULL)
        return;
    double rest_w = power_node_rest_w(group->gpus, group->sockets);
    group->idle_w = rest_w + group->sockets * power_cpu_w(group->cpu, 0.0);
    group->max_w = rest_w + group->sockets * power_cpu_w(group->cpu, 1.0);
    assert(group->max_w >= group->idle_w);
}

bool cluster_read_group(const struct cluster_reader *reader,
                        const struct conf_node *at)
{
    assert(reader != NULL && at != NULL);
    struct nodes_conf conf = { .at = at };
    struct node_group *group = &reader->group[reader->spec->group_count];
    if (!conf_fill(at, &cluster_nodes_schema, &conf, reader->err))
        return false;
    group->name = conf.name;
    group->node_count = (uint32_t)conf.count;
    group->billed_held = conf.billing == 1;
    group->wan_bps = conf.wan_bps;
    if (!read_gpus(reader, &conf, group) ||
        !read_cpu(reader, &conf, group) ||
        !read_pcie(reader, &conf, group) ||
        !read_nvlink(reader, &conf, group) ||
        !read_nvme(reader, &conf, group) ||
        !read_nics(reader, &conf, group) ||
        !cluster_read_price(reader, &conf, group) ||
        !read_rent(reader, &conf, group))
        return false;
    set_power(group);
    if (!conf_acts(at, "billing", group->billed_held && group->price == NULL &&
                   !(group->usd_per_h > 0.0), "needs a price of the node",
                   reader->err))
        return false;
    return read_pool(reader, &conf, group) && count_group(reader, at, group);
}
