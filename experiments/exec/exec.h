/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exec.h - policies that are programs: `{exec: "./scheduler --stdio"}`.
 *
 * The program is asked over its stdin and stdout, a line of JSON for each decision
 * (policies/PROTOCOL.md).  It is started once when the experiment is read, to hear
 * what it is, and once for each trial.
 */
#ifndef EXPERIMENTS_EXEC_EXEC_H
#define EXPERIMENTS_EXEC_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct cs_policy;

#define EXEC_PROTOCOL 1u        /* the version that is spoken */

/* Starts the program, and makes the table of a policy from what it says of itself.
 * `command`: words with blanks between them, quoted where they have some; `folder`: to
 * run in.  *hash: of the command and of the files that it names.  The table lives in
 * the arena.  NULL: err says what is wrong, with what the program wrote to stderr as
 * its hint.  Takes as long as the program does to start, at most 20 s of wall time or
 * the limit. */
const struct cs_policy *exec_load(struct arena *arena, const char *command,
                                  const char *folder, struct err_pos pos,
                                  uint64_t *hash, struct err *err);

/* Is the table one that exec_load() made? */
bool exec_is(const struct cs_policy *policy);
/* Sets the wall time for an answer, in ns above 0; before any trial. */
void exec_set_limit(const struct cs_policy *policy, int64_t limit_ns);

#endif
