/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gavel_rates.c - walks through Gavel's file of rates.
 */
#include "workloads/jobs/gavel_rates.h"

#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"

/* What all functions of one reading share. */
struct walk {
    struct arena *arena;
    struct json *json;          /* the file, read token by token */
    const struct gavel_visit *visit;
    void *self;                 /* handed to the functions of visit */
    struct err *err;            /* of the caller */
};

/* Reads the rate of a job alone. */
static bool read_alone(const struct walk *walk, const char *type, const char *key)
{
    enum json_token token = json_next(walk->json, walk->err);
    size_t bytes;
    const char *text = json_text(walk->json, &bytes);
    double rate;

    if (token == JSON_ERROR)
        return false;
    if (token != JSON_NUMBER || !scan_f64(text, bytes, &rate))
        return err_set(walk->err, ERR_SYNTAX, json_pos(walk->json),
                       "\"null\" must be a rate in steps/s");
    return walk->visit->rate(walk->self, walk->json, type, key, rate);
}

/* Reads what stands at a kind and size of job, whose key was read last: "null"
 * is its rate alone, other keys are its pairs. */
static bool read_job(const struct walk *walk, const char *type)
{
    struct json *json = walk->json;
    enum json_token token;
    size_t bytes;
    const char *key = arena_text(walk->arena, json_text(json, &bytes));

    if (!json_expect(json, JSON_OBJECT, "an object of rates", walk->err))
        return false;
    while ((token = json_next(json, walk->err)) == JSON_KEY) {
        bool alone = strcmp(json_text(json, &bytes), "null") == 0;

        if (alone ? !read_alone(walk, type, key)
            : walk->visit->pair != NULL
                ? !walk->visit->pair(walk->self, json, type, key)
                : !json_skip(json, json_next(json, walk->err), walk->err))
            return false;
    }
    return token == JSON_OBJECT_END;
}

/* Reads the whole file, type by type. */
static bool read_types(const struct walk *walk)
{
    struct json *json = walk->json;
    enum json_token token;
    size_t bytes;

    if (!json_expect(json, JSON_OBJECT, "a JSON of Gavel's throughputs", walk->err))
        return false;
    while ((token = json_next(json, walk->err)) == JSON_KEY) {
        const char *type = arena_text(walk->arena, json_text(json, &bytes));

        if (!walk->visit->wants(walk->self, type)) {
            if (!json_skip(json, json_next(json, walk->err), walk->err))
                return false;
            continue;
        }
        if (!json_expect(json, JSON_OBJECT, "an object of jobs", walk->err))
            return false;
        while ((token = json_next(json, walk->err)) == JSON_KEY)
            if (!read_job(walk, type))
                return false;
        if (token != JSON_OBJECT_END)
            return false;
    }
    return token == JSON_OBJECT_END;
}

bool gavel_rates_read(struct arena *arena, const char *path,
                      const struct gavel_visit *visit, void *self, struct err *err)
{
    const struct walk walk = {arena, json_open(arena, path, err), visit, self, err};
    bool good = walk.json != NULL && read_types(&walk);

    json_close(walk.json);
    return good;
}
