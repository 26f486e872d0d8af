/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contexts.h - requests that are longer than the context of their model.
 */
#ifndef EXPERIMENTS_PREFLIGHT_CONTEXTS_H
#define EXPERIMENTS_PREFLIGHT_CONTEXTS_H

struct err;
struct experiment;

/* Warns once for each service that has a request whose prompt and answer together have
 * more tokens than the model was trained for: of a trace in any row, of drawn requests
 * among the first 10,000 of seed 0.  A model without context_tokens is passed over. */
typedef void contexts_fn(void *self, const struct err *err);
void contexts_warn(const struct experiment *experiment, contexts_fn *warn, void *self);

#endif
