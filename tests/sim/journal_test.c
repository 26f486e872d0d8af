/* SPDX-License-Identifier: GPL-3.0-or-later */
/* journal_test.c - who hears what, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/event/journal.h"

struct ear {
    char name;
    char *log;                  /* shared by all ears */
    struct journal *journal;    /* to tell one fact more, or NULL */
    struct fact last;
    uint32_t count;
};

static void hear(void *self, const struct fact *fact)
{
    struct ear *ear = self;

    ear->count++;
    ear->last = *fact;
    for (char *end = ear->log; ; end++)
        if (*end == '\0') {
            *end = ear->name;
            break;
        }
    if (ear->journal != NULL && fact->kind == 1)
        journal_tell(ear->journal, &(struct fact){.kind = 2});
}

static void listeners_hear_in_the_order_they_were_added(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct journal *journal = journal_new(arena);
    char log[16] = {0};
    struct ear c = {.name = 'c', .log = log};
    struct ear a = {.name = 'a', .log = log};
    struct ear b = {.name = 'b', .log = log};

    (void)state;
    journal_listen(journal, 2, hear, &c);
    journal_listen(journal, 6, hear, &a);
    journal_listen(journal, 2, hear, &b);
    journal_tell(journal, &(struct fact){.kind = 1});
    journal_tell(journal, &(struct fact){.kind = 2});
    assert_string_equal(log, "caba");
    arena_free(arena);
}

static void a_listener_hears_its_kinds_and_no_others(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct journal *journal = journal_new(arena);
    char log[256] = {0};
    struct ear few = {.name = 'f', .log = log};
    struct ear all = {.name = 'a', .log = log};

    (void)state;
    journal_listen(journal, UINT64_C(1) << 63 | 1, hear, &few);
    journal_listen(journal, UINT64_MAX, hear, &all);
    for (uint32_t kind = 0; kind < 64; kind++)
        journal_tell(journal, &(struct fact){.kind = kind, .amount = 2});
    assert_int_equal(few.count, 2);
    assert_int_equal(few.last.kind, 63);
    assert_int_equal(all.count, 64);
    arena_free(arena);
}

static void a_fact_arrives_as_it_was_told(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct journal *journal = journal_new(arena);
    char log[4] = {0};
    struct ear ear = {.name = 'e', .log = log};
    const struct fact fact = {INT64_MAX, 5, UINT32_MAX, 7, -0.25};

    (void)state;
    journal_tell(journal, &fact);           /* nobody listens yet */
    journal_listen(journal, UINT64_C(1) << 5, hear, &ear);
    journal_tell(journal, &fact);
    assert_int_equal(ear.count, 1);
    assert_true(ear.last.time_ns == fact.time_ns && ear.last.kind == 5);
    assert_true(ear.last.subject == UINT32_MAX && ear.last.object == 7);
    assert_true(ear.last.amount == -0.25);
    arena_free(arena);
}

static void
a_fact_told_by_a_listener_is_heard_before_the_next_listener(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct journal *journal = journal_new(arena);
    char log[16] = {0};
    struct ear a = {.name = 'a', .log = log, .journal = journal};
    struct ear b = {.name = 'b', .log = log};

    (void)state;
    journal_listen(journal, UINT64_MAX, hear, &a);
    journal_listen(journal, UINT64_MAX, hear, &b);
    journal_tell(journal, &(struct fact){.kind = 1});
    assert_string_equal(log, "aabb");
    assert_int_equal(b.last.kind, 1);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listeners_hear_in_the_order_they_were_added),
        cmocka_unit_test(a_listener_hears_its_kinds_and_no_others),
        cmocka_unit_test(a_fact_arrives_as_it_was_told),
        cmocka_unit_test(
            a_fact_told_by_a_listener_is_heard_before_the_next_listener),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
