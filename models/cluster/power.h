/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.h - watts from load.
 *
 * u is the load in [0,1].  GPUs: idle + (max - idle) u^gamma.  Sockets: idle +
 * (max - idle)(2u - u^1.4) (Fan, Weber and Barroso 2007, ISCA).  power.c has
 * the constants with their sources.
 */
#ifndef MODELS_CLUSTER_POWER_H
#define MODELS_CLUSTER_POWER_H

#include <stdint.h>

struct cpu_type;
struct gpu_type;

/* Returns the watts of one GPU. */
double power_gpu_w(const struct gpu_type *gpu, double busy_fraction);
/* Returns the watts of one socket. */
double power_cpu_w(const struct cpu_type *cpu, double busy_fraction);
/* Returns the watts of a node without its GPUs and sockets: fans, memory, NICs,
 * disks and conversion losses.  They do not depend on the load. */
double power_node_rest_w(uint32_t gpus, uint32_t sockets);
/* Returns the default of the building's power usage effectiveness (PUE). */
double power_pue_default(void);

#endif
