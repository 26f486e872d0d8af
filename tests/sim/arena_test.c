/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena_test.c - arenas hand out zeroed, aligned memory that never overlaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1000);

    for (size_t bytes = 0; bytes < 5000; bytes += 7) {
        unsigned char *data = arena_alloc(arena, bytes, 1);
        assert_int_equal((uintptr_t)data % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(data[i], 0);
        memset(data, 0xFF, bytes);
    }
    arena_free(arena);
}

static void allocations_never_overlap(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static const size_t sizes[] = {1, 16, 17, 200, 5000, 70000, 3};
    struct arena *arena = arena_new(0);
    unsigned char **data = arena_alloc(arena, COUNT, sizeof *data);

    for (size_t i = 0; i < COUNT; i++) {
        size_t bytes = sizes[i % 7];
        data[i] = arena_alloc(arena, bytes, 1);
        memset(data[i], (int)(i % 251), bytes);
    }
    for (size_t i = 0; i < COUNT; i++) {
        size_t bytes = sizes[i % 7];
        assert_int_equal(data[i][0], i % 251);
        assert_int_equal(data[i][bytes - 1], i % 251);
    }
    arena_free(arena);
}

static void nothing_asked_for_still_has_its_own_address(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);
    void *a = arena_alloc(arena, 0, 8);
    void *b = arena_alloc(arena, 5, 0);

    assert_non_null(a);
    assert_ptr_not_equal(a, b);
    arena_free(arena);
}

static void grown_array_keeps_its_items_and_zeroes_the_rest(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);
    int *items = NULL;
    size_t room = 0;

    for (int i = 0; i < 10000; i++) {
        if ((size_t)i == room) {
            size_t wanted = room == 0 ? 1 : room * 2;
            items = arena_grow(arena, items, room, wanted, sizeof *items);
            room = wanted;
            assert_int_equal(items[room - 1], 0);
        }
        items[i] = i + 1;
    }
    for (int i = 0; i < 10000; i++)
        assert_int_equal(items[i], i + 1);
    arena_free(arena);
}

static void added_items_are_kept_and_what_is_reached_is_zero(void **state)
{
    (void)state;
    struct pair { double key; uint8_t value; } *pair = NULL;
    struct arena *arenas[] = {arena_new(0), NULL};

    for (int own = 0; own < 2; own++) {
        uint32_t count = 0, room = 0;
        pair = NULL;
        for (uint32_t i = 0; i < 5000; i++) {
            ARENA_ADD(arenas[own], pair, count, room,
                      (struct pair){i * 0.5, (uint8_t)i});
            assert_int_equal(count, i + 1);
            assert_true(room >= count && room < 2 * count + 4);
        }
        ARENA_REACH(arenas[own], pair, room, 100000);
        assert_true(room > 100000 && room <= 200000);
        for (uint32_t i = 0; i < room; i++) {
            assert_true(pair[i].key == (i < count ? i * 0.5 : 0));
            assert_int_equal(pair[i].value, i < count ? i % 256 : 0);
        }
    }
    free(pair);
    arena_free(arenas[0]);
}

static void an_array_with_room_stays_where_it_is(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);
    uint64_t *item = NULL;
    size_t room = 0;

    ARENA_REACH(arena, item, room, 0);
    assert_non_null(item);
    assert_int_equal(room, 4);
    uint64_t *at = item;
    size_t used = arena_used_bytes(arena);
    for (size_t i = 0; i < room; i++)
        ARENA_REACH(arena, item, room, i);
    assert_ptr_equal(item, at);
    assert_int_equal(arena_used_bytes(arena), used);
    ARENA_REACH(arena, item, room, room);
    assert_ptr_not_equal(item, at);
    assert_int_equal(room, 8);
    arena_free(arena);
}

/* Pages of this process, where the system tells; else 0. */
static long pages_held(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file != NULL) {
        if (fscanf(file, "%ld", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return pages;
}

/* Blocks of huge pages go back to the system: 400 arenas of 8 MiB, one after another, take the
 * room of a few. */
static void large_blocks_are_given_back(void **state)
{
    long before = 0;

    (void)state;
    for (int i = 0; i < 400; i++) {
        struct arena *arena = arena_new(0);
        memset(arena_alloc(arena, (size_t)8 << 20, 1), 1, 64);
        arena_free(arena);
        if (i == 3)
            before = pages_held();
    }
    assert_true((pages_held() - before) * 4096 < (long)400 << 20);
}

static void text_is_a_copy(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);
    char word[] = "gpu";
    char *copy = arena_text(arena, word);

    word[0] = 'c';
    assert_string_equal(copy, "gpu");
    assert_string_equal(arena_text(arena, ""), "");
    arena_free(arena);
}

static void used_bytes_grow_by_at_least_what_was_asked(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);
    size_t before = arena_used_bytes(arena);

    assert_int_equal(before, 0);
    arena_alloc(arena, 100, 10);
    assert_in_range(arena_used_bytes(arena), 1000, 1015);
    arena_free(arena);
}

static void large_arrays_begin_on_a_line_of_the_cache(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);

    for (size_t n = 0; n < 200; n++) {
        size_t bytes = ARENA_LINES_BYTES + 16 * n * n;
        arena_alloc(arena, n, 1);       /* what lies before does not matter */
        unsigned char *item = arena_alloc(arena, bytes, 1);
        assert_int_equal((uintptr_t)item % 64, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(item[i], 0);
        memset(item, 255, bytes);
    }
    arena_free(arena);
}

static void freeing_no_arena_is_allowed(void **state)
{
    (void)state;
    struct arena *arena = arena_new(16);

    assert_int_equal(arena_used_bytes(arena), 0);
    arena_free(arena);
    arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(allocations_never_overlap),
        cmocka_unit_test(nothing_asked_for_still_has_its_own_address),
        cmocka_unit_test(grown_array_keeps_its_items_and_zeroes_the_rest),
        cmocka_unit_test(added_items_are_kept_and_what_is_reached_is_zero),
        cmocka_unit_test(an_array_with_room_stays_where_it_is),
        cmocka_unit_test(large_blocks_are_given_back),
        cmocka_unit_test(text_is_a_copy),
        cmocka_unit_test(used_bytes_grow_by_at_least_what_was_asked),
        cmocka_unit_test(large_arrays_begin_on_a_line_of_the_cache),
        cmocka_unit_test(freeing_no_arena_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
