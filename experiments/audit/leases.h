/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leases.h - the part of an audit that follows leases: which node they hold,
 * and what they cost.  For audit.c only.
 *
 * Both parts hear facts, each its own kinds, and count their checks in one place,
 * struct audit_checks.
 */
#ifndef EXPERIMENTS_AUDIT_LEASES_H
#define EXPERIMENTS_AUDIT_LEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/audit/audit.h"
#include "models/types/facts.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"

#define AUDIT_RELATIVE 1e-9     /* sums of doubles in another order */

/* The checks of one trial: how often each was made, and the first that did not hold,
 * which stops the loop. */
struct audit_checks {
    struct loop *loop;          /* stopped by the first that does not hold */
    int64_t last_ns;            /* of the fact before */
    uint64_t count[AUDIT_CHECK_COUNT];  /* how often each was made */
    const char *broken;         /* static; NULL: all held */
    enum audit_check kind;      /* of that, and its subject */
    uint32_t subject;
};

/* Notes that a check does not hold; always false. */
static inline bool audit_note_broken(struct audit_checks *checks, enum audit_check kind,
                                     const char *what, uint32_t subject)
{
    if (checks->broken != NULL)
        return false;
    checks->broken = what;
    checks->kind = kind;
    checks->subject = subject;
    loop_stop(checks->loop);
    return false;
}

/* Counts a check, and notes it if it does not hold; returns whether it holds. */
static inline bool audit_check(struct audit_checks *checks, enum audit_check kind,
                               bool holds, const char *what, uint32_t subject)
{
    checks->count[kind]++;
    return holds || audit_note_broken(checks, kind, what, subject);
}

/* Checks the time of a fact; once for each fact. */
static inline void audit_check_time(struct audit_checks *checks, const struct fact *fact)
{
    audit_check(checks, AUDIT_TIME, fact->time_ns >= checks->last_ns,
                "a fact is earlier than the one before", fact->subject);
    checks->last_ns = fact->time_ns;
}

/* The kinds of facts that it hears, as bits. */
#define AUDIT_LEASES_HEARS \
    (UINT64_C(1) << FACT_LEASE_TAKE | UINT64_C(1) << FACT_LEASE_DROP | \
     UINT64_C(1) << FACT_LEASE_BUSY | UINT64_C(1) << FACT_NODE_DOWN | \
     UINT64_C(1) << FACT_NODE_UP | UINT64_C(1) << FACT_RENT_UP | \
     UINT64_C(1) << FACT_RENT_NOTICE | UINT64_C(1) << FACT_RENT_END | \
     UINT64_C(1) << FACT_RENT_ORDER)

struct audit_leases;

/* Returns the books of leases, in the arena of the parts; they listen to the journal
 * from now on.  `checks` must live as long. */
struct audit_leases *audit_leases_new(const struct audit_parts *parts,
                                      struct audit_checks *checks);
void audit_leases_watch(struct audit_leases *leases, const struct cs_host *host);
/* Returns what is held of all GPUs, in thousandths of one. */
uint64_t audit_leases_milli(const struct audit_leases *leases);
/* After the host was closed: checks that nothing is held.  Stores what all leases
 * cost, in USD and in joules. */
void audit_leases_close(struct audit_leases *leases, double *usd, double *joules);

#endif
