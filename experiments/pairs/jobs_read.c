/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs_read.c - reads jobs.csv; replicas of services are counted, and left out. */
#include "experiments/pairs/jobs_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/report/services_table.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"

/* The columns of jobs.csv that are read, in the order of `name` below. */
enum { POINT, POLICY, SEED, JOB, KIND, SUBMIT, JCT, FIELDS };

/* Rows of a trial stand together, so the trial of a row is the last one, or a new
 * one. */
static struct trial_jobs *trial_for(struct arena *arena,
                                    struct jobs_table *table,
                                    const struct csv *in, const size_t *c)
{
    struct trial_jobs *last = table->count == 0
        ? NULL : &table->trial[table->count - 1];

    if (last != NULL &&
        strcmp(last->seed, csv_text(in, c[SEED])) == 0 &&
        strcmp(last->policy, csv_text(in, c[POLICY])) == 0 &&
        strcmp(last->point, csv_text(in, c[POINT])) == 0)
        return last;
    if (table->count == table->room) {
        size_t room = table->room * 2 + 16;

        table->trial = arena_grow(arena, table->trial, table->room, room,
                                  sizeof *table->trial);
        table->room = room;
    }
    last = &table->trial[table->count++];
    *last = (struct trial_jobs){
        .point = arena_text(arena, csv_text(in, c[POINT])),
        .policy = arena_text(arena, csv_text(in, c[POLICY])),
        .seed = arena_text(arena, csv_text(in, c[SEED]))
    };
    return last;
}

/* Reads a row of jobs.csv.  A job that was not done has no time (NAN). */
static bool read_job(struct arena *arena, struct trial_jobs *trial,
                     const struct csv *in, const size_t *c,
                     struct err *err)
{
    struct job_row *job;

    if (trial->count == trial->room) {
        size_t room = trial->room * 2 + 64;

        trial->job = arena_grow(arena, trial->job, trial->room, room,
                                sizeof *trial->job);
        trial->room = room;
    }
    job = &trial->job[trial->count++];
    job->name = arena_text(arena, csv_text(in, c[JOB]));
    return csv_number(in, c[SUBMIT], &job->submit_s, err) &&
           csv_number(in, c[JCT], &job->jct_s, err);
}

/* For qsort(): by name, then by submission, since names may repeat. */
static int compare_names(const void *a, const void *b)
{
    const struct job_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order
                      : (x->submit_s > y->submit_s) -
                        (x->submit_s < y->submit_s);
}

/* Reads the row at hand, unless it is a replica of a service, which is counted alone. */
static bool read_row(struct arena *arena, struct jobs_table *table,
                     const struct service_names *services, const struct csv *in,
                     const size_t *c, struct err *err)
{
    if (service_names_replica(services, csv_text(in, c[JOB]), csv_text(in, c[KIND]))) {
        table->replicas++;
        return true;
    }
    return read_job(arena, trial_for(arena, table, in, c), in, c, err);
}

/* Replicas of services are known by the names in services.csv, so that is read first. */
bool jobs_read(struct arena *arena, const char *dir, struct jobs_table *table,
               struct err *err)
{
    static const char *const name[FIELDS] = {
        "point", "policy", "seed", "job", "kind", "submit_s", "jct_s"
    };
    struct service_names services;
    enum csv_step step = CSV_ERROR;
    size_t c[FIELDS], found = 0;
    struct csv *in;

    assert(table->count == 0);
    if (!service_names_read(arena, dir, &services, err))
        return false;
    in = csv_open(arena, path_join(arena, dir, csv_jobs.file), CSV_TABLE, err);

    while (in != NULL && found < FIELDS &&
           csv_need_column(in, name[found], &c[found], err))
        found++;
    if (found == FIELDS)
        while ((step = csv_next(in, err)) == CSV_ROW)
            if (!read_row(arena, table, &services, in, c, err)) {
                step = CSV_ERROR;
                break;
            }
    csv_close(in);
    for (size_t i = 0; i < table->count; i++)
        qsort(table->trial[i].job, table->trial[i].count,
              sizeof *table->trial[i].job, compare_names);
    return step == CSV_END;
}

const struct trial_jobs *jobs_trial(const struct jobs_table *table, const char *point,
                                    const char *policy, const char *seed)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct trial_jobs *t = &table->trial[i];

        if (strcmp(t->policy, policy) == 0 && strcmp(t->point, point) == 0 &&
            strcmp(t->seed, seed) == 0)
            return t;
    }
    return NULL;
}
