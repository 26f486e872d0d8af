/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * look.c - the oldest tasks that wait, where each could start, the places and
 * the time.
 *
 * Whether a task could start is asked of the host, once for each shape of task
 * and place and turn: a turn begins when something has changed.  Tasks of one
 * shape (form, role, GPUs, memory) have one answer, so a queue of a thousand
 * tasks of ten shapes costs ten questions a place.  Tasks that hold a lease
 * already are asked one by one.
 *
 * Rows stay from turn to turn.  As long as tasks wait in the order in which
 * they came, only new ones are added at the end; where a task may come back to
 * an earlier place (a preemption, a failure), `stale` makes all rows be read
 * anew.
 */
#include "experiments/env/look.h"

#include <assert.h>
#include <string.h>

#include "experiments/env/scale.h"
#include "experiments/run/trial.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/facts.h"
#include "policies/host/host.h"
#include "policies/phases.h"
#include "sim/base/arena.h"
#include "sim/event/journal.h"

/* ---- the begin ---- */

/* Do the nodes of the group have the place's type of GPU, in its pool? */
static bool is_of_place(const struct plan_place *place, const struct node_group *group)
{
    return group->gpu != NULL && place->pool_mask >> group->pool & 1 &&
           place->gpu_type == group->gpu->index + 1;
}

/* From now on, tasks may come back to their earlier places in the order, or go, as
 * a replica that waits does when its service needs fewer: rows must be read anew, for
 * the rest of the episode. */
static void hear_fact(void *self, const struct fact *fact)
{
    struct look *look = self;

    if (fact->kind != FACT_JOB_END || fact->object != JOB_DONE ||
        cs_serves(look->host, (struct job_id){ fact->subject }))
        look->stale = true;
}

/* One array a column, as all rows of a column are read in each step. */
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

/* Listens to facts that change the order of what waits.  With relaxed placement
 * (rules.relax_ns), a task's wait decides where it fits, so no two tasks share a
 * shape. */
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
    running_begin(&look->running, plan, arena, look->host, &look->tenants, look->gpus);
    journal_listen(trial_journal(trial),
                   UINT64_C(1) << FACT_JOB_STOP | UINT64_C(1) << FACT_JOB_INTERRUPT |
                       UINT64_C(1) << FACT_NODE_DOWN | UINT64_C(1) << FACT_JOB_END,
                   hear_fact, look);
}

/* ---- tasks ---- */

/* Does the job's own length, speed or wait decide where it fits?  Its shape is
 * then of that job alone. */
static bool is_of_one_job(const struct look *look, const struct job_request *request)
{
    return look->shape_of_job || request->rates != NULL || request->goodput != NULL ||
           request->modes != NULL;
}

/* Returns the number of the task's shape, made if it is new; linear in the shapes,
 * once a task. */
static uint32_t find_shape(struct look *look, const struct cs_task *task,
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

/* Reads what stays the same of a task. */
static struct look_task learn_task(struct look *look, const struct cs_task *task)
{
    const struct job_request *request = cs_request(look->host, task->job);

    return (struct look_task){
        .ready_ns = task->ready_ns, .job = task->job.i, .role = task->role,
        .phase = task->phase, .shape = find_shape(look, task, request),
        .tenant = tenants_number(&look->tenants, request->tenant), .known = true
    };
}

/* Returns what is known of a task; slots are used again, so what is kept is checked. */
static const struct look_task *find_task(struct look *look, struct task_id id,
                                         const struct cs_task *task)
{
    struct look_task *kept;

    ARENA_REACH(look->arena, look->task, look->task_room, id.i);
    kept = &look->task[id.i];
    if (!kept->known || kept->job != task->job.i || kept->ready_ns != task->ready_ns ||
        kept->role != task->role || kept->phase != task->phase)
        *kept = learn_task(look, task);
    return kept;
}

/* Fills row r but for what changes with time, which write_rows() adds. */
static void fill_row(struct look *look, uint32_t r)
{
    struct look_rows *row = &look->row;
    struct task_id id = cs_pending(look->host, r);
    const struct cs_task *task = cs_task(look->host, id);
    const struct look_task *kept = find_task(look, id, task);
    float *out = &row->number[r * TASK_FEATURES];

    row->task[r] = id;
    row->shape[r] = kept->shape;
    row->tenant[r] = kept->tenant;
    row->ready_ns[r] = task->ready_ns;
    row->held[r] = task->held.i != ID_NONE;
    look->shape[kept->shape].rows++;
    out[TASK_AT_TASK] = 1;
    out[TASK_AT_GPUS] = scale_share((double)task->gpus * task->gpu_milli / GPU_MILLI, look->gpus);
    out[TASK_AT_WAITED] = out[TASK_AT_TENANT] = 0;
    out[TASK_AT_ESTIMATE] = scale_time(task->estimate_ns, SCALE_HOUR_NS);
    out[TASK_AT_PRIORITY] = scale_priority(task->priority);
    out[TASK_AT_PHASE] = task->role == CS_ALL_ROLES ? 0 : (float)(task->phase + 1) /
                         (float)cs_request(look->host, task->job)->form->phase_count;
    out[TASK_AT_STARTED] = task->started;
    out[TASK_AT_HELD] = row->held[r];
}

const struct cs_want *look_want(const struct look *look, uint32_t row, uint32_t choice,
                                struct cs_want *want)
{
    const struct plan *plan = look->plan;
    const struct plan_place *place = &plan->place[choice % plan->shape.places];

    assert(row < look->rows && choice < plan->shape.choices);
    if (choice == 0 && (!plan->phases || look->row.held[row]))
        return NULL;
    *want = (struct cs_want){
        .pool_mask = place->pool_mask, .gpu_type = place->gpu_type,
        .gpus = plan->size[choice / plan->shape.places], .take_idle = plan->phases
    };
    return want;
}

/* Could the task of the row start by that choice now?  Asks the host; nothing is
 * taken. */
static bool task_fits(struct look *look, uint32_t row, uint32_t choice)
{
    struct cs_want want;

    return host_fits(look->host, look->row.task[row], look_want(look, row, choice, &want));
}

/* Returns a bit for each choice by which the task of row r could start now. */
static uint64_t find_choices(struct look *look, uint32_t r)
{
    uint64_t choices = 0;

    for (uint32_t c = 0; c < look->plan->shape.choices; c++)
        choices |= (uint64_t)task_fits(look, r, c) << c;
    return choices;
}

/* Returns the choices by which a task of shape s could start now, and keeps the answer
 * for this turn.  It asks for the first row at or after r whose task has the shape
 * and holds no lease. */
static uint64_t find_shape_choices(struct look *look, uint32_t s, uint32_t r)
{
    struct look_shape *shape = &look->shape[s];

    while (look->row.shape[r] != s || look->row.held[r])
        if (++r == look->rows)
            return 0;           /* all that have it hold leases */
    shape->turn = look->turn;
    return shape->fits = find_choices(look, r);
}

/* Brings the rows up to date.  Whole jobs come at the end and wait as they came,
 * so rows stay; phases change while they wait, so their rows are read anew. */
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

/* Asks each shape once, and returns a bit set if anything fits anywhere.  Where
 * there are more shapes than rows, those of the rows are looked for. */
static uint64_t see_fits(struct look *look)
{
    uint64_t any = 0;

    look->turn++;
    for (uint32_t r = 0; look->plan->phases && r < look->rows; r++)
        if (look->row.held[r])
            any |= look->row.fits[r] = find_choices(look, r);
    if (look->shape_count <= look->rows) {
        for (uint32_t s = 0; s < look->shape_count; s++)
            if (look->shape[s].rows > 0)
                any |= find_shape_choices(look, s, 0);
        return any;
    }
    for (uint32_t r = 0; r < look->rows; r++)
        if (!look->row.held[r] && look->shape[look->row.shape[r]].turn != look->turn)
            any |= find_shape_choices(look, look->row.shape[r], r);
    return any;
}

#define CLOSE_GAP(array, at, count) \
    memmove(&(array)[at], &(array)[(at) + 1], (size_t)((count) - (at)) * sizeof *(array))

/* The task of row r was started in this decision: the rows behind it move up, as
 * the host's order does. */
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

/* Adds up free, idle and busy GPUs of one type, where its pool has several: the
 * host counts by pool, so nodes and leases are gone through. */
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

/* Free, idle and busy GPUs of a place, as shares of its own. */
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
    out[PLACE_AT_GPUS] = scale_share(all, look->gpus);
    out[PLACE_AT_FREE] = scale_share(count[0], all);
    out[PLACE_AT_IDLE] = scale_share(count[1], all);
    out[PLACE_AT_BUSY] = scale_share(count[2], all);
}

/* Writes the numbers of the clock, all from 0 to 1. */
static void see_clock(struct look *look)
{
    uint32_t waiting = cs_pending_count(look->host), rows = look->plan->shape.rows;
    float *out = look->clock;

    out[CLOCK_AT_NOW] = scale_time(cs_now_ns(look->host), SCALE_DAY_NS);
    out[CLOCK_AT_WAITING] = scale_count(waiting, rows);
    out[CLOCK_AT_UNSEEN] = waiting <= rows ? 0 : scale_share(waiting - rows, waiting);
    out[CLOCK_AT_RUNNING] = scale_count(cs_running_count(look->host), rows);
    out[CLOCK_AT_TO_COME] = trial_job_to_come(look->trial);
}

static void see_rest(struct look *look)
{
    for (uint32_t p = 0; p < look->plan->shape.places; p++)
        see_place(look, p);
    see_clock(look);
}

/* Will anything change without the agent: a lease that works, or a job to come?
 * Idle leases stay as they are.  If not, waiting would be for ever. */
static bool will_change(const struct look *look)
{
    for (uint32_t i = 0; i < cs_lease_count(look->host); i++)
        if (cs_lease(look->host, cs_lease_at(look->host, i))->state != CS_LEASE_IDLE)
            return true;
    return trial_job_to_come(look->trial);
}

bool look_anew(struct look *look)
{
    see_rows(look);
    bool starts = see_fits(look) != 0;
    if (!running_see(&look->running, look->rows > 0) && !starts)
        return false;
    look->may_wait = will_change(look);
    see_rest(look);
    return true;
}

void look_end(struct look *look)
{
    look->rows = 0;
    running_end(&look->running);
    look->may_wait = true;
    see_rest(look);
}

/* ---- numbers ---- */

/* Copies the rows and adds what changes with time: how long each waits, and what
 * its tenant holds.  Rows without a task are 0. */
static void write_rows(const struct look *look, float *out)
{
    const struct look_rows *row = &look->row;
    int64_t now_ns = look->rows > 0 ? cs_now_ns(look->host) : 0;   /* ended: no host */

    memcpy(out, row->number, look->rows * TASK_FEATURES * sizeof *out);
    for (uint32_t r = 0; r < look->rows; r++, out += TASK_FEATURES) {
        out[TASK_AT_WAITED] = scale_time(now_ns - row->ready_ns[r], SCALE_HOUR_NS);
        if (row->tenant[r] != TENANT_NONE)
            out[TASK_AT_TENANT] =
                scale_share(look->tenants.tenant[row->tenant[r]].gpus, look->gpus);
    }
    memset(out, 0, (look->plan->shape.rows - look->rows) * TASK_FEATURES * sizeof *out);
}

/* The mask is 1 where a bit of `fits` is set; the last action is to wait. */
void look_write(const struct look *look, float *observation, uint8_t *mask)
{
    const struct clustersim_env_shape *shape = &look->plan->shape;
    float *out = observation + (size_t)shape->rows * TASK_FEATURES;

    write_rows(look, observation);
    memcpy(out, look->place, (size_t)shape->places * PLACE_FEATURES * sizeof *out);
    memcpy(out + (size_t)shape->places * PLACE_FEATURES, look->clock, sizeof look->clock);
    memset(mask, 0, shape->actions);
    for (uint32_t r = 0; r < look->rows; r++) {
        uint64_t choices = look->row.held[r] ? look->row.fits[r]
                                             : look->shape[look->row.shape[r]].fits;
        for (; choices != 0; choices &= choices - 1)
            mask[r * shape->choices + (uint32_t)__builtin_ctzll(choices)] = 1;
    }
    running_write(&look->running,
                  out + (size_t)shape->places * PLACE_FEATURES + CLOCK_FEATURES,
                  mask + (size_t)shape->rows * shape->choices);
    mask[shape->actions - 1] = look->may_wait;
}
