/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_state.c - slots for jobs, asks and leases, and the lists over them.
 *
 * Slots of asks and leases are used again; lists stand in the order in which
 * things were made (leases, running jobs) or in the policy's (asks).
 */
#include "policies/host_state.h"

#include <assert.h>
#include <string.h>

#include "sim/arena.h"

#define LIST_ROOM_MIN 64u

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

int64_t host_now(const struct cs_host *host)
{
    return loop_now_ns(host->parts.loop);
}

void host_tell(struct cs_host *host, enum fact_kind kind, uint32_t subject,
               uint32_t object, double amount)
{
    struct fact fact = {
        .time_ns = host_now(host), .kind = kind, .subject = subject,
        .object = object, .amount = amount,
    };
    journal_tell(host->parts.journal, &fact);
}

void host_news_add(struct cs_host *host, int kind, uint32_t id)
{
    ROOM(host, host->news, host->news_count, host->news_room);
    host->news[host->news_count].kind = kind;
    host->news[host->news_count].id = id;
    host->news_count++;
}

static void grow_blocks(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;
    uint32_t old = host->job_block_room, room = old > 0 ? 2 * old : 64;

    host->job = arena_grow(arena, host->job, old, room, sizeof *host->job);
    host->job_gone = arena_grow(arena, host->job_gone, old, room,
                                sizeof *host->job_gone);
    host->job_spare = arena_grow(arena, host->job_spare, old, room,
                                 sizeof *host->job_spare);
    host->job_block_room = room;
}

void host_job_note_gone(struct cs_host *host, uint32_t job)
{
    assert(host_job_over(host, job));
    ROOM(host, host->gone, host->gones, host->gone_room);
    host->gone[host->gones++] = job;
}

void host_jobs_forget(struct cs_host *host)
{
    for (uint32_t i = 0; i < host->gones; i++) {
        uint32_t block = host->gone[i] / HOST_JOB_BLOCK;
        assert(host->job_gone[block] < HOST_JOB_BLOCK);
        if (++host->job_gone[block] < HOST_JOB_BLOCK)
            continue;
        host->job_spare[host->job_spares++] = host->job[block];
        host->job[block] = NULL;
    }
    host->gones = 0;
}

struct host_job_slot *host_job_make(struct cs_host *host)
{
    uint32_t block = host->job_count / HOST_JOB_BLOCK;

    if (block == host->job_blocks) {
        if (block == host->job_block_room)
            grow_blocks(host);
        host->job[block] = host->job_spares > 0
            ? host->job_spare[--host->job_spares]
            : arena_alloc(host->parts.arena, HOST_JOB_BLOCK,
                          sizeof **host->job);
        host->job_blocks++;
    }
    struct host_job_slot *job =
        &host->job[block][host->job_count++ % HOST_JOB_BLOCK];
    memset(job, 0, sizeof *job);
    job->ask = job->left = ID_NONE;
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++)
        job->lease[r] = job->role_ask[r] = job->home[r] = ID_NONE;
    return job;
}

uint32_t host_ask_make(struct cs_host *host)
{
    uint32_t i;

    if (host->ask_spares > 0) {
        i = host->ask_spare[--host->ask_spares];
    } else {
        if (host->ask_count == host->ask_room) {
            uint32_t room = host->ask_room;
            ROOM(host, host->ask, host->ask_count, host->ask_room);
            host->ask_spare = arena_grow(host->parts.arena, host->ask_spare,
                                         room, host->ask_room,
                                         sizeof *host->ask_spare);
        }
        i = host->ask_count++;
    }
    memset(&host->ask[i], 0, sizeof host->ask[i]);
    host->ask[i].live = true;
    host->ask[i].seq = host->next_seq++;
    return i;
}

static void list_remove_at(uint32_t *list, uint32_t *count, uint32_t i)
{
    assert(i < *count);
    memmove(list + i, list + i + 1, (*count - i - 1) * sizeof *list);
    (*count)--;
}

void host_ask_drop(struct cs_host *host, uint32_t ask)
{
    assert(ask < host->ask_count && host->ask[ask].live);
    ranks_remove(host->order, ask);
    host->ask[ask].live = false;
    host->ask_spare[host->ask_spares++] = ask;
}

uint32_t host_lease_make(struct cs_host *host)
{
    uint32_t i;

    if (host->lease_spares > 0) {
        i = host->lease_spare[--host->lease_spares];
    } else {
        if (host->lease_count == host->lease_room) {
            uint32_t room = host->lease_room;
            ROOM(host, host->lease, host->lease_count, host->lease_room);
            host->lease_spare = arena_grow(host->parts.arena,
                                           host->lease_spare, room,
                                           host->lease_room,
                                           sizeof *host->lease_spare);
        }
        i = host->lease_count++;
    }
    memset(&host->lease[i], 0, sizeof host->lease[i]);
    host->lease[i].live = true;
    host->lease[i].seq = host->next_seq++;
    ROOM(host, host->held, host->helds, host->held_room);
    host->held[host->helds++] = i;
    return i;
}

/* Leases stand in the order in which they were made: by seq. */
static uint32_t held_index(const struct cs_host *host, uint64_t seq)
{
    uint32_t low = 0, high = host->helds;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (host->lease[host->held[middle]].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void host_lease_unmake(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->lease[i];
    struct share *share = lease->pub.placement.share;

    assert(lease->live);
    lease->live = false;
    host_lease_unexpect(host, i);
    list_remove_at(host->held, &host->helds, held_index(host, lease->seq));
    host->lease_spare[host->lease_spares++] = i;
    /* A spare array keeps the address of the next in its first bytes. */
    memcpy(share, &host->share_spare[lease->share_room], sizeof(void *));
    host->share_spare[lease->share_room] = share;
}

void host_placement_keep(struct cs_host *host, struct host_lease_slot *lease,
                         const struct placement *placement)
{
    uint32_t room = 0;

    while ((1u << room) < placement->share_count)
        room++;
    assert(room < HOST_SHARE_CLASSES && placement->share_count > 0);
    struct share *share = host->share_spare[room];
    if (share)
        memcpy(&host->share_spare[room], share, sizeof(void *));
    else
        share = arena_alloc(host->parts.arena, (size_t)1 << room,
                            sizeof *share);
    memcpy(share, placement->share,
           placement->share_count * sizeof *share);
    lease->share_room = room;
    lease->pub.placement.share = share;
    lease->pub.placement.share_count = placement->share_count;
}

void host_running_add(struct cs_host *host, uint32_t job)
{
    ROOM(host, host->running, host->runnings, host->running_room);
    host->running[host->runnings++] = job;
    host_job_slot(host, job)->running_seq = host->next_seq++;
}

void host_running_remove(struct cs_host *host, uint32_t job)
{
    uint64_t seq = host_job_slot(host, job)->running_seq;
    uint32_t low = 0, high = host->runnings;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (host_job_slot(host, host->running[middle])->running_seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    assert(host->running[low] == job);
    list_remove_at(host->running, &host->runnings, low);
}

void host_pools_add(struct cs_host *host, const struct host_lease_slot *lease,
                    int sign)
{
    const struct placement *placement = &lease->pub.placement;

    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct share *share = &placement->share[i];
        const struct node_group *group =
            cluster_group_of(host->spec, share->node);
        struct host_pool_now *pool = &host->pool[group->pool];
        uint64_t milli = share_milli(share);
        uint32_t gpus = mask_count(share->gpu_mask);

        pool->allocated_milli += sign > 0 ? milli : 0u - milli;
        if (lease->pub.state == CS_LEASE_IDLE)
            pool->idle_leased += sign > 0 ? gpus : 0u - gpus;
        pool->utilized += sign * lease->busy_now * (double)milli / GPU_MILLI;
        if (pool->allocated_milli == 0)
            pool->utilized = 0;     /* parts leave rounding errors */
    }
}

void host_left_end(struct cs_host *host, struct host_job_slot *job)
{
    if (job->left == ID_NONE)
        return;
    ROOM(host, host->left_ended, host->left_endeds, host->left_ended_room);
    host->left_ended[host->left_endeds++] = job->left;
    job->left = ID_NONE;
}
