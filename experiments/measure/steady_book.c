/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steady_book.c - instants at which jobs came and left.
 */
#include "experiments/measure/steady_book.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/trial_spec.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/stats/steady.h"

#define JOBS_MOST 100000u       /* of more, as of bounds, nothing is said */
#define JOBS_LEAST 20u          /* that come, for quarters to say something */

/* Instants in the order in which they were added. */
struct instants {
    int64_t *at;                /* [count], ns */
    uint32_t count, room;
};

/* When jobs came and left. */
struct steady_book {
    struct arena *arena;
    int64_t warmup_ns, until_ns;    /* as the file says */
    struct instants come, gone;     /* in order of time */
    /* Of jobs that count and were done, in the order of their ends. */
    struct instants submit;
    double *jct_s;                  /* as many as `submit` has room */
    bool full;                  /* a list has JOBS_MOST instants: nothing is published */
};

struct steady_book *steady_book_new(struct arena *arena,
                                    const struct trial_spec *spec)
{
    struct steady_book *book = arena_alloc(arena, 1, sizeof *book);

    book->arena = arena;
    book->warmup_ns = spec->warmup_ns;
    book->until_ns = spec->until_ns;
    return book;
}

/* Appends an instant.  Beyond JOBS_MOST the book is full, and nothing is said of the
 * trial. */
static void add(struct steady_book *book, struct instants *list, int64_t at)
{
    if (list->count == JOBS_MOST) {
        book->full = true;
        return;
    }
    if (list->count == list->room) {
        uint32_t room = list->room == 0 ? 64 : 2 * list->room;

        list->at = arena_grow(book->arena, list->at, list->count, room,
                              sizeof *list->at);
        if (list == &book->submit)
            book->jct_s = arena_grow(book->arena, book->jct_s, list->count, room,
                                     sizeof *book->jct_s);
        list->room = room;
    }
    list->at[list->count++] = at;
}

void steady_book_submit(struct steady_book *book, int64_t now_ns)
{
    add(book, &book->come, now_ns);
}

/* Times of jobs are kept only where the run has a horizon: for a run that
 * drains, no time is published from which on it is steady. */
void steady_book_end(struct steady_book *book, int64_t submit_ns, int64_t now_ns,
                     bool done)
{
    add(book, &book->gone, now_ns);
    if (!done || submit_ns < book->warmup_ns || book->until_ns == CLOCK_NEVER_NS ||
        book->full)
        return;
    add(book, &book->submit, submit_ns);
    if (!book->full)
        book->jct_s[book->submit.count - 1] = clock_s_from_ns(now_ns - submit_ns);
}

/* Returns, summed over all instants before `to`, the seconds from each of them,
 * or from `from` if that is later, to `to`.  For arrivals less that for
 * departures, this is the jobs in the system times seconds. */
static double after_s(const struct instants *list, int64_t from, int64_t to)
{
    double sum = 0;

    for (uint32_t i = 0; i < list->count && list->at[i] < to; i++)
        sum += clock_s_from_ns(to - (list->at[i] > from ? list->at[i] : from));
    return sum;
}

/* Stores the mean number of jobs in the system in each quarter of the time in
 * which jobs came.  False: they are few, or came at once. */
static bool quarters_of(const struct steady_book *book, double quarter[4])
{
    const struct instants *come = &book->come;
    uint32_t first = 0;

    while (first < come->count && come->at[first] < book->warmup_ns)
        first++;
    if (come->count - first < JOBS_LEAST)
        return false;
    int64_t from = come->at[first], step = (come->at[come->count - 1] - from) / 4;

    for (int q = 0; q < 4 && step > 0; q++) {
        int64_t begin = from + q * step, end = begin + step;

        quarter[q] = (after_s(come, begin, end) -
                      after_s(&book->gone, begin, end)) / clock_s_from_ns(step);
    }
    return step > 0;
}

/* Returns the time from which on the system is steady, in seconds; NAN: no such time is
 * found. */
static double after_of(const struct steady_book *book)
{
    size_t skip = steady_after(book->jct_s, book->submit.count);

    return skip == STEADY_NONE ? NAN : clock_s_from_ns(
        skip == 0 ? book->warmup_ns : book->submit.at[skip]);
}

/* Nothing is published of a book that is full: it knows only the first jobs. */
void steady_book_result(const struct steady_book *book, double *value)
{
    double quarter[4];

    value[METRIC_QUEUE_GROWTH] = value[METRIC_QUEUE_FILLING] = NAN;
    value[METRIC_STEADY_AFTER] = NAN;
    if (book->full || !quarters_of(book, quarter))
        return;
    value[METRIC_QUEUE_GROWTH] = steady_growth(quarter);
    if (book->until_ns == CLOCK_NEVER_NS)
        return;
    value[METRIC_QUEUE_FILLING] = steady_filling(quarter);
    value[METRIC_STEADY_AFTER] = after_of(book);
}
