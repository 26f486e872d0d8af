/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * co_execution.c - co-execution groups: jobs share nodes of two pools, and
 * while one generates, another trains.
 *
 * After RollMux (arXiv 2512.11306).  On each side (the first two pools that
 * are homes of roles) a job has a slot: nodes it shares with others.  It joins
 * the fullest slot in which all turns together take no longer than `slowdown`
 * times the step of the shortest job there, alone; whose memory holds the state
 * of all of them on every node, so that each switch is warm, over PCIe; and
 * that has fewer than `jobs_max`.  Else it has a slot of its own; if no nodes
 * are left, it joins the slot that is overfull least, or waits where memory is
 * short.  A group is what slots of both sides tie together.  Within a slot
 * turns go round: who waits longest since its last turn is next.
 *
 * Roles without GPUs, and jobs whose roles have no two homes, go where there is
 * room, if need be on the GPUs of a lease that is idle.  A slot keeps its nodes until its
 * last job has ended; jobs stay where they are.
 */
#include <math.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy co_execution_policy;

#define CO_SIDES 2u
#define CO_NONE UINT32_MAX

/* Nodes of one pool, neighbours, that several jobs use in turns. */
struct co_slot {
    uint32_t pool, first;       /* the number of its first node */
    uint32_t nodes;             /* 0: the entry is free */
    double busy_s;              /* of all its jobs, per step */
    double state_bytes;         /* per node */
    double alone_s;             /* least step of a job of it, alone */
    uint32_t jobs;
};

/* What a job needs on each side, and the slots that it has. */
struct co_job {
    uint32_t slot[CO_SIDES];    /* CO_NONE: not placed */
    uint32_t pool[CO_SIDES], nodes[CO_SIDES];   /* nodes 0: nothing on that side */
    double busy_s[CO_SIDES];    /* of its phases there, in a step */
    double state_bytes[CO_SIDES];       /* per node */
    double alone_s;             /* of a step, with nobody beside it */
    int64_t turn_ns;            /* its last one, before this decision */
    bool had_turn;              /* in this decision */
    uint32_t turned;            /* then: the job that had one before it; CO_NONE: none */
    bool paired;                /* it has roles in two pools */
    uint32_t full_at;           /* co->left + 1 when it found no slots; 0: never */
};

/* Parameters, and what is known of slots and jobs; both arrays grow. */
struct co {
    double slowdown, memory;
    int64_t jobs_max;
    struct co_slot *slot;
    uint32_t slots, slot_room;
    struct co_job *job;
    uint32_t job_room;
    bool *taken;                /* per node */
    uint32_t left;              /* jobs that have left their slots */
    uint32_t turned;            /* the last job that had a turn in this decision; CO_NONE: none */
};

static const struct cs_param co_param[] = {
    { .key = "slowdown", .type = CS_PARAM_REAL,
      .offset = offsetof(struct co, slowdown), .min = 1, .max = 100,
      .fallback = "1.0",
      .help = "how much longer than alone a step may take by the plan" },
    { .key = "memory", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct co, memory), .min = 0, .max = 1,
      .fallback = "80%",
      .help = "share of a node's memory for the state of jobs (assumption)" },
    { .key = "jobs_max", .type = CS_PARAM_INT,
      .offset = offsetof(struct co, jobs_max), .min = 1, .max = 1000,
      .fallback = "5", .help = "jobs that share nodes, at most (assumption)" },
};

/* ---- what a job is ------------------------------------------------------- */

/* Returns how many nodes of a pool `gpus` GPUs take, by the size of its first node
 * with GPUs: all nodes of a pool are taken to be alike.  CO_NONE: the pool has no
 * GPUs. */
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

/* Returns the lowest pool of a mask; CO_NONE for an empty mask. */
static uint32_t co_pool(uint32_t mask)
{
    for (uint32_t p = 0; mask != 0; p++)
        if (mask >> p & 1)
            return p;
    return CO_NONE;
}

/* Adds a role to the side of its home pool: its nodes, the seconds of its phases in
 * a step, and the bytes of its state on each node.  A role without GPUs or without
 * a home, and a third pool, are on no side. */
static void co_add_role(struct co_job *job, const struct cs_host *host,
                        struct job_id id, uint32_t r)
{
    const struct job_request *request = cs_request(host, id);
    const struct role_spec *role = &request->form->role[r];
    uint32_t gpus = r == 0 && request->gpus ? request->gpus : role->gpus;
    uint32_t side;
    uint32_t pool = co_pool(gpus > 0 ? cs_role_homes(host, id, r) : 0);

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

/* Sets what a job needs on each side, and how long a step of it takes alone, in
 * seconds.  Sides are in the order of their pools for all jobs, so that two jobs
 * can be compared side by side. */
static void co_measure(struct co_job *job, const struct cs_host *host,
                       struct job_id id)
{
    const struct job_form *form = cs_request(host, id)->form;

    *job = (struct co_job) { .slot = { CO_NONE, CO_NONE } };
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

/* ---- which slot ---------------------------------------------------------- */

/* May a job join a slot?  The slot must have the size that the job needs, fewer
 * than jobs_max jobs, and memory for the state of one more on every node. */
static bool co_holds(const struct co *co, const struct cs_host *host,
                     const struct co_slot *slot, const struct co_job *job,
                     uint32_t side)
{
    return slot->jobs > 0 && slot->jobs < (uint64_t)co->jobs_max &&
           slot->pool == job->pool[side] && slot->nodes == job->nodes[side] &&
           slot->state_bytes + job->state_bytes[side] <=
               co->memory * cs_node(host, slot->first).memory_bytes;
}

/* Returns the slot that a job should join; CO_NONE: there is none.  A slot is
 * "full" by the busy seconds of all its jobs in a step, over the shortest step of a
 * job alone.
 *
 * Usually the fullest slot in which nobody becomes slower than `slowdown` is taken,
 * so that slots are filled one after another.  With `squeeze` no slot is left that
 * satisfies this, and the least full one is taken. */
static uint32_t co_best(const struct co *co, const struct cs_host *host,
                        const struct co_job *job, uint32_t side, bool squeeze)
{
    uint32_t best = CO_NONE;
    double best_full = squeeze ? INFINITY : 0;

    for (uint32_t i = 0; i < co->slots; i++) {
        const struct co_slot *slot = &co->slot[i];
        if (!co_holds(co, host, slot, job, side))
            continue;
        double full = (slot->busy_s + job->busy_s[side]) /
                      fmin(slot->alone_s, job->alone_s);
        if (squeeze ? full < best_full
                    : full <= co->slowdown && full > best_full) {
            best = i;
            best_full = full;
        }
    }
    return best;
}

/* Returns the first of `nodes` neighbouring nodes of a pool that no slot has;
 * CO_NONE: there are none. */
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

/* Opens a slot on nodes that no other slot has, and returns its number.  A free
 * entry is used again.  CO_NONE: there are too few neighbours. */
static uint32_t co_new_slot(struct co *co, struct cs_host *host,
                            const struct co_job *job, uint32_t side)
{
    uint32_t i = 0;
    uint32_t first = co_free_nodes(co, host, job->pool[side],
                                   job->nodes[side]);

    if (first == CO_NONE)
        return CO_NONE;
    while (i < co->slots && co->slot[i].nodes > 0)
        i++;
    if (i == co->slot_room) {
        uint32_t room = i ? 2 * i : 64;
        struct co_slot *more = cs_alloc(host, room, sizeof *more);
        for (uint32_t k = 0; k < i; k++)
            more[k] = co->slot[k];
        co->slot = more;
        co->slot_room = room;
    }
    co->slots += i == co->slots;
    co->slot[i] = (struct co_slot) {
        .pool = job->pool[side], .first = first, .nodes = job->nodes[side],
    };
    for (uint32_t n = 0; n < job->nodes[side]; n++)
        co->taken[first + n] = true;
    return i;
}

/* Sets the shortest step alone of the jobs in a slot, after one came or left;
 * INFINITY for an empty slot.  O(jobs). */
static void co_shortest(struct co *co, uint32_t slot, uint32_t side)
{
    double least = INFINITY;

    for (uint32_t j = 0; j < co->job_room; j++)
        if (co->job[j].paired && co->job[j].slot[side] == slot)
            least = fmin(least, co->job[j].alone_s);
    co->slot[slot].alone_s = least;
}

/* Puts a job into a slot: it takes its turns there from now on. co_part() undoes
 * it. */
static void co_join(struct co *co, struct co_job *job, uint32_t side,
                    uint32_t i)
{
    struct co_slot *slot = &co->slot[i];

    job->slot[side] = i;
    slot->busy_s += job->busy_s[side];
    slot->state_bytes += job->state_bytes[side];
    slot->jobs++;
    co_shortest(co, i, side);
}

/* The nodes of a slot without jobs, and its entry, are free for new slots. */
static void co_close(struct co *co, uint32_t i)
{
    struct co_slot *slot = &co->slot[i];

    if (slot->jobs > 0)
        return;
    for (uint32_t n = 0; n < slot->nodes; n++)
        co->taken[slot->first + n] = false;
    slot->nodes = 0;
}

/* Takes a job out of its slot, which is closed after its last job. */
static void co_part(struct co *co, struct co_job *job, uint32_t side)
{
    uint32_t i = job->slot[side];
    struct co_slot *slot = &co->slot[i];

    job->slot[side] = CO_NONE;
    slot->busy_s -= job->busy_s[side];
    slot->state_bytes -= job->state_bytes[side];
    slot->jobs--;
    co_close(co, i);
    co_shortest(co, i, side);
}

/* Returns the slot for a job on one side, which may be a new one without jobs; CO_NONE: no
 * slot has memory for it. */
static uint32_t co_choose(struct co *co, struct cs_host *host, const struct co_job *job,
                          uint32_t side)
{
    uint32_t slot = co_best(co, host, job, side, false);

    if (slot == CO_NONE)
        slot = co_new_slot(co, host, job, side);
    return slot != CO_NONE ? slot : co_best(co, host, job, side, true);
}

/* Gives a job a slot on both sides, or on none.  True at once for a job that has
 * its slots, and for one that needs none.  False: on one side no slot has memory
 * for it; so it is until a job leaves its slots, as others that join take room alone. */
static bool co_place(struct co *co, struct cs_host *host, struct job_id id)
{
    struct co_job *job = &co->job[id.i];
    uint32_t slot[CO_SIDES];

    if (!job->paired || job->slot[0] != CO_NONE)
        return true;
    if (job->full_at == co->left + 1)
        return false;
    for (uint32_t s = 0; s < CO_SIDES; s++) {
        slot[s] = co_choose(co, host, job, s);
        if (slot[s] != CO_NONE)
            continue;
        if (s > 0)
            co_close(co, slot[0]);
        job->full_at = co->left + 1;
        return false;
    }
    for (uint32_t s = 0; s < CO_SIDES; s++)
        co_join(co, job, s, slot[s]);
    return true;
}

/* A job was submitted: room for its entry, and what it needs. */
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
        co->job = more;
        co->job_room = room;
    }
    co_measure(&co->job[id.i], host, id);
}

/* A job has ended.  If it was placed it holds a slot on each side, and leaves both. */
static void co_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct co *co = self;
    struct co_job *job = &co->job[id.i];

    (void)host;
    if (job->paired && job->slot[0] != CO_NONE) {
        for (uint32_t s = 0; s < CO_SIDES; s++)
            co_part(co, job, s);
        co->left++;
    }
    job->paired = false;
}

/* ---- turns ---------------------------------------------------------------- */

/* The job that had no turn for longest; of equals, the one that waits longest. */
static bool co_before(const void *self, const struct cs_host *host,
                      struct task_id a, struct task_id b)
{
    const struct co *co = self;
    uint32_t i = cs_task(host, a)->job.i, j = cs_task(host, b)->job.i;
    int64_t x = i < co->job_room ? co->job[i].turn_ns : 0;
    int64_t y = j < co->job_room ? co->job[j].turn_ns : 0;

    return x != y ? x < y : i < j;
}

/* Starts a task by a want where it is over soonest: first on GPUs that are free,
 * and only then in place of idle leases, so that these stay warm where they can. */
static bool co_start_there(struct cs_host *host, struct task_id task,
                           struct cs_want want)
{
    struct cs_want idle = want;
    struct cs_forecast f;

    idle.take_idle = true;
    if (cs_forecast_best(host, task, &want, &f) &&
        cs_start_want(host, task, &want) == CS_DONE)
        return true;
    return cs_forecast_best(host, task, &idle, &f) &&
           cs_start_want(host, task, &idle) == CS_DONE;
}

/* Continues the lease that a task holds, or starts one on the nodes of the job's
 * slot.  Roles without GPUs or without a side go where there is room.  False: it
 * waits on. */
static bool co_start(struct co *co, struct cs_host *host, struct task_id task)
{
    const struct cs_task *pub = cs_task(host, task);
    struct co_job *job = &co->job[pub->job.i];
    uint32_t home = cs_home_pools(host, task, pub->role), side = 0;
    struct cs_want want = { .role = pub->role };

    if (pub->held.i != ID_NONE)
        return cs_continue(host, task) == CS_DONE;
    if (!job->paired || pub->gpus == 0)
        return co_start_there(host, task, want);
    while (side < CO_SIDES && home != 1u << job->pool[side])
        side++;
    if (side == CO_SIDES)
        return co_start_there(host, task, want);
    want.first_node = co->slot[job->slot[side]].first;
    want.node_count = co->slot[job->slot[side]].nodes;
    return co_start_there(host, task, want);
}

static void co_note_turn(struct co *co, uint32_t j)
{
    if (co->job[j].had_turn)
        return;
    co->job[j].had_turn = true;
    co->job[j].turned = co->turned;
    co->turned = j;
}

/* Goes through the queue once.  A job without slots waits. */
static void co_try_all(struct co *co, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        struct job_id job = cs_task(host, task)->job;
        if (co_place(co, host, job) && co_start(co, host, task))
            co_note_turn(co, job.i);
        else
            i++;
    }
}

/* A job with a task that started has had its turn, and goes behind the others: from the next
 * decision on, as the order stands still within one. */
static void co_decide(void *self, struct cs_host *host)
{
    struct co *co = self;

    co->turned = CO_NONE;
    do
        co_try_all(co, host);
    while (cs_relieve_power(host));
    while (co->turned != CO_NONE) {
        struct co_job *job = &co->job[co->turned];
        job->turn_ns = cs_now_ns(host);
        job->had_turn = false;
        co->turned = job->turned;
    }
}

const struct cs_policy co_execution_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "co-execution",
    .summary = "groups of jobs take turns on nodes of two pools, warm",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_CONFINES | CS_ORDER_MOVES,
    .self_bytes = sizeof(struct co),
    .param = co_param,
    .param_count = sizeof co_param / sizeof co_param[0],
    .before = co_before,
    .decide = co_decide,
    .job_submitted = co_submitted,
    .job_ended = co_ended,
};
