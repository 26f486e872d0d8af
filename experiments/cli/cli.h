/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cli.h - the program, from its words to its exit status.
 */
#ifndef EXPERIMENTS_CLI_CLI_H
#define EXPERIMENTS_CLI_CLI_H

#include <stdio.h>

/* Runs the command that argv names; returns the exit status (command_exit_text).  out and
 * err are stdout and stderr, or files in a test. */
int cli_main(int argc, char **argv, FILE *out, FILE *err);

#endif
