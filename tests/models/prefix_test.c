/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefix_test.c - beginnings of prompts: the cache against a plain list, and
 * what a cache and its router do for a service.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/serving/prefix_cache.h"
#include "sim/base/rng.h"
#include "tests/aid/world.h"
#include "workloads/source.h"

#define NODES "{name: n, count: 2, gpus: {type: a100-80, count: 4}, cpu: " \
    "{type: epyc-7763, sockets: 2}, memory: 512GB}"

/* ---- the cache --------------------------------------------------------- */

struct list { uint64_t block[64]; uint32_t count; };

static uint32_t list_find(const struct list *l, uint64_t block)
{
    uint32_t i = 0;

    while (i < l->count && l->block[i] != block)
        i++;
    return i;
}

/* To the end, the newest; the first goes when there are more than `most`. */
static void list_touch(struct list *l, uint64_t block, uint32_t most)
{
    uint32_t i = list_find(l, block);

    if (i == l->count && l->count == most)
        i = 0;
    else if (i == l->count)
        l->count++;
    for (; i + 1 < l->count; i++)
        l->block[i] = l->block[i + 1];
    l->block[l->count - 1] = block;
}

static void the_cache_is_a_list_by_last_use(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct prefix_cache *cache = prefix_cache_new(arena, 20 * 16 + 7);
    struct list list = {.count = 0};
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "prefixes", 0);
    for (int k = 0; k < 20000; k++) {
        uint64_t block[8], root = rng_below(&rng, 6);
        uint32_t n = 1 + (uint32_t)rng_below(&rng, 8), known = 0;

        for (uint32_t i = 0; i < n; i++)
            block[i] = (root * 8 + i) * 3 + (i > 4 ? rng_below(&rng, 3) : 0);
        struct prefix prefix = {block, n, 16};
        while (known < n && list_find(&list, block[known]) < list.count)
            known++;
        assert_int_equal(prefix_cache_match(cache, &prefix), known * 16);
        assert_int_equal(prefix_cache_use(cache, &prefix), known * 16);
        for (uint32_t i = n; i-- > 0;)
            list_touch(&list, block[i], 20);
        assert_int_equal(prefix_cache_tokens(cache), list.count * 16);
    }
    arena_free(arena);
}

static void a_cache_of_nothing_has_nothing(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct prefix_cache *cache = prefix_cache_new(arena, 0);
    uint64_t block = 7;
    struct prefix prefix = {&block, 1, 16};

    (void)state;
    assert_int_equal(prefix_cache_use(cache, &prefix), 0);
    assert_int_equal(prefix_cache_use(cache, &prefix), 0);
    assert_int_equal(prefix_cache_tokens(cache), 0);
    arena_free(arena);
}

/* ---- services ---------------------------------------------------------- */

static double column(const struct table *table, const char *name)
{
    return world_column(table, &csv_services, name);
}

/* services.csv of one trial; the caller frees it. */
static struct table *serve(const char *service)
{
    struct world world = {0};
    struct trial_result result;
    char text[4096];

    snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\n"
             "cluster: {nodes: [" NODES "], storage: {bandwidth: 10GB/s}}\n"
             "workload: {services: [{name: s, model: qwen2.5-7b, gpu: {tp: "
             "1}, %s}]}\npolicies: [fcfs]\n", service);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    struct trial_tables tables = {
        .services = table_new(csv_services.columns, csv_services.count)};
    memset(&world.err, 0, sizeof world.err);
    if (!trial_run(&spec, &tables, &result, &world.err))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    return tables.services;
}

#define ASKED(COUNT) "requests: {arrival: {process: poisson, rate: 6/s}, " \
    "prompt: 3000, output: 100, for: 600s, prefix: {tokens: 2000, count: " \
    COUNT "}}"

/* Every request but the first of each beginning finds it. */
static void one_replica_computes_each_beginning_once(void **state)
{
    (void)state;
    struct table *with = serve("prefix_cache: 0.3, " ASKED("8"));
    struct table *without = serve("prefix_cache: 0, " ASKED("8"));
    double n = column(with, "done");
    double hits = column(with, "prefix_hit_fraction");

    assert_true(n > 3000 && n == column(with, "requests"));
    /* Those that came before the replica was ready are not looked at. */
    assert_true(fabs(hits - 2.0 / 3.0) < 0.004);
    assert_true(column(without, "prefix_hit_fraction") == 0);
    assert_true(column(with, "ttft_p50_s") <
                0.7 * column(without, "ttft_p50_s"));
    table_free(with);
    table_free(without);
}

/* 64 beginnings, room for a third of them in each of four replicas. */
static void a_router_that_knows_beginnings_finds_more_of_them(void **state)
{
    static const char many[] = "prefix_cache: 0.04, replicas: {min: 4, max: "
                               "4}, route: %s, " ASKED("64");
    char text[512];
    double hits[2], ttft[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, many, i ? "prefix" : "round_robin");
        struct table *t = serve(text);
        hits[i] = column(t, "prefix_hit_fraction");
        ttft[i] = column(t, "ttft_mean_s");
        assert_true(column(t, "done") == column(t, "requests"));
        table_free(t);
    }
    print_message("round robin: hits %.3f, TTFT %.3f s; prefix: %.3f, %.3f s\n",
                  hits[0], ttft[0], hits[1], ttft[1]);
    assert_true(hits[1] > 1.5 * hits[0]);
    assert_true(ttft[1] < ttft[0]);
}

/* Mooncake's ids: what one endless cache finds is what came before. */
static void a_trace_with_hash_ids_is_found_again(void **state)
{
    char folder[] = "/tmp/clustersim-test-XXXXXX", path[64], text[256];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.jsonl", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "{\"timestamp\": %d, \"input_length\": 2000, "
                "\"output_length\": 10, \"hash_ids\": [1, 2, %d, %d]}\n",
                600000 + i * 1000, 10 + i % 4, 1000 + i);
    fclose(file);
    /* All after the replica has started: the first comes at 0. */
    snprintf(text, sizeof text, "prefix_cache: 0.5, requests: {trace: {file: "
             "%s, format: mooncake}}", path);
    struct table *t = serve(text);
    double hits = column(t, "prefix_hit_fraction");
    /* Of 2000 tokens 1536 in three shared blocks, once it is there. */
    assert_true(hits > 0.70 && hits <= 1536.0 / 2000.0);
    table_free(t);
    remove(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cache_is_a_list_by_last_use),
        cmocka_unit_test(a_cache_of_nothing_has_nothing),
        cmocka_unit_test(one_replica_computes_each_beginning_once),
        cmocka_unit_test(a_router_that_knows_beginnings_finds_more_of_them),
        cmocka_unit_test(a_trace_with_hash_ids_is_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
