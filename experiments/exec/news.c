/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * news.c - messages to a program: news only, which it adds up itself.
 *
 * A message has what changed since the last one, so that its length follows
 * what happened and not the size of the cluster or of the queue.
 * policies/PROTOCOL.md is the reference of all keys; keys with their usual
 * value are left out.
 *
 * Invariant: between decisions, the tasks with their bit set in exec->job are
 * those that the program was told to wait and not told to have gone.
 * exec->waits is the number of these bits.
 */
#include "experiments/exec/news.h"

#include <assert.h>
#include <string.h>

#include "experiments/exec/exec.h"
#include "experiments/exec/line.h"
#include "models/jobs/job.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

void news_write_hello(struct line *out)
{
    line_clear(out);
    line_raw(out, "{\"n\":0,\"hello\":{");
    line_int_of(out, "protocol", EXEC_PROTOCOL);
    line_text_of(out, "program", "clustersim " CLUSTERSIM_VERSION);
    line_raw(out, "}}\n");
}

/* Starts the message with the next number; `kind`: all of it is a map of that key. */
static void begin_message(struct exec *exec, const char *kind)
{
    line_clear(&exec->out);
    line_raw(&exec->out, "{\"n\":");
    line_int(&exec->out, ++exec->number);
    if (kind != NULL) {
        line_key(&exec->out, kind);
        line_raw(&exec->out, "{");
    }
}

/* The value lies in `self`, where the reader of the experiment put it by kind. */
static void write_param(struct line *out, const struct exec_param *param, const char *at)
{
    const char *word = param->words;

    switch (param->kind) {
    case CS_PARAM_INT:
    case CS_PARAM_TIME:
        line_int_of(out, param->key, *(const int64_t *)(const void *)at);
        return;
    case CS_PARAM_REAL:
    case CS_PARAM_FRACTION:
        line_real_of(out, param->key, *(const double *)(const void *)at);
        return;
    case CS_PARAM_BOOL:
        line_key(out, param->key);
        line_raw(out, *(const bool *)(const void *)at ? "true" : "false");
        return;
    case CS_PARAM_TEXT:
        word = *(const char *const *)(const void *)at;
        line_text_of(out, param->key, word != NULL ? word : "");
        return;
    default:
        for (int i = *(const int *)(const void *)at; i > 0; i--)
            word += strcspn(word, " ") + 1;
        line_key(out, param->key);
        line_words(out, word, strcspn(word, " "));
    }
}

/* Writes the values that the entry gives to the program's own keys. */
static void write_params(const struct exec *exec, struct line *out)
{
    const struct exec_self *self = &exec->guest->self;

    if (self->param_count == 0)
        return;
    line_key(out, "params");
    line_raw(out, "{");
    for (uint32_t i = 0; i < self->param_count; i++)
        write_param(out, &self->param[i], (const char *)exec + exec_param_at(i));
    line_raw(out, "}");
}

/* The seed is a draw of the policy's own stream, as a whole number below 2^53,
 * which JSON readers keep exact. */
void news_write_start(struct exec *exec, struct cs_host *host)
{
    struct line *out = &exec->out;

    begin_message(exec, "start");
    if (exec->guest->table.flags & CS_DRAWS)
        line_int_of(out, "seed", (int64_t)(cs_random(host) * 0x1p53));
    if (exec->guest->table.flags & CS_ASKS_BLOCKING)
        line_text_of(out, "blocking", cs_skips(host) ? "skip" : "strict");
    write_params(exec, out);
    if (cs_round_ns(host) > 0)
        line_int_of(out, "round_ns", cs_round_ns(host));
    line_key(out, "pools");
    line_raw(out, "[");
    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        line_item(out);
        line_raw(out, "{");
        line_text_of(out, "name", cs_pool_name(host, p));
        line_int_of(out, "gpus", cs_total_gpus(host, 1u << p));
        line_raw(out, "}");
    }
    line_raw(out, "]");
    line_key(out, "nodes");
    line_raw(out, "[");
    for (uint32_t n = 0; n < cs_node_count(host); n++) {
        struct cs_node node = cs_node(host, n);

        line_item(out);
        line_raw(out, "{");
        line_int_of(out, "pool", node.pool);
        line_int_of(out, "gpus", node.gpus);
        line_int_of(out, "cores", node.cores);
        line_real_of(out, "memory_bytes", node.memory_bytes);
        line_raw(out, "}");
    }
    line_raw(out, "]}}\n");
}

void news_write_end(struct exec *exec, struct cs_host *host)
{
    (void)host;
    begin_message(exec, "end");
    line_raw(&exec->out, "}}\n");
}

/* ---- jobs and their forms ---- */

/* What a role needs; only what differs from a plain role. */
static void write_role(struct line *out, const struct cs_host *host, struct job_id job,
                       uint32_t r)
{
    const struct role_spec *role = &cs_request(host, job)->form->role[r];

    line_item(out);
    line_raw(out, "{");
    line_text_of(out, "name", role->name);
    line_int_of(out, "gpus", role->gpus);
    if (role->gpus_max != role->gpus || role->gpus_min != role->gpus) {
        line_int_of(out, "min", role->gpus_min);
        line_int_of(out, "max", role->gpus_max);
        line_int_of(out, "multiple", role->gpus_multiple);
    }
    if (role->cores > 0)
        line_int_of(out, "cores", role->cores);
    if (job_role_chooses(role))
        line_int_of(out, "on_cores", role->on_cores.cores);
    if (cs_role_homes(host, job, r) != 0)
        line_int_of(out, "home", cs_role_homes(host, job, r));
    line_raw(out, "}");
}

/* What jobs of a form have in common is told once, with their first job. */
static void write_form(struct exec *exec, const struct cs_host *host, struct job_id job)
{
    const struct job_form *form = cs_request(host, job)->form;
    struct line *out = &exec->out;

    line_item(out);
    line_raw(out, "{");
    line_int_of(out, "form", exec->form_count);
    line_text_of(out, "name", form->name != NULL ? form->name : "");
    line_text_of(out, "recipe", form->recipe != NULL ? form->recipe : "");
    line_key(out, "roles");
    line_raw(out, "[");
    for (uint32_t r = 0; r < form->role_count; r++)
        write_role(out, host, job, r);
    line_raw(out, "]");
    line_key(out, "phases");
    line_raw(out, "[");
    for (uint32_t p = 0; p < form->phase_count; p++) {
        line_item(out);
        line_raw(out, "{");
        line_text_of(out, "name", form->phase[p].name != NULL ? form->phase[p].name : "");
        line_text_of(out, "kind", phase_kind_name(form->phase[p].kind));
        line_int_of(out, "role", form->phase[p].role);
        line_int_of(out, "after", form->phase[p].after_mask);
        line_raw(out, "}");
    }
    line_raw(out, "]}");
}

/* Returns the number of a form, or form_count if it was not told yet. */
static uint32_t find_form(const struct exec *exec, const struct job_form *form)
{
    uint32_t i = exec->form_count;

    while (i > 0 && exec->form[i - 1] != form)      /* late ones are asked for most */
        i--;
    return i == 0 ? exec->form_count : i - 1;
}

/* Tells the forms that the submitted jobs need and the program has not. */
static void write_forms(struct exec *exec, const struct cs_host *host)
{
    bool open = false;

    for (uint32_t i = 0; i < exec->submitted.count; i++) {
        struct job_id job = { exec->submitted.item[i] };
        const struct job_form *form = cs_request(host, job)->form;

        if (find_form(exec, form) < exec->form_count)
            continue;
        if (!open) {
            line_key(&exec->out, "forms");
            line_raw(&exec->out, "[");
        }
        open = true;
        write_form(exec, host, job);
        ARENA_ADD(NULL, exec->form, exec->form_count, exec->form_room, form);
    }
    if (open)
        line_raw(&exec->out, "]");
}

/* What is a job's own. */
static void write_job(struct exec *exec, const struct cs_host *host, uint32_t i)
{
    struct job_id job = { i };
    const struct job_request *request = cs_request(host, job);
    struct line *out = &exec->out;

    line_item(out);
    line_raw(out, "{");
    line_int_of(out, "job", i);
    line_int_of(out, "form", find_form(exec, request->form));
    if (request->submit_ns != cs_now_ns(host))
        line_int_of(out, "submit_ns", request->submit_ns);
    if (request->gpus > 0 && request->gpus != request->form->role[0].gpus)
        line_int_of(out, "gpus", request->gpus);
    if (request->name != NULL)
        line_text_of(out, "name", request->name);
    if (request->tenant != NULL)
        line_text_of(out, "tenant", request->tenant);
    if (request->limit_ns > 0)
        line_int_of(out, "limit_ns", request->limit_ns);
    if (request->deadline_ns != CLOCK_NEVER_NS)
        line_int_of(out, "deadline_ns", request->deadline_ns);
    if (request->priority != 0)
        line_int_of(out, "priority", request->priority);
    if (request->steps != 1)
        line_int_of(out, "steps", request->steps);
    line_raw(out, "}");
}

static void write_jobs(struct exec *exec, const struct cs_host *host)
{
    write_forms(exec, host);
    line_key(&exec->out, "jobs");
    line_raw(&exec->out, "[");
    for (uint32_t i = 0; i < exec->submitted.count; i++)
        write_job(exec, host, exec->submitted.item[i]);
    line_raw(&exec->out, "]");
    exec->submitted.count = 0;
}

/* An ended job waits no more, in whatever role. */
static void write_ended(struct exec *exec)
{
    line_key(&exec->out, "ended");
    line_raw(&exec->out, "[");
    for (uint32_t i = 0; i < exec->ended.count; i++) {
        uint32_t job = exec->ended.item[i];

        line_item(&exec->out);
        line_int(&exec->out, job);
        for (uint32_t bits = exec->job[job] & ~EXEC_LIVES; bits != 0; bits &= bits - 1)
            exec->waits--;
        exec->job[job] = 0;
    }
    line_raw(&exec->out, "]");
    exec->ended.count = 0;
}

/* ---- what waits ---- */

/* A task that waits; per phase with its role and phase. */
static void write_task(const struct exec *exec, const struct cs_host *host,
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

static bool is_known(const struct exec *exec, const struct cs_task *task)
{
    return (exec->job[task->job.i] & exec_bit(task->role)) != 0;
}

/* Writes a task that the program does not know to wait, and notes that it knows now. */
static void tell_task(struct exec *exec, struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);

    write_task(exec, host, id, &exec->out);
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

/* Returns the stamp of a task: the number of the message that found it waiting. */
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
 * tasks without the stamp of this message. */
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

/* An empty list is taken back. */
static void write_waits(struct exec *exec, struct cs_host *host)
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
static void write_idle(struct exec *exec, const struct cs_host *host)
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

/* ---- a decision ---- */

/* Free GPUs by pool, and per phase the idle ones. */
static void write_free(struct exec *exec, const struct cs_host *host)
{
    line_raw(&exec->out, ",\"free\":[");
    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        line_item(&exec->out);
        line_int(&exec->out, cs_free_gpus(host, 1u << p));
    }
    line_raw(&exec->out, "]");
    if ((exec->guest->table.flags & CS_PER_PHASE) == 0)
        return;
    line_raw(&exec->out, ",\"idle_gpus\":[");
    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        line_item(&exec->out);
        line_int(&exec->out, cs_idle_gpus(host, 1u << p));
    }
    line_raw(&exec->out, "]");
}

/* The key `now` comes first, so that a program may read it before the rest. */
void news_write_decide(struct exec *exec, struct cs_host *host)
{
    begin_message(exec, NULL);
    line_int_of(&exec->out, "now", cs_now_ns(host));
    if (exec->again)
        line_raw(&exec->out, ",\"again\":true");
    write_free(exec, host);
    if (exec->submitted.count > 0)
        write_jobs(exec, host);
    if (exec->ended.count > 0)
        write_ended(exec);
    write_waits(exec, host);
    if (exec->idle_count > 0)
        write_idle(exec, host);
    if (exec->verdicts.used > 0) {
        line_raw(&exec->out, ",\"verdicts\":[");
        line_append(&exec->out, &exec->verdicts);
        line_raw(&exec->out, "]");
    }
    line_raw(&exec->out, "}\n");
    line_clear(&exec->verdicts);
}

static const char *const state_names[] = { "loading", "busy", "idle" };

static void write_lease(const struct cs_host *host, struct lease_id id, struct line *line)
{
    const struct cs_lease *lease = cs_lease(host, id);

    line_item(line);
    line_raw(line, "{");
    line_int_of(line, "job", lease->job.i);
    line_int_of(line, "role", lease->role);
    line_int_of(line, "gpus", lease->gpus);
    line_int_of(line, "pools", cs_lease_pools(host, id));
    line_text_of(line, "state", state_names[lease->state]);
    line_int_of(line, "since_ns", lease->since_ns);
    if (lease->state == CS_LEASE_IDLE)
        line_int_of(line, "idle_since_ns", lease->idle_since_ns);
    line_int_of(line, "expected_end_ns", lease->expected_end_ns);
    line_raw(line, "}");
}

/* For programs that do not want to add up news, and for their tests. */
void news_write_snapshot(struct exec *exec, struct cs_host *host, struct line *line)
{
    line_raw(line, "{\"waits\":[");
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        write_task(exec, host, cs_pending(host, i), line);
    line_raw(line, "],\"leases\":[");
    for (uint32_t i = 0; i < cs_lease_count(host); i++)
        write_lease(host, cs_lease_at(host, i), line);
    line_raw(line, "]}");
}

void news_forget(struct exec *exec, struct exec_task task)
{
    uint8_t bit = exec_bit(task.role);

    if ((exec->job[task.job] & bit) == 0)
        return;
    exec->job[task.job] &= (uint8_t)~bit;
    exec->waits--;
}

bool news_job_lives(const struct exec *exec, int64_t job)
{
    return job >= 0 && job < exec->job_count && (exec->job[job] & EXEC_LIVES) != 0;
}
