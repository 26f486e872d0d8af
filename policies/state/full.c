/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * full.c - what found no room as its owner asked, and is not tried again until GPUs,
 * cores or memory were released in a pool that it may use.
 *
 * A class are the jobs of one form.  Of a form of one role it is known for how many
 * GPUs a search failed: GPUs that fit a gang fit a smaller one of the same form, since
 * every rule would leave out some of them, so all larger gangs fail, too; likewise a part
 * of a GPU and larger ones.  Jobs of a form of several roles are equal.  Between two
 * releases room only shrinks.
 *
 * What a power cap refused says nothing of larger gangs, whose places may draw less: it
 * is known for each number of GPUs by itself, until something is released anywhere or a
 * rented node goes.
 *
 * An example.  A job of form F for 16 GPUs finds no room at release 7.  Until something is
 * released, all jobs of F for 16 or more GPUs are known to find none, without a search.  At
 * release 8 nothing is known any more.
 */
#include "policies/state/full.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/state/form.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/containers/order.h"

/* Returns how often something was released where a form could use it. */
static uint64_t releases_of(const struct cs_host *host, const struct host_form *form)
{
    uint32_t pools = 0;
    uint64_t sum = 0;

    if (host->spec->pool_count == 1)
        return host->cluster->releases;
    for (uint32_t r = 0; r < form->form->role_count; r++) {
        if (form->pool_mask[r] == 0)
            return host->cluster->releases;
        pools |= form->pool_mask[r];
    }
    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        if (pools & 1u << p)
            sum += host->cluster->pool_releases[p];
    assert(pools != 0);
    return sum;
}

/* Is a search for one job of the form as good as for another?  One for several roles
 * that fails may have drawn, and one on nodes that come and go is like no other. */
static bool is_class(const struct cs_host *host, const struct host_form *form)
{
    return form->form->role_count == 1 ||
           (host->rules->placement != PLACE_RANDOM && host->rules->relax_ns == 0 &&
            !host->spec->rents);
}

/* Orders what jobs of one form ask for: thousandths of GPUs for one role.  Of
 * whole GPUs it is their number times 1000; a part of one GPU is its
 * thousandths. */
static uint64_t size_of(uint32_t gpus, uint32_t milli)
{
    assert(milli > 0 && milli <= GPU_MILLI);
    return (uint64_t)gpus * GPU_MILLI - (GPU_MILLI - milli);
}

/* Has a search of the form found no room since the last release? */
static bool lacks_room(const struct cs_host *host, uint32_t i)
{
    const struct host_form *form = &host->forms->form[i];

    assert(i < host->forms->count);
    return form->full_size > 0 && form->full_at == releases_of(host, form);
}

/* Returns the bit of a number of GPUs that a cap refused; 0: it is not noted,
 * as there are bits for 64 alone. */
static uint64_t capped_bit(uint32_t gpus)
{
    return gpus >= 1 && gpus <= 64 ? UINT64_C(1) << (gpus - 1) : 0;
}

void host_note_capped(struct cs_host *host, uint32_t i, uint32_t gpus)
{
    struct host_form *form = &host->forms->form[i];

    assert(i < host->forms->count && host->spec->power_cap_w > 0);
    if (!is_class(host, form))
        return;
    if (form->capped_at != host->cluster->releases)
        form->capped = 0;
    form->capped |= capped_bit(gpus);
    form->capped_at = host->cluster->releases;
}

void host_note_full(struct cs_host *host, uint32_t i, uint32_t gpus, uint32_t milli)
{
    struct host_form *form = &host->forms->form[i];
    uint64_t size = size_of(gpus, milli);

    assert(i < host->forms->count);
    if (!is_class(host, form) || (lacks_room(host, i) && size >= form->full_size))
        return;
    form->full_size = size;
    form->full_at = releases_of(host, form);
}

void host_full_forget(struct cs_host *host)
{
    for (uint32_t i = 0; i < host->forms->count; i++) {
        assert(host->forms->form[i].form != NULL);
        host->forms->form[i].full_size = 0;
        host->forms->form[i].capped = 0;
    }
}

bool host_known_full(const struct cs_host *host, uint32_t i, uint32_t gpus, uint32_t milli)
{
    const struct host_form *form = &host->forms->form[i];

    assert(i < host->forms->count);
    return (lacks_room(host, i) && size_of(gpus, milli) >= form->full_size) ||
           (milli == GPU_MILLI && form->capped & capped_bit(gpus) &&
            form->capped_at == host->cluster->releases);
}

bool host_task_known_full(void *owner, uint32_t item)
{
    const struct cs_host *host = owner;
    const struct cs_task *task = &host->tasks->slot[item].pub;

    assert(item < host->tasks->count);
    return task->role == CS_ALL_ROLES &&
           host_known_full(host, host->tasks->slot[item].form, task->gpus, task->gpu_milli);
}

/* For order_filter.passes: false for a task that is known to fit nowhere now. */
static bool is_startable(void *owner, uint32_t item)
{
    return !host_task_known_full(owner, item);
}

/* Below a size that failed lies the most that may fit.  A part of a GPU counts
 * as one GPU here: while a part may fit, tasks of one GPU are let through. */
uint32_t host_full_most(const struct cs_host *host, uint32_t i, uint32_t gpus_max)
{
    const struct host_form *form = &host->forms->form[i];

    if (!lacks_room(host, i))
        return gpus_max;
    uint64_t most = (form->full_size - 1) / GPU_MILLI;
    if (form->part_least > 0 && form->part_least < form->full_size - most * GPU_MILLI)
        most++;
    assert(most * GPU_MILLI <= form->full_size + GPU_MILLI);
    return most < gpus_max ? (uint32_t)most : gpus_max;
}

/* Groups of forms stand for all forms whose number has one remainder: the most
 * of them counts. */
bool host_full_by_form(const struct cs_host *host, uint32_t *gpus_max)
{
    bool some = false;

    if (host_per_phase(host))
        return false;
    for (uint32_t g = 0; g < ORDER_GROUP_COUNT; g++)
        gpus_max[g] = 0;
    for (uint32_t i = 0; i < host->forms->count; i++) {
        uint32_t *most = &gpus_max[i % ORDER_GROUP_COUNT];
        uint32_t gpus = host_full_most(host, i, UINT32_MAX);
        assert(lacks_room(host, i) || gpus == UINT32_MAX);
        *most = gpus > *most ? gpus : *most;
        some |= gpus < UINT32_MAX;
    }
    return some;
}

/* With one form a number is enough; with several, a number for each group of
 * forms. */
struct order_filter host_startable(const struct cs_host *host, uint32_t gpus_max)
{
    struct order_filter filter = {
        .gpus_max = gpus_max, .span_max_ns = INT64_MAX,
        .passes = is_startable,
    };

    if (host->forms->count > 1)
        filter.by_group = host_full_by_form(host, filter.group_max);
    else if (host->forms->count == 1 && !host_per_phase(host))
        filter.gpus_max = host_full_most(host, 0, gpus_max);
    assert(filter.gpus_max <= gpus_max);
    return filter;
}
