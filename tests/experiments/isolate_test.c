/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * isolate_test.c - a function in a process of its own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/process/isolate.h"
#include "sim/base/arena.h"

struct page {
    int in, out;
    int pipe_fd[2];
};

static void add_one(void *self)
{
    struct page *page = self;

    page->out = page->in + 1;
    page->in = 0;
}

static void the_page_is_all_that_comes_back(void **state)
{
    struct isolate *isolate = isolate_new(sizeof(struct page), 0);
    struct page *page = isolate_page(isolate);

    (void)state;
    for (int i = 1; i < 4; i++) {
        page->in = i;
        assert_true(isolate_run(isolate, add_one, page).done);
        assert_int_equal(page->out, i + 1);
        assert_int_equal(page->in, 0);
    }
    isolate_free(isolate);
}

static void leave(void *self)
{
    (void)self;
    _exit(3);
}

static void stop_with_a_signal(void *self)
{
    (void)self;
    raise(SIGKILL);
}

static void the_end_is_told(void **state)
{
    struct isolate *isolate = isolate_new(1, 0);
    struct arena *arena = arena_new(4096);
    struct isolate_end end = isolate_run(isolate, leave, NULL);

    (void)state;
    assert_false(end.done);
    assert_string_equal(isolate_why(arena, &end), "left its process with status 3");
    end = isolate_run(isolate, stop_with_a_signal, NULL);
    assert_false(end.done || end.killed);
    assert_int_equal(end.signal, SIGKILL);
    assert_string_equal(isolate_why(arena, &end), "crashed (Killed)");
    arena_free(arena);
    isolate_free(isolate);
}

/* Starts a process that holds the pipe, and returns without it. */
static void start_another(void *self)
{
    (void)self;
    if (fork() == 0)
        for (;;)
            pause();
}

static void what_it_started_ends_with_it(void **state)
{
    struct isolate *isolate = isolate_new(sizeof(struct page), 0);
    struct page *page = isolate_page(isolate);
    char byte;

    (void)state;
    assert_int_equal(pipe(page->pipe_fd), 0);
    assert_true(isolate_run(isolate, start_another, page).done);
    close(page->pipe_fd[1]);
    assert_int_equal(read(page->pipe_fd[0], &byte, 1), 0);      /* nobody holds it */
    close(page->pipe_fd[0]);
    isolate_free(isolate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_all_that_comes_back),
        cmocka_unit_test(the_end_is_told),
        cmocka_unit_test(what_it_started_ends_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
