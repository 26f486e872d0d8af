/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spawn.h - starts a program with pipes to its stdin, stdout and stderr.  Private to
 * talk.c.
 */
#ifndef EXPERIMENTS_PROCESS_SPAWN_H
#define EXPERIMENTS_PROCESS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct talk_plan;

/* A program that runs, and our ends of its pipes, which the caller closes. */
struct spawned {
    pid_t pid;
    int in;                     /* to its stdin */
    int out, said;              /* from its stdout and stderr */
};

/* Starts the program of a plan, in a process group of its own, so that Ctrl-C does
 * not reach it.  It inherits no other file of this process, and it ends with it.
 * True: exec succeeded, and `child` is filled.  False: `why` (at most why_bytes
 * bytes with its NUL) has words that go on behind the program's name; nothing is
 * left open, and no process is left. */
bool spawn_start(const struct talk_plan *plan, struct spawned *child, char *why,
                 size_t why_bytes);
/* Waits until a child has ended, and collects it. */
void spawn_collect(pid_t pid);

#endif
