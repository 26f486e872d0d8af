/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entry.h - an entry of `policies:` with other keys.  Private to experiments/tune.
 */
#ifndef EXPERIMENTS_TUNE_ENTRY_H
#define EXPERIMENTS_TUNE_ENTRY_H

#include <stddef.h>

#include "experiments/spec/experiment.h"
#include "experiments/tune/space.h"

struct arena;
struct conf_node;
struct err;

/* Returns the entry of that name of the experiment's own policies, without those
 * that controls add; NULL: there is none. */
const struct conf_node *entry_find(const struct experiment *experiment,
                                   const char *policy);
/* Returns the settings that make the entry have those of a choice: keys of the
 * policy one by one, and of the workload and the cluster in one `with`, behind those
 * that the entry has.  Files that it names are found from the current folder.
 * In the arena; settings point to texts of the choice. */
struct space_choice entry_settings(struct arena *arena, const struct conf_node *entry,
                                   const char *policy,
                                   const struct space_choice *choice);
/* Returns the whole entry with a choice, as YAML; NULL: err says why. */
const char *entry_text(struct arena *arena, const struct conf_node *entry,
                       const char *policy, const struct space_choice *choice,
                       struct err *err);

#endif
