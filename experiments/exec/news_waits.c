/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * news_waits.c - tasks that began to wait or wait no more, and leases that are idle.
 *
 * Invariant: between decisions, the tasks with their bit set in exec->job are
 * those that the program was told to wait and not told to have gone.
 * exec->waits is the number of these bits.
 */
#include "experiments/exec/news_parts.h"

#include <assert.h>

#include "experiments/exec/guest.h"
#include "experiments/exec/line.h"
#include "experiments/exec/news.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "sim/base/arena.h"

/* A task that waits; per phase with its role and phase. */
void news_put_task(const struct exec *exec, const struct cs_host *host,
                       struct task_id id, struct line *out)
{
    const struct cs_task *task = cs_task(host, id);
    bool whole = task->role == CS_ALL_ROLES;

    line_item(out);
    line_raw(out, "{");
    line_int_of(out, "job", task->job.i);
    if (!whole) {
        line_int_of(out, "role", task->role);
        line_int_of(out, "phase", task->phase);
    }
    line_int_of(out, "gpus", task->gpus);
    if (!whole || exec->guest->table.flags & CS_ASKS_ESTIMATES)
        line_int_of(out, "estimate_ns", task->estimate_ns);
    if (task->held.i != ID_NONE)
        line_raw(out, ",\"held\":true");
    if (task->started)
        line_raw(out, ",\"started\":true");
    if (task->gpu_milli != 0 && task->gpu_milli < 1000)
        line_int_of(out, "gpu_milli", task->gpu_milli);
    line_raw(out, "}");
}

/* Was the program told that the task waits? */
static bool is_known(const struct exec *exec, const struct cs_task *task)
{
    return (exec->job[task->job.i] & exec_bit(task->role)) != 0;
}

/* Writes a task that the program does not know to wait, and notes that it knows now. */
static void tell_task(struct exec *exec, struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);

    news_put_task(exec, host, id, &exec->out);
    exec->job[task->job.i] |= exec_bit(task->role);
    exec->waits++;
    if (task->role != CS_ALL_ROLES)
        ARENA_ADD(NULL, exec->task, exec->task_count, exec->task_room,
                  (struct exec_task){ task->job.i, task->role });
}

/* Whole jobs stop waiting by a start or an end, both of which the program knows,
 * so the count tells how many are new.  New ones mostly stand at the end of the
 * order, so they are looked for from there, and told in the order. */
static void write_whole(struct exec *exec, struct cs_host *host)
{
    uint32_t count = cs_pending_count(host), i = count;
    uint32_t fresh = count - exec->waits;

    assert(count >= exec->waits);
    exec->fresh.count = 0;
    while (exec->fresh.count < fresh && i > 0)
        if (!is_known(exec, cs_task(host, cs_pending(host, --i))))
            ARENA_ADD(NULL, exec->fresh.item, exec->fresh.count, exec->fresh.room, i);
    for (i = exec->fresh.count; i > 0; i--)
        tell_task(exec, host, cs_pending(host, exec->fresh.item[i - 1]));
}

/* Returns the stamp of a task: the number of the message that found it waiting.  It is good
 * until the next call. */
static uint32_t *find_seen(struct exec *exec, uint32_t job, uint32_t role)
{
    size_t at = (size_t)job * FORM_ROLES_MAX + role;

    ARENA_REACH(NULL, exec->seen, exec->seen_room, at);
    return &exec->seen[at];
}

/* Per phase, tasks come and go with phases and faults, so all of them are looked
 * at, and each gets the stamp of this message. */
static void write_phases(struct exec *exec, struct cs_host *host)
{
    uint32_t stamp = (uint32_t)exec->number;

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id id = cs_pending(host, i);
        const struct cs_task *task = cs_task(host, id);

        *find_seen(exec, task->job.i, task->role) = stamp;
        if (!is_known(exec, task))
            tell_task(exec, host, id);
    }
}

/* Names those that wait no more though the program asked nothing of them: known
 * tasks without the stamp of this message.  A task may stand in the list twice, if it waited,
 * was gone and waits again; it is kept once. */
static void write_gone(struct exec *exec)
{
    uint32_t kept = 0;
    bool open = false;

    for (uint32_t i = 0; i < exec->task_count; i++) {
        struct exec_task task = exec->task[i];
        bool known = (exec->job[task.job] & exec_bit(task.role)) != 0;

        if (known && *find_seen(exec, task.job, task.role) == (uint32_t)exec->number) {
            *find_seen(exec, task.job, task.role) = 0;    /* kept once */
            exec->task[kept++] = task;
            continue;
        }
        if (!known)
            continue;
        if (!open)
            line_raw(&exec->out, ",\"gone\":[");
        open = true;
        line_item(&exec->out);
        line_raw(&exec->out, "{");
        line_int_of(&exec->out, "job", task.job);
        line_int_of(&exec->out, "role", task.role);
        line_raw(&exec->out, "}");
        news_forget(exec, task);
    }
    exec->task_count = kept;
    if (open)
        line_raw(&exec->out, "]");
}

/* Writes tasks that wait and that the program does not know to wait.  An empty list is taken
 * back: most messages have none. */
void news_put_waits(struct exec *exec, struct cs_host *host)
{
    bool phases = (exec->guest->table.flags & CS_PER_PHASE) != 0;
    size_t before = exec->out.used, empty;

    if (!phases && cs_pending_count(host) == exec->waits)
        return;
    line_raw(&exec->out, ",\"waits\":[");
    empty = exec->out.used;
    if (phases)
        write_phases(exec, host);
    else
        write_whole(exec, host);
    if (exec->out.used == empty)
        exec->out.used = before;
    else
        line_raw(&exec->out, "]");
    if (phases)
        write_gone(exec);
}

/* Leases that became idle since the last message, if they still are there. */
void news_put_idle(struct exec *exec, const struct cs_host *host)
{
    line_key(&exec->out, "idle");
    line_raw(&exec->out, "[");
    for (uint32_t i = 0; i < exec->idle_count; i++) {
        struct job_id job = { exec->idle[i].job };
        struct lease_id lease;

        if ((exec->job[job.i] & EXEC_LIVES) == 0)
            continue;
        lease = cs_role_lease(host, job, exec->idle[i].role);
        if (lease.i == ID_NONE)
            continue;
        line_item(&exec->out);
        line_raw(&exec->out, "{");
        line_int_of(&exec->out, "job", job.i);
        line_int_of(&exec->out, "role", exec->idle[i].role);
        line_int_of(&exec->out, "gpus", cs_lease(host, lease)->gpus);
        line_int_of(&exec->out, "pools", cs_lease_pools(host, lease));
        line_raw(&exec->out, "}");
    }
    line_raw(&exec->out, "]");
    exec->idle_count = 0;
}

void news_forget(struct exec *exec, struct exec_task task)
{
    uint8_t bit = exec_bit(task.role);

    if ((exec->job[task.job] & bit) == 0)
        return;
    exec->job[task.job] &= (uint8_t)~bit;
    exec->waits--;
}
