/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search.c - every place and count, its best layout, and for a job of
 * two roles every pair of them.
 *
 * The search times a job by its phases alone; what starting takes is the same
 * for all counts but for the bytes, and is added when a row is planned.
 */
#include <assert.h>
#include <math.h>

#include "experiments/advise/advise.h"
#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"

/* Example for nodes of 8: 1, 2, 4, 8, 16, 24, 32 and so on; for nodes of 6: 1,
 * 2, 4, 6, 12, 18. */
uint32_t advise_next_count(uint32_t n, const struct advise_place *place)
{
    uint32_t next = n < 8 ? 2 * n : n + 8 - n % 8;
    uint32_t node = place->node_gpus, most = place->gpus_max;

    if (n < node && next > node)
        return node;            /* one whole node is always tried */
    /* Beyond one node only whole ones, and at last all there are. */
    while (next > node && next % node != 0)
        next++;
    return n < most && next > most && most % node == 0 ? most : next;
}

/* Is n a power of two? */
static bool is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* May the role use that place?  In a given cluster, `types:` and `pool:` decide;
 * of the catalogue, every type is tried. */
static bool may_use(const struct advise_world *world,
                    const struct role_spec *role,
                    const struct advise_place *place)
{
    if (world->cluster == NULL)
        return true;
    if (role->pool != NULL &&
        cluster_pool(world->spec, role->pool) != place->group->pool)
        return false;
    for (uint32_t i = 0; i < role->gpu_type_count; i++)
        if (role->gpu_types[i] == place->group->gpu->index)
            return true;
    return false;
}

/* Times each phase of one role on a gang, with its law laid out anew; a critic is
 * laid out as the policy is. */
static void time_phases(const struct advise_job *job, uint32_t role,
                        const struct gang *gang, struct advise_choice *choice)
{
    const struct job_form *form = job->form;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        struct phase_law law = *phase_law_usual(&form->phase[p]);

        if (form->phase[p].role != role)
            continue;
        if (law.kind == LAW_TRAIN) {
            const struct train_shape own = law.train;

            law.train = choice->layout.shape;
            law.train.llm = own.llm;
            law.train.lora_params = own.lora_params;
        }
        if (law.kind == LAW_RELOAD)
            law.engine_tp = choice->engine.tp;
        if (law.kind == LAW_ROLLOUT)
            law.rollout.tp = choice->engine.tp;
        choice->phase_s[p] = advise_phase_s(&law, gang);
    }
}

/* Sets the price of a choice; NAN if the place has none. */
static void price_choice(struct advise_choice *choice)
{
    choice->usd_per_h = choice->gpus * choice->place->gpu_usd_per_h;
}

/* Keeps the layout that needs least of all that do not fit. */
static void note_miss(struct advice *advice, size_t place, uint32_t gpus,
                      const struct advise_layout *layout)
{
    if (layout->least_bytes < advice->miss[place].least_bytes) {
        advice->miss[place] = *layout;
        advice->miss_gpus[place] = gpus;
    }
}

/* The choices of one role. */
struct choices {
    struct advise_choice *item;
    size_t count, room;
};

/* Returns a new choice, for the caller to fill; earlier ones may have moved. */
static struct advise_choice *add_choice(struct arena *arena,
                                        struct choices *choices)
{
    ARENA_REACH(arena, choices->item, choices->room, choices->count);
    return &choices->item[choices->count++];
}

/* Searches the layout of the training role on a number of GPUs of a place.  It
 * becomes a choice if it fits; if not, it may be the nearest miss of the place. */
static void try_train(struct advice *advice, size_t place, uint32_t gpus,
                      struct choices *choices)
{
    const struct advise_job *job = advice->job;
    const struct advise_place *at = &advice->world->place[place];
    struct gang gang = advise_gang(at, gpus);
    struct advise_layout layout = advise_train(&job->task, &gang,
                                               at->node_gpus);

    advice->tried_count += layout.tried_count;
    advice->fit_count += layout.fit_count;
    note_miss(advice, place, gpus, &layout);
    if (!isfinite(layout.run_s))
        return;
    struct advise_engine engine = { 0 };

    if (job->shares)
        engine = advise_engine(job->generate, job->context_tokens, &gang,
                               at->node_gpus);
    if (job->shares && (engine.tp == 0 || !isfinite(engine.run_s)))
        return;
    struct advise_choice *choice = add_choice(advice->world->arena, choices);
    *choice = (struct advise_choice){ .place = at, .gpus = gpus,
                                      .layout = layout, .engine = engine };
    price_choice(choice);
    time_phases(job, job->train, &gang, choice);
}

/* Searches the layout of the generating role: an engine has few, tp alone. */
static void try_engine(struct advice *advice, size_t place, uint32_t gpus,
                       struct choices *choices)
{
    const struct advise_job *job = advice->job;
    const struct advise_place *at = &advice->world->place[place];
    struct gang gang = advise_gang(at, gpus);
    struct advise_engine engine = advise_engine(
        job->generate, job->context_tokens, &gang, at->node_gpus);

    advice->tried_count++;
    if (engine.tp == 0 || !isfinite(engine.run_s))
        return;
    advice->fit_count++;
    struct advise_choice *choice = add_choice(advice->world->arena, choices);
    *choice = (struct advise_choice){ .place = at, .gpus = gpus,
                                      .engine = engine };
    price_choice(choice);
    time_phases(job, job->engine, &gang, choice);
}

/* Tries all counts of all places for a role.  `powers`: only powers of two,
 * where two roles are paired and the number of pairs is the product. */
static void search_role(struct advice *advice, bool train, bool powers,
                        struct choices *choices)
{
    const struct advise_world *world = advice->world;
    const struct advise_job *job = advice->job;
    const struct role_spec *role =
        &job->form->role[train ? job->train : job->engine];

    for (size_t i = 0; i < world->place_count; i++) {
        const struct advise_place *place = &world->place[i];

        if (!may_use(world, role, place))
            continue;
        for (uint32_t n = 1; n <= place->gpus_max;
             n = advise_next_count(n, place)) {
            if (powers && !is_power(n))
                continue;
            if (train)
                try_train(advice, i, n, choices);
            else
                try_engine(advice, i, n, choices);
        }
    }
}

/* Times phases of roles without GPUs, on the cores that the job asks for. */
static void time_others(const struct advise_job *job, double *seconds)
{
    const struct job_form *form = job->form;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct role_spec *role = &form->role[form->phase[p].role];
        struct gang gang = { .nodes = 1, .cores = role->cores };

        if (role->gpus == 0)
            seconds[p] = advise_phase_s(phase_law_usual(&form->phase[p]),
                                        &gang);
    }
}

/* Guesses the time and the cost of a row.  Each phase belongs to one role, so
 * that two of the three times that are added are 0. */
static void guess_row(const struct advise_job *job, const double *others_s,
                      struct advise_row *row)
{
    double seconds[FORM_PHASES_MAX];

    for (uint32_t p = 0; p < job->form->phase_count; p++)
        seconds[p] = others_s[p] + row->train.phase_s[p] +
                     row->engine.phase_s[p];
    row->guess_s = advise_form_s(job->form, seconds, job->runs);
    row->guess_usd = (row->train.usd_per_h + row->engine.usd_per_h) *
                     row->guess_s / 3600.0;
}

/* Do both fit, within gpus_max together, and if they lie in the same nodes, beside
 * each other? */
static bool room_for_both(const struct advise_choice *a,
                          const struct advise_choice *b, uint32_t gpus_max)
{
    return a->gpus + b->gpus <= gpus_max &&
           (a->place != b->place || a->gpus + b->gpus <= a->place->gpus_max);
}

/* Makes a row of each choice of one role with each of the other.  Where there
 * is one role, the other list is empty and counts as one choice. */
static void pair_choices(struct advice *advice, const struct choices *train,
                         const struct choices *engine, const double *others_s)
{
    const struct advise_world *world = advice->world;
    bool both = train->count > 0 && engine->count > 0;
    size_t trains = both || advice->job->trains ? train->count : 1;
    size_t engines = both ? engine->count
                          : advice->job->engine == ADVISE_NONE ? 1
                                                               : engine->count;

    advice->row = arena_alloc(world->arena, trains * engines + 1,
                              sizeof *advice->row);
    for (size_t t = 0; t < trains; t++)
        for (size_t e = 0; e < engines; e++) {
            struct advise_row row = { 0 };

            if (train->count > 0)
                row.train = train->item[t];
            if (engine->count > 0)
                row.engine = engine->item[e];
            if (both && !room_for_both(&row.train, &row.engine,
                                       world->gpus_max))
                continue;
            guess_row(advice->job, others_s, &row);
            if (isfinite(row.guess_s))
                advice->row[advice->row_count++] = row;
        }
}

/* If a role of a job has no place at all, there is no row. */
void advise_search(const struct advise_world *world,
                   const struct advise_job *job, struct advice *advice)
{
    bool two = job->trains && (job->shares || job->engine != ADVISE_NONE);
    struct choices train = { 0 }, engine = { 0 };
    double others_s[FORM_PHASES_MAX] = { 0 };

    *advice = (struct advice){ .world = world, .job = job };
    advice->miss = arena_alloc(world->arena, world->place_count,
                               sizeof *advice->miss);
    advice->miss_gpus = arena_alloc(world->arena, world->place_count,
                                    sizeof *advice->miss_gpus);
    for (size_t i = 0; i < world->place_count; i++)
        advice->miss[i].least_bytes = INFINITY;
    time_others(job, others_s);
    if (job->trains)
        search_role(advice, true, two, &train);
    if (job->engine != ADVISE_NONE)
        search_role(advice, false, two, &engine);
    if ((job->trains && train.count == 0) ||
        (job->engine != ADVISE_NONE && engine.count == 0))
        return;
    pair_choices(advice, &train, &engine, others_s);
}
