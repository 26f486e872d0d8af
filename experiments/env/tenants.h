/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tenants.h - GPUs that each tenant holds.  Private to experiments/env.
 */
#ifndef EXPERIMENTS_ENV_TENANTS_H
#define EXPERIMENTS_ENV_TENANTS_H

#include <stdint.h>

struct arena;
struct cs_host;
struct trial;

#define TENANT_NONE UINT32_MAX

struct tenant {
    const char *name;
    double gpus;                /* held now; parts of GPUs count as such */
};

struct tenants {
    const struct cs_host *host;
    struct arena *arena;
    struct tenant *tenant;
    uint32_t *slot;             /* open addressing: 1 + number of a tenant, or 0 */
    uint32_t count, room, slots;
};

/* Listens to a trial that has not begun to run. */
void tenants_begin(struct tenants *tenants, struct arena *arena, const struct trial *trial);
/* Returns the number of a tenant, given at its first mention; TENANT_NONE for NULL. */
uint32_t tenants_number(struct tenants *tenants, const char *tenant);

#endif
