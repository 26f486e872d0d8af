/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guests.h - entries of `policies:` that name a file or a program.  Private to experiments/spec.
 */
#ifndef EXPERIMENTS_SPEC_GUESTS_H
#define EXPERIMENTS_SPEC_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/spec/trial_spec.h"

struct arena;
struct conf_node;
struct err;
struct registry_guests;

/* Reads `plugins:` into *out, and passes the limit on to policies that are
 * programs; node NULL: as it is without the key.  False: err says what is wrong. */
bool guests_read(const struct conf_node *node, const struct registry_guests *guests,
                 struct trial_guest *out, struct err *err);

/* Reads `trial_limits:` into *out, where guests_read() has set what guests have; node NULL:
 * there are none.  False: err says what is wrong. */
bool guests_read_limits(const struct conf_node *node, struct trial_processes *out,
                        struct err *err);

/* Loads each file or program that an entry names and that is not among the guests
 * yet: compiles it, or starts the program to hear what it is.  Returns the
 * experiment, in the arena, where each such entry has a `name:`, that of the
 * guest's table if it said none.  NULL: err says what is wrong. */
const struct conf_node *guests_load(struct arena *arena, const struct conf_node *root,
                                    struct registry_guests *guests, struct err *err);

/* Returns `hash` with the code of the policy that an entry names, if it is a guest. */
uint64_t guests_hash(const struct registry_guests *guests,
                     const struct conf_node *entry, uint64_t hash);

#endif
