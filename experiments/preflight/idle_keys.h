/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle_keys.h - valid keys that do nothing for the jobs of this experiment.
 * They would act at other points of a sweep or for other traces, so they cause
 * a warning and no error.
 */
#ifndef EXPERIMENTS_PREFLIGHT_IDLE_KEYS_H
#define EXPERIMENTS_PREFLIGHT_IDLE_KEYS_H

struct err;
struct experiment;

/* Warns once of each policy's `estimate: requested`, `ties: shuffled` and `hardware`, and
 * of `fidelity: step`, that act at no point or at some only. */
typedef void idle_keys_fn(void *self, const struct err *err);
void idle_keys_warn(const struct experiment *experiment, idle_keys_fn *warn, void *self);

#endif
