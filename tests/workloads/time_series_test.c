/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_series_test.c - values over time, drawn by a seed, against a table of one value a second;
 * and what is refused, by its place and words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/cluster/time_series.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "tests/aid/scratch.h"

#define S CLOCK_NS_PER_S
#define SPAN 400                /* seconds of the table */
#define POINTS 9

/* What a series says, second by second. */
struct table {
    int count, at[POINTS], repeat, from;
    double of[POINTS], value[SPAN];
};

/* Points at whole seconds, the first not always at 0. */
static struct table draw_table(struct rng *rng)
{
    struct table t = { .count = 1 + (int)rng_below(rng, POINTS) };
    int at = (int)rng_below(rng, 3) * 5;

    for (int i = 0; i < t.count; i++) {
        t.at[i] = at;
        t.of[i] = (double)rng_below(rng, 40) / 4;
        at += 1 + (int)rng_below(rng, 30);
    }
    if (rng_below(rng, 2))
        t.repeat = t.at[t.count - 1] + 1 + (int)rng_below(rng, 20);
    else if (rng_below(rng, 2))
        t.from = (int)rng_below(rng, (uint64_t)at + 10);
    for (int s = 0; s < SPAN; s++) {
        int when = (t.repeat > 0 ? s % t.repeat : s) + t.from;
        t.value[s] = t.of[0];
        for (int i = 0; i < t.count; i++)
            t.value[s] = t.at[i] <= when ? t.of[i] : t.value[s];
    }
    return t;
}

static const struct time_series *read_text(struct arena *arena, const char *text, struct err *err)
{
    const struct conf_node *conf = conf_parse(arena, "s.yaml", text, strlen(text), err);

    if (conf == NULL)
        fail_msg("%s: %s", text, err->text);
    return time_series_read(arena, conf, "USD/h", err);
}

static const struct time_series *read_good(struct arena *arena, const char *text)
{
    struct err err = { 0 };
    const struct time_series *series = read_text(arena, text, &err);

    if (series == NULL)
        fail_msg("%s: %s (%s)", text, err.text, err.hint);
    return series;
}

static const struct time_series *read_table(struct arena *arena, const struct table *t)
{
    char text[1000] = "{unit: USD/h, points: [";

    for (int i = 0; i < t->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%ds, %g]", i ? ", " : "",
                 t->at[i], t->of[i]);
    snprintf(text + strlen(text), sizeof text - strlen(text), "]");
    if (t->repeat > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", repeat: %ds", t->repeat);
    if (t->from > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", from: %ds", t->from);
    strcat(text, "}");
    return read_good(arena, text);
}

/* Seconds at which a series changes, or could: at its points, and where it begins again. */
static bool is_change(const struct table *t, int s)
{
    int when = (t->repeat > 0 ? s % t->repeat : s) + t->from;

    if (t->repeat > 0 && when == 0)
        return true;
    for (int i = 0; i < t->count; i++)
        if (t->at[i] == when)
            return true;
    return false;
}

static void check_series(const struct table *t, const struct time_series *series)
{
    double sum[SPAN + 1] = { 0 }, least = t->of[0];
    int end = t->at[t->count - 1] - t->from;

    for (int i = 0; i < t->count; i++)
        least = t->of[i] < least ? t->of[i] : least;
    assert_true(time_series_least(series) == least);
    for (int s = 0; s < SPAN; s++) {
        sum[s + 1] = sum[s] + t->value[s];
        assert_true(time_series_at(series, s * S) == t->value[s]);
        assert_true(time_series_at(series, s * S + S - 1) == t->value[s]);
        int next = s + 1, over = t->repeat == 0 && t->count > 1 && s > end ? s - end : 0;
        while (next < SPAN && !is_change(t, next))
            next++;
        if (next < SPAN)
            assert_int_equal(time_series_next_ns(series, s * S), next * S);
        else if (t->repeat == 0)
            assert_int_equal(time_series_next_ns(series, s * S), CLOCK_NEVER_NS);
        assert_int_equal(time_series_next_ns(series, s * S + 1) > s * S + 1, 1);
        assert_int_equal(time_series_over_ns(series, s * S), over * S);
    }
    for (int from = 0; from < SPAN; from += 7)
        for (int to = from; to <= SPAN; to += 11) {
            double area = time_series_area(series, from * S, to * S);
            if (!(area - (sum[to] - sum[from]) < 1e-8 && area - (sum[to] - sum[from]) > -1e-8))
                fail_msg("from %d to %d: %g, expected %g", from, to, area, sum[to] - sum[from]);
        }
    double half = time_series_area(series, 10 * S + S / 2, 11 * S);
    assert_true(half - t->value[10] / 2 < 1e-9 && t->value[10] / 2 - half < 1e-9);
}

static void values_are_those_of_a_table(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "series", 0);
    for (int k = 0; k < 60; k++) {
        struct arena *arena = arena_new(0);
        struct table t = draw_table(&rng);
        check_series(&t, read_table(arena, &t));
        arena_free(arena);
    }
}

/* The first row is names, blank rows are none, and of equal times the last one holds.  Time 0 is
 * the first point of any series, or the file's own. */
static void series_of_a_file_keep_their_distance(void **state)
{
    struct scratch *scratch = *state;
    char text[400];

    scratch_write(scratch, "s.csv", "series,time_s,value\nb,100,5\na,110,1\n\na,120,2\na,120,3\n"
                  "b,125,6\na,130.5,0\n");
    const char *path = scratch_path(scratch, "s.csv");
    snprintf(text, sizeof text, "{unit: USD/h, file: %s, name: a}", path);
    const struct time_series *a = read_good(scratch->arena, text);
    assert_int_equal(a->count, 3);
    assert_int_equal(a->time_ns[0], 10 * S);
    assert_int_equal(a->time_ns[1], 20 * S);
    assert_int_equal(a->time_ns[2], 30 * S + S / 2);
    assert_true(a->value[0] == 1 && a->value[1] == 3 && a->value[2] == 0);
    assert_true(a->area[0] == 0 && a->area[1] == 10 && a->area[2] == 10 + 3 * 10.5);
    assert_false(a->hold);
    snprintf(text, sizeof text, "{unit: USD/h, file: %s, name: b, origin: file, after: hold}",
             path);
    const struct time_series *b = read_good(scratch->arena, text);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->time_ns[0], 100 * S);
    assert_int_equal(b->time_ns[1], 125 * S);
    assert_true(b->hold);
    snprintf(text, sizeof text, "{unit: USD/h, file: %s, name: b, from: 20s}", path);
    b = read_good(scratch->arena, text);
    assert_int_equal(b->time_ns[0], -20 * S);
    assert_int_equal(b->time_ns[1], 5 * S);
}

/* One row more than any room at first: each is there, in order. */
static void long_series_are_read_whole(void **state)
{
    struct arena *arena = arena_new(0);
    static char text[20000] = "{unit: USD/h, points: [[0s, 0]";

    (void)state;
    for (int i = 1; i < 1000; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", [%ds, %d]", 2 * i, i % 7);
    strcat(text, "]}");
    const struct time_series *series = read_good(arena, text);
    assert_int_equal(series->count, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(series->time_ns[i], 2 * i * S);
        assert_true(series->value[i] == i % 7);
    }
    arena_free(arena);
}

static void check_refused(const char *text, uint32_t column, const char *said)
{
    struct arena *arena = arena_new(0);
    struct err err = { 0 };

    if (read_text(arena, text, &err) != NULL)
        fail_msg("taken: %s", text);
    if (strstr(err.text, said) == NULL || err.pos.line != 1 || err.pos.col != column)
        fail_msg("%s: 1:%u: %s", text, err.pos.col, err.text);
    arena_free(arena);
}

static void what_is_no_series_is_refused_at_its_place(void **state)
{
    (void)state;
    check_refused("{unit: USD/h}", 1, "found neither");
    check_refused("{unit: USD/h, points: [[0s, 1]], file: x.csv}", 1, "found both");
    check_refused("{unit: nodes, points: [[0s, 1]]}", 8, "unit must be USD/h here, found 'nodes'");
    check_refused("{unit: USD/h, points: []}", 23, "points must be a list");
    check_refused("{unit: USD/h, points: 3}", 23, "points must be a list");
    check_refused("{unit: USD/h, points: [3]}", 24, "a point must be [time, value]");
    check_refused("{unit: USD/h, points: [[0s, 1], [1s, 2, 3]]}", 33, "a point must be");
    check_refused("{unit: USD/h, points: [[0s, 1], [1s]]}", 33, "a point must be");
    check_refused("{unit: USD/h, points: [[x, 1]]}", 25, "time");
    check_refused("{unit: USD/h, points: [[0s, 1], [2s, x]]}", 38, "value");
    check_refused("{unit: USD/h, points: [[0s, 1], [2s, -1]]}", 38, "value");
    check_refused("{unit: USD/h, points: [[0s, 1], [0s, 2]]}", 33, "in order of time");
    check_refused("{unit: USD/h, points: [[4s, 1], [3s, 2]]}", 33, "in order of time");
    check_refused("{unit: USD/h, points: [[0s, 1], [9s, 2]], repeat: 9s}", 51,
                  "longer than the series, whose last point is at 0.0025");
    check_refused("{unit: USD/h, points: [[0s, 1]], from: 1s, repeat: 9s}", 40,
                  "cannot stand together");
    check_refused("{unit: USD/h, points: [[0s, 1]], name: a}", 34, "`file`");
    check_refused("{unit: USD/h, points: [[0s, 1]], origin: file}", 34, "`file`");
    check_refused("{unit: USD/h, points: [[0s, 1]], repeat: 9s, after: hold}", 46,
                  "beside `repeat`");
}

/* Faults of a file stand at its row. */
static void rows_that_are_none_are_refused(void **state)
{
    static const struct { const char *rows, *name, *said; uint32_t line; } row[] = {
        { "a,1,2\na;2;3\n", "", "a row must be series,time_s,value", 3 },
        { "a,1,2\na,2\n", "", "a row must be series,time_s,value", 3 },
        { "a,x,2\n", "", "a row must be series,time_s,value", 2 },
        { "a,1,x\n", "", "a row must be series,time_s,value", 2 },
        { "a,1,-1\n", "", "with a value of 0 or more", 2 },
        { "a,1,2\nb,1,2\n", "", "there is another series, 'b', beside 'a'", 3 },
        { "a,2,2\n\na,1,2\n", "", "a point is earlier than the one before", 4 },
        { "a,2,2\n", ", name: c", "no point of series 'c'", 1 },
        { "", "", "the file has no point", 1 },
    };
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[400];
        struct err err = { 0 };
        snprintf(text, sizeof text, "series,time_s,value\n%s", row[i].rows);
        scratch_write(scratch, "bad.csv", text);
        snprintf(text, sizeof text, "{unit: USD/h, file: %s%s}", scratch_path(scratch, "bad.csv"),
                 row[i].name);
        assert_null(read_text(scratch->arena, text, &err));
        if (strstr(err.text, row[i].said) == NULL || err.pos.line != row[i].line)
            fail_msg("row %zu: line %u: %s", i, err.pos.line, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_a_table),
        cmocka_unit_test_setup_teardown(series_of_a_file_keep_their_distance, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(long_series_are_read_whole),
        cmocka_unit_test(what_is_no_series_is_refused_at_its_place),
        cmocka_unit_test_setup_teardown(rows_that_are_none_are_refused, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
