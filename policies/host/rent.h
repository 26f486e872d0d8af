/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.h - how many nodes are rented.
 */
#ifndef POLICIES_HOST_RENT_H
#define POLICIES_HOST_RENT_H

#include "policies/state/state.h"

/* how many nodes are rented. */
void host_rent_begin(struct cs_host *host);
/* A job came: the pools are looked after again. */
void host_rent_wake(struct cs_host *host);
/* After each decision: orders nodes for what waits. */
void host_rent_scale(struct cs_host *host);
/* Nodes of a group that exist now: all, or as many as can be rented. */
uint32_t host_rent_had(const struct cs_host *host, uint32_t group);

#endif
