/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue_files.h - the key `catalogue`: files that add to the built-in one.
 */
#ifndef EXPERIMENTS_SPEC_CATALOGUE_FILES_H
#define EXPERIMENTS_SPEC_CATALOGUE_FILES_H

struct arena;
struct catalogue;
struct conf_node;
struct err;

/* Reads the catalogue with the files that the value of the key names, one or a list,
 * relative to the file that it stands in.  `node` NULL: the built-in one.  NULL: err
 * says why. */
const struct catalogue *catalogue_files_load(struct arena *arena,
                                             const struct conf_node *node,
                                             struct err *err);

#endif
