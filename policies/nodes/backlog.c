/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backlog.c - nodes and power for the tasks that wait.
 *
 * Tasks are counted in the order of the policy.  Each adds the nodes that it
 * needs to the first group, in the order of the file, that suits it and may
 * still order nodes.
 *
 * Under a power cap a node that stands by takes power that GPUs lack.  So nodes for a task
 * are counted if what is left then lets it run, and all tasks before it, too.
 */
#include "policies/nodes/backlog.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "policies/nodes/need.h"
#include "policies/nodes/rental.h"
#include "policies/policy.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

/* Could more nodes than are counted for now come into use?  Nodes that are idle, or coming, or
 * could be ordered, are more than the tasks counted so far take. */
static bool wants_more(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->rent->group[g];

    assert(group->wanted >= 0);
    return host_need_scales(&host->spec->group[g]) &&
           group->wanted + HOST_RENTAL_SLACK <
               group->room + group->coming + group->idle;
}

/* ---- power of tasks that wait ------------------------------------------ */

/* Would the cap allow what a role adds as it asks on nodes of a group, if nothing else ran?
 * Nothing else runs, but owned nodes stand by, and so do the nodes that would be rented. */
static bool is_allowed_alone(const struct cs_host *host, struct job_id job, uint32_t r, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    double nodes = host_need_nodes(group, cs_request(host, job), r);
    int64_t mw = host->rent->owned_mw + host_need_draw_mw(host, job, r, false, g);

    assert(nodes >= 0);
    if (nodes > group->node_count)
        return false;
    if (group->rent != NULL)
        mw += (int64_t)host_rental_whole(nodes) * power_standby_mw(host->spec, group);
    return (double)mw <= 1000 * host->spec->power_cap_w;
}

/* Returns what a role adds where it adds least, on the GPUs that it asks for; or, which sets
 * *least, on the fewest that it may have, if the cap never allows as many. */
static int64_t find_least_mw(const struct cs_host *host, struct job_id job, uint32_t r,
                             bool *least)
{
    int64_t least_mw = INT64_MAX;
    bool as_asked = false;

    assert(host->spec->power_cap_w > 0);
    for (uint32_t g = 0; g < host->spec->group_count && !as_asked; g++)
        as_asked = host_need_suits(host, g, job, r) && is_allowed_alone(host, job, r, g);
    *least = !as_asked;
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        int64_t mw = host_need_suits(host, g, job, r) ? host_need_draw_mw(host, job, r, *least, g)
                                                 : INT64_MAX;
        least_mw = mw < least_mw ? mw : least_mw;
    }
    return least_mw < INT64_MAX ? least_mw : 0;
}

/* ---- nodes for tasks that wait ----------------------------------------- */

/* What a role is counted for. */
struct count {
    bool least;                 /* with the fewest GPUs that it may have */
    int64_t least_mw;           /* what it then adds where it adds least */
};

/* Notes what is counted so far. */
static void note_counts(struct cs_host *host)
{
    struct host_rent *rent = host->rent;

    assert(rent != NULL);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        rent->group[g].wanted_before = rent->group[g].wanted;
        rent->group[g].planned_before = rent->group[g].planned;
    }
    rent->planned_mw_before = rent->planned_mw;
    rent->drawn_mw_before = rent->drawn_mw;
}

/* Takes back what was counted since. */
static void restore_counts(struct cs_host *host)
{
    struct host_rent *rent = host->rent;

    assert(rent->planned_mw_before <= rent->planned_mw);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        rent->group[g].wanted = rent->group[g].wanted_before;
        rent->group[g].planned = rent->group[g].planned_before;
    }
    rent->planned_mw = rent->planned_mw_before;
    rent->drawn_mw = rent->drawn_mw_before;
}

/* Counts nodes of a group for a role that adds more_mw there beyond what is counted for it;
 * false: the cap leaves no power for it or for a task before it.  For example, tasks so far
 * take 1.5 nodes, 1 is idle and this role takes 0.25: 1.75 are 2 whole nodes, so that 1 must
 * be ordered, as before.  Nothing more is planned then. */
static bool count_nodes(struct cs_host *host, uint32_t g, double nodes, int64_t more_mw)
{
    struct host_rent *rent = host->rent;
    struct rent_group *group = &rent->group[g];
    assert(nodes >= 0);
    double wants = host_rental_whole(group->wanted + nodes) - group->coming - group->idle -
                   group->planned;
    uint32_t planned = wants > 0 ? (uint32_t)wants : 0;
    int64_t standby_mw = planned * power_standby_mw(host->spec, &host->spec->group[g]);
    int64_t mw = host->nodes->power_mw + rent->planned_mw + rent->drawn_mw;

    if (host->spec->power_cap_w > 0 && planned > 0 &&
        (double)(mw + standby_mw + more_mw) > 1000 * host->spec->power_cap_w)
        return false;
    group->wanted += nodes;
    group->planned += planned;
    rent->planned_mw += standby_mw;
    rent->drawn_mw += more_mw;
    return true;
}

/* ---- gangs that no group holds alone ------------------------------------ */

/* Adds the nodes[] of a role, whose power `count` has, to their groups.  If one of them has the
 * task wait for its `wait`, none gets any yet.  False: they have no power. */
static bool count_parts(struct cs_host *host, const struct cs_task *task, uint32_t r,
                        const double *nodes, const struct count *count, int64_t *next)
{
    int64_t due = host_now(host);
    bool first = true;

    assert(nodes != NULL);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct rent_spec *rent = host->spec->group[g].rent;
        int64_t end = nodes[g] > 0 ? clock_after(task->ready_ns, rent->wait_ns) : 0;
        assert(rent != NULL || !(nodes[g] > 0));
        due = end > due ? end : due;
    }
    if (due > host_now(host)) {
        *next = due < *next ? due : *next;
        return true;
    }
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        int64_t more_mw = 0;
        if (!(nodes[g] > 0))
            continue;
        if (first && host->spec->power_cap_w > 0)
            more_mw = host_need_draw_mw(host, task->job, r, count->least, g) - count->least_mw;
        if (!count_nodes(host, g, nodes[g], more_mw))
            return false;
        first = false;
    }
    return true;
}

/* Adds the nodes of a gang that no group could hold alone: of several rented groups, beside owned
 * GPUs that are free.  The first type that has enough counts; if none has, the
 * gang counts with the fewest GPUs that it may have. */
static bool count_spread(struct cs_host *host, const struct cs_task *task, uint32_t r,
                         const struct count *count, int64_t *next)
{
    const struct job_request *request = cs_request(host, task->job);
    uint32_t gpus = job_role_gpus(request, r);
    uint32_t least = gpus > 0 ? host_need_least(host, task->job, r) : 0;

    assert(least <= gpus);
    for (bool few = false; gpus > 0 && !request->form->role[r].pod; gpus = least, few = true) {
        for (uint32_t g = 0; g < host->spec->group_count; g++)
            if (wants_more(host, g) && host_need_suits(host, g, task->job, r) &&
                host_need_spread(host, task->job, r, gpus, g, host->rent->parts))
                return count_parts(host, task, r, host->rent->parts, count, next);
        if (few || least == gpus)
            return true;
    }
    return true;
}

/* ---- all roles ----------------------------------------------------------- */

/* Adds the nodes of a role to the first group that suits it and may order more, or to several if
 * none could ever hold it.
 * A group passes over a task that has not waited for its `wait` yet; *next becomes
 * the earliest end of such a wait, if it is earlier.  The power of `count` is counted
 * already.  False: there are such nodes, but not the power. */
static bool count_role(struct cs_host *host, const struct cs_task *task, uint32_t r,
                       const struct count *count, int64_t *next)
{
    bool has_power = true;

    assert(task->ready_ns <= host_now(host));
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (!wants_more(host, g) || !host_need_suits(host, g, task->job, r))
            continue;
        double nodes = host_need_nodes(group, cs_request(host, task->job), r);
        if (nodes > group->node_count)
            continue;
        int64_t due = clock_after(task->ready_ns, group->rent->wait_ns), more_mw = 0;
        if (due > host_now(host)) {
            *next = due < *next ? due : *next;
            continue;
        }
        if (host->spec->power_cap_w > 0)
            more_mw = host_need_draw_mw(host, task->job, r, count->least, g) -
                      count->least_mw;
        if (count_nodes(host, g, nodes, more_mw))
            return true;
        nodes = host_need_beside(host, task->job, r, g, nodes);
        if (nodes > 0 && count_nodes(host, g, nodes, more_mw))
            return true;
        has_power = false;
    }
    return has_power && !host_need_one_group(host, task->job, r)
               ? count_spread(host, task, r, count, next) : has_power;
}

/* Counts the nodes of all roles of a task, and under a cap the power, which it has before all
 * tasks after it; no nodes, if one of the roles lacks power.  *next: see count_role().  A task
 * of a whole job has all its roles; all of them get nodes, or none. */
static void count_task(struct cs_host *host, const struct cs_task *task, int64_t *next)
{
    uint32_t roles = cs_request(host, task->job)->form->role_count;
    bool whole = task->role == CS_ALL_ROLES, has_power = true;
    uint32_t from = whole ? 0 : task->role, to = whole ? roles : from + 1, r;
    struct count count[FORM_ROLES_MAX] = { 0 };

    assert(from < to && to <= FORM_ROLES_MAX);
    for (r = from; r < to && host->spec->power_cap_w > 0; r++) {
        count[r].least_mw = find_least_mw(host, task->job, r, &count[r].least);
        host->rent->drawn_mw += count[r].least_mw;
    }
    if (host->spec->power_cap_w > 0)
        note_counts(host);
    for (r = from; r < to && has_power; r++)
        has_power = count_role(host, task, r, &count[r], next);
    if (!has_power)
        restore_counts(host);
}

/* A task that holds an idle lease needs no node.  The walk ends when no group could have more
 * nodes. */
int64_t host_backlog_count(struct cs_host *host)
{
    int64_t next = CLOCK_NEVER_NS;

    assert(host->rent != NULL);
    for (uint32_t k = 0; k < cs_pending_count(host); k++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, k));
        bool any = false;
        for (uint32_t g = 0; g < host->spec->group_count && !any; g++)
            any = wants_more(host, g);
        if (!any)
            break;
        if (task->held.i == ID_NONE)
            count_task(host, task, &next);
    }
    return next;
}
