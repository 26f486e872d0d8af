/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * semantics.h - what other simulators mean by a policy's name.
 *
 * A preset is a set of keys of `policies:` under which a policy does what a
 * published simulator really does.  The keys are defaults: the same key beside
 * `semantics:` replaces one.  To add a preset, add rows to semantics.c.
 */
#ifndef POLICIES_REGISTRY_SEMANTICS_H
#define POLICIES_REGISTRY_SEMANTICS_H

#include <stddef.h>

struct arena;
struct conf_node;
struct err;

/* A preset for one policy. */
struct semantics_row {
    const char *preset;         /* what `semantics:` says: "helios" */
    const char *policy;         /* the policy that the row is for */
    const char *keys;           /* a map in YAML */
    const char *meaning;        /* a sentence */
    const char *effect;         /* mean JCT in seconds of the 480 jobs of
                                   workloads/trace_c480.yaml on 8 x 8 GPUs */
};

/* NULL past the last. */
const struct semantics_row *semantics_at(size_t i);
/* Returns the entry with the preset's keys added, or the entry itself if it
 * names no preset.  Memory comes from the arena.  NULL: the preset is unknown
 * or not for this policy; err says which there are. */
const struct conf_node *semantics_apply(struct arena *arena,
                                        const struct conf_node *entry,
                                        const char *policy, struct err *err);

#endif
