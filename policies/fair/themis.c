/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * themis.c - GPUs on lease, to the jobs that are treated worst.
 *
 * Mahajan, Balasubramanian, Singhvi, Venkataraman, Akella, Phanishayee and
 * Chawla, "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020.  A
 * job's finish-time fairness is rho = T_shared / T_independent: how long it will
 * have taken, over its time alone in the cluster times the mean number of jobs
 * while it was there.  When leases run out their GPUs are offered to the worst
 * part of the jobs, 1 - `f` of them; each bids what rho would be with a number of
 * GPUs, and the auction takes the bids of the largest product of 1 / rho (Nash
 * welfare, Cole, Gkatzelis and Goel 2013), which is exact here, by dynamic
 * programming over GPUs.  What nobody won goes to the others, at random.
 *
 * Bids are true here, since the host makes them: the hidden payments that make
 * lies useless are left out.  A job is an app.  Where GPUs are, their topology,
 * is left to the placement rule.
 */
#include <math.h>
#include <string.h>

#include "policies/due.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy themis_policy;

struct themis_job {
    struct job_id job;          /* a job that has not ended */
    uint32_t now, gpus;         /* GPUs that it has, and that it is to have */
    int64_t since_ns;           /* it came */
    double whole_s;             /* seconds alone, on the best size */
    double most;                /* its speed on that size */
    bool offered, keeps;        /* offered: it bids in this auction; keeps: its lease goes on */
};

/* What a job that is offered GPUs bids. */
struct themis_bid {
    double *log_value;          /* of -log rho by size; [0]: none */
    uint32_t *size;             /* GPUs, rising; [1] is the first */
    uint32_t sizes;             /* bids with GPUs */
};

/* How badly a job is treated if all goes on as now. */
struct themis_rank {
    double rho;                 /* finish-time fairness: 1 is fair, more is worse */
    uint32_t job;               /* its place in themis->job */
};

/* Parameters, the jobs in order of submission, and the auction's table:
 * best[j][g] is the best sum of the first j offered jobs with g GPUs,
 * choice[j][g] the bid of job j in it.  What each event changes of all jobs lies in an
 * array of its own. */
struct themis {
    int64_t lease_ns, last_ns;  /* parameter `lease`; until when crowd_s is counted */
    int64_t sizes_max;          /* that a job bids for */
    double f;                   /* parameter: the part of the jobs that is not offered GPUs */
    struct themis_job *job;
    double *crowd_s;            /* of each job: jobs x seconds while it was there */
    struct themis_bid *bid;     /* of the offered, in order */
    struct cs_size *give;       /* scratch: what the host is asked for */
    uint32_t count, room, gpus; /* jobs, entries that there is room for, and GPUs that there
                                 * can be */
    double *best;               /* [offered job + 1][gpus + 1] */
    uint8_t *choice;            /* [offered job][gpus + 1]: its bid, 0: none */
    struct themis_rank *rank;   /* to find the worst */
    bool free;                  /* somebody came or ended since the last auction */
};

/* Counts the jobs that were there.  To be called before the number of jobs changes.  Over its
 * age, crowd_s is the mean number of jobs that were there with a job. */
static void pass_time(struct themis *t, const struct cs_host *host)
{
    double s = 1e-9 * (double)(cs_now_ns(host) - t->last_ns), more = s * t->count;
    double *crowd_s = t->crowd_s;

    for (uint32_t i = 0; i < t->count; i++)
        crowd_s[i] += more;
    t->last_ns = cs_now_ns(host);
}

/* GPUs that there can be: with nodes that are out of service, or not rented. */
static uint32_t count_all_gpus(const struct cs_host *host)
{
    uint32_t all = 0;

    for (uint32_t n = 0; n < cs_node_count(host); n++)
        all += cs_node(host, n).gpus;
    return all;
}

/* The best pace if it had all GPUs to itself.  O(sizes).  Never 0, as it is divided by. */
static double find_alone(const struct themis *t, struct cs_host *host,
                         struct job_id job)
{
    uint32_t all = t->gpus;
    double most = 1e-9;

    for (uint32_t g = cs_size_least(host, job); g > 0 && g <= all;
         g = cs_size_above(host, job, g)) {
        double speedup = cs_best_speedup(host, job, g);
        most = speedup > most ? speedup : most;
    }
    return most;
}

/* The table of choices has a cell for each job and number of GPUs.  Nothing of the scratch
 * arrays is kept: they are filled at each auction. */
static void make_room(struct themis *t, struct cs_host *host)
{
    uint32_t room = t->room;

    t->job = cs_grow(host, t->job, &t->room, t->count, sizeof *t->job);
    t->crowd_s = cs_grow(host, t->crowd_s, &room, t->count, sizeof *t->crowd_s);
    t->give = cs_alloc(host, t->room, sizeof *t->give);
    t->bid = cs_alloc(host, t->room, sizeof *t->bid);
    size_t sizes = (size_t)t->sizes_max + 1;
    double *log_value = cs_alloc(host, t->room * sizes, sizeof *log_value);
    uint32_t *size = cs_alloc(host, t->room * sizes, sizeof *size);
    for (uint32_t i = 0; i < t->room; i++)
        t->bid[i] = (struct themis_bid) { log_value + i * sizes, size + i * sizes, 0 };
    t->rank = cs_alloc(host, t->room, sizeof *t->rank);
    t->gpus = count_all_gpus(host);
    size_t choices = ((size_t)t->room + 1) * (t->gpus + 1);
    t->best = cs_alloc(host, choices, sizeof *t->best);
    t->choice = cs_alloc(host, choices, 1);
}

/* Adds a job, with the time that it would take alone on as many GPUs as help it. */
static void themis_submitted(void *self, struct cs_host *host,
                             struct job_id id)
{
    struct themis *t = self;

    pass_time(t, host);
    if (t->count == t->room)
        make_room(t, host);
    double most = find_alone(t, host, id);
    t->crowd_s[t->count] = 0;
    t->job[t->count++] = (struct themis_job) {
        .job = id, .since_ns = cs_now_ns(host), .most = most,
        .whole_s = 1e-9 * (double)cs_left_ns(host, id) / most };
    t->free = true;
}

/* Forgets the job; its GPUs are dealt anew.  Jobs stand in the order of their
 * numbers. */
static void themis_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct themis *t = self;
    uint32_t at = 0, end = t->count;

    pass_time(t, host);
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (t->job[middle].job.i < id.i)
            at = middle + 1;
        else
            end = middle;
    }
    t->free = true;
    if (at == t->count || t->job[at].job.i != id.i)
        return;
    t->count--;
    memmove(&t->job[at], &t->job[at + 1], (t->count - at) * sizeof *t->job);
    memmove(&t->crowd_s[at], &t->crowd_s[at + 1],
            (t->count - at) * sizeof *t->crowd_s);
}

/* ---- bids ----------------------------------------------------------------- */

/* Returns rho if the job has that speed for one lease.  After the lease a
 * job without GPUs is taken to share the cluster with the others.  For example, a job takes 100 s
 * alone.  It came 60 s ago, and there were 3 jobs on average.  With a speed that ends it in 90 s,
 * rho is (60 + 90) / (100 x 3) = 0.5: it is done sooner than with a third of the cluster. */
static double rho_with(const struct themis *t, struct cs_host *host,
                       const struct themis_job *job, double speedup)
{
    double left_s = 1e-9 * (double)cs_left_ns(host, job->job);
    double age_s = 1e-9 * (double)(cs_now_ns(host) - job->since_ns);
    double crowd = age_s > 0 ? t->crowd_s[job - t->job] / age_s : t->count;
    double lease_s = 1e-9 * (double)t->lease_ns;
    double shared_s = speedup > 0 ? age_s + left_s / speedup
                               : age_s + lease_s +
                                     left_s * crowd / job->most;

    return shared_s / (fmax(job->whole_s, 1e-9) * crowd);
}

/* If all goes on as it is. */
static double rho_now(const struct themis *t, struct cs_host *host,
                      const struct themis_job *job)
{
    return rho_with(t, host, job,
                    job->now ? cs_best_speedup(host, job->job, job->now) : 0);
}

/* At most sizes_max sizes, evenly spread over those that the job may have.  Bid 0 is to get
 * nothing.  With 40 sizes and sizes_max 16 every third one is bid for, and the host notes that
 * a limit was reached. */
static void make_bid(const struct themis *t, struct cs_host *host,
                     const struct themis_job *job, uint32_t room,
                     struct themis_bid *bid)
{
    uint32_t n = 0, most = (uint32_t)t->sizes_max;

    for (uint32_t s = cs_size_least(host, job->job); s > 0 && s <= room;
         s = cs_size_above(host, job->job, s))
        n++;
    uint32_t step = n > most ? (n + most - 1) / most : 1;
    if (step > 1)
        cs_limit_reached(host);
    bid->sizes = 0;
    bid->log_value[0] = -log(rho_with(t, host, job, 0));
    n = 0;
    for (uint32_t g = cs_size_least(host, job->job); g > 0 && g <= room;
         g = cs_size_above(host, job->job, g)) {
        double speedup = cs_best_speedup(host, job->job, g);
        if (n++ % step != 0 || !(speedup > 0))
            continue;
        bid->sizes++;
        bid->size[bid->sizes] = g;
        bid->log_value[bid->sizes] = -log(rho_with(t, host, job, speedup));
    }
}

/* ---- the auction ------------------------------------------------------------ */

/* Is a worse off than b: of a larger rho, or of an equal one and older? */
static bool is_worse(const struct themis_rank *a, const struct themis_rank *b)
{
    return a->rho != b->rho ? a->rho > b->rho : a->job < b->job;
}

/* Exchanges two entries. */
static void swap_ranks(struct themis_rank *a, struct themis_rank *b)
{
    struct themis_rank was = *a;

    *a = *b;
    *b = was;
}

/* Puts the worse ones of [low, high] before the one in the middle, and the others
 * behind it; returns where that one stands then.  A step of quickselect (Hoare 1961): O(high -
 * low). */
static uint32_t part_ranks(struct themis_rank *rank, uint32_t low, uint32_t high)
{
    uint32_t at = low;

    swap_ranks(&rank[low + (high - low) / 2], &rank[high]);
    for (uint32_t i = low; i < high; i++)
        if (is_worse(&rank[i], &rank[high]))
            swap_ranks(&rank[at++], &rank[i]);
    swap_ranks(&rank[at], &rank[high]);
    return at;
}

/* The worst 1 - f of the jobs, one at least.  O(jobs) on average.  Which jobs are offered does
 * not depend on how the array is left. */
static void choose_offered(struct themis *t)
{
    uint32_t most = cs_share_up(1 - t->f, t->count);
    uint32_t low = 0, high = t->count - 1;

    most = most > 0 ? most : 1;
    while (low < high) {
        uint32_t at = part_ranks(t->rank, low, high);
        if (at + 1 == most)
            break;
        if (at < most)
            low = at + 1;
        else
            high = at - 1;
    }
    for (uint32_t i = 0; i < t->count; i++)
        t->job[t->rank[i].job].offered = i < most;
}

/* The best value that this bid, too, allows, by how many GPUs there are.  A knapsack: with r
 * GPUs the job takes none and leaves all r to those before, or takes the size of one of its
 * bids and leaves the rest.  O(columns x sizes). */
static void fill_row(const struct themis_bid *bid, const double *before,
                     uint32_t columns, double *best, uint8_t *chosen)
{
    for (uint32_t r = 0; r < columns; r++)
        best[r] = before[r] + bid->log_value[0];
    memset(chosen, 0, columns);
    for (uint32_t s = 1; s <= bid->sizes; s++) {
        double value = bid->log_value[s];
        uint32_t size = bid->size[s];
        for (uint32_t r = size; r < columns; r++) {
            double with = before[r - size] + value;
            bool more = with > best[r];
            best[r] = more ? with : best[r];
            chosen[r] = more ? (uint8_t)s : chosen[r];
        }
    }
}

/* The sizes that make the sum of the logarithms largest, of `room` GPUs.  The table is filled
 * job by job; then the choices are followed back from the last job, with the GPUs that those
 * behind it have left.  O(offered x GPUs x sizes). */
static void run_auction(struct themis *t, uint32_t room)
{
    uint32_t columns = room + 1, rows = 0, r = room;

    memset(t->best, 0, columns * sizeof *t->best);
    for (uint32_t i = 0; i < t->count; i++) {
        double *before = &t->best[(size_t)rows * columns];
        if (!t->job[i].offered)
            continue;
        fill_row(&t->bid[rows], before, columns, before + columns,
                 &t->choice[(size_t)rows * columns]);
        rows++;
    }
    for (uint32_t i = t->count; i-- > 0;) {
        t->job[i].gpus = 0;
        if (!t->job[i].offered)
            continue;
        uint8_t s = t->choice[(size_t)--rows * columns + r];
        t->job[i].gpus = s ? t->bid[rows].size[s] : 0;
        r -= t->job[i].gpus;
    }
}

/* In random order: what a job has now, or else its least; then steps.  The first job is drawn,
 * and the others follow in order; each round gives every job at most one step, until nobody
 * takes any. */
static void give_rest(struct themis *t, struct cs_host *host, uint32_t room)
{
    uint32_t from = (uint32_t)(cs_random(host) * t->count);
    bool given = true;

    for (bool first = true; given && room > 0; first = false) {
        given = false;
        for (uint32_t k = 0; k < t->count && room > 0; k++) {
            struct themis_job *job = &t->job[(from + k) % t->count];
            uint32_t now = job->now, had = job->gpus;
            if (job->keeps || (first && had > 0))
                continue;
            uint32_t to = cs_size_above(host, job->job, had);
            if (first && had == 0 && now > 0 && now <= room)
                to = now;
            if (to == 0 || to - had > room ||
                (had > 0 && !(cs_best_speedup(host, job->job, to) >
                              cs_best_speedup(host, job->job, had))))
                continue;
            job->gpus = to;
            room -= to - had;
            given = true;
        }
        given |= first;
    }
}

/* rho is computed for every job first, as all bids are about one instant.  A job whose lease
 * has not run out keeps its GPUs and bids for none. */
static void make_bids(struct themis *t, struct cs_host *host, bool due, uint32_t room)
{
    uint32_t bids = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        t->job[i].now = cs_size_now(host, t->job[i].job);
        t->rank[i] = (struct themis_rank) { rho_now(t, host, &t->job[i]), i };
    }
    choose_offered(t);
    for (uint32_t i = 0; i < t->count; i++) {
        t->job[i].keeps = !due && t->job[i].now > 0;
        t->job[i].offered &= !t->job[i].keeps;
        if (t->job[i].offered)
            make_bid(t, host, &t->job[i], room, &t->bid[bids++]);
    }
}

/* At the end of a lease all GPUs are offered. */
static void themis_decide(void *self, struct cs_host *host)
{
    struct themis *t = self;
    int64_t now = cs_now_ns(host);
    uint32_t room = cs_total_gpus(host, 0), sizes = 0;
    bool due = cs_is_due(host, t->lease_ns);

    if (t->count == 0)
        return;
    cs_wake_at(host, clock_tick_after(now, t->lease_ns));
    /* Between two leases only free GPUs are offered, to jobs without a lease: one may have
     * lost its own, and GPUs come free also with a node that is repaired or rented. */
    bool news = t->free || cs_pending_count(host) > 0;
    if (!due && (!news || cs_free_gpus(host, 0) == 0))
        return;
    t->free = false;
    pass_time(t, host);
    if (!due)
        room = cs_free_gpus(host, 0);
    if (room > t->gpus)
        room = t->gpus;
    make_bids(t, host, due, room);
    run_auction(t, room);
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->job[i].keeps)
            t->job[i].gpus = t->job[i].now;
        else
            room -= t->job[i].gpus;
    }
    give_rest(t, host, room);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->job[i].gpus != t->job[i].now)
            t->give[sizes++] = (struct cs_size) { t->job[i].job, t->job[i].gpus };
    cs_set_sizes(host, t->give, sizes);
}

static const struct cs_param params[] = {
    { "lease", CS_PARAM_TIME, offsetof(struct themis, lease_ns), 1, 1e6,
      "1200s", "how long GPUs are given for" },
    { "f", CS_PARAM_FRACTION, offsetof(struct themis, f), 0, 1, "80%",
      "fairness knob: GPUs are offered to the worst 1 - f of the jobs" },
    { "sizes_max", CS_PARAM_INT, offsetof(struct themis, sizes_max), 1, 255,
      "16", "sizes that a job bids for, spread over those that it may have" },
};

const struct cs_policy themis_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "themis",
    .cites = "mahajan2020themis",
    .summary = "leases auctioned among the jobs of the worst finish-time fairness",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_DRAWS | CS_ASKS_ESTIMATES |
             CS_ONE_ROLE | CS_NEEDS_GPUS | CS_WHOLE_GPUS | CS_ONE_KIND,
    .param_count = 3, .param = params, .limits = "sizes_max",
    .self_bytes = sizeof(struct themis), .decide = themis_decide,
    .job_submitted = themis_submitted, .job_ended = themis_ended,
};
