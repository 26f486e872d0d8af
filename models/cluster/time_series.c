/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_series.c - a value over time: from YAML, at a time, and its area.
 *
 * The area is summed up once per point, so that what a lease costs is a
 * difference of two look-ups, however many prices it saw.
 */
#include "models/cluster/time_series.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

/* The keys of a series as they are written. */
struct time_series_keys {
    const char *file, *name, *unit;
    const struct conf_node *points; /* pairs of time and value; NULL: in `file` */
    int origin, after;
    int64_t from_ns, repeat_ns;
};

enum { ORIGIN_FIRST, ORIGIN_FILE };
enum { AFTER_ERROR, AFTER_HOLD };
static const char *const origin_choices[] = { "first", "file", NULL };
static const char *const after_choices[] = { "error", "hold", NULL };

static const struct conf_field time_series_fields[] = {
    CONF_KEY("file", CONF_TEXT, time_series_keys, file, CONF_ABSENT,
             "CSV of series, time_s, value, plain, gzip or zstd, as `clustersim "
             "import` writes it"),
    CONF_KEY("name", CONF_TEXT, time_series_keys, name, CONF_ABSENT,
             "which series of the file; needed where it has several"),
    CONF_KEY("points", CONF_NODE, time_series_keys, points, CONF_ABSENT,
             "instead of a file: a list of [time, value]"),
    CONF_KEY("unit", CONF_TEXT, time_series_keys, unit, CONF_REQUIRED,
             "of a value: USD/h, nodes, gCO2/kWh or, of arrivals, /s"),
    CONF_KEY("origin", CONF_CHOICE, time_series_keys, origin, "first",
             "time 0: the first point of all series, or the file's own zero",
             .choices = origin_choices),
    CONF_KEY("from", CONF_TIME, time_series_keys, from_ns, "0s",
             "time of the series at which the run begins, counted from time 0", .max = 1e10),
    CONF_KEY("repeat", CONF_TIME, time_series_keys, repeat_ns, CONF_ABSENT,
             "period after which it begins anew, as 24h", .min = 1, .max = 1e10),
    CONF_KEY("after", CONF_CHOICE, time_series_keys, after, "error",
             "behind the last point: a run fails (arrivals end), or the last value is held "
             "(counted in series_held_s)", .choices = after_choices),
};
const struct conf_schema time_series_schema =
    CONF_SCHEMA("time_series",
                "a price, nodes to be had or carbon, over time",
                time_series_fields);

/* Points while they are read; time_ns rises. */
struct time_series_points {
    struct arena *arena;        /* of the experiment */
    int64_t *time_ns;
    double *value;
    uint32_t count, room;
};

/* Both arrays have one room, so they are reached in turn. */
static void add_point(struct time_series_points *to, int64_t time_ns,
                      double value)
{
    uint32_t room = to->room;

    assert(to->count <= to->room);
    /* `room` is a copy, so that the second call sees the room before and grows as far. */
    ARENA_REACH(to->arena, to->time_ns, room, to->count);
    ARENA_REACH(to->arena, to->value, to->room, to->count);
    if (to->count > 0 && to->time_ns[to->count - 1] == time_ns)
        to->count--;            /* of equal times the last one holds */
    to->time_ns[to->count] = time_ns;
    to->value[to->count++] = value;
}

/* Points in the file itself, which must rise in time. */
static bool read_points(struct time_series_points *to,
                        const struct conf_node *list, struct err *err)
{
    assert(list != NULL && err != NULL);
    static const struct conf_field time = {
        .key = "time", .type = CONF_TIME, .max = 1e10, .help = "of a point",
    };
    static const struct conf_field value = {
        .key = "value", .type = CONF_REAL, .max = 1e12,
        .help = "from then on",
    };

    if (conf_kind(list) != CONF_LIST || conf_count(list) == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "points must be a list of [time, value], as "
                       "[[0h, 2], [8h, 3.5]]");
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *pair = conf_item(list, i);
        int64_t at_ns;
        double v;
        if (conf_kind(pair) != CONF_LIST || conf_count(pair) != 2)
            return err_set(err, ERR_SCHEMA, conf_pos(pair),
                           "a point must be [time, value], as [8h, 3.5]");
        if (!conf_read(conf_item(pair, 0), &time, &at_ns, err) ||
            !conf_read(conf_item(pair, 1), &value, &v, err))
            return false;
        if (to->count > 0 && at_ns <= to->time_ns[to->count - 1])
            return err_set(err, ERR_RANGE, conf_pos(pair),
                           "points must be in order of time, each later than "
                           "the one before");
        add_point(to, at_ns, v);
    }
    return true;
}

/* A row of the common form, cut in place: false if it is none. */
static bool cut_row(char *line, const char **name, int64_t *time_ns,
                    double *value)
{
    assert(line != NULL);
    char *time = strchr(line, ','), *number;

    if (time == NULL)
        return false;
    *time++ = '\0';
    number = strchr(time, ',');
    if (number == NULL)
        return false;
    *number++ = '\0';
    *name = line;
    return scan_time(time, strlen(time), time_ns) &&
           scan_f64(number, strlen(number), value) && *value >= 0;
}

/* The file that `at` names, for a reader of its rows. */
bool time_series_rows(struct arena *arena, const struct conf_node *at,
                      time_series_row_fn *row, void *self, struct err *err)
{
    assert(arena != NULL && at != NULL && row != NULL);
    const char *path = path_beside(arena, conf_pos(at).file, conf_text(at));
    struct scan *scan =
        path_check_named(path, "series", conf_pos(at), err) ? scan_open(path, err) : NULL;
    enum scan_step step;
    size_t bytes;
    char *line;

    if (scan == NULL)
        return false;
    /* The first row names the columns; their order is fixed, so it is not read. */
    step = scan_line(scan, &line, &bytes, err);         /* the names */
    while (step == SCAN_LINE &&
           (step = scan_line(scan, &line, &bytes, err)) == SCAN_LINE) {
        struct err_pos pos = scan_pos(scan, 1);
        const char *name;
        int64_t time_ns;
        double value;

        /* The scan's own name of the file ends with the scan; errors outlive it. */
        pos.file = path;
        if (bytes == 0)
            continue;
        if (!cut_row(line, &name, &time_ns, &value)) {
            err_set(err, ERR_SYNTAX, pos, "a row must be series,time_s,value, "
                    "with a value of 0 or more");
            step = SCAN_ERROR;
        } else if (!row(self, name, time_ns, value, pos, err)) {
            step = SCAN_ERROR;
        }
    }
    scan_close(scan);
    return step == SCAN_END;
}

struct chosen {
    struct time_series_points *to;  /* where its points go */
    const char *name;           /* of the series; NULL: the only one */
    bool only;                  /* the file must have no other */
    int64_t first_ns;           /* of all series */
};

/* Keeps a row of the wanted series.  Time 0 may be the first point of any
 * series, so that several series of one file keep their distance. */
static bool read_row(void *self, const char *name, int64_t time_ns,
                     double value, struct err_pos pos, struct err *err)
{
    assert(self != NULL && name != NULL);
    struct chosen *c = self;
    struct time_series_points *to = c->to;

    /* Of all rows of the file, also those of other series. */
    c->first_ns = time_ns < c->first_ns ? time_ns : c->first_ns;
    /* No name was asked for: it is the series of the first row. */
    if (c->name == NULL)
        c->name = arena_text(to->arena, name);
    if (strcmp(name, c->name) != 0 && c->only) {
        err_set(err, ERR_REFERENCE, pos, "there is another series, '%.60s', beside "
                "'%.60s'", name, c->name);
        return err_hint(err, "Say which one is meant: name: NAME.");
    }
    if (strcmp(name, c->name) != 0)
        return true;
    if (to->count > 0 && time_ns < to->time_ns[to->count - 1])
        return err_set(err, ERR_RANGE, pos,
                       "a point is earlier than the one before");
    add_point(to, time_ns, value);
    return true;
}

/* Reads the series from its file. */
static bool read_file(struct time_series_points *to, const struct conf_node *conf,
                      const struct time_series_keys *keys, struct err *err)
{
    assert(conf != NULL && keys != NULL);
    const struct conf_node *at = conf_get(conf, "file");
    struct chosen chosen = { to, keys->name, keys->name == NULL, INT64_MAX };

    if (!time_series_rows(to->arena, at, read_row, &chosen, err))
        return false;
    if (to->count == 0 && keys->name == NULL)
        return err_set(err, ERR_REFERENCE, conf_pos(at), "the file has no point");
    if (to->count == 0)
        return err_set(err, ERR_REFERENCE, conf_pos(conf_get(conf, "name")),
                       "the file has no point of series '%s'", keys->name);
    for (uint32_t i = 0; keys->origin == ORIGIN_FIRST && i < to->count; i++)
        to->time_ns[i] -= chosen.first_ns;
    return true;
}

/* Sums up, with the beginning of the run as time 0. */
static void finish_series(struct time_series_points *points, struct time_series *time_series,
                          int64_t from_ns)
{
    double *area = arena_alloc(points->arena, points->count, sizeof *area);

    assert(points->count > 0);
    for (uint32_t i = 0; i < points->count; i++) {
        /* A point before the beginning of the run has a time below 0; its value may hold then. */
        points->time_ns[i] -= from_ns;
        area[i] = i == 0 ? 0 : area[i - 1] + points->value[i - 1] *
                  clock_s_from_ns(points->time_ns[i] -
                                  points->time_ns[i - 1]);
    }
    time_series->count = points->count;
    time_series->time_ns = points->time_ns;
    time_series->value = points->value;
    time_series->area = area;
}

const struct time_series *time_series_read(struct arena *arena,
                                           const struct conf_node *conf,
                                           const char *unit, struct err *err)
{
    struct time_series_points points = { .arena = arena };
    struct time_series *time_series = arena_alloc(arena, 1, sizeof *time_series);
    struct time_series_keys keys = { 0 };

    assert(conf != NULL && unit != NULL);
    if (!conf_fill(conf, &time_series_schema, &keys, err))
        return NULL;
    /* Exactly one of both says where the points are. */
    if ((keys.file == NULL) == (keys.points == NULL)) {
        err_set(err, ERR_SCHEMA, conf_pos(conf),
                "give either file or points, found %s",
                keys.file ? "both" : "neither");
        return NULL;
    }
    if (!conf_acts(conf, "name", keys.file == NULL, "needs `file`", err) ||
        !conf_acts(conf, "origin", keys.file == NULL, "needs `file`", err) ||
        !conf_acts(conf, "after", keys.repeat_ns > 0,
                   "has no end to stand behind beside `repeat`", err))
        return NULL;
    if (strcmp(keys.unit, unit) != 0) {
        err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "unit")),
                "unit must be %s here, found '%s'", unit, keys.unit);
        return NULL;
    }
    if (!(keys.points ? read_points(&points, keys.points, err)
                      : read_file(&points, conf, &keys, err)))
        return NULL;
    /* For the error of a run that outlasts the series. */
    time_series->pos = conf_pos(conf);
    time_series->repeat_ns = keys.repeat_ns;
    time_series->hold = keys.after == AFTER_HOLD;
    if (keys.repeat_ns > 0 &&
        points.time_ns[points.count - 1] >= keys.repeat_ns) {
        err_set(err, ERR_RANGE, conf_pos(conf_get(conf, "repeat")),
                "repeat must be longer than the series, whose last point is "
                "at %.17g h",
                clock_s_from_ns(points.time_ns[points.count - 1]) / 3600);
        return NULL;
    }
    if (keys.repeat_ns > 0 && keys.from_ns > 0) {
        err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "from")),
                "from and repeat cannot stand together");
        return NULL;
    }
    finish_series(&points, time_series, keys.from_ns);
    return time_series;
}

/* The last point that is not later; the first if there is none. */
static uint32_t point_at(const struct time_series *time_series, int64_t time_ns)
{
    assert(time_series->count > 0);
    uint32_t low = 0, high = time_series->count;

    /* Invariant: the point at `low` is no later, or the first; the one at `high` is later. */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (time_series->time_ns[middle] <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double time_series_least(const struct time_series *time_series)
{
    assert(time_series->count > 0);
    double least = time_series->value[0];

    for (uint32_t i = 1; i < time_series->count; i++)
        least = time_series->value[i] < least ? time_series->value[i] : least;
    return least;
}

double time_series_at(const struct time_series *time_series, int64_t time_ns)
{
    assert(time_series->count > 0 && time_ns >= 0);
    /* Rounds begin at time 0, so that the rest is the time within the round. */
    if (time_series->repeat_ns > 0)
        time_ns %= time_series->repeat_ns;
    return time_series->value[point_at(time_series, time_ns)];
}

/* From the first point to a time; negative before it. */
static double area_to(const struct time_series *time_series, int64_t time_ns)
{
    uint32_t i = point_at(time_series, time_ns);

    return time_series->area[i] + time_series->value[i] *
           clock_s_from_ns(time_ns - time_series->time_ns[i]);
}

/* As area_to(), also of a series that repeats: each whole period adds the area of one
 * period. */
static double area_since_start(const struct time_series *time_series, int64_t time_ns)
{
    int64_t round = time_series->repeat_ns;

    if (round == 0)
        return area_to(time_series, time_ns);
    return (double)(time_ns / round) *
               (area_to(time_series, round) - area_to(time_series, 0)) +
           area_to(time_series, time_ns % round);
}

double time_series_area(const struct time_series *time_series, int64_t from_ns,
                        int64_t to_ns)
{
    assert(from_ns >= 0 && to_ns >= from_ns);
    return area_since_start(time_series, to_ns) - area_since_start(time_series, from_ns);
}

/* When the value changes next; a series that repeats changes at the begin of
 * each round too. */
int64_t time_series_next_ns(const struct time_series *time_series, int64_t now_ns)
{
    int64_t round = time_series->repeat_ns, base = 0;
    uint32_t i;

    assert(now_ns >= 0);
    if (round > 0)
        base = now_ns - now_ns % round;
    /* The first point may lie ahead although it holds already. */
    for (i = point_at(time_series, now_ns - base); i < time_series->count; i++)
        if (clock_after(base, time_series->time_ns[i]) > now_ns)
            return clock_after(base, time_series->time_ns[i]);
    return round > 0 ? clock_after(base, round) : CLOCK_NEVER_NS;
}

int64_t time_series_over_ns(const struct time_series *time_series, int64_t time_ns)
{
    assert(time_series->count > 0);
    int64_t end = time_series->time_ns[time_series->count - 1];

    /* A single point is a constant: it has no end. */
    if (time_series->repeat_ns > 0 || time_series->count == 1 || time_ns <= end)
        return 0;
    return time_ns - end;
}
