/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spool_records_test.c - records come back as they were put, from memory and from a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/spool.h"

#define MEMORY_BYTES 4096u
#define LONGEST 200000u         /* more than a reader takes at once */

/* The bytes of record i: a head of 8 and a tail, as long as the head says. */
static size_t count_tail(uint32_t i)
{
    return i % 5000 == 4999 ? LONGEST : i % 7 * 8;
}

static void put_record(struct spool *spool, uint32_t i)
{
    size_t tail = count_tail(i);
    char *to = spool_reserve(spool, 8 + tail);

    memcpy(to, &(uint64_t){ i }, 8);
    memset(to + 8, (int)(i % 251), tail);
    spool_put(spool, 8 + tail, 8 + tail);
}

/* Is the next record the one of that number? */
static void check_record(struct spool_reader *reader, uint32_t i)
{
    uint64_t head;

    assert_true(spool_has_more(reader));
    const char *from = spool_take(reader, 8);
    assert_non_null(from);
    assert_int_equal((uintptr_t)from % 8, 0);
    memcpy(&head, from, 8);
    assert_int_equal(head, i);
    from = spool_take(reader, count_tail(i));
    assert_non_null(from);
    for (size_t b = 0; b < count_tail(i); b++)
        if ((unsigned char)from[b] != i % 251)
            fail_msg("record %u: byte %zu", i, b);
}

/* Reads all records. */
static void check_all(const struct spool *spool, struct arena *arena, uint32_t count)
{
    struct spool_reader *reader = spool_read(spool, arena);

    for (uint32_t i = 0; i < count; i++)
        check_record(reader, i);
    assert_false(spool_has_more(reader));
}

/* Puts that many records, and reads them twice. */
static void check_spool(uint32_t count)
{
    struct arena *arena = arena_new(1 << 12);
    struct spool *spool = spool_new(arena, MEMORY_BYTES);

    for (uint32_t i = 0; i < count; i++)
        put_record(spool, i);
    check_all(spool, arena, count);
    check_all(spool, arena, count);
    arena_free(arena);
}

static void records_come_back_in_order_however_many_there_are(void **state)
{
    (void)state;
    check_spool(0);
    check_spool(1);
    check_spool(100);
    check_spool(20000);         /* in a file */
    check_spool(20001);
}

static void two_spools_share_the_file_of_their_arena(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct spool *one = spool_new(arena, MEMORY_BYTES), *two = spool_new(arena, 0);

    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        put_record(one, i);
        put_record(two, i);
    }
    check_all(one, arena, 3000);
    check_all(two, arena, 3000);
    arena_free(arena);
}

static void memory_does_not_grow_with_the_records(void **state)
{
    struct arena *arena = arena_new(1 << 12);
    struct spool *spool = spool_new(arena, MEMORY_BYTES);
    size_t bytes = 0;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        put_record(spool, i);
        if (i == 5000)
            bytes = arena_used_bytes(arena);
        assert_true(i % 5000 == 4999 || spool_memory_bytes(spool) <= LONGEST + 8);
    }
    assert_int_equal(arena_used_bytes(arena), bytes);
    arena_free(arena);
}

/* No file can be opened any more, as where a disk is full. */
static void without_a_file_all_records_stay_in_memory(void **state)
{
    struct rlimit was, none = { 0, 0 };

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none.rlim_max = was.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    check_spool(20000);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_in_order_however_many_there_are),
        cmocka_unit_test(two_spools_share_the_file_of_their_arena),
        cmocka_unit_test(memory_does_not_grow_with_the_records),
        cmocka_unit_test(without_a_file_all_records_stay_in_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
