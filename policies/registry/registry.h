/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.h - the built-in policies, by name, and those that an experiment brings.
 * All texts are constant.
 */
#ifndef POLICIES_REGISTRY_REGISTRY_H
#define POLICIES_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cs_policy;

/* A policy that is not built in, and the file that an entry names to have it. */
struct registry_guest {
    const char *written;        /* as the experiment writes it: "./mine.c" */
    const struct cs_policy *policy;
    uint64_t hash;              /* of its code */
};
struct registry_guests {
    struct registry_guest *item;    /* [count], in the order in which they were met */
    size_t count, room;
};

/* Returns the built-in policy of that name; NULL: there is none. */
const struct cs_policy *registry_find(const char *name);
/* Returns the guest of that name, or NULL; guests may be NULL. */
const struct registry_guest *registry_guest(const struct registry_guests *guests,
                                            const char *written);
/* Returns built-in policy i, in the order of the list; NULL behind the last. */
const struct cs_policy *registry_at(size_t i);
/* Returns the name nearest to one that is not known; NULL: none is near. */
const char *registry_nearest(const char *name);
/* Translates a name from the literature or from another simulator: "FIFO" into
 * "fcfs", "Tiresias" into "{policy: dlas, semantics: tiresias}".  NULL: it is
 * not known. */
const char *registry_meant(const char *name);

#endif
