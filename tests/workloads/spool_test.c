/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_store_test.c - rows come back as they were put, from memory, from a file,
 * and from both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/base/spool.h"
#include "workloads/replay/job_store.h"

#define ROWS 20000u
#define S CLOCK_NS_PER_S

static const char *const tenants[] = {"ann", "bob"};

/* Nearly all alike; the others differ in one thing at a time. */
static struct row row_of(uint32_t i, char *name, size_t name_bytes)
{
    struct row row = {
        .submit_ns = i / 3 * S, .duration_ns = (1 + i % 777) * S,
        .limit_ns = i % 5 * S, .gpus = 1 + i % 64, .number = i,
        .deadline_ns = CLOCK_NEVER_NS, .tenant = tenants[i / 5000 % 2]};

    snprintf(name, name_bytes, "job-%u", i * 7);
    row.name = i % 100 == 99 ? NULL : name;
    switch (i % 1000) {
    case 10: row.submit_ns += 1; break;
    case 20: row.duration_ns = INT64_MAX; break;
    case 30: row.limit_ns = 1; break;
    case 40: row.priority = -7; break;
    case 50: row.gpu_milli = 250; row.pod = true; break;
    case 60: row.deadline_ns = 5; break;
    case 70: row.number += 3; break;
    case 80: row.rate_known = 0.5; break;
    case 90: row.memory_bytes = 1 << 20; row.core_milli = 1; break;
    case 110: row.dated = true; break;
    case 120: memset(name, 'x', name_bytes - 1); row.name = name; break;
    case 130: row.tenant = NULL; break;
    case 140: row.submit_ns += (INT64_C(1) << 33) * S; break;
    default: break;
    }
    return row;
}

static void same(const struct row *a, const struct row *b)
{
    assert_int_equal(a->submit_ns, b->submit_ns);
    assert_int_equal(a->duration_ns, b->duration_ns);
    assert_int_equal(a->limit_ns, b->limit_ns);
    assert_int_equal(a->gpus, b->gpus);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->deadline_ns, b->deadline_ns);
    assert_int_equal(a->priority, b->priority);
    assert_int_equal(a->gpu_milli, b->gpu_milli);
    assert_int_equal(a->pod, b->pod);
    assert_int_equal(a->core_milli, b->core_milli);
    assert_int_equal(a->memory_bytes, b->memory_bytes);
    assert_int_equal(a->dated, b->dated);
    assert_true(a->rate_known == b->rate_known);
    assert_ptr_equal(a->tenant, b->tenant);
    assert_int_equal(a->name == NULL, b->name == NULL);
    if (a->name != NULL)
        assert_string_equal(a->name, b->name);
}

/* A name that no block holds. */
static char name_a[200000], name_b[200000];

static void put_all(struct job_store *job_store)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        struct row row = row_of(i, name_a, i == 120 ? sizeof name_a : 40);
        job_store_put(job_store, &row);
    }
    assert_int_equal(job_store_count(job_store), ROWS);
}

static void expect_next(struct job_store_reader *reader, uint32_t i)
{
    struct row want = row_of(i, name_b, i == 120 ? sizeof name_b : 40);
    const struct row *row;

    assert_int_equal(job_store_next(reader, &row), JOB_STORE_ROW);
    same(row, &want);
}

static void expect_all(const struct job_store *job_store, struct arena *arena)
{
    struct job_store_reader *one = job_store_read(job_store, arena);
    struct job_store_reader *two = job_store_read(job_store, arena);
    const struct row *row;

    for (uint32_t i = 0; i < ROWS; i++) {
        expect_next(one, i);
        if (i % 2 == 1)
            expect_next(two, i / 2);
    }
    assert_int_equal(job_store_next(one, &row), JOB_STORE_END);
    assert_int_equal(job_store_next(one, &row), JOB_STORE_END);
}

static void rows_come_back_as_they_were_put(void **state)
{
    static const size_t memory[] = {1, 4096, 100000, SIZE_MAX / 2};

    (void)state;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        struct arena *arena = arena_new(0);
        struct job_store *job_store = job_store_new(arena, memory[i]);

        put_all(job_store);
        expect_all(job_store, arena);
        arena_free(arena);
    }
}

/* As the traces of two points of a sweep. */
static void two_spools_share_the_file_of_their_arena(void **state)
{
    struct arena *arena = arena_new(0);
    struct job_store *one = job_store_new(arena, 4096), *two = job_store_new(arena, 9999);

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        struct row row = row_of(i, name_a, i == 120 ? sizeof name_a : 40);
        job_store_put(one, &row);
        job_store_put(two, &row);
    }
    assert_true(arena_file(arena)->used_bytes > 0);
    expect_all(one, arena);
    expect_all(two, arena);
    arena_free(arena);
}

static void memory_does_not_grow_with_the_rows(void **state)
{
    struct arena *arena = arena_new(0);
    struct job_store *job_store = job_store_new(arena, 4096);
    struct row row = row_of(1, name_a, 40);

    (void)state;
    for (uint32_t i = 0; i < 100 * ROWS; i++)
        job_store_put(job_store, &row);
    assert_true(job_store_memory_bytes(job_store) <= 4096);
    assert_true(arena_used_bytes(arena) < 65536);
    arena_free(arena);
}

/* As on a full disk: no file may be longer than so. */
static void what_no_file_takes_stays_in_memory(void **state)
{
    struct arena *arena = arena_new(0);
    struct job_store *job_store = job_store_new(arena, 4096);
    struct rlimit old, little = {20000, RLIM_INFINITY};

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    little.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    put_all(job_store);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_true(job_store_memory_bytes(job_store) > 100000);
    expect_all(job_store, arena);
    arena_free(arena);
}

static void without_a_file_all_stays_in_memory(void **state)
{
    struct arena *arena = arena_new(0);
    struct job_store *job_store = job_store_new(arena, 4096);
    struct rlimit old, none;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){0, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    put_all(job_store);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_true(job_store_memory_bytes(job_store) > 100000);
    expect_all(job_store, arena);
    arena_free(arena);
}

static void an_empty_job_store_has_no_rows(void **state)
{
    struct arena *arena = arena_new(0);
    struct job_store_reader *reader =
        job_store_read(job_store_new(arena, JOB_STORE_MEMORY_BYTES), arena);
    const struct row *row;

    (void)state;
    assert_int_equal(job_store_next(reader, &row), JOB_STORE_END);
    arena_free(arena);
}

/* Cuts all files of this process that have no name any more. */
static void cut_nameless_files(void)
{
    for (int fd = 3; fd < 64; fd++) {
        char path[40], name[300];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t bytes = readlink(path, name, sizeof name - 1);
        name[bytes > 0 ? bytes : 0] = '\0';
        if (strstr(name, " (deleted)") != NULL)
            assert_int_equal(ftruncate(fd, 0), 0);
    }
}

/* A file that is shorter than what was written is a fault of the disk. */
static void a_file_that_was_cut_is_a_fault(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct spool *spool = spool_new(arena, 1000);

    (void)state;
    for (int i = 0; i < 5000; i++) {
        memset(spool_reserve(spool, 8), i & 127, 8);
        spool_put(spool, 8, 8);
    }
    if (spool_memory_bytes(spool) > 20000) {
        print_message("skip: there is no room for a temporary file\n");
        arena_free(arena);
        skip();
    }
    cut_nameless_files();
    errno = 0;
    struct spool_reader *reader = spool_read(spool, arena);
    const char *bytes;
    do
        bytes = spool_take(reader, 8);
    while (bytes != NULL);
    assert_int_equal(errno, EIO);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_as_they_were_put),
        cmocka_unit_test(two_spools_share_the_file_of_their_arena),
        cmocka_unit_test(memory_does_not_grow_with_the_rows),
        cmocka_unit_test(what_no_file_takes_stays_in_memory),
        cmocka_unit_test(without_a_file_all_stays_in_memory),
        cmocka_unit_test(a_file_that_was_cut_is_a_fault),
        cmocka_unit_test(an_empty_job_store_has_no_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
