/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop.h - SIGINT, SIGTERM and SIGHUP wait while something must be put away first.
 *
 * Between stop_hold() and stop_release() they do nothing to this thread.  Long work asks
 * stop_waits() now and then, and ends early.  One that came acts at stop_release(), as it
 * would have at once: the program ends with status 130 (main.c).
 */
#ifndef EXPERIMENTS_PROCESS_STOP_H
#define EXPERIMENTS_PROCESS_STOP_H

#include <signal.h>
#include <stdbool.h>

/* Holds back those that are not ignored (nohup); *before: the mask until now. */
void stop_hold(sigset_t *before);
/* Does one wait? */
bool stop_waits(void);
void stop_release(const sigset_t *before);

#endif
