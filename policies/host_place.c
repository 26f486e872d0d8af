/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_place.c - a placement that a policy names node by node: GPUs, cores and
 * memory of each, by the rule that is nearest to the experiment's.
 */
#include <assert.h>

#include "policies/host_state.h"

bool host_find_spots(struct cs_host *host, const struct cs_want *want,
                     struct fit_want *fit, struct placement *out)
{
    uint32_t nodes = host->spec->node_count;
    struct placement one;

    assert(want->spot_count <= nodes);
    for (uint32_t i = 0; i < want->spot_count; i++) {
        fit->gpus = want->spot[i].gpus;
        fit->node_first = want->spot[i].node;
        fit->node_end = want->spot[i].node + 1;
        if (!fit_find(host->cluster, place_fit_rule(host->rules->placement),
                      fit, host->scratch + i, nodes - i, &one) ||
            one.share_count != 1 || one.share[0].node != want->spot[i].node)
            return false;
        host->scratch[i] = one.share[0];
    }
    *out = (struct placement) { host->scratch, want->spot_count };
    return true;
}
