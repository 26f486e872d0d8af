/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.h - the key tables of an experiment file and what fills them;
 * private to study.
 */
#ifndef EXPERIMENTS_SPEC_KEYS_H
#define EXPERIMENTS_SPEC_KEYS_H

#include "experiments/spec/study.h"
#include "sim/config/conf.h"

/* The top level, as filled by study_schema. */
struct study_top {
    const char *name, *description, *baseline;
    int64_t seed, seeds, warmup_ns, stalled_ns, event_count_max;
    int fidelity;               /* 1: step by step */
    const struct conf_node *cluster, *workload, *until, *policies, *sweep,
        *output, *expect, *catalogue, *train;
};

/* Whether `fidelity` is step; node NULL: it is not. */
bool study_by_step(const struct conf_node *node, bool *by_step,
                   struct err *err);
bool study_top_read(const struct conf_node *root, struct study_top *top,
                    struct err *err);
/* `until: drained` or a time. */
bool study_until(const struct conf_node *node, int64_t *until_ns,
                 struct err *err);
bool study_output(struct arena *arena, const struct conf_node *node,
                  struct study *study, struct err *err);
/* Checks metrics and limits; names of policies and points are the caller's. */
bool study_expects(struct arena *arena, const struct conf_node *node,
                   struct study *study, struct err *err);

#endif
