/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw.h - the least that a cluster draws while a role runs, for its power cap.
 *
 * Counted is what a cap counts (policies/leases/power.h): standby of owned nodes and of
 * the rented nodes that the role needs, its GPUs and cores at full load, all times PUE.
 * Milliwatts at the meter.  These are lower bounds: what draws more than the cap by them
 * never runs, whatever places a policy likes.
 */
#ifndef WORKLOADS_JOBS_DRAW_H
#define WORKLOADS_JOBS_DRAW_H

#include <stdint.h>

struct cluster_spec;
struct role_spec;

/* Returns what nodes draw while nothing runs: owned ones, and rented ones that are always kept. */
double draw_standby_mw(const struct cluster_spec *cluster);
/* Returns how many nodes of group g stand by from the beginning to the end, at least. */
uint32_t draw_standing_nodes(const struct cluster_spec *cluster, uint32_t g);
/* Returns the least that the cluster draws while the role alone runs on gpu_milli
 * thousandths of GPUs, or on the cores that it may take instead.  A role without GPUs:
 * on its cores, for gpu_milli 0.  INFINITY: it finds no room. */
double draw_least_mw(const struct cluster_spec *cluster, const struct role_spec *role,
                     uint64_t gpu_milli);
/* Returns the most thousandths of GPUs, at most those of gpus_max GPUs, on
 * which the role may run under the power cap: whole ones, or a part of one; all
 * if there is no cap.  Found by bisection: more GPUs never draw less. */
uint64_t draw_most_milli(const struct cluster_spec *cluster, const struct role_spec *role,
                         uint32_t gpus_max);

#endif
