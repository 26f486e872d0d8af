/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_keys.c - the keys of a cluster and of its groups of nodes, and how
 * their values are taken.
 */
#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster_form.h"
#include "models/cluster/faults.h"
#include "models/cluster/rented.h"
#include "models/cluster/time_series.h"
#include "models/laws/outage.h"
#include "sim/base/decimal.h"
#include "sim/config/conf.h"

static const char *const billing_choices[] = { "always", "held", NULL };

static const struct conf_field cluster_fields[] = {
    CONF_KEY("name", CONF_TEXT, cluster_conf, name, "cluster",
             "how results call the cluster"),
    CONF_KEY("nodes", CONF_NODE, cluster_conf, nodes, CONF_REQUIRED,
             "list of groups of nodes that are alike.  Its order counts: nodes "
             "are numbered in it, leaf switches divide them in it, and where a "
             "placement finds several equally good the first is taken"),
    CONF_KEY("network", CONF_NODE, cluster_conf, network, CONF_ABSENT,
             "leaf switches, one per rack; without it only NICs limit"),
    CONF_KEY("failures", CONF_NODE, cluster_conf, failures, CONF_ABSENT,
             "what fails, and how long that takes; without it nothing does"),
    CONF_KEY("storage", CONF_NODE, cluster_conf, storage, CONF_ABSENT,
             "shared storage; without it storage never limits"),
    CONF_KEY("pue", CONF_REAL, cluster_conf, pue, CONF_ABSENT,
             "power usage effectiveness of the building",
             .min = 1.0, .max = 5.0),
    CONF_KEY("carbon", CONF_NODE, cluster_conf, carbon, CONF_ABSENT,
             "carbon intensity, as 400gCO2/kWh, or a series of it; without it "
             "none is counted"),
    CONF_KEY("power_cap", CONF_POWER, cluster_conf, power_cap_w, CONF_ABSENT,
             "of all nodes, PUE included: what could exceed it does not start",
             .min = 1, .max = 1e10),
    CONF_KEY("electricity", CONF_NODE, cluster_conf, electricity, CONF_ABSENT,
             "price of energy for owned nodes, as 0.08USD/kWh (the default)"),
};
static const struct conf_field nodes_fields[] = {
    CONF_KEY("name", CONF_TEXT, nodes_conf, name, CONF_REQUIRED,
             "name of the group; its nodes are name-0, name-1 ..."),
    CONF_KEY("count", CONF_INT, nodes_conf, count, "1", "nodes",
             .min = 1, .max = CLUSTER_NODES_MAX),
    CONF_KEY("gpus", CONF_NODE, nodes_conf, gpus, CONF_ABSENT,
             "GPUs of each node: type and count"),
    CONF_KEY("pcie", CONF_NODE, nodes_conf, pcie, CONF_ABSENT,
             "PCIe switches of each node; without it every slot leads to a "
             "CPU"),
    CONF_KEY("nvlink", CONF_NODE, nodes_conf, nvlink, CONF_ABSENT,
             "NVLink domains of each node; without it one of all GPUs"),
    CONF_KEY("cpu", CONF_NODE, nodes_conf, cpu, CONF_ABSENT,
             "CPUs of each node: type and sockets"),
    CONF_KEY("cores", CONF_INT, nodes_conf, cores, CONF_ABSENT,
             "physical cores per node, if not all of its sockets'",
             .min = 1, .max = 65536),
    CONF_KEY("memory", CONF_BYTES, nodes_conf, memory_bytes, CONF_ABSENT,
             "host memory per node", .min = 1e6, .max = 1e15),
    CONF_KEY("nvme", CONF_NODE, nodes_conf, nvme, CONF_ABSENT,
             "local drives, as 4x3.84TB, which loaders with `from: nvme` read"),
    CONF_KEY("nvme_type", CONF_TEXT, nodes_conf, nvme_type, CONF_ABSENT,
             "link type of one drive; without it the first disk known"),
    CONF_KEY("nics", CONF_NODE, nodes_conf, nics, CONF_ABSENT,
             "NICs of each node; without them the network never limits"),
    CONF_KEY("pool", CONF_TEXT, nodes_conf, pool, CONF_ABSENT,
             "pool; the group's name if left out"),
    CONF_KEY("price", CONF_NODE, nodes_conf, price, CONF_ABSENT,
             "on-demand (if left out), reserved, owned, spot, or a tier (list, "
             "marketplace, assumption) from the catalogue, or of one node, as "
             "2.5USD/h, or a series of it"),
    CONF_KEY("wan", CONF_RATE, nodes_conf, wan_bps, CONF_ABSENT,
             "line between the shared storage and all nodes of the group "
             "together; without it they stand beside it",
             .min = 1.0, .max = 1e15),
    CONF_KEY("rent", CONF_NODE, nodes_conf, rent, CONF_ABSENT,
             "count is the most that are rented at a time; without it all are "
             "there from the beginning to the end"),
    CONF_KEY("billing", CONF_CHOICE, nodes_conf, billing, "always",
             "always, or held: a node is paid for only while something has a "
             "lease on it", .choices = billing_choices),
};
static const struct conf_field gpus_fields[] = {
    CONF_KEY("type", CONF_TEXT, item_conf, type, CONF_REQUIRED,
             "GPU of the catalogue, or generic: a GPU that only counts"),
    CONF_KEY("count", CONF_INT, item_conf, count, CONF_REQUIRED,
             "GPUs per node", .min = 1, .max = NODE_GPUS_MAX),
    CONF_KEY("model", CONF_TEXT, item_conf, model, CONF_ABSENT,
             "generic: what jobs of a trace that want certain types call it"),
};
static const struct conf_field pcie_fields[] = {
    CONF_KEY("switches", CONF_INT, pcie_conf, switches, CONF_REQUIRED,
             "PCIe switches per node; GPUs, NICs and drives are divided evenly "
             "among them", .min = 1, .max = NODE_GPUS_MAX),
    CONF_KEY("uplinks", CONF_INT, pcie_conf, uplinks, "1",
             "links from each switch to its CPU, each of the rate of one GPU "
             "slot", .min = 1, .max = NODE_GPUS_MAX),
};
static const struct conf_field nvlink_fields[] = {
    CONF_KEY("domain", CONF_INT, nvlink_conf, domain, CONF_REQUIRED,
             "GPUs that NVLink connects, as 2 with bridges; 0: all of the node",
             .max = NODE_GPUS_MAX),
};
static const struct conf_field cpu_fields[] = {
    CONF_KEY("type", CONF_TEXT, item_conf, type, CONF_REQUIRED,
             "CPU of the catalogue"),
    CONF_KEY("sockets", CONF_INT, item_conf, count, "1", "sockets per node",
             .min = 1, .max = 16),
};
static const struct conf_field nics_fields[] = {
    CONF_KEY("type", CONF_TEXT, item_conf, type, CONF_REQUIRED,
             "InfiniBand, RoCE or Ethernet link of the catalogue"),
    CONF_KEY("count", CONF_INT, item_conf, count, "1", "NICs per node",
             .min = 1, .max = 64),
};
static const struct conf_field network_fields[] = {
    CONF_KEY("leaf", CONF_NODE, network_conf, leaf, CONF_REQUIRED,
             "nodes under one leaf switch, as 16 or 16 nodes"),
    CONF_KEY("oversubscription", CONF_REAL, network_conf, oversubscription,
             "1", "NIC bandwidth under a leaf over that of its uplinks",
             .min = 1.0, .max = 1000.0),
};
static const struct conf_field storage_fields[] = {
    CONF_KEY("bandwidth", CONF_RATE, storage_conf, bps, CONF_REQUIRED,
             "of the shared storage, all readers and writers together",
             .min = 1.0, .max = 1e15),
    CONF_KEY("price", CONF_PRICE, storage_conf, usd_per_h, CONF_ABSENT,
             "of the shared storage, for as long as the run takes", .max = 1e6),
    CONF_KEY("transfer", CONF_NODE, storage_conf, transfer, CONF_ABSENT,
             "of what rented nodes read from it and write to it, as "
             "0.02USD/GB"),
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
        &time_series_schema,
    };
    assert(count != NULL);
    *count = sizeof all / sizeof all[0];
    return all;
}

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

bool cluster_is_generic(const struct cluster_reader *reader,
                        const struct gpu_type *gpu)
{
    return gpu != NULL && gpu->index >= reader->generic->index;
}
