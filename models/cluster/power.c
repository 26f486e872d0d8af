/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.c - watts from load.
 *
 * Pure functions.  Energy is their integral over time, which the caller keeps.
 */
#include "models/cluster/power.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"

/* Fan, Weber and Barroso 2007, section 3: idle + (busy - idle)(2u - u^1.4),
 * fitted on thousands of servers within 1%. */
#define CPU_EXPONENT 1.4

/* A DGX H100 under intense training draws 76% of its 10.2 kW (arXiv
 * 2506.14551); less 8 x 700 W and 2 x 350 W that leaves 181 W a GPU for
 * NVSwitch, NICs, fans and losses. */
#define REST_PER_GPU_W ((0.76 * 10200.0 - 8.0 * 700.0 - 2.0 * 350.0) / 8.0)
/* assumption: memory, disks, fans and losses of a node without GPUs. */
#define REST_PER_SOCKET_W 60.0

/* Average of the industry, Uptime Institute Global Data Center Survey 2024. */
#define PUE_DEFAULT 1.56

/* assumption: GPU power is linear in the load that the laws state, since
 * that load is already defined by power (decoding 0.52: 250 of 63..400 W on
 * A100, 380 of 75..700 W on H100, Splitwise 8f99e7d). */
double power_gpu_w(const struct gpu_type *gpu, double busy_fraction)
{
    assert(gpu && gpu->tdp_w >= gpu->idle_w);
    assert(busy_fraction >= 0.0 && busy_fraction <= 1.0 + 1e-9);
    double load = busy_fraction < 1.0 ? busy_fraction : 1.0;

    return gpu->idle_w + (gpu->tdp_w - gpu->idle_w) * load;
}

double power_cpu_w(const struct cpu_type *cpu, double busy_fraction)
{
    assert(cpu && cpu->tdp_w >= cpu->idle_w);
    assert(busy_fraction >= 0.0 && busy_fraction <= 1.0 + 1e-9);
    double u = fmin(1.0, busy_fraction);

    return cpu->idle_w + (cpu->tdp_w - cpu->idle_w) *
                         (2.0 * u - pow(u, CPU_EXPONENT));
}

double power_node_rest_w(uint32_t gpus, uint32_t sockets)
{
    return REST_PER_GPU_W * gpus + REST_PER_SOCKET_W * sockets;
}

int64_t power_standby_mw(const struct cluster_spec *spec, const struct node_group *group)
{
    double w = group->idle_w;

    if (group->gpu != NULL)
        w += group->gpus * power_gpu_w(group->gpu, 0);
    assert(w >= 0);
    return llround(1000 * spec->pue * w);
}

double power_gpu_more_w(const struct node_group *group)
{
    assert(group->gpu == NULL || group->gpus > 0);
    return group->gpu == NULL ? 0
                              : power_gpu_w(group->gpu, 1) - power_gpu_w(group->gpu, 0);
}

double power_core_more_w(const struct node_group *group)
{
    assert(group->max_w >= group->idle_w);
    return group->cores == 0 ? 0 : (group->max_w - group->idle_w) / group->cores;
}

double power_pue_default(void)
{
    return PUE_DEFAULT;
}
