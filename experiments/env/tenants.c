/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tenants.c - GPUs that each tenant holds, by what the journal tells of leases.
 *
 * Names are found by a hash table with open addressing, at most half full; a
 * tenant's number is its order of appearance.
 */
#include "experiments/env/tenants.h"

#include <assert.h>
#include <string.h>

#include "experiments/run/trial.h"
#include "models/types/facts.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/event/journal.h"
#include "sim/text/hash.h"

#define FIRST_SLOTS 64u

/* Returns the slot where the name is, or would be. */
static uint32_t *find_slot(const struct tenants *tenants, const char *name)
{
    uint64_t i = hash_text(HASH_START, name);

    assert(tenants->count < tenants->slots);
    for (;; i++) {
        uint32_t *slot = &tenants->slot[i & (tenants->slots - 1)];
        if (*slot == 0 || strcmp(tenants->tenant[*slot - 1].name, name) == 0)
            return slot;
    }
}

/* Makes a larger table; the old one stays in the arena until the episode ends. */
static void make_slots(struct tenants *tenants, uint32_t slots)
{
    tenants->slot = arena_alloc(tenants->arena, slots, sizeof *tenants->slot);
    tenants->slots = slots;
    for (uint32_t t = 0; t < tenants->count; t++)
        *find_slot(tenants, tenants->tenant[t].name) = t + 1;
}

uint32_t tenants_number(struct tenants *tenants, const char *tenant)
{
    uint32_t *slot;

    if (tenant == NULL)
        return TENANT_NONE;
    if (tenants->slots == 0 || tenants->count >= tenants->slots / 2)
        make_slots(tenants, tenants->slots == 0 ? FIRST_SLOTS : 2 * tenants->slots);
    slot = find_slot(tenants, tenant);
    if (*slot == 0) {
        struct tenant new = { arena_text(tenants->arena, tenant), 0 };

        ARENA_ADD(tenants->arena, tenants->tenant, tenants->count, tenants->room, new);
        *slot = tenants->count;
    }
    return *slot - 1;
}

/* Adds or takes off what a lease holds; jobs without a tenant are not counted. */
static void hear_fact(void *self, const struct fact *fact)
{
    struct tenants *tenants = self;
    const struct cs_lease *lease =
        cs_lease(tenants->host, (struct lease_id){ (uint32_t)fact->subject });
    double gpus = (double)lease->gpus * lease->gpu_milli / GPU_MILLI;
    struct job_id job = { fact->object };
    uint32_t tenant = tenants_number(tenants, cs_request(tenants->host, job)->tenant);

    if (tenant == TENANT_NONE)
        return;
    tenants->tenant[tenant].gpus += fact->kind == FACT_LEASE_TAKE ? gpus : -gpus;
}

void tenants_begin(struct tenants *tenants, struct arena *arena, const struct trial *trial)
{
    *tenants = (struct tenants){ .host = trial_host(trial), .arena = arena };
    journal_listen(trial_journal(trial),
                   UINT64_C(1) << FACT_LEASE_TAKE | UINT64_C(1) << FACT_LEASE_DROP,
                   hear_fact, tenants);
}
