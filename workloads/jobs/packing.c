/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packing.c - `packing: {resnet-50: 0.55, lm: 0.8}`: the pace of a job while
 * one of those holds the same GPUs, over its pace alone.
 *
 * Two jobs share GPUs only if each names the other: what nobody stated is not
 * guessed.  A pace above 1 is accepted, as it has been measured (Gavel's and
 * Lucid's tables have a few, by the noise of measuring).
 */
#include "workloads/jobs/packing.h"

#include <assert.h>
#include <string.h>

#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define SPEEDUP_MIN 1e-6           /* as the least rate */
#define SPEEDUP_MAX 10.0
#define NAMES_MAX 1000u         /* of one mapping */

/* The order of the file is kept.  Lists are short, and are searched from the
 * first name on. */
bool packing_read(const struct world *world, const struct conf_node *map,
                  struct job_form *form)
{
    size_t count = map != NULL && conf_kind(map) == CONF_MAP ? conf_count(map)
                                                             : 0;

    assert(form != NULL);
    if (map == NULL)
        return true;
    if (count == 0 || count > NAMES_MAX)
        return err_set(world->err, ERR_SCHEMA, conf_pos(map),
                       "packing must be a map of 1 to %u names of jobs and "
                       "paces, such as {resnet-50: 0.55, lm: 0.8}", NAMES_MAX);
    struct job_packing *packing = arena_alloc(world->arena, 1,
                                              sizeof *packing);
    const char **name = arena_alloc(world->arena, count, sizeof *name);
    double *speedup = arena_alloc(world->arena, count, sizeof *speedup);
    for (size_t i = 0; i < count; i++) {
        struct conf_field field = {
            .key = conf_key(map, i), .type = CONF_REAL,
            .min = SPEEDUP_MIN, .max = SPEEDUP_MAX};

        name[i] = conf_key(map, i);
        if (!conf_read(conf_value(map, i), &field, &speedup[i], world->err))
            return false;
    }
    *packing = (struct job_packing){name, speedup, (uint32_t)count};
    form->packing = packing;
    return true;
}

/* Called when all forms are known, since a name may stand above the job that it
 * names. */
bool packing_names_ok(const struct world *world, const struct conf_node *map,
                      const struct job_form *const *form, size_t count)
{
    const char **names = arena_alloc(world->arena, count + 1, sizeof *names);

    assert(count > 0);
    for (size_t i = 0; i < count; i++)
        names[i] = form[i]->name;
    for (size_t k = 0; map != NULL && k < conf_count(map); k++) {
        const char *key = conf_key(map, k), *near;
        size_t i = 0;

        while (i < count && strcmp(names[i], key) != 0)
            i++;
        if (i < count)
            continue;
        err_set(world->err, ERR_REFERENCE, conf_key_pos(map, k),
                "packing names %s, and no job of the workload is called so",
                key);
        near = conf_nearest(key, names);
        if (near != NULL)
            err_hint(world->err, "Did you mean %s?", near);
        return false;
    }
    return true;
}
