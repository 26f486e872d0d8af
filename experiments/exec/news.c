/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * news.c - messages to a program: news only, which it adds up itself.
 *
 * A message has what changed since the last one, so that its length follows
 * what happened and not the size of the cluster or of the queue.
 * policies/PROTOCOL.md is the reference of all keys; keys with their usual
 * value are left out.
 *
 * Here are the messages; their longer parts are in news_jobs.c and news_waits.c.
 */
#include "experiments/exec/news.h"

#include <string.h>

#include "experiments/exec/exec.h"
#include "experiments/exec/line.h"
#include "experiments/exec/news_parts.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

void news_write_hello(struct line *out)
{
    line_clear(out);
    line_raw(out, "{\"n\":0,\"hello\":{");
    line_int_of(out, "protocol", EXEC_PROTOCOL);
    line_text_of(out, "program", "clustersim " CLUSTERSIM_VERSION);
    line_raw(out, "}}\n");
}

/* Starts the message with the next number; `kind`: all of it is a map of that key.  What the
 * line held before is gone. */
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

/* Writes the values that the entry gives to the program's own keys.  Left out if the program
 * has none. */
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

/* The host is not asked any more, so that it may be NULL. */
void news_write_end(struct exec *exec, struct cs_host *host)
{
    (void)host;
    begin_message(exec, "end");
    line_raw(&exec->out, "}}\n");
}

/* ---- a decision ---- */

/* Writes the free GPUs of each pool, in the order of `pools` of the start message; for a
 * program that leases for phases, those of idle leases too. */
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
        news_put_jobs(exec, host);
    if (exec->ended.count > 0)
        news_put_ended(exec);
    news_put_waits(exec, host);
    if (exec->idle_count > 0)
        news_put_idle(exec, host);
    if (exec->verdicts.used > 0) {
        line_raw(&exec->out, ",\"verdicts\":[");
        line_append(&exec->out, &exec->verdicts);
        line_raw(&exec->out, "]");
    }
    line_raw(&exec->out, "}\n");
    line_clear(&exec->verdicts);
}

static const char *const state_names[] = { "loading", "busy", "idle" };

/* Adds a lease as an item of a list; idle_since_ns only where it is idle. */
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
        news_put_task(exec, host, cs_pending(host, i), line);
    line_raw(line, "],\"leases\":[");
    for (uint32_t i = 0; i < cs_lease_count(host); i++)
        write_lease(host, cs_lease_at(host, i), line);
    line_raw(line, "]}");
}

bool news_job_lives(const struct exec *exec, int64_t job)
{
    return job >= 0 && job < exec->job_count && (exec->job[job] & EXEC_LIVES) != 0;
}
