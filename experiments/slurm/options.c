/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - words between blanks; quotation marks keep blanks together, as sbatch reads
 * its lines.  Words of which nothing is known here are sbatch's.
 */
#include "experiments/slurm/options.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

static size_t count_blanks(const char *at)
{
    return strspn(at, " \t");
}

/* Bytes of the word that begins there. */
static size_t count_word(const char *at)
{
    char quote = '\0';
    size_t i = 0;

    for (; at[i] != '\0' && (quote != '\0' || (at[i] != ' ' && at[i] != '\t')); i++) {
        if (at[i] == '\\' && quote != '\'' && at[i + 1] != '\0')
            i++;
        else if (quote == '\0' && (at[i] == '"' || at[i] == '\''))
            quote = at[i];
        else if (at[i] == quote)
            quote = '\0';
    }
    return i;
}

/* If the option stands there, returns its bytes, value included, and stores the value. */
static size_t take_option(struct arena *arena, const char *at, char letter, const char *name,
                          const char **value)
{
    size_t word = count_word(at), head = strlen(name), behind;

    if (at[0] == '-' && at[1] == letter && word > 2) {          /* -N8 */
        *value = text_format(arena, "%.*s", (int)(word - 2), at + 2);
        return word;
    }
    if (word > head && strncmp(at, name, head) == 0 && at[head] == '=') {
        *value = text_format(arena, "%.*s", (int)(word - head - 1), at + head + 1);
        return word;
    }
    if (!(word == 2 && at[0] == '-' && at[1] == letter) &&
        !(word == head && strncmp(at, name, head) == 0))
        return 0;
    behind = word + count_blanks(at + word);
    word = count_word(at + behind);
    *value = text_format(arena, "%.*s", (int)word, at + behind);
    return behind + word;
}

/* "8"; a range or a list is no number. */
static uint32_t number_of(const char *text)
{
    unsigned number;
    char more;

    return text != NULL && sscanf(text, "%u%c", &number, &more) == 1 && number <= 1000000
        ? number : 0;
}

static bool read_array(struct slurm_options *options, struct err *err)
{
    unsigned count = 0, most;
    char more;

    if (options->array == NULL)
        return true;
    if ((sscanf(options->array, "1-%u%c", &count, &more) == 1 ||
         sscanf(options->array, "1-%u%%%u%c", &count, &most, &more) == 2) && count >= 1 &&
        count <= 1000000) {
        options->array_count = count;
        return true;
    }
    err_set(err, ERR_USAGE, nowhere, "the array of --slurm must be 1-N, or 1-N%%MOST, and is "
            "'%.40s'", options->array);
    return err_hint(err, "Its jobs run the shards 1/N to N/N of the experiment.");
}

/* The text goes into one line of a file. */
static bool is_line(const char *text, struct err *err)
{
    return text[strcspn(text, "\r\n")] == '\0' ||
           err_set(err, ERR_USAGE, nowhere, "the options of --slurm must stand on one line");
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
    options->nodes = number_of(nodes);
    options->tasks = number_of(tasks);
    return read_array(options, err);
}
