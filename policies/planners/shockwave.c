/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shockwave.c - rounds planned ahead for the largest product of what jobs get
 * done, within finish-time fairness, by a forecast of batch sizes.
 *
 * Zheng, Pan, Khan, Venkataraman and Akella, "Shockwave: Fair and Efficient
 * Cluster Scheduling for Dynamic Adaptation in Machine Learning", NSDI 2023, as
 * in its published code (github uw-mad-dash/shockwave, commit e07dd205,
 * scheduler/shockwave.py and JobMetaData.py; constants of configurations/
 * tacc_32gpus.json):
 *
 *  forecast  a job's batch sizes are drawn from a Dirichlet distribution whose
 *            prior counts all of them alike; epochs seen move it
 *  program   over the next `window` rounds: the mean of log(progress) of all
 *            jobs, by lines between a few points, less `k` x the longest time
 *            left; each job ends by the time it would on 1/n of the cluster,
 *            averaged over what that was
 *  relaxed   where that cannot be: without it, and the utility of jobs that are
 *            late by a ratio r counts r^`lambda`
 *  rounds    of the plan are kept until a job comes or ends, or it is used up;
 *            GPUs that it leaves go to the longest time left
 *
 * Theirs is a mixed-integer program for Gurobi with a variable for every job and
 * round.  Rounds of a window are alike in it, so only how many each job has
 * counts: here that number is a variable, and may be a fraction until the end,
 * when the largest fractions become whole rounds.  These are then dealt, first
 * to jobs that need all that are left, then to those that are late, then to
 * those that need fewest.  GPUs count, pools are alike; speeds are not measured
 * anew.
 *
 * The rest of the program needs no solver.  With the longest time left given,
 * each job has a least and a most progress, and utility is concave: pieces of
 * progress are taken, those that are worth most per GPU-round first (a fractional
 * knapsack, Dantzig 1957), the older job's of two alike.  The best sum is concave
 * in the longest time left, which is halved down to where a second less would
 * cost more than it brings.
 */
#include <math.h>

#include "policies/due.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy shockwave_policy;

#define POINTS 6u               /* log_approximation_bases */
#define LOG_ORIGIN -13.815510557964274  /* ln 1e-6: logapx_origin */
#define MOMENTUM 0.9            /* finish_time_momentumed_average */
#define LATE_MOST 1e12          /* a ratio to the 12th, or 100th, power */
#define TINY 1e-9               /* seconds, rounds: less than that is nothing */
#define NEAR 1e-6               /* of what must be: that is not too much */
#define HALVINGS 100            /* more than a double has bits: TINY ends it */

static const double point[POINTS] = { 0, 0.2, 0.4, 0.6, 0.8, 1 };

struct entry {
    struct job_id job;          /* its number */
    double gpus;                /* a part of one counts as such */
    bool on, next;              /* runs now; is to run in the next round */
    bool over;                  /* the job has ended */
    /* Ends on 1/n of the cluster, as they were estimated: when first, the
     * integral over time since then, when last, and what was estimated then. */
    double first_s, area, last_s, last_end_s;
    bool estimated;             /* the four above are set */
    double epochs, done, epoch_s;       /* epoch_s: mean of those seen */
    double left_s;              /* forecast, alone on all its GPUs */
    double priority;            /* > 1: late */
    double rounds;              /* of the plan, that are left */
    /* Of the program.  Progress is from least to most, and from low where the
     * longest time left asks for more. */
    double least, low, most;
    double whole_s, end_s;      /* all its work; left when none was done */
    double cost;                /* GPU-rounds of all its work */
    double worth;               /* of a unit of utility, over its cost */
    double share;               /* the answer: progress, then rounds */
};

/* Progress between two points, worth the same all the way. */
struct piece {
    double worth;               /* of a GPU-round */
    double from, to;            /* progress, as parts of all work */
    uint32_t job;               /* its place in shockwave->entry */
};

struct shockwave {
    int64_t round_ns, window;   /* parameters: length of a round, rounds of a plan */
    double k, lambda, rho_max;  /* parameters */
    struct entry *entry;
    uint32_t count, entry_room; /* of `entry` */
    uint32_t ended;             /* of them: those that are over */
    bool changed;               /* a job came or ended since the last plan */
    uint32_t rounds_left;       /* of the plan */
    uint32_t *order;            /* scratch: jobs in the order of a round */
    struct piece *piece;        /* the best first */
    uint32_t pieces;            /* of `piece` */
    double room;                /* GPU-rounds of the window */
    double slope[POINTS - 1];   /* of utility, from point to point */
};

/* ---- what is known of jobs ------------------------------------------------- */

/* The order and the pieces are made anew by each plan; only entries are
 * copied. */
static void make_room(struct shockwave *s, struct cs_host *host)
{
    s->entry = cs_grow(host, s->entry, &s->entry_room, s->count, sizeof *s->entry);
    s->order = cs_alloc(host, s->entry_room, sizeof *s->order);
    s->piece = cs_alloc(host, (size_t)s->entry_room * POINTS, sizeof *s->piece);
}

/* Adds a job; the windows are planned anew. */
static void shockwave_submitted(void *self, struct cs_host *host,
                                struct job_id job)
{
    struct shockwave *s = self;
    const struct job_request *request = cs_request(host, job);

    if (s->count == s->entry_room)
        make_room(s, host);
    s->entry[s->count++] = (struct entry) {
        .job = job,
        .gpus = cs_job_gpus(host, job) - job_role_gpus(request, 0) +
                job_role_amount(request, 0) };
    s->changed = true;
}

/* Notes that the job is over.  Jobs stand in the order of their numbers, so that it is found in
 * O(log n). */
static void shockwave_ended(void *self, struct cs_host *host,
                            struct job_id job)
{
    struct shockwave *s = self;
    uint32_t at = 0, end = s->count;

    (void)host;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (s->entry[middle].job.i < job.i)
            at = middle + 1;
        else
            end = middle;
    }
    s->changed = true;
    if (at == s->count || s->entry[at].job.i != job.i)
        return;
    s->entry[at].over = true;
    s->ended++;
}

/* Forgets the jobs that are over, and keeps the order of the others: once a round, since
 * entries are large. */
static void forget_ended(struct shockwave *s)
{
    uint32_t kept = 0;

    if (s->ended == 0)
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!s->entry[i].over && kept != i)
            s->entry[kept] = s->entry[i];
        kept += !s->entry[i].over;
    }
    s->count = kept;
    s->ended = 0;
}

/* The mean of the posterior in epochs of each batch size, less those seen, made
 * to fill the epochs that are left.  For example, two batch sizes and 10 epochs, 4 of them
 * seen with the first: the prior is 5 each, so 10 x 9 / 14 = 6.4 and 10 x 5 / 14 = 3.6 epochs
 * are expected; less the 4 seen, 2.4 and 3.6 are left. */
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

/* Reads what is known of a job.  A job whose epochs the host does not know is
 * one epoch as long as the whole job, so that nothing is forecast for it. */
static void look_at_job(struct cs_host *host, struct entry *x)
{
    double left_s = 1e-9 * (double)cs_left_ns(host, x->job), seen = 0;
    struct cs_epochs e;

    if (!cs_epochs(host, x->job, &e) || e.done >= e.count) {
        double whole_s = left_s + cs_attained_gpu_s(host, x->job) /
                                      (x->gpus > 0 ? x->gpus : 1);
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

/* Returns the time in seconds. */
static double now_s(const struct cs_host *host)
{
    return 1e-9 * (double)cs_now_ns(host);
}

/* Estimates when a job would end on its part of the cluster, if nothing else
 * changed; the last estimate, times how long it held, goes into the integral.  `share`: its
 * part of the cluster, 1 at most. */
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

/* The end that fairness is measured against: the mean of the estimates over
 * time, with a tenth of the last one (their momentum).  With an end estimated at 100 s for the
 * first half of the time and at 200 s for the second, the mean is 150 s and the answer 0.9 x
 * 150 + 0.1 x 200 = 155 s. */
static double fair_end_s(const struct cs_host *host, const struct entry *x)
{
    double now = now_s(host), mean = x->last_end_s;

    if (now > x->first_s)
        mean = (x->area + x->last_end_s * (now - x->last_s)) /
               (now - x->first_s);
    return MOMENTUM * mean + (1 - MOMENTUM) * x->last_end_s;
}

/* ---- the program -------------------------------------------------------------- */

/* A longest time left, and what is best with it. */
struct level {
    double longest_s;           /* seconds of work that are left of the job with most */
    double gain;                /* of a second less */
    uint32_t taken;             /* pieces that are taken wholly, */
    double part;                /* and GPU-rounds of the next one */
    bool fits, nearly;          /* what must be done is not too much */
};

/* Less worth first; of equal worth the younger job's, and of one job the later
 * piece.  So pieces of one job are taken in order: utility is concave, and
 * their worth falls. */
static bool is_worse(const struct piece *a, const struct piece *b)
{
    if (a->worth != b->worth)
        return a->worth < b->worth;
    return a->job != b->job ? a->job > b->job : a->from > b->from;
}

/* Moves a piece down the heap, whose root is the worst. */
static void sift_piece(struct piece *heap, uint32_t at, uint32_t count)
{
    struct piece piece = heap[at];
    uint32_t child;

    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && is_worse(&heap[child + 1], &heap[child]))
            child++;
        if (!is_worse(&heap[child], &piece))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = piece;
}

/* The best first: a heap sort, in place. */
static void sort_pieces(struct piece *piece, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift_piece(piece, i, count);
    for (uint32_t end = count; end-- > 1;) {
        struct piece worst = piece[0];
        piece[0] = piece[end];
        piece[end] = worst;
        sift_piece(piece, 0, end);
    }
}

/* Bounds a job's progress after the window: not less than it has, nor than it
 * needs to have no more than left_s (NAN: any) then, and not more than it makes if
 * it runs in every round.  Progress is a part of all its work.  False: the bounds
 * leave nothing. */
static bool bound_progress(const struct shockwave *s, struct entry *x, double left_s)
{
    double round_s = 1e-9 * (double)s->round_ns;
    double done_s = x->done * x->epoch_s, fair;

    x->whole_s = x->epochs * x->epoch_s;
    x->end_s = x->left_s + done_s;
    x->cost = fmax(x->gpus * x->whole_s / round_s, TINY);
    x->worth = 1.0 / ((double)s->count * (double)s->window) / x->cost;
    if (isnan(left_s))
        x->worth *= x->priority;
    x->least = x->done / x->epochs;
    x->most = fmin(1, (done_s + (double)s->window * round_s) / x->whole_s);
    fair = (x->end_s - left_s) / x->whole_s;
    if (left_s < 0 || fair > x->most + NEAR)
        return false;
    x->least = fmin(fmax(x->least, fair), x->most);
    return true;
}

/* Cuts each job's range of progress at the points of the piecewise logarithm,
 * and sorts the pieces.  The pieces do not depend on the longest time left, so
 * this is done once a program.  O(jobs x points), and a sort. */
static void cut_up(struct shockwave *s)
{
    s->pieces = 0;
    for (uint32_t j = 0; j < s->count; j++) {
        const struct entry *x = &s->entry[j];
        for (uint32_t i = 0; i + 1 < POINTS; i++) {
            double from = fmax(point[i], x->least);
            double to = fmin(point[i + 1], x->most);
            if (to > from)
                s->piece[s->pieces++] = (struct piece) {
                    x->worth * s->slope[i], from, to, j };
        }
    }
    sort_pieces(s->piece, s->pieces);
}

/* Returns the GPU-rounds of a piece, without what must be done anyway. */
static double count_gpu_rounds(const struct shockwave *s, const struct piece *piece)
{
    const struct entry *x = &s->entry[piece->job];

    return x->cost * fmax(0, piece->to - fmax(piece->from, x->low));
}

/* What a second less of the longest time left brings: its own weight, less what
 * the jobs that must then do more take from others that are worth more. */
static double gain_of(const struct shockwave *s, double longest_s, double worth)
{
    double gain = s->k;

    for (uint32_t j = 0; j < s->count; j++) {
        const struct entry *x = &s->entry[j];
        uint32_t i = 0;
        if ((x->end_s - longest_s) / x->whole_s < x->least)
            continue;
        while (i + 2 < POINTS && x->low >= point[i + 1])
            i++;
        gain -= x->cost / x->whole_s *
                fmax(0, worth - x->worth * s->slope[i]);
    }
    return gain;
}

/* Fills the window for one longest time left.  First every job gets what it
 * must do; then pieces are taken, the best first, until the GPU-rounds are
 * used up.  Linear in jobs and pieces. */
static struct level fill_window(struct shockwave *s, double longest_s)
{
    struct level l = { .longest_s = longest_s };
    double worth = 0, used = 0;

    for (uint32_t j = 0; j < s->count; j++) {
        struct entry *x = &s->entry[j];
        double low = (x->end_s - longest_s) / x->whole_s;
        x->low = fmin(fmax(low, x->least), x->most);
        used += x->cost * (x->low - x->done / x->epochs);
    }
    l.fits = used <= s->room;
    l.nearly = used <= s->room * (1 + NEAR);
    for (; l.nearly && l.taken < s->pieces; l.taken++) {
        double more = count_gpu_rounds(s, &s->piece[l.taken]);
        if (more > 0 && used + more >= s->room) {
            worth = s->piece[l.taken].worth;
            l.part = fmax(0, s->room - used);
            break;
        }
        used += more;
    }
    l.gain = l.fits ? gain_of(s, longest_s, worth) : 0;
    return l;
}

/* Returns the least longest time left that is worth its price, to a nanosecond.
 * The gain of a second less is smaller the shorter that time is, so the interval is
 * halved.  Leaves in the entries what each must do with the answer.  At most HALVINGS fills of
 * the window. */
static struct level find_longest(struct shockwave *s)
{
    double low = 0, high = 0;
    struct level best, l;

    for (uint32_t j = 0; j < s->count; j++) {
        const struct entry *x = &s->entry[j];
        low = fmax(low, x->end_s - x->whole_s * x->most);
        high = fmax(high, x->end_s - x->whole_s * x->least);
    }
    best = fill_window(s, high);
    if (!best.fits)
        return best;
    l = fill_window(s, low);
    if (l.fits && l.gain > 0)
        return l;
    for (int i = 0; i < HALVINGS && high - low > TINY; i++) {
        l = fill_window(s, (low + high) / 2);
        if (l.fits && l.gain > 0) {
            high = l.longest_s;
            best = l;
        } else {
            low = l.longest_s;
        }
    }
    fill_window(s, high);              /* what each job must do */
    return best;
}

/* Returns the seconds of work, alone on all its GPUs, that may be left of a job
 * after the window if it is to end by its fair end on its part of the cluster. */
static double fair_left_s(const struct shockwave *s,
                          const struct cs_host *host, const struct entry *x,
                          double share)
{
    double end_s = now_s(host) + 1e-9 * (double)s->round_ns *
                                     (double)s->window;

    return (fair_end_s(host, x) * s->rho_max - end_s) * share;
}

/* Solves the program, with every job's fair end as a bound, or without, and leaves
 * in `share` the rounds of each job, fractions too.  False: what must be done is
 * more than the window holds. */
static bool solve_program(struct shockwave *s, struct cs_host *host, bool fair,
                          double share)
{
    s->room = cs_total_gpus(host, 0) * (double)s->window;
    for (uint32_t j = 0; j < s->count; j++) {
        struct entry *x = &s->entry[j];
        if (!bound_progress(s, x, fair ? fair_left_s(s, host, x, share) : NAN))
            return false;
    }
    cut_up(s);
    struct level best = find_longest(s);
    if (!best.nearly)
        return false;
    for (uint32_t j = 0; j < s->count; j++)
        s->entry[j].share = s->entry[j].low;
    for (uint32_t i = 0; i < best.taken; i++) {
        struct entry *x = &s->entry[s->piece[i].job];
        x->share = fmax(x->share, s->piece[i].to);
    }
    if (best.part > 0) {
        const struct piece *piece = &s->piece[best.taken];
        struct entry *x = &s->entry[piece->job];
        x->share = fmax(x->share, piece->from) + best.part / x->cost;
    }
    for (uint32_t j = 0; j < s->count; j++) {
        struct entry *x = &s->entry[j];
        x->share = fmax(0, x->share - x->done / x->epochs) * x->whole_s /
                   (1e-9 * (double)s->round_ns);
    }
    return true;
}

/* Weighs jobs that will be late by a power of the ratio; those that one round
 * would finish by a power so high that they come first.  For example, a ratio of 1.2 to the
 * power 12 is 8.9: the job counts about nine times. */
static void prioritize_late(struct shockwave *s, struct cs_host *host,
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

/* Lists the fractions of rounds, the largest first, of equal ones the older job's.  They stand
 * in the array of the pieces, which the program has read by then. */
static void list_parts(struct shockwave *s)
{
    s->pieces = 0;
    for (uint32_t j = 0; j < s->count; j++)
        if (s->entry[j].share > TINY)
            s->piece[s->pieces++] = (struct piece) { .worth = s->entry[j].share, .job = j };
    sort_pieces(s->piece, s->pieces);
}

/* Returns the end of the run of fractions that begins at one: each is within TINY of the one
 * before it, so that the order of the jobs may decide.  Doubled, since sums are rounded.  The run
 * is put into the order of the jobs; *equal: none of it is larger than another one. */
static uint32_t find_run(struct shockwave *s, uint32_t begin, bool *equal)
{
    struct piece *part = &s->piece[begin];
    uint32_t count = 1;

    while (begin + count < s->pieces && part[count - 1].worth - part[count].worth <= 2 * TINY)
        count++;
    *equal = !(part[0].worth > part[count - 1].worth + TINY);
    for (uint32_t i = 0; i < count; i++)
        part[i].worth = -(double)part[i].job;
    sort_pieces(part, count);
    return begin + count;
}

/* Gives rounds to the jobs of a run, as long as room holds one.  A fraction counts as larger
 * only if it is so by more than TINY: of others the first job's is the largest.  A job for
 * which there is no room is passed over for good, as room shrinks. */
static double give_run(struct shockwave *s, uint32_t begin, uint32_t end, bool equal, double room)
{
    for (;;) {
        struct entry *most = NULL;
        for (uint32_t i = begin; i < end && !(equal && most != NULL); i++) {
            struct entry *x = &s->entry[s->piece[i].job];
            if (x->share > TINY && x->gpus <= room + TINY &&
                (most == NULL || x->share > most->share + TINY))
                most = x;
            begin += equal;
        }
        if (most == NULL)
            return room;
        most->share = 0;
        most->rounds++;
        room -= most->gpus;
    }
}

/* Makes whole rounds: what the fractions add up to goes to the largest of them,
 * as long as `room` GPU-rounds hold a round of it.  Of equal fractions the job that came
 * first. */
static void round_off(struct shockwave *s, double room)
{
    bool equal;

    for (uint32_t j = 0; j < s->count; j++) {
        double whole = floor(s->entry[j].share + TINY);
        s->entry[j].rounds = whole;
        s->entry[j].share -= whole;
        room -= whole * s->entry[j].gpus;
    }
    list_parts(s);
    for (uint32_t begin = 0, end; begin < s->pieces; begin = end) {
        end = find_run(s, begin, &equal);
        room = give_run(s, begin, end, equal, room);
    }
}

/* Plans the rounds of a window.  The program with fairness is tried first;
 * where it has no solution, the relaxed one.  Ends are estimated anew only
 * when jobs came or ended. */
static void plan_window(struct shockwave *s, struct cs_host *host)
{
    double share = fmin(1, cs_total_gpus(host, 0) / fmax(s->count, 1));

    share = fmax(share, TINY);
    for (uint32_t j = 0; j < s->count; j++) {
        look_at_job(host, &s->entry[j]);
        s->entry[j].priority = 1;
        if (s->changed || !s->entry[j].estimated)
            estimate_end(host, &s->entry[j], share);
    }
    bool solved = solve_program(s, host, true, share);
    if (!solved) {
        prioritize_late(s, host, share);
        solved = solve_program(s, host, false, share);
    }
    for (uint32_t j = 0; j < s->count; j++)
        s->entry[j].rounds = 0;
    if (solved)
        round_off(s, cs_total_gpus(host, 0) * (double)s->window);
    s->rounds_left = (uint32_t)s->window;
    s->changed = false;
}

/* ---- a round -------------------------------------------------------------------- */

/* Must it run in every round that is left?  For example, 3 rounds to run and 3 rounds left in
 * the plan. */
static bool is_due(const struct shockwave *s, const struct entry *x)
{
    return x->rounds > s->rounds_left - 0.5;
}

/* The order of a round: jobs that must run in all rounds that are left, late jobs,
 * then those that need fewest rounds; at the end the jobs without a planned round,
 * the longest first. */
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

/* By insertion at ever smaller distances (Shell 1959). */
static void sort_order(struct shockwave *s)
{
    uint32_t *order = s->order, gap = 1;

    while (gap < s->count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (uint32_t i = gap; i < s->count; i++) {
            uint32_t job = order[i], at = i;
            for (; at >= gap && goes_before(s, job, order[at - gap]); at -= gap)
                order[at] = order[at - gap];
            order[at] = job;
        }
}

/* Chooses the jobs of a round: in order, each that finds room.  A job that finds no room is
 * passed over, and keeps its planned rounds. */
static void choose_jobs(struct shockwave *s, const struct cs_host *host)
{
    double room = cs_total_gpus(host, 0);

    for (uint32_t j = 0; j < s->count; j++)
        s->order[j] = j;
    sort_order(s);
    for (uint32_t k = 0; k < s->count; k++) {
        struct entry *x = &s->entry[s->order[k]];
        x->next = x->gpus <= room + TINY;
        if (!x->next)
            continue;
        room -= x->gpus;
        x->rounds = fmax(0, x->rounds - 1);
    }
    s->rounds_left--;
}

/* Stops jobs before it starts others, so that their GPUs are free; what is
 * left over goes to jobs that were not chosen. */
static void enact_choice(struct shockwave *s, struct cs_host *host)
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

/* Slopes of the piecewise logarithm; ln 0 is replaced by their origin. */
static bool shockwave_init(void *self, struct cs_host *host)
{
    struct shockwave *s = self;

    (void)host;
    for (uint32_t i = 0; i + 1 < POINTS; i++)
        s->slope[i] = (log(point[i + 1]) -
                       (i == 0 ? LOG_ORIGIN : log(point[i]))) /
                      (point[i + 1] - point[i]);
    return true;
}

/* At the begin of a round: plans if jobs came or ended or the plan is used up,
 * then deals the round. */
static void shockwave_decide(void *self, struct cs_host *host)
{
    struct shockwave *s = self;
    int64_t now = cs_now_ns(host);

    if (s->count == s->ended)
        return;
    cs_wake_at(host, clock_tick_after(now, s->round_ns));
    if (!cs_is_due(host, s->round_ns))
        return;
    forget_ended(s);
    if (s->changed || s->rounds_left == 0)
        plan_window(s, host);
    choose_jobs(s, host);
    enact_choice(s, host);
}

static const struct cs_param params[] = {
    { "round", CS_PARAM_TIME, offsetof(struct shockwave, round_ns), 1, 1e6,
      "120s", "which jobs run is decided at its multiples" },
    { "window", CS_PARAM_INT, offsetof(struct shockwave, window), 1, 1000,
      "20", "rounds planned ahead" },
    { "k", CS_PARAM_REAL, offsetof(struct shockwave, k), 0, 1e6, "0.001",
      "weight of the longest time left, per second" },
    { "lambda", CS_PARAM_REAL, offsetof(struct shockwave, lambda), 0, 100,
      "12", "power of the ratio by which a job is late" },
    { "rho_max", CS_PARAM_REAL, offsetof(struct shockwave, rho_max), 0.1, 100,
      "1", "finish-time fairness that is asked of every job" },
};

const struct cs_policy shockwave_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "shockwave",
    .cites = "zheng2023shockwave",
    .summary = "rounds planned ahead by a forecast of batch sizes, for the "
               "product of progress",
    .flags = CS_PREEMPTS | CS_ASKS_ESTIMATES | CS_ONE_KIND, .param = params,
    .param_count = sizeof params / sizeof params[0],
    .self_bytes = sizeof(struct shockwave), .init = shockwave_init,
    .decide = shockwave_decide,
    .job_submitted = shockwave_submitted, .job_ended = shockwave_ended,
};
