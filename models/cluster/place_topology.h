/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_topology.h - a gang as close together as it goes, see the .c file.
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
