/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block.h - parts of rented nodes that nobody may lease.  `node`: a rented node
 * of the cluster.  Nothing here fails.
 */
#ifndef POLICIES_HOST_BLOCK_H
#define POLICIES_HOST_BLOCK_H

#include "policies/state/state.h"

struct share;

/* Blocks a part of a node; returns its GPUs, as a fraction.  All of the part
 * must be free. */
double host_block_share(struct cs_host *host, const struct share *part);
/* Blocks all that is free on a node; returns its GPUs, as a fraction. */
double host_block_free(struct cs_host *host, uint32_t node);
/* Gives all blocked parts of a node back to the cluster. */
void host_unblock(struct cs_host *host, uint32_t node);

#endif
