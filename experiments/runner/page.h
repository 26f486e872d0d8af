/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.h - what a trial in a process of its own leaves for this one.
 *
 * That process may end at any instruction, and code that is not ours may write anywhere in
 * it.  So no pointer crosses, and this process reads nothing of the page but through the
 * functions here, which accept any bytes.  Private to experiments/runner.
 */
#ifndef EXPERIMENTS_RUNNER_PAGE_H
#define EXPERIMENTS_RUNNER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/run/trial.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/trial_spec.h"
#include "sim/base/err.h"

struct arena;
struct outcome;

/* An error without pointers; a longer file name is cut. */
struct page_err {
    uint32_t kind, line, col;
    char file[1024];            /* "": no place */
    char text[sizeof ((struct err *)NULL)->text], hint[sizeof ((struct err *)NULL)->hint];
};

struct guest_page {
    int stop;                   /* from this process to that one */
    uint32_t returned;          /* PAGE_WHOLE: the rest is whole */
    uint32_t state, kept;       /* enum runner_state; 0: the rows were not kept */
    struct trial_watch watch;   /* what the waiting process shows of the run */
    struct trial_result result; /* valid once `returned` is PAGE_WHOLE */
    struct page_err err, keep_err;
};

/* There: writes what became of the trial.  keep_err: NULL if its rows were kept. */
void page_put(struct guest_page *page, enum runner_state state, const struct outcome *trial,
              const struct err *keep_err);

/* Here: is all of it there? */
bool page_whole(const struct guest_page *page);
/* Return copies, whatever the page holds.  Texts are UTF-8 without control characters; the
 * file of the error lies in the arena. */
struct trial_result page_result(const struct guest_page *page);
struct trial_watch page_watch(const struct guest_page *page);
struct err page_err(struct arena *arena, const struct page_err *from);

#endif
