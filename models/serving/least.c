/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * least.c - which open replica has the least to do, without a look at each.
 *
 * A tournament: a leaf for each open replica holds its load and its place among
 * them in one number, and each node above holds the lesser of its two.  So the
 * first of equals wins, and a load that changes is passed on only as far as it
 * changes a winner.  The tournament is made when a route first asks for the least,
 * and anew when replicas have opened or closed.
 */
#include <assert.h>

#include "models/serving/state.h"
#include "sim/base/arena.h"

#define PLACE_BITS 24u
#define NOBODY UINT64_MAX

uint64_t service_load(const struct replica *r)
{
    assert(r->ready);
    if (r->service->spec->route == SERVE_LEAST_LOADED && r->load_tokens > 0)
        return r->load_tokens;
    return r->queue.count + (r->batch != NULL ? r->at_work : 0);
}

/* The load in the upper bits, the place in the lower: of equal loads the first place wins, as one
 * comparison tells. */
static uint64_t entry_of(const struct replica *r)
{
    uint64_t load = service_load(r);

    assert(load < UINT64_C(1) << (63 - PLACE_BITS));
    return load << PLACE_BITS | r->place;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void service_note_load(struct replica *r)
{
    struct service *s = r->service;

    if (s->leaves == 0 || !r->ready || r->draining)
        return;
    assert(r->place < s->leaves);
    uint32_t at = s->leaves + r->place;
    uint64_t entry = entry_of(r);
    while (s->least[at] != entry) {
        s->least[at] = entry;
        if (at == 1)
            return;
        entry = lesser(entry, s->least[at ^ 1]);
        at /= 2;
    }
}

void service_note_open(struct service *s)
{
    assert(s->opens <= s->lives);
    s->leaves = 0;
}

/* Makes the tournament of all that are open. */
static void begin_tournament(struct service *s)
{
    uint32_t leaves = 1;

    assert(s->opens > 0 && s->opens < 1u << PLACE_BITS);
    while (leaves < s->opens)
        leaves *= 2;
    ARENA_REACH(s->parts.arena, s->least, s->least_room, 2 * leaves - 1);
    for (uint32_t i = 0; i < leaves; i++) {
        s->least[leaves + i] = NOBODY;
        if (i >= s->opens)
            continue;
        s->replica[s->open[i]]->place = i;
        s->least[leaves + i] = entry_of(s->replica[s->open[i]]);
    }
    for (uint32_t at = leaves; at-- > 1;)
        s->least[at] = lesser(s->least[2 * at], s->least[2 * at + 1]);
    s->leaves = leaves;
}

struct replica *service_least(struct service *s)
{
    assert(s->opens > 0);
    if (s->leaves == 0)
        begin_tournament(s);
    uint64_t place = s->least[1] & ((UINT64_C(1) << PLACE_BITS) - 1);
    assert(place < s->opens);
    return s->replica[s->open[place]];
}
