/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backlog.c - a mass of requests that wait, in the order in which they came.
 *
 * A ring of parts, as note.c has one of requests: a number that came evenly in a
 * span of time.  It owns its parts; service_backlog_free() returns them.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "models/serving/state.h"
#include "sim/base/arena.h"

static struct backlog_part *part_at(const struct backlog *b, uint32_t i)
{
    assert(i < b->count);
    return &b->part[(b->head + i) & (b->room - 1)];
}

void service_backlog_add(struct backlog *b, double from_s, double until_s, double requests)
{
    assert(from_s <= until_s && requests >= 0.0);
    if (!(requests > 0.0))
        return;
    if (b->count == b->room) {
        uint32_t room = b->room > 0 ? 2 * b->room : 16;
        struct backlog_part *part = arena_resize_own(NULL, room, sizeof *part);

        for (uint32_t i = 0; i < b->count; i++)
            part[i] = *part_at(b, i);
        free(b->part);
        b->part = part;
        b->head = 0;
        b->room = room;
    }
    b->count++;
    *part_at(b, b->count - 1) = (struct backlog_part){ from_s, until_s, requests };
    b->requests += requests;
}

double service_backlog_came_s(const struct backlog *b, double ahead)
{
    assert(b->count > 0 && ahead >= 0.0);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct backlog_part *p = part_at(b, i);

        if (ahead < p->requests)
            return p->from_s + (p->until_s - p->from_s) * (ahead / p->requests);
        ahead -= p->requests;
    }
    return part_at(b, b->count - 1)->until_s;
}

/* Requests of a part came evenly.  So if some of them leave, the others came in the rest of
 * its span. */
void service_backlog_take(struct backlog *b, double requests)
{
    assert(requests >= 0.0);
    while (requests > 0.0 && b->count > 0) {
        struct backlog_part *p = part_at(b, 0);
        double take = fmin(requests, p->requests);

        requests -= take;
        b->requests -= take;
        p->from_s += (p->until_s - p->from_s) * (take / p->requests);
        p->requests -= take;
        if (p->requests > 0.0)
            return;
        b->head = (b->head + 1) & (b->room - 1);
        b->count--;
    }
    if (b->count == 0)
        b->requests = 0.0;      /* no rest of rounding */
}

double service_backlog_expire(struct backlog *b, double before_s)
{
    double had = b->requests, gone = 0.0;

    for (uint32_t i = 0; i < b->count && part_at(b, i)->from_s < before_s; i++) {
        const struct backlog_part *p = part_at(b, i);
        double span_s = p->until_s - p->from_s;

        gone += p->requests * (p->until_s <= before_s || span_s <= 0.0
                                   ? 1.0 : (before_s - p->from_s) / span_s);
    }
    service_backlog_take(b, gone);
    return fmin(gone, had);
}

double service_backlog_cut(struct backlog *b, double most)
{
    assert(most >= 0.0);
    double over = fmax(0.0, b->requests - most), left = over;

    while (left > 0.0 && b->count > 0) {
        struct backlog_part *p = part_at(b, b->count - 1);
        double cut = fmin(left, p->requests);

        left -= cut;
        b->requests -= cut;
        p->requests -= cut;     /* its span stays: each request was as likely refused */
        if (p->requests > 0.0)
            break;
        b->count--;
    }
    return over;
}

void service_backlog_free(struct backlog *b)
{
    free(b->part);
    *b = (struct backlog){ 0 };
}
