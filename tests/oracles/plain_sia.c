/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_sia.c - an oracle: Sia by the rules of its paper (Jayaram Subramanya, Arfeen, Lin,
 * Qiao, Jia and Ganger, SOSP 2023, section 3), for few jobs.
 *
 * Every combination of configurations is looked at, but those whose sum can no longer be the
 * best.  Of jobs that are alike the first of the list has the smallest configuration that one
 * of them has.  Nodes are found by a walk over all.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_sia_policy;

#define JOBS_MAX 12u
#define CONFIGS_MAX 64u
#define NODES_MAX 16u
#define SEEN_MAX 256u

struct config {
    uint32_t pool, gpus, nodes;         /* gpus 0: none */
};

struct entry {
    struct job_id id;
    struct config now, next, config[CONFIGS_MAX];
    double gain[CONFIGS_MAX], best, cores, memory_bytes;
    uint32_t configs;
    int choice, chosen;                 /* -1: none; in the search, and of the best sum */
    uint32_t on[NODES_MAX];             /* GPUs to be */
    bool placed;
};

struct plain_sia {
    int64_t interval_ns, delay_ns, growth, depth, nodes_max;    /* stand first, as in sia.c */
    double p, idle;
    struct entry *job;
    uint32_t *restarts;
    uint32_t jobs, nodes;
    uint32_t capacity[NODES_MAX], left[NODES_MAX];
    double cores[NODES_MAX], memory[NODES_MAX];
    double most;                        /* the best sum */
};

static bool start(void *self, struct cs_host *host)
{
    struct plain_sia *s = self;

    s->nodes = cs_node_count(host);
    assert(s->nodes <= NODES_MAX);
    s->job = cs_alloc(host, JOBS_MAX, sizeof *s->job);
    s->restarts = cs_alloc(host, SEEN_MAX, sizeof *s->restarts);
    return true;
}

static void list_job(struct plain_sia *s, struct cs_host *host, struct job_id id)
{
    const struct role_spec *role = &cs_request(host, id)->form->role[0];
    struct entry *job = &s->job[s->jobs++];

    assert(s->jobs < JOBS_MAX && cs_can_move(host, id));
    memset(job, 0, sizeof *job);
    job->id = id;
    job->cores = role->cores;
    job->memory_bytes = (double)role->memory_bytes;
    for (uint32_t n = 0; n < s->nodes; n++) {
        uint32_t gpus = cs_gpus_on(host, id, n);
        s->capacity[n] += gpus;
        job->now.gpus += gpus;
        job->now.nodes += gpus > 0;
        if (gpus > 0)
            job->now.pool = cs_node(host, n).pool;
    }
}

static void offer(struct cs_host *host, struct entry *job, struct config config)
{
    double speed = cs_speedup_on(host, job->id, config.pool, config.gpus, config.nodes);

    if (cs_size_below(host, job->id, config.gpus) != config.gpus || !(speed > 0))
        return;
    job->config[job->configs] = config;
    job->gain[job->configs++] = speed;
}

/* Powers of two and the least size on a part of a node, then whole nodes: of the largest. */
static void offer_all(const struct plain_sia *s, struct cs_host *host, struct entry *job)
{
    uint32_t least = cs_size_least(host, job->id);
    uint32_t most = job->now.gpus * (uint32_t)s->growth;

    most = most > least ? most : least;
    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        uint32_t large = 0, count = 0;
        double cores = 0, memory = 0;
        for (uint32_t n = 0; n < s->nodes; n++) {
            struct cs_node node = cs_node(host, n);
            if (node.pool != p)
                continue;
            cores = fmax(cores, node.cores);
            memory = fmax(memory, node.memory_bytes);
            if (s->capacity[n] > large)
                count = 0;
            large = s->capacity[n] > large ? s->capacity[n] : large;
            count += large > 0 && s->capacity[n] == large;
        }
        for (uint32_t gpus = 1; gpus <= most; gpus++) {
            bool whole = large > 0 && gpus % large == 0 && gpus / large <= count;
            uint32_t of_node = gpus < large ? gpus : large;
            bool power = gpus == 1 || gpus == 2 || gpus == 4 || gpus == 8 || gpus == 16;
            if (job->cores * of_node > cores || job->memory_bytes * of_node > memory)
                continue;
            if (whole || (gpus < large && (power || gpus == least)))
                offer(host, job, (struct config){ p, gpus, whole ? gpus / large : 1 });
        }
    }
}

static bool is_same(struct config a, struct config b)
{
    return a.gpus == b.gpus && a.nodes == b.nodes && (a.gpus == 0 || a.pool == b.pool);
}

/* From speeds to utilities. */
static void weigh(const struct plain_sia *s, struct cs_host *host, struct entry *job)
{
    double age_s = (double)(cs_now_ns(host) - cs_request(host, job->id)->submit_ns) / 1e9;
    double delay_s = (double)s->delay_ns / 1e9, worst = INFINITY, per = 0;
    double keeps = (age_s - s->restarts[job->id.i] * delay_s) / (age_s + delay_s);

    for (uint32_t c = 0; c < job->configs; c++)
        if (job->gain[c] < worst) {
            worst = job->gain[c];
            per = job->config[c].gpus;
        }
    for (uint32_t c = 0; c < job->configs; c++) {
        double gain = per * job->gain[c] / worst;
        if (job->now.gpus > 0 && !is_same(job->config[c], job->now))
            gain *= keeps > 1e-6 ? keeps : 1e-6;
        gain = pow(gain, s->p);
        gain = gain > 3000 ? 3000 : gain;
        job->gain[c] = s->p < 0 ? s->idle - gain : s->idle + gain;
        job->best = fmax(job->best, job->gain[c]);
    }
}

/* Looks at all that jobs from j on may have in the room of the pools. */
static void search(struct plain_sia *s, uint32_t j, double sum, double more, uint32_t *room)
{
    struct entry *job = &s->job[j];

    if (sum + more <= s->most)
        return;
    if (j == s->jobs) {
        s->most = sum;
        for (uint32_t i = 0; i < j; i++)
            s->job[i].chosen = s->job[i].choice;
        return;
    }
    for (uint32_t c = 0; c < job->configs; c++) {
        struct config config = job->config[c];
        if (config.gpus > room[config.pool])
            continue;
        room[config.pool] -= config.gpus;
        job->choice = (int)c;
        search(s, j + 1, sum + job->gain[c], more - job->best, room);
        room[config.pool] += config.gpus;
    }
    job->choice = -1;
    search(s, j + 1, sum, more - job->best, room);
}

static bool are_alike(const struct entry *a, const struct entry *b)
{
    for (uint32_t c = 0; c < a->configs && c < b->configs; c++)
        if (a->gain[c] != b->gain[c] || !is_same(a->config[c], b->config[c]))
            return false;
    return a->configs == b->configs;
}

static void choose(struct plain_sia *s, struct cs_host *host)
{
    uint32_t room[NODES_MAX] = { 0 };
    double more = 0;

    for (uint32_t n = 0; n < s->nodes; n++)
        room[cs_node(host, n).pool] += s->capacity[n];
    s->most = -1;
    for (uint32_t j = 0; j < s->jobs; j++)
        more += s->job[j].best;
    search(s, 0, 0, more, room);
    for (uint32_t a = 0; a < s->jobs; a++)
        for (uint32_t b = a + 1; b < s->jobs; b++)
            if (are_alike(&s->job[a], &s->job[b]) &&
                (unsigned)s->job[b].chosen < (unsigned)s->job[a].chosen) {
                int was = s->job[a].chosen;
                s->job[a].chosen = s->job[b].chosen;
                s->job[b].chosen = was;
            }
    for (uint32_t j = 0; j < s->jobs; j++)
        if (s->job[j].chosen >= 0)
            s->job[j].next = s->job[j].config[s->job[j].chosen];
}

static void take(struct plain_sia *s, struct entry *job, uint32_t node, uint32_t gpus)
{
    job->on[node] = gpus;
    s->left[node] -= gpus;
    s->cores[node] -= job->cores * gpus;
    s->memory[node] -= job->memory_bytes * gpus;
}

/* Of nodes with enough the one with the least, so often as the configuration has nodes. */
static bool find_place(struct plain_sia *s, struct cs_host *host, struct entry *job)
{
    struct plain_sia before = *s;
    uint32_t each = job->next.gpus / job->next.nodes;

    for (uint32_t k = 0; k < job->next.nodes; k++) {
        uint32_t best = NODES_MAX;
        for (uint32_t n = 0; n < s->nodes; n++)
            if (job->on[n] == 0 && cs_node(host, n).pool == job->next.pool &&
                s->left[n] >= each && s->cores[n] >= job->cores * each &&
                s->memory[n] >= job->memory_bytes * each &&
                (best == NODES_MAX || s->left[n] < s->left[best]))
                best = n;
        if (best == NODES_MAX) {
            memset(job->on, 0, sizeof job->on);
            *s = before;
            return false;
        }
        take(s, job, best, each);
    }
    return job->placed = true;
}

static bool place_all(struct plain_sia *s, struct cs_host *host, bool keep)
{
    bool all = true;

    for (uint32_t n = 0; n < s->nodes; n++) {
        s->left[n] = s->capacity[n];
        s->cores[n] = cs_node(host, n).cores;
        s->memory[n] = cs_node(host, n).memory_bytes;
    }
    for (uint32_t j = 0; j < s->jobs; j++) {
        struct entry *job = &s->job[j];
        memset(job->on, 0, sizeof job->on);
        job->placed = keep && job->next.gpus > 0 && is_same(job->next, job->now);
        for (uint32_t n = 0; job->placed && n < s->nodes; n++)
            take(s, job, n, cs_gpus_on(host, job->id, n));
    }
    for (uint32_t size = 64; size > 0; size--)
        for (uint32_t j = 0; j < s->jobs; j++)
            if (s->job[j].next.gpus == size && !s->job[j].placed)
                all &= find_place(s, host, &s->job[j]);
    return all;
}

static void apply(struct plain_sia *s, struct cs_host *host)
{
    struct cs_node_gpus spot[JOBS_MAX * NODES_MAX];
    uint32_t count = 0;

    for (uint32_t j = 0; j < s->jobs; j++) {
        const struct entry *job = &s->job[j];
        bool any = false, moves = false;
        for (uint32_t n = 0; n < s->nodes; n++) {
            moves |= job->on[n] != cs_gpus_on(host, job->id, n);
            if (job->on[n] > 0)
                spot[count++] = (struct cs_node_gpus){ job->id, n, job->on[n] };
            any |= job->on[n] > 0;
        }
        if (!any)
            spot[count++] = (struct cs_node_gpus){ job->id, 0, 0 };
        s->restarts[job->id.i] += any && moves && cs_attained_gpu_s(host, job->id) > 0;
    }
    cs_set_node_gpus(host, spot, count);
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_sia *s = self;
    int64_t now = cs_now_ns(host);
    bool any = false;

    if (cs_pending_count(host) + cs_running_count(host) == 0)
        return;
    cs_wake_at(host, (now / s->interval_ns + 1) * s->interval_ns);
    if (now % s->interval_ns != 0)
        return;
    s->jobs = 0;
    for (uint32_t n = 0; n < s->nodes; n++)
        s->capacity[n] = cs_node(host, n).here ? cs_node(host, n).free_gpus : 0;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        list_job(s, host, cs_running(host, i));
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        list_job(s, host, cs_task(host, cs_pending(host, i))->job);
    for (uint32_t j = 0; j < s->jobs; j++) {
        offer_all(s, host, &s->job[j]);
        weigh(s, host, &s->job[j]);
        any |= s->job[j].configs > 0;
    }
    if (!any)
        return;
    choose(s, host);
    if (!place_all(s, host, true))
        place_all(s, host, false);
    apply(s, host);
}

const struct cs_policy plain_sia_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof plain_sia_policy,
    .name = "sia", .summary = "Sia by looking at all",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_TUNES_BATCHES,
    .self_bytes = sizeof(struct plain_sia), .init = start, .decide = decide,
};
