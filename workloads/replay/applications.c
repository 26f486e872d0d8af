/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * applications.c - a list per application of the jobs that ask alike, as
 * applications.h says; lists are short: sizes times batches.
 */
#include "workloads/replay/applications.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

/* Jobs of one application with these GPUs and this batch. */
struct link_of_jobs {
    struct application_job job;
    bool runs;                  /* false: it cannot run in the cluster, and was
                                   tried */
    struct link_of_jobs *next;
};

/* An application that the trace has named, and the jobs that it was given, by
 * size and batch. */
struct known_application {
    const struct application *app;  /* of the catalogue */
    struct goodput_pools pools;
    struct job_form form;       /* of all its jobs */
    struct link_of_jobs *first;
    struct known_application *next; /* NULL: the last */
};

/* All applications that were named so far. */
struct applications {
    struct arena *arena;
    struct job_form base;       /* copied for each application */
    struct known_application *first;
    uint32_t jobs;              /* made so far; each has its number as index */
};

struct applications *applications_new(const struct world *world,
                                      const struct job_form *base)
{
    struct applications *all = arena_alloc(world->arena, 1, sizeof *all);

    all->arena = world->arena;
    all->base = *base;
    return all;
}

/* Returns the application of that name; makes it if it is new.  NULL: there is none. */
static struct known_application *find_application(struct applications *all,
                                                  const struct world *world,
                                                  const char *name)
{
    struct known_application *known = all->first;

    while (known != NULL && strcmp(known->app->name, name) != 0)
        known = known->next;
    if (known != NULL)
        return known;
    const struct application *app = catalogue_application(world->catalogue,
                                                          name);

    if (app == NULL)
        return NULL;
    known = arena_alloc(all->arena, 1, sizeof *known);
    known->app = app;
    known->pools = goodput_pools_of(all->arena, app, world->cluster);
    known->form = all->base;
    known->form.name = app->name;
    known->form.paced = true;
    known->form.packing = NULL; /* it is not said of them */
    known->form.role[0].start_s = clock_s_from_ns(app->restart_ns);
    known->form.role[0].wake_s = known->form.role[0].start_s;
    known->next = all->first;
    all->first = known;
    return known;
}

/* A job that cannot run is kept too, so that it is tried only once. */
const struct application_job *applications_job(struct applications *all,
                                               const struct world *world,
                                               const char *name, uint32_t gpus,
                                               uint32_t batch)
{
    struct known_application *known = find_application(all, world, name);
    struct link_of_jobs *link = known != NULL ? known->first : NULL;

    assert(gpus > 0);
    while (link != NULL && (link->job.goodput.gpus != gpus ||
                            link->job.goodput.batch != batch))
        link = link->next;
    if (link == NULL && known != NULL) {
        link = arena_alloc(all->arena, 1, sizeof *link);
        link->runs = goodput_job_make(known->app, &known->pools, gpus, batch,
                                      &link->job.goodput);
        link->job.goodput.index = all->jobs++;
        link->job.form = &known->form;
        link->next = known->first;
        known->first = link;
    }
    return link != NULL && link->runs ? &link->job : NULL;
}
