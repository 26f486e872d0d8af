/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * co_execution.c - co-execution groups: jobs share nodes of two pools, and
 * while one generates, another trains.
 *
 * After RollMux (arXiv 2512.11306).  A job joins the group that it leaves the
 * fewest bubbles in, if each pool of the group is asked for less than a cycle
 * (the longest job alone, times `stretch`) and if the state of all its jobs
 * fits in the memory of each of its nodes, so that every switch is warm, over
 * PCIe.  Else it has nodes of its own; else, if there are none, it joins the
 * group whose cycle stays shortest, or waits where memory is short.  Within a
 * group turns go round: who waits longest since its last turn is next.
 *
 * A job needs a role whose name is that of a pool for each of the two; roles
 * without GPUs go where there is room.  Groups hold their nodes until their
 * last job has ended; jobs are not moved between groups.
 */
#include <math.h>

#include "policies/policy.h"

extern const struct cs_policy co_execution_policy;

#define CO_SIDES 2u             /* the first two pools that roles name */
#define CO_NONE UINT32_MAX

struct co_group {
    uint32_t first[CO_SIDES], nodes[CO_SIDES];
    double busy_s[CO_SIDES];    /* of all its jobs, per step */
    double state_bytes[CO_SIDES];       /* per node */
    double cycle_s;             /* the longest of its jobs, alone */
    uint32_t jobs;
};

struct co_job {
    uint32_t group;             /* CO_NONE: not placed */
    uint32_t pool[CO_SIDES], nodes[CO_SIDES];
    double busy_s[CO_SIDES], state_bytes[CO_SIDES];
    double alone_s;
    int64_t turn_ns;            /* its last one */
    bool paired;                /* it has roles in two pools */
};

struct co {
    double stretch, memory;
    int64_t jobs_max;
    struct co_group *group;
    uint32_t groups, group_room;
    struct co_job *job;
    uint32_t job_room;
    bool *taken;                /* per node */
};

static const struct cs_param co_param[] = {
    { .key = "stretch", .type = CS_PARAM_REAL,
      .offset = offsetof(struct co, stretch), .min = 1, .max = 100,
      .fallback = "1.0",
      .help = "how much longer than its longest job alone a group's cycle may "
              "be" },
    { .key = "memory", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct co, memory), .min = 0, .max = 1,
      .fallback = "80%",
      .help = "share of a node's memory for the state of jobs (assumption)" },
    { .key = "jobs_max", .type = CS_PARAM_INT,
      .offset = offsetof(struct co, jobs_max), .min = 1, .max = 1000,
      .fallback = "5", .help = "jobs of a group at most (RollMux: five)" },
};

/* ---- what a job is ------------------------------------------------------- */

static uint32_t co_nodes_for(const struct cs_host *host, uint32_t pool,
                             uint32_t gpus)
{
    for (uint32_t n = 0; n < cs_node_count(host); n++) {
        struct cs_node node = cs_node(host, n);
        if (node.pool == pool && node.gpus > 0)
            return (gpus + node.gpus - 1) / node.gpus;
    }
    return CO_NONE;
}

/* The pool of that name; CO_NONE: there is none. */
static uint32_t co_pool(const struct cs_host *host, const char *name)
{
    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        const char *a = cs_pool_name(host, p), *b = name;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b)
            return p;
    }
    return CO_NONE;
}

static void co_add_role(struct co_job *job, const struct cs_host *host,
                        struct job_id id, uint32_t r)
{
    const struct job_request *request = cs_request(host, id);
    const struct role_spec *role = &request->form->role[r];
    uint32_t gpus = r == 0 && request->gpus ? request->gpus : role->gpus;
    uint32_t side;
    uint32_t pool = gpus > 0 ? co_pool(host, role->name) : CO_NONE;

    if (pool == CO_NONE)
        return;
    for (side = 0; side < CO_SIDES && job->nodes[side] > 0; side++)
        if (job->pool[side] == pool)
            break;
    if (side == CO_SIDES)
        return;
    uint32_t nodes = co_nodes_for(host, pool, gpus);
    job->pool[side] = pool;
    job->nodes[side] = nodes > job->nodes[side] ? nodes : job->nodes[side];
    job->state_bytes[side] += fmax(role->load_bytes, role->save_bytes) / nodes;
    for (uint32_t p = 0; p < request->form->phase_count; p++)
        if (request->form->phase[p].role == r)
            job->busy_s[side] += cs_phase_s(host, id, p);
}

static void co_measure(struct co_job *job, const struct cs_host *host,
                       struct job_id id)
{
    const struct job_form *form = cs_request(host, id)->form;

    *job = (struct co_job) { .group = CO_NONE };
    for (uint32_t r = 0; r < form->role_count; r++)
        co_add_role(job, host, id, r);
    job->paired = job->nodes[0] > 0 && job->nodes[1] > 0;
    /* One order of the sides for all jobs: that of the pools. */
    if (job->paired && job->pool[0] > job->pool[1]) {
        struct co_job was = *job;
        for (uint32_t s = 0; s < CO_SIDES; s++) {
            job->pool[s] = was.pool[1 - s];
            job->nodes[s] = was.nodes[1 - s];
            job->busy_s[s] = was.busy_s[1 - s];
            job->state_bytes[s] = was.state_bytes[1 - s];
        }
    }
    for (uint32_t p = 0; p < form->phase_count; p++)
        job->alone_s += cs_phase_s(host, id, p);
}

/* ---- which group --------------------------------------------------------- */

static bool co_memory_holds(const struct co *co, const struct cs_host *host,
                            const struct co_group *group,
                            const struct co_job *job)
{
    for (uint32_t s = 0; s < CO_SIDES; s++) {
        struct cs_node node = cs_node(host, group->first[s]);
        if (group->nodes[s] < job->nodes[s] || node.pool != job->pool[s] ||
            group->state_bytes[s] + job->state_bytes[s] >
                co->memory * node.memory_bytes)
            return false;
    }
    return group->jobs > 0 && group->jobs < (uint64_t)co->jobs_max;
}

/* Of a group with that job: the busiest side, and the longest job alone. */
static double co_load_s(const struct co_group *group, const struct co_job *job)
{
    return fmax(group->busy_s[0] + job->busy_s[0],
                group->busy_s[1] + job->busy_s[1]);
}

/* The fullest group that still keeps to its cycle; with `squeeze`, the one
 * whose cycle stays shortest. */
static uint32_t co_best(const struct co *co, const struct cs_host *host,
                        const struct co_job *job, bool squeeze)
{
    uint32_t best = CO_NONE;
    double best_value = -INFINITY;

    for (uint32_t g = 0; g < co->groups; g++) {
        const struct co_group *group = &co->group[g];
        if (!co_memory_holds(co, host, group, job))
            continue;
        double load = co_load_s(group, job);
        double cycle = co->stretch * fmax(group->cycle_s, job->alone_s);
        double value = squeeze ? -fmax(load, cycle)
            : (group->busy_s[0] + group->busy_s[1] + job->busy_s[0] +
               job->busy_s[1]) / cycle;
        if ((squeeze || load <= cycle) && value > best_value) {
            best = g;
            best_value = value;
        }
    }
    return best;
}

/* So many neighbours of a pool that no group has; CO_NONE: there are none. */
static uint32_t co_free_nodes(const struct co *co, const struct cs_host *host,
                              uint32_t pool, uint32_t nodes)
{
    uint32_t run = 0;

    for (uint32_t n = 0; n < cs_node_count(host); n++) {
        run = cs_node(host, n).pool == pool && !co->taken[n] ? run + 1 : 0;
        if (run == nodes)
            return n + 1 - nodes;
    }
    return CO_NONE;
}

static uint32_t co_new_group(struct co *co, struct cs_host *host,
                             const struct co_job *job)
{
    struct co_group made = { 0 };
    uint32_t g = 0;

    for (uint32_t s = 0; s < CO_SIDES; s++) {
        made.first[s] = co_free_nodes(co, host, job->pool[s], job->nodes[s]);
        made.nodes[s] = job->nodes[s];
        if (made.first[s] == CO_NONE)
            return CO_NONE;
    }
    while (g < co->groups && co->group[g].jobs > 0)
        g++;
    if (g == co->group_room) {
        uint32_t room = g ? 2 * g : 64;
        struct co_group *more = cs_alloc(host, room, sizeof *more);
        for (uint32_t i = 0; i < g; i++)
            more[i] = co->group[i];
        co->group = more;
        co->group_room = room;
    }
    if (g == co->groups)
        co->groups++;
    co->group[g] = made;
    for (uint32_t s = 0; s < CO_SIDES; s++)
        for (uint32_t n = 0; n < made.nodes[s]; n++)
            co->taken[made.first[s] + n] = true;
    return g;
}

/* The longest of its jobs alone, when one has come or gone. */
static void co_cycle(struct co *co, uint32_t g)
{
    double longest = 0;

    for (uint32_t j = 0; j < co->job_room; j++)
        if (co->job[j].paired && co->job[j].group == g)
            longest = fmax(longest, co->job[j].alone_s);
    co->group[g].cycle_s = longest;
}

static void co_join(struct co *co, struct cs_host *host, struct job_id id,
                    int sign)
{
    struct co_job *job = &co->job[id.i];
    struct co_group *group = &co->group[job->group];

    (void)host;
    for (uint32_t s = 0; s < CO_SIDES; s++) {
        group->busy_s[s] += sign * job->busy_s[s];
        group->state_bytes[s] += sign * job->state_bytes[s];
    }
    group->jobs += sign > 0 ? 1u : UINT32_MAX;
    for (uint32_t s = 0; s < CO_SIDES && group->jobs == 0; s++)
        for (uint32_t n = 0; n < group->nodes[s]; n++)
            co->taken[group->first[s] + n] = false;
    uint32_t g = job->group;
    if (sign < 0)
        job->group = CO_NONE;
    co_cycle(co, g);
}

static bool co_place(struct co *co, struct cs_host *host, struct job_id id)
{
    struct co_job *job = &co->job[id.i];

    if (!job->paired || job->group != CO_NONE)
        return true;
    job->group = co_best(co, host, job, false);
    if (job->group == CO_NONE)
        job->group = co_new_group(co, host, job);
    if (job->group == CO_NONE)
        job->group = co_best(co, host, job, true);
    if (job->group != CO_NONE)
        co_join(co, host, id, +1);
    return job->group != CO_NONE;
}

static void co_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct co *co = self;

    if (co->taken == NULL)
        co->taken = cs_alloc(host, cs_node_count(host), sizeof *co->taken);
    if (id.i >= co->job_room) {
        uint32_t room = 2 * id.i + 64;
        struct co_job *more = cs_alloc(host, room, sizeof *more);
        for (uint32_t i = 0; i < co->job_room; i++)
            more[i] = co->job[i];
        for (uint32_t i = co->job_room; i < room; i++)
            more[i].group = CO_NONE;
        co->job = more;
        co->job_room = room;
    }
    co_measure(&co->job[id.i], host, id);
}

static void co_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct co *co = self;

    if (co->job[id.i].paired && co->job[id.i].group != CO_NONE)
        co_join(co, host, id, -1);
    co->job[id.i].paired = false;
}

/* ---- turns ---------------------------------------------------------------- */

/* Who had no turn for longest; the job that has waited longest of those. */
static bool co_before(const void *self, const struct cs_host *host,
                      struct ask_id a, struct ask_id b)
{
    const struct co *co = self;
    uint32_t i = cs_ask(host, a)->job.i, j = cs_ask(host, b)->job.i;
    int64_t x = i < co->job_room ? co->job[i].turn_ns : 0;
    int64_t y = j < co->job_room ? co->job[j].turn_ns : 0;

    return x != y ? x < y : i < j;
}

static bool co_start(struct co *co, struct cs_host *host, struct ask_id ask)
{
    const struct cs_ask *pub = cs_ask(host, ask);
    struct co_job *job = &co->job[pub->job.i];
    uint32_t home = cs_home_pools(host, ask, pub->role), side = 0;
    struct cs_want want = { .role = pub->role };

    if (pub->held.i != ID_NONE)
        return cs_continue(host, ask) == CS_DONE;
    if (!job->paired || pub->gpus == 0)
        return cs_start_want(host, ask, &want) == CS_DONE;
    while (side < CO_SIDES && home != 1u << job->pool[side])
        side++;
    if (side == CO_SIDES)
        return cs_start_want(host, ask, &want) == CS_DONE;
    want.first_node = co->group[job->group].first[side];
    want.node_count = co->group[job->group].nodes[side];
    if (cs_start_want(host, ask, &want) == CS_DONE)
        return true;
    want.take_idle = true;
    return cs_start_want(host, ask, &want) == CS_DONE;
}

static void co_decide(void *self, struct cs_host *host)
{
    struct co *co = self;

    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct ask_id ask = cs_pending(host, i);
        struct job_id job = cs_ask(host, ask)->job;
        if (co_place(co, host, job) && co_start(co, host, ask))
            co->job[job.i].turn_ns = cs_now_ns(host);
        else
            i++;
    }
}

const struct cs_policy co_execution_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "co-execution",
    .summary = "groups of jobs take turns on nodes of two pools, warm",
    .flags = CS_PER_PHASE,
    .self_bytes = sizeof(struct co),
    .param = co_param,
    .param_count = sizeof co_param / sizeof co_param[0],
    .before = co_before,
    .decide = co_decide,
    .job_submitted = co_submitted,
    .job_ended = co_ended,
};
