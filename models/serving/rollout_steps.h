/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_steps.h - a rollout response by response: every length drawn, every
 * change of a batch an event, through the same laws of a step as decode.h.
 *
 * `fidelity: step` takes it in the place of the closed form, and tests compare
 * the two; it shares with the closed form the time of one step, nothing else.
 */
#ifndef MODELS_SERVING_ROLLOUT_STEPS_H
#define MODELS_SERVING_ROLLOUT_STEPS_H

#include <stdint.h>

#include "models/laws/rollout.h"

struct gang;

/* Seconds until the last response has ended; the gang must hold tp GPUs. */
double rollout_steps_s(const struct rollout_shape *shape,
                       const struct gang *gang, uint64_t seed);

#endif
