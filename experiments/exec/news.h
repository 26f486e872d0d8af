/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * news.h - what a program is told.  Private to experiments/exec.
 */
#ifndef EXPERIMENTS_EXEC_NEWS_H
#define EXPERIMENTS_EXEC_NEWS_H

#include "experiments/exec/guest.h"

struct cs_host;

/* Each writes a whole line into exec->out, or out, with the next number; hello is
 * message 0.  The caller sends it. */
void news_write_hello(struct line *out);
void news_write_start(struct exec *exec, struct cs_host *host);
/* All that is new since the last message, with the verdicts, which are then empty. */
void news_write_decide(struct exec *exec, struct cs_host *host);
void news_write_end(struct exec *exec, struct cs_host *host);
/* Writes all that waits and all leases as a value. */
void news_write_snapshot(struct exec *exec, struct cs_host *host, struct line *line);

/* The task waits no more, as far as the program knows. */
void news_forget(struct exec *exec, struct exec_task task);
/* Is it a job that was submitted and has not ended? */
bool news_job_lives(const struct exec *exec, int64_t job);

#endif
