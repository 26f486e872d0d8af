/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_queues_test.c - queues of Kueue and Volcano, called alone: drawn queues beside sums by
 * hand, whose jobs a local queue holds, and which objects are queues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "workloads/logs/kube_queues.h"

#define QUEUES_MAX 6

static const struct conf_node *parse(struct arena *arena, const char *text)
{
    struct err err = { 0 };
    const struct conf_node *node = conf_parse(arena, "o", text, strlen(text), &err);

    if (node == NULL)
        fail_msg("%s: %s", text, err.text);
    return node;
}

/* A queue as it is drawn: what it owns, by hand. */
struct drawn {
    bool kueue;
    int gpus, weight, cohort;   /* weight of Volcano, cohort from 1; 0: none */
};

/* GPUs of a queue of Kueue in flavors of two groups, beside resources that are no GPUs. */
static void write_kueue(const struct drawn *drawn, int i, char *text)
{
    int first = drawn->gpus / 3, second = drawn->gpus / 2, rest = drawn->gpus - first - second;
    char cohort[40] = "";

    if (drawn->cohort > 0)
        sprintf(cohort, i % 2 ? "cohort: c%d, " : "cohortName: c%d, ", drawn->cohort);
    sprintf(text, "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q%d}, "
            "spec: {weight: 9, %sresourceGroups: [{flavors: [{resources: [{name: cpu, "
            "nominalQuota: 50}, {name: nvidia.com/gpu, nominalQuota: %d}]}, {resources: [{name: "
            "nvidia.com/gpu, nominalQuota: %d}, {nominalQuota: 4}, {name: nvidia.com/gpu}]}]}, "
            "{flavors: [{resources: [{name: amd.com/gpu, nominalQuota: %d}]}, {a: b}]}]}}", i,
            cohort, first, second, rest);
}

/* Of Volcano: the first of three fields that names GPUs; the others name more. */
static void write_volcano(const struct drawn *drawn, int i, char *text)
{
    static const char *const before[] = { ", deserved: {", ", guarantee: {resource: {",
                                          ", capability: {" };
    static const char *const behind[] = { "}", "}}", "}" };
    char *at = text + sprintf(text, "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, "
                              "metadata: {name: q%d}, spec: {cohortless: true", i);

    if (drawn->weight > 0)
        at += sprintf(at, ", weight: %d", drawn->weight);
    for (int f = 0; f < 3; f++) {
        at += sprintf(at, "%scpu: 7", before[f]);
        if (f >= i % 3 && drawn->gpus > 0)
            at += sprintf(at, ", nvidia.com/gpu: %d", drawn->gpus + f - i % 3);
        at += sprintf(at, "%s", behind[f]);
    }
    sprintf(at, "}}");
}

static const struct note *note_of(const struct notes *notes, const char *begins)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strncmp(notes->note[i].text, begins, strlen(begins)) == 0)
            return &notes->note[i];
    return NULL;
}

/* "q0=5 q2=25%", and whether the policy may lend: not if no queue of Kueue is in a cohort and all
 * are of Kueue. */
static void write_policy(const struct drawn *drawn, int count, int alone, char *out)
{
    double weights = 0;
    char *at = out;

    for (int i = 0; i < count; i++)
        weights += drawn[i].gpus == 0 && !drawn[i].kueue ? drawn[i].weight : 0;
    at += sprintf(at, "queues own GPUs; for a policy: {policy: quota, quotas: \"");
    const char *before = "";
    for (int i = 0; i < count; i++)
        if (drawn[i].gpus > 0) {
            at += sprintf(at, "%sq%d=%d", before, i, drawn[i].gpus);
            before = " ";
        } else if (!drawn[i].kueue && drawn[i].weight > 0) {
            at += sprintf(at, "%sq%d=%.4g%%", before, i, 100 * drawn[i].weight / weights);
            before = " ";
        }
    if (before[0] == '\0')
        out[0] = '\0';
    else
        sprintf(at, "\"%s}", alone == count ? ", borrow: false" : "");
}

static void check_notes(struct arena *arena, const struct kube_queues *queues,
                        const struct drawn *drawn, int count)
{
    struct notes notes = { .arena = arena };
    char expected[300];
    int alone = 0, of[3] = { 0 };

    for (int i = 0; i < count; i++) {
        alone += drawn[i].kueue && drawn[i].cohort == 0;
        of[drawn[i].kueue ? drawn[i].cohort : 0]++;
    }
    kube_queues_note(queues, &notes);
    write_policy(drawn, count, alone, expected);
    const struct note *policy = note_of(&notes, "queues own GPUs");
    assert_true((policy != NULL) == (expected[0] != '\0'));
    if (policy != NULL)
        assert_string_equal(policy->text, expected);
    for (int c = 1; c <= 2; c++) {
        sprintf(expected, "queues are of cohort c%d:", c);
        const struct note *note = note_of(&notes, expected);
        assert_int_equal(note == NULL ? 0 : note->count, of[c]);
    }
    const struct note *lone = note_of(&notes, "queues are of no cohort");
    assert_int_equal(lone == NULL ? 0 : lone->count, alone < count ? alone : 0);
}

static void drawn_queues_own_what_their_fields_say(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct arena *arena = arena_new(1 << 14);
        struct kube_queues queues = { .arena = arena };
        struct drawn drawn[QUEUES_MAX];
        struct rng rng;

        rng_init(&rng, seed, "queues", 0);
        int count = (int)rng_below(&rng, QUEUES_MAX + 1);
        for (int i = 0; i < count; i++) {
            char text[700];
            struct err err = { 0 };
            drawn[i] = (struct drawn){ rng_below(&rng, 2) == 0, (int)rng_below(&rng, 4) * 5,
                                       (int)rng_below(&rng, 4), (int)rng_below(&rng, 3) };
            if (drawn[i].kueue)
                write_kueue(&drawn[i], i, text);
            else
                write_volcano(&drawn[i], i, text);
            const struct conf_node *object = parse(arena, text);
            assert_true(kube_queues_has(object));
            assert_true(kube_queues_add(&queues, object, &err));
        }
        assert_int_equal(queues.count, count);
        check_notes(arena, &queues, drawn, count);
        arena_free(arena);
    }
}

/* A local queue is known by its name and, where both are known, its namespace; the first that
 * fits is taken, and a name that none has stands for itself. */
static void local_queues_lead_to_their_cluster_queue(void **state)
{
#define LOCAL(META, SPEC) "{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {" \
    META "}, spec: {" SPEC "}}"
    static const char *const locals[] = {
        LOCAL("name: l, namespace: a", "clusterQueue: qa"),
        LOCAL("name: l, namespace: b", "clusterQueue: qb"), LOCAL("name: m", "clusterQueue: qm"),
        LOCAL("name: n", ""), LOCAL("namespace: a", "clusterQueue: qx"),
        LOCAL("name: l", "clusterQueue: ql"),
    };
    static const struct { const char *space, *name, *tenant; } row[] = {
        { "a", "l", "qa" }, { "b", "l", "qb" }, { "c", "l", "ql" }, { NULL, "l", "qa" },
        { "c", "m", "qm" }, { NULL, "m", "qm" }, { "a", "n", "n" }, { "a", "o", "o" },
    };
    struct arena *arena = arena_new(1 << 14);
    struct kube_queues queues = { .arena = arena };
    struct err err = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof locals / sizeof locals[0]; i++)
        assert_true(kube_queues_add(&queues, parse(arena, locals[i]), &err));
    assert_int_equal(queues.locals, 4);
    assert_int_equal(queues.count, 0);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        assert_string_equal(kube_queues_tenant(&queues, row[i].space, row[i].name),
                            row[i].tenant);
    arena_free(arena);
}

static void only_queues_of_their_groups_are_queues(void **state)
{
    static const struct { const char *text; bool is, added; } row[] = {
        { "{apiVersion: kueue.x-k8s.io/v1, kind: ClusterQueue, metadata: {name: q}}", true, true },
        { "{apiVersion: kueue.x-k8s.io/v1, kind: ClusterQueue}", true, false },
        { "{apiVersion: kueue.x-k8s.io/v1, kind: LocalQueue, metadata: {name: q}}", true, false },
        { "{apiVersion: scheduling.volcano.sh/v1, kind: Queue, metadata: {name: q}}", true, true },
        { "{apiVersion: other/v1, kind: ClusterQueue, metadata: {name: q}}", false, false },
        { "{apiVersion: other/v1, kind: LocalQueue, metadata: {name: q}}", false, false },
        { "{apiVersion: kueue.x-k8s.io/v1, kind: Queue, metadata: {name: q}}", false, false },
        { "{apiVersion: v1, kind: Pod, metadata: {name: q}}", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct arena *arena = arena_new(1 << 14);
        struct kube_queues queues = { .arena = arena };
        struct err err = { 0 };
        const struct conf_node *object = parse(arena, row[i].text);

        assert_int_equal(kube_queues_has(object), row[i].is);
        assert_true(kube_queues_add(&queues, object, &err));
        assert_int_equal(queues.count, row[i].added);
        assert_int_equal(queues.locals, 0);
        arena_free(arena);
    }
}

static void quantities_that_cannot_be_read_are_refused(void **state)
{
    static const char *const text[] = {
        "{apiVersion: kueue.x-k8s.io/v1, kind: ClusterQueue, metadata: {name: q}, spec: "
        "{resourceGroups: [{flavors: [{resources: [{name: nvidia.com/gpu, nominalQuota: x}]}]}]}}",
        "{apiVersion: scheduling.volcano.sh/v1, kind: Queue, metadata: {name: q}, spec: "
        "{deserved: {nvidia.com/gpu: x}}}",
        "{apiVersion: scheduling.volcano.sh/v1, kind: Queue, metadata: {name: q}, spec: "
        "{weight: x}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        struct arena *arena = arena_new(1 << 14);
        struct kube_queues queues = { .arena = arena };
        struct err err = { 0 };

        assert_false(kube_queues_add(&queues, parse(arena, text[i]), &err));
        assert_int_equal(err.pos.col, strstr(text[i], ": x}") + 3 - text[i]);
        assert_int_equal(queues.count, 0);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_queues_own_what_their_fields_say),
        cmocka_unit_test(local_queues_lead_to_their_cluster_queue),
        cmocka_unit_test(only_queues_of_their_groups_are_queues),
        cmocka_unit_test(quantities_that_cannot_be_read_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
