/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * step.h - training step by step, where that was asked for.
 */
#ifndef POLICIES_LEASES_STEP_H
#define POLICIES_LEASES_STEP_H

#include "policies/state/state.h"

struct phase_law;
struct phase_plan;

/* training step by step, where that was asked for. */
bool host_steps_apply(const struct cs_host *host,
                      const struct phase_law *law);
void host_steps_start(struct cs_host *host, uint32_t lease,
                      const struct phase_law *law,
                      const struct phase_plan *plan, double part);
/* Nothing happens where no steps are taken. */
void host_steps_stop(struct cs_host *host, uint32_t lease);
/* Steps of the run that are done, as a part of it. */
double host_steps_part(const struct cs_host *host, uint32_t lease);
void host_steps_drop(struct cs_host *host, uint32_t lease);

#endif
