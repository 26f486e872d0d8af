/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_steps.h - a simulated rollout: every response has a drawn length, and
 * every change of a batch is an event.
 *
 * `fidelity: step` uses it in the place of the closed form (rollout.h), and
 * tests compare the two.  They share the time of one step (decode.h) and
 * nothing else.
 */
#ifndef MODELS_SERVING_ROLLOUT_STEPS_H
#define MODELS_SERVING_ROLLOUT_STEPS_H

#include <stdint.h>

#include "models/laws/rollout.h"

struct gang;

/* Returns the seconds until the last response ends.  The gang must have at
 * least tp GPUs. */
double rollout_steps_s(const struct rollout_shape *shape,
                       const struct gang *gang, uint64_t seed);

#endif
