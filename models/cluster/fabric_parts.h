/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric_parts.h - what fabric.c, which lays the links out, and fabric_uses.c,
 * which finds paths over them, share.  For these files only.
 */
#ifndef MODELS_CLUSTER_FABRIC_PARTS_H
#define MODELS_CLUSTER_FABRIC_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/cluster/fabric.h"

#define FABRIC_LINK_NONE UINT32_MAX     /* a link that does not exist */

struct fabric {
    const struct cluster_spec *spec; /* not owned */
    uint32_t *link[FABRIC_CLASS_COUNT]; /* per node, leaf, group, or one */
    uint32_t count[FABRIC_CLASS_COUNT]; /* entries of `link`; a node with switches has one */
    uint32_t switches_max;              /* PCIe links of a node, at least 1 */
    uint32_t end[FABRIC_CLASS_COUNT];   /* first link of the next class */
    uint32_t first;             /* number of the first link of the fabric */
};

/* Is it below several leaf switches? */
bool fabric_spans_leaves(const struct cluster_spec *spec,
                         const struct placement *placement);

#endif
