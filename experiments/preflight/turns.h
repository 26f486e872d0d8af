/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns.h - jobs that take longer to start than their turn lasts.
 */
#ifndef EXPERIMENTS_PREFLIGHT_TURNS_H
#define EXPERIMENTS_PREFLIGHT_TURNS_H

struct err;
struct experiment;

/* Warns once for each policy that stops jobs after a turn (key `quantum`) and meets a kind of job
 * that takes as long to start: while others wait, such a job is stopped before its work counts. */
typedef void turns_fn(void *self, const struct err *err);
void turns_warn(const struct experiment *experiment, turns_fn *warn, void *self);

#endif
