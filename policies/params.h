/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * params.h - keys that an experiment may set beside `policy:`, filled in before init.
 */
#ifndef POLICIES_PARAMS_H
#define POLICIES_PARAMS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cs_host;
struct cs_policy;

enum cs_param_type {
    CS_PARAM_INT,               /* int64_t */
    CS_PARAM_REAL,              /* double */
    CS_PARAM_FRACTION,          /* double, "20%" or 0.2 */
    CS_PARAM_TIME,              /* int64_t ns, "90s" */
    CS_PARAM_BOOL,              /* bool */
    CS_PARAM_TEXT,              /* const char * */
    CS_PARAM_CHOICE             /* int: which of the words of the table's `words` */
};

struct cs_param {
    const char *key;
    enum cs_param_type type;
    size_t offset;              /* into self */
    double min, max;            /* both 0: no range */
    const char *fallback;       /* as the user would write it */
    const char *help;
};

/* What a parameter may say.  CS_PARAM_CHOICE: words with a blank between.  CS_PARAM_TEXT: a
 * name of the experiment, by CS_A_POOL or CS_A_ROLE, with or without words beside it.
 * CS_FOR_TENANTS, alone: entries "NAME=..." with a blank between, each name a tenant of
 * some job or service.  CS_GPUS_OF_TENANTS, alone, since ABI 2.13: entries like these that
 * quotas.h can read.  A text of another form is an error of the input. */
#define CS_A_POOL "(pool)"
#define CS_A_ROLE "(role)"
#define CS_FOR_TENANTS "(tenant)=..."
#define CS_GPUS_OF_TENANTS "(tenant)=gpus"
struct cs_words {
    const char *key, *words;
};

/* Are two texts equal?  For policies, which call no library. */
static inline bool cs_same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Returns a share (0 to 1) of `count` as a whole number, rounded up or down.  A share as a
 * binary number differs from the decimal one that was written, and their products differ,
 * by some 1e-16 of them.  A margin of 1e-12 covers that, so that 29% of 100 is 29; it
 * changes no other count below 1e9. */
static inline uint32_t cs_share_up(double share, uint32_t count)
{
    return (uint32_t)ceil(share * count * (1 - 1e-12));
}

static inline uint32_t cs_share_down(double share, uint32_t count)
{
    return (uint32_t)floor(share * count * (1 + 1e-12));
}

/* What `weights:` may say under a key: a list of `count` numbers.  Training begins with numbers
 * drawn from a normal distribution of mean 0 and this standard deviation.  count 0: one
 * number, which is 0 if the key is absent.  A policy has either lists or single numbers. */
struct cs_weights {
    const char *key;
    uint32_t count;
    double spread;              /* standard deviation, >= 0 */
};

/* A key that acts only if another key has a certain value.  The other key is one of the policy,
 * or one of the host such as `estimate` or `preemption`.  `needs` is "KEY: VALUE VALUE" (one
 * of these values) or "KEY: not VALUE".  The value of a key that is absent and has no
 * default is "none", and that of a map or a list is "set". */
struct cs_need {
    const char *key, *needs;
};

/* Returns the table of the policy that runs: for tables that are made at run time. */
const struct cs_policy *cs_table(const struct cs_host *host);

#endif
