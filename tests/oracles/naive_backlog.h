/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_backlog.h - policies/nodes/backlog.c by a list of what each role of each task was given,
 * which is added up anew at each question.
 */
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "policies/nodes/backlog.h"
#include "policies/nodes/need.h"
#include "policies/nodes/rental.h"
#include "policies/policy.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

#define NAIVE_GIVEN_MAX 4000u

struct naive_given {            /* to a role of a task */
    uint32_t group;
    double nodes;
    double more_w;              /* what it draws there beyond where it draws least */
};

struct naive_count {
    struct naive_given given[NAIVE_GIVEN_MAX];
    uint32_t count;
    double least_w;             /* what all roles so far draw where they draw least */
    int64_t next_ns;
};

static uint64_t naive_backlogs;         /* questions so far; one thread */

static double naive_nodes_given(const struct naive_count *c, uint32_t g)
{
    double sum = 0;

    for (uint32_t i = 0; i < c->count; i++)
        sum += c->given[i].group == g ? c->given[i].nodes : 0;
    return sum;
}

/* Whole nodes to be ordered for what was given: those that come or are idle serve first. */
static double naive_orders(const struct cs_host *host, const struct naive_count *c, uint32_t g)
{
    const struct rent_group *group = &host->rent->group[g];
    double nodes = naive_nodes_given(c, g), whole = floor(nodes);

    if (nodes - whole > (nodes > 1 ? HOST_RENTAL_SLACK : 0))
        whole += 1;
    return fmax(0, whole - group->coming - group->idle);
}

/* All that would be drawn: now, by the nodes to come, and by the tasks. */
static double naive_draw_w(const struct cs_host *host, const struct naive_count *c)
{
    double w = (double)host->nodes->power_mw / 1000 + c->least_w;

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host->spec->group[g].rent != NULL)
            w += naive_orders(host, c, g) *
                 (double)power_standby_mw(host->spec, &host->spec->group[g]) / 1000;
    for (uint32_t i = 0; i < c->count; i++)
        w += c->given[i].more_w;
    return w;
}

static double naive_role_w(const struct cs_host *host, struct job_id job, uint32_t r, bool least,
                           uint32_t g)
{
    return (double)host_need_draw_mw(host, job, r, least, g) / 1000;
}

/* Could it run somewhere as it asks, beside owned nodes that stand by and its own nodes? */
static bool naive_runs_as_asked(const struct cs_host *host, struct job_id job, uint32_t r)
{
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        double nodes = host_need_nodes(group, cs_request(host, job), r);
        double w = (double)host->rent->owned_mw / 1000;

        if (!host_need_suits(host, g, job, r) || nodes > group->node_count)
            continue;
        w += naive_role_w(host, job, r, false, g);
        if (group->rent != NULL)
            w += ceil(nodes) * (double)power_standby_mw(host->spec, group) / 1000;
        if (w <= host->spec->power_cap_w)
            return true;
    }
    return false;
}

static double naive_least_w(const struct cs_host *host, struct job_id job, uint32_t r, bool least)
{
    double w = INFINITY;

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host_need_suits(host, g, job, r))
            w = fmin(w, naive_role_w(host, job, r, least, g));
    return isinf(w) ? 0 : w;
}

/* May more nodes of the group be asked for than have been so far? */
static bool naive_has_more(const struct cs_host *host, const struct naive_count *c, uint32_t g)
{
    const struct rent_group *group = &host->rent->group[g];

    return host->spec->group[g].rent != NULL &&
           host->spec->group[g].rent->scale != RENT_ALWAYS &&
           (double)group->room + group->coming + group->idle - naive_nodes_given(c, g) >
               HOST_RENTAL_SLACK;
}

/* Gives so many nodes, unless some would have to be ordered for which there is no power. */
static bool naive_give(const struct cs_host *host, struct naive_count *c, uint32_t g,
                       double nodes, double more_w)
{
    double orders = naive_orders(host, c, g);

    assert_true(c->count < NAIVE_GIVEN_MAX);
    c->given[c->count++] = (struct naive_given) { g, nodes, more_w };
    if (host->spec->power_cap_w <= 0 || naive_orders(host, c, g) == orders ||
        naive_draw_w(host, c) <= host->spec->power_cap_w + 1e-7)
        return true;
    c->count--;
    return false;
}

/* The first group that has nodes for a role.  False: such groups have no power. */
static bool naive_give_role(const struct cs_host *host, const struct cs_task *task, uint32_t r,
                            bool least, struct naive_count *c)
{
    bool has_power = true;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        double nodes = host_need_nodes(group, cs_request(host, task->job), r), more_w = 0;

        if (!naive_has_more(host, c, g) || !host_need_suits(host, g, task->job, r) ||
            nodes > group->node_count)
            continue;
        int64_t due_ns = task->ready_ns + group->rent->wait_ns;
        if (due_ns > host_now(host)) {
            c->next_ns = due_ns < c->next_ns ? due_ns : c->next_ns;
            continue;
        }
        if (host->spec->power_cap_w > 0)
            more_w = naive_role_w(host, task->job, r, least, g) -
                     naive_least_w(host, task->job, r, least);
        double beside = host_need_beside(host, task->job, r, g, nodes);
        if (naive_give(host, c, g, nodes, more_w) ||
            (beside > 0 && naive_give(host, c, g, beside, more_w)))
            return true;
        has_power = false;
    }
    return has_power;
}

/* All roles of a task get nodes, or none. */
static void naive_give_task(const struct cs_host *host, const struct cs_task *task,
                            struct naive_count *c)
{
    uint32_t before = c->count, end = task->role + 1, r = task->role;
    bool least[FORM_ROLES_MAX] = { false };

    if (task->role == CS_ALL_ROLES) {
        r = 0;
        end = cs_request(host, task->job)->form->role_count;
    }
    for (uint32_t i = r; i < end && host->spec->power_cap_w > 0; i++) {
        least[i] = !naive_runs_as_asked(host, task->job, i);
        c->least_w += naive_least_w(host, task->job, i, least[i]);
    }
    for (; r < end; r++)
        if (!naive_give_role(host, task, r, least[r], c)) {
            c->count = before;
            return;
        }
}

int64_t host_backlog_count(struct cs_host *host)
{
    static struct naive_count c;        /* one thread */

    naive_backlogs++;
    c.count = 0;
    c.least_w = 0;
    c.next_ns = CLOCK_NEVER_NS;
    for (uint32_t k = 0; k < cs_pending_count(host); k++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, k));
        bool more = false;
        for (uint32_t g = 0; g < host->spec->group_count; g++)
            more |= naive_has_more(host, &c, g);
        if (more && task->held.i == ID_NONE)
            naive_give_task(host, task, &c);
    }
    host->rent->planned_mw = 0;
    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host->spec->group[g].rent != NULL) {
            struct rent_group *group = &host->rent->group[g];
            group->wanted = naive_nodes_given(&c, g);
            group->planned = (uint32_t)naive_orders(host, &c, g);
            host->rent->planned_mw += group->planned *
                                      power_standby_mw(host->spec, &host->spec->group[g]);
        }
    host->rent->drawn_mw = llround(1000 * c.least_w);
    for (uint32_t i = 0; i < c.count; i++)
        host->rent->drawn_mw += llround(1000 * c.given[i].more_w);
    return c.next_ns;
}
