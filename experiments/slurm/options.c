/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - words between blanks; quotation marks keep blanks together, and a backslash
 * takes the meaning of the next character, also within either of them: so sbatch reads its
 * lines.  Words of which nothing is known here are sbatch's.
 */
#include "experiments/slurm/options.h"

#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

#define COUNT_MAX 1000000u      /* of jobs of an array */

static size_t count_blanks(const char *at)
{
    return strspn(at, " \t");
}

/* Bytes of the word that begins there; *comment is set if it has a # that sbatch takes for
 * the begin of a comment. */
static size_t measure_word(const char *at, bool *comment)
{
    char quote = '\0';
    size_t i = 0;

    for (; at[i] != '\0' && (quote != '\0' || (at[i] != ' ' && at[i] != '\t')); i++) {
        if (at[i] == '\\' && at[i + 1] != '\0')
            i++;
        else if (quote == '\0' && (at[i] == '"' || at[i] == '\''))
            quote = at[i];
        else if (at[i] == quote)
            quote = '\0';
        else if (quote == '\0' && at[i] == '#')
            *comment = true;
    }
    return i;
}

static size_t count_word(const char *at)
{
    bool comment = false;

    return measure_word(at, &comment);
}

/* A value as sbatch takes it: without its quotation marks and backslashes. */
static const char *value_of(struct arena *arena, const char *at, size_t bytes)
{
    char *value = text_format(arena, "%.*s", (int)bytes, at), *to = value, quote = '\0';

    for (const char *c = value; *c != '\0'; c++)
        if (*c == '\\' && c[1] != '\0')
            *to++ = *++c;
        else if (quote == '\0' && (*c == '"' || *c == '\''))
            quote = *c;
        else if (*c == quote)
            quote = '\0';
        else
            *to++ = *c;
    *to = '\0';
    return value;
}

/* If the option stands there, returns its bytes, value included, and stores the value. */
static size_t take_option(struct arena *arena, const char *at, char letter, const char *name,
                          const char **value)
{
    size_t word = count_word(at), head = strlen(name), behind;

    if (at[0] == '-' && at[1] == letter && word > 2) {          /* -N8 */
        *value = value_of(arena, at + 2, word - 2);
        return word;
    }
    if (word > head && strncmp(at, name, head) == 0 && at[head] == '=') {
        *value = value_of(arena, at + head + 1, word - head - 1);
        return word;
    }
    if (!(word == 2 && at[0] == '-' && at[1] == letter) &&
        !(word == head && strncmp(at, name, head) == 0))
        return 0;
    behind = word + count_blanks(at + word);
    word = count_word(at + behind);
    *value = value_of(arena, at + behind, word);
    return behind + word;
}

/* Digits alone, as far as a run has shards; 0: something else, as a range or a list. */
static uint32_t number_of(const char *text, size_t bytes)
{
    uint32_t number = 0;

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9' || number > COUNT_MAX / 10)
            return 0;
        number = 10 * number + (uint32_t)(text[i] - '0');
    }
    return number <= COUNT_MAX ? number : 0;
}

/* "1-N" or "1-N%MOST" */
static bool read_array(struct slurm_options *options, struct err *err)
{
    const char *text = options->array, *most;
    size_t bytes;

    if (text == NULL)
        return true;
    bytes = strncmp(text, "1-", 2) == 0 ? strcspn(text + 2, "%") : 0;
    most = text + 2 + bytes;
    options->array_count = bytes == 0 ? 0 : number_of(text + 2, bytes);
    if (options->array_count > 0 && (*most == '\0' || number_of(most + 1, strlen(most + 1)) > 0))
        return true;
    err_set(err, ERR_USAGE, nowhere, "the array of --slurm must be 1-N, or 1-N%%MOST, and is "
            "'%.40s'", text);
    return err_hint(err, "Its jobs run the shards 1/N to N/N of the experiment, %u at most.",
                    COUNT_MAX);
}

/* The text goes into one line of a file, of which sbatch reads all that is no comment. */
static bool is_line(const char *text, struct err *err)
{
    bool comment = false;

    if (text[strcspn(text, "\r\n")] != '\0')
        return err_set(err, ERR_USAGE, nowhere, "the options of --slurm must stand on one line");
    for (const char *at = text + count_blanks(text); *at != '\0'; at += count_blanks(at))
        at += measure_word(at, &comment);
    if (!comment)
        return true;
    err_set(err, ERR_USAGE, nowhere, "sbatch would not read the options of --slurm from '#' on, "
            "which begins a comment in a batch file");
    return err_hint(err, "Write \\# or put the value in quotation marks: --comment=\"a#b\".");
}

bool slurm_options_read(struct arena *arena, const char *text, struct slurm_options *options,
                        struct err *err)
{
    const char *nodes = NULL, *tasks = NULL;

    *options = (struct slurm_options){ .given = text, .rest = "" };
    if (!is_line(text, err))
        return false;
    for (const char *at = text + count_blanks(text); *at != '\0'; at += count_blanks(at)) {
        size_t bytes = take_option(arena, at, 'N', "--nodes", &nodes);

        if (bytes == 0)
            bytes = take_option(arena, at, 'n', "--ntasks", &tasks);
        if (bytes == 0)
            bytes = take_option(arena, at, 'a', "--array", &options->array);
        if (bytes == 0) {
            bytes = count_word(at);
            options->rest = text_format(arena, "%s%s%.*s", options->rest,
                                        *options->rest == '\0' ? "" : " ", (int)bytes, at);
        }
        at += bytes;
    }
    options->nodes = nodes == NULL ? 0 : number_of(nodes, strlen(nodes));
    options->tasks = tasks == NULL ? 0 : number_of(tasks, strlen(tasks));
    return read_array(options, err);
}
