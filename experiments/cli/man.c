/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * man.c - `clustersim man`: the manual page, from the tables that --help prints.
 *
 * No date stands in it, so that a version has the same bytes wherever it is built.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/options/args.h"

/* Writes text so that troff sees no request and no escape in it.  Hyphens
 * become \\-, which a reader can copy and type. */
static void put_text(FILE *out, const char *text, size_t bytes)
{
    if (bytes > 0 && (text[0] == '.' || text[0] == '\''))
        fputs("\\&", out);
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
}

/* Writes lines as paragraphs.  Lines that begin with a blank, as examples do,
 * keep their layout. */
static void put_paragraphs(FILE *out, const char *text)
{
    bool kept = false, ended = false;

    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");

        if (bytes == 0)
            ended = true;
        else {
            bool keep = text[0] == ' ';

            if (kept && !keep)
                fputs(".fi\n", out);
            if (ended || (kept && !keep))
                fputs(".PP\n", out);
            if (keep && !kept)
                fputs(".nf\n", out);
            put_text(out, text, bytes);
            fputc('\n', out);
            kept = keep;
            ended = false;
        }
        text += bytes + (text[bytes] == '\n');
    }
    if (kept)
        fputs(".fi\n", out);
}

/* Writes the forms of a command, one a line, as --help shows them. */
static void put_synopsis(FILE *out, const struct command *command)
{
    fputs(".nf\n", out);
    fprintf(out, "\\fBclustersim %s\\fR ", command->name);
    for (const char *at = command->synopsis; *at != '\0';) {
        size_t bytes = strcspn(at, "\n");

        put_text(out, at, bytes);
        fputc('\n', out);
        at += bytes + (at[bytes] == '\n');
    }
    fputs(command->synopsis[0] == '\0' ? "\n.fi\n" : ".fi\n", out);
}

/* The options that a command takes, in the order of the table. */
static void put_options(FILE *out, const struct command *command)
{
    for (int a = 0; a < ARG_COUNT; a++) {
        const struct arg_info *info = arg_info((enum arg)a);

        if ((command->options & ARG_BIT(a)) == 0)
            continue;
        fputs(".TP\n\\fB", out);
        if (info->letter != 0)
            fprintf(out, "\\-%c\\fR, \\fB", info->letter);
        put_text(out, info->name, strlen(info->name));
        fputs("\\fR", out);
        if (info->value != NULL) {
            fputs(" \\fI", out);
            put_text(out, info->value, strlen(info->value));
            fputs("\\fR", out);
        }
        fputc('\n', out);
        put_text(out, info->help, strlen(info->help));
        fputc('\n', out);
    }
}

/* The section of one command. */
static void put_command(FILE *out, const struct command *command)
{
    fprintf(out, ".SS clustersim %s\n", command->name);
    put_synopsis(out, command);
    fputs(".PP\n", out);
    put_text(out, command->summary, strlen(command->summary));
    fputs(".\n", out);
    if (command->help[0] != '\0')
        fputs(".PP\n", out);
    put_paragraphs(out, command->help);
    put_options(out, command);
}

/* Writes the statuses, from the text that --help prints. */
static void put_exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    for (const char *at = command_exit_text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        int number = 0, used = 0;

        if (sscanf(at, "%d %n", &number, &used) == 1) {
            fprintf(out, ".TP\n%d\n", number);
            put_text(out, at + used, strcspn(at + used, "\n"));
            fputc('\n', out);
        }
    }
}

/* Writes the whole page; the order of its sections is that of man-pages(7). */
static int print_man(struct cli *cli, const struct args *args)
{
    (void)args;
    fputs(".TH CLUSTERSIM 1 \"\" \"clustersim " CLUSTERSIM_VERSION "\" \"User Commands\"\n"
          ".SH NAME\nclustersim \\- simulate GPU clusters to compare scheduling policies\n"
          ".SH SYNOPSIS\n\\fBclustersim\\fR \\fIEXPERIMENT.yaml\\fR [options of run]\n.br\n"
          "\\fBclustersim\\fR \\fICOMMAND\\fR ...\n"
          ".SH DESCRIPTION\nAn experiment is a YAML file: a cluster, a workload, policies, "
          "a number of\nseeds and values to sweep.  Its run writes a folder of tables, charts "
          "and a\nreport, with confidence intervals.\n"
          "\\fBclustersim explain\\fR \\fIWORD\\fR explains every key, value and name;\n"
          "\\fBclustersim new\\fR writes a first "
          "experiment.\n.SH COMMANDS\n", cli->out);
    for (size_t i = 0; i < cli->command_count; i++)
        put_command(cli->out, cli->command[i]);
    put_exit_status(cli->out);
    fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nif it is not empty, nothing is coloured\n"
          ".TP\n\\fBCC\\fR\nthe compiler of policies in C (cc)\n"
          ".TP\n\\fBXDG_CACHE_HOME\\fR\nwhere compiled policies are kept (~/.cache)\n", cli->out);
    return 0;
}

const struct command command_man = {
    "man", "", "the manual page, for man(1)",
    "Prints clustersim.1, which `make install` puts where man(1) finds it.\n"
    "Without an installation: clustersim man | man -l -\n",
    0, 0, 0, print_man
};
