/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gittins.c - 2D-Gittins: highest Gittins index of attained GPU-time first,
 * preempting.
 *
 * The index of a job that has had `a` is the best ratio, over all further
 * service d, of the chance to end within d to the service that takes (Gittins
 * 1989; Tiresias, Gu et al., NSDI 2019): optimal for the mean on one machine
 * when only the distribution of lengths is known.  The distribution is that
 * of the jobs that have ended in this trial; until there are any, and beyond
 * the longest of them, it is least attained service first.
 *
 * With F the distribution, the index is the steepest slope from the curve
 * (integral of 1 - F, F) at `a` to any later point of it: a tangent to its
 * upper hull, found by walking along `next`.
 *
 * Bad where lengths drift: what has ended says little of what comes.
 *
 * A deal looks at every job that runs: between two deals each passes lengths
 * that are known, several as a rule, and at each its index, which has risen
 * without bound, falls; of equal indices, the job that stood first goes first.
 */
#include <math.h>

#include "policies/due.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy gittins_policy;

/* The curve is made anew when more than one in this number is new: at every end
 * while few are known, and not at each of a million. */
#define GITTINS_NEW_PART 200u

struct gittins_point {
    double service_s;           /* GPU-seconds of a job that has ended */
    double x, y;                /* of the curve there: integral of 1 - F up to it, in
                                 * GPU-seconds; F */
    uint32_t next;              /* the point with the steepest slope */
};

struct gittins {
    int64_t quantum_ns;         /* parameter */
    bool anew;                  /* the curve differs from that of the last deal */
    struct gittins_point *point;        /* ascending service_s */
    uint32_t count, room;       /* of the curve */
    double *ended_s;            /* ascending; not yet in the curve */
    uint32_t endeds, ended_room;
    bool news;                  /* a job came or ended */
    uint32_t free, waiting;     /* GPUs and jobs, after the last decision */
    int64_t dealt_ns;           /* the last deal; 0: none, or at the begin */
};

static const struct cs_param gittins_param[] = {
    { .key = "quantum", .type = CS_PARAM_TIME,
      .offset = offsetof(struct gittins, quantum_ns),
      .min = 0.001, .max = 1e9, .fallback = "600s",
      .help = "time between two deals while a job waits" },
};

/* A deal is due at the next decision. */
static void gittins_job_submitted(void *self, struct cs_host *host,
                                  struct job_id job)
{
    struct gittins *g = self;

    (void)host;
    (void)job;
    g->news = true;
}

/* Kept apart, sorted, until enough are new to make the curve again.  Insertion into few: O(new
 * ends). */
static void gittins_job_ended(void *self, struct cs_host *host,
                              struct job_id job)
{
    struct gittins *g = self;
    double service_s = cs_attained_gpu_s(host, job);
    uint32_t i;

    g->news = true;
    g->ended_s = cs_grow(host, g->ended_s, &g->ended_room, g->endeds,
                         sizeof *g->ended_s);
    for (i = g->endeds++; i > 0 && g->ended_s[i - 1] > service_s; i--)
        g->ended_s[i] = g->ended_s[i - 1];
    g->ended_s[i] = service_s;
}

/* Inserts the new lengths among the known ones, from the back.  O(known + new).  Only
 * service_s is set; gittins_curve() makes the rest. */
static void gittins_merge(struct gittins *g, struct cs_host *host)
{
    uint32_t i = g->count, j = g->endeds, out = i + j;

    g->point = cs_grow(host, g->point, &g->room, out, sizeof *g->point);
    g->count = out;
    while (j > 0) {
        bool known = i > 0 && g->point[i - 1].service_s > g->ended_s[j - 1];
        g->point[--out].service_s = known ? g->point[--i].service_s
                                          : g->ended_s[--j];
    }
    g->endeds = 0;
}

/* The slope from (x, y) to a point that lies to the right; infinite where it
 * does not. */
static double slope_to(double x, double y, const struct gittins_point *to)
{
    return to->x > x ? (to->y - y) / (to->x - x) : INFINITY;
}

/* Points first, from the shortest on; then, from the last back, each point's
 * next on the upper hull.  For example, lengths 1 and 3: x grows by 1 up to the first, as
 * nobody has ended, then by 2 x 1/2; the points are (1, 0.5) and (2, 1).  O(n) on average of
 * all points. */
static void gittins_curve(struct gittins *g)
{
    double x = 0, from = 0;
    uint32_t n = g->count;

    for (uint32_t i = 0; i < n; i++) {
        struct gittins_point *p = &g->point[i];

        x += (p->service_s - from) * (double)(n - i) / n;
        from = p->service_s;
        p->x = x;
        p->y = (double)(i + 1) / n;
    }
    for (uint32_t i = n; i-- > 0;) {
        struct gittins_point *p = &g->point[i];
        uint32_t j = i + 1;

        while (j < n && g->point[j].next < n &&
               slope_to(p->x, p->y, &g->point[g->point[j].next]) >=
               slope_to(p->x, p->y, &g->point[j]))
            j = g->point[j].next;
        p->next = j;
    }
}

/* First point beyond that service.  Binary search; `count` if there is none. */
static uint32_t gittins_after(const struct gittins *g, double service_s)
{
    uint32_t low = 0, high = g->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->point[middle].service_s > service_s)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* i: the first point beyond that service.  The curve is linear between two points, so that x
 * there is known from the point behind. */
static double gittins_index(const struct gittins *g, double service_s,
                            uint32_t i)
{
    uint32_t n = g->count;
    double x, y = (double)i / n;

    x = g->point[i].x - (g->point[i].service_s - service_s) *
                        (double)(n - i) / n;
    while (g->point[i].next < n &&
           slope_to(x, y, &g->point[g->point[i].next]) >=
           slope_to(x, y, &g->point[i]))
        i = g->point[i].next;
    return slope_to(x, y, &g->point[i]);
}

/* Below zero where an index is known, the attained service where not.  Jobs with an index so
 * stand before those without. */
static double gittins_key(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    const struct gittins *g = self;
    double service_s = cs_attained_gpu_s(host, job);
    uint32_t i = gittins_after(g, service_s);

    return i == g->count ? service_s : -gittins_index(g, service_s, i);
}

/* An index rises up to the next end of a job that is known, and falls there. */
static double gittins_per_ns(const void *self, const struct cs_host *host,
                             struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return (double)NAN;
}

/* A new curve changes all keys, so that the host must not rely on old ones. */
static void gittins_deal(struct gittins *g, struct cs_host *host)
{
    static const struct cs_moving_key motion = {
        .key = gittins_key, .per_ns = gittins_per_ns, .rises = true
    };
    static const struct cs_moving_key anew = {
        .key = gittins_key, .per_ns = gittins_per_ns, .rises = true,
        .anew = true
    };

    g->dealt_ns = cs_now_ns(host);
    cs_reallocate_moving(host, g->anew ? &anew : &motion);
    g->anew = false;
}

/* After a failure, GPUs may be free that a job waits for.  Where there are as many free GPUs and
 * waiting jobs as there were, it was passed over: it may not use these GPUs.  At the instant of a
 * deal other counts are its own work: nodes that come, a power cap that its jobs reach. */
static bool gittins_fits(const struct gittins *g, struct cs_host *host)
{
    struct cs_filter filter = { .gpus_max = cs_free_gpus(host, 0),
                                .estimate_max_ns = INT64_MAX };

    if (cs_now_ns(host) == g->dealt_ns ||
        (cs_free_gpus(host, 0) == g->free && cs_pending_count(host) == g->waiting))
        return false;
    return cs_find_pending(host, 0, &filter) < cs_pending_count(host);
}

/* The distribution is computed anew when enough jobs have ended since; GPUs
 * are dealt at multiples of the quantum, at news, and where a waiting job
 * could fit. */
static void gittins_decide(void *self, struct cs_host *host)
{
    struct gittins *g = self;

    if (g->endeds > g->count / GITTINS_NEW_PART) {
        gittins_merge(g, host);
        gittins_curve(g);
        g->anew = true;
    }
    /* Not when a job has been loaded: see las.c. */
    if (cs_pending_count(host) > 0 &&   /* else all run as they do */
        (g->news || cs_is_due(host, g->quantum_ns) ||
         gittins_fits(g, host)))
        gittins_deal(g, host);
    g->news = false;
    g->free = cs_free_gpus(host, 0);
    g->waiting = cs_pending_count(host);
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, clock_tick_after(cs_now_ns(host), g->quantum_ns));
}

const struct cs_policy gittins_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "gittins",
    .cites = "gittins1989bandit gu2019tiresias",
    .summary = "highest Gittins index of attained GPU-time first, preempting",
    .flags = CS_PREEMPTS | CS_COUNTS_WHOLE | CS_ONE_KIND,
    .self_bytes = sizeof(struct gittins),
    .param = gittins_param,
    .param_count = sizeof gittins_param / sizeof gittins_param[0],
    .decide = gittins_decide,
    .job_submitted = gittins_job_submitted,
    .job_ended = gittins_job_ended,
};
