/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crashed.c - lines are appended, so a process that is killed harms no earlier one.
 */
#define _POSIX_C_SOURCE 200809L     /* getline */

#include "experiments/trials/crashed.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"

#define HASH_DIGITS 16u

struct reading {
    struct arena *arena;        /* of what is read */
    struct crashed_trial *trial;
    size_t count, room;
};

/* Cuts the line at its next tab; returns what follows, or NULL. */
static char *cut(char *line)
{
    char *tab = line == NULL ? NULL : strchr(line, '\t');

    if (tab == NULL)
        return NULL;
    *tab = '\0';
    return tab + 1;
}

/* Reads "KIND\tTEXT\tHINT"; NULL where it is not whole. */
static const struct err *read_why(struct arena *arena, char *kind)
{
    char *text = cut(kind), *hint = cut(text), *end;
    struct err *why;
    long number;

    if (hint == NULL)
        return NULL;
    number = strtol(kind, &end, 10);
    if (end == kind || *end != '\0' || number <= ERR_NONE || number > ERR_BUG)
        return NULL;
    why = arena_alloc(arena, 1, sizeof *why);
    (void)err_set(why, (enum err_kind)number, (struct err_pos){ NULL, 0, 0 }, "%s", text);
    (void)err_hint(why, "%s", hint);
    return why;
}

/* A line is a hash of HASH_DIGITS digits, alone or with a tab and the reason; any other
 * is passed over, as a handler may have left a part of one. */
static void read_line(struct reading *r, char *line, size_t bytes)
{
    char *end, *why = cut(line);
    uint64_t hash = strtoull(line, &end, 16);

    if (bytes < HASH_DIGITS + 1 || line[0] == '-' || end != line + HASH_DIGITS || *end != '\0')
        return;
    ARENA_ADD(r->arena, r->trial, r->count, r->room,
              ((struct crashed_trial){ hash, why == NULL ? NULL : read_why(r->arena, why) }));
}

/* By hash; of several lines of one trial, the one that says why comes last. */
static int order_trials(const void *a, const void *b)
{
    const struct crashed_trial *x = a, *y = b;

    if (x->hash != y->hash)
        return (x->hash > y->hash) - (x->hash < y->hash);
    return (x->err != NULL) - (y->err != NULL);
}

struct crashed crashed_read(struct arena *arena, const struct folder *trials)
{
    FILE *file = folder_read(trials, CRASHED_FILE);
    struct reading r = { .arena = arena };
    size_t room = 0, kept = 0;
    char *line = NULL;
    ssize_t bytes;

    while (file != NULL && (bytes = getline(&line, &room, file)) > 0) {
        if (line[bytes - 1] != '\n')
            break;                          /* torn */
        line[bytes - 1] = '\0';
        read_line(&r, line, (size_t)bytes);
    }
    free(line);
    if (file != NULL)
        fclose(file);
    if (r.count > 0)
        qsort(r.trial, r.count, sizeof *r.trial, order_trials);
    for (size_t i = 0; i < r.count; i++)
        if (i + 1 == r.count || r.trial[i].hash != r.trial[i + 1].hash)
            r.trial[kept++] = r.trial[i];
    return (struct crashed){ r.trial, kept };
}

const struct crashed_trial *crashed_find(const struct crashed *crashed, uint64_t hash)
{
    size_t low = 0, high = crashed->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        assert(mid == 0 || crashed->trial[mid - 1].hash < crashed->trial[mid].hash);
        if (crashed->trial[mid].hash < hash)
            low = mid + 1;
        else
            high = mid;
    }
    return low < crashed->count && crashed->trial[low].hash == hash ? &crashed->trial[low]
                                                                    : NULL;
}

/* Tabs and ends of lines part what is in the file. */
static const char *as_one_line(struct arena *arena, const char *text)
{
    char *line = arena_text(arena, text);

    for (char *c = line; *c != '\0'; c++)
        if (*c == '\t' || *c == '\n')
            *c = ' ';
    return line;
}

bool crashed_add(struct arena *arena, const struct folder *trials, uint64_t hash,
                 const struct err *why, struct err *err)
{
    struct err_pos pos = { folder_join(arena, trials, CRASHED_FILE), 0, 0 };
    const char *line = text_format(arena, "%016" PRIx64 "\t%d\t%s\t%s\n", hash, (int)why->kind,
                                   as_one_line(arena, why->text),
                                   as_one_line(arena, why->hint));
    int file = openat(folder_handle(trials), CRASHED_FILE,
                      O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool written = file >= 0 && write(file, line, strlen(line)) == (ssize_t)strlen(line);

    assert(why->kind != ERR_NONE);
    if (!written)
        (void)err_set(err, ERR_IO, pos, "cannot be written: %s", strerror(errno));
    if (file >= 0)
        close(file);
    return written;
}
