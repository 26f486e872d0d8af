/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * application.c - step times and noise of an application, as application.h says.
 *
 * Noise is a map whose first key is `until`, the ends of the spans; each other
 * key is a batch size, with a scale for each span.  Bounds (SECONDS_MAX and the
 * like) only keep arithmetic finite; no measured value is near them.
 */
#include "models/catalogue/application.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define SPEEDS_MAX 32u
#define SAMPLES_MAX 1e9
#define SECONDS_MAX 1e5
#define SCALE_MAX 1e15

/* One GPU type's step times as the key table fills them. */
struct speed_keys {
    struct goodput_speed speed;
    int64_t local_max;          /* becomes speed.local_max */
};

#define SECONDS(KEY, FIELD, MIN, FALLBACK, HELP) \
    CONF_KEY(KEY, CONF_REAL, speed_keys, speed.FIELD, FALLBACK, HELP, \
             .min = MIN, .max = SECONDS_MAX)
static const struct conf_field speed_fields[] = {
    SECONDS("alpha_c_s", alpha_c, 0, NULL, "of a gradient, whatever its batch"),
    SECONDS("beta_c_s", beta_c, 1e-12, NULL, "of a gradient, per sample"),
    SECONDS("alpha_r_s", alpha_r, 0, "0", "of synchronizing within a node"),
    SECONDS("beta_r_s", beta_r, 0, "0", "the same, per GPU beyond two"),
    SECONDS("alpha_n_s", alpha_n, 0, "0", "of synchronizing between nodes"),
    SECONDS("beta_n_s", beta_n, 0, "0", "the same, per GPU beyond two"),
    CONF_KEY("gamma", CONF_REAL, speed_keys, speed.gamma, "1",
             "overlap of both: 1 none, 10 all", .min = 1, .max = 10),
    CONF_KEY("local_max", CONF_INT, speed_keys, local_max, CONF_REQUIRED,
             "samples that fit into a GPU at once",
             .min = 1, .max = SAMPLES_MAX),
};
const struct conf_schema application_speed_schema =
    CONF_SCHEMA("catalogue.applications.speeds",
                "step times of an application on GPUs of a type (models/catalogue/goodput.h)",
                speed_fields);

bool application_read_speeds(struct arena *arena, const struct conf_node *map,
                             struct application *app, struct err *err)
{
    assert(map != NULL && app != NULL);
    assert(err != NULL);
    size_t count = conf_kind(map) == CONF_MAP ? conf_count(map) : 0;

    if (count == 0 || count > SPEEDS_MAX)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "speeds must be a map of 1 to %u GPU types", SPEEDS_MAX);
    app->speed = arena_alloc(arena, count, sizeof *app->speed);
    for (size_t i = 0; i < count; i++) {
        struct speed_keys keys = { { 0 }, 0 };

        if (!conf_fill(conf_value(map, i), &application_speed_schema, &keys,
                       err))
            return false;
        app->speed[i] = keys.speed;
        app->speed[i].gpu = conf_key(map, i);
        app->speed[i].local_max = (uint32_t)keys.local_max;
    }
    app->speed_count = (uint32_t)count;
    return true;
}

/* A list of numbers between two bounds, at most `room` of them. */
static bool read_list(const struct conf_node *list, const char *key, double min,
                      double max, uint32_t room, double *out, uint32_t *count,
                      struct err *err)
{
    assert(min <= max);
    assert(room > 0);
    assert(out != NULL && count != NULL);
    struct conf_field field = {
        .key = key, .type = CONF_REAL, .min = min, .max = max};
    size_t n = conf_kind(list) == CONF_LIST ? conf_count(list) : 0;

    if (n == 0 || n > room)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "%s must be a list of 1 to %u numbers", key, room);
    for (size_t i = 0; i < n; i++)
        if (!conf_read(conf_item(list, i), &field, &out[i], err))
            return false;
    *count = (uint32_t)n;
    return true;
}

/* The ends of the spans, ascending to 1: a job's whole progress is covered. */
static bool read_until(const struct conf_node *list, struct goodput_noise *noise,
                       struct err *err)
{
    assert(noise != NULL && err != NULL);
    if (!read_list(list, "until", 1e-6, 1, GOODPUT_SPANS_MAX, noise->until,
                   &noise->spans, err))
        return false;
    for (uint32_t s = 1; s < noise->spans; s++)
        if (!(noise->until[s] > noise->until[s - 1]))
            return err_set(err, ERR_RANGE, conf_pos(conf_item(list, s)),
                           "until must ascend, found %g after %g",
                           noise->until[s], noise->until[s - 1]);
    if (noise->until[noise->spans - 1] < 1)
        return err_set(err, ERR_RANGE, conf_pos(list),
                       "until must end at 1, found %g",
                       noise->until[noise->spans - 1]);
    return true;
}

/* "128": [...]: noise scales around batches of 128 samples. */
static bool read_batch(const struct conf_node *map, size_t i,
                       struct goodput_noise *noise, struct err *err)
{
    assert(i < conf_count(map));
    assert(noise->batches <= GOODPUT_BATCHES_MAX);
    const char *key = conf_key(map, i);
    uint32_t b = noise->batches, count;
    double scale[GOODPUT_SPANS_MAX];
    char *end;
    double batch = strtod(key, &end);

    if (b == GOODPUT_BATCHES_MAX || *end != '\0' || !(batch >= 1) ||
        !(batch <= SAMPLES_MAX) || (b > 0 && !(batch > noise->batch[b - 1])))
        return err_set(err, ERR_RANGE, conf_key_pos(map, i),
                       "noise must be until and up to %u batches in samples, "
                       "ascending, found %.40s", GOODPUT_BATCHES_MAX, key);
    if (!read_list(conf_value(map, i), key, 0, SCALE_MAX, GOODPUT_SPANS_MAX,
                   scale, &count, err))
        return false;
    if (count != noise->spans)
        return err_set(err, ERR_SCHEMA, conf_pos(conf_value(map, i)),
                       "noise %s must have as many numbers as until, %u, "
                       "found %u", key, noise->spans, count);
    for (uint32_t s = 0; s < count; s++)
        noise->scale[(size_t)s * GOODPUT_BATCHES_MAX + b] = fmax(scale[s], 1e-9);
    noise->batch[noise->batches++] = batch;
    return true;
}

bool application_read_noise(const struct conf_node *map,
                            struct application *app, struct err *err)
{
    assert(map != NULL && app != NULL);
    assert(err != NULL);
    struct goodput_noise *noise = &app->noise;

    memset(noise, 0, sizeof *noise);
    if (conf_kind(map) != CONF_MAP || conf_count(map) < 2 ||
        strcmp(conf_key(map, 0), "until") != 0)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "noise must be a map that begins with until, such as "
                       "{until: [0.5, 1], 128: [900, 4000]}");
    if (!read_until(conf_value(map, 0), noise, err))
        return false;
    for (size_t i = 1; i < conf_count(map); i++)
        if (!read_batch(map, i, noise, err))
            return false;
    /* Rows were read one beside the other: close the gaps. */
    for (uint32_t s = 0; s < noise->spans; s++)
        for (uint32_t b = 0; b < noise->batches; b++)
            noise->scale[(size_t)s * noise->batches + b] =
                noise->scale[(size_t)s * GOODPUT_BATCHES_MAX + b];
    return true;
}
