/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * need.h - nodes and power that a role of a job needs.  `g`: an index into the cluster's groups.
 */
#ifndef POLICIES_NODES_NEED_H
#define POLICIES_NODES_NEED_H

#include <stdbool.h>
#include <stdint.h>
#include "policies/policy.h"
#include "policies/state/state.h"

struct node_group;

/* May nodes of the group be ordered when tasks wait? */
bool host_need_scales(const struct node_group *group);
/* Returns the pools in which role r of a job is started, as a mask: as the file says, its home
 * says, or the policy itself (cs_rent_in); 0: any. */
uint32_t host_need_pools(const struct cs_host *host, struct job_id job, uint32_t r);
/* May role r of a job run on nodes of group g, if they are large enough? */
bool host_need_suits(const struct cs_host *host, uint32_t g, struct job_id job, uint32_t r);
/* Returns how many nodes of a group role r takes.  Less than one node is a fraction, more
 * than one is rounded up.  INFINITY: the role cannot run on such nodes. */
double host_need_nodes(const struct node_group *group, const struct job_request *request,
                       uint32_t r);
/* Returns how many nodes of group g a gang takes beside the owned GPUs that are free, if
 * these are fewer than `nodes`, which it takes alone; else 0. */
double host_need_beside(const struct cs_host *host, struct job_id job, uint32_t r, uint32_t g,
                        double nodes);
/* Could the nodes of one group hold role r, owned or rented, if nothing else ran on them? */
bool host_need_one_group(const struct cs_host *host, struct job_id job, uint32_t r);
/* Divides `gpus` GPUs of a gang, but for those of the type of group g that are free on owned nodes,
 * among the rented groups of that type: nodes[k] of group k.  False: they have not as many, or
 * owned nodes alone have. */
bool host_need_spread(const struct cs_host *host, struct job_id job, uint32_t r, uint32_t gpus,
                      uint32_t g, double *nodes);
/* Returns the fewest GPUs that role r may have, at most as many as it asks for. */
uint32_t host_need_least(const struct cs_host *host, struct job_id job, uint32_t r);
/* Returns the milliwatts that role r adds on nodes of group g: with the GPUs that it asks
 * for, or (least) with the fewest that it may have. */
int64_t host_need_draw_mw(const struct cs_host *host, struct job_id job, uint32_t r, bool least,
                          uint32_t g);

#endif
