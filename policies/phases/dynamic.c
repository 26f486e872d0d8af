/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dynamic.c - leases per phase: what a role does not use now is lent to
 * other jobs, where that pays over whole steps of the job that lends.
 *
 * For each job the switches of all its roles, as measured so far (cs_switch_s),
 * are set against a step of the job alone.  Two jobs that take turns on the same
 * GPUs each need a step and its switches; one after the other they need 1.5
 * steps on average.  So above half a step (lend_max) nothing is lent: all roles
 * start at once in their homes and stay, as under a static split.  Up to a tenth
 * (release_max, about the 5 to 9% by which RollMux's jobs are slower, arXiv
 * 2512.11306) GPUs are given back between phases.
 *
 * For every waiting phase, by priority and then by the age of its job, it
 * compares when the phase would be over: on the lease it still holds, in its own
 * pool, on each type of GPU in each other pool, with more GPUs if nobody else
 * waits, or by waiting for its own pool.  Idle leases that are thrown out are
 * charged what they lose, and are safe for a while where switching is dear (ski
 * rental, Karlin et al. 1988); those of other pools are safe where GPUs are not
 * given back between phases.  Full links are known once a switch crossed them.
 *
 * Who would leave home may be made to start behind those that stay, and to wait for
 * GPUs there that are due (owners_first).
 *
 * The rule takes advice (advice.h): a policy that is trained may bend each of
 * these comparisons.
 */
#include <math.h>

#include "policies/advice.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy dynamic_policy;

/* The parameters.  Each decision reads all else from the host. */
struct dynamic {
    bool lend, owners_first;    /* as the keys say */
    double gain_min, lend_max, release_max; /* as the keys say */
    const struct cs_advice *advice;     /* NULL: none */
};

static const struct cs_param dynamic_param[] = {
    { .key = "lend", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct dynamic, lend), .fallback = "true",
      .help = "may a phase use GPUs outside the pool of its role" },
    { .key = "gain_min", .type = CS_PARAM_REAL,
      .offset = offsetof(struct dynamic, gain_min),
      .min = 0, .max = 100, .fallback = "1.0",
      .help = "seconds gained per second of switching, at least" },
    { .key = "lend_max", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct dynamic, lend_max),
      .min = 0, .max = 100, .fallback = "50%",
      .help = "a job whose switches would take a larger part of a step keeps "
              "its GPUs for its life" },
    { .key = "release_max", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct dynamic, release_max),
      .min = 0, .max = 100, .fallback = "10%",
      .help = "a job whose switches take no larger part of a step gives its "
              "GPUs back between phases" },
    { .key = "owners_first", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct dynamic, owners_first), .fallback = "false",
      .help = "does a phase that would leave its home start after those that stay "
              "in theirs, and wait for GPUs there that should be free by now" },
};

/* Returns question->value, in the unit of its kind, times the factor of the
 * advice.  Without advice, and with a factor of 1, that is the rule as it stands. */
static double dynamic_advised(const struct dynamic *dynamic,
                              struct cs_host *host,
                              const struct cs_question *question)
{
    return dynamic->advice == NULL
               ? question->value
               : question->value * dynamic->advice->factor(
                                       dynamic->advice->self, host, question);
}

/* Returns how many roles of a job use GPUs.  A job with one such role has no idle
 * time of its own to lend. */
static uint32_t dynamic_gpu_roles(const struct cs_host *host, struct job_id job)
{
    const struct job_form *form = cs_request(host, job)->form;
    uint32_t count = 0;

    for (uint32_t r = 0; r < form->role_count; r++)
        count += form->role[r].gpus > 0;
    return count;
}

/* The best place for a phase so far, and what the search that goes on allows. */
struct dynamic_choice {
    struct cs_want want;        /* how to ask for it */
    double over_s;              /* from now until the phase has run */
    bool found;                 /* there is a best: `want`, or the held lease */
    bool held;                  /* the best is the lease that the task holds */
    bool holds;                 /* it has an idle lease */
    bool away;                  /* it is looked for outside its home */
    bool spares;                /* idle leases are not taken */
    bool room;                  /* there would be, were no idle lease spared */
    enum cs_advice_kind kind;   /* of what is looked at */
    bool beyond;                /* only advice makes it looked at */
};

/* Tasks that found no room in this decision, idle leases included.  Later starts only
 * take room, so a task of the same form, role and size (parts and memory of a GPU too)
 * and with the same rates need not be tried.  A task that finds no place in this list is
 * tried again: that costs time and changes nothing. */
#define DYNAMIC_FULL_MAX 16u

struct dynamic_full {
    struct cs_task task[DYNAMIC_FULL_MAX];  /* copies: a task's slot may serve another later */
    uint32_t count;             /* of `task` */
};

/* Makes `want` the best if the phase would be over earlier there.  "Over" is in
 * seconds from now: run time, the switch to these GPUs, and gain_min times what the
 * idle leases in the way lose.  A want that has no room, or no finite forecast,
 * changes nothing.
 *
 * Two surcharges keep jobs where they are: a task that would leave a warm lease
 * pays the switch gain_min times, and a phase away from home pays gain_min switches
 * more, because the next phase of the role comes home again. */
static void dynamic_consider(const struct dynamic *dynamic,
                             struct cs_host *host, struct task_id task,
                             struct cs_want want,
                             struct dynamic_choice *best)
{
    struct cs_forecast f;

    if (!cs_forecast(host, task, &want, &f))
        return;
    const struct cs_task *pub = cs_task(host, task);
    double switch_s = f.switch_s;
    if (pub->started && pub->gpus > 0)  /* as it was, not as a law says */
        switch_s = fmax(switch_s, cs_switch_s(host, pub->job, pub->role));
    double over = f.run_s + switch_s +
                  dynamic->gain_min * f.evict_s;
    if (best->holds)            /* leaving a warm lease must pay */
        over += (dynamic->gain_min - 1) * switch_s;
    if (best->away)             /* and the next phase comes home again */
        over += dynamic->gain_min * switch_s;
    over = dynamic_advised(dynamic, host, &(struct cs_question) {
        .kind = best->kind, .job = pub->job, .role = pub->role, .task = task,
        .value = over, .forecast = &f, .take_idle = want.take_idle,
        .beyond = best->beyond });
    if ((best->found && over >= best->over_s) || isinf(over))
        return;
    best->want = want;
    best->over_s = over;
    best->found = true;
    best->held = false;
}

/* Considers a want on free GPUs, and then on those of idle leases too.  The order
 * matters: a search that may take idle leases does not prefer free GPUs, and no
 * lease should be thrown out where free GPUs do.
 *
 * Where switching costs more than the phase itself, a lease is thrown out only if
 * it has been idle for the difference, so that a job that comes back sooner still
 * finds it.  This is the ski rental rule: one rents until renting has cost as much
 * as buying (Karlin et al. 1988).  So dear switches are rare, and no lease is safe
 * for ever. */
static void dynamic_consider_both(const struct dynamic *dynamic,
                                  struct cs_host *host, struct task_id task,
                                  struct cs_want want,
                                  struct dynamic_choice *best)
{
    struct cs_forecast f;

    want.take_idle = false;
    dynamic_consider(dynamic, host, task, want, best);
    want.take_idle = true;
    if (best->spares || !cs_forecast(host, task, &want, &f))
        return;
    best->room = true;
    double rest_s =
        dynamic->gain_min * (f.switch_s + f.evict_s) - f.run_s;
    if (rest_s > 0)
        want.idle_ns = (int64_t)((rest_s < 1e6 ? rest_s : 1e6) * 1e9);
    dynamic_consider(dynamic, host, task, want, best);
    if (!best->found)
        cs_wake_when_idle(host, want.idle_ns);
}

/* Considers a want on every site within its pools; pool_mask 0 means all pools.  A
 * role without GPUs has no sites and is considered once, wherever there are cores. */
static void dynamic_consider_sites(const struct dynamic *dynamic,
                                   struct cs_host *host, struct task_id task,
                                   struct cs_want want,
                                   struct dynamic_choice *best)
{
    uint32_t pools = want.pool_mask, count = cs_site_count(host, task);

    if (count == 0)
        dynamic_consider_both(dynamic, host, task, want, best);
    for (uint32_t i = 0; i < count; i++)
        if (cs_site(host, task, i, pools, &want))
            dynamic_consider_both(dynamic, host, task, want, best);
}

/* Considers `gpus` GPUs on every site, free first and then with idle leases.  The
 * rule by itself does not look at such sizes: only advice can make one of them the
 * best. */
static void dynamic_consider_beyond(const struct dynamic *dynamic,
                                    struct cs_host *host, struct task_id task,
                                    enum cs_advice_kind kind, uint32_t gpus,
                                    struct dynamic_choice *best)
{
    uint32_t count = cs_site_count(host, task);
    struct cs_want want = { .gpus = gpus };

    best->kind = kind;
    best->beyond = true;
    for (uint32_t i = 0; i < 2 * count; i++)
        if (cs_site(host, task, i / 2, 0, &want)) {
            want.take_idle = i % 2;
            dynamic_consider(dynamic, host, task, want, best);
        }
    best->beyond = false;
}

/* Considers other sizes than the one that was asked for.  The rule takes more GPUs
 * only if no other task waits.  With advice, the largest and the smallest size of
 * the role are looked at as well. */
static void dynamic_consider_sizes(const struct dynamic *dynamic,
                                   struct cs_host *host, struct task_id task,
                                   struct dynamic_choice *best)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t most = cs_most_gpus(host, task);
    struct cs_want want = { .gpus = most };

    if (cs_pending_count(host) == 1 && most > pub->gpus) {
        best->kind = CS_ADVICE_GROWN;
        dynamic_consider_sites(dynamic, host, task, want, best);
    } else if (dynamic->advice != NULL && most > pub->gpus) {
        dynamic_consider_beyond(dynamic, host, task, CS_ADVICE_GROWN, most, best);
    }
    const struct job_form *form = cs_request(host, pub->job)->form;
    if (dynamic->advice != NULL && pub->role < form->role_count) {
        uint32_t least = form->role[pub->role].gpus_min;
        if (least > 0 && least < pub->gpus)
            dynamic_consider_beyond(dynamic, host, task, CS_ADVICE_SHRUNK,
                                    least, best);
    }
}

/* Returns the place where the phase would be over first: the held lease, the home
 * pool, any other pool, another size.  Nothing found means that no place has room.
 *
 * Idle leases of other pools are spared where the job's own switches are too dear
 * to give GPUs back between phases (release_max): a borrower would then pay as much
 * as it gains. */
static struct dynamic_choice dynamic_choose(const struct dynamic *dynamic,
                                            struct cs_host *host,
                                            struct task_id task)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, pub->role);
    struct dynamic_choice best = { .found = false };
    struct cs_want want = { .pool_mask = home };
    struct cs_forecast f;

    if (cs_forecast_held(host, task, &f))
        best = (struct dynamic_choice) {
            .over_s = dynamic_advised(dynamic, host, &(struct cs_question) {
                .kind = CS_ADVICE_HELD, .job = pub->job, .role = pub->role,
                .task = task, .value = f.run_s, .forecast = &f }),
            .found = true, .held = true, .holds = true
        };
    best.kind = CS_ADVICE_HOME;
    dynamic_consider_sites(dynamic, host, task, want, &best);
    if (!dynamic->lend || pub->gpus == 0)
        return best;
    want.pool_mask = 0;
    best.away = home != 0 && dynamic_gpu_roles(host, pub->job) > 1 &&
                cs_switch_loss(host, pub->job) > dynamic->release_max;
    best.spares = best.away;
    best.kind = CS_ADVICE_AWAY;
    if (home)
        dynamic_consider_sites(dynamic, host, task, want, &best);
    dynamic_consider_sizes(dynamic, host, task, &best);
    return best;
}

/* Is there no room at home, although all who work there should have ended by now?  A phase
 * that runs longer than it was estimated to is due until it ends.  The best place is
 * elsewhere: who has room at home is not due.  GPUs that an idle lease holds are not due, as
 * its owner may keep them for long. */
static bool dynamic_is_due(const struct dynamic *dynamic, const struct cs_host *host,
                           uint32_t home, uint32_t gpus,
                           const struct dynamic_choice *best)
{
    return dynamic->owners_first && (best->want.pool_mask & ~home) != 0 &&
           cs_free_gpus(host, home) + cs_idle_gpus(host, home) < gpus;
}

/* Would the phase be over earlier if it waited for its own pool?  False for a role
 * without a home, and if the home has room now: then waiting gains nothing.  GPUs that are
 * due count as room, unless owners are first. */
static bool dynamic_waits(const struct dynamic *dynamic,
                          struct cs_host *host, struct task_id task,
                          const struct dynamic_choice *best)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, pub->role);

    if (!home || pub->gpus == 0)
        return false;
    double wait = cs_room_in_s(host, home, pub->gpus);

    if (wait <= 0 && !dynamic_is_due(dynamic, host, home, pub->gpus, best))
        return false;
    return dynamic_advised(dynamic, host, &(struct cs_question) {
        .kind = CS_ADVICE_WAIT, .job = pub->job, .role = pub->role,
        .task = task, .value = wait + (double)pub->estimate_ns / 1e9 }) <
            best->over_s;
}

/* Do two tasks ask for the same, so that the host's answer to one holds for both? */
static bool dynamic_same_ask(const struct cs_host *host, const struct cs_task *a,
                             const struct cs_task *b)
{
    const struct job_request *of_a = cs_request(host, a->job);
    const struct job_request *of_b = cs_request(host, b->job);

    return of_a->form == of_b->form && a->role == b->role && a->gpus == b->gpus &&
           a->gpu_milli == b->gpu_milli && of_a->gpu_mib == of_b->gpu_mib &&
           of_a->rates == of_b->rates;
}

/* Did such a task find no room in this decision?  Nothing has been freed since.  A task
 * with a held lease is never full: it can go on there. */
static bool dynamic_is_full(const struct dynamic_full *full,
                            const struct cs_host *host,
                            const struct cs_task *task)
{
    for (uint32_t k = 0; task->held.i == ID_NONE && k < full->count; k++)
        if (dynamic_same_ask(host, &full->task[k], task))
            return true;
    return false;
}

/* Notes that a task found no room, for dynamic_is_full(). */
static void dynamic_note_full(struct dynamic_full *full, const struct cs_task *task)
{
    if (full->count < DYNAMIC_FULL_MAX)
        full->task[full->count++] = *task;
}

/* Is the task larger than all GPUs that are free or idle?  Then no search can find
 * room.  Never true of a role that may run on cores instead, nor of a task with a
 * held lease: it can go on there, on fewer GPUs than it asks for.  With advice, its
 * smallest size counts. */
static bool dynamic_too_large(const struct dynamic *dynamic,
                              const struct cs_host *host,
                              const struct cs_task *task)
{
    const struct job_form *form = cs_request(host, task->job)->form;
    const struct role_spec *role =
        task->role < form->role_count ? &form->role[task->role] : NULL;
    uint32_t least = task->gpus;

    if (task->held.i != ID_NONE || (role != NULL && job_role_chooses(role)))
        return false;
    if (dynamic->advice != NULL && role != NULL && role->gpus_min < least)
        least = role->gpus_min;
    uint32_t gpus = cs_free_gpus(host, 0) + cs_idle_gpus(host, 0);

    return least > (gpus > 0 ? gpus : 1);
}

/* Does a phase let those that stay at home start first?  So it does if it would leave its
 * home, to which its job comes back: as in hybrid.c, nobody then borrows what an owner
 * waits for.  The phase of a job with one GPU role is not held up, as it never comes back. */
static bool dynamic_defers(const struct dynamic *dynamic, const struct cs_host *host,
                           struct task_id task, const struct dynamic_choice *best)
{
    const struct cs_task *pub = cs_task(host, task);
    uint32_t home = cs_home_pools(host, task, pub->role);

    return dynamic->owners_first && best->found && !best->held && home != 0 &&
           (best->want.pool_mask & ~home) != 0 && cs_pending_count(host) > 1 &&
           dynamic_gpu_roles(host, pub->job) > 1;
}

/* Tries to start one task, and tells the host which others would get the same
 * answer (cs_tried).  *deferred becomes true if the task lets others go first and is to be
 * tried again; NULL: they have gone.
 *
 * A job that has no lease yet and whose switches are too dear to lend (lend_max) is
 * settled instead: it starts with all its roles in their homes, and keeps them. */
static void dynamic_try(const struct dynamic *dynamic, struct cs_host *host,
                        struct task_id task, struct dynamic_full *full, bool *deferred)
{
    const struct cs_task *pub = cs_task(host, task);

    if (pub->gpus > 0 && !cs_settled(host, pub->job) &&
        dynamic_advised(dynamic, host, &(struct cs_question) {
            .kind = CS_ADVICE_LEND, .job = pub->job, .role = pub->role,
            .task = task, .value = cs_switch_loss(host, pub->job) }) >
            dynamic->lend_max) {
        if (cs_settle(host, task) != CS_DONE)
            cs_tried(host, task, CS_ALIKE_NONE);
        return;
    }
    struct dynamic_choice best = dynamic_choose(dynamic, host, task);
    enum cs_alike alike = CS_ALIKE_NONE;
    enum cs_verdict verdict = CS_NO_ROOM;

    if (best.found && best.held)
        verdict = cs_continue(host, task);
    else if (deferred != NULL && dynamic_defers(dynamic, host, task, &best))
        *deferred = true;
    else if (best.found && !dynamic_waits(dynamic, host, task, &best))
        verdict = cs_start_want(host, task, &best.want);
    else
        alike = best.found || best.room ? CS_ALIKE_AS_LONG : CS_ALIKE_ALL;
    if (alike == CS_ALIKE_ALL)
        dynamic_note_full(full, cs_task(host, task));
    if (verdict != CS_DONE)
        cs_tried(host, task, alike);
}

/* Tries every candidate once.  Tasks of a kind that was refused in this
 * decision are passed over without a forecast. */
static void dynamic_try_each(const struct dynamic *dynamic, struct cs_host *host,
                             struct dynamic_full *full, bool *deferred)
{
    struct task_id task;

    cs_try_anew(host);
    while ((task = cs_next_candidate(host)).i != ID_NONE)
        if (dynamic_too_large(dynamic, host, cs_task(host, task)) ||
            dynamic_is_full(full, host, cs_task(host, task)))
            cs_tried(host, task, CS_ALIKE_ALL);
        else
            dynamic_try(dynamic, host, task, full, deferred);
}

/* Tries all candidates, and then once more if some let others go first. */
static void dynamic_try_all(const struct dynamic *dynamic, struct cs_host *host)
{
    struct dynamic_full full = { .count = 0 };
    bool deferred = false;

    dynamic_try_each(dynamic, host, &full, &deferred);
    if (deferred)
        dynamic_try_each(dynamic, host, &full, NULL);
}

/* Where the power cap holds tasks back, the host makes room, and all are tried again. */
static void dynamic_decide(void *self, struct cs_host *host)
{
    do
        dynamic_try_all(self, host);
    while (cs_relieve_power(host));
}

/* GPUs that are had back almost for nothing are not held between phases; cores
 * are not held by a job that waits for its GPUs. */
static void dynamic_lease_idle(void *self, struct cs_host *host,
                               struct lease_id id)
{
    const struct dynamic *dynamic = self;
    const struct cs_lease *lease = cs_lease(host, id);

    if (lease->state != CS_LEASE_IDLE ||
        cs_job_task(host, lease->job, lease->role).i != ID_NONE)
        return;
    uint32_t home = cs_role_homes(host, lease->job, lease->role);
    if (lease->gpus > 0
            ? dynamic_advised(dynamic, host, &(struct cs_question) {
                  .kind = CS_ADVICE_RELEASE, .job = lease->job,
                  .role = lease->role, .task = { ID_NONE },
                  .value = cs_switch_loss(host, lease->job),
                  .away = home && !(cs_lease_pools(host, id) & home) }) <=
                  dynamic->release_max
            : !cs_settled(host, lease->job))
        cs_release(host, id);
}

/* A rule with advice has the defaults of dynamic_param and no keys of its own: change
 * both together. */
static void *dynamic_make(struct cs_host *host, const struct cs_advice *advice)
{
    struct dynamic *dynamic = cs_alloc(host, 1, sizeof *dynamic);

    *dynamic = (struct dynamic) { .lend = true, .gain_min = 1, .lend_max = 0.5,
                                  .release_max = 0.1, .advice = advice };
    return dynamic;
}

/* For a policy that takes the rule over: as `owners_first: true`. */
static void dynamic_put_owners_first(void *rule)
{
    struct dynamic *dynamic = rule;

    dynamic->owners_first = true;
}

const struct cs_rule cs_rule_dynamic = {
    .make = dynamic_make, .decide = dynamic_decide,
    .lease_idle = dynamic_lease_idle, .put_owners_first = dynamic_put_owners_first
};

const struct cs_policy dynamic_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "dynamic",
    .cites = "karlin1988snoopy",
    .summary = "leases per phase, idle GPUs lent where switching pays",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_GROWS | CS_RELIEVES |
             CS_TAKES_OVER,
    .self_bytes = sizeof(struct dynamic),
    .param = dynamic_param,
    .param_count = sizeof dynamic_param / sizeof dynamic_param[0],
    .before = cs_by_priority,
    .decide = dynamic_decide,
    .lease_idle = dynamic_lease_idle,
};
