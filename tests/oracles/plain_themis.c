/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_themis.c - an oracle: themis from its description (Mahajan et al., NSDI
 * 2020, sections 3 and 4).
 *
 * Finish-time fairness of an app is rho = T_shared / T_independent.  At the end
 * of leases the worst 1 - f of the apps are offered GPUs.  Of all ways to give
 * out GPUs the one with the largest product of 1 / rho is taken: found by
 * recursion over apps and GPUs that are left.  The worst are found by counting
 * for each app those that are worse.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_themis_policy;

#define APPS_MAX 256u
#define GPUS_MAX 256u

struct app {
    struct job_id job;
    double came_s, fastest, alone_s, crowd_s, rho;
    bool offered, keeps;
    uint32_t gpus;
    double bid[GPUS_MAX + 1];           /* log of 1 / rho; NAN: no bid */
};

struct plain_themis {
    int64_t lease_ns, last_ns;  /* the parameters stand as in themis.c */
    int64_t bids_max;
    double f;
    struct app *app;
    double (*best)[GPUS_MAX + 1];       /* of so many apps, on so many GPUs */
    uint32_t (*choice)[GPUS_MAX + 1];
    uint32_t count, gpus;
    bool news;
};

static void count_crowd(struct plain_themis *t, const struct cs_host *host)
{
    double s = 1e-9 * (double)(cs_now_ns(host) - t->last_ns);

    for (struct app *a = t->app; a < t->app + t->count; a++)
        a->crowd_s += s * t->count;
    t->last_ns = cs_now_ns(host);
}

static void app_came(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_themis *t = self;
    struct app app = { .job = job, .fastest = 1e-9,
                       .came_s = (double)cs_now_ns(host) };

    if (t->app == NULL) {
        t->app = cs_alloc(host, APPS_MAX, sizeof *t->app);
        t->best = cs_alloc(host, APPS_MAX + 1, sizeof *t->best);
        t->choice = cs_alloc(host, APPS_MAX + 1, sizeof *t->choice);
        for (uint32_t n = 0; n < cs_node_count(host); n++)
            t->gpus += cs_node(host, n).gpus;
    }
    count_crowd(t, host);
    for (uint32_t g = cs_size_least(host, job); g > 0 && g <= t->gpus;
         g = cs_size_above(host, job, g))
        app.fastest = fmax(app.fastest, cs_best_speedup(host, job, g));
    app.alone_s = 1e-9 * (double)cs_left_ns(host, job) / app.fastest;
    assert(t->count < APPS_MAX && t->gpus <= GPUS_MAX);
    t->app[t->count++] = app;
    t->news = true;
}

static void app_ended(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_themis *t = self;
    uint32_t i = 0;

    count_crowd(t, host);
    while (t->app[i].job.i != job.i)
        i++;
    for (t->count--; i < t->count; i++)
        t->app[i] = t->app[i + 1];
    t->news = true;
}

/* Its rho if it gets so many GPUs.  With none it goes on after this lease, with
 * its share among the apps that there were on average. */
static double rho_on(const struct plain_themis *t, struct cs_host *host,
                     const struct app *app, uint32_t gpus)
{
    double age_s = 1e-9 * ((double)cs_now_ns(host) - app->came_s);
    double left_s = 1e-9 * (double)cs_left_ns(host, app->job);
    double crowd = age_s > 0 ? app->crowd_s / age_s : t->count;
    double speed = gpus > 0 ? cs_best_speedup(host, app->job, gpus) : 0;
    double shared_s;

    if (speed > 0)
        shared_s = age_s + left_s / speed;
    else
        shared_s = age_s + 1e-9 * (double)t->lease_ns +
                   left_s * crowd / app->fastest;
    return shared_s / (fmax(app->alone_s, 1e-9) * crowd);
}

/* Of many sizes, every second or third ... */
static void bid(const struct plain_themis *t, struct cs_host *host,
                struct app *app, uint32_t room)
{
    uint32_t size[GPUS_MAX], sizes = 0;

    for (uint32_t g = cs_size_least(host, app->job); g > 0 && g <= room;
         g = cs_size_above(host, app->job, g))
        size[sizes++] = g;
    for (uint32_t g = 0; g <= room; g++)
        app->bid[g] = (double)NAN;
    app->bid[0] = -log(rho_on(t, host, app, 0));
    uint32_t most = (uint32_t)t->bids_max;
    uint32_t step = sizes > 0 ? (sizes + most - 1) / most : 1;
    for (uint32_t s = 0; s < sizes; s += step)
        if (cs_best_speedup(host, app->job, size[s]) > 0)
            app->bid[size[s]] = -log(rho_on(t, host, app, size[s]));
}

/* The largest sum of what the first n apps bid. */
static double most_of(struct plain_themis *t, uint32_t n, uint32_t room)
{
    if (n == 0)
        return 0;
    const struct app *app = &t->app[n - 1];
    double *best = &t->best[n][room];
    if (!app->offered)
        return most_of(t, n - 1, room);
    if (!isnan(*best))
        return *best;
    for (uint32_t g = 0; g <= room; g++) {
        double sum = isnan(app->bid[g])
                         ? (double)NAN
                         : most_of(t, n - 1, room - g) + app->bid[g];
        if (isnan(*best) || sum > *best) {
            *best = sum;
            t->choice[n][room] = g;
        }
    }
    return *best;
}

static bool may_have(struct cs_host *host, const struct app *app,
                     uint32_t to, uint32_t room)
{
    return !app->keeps && to > 0 && to - app->gpus <= room &&
           (app->gpus == 0 || cs_best_speedup(host, app->job, to) >
                                  cs_best_speedup(host, app->job, app->gpus));
}

/* The rest goes round from an app drawn at random: at first to those that won
 * nothing, what they hold now or the least; then step by step. */
static void share_rest(struct plain_themis *t, struct cs_host *host,
                       uint32_t room)
{
    uint32_t from = (uint32_t)(cs_random(host) * t->count), given = 1;

    for (uint32_t round = 0; room > 0 && (round < 2 || given > 0); round++) {
        given = 0;
        for (uint32_t k = from; k < from + t->count; k++) {
            struct app *app = &t->app[k % t->count];
            uint32_t now = cs_size_now(host, app->job);
            uint32_t to = cs_size_above(host, app->job, app->gpus);
            if (round == 0 && app->gpus > 0)
                continue;
            if (round == 0 && now > 0 && now <= room)
                to = now;
            if (!may_have(host, app, to, room))
                continue;
            room -= to - app->gpus;
            app->gpus = to;
            given++;
        }
    }
}

static void offer(struct plain_themis *t, struct cs_host *host, bool due)
{
    for (uint32_t i = 0; i < t->count; i++)
        t->app[i].rho = rho_on(t, host, &t->app[i],
                               cs_size_now(host, t->app[i].job));
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t worse = 0;
        for (uint32_t k = 0; k < t->count; k++)
            worse += t->app[k].rho > t->app[i].rho ||
                     (k < i && !(t->app[i].rho > t->app[k].rho));
        t->app[i].keeps = !due && cs_size_now(host, t->app[i].job) > 0;
        t->app[i].offered =
            !t->app[i].keeps &&
            (worse == 0 || worse < (1 - t->f) * t->count - 1e-9);
    }
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_themis *t = self;
    bool due = cs_now_ns(host) % t->lease_ns == 0;
    uint32_t room = due ? cs_total_gpus(host, 0) : cs_free_gpus(host, 0);
    struct cs_size give[APPS_MAX];

    if (t->count == 0)
        return;
    cs_wake_at(host, (cs_now_ns(host) / t->lease_ns + 1) * t->lease_ns);
    if (!due && (room == 0 || (!t->news && cs_pending_count(host) == 0)))
        return;
    t->news = false;
    count_crowd(t, host);
    offer(t, host, due);
    for (uint32_t i = 0; i < t->count; i++) {
        for (uint32_t g = 0; g <= room; g++)
            t->best[i + 1][g] = (double)NAN;
        if (t->app[i].offered)
            bid(t, host, &t->app[i], room);
    }
    most_of(t, t->count, room);
    for (uint32_t n = t->count; n > 0; n--) {
        struct app *app = &t->app[n - 1];
        app->gpus = app->offered ? t->choice[n][room] : 0;
        room -= app->gpus;
        if (app->keeps)
            app->gpus = cs_size_now(host, app->job);
    }
    share_rest(t, host, room);
    for (uint32_t i = 0; i < t->count; i++)
        give[i] = (struct cs_size) { t->app[i].job, t->app[i].gpus };
    cs_set_sizes(host, give, t->count);
}

const struct cs_policy plain_themis_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "themis",
    .summary = "leases auctioned, by recursion",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_DRAWS,
    .self_bytes = sizeof(struct plain_themis), .decide = decide,
    .job_submitted = app_came, .job_ended = app_ended,
};
