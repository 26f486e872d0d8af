/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scale.c - how many replicas, and on which side.
 *
 * The rule of the Kubernetes horizontal autoscaler: as many as bring the signal
 * to its target, more at once, fewer only when the largest number of the last
 * looks was enough (its stabilization window).  With two sides, the rate of
 * requests says which one serves; the other keeps its replicas until there is
 * one that can take over, so that nobody is left without.
 */
#include <assert.h>
#include <math.h>

#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

static bool has_both_sides(const struct service *s)
{
    return s->spec->side[SERVE_GPU].form != NULL &&
           s->spec->side[SERVE_CPU].form != NULL;
}

/* Two thresholds, so that a rate between them changes nothing (hysteresis). */
static void choose_side(struct service *s, double per_s)
{
    assert(per_s >= 0.0);
    if (!has_both_sides(s))
        return;
    if (per_s > s->spec->gpu_above_per_s)
        s->mode = SERVE_GPU;
    else if (per_s < s->spec->cpu_below_per_s)
        s->mode = SERVE_CPU;
}

/* Returns how many replicas would be enough, not rounded, by the service's signal. per_s:
 * requests that came per second in the last interval of interval_s. */
static double count_enough(struct service *s, double per_s, double interval_s)
{
    assert(per_s >= 0.0);
    assert(interval_s > 0.0);
    const struct serve_scaling *scaling = &s->spec->scaling;
    double busy_s = 0;

    switch (scaling->signal) {
    case SERVE_RATE:
        return per_s / scaling->target;
    case SERVE_CONCURRENCY:
        return ((double)s->in_service + s->mass.at_work) / scaling->target;
    case SERVE_UTILIZATION:
        break;
    }
    for (uint32_t i = 0; i < s->lives; i++) {
        struct replica *r = s->replica[s->live[i]];
        busy_s += r->ready ? r->busy_s - r->busy_seen_s : 0;
    }
    /* What waits is work too: a full house reads as more than one. */
    return busy_s / interval_s / scaling->target +
           (s->backlog.count > 0 ? 1 : 0);
}

/* Keeps the wish of this look and returns the largest of the window. */
static uint32_t window_most(struct service *s, uint32_t now)
{
    assert(s->wishes > 0);
    uint32_t most = 0;

    s->wish[s->wish_at++ % s->wishes] = now;
    for (uint32_t i = 0; i < s->wishes; i++)
        most = s->wish[i] > most ? s->wish[i] : most;
    return most;
}

/* Returns n, rounded down, within the limits of the side. */
static uint32_t clamp_replicas(double n, const struct serve_side_spec *side)
{
    assert(side->min <= side->max);
    if (n < side->min)
        return side->min;
    return n > side->max ? side->max : (uint32_t)n;
}

void service_scale_begin(struct service *s)
{
    const struct serve_scaling *scaling = &s->spec->scaling;

    assert(scaling->interval_ns > 0 && scaling->target > 0);
    /* This look and all whole intervals of the window before it. */
    s->wishes = 1 + (uint32_t)(scaling->down_ns / scaling->interval_ns);
    s->wish = arena_alloc(s->parts.arena, s->wishes, sizeof *s->wish);
    s->mode = s->spec->side[SERVE_CPU].form != NULL ? SERVE_CPU : SERVE_GPU;
}

/* Has a side a replica that takes requests? */
static bool is_side_open(const struct service *s, enum serve_side side)
{
    assert(side < SERVE_SIDES);
    for (uint32_t i = 0; i < s->opens; i++)
        if (s->replica[s->open[i]]->side == side)
            return true;
    return false;
}

/* Replicas of a side that are requested and will stay. */
static uint32_t count_live(const struct service *s, enum serve_side side)
{
    assert(side < SERVE_SIDES);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->lives; i++)
        n += s->replica[s->live[i]]->side == side &&
             !s->replica[s->live[i]]->draining;
    return n;
}

/* At least one replica as long as requests are there, unless the side may have
 * none. */
void service_scale_wish(struct service *s, uint32_t want[SERVE_SIDES])
{
    assert(want != NULL);
    double interval_s = clock_s_from_ns(s->spec->scaling.interval_ns);
    double per_s = (double)s->seen / interval_s;
    /* A whole number that floating point left a little too large stays that number. */
    double n = ceil(count_enough(s, per_s, interval_s) - 1e-9);
    const struct serve_side_spec *side;
    enum serve_side other;

    choose_side(s, per_s);
    side = &s->spec->side[s->mode];
    other = s->mode == SERVE_GPU ? SERVE_CPU : SERVE_GPU;
    if (s->backlog.count > 0 && n < 1)
        n = 1;
    want[s->mode] = clamp_replicas(window_most(s, n < 1e9 ? (uint32_t)n : 1000000000u),
                                   side);
    if (want[s->mode] == 0 && s->in_service > 0 && side->max > 0)
        want[s->mode] = 1;
    want[other] = 0;
    if (has_both_sides(s) && !is_side_open(s, s->mode))
        want[other] = count_live(s, other);     /* until it is relieved */
}
