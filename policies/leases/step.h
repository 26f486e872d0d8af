/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * step.h - `fidelity: step`: training step by step.
 */
#ifndef POLICIES_LEASES_STEP_H
#define POLICIES_LEASES_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

struct phase_law;
struct phase_plan;

/* Is a phase of that law simulated step by step in this trial, on that lease? */
bool host_steps_apply(const struct cs_host *host, uint32_t lease,
                      const struct phase_law *law);
/* Starts the steps of a phase on a lease.  part: what is done already, 0 to 1.
 * law stays valid while the steps run. */
void host_steps_start(struct cs_host *host, uint32_t lease,
                      const struct phase_law *law,
                      const struct phase_plan *plan, double part);
/* Stops the steps of a lease; does nothing if it takes none. */
void host_steps_stop(struct cs_host *host, uint32_t lease);
/* Returns the part of the run that its finished steps are, 0 to 1. */
double host_steps_part(const struct cs_host *host, uint32_t lease);
/* Stops the steps and gives their memory back. */
void host_steps_drop(struct cs_host *host, uint32_t lease);

#endif
