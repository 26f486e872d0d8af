/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signals.h - the program is sent SIGINT, SIGTERM or SIGHUP at a moment drawn by a fixed seed,
 * once it has its handlers.  What it takes to end is measured in processor time, which other
 * programs do not lengthen; the wait has a limit only to end a hang.
 */
#ifndef TESTS_SIGNALS_H
#define TESTS_SIGNALS_H

#include <sys/types.h>

#include "tests/aid/program.h"

extern struct program signalled;

void pause_ms(long ms);
/* A line of /proc/PID/status; false: there is none. */
bool status_of(pid_t pid, const char *key, unsigned long long *mask);
/* Writes a file into the program's folder. */
void write_text(const char *name, const char *text, mode_t mode);

/* Begins argv, with the folder bin (NULL: none) before the others of PATH. */
pid_t begin(const char *const argv[], const char *bin);
/* Waits for an end and returns the status; -1: it hangs, and was killed. */
int end_of(pid_t pid, double *cpu_s);
/* Sends a signal some milliseconds after the handlers are there, and returns the status. */
int cut_off(const char *const argv[], const char *bin, uint32_t within_ms);
/* Runs an experiment in the program's folder again and again, and interrupts each run; the
 * status must be 130. */
void cut_off_often(const char *experiment, int times, uint32_t within_ms);

#endif
