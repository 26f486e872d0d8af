/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.c - the built-in policies, those of policies.def.
 *
 * Both lists of names are searched from the front: they are short, and are
 * asked once per entry.  A name of the literature is compared by its letters
 * and digits alone.
 */
#include "policies/registry/registry.h"

#include <string.h>

#include "policies/policy.h"
#include "sim/config/conf.h"

/* The list is included twice: to declare each policy's table, and to make an array of them, in
 * which a policy stands where policies.def has it. */
#define POLICY(ID) extern const struct cs_policy ID##_policy;
#include "policies/registry/policies.def"
#undef POLICY

static const struct cs_policy *const builtin[] = {
#define POLICY(ID) &ID##_policy,
#include "policies/registry/policies.def"
#undef POLICY
};
#define BUILTIN_COUNT (sizeof builtin / sizeof builtin[0])

const struct cs_policy *registry_at(size_t i)
{
    return i < BUILTIN_COUNT ? builtin[i] : NULL;
}

const struct cs_policy *registry_find(const char *name)
{
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        if (strcmp(builtin[i]->name, name) == 0)
            return builtin[i];
    return NULL;
}

/* Guests are found by the text that the entry writes, which is usually a path. */
const struct registry_guest *registry_guest(const struct registry_guests *guests,
                                            const char *written)
{
    for (size_t i = 0; guests != NULL && i < guests->count; i++)
        if (strcmp(guests->item[i].written, written) == 0)
            return &guests->item[i];
    return NULL;
}

const char *registry_nearest(const char *name)
{
    const char *names[BUILTIN_COUNT + 1] = { NULL };

    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        names[i] = builtin[i]->name;
    return conf_nearest(name, names);
}

/* Names in the literature and in other simulators, in small letters and without
 * blanks, - and _; and what they are here. */
static const char *const meant[][2] = {
    { "fifo", "fcfs" },
    { "firstcomefirstserved", "fcfs" },
    { "backfill", "easy" },
    { "backfilling", "easy" },
    { "easybackfill", "easy" },
    { "easybackfilling", "easy" },
    { "fcfsbackfill", "easy" },
    { "fcfseasy", "easy" },
    { "conservativebackfill", "conservative" },
    { "conservativebackfilling", "conservative" },
    { "shortestjobfirst", "sjf" },
    { "spt", "sjf" },
    { "longestjobfirst", "ljf" },
    { "lpt", "ljf" },
    { "srpt", "srtf" },
    { "preemptivesjf", "srtf" },
    { "sjfpreemptive", "srtf" },
    { "smallestfirst", "fewest-gpus" },
    { "deadline", "edf" },
    { "earliestdeadlinefirst", "edf" },
    { "fair", "fair-share" },
    { "dominantresourcefairness", "drf" },
    { "leastattainedservice", "las" },
    { "mlfq", "dlas" },
    { "2dlas", "dlas" },
    { "rr", "time-slice" },
    { "roundrobin", "time-slice" },
    { "gandiva", "time-slice" },
    { "maxmin", "gavel" },
    { "maxminfairness", "gavel" },
    { "tiresias", "{policy: dlas, semantics: tiresias}" },
    { "tiresiasl", "{policy: dlas, semantics: tiresias}" },
    { "tiresiasg", "gittins" },
    { "helios", "qssf" },
    { "pai", "{policy: fcfs, semantics: pai}" },
    { "accasim", "{policy: fcfs, semantics: accasim}" },
    { "fgd", "{policy: fcfs, semantics: fgd}" },
    { "rlscheduler", "{policy: f1, semantics: rlscheduler}" },
};

/* Returns what to write in place of the name, or NULL: a policy's name, or a whole entry, which
 * begins with {.  Compares letters in lower case, without blanks, - and _.  Other characters
 * stay: "SJF preemptive" is known, and "SJF (preemptive)" is not. */
const char *registry_meant(const char *name)
{
    char key[40];
    size_t n = 0;

    for (; *name != '\0'; name++) {
        if (*name == '-' || *name == '_' || *name == ' ')
            continue;
        if (n + 1 == sizeof key)
            return NULL;
        key[n++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a')
                                                : *name;
    }
    key[n] = '\0';
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
        if (strcmp(meant[i][0], key) == 0)
            return meant[i][1];
    return NULL;
}
