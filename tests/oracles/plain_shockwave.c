/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_shockwave.c - an oracle: the program of Shockwave (Zheng et al., NSDI
 * 2023, section 6) as it is written there, handed to the simplex method.
 *
 * For jobs whose batch size does not change, so that there is nothing to forecast.
 * Of a job, w_i are the weights of the points p_i at which the logarithm is taken,
 * y the rounds that it is given, and L is the longest time left of all:
 *     maximize  sum over jobs of priority x sum of w_i ln p_i / (n x window) - k L
 *     sum of w_i = 1,  progress P = sum of w_i p_i >= what is done,
 *     (P - done) x length <= y x round,  y <= window,
 *     left - (P - done) x length <= L, and <= what fairness leaves after the window,
 *     sum of y x GPUs <= GPUs x window.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy plain_shockwave_policy;

#define JOBS_MAX 8u
#define POINTS 6u
#define PER_JOB (POINTS + 1)    /* columns: weights of points, rounds */
#define COLUMNS (JOBS_MAX * PER_JOB + 1)
#define ROWS (6 * JOBS_MAX + 1)
#define ROUNDING 1e-9
#define OLDER 1e-7              /* of two jobs that are alike the older one gains more */

static double point(uint32_t i)
{
    static const double at[POINTS] = { 0, 0.2, 0.4, 0.6, 0.8, 1 };

    return at[i];
}

struct plan {                   /* of a job */
    struct job_id id;
    double gpus, length_s, left_s, done;
    double estimates, estimated_s, since_s;     /* sum over time of estimated ends */
    double first_s, end_s;      /* the first estimate was made; the last one */
    double priority, rounds;
    bool known;
};

struct plain_shockwave {
    int64_t round_ns, window;   /* the parameters stand as in shockwave.c */
    double k, lambda, rho_max;
    struct plan *plan;
    uint32_t jobs;
    int64_t rounds_left;
    bool news;
};

struct program {
    double row[ROWS][COLUMNS], limit[ROWS], gain[COLUMNS], most[COLUMNS], x[COLUMNS];
    uint32_t rows, columns;
};

/* ---- jobs ---- */

static bool start_empty(void *self, struct cs_host *host)
{
    struct plain_shockwave *s = self;

    s->plan = cs_alloc(host, JOBS_MAX, sizeof *s->plan);
    return true;
}

static void note_job(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_shockwave *s = self;

    assert(s->jobs < JOBS_MAX);
    s->plan[s->jobs++] = (struct plan) { .id = job, .gpus = cs_job_gpus(host, job) };
    s->news = true;
}

static void note_end(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_shockwave *s = self;
    uint32_t at = 0;

    (void)host;
    while (s->plan[at].id.i != job.i)
        at++;
    for (s->jobs--; at < s->jobs; at++)
        s->plan[at] = s->plan[at + 1];
    s->news = true;
}

static double now_in_s(const struct cs_host *host)
{
    return (double)cs_now_ns(host) * 1e-9;
}

static double part_of_each(const struct plain_shockwave *s, const struct cs_host *host)
{
    return fmin(cs_total_gpus(host, 0) / (double)s->jobs, 1);
}

/* Section 5 of the paper: as many epochs of each batch size are expected in all as a job has
 * whose first guess was an equal part of each, and that were seen since; those that are left
 * are what is expected and was not seen, in their proportion. */
static void look_at_epochs(struct cs_host *host, struct plan *p)
{
    struct cs_epochs e;
    double weights = 0, left = 0, left_s = 0, seen = 0, seen_s = 0;

    if (!cs_epochs(host, p->id, &e) || e.done == e.count)
        return;
    for (uint32_t m = 0; m < e.modes; m++) {
        weights += (double)e.count / e.modes + e.seen[m];
        seen += e.seen[m];
        seen_s += e.seen[m] * e.epoch_s[m];
    }
    for (uint32_t m = 0; m < e.modes; m++) {
        double expected = e.count * ((double)e.count / e.modes + e.seen[m]) / weights;
        double more = e.seen[m] <= expected ? expected - e.seen[m] : expected - floor(expected);
        left += more;
        left_s += more * e.epoch_s[m];
    }
    double to_come = e.count - e.done, all = floor(left + 1);
    p->left_s = left_s * to_come / (all > to_come ? all : to_come);
    p->done = (double)e.done / e.count;
    p->length_s = e.count * seen_s / seen;
}

static void look_at(const struct plain_shockwave *s, struct cs_host *host, struct plan *p)
{
    double now_s = now_in_s(host), had_s = cs_attained_gpu_s(host, p->id) / p->gpus;

    p->left_s = fmax((double)cs_left_ns(host, p->id) * 1e-9, ROUNDING);
    p->length_s = p->left_s + had_s;
    p->done = fmax(0, 1 - p->left_s / p->length_s);
    look_at_epochs(host, p);
    p->priority = 1;
    if (p->known && !s->news)
        return;
    if (!p->known)
        p->first_s = p->since_s = now_s;
    p->estimates += p->end_s * (now_s - p->since_s);
    p->since_s = now_s;
    p->end_s = (double)cs_request(host, p->id)->submit_ns * 1e-9 +
               (p->left_s + p->done * p->length_s) / part_of_each(s, host);
    p->known = true;
}

/* Nine tenths of the mean over time of all estimates, and a tenth of the last. */
static double fair_end_s(const struct cs_host *host, const struct plan *p)
{
    double now_s = now_in_s(host), mean = p->end_s;

    if (now_s > p->first_s)
        mean = (p->estimates + (now_s - p->since_s) * p->end_s) / (now_s - p->first_s);
    return 0.9 * mean + 0.1 * p->end_s;
}

/* ---- the program ---- */

static double *add_row(struct program *lp, double limit)
{
    lp->limit[lp->rows] = limit;
    return lp->row[lp->rows++];
}

/* factor x P <= limit + rounds x y + longest x L */
static void bound_progress(struct program *lp, uint32_t job, double factor, double limit,
                           double rounds, double longest)
{
    double *row = add_row(lp, limit);

    for (uint32_t i = 0; i < POINTS; i++)
        row[job * PER_JOB + i] = factor * point(i);
    row[job * PER_JOB + POINTS] = -rounds;
    row[lp->columns - 1] = -longest;
}

static void add_job(const struct plain_shockwave *s, struct program *lp, uint32_t job,
                    double fair_left_s)
{
    const struct plan *p = &s->plan[job];
    double at_start_s = p->left_s + p->done * p->length_s;
    double *one = add_row(lp, 1), *least_one = add_row(lp, -1);

    for (uint32_t i = 0; i < POINTS; i++) {
        uint32_t column = job * PER_JOB + i;
        one[column] = 1;
        least_one[column] = -1;
        lp->gain[column] = p->priority * (1 + OLDER * (s->jobs - job)) *
                           log(fmax(point(i), 1e-6)) / (s->jobs * (double)s->window);
        lp->most[column] = INFINITY;
    }
    lp->most[job * PER_JOB + POINTS] = (double)s->window;
    bound_progress(lp, job, -1, -p->done, 0, 0);
    bound_progress(lp, job, p->length_s, p->done * p->length_s,
                   (double)s->round_ns * 1e-9, 0);
    bound_progress(lp, job, -p->length_s, -at_start_s, 0, 1);
    if (fair_left_s < INFINITY)
        bound_progress(lp, job, -p->length_s, fair_left_s - at_start_s, 0, 0);
}

/* By the simplex method.  False: no plan does all that. */
static bool solve(struct program *lp)
{
    static const uint32_t most = ROWS * COLUMNS;
    uint32_t row[ROWS * COLUMNS], column[ROWS * COLUMNS];
    double value[ROWS * COLUMNS];
    struct cs_lp out = {
        .columns = lp->columns, .rows = lp->rows, .gain = lp->gain, .most = lp->most,
        .limit = lp->limit, .row = row, .column = column, .value = value, .x = lp->x,
    };

    for (uint32_t e = 0; e < most; e++) {
        uint32_t r = e / COLUMNS, c = e % COLUMNS;
        if (r >= lp->rows || lp->row[r][c] == 0)
            continue;
        row[out.entries] = r;
        column[out.entries] = c;
        value[out.entries++] = lp->row[r][c];
    }
    return cs_linear_program(&out);
}

static bool plan_window(struct plain_shockwave *s, struct cs_host *host, bool fair,
                        struct program *lp)
{
    double end_s = now_in_s(host) + (double)(s->window * s->round_ns) * 1e-9;
    double *room;

    *lp = (struct program) { .columns = s->jobs * PER_JOB + 1 };
    for (uint32_t j = 0; j < s->jobs; j++) {
        double after_s = s->rho_max * fair_end_s(host, &s->plan[j]) - end_s;
        if (fair && after_s < 0)
            return false;
        add_job(s, lp, j, fair ? after_s * part_of_each(s, host) : INFINITY);
    }
    room = add_row(lp, (double)(cs_total_gpus(host, 0) * s->window));
    for (uint32_t j = 0; j < s->jobs; j++)
        room[j * PER_JOB + POINTS] = s->plan[j].gpus;
    lp->gain[lp->columns - 1] = -s->k;
    lp->most[lp->columns - 1] = INFINITY;
    return solve(lp);
}

/* Late jobs count more, those in their last round most. */
static void set_priorities(struct plain_shockwave *s, const struct cs_host *host)
{
    for (struct plan *p = s->plan; p < s->plan + s->jobs; p++) {
        double end_s = now_in_s(host) + p->left_s / part_of_each(s, host);
        double ratio = end_s / fair_end_s(host, p);
        bool last = p->left_s * 1e9 < (double)s->round_ns;
        if (ratio > s->rho_max)
            p->priority = fmin(1e12, pow(ratio, last ? 100 : s->lambda));
    }
}

/* Whole rounds first; then one more for the largest fraction that has room. */
static void round_off(struct plain_shockwave *s, const struct program *lp, double room)
{
    double rest[JOBS_MAX];

    for (uint32_t j = 0; j < s->jobs; j++) {
        double y = lp->x[j * PER_JOB + POINTS];
        s->plan[j].rounds = floor(y + ROUNDING);
        rest[j] = y - s->plan[j].rounds;
        room -= s->plan[j].rounds * s->plan[j].gpus;
    }
    for (uint32_t turn = 0; turn < s->jobs; turn++) {
        uint32_t best = s->jobs;
        for (uint32_t j = 0; j < s->jobs; j++)
            if (rest[j] > ROUNDING && s->plan[j].gpus <= room + ROUNDING &&
                (best == s->jobs || rest[j] > rest[best] + ROUNDING))
                best = j;
        if (best == s->jobs)
            return;
        s->plan[best].rounds++;
        room -= s->plan[best].gpus;
        rest[best] = 0;
    }
}

static void plan_anew(struct plain_shockwave *s, struct cs_host *host)
{
    struct program lp;

    for (uint32_t j = 0; j < s->jobs; j++) {
        look_at(s, host, &s->plan[j]);
        s->plan[j].rounds = 0;
    }
    bool solved = plan_window(s, host, true, &lp);
    if (!solved) {
        set_priorities(s, host);
        solved = plan_window(s, host, false, &lp);
    }
    if (solved)
        round_off(s, &lp, (double)(cs_total_gpus(host, 0) * s->window));
    s->rounds_left = s->window;
    s->news = false;
}

/* ---- a round ---- */

/* Jobs of the plan: those that need all rounds left, late ones, those that need
 * few rounds; then the others, the longest first. */
static bool goes_first(const struct plain_shockwave *s, const struct plan *a,
                       const struct plan *b)
{
    double key[2][4];
    const struct plan *pair[2] = { a, b };

    for (int i = 0; i < 2; i++) {
        const struct plan *p = pair[i];
        bool planned = p->rounds > 0.5;
        key[i][0] = planned ? 0 : 1;
        key[i][1] = planned && p->rounds + 0.5 > (double)s->rounds_left ? 0 : 1;
        key[i][2] = planned ? -p->priority : -p->left_s;
        key[i][3] = planned ? p->rounds : 0;
    }
    for (int i = 0; i < 4; i++)
        if (key[0][i] != key[1][i])
            return key[0][i] < key[1][i];
    return a < b;
}

static bool waits(const struct cs_host *host, struct job_id job)
{
    return cs_job_task(host, job, CS_ALL_ROLES).i != ID_NONE;
}

/* Who was chosen runs; GPUs on which none of them fits go to the next in order. */
static void run_round(struct plain_shockwave *s, struct cs_host *host)
{
    struct plan *order[JOBS_MAX];
    bool chosen[JOBS_MAX];
    double room = cs_total_gpus(host, 0);

    for (uint32_t j = 0; j < s->jobs; j++) {
        uint32_t at = j;
        for (; at > 0 && goes_first(s, &s->plan[j], order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = &s->plan[j];
    }
    for (uint32_t k = 0; k < s->jobs; k++) {
        chosen[k] = order[k]->gpus <= room;
        room -= chosen[k] ? order[k]->gpus : 0;
        if (chosen[k] && order[k]->rounds > 0)
            order[k]->rounds--;
    }
    for (uint32_t j = 0; j < s->jobs; j++)
        for (uint32_t k = 0; k < s->jobs; k++)
            if (order[k] == &s->plan[j] && !chosen[k] && !waits(host, s->plan[j].id))
                cs_stop(host, s->plan[j].id);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < s->jobs; k++)
            if (chosen[k] == (pass == 0) && waits(host, order[k]->id))
                cs_start(host, cs_job_task(host, order[k]->id, CS_ALL_ROLES));
    s->rounds_left--;
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_shockwave *s = self;
    int64_t past_ns = cs_now_ns(host) % s->round_ns;

    if (s->jobs == 0)
        return;
    cs_wake_at(host, cs_now_ns(host) + s->round_ns - past_ns);
    if (past_ns > 0)
        return;
    if (s->news || s->rounds_left == 0)
        plan_anew(s, host);
    run_round(s, host);
}

const struct cs_policy plain_shockwave_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "shockwave",
    .summary = "the program of Shockwave by the simplex method",
    .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct plain_shockwave),
    .init = start_empty,
    .decide = decide,
    .job_submitted = note_job,
    .job_ended = note_end,
};
