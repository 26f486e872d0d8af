/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advice.h - hand-written rules that take advice, for policies that are trained.
 *
 * A rule compares numbers: in how many seconds a phase would be over here or there, whether
 * waiting ends sooner, which part of a step is lost to switches.  Advice multiplies each
 * number by a factor before it is compared.  With factors of 1, or without advice, the
 * results of the rule are those of the policy of its name, to the byte.
 */
#ifndef POLICIES_ADVICE_H
#define POLICIES_ADVICE_H

#include "policies/phases.h"
#include "policies/policy.h"

/* Returns the numbers that `weights:` gives for a key of cs_policy.weights, `count` of them as
 * that row says; NULL: there are no weights.  They belong to the host. */
const double *cs_weight_list(const struct cs_host *host, const char *key);

enum cs_advice_kind {
    CS_ADVICE_HELD,             /* to run on the idle lease that its role holds */
    CS_ADVICE_HOME,             /* in its home pool, or wherever it has no home */
    CS_ADVICE_AWAY,             /* in another one */
    CS_ADVICE_GROWN,            /* anywhere, on as many GPUs as it may */
    CS_ADVICE_SHRUNK,           /* ... on as few as it may */
    CS_ADVICE_WAIT,             /* for its home pool */
    CS_ADVICE_RELEASE,          /* to give an idle lease back */
    CS_ADVICE_LEND,             /* to give GPUs away between phases, instead of
                                   holding them for the job's life */
    CS_ADVICE_KINDS
};

/* What a rule asks. */
struct cs_question {
    enum cs_advice_kind kind;
    struct job_id job;
    uint32_t role;
    struct task_id task;        /* ID_NONE: CS_ADVICE_RELEASE */
    /* Seconds from now until the phase is over, by the rule.  Of RELEASE and LEND: the
     * seconds of the job's switches over those of its step.  The rule prefers small values. */
    double value;
    const struct cs_forecast *forecast;     /* of a place; else NULL */
    bool take_idle;             /* idle leases would be thrown out */
    bool away;                  /* RELEASE: it is not in the home of its role */
    bool beyond;                /* without advice the rule does not consider it; a factor
                                   of INFINITY keeps it out */
};

struct cs_advice {
    void *self;
    /* Returns the factor for the number that the question is about; above 0. */
    double (*factor)(void *self, struct cs_host *host,
                     const struct cs_question *question);
};

/* A rule.  make() returns its state, with the defaults of its parameters; the host owns it.
 * The other functions get this state, and do as the ops of a policy. */
struct cs_rule {
    void *(*make)(struct cs_host *host, const struct cs_advice *advice);
    void (*decide)(void *rule, struct cs_host *host);
    void (*lease_idle)(void *rule, struct cs_host *host, struct lease_id lease);
    /* Since ABI 2.8.  From now on phases that would leave their home start after those that
     * stay in theirs, and wait for GPUs there that should be free by now. */
    void (*put_owners_first)(void *rule);
};

extern const struct cs_rule cs_rule_dynamic;    /* of the policy dynamic */

#endif
