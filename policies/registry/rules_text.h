/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules_text.h - the semantics and limits of an entry in words.  For rules.c, which reads
 * entries by the same names.
 */
#ifndef POLICIES_REGISTRY_RULES_TEXT_H
#define POLICIES_REGISTRY_RULES_TEXT_H

struct arena;
struct heeds;
struct host_rules;

/* Names of the values of enum host_blocking, host_hardware and host_estimate; NULL ends
 * each list. */
extern const char *const host_blocking_names[], *const host_hardware_names[],
    *const host_estimate_names[];

/* Returns the semantics of an entry, "key=value" with blanks between: those keys that
 * act.  The text is in the arena. */
const char *rules_semantics(struct arena *arena, const struct heeds *heeds,
                            const struct host_rules *rules);
/* Returns the limits of a policy with their values, "depth: 256, nodes_max:
 * 2000", in the arena; NULL: it has none. */
const char *rules_limits(struct arena *arena, const struct heeds *heeds);

#endif
