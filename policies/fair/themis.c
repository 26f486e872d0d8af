/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * themis.c - GPUs on lease, to the jobs that are treated worst.
 *
 * Mahajan, Balasubramanian, Singhvi, Venkataraman, Akella, Phanishayee and
 * Chawla, "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020.  A
 * job's finish-time fairness is rho = T_shared / T_independent: how long it will
 * have taken, over its time alone in the cluster times the mean number of jobs
 * while it was there.  When leases run out their GPUs are offered to the worst
 * part of the jobs, 1 - `f` of them; each bids what rho would be with so many
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

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy themis_policy;

#define SIZES 16u               /* sizes a job bids for, at most */

struct themis_job {
    struct job_id job;
    int64_t since_ns;           /* it came */
    double whole_s;             /* its length alone, on the best size */
    double most;                /* pace there */
    double crowd_s;             /* jobs x seconds while it was there */
    double rho;                 /* if it goes on as now */
    double log_value[SIZES + 1];        /* of -log rho by size; [0]: none */
    uint32_t size[SIZES + 1];
    uint32_t sizes, gpus;
    bool offered, keeps;        /* its lease goes on */
};

/* Parameters, the jobs in order of submission, and the auction's table:
 * best[j][g] is the best sum of the first j offered jobs with g GPUs,
 * choice[j][g] the bid of job j in it. */
struct themis {
    int64_t lease_ns, last_ns;
    double f;
    struct themis_job *job;
    struct cs_size *give;
    uint32_t count, room, gpus;
    double *best;               /* [offered job + 1][gpus + 1] */
    uint8_t *choice;
    uint32_t *heap;             /* of jobs, to find the worst */
    bool free;                  /* somebody ended: GPUs are free */
};

/* Counts who was there. */
static void pass_time(struct themis *t, const struct cs_host *host)
{
    double s = 1e-9 * (double)(cs_now_ns(host) - t->last_ns);

    for (uint32_t i = 0; i < t->count; i++)
        t->job[i].crowd_s += s * t->count;
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

/* The best pace if it had all GPUs to itself. */
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

/* Adds a job, with the time that it would take alone on as many GPUs as help it.
 * The table of choices has a cell for each job and number of GPUs. */
static void themis_submitted(void *self, struct cs_host *host,
                             struct job_id id)
{
    struct themis *t = self;

    pass_time(t, host);
    if (t->count == t->room) {
        t->job = cs_grow(host, t->job, &t->room, t->count, sizeof *t->job);
        t->give = cs_alloc(host, t->room, sizeof *t->give);
        t->heap = cs_alloc(host, t->room, sizeof *t->heap);
        t->gpus = count_all_gpus(host);
        size_t choices = ((size_t)t->room + 1) * (t->gpus + 1);
        t->best = cs_alloc(host, choices, sizeof *t->best);
        t->choice = cs_alloc(host, choices, 1);
    }
    double most = find_alone(t, host, id);
    t->job[t->count++] = (struct themis_job) {
        .job = id, .since_ns = cs_now_ns(host), .most = most,
        .whole_s = 1e-9 * (double)cs_left_ns(host, id) / most };
    t->free = true;
}

/* Forgets the job; its GPUs are dealt anew. */
static void themis_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct themis *t = self;
    uint32_t kept = 0;

    pass_time(t, host);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->job[i].job.i != id.i)
            t->job[kept++] = t->job[i];
    t->count = kept;
    t->free = true;
}

/* ---- bids ----------------------------------------------------------------- */

/* Returns rho if the job has that speed for one lease.  A job without GPUs goes
 * on after the lease as one of those that share. */
static double rho_with(const struct themis *t, struct cs_host *host,
                       const struct themis_job *job, double speedup)
{
    double left_s = 1e-9 * (double)cs_left_ns(host, job->job);
    double age_s = 1e-9 * (double)(cs_now_ns(host) - job->since_ns);
    double crowd = age_s > 0 ? job->crowd_s / age_s : t->count;
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
    uint32_t now = cs_size_now(host, job->job);

    return rho_with(t, host, job, now ? cs_best_speedup(host, job->job, now) : 0);
}

/* At most SIZES sizes, evenly spread over those that the job may have. */
static void make_bid(const struct themis *t, struct cs_host *host,
                     struct themis_job *job, uint32_t room)
{
    uint32_t n = 0;

    for (uint32_t s = cs_size_least(host, job->job); s > 0 && s <= room;
         s = cs_size_above(host, job->job, s))
        n++;
    uint32_t step = n > SIZES ? (n + SIZES - 1) / SIZES : 1;
    job->sizes = 0;
    job->log_value[0] = -log(rho_with(t, host, job, 0));
    n = 0;
    for (uint32_t g = cs_size_least(host, job->job); g > 0 && g <= room;
         g = cs_size_above(host, job->job, g)) {
        double speedup = cs_best_speedup(host, job->job, g);
        if (n++ % step != 0 || !(speedup > 0))
            continue;
        job->sizes++;
        job->size[job->sizes] = g;
        job->log_value[job->sizes] = -log(rho_with(t, host, job, speedup));
    }
}

/* ---- the auction ------------------------------------------------------------ */

/* Of two alike the older. */
static bool is_worse(const struct themis *t, uint32_t a, uint32_t b)
{
    if (t->job[a].rho != t->job[b].rho)
        return t->job[a].rho > t->job[b].rho;
    return a < b;
}

/* Moves a job down the heap of the worst. */
static void sink_job(struct themis *t, uint32_t count, uint32_t hole)
{
    uint32_t item = t->heap[hole], child;

    while ((child = 2 * hole + 1) < count) {
        if (child + 1 < count && is_worse(t, t->heap[child + 1], t->heap[child]))
            child++;
        if (!is_worse(t, t->heap[child], item))
            break;
        t->heap[hole] = t->heap[child];
        hole = child;
    }
    t->heap[hole] = item;
}

/* The worst 1 - f of the jobs, one at least. */
static void choose_offered(struct themis *t)
{
    uint32_t most = (uint32_t)ceil((1 - t->f) * t->count), count = t->count;

    for (uint32_t i = 0; i < t->count; i++) {
        t->job[i].offered = false;
        t->heap[i] = i;
    }
    for (uint32_t i = count / 2; i-- > 0;)
        sink_job(t, count, i);
    for (uint32_t n = 0; (n < most || n == 0) && count > 0; n++) {
        t->job[t->heap[0]].offered = true;
        t->heap[0] = t->heap[--count];
        sink_job(t, count, 0);
    }
}

/* What is best with this job as well, by how many GPUs there are. */
static void fill_row(const struct themis_job *job, const double *before,
                     uint32_t columns, double *best, uint8_t *chosen)
{
    for (uint32_t r = 0; r < columns; r++) {
        double most = before[r] + job->log_value[0];
        uint8_t choice = 0;
        for (uint32_t s = 1; s <= job->sizes; s++) {
            if (job->size[s] > r)
                break;
            double with = before[r - job->size[s]] + job->log_value[s];
            if (with > most) {
                most = with;
                choice = (uint8_t)s;
            }
        }
        best[r] = most;
        chosen[r] = choice;
    }
}

/* The sizes that make the sum of the logarithms largest, of `room` GPUs. */
static void run_auction(struct themis *t, uint32_t room)
{
    uint32_t columns = room + 1, rows = 0, r = room;

    memset(t->best, 0, columns * sizeof *t->best);
    for (uint32_t i = 0; i < t->count; i++) {
        double *before = &t->best[(size_t)rows * columns];
        if (!t->job[i].offered)
            continue;
        fill_row(&t->job[i], before, columns, before + columns,
                 &t->choice[(size_t)rows++ * columns]);
    }
    for (uint32_t i = t->count; i-- > 0;) {
        uint8_t s = 0;
        if (t->job[i].offered)
            s = t->choice[(size_t)--rows * columns + r];
        t->job[i].gpus = s ? t->job[i].size[s] : 0;
        r -= t->job[i].gpus;
    }
}

/* In random order: what a job has now, or else its least; then steps. */
static void give_rest(struct themis *t, struct cs_host *host, uint32_t room)
{
    uint32_t from = (uint32_t)(cs_random(host) * t->count);
    bool given = true;

    for (bool first = true; given && room > 0; first = false) {
        given = false;
        for (uint32_t k = 0; k < t->count; k++) {
            struct themis_job *job = &t->job[(from + k) % t->count];
            uint32_t now = cs_size_now(host, job->job), had = job->gpus;
            uint32_t to = cs_size_above(host, job->job, had);
            if (first && had == 0 && now > 0 && now <= room)
                to = now;
            if (job->keeps || to == 0 || to - had > room || (first && had > 0) ||
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

/* At the end of a lease all GPUs are offered; rho is computed for every job
 * first, as all bids are about one instant. */
static void themis_decide(void *self, struct cs_host *host)
{
    struct themis *t = self;
    int64_t now = cs_now_ns(host);
    uint32_t room = cs_total_gpus(host, 0), sizes = 0;
    bool due = now % t->lease_ns == 0;

    if (t->count == 0)
        return;
    cs_wake_at(host, clock_tick_after(now, t->lease_ns));
    /* Between two leases only free GPUs are offered, to jobs without a lease. */
    if (!due && (!t->free || cs_free_gpus(host, 0) == 0))
        return;
    t->free = false;
    pass_time(t, host);
    if (!due)
        room = cs_free_gpus(host, 0);
    if (room > t->gpus)
        room = t->gpus;
    for (uint32_t i = 0; i < t->count; i++)
        t->job[i].rho = rho_now(t, host, &t->job[i]);
    choose_offered(t);
    for (uint32_t i = 0; i < t->count; i++) {
        t->job[i].keeps = !due && cs_size_now(host, t->job[i].job) > 0;
        t->job[i].offered &= !t->job[i].keeps;
        if (t->job[i].offered)
            make_bid(t, host, &t->job[i], room);
    }
    run_auction(t, room);
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->job[i].keeps)
            t->job[i].gpus = cs_size_now(host, t->job[i].job);
        else
            room -= t->job[i].gpus;
    }
    give_rest(t, host, room);
    for (uint32_t i = 0; i < t->count; i++)
        t->give[sizes++] = (struct cs_size) { t->job[i].job, t->job[i].gpus };
    cs_set_sizes(host, t->give, sizes);
}

static const struct cs_param params[] = {
    { "lease", CS_PARAM_TIME, offsetof(struct themis, lease_ns), 1, 1e6,
      "1200s", "how long GPUs are given for" },
    { "f", CS_PARAM_FRACTION, offsetof(struct themis, f), 0, 1, "80%",
      "fairness knob: GPUs are offered to the worst 1 - f of the jobs" },
};

const struct cs_policy themis_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "themis",
    .cites = "mahajan2020themis",
    .summary = "leases auctioned among the jobs of the worst finish-time fairness",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_DRAWS | CS_ASKS_ESTIMATES |
             CS_ONE_ROLE | CS_NEEDS_GPUS,
    .param_count = 2, .param = params,
    .self_bytes = sizeof(struct themis), .decide = themis_decide,
    .job_submitted = themis_submitted, .job_ended = themis_ended,
};
