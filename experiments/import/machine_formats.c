/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine_formats.c - the table of node lists.
 */
#include <string.h>

#include "experiments/import/machines.h"

static const struct machines_format format_table[] = {
    {"openb-nodes", "nodes of Alibaba's GPU-sharing cluster 2023: sn, cpu_milli, "
                    "memory_mib, gpu, model", openb_nodes_read, true},
    {"slurm-nodes", "nodes of Slurm: scontrol show node, sinfo -N -o '%N %c %m "
                    "%G %T', or the lines NodeName= of slurm.conf", slurm_nodes_read, false},
    {"kube-nodes", "nodes of Kubernetes: kubectl get nodes -o yaml or json",
     kube_nodes_read, false},
};
#define FORMATS (sizeof format_table / sizeof format_table[0])

const struct machines_format *machines_format_at(size_t i)
{
    return i < FORMATS ? &format_table[i] : NULL;
}

const struct machines_format *machines_format_find(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(format_table[i].name, name) == 0)
            return &format_table[i];
    return NULL;
}
