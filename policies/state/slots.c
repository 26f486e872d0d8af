/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slots.c - slots for jobs, tasks and leases, and the lists over them.
 *
 * Slots of tasks and leases are used again; lists stand in the order in which
 * things were made (leases, running jobs) or in the policy's (tasks).
 *
 * A job keeps its number for ever, but not its slot: pages of HOST_JOB_PAGE pointers lead from
 * numbers to slots, and a page whose jobs have all ended serves others.  So a run of a million
 * jobs needs memory for those alone that have not ended.
 */
#include "policies/state/news.h"
#include "policies/state/slots.h"

#include <assert.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/phases.h"
#include "policies/state/deals.h"
#include "policies/state/decision.h"
#include "policies/state/ends.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/jobs.h"
#include "policies/state/lease_slot.h"
#include "policies/state/pools.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/containers/demand_count.h"
#include "sim/containers/rank_tree.h"

#define LIST_ROOM_MIN 64u       /* entries that a list has room for at first */

/* Makes room for one more; the storage left behind dies with the trial. */
#define ROOM(host, array, count, room)                                       \
    do {                                                                     \
        if ((count) == (room)) {                                             \
            uint32_t more = (room) ? 2u * (room) : LIST_ROOM_MIN;            \
            (array) = arena_grow((host)->parts.arena, (array), (room), more, \
                                 sizeof *(array));                           \
            (room) = more;                                                   \
        }                                                                    \
    } while (0)

void host_news_add(struct cs_host *host, int kind, uint32_t id)
{
    assert(kind == NEWS_SUBMITTED || kind == NEWS_ENDED || kind == NEWS_IDLE);
    ROOM(host, host->decision->news, host->decision->news_count, host->decision->news_room);
    host->decision->news[host->decision->news_count].kind = kind;
    host->decision->news[host->decision->news_count].id = id;
    host->decision->news_count++;
}

/* Returns an empty page: one that serves no job any more, else a new one. */
static struct host_job_page *page_make(struct cs_host *host)
{
    struct host_job_page *page = host->jobs->free_page;

    if (page == NULL)
        return arena_alloc(host->parts.arena, 1, sizeof *page);
    host->jobs->free_page = page->next;
    assert(page->gone == HOST_JOB_PAGE);
    memset(page, 0, sizeof *page);
    return page;
}

#define SLOTS_AT_ONCE 8u        /* made together, in whole lines of the cache */

/* Returns a slot that serves no job; several are made together. */
static struct host_job_slot *slot_make(struct cs_host *host)
{
    struct host_jobs *jobs = host->jobs;

    if (jobs->free_count == 0) {
        struct host_job_slot *made = arena_alloc(host->parts.arena,
                                                 SLOTS_AT_ONCE, sizeof *made);
        for (uint32_t i = SLOTS_AT_ONCE; i-- > 0;) {
            ROOM(host, jobs->free, jobs->free_count,
                 jobs->free_capacity);
            jobs->free[jobs->free_count++] = &made[i];
        }
    }
    assert(jobs->free_count > 0);
    return jobs->free[--jobs->free_count];
}

void host_job_note_gone(struct cs_host *host, uint32_t job)
{
    assert(host_job_over(host, job));
    ROOM(host, host->jobs->gone, host->jobs->gone_count, host->jobs->gone_capacity);
    host->jobs->gone[host->jobs->gone_count++] = job;
}

/* Gives the slot of an ended job back, and its page with the last of its jobs. */
static void forget(struct cs_host *host, uint32_t job)
{
    struct host_jobs *jobs = host->jobs;
    struct host_job_page *page = jobs->page[job / HOST_JOB_PAGE];
    struct host_job_slot *slot = host_job_slot(host, job);

    assert(slot->pub.end_ns != CLOCK_NEVER_NS && page->gone < HOST_JOB_PAGE);
    ROOM(host, jobs->free_seat, jobs->free_seat_count, jobs->seat_capacity);
    jobs->free_seat[jobs->free_seat_count++] = slot->seat;
    ROOM(host, jobs->free, jobs->free_count, jobs->free_capacity);
    jobs->free[jobs->free_count++] = slot;
    if (slot->kept_more != NULL) {
        ROOM(host, jobs->free_kept, jobs->free_kept_count, jobs->free_kept_capacity);
        jobs->free_kept[jobs->free_kept_count++] = slot->kept_more;
    }
    page->slot[job % HOST_JOB_PAGE] = NULL;
    if (++page->gone < HOST_JOB_PAGE)
        return;
    page->next = jobs->free_page;
    jobs->free_page = page;
    jobs->page[job / HOST_JOB_PAGE] = NULL;
    while (jobs->pages_gone * HOST_JOB_PAGE < jobs->count && jobs->page[jobs->pages_gone] == NULL)
        jobs->pages_gone++;
}

void host_jobs_forget(struct cs_host *host)
{
    assert(host->decision->in_decide);
    for (uint32_t i = 0; i < host->jobs->gone_count; i++)
        forget(host, host->jobs->gone[i]);
    host->jobs->gone_count = 0;
}

/* Jobs are found by number through pages of HOST_JOB_PAGE slots.  A page begins with the first
 * of its jobs, and is given back when all of them are forgotten. */
struct host_job_slot *host_job_make(struct cs_host *host)
{
    uint32_t number = host->jobs->count, at = number / HOST_JOB_PAGE;

    if (number % HOST_JOB_PAGE == 0) {
        ROOM(host, host->jobs->page, at, host->jobs->page_capacity);
        host->jobs->page[at] = page_make(host);
    }
    struct host_job_slot *job = slot_make(host);
    assert(host->jobs->page[at]->slot[number % HOST_JOB_PAGE] == NULL);
    host->jobs->page[at]->slot[number % HOST_JOB_PAGE] = job;
    host->jobs->count++;
    memset(job, 0, sizeof *job);
    job->task = job->left = job->tenant = ID_NONE;
    job->even_from_ns = CLOCK_NEVER_NS;
    job->seat = host->jobs->free_seat_count > 0
                    ? host->jobs->free_seat[--host->jobs->free_seat_count]
                    : host->jobs->seat_count++;
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++)
        job->lease[r] = job->role_task[r] = job->home[r] = ID_NONE;
    assert(job->seat < host->jobs->seat_count);
    return job;
}

void host_job_pay_transfer(struct cs_host *host, uint32_t job, double usd)
{
    assert(usd >= 0);
    host_job_slot(host, job)->pub.usd_transfer += usd;
}

void host_job_drop_task(struct cs_host *host, uint32_t job)
{
    uint32_t task = host_job_slot(host, job)->task;

    if (task != ID_NONE)
        host_task_drop(host, task);
    assert(host_job_slot(host, job)->task == task);
    host_job_slot(host, job)->task = ID_NONE;
}

uint32_t *host_job_tenant(struct cs_host *host, uint32_t job, const char **name)
{
    struct host_job_slot *slot = host_job_slot(host, job);
    const char *tenant = slot->pub.request.tenant;

    assert(name != NULL);
    *name = tenant != NULL ? tenant : "";
    return &slot->tenant;
}

void host_job_leave_orders(struct cs_host *host, uint32_t job)
{
    struct host_job_slot *slot = host_job_slot(host, job);

    assert(slot->pub.end_ns == CLOCK_NEVER_NS);
    slot->left = slot->tenant = ID_NONE;
}

/* The slot that became free last is used first: it is most likely in the cache. */
uint32_t host_task_make(struct cs_host *host)
{
    uint32_t i;

    if (host->tasks->free_count > 0) {
        i = host->tasks->free[--host->tasks->free_count];
    } else {
        if (host->tasks->count == host->tasks->capacity) {
            uint32_t room = host->tasks->capacity;
            ROOM(host, host->tasks->slot, host->tasks->count, host->tasks->capacity);
            host->tasks->free = arena_grow(host->parts.arena, host->tasks->free,
                                          room, host->tasks->capacity,
                                          sizeof *host->tasks->free);
        }
        i = host->tasks->count++;
    }
    assert(i < host->tasks->count && !host->tasks->slot[i].live);
    memset(&host->tasks->slot[i], 0, sizeof host->tasks->slot[i]);
    host->tasks->slot[i].live = true;
    host->tasks->slot[i].seq = host->waiting->next_seq++;
    return i;
}

/* ---- leases and running jobs, in order ---- */

void host_lists_begin(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;

    assert(host->waiting->held == NULL && host->waiting->running == NULL);
    host->waiting->held = arena_alloc(arena, 1, sizeof *host->waiting->held);
    host->waiting->running = arena_alloc(arena, 1, sizeof *host->waiting->running);
}

/* Returns where the place of a number in its list is stored: in the slot of the
 * lease or of the job. */
static inline uint32_t *place_of(const struct cs_host *host,
                          const struct host_list *list, uint32_t item)
{
    return list == host->waiting->held ? &host->leases->slot[item].place
                              : &host_job_slot(host, item)->place;
}

/* Closes the holes of a list; the numbers keep their order. */
static void list_close(const struct cs_host *host, struct host_list *list)
{
    assert(list->holes <= list->count);
    uint32_t kept = 0;

    for (uint32_t i = 0; list->holes > 0 && i < list->count; i++) {
        if (list->item[i] == ID_NONE)
            continue;
        *place_of(host, list, list->item[i]) = kept;
        list->item[kept++] = list->item[i];
    }
    if (list->holes > 0)
        list->count = kept;
    list->holes = 0;
}

/* Puts a number at the end of a list. */
static inline void list_add(struct cs_host *host, struct host_list *list,
                     uint32_t item)
{
    ROOM(host, list->item, list->count, list->capacity);
    *place_of(host, list, item) = list->count;
    list->item[list->count++] = item;
}

/* Leaves a hole in place of a number, so that the places of all others hold.  Holes are closed
 * when three quarters of the list are, or when the list is read: a removal is O(1) on average. */
static void list_remove(struct cs_host *host, struct host_list *list,
                        uint32_t item)
{
    uint32_t place = *place_of(host, list, item);

    assert(place < list->count && list->item[place] == item);
    list->item[place] = ID_NONE;
    list->holes++;
    if (list->holes > LIST_ROOM_MIN && list->holes > list->count / 4 * 3)
        list_close(host, list);
}

const struct host_list *host_held(const struct cs_host *host)
{
    list_close(host, host->waiting->held);
    return host->waiting->held;
}

const struct host_list *host_running_list(const struct cs_host *host)
{
    list_close(host, host->waiting->running);
    return host->waiting->running;
}

void host_running_add(struct cs_host *host, uint32_t job)
{
    assert(host_job_slot(host, job)->leases > 0);
    list_add(host, host->waiting->running, job);
}

void host_running_remove(struct cs_host *host, uint32_t job)
{
    assert(host_job_slot(host, job)->leases == 0);
    list_remove(host, host->waiting->running, job);
}

uint32_t cs_lease_count(const struct cs_host *host)
{
    assert(host->waiting->held->holes <= host->waiting->held->count);
    return host->waiting->held->count - host->waiting->held->holes;
}

struct lease_id cs_lease_at(const struct cs_host *host, uint32_t i)
{
    const struct host_list *held = host_held(host);
    struct lease_id lease = { i < held->count ? held->item[i] : ID_NONE };
    assert(lease.i == ID_NONE || host->leases->slot[lease.i].live);
    return lease;
}

uint32_t cs_running_count(const struct cs_host *host)
{
    assert(host->waiting->running->holes <= host->waiting->running->count);
    return host->waiting->running->count - host->waiting->running->holes;
}

struct job_id cs_running(const struct cs_host *host, uint32_t i)
{
    const struct host_list *running = host_running_list(host);
    struct job_id job = { i < running->count ? running->item[i] : ID_NONE };
    assert(job.i == ID_NONE || host_job_slot(host, job.i)->leases > 0);
    return job;
}

uint32_t host_pool_waits(const struct cs_host *host, uint32_t pool)
{
    assert(pool < host->spec->pool_count);
    return demand_count_least(&host->pools->waits[pool]);
}

/* The role counts in each pool whose GPUs it may use; roles without GPUs count
 * nowhere. */
void host_task_waits(struct cs_host *host, uint32_t i, int sign)
{
    const struct cs_task *task = &host->tasks->slot[i].pub;
    const struct host_job_slot *job = host_job_slot(host, task->job.i);
    const struct host_form *form = &host->forms->form[job->form];
    bool whole = task->role == CS_ALL_ROLES;
    uint32_t r = whole ? 0 : task->role;
    uint32_t end = whole ? host_form_of(job)->role_count : r + 1;

    assert(r < end && end <= FORM_ROLES_MAX);

    for (; r < end; r++) {
        uint32_t gpus = job_role_gpus(&job->pub.request, r);
        if (gpus == 0)
            continue;
        for (uint32_t left = form->gpu_pools[r]; left != 0; left &= left - 1)
            demand_count_add(&host->pools->waits[__builtin_ctz(left)], gpus, sign);
    }
}

/* The counters of pools are corrected first, since they read the task. */
void host_task_drop(struct cs_host *host, uint32_t task)
{
    assert(task < host->tasks->count && host->tasks->slot[task].live);
    host_task_waits(host, task, -1);
    rank_tree_remove(host->waiting->order, task);
    host->hooks.task_gone(host, task);
    host->tasks->slot[task].live = false;
    host->tasks->free[host->tasks->free_count++] = task;
    assert(host->tasks->free_count <= host->tasks->count);
}

void host_task_lost_lease(struct cs_host *host, uint32_t task)
{
    assert(task < host->tasks->count && host->tasks->slot[task].live);
    host->tasks->slot[task].pub.held.i = ID_NONE;
    host_kinds_again(host, task);
}

/* As host_task_make(): of the free slots, the one that became free last is used first.  The
 * lease is the last one of the list of leases. */
uint32_t host_lease_make(struct cs_host *host)
{
    uint32_t i;

    if (host->leases->free_count > 0) {
        i = host->leases->free[--host->leases->free_count];
    } else {
        if (host->leases->count == host->leases->capacity) {
            uint32_t room = host->leases->capacity;
            ROOM(host, host->leases->slot, host->leases->count, host->leases->capacity);
            host->leases->free = arena_grow(host->parts.arena,
                                           host->leases->free, room,
                                           host->leases->capacity,
                                           sizeof *host->leases->free);
        }
        i = host->leases->count++;
    }
    assert(i < host->leases->count && !host->leases->slot[i].live);
    memset(&host->leases->slot[i], 0, sizeof host->leases->slot[i]);
    host->leases->slot[i].live = true;
    list_add(host, host->waiting->held, i);
    return i;
}

/* The array of the placement goes to the spare ones of its size; see host_placement_keep(). */
void host_lease_unmake(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct share *share = lease->pub.placement.share;

    assert(lease->live);
    lease->live = false;
    host_lease_unexpect(host, i);
    list_remove(host, host->waiting->held, i);
    host->leases->free[host->leases->free_count++] = i;
    /* A spare array keeps the address of the next in its first bytes. */
    memcpy(share, &host->leases->free_share[lease->share_class], sizeof(void *));
    host->leases->free_share[lease->share_class] = share;
    assert(host->leases->free_count <= host->leases->count);
}

/* Arrays of shares have sizes that are powers of two, with a list of spare ones
 * for each size. */
void host_placement_keep(struct cs_host *host, struct host_lease_slot *lease,
                         const struct placement *placement)
{
    uint32_t room = 0;

    while ((1u << room) < placement->share_count)
        room++;
    assert(room < HOST_SHARE_CLASSES && placement->share_count > 0);
    struct share *share = host->leases->free_share[room];
    if (share)
        memcpy(&host->leases->free_share[room], share, sizeof(void *));
    else
        share = arena_alloc(host->parts.arena, (size_t)1 << room,
                            sizeof *share);
    memcpy(share, placement->share,
           placement->share_count * sizeof *share);
    lease->share_class = room;
    lease->pub.placement.share = share;
    lease->pub.placement.share_count = placement->share_count;
}

/* What a lease holds of one of its pools. */
struct held {
    uint32_t gpus;              /* a part of one counts as one */
    uint64_t milli;             /* thousandths of GPUs, parts as such */
};

/* Returns what a lease on nodes of several pools holds of one of them, share by
 * share. */
static struct held held_of_one(const struct cs_host *host,
                               const struct host_lease_slot *lease, uint32_t p)
{
    assert(p < host->spec->pool_count);
    const struct placement *placement = &lease->pub.placement;
    struct held held = { 0 };

    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct share *share = &placement->share[i];
        if (cluster_group_of(host->spec, share->node)->pool != p)
            continue;
        held.gpus += mask_count(share->gpu_mask);
        held.milli += share_milli(share);
    }
    return held;
}

/* Returns what a lease holds of one of its pools.  Most leases lie in one pool:
 * their own numbers are the answer. */
static inline struct held held_of(const struct cs_host *host,
                                  const struct host_lease_slot *lease,
                                  uint32_t p)
{
    assert(lease->pool_mask >> p & 1);
    if (lease->pool_mask != 1u << p)
        return held_of_one(host, lease, p);
    return (struct held) {
        .gpus = lease->pub.gpus,
        .milli = (uint64_t)lease->pub.gpus * lease->pub.gpu_milli,
    };
}

/* Adds GPUs to those in a state of lease, or takes them off (sign -1).  Of unsigned numbers the
 * negative one wraps around, and the sum is right again. */
static inline void count_state(struct host_pool_now *pool, enum cs_lease_state state,
                               const struct held *held, int sign)
{
    uint64_t milli = sign > 0 ? held->milli : 0u - held->milli;

    if (state == CS_LEASE_IDLE)
        pool->idle_leased += sign > 0 ? held->gpus : 0u - held->gpus;
    else if (state == CS_LEASE_BUSY)
        pool->busy_milli += milli;
    else
        pool->loading_milli += milli;
    assert(pool->loading_milli + pool->busy_milli <= pool->allocated_milli);
}

/* Returns the lowest pool of a mask, which is not 0. */
static inline uint32_t first_pool(uint32_t mask)
{
    assert(mask != 0);
    return (uint32_t)__builtin_ctz(mask);
}

void host_pools_add(struct cs_host *host, const struct host_lease_slot *lease,
                    int sign)
{
    assert(sign == 1 || sign == -1);
    for (uint32_t left = lease->pool_mask; left != 0; left &= left - 1) {
        uint32_t p = first_pool(left);
        struct held held = held_of(host, lease, p);
        struct host_pool_now *pool = &host->pools->pool[p];
        assert(sign > 0 || pool->allocated_milli >= held.milli);
        pool->allocated += sign > 0 ? held.gpus : 0u - held.gpus;
        pool->allocated_milli += sign > 0 ? held.milli : 0u - held.milli;
        assert(sign < 0 || pool->allocated <= pool->gpus || host->cluster->parts);
        count_state(pool, lease->pub.state, &held, sign);
        if (lease->busy_now > 0)
            pool->utilized += sign * lease->busy_now * (double)held.milli /
                              GPU_MILLI;
        if (pool->allocated_milli == 0)
            pool->utilized = 0;     /* parts leave rounding errors */
    }
}

/* Only what changed is counted anew. */
void host_pools_move(struct cs_host *host, struct host_lease_slot *lease,
                     enum cs_lease_state state, double busy)
{
    assert(busy >= 0 && lease->busy_now >= 0);
    for (uint32_t left = lease->pool_mask; left != 0; left &= left - 1) {
        uint32_t p = first_pool(left);
        struct held held = held_of(host, lease, p);
        struct host_pool_now *pool = &host->pools->pool[p];
        if (state != lease->pub.state) {
            count_state(pool, lease->pub.state, &held, -1);
            count_state(pool, state, &held, +1);
        }
        if (busy == 0 && lease->busy_now == 0)
            continue;
        double gpus = (double)held.milli / GPU_MILLI;
        pool->utilized -= lease->busy_now * gpus;
        pool->utilized += busy * gpus;
    }
    lease->pub.state = state;
    lease->busy_now = busy;
}

void host_left_place(struct cs_host *host, uint32_t job, uint32_t entry)
{
    assert(entry == ID_NONE || entry < host->deals->left_count);
    host_job_slot(host, job)->left = entry;
}

/* The entry leaves its order at the next deal; the job may be forgotten before. */
void host_left_end(struct cs_host *host, struct host_job_slot *job)
{
    if (job->left == ID_NONE)
        return;
    assert(job->left < host->deals->left_count);
    ROOM(host, host->deals->left_ended, host->deals->left_endeds, host->deals->left_ended_room);
    host->deals->left_ended[host->deals->left_endeds++] = job->left;
    host->deals->left[job->left].over = true;
    job->left = ID_NONE;
}

/* A job that changes several times before a deal is noted once. */
void host_left_change(struct cs_host *host, uint32_t number)
{
    const struct host_job_slot *job = host_job_slot(host, number);

    if (job->left == ID_NONE || host->deals->left[job->left].changed)
        return;
    assert(job->left < host->deals->left_count);
    ROOM(host, host->deals->left_changed, host->deals->left_changeds,
         host->deals->left_changed_room);
    host->deals->left_changed[host->deals->left_changeds++] = job->left;
    host->deals->left[job->left].changed = true;
}

void host_note_part(struct cs_host *host, uint32_t form, uint32_t milli)
{
    struct host_waiting *waiting = host->waiting;
    uint32_t *least = &host->forms->form[form].part_least;

    assert(form < host->forms->count && milli > 0 && milli < GPU_MILLI);
    if (!waiting->has_parts || milli < waiting->part_least)
        waiting->part_least = milli;
    if (*least == 0 || milli < *least)
        *least = milli;
    waiting->has_parts = true;
}
