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

static void leave_well(void *self)
{
    (void)self;
    _exit(0);
}

/* A function that ends its process has not returned, whatever its status. */
static void a_process_that_leaves_is_not_done(void **state)
{
    struct isolate *isolate = isolate_new(1, 0);
    struct isolate_end end = isolate_run(isolate, leave_well, NULL);

    (void)state;
    assert_false(end.done);
    assert_int_equal(end.signal, 0);
    assert_int_equal(end.status, 0);
    isolate_free(isolate);
}

/* Where SIGCHLD is ignored, the system keeps no status of a process.  Each end is judged by
 * what the function said: the first returned, the second crashed, the third did not. */
static void an_end_whose_status_is_lost_is_no_good_end(void **state)
{
    struct isolate *isolate = isolate_new(sizeof(struct page), 0);
    struct page *page = isolate_page(isolate);
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    struct arena *arena = arena_new(100);
    struct isolate_end returned, killed, left;

    (void)state;
    sigaction(SIGCHLD, &ignore, &before);
    returned = isolate_run(isolate, add_one, page);
    killed = isolate_run(isolate, stop_with_a_signal, NULL);
    left = isolate_run(isolate, leave, NULL);
    sigaction(SIGCHLD, &before, NULL);
    assert_true(returned.done && returned.lost);
    assert_int_equal(page->out, 1);
    assert_true(!killed.done && killed.lost && killed.signal == 0);
    assert_true(!left.done && left.lost && left.status == 0);
    assert_non_null(strstr(isolate_why(arena, &killed), "SIGCHLD is ignored"));
    isolate_free(isolate);
    arena_free(arena);
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
        cmocka_unit_test(a_process_that_leaves_is_not_done),
        cmocka_unit_test(an_end_whose_status_is_lost_is_no_good_end),
        cmocka_unit_test(what_it_started_ends_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
