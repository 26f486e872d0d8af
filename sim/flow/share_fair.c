/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * share_fair.c - are rates max-min fair?  Asked by the definition.
 *
 * Rates are weighted max-min fair if no link carries more than its capacity,
 * and each flow is at its cap or has a bottleneck: a full link on which no flow
 * has a higher level, rate over weight (Bertsekas and Gallager, Data Networks,
 * 1992, section 6.5.2).  Nothing that the solver keeps is used but rates, uses
 * and capacities: loads are added up again, flow by flow.
 */
#include <assert.h>
#include <math.h>

#include "sim/flow/share.h"

#define NEAR 1e-6               /* rounding of levels that rise together, */
#define ROUNDING 1e-12          /* ... and of what is left of a link's capacity */

/* Load of a link, and the highest level on it, from its members alone.  Stores the level in
 * *level and returns the load. */
static double link_sum(const struct share *share, const struct share_link *link,
                       double *level)
{
    const struct share_member *member =
        (const struct share_member *)(const void *)share->members.items + link->member;
    double load = 0;

    *level = 0;
    for (uint32_t m = 0; m < link->member_count; m++) {
        const struct share_flow *flow = &share->flow[member[m].flow];
        const struct share_use *use =
            (const struct share_use *)(const void *)share->uses.items + member[m].use;
        double rate = share_rate(share, flow);

        assert(flow->weight > 0);
        load += rate * use->per_unit;
        *level = fmax(*level, rate / flow->weight);
    }
    return load;
}

/* Is a flow at its cap, or has it a bottleneck as the definition has it?  A little
 * slower than others on a full link passes where that is rounding of the capacity. */
static bool is_limited(const struct share *share, const struct share_flow *flow)
{
    const struct share_use *use = share_uses(share, flow);
    double rate = share_rate(share, flow), level;

    assert(flow->live && flow->use_count > 0);
    if (rate >= flow->rate_max * (1 - NEAR))
        return rate <= flow->rate_max * (1 + NEAR);
    for (uint32_t k = 0; k < flow->use_count; k++) {
        const struct share_link *link = &share->link[use[k].link];

        double load = link_sum(share, link, &level);
        double less = (level * flow->weight - rate) * use[k].per_unit;

        if (load >= link->capacity * (1 - NEAR) &&
            less <= fmax(NEAR * level * flow->weight * use[k].per_unit,
                         ROUNDING * link->capacity))
            return true;
    }
    return false;
}

/* Does a link carry more than its capacity, beyond rounding? */
static bool is_overfull(const struct share *share, const struct share_link *link)
{
    double level;

    return link_sum(share, link, &level) > link->capacity * (1 + NEAR);
}

/* O(uses x members): for audits of small nets. */
bool share_is_fair(const struct share *share, uint32_t *flow)
{
    assert(flow != NULL);
    for (uint32_t f = 0; f < share->flow_count; f++) {
        const struct share_flow *one = &share->flow[f];
        const struct share_use *use = share_uses(share, one);
        bool fair = !one->live || one->use_count == 0 || is_limited(share, one);

        for (uint32_t k = 0; fair && one->live && k < one->use_count; k++)
            fair = !is_overfull(share, &share->link[use[k].link]);
        *flow = f;
        if (!fair)
            return false;
    }
    return true;
}
