/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.c - texts in the order of their first mention; few, so they are looked
 * for one by one, the one said last first.
 */
#include "sim/text/notes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"

#define TEXT_BYTES 240

/* The note with that text, which is added if it is new. */
static struct note *find_note(struct notes *notes, const char *text)
{
    assert(notes->arena != NULL);
    for (size_t i = notes->count; i > 0; i--)
        if (strcmp(notes->note[i - 1].text, text) == 0)
            return &notes->note[i - 1];
    assert(notes->count <= NOTES_MAX);
    if (notes->count == NOTES_MAX)
        return find_note(notes, notes->note[NOTES_MAX - 1].text);
    ARENA_REACH(notes->arena, notes->note, notes->room, notes->count);
    notes->note[notes->count] = (struct note){
        arena_text(notes->arena,
                   notes->count + 1 == NOTES_MAX ? "others" : text), 0};
    return &notes->note[notes->count++];
}

void notes_count(struct notes *notes, const char *fmt, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    find_note(notes, text)->count++;
}

void notes_file(struct notes *notes, const char *fmt, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)find_note(notes, text);
}
