/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fingerprints.h - which jobs each point of an experiment has: figures over other jobs
 * are neither better nor worse.
 *
 * A fingerprint is 16 hexadecimal digits, of what comes first in the first seed
 * (workloads/source.h).  A results folder has those of its points in provenance.json,
 * and a baseline in jobs.json, both under the key `jobs`.
 */
#ifndef EXPERIMENTS_PREFLIGHT_FINGERPRINTS_H
#define EXPERIMENTS_PREFLIGHT_FINGERPRINTS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct experiment;
struct folder;
struct out;

/* The file of a baseline. */
#define FINGERPRINTS_FILE "jobs.json"

/* By point: its label, and the digits, "" where they are not known. */
struct fingerprints {
    const char *const *point, *const *text;
    uint32_t count;
};

/* Returns those of all points, by drawing their jobs; in the arena. */
const struct fingerprints *fingerprints_draw(struct arena *arena,
                                             const struct experiment *experiment);
/* Writes them as a list of JSON objects; NULL: an empty one. */
void fingerprints_put(struct out *out, const struct fingerprints *fingerprints);
/* Writes jobs.json into the folder; NULL removes it.  False: err says why. */
bool fingerprints_write(struct arena *arena, const struct folder *dir,
                        const struct fingerprints *fingerprints, struct err *err);
/* Reads those of a results folder or a baseline into *out; NULL: it has none, since an
 * older program wrote it.  False: err says what is wrong with the file. */
bool fingerprints_read(struct arena *arena, const char *dir, const struct fingerprints **out,
                       struct err *err);
/* Are the jobs of the point with that label known?  near: where it probably stands. */
bool fingerprints_know(const struct fingerprints *fingerprints, const char *point,
                       uint32_t near);
/* Do both know the jobs of the point with that label, and are they others?  near: where it
 * probably stands. */
bool fingerprints_differ(const struct fingerprints *a, const struct fingerprints *b,
                         const char *point, uint32_t near);

#endif
