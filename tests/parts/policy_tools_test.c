/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy_tools_test.c - the tools of policies that keep lists, beside plain arrays: numbers in the
 * order of their keys, a stable sort, an array that grows, shares as whole numbers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policies/advice.h"
#include "policies/cores.h"
#include "policies/order.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/rank.h"
#include "sim/base/rng.h"
#include "tests/aid/world.h"

#define ITEMS 200

/* ---- numbers in the order of their keys ---- */

/* The item with the lowest key from `key` on, or behind `item`; of equal keys the lowest. */
static uint32_t plain_first(const int64_t *keys, int64_t key, uint32_t item)
{
    uint32_t best = ID_NONE;

    for (uint32_t i = 0; i < ITEMS; i++)
        if (keys[i] >= 0 && (keys[i] > key || (keys[i] == key && (item == ID_NONE || i > item))) &&
            (best == ID_NONE || keys[i] < keys[best]))
            best = i;
    return best;
}

static void compare_order(const struct cs_order *order, const int64_t *keys)
{
    uint32_t count = 0, at = cs_order_from(order, 0), plain = plain_first(keys, 0, ID_NONE);

    while (plain != ID_NONE) {
        assert_int_equal(at, plain);
        assert_true(cs_order_key(order, at) == keys[plain]);
        at = cs_order_next(order, at);
        plain = plain_first(keys, keys[plain], plain);
        count++;
    }
    assert_int_equal(at, ID_NONE);
    assert_int_equal(cs_order_count(order), count);
    for (int64_t key = 0; key < 60; key += 7)
        assert_int_equal(cs_order_from(order, key), plain_first(keys, key, ID_NONE));
}

static void check_order(struct cs_host *host)
{
    struct cs_order *order = cs_order_new(host);
    int64_t keys[ITEMS];
    struct rng rng;

    rng_init(&rng, 1, "order", 0);
    for (uint32_t i = 0; i < ITEMS; i++)
        keys[i] = -1;
    assert_int_equal(cs_order_pop(order), ID_NONE);
    for (int round = 0; round < 600; round++) {
        uint32_t item = (uint32_t)rng_below(&rng, ITEMS);
        if (round % 5 == 4) {
            uint32_t first = plain_first(keys, 0, ID_NONE);
            assert_int_equal(cs_order_pop(order), first);
            keys[first] = -1;
        } else if (round % 7 == 3) {
            cs_order_drop(order, item);
            keys[item] = -1;
        } else {
            keys[item] = (int64_t)rng_below(&rng, 50);
            cs_order_put(order, item, keys[item]);
        }
        compare_order(order, keys);
    }
}

/* ---- sorts ---- */

struct sorting {
    double key[ITEMS];
};

static double key_of(const void *self, const struct cs_host *host, struct job_id job)
{
    const struct sorting *sorting = self;

    (void)host;
    return sorting->key[job.i];
}

static void check_sort(struct cs_host *host, struct sorting *sorting)
{
    struct rng rng;

    rng_init(&rng, 2, "sort", 0);
    for (uint32_t count = 0; count <= ITEMS; count += count < 20 ? 1 : 15) {
        struct job_id job[ITEMS], plain[ITEMS];
        for (uint32_t i = 0; i < count; i++) {
            sorting->key[i] = count % 3 == 0 ? i / 4.0 : (double)rng_below(&rng, 1 + count / 2);
            job[i].i = plain[i].i = i;
        }
        for (uint32_t i = 1; i < count; i++)    /* by insertion, which is stable */
            for (uint32_t k = i; k > 0 && sorting->key[plain[k].i] <
                                              sorting->key[plain[k - 1].i]; k--) {
                struct job_id swap = plain[k];
                plain[k] = plain[k - 1];
                plain[k - 1] = swap;
            }
        cs_sort(host, job, count, key_of);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(job[i].i, plain[i].i);
    }
}

/* ---- arrays ---- */

/* Doubles from 32 until item `need` has its place; what was there stays, the rest is zero. */
static void check_growth(struct cs_host *host)
{
    static const struct { uint32_t need, room; } row[] = {
        { 0, 32 }, { 31, 32 }, { 32, 64 }, { 63, 64 }, { 64, 128 }, { 10, 128 }, { 1000, 1024 },
        { 1024, 2048 }, { 9000, 16384 },
    };
    uint64_t *array = NULL;
    uint32_t room = 0, filled = 0;

    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        array = cs_grow(host, array, &room, row[r].need, sizeof *array);
        assert_int_equal(room, row[r].room);
        for (uint32_t i = 0; i < room; i++)
            assert_true(array[i] == (i < filled ? i + 7 : 0));
        for (; filled < room; filled++)
            array[filled] = filled + 7;
    }
}

/* Of all shares that two decimals write, as whole numbers of hundredths say. */
static void check_shares(void)
{
    for (uint32_t cents = 0; cents <= 100; cents++)
        for (uint32_t count = 0; count < 700; count++) {
            char text[8];
            snprintf(text, sizeof text, "0.%02u", cents);
            double share = cents == 100 ? 1 : strtod(text, NULL);
            assert_int_equal(cs_share_up(share, count), (cents * count + 99) / 100);
            assert_int_equal(cs_share_down(share, count), cents * count / 100);
        }
}

/* ---- what there is not ---- */

/* Neither weights nor tasks of a number that nobody has; a policy that leases to jobs cannot take
 * the place of idle leases. */
static void check_nothing(struct cs_host *host)
{
    struct cs_want idle = { .take_idle = true }, plain = { .take_idle = false };
    struct task_id task = cs_pending(host, 0), nobody = { 12345 }, none = { ID_NONE };
    struct cs_forecast f;

    assert_true(cs_weight(host, "of no key") == 0);
    assert_null(cs_weight_list(host, "of no key"));
    assert_false(cs_forecast(host, task, &idle, &f));
    assert_false(cs_forecast(host, nobody, &plain, &f));
    assert_false(cs_forecast(host, none, &plain, &f));
    assert_false(cs_forecast_held(host, task, &f));
    assert_false(cs_forecast_held(host, none, &f));
    assert_int_equal(cs_start(host, none), CS_NOT_PENDING);
    assert_int_equal(cs_start(host, nobody), CS_NOT_PENDING);
}

/* ---- cores ---- */

/* Nothing is held: all cores are free now, and one more never is. */
static void check_cores(struct cs_host *host)
{
    int64_t milli = 0, spare = -1, now_ns = cs_now_ns(host);

    for (uint32_t n = 0; n < cs_node_count(host); n++)
        milli += 1000 * (int64_t)cs_node(host, n).cores;
    assert_true(milli == 64000);
    assert_true(cs_cores_free_ns(host, milli, now_ns, &spare) == now_ns && spare == 0);
    assert_true(cs_cores_free_ns(host, milli - 1500, now_ns, &spare) == now_ns && spare == 1500);
    assert_true(cs_cores_free_ns(host, 0, now_ns + 7, &spare) == now_ns + 7 && spare == milli);
    assert_true(cs_cores_free_ns(host, milli + 1, now_ns, &spare) == INT64_MAX && spare == 0);
}

static void check_all(void *self, struct cs_host *host)
{
    check_cores(host);
    check_nothing(host);
    check_order(host);
    check_sort(host, self);
    check_growth(host);
    check_shares();
    cs_start(host, cs_pending(host, 0));
}

static void tools_do_what_plain_arrays_do(void **state)
{
    static const struct cs_policy policy = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof policy, .name = "tools",
        .summary = "tries its tools", .self_bytes = sizeof(struct sorting), .decide = check_all,
    };
    struct world_job job[] = { { .submit_s = 0, .duration_s = 10, .gpus = 1 } };
    struct host_policy tools = world_policy(&policy);
    struct world world = { 0 };

    (void)state;
    if (!world_trace_on(&world, "nodes: [{name: n, count: 1, gpus: {type: generic, count: 2}, "
                        "cores: 64, memory: 256GB}]", job, 1, "[fcfs]", 1))
        fail_msg("%s", world_error(&world));
    if (!world_run(&world, 0, &tools, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].end_s == 10);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_do_what_plain_arrays_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
