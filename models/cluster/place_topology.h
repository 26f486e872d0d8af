/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_topology.h - places a gang where its GPUs are closest together; see
 * place_topology.c.  Arguments and result are those of fit_find().
 */
#ifndef MODELS_CLUSTER_PLACE_TOPOLOGY_H
#define MODELS_CLUSTER_PLACE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

struct cluster;
struct fit_want;
struct placement;
struct share;

bool place_topology(const struct cluster *cluster,
                    const struct fit_want *want, struct share *share,
                    uint32_t share_max, struct placement *out);

#endif
