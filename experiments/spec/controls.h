/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * controls.h - `controls:`, policies that show what decides a comparison.
 */
#ifndef EXPERIMENTS_SPEC_CONTROLS_H
#define EXPERIMENTS_SPEC_CONTROLS_H

struct arena;
struct conf_node;
struct err;
struct registry_guests;

/* Returns the experiment with the policies that `controls:` asks for behind its
 * own, in the arena; `root` itself where it asks for none.  NULL: err says what
 * is wrong.  A part that is switched off is named POLICY-CONTROL. */
const struct conf_node *controls_add(struct arena *arena,
                                     const struct conf_node *root,
                                     const struct registry_guests *guests,
                                     struct err *err);

/* Returns the name of the i-th control that switches a part off ("no_growth");
 * NULL after the last. */
const char *controls_part(unsigned i);

#endif
