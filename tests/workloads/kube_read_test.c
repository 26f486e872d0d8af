/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_read_test.c - objects of Kubernetes, called alone: what pods ask for, which kinds and
 * labels they have, times, and lists within lists, by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "workloads/logs/kube_read.h"

static const struct conf_node *parse(struct arena *arena, const char *text)
{
    struct err err = { 0 };
    const struct conf_node *node = conf_parse(arena, "o", text, strlen(text), &err);

    if (node == NULL)
        fail_msg("%s: %s", text, err.text);
    return node;
}

#define GI 1073741824.0
#define ONE(RESOURCES) "containers: [{resources: {" RESOURCES "}}]"

/* A limit counts where there is no request of the same name; containers add up; all of it
 * `times` over. */
static void pods_ask_for_what_their_containers_do(void **state)
{
    static const struct {
        const char *spec;
        double times;
        int64_t core_milli, gpus;
        double memory;
        bool mig;
    } row[] = {
        { "{}", 1, 0, 0, 0, false },
        { "containers: []", 1, 0, 0, 0, false },
        { "containers: [{name: a}]", 1, 0, 0, 0, false },
        { ONE("requests: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 1}"), 1, 2000, 1, GI, false },
        { ONE("limits: {cpu: 500m, memory: 2Gi, nvidia.com/gpu: 2}"), 1, 500, 2, 2 * GI, false },
        { ONE("requests: {cpu: 1}, limits: {cpu: 4, memory: 1Gi}"), 1, 1000, 0, GI, false },
        { ONE("requests: {cpu: 1, ephemeral-storage: 9Gi}"), 3, 3000, 0, 0, false },
        { "containers: [{resources: {requests: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}}, "
          "{resources: {requests: {cpu: 250m, memory: 3Gi, nvidia.com/gpu: 2}}}]", 2, 2500, 6,
          8 * GI, false },
        { ONE("requests: {amd.com/gpu: 4}"), 1, 0, 4, 0, false },
        { ONE("requests: {nvidia.com/mig-1g.10gb: 2}"), 1, 0, 2, 0, true },
        { ONE("requests: {cpu: 1e9}"), 1, 1000000000000, 0, 0, false },
        { ONE("requests: {memory: 1e15}"), 1, 0, 0, 1e15, false },
    };
    struct arena *arena = arena_new(1 << 14);

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct kube_request r = { 0 };
        struct err err = { 0 };
        if (!kube_request_add(parse(arena, row[i].spec), row[i].times, &r, &err))
            fail_msg("%s: %s", row[i].spec, err.text);
        if (r.core_milli != row[i].core_milli || r.gpus != row[i].gpus || r.mig != row[i].mig ||
            fabs(r.memory_bytes - row[i].memory) > 0.5)
            fail_msg("%s: %lld m, %lld GPUs, %.17g bytes, %d", row[i].spec,
                     (long long)r.core_milli, (long long)r.gpus, r.memory_bytes, r.mig);
        assert_null(r.gpu_type);
    }
    arena_free(arena);
}

static void amounts_beyond_any_cluster_are_refused(void **state)
{
    static const char *const wrong[] = {
        ONE("requests: {cpu: 1000000001}"), ONE("requests: {memory: 1000000000000001}"),
        ONE("requests: {nvidia.com/gpu: 1000000001}"), ONE("requests: {nvidia.com/gpu: 1.5}"),
        ONE("requests: {cpu: -1}"), ONE("limits: {cpu: x}"), ONE("limits: {memory: [1]}"),
    };
    struct arena *arena = arena_new(1 << 14);

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct kube_request r = { 0 };
        struct err err = { 0 };
        if (kube_request_add(parse(arena, wrong[i]), 1, &r, &err))
            fail_msg("%s is accepted", wrong[i]);
        assert_true(err.kind != ERR_NONE && err.pos.line == 1 &&
                    err.pos.col == strlen(wrong[i]) - 4 - strcspn(strrchr(wrong[i], ':') + 2, "}")
                                       + 1);
    }
    arena_free(arena);
}

static void a_node_selector_names_the_type(void **state)
{
    struct arena *arena = arena_new(1 << 14);

    (void)state;
    for (const char *const *label = kube_gpu_labels; *label != NULL; label++) {
        struct kube_request r = { 0 };
        struct err err = { 0 };
        char text[200];
        snprintf(text, sizeof text, "nodeSelector: {other: x, %s: a100}", *label);
        assert_true(kube_request_add(parse(arena, text), 1, &r, &err));
        assert_string_equal(r.gpu_type, "a100");
    }
    arena_free(arena);
}

static bool count_one(void *self, const struct conf_node *object, struct err *err)
{
    char *names = self;

    (void)err;
    strcat(names, kube_text(object, "n"));
    return strcmp(kube_text(object, "n"), "x") != 0;
}

/* Lists hold objects or lists; the walk ends where an object is refused. */
static void lists_within_lists_are_walked_in_order(void **state)
{
    static const struct { const char *text, *names; bool good; } row[] = {
        { "n: a", "a", true }, { "items: [{n: a}, {n: b}]", "ab", true },
        { "[{n: a}, {items: [{n: b}, {n: c}]}, {n: d}]", "abcd", true },
        { "items: []", "", true }, { "items: [{n: a}, {n: x}, {n: b}]", "ax", false },
        { "[{items: [{n: x}]}, {n: b}]", "x", false }, { "items: 5", "", false },
        { "[{n: a}, {items: {n: b}}]", "a", false },
    };
    struct arena *arena = arena_new(1 << 14);

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char names[16] = "";
        struct err err = { 0 };
        bool good = kube_each(parse(arena, row[i].text), count_one, names, &err);
        if (good != row[i].good || strcmp(names, row[i].names) != 0)
            fail_msg("%s: %d, '%s'", row[i].text, good, names);
    }
    arena_free(arena);
}

static void times_are_those_of_their_path(void **state)
{
    static const struct { const char *text; bool good; int64_t s; } row[] = {    /* 0: none */
        { "status: {at: \"2026-01-12T08:00:00Z\"}", true, 1768204800 }, { "status: {}", true, 0 },
        { "status: {at: null}", true, 0 }, { "a: 1", true, 0 }, { "status: {at: soon}", false, 0 },
    };
    struct arena *arena = arena_new(1 << 14);

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        int64_t ns = 0;
        bool known = false;
        struct err err = { 0 };
        bool good = kube_time(parse(arena, row[i].text), "status.at", &ns, &known, &err);
        if (good != row[i].good || (good && known != (row[i].s > 0)) ||
            (known && ns != row[i].s * 1000000000))
            fail_msg("%s: %d, %d, %lld", row[i].text, good, known, (long long)ns);
        assert_true(good == (err.kind == ERR_NONE));
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_ask_for_what_their_containers_do),
        cmocka_unit_test(amounts_beyond_any_cluster_are_refused),
        cmocka_unit_test(a_node_selector_names_the_type),
        cmocka_unit_test(lists_within_lists_are_walked_in_order),
        cmocka_unit_test(times_are_those_of_their_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
