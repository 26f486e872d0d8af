/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fleet.h - the ranks of an MPI run: many processes, maybe on many machines, that run the
 * trials of one experiment into one folder.
 *
 * Rank 0 hands out trials as ranks ask for them; each rank appends what it ends to logs of
 * its own (experiments/trials).  Nothing else goes from rank to rank.
 */
#ifndef EXPERIMENTS_FLEET_FLEET_H
#define EXPERIMENTS_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct fleet;

/* Is this process one of several that were started together? */
bool fleet_is_one_of_many(void);
/* Is there the module that fleet_open() needs? */
bool fleet_has_module(struct arena *arena);
/* Joins the others.  NULL: err says why. */
struct fleet *fleet_open(struct arena *arena, struct err *err);
uint32_t fleet_rank(const struct fleet *fleet);
uint32_t fleet_count(const struct fleet *fleet);
/* For rank 0: from now on it hands out these trials, which stay the caller's. */
void fleet_serve(struct fleet *fleet, const uint32_t *due, uint32_t count);
/* For the other ranks: waits until rank 0 serves.  False: there is nothing to run. */
bool fleet_wait(struct fleet *fleet);
/* The next trial for this rank, as the `next` of a runner; false: there is none. */
bool fleet_next(void *fleet, uint32_t *index);
/* This rank runs no more.  Rank 0 hands out no more, and waits for the others: then all
 * that they ended is in their logs. */
void fleet_end(struct fleet *fleet);
/* Leaves MPI, after fleet_end(), which it calls if nobody did. */
void fleet_close(struct fleet *fleet);

#endif
