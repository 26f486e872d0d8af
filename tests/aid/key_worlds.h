/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_worlds.h - small worlds in which it shows what a key of a policy does.
 */
#ifndef TESTS_KEY_WORLDS_H
#define TESTS_KEY_WORLDS_H

#include "tests/aid/world.h"

#define KEY_WORLDS 7
#define ADVISED "weights: policies/weights/advised.yaml"

extern struct world key_world[KEY_WORLDS];

/* For cmocka: status 1 if a world cannot be read. */
int key_worlds_open(void **state);
int key_worlds_close(void **state);

/* An entry of a policy and its keys; NULL: it is refused, and err says why. */
const struct host_policy *key_entry(const char *policy, const char *keys, const char *more,
                                    struct err *err);
/* Do the two differ in any world? */
bool key_differ(const struct host_policy *a, const struct host_policy *b);

enum set {
    SKIP, COMMIT, DROP, BACKFILL, PLACE, RELAX, TIES, REQUESTED, NOISY, NOISE,
    LATE_NOISE, COST, ROUND, RESOLVE, EARLY, TICK, GROWTH,
    CORES
};

struct variant {
    enum set base;              /* what it is beside; itself: nothing */
    enum set set;
    const char *keys, *base_keys;
};

/* Counts a cell of policy x variant, once for all settings of the policy: 1 if it is wrong. */
unsigned key_judge(const char *name, const struct variant *variant);

#endif
