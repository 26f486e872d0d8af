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
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/phases.h"
#include "sim/base/arena.h"
#include "sim/event/journal.h"

#define HOUR_NS 3.6e12
#define DAY_NS 8.64e13

static float of_time(int64_t ns, double half)
{
    return ns <= 0 ? 0.0f : (float)((double)ns / ((double)ns + half));
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

/* From now on, tasks may come back to their places, or go. */
static void hear(void *self, const struct fact *fact)
{
    struct look *look = self;

    if (fact->kind != FACT_JOB_END || fact->object != JOB_DONE)
        look->stale = true;
}

static void make_rows(struct look_rows *row, struct arena *arena, uint32_t rows)
{
    row->task = arena_alloc(arena, rows, sizeof *row->task);
    row->shape = arena_alloc(arena, rows, sizeof *row->shape);
    row->tenant = arena_alloc(arena, rows, sizeof *row->tenant);
    row->ready_ns = arena_alloc(arena, rows, sizeof *row->ready_ns);
    row->fits = arena_alloc(arena, rows, sizeof *row->fits);
    row->number = arena_alloc(arena, rows, TASK_FEATURES * sizeof *row->number);
    row->held = arena_alloc(arena, rows, sizeof *row->held);
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
    make_rows(&look->row, arena, plan->shape.rows);
    look->place_gpus[0] = cluster->gpu_count;
    for (uint32_t p = 1; p < plan->shape.places; p++)
        for (uint32_t g = 0; g < cluster->group_count; g++)
            if (is_of_place(&plan->place[p], &cluster->group[g]))
                look->place_gpus[p] += cluster->group[g].gpus * cluster->group[g].node_count;
    tenants_begin(&look->tenants, arena, trial);
    journal_listen(trial_journal(trial),
                   UINT64_C(1) << FACT_JOB_STOP | UINT64_C(1) << FACT_JOB_INTERRUPT |
                       UINT64_C(1) << FACT_NODE_DOWN | UINT64_C(1) << FACT_JOB_END, hear, look);
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
        is_of_one_job(look, request) ? task->job.i : ID_NONE, 0, 0, 0
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

static struct look_task learn(struct look *look, const struct cs_task *task)
{
    const struct job_request *request = cs_request(look->host, task->job);

    return (struct look_task){
        .ready_ns = task->ready_ns, .job = task->job.i, .role = task->role,
        .phase = task->phase, .shape = shape_of(look, task, request),
        .tenant = tenants_number(&look->tenants, request->tenant), .known = true
    };
}

static const struct look_task *know(struct look *look, struct task_id id,
                                    const struct cs_task *task)
{
    struct look_task *kept;

    ARENA_REACH(look->arena, look->task, look->task_room, id.i);
    kept = &look->task[id.i];
    if (!kept->known || kept->job != task->job.i || kept->ready_ns != task->ready_ns ||
        kept->role != task->role || kept->phase != task->phase)
        *kept = learn(look, task);
    return kept;
}

static void fill_row(struct look *look, uint32_t r)
{
    struct look_rows *row = &look->row;
    struct task_id id = cs_pending(look->host, r);
    const struct cs_task *task = cs_task(look->host, id);
    const struct look_task *kept = know(look, id, task);
    float *out = &row->number[r * TASK_FEATURES];

    row->task[r] = id;
    row->shape[r] = kept->shape;
    row->tenant[r] = kept->tenant;
    row->ready_ns[r] = task->ready_ns;
    row->held[r] = task->held.i != ID_NONE;
    look->shape[kept->shape].rows++;
    out[TASK_AT_TASK] = 1;
    out[TASK_AT_GPUS] = of_share((double)task->gpus * task->gpu_milli / GPU_MILLI, look->gpus);
    out[TASK_AT_WAITED] = out[TASK_AT_TENANT] = 0;
    out[TASK_AT_ESTIMATE] = of_time(task->estimate_ns, HOUR_NS);
    out[TASK_AT_PRIORITY] = of_priority(task->priority);
    out[TASK_AT_PHASE] = task->role == CS_ALL_ROLES ? 0 : (float)(task->phase + 1) /
                         (float)cs_request(look->host, task->job)->form->phase_count;
    out[TASK_AT_STARTED] = task->started;
    out[TASK_AT_HELD] = row->held[r];
}

const struct cs_want *look_want(const struct look *look, uint32_t row, uint32_t place,
                                struct cs_want *want)
{
    const struct plan *plan = look->plan;

    assert(row < look->rows && place < plan->shape.places);
    if (place == 0 && (!plan->phases || look->row.held[row]))
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

    return host_fits(look->host, look->row.task[row], look_want(look, row, place, &want));
}

/* A bit for each place where the task of a row could start now. */
static uint64_t fits_at(struct look *look, uint32_t r)
{
    uint64_t places = 0;

    for (uint32_t p = 0; p < look->plan->shape.places; p++)
        places |= (uint64_t)fits(look, r, p) << p;
    return places;
}

/* Returns the places where a task of shape s could start now.  It asks for the first row
 * at or after r whose task has the shape and holds no lease. */
static uint64_t fits_of(struct look *look, uint32_t s, uint32_t r)
{
    struct look_shape *shape = &look->shape[s];

    while (look->row.shape[r] != s || look->row.held[r])
        if (++r == look->rows)
            return 0;           /* all that have it hold leases */
    shape->turn = look->turn;
    return shape->fits = fits_at(look, r);
}

/* Whole jobs come at the end, and wait as they came; phases change while they wait. */
static void see_rows(struct look *look)
{
    uint32_t count = cs_pending_count(look->host);
    uint32_t rows = count < look->plan->shape.rows ? count : look->plan->shape.rows;

    if (look->stale || look->plan->phases)
        while (look->rows > 0)
            look->shape[look->row.shape[--look->rows]].rows = 0;
    while (look->rows < rows)
        fill_row(look, look->rows++);
    assert(look->rows == rows);
    assert(rows == 0 || look->row.task[0].i == cs_pending(look->host, 0).i);
    assert(rows == 0 || look->row.task[rows - 1].i == cs_pending(look->host, rows - 1).i);
}

/* Each shape is asked once.  Where there are many, those of the rows are looked for. */
static uint64_t see_fits(struct look *look)
{
    uint64_t any = 0;

    look->turn++;
    for (uint32_t r = 0; look->plan->phases && r < look->rows; r++)
        if (look->row.held[r])
            any |= look->row.fits[r] = fits_at(look, r);
    if (look->shape_count <= look->rows) {
        for (uint32_t s = 0; s < look->shape_count; s++)
            if (look->shape[s].rows > 0)
                any |= fits_of(look, s, 0);
        return any;
    }
    for (uint32_t r = 0; r < look->rows; r++)
        if (!look->row.held[r] && look->shape[look->row.shape[r]].turn != look->turn)
            any |= fits_of(look, look->row.shape[r], r);
    return any;
}

#define CLOSE_GAP(array, at, count) \
    memmove(&(array)[at], &(array)[(at) + 1], (size_t)((count) - (at)) * sizeof *(array))

void look_started(struct look *look, uint32_t r)
{
    struct look_rows *row = &look->row;
    float *number = &row->number[r * TASK_FEATURES];

    assert(r < look->rows);
    look->rows--;
    look->shape[row->shape[r]].rows--;
    CLOSE_GAP(row->task, r, look->rows);
    CLOSE_GAP(row->shape, r, look->rows);
    CLOSE_GAP(row->tenant, r, look->rows);
    CLOSE_GAP(row->ready_ns, r, look->rows);
    CLOSE_GAP(row->held, r, look->rows);
    memmove(number, number + TASK_FEATURES,
            (look->rows - r) * TASK_FEATURES * sizeof *number);
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
    out[PLACE_AT_GPUS] = of_share(all, look->gpus);
    out[PLACE_AT_FREE] = of_share(count[0], all);
    out[PLACE_AT_IDLE] = of_share(count[1], all);
    out[PLACE_AT_BUSY] = of_share(count[2], all);
}

static void see_clock(struct look *look)
{
    uint32_t waiting = cs_pending_count(look->host), rows = look->plan->shape.rows;
    float *out = look->clock;

    out[CLOCK_AT_NOW] = of_time(cs_now_ns(look->host), DAY_NS);
    out[CLOCK_AT_WAITING] = of_count(waiting, rows);
    out[CLOCK_AT_UNSEEN] = waiting <= rows ? 0 : of_share(waiting - rows, waiting);
    out[CLOCK_AT_RUNNING] = of_count(cs_running_count(look->host), rows);
    out[CLOCK_AT_TO_COME] = trial_job_to_come(look->trial);
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
    see_rows(look);
    if (see_fits(look) == 0)
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

static void write_rows(const struct look *look, float *out)
{
    const struct look_rows *row = &look->row;
    int64_t now_ns = cs_now_ns(look->host);

    memcpy(out, row->number, look->rows * TASK_FEATURES * sizeof *out);
    for (uint32_t r = 0; r < look->rows; r++, out += TASK_FEATURES) {
        out[TASK_AT_WAITED] = of_time(now_ns - row->ready_ns[r], HOUR_NS);
        if (row->tenant[r] != TENANT_NONE)
            out[TASK_AT_TENANT] =
                of_share(look->tenants.tenant[row->tenant[r]].gpus, look->gpus);
    }
    memset(out, 0, (look->plan->shape.rows - look->rows) * TASK_FEATURES * sizeof *out);
}

void look_write(const struct look *look, float *observation, uint8_t *mask)
{
    const struct clustersim_env_shape *shape = &look->plan->shape;
    float *out = observation + (size_t)shape->rows * TASK_FEATURES;

    write_rows(look, observation);
    memcpy(out, look->place, (size_t)shape->places * PLACE_FEATURES * sizeof *out);
    memcpy(out + (size_t)shape->places * PLACE_FEATURES, look->clock, sizeof look->clock);
    memset(mask, 0, shape->actions);
    for (uint32_t r = 0; r < look->rows; r++) {
        uint64_t places = look->row.held[r] ? look->row.fits[r]
                                            : look->shape[look->row.shape[r]].fits;
        for (; places != 0; places &= places - 1)
            mask[r * shape->places + (uint32_t)__builtin_ctzll(places)] = 1;
    }
    mask[shape->actions - 1] = look->may_wait;
}
