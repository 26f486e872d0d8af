/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_queues.h - queues of Kueue and Volcano: whose jobs they hold, and how many
 * GPUs they own.
 */
#ifndef WORKLOADS_LOGS_KUBE_QUEUES_H
#define WORKLOADS_LOGS_KUBE_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/config/conf.h"
#include "sim/text/notes.h"

struct arena;

/* A ClusterQueue of Kueue, or a Queue of Volcano. */
struct kube_queue {
    const char *name, *cohort;  /* cohort: or NULL */
    double gpus;                /* that it owns */
    double weight;              /* of Volcano; 0: none */
    bool alone;                 /* of Kueue, and of no cohort: it borrows nothing */
};

/* A LocalQueue leads to a ClusterQueue. */
struct kube_local {
    const char *space, *name, *queue; /* its namespace, which may be NULL; its
                                         name; the ClusterQueue */
};

/* The queues of a file.  It begins as {.arena = arena}. count and room are of
 * `queue`, locals and local_room of `local`. */
struct kube_queues {
    struct arena *arena;
    struct kube_queue *queue;   /* [count], of the cluster */
    struct kube_local *local;   /* [locals], of a namespace, each of one of those */
    size_t count, room, locals, local_room;
};

/* Is the object a queue of one of these kinds? */
bool kube_queues_has(const struct conf_node *object);
/* Adds the object if it is a queue; other objects are passed over.  False: err
 * is at a quantity that cannot be read. */
bool kube_queues_add(struct kube_queues *queues,
                     const struct conf_node *object, struct err *err);
/* The ClusterQueue that a local queue leads to; the name itself, if none does. */
const char *kube_queues_tenant(const struct kube_queues *queues,
                               const char *space, const char *name);
/* Notes the quotas, as a policy that can be pasted into an experiment, and the rules of
 * the queues that this policy does not follow. */
void kube_queues_note(const struct kube_queues *queues, struct notes *notes);

#endif
