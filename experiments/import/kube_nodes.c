/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_nodes.c - `kubectl get nodes -o yaml` (or json): what pods can get of
 * each node (status.allocatable), and its GPU by the labels that NVIDIA's GPU
 * feature discovery, or GKE, give it.
 */
#include <math.h>
#include <string.h>

#include "experiments/import/machines.h"
#include "sim/config/conf.h"
#include "sim/text/notes.h"
#include "workloads/logs/kube_read.h"

#define MOST 1e18               /* an int64_t holds it */

/* The quantity of a resource, 0 where there is none; more than any node has is told as
 * that much. */
static bool read_resource(const struct conf_node *node, const char *name,
                          double *out, struct err *err)
{
    const struct conf_node *map = kube_at(node, "status.allocatable");
    bool gpus = strstr(name, "gpu") != NULL;

    *out = 0.0;
    if (map == NULL)
        map = kube_at(node, "status.capacity");
    for (size_t i = 0; map != NULL && conf_kind(map) == CONF_MAP &&
                       i < conf_count(map); i++)
        if (strcmp(conf_key(map, i), name) == 0) {
            if (!(gpus ? kube_gpus : kube_quantity)(conf_value(map, i), out, err))
                return false;
            *out = fmin(*out, MOST);
        }
    return true;
}

/* What is worth telling of a node that is kept. */
static void note_node(struct machines *machines, const struct conf_node *node)
{
    const char *off = kube_text(node, "spec.unschedulable");

    if (off != NULL && strcmp(off, "true") == 0)
        notes_count(&machines->notes, "nodes are cordoned: they are in the "
                    "cluster all the same");
}

/* Adds a node; objects of other kinds are counted.  GPUs of AMD are looked for where
 * there are none of NVIDIA. */
static bool read_node(void *self, const struct conf_node *object,
                      struct err *err)
{
    struct machines *machines = self;
    struct machine node = { .count = 1, .pos = conf_pos(object) };
    const char *kind = kube_text(object, "kind");
    double cores, memory, gpus;

    if (kind == NULL || strcmp(kind, "Node") != 0) {
        notes_count(&machines->notes, "objects of kind %.40s are no nodes",
                    kind == NULL ? "?" : kind);
        return true;
    }
    node.name = kube_text(object, "metadata.name");
    for (const char *const *label = kube_gpu_labels;
         *label != NULL && node.gpu == NULL; label++)
        node.gpu = kube_label(object, *label);
    if (node.name == NULL)
        node.name = "";
    if (!read_resource(object, "cpu", &cores, err) ||
        !read_resource(object, "memory", &memory, err) ||
        !read_resource(object, "nvidia.com/gpu", &gpus, err))
        return false;
    if (gpus == 0.0 && !read_resource(object, "amd.com/gpu", &gpus, err))
        return false;
    node.cores = (int64_t)cores;
    node.memory_mib = (int64_t)(memory / 1048576.0);
    node.gpus = (int64_t)gpus;
    if (node.gpus == 0)
        node.gpu = NULL;
    note_node(machines, object);
    return machines_add(machines, node, err);
}

bool kube_nodes_read(struct machines *machines, struct err *err)
{
    const struct conf_node *root = conf_load(machines->arena, machines->file,
                                             err);

    return root != NULL && kube_each(root, read_node, machines, err);
}
