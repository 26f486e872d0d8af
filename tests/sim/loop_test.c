/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop_test.c - the event loop against its contract and against a plain heap.
 *
 * The differential tests run one script, drawn from a seed, on loop.c and on
 * heap4.c and compare the digests: same events, same order, or a failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/event/queue.h"
#include "tests/oracles/heap4.h"

static const struct loop_limits no_limits = {INT64_MAX, UINT64_MAX, NULL};

/* What ran: args in order. */
struct log {
    uint64_t arg[512];
    size_t count;
};

static void note(struct loop *loop, void *self, uint64_t arg)
{
    struct log *log = self;
    (void)loop;
    assert_true(log->count < 512);
    log->arg[log->count++] = arg;
}

static void queue_pops_equal_times_in_push_order(void **state)
{
    (void)state;
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    for (uint64_t i = 0; i < 60; i++)
        loop_at(loop, 7, LOOP_RANK_ARRIVAL, note, &log, i);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    for (uint64_t i = 0; i < 60; i++)
        assert_int_equal(log.arg[i], i);
    loop_free(loop);
}

static void rank_tree_order_events_of_one_instant(void **state)
{
    (void)state;
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    for (int rank = LOOP_RANK_COUNT - 1; rank >= 0; rank--) {
        loop_at(loop, 5, (enum loop_rank)rank, note, &log, 10 + (uint64_t)rank);
        loop_at(loop, 3, (enum loop_rank)rank, note, &log, (uint64_t)rank);
    }
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    assert_int_equal(log.count, 2 * LOOP_RANK_COUNT);
    for (size_t i = 0; i < LOOP_RANK_COUNT; i++) {
        assert_int_equal(log.arg[i], i);
        assert_int_equal(log.arg[LOOP_RANK_COUNT + i], 10 + i);
    }
    loop_free(loop);
}

/* Events run, and what the clock showed whenever an instant was over. */
struct instants {
    struct loop *loop;
    uint32_t events, over;
    int64_t at_ns[8];
    uint32_t events_by[8];
};

static void count_event(struct loop *loop, void *self, uint64_t arg)
{
    struct instants *seen = self;
    seen->events++;
    if (arg > 0)
        loop_at(loop, loop_now_ns(loop), LOOP_RANK_DECIDE, count_event, self,
                arg - 1);
}

static void note_over(void *self)
{
    struct instants *seen = self;
    assert_true(seen->over < 8);
    seen->events_by[seen->over] = seen->events;
    seen->at_ns[seen->over++] = loop_now_ns(seen->loop);
}

static void instant_is_over_after_its_last_event_and_before_the_clock_moves(
    void **state)
{
    (void)state;
    struct instants seen = { .loop = loop_new(no_limits) };
    loop_when_over(seen.loop, note_over, &seen);
    loop_at(seen.loop, 5, LOOP_RANK_FINISH, count_event, &seen, 2);
    loop_at(seen.loop, 9, LOOP_RANK_FINISH, count_event, &seen, 0);
    loop_until(seen.loop, 7);
    assert_int_equal(loop_run(seen.loop), LOOP_TIME_LIMIT);
    assert_int_equal(seen.over, 2);             /* of 0 ns, and of 5 ns */
    assert_int_equal(seen.at_ns[1], 5);
    assert_int_equal(seen.events_by[1], 3);
    loop_until(seen.loop, 20);
    assert_int_equal(loop_run(seen.loop), LOOP_DRAINED);
    assert_int_equal(seen.over, 3);
    assert_int_equal(seen.at_ns[2], 7);
    assert_int_equal(seen.events_by[2], 3);
    loop_free(seen.loop);
}

static void push_finish_now(struct loop *loop, void *self, uint64_t arg)
{
    note(loop, self, arg);
    loop_at(loop, loop_now_ns(loop), LOOP_RANK_FINISH, note, self, arg + 1);
}

static void lower_rank_pushed_at_the_present_runs_next(void **state)
{
    (void)state;
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    loop_at(loop, 9, LOOP_RANK_DECIDE, push_finish_now, &log, 1);
    loop_at(loop, 9, LOOP_RANK_DECIDE, push_finish_now, &log, 3);
    loop_at(loop, 9, LOOP_RANK_SAMPLE, note, &log, 5);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    const uint64_t want[] = {1, 2, 3, 4, 5};
    assert_int_equal(log.count, 5);
    assert_memory_equal(log.arg, want, sizeof want);
    loop_free(loop);
}

static void handles_expire_when_run_or_cancelled(void **state)
{
    (void)state;
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    const struct loop_handle none = {0, 0};
    assert_false(loop_cancel(loop, none));
    struct loop_handle ran = loop_at(loop, 1, LOOP_RANK_FINISH, note, &log, 1);
    struct loop_handle cut = loop_at(loop, 2, LOOP_RANK_FINISH, note, &log, 2);
    assert_true(loop_cancel(loop, cut));
    assert_false(loop_cancel(loop, cut));
    struct loop_handle new = loop_at(loop, 3, LOOP_RANK_FINISH, note, &log, 3);
    assert_int_equal(new.slot, cut.slot);
    assert_false(loop_cancel(loop, cut));
    assert_int_equal(loop_pending_count(loop), 2);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    assert_int_equal(log.count, 2);
    assert_int_equal(log.arg[1], 3);
    assert_false(loop_cancel(loop, ran));
    assert_false(loop_cancel(loop, new));
    assert_int_equal(loop_pending_count(loop), 0);
    assert_int_equal(loop_event_count(loop), 2);
    loop_free(loop);
}

static void cancel_own(struct loop *loop, void *self, uint64_t arg)
{
    struct loop_handle *own = self;
    (void)arg;
    assert_false(loop_cancel(loop, *own));
}

static void event_cannot_cancel_itself_while_it_runs(void **state)
{
    (void)state;
    struct loop *loop = loop_new(no_limits);
    struct loop_handle own = {0, 0};
    own = loop_at(loop, 1, LOOP_RANK_FINISH, cancel_own, &own, 0);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    assert_int_equal(loop_event_count(loop), 1);
    loop_free(loop);
}

static void slot_without_generations_is_not_used_again(void **state)
{
    (void)state;
    struct queue queue;
    queue_init(&queue);
    struct log log = {.count = 0};
    struct loop_handle first_of_all = queue_push(&queue, 5, 0, note, &log, 0);
    assert_true(queue_cancel(&queue, first_of_all));
    assert_int_equal(first_of_all.slot, 0);
    queue.record[0].generation = QUEUE_GENERATION_MAX;
    struct loop_handle last = queue_push(&queue, 5, 0, note, &log, 0);
    assert_int_equal(last.slot, 0);
    assert_int_equal(last.generation, QUEUE_GENERATION_MAX);
    assert_true(queue_cancel(&queue, last));
    assert_false(queue_cancel(&queue, last));
    for (uint32_t i = 1; i < 1000; i++)
        assert_int_not_equal(queue_push(&queue, 6, 0, note, &log, 0).slot, 0);
    struct queue_entry first = {0, 0};
    assert_true(queue_peek(&queue, &first));
    assert_int_equal(first.time_ns, 6);
    queue_clear(&queue);
}

static void time_limit_leaves_later_events_unrun(void **state)
{
    (void)state;
    struct loop *loop = loop_new((struct loop_limits){20, UINT64_MAX, NULL});
    struct log log = {.count = 0};
    for (int64_t t = 5; t <= 50; t += 5)
        loop_at(loop, t, LOOP_RANK_FINISH, note, &log, (uint64_t)t);
    assert_int_equal(loop_run(loop), LOOP_TIME_LIMIT);
    assert_int_equal(log.count, 4);
    assert_int_equal(loop_now_ns(loop), 20);
    assert_int_equal(loop_pending_count(loop), 6);
    /* More than near holds, before the event that was looked at. */
    for (int64_t i = 0; i < 1000; i++)
        loop_at(loop, 21 + i % 4, LOOP_RANK_FINISH, note, &log, 0);
    assert_int_equal(loop_run(loop), LOOP_TIME_LIMIT);
    assert_int_equal(loop_pending_count(loop), 1006);
    loop_free(loop);
}

/* The next event, one of sixty at a time, lies behind the limit; then 200 come before
 * them, from the last to the first. */
static void after_a_time_limit_events_may_come_before_a_crowded_instant(void **state)
{
    (void)state;
    struct loop *loop = loop_new((struct loop_limits){10, UINT64_MAX, NULL});
    struct log log = {.count = 0};
    for (uint64_t i = 0; i < 60; i++)
        loop_at(loop, 1000000, LOOP_RANK_FINISH, note, &log, 1000 + i);
    loop_at(loop, 1, LOOP_RANK_FINISH, note, &log, 0);
    assert_int_equal(loop_run(loop), LOOP_TIME_LIMIT);
    loop_until(loop, 2000000);
    for (uint64_t i = 200; i > 0; i--)
        loop_at(loop, 20 + (int64_t)i, LOOP_RANK_FINISH, note, &log, i);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    assert_int_equal(log.count, 261);
    for (uint64_t i = 0; i < 261; i++)
        assert_int_equal(log.arg[i], i <= 200 ? i : 1000 + (i - 201));
    loop_free(loop);
}

static void push_self(struct loop *loop, void *self, uint64_t arg)
{
    loop_at(loop, loop_now_ns(loop), LOOP_RANK_FINISH, push_self, self, arg);
}

static void event_limit_ends_an_endless_instant(void **state)
{
    (void)state;
    struct loop *loop = loop_new((struct loop_limits){INT64_MAX, 1000, NULL});
    loop_at(loop, 1, LOOP_RANK_FINISH, push_self, NULL, 0);
    assert_int_equal(loop_run(loop), LOOP_EVENT_LIMIT);
    assert_int_equal(loop_event_count(loop), 1000);
    assert_int_equal(loop_pending_count(loop), 1);
    loop_free(loop);
}

static void raise_flag(struct loop *loop, void *self, uint64_t arg)
{
    volatile int *flag = self;

    *flag = 1;
    push_self(loop, self, arg);
}

static void a_flag_from_outside_ends_an_endless_run(void **state)
{
    (void)state;
    volatile int flag = 0;
    struct loop *loop =
        loop_new((struct loop_limits){INT64_MAX, 1000000, &flag});
    loop_at(loop, 1, LOOP_RANK_FINISH, raise_flag, (void *)&flag, 0);
    assert_int_equal(loop_run(loop), LOOP_CALLED_OFF);
    assert_true(loop_event_count(loop) < 10000);
    assert_int_equal(loop_pending_count(loop), 1);
    loop_free(loop);
}

static void stop(struct loop *loop, void *self, uint64_t arg)
{
    (void)self;
    (void)arg;
    loop_stop(loop);
}

static void stop_ends_the_run_after_the_callback(void **state)
{
    (void)state;
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    loop_at(loop, 1, LOOP_RANK_FINISH, stop, NULL, 0);
    loop_at(loop, 1, LOOP_RANK_OUTAGE, note, &log, 0);
    assert_int_equal(loop_run(loop), LOOP_STOPPED);
    assert_int_equal(log.count, 0);
    assert_int_equal(loop_event_count(loop), 1);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    assert_int_equal(log.count, 1);
    loop_free(loop);
}

static void latest_time_and_earliest_time_are_kept_apart(void **state)
{
    (void)state;
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    loop_at(loop, INT64_MAX, LOOP_RANK_FINISH, note, &log, 3);
    loop_at(loop, 0, LOOP_RANK_FINISH, note, &log, 1);
    loop_at(loop, INT64_MAX - 1, LOOP_RANK_SAMPLE, note, &log, 2);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(log.arg[i], i + 1);
    assert_int_equal(loop_now_ns(loop), INT64_MAX);
    loop_free(loop);
}

static uint64_t digest_of_two(int64_t first_ns, enum loop_rank first_rank,
                              uint64_t first_arg)
{
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    loop_at(loop, first_ns, first_rank, note, &log, first_arg);
    loop_at(loop, 4, LOOP_RANK_ARRIVAL, note, &log, 2);
    loop_run(loop);
    uint64_t digest = loop_digest(loop);
    loop_free(loop);
    return digest;
}

static void digest_depends_on_time_rank_arg_and_order(void **state)
{
    (void)state;
    uint64_t digest = digest_of_two(4, LOOP_RANK_ARRIVAL, 1);
    assert_int_equal(digest, digest_of_two(4, LOOP_RANK_ARRIVAL, 1));
    assert_int_not_equal(digest, digest_of_two(3, LOOP_RANK_ARRIVAL, 1));
    assert_int_not_equal(digest, digest_of_two(4, LOOP_RANK_FINISH, 1));
    assert_int_not_equal(digest, digest_of_two(4, LOOP_RANK_DECIDE, 1));
    assert_int_not_equal(digest, digest_of_two(4, LOOP_RANK_ARRIVAL, 3));
}

/* A crowd at one instant: the first of it pushes lower ranks, one by one. */
struct crowd {
    uint64_t last, count, urgent_count;
};

static void crowd_urgent(struct loop *loop, void *self, uint64_t arg)
{
    struct crowd *crowd = self;
    assert_int_equal(arg, crowd->last);
    assert_int_equal(loop_now_ns(loop), 1000003);
    crowd->urgent_count++;
}

static void crowd_member(struct loop *loop, void *self, uint64_t arg)
{
    struct crowd *crowd = self;
    assert_int_equal(arg, crowd->count);
    assert_int_equal(crowd->urgent_count, 2 * crowd->count);
    crowd->last = arg;
    crowd->count++;
    loop_at(loop, 1000003, LOOP_RANK_FINISH, crowd_urgent, crowd, arg);
    loop_at(loop, 1000003, LOOP_RANK_OUTAGE, crowd_urgent, crowd, arg);
}

/* If each lower rank cost a walk over the crowd this would take minutes. */
static void crowd_at_one_instant_yields_to_every_lower_rank(void **state)
{
    (void)state;
    struct crowd crowd = {0, 0, 0};
    struct loop *loop = loop_new(no_limits);
    struct log log = {.count = 0};
    loop_at(loop, 999, LOOP_RANK_SAMPLE, note, &log, 1);
    for (uint64_t i = 0; i < 100000; i++)
        loop_at(loop, 1000003, LOOP_RANK_DECIDE, crowd_member, &crowd, i);
    loop_at(loop, 1000004, LOOP_RANK_FINISH, note, &log, 2);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    assert_int_equal(crowd.count, 100000);
    assert_int_equal(crowd.urgent_count, 200000);
    assert_int_equal(log.arg[1], 2);
    loop_free(loop);
}

static void crowd_push(struct loop *loop, void *self, uint64_t arg)
{
    for (uint64_t i = 0; i < arg; i++)
        loop_at(loop, 1000003, LOOP_RANK_DECIDE, crowd_member, self, i);
}

static void crowd_pushed_at_its_own_instant_keeps_its_order(void **state)
{
    (void)state;
    struct crowd crowd = {0, 0, 0};
    struct log log = {.count = 0};
    struct loop *loop = loop_new(no_limits);
    for (uint64_t i = 0; i < 40; i++)
        loop_at(loop, 1000003, LOOP_RANK_SAMPLE, note, &log, i);
    loop_at(loop, 1000003, LOOP_RANK_FINISH, crowd_push, &crowd, 100000);
    assert_int_equal(loop_run(loop), LOOP_DRAINED);
    assert_int_equal(crowd.count, 100000);
    for (uint64_t i = 0; i < 40; i++)
        assert_int_equal(log.arg[i], i);
    loop_free(loop);
}

static void never(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    (void)self;
    (void)arg;
    fail();
}

/* Of a million cancelled timers no more than the slack may stay. */
static void cancelled_events_do_not_pile_up(void **state)
{
    (void)state;
    struct queue queue;
    queue_init(&queue);
    for (uint64_t i = 0; i < 1000; i++)
        queue_push(&queue, 1000000 + i, 0, never, NULL, i);
    for (uint64_t i = 0; i < 1000000; i++) {
        struct loop_handle handle =
            queue_push(&queue, 5000 + i * 977, 1, never, NULL, i);
        assert_true(queue_cancel(&queue, handle));
        assert_true(queue.dead_count <= queue.live_count + QUEUE_DEAD_SLACK);
    }
    assert_int_equal(queue.live_count, 1000);
    assert_true(queue_held_bytes(&queue) < 1000000);
    queue_clear(&queue);
}

static void pending_event_takes_at_most_64_bytes(void **state)
{
    (void)state;
    const uint64_t counts[] = {10000, 100000, 1000000};
    for (size_t k = 0; k < 3; k++) {
        struct rng rng;
        struct queue queue;
        rng_init(&rng, 1, "bytes", k);
        queue_init(&queue);
        for (uint64_t i = 0; i < counts[k]; i++)
            queue_push(&queue, (uint64_t)rng_exponential(&rng, 1e9), 0, never,
                       NULL, i);
        for (uint64_t i = 0; i < 2 * counts[k]; i++) {
            struct queue_entry first = {0, 0};
            assert_true(queue_peek(&queue, &first));
            queue_pop(&queue, &first);
            queue_push(&queue,
                       first.time_ns + (uint64_t)rng_exponential(&rng, 1e9),
                       0, never, NULL, i);
        }
        assert_int_equal(queue.live_count, counts[k]);
        assert_true(queue_held_bytes(&queue) <= 64 * counts[k]);
        queue_clear(&queue);
    }
}

/* ---- the differential script ---- */

enum family {
    FAMILY_EXPONENTIAL,
    FAMILY_CONSTANT,
    FAMILY_ZERO,        /* half of the delays are zero */
    FAMILY_TIES,        /* few distinct times */
    FAMILY_BIMODAL,
    FAMILY_TWO_SCALES,  /* nine decades apart */
    FAMILY_EPOCH,       /* small delays late in a long run */
    FAMILY_COUNT
};

static int64_t delay_ns(struct rng *rng, enum family family)
{
    switch (family) {
    case FAMILY_EXPONENTIAL:
        return (int64_t)rng_exponential(rng, 1e9);
    case FAMILY_CONSTANT:
        return 1000;
    case FAMILY_ZERO:
        return rng_below(rng, 2) ? 0 : (int64_t)rng_exponential(rng, 50);
    case FAMILY_TIES:
        return (int64_t)rng_below(rng, 4) * 600;
    case FAMILY_BIMODAL:
        return (int64_t)rng_exponential(rng, rng_below(rng, 10) ? 1e6 : 1e8);
    case FAMILY_TWO_SCALES:
        return (int64_t)rng_exponential(rng, rng_below(rng, 2) ? 10 : 1e10);
    default:
        return (int64_t)rng_exponential(rng, 3);
    }
}

/* One world, two ways to schedule in it. */
struct script {
    struct loop *loop;          /* one of these two is NULL */
    struct heap4 *heap;
    struct rng rng;
    enum family family;
    uint64_t push_left;
    uint64_t serial;
    uint64_t cancelled;
    struct loop_handle handle[512];
};

static void script_step(struct script *script);

static void loop_step(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    (void)arg;
    script_step(self);
}

static void heap_step(struct heap4 *heap, void *self, uint64_t arg)
{
    (void)heap;
    (void)arg;
    script_step(self);
}

static int64_t script_now(const struct script *script)
{
    return script->loop ? loop_now_ns(script->loop)
                        : heap4_now_ns(script->heap);
}

static struct loop_handle script_at(struct script *script, int64_t time_ns,
                                    enum loop_rank rank)
{
    uint64_t arg = script->serial++;
    if (script->loop)
        return loop_at(script->loop, time_ns, rank, loop_step, script, arg);
    return heap4_at(script->heap, time_ns, rank, heap_step, script, arg);
}

static void script_push(struct script *script)
{
    if (script->push_left == 0)
        return;
    script->push_left--;
    int64_t time_ns =
        script_now(script) + delay_ns(&script->rng, script->family);
    if (script->family == FAMILY_EPOCH && script_now(script) == 0)
        time_ns += INT64_C(1700000000000000000);
    enum loop_rank rank =
        (enum loop_rank)rng_below(&script->rng, LOOP_RANK_COUNT);
    uint64_t at = rng_below(&script->rng, 512);
    script->handle[at] = script_at(script, time_ns, rank);
}

/* Replaces itself, sometimes twice or not at all; cancels a quarter. */
static void script_step(struct script *script)
{
    uint64_t dice = rng_below(&script->rng, 16);
    script_push(script);
    if (dice < 5)
        script_push(script);
    if (dice < 4) {
        struct loop_handle old =
            script->handle[rng_below(&script->rng, 512)];
        script->cancelled +=
            script->loop ? loop_cancel(script->loop, old)
                         : heap4_cancel(script->heap, old);
    }
}

static void script_run(struct script *script, uint64_t seed,
                       enum family family, uint64_t start, uint64_t push_count)
{
    rng_init(&script->rng, seed, "script", (uint64_t)family);
    script->family = family;
    script->push_left = start + push_count;
    for (uint64_t i = 0; i < start; i++)
        script_push(script);
    if (script->loop)
        assert_int_equal(loop_run(script->loop), LOOP_DRAINED);
    else
        heap4_run(script->heap, UINT64_MAX);
}

static void compare_once(uint64_t seed, enum family family, uint64_t start,
                         uint64_t push_count)
{
    struct script fast = {.loop = loop_new(no_limits)};
    struct script slow = {.heap = heap4_new()};
    script_run(&fast, seed, family, start, push_count);
    script_run(&slow, seed, family, start, push_count);
    assert_int_equal(loop_digest(fast.loop), heap4_digest(slow.heap));
    assert_int_equal(fast.cancelled, slow.cancelled);
    assert_int_equal(fast.serial, start + push_count);
    assert_int_equal(loop_event_count(fast.loop),
                     fast.serial - fast.cancelled);
    assert_int_equal(loop_pending_count(fast.loop), 0);
    loop_free(fast.loop);
    heap4_free(slow.heap);
}

static void small_worlds_run_as_in_the_plain_heap(void **state)
{
    (void)state;
    for (int family = 0; family < FAMILY_COUNT; family++)
        for (uint64_t seed = 0; seed < 60; seed++)
            compare_once(seed, (enum family)family, 1 + seed * seed % 300,
                         3000);
}

static void large_worlds_run_as_in_the_plain_heap(void **state)
{
    (void)state;
    for (int family = 0; family < FAMILY_COUNT; family++) {
        compare_once(99, (enum family)family, 20000, 60000);
        compare_once(98, (enum family)family, 2000, 60000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_pops_equal_times_in_push_order),
        cmocka_unit_test(rank_tree_order_events_of_one_instant),
        cmocka_unit_test(lower_rank_pushed_at_the_present_runs_next),
        cmocka_unit_test(handles_expire_when_run_or_cancelled),
        cmocka_unit_test(event_cannot_cancel_itself_while_it_runs),
        cmocka_unit_test(slot_without_generations_is_not_used_again),
        cmocka_unit_test(time_limit_leaves_later_events_unrun),
        cmocka_unit_test(after_a_time_limit_events_may_come_before_a_crowded_instant),
        cmocka_unit_test(event_limit_ends_an_endless_instant),
        cmocka_unit_test(a_flag_from_outside_ends_an_endless_run),
        cmocka_unit_test(stop_ends_the_run_after_the_callback),
        cmocka_unit_test(latest_time_and_earliest_time_are_kept_apart),
        cmocka_unit_test(digest_depends_on_time_rank_arg_and_order),
        cmocka_unit_test(crowd_at_one_instant_yields_to_every_lower_rank),
        cmocka_unit_test(crowd_pushed_at_its_own_instant_keeps_its_order),
        cmocka_unit_test(cancelled_events_do_not_pile_up),
        cmocka_unit_test(
            instant_is_over_after_its_last_event_and_before_the_clock_moves),
        cmocka_unit_test(pending_event_takes_at_most_64_bytes),
        cmocka_unit_test(small_worlds_run_as_in_the_plain_heap),
        cmocka_unit_test(large_worlds_run_as_in_the_plain_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
