/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * controls.h - `controls:`, policies that show what decides a comparison.
 * Private to experiments/spec.
 */
#ifndef EXPERIMENTS_SPEC_CONTROLS_H
#define EXPERIMENTS_SPEC_CONTROLS_H

struct arena;
struct conf_node;
struct err;

/* Returns the experiment with the policies that `controls:` asks for behind its
 * own, in the arena; `root` itself where it asks for none.  NULL: err says what
 * is wrong.  A part that is switched off is named POLICY-CONTROL. */
const struct conf_node *controls_add(struct arena *arena,
                                     const struct conf_node *root,
                                     struct err *err);

#endif
