/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary_write.c - summary.csv: threads make blocks of rows, one writes them in order.
 */
#include "experiments/results/summary_write.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/grid.h"
#include "experiments/results/without.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/out.h"
#include "sim/text/scan.h"
#include "sim/text/table.h"

#define BLOCK_TRIALS 1024u              /* half a MB of rows */
#define BLOCKS_MOST 16u                 /* at once, so at most this number of threads */
#define NAMES 3u                        /* columns before those of metrics */
#define EXACT_NS (INT64_C(1) << 53)     /* below it each whole number is a double */

/* What all threads share: the values, and the columns of the table. */
struct writing {
    const struct experiment *experiment;
    struct grid *grid;
    struct csv_kind kind;
    /* By column; METRIC_ROOM: `deterministic` or `without`, wherever they stand. */
    enum metric metric[NAMES + METRIC_ROOM + 2];
};

/* Rows of trials from..to - 1, which one thread makes. */
struct block {
    const struct writing *writing;
    struct table *table;
    uint32_t from, to;
};

/* Puts a time, and returns what a reader of the table takes it for.  Below 2^53
 * ns the nanoseconds are exact in a double, so one division rounds as a reader
 * does; a longer time is read back from its text. */
static double put_time(struct table *table, double value)
{
    const char *row;
    size_t before = table_begun(table, &row), after;
    double read = NAN;
    int64_t ns;

    if (!clock_ns_from_s(value, &ns)) {
        table_empty(table);
        return NAN;
    }
    table_time(table, ns);
    if (ns > -EXACT_NS && ns < EXACT_NS)
        return (double)ns / (double)CLOCK_NS_PER_S;     /* one rounding, as of a reader */
    after = table_begun(table, &row);
    assert(after > before);             /* a comma at least */
    (void)scan_f64(row + before, after - before - 1, &read);
    return read;
}

/* Puts a value, and returns what a reader of the table takes it for.  So all
 * that is made of the values is the same now and when the folder is read again. */
static double put_metric(struct table *table, enum table_type type, double value)
{
    uint64_t count;

    if (!isfinite(value)) {
        table_empty(table);
        return NAN;
    }
    if (type == TABLE_TIME)
        return put_time(table, value);
    if (type != TABLE_COUNT)
        return table_real_read(table, value);
    count = (uint64_t)(value + 0.5);
    table_count(table, count);
    return (double)count;
}

/* Puts the value of a trial and stores what a reader takes it for.  Threads
 * change values of their own trials only; a value that all trials share is left
 * to end_grid(). */
static void put_value(const struct writing *w, size_t column, uint32_t trial,
                      struct table *table)
{
    const struct grid_column *values = &w->grid->column[w->metric[column]];
    enum table_type type = w->kind.columns[column].type;

    if (values->value == NULL)
        (void)put_metric(table, type, values->same);
    else
        values->value[trial] = put_metric(table, type, values->value[trial]);
}

/* Puts a column that is no metric: `deterministic`, or `without`. */
static void put_other(const struct writing *w, size_t column, struct experiment_trial t,
                      struct table *table)
{
    char text[WITHOUT_BYTES];

    if (w->kind.columns[column].type == TABLE_COUNT) {
        table_count(table, !experiment_draws(w->experiment, t.point, t.policy));
        return;
    }
    without_text(w->grid->without[grid_pair(w->grid, t.point, t.policy)], text);
    table_text(table, text);
}

/* Writes the row of a trial: its keys, its metrics, and what is known of it. */
static void put_row(const struct writing *w, uint32_t trial, struct experiment_trial t,
                    struct table *table)
{
    const struct grid *grid = w->grid;

    table_text(table, grid->point[t.point]);
    table_text(table, grid->policy[t.policy]);
    table_count(table, grid->seed[t.seed]);
    for (size_t c = NAMES; c < w->kind.count; c++)
        if (w->metric[c] == METRIC_ROOM)
            put_other(w, c, t, table);
        else
            put_value(w, c, trial, table);
    table_end_row(table);
}

/* The body of a thread: makes the rows of its block.  A trial that failed has
 * no row, nor has a copy of another trial. */
static void *make_block(void *self)
{
    const struct block *block = self;
    const struct writing *w = block->writing;

    for (uint32_t i = block->from; i < block->to; i++) {
        struct experiment_trial t = experiment_trial(w->experiment, i);

        if (grid_present(w->grid, t.point, t.policy, t.seed) &&
            !experiment_is_copy(w->experiment, i))
            put_row(w, i, t, block->table);
    }
    return NULL;
}

/* Makes the rows of all blocks, each on a thread of its own but the first,
 * which is made here.  A block whose thread could not be started is made here,
 * too.  The threads take no signals: those are for the main thread. */
static void make_blocks(struct block *block, uint32_t count)
{
    pthread_t thread[BLOCKS_MOST];
    bool begun[BLOCKS_MOST];
    sigset_t all, before;

    assert(count > 0 && count <= BLOCKS_MOST);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 1; i < count; i++)
        begun[i] = pthread_create(&thread[i], NULL, make_block, &block[i]) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    make_block(&block[0]);
    for (uint32_t i = 1; i < count; i++)
        if (begun[i])
            pthread_join(thread[i], NULL);
        else
            make_block(&block[i]);
}

/* Writes the rows of blocks in their order, and empties them for the next trials. */
static void write_blocks(struct block *block, uint32_t count, struct out *out)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes;
        const char *rows = table_bytes(block[i].table, &bytes);

        out_bytes(out, rows, bytes);
        table_clear(block[i].table);
    }
}

/* Makes and writes rows, BLOCKS_MOST blocks at a time; so memory does not grow with the
 * trials, and the bytes do not depend on the number of threads. */
static void write_rows(const struct writing *w, uint32_t threads, struct out *out)
{
    uint32_t trials = experiment_trial_count(w->experiment), next = 0, count;
    struct block block[BLOCKS_MOST];

    assert(threads > 0);
    threads = threads < BLOCKS_MOST ? threads : BLOCKS_MOST;
    for (uint32_t i = 0; i < threads; i++)
        block[i] = (struct block){ w, table_new(w->kind.columns, w->kind.count), 0, 0 };
    while (next < trials) {
        for (count = 0; count < threads && next < trials; count++) {
            block[count].from = next;
            next += trials - next < BLOCK_TRIALS ? trials - next : BLOCK_TRIALS;
            block[count].to = next;
        }
        make_blocks(block, count);
        write_blocks(block, count, out);
    }
    for (uint32_t i = 0; i < threads; i++)
        table_free(block[i].table);
}

/* Rounds the value that all trials of a column share, as its column would print
 * it. */
static void end_column(struct grid_column *values, const struct table_column *column)
{
    const struct table_column cells[] = { *column, *column, *column };
    struct table *row;

    if (values->value != NULL || !values->begun)
        return;
    row = table_new(cells, 3);
    table_empty(row);                   /* the cell stands within a row */
    values->same = put_metric(row, column->type, values->same);
    table_free(row);
}

/* Makes all other values what a reader has: those that trials share, and the
 * copies of trials. */
static void end_grid(const struct writing *w)
{
    struct grid *grid = w->grid;

    for (size_t c = NAMES; c < w->kind.count; c++)
        if (w->metric[c] != METRIC_ROOM)
            end_column(&grid->column[w->metric[c]], &w->kind.columns[c]);
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            grid_end(grid, t, p, grid_fixed(grid, t, p));
}

/* Returns the columns of this summary.csv: those that each has, and behind them
 * the experiment's own. */
static struct csv_kind summary_kind(struct arena *arena, const struct metric_set *set)
{
    struct csv_kind kind = csv_summary;
    struct table_column *column = arena_alloc(arena, kind.count + set->own_count,
                                              sizeof *column);

    memcpy(column, csv_summary.columns, csv_summary.count * sizeof *column);
    for (uint32_t m = 0; m < set->own_count; m++)
        column[kind.count++] = (struct table_column){
            set->own[m].name, TABLE_REAL, set->own[m].help };
    kind.columns = column;
    return kind;
}

bool summary_write(struct arena *arena, const struct folder *dir,
                   const struct experiment *experiment, struct grid *grid,
                   uint32_t threads, struct err *err)
{
    struct writing w = { experiment, grid, summary_kind(arena, grid->metrics), { 0 } };
    struct out *out = csv_out_open(arena, dir, &w.kind, err);

    if (out == NULL)
        return false;
    assert(csv_summary.count == NAMES + METRIC_COUNT + 2);
    for (size_t c = NAMES; c < w.kind.count; c++) {
        w.metric[c] = metric_find(grid->metrics, w.kind.columns[c].name);
        if (w.metric[c] == metric_count(grid->metrics))
            w.metric[c] = (enum metric)METRIC_ROOM;
    }
    write_rows(&w, threads, out);
    end_grid(&w);
    return out_close(out, err);
}
