/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit_gpus_test.c - which GPUs of a node a request gets, with NVLink domains and with idle leases
 * that may be revoked, drawn by a seed, against a list of GPUs that is gone through one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"

static const struct gpu_type type = { .name = "a" };

/* Takes from a domain, lowest first, until `need` is 0. */
static void take_from(bool *is_free, bool *chosen, uint32_t from, uint32_t to, uint32_t *need)
{
    for (uint32_t g = from; g < to; g++)
        if (is_free[g] && *need > 0) {
            is_free[g] = false;
            chosen[g] = true;
            --*need;
        }
}

/* The fullest domain that holds all that is missing, else the one with most; the first of
 * equals.  `gpus`: no domain has a free GPU. */
static uint32_t plain_domain(const bool *is_free, uint32_t gpus, uint32_t domain, uint32_t need)
{
    uint32_t best = gpus, most = 0;

    for (uint32_t from = 0; from < gpus; from += domain) {
        uint32_t here = 0;
        for (uint32_t g = from; g < from + domain && g < gpus; g++)
            here += is_free[g];
        if (here > 0 && (best == gpus || (most < need && here > most) ||
                         (most >= need && here >= need && here < most))) {
            best = from;
            most = here;
        }
    }
    return best;
}

static uint64_t plain_gpus(uint64_t now, uint64_t later, uint32_t gpus, uint32_t domain,
                           uint32_t need)
{
    bool is_free[64], is_idle[64], chosen[64] = { false };
    uint64_t mask = 0;
    uint32_t from;

    for (uint32_t g = 0; g < gpus; g++) {
        is_free[g] = now >> g & 1;
        is_idle[g] = later >> g & 1;
    }
    while (domain > 0 && need > 0 && (from = plain_domain(is_free, gpus, domain, need)) < gpus)
        take_from(is_free, chosen, from, from + domain < gpus ? from + domain : gpus, &need);
    take_from(is_free, chosen, 0, gpus, &need);
    take_from(is_idle, chosen, 0, gpus, &need);
    assert_int_equal(need, 0);
    for (uint32_t g = 0; g < gpus; g++)
        mask |= (uint64_t)chosen[g] << g;
    return mask;
}

static uint32_t count(uint64_t mask)
{
    uint32_t n = 0;

    for (; mask != 0; mask &= mask - 1)
        n++;
    return n;
}

/* One node: some GPUs are free, some taken by idle leases, the others taken for good. */
static void check_case(struct rng *rng, uint64_t k)
{
    static const uint32_t sizes[] = { 1, 2, 3, 4, 8, 12, 16, 64 };
    struct node_group group = { .name = "g", .node_count = 1, .gpu = &type,
                                .gpus = sizes[rng_below(rng, 8)], .cores = 8,
                                .memory_bytes = 100 };
    struct arena *arena = arena_new(0);
    struct cluster_spec spec = cluster_aid_new(&group);
    uint64_t all = cluster_all_gpus(&group);
    struct share taken = { .node = 0, .gpu_mask = all & rng_u64(rng) }, extra[1], found[1];
    bool lends = rng_below(rng, 2);
    struct placement p = { &taken, 1 }, out;

    group.nvlink_domain = rng_below(rng, 3) ? 1 + (uint32_t)rng_below(rng, group.gpus) : 0;
    if (k % 5 == 0)
        taken.gpu_mask = all;
    cluster_aid_count(&spec, &group);
    struct cluster *cluster = cluster_new(arena, &spec);
    if (taken.gpu_mask != 0)
        cluster_take(cluster, &p);
    /* What is lent may be told as free although it is not taken at all. */
    extra[0] = (struct share){ .node = 0, .gpu_mask = taken.gpu_mask & rng_u64(rng) };
    uint64_t now = all & ~taken.gpu_mask, later = lends ? extra[0].gpu_mask : 0;
    uint32_t most = count(now) + count(later);
    for (uint32_t need = 1; need <= group.gpus; need++) {
        struct fit_want want = { .gpus = need, .extra = lends ? extra : NULL };
        bool can = fit_find(cluster, FIT_PACK, &want, found, 1, &out);
        if (can != (need <= most))
            fail_msg("case %u: %u of %u", (unsigned)k, need, most);
        if (!can)
            continue;
        assert_int_equal(out.share_count, 1);
        uint64_t mask = plain_gpus(now, later, group.gpus, group.nvlink_domain, need);
        if (found[0].gpu_mask != mask)
            fail_msg("case %u: %u of %#llx and %#llx, domains of %u: %#llx, not %#llx", (unsigned)k,
                     need, (unsigned long long)now, (unsigned long long)later,
                     group.nvlink_domain, (unsigned long long)found[0].gpu_mask,
                     (unsigned long long)mask);
    }
    arena_free(arena);
}

static void gpus_are_those_of_a_plain_list(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "gpus", 0);
    for (uint64_t k = 0; k < 400; k++)
        check_case(&rng, k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_are_those_of_a_plain_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
