/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_owners.h - which job an object of Kubernetes is of: the last of its owners that the
 * log tells, as the JobSet of the Job of a pod.
 */
#ifndef WORKLOADS_LOGS_KUBE_OWNERS_H
#define WORKLOADS_LOGS_KUBE_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct conf_node;

/* The owners of objects that have one; arena is set, the rest begins as 0. */
struct kube_owners {
    struct arena *arena;        /* of the import */
    struct kube_owned *owned;   /* sorted by kube_owners_sort() */
    size_t count, room;
};

/* Notes the owner of an object, if it has one. */
void kube_owners_add(struct kube_owners *owners, const struct conf_node *object);
/* Call it once, when all objects are noted. */
void kube_owners_sort(struct kube_owners *owners);
/* Returns "namespace/name" of the last owner, else of the object's pod group, else its own;
 * in the arena. */
const char *kube_owners_job(const struct kube_owners *owners, const struct conf_node *object);

#endif
