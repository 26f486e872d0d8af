/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_group.c - one group of nodes from YAML: what a node holds, and what
 * it costs.
 *
 * Names are looked up in the catalogue; the nearest is offered for one that is
 * not there.  Each part of a node is read after those that its checks need:
 * GPUs first, the price last but the rent.
 */
#include "models/cluster/cluster_form.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/power.h"
#include "models/cluster/rented.h"
#include "models/cluster/time_series.h"
#include "sim/base/arena.h"
#include "sim/base/decimal.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Length of a decimal number at the start of text and its value; 0: none. */
size_t cluster_number(const char *text, double *out)
{
    assert(text != NULL && out != NULL);
    struct decimal decimal;
    size_t bytes = decimal_read(text, strlen(text), &decimal);
    return bytes > 0 && decimal_to_f64(&decimal, out) ? bytes : 0;
}

const char *cluster_shown(const struct conf_node *node)
{
    assert(node != NULL);
    return conf_kind(node) == CONF_SCALAR ? conf_text(node)
           : conf_kind(node) == CONF_LIST ? "a list" : "a map";
}

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
static bool unknown_type(const struct cluster_reader *reader,
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

/* GPUs of one model are one type, whichever group has them. */
static const struct gpu_type *generic_model(const struct cluster_reader *reader,
                                            const char *model)
{
    assert(model != NULL);
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

static bool is_generic(const struct cluster_reader *reader,
                       const struct gpu_type *gpu)
{
    return gpu != NULL && gpu->index >= reader->generic->index;
}

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
        return unknown_type(reader, conf->gpus, "gpu", item.type,
                            CATALOGUE_GPUS);
    group->gpus = (uint32_t)item.count;
    group->nvlink_bps = group->gpu->nvlink_bps;
    group->pcie_bps = group->gpu->pcie_bps;
    return true;
}

/* Switches and domains divide the GPUs of a node into equal parts. */
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
    bool bare = group->gpu == NULL && conf->cores > 0 &&
                conf->memory_bytes > 0.0;
    if (!bare && !is_generic(reader, group->gpu))
        return err_set(reader->err, ERR_SCHEMA, conf_pos(conf->at),
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
        return unknown_type(reader, conf->cpu, "cpu", item.type,
                            CATALOGUE_CPUS);
    group->sockets = (uint32_t)item.count;
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

/* "4x3.84TB": drives and the size of each. */
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
    group->nvme_bps = drives * disk->bps_sustained;
    group->nvme_bytes = drives * each_bytes;
    group->nvme_access_bytes = disk->access_s * disk->bps_sustained;
    return true;
}

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

/* What a file asks of the catalogue: a kind, or a tier of its own. */
struct price_task {
    const char *text;
    enum price_kind kind;
    enum price_tier tier;       /* TIER_COUNT: the kind says enough */
};

/* Cores have a price of few tiers: on-demand stands in. */
static const struct price *asked_price(const struct cluster_reader *reader,
                                       const struct price_task *task,
                                       const char *of)
{
    assert(task != NULL && of != NULL);
    const struct price *price = NULL;

    if (task->tier < TIER_COUNT)
        price = catalogue_price_in(reader->catalogue, of, task->tier);
    if (price == NULL &&
        (task->tier == TIER_COUNT || strcmp(of, "core") == 0))
        price = catalogue_price_of(reader->catalogue, of, task->kind);
    return price;
}

static bool no_price(const struct cluster_reader *reader,
                     const struct conf_node *at, const char *of,
                     const char *asked)
{
    assert(at != NULL);
    assert(of != NULL);
    char has[128] = "";
    size_t used = 0;

    err_set(reader->err, ERR_REFERENCE, conf_pos(at),
            "no %s price of %s is known", asked, of);
    for (int t = 0; t < TIER_COUNT; t++)
        if (catalogue_price_in(reader->catalogue, of, (enum price_tier)t))
            used += (size_t)snprintf(has + used, sizeof has - used, "%s%s",
                                     used > 0 ? ", " : "",
                                     price_tier_choices[t]);
    if (used > 0)
        return err_hint(reader->err, "There is one of: %s. Or give the price "
                                     "of one node: price: 2.5USD/h", has);
    return err_hint(reader->err, "Give the price of one node: price: "
                                 "2.5USD/h");
}

/* GPUs with the cores that come with them, then the cores beyond those. */
static bool catalogue_node_price(const struct cluster_reader *reader,
                                 const struct conf_node *at,
                                 const struct price_task *task,
                                 struct node_group *group)
{
    assert(group->gpus <= NODE_GPUS_MAX);
    double cores = group->cores;
    group->usd_per_h = 0.0;
    group->energy_included = task->kind != PRICE_OWNED;
    if (group->gpu != NULL) {
        const struct price *gpu = asked_price(reader, task, group->gpu->name);
        if (gpu == NULL)
            return no_price(reader, at, group->gpu->name, task->text);
        group->usd_per_h = group->gpus * gpu->usd_per_h;
        group->energy_included = gpu->energy_included;
        group->tariff = gpu;
        cores -= group->gpus * gpu->cores;
    }
    if (cores <= 0.0)
        return true;
    const struct price *core = asked_price(reader, task, "core");
    if (core == NULL)
        return no_price(reader, at, "core", task->text);
    group->usd_per_h += cores * core->usd_per_h;
    if (group->tariff == NULL)
        group->tariff = core;
    return true;
}

static bool read_price_time_series(const struct cluster_reader *reader,
                                   const struct conf_node *price,
                                   struct node_group *group)
{
    assert(price != NULL && group != NULL);
    group->price = time_series_read(reader->arena, price, "USD/h", reader->err);
    if (group->price == NULL)
        return false;
    group->energy_included = true;
    group->usd_per_h = time_series_at(group->price, 0);
    reader->spec->priced = true;
    return true;
}

static bool read_amount(const struct conf_node *price,
                        struct node_group *group, struct err *err)
{
    assert(price != NULL && group != NULL);
    static const struct conf_field literal = {
        .key = "price", .type = CONF_PRICE, .min = 0.0, .max = 1e6,
        .help = "of one node",
    };
    const char *text = cluster_shown(price);
    const char *near = conf_nearest(text, price_kind_choices);
    if (near == NULL)
        near = conf_nearest(text, price_tier_choices);
    if (near != NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(price),
                "price must be on-demand, reserved, owned, spot, list, "
                "marketplace, assumption or an amount, as 2.5USD/h, found "
                "'%s'", text);
        return err_hint(err, "Did you mean '%s'?", near);
    }
    group->energy_included = true;
    return conf_read(price, &literal, &group->usd_per_h, err);
}

/* false: the text is neither a kind nor a tier. */
static bool price_asked(const char *text, struct price_task *task)
{
    assert(text != NULL && task != NULL);
    task->text = text;
    for (int kind = 0; price_kind_choices[kind] != NULL; kind++)
        if (strcmp(text, price_kind_choices[kind]) == 0) {
            task->kind = (enum price_kind)kind;
            return true;
        }
    for (int tier = 0; price_tier_choices[tier] != NULL; tier++)
        if (strcmp(text, price_tier_choices[tier]) == 0) {
            task->tier = (enum price_tier)tier;
            return true;
        }
    return false;
}

static bool read_price(const struct cluster_reader *reader,
                       const struct nodes_conf *conf,
                       struct node_group *group)
{
    assert(conf != NULL && group != NULL);
    bool of_catalogue = group->gpu != NULL ? !is_generic(reader, group->gpu)
                                           : group->cpu != NULL;
    group->price_said = conf->price != NULL;
    if (conf->price == NULL && !of_catalogue) {
        group->energy_included = true;
        return true;
    }
    struct price_task task = { "on-demand", PRICE_ON_DEMAND, TIER_COUNT };
    if (conf->price == NULL)
        return catalogue_node_price(reader, conf->at, &task, group);
    if (conf_kind(conf->price) == CONF_MAP)
        return read_price_time_series(reader, conf->price, group);
    if (price_asked(cluster_shown(conf->price), &task))
        return catalogue_node_price(reader, conf->price, &task, group);
    return read_amount(conf->price, group, reader->err);
}

static bool read_pool(const struct cluster_reader *reader,
                      const struct nodes_conf *conf, struct node_group *group)
{
    assert(reader->spec->pool_count <= CLUSTER_POOLS_MAX);
    const char *name = conf->pool != NULL ? conf->pool : conf->name;
    struct cluster_spec *spec = reader->spec;
    for (group->pool = 0; group->pool < spec->pool_count; group->pool++)
        if (strcmp(reader->pool_name[group->pool], name) == 0)
            return true;
    if (spec->pool_count == CLUSTER_POOLS_MAX)
        return err_set(reader->err, ERR_RANGE, conf_pos(conf->at),
                       "more than %u pools", CLUSTER_POOLS_MAX);
    reader->pool_name[spec->pool_count++] = name;
    return true;
}

/* Adds the group to the totals; ids and sums are 32 bits wide. */
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

static void node_power(struct node_group *group)
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
        !read_pcie(reader, &conf, group) ||
        !read_nvlink(reader, &conf, group) ||
        !read_cpu(reader, &conf, group) ||
        !read_nvme(reader, &conf, group) ||
        !read_nics(reader, &conf, group) ||
        !read_price(reader, &conf, group) ||
        !read_rent(reader, &conf, group))
        return false;
    node_power(group);
    if (!conf_acts(at, "billing", group->billed_held && group->price == NULL &&
                   !(group->usd_per_h > 0.0), "needs a price of the node",
                   reader->err))
        return false;
    return read_pool(reader, &conf, group) && count_group(reader, at, group);
}
