/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decision_rows.c - one row a decision, in the order in which they are made.
 */
#include "experiments/run/decision_rows.h"

#include <assert.h>
#include <stdio.h>

#include "experiments/columns/columns.h"
#include "experiments/spec/trial_spec.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/table.h"

/* Whom the decisions of one trial are written for. */
struct decision_rows {
    const struct trial_spec *spec;  /* names the trial in each row */
    struct table *table;        /* or NULL */
    struct cs_host *host;       /* for the names of jobs and roles */
};

/* Keeps a request of the policy in words, for the message if the process of the
 * trial ends: the last TRIAL_LAST of them, in a ring.  `requests` counts all of them, so the
 * oldest of the ring is found from it.  An entry reads "at 12.5 s: start job 3 on ...", and
 * ends with the host's verdict. */
static void note_request(struct trial_watch *watch, const struct cs_host *host,
                         const struct host_decision *d)
{
    char *line = watch->last[watch->requests++ % TRIAL_LAST], where[64];
    char when[32], job[24] = "";
    const struct job_request *request =
        d->job.i == ID_NONE ? NULL : cs_request(host, d->job);

    if (request != NULL)
        snprintf(job, sizeof job, " job %u", d->job.i);
    clock_format_s(d->time_ns, when, sizeof when);
    trial_placement_text(&d->placement, where, sizeof where);
    snprintf(line, sizeof watch->last[0], "at %s s: %s%s%s%s, %s", when,
             host_action_name(d->action), job, where[0] == '\0' ? "" : " on ", where,
             host_verdict_name(d->verdict));
}

/* Hears a decision. */
static void decision_row(void *self, const struct host_decision *d)
{
    const struct decision_rows *rows = self;
    const struct trial_spec *spec = rows->spec;
    struct table *table = rows->table;
    bool known = d->job.i != ID_NONE;
    const struct job_request *request =
        known ? cs_request(rows->host, d->job) : NULL;
    char text[512];

    if (spec->watch != NULL)
        note_request(spec->watch, rows->host, d);
    if (table == NULL)
        return;
    table_text(table, spec->point);
    table_text(table, spec->policy->name);
    table_count(table, spec->replica);
    table_time(table, d->time_ns);
    table_count(table, d->seq);
    table_text(table, host_action_name(d->action));
    if (request && request->name)
        table_text(table, request->name);
    else {
        clock_format_s((int64_t)d->job.i * CLOCK_NS_PER_S, text, sizeof text);
        table_text(table, known ? text : "");
    }
    table_text(table, known && d->role < request->form->role_count
                          ? request->form->role[d->role].name : "all");
    trial_placement_text(&d->placement, text, sizeof text);
    table_text(table, text);
    table_text(table, host_verdict_name(d->verdict));
    table_count(table, d->pending);
    table_count(table, d->free_gpus);
    table_end_row(table);
}

void decision_rows_listen(struct arena *arena, const struct trial_spec *spec,
                          struct table *table, struct cs_host *host)
{
    struct decision_rows *rows;

    assert(spec != NULL && host != NULL);
    if (table == NULL && spec->watch == NULL)
        return;
    rows = arena_alloc(arena, 1, sizeof *rows);
    *rows = (struct decision_rows){ spec, table, host };
    host_on_decision(host, decision_row, rows);
}
