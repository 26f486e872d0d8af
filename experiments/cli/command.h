/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command.h - what a command is, and what all commands share.
 */
#ifndef EXPERIMENTS_CLI_COMMAND_H
#define EXPERIMENTS_CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/options/args.h"
#include "sim/base/err.h"

struct arena;

struct command;

/* Where a command speaks: answers to out, progress and messages to err. */
struct cli {
    const struct command *const *command;       /* all, in the order of commands.def */
    size_t command_count;
    struct arena *arena;        /* of the command: freed when it ends */
    FILE *out, *err;
    bool bold;                  /* out is a terminal that may be coloured */
    bool progress;              /* err is a terminal */
};

/* A command, as a constant of its file; all texts are static. */
struct command {
    const char *name;           /* what a user writes */
    const char *synopsis;       /* after the name: "EXPERIMENT.yaml [-o DIR]" */
    const char *summary;        /* one line */
    const char *help;           /* paragraphs for --help */
    uint64_t options;           /* bits of enum arg */
    size_t words_min, words_max;    /* operands */
    /* The exit status. */
    int (*run)(struct cli *cli, const struct args *args);
};

#define ARG_BIT(arg) (UINT64_C(1) << (arg))

#define COMMAND(name) extern const struct command command_##name;
#include "experiments/cli/commands.def"
#undef COMMAND

/* Lines "  STATUS  meaning", for --help and the man page. */
extern const char command_exit_text[];

/* Prints the err, and those behind it (err->next), with line and hint; returns the
 * exit status of its kind. */
int command_fail(struct cli *cli, const struct err *err);
/* Prints a warning as an error is printed; the program goes on.  `cli` is a struct
 * cli: the type fits callbacks. */
void command_warn(void *cli, const struct err *err);
/* `clustersim bench`: this process becomes the program beside it that measures
 * the engine.  argv[0] is "bench", its options follow.  Returns only where that
 * fails: the exit status. */
int command_become_bench(struct cli *cli, char **argv);

#endif
