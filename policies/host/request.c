/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request.c - what a policy may request: the cs_ functions that start,
 * release and stop.
 *
 * Every request is checked and answered by a verdict.  Requests that are done, and those
 * that are refused for another reason than want of room, are told to the recorder of
 * decisions (host_answer).
 *
 * The path of a start: is the task live, has the want a shape that the role can
 * have, is there room (a search of the cluster), and then the grant.  Nothing is
 * changed before the place is found, so that a refusal leaves everything as it
 * was.  README.md has the path file by file.
 */
#include "policies/host/request.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/facts.h"
#include "policies/host/decide.h"
#include "policies/host/host.h"
#include "policies/host/view.h"
#include "policies/known.h"
#include "policies/leases/cost.h"
#include "policies/leases/idle.h"
#include "policies/leases/interrupt.h"
#include "policies/leases/job.h"
#include "policies/leases/kept.h"
#include "policies/leases/lease.h"
#include "policies/leases/phase.h"
#include "policies/leases/power.h"
#include "policies/leases/time.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/deals.h"
#include "policies/state/decision.h"
#include "policies/state/ends.h"
#include "policies/state/full.h"
#include "policies/state/gpus.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/news.h"
#include "policies/state/queue.h"
#include "policies/state/read.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

/* Counts a verdict, tells it to the recorder of decisions and to the journal, and
 * returns it.  CS_NO_ROOM is counted alone: it is the usual answer of a full
 * cluster, and is neither a decision nor a mistake of the policy. */
enum cs_verdict host_answer(struct cs_host *host, enum host_action action,
                            struct job_id job, uint32_t role,
                            enum cs_verdict verdict,
                            const struct placement *placement)
{
    assert((unsigned)verdict < CS_VERDICT_COUNT && (unsigned)action < HOST_ACTION_COUNT);
    host->counts.verdict[verdict]++;
    if (host->decision->tries != NULL && action == HOST_START &&
        host->decision->tries->job == ID_NONE) {
        host->decision->tries->job = job.i;
        host->decision->tries->verdict = verdict;
    }
    if (verdict == CS_NO_ROOM)      /* an answer, not a fault */
        return verdict;
    if (verdict == CS_DONE)
        host->counts.decisions++;
    else
        host->counts.refused++;
    if (host->decision->decision_fn) {
        struct host_decision decision = {
            .time_ns = host_now(host),
            .seq = host->counts.decisions + host->counts.refused,
            .action = action, .job = job, .role = role, .verdict = verdict,
            .pending = host_order_count(host),
            .free_gpus = host_free_gpus(host, 0),
        };
        if (placement)
            decision.placement = *placement;
        host->decision->decision_fn(host->decision->decision_self, &decision);
    }
    host_tell(host, FACT_DECISION, job.i, action, verdict);
    assert(verdict != CS_DONE || host->counts.decisions > 0);
    return verdict;
}

/* Answers a request that is not carried out. */
static enum cs_verdict refuse(struct cs_host *host, enum host_action action,
                              struct job_id job, enum cs_verdict verdict)
{
    assert(verdict != CS_DONE);
    return host_answer(host, action, job, CS_ALL_ROLES, verdict, NULL);
}

static const struct job_id no_job = { ID_NONE };

/* Keeps what the policy wants first in this decision, if stall.c asks for it: the
 * message of a trial that makes no progress says what was wanted. */
static void note_wants(struct cs_host *host, const struct cs_want *want,
                       uint32_t count)
{
    assert(count <= FORM_ROLES_MAX);
    if (host->decision->tries == NULL || host->decision->tries->job != ID_NONE || want == NULL)
        return;
    memcpy(host->decision->tries->want, want, count * sizeof *want);
    host->decision->tries->wants = count;
}

/* Sets when a lease for a phase is expected to end: after it is loaded and the
 * phase has run on it.  This holds until the phase starts, which knows better.
 * A lease for a whole job got its expectation when it was granted. */
static void expect(struct cs_host *host, const struct cs_task *task,
                   uint32_t lease)
{
    struct host_lease_slot *slot = &host->leases->slot[lease];

    if (task->role == CS_ALL_ROLES || slot->pub.state != CS_LEASE_LOADING)
        return;
    const struct role_spec *role =
        &host_form_of(slot->owner)->role[slot->pub.role];

    assert(slot->live && task->role == slot->pub.role);
    double s = host_run_s(host, task, &slot->gang) +
               host_switch_s(host->spec, role,
                             host_standing_of(host, slot->pub.job.i, slot->pub.role),
                             &slot->pub.placement);
    host_lease_expect(host, lease,
                      clock_after(host_now(host), clock_ns_for_work(s, 1.0)));
}

/* Starts a task for one role on a new lease.  A lease that the role still held is
 * dropped, and what it had loaded is loaded again. */
static enum cs_verdict start_role(struct cs_host *host, struct task_id id,
                                  const struct cs_want *want)
{
    struct cs_task task = host->tasks->slot[id.i].pub;
    struct host_job_slot *job = host_job_slot(host, task.job.i);
    uint32_t role = host_want_role(&task, want);
    struct placement place;

    assert(host->tasks->slot[id.i].live);
    if (role >= host_form_of(job)->role_count)
        return refuse(host, HOST_START, task.job, CS_BAD_SHAPE);
    if (!host_want_ok(host, job, role, want))
        return refuse(host, HOST_START, task.job, CS_BAD_SHAPE);
    note_wants(host, want, 1);
    if (!host_room_at_all(host, want, host_want_gpus(host, job, role, want)) ||
        !host_find(host, job, role, want, &place))
        return refuse(host, HOST_START, task.job, CS_NO_ROOM);
    host_task_drop(host, id.i);
    assert(place.share_count > 0);
    if (task.role == CS_ALL_ROLES) {
        job->task = ID_NONE;
        host_left_change(host, job->pub.request.id.i);
    } else {
        job->role_task[role] = ID_NONE;
    }
    if (task.held.i != ID_NONE && host->leases->slot[task.held.i].live)
        host_drop(host, task.held.i);
    host_answer(host, HOST_START, task.job, role, CS_DONE, &place);
    expect(host, &task, host_grant(host, task.job.i, role, &place));
    return CS_DONE;
}

/* Finds room for one role of a job, where the want says.  draw: the power that roles
 * found before will take, to which that of this place is added.  `look`: the answer
 * alone is wanted, and no random number is drawn for it. */
static bool find_there(struct cs_host *host, const struct host_job_slot *job,
                       uint32_t role, const struct cs_want *want, bool look,
                       struct power_draw *draw, struct placement *place)
{
    uint32_t nodes = host->spec->node_count;
    struct fit_want fit;

    if (!host_fit_want(host, job, role, want, &fit) ||
        (!fit.computes && !host_shape_ok(host, job, role, fit.gpus)))
        return false;
    fit.looks = &host->counts.nodes_seen;
    return host_power_find(host->nodes, host->cluster, host->placer, &fit, look,
                           host->life->scratch + role * nodes, nodes, draw, place);
}

/* Finds a place for a role, on GPUs first or on cores first, as its owner lists
 * them. */
static bool find_role(struct cs_host *host, const struct host_job_slot *job,
                      uint32_t role, const struct cs_want *want, bool look,
                      struct power_draw *draw, struct placement *place)
{
    struct cs_want option[HOST_OPTIONS];
    uint32_t options;

    if (host_form_of(job)->role[role].on_cores.cores == 0)
        return find_there(host, job, role, want, look, draw, place);
    options = host_want_options(host, job, role, want, option);
    assert(options > 0);
    for (uint32_t i = 0; i < options; i++)
        if (find_there(host, job, role, &option[i], look, draw, place))
            return true;
    return false;
}

/* Is a role of a job bound to pools, by itself or by what is wanted? */
static bool is_bound(const struct cs_host *host, const struct host_job_slot *job,
                     const struct cs_want *want, uint32_t role)
{
    assert(role < host_form_of(job)->role_count);
    return host_role_pools(host, job->pub.request.id.i, role) != 0 ||
           (want != NULL && want[role].pool_mask != 0);
}

/* Finds room for all roles, in their order or, `bound`, those first that are bound to pools.  Each
 * place is taken in the cluster while the next role is searched for, and given back afterwards, so
 * that two roles do not get the same GPUs. */
static bool find_in_order(struct cs_host *host, const struct host_job_slot *job,
                          const struct cs_want *want, bool look, bool bound,
                          struct power_draw *draw, struct placement *place)
{
    uint32_t roles = host_form_of(job)->role_count, order[FORM_ROLES_MAX], found = 0;

    for (uint32_t pass = 0; pass <= (uint32_t)bound; pass++)
        for (uint32_t r = 0; r < roles; r++)
            if (!bound || is_bound(host, job, want, r) == (pass == 0))
                order[found++] = r;
    assert(found == roles);
    for (found = 0; found < roles; found++) {
        struct cs_want as_asked = { .role = order[found] };
        if (!find_role(host, job, order[found], want ? &want[order[found]] : &as_asked, look,
                       draw, &place[order[found]]))
            break;
        if (roles > 1)
            cluster_take(host->cluster, &place[order[found]]);
    }
    for (uint32_t k = found; roles > 1 && k-- > 0;)
        cluster_untake(host->cluster, &place[order[k]]);
    return found == roles;
}

/* Finds room for all roles before any is granted.  A role that may be anywhere may take the GPUs
 * of one that is bound to pools, which is then looked for first.  False: there is no room, and
 * nothing has changed; *refused, if not NULL: the power cap has refused some place. */
static bool find_all(struct cs_host *host, const struct host_job_slot *job,
                     const struct cs_want *want, bool look, bool *refused,
                     struct placement *place)
{
    uint32_t roles = host_form_of(job)->role_count, bound = 0;
    struct power_draw draw = { 0 }, again = { 0 };
    bool found = find_in_order(host, job, want, look, false, &draw, place);

    for (uint32_t r = 0; !found && r < roles; r++)
        bound += is_bound(host, job, want, r);
    if (bound > 0 && bound < roles)
        found = find_in_order(host, job, want, look, true, &again, place);
    assert(draw.more_mw >= 0);
    if (refused != NULL)
        *refused = draw.refused || again.refused;
    return found;
}

/* As find_all(), for what the job asks for.  A search that failed is not made again
 * until GPUs are freed: jobs of one form that ask for as much fail alike.
 *
 * That holds only where nothing else tells such jobs apart (rates, goodput, the memory of
 * a part of a GPU) and where a placement rule that fails for a number fails for larger
 * ones too. */
static bool find_as_asked(struct cs_host *host,
                          const struct host_job_slot *job, uint32_t gpus,
                          bool look, struct placement *place)
{
    /* By each of these, jobs of one form differ in whether there is room for them. */
    uint32_t milli = job_role_milli(&job->pub.request, 0);
    bool alike = job->pub.request.rates == NULL && job->pub.request.goodput == NULL &&
                 job->pub.request.gpu_mib == 0 &&
                 place_is_monotone(host->rules->placement);
    bool refused;

    assert(milli > 0 && milli <= GPU_MILLI);
    if (alike && host_known_full(host, job->form, gpus, milli))
        return false;
    if (find_all(host, job, NULL, look, &refused, place))
        return true;
    if (alike && refused && milli == GPU_MILLI)
        host_note_capped(host, job->form, gpus);
    else if (alike && !refused)
        host_note_full(host, job->form, gpus, milli);
    return false;
}

/* want: one for each role, in the order of the form; NULL: as the owner asks,
 * for which answers are remembered (find_as_asked). */
enum cs_verdict cs_start_wants(struct cs_host *host, struct task_id id,
                               const struct cs_want *want, uint32_t count)
{
    struct placement place[FORM_ROLES_MAX];

    if (!host_task_live(host, id))
        return refuse(host, HOST_START, no_job, CS_NOT_PENDING);
    struct job_id which = host->tasks->slot[id.i].pub.job;
    struct host_job_slot *job = host_job_slot(host, which.i);
    uint32_t roles = host_form_of(job)->role_count;
    if (host->tasks->slot[id.i].pub.role != CS_ALL_ROLES || (want && count != roles))
        return refuse(host, HOST_START, which, CS_BAD_SHAPE);
    note_wants(host, want, roles);
    if (!(want ? find_all(host, job, want, false, NULL, place)
               : find_as_asked(host, job, host->tasks->slot[id.i].pub.gpus, false, place)))
        return refuse(host, HOST_START, which, CS_NO_ROOM);
    assert(job->task == id.i);
    host_task_drop(host, id.i);
    job->task = ID_NONE;
    host_left_change(host, job->pub.request.id.i);
    host_answer(host, HOST_START, which, CS_ALL_ROLES, CS_DONE, &place[0]);
    for (uint32_t r = 0; r < roles; r++)
        host_grant(host, which.i, r, &place[r]);
    return CS_DONE;
}

/* A want names one role, so that a whole job of several roles needs
 * cs_start_wants(). */
enum cs_verdict cs_start_want(struct cs_host *host, struct task_id id,
                              const struct cs_want *want)
{
    if (!host_task_live(host, id))
        return refuse(host, HOST_START, no_job, CS_NOT_PENDING);
    const struct cs_task *task = &host->tasks->slot[id.i].pub;
    const struct job_form *form =
        host_form_of(host_job_slot(host, task->job.i));
    if (task->role == CS_ALL_ROLES && form->role_count > 1)
        return refuse(host, HOST_START, task->job, CS_BAD_SHAPE);
    if (want->take_idle && !host_per_phase(host))
        return refuse(host, HOST_START, task->job, CS_NOT_ALLOWED);
    return start_role(host, id, want);
}

/* Are there enough free GPUs at all?  Reads counters only, and saves most searches
 * in a full cluster.  True where the counters do not decide: several roles, cores,
 * parts of GPUs. */
static bool has_gpus(const struct cs_host *host, const struct cs_task *task)
{
    const struct job_form *form = host_form_of(host_job_slot(host, task->job.i));

    assert(form->role_count > 0);
    return form->role_count > 1 || form->role[0].on_cores.cores > 0 ||
           task->gpu_milli < GPU_MILLI || task->gpus <= cs_free_gpus(host, 0);
}

/* Makes the same checks as the start would, in the same order, and searches
 * without drawing. */
bool host_fits(struct cs_host *host, struct task_id id, const struct cs_want *want)
{
    const struct cs_want as_asked = { 0 };
    struct placement place[FORM_ROLES_MAX];

    if (!host_task_live(host, id))
        return false;
    const struct cs_task *task = &host->tasks->slot[id.i].pub;
    struct host_job_slot *job = host_job_slot(host, task->job.i);
    if (want == NULL && task->role == CS_ALL_ROLES)
        return has_gpus(host, task) && find_as_asked(host, job, task->gpus, true, place);
    if (want == NULL && task->held.i != ID_NONE)
        return host->leases->slot[task->held.i].pub.state == CS_LEASE_IDLE;
    if (want == NULL)
        want = &as_asked;
    if ((task->role == CS_ALL_ROLES && host_form_of(job)->role_count > 1) ||
        (want->take_idle && !host_per_phase(host)))
        return false;
    uint32_t role = host_want_role(task, want);
    if (role >= host_form_of(job)->role_count)
        return false;
    return host_want_ok(host, job, role, want) &&
           host_room_at_all(host, want, host_want_gpus(host, job, role, want)) &&
           host_look(host, job, role, want, place);
}

/* True if a search that does not look at the power finds a place, and
 * host_fits() finds none. */
bool host_is_capped(struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    const struct cs_want want = { .role = task->role };
    struct placement place;
    struct fit_want fit;

    assert(host->spec->power_cap_w > 0);
    if (task->role == CS_ALL_ROLES || task->held.i != ID_NONE || host_fits(host, id, NULL))
        return false;
    return host_fit_want(host, host_job_slot(host, task->job.i), task->role, &want, &fit) &&
           placer_look(host->placer, &fit, host->life->scratch, host->spec->node_count, &place);
}

/* Takes what a lease holds out of the cluster on trial, or puts it back.  On a node under
 * notice nothing comes free. */
static void lift_lease(struct cs_host *host, struct lease_id id, bool back)
{
    const struct placement *place = &cs_lease(host, id)->placement;

    assert(cs_lease_held(host, id));
    if (host_on_leaving_node(host->nodes, place))
        return;
    (back ? cluster_take : cluster_untake)(host->cluster, place);
    if (host->spec->power_cap_w > 0)
        host_power_lease(host->nodes, host->cluster, place, back);
}

/* Takes all leases of a job out of the cluster on trial, or puts them back. */
static void lift_job(struct cs_host *host, struct job_id id, bool back)
{
    assert(host_form_of(host_job_slot(host, id.i))->role_count <= FORM_ROLES_MAX);
    for (uint32_t r = 0; r < host_form_of(host_job_slot(host, id.i))->role_count; r++) {
        struct lease_id lease = cs_role_lease(host, id, r);
        if (lease.i != ID_NONE)
            lift_lease(host, lease, back);
    }
}

/* The leases are taken out of the cluster, the search is made, and they are put
 * back in reverse order, so that the cluster is as it was. */
bool cs_fits_without(struct cs_host *host, struct task_id id, const struct job_id *job,
                     uint32_t count)
{
    struct placement place[FORM_ROLES_MAX];

    if (!host_task_live(host, id) || host->tasks->slot[id.i].pub.role != CS_ALL_ROLES)
        return false;
    for (uint32_t i = 0; i < count; i++)
        lift_job(host, job[i], false);
    bool fits = find_all(host, host_job_slot(host, host->tasks->slot[id.i].pub.job.i), NULL,
                         true, NULL, place);
    for (uint32_t i = count; i-- > 0;)
        lift_job(host, job[i], true);
    assert(count == 0 || job != NULL);
    return fits;
}

/* As cs_fits_without(), for a want and single leases. */
bool cs_fits_without_leases(struct cs_host *host, struct task_id id,
                            const struct cs_want *want, const struct lease_id *lease,
                            uint32_t count)
{
    assert(want != NULL && (count == 0 || lease != NULL));
    for (uint32_t i = 0; i < count; i++)
        lift_lease(host, lease[i], false);
    bool fits = host_fits(host, id, want);
    for (uint32_t i = count; i-- > 0;)
        lift_lease(host, lease[i], true);
    return fits;
}

/* What policies call most: a whole job as it asks, a phase on the lease that its
 * role holds, or else on a new one. */
enum cs_verdict cs_start(struct cs_host *host, struct task_id id)
{
    struct cs_want as_asked = { 0 };

    if (!host_task_live(host, id))
        return refuse(host, HOST_START, no_job, CS_NOT_PENDING);
    if (host->tasks->slot[id.i].pub.role == CS_ALL_ROLES)
        return cs_start_wants(host, id, NULL, 0);
    if (host->tasks->slot[id.i].pub.held.i != ID_NONE)
        return cs_continue(host, id);
    return cs_start_want(host, id, &as_asked);
}

/* The task is copied first: host_task_drop() frees its slot. */
enum cs_verdict cs_continue(struct cs_host *host, struct task_id id)
{
    if (!host_task_live(host, id))
        return refuse(host, HOST_CONTINUE, no_job, CS_NOT_PENDING);
    struct cs_task task = host->tasks->slot[id.i].pub;
    struct host_job_slot *job = host_job_slot(host, task.job.i);
    uint32_t lease = task.held.i;
    if (lease == ID_NONE || host->leases->slot[lease].pub.state != CS_LEASE_IDLE)
        return refuse(host, HOST_CONTINUE, task.job, CS_NOT_IDLE);
    host_task_drop(host, id.i);
    job->role_task[task.role] = ID_NONE;
    host_answer(host, HOST_CONTINUE, task.job, task.role, CS_DONE,
           &host->leases->slot[lease].pub.placement);
    assert(host->leases->slot[lease].live);
    host_phase_start(host, lease, task.phase);
    return CS_DONE;
}

/* Only a policy that leases for phases may give a lease back; other leases end
 * with their job. */
enum cs_verdict cs_release(struct cs_host *host, struct lease_id id)
{
    if (!cs_lease_held(host, id))
        return refuse(host, HOST_RELEASE, no_job, CS_NOT_PENDING);
    const struct host_lease_slot *lease = &host->leases->slot[id.i];
    if (!host_per_phase(host))
        return refuse(host, HOST_RELEASE, lease->pub.job, CS_NOT_ALLOWED);
    if (lease->pub.state != CS_LEASE_IDLE || lease->leaving)
        return refuse(host, HOST_RELEASE, lease->pub.job, CS_NOT_IDLE);
    host_answer(host, HOST_RELEASE, lease->pub.job, lease->pub.role, CS_DONE,
           &lease->pub.placement);
    assert(lease->live && !lease->running);
    host_leave(host, id.i);
    return CS_DONE;
}

/* The steps of `cost:` rise by gpus_max: the first step that covers the number
 * counts.  Beyond the last one a restart costs nothing. */
int64_t host_stop_cost_ns(const struct host_rules *rules, uint32_t gpus)
{
    assert(rules->cost_count <= HOST_COST_STEPS_MAX);
    for (uint32_t i = 0; i < rules->cost_count; i++)
        if (gpus <= rules->cost[i].gpus_max)
            return rules->cost[i].cost_ns;
    return 0;
}

/* A job that is stopped saves its state to the memory of its nodes, and phases
 * that train keep the steps that are done.  The seconds of the saving are added
 * to what the job owes at its restart. */
static void save_job(struct cs_host *host, struct host_job_slot *job)
{
    double save_s = 0;

    assert(job->leases > 0);
    for (uint32_t r = 0; r < host_form_of(job)->role_count; r++) {
        if (job->lease[r] == ID_NONE)
            continue;
        save_s += host_save_s(host, job->lease[r]);
        host->leases->slot[job->lease[r]].parks =
            host_form_of(job)->role[r].save_bytes > 0 &&
            host->leases->slot[job->lease[r]].pub.state != CS_LEASE_LOADING;
        host_keep_steps(host, job->lease[r]);
    }
    if (save_s > 0)
        job->penalty_ns = clock_after(job->penalty_ns,
                                      clock_ns_for_work(save_s, 1.0));
    assert(job->stopped_part >= 0 && job->stopped_part <= 1);
}

/* Writes a sentence on the longest phase of a job of which a stop keeps
 * nothing; an empty text: it has none.  A phase that trains keeps its steps,
 * and a job of known length what it has done. */
static void describe_unsaved(const struct cs_host *host, struct job_id job,
                             char *out, size_t room)
{
    const struct job_form *form = host_form_of(host_job_slot(host, job.i));
    double longest = 0;

    assert(room > 0);
    out[0] = '\0';
    for (uint32_t p = 0; p < form->phase_count; p++) {
        double s = cs_phase_s(host, job, p) * form->phase[p].every;

        if (host_job_fixed(host, job.i) || form->phase[p].law->kind == LAW_TRAIN ||
            s <= longest)
            continue;
        longest = s;
        snprintf(out, room, "Phase %s of %.40s takes %.3g s and keeps nothing if it is "
                 "stopped.", phase_kind_name(form->phase[p].kind), form->name, s);
    }
}

/* Many stops in a row that saved nothing, and between which no phase ended,
 * are taken for a run that would never end: turns shorter than what a job does
 * before its work counts. */
void host_note_stop(struct cs_host *host, struct job_id job)
{
    uint64_t jobs = (uint64_t)cs_pending_count(host) + cs_running_count(host);
    char why[160], phase[130];

    host->counts.preemptions++;
    host_job_slot(host, job.i)->pub.preemptions++;
    host->decision->vain_stops++;
    if (host->decision->vain_stops < host->parts.vain_max &&
        host->decision->vain_stops < HOST_VAIN_TURNS * (jobs > 0 ? jobs : 1))
        return;
    assert(host->parts.vain_max > 0);
    if (host->decision->failed)
        return;
    describe_unsaved(host, job, phase, sizeof phase);
    snprintf(why, sizeof why, "jobs are stopped before their work counts: %u "
             "stops in a row saved nothing, and no phase ended (a longer "
             "quantum may help)", host->decision->vain_stops);
    cs_fail(host, why);
    if (phase[0] != '\0')
        cs_note(host, phase);
}

/* The lease is dropped, and the job waits again at once.  It owes the cost of a
 * restart, which is counted when it starts again. */
enum cs_verdict cs_stop(struct cs_host *host, struct job_id id)
{
    if (!(host->policy->flags & CS_PREEMPTS))
        return refuse(host, HOST_STOP, id, CS_NOT_ALLOWED);
    if (id.i >= host->jobs->count || host_job_over(host, id.i))
        return refuse(host, HOST_STOP, no_job, CS_NOT_PENDING);
    if (host_job_slot(host, id.i)->leases == 0)
        return refuse(host, HOST_STOP, id, CS_NOT_PENDING);
    struct host_job_slot *job = host_job_slot(host, id.i);
    host_note_stop(host, id);
    save_job(host, job);
    uint32_t gpus = host_job_drop(host, id.i);
    job->penalty_ns = clock_after(job->penalty_ns, host_stop_cost_ns(host->rules, gpus));
    host_tell(host, FACT_JOB_STOP, id.i, 0, 0);
    host_answer(host, HOST_STOP, id, CS_ALL_ROLES, CS_DONE, NULL);
    if (host_per_phase(host))
        host_job_advance(host, id.i);
    else
        host_task_job(host, id.i);
    assert(host_job_slot(host, id.i)->leases == 0 || host_per_phase(host));
    return CS_DONE;
}

/* Keeps the earliest of the times that were asked for in a decision; a time
 * that is past is ignored. */
void cs_wake_at(struct cs_host *host, int64_t time_ns)
{
    assert(time_ns >= 0);
    if (time_ns > host_now(host) &&
        (host->decision->wake_ns <= host_now(host) || time_ns < host->decision->wake_ns))
        host->decision->wake_ns = time_ns;
}

/* Asks to be called when the next lease has been idle for idle_ns.  Leases that have been idle
 * for as long already do not count. */
void cs_wake_when_idle(struct cs_host *host, int64_t idle_ns)
{
    if (!host_per_phase(host)) {
        cs_fail(host, "calls cs_wake_when_idle without the flag CS_PER_PHASE");
        return;
    }
    int64_t at_ns = host_idle_next_ns(host, idle_ns);

    assert(at_ns >= 0);
    if (at_ns != CLOCK_NEVER_NS)
        cs_wake_at(host, at_ns);
}

/* The first reason is kept: what comes after a failure usually follows from it. */
void cs_fail(struct cs_host *host, const char *why)
{
    if (!host->decision->failed)
        snprintf(host->decision->why, sizeof host->decision->why, "%s",
                 why != NULL && why[0] != '\0' ? why
                 : "ends the trial and gives no reason (cs_fail without a text)");
    host->decision->failed = true;
    loop_stop(host->parts.loop);
    assert(host->decision->failed);
}

/* Without the flag CS_CLAIRVOYANT the trial fails, and the answer is only the
 * estimate. */
int64_t cs_true_left_ns(const struct cs_host *host, struct job_id job)
{
    assert(job.i < host->jobs->count);
    if ((host->policy->flags & CS_CLAIRVOYANT) == 0) {
        cs_fail((struct cs_host *)(uintptr_t)host,
                "calls cs_true_left_ns without the flag CS_CLAIRVOYANT");
        return cs_left_ns(host, job);
    }
    return host_left_ns(host, host_job_slot(host, job.i), true);
}

/* The state counts the draws, and each draw is a function of the seed, the
 * replica and its number: other streams do not disturb it. */
double cs_random(struct cs_host *host)
{
    return rng_at(host->parts.seed, host->parts.replica,
                  host->decision->random_state++, rng_hash_text("policy"));
}

/* Texts are joined by a blank; what does not fit is cut off. */
void cs_note(struct cs_host *host, const char *text)
{
    size_t used = strlen(host->decision->note);

    assert(used < sizeof host->decision->note);
    snprintf(host->decision->note + used, sizeof host->decision->note - used, "%s%s",
             used > 0 ? " " : "", text);
}

void *cs_alloc(struct cs_host *host, size_t count, size_t item_bytes)
{
    assert(item_bytes > 0);
    return arena_alloc(host->parts.arena, count, item_bytes);
}

/* In the order of the enum; decisions.csv and the clients of exec policies read these words. */
const char *host_verdict_name(enum cs_verdict verdict)
{
    static const char *const name[CS_VERDICT_COUNT] = {
        "done", "not_pending", "no_room", "bad_shape", "not_idle",
        "not_allowed",
    };
    assert((unsigned)verdict < CS_VERDICT_COUNT);
    return name[verdict];
}

/* In the order of enum host_action; the words of the column `action` of decisions.csv. */
const char *host_action_name(enum host_action action)
{
    static const char *const name[HOST_ACTION_COUNT] = {
        "start", "continue", "release", "stop", "resize", "move",
        "take_back",
    };
    assert((unsigned)action < HOST_ACTION_COUNT);
    return name[action];
}
