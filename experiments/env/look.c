/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.c - the oldest tasks that wait, where each could start, the places and the time.
 *
 * Whether a task could start is asked of the host, once for each shape of task and place
 * and turn: a turn begins when something has changed.
 */
#include "experiments/env/look.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/run/trial.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "policies/host/host.h"
#include "policies/phases.h"
#include "sim/base/arena.h"

#define HOUR_NS 3.6e12
#define DAY_NS 8.64e13

static float of_time(int64_t ns, double half_ns)
{
    return ns <= 0 ? 0.0f : (float)((double)ns / ((double)ns + half_ns));
}

static float of_count(uint32_t n, uint32_t rows)
{
    return (float)n / (float)(n + rows);
}

static float of_share(double part, double all)
{
    return all <= 0 || part <= 0 ? 0.0f : part >= all ? 1.0f : (float)(part / all);
}

static float of_priority(int32_t priority)
{
    double p = priority;

    return (float)(0.5 + p / (2 * fabs(p) + 20));
}

/* ---- the begin ---- */

static bool is_of_place(const struct plan_place *place, const struct node_group *group)
{
    return group->gpu != NULL && place->pool_mask >> group->pool & 1 &&
           place->gpu_type == group->gpu->index + 1;
}

void look_begin(struct look *look, const struct plan *plan, struct arena *arena,
                const struct trial *trial, const struct trial_spec *spec)
{
    const struct cluster_spec *cluster = spec->cluster;

    *look = (struct look){
        .plan = plan, .trial = trial, .cluster = cluster, .host = trial_host(trial),
        .arena = arena, .gpus = cluster->gpu_count,
        .shape_of_job = spec->policy->rules.relax_ns > 0
    };
    look->row = arena_alloc(arena, plan->shape.rows, sizeof *look->row);
    look->place_gpus[0] = cluster->gpu_count;
    for (uint32_t p = 1; p < plan->shape.places; p++)
        for (uint32_t g = 0; g < cluster->group_count; g++)
            if (is_of_place(&plan->place[p], &cluster->group[g]))
                look->place_gpus[p] += cluster->group[g].gpus * cluster->group[g].node_count;
    tenants_begin(&look->tenants, arena, trial);
}

/* ---- tasks ---- */

/* What a job's length, or how long it waits, decides is of that job alone. */
static bool is_of_one_job(const struct look *look, const struct job_request *request)
{
    return look->shape_of_job || request->rates != NULL || request->goodput != NULL ||
           request->modes != NULL;
}

static uint32_t shape_of(struct look *look, const struct cs_task *task,
                         const struct job_request *request)
{
    struct look_shape new = {
        request->form, task->role, task->gpus, task->gpu_milli, request->gpu_mib,
        is_of_one_job(look, request) ? task->job.i : ID_NONE, 0, 0
    };

    for (uint32_t s = 0; new.job == ID_NONE && s < look->shape_count; s++) {
        const struct look_shape *shape = &look->shape[s];
        if (shape->form == new.form && shape->role == new.role && shape->gpus == new.gpus &&
            shape->milli == new.milli && shape->mib == new.mib && shape->job == new.job)
            return s;
    }
    ARENA_ADD(look->arena, look->shape, look->shape_count, look->shape_room, new);
    return look->shape_count - 1;
}

static void learn(struct look *look, struct look_task *kept, const struct cs_task *task)
{
    const struct job_request *request = cs_request(look->host, task->job);
    double amount = (double)task->gpus * task->gpu_milli / GPU_MILLI;
    float phases = (float)request->form->phase_count;

    *kept = (struct look_task){
        .ready_ns = task->ready_ns, .job = task->job.i, .role = task->role,
        .phase_index = task->phase, .shape = shape_of(look, task, request),
        .tenant = tenants_number(&look->tenants, request->tenant),
        .gpus = of_share(amount, look->gpus), .priority = of_priority(task->priority),
        .phase = task->role == CS_ALL_ROLES ? 0 : (float)(task->phase + 1) / phases,
        .known = true
    };
}

/* Sees to it that look->task[id.i] is of this task. */
static void know(struct look *look, struct task_id id, const struct cs_task *task)
{
    struct look_task *kept;

    ARENA_REACH(look->arena, look->task, look->task_room, id.i);
    kept = &look->task[id.i];
    if (!kept->known || kept->job != task->job.i || kept->ready_ns != task->ready_ns ||
        kept->role != task->role || kept->phase_index != task->phase)
        learn(look, kept, task);
}

const struct cs_want *look_want(const struct look *look, uint32_t row, uint32_t place,
                                struct cs_want *want)
{
    const struct plan *plan = look->plan;

    assert(row < look->rows && place < plan->shape.places);
    if (place == 0 && (!plan->phases ||
                       cs_task(look->host, look->row[row].task)->held.i != ID_NONE))
        return NULL;
    *want = (struct cs_want){
        .pool_mask = plan->place[place].pool_mask, .gpu_type = plan->place[place].gpu_type,
        .take_idle = plan->phases
    };
    return want;
}

static bool fits(struct look *look, uint32_t row, uint32_t place)
{
    struct cs_want want;

    return host_fits(look->host, look->row[row].task, look_want(look, row, place, &want));
}

/* A bit for each place where the task of a row could start now. */
static uint64_t fits_of(struct look *look, uint32_t r, bool held)
{
    struct look_shape *shape = &look->shape[look->task[look->row[r].task.i].shape];
    uint64_t places = 0;

    if (held)                   /* it goes on where it is; nobody else can */
        places = fits(look, r, 0);
    else if (shape->turn == look->turn)
        return shape->fits;
    for (uint32_t p = held; p < look->plan->shape.places; p++)
        places |= (uint64_t)fits(look, r, p) << p;
    if (held)
        return places;
    shape->turn = look->turn;
    shape->fits = places;
    return places;
}

static uint64_t see_rows(struct look *look)
{
    uint32_t count = cs_pending_count(look->host);
    uint64_t any = 0;

    look->turn++;
    look->rows = count < look->plan->shape.rows ? count : look->plan->shape.rows;
    for (uint32_t r = 0; r < look->rows; r++) {
        struct task_id id = cs_pending(look->host, r);
        const struct cs_task *task = cs_task(look->host, id);

        know(look, id, task);
        look->row[r].task = id;
        look->row[r].fits = fits_of(look, r, task->held.i != ID_NONE);
        any |= look->row[r].fits;
    }
    return any;
}

/* ---- places and time ---- */

/* Free, idle and busy GPUs of one type, in a pool that has several. */
static void count_type(const struct look *look, const struct plan_place *place,
                       double count[3])
{
    const struct cluster_spec *cluster = look->cluster;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];
        for (uint32_t n = 0; is_of_place(place, group) && n < group->node_count; n++) {
            struct cs_node node = cs_node(look->host, group->first_node + n);
            count[0] += node.here ? node.free_gpus : 0;
            count[2] += node.here ? node.gpus - node.free_gpus : 0;
        }
    }
    for (uint32_t i = 0; i < cs_lease_count(look->host); i++) {
        const struct cs_lease *lease = cs_lease(look->host, cs_lease_at(look->host, i));
        const struct placement *at = &lease->placement;
        if (lease->state == CS_LEASE_IDLE && lease->gpus > 0 &&
            is_of_place(place, cluster_group_of(cluster, at->share[0].node)))
            count[1] += lease->gpus;
    }
    count[2] -= count[1];
}

static void see_place(struct look *look, uint32_t p)
{
    const struct plan_place *place = &look->plan->place[p];
    float *out = &look->place[p * PLACE_FEATURES];
    double count[3] = { 0, 0, 0 }, all = look->place_gpus[p];

    if (place->shares_pool) {
        count_type(look, place, count);
    } else {
        count[0] = cs_free_gpus(look->host, place->pool_mask);
        count[1] = look->plan->phases ? cs_idle_gpus(look->host, place->pool_mask) : 0;
        count[2] = cs_total_gpus(look->host, place->pool_mask) - count[0] - count[1];
    }
    uint32_t at = 0;
    out[at++] = of_share(all, look->gpus);
    for (uint32_t c = 0; c < 3; c++)
        out[at++] = of_share(count[c], all);
    assert(at == PLACE_FEATURES);
}

static void see_clock(struct look *look)
{
    uint32_t waiting = cs_pending_count(look->host), rows = look->plan->shape.rows, at = 0;

    look->clock[at++] = of_time(cs_now_ns(look->host), DAY_NS);
    look->clock[at++] = of_count(waiting, rows);
    look->clock[at++] = waiting <= rows ? 0 : of_share(waiting - rows, waiting);
    look->clock[at++] = of_count(cs_running_count(look->host), rows);
    look->clock[at++] = trial_job_to_come(look->trial);
    assert(at == CLOCK_FEATURES);
}

static void see_rest(struct look *look)
{
    for (uint32_t p = 0; p < look->plan->shape.places; p++)
        see_place(look, p);
    see_clock(look);
}

/* Will anything change without the agent?  Idle leases stay as they are. */
static bool goes_on(const struct look *look)
{
    for (uint32_t i = 0; i < cs_lease_count(look->host); i++)
        if (cs_lease(look->host, cs_lease_at(look->host, i))->state != CS_LEASE_IDLE)
            return true;
    return trial_job_to_come(look->trial);
}

bool look_anew(struct look *look)
{
    if (see_rows(look) == 0)
        return false;
    look->may_wait = goes_on(look);
    see_rest(look);
    return true;
}

void look_end(struct look *look)
{
    look->rows = 0;
    look->may_wait = true;
    see_rest(look);
}

/* ---- numbers ---- */

static void write_row(const struct look *look, const struct look_row *row, int64_t now_ns,
                      float *out)
{
    const struct cs_task *task = cs_task(look->host, row->task);
    const struct look_task *kept = &look->task[row->task.i];
    uint32_t at = 0;

    out[at++] = 1;
    out[at++] = kept->gpus;
    out[at++] = of_time(now_ns - task->ready_ns, HOUR_NS);
    out[at++] = of_time(task->estimate_ns, HOUR_NS);
    out[at++] = kept->priority;
    out[at++] = kept->tenant == TENANT_NONE ? 0 :
                of_share(look->tenants.tenant[kept->tenant].gpus, look->gpus);
    out[at++] = kept->phase;
    out[at++] = task->started;
    out[at++] = task->held.i != ID_NONE;
    assert(at == TASK_FEATURES);
}

void look_write(const struct look *look, float *observation, uint8_t *mask)
{
    const struct clustersim_env_shape *shape = &look->plan->shape;
    int64_t now_ns = cs_now_ns(look->host);
    float *out = observation;

    for (uint32_t r = 0; r < look->rows; r++, out += TASK_FEATURES)
        write_row(look, &look->row[r], now_ns, out);
    memset(out, 0, (size_t)(shape->rows - look->rows) * TASK_FEATURES * sizeof *out);
    out = observation + (size_t)shape->rows * TASK_FEATURES;
    memcpy(out, look->place, (size_t)shape->places * PLACE_FEATURES * sizeof *out);
    memcpy(out + (size_t)shape->places * PLACE_FEATURES, look->clock, sizeof look->clock);
    memset(mask, 0, shape->actions);
    for (uint32_t r = 0; r < look->rows; r++)
        for (uint64_t places = look->row[r].fits; places != 0; places &= places - 1)
            mask[r * shape->places + (uint32_t)__builtin_ctzll(places)] = 1;
    mask[shape->actions - 1] = look->may_wait;
}
