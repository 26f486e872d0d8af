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
 * turns go round: the job that waits longest since its last turn is next.
 *
 * Roles without GPUs, and jobs whose roles have no two homes, go where there is
 * room, if need be on the GPUs of a lease that is idle.  A slot keeps its nodes until its
 * last job has ended; jobs stay where they are.
 */
#include <math.h>

#include "policies/order.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy co_execution_policy;

#define CO_SIDES 2u
#define CO_NONE UINT32_MAX

/* Nodes of one pool, neighbours, that several jobs use in turns. */
struct co_slot {
    uint32_t shape;             /* of all slots that are alike */
    uint32_t first, nodes;      /* the number of its first node, and how many there are */
    double busy_s;              /* of all its jobs, per step */
    double state_bytes;         /* per node */
    double alone_s;             /* least step of a job of it, alone */
    uint32_t jobs;
    uint32_t seat;              /* the first of its jobs: 2 * job + side; CO_NONE: none */
};

/* Slots of as many nodes of one pool, whose first nodes have as much memory. */
struct co_shape {
    uint32_t pool, nodes;       /* of each slot */
    double memory_bytes;        /* of the first node of each slot */
    struct cs_order *open;      /* those that may have one more job, by state_bytes, */
    struct cs_order *loose;     /* by the seconds that their steps have left, */
    struct cs_order *calm;      /* and by busy_s */
};

/* What a job needs on each side, and the slots that it has. */
struct co_job {
    uint32_t slot[CO_SIDES];    /* CO_NONE: not placed */
    uint32_t next[CO_SIDES];    /* the next seat of that slot */
    uint32_t pool[CO_SIDES], nodes[CO_SIDES];   /* nodes 0: nothing on that side */
    double busy_s[CO_SIDES];    /* of its phases there, in a step */
    double state_bytes[CO_SIDES];       /* per node */
    double alone_s;             /* of a step, with nobody beside it */
    int64_t turn_ns;            /* its last one, before this decision */
    bool had_turn;              /* in this decision */
    uint32_t turned;            /* then: the job that had one before it; CO_NONE: none */
    bool paired;                /* it has roles in two pools */
    uint32_t kind;              /* then: of all jobs that need the same */
};

/* Jobs for which the same slots have room. */
struct co_kind {
    uint32_t pool[CO_SIDES], nodes[CO_SIDES];
    double state_bytes[CO_SIDES];
    uint32_t full_at;           /* co->left + 1 when one found no slots; 0: never */
    struct cs_order *waiting;   /* jobs that found none, and are not in co->seekers */
};

struct co_pool {
    uint32_t node_gpus;         /* of its first node with GPUs; 0: it has none */
    uint32_t low, end;          /* below `low` no node is free; the last one, and 1 */
    uint32_t free;              /* nodes that no slot has */
};

/* Parameters, and what is known of slots and jobs; the arrays grow. */
struct co {
    double slowdown, memory;    /* parameters */
    int64_t jobs_max;
    struct co_pool *pool;
    uint32_t *of;               /* per node: the slot that has it; CO_NONE: none */
    struct co_slot *slot;
    uint32_t slots, slot_room;  /* entries that were ever used; entries that there is room for */
    struct cs_order *unused;    /* entries of slots */
    struct co_shape *shape;
    uint32_t shapes, shape_room; /* of `shape` */
    struct co_kind *kind;
    uint32_t kinds, kind_room;  /* of `kind` */
    struct co_job *job;
    uint32_t job_room;          /* entries of `job`, which is by number of the job */
    struct cs_order *seekers;   /* jobs without slots that are to be tried */
    struct cs_order *absent;    /* such jobs of which no task waits */
    uint32_t left;              /* jobs that have left their slots, */
    uint32_t left_seen;         /* and of them those before the last decision */
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
static uint32_t co_nodes_for(const struct co *co, uint32_t pool, uint32_t gpus)
{
    uint32_t here = co->pool[pool].node_gpus;

    return here > 0 ? (gpus + here - 1) / here : CO_NONE;
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
static void co_add_role(const struct co *co, struct co_job *job, const struct cs_host *host,
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
    uint32_t nodes = co_nodes_for(co, pool, gpus);
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
static void co_measure(const struct co *co, struct co_job *job, const struct cs_host *host,
                       struct job_id id)
{
    const struct job_form *form = cs_request(host, id)->form;

    *job = (struct co_job) { .slot = { CO_NONE, CO_NONE } };
    for (uint32_t r = 0; r < form->role_count; r++)
        co_add_role(co, job, host, id, r);
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

/* Does a slot's memory hold the state of one more job on every node? */
static bool co_holds(const struct co *co, const struct co_slot *slot, const struct co_job *job,
                     uint32_t side)
{
    return slot->state_bytes + job->state_bytes[side] <=
           co->memory * co->shape[slot->shape].memory_bytes;
}

/* Has the job the nodes of such slots on that side? */
static bool co_fits(const struct co_shape *shape, const struct co_job *job, uint32_t side)
{
    return shape->pool == job->pool[side] && shape->nodes == job->nodes[side];
}

/* Returns the key of a number that is not negative, else 0: the bits of such numbers are
 * ordered as the numbers are.  Orders take whole numbers as keys, and seconds and bytes are
 * doubles here. */
static int64_t co_key(double value)
{
    union { double value; int64_t key; } bits = { .value = value };

    return value > 0 ? bits.key : 0;
}

/* Returns how full a slot would be with a job: the busy seconds of all its jobs in a step,
 * over the shortest step of a job alone.  For example, jobs of 30 s and 50 s of turns a step
 * in a slot, and the shorter step alone takes 100 s: 0.8, so that all turns fit into it. */
static double co_full(const struct co_slot *slot, const struct co_job *job, uint32_t side)
{
    return (slot->busy_s + job->busy_s[side]) / fmin(slot->alone_s, job->alone_s);
}

/* Returns the fullest slot in which nobody becomes slower than `slowdown`, so that slots
 * are filled one after another; CO_NONE: there is none.  Of equals, the lowest number.
 * Looked at are slots whose own step has the time left. */
static uint32_t co_fullest(const struct co *co, const struct co_job *job, uint32_t side)
{
    uint32_t best = CO_NONE;
    double best_full = 0;

    for (uint32_t k = 0; k < co->shapes; k++) {
        const struct cs_order *loose = co->shape[k].loose;
        if (!co_fits(&co->shape[k], job, side))
            continue;
        for (uint32_t i = cs_order_from(loose, co_key(job->busy_s[side])); i != ID_NONE;
             i = cs_order_next(loose, i)) {
            double full = co_full(&co->slot[i], job, side);
            if (full > co->slowdown || full < best_full || !(full > 0) ||
                !co_holds(co, &co->slot[i], job, side) || (full <= best_full && i > best))
                continue;
            best = i;
            best_full = full;
        }
    }
    return best;
}

/* Takes a slot in place of the best one so far if it has memory and is less full, or as
 * full and of a lower number. */
static void co_compare(const struct co *co, const struct co_job *job, uint32_t side, uint32_t i,
                       uint32_t *best, double *best_full)
{
    double full = co_full(&co->slot[i], job, side);

    if (!co_holds(co, &co->slot[i], job, side) || full > *best_full ||
        (full >= *best_full && i >= *best))
        return;
    *best = i;
    *best_full = full;
}

/* Returns the slot with memory that is least full; CO_NONE: there is none.  Of equals, the
 * lowest number.  Two orders are walked side by side until one is over: none behind the
 * first slot without memory has any, and none behind one that is too busy is less full. */
static uint32_t co_least_full(const struct co *co, const struct co_job *job, uint32_t side)
{
    uint32_t best = CO_NONE;
    double best_full = INFINITY;

    for (uint32_t k = 0; k < co->shapes; k++) {
        const struct co_shape *shape = &co->shape[k];
        if (!co_fits(shape, job, side))
            continue;
        uint32_t i = cs_order_from(shape->open, 0), j = cs_order_from(shape->calm, 0);
        for (; i != ID_NONE && j != ID_NONE;
             i = cs_order_next(shape->open, i), j = cs_order_next(shape->calm, j)) {
            const struct co_slot *by_state = &co->slot[i], *by_busy = &co->slot[j];
            if (by_state->state_bytes > 0 && !co_holds(co, by_state, job, side))
                break;
            co_compare(co, job, side, i, &best, &best_full);
            if (by_busy->busy_s > 0 &&
                (by_busy->busy_s + job->busy_s[side]) / job->alone_s > best_full)
                break;
            co_compare(co, job, side, j, &best, &best_full);
        }
    }
    return best;
}

/* Returns the first of `nodes` neighbouring nodes of a pool that no slot has;
 * CO_NONE: there are none. */
static uint32_t co_free_nodes(struct co *co, const struct cs_host *host, uint32_t pool,
                              uint32_t nodes)
{
    struct co_pool *all = &co->pool[pool];
    uint32_t run = 0;

    if (all->free < nodes)
        return CO_NONE;
    while (cs_node(host, all->low).pool != pool || co->of[all->low] != CO_NONE)
        all->low++;
    for (uint32_t n = all->low; n < all->end; n++) {
        run = cs_node(host, n).pool == pool && co->of[n] == CO_NONE ? run + 1 : 0;
        if (run == nodes)
            return n + 1 - nodes;
    }
    return CO_NONE;
}

/* Returns the shape of the slots of `nodes` nodes like the first one.  Shapes are few: a
 * search in the list, and a new one at its end. */
static uint32_t co_shape_of(struct co *co, struct cs_host *host, uint32_t first, uint32_t nodes)
{
    struct cs_node node = cs_node(host, first);
    uint32_t k = 0;

    while (k < co->shapes &&
           (co->shape[k].pool != node.pool || co->shape[k].nodes != nodes ||
            co->shape[k].memory_bytes < node.memory_bytes ||
            co->shape[k].memory_bytes > node.memory_bytes))
        k++;
    if (k < co->shapes)
        return k;
    co->shape = cs_grow(host, co->shape, &co->shape_room, k, sizeof *co->shape);
    co->shape[k] = (struct co_shape) {
        .pool = node.pool, .nodes = nodes, .memory_bytes = node.memory_bytes,
        .open = cs_order_new(host), .loose = cs_order_new(host), .calm = cs_order_new(host),
    };
    co->shapes++;
    return k;
}

/* Gives nodes of a pool to a slot, or makes them free (CO_NONE). */
static void co_give_nodes(struct co *co, const struct co_slot *slot, uint32_t to)
{
    struct co_pool *pool = &co->pool[co->shape[slot->shape].pool];

    for (uint32_t n = 0; n < slot->nodes; n++)
        co->of[slot->first + n] = to;
    pool->free += to == CO_NONE ? slot->nodes : 0u - slot->nodes;
    if (to == CO_NONE && slot->first < pool->low)
        pool->low = slot->first;
}

/* Opens a slot on nodes that no other slot has, and returns its number: the lowest that
 * is not used.  CO_NONE: there are too few neighbours. */
static uint32_t co_new_slot(struct co *co, struct cs_host *host, const struct co_job *job,
                            uint32_t side)
{
    uint32_t nodes = job->nodes[side];
    uint32_t first = co_free_nodes(co, host, job->pool[side], nodes);

    if (first == CO_NONE)
        return CO_NONE;
    uint32_t i = cs_order_pop(co->unused);
    if (i == ID_NONE)
        i = co->slots++;
    co->slot = cs_grow(host, co->slot, &co->slot_room, i, sizeof *co->slot);
    co->slot[i] = (struct co_slot) {
        .shape = co_shape_of(co, host, first, nodes), .first = first, .nodes = nodes,
        .alone_s = INFINITY, .seat = CO_NONE,
    };
    co_give_nodes(co, &co->slot[i], i);
    return i;
}

/* Puts a slot where those stand that may have one more job, or takes it from there, after
 * a job came or left.  The time left is a little too long, so that rounding leaves out no
 * slot. */
static void co_file(struct co *co, uint32_t i)
{
    const struct co_slot *slot = &co->slot[i];
    const struct co_shape *shape = &co->shape[slot->shape];
    double step_s = co->slowdown * slot->alone_s;

    if (slot->jobs > 0 && slot->jobs < (uint64_t)co->jobs_max) {
        cs_order_put(shape->open, i, co_key(slot->state_bytes));
        cs_order_put(shape->loose, i, co_key(step_s - slot->busy_s + 1e-9 * step_s));
        cs_order_put(shape->calm, i, co_key(slot->busy_s));
    } else {
        cs_order_drop(shape->open, i);
        cs_order_drop(shape->loose, i);
        cs_order_drop(shape->calm, i);
    }
}

/* Puts a job into a slot: it takes its turns there from now on. co_part() undoes
 * it. */
static void co_join(struct co *co, uint32_t j, uint32_t side, uint32_t i)
{
    struct co_slot *slot = &co->slot[i];
    struct co_job *job = &co->job[j];

    job->slot[side] = i;
    job->next[side] = slot->seat;
    slot->seat = CO_SIDES * j + side;
    slot->busy_s += job->busy_s[side];
    slot->state_bytes += job->state_bytes[side];
    slot->alone_s = fmin(slot->alone_s, job->alone_s);
    slot->jobs++;
    co_file(co, i);
}

/* The nodes of a slot without jobs, and its entry, are free for new slots. */
static void co_close(struct co *co, uint32_t i)
{
    if (co->slot[i].jobs > 0)
        return;
    co_give_nodes(co, &co->slot[i], CO_NONE);
    cs_order_put(co->unused, i, 0);
}

/* Takes a job out of its slot, which is closed after its last job. */
static void co_part(struct co *co, uint32_t j, uint32_t side)
{
    uint32_t i = co->job[j].slot[side];
    struct co_slot *slot = &co->slot[i];
    struct co_job *job = &co->job[j];
    uint32_t *at = &slot->seat;

    while (*at != CO_SIDES * j + side)
        at = &co->job[*at / CO_SIDES].next[*at % CO_SIDES];
    *at = job->next[side];
    job->slot[side] = CO_NONE;
    slot->busy_s -= job->busy_s[side];
    slot->state_bytes -= job->state_bytes[side];
    slot->jobs--;
    slot->alone_s = INFINITY;
    for (uint32_t seat = slot->seat; seat != CO_NONE;
         seat = co->job[seat / CO_SIDES].next[seat % CO_SIDES])
        slot->alone_s = fmin(slot->alone_s, co->job[seat / CO_SIDES].alone_s);
    co_file(co, i);
    co_close(co, i);
}

/* Is there a slot for a job on one side, or are there nodes for one? */
static bool co_has_room(struct co *co, const struct cs_host *host, const struct co_job *job,
                        uint32_t side)
{
    for (uint32_t k = 0; k < co->shapes; k++) {
        const struct cs_order *open = co->shape[k].open;
        uint32_t i = co_fits(&co->shape[k], job, side) ? cs_order_from(open, 0) : ID_NONE;
        while (i != ID_NONE && co->slot[i].state_bytes <= 0 &&
               !co_holds(co, &co->slot[i], job, side))
            i = cs_order_next(open, i);
        if (i != ID_NONE && co_holds(co, &co->slot[i], job, side))
            return true;
    }
    return co_free_nodes(co, host, job->pool[side], job->nodes[side]) != CO_NONE;
}

/* Returns the slot for a job on one side: the fullest that is not too full, a new one
 * without jobs, or else the least full; CO_NONE: no slot has memory for it. */
static uint32_t co_choose(struct co *co, struct cs_host *host, const struct co_job *job,
                          uint32_t side)
{
    uint32_t slot = co_fullest(co, job, side);

    if (slot == CO_NONE)
        slot = co_new_slot(co, host, job, side);
    return slot != CO_NONE ? slot : co_least_full(co, job, side);
}

/* Gives a job a slot on both sides, or on none.  False: on one side no slot has memory
 * for it; so it is until a job leaves its slots, as others that join take room alone. */
static bool co_place(struct co *co, struct cs_host *host, uint32_t j)
{
    struct co_job *job = &co->job[j];
    uint32_t slot[CO_SIDES];

    for (uint32_t s = 0; s < CO_SIDES; s++)
        if (!co_has_room(co, host, job, s))
            return false;
    for (uint32_t s = 0; s < CO_SIDES; s++) {
        slot[s] = co_choose(co, host, job, s);
        if (slot[s] != CO_NONE)
            continue;
        if (s > 0)
            co_close(co, slot[0]);
        return false;
    }
    for (uint32_t s = 0; s < CO_SIDES; s++)
        co_join(co, j, s, slot[s]);
    return true;
}

/* ---- jobs that look for slots ----------------------------------------------- */

/* Returns the number of the kind of a job.  Kinds are few, and a search in the list is enough. */
static uint32_t co_kind_of(struct co *co, struct cs_host *host, const struct co_job *job)
{
    struct co_kind kind = { .full_at = 0 };
    uint32_t k = 0;

    for (uint32_t s = 0; s < CO_SIDES; s++) {
        kind.pool[s] = job->pool[s];
        kind.nodes[s] = job->nodes[s];
        kind.state_bytes[s] = job->state_bytes[s];
    }
    for (; k < co->kinds; k++) {
        uint32_t same = 0;
        for (uint32_t s = 0; s < CO_SIDES; s++)
            same += co->kind[k].pool[s] == kind.pool[s] &&
                    co->kind[k].nodes[s] == kind.nodes[s] &&
                    co->kind[k].state_bytes[s] <= kind.state_bytes[s] &&
                    co->kind[k].state_bytes[s] >= kind.state_bytes[s];
        if (same == CO_SIDES)
            return k;
    }
    kind.waiting = cs_order_new(host);
    co->kind = cs_grow(host, co->kind, &co->kind_room, k, sizeof kind);
    co->kind[k] = kind;
    co->kinds++;
    return k;
}

/* The oldest job of a kind that found no slots is to be tried: where it finds none, no
 * other one does. */
static void co_seek(struct co *co, uint32_t kind)
{
    uint32_t j = cs_order_pop(co->kind[kind].waiting);

    if (j != ID_NONE)
        cs_order_put(co->seekers, j, 0);
}

/* Does a task of the job wait? */
static bool co_waits(const struct cs_host *host, struct job_id id)
{
    for (uint32_t r = 0; r < cs_request(host, id)->form->role_count; r++)
        if (cs_job_task(host, id, r).i != ID_NONE)
            return true;
    return false;
}

/* Tries all jobs without slots, the oldest first.  A task of such a job waits, unless it was
 * started to relieve the power cap: then it is tried when one waits again. */
static void co_place_all(struct co *co, struct cs_host *host)
{
    uint32_t j;

    while ((j = cs_order_pop(co->absent)) != ID_NONE)
        cs_order_put(co->seekers, j, 0);
    for (uint32_t k = 0; co->left_seen != co->left && k < co->kinds; k++)
        co_seek(co, k);
    co->left_seen = co->left;
    while ((j = cs_order_pop(co->seekers)) != ID_NONE) {
        struct job_id id = { j };
        struct co_kind *kind = &co->kind[co->job[j].kind];
        if (!co_waits(host, id)) {
            cs_order_put(co->absent, j, 0);
            co_seek(co, co->job[j].kind);
        } else if (kind->full_at != co->left + 1 && co_place(co, host, j)) {
            cs_wake(host, id);
            co_seek(co, co->job[j].kind);
        } else {
            kind->full_at = co->left + 1;
            cs_order_put(kind->waiting, j, 0);
        }
    }
}

/* Notes of each pool its first node, its end and how many nodes are free, which are all at
 * the beginning. */
static bool co_init(void *self, struct cs_host *host)
{
    struct co *co = self;
    uint32_t pools = cs_pool_count(host);

    co->pool = cs_alloc(host, pools, sizeof *co->pool);
    co->of = cs_alloc(host, cs_node_count(host), sizeof *co->of);
    for (uint32_t n = 0; n < cs_node_count(host); n++) {
        struct cs_node node = cs_node(host, n);
        struct co_pool *pool = &co->pool[node.pool];
        if (pool->free++ == 0)
            pool->low = n;
        pool->end = n + 1;
        if (pool->node_gpus == 0)
            pool->node_gpus = node.gpus;
        co->of[n] = CO_NONE;
    }
    co->unused = cs_order_new(host);
    co->seekers = cs_order_new(host);
    co->absent = cs_order_new(host);
    return true;
}

/* A job was submitted: room for its entry, and what it needs. */
static void co_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct co *co = self;

    co->job = cs_grow(host, co->job, &co->job_room, id.i, sizeof *co->job);
    co_measure(co, &co->job[id.i], host, id);
    if (!co->job[id.i].paired)
        return;
    co->job[id.i].kind = co_kind_of(co, host, &co->job[id.i]);
    cs_order_put(co->seekers, id.i, 0);
}

/* A job has ended.  If it was placed it holds a slot on each side, and leaves both. */
static void co_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct co *co = self;
    struct co_job *job = &co->job[id.i];

    (void)host;
    if (!job->paired)
        return;
    job->paired = false;
    if (job->slot[0] == CO_NONE) {
        cs_order_drop(co->seekers, id.i);
        cs_order_drop(co->absent, id.i);
        cs_order_drop(co->kind[job->kind].waiting, id.i);
        return;
    }
    for (uint32_t s = 0; s < CO_SIDES; s++)
        co_part(co, id.i, s);
    co->left++;
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
 * waits on, and *alike tells which others would. */
static bool co_start(struct co *co, struct cs_host *host, struct task_id task,
                     enum cs_alike *alike)
{
    const struct cs_task *pub = cs_task(host, task);
    struct co_job *job = &co->job[pub->job.i];
    uint32_t home = cs_home_pools(host, task, pub->role), side = 0;
    struct cs_want want = { .role = pub->role };

    *alike = CS_RESTS;
    if (job->paired && job->slot[0] == CO_NONE)
        return false;
    *alike = CS_ALIKE_NONE;
    if (pub->held.i != ID_NONE)
        return cs_continue(host, task) == CS_DONE;
    *alike = CS_ALIKE_ALL;
    if (!job->paired || pub->gpus == 0)
        return co_start_there(host, task, want);
    while (side < CO_SIDES && home != 1u << job->pool[side])
        side++;
    if (side == CO_SIDES)
        return co_start_there(host, task, want);
    *alike = CS_RESTS;
    want.first_node = co->slot[job->slot[side]].first;
    want.node_count = co->slot[job->slot[side]].nodes;
    return co_start_there(host, task, want);
}

/* Notes that a job had a turn in this decision; the jobs that had one are a chain, from
 * co->turned on. */
static void co_note_turn(struct co *co, uint32_t j)
{
    if (co->job[j].had_turn)
        return;
    co->job[j].had_turn = true;
    co->job[j].turned = co->turned;
    co->turned = j;
}

/* Jobs whose slots have freed nodes are candidates again. */
static void co_wake_freed(struct co *co, struct cs_host *host)
{
    uint32_t node;

    while ((node = cs_next_freed(host)) != ID_NONE) {
        uint32_t seat = co->of[node] != CO_NONE ? co->slot[co->of[node]].seat : CO_NONE;
        for (; seat != CO_NONE; seat = co->job[seat / CO_SIDES].next[seat % CO_SIDES])
            cs_wake(host, (struct job_id) { seat / CO_SIDES });
    }
}

/* Goes through the candidates once.  A job without slots waits. */
static void co_try_all(struct co *co, struct cs_host *host)
{
    struct task_id task;
    enum cs_alike alike;

    cs_try_anew(host);
    while ((task = cs_next_candidate(host)).i != ID_NONE) {
        uint32_t j = cs_task(host, task)->job.i;
        if (co_start(co, host, task, &alike)) {
            co_note_turn(co, j);
            co_wake_freed(co, host);
        } else {
            cs_tried(host, task, alike);
        }
    }
}

/* A job with a task that started has had its turn, and goes behind the others: from the next
 * decision on, as the order stands still within one. */
static void co_decide(void *self, struct cs_host *host)
{
    struct co *co = self;

    co->turned = CO_NONE;
    do {
        co_place_all(co, host);
        co_wake_freed(co, host);
        co_try_all(co, host);
    } while (cs_relieve_power(host));
    while (co->turned != CO_NONE) {
        struct job_id id = { co->turned };
        struct co_job *job = &co->job[id.i];
        job->turn_ns = cs_now_ns(host);
        job->had_turn = false;
        co->turned = job->turned;
        cs_reorder(host, id);
    }
}

const struct cs_policy co_execution_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "co-execution",
    .summary = "groups of jobs take turns on nodes of two pools, warm",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_CONFINES | CS_CONFINES_PAIRS |
             CS_RELIEVES,
    .self_bytes = sizeof(struct co),
    .param = co_param,
    .param_count = sizeof co_param / sizeof co_param[0],
    .init = co_init,
    .before = co_before,
    .decide = co_decide,
    .job_submitted = co_submitted,
    .job_ended = co_ended,
};
