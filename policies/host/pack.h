/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.h - two jobs on the same GPUs.
 */
#ifndef POLICIES_HOST_PACK_H
#define POLICIES_HOST_PACK_H

#include "policies/state/state.h"

/* The job on the same GPUs has gone: gives this lease whole GPUs and its full
 * speed, at once and at no cost.  lease: live, of half GPUs. */
void host_pack_alone(struct cs_host *host, uint32_t lease);

#endif
