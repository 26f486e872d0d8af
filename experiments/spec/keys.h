/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.h - the key tables of an experiment file, and the functions that read
 * them.  Private to experiments/spec.
 */
#ifndef EXPERIMENTS_SPEC_KEYS_H
#define EXPERIMENTS_SPEC_KEYS_H

#include "experiments/spec/experiment.h"
#include "sim/config/conf.h"

/* The top level, as filled by experiment_schema. */
struct experiment_top {
    const char *name, *description, *baseline;
    int64_t seed, warmup_ns, stalled_ns, event_count_max;   /* as in struct experiment */
    int fidelity;               /* 1: step by step */
    const struct conf_node *seeds, *cluster, *workload, *until, *policies, *controls,
        *sweep, *output, *metrics, *expect, *catalogue, *plugins, *trial_limits, *train, *border,
        *sensitivity, *tune, *options, *decide;
    bool tuned;                 /* as in struct experiment */
};

/* Reads `fidelity`; *by_step: is it `step`?  node NULL: it is not. */
bool experiment_by_step(const struct conf_node *node, bool *by_step,
                        struct err *err);
/* Fills the top level from the root of a file.  False: err says what is wrong. */
bool experiment_top_read(const struct conf_node *root, struct experiment_top *top,
                         struct err *err);
/* Reads `until:`, a time; CLOCK_NEVER_NS for `drained`. */
bool experiment_until(const struct conf_node *node, int64_t *until_ns,
                      struct err *err);
/* Reads `output:` into the experiment; node NULL: all as by default.  Needs
 * experiment->name and seeds. */
bool experiment_output(struct arena *arena, const struct conf_node *node,
                       struct experiment *experiment, struct err *err);
/* Reads `seeds:`, the most of a rule; node NULL: 1. */
bool experiment_seeds(const struct conf_node *node,
                      struct experiment *experiment, struct err *err);
/* Reads what is left of `seeds:`, after `expect:`, on which it may depend.  chosen: --seeds
 * gave a number, which takes the place of a rule. */
bool experiment_stop_read(struct arena *arena, const struct conf_node *node, bool chosen,
                          struct experiment *experiment, struct err *err);
/* Returns what an entry of `policies:` is called in the results, without reading all of
 * it; NULL: the entry is wrong. */
const char *experiment_entry_name(const struct conf_node *entry);
/* False, with err: the entry has no key `policy`, and one that is near to it. */
bool experiment_entry_key(const struct conf_node *entry, struct err *err);

#endif
