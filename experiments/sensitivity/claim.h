/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.h - what borders and sensitivities say of a claim and a key.  Private
 * to experiments/sensitivity.
 *
 * Texts are static, parts of the arguments, or in the arena.  Functions that
 * take an err return false if it says what is wrong, at the place that they are
 * given.
 */
#ifndef EXPERIMENTS_SENSITIVITY_CLAIM_H
#define EXPERIMENTS_SENSITIVITY_CLAIM_H

#include "experiments/sensitivity/turn.h"
#include "experiments/spec/experiment.h"

struct conf_node;

/* Has some expectation of the experiment that claim?  `node` is the value that
 * names it, for its place. */
bool claim_check(struct arena *arena, const struct experiment *experiment,
                 const char *claim, const struct conf_node *node, struct err *err);
/* Can the key be varied for the claim: does `sweep:` take it, and is a point left
 * at which the claim is judged? */
bool claim_key_check(struct arena *arena, const struct experiment *experiment,
                     const char *claim, const char *key, struct err_pos pos,
                     struct err *err);
/* Does the experiment, at that point and with the key at that value, have no
 * error?  Reads the experiment and runs nothing.  err is at `key_pos` if there is no such key,
 * else at `pos`, the value. */
bool claim_try(struct probe *probe, const char *point, const char *key,
               const char *value, struct err_pos key_pos, struct err_pos pos,
               struct err *err);

/* Returns the value that the key has at a point, as it is written there or in the
 * file; "": by default, or it is not known. */
const char *claim_base(struct arena *arena, const struct experiment *experiment,
                       const char *point, const char *key);

/* Returns the key as labels have it: "arrival.rate" of "workload.arrival.rate". */
const char *claim_short_key(const char *key);
/* Returns the policy, the point or both that the expectation compares with; "" if
 * nothing. */
const char *claim_versus(struct arena *arena, const struct experiment_expect *expect);
/* Returns the trials of one seed that a verdict needs: 2 if it compares, else 1. */
uint32_t claim_sides(const struct experiment_expect *expect);
/* Returns the word of the column `turns`: "yes", "no" ... */
const char *claim_turn_name(enum turn_kind kind);

#endif
