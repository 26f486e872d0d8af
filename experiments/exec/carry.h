/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * carry.h - does what a program asks.  Private to experiments/exec.
 */
#ifndef EXPERIMENTS_EXEC_CARRY_H
#define EXPERIMENTS_EXEC_CARRY_H

#include <stdbool.h>
#include <stddef.h>

struct cs_host;
struct exec;

/* Carries out exec->answer in its order, and adds the verdicts to exec->verdicts, one
 * for each request that was reached.  *refused: one was not done.  False: a request
 * makes no sense, and `why` says which, as words behind \"its program\". */
bool carry_out(struct exec *exec, struct cs_host *host, bool *refused, char *why,
               size_t why_bytes);

#endif
