/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * news_parts.h - the parts of a message to a program.  Private to the files news*.c.
 *
 * Each appends to exec->out, within the map of a decision, a comma before its key.
 * A list that it took from is empty afterwards.
 */
#ifndef EXPERIMENTS_EXEC_NEWS_PARTS_H
#define EXPERIMENTS_EXEC_NEWS_PARTS_H

#include "policies/policy.h"

struct cs_host;
struct exec;
struct line;

/* `forms` that the program does not know yet, if any, and `jobs`: those of
 * exec->submitted. */
void news_put_jobs(struct exec *exec, const struct cs_host *host);
/* `ended`: jobs of exec->ended.  Their tasks wait no more. */
void news_put_ended(struct exec *exec);
/* `waits`: tasks that the program does not know to wait, in the order of the queue;
 * with leases for a phase `gone`, too: those that it believes to wait, and that do
 * not.  Appends nothing where there are none. */
void news_put_waits(struct exec *exec, struct cs_host *host);
/* `idle`: leases of exec->idle, those left out that have ended meanwhile. */
void news_put_idle(struct exec *exec, const struct cs_host *host);

/* A task that waits, as an item of a list in `out`; notes nothing. */
void news_put_task(const struct exec *exec, const struct cs_host *host, struct task_id id,
                   struct line *out);

#endif
