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

/* What a parameter may say: words with a blank between, for CS_PARAM_CHOICE; for
 * CS_PARAM_TEXT a name of the experiment, CS_A_POOL or CS_A_ROLE, maybe beside
 * words.  Anything else is an error of the input.  CS_FOR_TENANTS, alone: "NAME=..."
 * with a blank between; each name must be a tenant of some job or service.
 * CS_GPUS_OF_TENANTS, alone, since ABI 2.13: the same, and quotas.h can read it. */
#define CS_A_POOL "(pool)"
#define CS_A_ROLE "(role)"
#define CS_FOR_TENANTS "(tenant)=..."
#define CS_GPUS_OF_TENANTS "(tenant)=gpus"
struct cs_words {
    const char *key, *words;
};

/* Is a parameter's text this name?  A policy calls no library. */
static inline bool cs_same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* A share of `count`, as a whole number: rounded up, or down.  A decimal share, and its
 * product, differ from what was written by some 1e-16 of them; 1e-12 covers that, so that
 * 29% of 100 are 29, and changes no other count below 1e9. */
static inline uint32_t cs_share_up(double share, uint32_t count)
{
    return (uint32_t)ceil(share * count * (1 - 1e-12));
}

static inline uint32_t cs_share_down(double share, uint32_t count)
{
    return (uint32_t)floor(share * count * (1 + 1e-12));
}

/* What `weights:` may say under a key: a list of `count` numbers, which training draws
 * from a normal of this spread to begin with; count 0: one number, 0 if it is absent.
 * A policy has lists alone or numbers alone. */
struct cs_weights {
    const char *key;
    uint32_t count;
    double spread;              /* >= 0 */
};

/* A key that acts only where another, of the policy or of the host, says so: the
 * policy's own, or `estimate`, `preemption` and the like.  What is needed is
 * "KEY: VALUE VALUE" (one of these) or "KEY: not VALUE"; a key that is absent and
 * has no default is "none", a map or a list is "set". */
struct cs_need {
    const char *key, *needs;
};

/* The table of the policy that is asked, for tables that are made at run time. */
const struct cs_policy *cs_table(const struct cs_host *host);

#endif
