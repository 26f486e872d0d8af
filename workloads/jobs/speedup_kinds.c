/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup_kinds.c - Gavel's table of rates, of kinds of jobs alone and in pairs.
 *
 * Rates become speedups over the type of GPU on which lengths were measured.
 */
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"
#include "workloads/jobs/gavel_rates.h"
#include "workloads/jobs/speedup_keys.h"

/* One kind of job of the file, while it is read and after. */
struct kind {
    const char *name;
    struct job_rates rates;
    uint32_t gpus[SPEEDUP_SIZES_MAX]; /* the sizes, in the order of the file */
    double *known;              /* by size: where lengths are known */
    double *rate;               /* by size and pool, steps/s; 0: it does not run
                                   there */
    struct job_beside *beside;  /* rates.beside, as it grows */
    uint32_t beside_room;
    struct kind *next;          /* older one; NULL: the last */
};

/* The kinds of a file, the newest first; and the number of pools of the
 * cluster. */
struct speedup_kinds {
    struct kind *first;
    uint32_t pools;             /* row length of `rate` of all kinds */
};

/* Cuts "('LM (batch size 5)', 2)" into the name and the size.  False: the text
 * has another form. */
static bool split_key(const char *key, char *name, size_t room,
                      uint32_t *gpus)
{
    const char *end = strrchr(key, '\'');
    char *after;

    if (strncmp(key, "('", 2) != 0 || end == NULL || end < key + 2 ||
        (size_t)(end - key - 2) >= room || end[1] != ',')
        return false;
    memcpy(name, key + 2, (size_t)(end - key - 2));
    name[end - key - 2] = '\0';
    *gpus = (uint32_t)strtoul(end + 2, &after, 10);
    return *after == ')' && *gpus > 0;
}

/* Returns the kind of that name, and makes it when it is first named. */
static struct kind *find_kind(const struct world *world,
                              struct speedup_kinds *kinds, const char *name)
{
    struct kind *kind = kinds->first;

    while (kind != NULL && strcmp(kind->name, name) != 0)
        kind = kind->next;
    if (kind != NULL)
        return kind;
    kind = arena_alloc(world->arena, 1, sizeof *kind);
    kind->name = arena_text(world->arena, name);
    kind->known = arena_alloc(world->arena, SPEEDUP_SIZES_MAX, sizeof *kind->known);
    kind->rate = arena_alloc(world->arena, (size_t)SPEEDUP_SIZES_MAX * kinds->pools,
                             sizeof *kind->rate);
    kind->rates = (struct job_rates){
        .pool_count = kinds->pools, .gpus = kind->gpus, .rate = kind->rate};
    kind->next = kinds->first;
    kinds->first = kind;
    return kind;
}

/* Returns the row of a size, and adds it if it is new.  UINT32_MAX: there is no
 * room for another size. */
static uint32_t find_size(struct kind *kind, uint32_t gpus)
{
    uint32_t i = 0;

    while (i < kind->rates.size_count && kind->gpus[i] != gpus)
        i++;
    if (i == SPEEDUP_SIZES_MAX)
        return UINT32_MAX;
    if (i == kind->rates.size_count) {
        kind->gpus[i] = gpus;
        kind->rates.size_count++;
    }
    return i;
}

/* One reading of a file of rates by kind. */
struct kinds_reading {
    const struct world *world;
    struct speedup_kinds *kinds;
    const char *known;          /* the type on which lengths are known */
};

/* Adds the rate of one kind and size on one type of GPU. */
static bool add_rate(void *self, struct json *json, const char *type,
                     const char *key, double rate)
{
    struct kinds_reading *reading = self;
    char name[256];
    uint32_t gpus, mask = speedup_pools_named(reading->world, type), row;

    if (!split_key(key, name, sizeof name, &gpus))
        return err_set(reading->world->err, ERR_SYNTAX, json_pos(json),
                       "expected a kind of job and its GPUs, such as "
                       "('LM (batch size 5)', 1), found \"%.60s\"", key);
    struct kind *kind = find_kind(reading->world, reading->kinds, name);
    row = find_size(kind, gpus);
    if (row == UINT32_MAX)
        return err_set(reading->world->err, ERR_RANGE, json_pos(json),
                       "%.60s has more than %u sizes", name, SPEEDUP_SIZES_MAX);
    if (!(rate > 0.0))          /* it does not run there */
        return true;
    speedup_set_rate(kind->rate + (size_t)row * reading->kinds->pools,
                     reading->kinds->pools, mask, rate);
    if (strcmp(type, reading->known) == 0)
        kind->known[row] = rate;
    return true;
}

/* Returns the pair of a kind with another, both on `gpus` GPUs; adds it if it
 * is new.  Its rates are 0 at first. */
static struct job_beside *find_pair(struct kinds_reading *reading,
                                    struct kind *kind, const struct kind *other,
                                    uint32_t gpus)
{
    uint32_t count = kind->rates.beside_count;

    for (uint32_t i = 0; i < count; i++)
        if (kind->beside[i].other == &other->rates &&
            kind->beside[i].gpus == gpus)
            return &kind->beside[i];
    ARENA_REACH(reading->world->arena, kind->beside, kind->beside_room, count);
    kind->rates.beside = kind->beside;
    kind->beside[count] = (struct job_beside){
        &other->rates, gpus,
        arena_alloc(reading->world->arena, reading->kinds->pools,
                    sizeof *kind->rate)};
    kind->rates.beside_count++;
    return &kind->beside[count];
}

/* Reads the rates of a pair, [own, other]. *own is 0 unless both run: a pair in
 * which one stands still is no pair. */
static bool read_own(struct json *json, double *own, struct err *err)
{
    double rate[2];
    size_t bytes;

    if (!json_expect(json, JSON_ARRAY, "[own rate, the other's]", err))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!json_expect(json, JSON_NUMBER, "a rate in steps/s", err))
            return false;
        const char *text = json_text(json, &bytes);
        if (!scan_f64(text, bytes, &rate[i]) || !(rate[i] >= 0.0))
            return err_set(err, ERR_RANGE, json_pos(json),
                           "rates of a pair must not be negative, found %.*s",
                           (int)bytes, text);
    }
    *own = rate[1] > 0.0 ? rate[0] : 0.0;
    return json_expect(json, JSON_ARRAY_END, "the end of a pair", err);
}

/* Reads what stands at the key that was read last: the rate of the kind `key`
 * beside that one, on GPUs of that type.  Pairs of unlike sizes are passed
 * over, since the host puts only jobs of one size together. */
static bool read_pair(void *self, struct json *json, const char *type,
                      const char *key)
{
    struct kinds_reading *reading = self;
    const struct world *world = reading->world;
    uint32_t gpus, other_gpus, mask = speedup_pools_named(world, type);
    char name[256], other[256];
    size_t bytes;
    double own = 0;

    if (!split_key(json_text(json, &bytes), other, sizeof other,
                   &other_gpus))
        return err_set(world->err, ERR_SYNTAX, json_pos(json),
                       "expected null or a kind of job and its GPUs, such as "
                       "('LM (batch size 5)', 1), found \"%.60s\"",
                       json_text(json, &bytes));
    if (!read_own(json, &own, world->err))
        return false;
    if (!split_key(key, name, sizeof name, &gpus) || gpus != other_gpus ||
        !(own > 0.0) || mask == 0)
        return true;
    struct kind *kind = find_kind(world, reading->kinds, name);
    struct kind *with = find_kind(world, reading->kinds, other);
    speedup_set_rate(find_pair(reading, kind, with, gpus)->rate,
                     reading->kinds->pools, mask, own);
    return true;
}

/* Types that the cluster does not have are passed over, except for the one on
 * which lengths were measured. */
static bool wants_type(void *self, const char *type)
{
    const struct kinds_reading *reading = self;

    return speedup_pools_named(reading->world, type) != 0 ||
           strcmp(type, reading->known) == 0;
}

/* Sets for each kind the pools where it can run at some size.  Returns those of
 * all kinds. */
static uint32_t find_pools(struct speedup_kinds *kinds)
{
    uint32_t all = 0;

    for (struct kind *kind = kinds->first; kind; kind = kind->next)
        for (uint32_t p = 0; p < kinds->pools; p++)
            for (uint32_t s = 0; s < kind->rates.size_count; s++)
                if (kind->rate[s * kinds->pools + p] > 0.0) {
                    kind->rates.pool_mask |= 1u << p;
                    all |= 1u << p;
                }
    return all;
}

const struct speedup_kinds *speedup_kinds_read(const struct world *world,
                                               const struct conf_node *at,
                                               const char *path,
                                               const char *type)
{
    struct speedup_kinds *kinds = arena_alloc(world->arena, 1, sizeof *kinds);
    struct kinds_reading reading = {world, kinds, type};
    static const struct gavel_visit visit = {wants_type, add_rate, read_pair};

    kinds->pools = world->cluster->pool_count;
    if (!gavel_rates_read(world->arena, path, &visit, &reading, world->err))
        return NULL;
    if (find_pools(kinds) != 0)
        return kinds;
    err_set(world->err, ERR_REFERENCE, conf_pos(at),
            "no type in %s is a pool or a GPU type of the cluster", path);
    err_hint(world->err, "Call the pools as the file calls its types, such "
                         "as v100, p100 and k80.");
    return NULL;
}

/* Finds the rates of a kind of job by name; NULL unless the size is one that
 * was measured.  *rate_known is the rate at which its length holds.  Lists are
 * short, so both searches go from the first entry on. */
const struct job_rates *speedup_kind(const struct speedup_kinds *kinds,
                                     const char *name, uint32_t gpus,
                                     double *rate_known)
{
    const struct kind *kind = kinds->first;

    while (kind != NULL && strcmp(kind->name, name) != 0)
        kind = kind->next;
    for (uint32_t i = 0; kind != NULL && i < kind->rates.size_count; i++)
        if (kind->gpus[i] == gpus && kind->known[i] > 0.0) {
            *rate_known = kind->known[i];
            return &kind->rates;
        }
    return NULL;
}
