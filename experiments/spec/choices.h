/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choices.h - `options:`, what a team may do, and `decide:`, how one of them is
 * chosen.  Private to experiments/spec but for what experiment.h shows.
 *
 * An option is a policy with keys of its own.  It becomes an entry of `policies:`
 * under its name, as a user could have written it with `with:`, so all checks,
 * tables and comparisons of policies hold for options too.
 */
#ifndef EXPERIMENTS_SPEC_CHOICES_H
#define EXPERIMENTS_SPEC_CHOICES_H

#include <stdbool.h>

struct arena;
struct conf_node;
struct err;
struct experiment;
struct registry_guests;

/* Returns the experiment with the options in place of its policies, in the arena;
 * `root` itself if it has no options.  guests: policies from files.  NULL: err says what is
 * wrong. */
const struct conf_node *choices_open(struct arena *arena, const struct conf_node *root,
                                     const struct registry_guests *guests, struct err *err);
/* Reads the options and `decide` of the tree that choices_open() took, into the
 * experiment.  Needs experiment->own.  False: err says why. */
bool choices_read(struct arena *arena, const struct conf_node *options,
                  const struct conf_node *decide, struct experiment *experiment,
                  struct err *err);
/* Returns the name of the key in which the entry of that policy has keys of the cluster
 * and the workload, for messages: "set" of an option, or "with". */
const char *choices_word(const struct experiment *experiment, const char *policy);

#endif
