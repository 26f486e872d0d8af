/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * isolate.h - runs a function in a process of its own, so that code which is not
 * ours may crash, spin or take all memory without harm to others.
 *
 * The process begins as a copy of this one (fork).  What it is to return lies in a
 * page of memory that both see.
 */
#ifndef EXPERIMENTS_PROCESS_ISOLATE_H
#define EXPERIMENTS_PROCESS_ISOLATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct isolate;

/* How the function ended. */
struct isolate_end {
    bool done;          /* it returned */
    bool killed;        /* by isolate_kill() */
    bool lost;          /* how the process ended is not known: others took its status */
    int signal;         /* that ended the process, or 0 */
    int status;         /* of its exit otherwise; -1: it could not be started */
    char said[200];     /* the last line that it wrote to stderr, if it ended itself */
};

/* For programs with a state of their own that a fork must not split, such as an
 * interpreter: called before each fork, and after it in both processes, by the thread
 * that forks. */
struct isolate_fork {
    void (*before)(void *self);
    void (*in_parent)(void *self);
    void (*in_child)(void *self, double limit_s);
    void *self;
};

/* Returns a shared page of `page_bytes` bytes, zeroed, for processes that may have
 * `memory_bytes` bytes of address space each; 0: as this one.  The caller frees
 * it.  Ends the program if there is no memory. */
struct isolate *isolate_new(size_t page_bytes, uint64_t memory_bytes);
/* Returns the page, the same for all runs; what one run left there is seen by the
 * next. */
void *isolate_page(const struct isolate *isolate);
void isolate_free(struct isolate *isolate);             /* accepts NULL */

/* Names what must be told of each fork; `fork` must outlive the isolate. limit_s:
 * how many seconds the function may go on without progress, as its caller
 * enforces; in_child() is told. */
void isolate_tell(struct isolate *isolate, const struct isolate_fork *fork, double limit_s);

/* Held around each fork, so that another thread may keep the process from splitting while
 * it opens files or closes them.  Set before isolate_run(). */
void isolate_set_gate(struct isolate *isolate, pthread_mutex_t *gate);

/* Calls the function in a process of its own, and waits for its end.  That process
 * ends with this one and leaves no core file.  One at a time for an isolate;
 * several isolates may run at once, in threads. */
struct isolate_end isolate_run(struct isolate *isolate, void (*function)(void *self),
                               void *self);
/* To be called by the function itself: ends its process once it has taken that
 * many seconds of processor time. */
void isolate_limit_cpu(unsigned seconds);
/* For a child: it leaves no core file, and has at most `bytes` of memory; 0: as now. */
void isolate_limit_memory(uint64_t bytes);
/* Ends what isolate_run() waits for, if it runs; by another thread. */
void isolate_kill(struct isolate *isolate);

/* Returns what happened, as "crashed (Segmentation fault)", static or in the arena. */
const char *isolate_why(struct arena *arena, const struct isolate_end *end);

#endif
