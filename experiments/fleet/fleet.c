/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fleet.c - the module, and rank 0's thread that answers.
 *
 * Trials are handed out in parts, the smaller the fewer are left: few messages at the
 * beginning, no rank that waits long for another one at the end.
 */
#include "experiments/fleet/fleet.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/fleet/module.h"
#include "experiments/plugins/host_file.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define MODULE_FILE "clustersim_mpi.so"
#define PART_MOST 64u
#define LOOK_NS 50000L

struct fleet {
    const struct fleet_module *module;  /* MPI, or what tests put in its place */
    uint32_t rank, count;       /* of this process; of all ranks */
    pthread_t server;           /* of rank 0 */
    bool serves, ended;         /* rank 0's thread answers; this rank has left */
    pthread_mutex_t lock;       /* of what follows; for a rank above 0 of MPI, too */
    const uint32_t *due;        /* of rank 0 */
    uint32_t due_count, due_next;   /* trials to hand out; the next one of them */
    struct fleet_part part;     /* of a rank above 0: what it has still to run */
    bool over;                  /* nothing is left for it */
};

static const struct err_pos nowhere = { NULL, 0, 0 };

/* Of Open MPI, of MPICH and its kin, and of Slurm's srun by PMIx, which tells the rank
 * alone. */
bool fleet_is_one_of_many(void)
{
    static const char *const name[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };
    const char *value = getenv("PMIX_RANK") == NULL ? NULL : getenv("SLURM_STEP_NUM_TASKS");

    for (size_t i = 0; value == NULL && i < sizeof name / sizeof name[0]; i++)
        value = getenv(name[i]);
    return value != NULL && atoi(value) > 1;
}

/* ---- the module ---- */

/* `why`: what dlopen() said, or which ABI the module has.  Returns false. */
static bool no_module(const char *why, struct err *err)
{
    err_set(err, ERR_USAGE, nowhere, "this is one of several ranks, and MPI is not to be had: "
            "%.120s", why);
    return err_hint(err, "Install clustersim-mpi, or build where Open MPI is (Debian: "
                    "libopenmpi-dev, openmpi-bin): make makes " MODULE_FILE " beside the "
                    "program.  Or run parts with --shard and put them together with "
                    "`clustersim merge`.");
}

/* Beside the program, or in the lib/clustersim beside its bin. */
static const char *module_path(struct arena *arena)
{
    const char *program = host_file_target(arena);
    const char *path = path_beside(arena, program, MODULE_FILE);

    return path_is_file(path) ? path
                              : path_beside(arena, program, "../lib/clustersim/" MODULE_FILE);
}

bool fleet_has_module(struct arena *arena)
{
    return path_is_file(module_path(arena));
}

/* Loads the module of ranks and joins the other ranks.  Both sides must have one version,
 * since they share structs. */
static bool load(struct arena *arena, struct fleet *fleet, struct err *err)
{
    const char *path = module_path(arena);
    /* Open MPI looks for symbols of its own parts: they must be seen by all. */
    void *module = path_is_file(path) ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;

    if (module == NULL)
        return no_module(path_is_file(path) ? dlerror() : MODULE_FILE " is not there", err);
    fleet->module = dlsym(module, FLEET_MODULE_SYMBOL);
    if (fleet->module == NULL || fleet->module->abi != FLEET_MODULE_ABI)
        return no_module(MODULE_FILE " is of another version", err);
    return fleet->module->open(&fleet->rank, &fleet->count) ||
           no_module("MPI_Init failed", err);
}

struct fleet *fleet_open(struct arena *arena, struct err *err)
{
    struct fleet *fleet = arena_alloc(arena, 1, sizeof *fleet);

    fleet->part = (struct fleet_part){ 1, 0 };
    pthread_mutex_init(&fleet->lock, NULL);
    return load(arena, fleet, err) ? fleet : NULL;
}

uint32_t fleet_rank(const struct fleet *fleet)
{
    return fleet->rank;
}

uint32_t fleet_count(const struct fleet *fleet)
{
    return fleet->count;
}

/* ---- rank 0 ---- */

/* Returns the next trials for a rank that asks; none if first > last.  Parts shrink with what is
 * left, a quarter of an even share each, so that all ranks end at about one time. */
static struct fleet_part take_part(struct fleet *fleet)
{
    struct fleet_part part = { 1, 0 };
    uint32_t left, size;

    pthread_mutex_lock(&fleet->lock);
    left = fleet->due_count - fleet->due_next;
    size = left / (4 * fleet->count);
    size = size < 1 ? 1 : size > PART_MOST ? PART_MOST : size;
    if (left > 0) {
        /* A part is a run of numbers: those that are known lie between. */
        part.first = part.last = fleet->due[fleet->due_next++];
        while (--size > 0 && fleet->due_next < fleet->due_count &&
               fleet->due[fleet->due_next] == part.last + 1)
            part.last = fleet->due[fleet->due_next++];
    }
    pthread_mutex_unlock(&fleet->lock);
    return part;
}

/* Answers the other ranks until each of them has left. */
static void *serve(void *self)
{
    const struct timespec wait = { 0, LOOK_NS };
    struct fleet *fleet = self;
    uint32_t here = fleet->count - 1;

    while (here > 0) {
        bool left = false;
        uint32_t rank = fleet->module->asked(&left);

        if (rank == FLEET_NOBODY)
            (void)nanosleep(&wait, NULL);
        else if (left)
            here--;
        else
            fleet->module->answer(rank, take_part(fleet));
    }
    return NULL;
}

void fleet_serve(struct fleet *fleet, const uint32_t *due, uint32_t count)
{
    sigset_t all, before;

    assert(fleet->rank == 0 && !fleet->serves);
    fleet->due = due;
    fleet->due_count = count;
    fleet->serves = true;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&fleet->server, NULL, serve, fleet) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- all ranks ---- */

static void ask(struct fleet *fleet)
{
    fleet->part = fleet->module->ask();
    fleet->over = fleet->part.first > fleet->part.last;
}

bool fleet_wait(struct fleet *fleet)
{
    assert(fleet->rank > 0);
    ask(fleet);
    return !fleet->over;
}

bool fleet_next(void *self, uint32_t *index)
{
    struct fleet *fleet = self;
    bool there;

    pthread_mutex_lock(&fleet->lock);
    if (fleet->rank == 0) {
        there = fleet->due_next < fleet->due_count;
        if (there)
            *index = fleet->due[fleet->due_next++];
    } else {
        if (fleet->part.first > fleet->part.last && !fleet->over)
            ask(fleet);
        there = !fleet->over;
        if (there)
            *index = fleet->part.first++;
    }
    pthread_mutex_unlock(&fleet->lock);
    return there;
}

void fleet_end(struct fleet *fleet)
{
    assert(!fleet->ended);
    fleet->ended = true;
    if (fleet->rank > 0) {
        fleet->module->leave();
        return;
    }
    pthread_mutex_lock(&fleet->lock);
    fleet->due_next = fleet->due_count;
    pthread_mutex_unlock(&fleet->lock);
    if (!fleet->serves)         /* nothing came of it: the others still wait */
        fleet_serve(fleet, NULL, 0);
    (void)pthread_join(fleet->server, NULL);
}

void fleet_close(struct fleet *fleet)
{
    if (!fleet->ended)
        fleet_end(fleet);
    fleet->module->close();
    pthread_mutex_destroy(&fleet->lock);
}
