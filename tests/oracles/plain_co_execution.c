/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_co_execution.c - an oracle: groups of jobs that take turns, each side of a job
 * looked at by itself, nothing remembered of what found no room.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_co_execution_policy;

#define JOBS_MAX 400u
#define GROUPS_MAX 64

/* Nodes that jobs share; without jobs it is not there. */
struct group {
    uint32_t pool, first, nodes, jobs;
    double busy_s, bytes;
};

struct side {
    uint32_t pool, nodes;
    double busy_s, bytes;
    int group;                  /* -1: none */
};

struct member {
    struct side side[2];
    uint32_t sides;
    double step_s;
    int64_t turn_ns;
    bool now;                   /* it had a turn in this decision */
};

struct state {
    struct member job[JOBS_MAX];
    uint32_t jobs;
    struct group group[GROUPS_MAX];
};

struct plain_co {
    double slowdown, memory;    /* parameters, as co_execution.c has them */
    int64_t jobs_max;
    struct state *s;
};

static bool init(void *self, struct cs_host *host)
{
    ((struct plain_co *)self)->s = cs_alloc(host, 1, sizeof(struct state));
    return true;
}

static uint32_t per_node(const struct cs_host *host, uint32_t pool)
{
    uint32_t n = 0;

    while (cs_node(host, n).pool != pool || cs_node(host, n).gpus == 0)
        n++;
    return cs_node(host, n).gpus;
}

/* Adds a role to its side; a third side is left out. */
static void add_role(struct member *m, const struct cs_host *host, struct job_id job, uint32_t r)
{
    const struct job_form *form = cs_request(host, job)->form;
    uint32_t gpus = job_role_gpus(cs_request(host, job), r);
    uint32_t homes = gpus > 0 ? cs_role_homes(host, job, r) : 0, s = 0, pool = 0;

    if (homes == 0)
        return;
    while ((homes >> pool & 1) == 0)
        pool++;
    while (s < m->sides && m->side[s].pool != pool)
        s++;
    if (s == 2)
        return;
    if (s == m->sides)
        m->side[m->sides++] = (struct side) { .pool = pool, .group = -1 };
    uint32_t each = per_node(host, pool), nodes = gpus / each + (gpus % each > 0);
    struct side *side = &m->side[s];
    if (side->nodes < nodes)
        side->nodes = nodes;
    double most = form->role[r].load_bytes;
    if (form->role[r].save_bytes > most)
        most = form->role[r].save_bytes;
    side->bytes += most / nodes;
    for (uint32_t p = 0; p < form->phase_count; p++)
        side->busy_s += form->phase[p].role == r ? cs_phase_s(host, job, p) : 0;
}

static void job_submitted(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_co *co = self;
    struct member *m = &co->s->job[job.i];
    const struct job_form *form = cs_request(host, job)->form;

    assert(job.i < JOBS_MAX);
    co->s->jobs = job.i + 1;
    for (uint32_t r = 0; r < form->role_count; r++)
        add_role(m, host, job, r);
    for (uint32_t p = 0; p < form->phase_count; p++)
        m->step_s += cs_phase_s(host, job, p);
    if (m->sides == 2 && m->side[1].pool < m->side[0].pool) {
        struct side first = m->side[1];
        m->side[1] = m->side[0];
        m->side[0] = first;
    }
}

static void job_ended(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_co *co = self;
    struct member *m = &co->s->job[job.i];

    (void)host;
    for (uint32_t s = 0; s < m->sides; s++) {
        struct side *side = &m->side[s];
        if (side->group < 0)
            continue;
        co->s->group[side->group].busy_s -= side->busy_s;
        co->s->group[side->group].bytes -= side->bytes;
        co->s->group[side->group].jobs--;
        side->group = -1;
    }
}

/* ---- groups ---- */

static double shortest_step(const struct state *s, int group, double least)
{
    for (uint32_t j = 0; j < s->jobs; j++)
        for (uint32_t k = 0; k < s->job[j].sides; k++)
            if (s->job[j].side[k].group == group && s->job[j].step_s < least)
                least = s->job[j].step_s;
    return least;
}

/* The fullest that keeps within the slowdown, or the least full of all; -1: there is none. */
static int find_group(const struct plain_co *co, const struct cs_host *host,
                      const struct member *m, const struct side *side, bool within)
{
    double found = within ? 0 : 1e300;
    int best = -1;

    for (int g = 0; g < GROUPS_MAX; g++) {
        const struct group *group = &co->s->group[g];
        if (group->jobs == 0 || group->pool != side->pool || group->nodes != side->nodes ||
            group->jobs >= co->jobs_max ||
            group->bytes + side->bytes > co->memory * cs_node(host, group->first).memory_bytes)
            continue;
        double full = (group->busy_s + side->busy_s) / shortest_step(co->s, g, m->step_s);
        if (within ? full > found && full <= co->slowdown : full < found) {
            found = full;
            best = g;
        }
    }
    return best;
}

static bool is_taken(const struct state *s, uint32_t node)
{
    for (int g = 0; g < GROUPS_MAX; g++)
        if (s->group[g].jobs > 0 && node >= s->group[g].first &&
            node < s->group[g].first + s->group[g].nodes)
            return true;
    return false;
}

/* The first neighbours that nobody has; a group without jobs yet. */
static int open_group(struct state *s, const struct cs_host *host, const struct side *side)
{
    uint32_t count = cs_node_count(host), first, n;
    int g = 0;

    for (first = 0; first + side->nodes <= count; first++) {
        for (n = first; n < first + side->nodes; n++)
            if (cs_node(host, n).pool != side->pool || is_taken(s, n))
                break;
        if (n == first + side->nodes)
            break;
    }
    if (first + side->nodes > count)
        return -1;
    while (s->group[g].jobs > 0)
        g++;
    assert(g < GROUPS_MAX);
    s->group[g] = (struct group) { side->pool, first, side->nodes, 0, 0, 0 };
    return g;
}

static bool has_places(struct plain_co *co, struct cs_host *host, struct member *m)
{
    int group[2];

    if (m->sides < 2 || m->side[0].group >= 0)
        return true;
    for (int k = 0; k < 2; k++) {
        group[k] = find_group(co, host, m, &m->side[k], true);
        if (group[k] < 0)
            group[k] = open_group(co->s, host, &m->side[k]);
        if (group[k] < 0)
            group[k] = find_group(co, host, m, &m->side[k], false);
        if (group[k] < 0) {
            if (k == 1)
                co->s->group[group[0]].jobs--;
            return false;
        }
        co->s->group[group[k]].jobs++;
    }
    for (int k = 0; k < 2; k++) {
        m->side[k].group = group[k];
        co->s->group[group[k]].busy_s += m->side[k].busy_s;
        co->s->group[group[k]].bytes += m->side[k].bytes;
    }
    return true;
}

/* ---- turns ---- */

static bool goes_before(const void *self, const struct cs_host *host, struct task_id a,
                        struct task_id b)
{
    const struct state *s = ((const struct plain_co *)self)->s;
    uint32_t x = cs_task(host, a)->job.i, y = cs_task(host, b)->job.i;

    if (s->job[x].turn_ns == s->job[y].turn_ns)
        return x < y;
    return s->job[x].turn_ns < s->job[y].turn_ns;
}

static bool start(struct plain_co *co, struct cs_host *host, struct task_id task)
{
    const struct cs_task *of = cs_task(host, task);
    const struct member *m = &co->s->job[of->job.i];
    uint32_t homes = cs_role_homes(host, of->job, of->role);
    struct cs_want where = { .role = of->role };
    struct cs_forecast f;

    if (of->held.i != ID_NONE)
        return cs_continue(host, task) == CS_DONE;
    for (uint32_t k = 0; of->gpus > 0 && m->sides == 2 && k < 2; k++)
        if (homes == 1u << m->side[k].pool) {
            where.first_node = co->s->group[m->side[k].group].first;
            where.node_count = co->s->group[m->side[k].group].nodes;
        }
    for (int idle = 0; idle < 2; idle++) {
        struct cs_want want = where;
        want.take_idle = idle == 1;
        if (cs_forecast_best(host, task, &want, &f) &&
            cs_start_want(host, task, &want) == CS_DONE)
            return true;
    }
    return false;
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_co *co = self;

    do {
        for (uint32_t i = 0; i < cs_pending_count(host);) {
            struct task_id task = cs_pending(host, i);
            struct member *m = &co->s->job[cs_task(host, task)->job.i];
            if (has_places(co, host, m) && start(co, host, task))
                m->now = true;
            else
                i++;
        }
    } while (cs_relieve_power(host));
    for (uint32_t j = 0; j < co->s->jobs; j++) {
        if (co->s->job[j].now)
            co->s->job[j].turn_ns = cs_now_ns(host);
        co->s->job[j].now = false;
    }
}

const struct cs_policy plain_co_execution_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "co-execution",
    .summary = "groups of jobs take turns, looked at anew each time",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_CONFINES | CS_ORDER_MOVES,
    .self_bytes = sizeof(struct plain_co),
    .init = init,
    .before = goes_before,
    .decide = decide,
    .job_submitted = job_submitted,
    .job_ended = job_ended,
};
