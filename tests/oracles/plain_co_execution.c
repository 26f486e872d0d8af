/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_co_execution.c - the rule of co-execution without an index: at each decision all
 * that waits is sorted and tried, over all slots, all nodes and all jobs.
 */
#include <assert.h>
#include <math.h>

#include "policies/phases.h"
#include "policies/policy.h"

#define PLAIN_MAX 512u          /* jobs, slots and nodes */

extern const struct cs_policy plain_co_execution_policy;

struct plain_slot {
    uint32_t pool, first, nodes, jobs;  /* jobs 0: not used */
    double busy_s, state_bytes;
};

struct plain_job {
    bool here, placed, turned;
    uint32_t sides, pool[2], nodes[2], slot[2];
    double busy_s[2], state_bytes[2], alone_s;
    int64_t turn_ns;
};

struct plain {                  /* the parameters come first */
    double slowdown, memory;
    int64_t jobs_max;
    struct plain_slot slot[PLAIN_MAX];
    struct plain_job job[PLAIN_MAX];
};

/* ---- jobs ---- */

static uint32_t plain_gpus(const struct cs_host *host, struct job_id id, uint32_t role)
{
    const struct job_request *request = cs_request(host, id);

    return role == 0 && request->gpus > 0 ? request->gpus : request->form->role[role].gpus;
}

/* The lowest pool of a role's home; UINT32_MAX: it has no GPUs or no home. */
static uint32_t plain_home(const struct cs_host *host, struct job_id id, uint32_t role)
{
    uint32_t homes = plain_gpus(host, id, role) > 0 ? cs_role_homes(host, id, role) : 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if (homes & 1u << p)
            return p;
    return UINT32_MAX;
}

static uint32_t plain_nodes(const struct cs_host *host, uint32_t pool, uint32_t gpus)
{
    uint32_t n = 0;

    while (cs_node(host, n).pool != pool || cs_node(host, n).gpus == 0)
        n++;
    return (uint32_t)ceil((double)gpus / cs_node(host, n).gpus);
}

/* What the roles of a pool need together. */
static void plain_side(const struct cs_host *host, struct job_id id, struct plain_job *job,
                       uint32_t side)
{
    const struct job_form *form = cs_request(host, id)->form;

    for (uint32_t r = 0; r < form->role_count; r++) {
        if (plain_home(host, id, r) != job->pool[side])
            continue;
        uint32_t nodes = plain_nodes(host, job->pool[side], plain_gpus(host, id, r));
        if (nodes > job->nodes[side])
            job->nodes[side] = nodes;
        job->state_bytes[side] +=
            fmax(form->role[r].load_bytes, form->role[r].save_bytes) / nodes;
        for (uint32_t p = 0; p < form->phase_count; p++)
            if (form->phase[p].role == r)
                job->busy_s[side] += cs_phase_s(host, id, p);
    }
}

static void plain_submitted(void *self, struct cs_host *host, struct job_id id)
{
    const struct job_form *form = cs_request(host, id)->form;
    struct plain *plain = self;
    struct plain_job *job = &plain->job[id.i];

    assert(id.i < PLAIN_MAX && cs_node_count(host) < PLAIN_MAX);
    *job = (struct plain_job) { .here = true };
    for (uint32_t r = 0; r < form->role_count; r++) {
        uint32_t home = plain_home(host, id, r);
        bool known = job->sides > 0 && (home == job->pool[0] || (job->sides > 1 &&
                                                                 home == job->pool[1]));
        if (home != UINT32_MAX && !known && job->sides < 2)
            job->pool[job->sides++] = home;
    }
    if (job->sides == 2 && job->pool[1] < job->pool[0]) {
        uint32_t pool = job->pool[0];
        job->pool[0] = job->pool[1];
        job->pool[1] = pool;
    }
    for (uint32_t s = 0; s < job->sides; s++)
        plain_side(host, id, job, s);
    for (uint32_t p = 0; p < form->phase_count; p++)
        job->alone_s += cs_phase_s(host, id, p);
}

/* ---- slots ---- */

/* The shortest step of a job of a slot, or of one more. */
static double plain_shortest(const struct plain *plain, uint32_t slot, double more_s)
{
    double least_s = more_s;

    for (uint32_t j = 0; j < PLAIN_MAX; j++)
        for (uint32_t s = 0; s < 2; s++)
            if (plain->job[j].here && plain->job[j].placed && plain->job[j].slot[s] == slot &&
                plain->job[j].alone_s < least_s)
                least_s = plain->job[j].alone_s;
    return least_s;
}

/* The fullest slot in which nobody is slowed down too much, or the least full one. */
static uint32_t plain_best(const struct plain *plain, const struct cs_host *host,
                           const struct plain_job *job, uint32_t s, bool least)
{
    uint32_t best = UINT32_MAX;
    double best_full = 0;

    for (uint32_t i = 0; i < PLAIN_MAX; i++) {
        const struct plain_slot *slot = &plain->slot[i];
        if (slot->jobs == 0 || slot->jobs >= plain->jobs_max || slot->pool != job->pool[s] ||
            slot->nodes != job->nodes[s] ||
            slot->state_bytes + job->state_bytes[s] >
                plain->memory * cs_node(host, slot->first).memory_bytes)
            continue;
        double full = (slot->busy_s + job->busy_s[s]) / plain_shortest(plain, i, job->alone_s);
        if (least ? best == UINT32_MAX || full < best_full
                  : full <= plain->slowdown && full > best_full) {
            best = i;
            best_full = full;
        }
    }
    return best;
}

static bool plain_is_free(const struct plain *plain, uint32_t node)
{
    for (uint32_t i = 0; i < PLAIN_MAX; i++)
        if (plain->slot[i].jobs > 0 && node >= plain->slot[i].first &&
            node < plain->slot[i].first + plain->slot[i].nodes)
            return false;
    return true;
}

/* The first free neighbours; UINT32_MAX: none. */
static uint32_t plain_neighbours(const struct plain *plain, const struct cs_host *host,
                                 uint32_t pool, uint32_t nodes)
{
    for (uint32_t first = 0; first + nodes <= cs_node_count(host); first++) {
        uint32_t run = 0;
        while (run < nodes && cs_node(host, first + run).pool == pool &&
               plain_is_free(plain, first + run))
            run++;
        if (run == nodes)
            return first;
    }
    return UINT32_MAX;
}

/* Finds the slot of a job on one side, and the first node of a new one; false: none. */
static bool plain_find(const struct plain *plain, const struct cs_host *host,
                       const struct plain_job *job, uint32_t s, uint32_t *slot, uint32_t *first)
{
    *first = UINT32_MAX;
    *slot = plain_best(plain, host, job, s, false);
    if (*slot != UINT32_MAX)
        return true;
    *first = plain_neighbours(plain, host, job->pool[s], job->nodes[s]);
    if (*first == UINT32_MAX)
        *slot = plain_best(plain, host, job, s, true);
    return *first != UINT32_MAX || *slot != UINT32_MAX;
}

static bool plain_place(struct plain *plain, const struct cs_host *host, struct plain_job *job)
{
    uint32_t slot[2], first[2];

    if (job->sides < 2 || job->placed)
        return true;
    for (uint32_t s = 0; s < 2; s++)
        if (!plain_find(plain, host, job, s, &slot[s], &first[s]))
            return false;
    for (uint32_t s = 0; s < 2; s++) {
        if (first[s] != UINT32_MAX) {
            for (slot[s] = 0; plain->slot[slot[s]].jobs > 0;)
                slot[s]++;
            plain->slot[slot[s]] = (struct plain_slot) {
                .pool = job->pool[s], .first = first[s], .nodes = job->nodes[s] };
        }
        job->slot[s] = slot[s];
        plain->slot[slot[s]].jobs++;
        plain->slot[slot[s]].busy_s += job->busy_s[s];
        plain->slot[slot[s]].state_bytes += job->state_bytes[s];
    }
    job->placed = true;
    return true;
}

static void plain_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct plain *plain = self;
    struct plain_job *job = &plain->job[id.i];

    (void)host;
    job->here = false;
    for (uint32_t s = 0; s < 2 && job->placed; s++) {
        plain->slot[job->slot[s]].jobs--;
        plain->slot[job->slot[s]].busy_s -= job->busy_s[s];
        plain->slot[job->slot[s]].state_bytes -= job->state_bytes[s];
    }
}

/* ---- turns ---- */

static bool plain_before(const void *self, const struct cs_host *host, struct task_id a,
                         struct task_id b)
{
    const struct plain *plain = self;
    struct job_id x = cs_task(host, a)->job, y = cs_task(host, b)->job;

    if (plain->job[x.i].turn_ns != plain->job[y.i].turn_ns)
        return plain->job[x.i].turn_ns < plain->job[y.i].turn_ns;
    return x.i < y.i;
}

/* Starts a task where its phase is soonest over: on free GPUs, else on idle ones too. */
static bool plain_start(const struct plain *plain, struct cs_host *host, struct task_id task)
{
    const struct cs_task *pub = cs_task(host, task);
    const struct plain_job *job = &plain->job[pub->job.i];
    struct cs_want first = { .role = pub->role };
    struct cs_forecast f;

    if (pub->held.i != ID_NONE)
        return cs_continue(host, task) == CS_DONE;
    for (uint32_t s = 0; s < 2 && job->placed && pub->gpus > 0; s++)
        if (cs_home_pools(host, task, pub->role) == 1u << job->pool[s]) {
            first.first_node = plain->slot[job->slot[s]].first;
            first.node_count = job->nodes[s];
        }
    for (int idle = 0; idle < 2; idle++) {
        struct cs_want want = first;
        want.take_idle = idle == 1;
        if (cs_forecast_best(host, task, &want, &f) &&
            cs_start_want(host, task, &want) == CS_DONE)
            return true;
    }
    return false;
}

static void plain_decide(void *self, struct cs_host *host)
{
    struct plain *plain = self;

    do
        for (uint32_t i = 0; i < cs_pending_count(host);) {
            struct task_id task = cs_pending(host, i);
            struct plain_job *job = &plain->job[cs_task(host, task)->job.i];
            if (plain_place(plain, host, job) && plain_start(plain, host, task))
                job->turned = true;
            else
                i++;
        }
    while (cs_relieve_power(host));
    for (uint32_t j = 0; j < PLAIN_MAX; j++) {
        if (plain->job[j].turned)
            plain->job[j].turn_ns = cs_now_ns(host);
        plain->job[j].turned = false;
    }
}

const struct cs_policy plain_co_execution_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "co-execution", .summary = "the plain rule",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_CONFINES | CS_CONFINES_PAIRS |
             CS_ORDER_MOVES,
    .self_bytes = sizeof(struct plain),
    .before = plain_before, .decide = plain_decide,
    .job_submitted = plain_submitted, .job_ended = plain_ended,
};
