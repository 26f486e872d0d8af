/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cli.c - finds the command, reads its options, prints help.
 *
 * A usage error is short and goes to stderr; help is long and goes to stdout.
 * Commands are the lines of commands.def; each is a struct command in a file of
 * its own.  A word that ends in .yaml is an experiment to run, so that the most
 * common use needs no command.
 */
#include "experiments/cli/cli.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli/command.h"
#include "experiments/options/args.h"
#include "experiments/results/provenance.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "experiments/cli/commands.def"
#undef COMMAND
};
#define COMMANDS (sizeof commands / sizeof commands[0])

/* Two lines of usage, for errors. */
static void print_usage(FILE *file)
{
    fputs("usage: clustersim EXPERIMENT.yaml [options of run]\n"
          "       clustersim COMMAND ...\n"
          "`clustersim --help` lists the commands\n", file);
}

/* Prints all commands, a line each, and the exit statuses. */
static void print_help(FILE *file)
{
    fputs("clustersim " CLUSTERSIM_VERSION
          " - simulates GPU clusters to compare scheduling policies\n\n"
          "usage: clustersim EXPERIMENT.yaml [options of run]\n"
          "       clustersim COMMAND ...\n\ncommands\n", file);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(file, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n`clustersim COMMAND --help` says more; `clustersim --version` "
          "says which this is.\n\nexit status\n", file);
    fputs(command_exit_text, file);
}

/* The line of usage of one command. */
static void print_command(FILE *file, const struct command *command)
{
    fprintf(file, "usage: clustersim %s%s%s\n", command->name,
            command->synopsis[0] == '\0' ? "" : " ", command->synopsis);
}

/* Prints the help of one command.  Its options are those of the command's mask,
 * which the parser uses too, so that both agree. */
static void print_command_help(FILE *file, const struct command *command)
{
    print_command(file, command);
    fprintf(file, "\n%s\n\n%s", command->summary, command->help);
    if (command->options == 0)
        return;
    fputs("\noptions\n", file);
    for (int a = 0; a < ARG_COUNT; a++) {
        const struct arg_info *info = arg_info((enum arg)a);
        char left[64];

        if ((command->options & ARG_BIT(a)) == 0)
            continue;
        snprintf(left, sizeof left, "%c%c%c %s%s%s",
                 info->letter != 0 ? '-' : ' ',
                 info->letter != 0 ? info->letter : ' ',
                 info->letter != 0 ? ',' : ' ', info->name,
                 info->value != NULL ? " " : "",
                 info->value != NULL ? info->value : "");
        fprintf(file, "  %-28s %s\n", left, info->help);
    }
}

/* Version and compiler, as they stand in provenance.json. */
static void print_version(FILE *file)
{
    fprintf(file, "clustersim %s (%s)\n", CLUSTERSIM_VERSION,
            provenance_compiler());
}

/* Returns the command of that name, or NULL. */
static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* Does the text end so? */
static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), tail = strlen(end);

    return bytes >= tail && strcmp(text + bytes - tail, end) == 0;
}

/* Is the first word a file to run, and not a command? */
static bool is_experiment(const char *word)
{
    return ends_with(word, ".yaml") || ends_with(word, ".yml");
}

/* Reports a command that is not known, with the nearest name, or how
 * experiments are named.  Returns the status. */
static int refuse_command(struct cli *cli, const char *name)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *names[COMMANDS + 1], *near;
    struct err err = { 0 };

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    names[COMMANDS] = NULL;
    near = conf_nearest(name, names);
    err_set(&err, ERR_USAGE, nowhere, "there is no command '%.60s'", name);
    if (near != NULL)
        err_hint(&err, "Did you mean %s?", near);
    else
        err_hint(&err, "Experiment files end in .yaml; `clustersim --help` "
                 "lists the commands.");
    return command_fail(cli, &err);
}

/* Prints an error of usage, the command's synopsis, and where more is said.
 * Returns the status. */
static int print_usage_error(struct cli *cli, const struct command *command,
                             struct err *err)
{
    int status = command_fail(cli, err);

    print_command(cli->err, command);
    fprintf(cli->err, "`clustersim %s --help` says more\n", command->name);
    return status;
}

/* Does the command take the option, whose name has `bytes` bytes? */
static bool takes(const struct command *command, const char *option, size_t bytes)
{
    for (int a = 0; a < ARG_COUNT; a++)
        if ((command->options & ARG_BIT(a)) != 0 &&
            strncmp(arg_info((enum arg)a)->name, option, bytes) == 0 &&
            arg_info((enum arg)a)->name[bytes] == '\0')
            return true;
    return false;
}

/* Hints at the commands that take the option which this command does not take,
 * unless there is a hint already.  `word` are the words behind the command. */
static void hint_commands(struct cli *cli, const struct command *command, char *const *word,
                          struct err *err)
{
    const char *names = "";

    while (*word != NULL && (strncmp(*word, "--", 2) != 0 || (*word)[2] == '\0' ||
                             takes(command, *word, strcspn(*word, "="))))
        word++;
    for (size_t i = 0; *word != NULL && i < COMMANDS; i++)
        if (takes(commands[i], *word, strcspn(*word, "=")))
            names = text_format(cli->arena, "%s%s %s", names, names[0] == '\0' ? "" : ",",
                                commands[i]->name);
    if (names[0] != '\0' && err->hint[0] == '\0')
        err_hint(err, "Commands that take it:%s.", names);
}

/* Reads the options of a command, and runs it if its operands are as many as it
 * takes. */
static int run_command(struct cli *cli, const struct command *command,
                       int argc, char **argv, int first)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };
    struct args args;

    if (!args_read(cli->arena, argc, argv, first, command->options, &args,
                   &err)) {
        hint_commands(cli, command, argv + first, &err);
        return print_usage_error(cli, command, &err);
    }
    if (args.given[ARG_HELP]) {
        print_command_help(cli->out, command);
        return 0;
    }
    if (args.word_count < command->words_min) {
        err_set(&err, ERR_USAGE, nowhere, "%s needs %s", command->name,
                command->words_min == 2 ? "two operands" : "an operand");
        return print_usage_error(cli, command, &err);
    }
    if (args.word_count > command->words_max) {
        err_set(&err, ERR_USAGE, nowhere, "'%.80s' is one word too many",
                args.word[command->words_max]);
        return print_usage_error(cli, command, &err);
    }
    return command->run(cli, &args);
}

/* Runs what the words ask for.  `bench` comes before the parser, which does not
 * know its options.  A file instead of a command is run; options may stand
 * before it. */
static int dispatch(struct cli *cli, int argc, char **argv)
{
    const struct command *command;

    if (argc < 2) {
        print_usage(cli->err);
        return err_exit_status(ERR_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        command = argc > 2 ? find_command(argv[2]) : NULL;
        if (command != NULL)
            print_command_help(cli->out, command);
        else
            print_help(cli->out);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version(cli->out);
        return 0;
    }
    if (strcmp(argv[1], "bench") == 0)      /* has its own options */
        return command_become_bench(cli, argv + 1);
    command = find_command(argv[1]);
    if (command != NULL)
        return run_command(cli, command, argc, argv, 2);
    for (int i = 1; i < argc; i++)
        if (is_experiment(argv[i]) && (i == 1 || argv[1][0] == '-'))
            return run_command(cli, &command_run, argc, argv, 1);
    return refuse_command(cli, argv[1]);
}

/* May the output be coloured?  Only on a terminal, and only if the user did not
 * say no (no-color.org). */
static bool may_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fileno(out)) && (no == NULL || no[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

int cli_main(int argc, char **argv, FILE *out, FILE *err)
{
    struct cli cli = {
        .arena = arena_new((size_t)1 << 18), .out = out, .err = err,
        .command = commands, .command_count = COMMANDS,
        .bold = may_colour(out), .progress = isatty(fileno(err))
    };
    int status = dispatch(&cli, argc, argv);

    arena_free(cli.arena);
    return status;
}
