/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.h - two jobs on the same GPUs.
 */
#ifndef POLICIES_HOST_PACK_H
#define POLICIES_HOST_PACK_H

#include "policies/state/state.h"

/* a lease has its GPUs to itself again. */
void host_pack_alone(struct cs_host *host, uint32_t lease);

#endif
