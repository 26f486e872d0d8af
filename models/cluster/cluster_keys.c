/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_keys.c - the keys of a cluster and of its groups of nodes.
 */
#include <assert.h>

#include "models/cluster/cluster_form.h"
#include "models/cluster/time_series.h"
#include "models/cluster/faults.h"
#include "models/laws/outage.h"
#include "models/cluster/rented.h"

#define AT(type, member) offsetof(struct type, member)

static const char *const billing_choices[] = { "always", "held", NULL };

static const struct conf_field cluster_fields[] = {
    { .key = "name", .type = CONF_TEXT, .offset = AT(cluster_conf, name),
      .fallback = "cluster", .help = "how results call the cluster" },
    { .key = "nodes", .type = CONF_NODE, .offset = AT(cluster_conf, nodes),
      .help = "list of groups of nodes that are alike.  Its order counts: nodes "
              "are numbered in it, leaf switches divide them in it, and where a "
              "placement finds several equally good the first is taken" },
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
      .min = 1, .max = CLUSTER_NODES_MAX, .fallback = "1", .help = "nodes" },
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
      .help = "on-demand (if left out), reserved, owned, spot, or a tier (list, "
              "marketplace, assumption) from the "
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
        &time_series_schema,
    };
    assert(count != NULL);
    *count = sizeof all / sizeof all[0];
    return all;
}
