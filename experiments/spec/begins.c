/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * begins.c - lets a policy begin, to hear whether it refuses its keys or the cluster.
 *
 * What a policy refuses as it begins depends on nothing else, so each trial would fail of it.
 * Here the fault has a place in the file, and is found with all others.
 */
#include "experiments/spec/begins.h"

#include <assert.h>
#include <string.h>

#include "models/cluster/fabric.h"
#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"

/* Makes a host, which lets the policy begin, and drops it.  Nothing of it is kept, and no
 * event runs, so that trials are not touched by it. */
static bool try_begin(const struct host_policy *policy, const struct cluster_spec *cluster,
                      struct err *err)
{
    struct arena *arena = arena_new(0);
    struct loop *loop = loop_new((struct loop_limits){ 1, 1, NULL });
    struct flow_net *net = flow_new(loop);
    struct host_parts parts = {
        .arena = arena, .loop = loop, .net = net, .cluster = cluster,
        .fabric = fabric_new(arena, cluster, net), .journal = journal_new(arena),
        .policy = policy,
    };
    struct cs_host *host = host_new(&parts, err);
    bool begins = host != NULL;

    assert(begins || err->kind == ERR_POLICY);
    host_free(host);
    flow_free(net);
    loop_free(loop);
    arena_free(arena);
    return begins;
}

/* Returns where the message of a policy belongs.  If its words begin with a key
 * of the policy, it is the value of that key in the entry; else, or if the
 * entry lacks the key, the entry. */
static struct err_pos find_place(const struct conf_node *entry, const struct cs_policy *policy,
                                 const char *words)
{
    for (uint32_t i = 0; conf_kind(entry) == CONF_MAP && i < policy->param_count; i++) {
        const char *key = policy->param[i].key;
        size_t bytes = strlen(key);

        if (strncmp(words, key, bytes) == 0 && words[bytes] == ' ' &&
            conf_get(entry, key) != NULL)
            return conf_pos(conf_get(entry, key));
    }
    return conf_pos(entry);
}

/* Lets one policy begin, unless it is not built in or has no init.  entry:
 * where its keys are written.  False: err has its words, with the place in the
 * file. */
static bool check_one(const struct host_policy *policy, const struct conf_node *entry,
                      const struct cluster_spec *cluster, struct err *err)
{
    const struct cs_policy *table = policy->policy;
    struct err told = { 0 };

    if (policy->guest || table->init == NULL || try_begin(policy, cluster, &told))
        return true;
    const char *words = strstr(told.text, ": ");    /* behind "policy NAME" */
    assert(words != NULL);
    err_set(err, ERR_RANGE, find_place(entry, table, words + 2), "%s", told.text);
    return told.hint[0] != '\0' ? err_hint(err, "%s", told.hint)
        : err_hint(err, "`clustersim explain %s` says what its keys may be.", table->name);
}

bool begins_check(const struct host_policy *policy, const struct conf_node *entry,
                  const struct cluster_spec *cluster, struct err *err)
{
    assert(policy != NULL && cluster != NULL);
    return check_one(policy, entry, cluster, err) &&
           (policy->then == NULL ||
            check_one(policy->then, conf_get(entry, "then"), cluster, err));
}
