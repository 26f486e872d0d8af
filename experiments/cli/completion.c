/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * completion.c - `clustersim completion`: what shells complete, from the tables of
 * commands and options, the registry, the recipes and the metrics.
 *
 * What a value is follows from the word that --help shows for it: a|b is a choice,
 * POLICY,.. a list of policies, FILE a file.  So a new option needs nothing here.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/columns/metric.h"
#include "experiments/options/args.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "workloads/recipes/recipe.h"

/* What may stand at a place: words, files, or neither.  `list`: several of the
 * words, with commas between. */
struct value {
    const char *words;          /* blanks between; "": none */
    bool files, list;
};

/* ---- names ------------------------------------------------------------- */

/* Returns the names of all policies, with blanks between.  The next two do so
 * for recipes and metrics. */
static const char *join_policies(struct arena *arena)
{
    const struct cs_policy *policy;
    const char *text = "";

    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        text = text_format(arena, "%s%s%s", text, i == 0 ? "" : " ", policy->name);
    return text;
}

/* The names of all recipes, a blank between. */
static const char *join_recipes(struct arena *arena)
{
    const char *text = "";

    for (size_t i = 0; i < recipe_count; i++)
        text = text_format(arena, "%s%s%s", text, i == 0 ? "" : " ", recipe_table[i]->name);
    return text;
}

/* The names of all metrics, a blank between. */
static const char *join_metrics(struct arena *arena)
{
    const char *text = "";

    for (int m = 0; m < METRIC_COUNT; m++)
        text = text_format(arena, "%s%s%s", text, m == 0 ? "" : " ",
                           metric_info(NULL, (enum metric)m)->name);
    return text;
}

/* Returns the choices of "a|b|c" with blanks between; "": the text is no
 * choice.  It may stand in brackets and on several lines.  Capitals, as in
 * FILE, name something that users choose. */
static const char *split_choices(struct arena *arena, const char *text)
{
    const char *words = "";
    bool several = false;

    text += strspn(text, "[");
    for (;;) {
        size_t bytes = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

        if (bytes == 0 || (text[bytes] >= 'A' && text[bytes] <= 'Z'))
            return "";
        words = text_format(arena, "%s%s%.*s", words, several ? " " : "", (int)bytes, text);
        text += bytes;
        text += strspn(text, " \n");
        if (*text != '|')
            return several ? words : "";
        several = true;
        text++;
    }
}

/* What completes a value, by the word that --help shows for it: its choices, names
 * of a kind, or files. */
static struct value value_of(struct arena *arena, const char *shown)
{
    struct value value = { .words = split_choices(arena, shown) };

    if (strncmp(shown, "POLICY,", 7) == 0 || strncmp(shown, "METRIC,", 7) == 0) {
        value.words = shown[0] == 'P' ? join_policies(arena) : join_metrics(arena);
        value.list = true;
    } else if (strncmp(shown, "RECIPE,", 7) == 0) {
        value.words = join_recipes(arena);
        value.list = value.files = true;
    } else if (value.words[0] == '\0')
        value.files = strncmp(shown, "FILE", 4) == 0 || strncmp(shown, "DIR", 3) == 0 ||
                      strncmp(shown, "PATH", 4) == 0;
    return value;
}

/* Returns what the operands of a command are. */
static struct value operand_of(struct arena *arena, const struct command *command)
{
    struct value value = { .words = split_choices(arena, command->synopsis) };

    if (strncmp(command->synopsis, "WORD", 4) == 0)
        value.words = text_format(arena, "%s %s %s", join_policies(arena),
                                  join_recipes(arena), join_metrics(arena));
    value.files = value.words[0] == '\0' && command->words_max > 0;
    return value;
}

/* Does the command take the option?  All take --help. */
static bool takes(const struct command *command, int arg)
{
    return (command->options & ARG_BIT(arg)) != 0 || arg == ARG_HELP;
}

/* ---- bash -------------------------------------------------------------- */

static const char bash_head[] =
    "# bash completion of clustersim, made by `clustersim completion bash`\n"
    "_clustersim()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command=${COMP_WORDS[1]} words='' files='' list='' options='' operand=''\n"
    "    local found\n"
    "    COMPREPLY=()\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        command=\n"
    "    fi\n"
    "    case $command in *.yaml | *.yml) command=run ;; esac\n"
    "    case $command in\n";
static const char bash_tail[] =
    "    esac\n"
    "    case $operand$cur in 1-*) words=$options files='' ;; esac\n"
    "    if [ -n \"$list\" ] && [ \"$cur\" != \"${cur%,*}\" ]; then\n"
    "        found=$(compgen -P \"${cur%,*},\" -W \"$words\" -- \"${cur##*,}\")\n"
    "    else\n"
    "        found=$(compgen -W \"$words\" -- \"$cur\"\n"
    "            [ -z \"$files\" ] || compgen -f -- \"$cur\")\n"
    "    fi\n"
    "    [ -z \"$found\" ] || mapfile -t COMPREPLY <<<\"$found\"\n"
    "}\n"
    "complete -o filenames -F _clustersim clustersim\n";

/* Writes the three assignments that the tail of the script reads. */
static void put_bash_value(FILE *out, struct value value)
{
    fprintf(out, "words='%s' files=%s list=%s", value.words, value.files ? "1" : "",
            value.list ? "1" : "");
}

/* Writes the `case` of one command: its options, and what completes the value
 * of each. */
static void put_bash_command(struct cli *cli, const struct command *command)
{
    fprintf(cli->out, "    %s)\n        options='", command->name);
    for (int a = 0; a < ARG_COUNT; a++)
        if (takes(command, a))
            fprintf(cli->out, "%s ", arg_info((enum arg)a)->name);
    fputs("'\n        case $prev in\n", cli->out);
    for (int a = 0; a < ARG_COUNT; a++) {
        const struct arg_info *info = arg_info((enum arg)a);

        if (!takes(command, a) || info->value == NULL)
            continue;
        fputs("        ", cli->out);
        if (info->letter != 0)
            fprintf(cli->out, "-%c | ", info->letter);
        fprintf(cli->out, "%s) ", info->name);
        put_bash_value(cli->out, value_of(cli->arena, info->value));
        fputs(" ;;\n", cli->out);
    }
    fputs("        *) operand=1 ", cli->out);
    put_bash_value(cli->out, operand_of(cli->arena, command));
    fputs(" ;;\n        esac ;;\n", cli->out);
}

/* The whole script for bash. */
static void put_bash(struct cli *cli)
{
    fputs(bash_head, cli->out);
    fputs("    '')\n        options='--help --version' operand=1 files=1 words='", cli->out);
    for (size_t i = 0; i < cli->command_count; i++)
        fprintf(cli->out, "%s%s", i == 0 ? "" : " ", cli->command[i]->name);
    fputs("' ;;\n", cli->out);
    for (size_t i = 0; i < cli->command_count; i++)
        put_bash_command(cli, cli->command[i]);
    fputs(bash_tail, cli->out);
}

/* ---- zsh --------------------------------------------------------------- */

/* Writes a text for '...' of zsh, where brackets, colons and backslashes have a
 * meaning of their own. */
static void put_zsh_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else {
            if (strchr("[]:\\", *text) != NULL)
                fputc('\\', out);
            fputc(*text, out);
        }
}

/* Writes what _arguments of zsh takes for a value. */
static void put_zsh_value(FILE *out, struct value value)
{
    if (value.list)
        fprintf(out, "_values -s , value %s", value.words);
    else if (value.words[0] != '\0')
        fprintf(out, "(%s)", value.words);
    else if (value.files)
        fputs("_files", out);
    else
        fputc(' ', out);
}

/* Writes the `case` of one command, as arguments of _arguments. */
static void put_zsh_command(struct cli *cli, const struct command *command)
{
    FILE *out = cli->out;

    fprintf(out, "    %s)\n        _arguments \\\n", command->name);
    for (int a = 0; a < ARG_COUNT; a++) {
        const struct arg_info *info = arg_info((enum arg)a);

        if (!takes(command, a))
            continue;
        fputs("            ", out);
        if (info->letter != 0)
            fprintf(out, "{-%c,%s}", info->letter, info->name);
        else
            fputs(info->name, out);
        fputs("'[", out);
        put_zsh_text(out, info->help);
        fputc(']', out);
        if (info->value != NULL) {
            fputc(':', out);
            put_zsh_text(out, info->value);
            fputc(':', out);
            put_zsh_value(out, value_of(cli->arena, info->value));
        }
        fputs("' \\\n", out);
    }
    fputs("            '*:operand:", out);
    put_zsh_value(out, operand_of(cli->arena, command));
    fputs("' ;;\n", out);
}

/* The whole script for zsh; it works as a file of fpath and when sourced. */
static void put_zsh(struct cli *cli)
{
    fputs("#compdef clustersim\n"
          "# zsh completion of clustersim, made by `clustersim completion zsh`\n"
          "_clustersim() {\n    local -a commands\n    commands=(\n", cli->out);
    for (size_t i = 0; i < cli->command_count; i++) {
        fprintf(cli->out, "        '%s:", cli->command[i]->name);
        put_zsh_text(cli->out, cli->command[i]->summary);
        fputs("'\n", cli->out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n        _files -g '*.yaml'\n"
          "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n"
          "    case $words[1] in\n    *.yaml|*.yml) words[1]=run ;;\n    esac\n"
          "    case $words[1] in\n", cli->out);
    for (size_t i = 0; i < cli->command_count; i++)
        put_zsh_command(cli, cli->command[i]);
    fputs("    esac\n}\nif [ \"$funcstack[1]\" = _clustersim ]; then\n    _clustersim \"$@\"\n"
          "else\n    compdef _clustersim clustersim\nfi\n", cli->out);
}

/* ---- fish -------------------------------------------------------------- */

/* Writes a text in '...'. */
static void put_fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

/* Writes the lines of one command: fish has one for each option. */
static void put_fish_command(struct cli *cli, const struct command *command)
{
    struct value operand = operand_of(cli->arena, command);
    FILE *out = cli->out;

    fputs("complete -c clustersim -n __fish_use_subcommand -a ", out);
    fprintf(out, "%s -d ", command->name);
    put_fish_text(out, command->summary);
    fputc('\n', out);
    if (operand.words[0] != '\0')
        fprintf(out, "complete -c clustersim -n '__fish_seen_subcommand_from %s' -f -a '%s'\n",
                command->name, operand.words);
    for (int a = 0; a < ARG_COUNT; a++) {
        const struct arg_info *info = arg_info((enum arg)a);

        if (!takes(command, a))
            continue;
        fprintf(out, "complete -c clustersim -n '__fish_seen_subcommand_from %s' -l %s",
                command->name, info->name + 2);
        if (info->letter != 0)
            fprintf(out, " -s %c", info->letter);
        if (info->value != NULL) {
            struct value value = value_of(cli->arena, info->value);

            fputs(value.files ? " -r -F" : " -x", out);
            if (value.words[0] != '\0')
                fprintf(out, " -a '%s'", value.words);
        }
        fputs(" -d ", out);
        put_fish_text(out, info->help);
        fputc('\n', out);
    }
}

/* The whole script for fish. */
static void put_fish(struct cli *cli)
{
    fputs("# fish completion of clustersim, made by `clustersim completion fish`\n", cli->out);
    for (size_t i = 0; i < cli->command_count; i++)
        put_fish_command(cli, cli->command[i]);
}

/* ---- the command ------------------------------------------------------- */

/* Status 2, with the nearest name, for a shell that is not known. */
static int print_completion(struct cli *cli, const struct args *args)
{
    static const char *const shells[] = { "bash", "zsh", "fish", NULL };
    static void (*const put[])(struct cli *cli) = { put_bash, put_zsh, put_fish };
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };
    const char *near;

    for (size_t i = 0; shells[i] != NULL; i++)
        if (strcmp(args->word[0], shells[i]) == 0) {
            put[i](cli);
            return 0;
        }
    near = conf_nearest(args->word[0], shells);
    err_set(&err, ERR_USAGE, nowhere, "there is no completion for '%.40s'", args->word[0]);
    if (near != NULL)
        err_hint(&err, "Did you mean %s?", near);
    else
        err_hint(&err, "Shells: bash, zsh, fish.");
    return command_fail(cli, &err);
}

const struct command command_completion = {
    "completion", "bash|zsh|fish", "what a shell completes",
    "Prints a script that completes commands, options, and names of policies,\n"
    "recipes and metrics.  `make install` puts it where shells look.  Without an\n"
    "installation, for this shell alone:\n\n"
    "  source <(clustersim completion bash)\n",
    0, 1, 1, print_completion
};
