/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.h - watts from load.
 *
 * GPUs: idle + (max - idle) u^gamma.  Sockets: idle + (max - idle)(2u - u^1.4)
 * (Fan, Weber and Barroso 2007, ISCA).  Constants with sources in power.c.
 */
#ifndef MODELS_CLUSTER_POWER_H
#define MODELS_CLUSTER_POWER_H

#include <stdint.h>

struct cpu_type;
struct gpu_type;

double power_gpu_w(const struct gpu_type *gpu, double busy_fraction);
/* Of one socket. */
double power_cpu_w(const struct cpu_type *cpu, double busy_fraction);
/* Fans, memory, NICs, disks and conversion losses of a node, GPUs and sockets
 * left out; constant in load. */
double power_node_rest_w(uint32_t gpus, uint32_t sockets);
/* Power usage effectiveness of the building, where the user gives none. */
double power_pue_default(void);

#endif
