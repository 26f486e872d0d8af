/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h - the keys of a mix's entry that decide how its jobs run.
 */
#ifndef WORKLOADS_RECIPES_NOTES_H
#define WORKLOADS_RECIPES_NOTES_H

#include <stddef.h>

#include "workloads/jobs/birth.h"

struct arena;
struct entry;

/* Fills note[] with at most `room` notes on an entry, its texts in the arena;
 * returns their number. */
size_t entry_notes(struct arena *arena, const struct entry *entry,
                struct workload_note *note, size_t room);

#endif
