/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.h - the running digest of the events that an event loop has run.
 *
 * A few cycles an event.  Not a hash against malice, but any change of an
 * event, or of the order of two, changes it with a chance of 1 - 2^-64.  The
 * multipliers are the 64-bit one of Steele & Vigna 2021 and the golden ratio.
 */
#ifndef SIM_BASE_DIGEST_H
#define SIM_BASE_DIGEST_H

#include <stdint.h>

/* Returns the digest with one event more: its time, its rank and the argument of its callback.
 * The callback's address is left out, since it differs between runs of the program. */
static inline uint64_t digest_event(uint64_t digest, uint64_t time_ns,
                                    uint64_t rank, uint64_t arg)
{
    uint64_t event = time_ns * UINT64_C(0xd1342543de82ef95) ^
                     (arg + rank * UINT64_C(0x9e3779b97f4a7c15));
    digest = (digest ^ event) * UINT64_C(0xd1342543de82ef95);
    return digest ^ digest >> 32;
}

#endif
