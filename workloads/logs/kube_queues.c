/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_queues.c - ClusterQueue, LocalQueue (kueue.x-k8s.io) and Queue
 * (scheduling.volcano.sh).
 *
 * What a ClusterQueue owns is the sum of nominalQuota of its GPUs over flavors;
 * a Queue of Volcano owns what `deserved`, `guarantee.resource` or, if there is
 * neither, `capability` says.
 */
#include "workloads/logs/kube_queues.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/logs/kube_read.h"

static bool is_cluster_queue(const struct conf_node *object)
{
    return kube_is(object, "ClusterQueue", "kueue.x-k8s.io");
}

static bool is_local_queue(const struct conf_node *object)
{
    return kube_is(object, "LocalQueue", "kueue.x-k8s.io");
}

static bool is_volcano_queue(const struct conf_node *object)
{
    return kube_is(object, "Queue", "scheduling.volcano.sh");
}

bool kube_queues_has(const struct conf_node *object)
{
    return is_cluster_queue(object) || is_local_queue(object) ||
           is_volcano_queue(object);
}

/* Returns item i; NULL behind the last, and where there is no list. */
static const struct conf_node *item_of(const struct conf_node *list, size_t i)
{
    return list != NULL && conf_kind(list) == CONF_LIST &&
           i < conf_count(list) ? conf_item(list, i) : NULL;
}

/* Adds the nominal quota of one flavor: the GPUs that the queue owns of that
 * kind of node. */
static bool add_flavor(const struct conf_node *flavor, double *gpus,
                       struct err *err)
{
    const struct conf_node *resources = kube_at(flavor, "resources"), *item;

    for (size_t i = 0; (item = item_of(resources, i)) != NULL; i++) {
        const char *name = kube_text(item, "name");
        const struct conf_node *quota = kube_at(item, "nominalQuota");
        double value;

        if (name == NULL || quota == NULL || !kube_is_gpu(name))
            continue;
        if (!kube_quantity(quota, &value, err))
            return false;
        *gpus += value;
    }
    return true;
}

/* Adds up the GPUs of all flavors of a queue of Kueue. */
static bool read_nominal(const struct conf_node *object, double *gpus,
                         struct err *err)
{
    const struct conf_node *groups = kube_at(object, "spec.resourceGroups");
    const struct conf_node *group, *flavor;

    for (size_t i = 0; (group = item_of(groups, i)) != NULL; i++)
        for (size_t j = 0;
             (flavor = item_of(kube_at(group, "flavors"), j)) != NULL; j++)
            if (!add_flavor(flavor, gpus, err))
                return false;
    return true;
}

/* Reads what a queue of Volcano owns: the first of the three fields that names
 * GPUs.  Without any, *gpus stays as it is. */
static bool read_deserved(const struct conf_node *object, double *gpus,
                          struct err *err)
{
    static const char *const where[] = {
        "spec.deserved", "spec.guarantee.resource", "spec.capability"};

    for (size_t i = 0; i < 3; i++) {
        const struct conf_node *map = kube_at(object, where[i]);

        for (size_t k = 0; map != NULL && conf_kind(map) == CONF_MAP &&
                           k < conf_count(map); k++)
            if (kube_is_gpu(conf_key(map, k)))
                return kube_quantity(conf_value(map, k), gpus, err);
    }
    return true;
}

/* Adds a queue of Kueue or of Volcano.  One of Kueue without a cohort lends and
 * borrows nothing (`alone`).  An object without a name is passed over. */
static bool add_queue(struct kube_queues *queues,
                      const struct conf_node *object, struct err *err)
{
    struct kube_queue queue = {.name = kube_text(object, "metadata.name")};
    bool kueue = is_cluster_queue(object);
    const struct conf_node *weight = kube_at(object, "spec.weight");

    if (queue.name == NULL)
        return true;
    queue.cohort = kube_text(object, "spec.cohort");
    if (queue.cohort == NULL)
        queue.cohort = kube_text(object, "spec.cohortName");
    queue.alone = kueue && queue.cohort == NULL;
    if (!(kueue ? read_nominal(object, &queue.gpus, err)
                : read_deserved(object, &queue.gpus, err)) ||
        (!kueue && weight != NULL &&
         !kube_quantity(weight, &queue.weight, err)))
        return false;
    ARENA_REACH(queues->arena, queues->queue, queues->room, queues->count);
    queues->queue[queues->count++] = queue;
    return true;
}

bool kube_queues_add(struct kube_queues *queues,
                     const struct conf_node *object, struct err *err)
{
    struct kube_local local;

    if (is_cluster_queue(object) || is_volcano_queue(object))
        return add_queue(queues, object, err);
    if (!is_local_queue(object))
        return true;
    local = (struct kube_local){kube_text(object, "metadata.namespace"),
                                kube_text(object, "metadata.name"),
                                kube_text(object, "spec.clusterQueue")};
    if (local.name == NULL || local.queue == NULL)
        return true;
    ARENA_REACH(queues->arena, queues->local, queues->local_room,
                queues->locals);
    queues->local[queues->locals++] = local;
    return true;
}

/* Two namespaces may have local queues of one name, so the namespace counts
 * where both are known. */
const char *kube_queues_tenant(const struct kube_queues *queues,
                               const char *space, const char *name)
{
    for (size_t i = 0; i < queues->locals; i++) {
        const struct kube_local *local = &queues->local[i];

        if (strcmp(local->name, name) == 0 &&
            (space == NULL || local->space == NULL ||
             strcmp(local->space, space) == 0))
            return local->queue;
    }
    return name;
}

/* Writes quotas as the policy `quota` takes them, "team-a=16 team-b=8". Queues
 * that own no number of GPUs have shares by weight, in percent of such weights.
 * False: no queue owns anything, and *out is empty; or the list is too long. */
static bool list_quotas(const struct kube_queues *queues, char *out,
                        size_t room)
{
    double weights = 0.0;
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < queues->count; i++)
        weights += queues->queue[i].gpus > 0.0 ? 0.0 : queues->queue[i].weight;
    for (size_t i = 0; i < queues->count; i++) {
        const struct kube_queue *queue = &queues->queue[i];
        int n;

        if (queue->gpus > 0.0)
            n = snprintf(out + used, room - used, "%s%s=%.0f",
                         used > 0 ? " " : "", queue->name, queue->gpus);
        else if (queue->weight > 0.0)
            n = snprintf(out + used, room - used, "%s%s=%.4g%%",
                         used > 0 ? " " : "", queue->name,
                         100.0 * queue->weight / weights);
        else
            continue;
        if (n < 0 || (size_t)n >= room - used)
            return false;
        used += (size_t)n;
    }
    return used > 0;
}

/* Returns how many queues of Kueue are of no cohort. */
static size_t count_alone(const struct kube_queues *queues)
{
    size_t count = 0;

    for (size_t i = 0; i < queues->count; i++)
        count += queues->queue[i].alone;
    return count;
}

void kube_queues_note(const struct kube_queues *queues, struct notes *notes)
{
    size_t alone = count_alone(queues);
    char quotas[160];

    if (queues->count == 0)
        return;
    if (list_quotas(queues, quotas, sizeof quotas))
        notes_file(notes, "queues own GPUs; for a policy: {policy: quota, quotas: \"%s\"%s}",
                   quotas, alone == queues->count ? ", borrow: false" : "");
    else if (quotas[0] != '\0')
        notes_file(notes, "queues own GPUs, and are too many to list them here as a policy");
    for (size_t i = 0; i < queues->count; i++)
        if (queues->queue[i].cohort != NULL)
            notes_count(notes, "queues are of cohort %.60s: they borrow from each other "
                        "(borrow: true of the policy quota)", queues->queue[i].cohort);
        else if (queues->queue[i].alone && alone < queues->count)
            notes_count(notes, "queues are of no cohort: they borrow nothing there, but do "
                        "under the policy quota, which lends to all or none");
}
