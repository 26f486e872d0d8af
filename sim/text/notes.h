/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h - short texts, each with the number of times it was said.
 *
 * What a reader of files took for granted: "column Timelimit is absent".  They
 * stand in the order in which they were first said.
 */
#ifndef SIM_TEXT_NOTES_H
#define SIM_TEXT_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct arena;

struct note {
    const char *text;           /* a sentence, said once however often it is true */
    uint64_t count;             /* 0: of the file, and not of its rows */
};

/* Begins as {.arena = arena}; texts live there. */
struct notes {
    struct arena *arena;
    struct note *note;          /* [count], in the order in which they were met */
    size_t count, room;
};

#define NOTES_MAX 200u

/* Says it once more.  Beyond NOTES_MAX different texts, all that are new count as
 * one: "others". */
void notes_count(struct notes *notes, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Says it of the file; its count stays 0. */
void notes_file(struct notes *notes, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
