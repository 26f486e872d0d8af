/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * param_range_test.c - numbers that policies and the rules of an entry take: the least and
 * the most are read, the next ones are refused where they stand, with the key and the range.
 *
 * The ranges stand here a second time, as text: a bound of a table that moves is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* What is next below the least and above the most; a key "rounds.length" is the key of a
 * map. */
static const struct range {
    const char *policy, *key, *least, *most, *below, *above;
} ranges[] = {
#define QUANTUM "0.001s", "1000000000s", "0.000999999s", "1000000001s"
#define SLOT "1s", "1000000s", "0.999999999s", "1000000.000000001s"
#define TIME_TO_1E9 "0s", "1000000000s", "-0.000000001s", "1000000001s"
#define SHARE "0%", "100%", "-0.0001%", "100.0001%"
#define TO_MILLION "1", "1000000", "0", "1000001"
#define TO_1E5 "1", "100000", "0", "100001"
#define TO_1000 "1", "1000", "0", "1001"
#define TO_100 "0", "100", "-0.0001", "100.0001"
    { "las", "quantum", QUANTUM },
    { "gittins", "quantum", QUANTUM },
    { "time-slice", "quantum", QUANTUM },
    { "dlas", "limit_1", TIME_TO_1E9 },
    { "dlas", "limit_2", TIME_TO_1E9 },
    { "dlas", "promotion", "0", "1000000", "-1", "1000001" },
    { "easy", "depth_max", "1", "1000000000", "0", "1000000001" },
    { "static", "share_max", "1%", "100%", "0.9999%", "100.0001%" },
    { "dynamic", "gain_min", TO_100 },
    { "dynamic", "lend_max", "0%", "10000%", "-0.01%", "10000.01%" },
    { "dynamic", "release_max", "0%", "10000%", "-0.01%", "10000.01%" },
    { "hybrid", "reserve", SHARE },
    { "hybrid", "lend_max", "0%", "10000%", "-0.01%", "10000.01%" },
    { "hybrid", "release_max", "0%", "10000%", "-0.01%", "10000.01%" },
    { "learned", "depth_max", TO_MILLION },
    { "advised", "depth", TO_MILLION },
    { "gavel", "round", SLOT },
    { "allox", "alpha", "0.1%", "100%", "0.0999%", "100.0001%" },
    { "allox", "depth_max", TO_1000 },
    { "allox", "cells_max", "1", "4000000000", "0", "4000000001" },
    { "themis", "lease", SLOT },
    { "themis", "f", SHARE },
    { "themis", "sizes_max", "1", "255", "0", "256" },
    { "optimus", "interval", SLOT },
    { "afs", "interval", "0s", "1000000s", "-0.000000001s", "1000000.000000001s" },
    { "elasticflow", "slot", SLOT },
    { "elasticflow", "slots_max", TO_MILLION },
    { "elasticflow", "slack", "0%", "90%", "-0.0001%", "90.0001%" },
    { "starburst", "budget", TIME_TO_1E9 },
    { "starburst", "factor", "0", "1000000000", "-0.0001", "1000000000.1" },
    { "synergy", "loss", "0%", "50%", "-0.0001%", "50.0001%" },
    { "synergy", "cores_max", "2", "4096", "1", "4097" },
    { "co-execution", "slowdown", "1", "100", "0.9999", "100.0001" },
    { "co-execution", "memory", SHARE },
    { "co-execution", "jobs_max", TO_1000 },
    { "harvest", "delay", "0s", "86400s", "-0.000000001s", "86400.000000001s" },
    { "harvest", "reserve", SHARE },
    { "elastic-hybrid", "gain_min", "1", "100", "0.9999", "100.0001" },
    { "lucid", "score_max", "0", "4", "-1", "5" },
    { "lucid", "gpus_max", TO_MILLION },
    { "lucid", "profile", QUANTUM },
    { "shockwave", "round", SLOT },
    { "shockwave", "window", TO_1000 },
    { "shockwave", "k", "0", "1000000", "-0.0001", "1000000.1" },
    { "shockwave", "lambda", TO_100 },
    { "shockwave", "rho_max", "0.1", "100", "0.0999", "100.0001" },
    { "pollux", "interval", SLOT },
    { "pollux", "p", "-10", "1", "-10.0001", "1.0001" },
    { "pollux", "restart", "0s", "100000s", "-0.000000001s", "100000.000000001s" },
    { "pollux", "growth", TO_MILLION },
    { "pollux", "population", "2", "10000", "1", "10001" },
    { "pollux", "generations", TO_1E5 },
    { "pollux", "depth", TO_1E5 },
    { "pollux", "climb", "0", "1000000", "-1", "1000001" },
    { "sia", "interval", SLOT },
    { "sia", "p", "-10", "1", "-10.0001", "1.0001" },
    { "sia", "idle", TO_100 },
    { "sia", "restart", "0s", "100000s", "-0.000000001s", "100000.000000001s" },
    { "sia", "growth", TO_MILLION },
    { "sia", "depth", TO_1E5 },
    { "sia", "nodes_max", "1", "1000000000", "0", "1000000001" },
    /* Rules of an entry, on a policy that heeds them. */
    { "fcfs", "relax_after", TIME_TO_1E9 },
    { "sjf", "noise", "0", "10", "-0.0001", "10.0001" },
    { "fcfs", "tick", "0s", "3600s", "-0.000000001s", "3600.000000001s" },
    { "fcfs", "rounds.length", "0.000000001s", "1000000000s", "-0.000000001s", "1000000001s" },
    { "fcfs", "rounds.resolve_at_most_every", TIME_TO_1E9 },
    { "las", "preemption.cost", TIME_TO_1E9 },
};
#define RANGES (sizeof ranges / sizeof ranges[0])

/* What else an entry needs so that the key is not idle. */
static const char *beside(const char *key)
{
    static const char *const needs[][2] = {
        { "relax_after", ", placement: consolidate" }, { "noise", ", estimate: noisy" },
        { "budget", ", wait: constant" }, { "profile", ", profiler: b" },
    };

    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (strcmp(key, needs[i][0]) == 0)
            return needs[i][1];
    return "";
}

/* Reads an entry with the value; false: err says why. */
static bool is_read(const struct range *range, const char *value, struct err *err)
{
    struct arena *arena = arena_new(1 << 14);
    const char *dot = strchr(range->key, '.');
    const char *more = dot && strcmp(dot, ".resolve_at_most_every") == 0 ? "length: 1s, " : "";
    char text[300];
    const struct conf_node *node;
    bool good;

    memset(err, 0, sizeof *err);
    if (dot)
        snprintf(text, sizeof text, "{policy: %s, %.*s: {%s%s: %s}}", range->policy,
                 (int)(dot - range->key), range->key, more, dot + 1, value);
    else
        snprintf(text, sizeof text, "{policy: %s, %s: %s%s}", range->policy, range->key, value,
                 beside(range->key));
    node = conf_parse(arena, "ranges", text, strlen(text), err);
    assert_non_null(node);
    good = host_policy_read(arena, node, err) != NULL;
    arena_free(arena);
    return good;
}

/* The last name of a key. */
static const char *last_name(const char *key)
{
    const char *dot = strchr(key, '.');

    return dot ? dot + 1 : key;
}

static void the_least_and_the_most_are_read(void **state)
{
    struct err err;

    (void)state;
    for (size_t i = 0; i < RANGES; i++) {
        const struct range *r = &ranges[i];

        if (!is_read(r, r->least, &err) || !is_read(r, r->most, &err))
            fail_msg("%s: %s: %s", r->policy, r->key, err.text);
    }
}

static void the_next_ones_are_refused_with_key_and_range(void **state)
{
    struct err err;

    (void)state;
    for (size_t i = 0; i < RANGES; i++)
        for (int side = 0; side < 2; side++) {
            const struct range *r = &ranges[i];
            const char *value = side == 0 ? r->below : r->above;

            if (is_read(r, value, &err))
                fail_msg("%s: %s: %s was read", r->policy, r->key, value);
            if (err.kind != ERR_RANGE || err.pos.line != 1 ||
                strstr(err.text, last_name(r->key)) == NULL || strstr(err.text, value) == NULL ||
                (strstr(err.text, "from") == NULL && strstr(err.text, "negative") == NULL))
                fail_msg("%s: %s: %s: %s", r->policy, r->key, value, err.text);
        }
}

/* A new parameter with a number has a row above. */
static void every_number_of_a_policy_has_a_range_here(void **state)
{
    const struct cs_policy *policy;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < policy->param_count; k++) {
            const struct cs_param *param = &policy->param[k];
            bool found = param->type > CS_PARAM_TIME;

            for (size_t r = 0; r < RANGES && !found; r++)
                found = strcmp(ranges[r].policy, policy->name) == 0 &&
                        strcmp(ranges[r].key, param->key) == 0;
            if (!found)
                fail_msg("%s: %s has no row", policy->name, param->key);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_and_the_most_are_read),
        cmocka_unit_test(the_next_ones_are_refused_with_key_and_range),
        cmocka_unit_test(every_number_of_a_policy_has_a_range_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
