/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_owners.c - chains of owners, object by object.
 *
 * An owner is found by its uid, else by namespace, kind and name: a list that was written by
 * hand has no uids.  An object is noted under both.
 */
#include "workloads/logs/kube_owners.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "workloads/logs/kube_read.h"

#define CHAIN_MAX 16            /* owners one above the other; longer ones are circles */

/* One object that has an owner.  An object is in the list twice if it has a
 * uid. */
struct kube_owned {
    const char *key;            /* "uid UID", or "namespace/kind/name" */
    const struct conf_node *owner;      /* an item of ownerReferences */
};

/* Does the owner stand for one job?  A CronJob, or an Experiment of Katib,
 * makes many jobs, so its children are jobs of their own. */
static bool is_job(const struct conf_node *owner)
{
    const char *kind = kube_text(owner, "kind");

    return kube_text(owner, "name") != NULL &&
           (kind == NULL ||
            (strcmp(kind, "CronJob") != 0 && strcmp(kind, "Experiment") != 0));
}

/* Returns the owner that controls the object.  Without `grouped`, the first
 * owner that stands for a job will do.  In a pod group only a controller is
 * asked, since the group is a job itself.  NULL: there is none. */
static const struct conf_node *find_owner(const struct conf_node *object, bool grouped)
{
    const struct conf_node *owners = kube_at(object, "metadata.ownerReferences");
    const struct conf_node *found = NULL;

    for (size_t i = 0; owners != NULL && conf_kind(owners) == CONF_LIST &&
                       i < conf_count(owners); i++)
        if (is_job(conf_item(owners, i)) &&
            ((found == NULL && !grouped) ||
             kube_text(conf_item(owners, i), "controller") != NULL))
            found = conf_item(owners, i);
    return found;
}

/* Returns the namespace; "default" if the object states none. */
static const char *space_of(const struct conf_node *object)
{
    const char *space = kube_text(object, "metadata.namespace");

    return space == NULL ? "default" : space;
}

/* Returns the key of an object in the list, by its uid or by its names; in the
 * arena.  NULL: the object lacks what the key is made of. */
static const char *key_of_uid(struct arena *arena, const char *uid)
{
    return uid == NULL ? NULL : text_format(arena, "uid %s", uid);
}

static const char *key_of_name(struct arena *arena, const char *space, const char *kind,
                               const char *name)
{
    return kind == NULL || name == NULL ? NULL
                                        : text_format(arena, "%s/%s/%s", space, kind, name);
}

/* Adds an entry; a key of NULL is passed over. */
static void note(struct kube_owners *owners, const char *key, const struct conf_node *owner)
{
    if (key == NULL)
        return;
    ARENA_REACH(owners->arena, owners->owned, owners->room, owners->count);
    owners->owned[owners->count++] = (struct kube_owned){key, owner};
}

/* Pods are not noted, since nothing is owned by a pod. */
void kube_owners_add(struct kube_owners *owners, const struct conf_node *object)
{
    const struct conf_node *owner = find_owner(object, false);

    assert(owners->arena != NULL);
    if (owner == NULL || kube_is(object, "Pod", "v1"))
        return;
    note(owners, key_of_uid(owners->arena, kube_text(object, "metadata.uid")), owner);
    note(owners, key_of_name(owners->arena, space_of(object), kube_text(object, "kind"),
                             kube_text(object, "metadata.name")), owner);
}

/* Orders by key.  Entries of one key come in any order: two objects of one name
 * have the same owner in a file that makes sense. */
static int compare_keys(const void *left, const void *right)
{
    const struct kube_owned *a = left, *b = right;

    return strcmp(a->key, b->key);
}

void kube_owners_sort(struct kube_owners *owners)
{
    if (owners->count > 0)
        qsort(owners->owned, owners->count, sizeof *owners->owned, compare_keys);
}

/* The owner of the object of that key; NULL: none is noted. */
static const struct conf_node *look_up(const struct kube_owners *owners, const char *key)
{
    struct kube_owned wanted = {key, NULL}, *found = NULL;

    if (key != NULL && owners->count > 0)
        found = bsearch(&wanted, owners->owned, owners->count, sizeof wanted, compare_keys);
    return found == NULL ? NULL : found->owner;
}

/* Goes from owner to owner until one is not in the file.  Its name is the
 * job's, even if that owner itself is not in the file.  CHAIN_MAX ends a
 * circle. */
const char *kube_owners_job(const struct kube_owners *owners, const struct conf_node *object)
{
    const char *space = space_of(object);
    const char *group = kube_label(object, "scheduling.k8s.io/group-name");
    const char *name = group != NULL ? group : kube_text(object, "metadata.name");
    const struct conf_node *owner = find_owner(object, group != NULL);

    for (int i = 0; owner != NULL && i < CHAIN_MAX; i++) {
        const char *uid = kube_text(owner, "uid");

        name = kube_text(owner, "name");
        const char *by_name = key_of_name(owners->arena, space, kube_text(owner, "kind"), name);
        owner = look_up(owners, key_of_uid(owners->arena, uid));
        if (owner == NULL)
            owner = look_up(owners, by_name);
    }
    return text_format(owners->arena, "%s/%s", space, name == NULL ? "?" : name);
}
