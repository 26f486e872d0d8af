/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_runs_test.c - what flows use of links stands in runs that no two of them share, and a run
 * is given to another flow of its size before the list grows: flows that come and go by lot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/flow/share.h"

#define LINKS 24u
#define FLOWS 40u
#define SIZES 4u                /* runs of 1, 2, 4 and 8 */

/* A flow as it was made. */
struct made {
    bool live;
    uint32_t slot, uses, link[8];
    double per_unit[8];
};

static uint32_t size_of(uint32_t uses)
{
    uint32_t size = 0;

    while (1u << size < uses)
        size++;
    return size;
}

static void make(struct share *share, struct rng *rng, struct made *flow)
{
    uint32_t first = (uint32_t)rng_below(rng, LINKS);

    flow->live = true;
    flow->uses = (uint32_t)rng_below(rng, 9);
    flow->slot = share_add(share, 1.0, 10.0, flow->uses);
    for (uint32_t k = 0; k < flow->uses; k++) {
        flow->link[k] = (first + k) % LINKS;
        flow->per_unit[k] = 1.0 + (double)rng_below(rng, 1000);
        share_use(share, flow->slot, k, flow->link[k], flow->per_unit[k]);
    }
}

/* Each flow has what it was made with, in a run of its own; each link has its flows, once. */
static void check(const struct share *share, const struct made *made)
{
    static unsigned char taken[1u << 16];
    uint32_t members[LINKS] = { 0 };

    memset(taken, 0, sizeof taken);
    assert_true(share->uses.used < sizeof taken);
    for (uint32_t i = 0; i < FLOWS; i++) {
        const struct made *flow = &made[i];
        if (!flow->live)
            continue;
        const struct share_flow *of = &share->flow[flow->slot];
        const struct share_use *use = share_uses(share, of);
        assert_true(of->live && of->use_count == flow->uses);
        for (uint32_t k = 0; k < flow->uses; k++) {
            assert_true(use[k].link == flow->link[k] && use[k].per_unit == flow->per_unit[k]);
            assert_false(taken[of->use + k]++);
            members[flow->link[k]]++;
        }
    }
    for (uint32_t l = 0; l < LINKS; l++)
        assert_int_equal(share->link[l].member_count, members[l]);
}

static void runs_are_used_again_and_never_by_two(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint32_t now[SIZES] = { 0 }, most[SIZES] = { 0 }, live = 0;
        struct made made[FLOWS] = { { .live = false } };
        struct share share;
        struct rng rng;

        rng_init(&rng, seed, "runs", 0);
        share_init(&share);
        for (uint32_t l = 0; l < LINKS; l++)
            assert_int_equal(share_link_add(&share, 100.0), l);
        for (int turn = 0; turn < 3000; turn++) {
            struct made *flow = &made[rng_below(&rng, FLOWS)];
            if (flow->live) {
                share_drop(&share, flow->slot);
                flow->live = false;
                now[size_of(flow->uses)] -= flow->uses > 0;
                live--;
            } else {
                make(&share, &rng, flow);
                uint32_t *count = &now[size_of(flow->uses)];
                *count += flow->uses > 0;
                if (*count > most[size_of(flow->uses)])
                    most[size_of(flow->uses)] = *count;
                live++;
            }
            assert_int_equal(share.live_count, live);
            check(&share, made);
            uint32_t used = 1;          /* of flows without any */
            for (uint32_t s = 0; s < SIZES; s++)
                used += most[s] << s;
            assert_int_equal(share.uses.used, used);
        }
        share_release(&share);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_used_again_and_never_by_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
