/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase.h - phases on leases.  `lease`: the number of a live lease; but for
 * host_phase_start() and host_vain_gpu_s(), a phase runs on it.
 */
#ifndef POLICIES_LEASES_PHASE_H
#define POLICIES_LEASES_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

/* Starts a phase, an index into those of the job's form, on an idle lease. */
void host_phase_start(struct cs_host *host, uint32_t lease, uint32_t phase);
/* Stops the phase.  One of known length keeps its progress, any other loses what
 * was done on this lease. */
void host_phase_cut(struct cs_host *host, uint32_t lease);
/* Stops the phase.  Training keeps its whole steps: returns the part of the phase
 * that need not be done again, 0 to 1. */
double host_phase_pause(struct cs_host *host, uint32_t lease);
/* Would that keep a step which has run on this lease?  Of a phase that trains. */
bool host_phase_keeps(const struct cs_host *host, uint32_t lease);
/* Stops the phase.  A rollout keeps the responses that are done. */
void host_phase_cut_keep(struct cs_host *host, uint32_t lease);
/* Returns the GPU-seconds that a lease has held for nothing if it ends now: for the phase
 * on it, of which nothing is kept, or since its grant if it loads.  A phase of known length
 * and a service lose nothing. */
double host_vain_gpu_s(const struct cs_host *host, uint32_t lease);
/* The phase of a lease was cut: it has held gpu_s GPU-seconds for nothing. */
void host_note_vain(struct cs_host *host, uint32_t lease, double gpu_s);
/* Takes the phase off its lease, which becomes idle; whole: it ran to its end. */
void host_phase_off(struct cs_host *host, uint32_t lease, bool whole);
/* Takes a phase that ran to its end off its lease, and counts its work as done. */
void host_phase_done(struct cs_host *host, uint32_t lease);

#endif
