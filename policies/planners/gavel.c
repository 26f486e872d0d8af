/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gavel.c - heterogeneity-aware shares by linear programs, given in rounds.
 *
 * Narayanan, Santhanam, Kazhamiaka, Phanishayee and Zaharia, "Heterogeneity-
 * Aware Cluster Scheduling Policies for Deep Learning Workloads", OSDI 2020.
 * X[j][p] is the share of time that job j spends on pool p.  When jobs have
 * come or ended an objective over the jobs' effective rates, the sums of
 * pace x X, is solved for X; at every round the pairs (j, p) of the highest
 * X[j][p] / (time on p that j had since) are given the pool's GPUs
 * (their algorithm 1).  GPUs of a job that ends within a round are idle until
 * the next.  With `rounds: {resolve_at_most_every: }` the program is solved so
 * far apart at least, and rounds go on by the shares that there are: those of
 * jobs that end are dealt to the others, and jobs that came since wait.
 *
 *  max-min      the least rate over that of an equal share, times GPUs
 *  makespan     the least rate over the work that is left
 *  finish-time  the largest ratio of the time a job takes to that on 1/n of
 *               the cluster (Themis's fairness), found by bisection
 *  cost         rates over the pools' prices, summed; deadlines are kept if
 *               that can be
 *
 * A job that fits in no pool now, as nodes are out of service, needs nothing
 * until they are back: else no other job could be given what it needs.
 * Where several X are best, the one that adds most to the sum of the rates.
 * Weights are 1.  Their jobs have whole GPUs.  A part of one fills that part of a pool
 * here; for max-min the job counts as one of a GPU.
 *
 * With `packing`, pairs of jobs on the same GPUs are combinations of their own
 * beside the single jobs, as in the paper's section 3.1: X[k][p] is the share
 * of time of a combination, each of its jobs has its rate beside the other, and
 * a job's time is that of all combinations it is in.  A pair that adds up to no
 * more than one job alone, in parts of their paces alone, is left out: turns do
 * as well.
 */
#include <math.h>
#include <string.h>

#include "policies/due.h"
#include "policies/pack.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy gavel_policy;

#define POOLS 32u
#define NOWHERE UINT32_MAX      /* no pool, no entry, no combination */
#define TIGHT 1e-7              /* what the second solution may give up */
#define BISECTIONS 16           /* of rho: to a 65,536th of the first bound */

/* Parameter `objective`, in the order of its words. */
enum objective { MAX_MIN, MAKESPAN, FINISH_TIME, COST };

struct entry {
    struct job_id job;          /* its number */
    uint32_t gpus;              /* that it asks for */
    double held;                /* of them: a part of one counts as such */
    uint32_t on, next;          /* pools, or NOWHERE */
    uint32_t combo;             /* in which it runs */
    uint32_t mate;              /* entry that is to be beside it, or NOWHERE */
    uint32_t need_row;          /* of the program; NOWHERE: needs nothing */
    uint32_t was;               /* index in combos; NOWHERE: not known there */
    double speedup[POOLS];      /* alone, on all its GPUs there */
    uint32_t dark;              /* pools where the power cap lets it never run */
    double equal;               /* rate of an equal share */
    double left_s, solved_left_s;       /* work at speed 1; at the last program */
    double alone, alone_s;      /* rate on 1/n now; time spent at such rates */
    bool over;                  /* the job has ended */
};

struct combo {
    uint32_t a, b;              /* entries; b: NOWHERE of a single job */
};

struct pick {
    double priority;            /* share over the time that it had */
    uint32_t combo, pool;       /* the pair (k, p) */
};

/* Parameters; pools; jobs; combinations of the last program, with their shares
 * and times; and the arrays of the program itself, which `solve.h` reads.
 * Arrays grow and are never freed. */
struct gavel {
    int64_t round_ns;           /* parameter `round`, or the host's */
    enum objective objective;   /* parameter */
    uint32_t pools;             /* of the cluster, at most POOLS */
    double cap[POOLS], usd[POOLS], all; /* GPUs of each pool, its price (USD/h), GPUs in
                                    * all */
    struct entry *entry;        /* in the order of the jobs' numbers */
    uint32_t count, room;       /* entries; those that there is room for */
    uint32_t ended;             /* of them: those that are over */
    bool changed, packing;      /* changed: since it was solved */
    struct combo *combo;        /* the entries, then pairs of them */
    uint32_t combos, combo_room; /* of `combo` */
    struct pick *pick;          /* scratch of a round, by column */
    uint32_t *row, *column, *moved_to; /* the matrix: where each number stands; scratch of
                                        * carry_on() */
    double *speedup_a, *speedup_b;    /* by column: combo x pools + pool */
    double *share, *got_s;      /* likewise: X of the last program, and the seconds had since */
    double *value, *gain, *most, *limit, *x, *need; /* the matrix' numbers; the objective, the
                                                     * upper bounds and the answer by column;
                                                     * the bounds by row; what each job needs */
};

/* Reads the prices of now; false: no pool has one. */
static bool read_prices(struct gavel *g, const struct cs_host *host)
{
    bool priced = false;

    for (uint32_t p = 0; p < g->pools; p++) {
        g->usd[p] = cs_pool_usd_per_h(host, p);
        priced |= g->usd[p] > 0;
    }
    return priced;
}

/* With `rounds:` the host's length of a round holds.  The objective cost needs
 * a price of some pool. */
static bool gavel_init(void *self, struct cs_host *host)
{
    struct gavel *g = self;

    if (cs_round_ns(host) > 0)
        g->round_ns = cs_round_ns(host);
    g->pools = cs_pool_count(host);
    bool priced = read_prices(g, host);
    if (g->objective == COST && !priced) {
        cs_fail(host, "objective cost needs prices of nodes");
        cs_note(host, "Write `price: 2USD/h` for nodes, or take another objective.");
    }
    return g->objective != COST || priced;
}

/* Makes room for programs of `combos` combinations. */
static void make_columns(struct gavel *g, struct cs_host *host,
                         uint32_t combos)
{
    g->combo = cs_grow(host, g->combo, &g->combo_room, combos, sizeof *g->combo);
    uint32_t room = g->combo_room, columns = room * g->pools + 1, entries = 6 * columns;
    g->pick = cs_alloc(host, columns, sizeof *g->pick);
    g->speedup_a = cs_alloc(host, columns, sizeof *g->speedup_a);
    g->speedup_b = cs_alloc(host, columns, sizeof *g->speedup_b);
    g->share = cs_alloc(host, columns, sizeof *g->share);
    g->got_s = cs_alloc(host, columns, sizeof *g->got_s);
    g->row = cs_alloc(host, entries, sizeof *g->row);
    g->column = cs_alloc(host, entries, sizeof *g->column);
    g->value = cs_alloc(host, entries, sizeof *g->value);
    g->gain = cs_alloc(host, columns, sizeof *g->gain);
    g->most = cs_alloc(host, columns, sizeof *g->most);
    g->x = cs_alloc(host, columns, sizeof *g->x);
    g->moved_to = cs_alloc(host, 2 * (size_t)room, sizeof *g->moved_to);
}

/* A program has a row for the time of each job, one for each pool, and one for
 * each job's need. */
static void make_room(struct gavel *g, struct cs_host *host)
{
    g->entry = cs_grow(host, g->entry, &g->room, g->count, sizeof *g->entry);
    g->limit = cs_alloc(host, 2 * (size_t)g->room + g->pools, sizeof *g->limit);
    g->need = cs_alloc(host, g->room, sizeof *g->need);
}

/* A job that has a pace in no pool ends the trial: it would never get a
 * share. */
static void gavel_submitted(void *self, struct cs_host *host,
                            struct job_id job)
{
    struct gavel *g = self;
    double most = 0;

    if (g->count == g->room)
        make_room(g, host);
    struct entry *e = &g->entry[g->count++];
    *e = (struct entry) { .job = job, .on = NOWHERE, .mate = NOWHERE,
                          .combo = NOWHERE, .was = NOWHERE,
                          .gpus = cs_job_gpus(host, job) };
    e->held = job_role_amount(cs_request(host, job), 0);
    for (uint32_t p = 0; p < g->pools; p++) {
        e->speedup[p] = cs_speedup(host, job, p, e->gpus);
        most = fmax(most, e->speedup[p]);
    }
    if (!(most > 0))
        cs_fail(host, "jobs must have one role, and a pool to run in");
    e->solved_left_s = 1e-9 * (double)cs_left_ns(host, job);
    g->changed = true;
}

/* Notes that the job is over.  Jobs stand in the order of their numbers.  The shares are
 * planned anew. */
static void gavel_ended(void *self, struct cs_host *host, struct job_id job)
{
    struct gavel *g = self;
    uint32_t at = 0, end = g->count;

    (void)host;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (g->entry[middle].job.i < job.i)
            at = middle + 1;
        else
            end = middle;
    }
    if (at < g->count && g->entry[at].job.i == job.i) {
        g->entry[at].over = true;
        g->ended++;
    }
    g->changed = true;
}

/* Forgets the jobs that are over, and keeps the order of the others: once a round,
 * since entries are large. */
static void forget_ended(struct gavel *g)
{
    uint32_t kept = 0;

    if (g->ended == 0)
        return;
    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->entry[i].over && kept != i)
            g->entry[kept] = g->entry[i];
        kept += !g->entry[i].over;
    }
    g->count = kept;
    g->ended = 0;
}

/* ---- combinations ----------------------------------------------------------- */

/* Paces of two entries beside each other; false: there is no pool where that is
 * worth more than turns. */
static bool add_pair(struct gavel *g, struct cs_host *host, uint32_t a,
                     uint32_t b)
{
    const struct entry *x = &g->entry[a], *y = &g->entry[b];
    uint32_t first = g->combos * g->pools;
    bool worth = false;

    for (uint32_t p = 0; p < g->pools; p++) {
        uint32_t c = first + p;
        double one = cs_speedup_co_located(host, x->job, y->job, p);
        double two = cs_speedup_co_located(host, y->job, x->job, p);

        bool gains = one > 0 && two > 0 && x->speedup[p] > 0 && y->speedup[p] > 0 &&
                     one / x->speedup[p] + two / y->speedup[p] > 1 + TIGHT;
        g->speedup_a[c] = gains ? one : 0;
        g->speedup_b[c] = gains ? two : 0;
        worth |= gains;
    }
    if (worth)
        g->combo[g->combos++] = (struct combo) { a, b };
    return worth;
}

/* Every job is a combination, by its own index; pairs follow, if packing is
 * on.  Only jobs of as many GPUs are paired.  There may be n (n - 1) / 2
 * pairs, for each of which the laws are asked. */
static void list_combos(struct gavel *g, struct cs_host *host)
{
    uint32_t n = g->count;

    g->combos = 0;
    if (n > g->combo_room || g->combo_room == 0)
        make_columns(g, host, n);
    for (uint32_t i = 0; i < n; i++) {
        g->combo[g->combos++] = (struct combo) { i, NOWHERE };
        for (uint32_t p = 0; p < g->pools; p++)
            g->speedup_a[i * g->pools + p] = g->entry[i].speedup[p];
    }
    for (uint32_t i = 0; g->packing && i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            if (g->entry[i].gpus != g->entry[j].gpus)
                continue;
            if (g->combos == g->combo_room) {
                const double *one = g->speedup_a, *two = g->speedup_b;
                size_t bytes = g->combos * g->pools * sizeof *one;
                make_columns(g, host, g->combos);
                memcpy(g->speedup_a, one, bytes);
                memcpy(g->speedup_b, two, bytes);
            }
            add_pair(g, host, i, j);
        }
}

/* ---- the linear program -------------------------------------------------- */

/* Returns the speed of a job in a pool; 0 where it does not fit now, since nodes are
 * out of service or not rented, or a power cap is too low. */
static double speed_in(const struct gavel *g, const struct entry *e, uint32_t pool)
{
    return e->gpus <= g->cap[pool] && !(e->dark >> pool & 1) ? e->speedup[pool] : 0;
}

/* Returns the speed of a job in the pool where it is fastest now; 0: there is none,
 * and programs are made as if the job needed nothing. */
static double best_speed(const struct gavel *g, const struct entry *e)
{
    double most = 0;

    for (uint32_t p = 0; p < g->pools; p++)
        most = fmax(most, speed_in(g, e, p));
    return most;
}

/* Appends one number of the program's matrix.  The matrix is a list of (row, column, value);
 * `entries` counts it. */
static void put_entry(struct gavel *g, uint32_t *entries, uint32_t row,
                      uint32_t column, double value)
{
    g->row[*entries] = row;
    g->column[*entries] = column;
    g->value[(*entries)++] = value;
}

/* The columns of pairs: a pair takes the time of both jobs, but its GPUs once,
 * and adds to the rate of each. */
static void put_pairs(struct gavel *g, uint32_t *entries)
{
    uint32_t n = g->count;

    for (uint32_t k = n; k < g->combos; k++)
        for (uint32_t p = 0; p < g->pools; p++) {
            const struct combo *combo = &g->combo[k];
            const struct entry *a = &g->entry[combo->a];
            const struct entry *b = &g->entry[combo->b];
            uint32_t c = k * g->pools + p;
            g->most[c] = g->speedup_a[c] > 0 && speed_in(g, a, p) > 0 &&
                                 speed_in(g, b, p) > 0 ? 1 : 0;
            put_entry(g, entries, combo->a, c, 1);
            put_entry(g, entries, combo->b, c, 1);
            put_entry(g, entries, n + p, c, a->gpus);
            if (a->need_row != NOWHERE)
                put_entry(g, entries, a->need_row, c,
                          -g->speedup_a[c] / g->need[combo->a]);
            if (b->need_row != NOWHERE)
                put_entry(g, entries, b->need_row, c,
                          -g->speedup_b[c] / g->need[combo->b]);
        }
}

/* Columns are (combination, pool), and z; rows: a job's time, a pool's GPUs, and
 * z <= the job's rate over what it needs, if at_least is NAN, or else at_least
 * <= that.  Jobs that need nothing have no such row. */
static bool solve_program(struct gavel *g, double at_least)
{
    uint32_t n = g->count, z = g->combos * g->pools, entries = 0;
    uint32_t rows = n + g->pools;
    bool free = isnan(at_least);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < g->pools; p++) {
            const struct entry *e = &g->entry[i];
            uint32_t c = i * g->pools + p;
            g->most[c] = speed_in(g, e, p) > 0 ? 1 : 0;
            put_entry(g, &entries, i, c, 1);
            put_entry(g, &entries, n + p, c, e->held);
        }
    for (uint32_t i = 0; i < n; i++)
        g->limit[i] = 1;
    for (uint32_t p = 0; p < g->pools; p++)
        g->limit[n + p] = g->cap[p];
    for (uint32_t i = 0; i < n; i++) {
        /* put_pairs() adds the pairs' shares to the same row. */
        g->entry[i].need_row = g->need[i] > 0 ? rows : NOWHERE;
        if (!(g->need[i] > 0))
            continue;
        for (uint32_t p = 0; p < g->pools; p++)
            put_entry(g, &entries, rows, i * g->pools + p,
                      -g->entry[i].speedup[p] / g->need[i]);
        /* With z: z - rate / need <= 0. With a bound: - rate / need <= - at_least. */
        put_entry(g, &entries, rows, z, free);
        g->limit[rows++] = free ? 0 : -at_least;
    }
    put_pairs(g, &entries);
    g->most[z] = free ? INFINITY : 0;
    struct cs_lp lp = {
        .columns = z + 1, .rows = rows, .entries = entries, .gain = g->gain,
        .most = g->most, .limit = g->limit, .row = g->row,
        .column = g->column, .value = g->value, .x = g->x,
    };
    return cs_linear_program(&lp);
}

/* The largest z such that every job has z times what it needs; 0 if none needs
 * anything. */
static double best_z(struct gavel *g)
{
    uint32_t z = g->combos * g->pools;
    double needs = 0;

    for (uint32_t i = 0; i < g->count; i++)
        needs += g->need[i];
    if (!(needs > 0))
        return 0;
    memset(g->gain, 0, z * sizeof *g->gain);
    g->gain[z] = 1;
    return solve_program(g, NAN) ? g->x[z] : 0;
}

/* best_z() is no more than each job's fastest pool and all GPUs together would
 * allow; with one pool that is what it is.  For example, one pool of 8 GPUs and two jobs of 4
 * GPUs, each of which needs a rate of 1 and runs at 2: z is 2 for each alone, and 8 / (4 x 1/2
 * + 4 x 1/2) = 2 for both. */
static double bound_z(const struct gavel *g)
{
    double gpus = 0, z = INFINITY;

    for (uint32_t i = 0; i < g->count; i++) {
        const struct entry *e = &g->entry[i];
        double most = best_speed(g, e);
        if (!(most > 0))
            continue;           /* it needs nothing */
        z = fmin(z, most / g->need[i]);
        gpus += e->held * g->need[i] / most;
    }
    return gpus > 0 ? fmin(z, g->all / gpus) : INFINITY;
}

/* Returns what best_z() does, without a program where a bound is the answer. */
static double most_z(struct gavel *g)
{
    double z = g->pools == 1 && !g->packing ? bound_z(g) : NAN;

    if (isnan(z))
        return best_z(g);
    return isfinite(z) ? z : 0;
}

/* Among the X that give every job z times its need: the most in sum, each pool
 * counted at its price if there is one. */
static bool best_sum(struct gavel *g, double at_least, bool priced)
{
    double least = INFINITY;

    for (uint32_t p = 0; p < g->pools; p++)
        if (g->usd[p] > 0)
            least = fmin(least, g->usd[p]);
    for (uint32_t k = 0; k < g->combos; k++)
        for (uint32_t p = 0; p < g->pools; p++) {
            const struct combo *combo = &g->combo[k];
            double usd = priced ? fmax(g->usd[p], least * 1e-3) : 1;
            uint32_t c = k * g->pools + p;
            g->gain[c] = g->speedup_a[c] / g->entry[combo->a].equal / usd;
            if (combo->b != NOWHERE)
                g->gain[c] += g->speedup_b[c] / g->entry[combo->b].equal / usd;
        }
    g->gain[g->combos * g->pools] = 0;
    return solve_program(g, at_least);
}

/* Returns the seconds since a job was submitted. */
static double age_s(const struct cs_host *host, const struct entry *e)
{
    return 1e-9 * (double)(cs_now_ns(host) -
                           cs_request(host, e->job)->submit_ns);
}

/* What each job needs so that its ratio is at most rho; false: one has passed
 * it already.  A job of 100 s left, that has had 50 s worth of its part and came 200 s ago,
 * has 2 x (50 + 100) - 200 = 100 s left with rho = 2, if its rate on 1/n is 1: it needs a rate
 * of 1. */
static bool need_for(struct gavel *g, const struct cs_host *host, double rho)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct entry *e = &g->entry[i];
        double time_s = rho * (e->alone_s + e->left_s / e->alone) -
                        age_s(host, e);
        g->need[i] = 0;
        if (!(best_speed(g, e) > 0))
            continue;
        if (!(time_s > 0))
            return false;
        g->need[i] = e->left_s / time_s;
    }
    return true;
}

/* Can every job have what it needs?  A program is solved only where the bound does
 * not answer that.  With one pool and no pairs the bound is the answer, but for rounding. */
static bool can_have(struct gavel *g)
{
    double z = g->packing ? NAN : bound_z(g);

    if (z < 1 - TIGHT)
        return false;
    return isinf(z) || (g->pools == 1 && z > 1 + TIGHT) || best_z(g) >= 1;
}

/* Finds the least rho that every job can have: doubles it until it can be had,
 * halves the interval, and leaves the needs of the bound that can be had.  At most 40
 * doublings, and 16 halvings: a program each at most. */
static void fair_finish(struct gavel *g, const struct cs_host *host)
{
    double low = 0, high = 1;

    for (int i = 0; i < 40; i++, high *= 2)
        if (need_for(g, host, high) && can_have(g))
            break;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (need_for(g, host, middle) && can_have(g))
            high = middle;
        else
            low = middle;
    }
    need_for(g, host, high);
}

/* Sets as need the rate by which a job keeps its deadline; 0, no need, without a
 * deadline and where its fastest pool alone would be too slow. */
static void need_for_deadlines(struct gavel *g, const struct cs_host *host)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct entry *e = &g->entry[i];
        int64_t end = cs_request(host, e->job)->deadline_ns;
        double time_s = 1e-9 * (double)(end - cs_now_ns(host));
        g->need[i] = end < INT64_MAX && time_s > 0 &&
                             e->left_s / time_s <= best_speed(g, e)
                         ? e->left_s / time_s : 0;
    }
}

/* Brings what is known of pools and jobs up to date before a program: the pools'
 * sizes, the work that is left, the rate of an equal share and that on 1/n of the
 * cluster.  Work done since the last program counts at the rate on 1/n that held
 * then: alone_s is the time that a job would have needed there so far.  If 1/n of the cluster
 * is more GPUs than a job asks for, it counts with those that it asks for. */
static void refresh_jobs(struct gavel *g, const struct cs_host *host)
{
    g->all = 0;
    for (uint32_t p = 0; p < g->pools; p++) {
        g->cap[p] = cs_total_gpus(host, 1u << p);
        g->all += g->cap[p];
    }
    for (uint32_t i = 0; i < g->count; i++) {
        struct entry *e = &g->entry[i];
        double whole = 0, alone = 0;

        e->dark = 0;
        for (uint32_t p = 0; p < g->pools; p++)
            e->dark |= (uint32_t)(e->gpus > cs_gpus_powered(host, e->job, p)) << p;
        e->equal = 0;
        for (uint32_t p = 0; p < g->pools; p++) {
            double share = g->cap[p] / g->count / e->held;
            e->equal += speed_in(g, e, p) * g->cap[p] / fmax(g->all, 1);
            alone += speed_in(g, e, p) * share;
            whole += share;
        }
        e->equal = fmax(e->equal, 1e-9);
        e->left_s = fmax(1e-9 * (double)cs_left_ns(host, e->job), 1e-6);
        if (e->alone > 0)
            e->alone_s += (e->solved_left_s - e->left_s) / e->alone;
        e->alone = fmax(whole > 1 ? alone / whole : alone, 1e-9);
        e->solved_left_s = e->left_s;
    }
}

/* Sets what the jobs need for max-min and makespan; those that fit nowhere now, nothing. */
static void set_needs(struct gavel *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct entry *e = &g->entry[i];

        g->need[i] = g->objective == MAX_MIN ? e->equal / e->gpus : e->left_s;
        if (!(best_speed(g, e) > 0))
            g->need[i] = 0;
    }
}

/* Solves the objective for the shares.  The first program finds the best value
 * of the objective, the second, which gives up TIGHT of it, the best sum of
 * rates among its solutions.  Every combination is given half a round to begin
 * with, so that the first round goes by the shares alone. */
static void plan_shares(struct gavel *g, struct cs_host *host)
{
    bool solved;

    refresh_jobs(g, host);
    list_combos(g, host);
    set_needs(g);
    if (g->objective == FINISH_TIME)
        fair_finish(g, host);
    if (g->objective == COST) {
        bool priced = read_prices(g, host);

        need_for_deadlines(g, host);
        solved = best_sum(g, 1 - TIGHT, priced);
        if (!solved) {
            memset(g->need, 0, g->count * sizeof *g->need);
            solved = best_sum(g, 0, priced);
        }
    } else {
        solved = best_sum(g, most_z(g) * (1 - TIGHT), false);
    }
    for (uint32_t c = 0; c < g->combos * g->pools; c++) {
        g->share[c] = solved ? g->x[c] : 0;
        g->got_s[c] = 0.5e-9 * (double)g->round_ns;
    }
    for (uint32_t i = 0; i < g->count; i++)
        g->entry[i].was = i;
    g->changed = false;
}

/* ---- a round -------------------------------------------------------------- */

/* Moves a combination's shares and times to another index. */
static void move_row(struct gavel *g, uint32_t from, uint32_t to)
{
    for (uint32_t p = 0; p < g->pools; p++) {
        g->share[to * g->pools + p] = g->share[from * g->pools + p];
        g->got_s[to * g->pools + p] = g->got_s[from * g->pools + p];
    }
}

/* A job that the last solution does not know has no share, and waits. */
static void add_unknown(struct gavel *g, uint32_t i)
{
    uint32_t k = g->combos++;

    g->combo[k] = (struct combo) { i, NOWHERE };
    for (uint32_t p = 0; p < g->pools; p++) {
        g->share[k * g->pools + p] = 0;
        g->got_s[k * g->pools + p] = 0.5e-9 * (double)g->round_ns;
    }
}

/* Room for combinations, what they have being kept.  make_columns() gives new arrays, into
 * which shares and times are copied. */
static void keep_columns(struct gavel *g, struct cs_host *host,
                         uint32_t combos)
{
    const double *share = g->share, *got_s = g->got_s;
    size_t bytes = (size_t)g->combos * g->pools * sizeof *share;

    if (combos <= g->combo_room)
        return;
    make_columns(g, host, combos);
    if (bytes > 0) {
        memcpy(g->share, share, bytes);
        memcpy(g->got_s, got_s, bytes);
    }
}

/* Keeps the combinations whose jobs are all still there, with their shares.
 * now: by old index of an entry, its index now, or NOWHERE.  *to is set to the
 * index of each combination from now on, or NOWHERE. */
static void keep_combos(struct gavel *g, const uint32_t *now, uint32_t *to)
{
    uint32_t kept = 0;

    for (uint32_t k = 0; k < g->combos; k++) {
        struct combo was = g->combo[k];
        uint32_t a = now[was.a], b = was.b == NOWHERE ? NOWHERE : now[was.b];

        to[k] = NOWHERE;
        if (a == NOWHERE || (was.b != NOWHERE && b == NOWHERE))
            continue;
        g->combo[kept] = (struct combo) { a, b };
        move_row(g, k, kept);
        to[k] = kept++;
    }
    g->combos = kept;
}

/* Jobs came and went, and nothing may be solved yet: the others keep their
 * shares and what they had. */
static void carry_on(struct gavel *g, struct cs_host *host)
{
    uint32_t *now = g->moved_to, *to = g->moved_to + g->combo_room;

    for (uint32_t k = 0; k < g->combos; k++)
        now[k] = NOWHERE;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->entry[i].was != NOWHERE)
            now[g->entry[i].was] = i;
    keep_combos(g, now, to);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->entry[i].combo != NOWHERE)
            g->entry[i].combo = to[g->entry[i].combo];
    keep_columns(g, host, g->combos + g->count);
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->entry[i].was == NOWHERE)
            add_unknown(g, i);
        g->entry[i].was = i;
    }
}

/* Closes the round that is over: each combination that ran is given its time,
 * pairs once.  That is left out if a program is solved now, because it counts
 * from there on.  Jobs that were evicted in the round do not run any more.  A job that is not
 * running is NOWHERE from here on. */
static void count_round(struct gavel *g, const struct cs_host *host, bool counts)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct entry *e = &g->entry[i];
        if (e->on == NOWHERE || e->combo == NOWHERE)
            continue;
        if (counts && (g->combo[e->combo].a == i ||
                            g->entry[g->combo[e->combo].a].on == NOWHERE))
            g->got_s[e->combo * g->pools + e->on] +=
                1e-9 * (double)g->round_ns;
    }
    for (uint32_t i = 0; i < g->count; i++)
        if (cs_job_task(host, g->entry[i].job, CS_ALL_ROLES).i != ID_NONE)
            g->entry[i].on = NOWHERE;
}

/* Higher priority first, then the larger share; the rest is by index, so that
 * the order does not depend on the sort. */
static bool goes_before(const struct gavel *g, const struct pick *a,
                        const struct pick *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    double x = g->share[a->combo * g->pools + a->pool];
    double y = g->share[b->combo * g->pools + b->pool];
    if (x != y)
        return x > y;
    return a->combo != b->combo ? a->combo < b->combo : a->pool < b->pool;
}

/* Moves a pick down the heap, whose root is the last in order.  `count` items are in the heap. */
static void sift_pick(const struct gavel *g, uint32_t at, uint32_t count)
{
    struct pick pick = g->pick[at];
    uint32_t child;

    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count &&
            goes_before(g, &g->pick[child], &g->pick[child + 1]))
            child++;
        if (!goes_before(g, &pick, &g->pick[child]))
            break;
        g->pick[at] = g->pick[child];
        at = child;
    }
    g->pick[at] = pick;
}

/* Best first: a heap sort, last to the end. */
static void sort_picks(const struct gavel *g, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift_pick(g, i, count);
    for (uint32_t end = count; end-- > 1;) {
        struct pick last = g->pick[0];
        g->pick[0] = g->pick[end];
        g->pick[end] = last;
        sift_pick(g, 0, end);
    }
}

/* A combination gets its pool for the next round; of a pair both entries are
 * marked. */
static void take_pick(struct gavel *g, uint32_t k, uint32_t pool)
{
    const struct combo *combo = &g->combo[k];
    struct entry *a = &g->entry[combo->a];

    a->next = pool;
    a->combo = k;
    if (combo->b == NOWHERE)
        return;
    a->mate = combo->b;
    g->entry[combo->b].next = pool;
    g->entry[combo->b].combo = k;
    g->entry[combo->b].mate = combo->a;
}

/* Algorithm 1 of the paper: by priority, every combination whose jobs are not
 * yet chosen and whose pool has enough GPUs left. */
static void choose_picks(struct gavel *g, const struct cs_host *host)
{
    double room[POOLS];
    uint32_t picks = 0;

    for (uint32_t i = 0; i < g->count; i++)
        g->entry[i].next = g->entry[i].mate = NOWHERE;
    for (uint32_t c = 0; c < g->combos * g->pools; c++)
        if (g->share[c] > TIGHT)
            g->pick[picks++] = (struct pick) {
                g->share[c] / g->got_s[c], c / g->pools, c % g->pools };
    sort_picks(g, picks);
    for (uint32_t p = 0; p < g->pools; p++)
        room[p] = cs_total_gpus(host, 1u << p);
    for (uint32_t k = 0; k < picks; k++) {
        const struct combo *combo = &g->combo[g->pick[k].combo];
        uint32_t p = g->pick[k].pool;
        double held = g->entry[combo->a].held;
        if (g->entry[combo->a].next != NOWHERE || held > room[p] + TIGHT ||
            (combo->b != NOWHERE && g->entry[combo->b].next != NOWHERE))
            continue;
        take_pick(g, g->pick[k].combo, p);
        room[p] -= held;
    }
}

/* The job goes back to the queue, with what its preemption costs. */
static void stop_entry(struct cs_host *host, struct entry *e)
{
    cs_stop(host, e->job);
    e->on = NOWHERE;
}

/* Stops the jobs that run in another pool than they are to, or beside another job
 * than they are to.  Of two that are to be together, or apart, the later one in
 * the list stops. */
static void clear_gpus(struct gavel *g, struct cs_host *host)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->entry[i].on != NOWHERE && g->entry[i].on != g->entry[i].next)
            stop_entry(host, &g->entry[i]);
    for (uint32_t i = 0; g->packing && i < g->count; i++) {
        struct entry *e = &g->entry[i];
        if (e->on == NOWHERE)
            continue;
        uint32_t with = cs_co_located(host, e->job).i;
        for (uint32_t j = 0; j < i && e->on != NOWHERE; j++) {
            const struct entry *other = &g->entry[j];
            bool together = with != ID_NONE && with == other->job.i;
            if (other->on != NOWHERE && together != (e->mate == j))
                stop_entry(host, e);
        }
    }
}

/* Starts a job in its pool, or beside its mate if that runs.  A job that finds
 * no room, because GPUs are in pieces, waits for the next round. */
static void start_entry(struct gavel *g, struct cs_host *host, struct entry *e)
{
    struct cs_want want = { .pool_mask = 1u << e->next };
    struct task_id task = cs_job_task(host, e->job, CS_ALL_ROLES);
    const struct entry *mate = e->mate == NOWHERE ? NULL
                                                  : &g->entry[e->mate];
    enum cs_verdict verdict = CS_NO_ROOM;

    if (task.i == ID_NONE)
        return;
    if (mate != NULL && mate->on != NOWHERE)
        verdict = cs_start_co_located(host, task, mate->job);
    else
        verdict = cs_start_want(host, task, &want);
    if (verdict == CS_DONE)
        e->on = e->next;
}

/* Makes the cluster run what was chosen.  Jobs that are to run beside another are
 * started last, when their mates run. */
static void enact_picks(struct gavel *g, struct cs_host *host)
{
    clear_gpus(g, host);
    for (uint32_t i = 0; i < g->count; i++) {
        struct entry *e = &g->entry[i];
        if (e->next != NOWHERE && e->on != e->next &&
            (e->mate == NOWHERE ||
             (i < e->mate && g->entry[e->mate].on == NOWHERE)))
            start_entry(g, host, e);
    }
    for (uint32_t i = 0; g->packing && i < g->count; i++) {
        struct entry *e = &g->entry[i];
        if (e->mate != NOWHERE && e->on != e->next)
            start_entry(g, host, e);
    }
}

/* Have nodes come or gone since the program was solved?  Compared with the sizes of the last
 * program. */
static bool nodes_changed(const struct gavel *g, const struct cs_host *host)
{
    for (uint32_t p = 0; p < g->pools; p++)
        if (g->cap[p] != cs_total_gpus(host, 1u << p))
            return true;
    return false;
}

/* At the begin of a round: shares are solved for if they are out of date and
 * may be, else carried on; then the round is dealt by them. */
static void gavel_decide(void *self, struct cs_host *host)
{
    struct gavel *g = self;
    int64_t now = cs_now_ns(host), round = g->round_ns;
    bool solves;

    if (g->count == g->ended)
        return;
    if (cs_round_ns(host) > 0) {            /* it is asked at boundaries alone */
        cs_wake_at(host, clock_after(now, round));
    } else {
        cs_wake_at(host, clock_tick_after(now, round));
        if (!cs_is_due(host, round))
            return;
    }
    forget_ended(g);
    g->changed |= nodes_changed(g, host);
    solves = g->changed && cs_may_solve(host);
    if (g->changed && !solves)
        carry_on(g, host);
    count_round(g, host, !solves);
    if (solves)
        plan_shares(g, host);
    choose_picks(g, host);
    enact_picks(g, host);
}

static const struct cs_param params[] = {
    { "objective", CS_PARAM_CHOICE, offsetof(struct gavel, objective), 0, 0,
      "max-min", "max-min, makespan, finish-time or cost" },
    { "packing", CS_PARAM_BOOL, offsetof(struct gavel, packing), 0, 0,
      "false", "may two jobs share GPUs, where it is known how fast they are "
      "then" },
    { "round", CS_PARAM_TIME, offsetof(struct gavel, round_ns), 1, 1e6, "360s",
      "where each job runs is decided at its multiples" },
};

static const struct cs_need needs[] = {
    { "estimate", "objective: not max-min" },
    { "round", "rounds: none" },
};

static const struct cs_words words[] = {
    { "objective", "max-min makespan finish-time cost" },
};

const struct cs_policy gavel_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "gavel",
    .cites = "narayanan2020gavel",
    .summary = "shares of time by pool that a linear program finds, in rounds",
    .flags = CS_PREEMPTS | CS_PACKS | CS_SOLVES | CS_ASKS_ESTIMATES |
             CS_ONE_ROLE | CS_ONE_POOL | CS_NEEDS_GPUS,
    .param_count = 3, .param = params,
    .words_count = sizeof words / sizeof words[0], .words = words,
    .self_bytes = sizeof(struct gavel), .init = gavel_init,
    .decide = gavel_decide, .job_submitted = gavel_submitted,
    .job_ended = gavel_ended,
    .need_count = sizeof needs / sizeof needs[0], .need = needs,
};
