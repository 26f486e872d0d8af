/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linear_shockwave.c - an oracle: shockwave whose program is solved by the
 * simplex method.
 */
#include <math.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy linear_shockwave_policy;

#define POINTS 6u               /* log_approximation_bases */
#define LOG_ORIGIN -13.815510557964274  /* ln 1e-6: logapx_origin */
#define MOMENTUM 0.9            /* finish_time_momentumed_average */
#define LATE_MOST 1e12          /* a ratio to the 12th, or 100th, power */
#define TINY 1e-9

static const double point[POINTS] = { 0, 0.2, 0.4, 0.6, 0.8, 1 };

struct entry {
    struct job_id job;
    uint32_t gpus;
    bool on, next;
    /* Ends on 1/n of the cluster, as they were estimated. */
    double first_s, area, last_s, last_end_s;
    bool estimated;
    double epochs, done, epoch_s;       /* epoch_s: mean of those seen */
    double left_s;              /* forecast */
    double priority;            /* > 1: late */
    double rounds;              /* of the plan, that are left */
};

struct shockwave {
    int64_t round_ns, window;
    double k, lambda, rho_max;
    struct entry *entry;
    uint32_t count, room;
    bool changed;
    uint32_t rounds_left;       /* of the plan */
    uint32_t *order;
    uint32_t *row, *column;
    double *value, *gain, *most, *limit, *x;
};

/* ---- what is known of jobs ------------------------------------------------- */

static void make_room(struct shockwave *s, struct cs_host *host)
{
    uint32_t room = s->room ? 2 * s->room : 32;
    uint32_t columns = room * (POINTS + 1) + 1;
    uint32_t entries = room * (6 * POINTS + 4);
    struct entry *grown = cs_alloc(host, room, sizeof *grown);

    if (s->count)
        memcpy(grown, s->entry, s->count * sizeof *grown);
    s->entry = grown;
    s->order = cs_alloc(host, room, sizeof *s->order);
    s->row = cs_alloc(host, entries, sizeof *s->row);
    s->column = cs_alloc(host, entries, sizeof *s->column);
    s->value = cs_alloc(host, entries, sizeof *s->value);
    s->gain = cs_alloc(host, columns, sizeof *s->gain);
    s->most = cs_alloc(host, columns, sizeof *s->most);
    s->x = cs_alloc(host, columns, sizeof *s->x);
    s->limit = cs_alloc(host, 6 * room + 1, sizeof *s->limit);
    s->room = room;
}

static void shockwave_submitted(void *self, struct cs_host *host,
                                struct job_id job)
{
    struct shockwave *s = self;

    if (s->count == s->room)
        make_room(s, host);
    s->entry[s->count++] = (struct entry) {
        .job = job, .gpus = cs_job_gpus(host, job) };
    s->changed = true;
}

static void shockwave_ended(void *self, struct cs_host *host,
                            struct job_id job)
{
    struct shockwave *s = self;
    uint32_t kept = 0;

    (void)host;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->entry[i].job.i != job.i)
            s->entry[kept++] = s->entry[i];
    s->count = kept;
    s->changed = true;
}

/* The mean of the posterior in epochs of each batch size, less those seen, made
 * to fill the epochs that are left. */
static double forecast_s(const struct cs_epochs *e)
{
    double sum = e->count, epochs[CS_MODES_MAX], all = 0, left_s = 0;

    for (uint32_t m = 0; m < e->modes; m++)
        sum += e->seen[m];
    for (uint32_t m = 0; m < e->modes; m++) {
        double prior = (double)e->count / e->modes;
        epochs[m] = e->count * (prior + e->seen[m]) / sum;
        epochs[m] -= fmin(e->seen[m], floor(epochs[m]));
        all += epochs[m];
        left_s += epochs[m] * e->epoch_s[m];
    }
    double left = (double)e->count - e->done;
    return left_s * left / fmax(floor(all + 1), left);
}

static void look(struct cs_host *host, struct entry *x)
{
    double left_s = 1e-9 * (double)cs_left_ns(host, x->job), seen = 0;
    struct cs_epochs e;

    if (!cs_epochs(host, x->job, &e) || e.done >= e.count) {
        double whole_s = left_s + cs_attained_gpu_s(host, x->job) /
                                      fmax(x->gpus, 1);
        x->epochs = 1;          /* nothing to forecast */
        x->epoch_s = fmax(whole_s, TINY);
        x->done = fmin(1, fmax(0, 1 - left_s / x->epoch_s));
        x->left_s = fmax(left_s, TINY);
        return;
    }
    x->epochs = e.count;
    x->done = e.done;
    x->epoch_s = 0;
    for (uint32_t m = 0; m < e.modes; m++) {
        x->epoch_s += e.seen[m] * e.epoch_s[m];
        seen += e.seen[m];
    }
    x->epoch_s = fmax(x->epoch_s / seen, TINY);
    x->left_s = fmax(forecast_s(&e), TINY);
}

static double now_s(const struct cs_host *host)
{
    return 1e-9 * (double)cs_now_ns(host);
}

/* When it would end on its part of the cluster, if nothing else changed. */
static void estimate_end(const struct cs_host *host, struct entry *x,
                         double share)
{
    double submit_s = 1e-9 * (double)cs_request(host, x->job)->submit_ns;
    double now = now_s(host), ran_s = x->done * x->epoch_s;

    if (!x->estimated)
        x->first_s = x->last_s = now;
    x->area += x->last_end_s * (now - x->last_s);
    x->last_s = now;
    x->last_end_s = submit_s + (ran_s + x->left_s) / share;
    x->estimated = true;
}

static double fair_end_s(const struct cs_host *host, const struct entry *x)
{
    double now = now_s(host), mean = x->last_end_s;

    if (now > x->first_s)
        mean = (x->area + x->last_end_s * (now - x->last_s)) /
               (now - x->first_s);
    return MOMENTUM * mean + (1 - MOMENTUM) * x->last_end_s;
}

/* ---- the program -------------------------------------------------------------- */

struct program {
    struct shockwave *s;
    uint32_t rows, entries;
};

static uint32_t column_of(uint32_t job, uint32_t i)
{
    return job * (POINTS + 1) + i;      /* i: a point, or POINTS: rounds */
}

static void put(struct program *p, uint32_t column, double value)
{
    p->s->row[p->entries] = p->rows;
    p->s->column[p->entries] = column;
    p->s->value[p->entries++] = value;
}

static void end_row(struct program *p, double limit)
{
    p->s->limit[p->rows++] = limit;
}

/* Progress, which is a mean of points, times a factor. */
static void put_progress(struct program *p, uint32_t job, double factor)
{
    for (uint32_t i = 0; i < POINTS; i++)
        put(p, column_of(job, i), factor * point[i]);
}

/* Weights of points add up to 1; epochs are not undone, and take rounds; the
 * longest time left is at least this job's; its end is fair. */
static void put_job(struct program *p, uint32_t job, double fair_left_s)
{
    const struct shockwave *s = p->s;
    const struct entry *x = &s->entry[job];
    double whole_s = x->epochs * x->epoch_s, done_s = x->done * x->epoch_s;

    for (uint32_t i = 0; i < POINTS; i++)
        put(p, column_of(job, i), 1);
    end_row(p, 1);
    for (uint32_t i = 0; i < POINTS; i++)
        put(p, column_of(job, i), -1);
    end_row(p, -1);
    put_progress(p, job, -1);
    end_row(p, -x->done / x->epochs);
    put_progress(p, job, whole_s);
    put(p, column_of(job, POINTS), -1e-9 * (double)s->round_ns);
    end_row(p, done_s);
    put_progress(p, job, -whole_s);
    put(p, column_of(s->count, 0), -1);
    end_row(p, -x->left_s - done_s);
    if (isnan(fair_left_s))
        return;
    put_progress(p, job, -whole_s);
    end_row(p, fair_left_s - x->left_s - done_s);
}

/* False: fairness cannot be had. */
static bool solve(struct shockwave *s, struct cs_host *host, bool fair,
                  double share)
{
    struct program p = { s, 0, 0 };
    double end_s = now_s(host) + 1e-9 * (double)s->round_ns *
                                     (double)s->window;
    double mean = 1.0 / ((double)s->count * (double)s->window);

    for (uint32_t j = 0; j < s->count; j++) {
        const struct entry *x = &s->entry[j];
        double left_s = (fair_end_s(host, x) * s->rho_max - end_s) * share;
        if (fair && left_s < 0)
            return false;
        put_job(&p, j, fair ? left_s : NAN);
        for (uint32_t i = 0; i < POINTS; i++) {
            double utility = i == 0 ? LOG_ORIGIN : log(point[i]);
            s->gain[column_of(j, i)] = (fair ? 1 : x->priority) * utility *
                                       mean;
            s->most[column_of(j, i)] = INFINITY;
        }
        s->gain[column_of(j, POINTS)] = 0;
        s->most[column_of(j, POINTS)] = (double)s->window;
    }
    for (uint32_t j = 0; j < s->count; j++)
        put(&p, column_of(j, POINTS), s->entry[j].gpus);
    end_row(&p, cs_total_gpus(host, 0) * (double)s->window);
    s->gain[column_of(s->count, 0)] = -s->k;
    s->most[column_of(s->count, 0)] = INFINITY;
    struct cs_lp lp = {
        .columns = column_of(s->count, 0) + 1, .rows = p.rows,
        .entries = p.entries, .gain = s->gain, .most = s->most,
        .limit = s->limit, .row = s->row, .column = s->column,
        .value = s->value, .x = s->x,
    };
    return cs_linear_program(&lp);
}

/* Who will be late, and by how much. */
static void prioritize(struct shockwave *s, struct cs_host *host,
                       double share)
{
    for (uint32_t j = 0; j < s->count; j++) {
        struct entry *x = &s->entry[j];
        double end_s = now_s(host) + x->left_s / share;
        double late = end_s / fmax(fair_end_s(host, x), TINY);
        bool last = x->left_s < 1e-9 * (double)s->round_ns;
        x->priority = late > s->rho_max
            ? fmin(pow(late, last ? 100 : s->lambda), LATE_MOST) : 1;
    }
}

/* Whole rounds: what the fractions add up to goes to the largest of them. */
static void round_off(struct shockwave *s, double room)
{
    for (uint32_t j = 0; j < s->count; j++) {
        double x = s->x[column_of(j, POINTS)], whole = floor(x + TINY);
        s->entry[j].rounds = whole;
        s->x[column_of(j, POINTS)] = x - whole;
        room -= whole * s->entry[j].gpus;
    }
    for (;;) {
        uint32_t most = UINT32_MAX;
        for (uint32_t j = 0; j < s->count; j++) {
            double rest = s->x[column_of(j, POINTS)];
            if (rest > TINY && s->entry[j].gpus <= room + TINY &&
                (most == UINT32_MAX ||
                 rest > s->x[column_of(most, POINTS)] + TINY))
                most = j;
        }
        if (most == UINT32_MAX)
            return;
        s->x[column_of(most, POINTS)] = 0;
        s->entry[most].rounds++;
        room -= s->entry[most].gpus;
    }
}

static void plan(struct shockwave *s, struct cs_host *host)
{
    double share = fmin(1, cs_total_gpus(host, 0) / fmax(s->count, 1));

    share = fmax(share, TINY);
    for (uint32_t j = 0; j < s->count; j++) {
        look(host, &s->entry[j]);
        s->entry[j].priority = 1;
        if (s->changed || !s->entry[j].estimated)
            estimate_end(host, &s->entry[j], share);
    }
    bool solved = solve(s, host, true, share);
    if (!solved) {
        prioritize(s, host, share);
        solved = solve(s, host, false, share);
    }
    for (uint32_t j = 0; j < s->count; j++)
        s->entry[j].rounds = 0;
    if (solved)
        round_off(s, cs_total_gpus(host, 0) * (double)s->window);
    s->rounds_left = (uint32_t)s->window;
    s->changed = false;
}

/* ---- a round -------------------------------------------------------------------- */

/* Must it run in every round that is left? */
static bool is_due(const struct shockwave *s, const struct entry *x)
{
    return x->rounds > s->rounds_left - 0.5;
}

/* Whose turn is before another's: who must run now, late jobs, then those that
 * need fewest rounds; jobs without a round left, the longest first. */
static bool goes_before(const struct shockwave *s, uint32_t a, uint32_t b)
{
    const struct entry *x = &s->entry[a], *y = &s->entry[b];
    bool planned = x->rounds > TINY, other = y->rounds > TINY;

    if (planned != other)
        return planned;
    if (planned && is_due(s, x) != is_due(s, y))
        return is_due(s, x);
    if (planned && x->priority != y->priority)
        return x->priority > y->priority;
    if (planned && x->rounds != y->rounds)
        return x->rounds < y->rounds;
    if (!planned && x->left_s != y->left_s)
        return x->left_s > y->left_s;
    return a < b;
}

static void choose(struct shockwave *s, const struct cs_host *host)
{
    uint32_t room = cs_total_gpus(host, 0);

    for (uint32_t j = 0; j < s->count; j++) {
        uint32_t at = j;
        for (; at > 0 && goes_before(s, j, s->order[at - 1]); at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = j;
    }
    for (uint32_t k = 0; k < s->count; k++) {
        struct entry *x = &s->entry[s->order[k]];
        x->next = x->gpus <= room;
        if (!x->next)
            continue;
        room -= x->gpus;
        x->rounds = fmax(0, x->rounds - 1);
    }
    s->rounds_left--;
}

static void enact(struct shockwave *s, struct cs_host *host)
{
    for (uint32_t j = 0; j < s->count; j++) {
        struct entry *x = &s->entry[j];
        if (cs_job_task(host, x->job, CS_ALL_ROLES).i != ID_NONE)
            x->on = false;      /* it was thrown out, or never began */
        if (x->on && !x->next) {
            cs_stop(host, x->job);
            x->on = false;
        }
    }
    for (uint32_t k = 0; k < s->count; k++) {
        struct entry *x = &s->entry[s->order[k]];
        struct task_id task = cs_job_task(host, x->job, CS_ALL_ROLES);
        if (x->next && !x->on && task.i != ID_NONE)
            x->on = cs_start(host, task) == CS_DONE;
    }
    /* GPUs where those that were chosen do not fit. */
    for (uint32_t k = 0; k < s->count && cs_free_gpus(host, 0) > 0; k++) {
        struct entry *x = &s->entry[s->order[k]];
        struct task_id task = cs_job_task(host, x->job, CS_ALL_ROLES);
        if (!x->next && task.i != ID_NONE &&
            x->gpus <= cs_free_gpus(host, 0))
            x->on = cs_start(host, task) == CS_DONE;
    }
}

static void shockwave_decide(void *self, struct cs_host *host)
{
    struct shockwave *s = self;
    int64_t now = cs_now_ns(host), next = now / s->round_ns + 1;

    if (s->count == 0)
        return;
    cs_wake_at(host, next * s->round_ns);
    if (now % s->round_ns != 0)
        return;
    if (s->changed || s->rounds_left == 0)
        plan(s, host);
    choose(s, host);
    enact(s, host);
}

static const struct cs_param params[] = {
    { "round", CS_PARAM_TIME, offsetof(struct shockwave, round_ns), 1, 1e6,
      "120s", "who runs is decided at its multiples" },
    { "window", CS_PARAM_INT, offsetof(struct shockwave, window), 1, 1000,
      "20", "rounds planned ahead" },
    { "k", CS_PARAM_REAL, offsetof(struct shockwave, k), 0, 1e6, "0.001",
      "weight of the longest time left, per second" },
    { "lambda", CS_PARAM_REAL, offsetof(struct shockwave, lambda), 0, 100,
      "12", "power of the ratio by which a job is late" },
    { "rho_max", CS_PARAM_REAL, offsetof(struct shockwave, rho_max), 0.1, 100,
      "1", "finish-time fairness that is asked of every job" },
};

const struct cs_policy linear_shockwave_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "shockwave",
    .summary = "rounds planned ahead by a forecast of batch sizes, for the "
               "product of progress",
    .flags = CS_PREEMPTS, .param = params,
    .param_count = sizeof params / sizeof params[0],
    .self_bytes = sizeof(struct shockwave), .decide = shockwave_decide,
    .job_submitted = shockwave_submitted, .job_ended = shockwave_ended,
};
