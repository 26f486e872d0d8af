/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.c - points put into their series, in order or not.
 *
 * Series are few and are searched by name one by one.  What is odd but no error
 * (equal times, steps of other lengths) is counted, so that the import can tell.
 */
#include "workloads/series/reader.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"

/* Finds a series by its name, or adds it.  Linear: files have few series. */
size_t series_number(struct series_reader *reader, const char *name)
{
    struct series_set *set = reader->set;

    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->series[i].name, name) == 0)
            return i;
    ARENA_REACH(reader->arena, set->series, set->room, set->count);
    set->series[set->count] = (struct series){
        .name = arena_text(reader->arena, name)};
    return set->count++;
}

/* Compares a point with the last one of its series, which must exist.  Equal
 * times are counted.  An earlier time is counted and sorted later if the
 * request sorts; else it is an error, and the hint names --sort. */
static bool check_order(struct series_reader *reader, const struct series *series,
                        int64_t time_ns, struct err_pos pos, struct err *err)
{
    const struct series_point *last = &series->point[series->count - 1];
    char now[32], before[32];

    reader->counts->repeated += time_ns == last->time_ns;
    if (time_ns >= last->time_ns)
        return true;
    reader->counts->unsorted++;
    if (reader->request->sort)
        return true;
    clock_format_s(time_ns, now, sizeof now);
    clock_format_s(last->time_ns, before, sizeof before);
    err_set(err, ERR_RANGE, pos, "time %s s of series %.40s is before that "
            "of its point above, %s s", now, series->name, before);
    return err_hint(err, "Points are sorted, and counted, with --sort.");
}

/* Adds a point at the end of its series.  In a regular format, a step of
 * another length than the first step is counted as uneven. */
bool series_add(struct series_reader *reader, size_t number, int64_t time_ns,
                double value, struct err_pos pos, struct err *err)
{
    struct series *series = &reader->set->series[number];

    assert(number < reader->set->count);
    if (value < 0.0 && reader->format->positive)
        return err_set(err, ERR_RANGE, pos, "a value of %.40s must not be "
                       "negative, and is %.10g", reader->format->kind, value);
    if (series->count > 0 && !check_order(reader, series, time_ns, pos, err))
        return false;
    if (reader->format->regular && series->count > 1)
        reader->counts->uneven +=
            time_ns - series->point[series->count - 1].time_ns !=
            series->point[1].time_ns - series->point[0].time_ns;
    ARENA_ADD(reader->arena, series->point, series->count, series->room,
              (struct series_point){time_ns, value});
    reader->counts->points++;
    return true;
}
