/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.h - what borders and sensitivities say of a claim and a key.  Private to
 * experiments/sensitivity.  False: err says what is wrong.
 */
#ifndef EXPERIMENTS_SENSITIVITY_CLAIM_H
#define EXPERIMENTS_SENSITIVITY_CLAIM_H

#include "experiments/sensitivity/turn.h"
#include "experiments/spec/experiment.h"

struct conf_node;

/* Is there an expectation with that claim?  `node` says it. */
bool claim_check(struct arena *arena, const struct experiment *experiment,
                 const char *claim, const struct conf_node *node, struct err *err);
/* Can the key be varied for the claim? */
bool claim_key_check(struct arena *arena, const struct experiment *experiment,
                     const char *claim, const char *key, struct err_pos pos,
                     struct err *err);
/* Does the experiment, at that point and with the key at that value, have no
 * error?  Runs nothing. */
bool claim_try(struct probe *probe, const char *point, const char *key,
               const char *value, struct err_pos pos, struct err *err);

/* Returns the value that the key has at a point, as it is written; "": by default, or
 * it is not known. */
const char *claim_base(struct arena *arena, const struct experiment *experiment,
                       const char *point, const char *key);

/* "arrival.rate" of "workload.arrival.rate". */
const char *claim_short_key(const char *key);
/* Policy, point or both that it is compared with; "". */
const char *claim_versus(struct arena *arena, const struct experiment_expect *expect);
/* Trials of one seed that a verdict needs. */
uint32_t claim_sides(const struct experiment_expect *expect);
/* "yes", "no", ... of the column `turns`. */
const char *claim_turn_name(enum turn_kind kind);

#endif
