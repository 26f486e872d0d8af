/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase.h - phases on leases.
 */
#ifndef POLICIES_LEASES_PHASE_H
#define POLICIES_LEASES_PHASE_H

#include "policies/state/state.h"

/* phases on leases. */
void host_phase_start(struct cs_host *host, uint32_t lease, uint32_t phase);
/* Stops a running phase; a phase of known length keeps its progress. */
void host_phase_cut(struct cs_host *host, uint32_t lease);
/* The same, and training keeps its whole steps: the part of the phase that
 * need not be done again. */
double host_phase_pause(struct cs_host *host, uint32_t lease);
/* The same; a rollout keeps the responses that are done. */
void host_phase_cut_keep(struct cs_host *host, uint32_t lease);
/* Off its lease, whole or not; and, of one that ran to its end, its work counts
 * as done. */
void host_phase_off(struct cs_host *host, uint32_t lease, bool whole);
void host_phase_done(struct cs_host *host, uint32_t lease);

#endif
