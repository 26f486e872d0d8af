/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.h - watts from load.
 *
 * u is the load in [0,1].  GPUs: idle + (max - idle) u.  Sockets: idle +
 * (max - idle)(2u - u^1.4) (Fan, Weber and Barroso 2007, ISCA).  A node takes its watts at
 * rest and at full load from it; between them each core that works adds the same, which is
 * at most 12% of max - idle below the curve (at u = 0.43).  power.c has the constants with
 * their sources.
 */
#ifndef MODELS_CLUSTER_POWER_H
#define MODELS_CLUSTER_POWER_H

#include <stdint.h>

struct cluster_spec;
struct cpu_type;
struct gpu_type;
struct node_group;

/* Returns the watts of one GPU. */
double power_gpu_w(const struct gpu_type *gpu, double busy_fraction);
/* Returns the watts of one socket. */
double power_cpu_w(const struct cpu_type *cpu, double busy_fraction);
/* Returns the watts of a node without its GPUs and sockets: fans, memory, NICs,
 * disks and conversion losses.  They do not depend on the load. */
double power_node_rest_w(uint32_t gpus, uint32_t sockets);
/* Returns the milliwatts at the meter of a node of the group that stands by. */
int64_t power_standby_mw(const struct cluster_spec *spec, const struct node_group *group);
/* Returns the watts that a GPU, or a core, of the group adds at full load to a node that
 * stands by; 0 where the group has none. */
double power_gpu_more_w(const struct node_group *group);
double power_core_more_w(const struct node_group *group);
/* Returns the default of the building's power usage effectiveness (PUE). */
double power_pue_default(void);

#endif
