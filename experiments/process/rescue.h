/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rescue.h - what becomes of a process of which one thread crashes.
 *
 * A fault in the thread of a trial leaves the memory of the whole process in doubt, so no
 * other thread may go on.  The handler of the signal notes in a file what that thread did,
 * and begins the program anew in its place: what has ended lies on disk already.  It costs
 * nothing before a crash.  A crash elsewhere ends the program with status 70.
 */
#ifndef EXPERIMENTS_PROCESS_RESCUE_H
#define EXPERIMENTS_PROCESS_RESCUE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct rescue;

/* Returns a rescue for `threads` threads, in the arena.  Notes are appended to the file
 * `name` in the folder of that handle, which stays the caller's and open, as `name` does.
 * argv, which ends with NULL, is how the program begins anew; NULL: it does not, and ends
 * with status 70. */
struct rescue *rescue_new(struct arena *arena, uint32_t threads, int folder,
                          const char *name, char *const *argv);
/* From here on the process's faults (SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL) come here,
 * until rescue_disarm().  Where a sanitizer watches the memory, SIGABRT alone: the
 * others are its own.  One rescue at a time. */
void rescue_arm(struct rescue *rescue);
void rescue_disarm(struct rescue *rescue);

/* Called by a thread itself, first and last: it handles signals on a stack of its own, as
 * its usual one may be what ran out.  `thread` counts from 0. */
void rescue_enter(struct rescue *rescue, uint32_t thread);
void rescue_leave(struct rescue *rescue, uint32_t thread);
/* This is noted, and a new line, if the thread crashes from now on. */
void rescue_mark(struct rescue *rescue, uint32_t thread, uint64_t number);

#endif
