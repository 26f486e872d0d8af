/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.c - a workload file into jobs: a mix of recipes, or a trace.
 *
 * What a job is like is fixed by (seed, replica, number of the job) alone:
 * kind, steps, limit, deadline and lengths come from streams of their own that
 * begin anew with every job, so that a change of one key, or of the arrival
 * rate, moves nothing else (common random numbers).
 */
#include "workloads/source.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/place.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"
#include "sim/text/string_set.h"
#include "workloads/jobs/birth.h"
#include "workloads/jobs/packing.h"
#include "workloads/random/arrival.h"
#include "workloads/random/distribution.h"
#include "workloads/recipes/notes.h"
#include "workloads/recipes/recipe.h"
#include "workloads/replay/trace.h"
#include "workloads/requests/services.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

#define MEAN_DRAWS 20000u

/* The keys of `workload:` as they are written. */
struct workload_keys {
    const char *name;
    const struct conf_node *arrival, *mix, *trace, *services;
    int64_t jobs, for_ns;
};

static const struct conf_field workload_fields[] = {
    CONF_KEY("name", CONF_TEXT, workload_keys, name, CONF_ABSENT,
             "what the workload is called"),
    CONF_KEY("arrival", CONF_NODE, workload_keys, arrival, CONF_ABSENT,
             "when jobs arrive"),
    CONF_KEY("jobs", CONF_INT, workload_keys, jobs, CONF_ABSENT, "so many jobs",
             .min = 1, .max = 4e9),
    CONF_KEY("for", CONF_TIME, workload_keys, for_ns, CONF_ABSENT,
             "jobs that arrive before this time", .min = 1e-9, .max = 9e9),
    CONF_KEY("mix", CONF_NODE, workload_keys, mix, CONF_ABSENT,
             "list of kinds of jobs; its order says nothing, which job is of "
             "which kind follows from their names"),
    CONF_KEY("trace", CONF_NODE, workload_keys, trace, CONF_ABSENT,
             "jobs of a file; instead of arrival, mix, jobs and for"),
    CONF_KEY("services", CONF_NODE, workload_keys, services, CONF_ABSENT,
             "list of services and their requests, beside jobs or alone; its "
             "order says nothing, results have them by name"),
};
const struct conf_schema workload_schema =
    CONF_SCHEMA("workload", "where jobs come from", workload_fields);

/* What the file states; it does not change after reading, and trials share it. */
struct workload_spec {
    struct arrival arrival;
    uint64_t jobs_max;          /* UINT64_MAX: no limit */
    int64_t for_ns;             /* CLOCK_NEVER_NS: no limit */
    struct entry *entry;
    double *share;
    size_t entry_count;
    const struct trace_spec *trace;     /* NULL: a mix */
    struct service_entry *service;
    size_t service_count;
};

/* The stream of one trial. */
struct source {
    const struct workload_spec *spec;
    uint64_t seed;
    uint32_t replica;
    uint64_t jobs;
    struct arrival_clock clock;
    struct trace *trace;
};

/* ---- reading ---------------------------------------------------------- */

/* "pretrain, sft, ...": all recipes there are. */
static const char *list_recipes(struct arena *arena)
{
    size_t bytes = 1;
    char *list, *end;

    for (size_t i = 0; i < recipe_count; i++)
        bytes += strlen(recipe_table[i]->name) + 2;
    end = list = arena_alloc(arena, bytes, 1);
    for (size_t i = 0; i < recipe_count; i++)
        end += sprintf(end, "%s%s", i > 0 ? ", " : "", recipe_table[i]->name);
    return list;
}

/* The recipe of that name, which stands at `pos`; NULL and an err: none is. */
static const struct recipe *find_recipe(const struct world *world,
                                        const char *name, struct err_pos pos)
{
    const char **names, *near;

    for (size_t i = 0; i < recipe_count; i++)
        if (strcmp(recipe_table[i]->name, name) == 0)
            return recipe_table[i];
    names = arena_alloc(world->arena, recipe_count + 1, sizeof *names);
    for (size_t i = 0; i < recipe_count; i++)
        names[i] = recipe_table[i]->name;
    err_set(world->err, ERR_REFERENCE, pos, "%s is no recipe; allowed are %s",
            name, list_recipes(world->arena));
    near = conf_nearest(name, names);
    if (near != NULL)
        err_hint(world->err, "Did you mean %s?", near);
    return NULL;
}

/* Reads one kind of job of a mix: its recipe expands the keys into a form. */
static bool read_entry(const struct world *world,
                       const struct conf_node *conf, struct entry *out)
{
    const struct recipe *recipe;
    const struct conf_node *name;

    if (conf_kind(conf) != CONF_MAP)
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "an entry of mix must be a mapping such as {recipe: "
                       "sft, ...}");
    name = conf_get(conf, "recipe");
    if (name == NULL || conf_kind(name) != CONF_SCALAR)
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "recipe is missing: what kind of job this is");
    recipe = find_recipe(world, conf_text(name), conf_pos(name));
    if (recipe == NULL || !recipe->expand(recipe, world, conf, out))
        return false;
    out->recipe = recipe;
    out->conf = conf;
    return true;
}

/* Results and `packing` name entries, so that two may not share a name. */
static bool check_names(const struct workload_spec *spec, size_t i,
                        struct err_pos pos, struct err *err)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(spec->entry[i].form->name, spec->entry[j].form->name) == 0)
            return err_set(err, ERR_SCHEMA, pos,
                           "two entries of mix are called %s; give each a "
                           "name", spec->entry[i].form->name);
    return true;
}

/* Every name in a `packing` must be that of an entry of this mix. */
static bool check_packing(const struct workload_spec *spec,
                          const struct world *world,
                          const struct conf_node *list)
{
    size_t count = spec->entry_count;
    const struct job_form **form = arena_alloc(world->arena, count,
                                               sizeof *form);

    for (size_t i = 0; i < count; i++)
        form[i] = spec->entry[i].form;
    for (size_t i = 0; i < count; i++)
        if (form[i]->packing != NULL &&
            !packing_names_ok(world,
                              conf_get(conf_item(list, i), "packing"), form,
                              count))
            return false;
    return true;
}

/* By name: which entry a job is of must not hang on the order of the list. */
static void sort_entries(struct workload_spec *spec)
{
    for (size_t i = 1; i < spec->entry_count; i++) {
        struct entry entry = spec->entry[i];
        size_t j = i;

        for (; j > 0 && string_set_order(entry.form->name,
                                         spec->entry[j - 1].form->name) < 0; j--)
            spec->entry[j] = spec->entry[j - 1];
        spec->entry[j] = entry;
    }
    for (size_t i = 0; i < spec->entry_count; i++)
        spec->share[i] = spec->entry[i].share;
}

/* Entries in the order of their names; at least one share must be above 0. */
static bool read_mix(struct workload_spec *spec, const struct world *world,
                     const struct conf_node *list)
{
    double sum = 0.0;
    size_t count = conf_kind(list) == CONF_LIST ? conf_count(list) : 0;

    if (count == 0)
        return err_set(world->err, ERR_SCHEMA, conf_pos(list),
                       "mix must be a list of entries such as {recipe: sft, "
                       "...}");
    spec->entry = arena_alloc(world->arena, count, sizeof *spec->entry);
    spec->share = arena_alloc(world->arena, count, sizeof *spec->share);
    spec->entry_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(list, i);

        if (!read_entry(world, item, &spec->entry[i]) ||
            !check_names(spec, i, conf_pos(item), world->err))
            return false;
        sum += spec->entry[i].share;
    }
    if (sum > 0.0) {
        if (!check_packing(spec, world, list))
            return false;
        sort_entries(spec);
        return true;
    }
    return err_set(world->err, ERR_RANGE, conf_pos(list),
                   "at least one share of mix must be greater than 0");
}

/* A mix needs arrivals, and an end of them: by number, by time, or by a list
 * of times. */
static bool read_synthetic(struct workload_spec *spec,
                           const struct world *world,
                           const struct conf_node *conf,
                           const struct workload_keys *keys)
{
    if (keys->arrival == NULL || keys->mix == NULL)
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "%s is missing: a workload has arrival and mix, or "
                       "trace", keys->arrival == NULL ? "arrival" : "mix");
    if (!arrival_read(world->arena, keys->arrival, &spec->arrival,
                      world->err))
        return false;
    spec->jobs_max = keys->jobs > 0 ? (uint64_t)keys->jobs : UINT64_MAX;
    spec->for_ns = keys->for_ns > 0 ? keys->for_ns : CLOCK_NEVER_NS;
    if (spec->arrival.time_count > 0 && keys->jobs > 0 &&
        spec->jobs_max > spec->arrival.time_count)
        return err_set(world->err, ERR_RANGE, conf_pos(conf_get(conf, "jobs")),
                       "jobs must be at most %zu, as many as arrival has times, "
                       "and is %" PRIu64, spec->arrival.time_count,
                       spec->jobs_max);
    if (keys->jobs == 0 &&
        (spec->arrival.process == ARRIVAL_ALL_AT_ONCE ||
         (keys->for_ns == 0 &&
          arrival_end_ns(&spec->arrival) == CLOCK_NEVER_NS)))
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "jobs%s is missing: when do arrivals end",
                       spec->arrival.process == ARRIVAL_ALL_AT_ONCE
                           ? "" : " or for");
    return read_mix(spec, world, keys->mix);
}

/* Keys of a mix beside a trace are refused: they would do nothing. */
static bool read_trace(struct workload_spec *spec, const struct world *world,
                       const struct conf_node *conf,
                       const struct workload_keys *keys)
{
    static const char *const apart[] = {"arrival", "mix", "jobs", "for"};

    for (size_t i = 0; i < COUNT(apart); i++)
        if (conf_get(conf, apart[i]) != NULL)
            return err_set(world->err, ERR_SCHEMA,
                           conf_pos(conf_get(conf, apart[i])),
                           "%s has no meaning beside trace%s", apart[i],
                           i < 2 ? "" : "; use its slice");
    spec->trace = trace_read(world, keys->trace);
    return spec->trace != NULL &&
           (keys->services == NULL ||
            trace_fits_services(spec->trace, world->err));
}

/* A workload has jobs, from a trace or drawn, or services, or both. */
const struct workload_spec *workload_read(struct arena *arena,
                                          const struct conf_node *conf,
                                          const struct catalogue *catalogue,
                                          const struct cluster_spec *cluster,
                                          struct err *err)
{
    struct world world = {arena, catalogue, cluster, err};
    struct workload_spec *spec = arena_alloc(arena, 1, sizeof *spec);
    struct workload_keys keys = {0};
    bool good;

    assert(conf != NULL && catalogue != NULL && cluster != NULL);
    if (!conf_fill(conf, &workload_schema, &keys, err))
        return NULL;
    if (keys.services != NULL) {
        spec->service = services_read(&world, keys.services,
                                      &spec->service_count);
        if (spec->service == NULL)
            return NULL;
    }
    if (keys.services != NULL && keys.trace == NULL && keys.mix == NULL &&
        keys.arrival == NULL)
        return spec;                    /* services alone */
    good = keys.trace != NULL ? read_trace(spec, &world, conf, &keys)
                              : read_synthetic(spec, &world, conf, &keys);
    return good ? spec : NULL;
}

size_t workload_service_count(const struct workload_spec *spec)
{
    return spec->service_count;
}

const struct service_entry *workload_service(const struct workload_spec *spec,
                                             size_t i)
{
    assert(i < spec->service_count);
    return &spec->service[i];
}

/* ---- what a workload is ----------------------------------------------- */

bool workload_draws(const struct workload_spec *spec)
{
    return spec->entry_count > 0 || spec->service_count > 0 ||
           (spec->trace != NULL && trace_draws(spec->trace));
}

size_t workload_form_count(const struct workload_spec *spec)
{
    return spec->trace != NULL ? 1 : spec->entry_count;
}

const struct job_form *workload_form(const struct workload_spec *spec,
                                     size_t i)
{
    assert(i < workload_form_count(spec));
    return spec->trace != NULL ? trace_form(spec->trace)
                               : spec->entry[i].form;
}

bool workload_is_trace_alone(const struct workload_spec *spec)
{
    return spec->trace != NULL && spec->service_count == 0;
}

int64_t workload_begin_ns(const struct workload_spec *spec)
{
    return spec->trace != NULL ? trace_begin_ns(spec->trace) : 0;
}

/* Parts of a GPU become thousandths, rounded to the nearest. */
struct job_request workload_request(const struct workload_spec *spec, size_t i)
{
    struct job_request request = {.form = workload_form(spec, i), .steps = 1,
                                  .rate_known = 1.0};
    const struct entry *entry = spec->trace != NULL ? NULL : &spec->entry[i];

    request.tenant = entry != NULL ? entry->tenant : NULL;
    if (entry != NULL && entry->whole) {
        double most = distribution_most(&entry->gpus);

        request.rates = entry->rates;
        request.gpus = most < 1.0 ? 1 : (uint32_t)most;
        request.gpu_milli = most < 1.0 ? (uint32_t)rint(most * 1000.0) : 0;
    }
    return request;
}

size_t workload_notes(struct arena *arena, const struct workload_spec *spec,
                      size_t i, struct workload_note *note, size_t room)
{
    if (spec->trace != NULL || spec->entry[i].whole)
        return 0;
    return entry_notes(arena, &spec->entry[i], note, room);
}

/* Mean of draws that are rounded or cut: by drawing; always the same ones. */
static double average_draws(const struct distribution *d, double least,
                            double unit)
{
    struct rng rng;
    double sum = 0.0;

    rng_init(&rng, 1, "mean", 0);
    for (uint32_t k = 0; k < MEAN_DRAWS; k++)
        sum += fmax(round(distribution_draw(d, &rng) / unit), least);
    return sum / MEAN_DRAWS;
}

/* In seconds; what is longer than a job may be is cut. */
static double average_time(const struct distribution *d)
{
    if (distribution_most(d) <= WHOLE_JOB_MAX_S &&
        isinf(d->min) && isinf(d->max))
        return distribution_mean(d);
    struct rng rng;
    double sum = 0.0;

    rng_init(&rng, 1, "mean", 0);
    for (uint32_t k = 0; k < MEAN_DRAWS; k++)
        sum += fmin(distribution_draw(d, &rng), WHOLE_JOB_MAX_S);
    return sum / MEAN_DRAWS;
}

/* The mean of one entry of a mix, by its share. */
struct workload_mean workload_mean(const struct workload_spec *spec, size_t i)
{
    struct workload_mean part = {.runs = 1.0};
    double sum = 0.0;

    assert(spec->trace == NULL && i < spec->entry_count);
    const struct entry *entry = &spec->entry[i];
    for (size_t k = 0; k < spec->entry_count; k++)
        sum += spec->share[k];
    part.share = spec->share[i] / sum;
    if (entry->whole) {
        part.gpus = distribution_mean(&entry->gpus);
        part.gpu_s = part.gpus * average_time(&entry->duration);
    } else {
        part.runs = average_draws(&entry->steps, 1.0, entry->steps_per_run) +
                    entry->form->lag;
    }
    return part;
}

/* Jobs a second that are to be expected; 0 where no rate is known. */
double workload_rate_per_s(const struct workload_spec *spec)
{
    const struct arrival *arrival = &spec->arrival;

    if (spec->trace != NULL || spec->entry_count == 0 ||
        arrival->process == ARRIVAL_ALL_AT_ONCE)
        return 0.0;
    if (arrival->process == ARRIVAL_FIXED)
        return arrival->every_ns > 0 ? 1e9 / (double)arrival->every_ns : 0.0;
    return arrival->rate_per_s;
}

bool workload_is_trace(const struct workload_spec *spec)
{
    return spec->trace != NULL;
}

uint64_t workload_jobs(const struct workload_spec *spec)
{
    if (spec->trace != NULL)
        return trace_counts(spec->trace).jobs;
    return spec->jobs_max == UINT64_MAX ? 0 : spec->jobs_max;
}

int64_t workload_for_ns(const struct workload_spec *spec)
{
    return spec->trace != NULL ? CLOCK_NEVER_NS : spec->for_ns;
}

int64_t workload_arrivals_end_ns(const struct workload_spec *spec)
{
    return spec->entry_count == 0 ? CLOCK_NEVER_NS
                                  : arrival_end_ns(&spec->arrival);
}

uint64_t workload_arrivals(const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica)
{
    struct arrival_clock clock;
    uint64_t count = 0;

    assert(workload_arrivals_end_ns(spec) != CLOCK_NEVER_NS);
    arrival_start(&clock, &spec->arrival, seed, replica);
    while (count < spec->jobs_max && arrival_next(&clock) < spec->for_ns)
        count++;
    return count;
}

struct source_counts workload_counts(const struct workload_spec *spec)
{
    return spec->trace != NULL ? trace_counts(spec->trace)
                               : (struct source_counts){0};
}

bool workload_has_limits(const struct workload_spec *spec)
{
    bool any = spec->trace != NULL && trace_counts(spec->trace).limits > 0;

    for (size_t i = 0; i < spec->entry_count; i++)
        any |= spec->entry[i].has_limit || spec->entry[i].limit_is_factor;
    return any;
}

bool workload_has_parts(const struct workload_spec *spec)
{
    bool any = spec->trace != NULL && trace_counts(spec->trace).parts > 0;

    for (size_t i = 0; i < spec->entry_count; i++)
        any |= spec->entry[i].whole &&
               distribution_least(&spec->entry[i].gpus) < 1.0;
    return any;
}

bool workload_has_steps(const struct workload_spec *spec)
{
    for (size_t i = 0; i < spec->entry_count; i++)
        if (!spec->entry[i].whole)
            return true;
    return false;
}

bool workload_has_choices(const struct workload_spec *spec)
{
    for (size_t i = 0; i < workload_form_count(spec); i++) {
        const struct job_form *form = workload_form(spec, i);

        for (uint32_t r = 0; r < form->role_count; r++)
            if (job_role_chooses(&form->role[r]))
                return true;
    }
    return false;
}

enum workload_estimate workload_estimate(const struct workload_spec *spec)
{
    return spec->trace != NULL ? trace_estimate(spec->trace)
                               : ESTIMATE_EXACT;
}

/* ---- a trial's stream ------------------------------------------------- */

/* Opens the stream of jobs of one seed and replica; specs are shared and not
 * changed. */
struct source *source_open(struct arena *arena,
                           const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica)
{
    struct source *source = arena_alloc(arena, 1, sizeof *source);

    assert(spec != NULL);
    source->spec = spec;
    source->seed = seed;
    source->replica = replica;
    if (spec->trace == NULL && spec->entry_count == 0)
        return source;                  /* services alone: no jobs */
    if (spec->trace == NULL) {
        arrival_start(&source->clock, &spec->arrival, seed, replica);
        return source;
    }
    source->trace = trace_open(arena, spec->trace, seed, replica);
    return source;
}

/* The stream of one property of the job that is being made. */
static struct rng job_stream(const struct source *source, const char *name)
{
    struct rng rng;

    rng_init(&rng, source->seed, name,
             (uint64_t)source->replica << 32 | source->jobs);
    return rng;
}

/* A drawn time in ns, at least 1; CLOCK_NEVER_NS where it does not fit. */
static int64_t draw_time(const struct source *source, const char *stream,
                         const struct distribution *distribution)
{
    struct rng rng = job_stream(source, stream);
    int64_t ns;

    if (!clock_ns_from_s(distribution_draw(distribution, &rng), &ns))
        return CLOCK_NEVER_NS;
    return ns > 0 ? ns : 1;
}

/* Whole runs of the graph, at least one. */
static uint32_t draw_steps(const struct source *source,
                           const struct entry *entry)
{
    struct rng rng = job_stream(source, "steps");
    double steps = distribution_draw(&entry->steps, &rng);
    double runs = round(steps / entry->steps_per_run);

    if (!(runs >= 1.0))
        return 1;
    return runs < 1e9 ? (uint32_t)runs : 1000000000u;
}

/* Size, length and limit of a job of recipe `trace`. */
static void make_whole(const struct source *source, const struct entry *entry,
                       struct job_birth *birth)
{
    struct job_request *request = &birth->request;
    const int64_t most_ns = (int64_t)WHOLE_JOB_MAX_S * CLOCK_NS_PER_S;
    struct rng gpus = job_stream(source, "gpus");
    struct rng limit = job_stream(source, "limit");
    int64_t ns = draw_time(source, "duration", &entry->duration);

    ns = ns < most_ns ? ns : most_ns;
    birth->truth.duration_ns = ns;
    double drawn = distribution_draw(&entry->gpus, &gpus);
    request->gpus = drawn < 1.0 ? 1 : (uint32_t)drawn;
    request->gpu_milli = drawn < 1.0 ? (uint32_t)rint(drawn * 1000.0) : 0;
    request->steps = 1;
    request->rates = entry->rates;
    request->rate_known = 1.0;
    if (!entry->limit_is_factor)
        return;
    /* What goes beyond the run time is rounded: a factor of 1 is exact. */
    double beyond = fmin(distribution_draw(&entry->limit, &limit), 1e9) - 1.0;
    int64_t more_ns = clock_ns_for_work(beyond, 1e9 / (double)ns);
    request->limit_ns = clock_after(ns, more_ns);
}

/* Draws a job: first its entry, then each of its properties from a stream of
 * its own. */
static void make_job(const struct source *source, int64_t now_ns,
                     struct job_birth *birth)
{
    const struct workload_spec *spec = source->spec;
    struct rng mix = job_stream(source, "mix");
    struct rng truth = job_stream(source, "truth");
    const struct entry *entry =
        &spec->entry[rng_pick(&mix, spec->share, spec->entry_count)];
    struct job_request *request = &birth->request;
    int64_t after_ns;

    memset(birth, 0, sizeof *birth);
    request->id.i = (uint32_t)source->jobs;
    request->tenant = entry->tenant;
    request->form = entry->form;
    request->submit_ns = now_ns;
    request->priority = entry->priority;
    if (entry->whole)
        make_whole(source, entry, birth);
    else
        request->steps = draw_steps(source, entry) + entry->form->lag;
    request->deadline_ns = CLOCK_NEVER_NS;
    if (entry->has_limit)
        request->limit_ns = draw_time(source, "limit", &entry->limit);
    if (entry->has_deadline) {
        after_ns = draw_time(source, "deadline", &entry->deadline);
        if (clock_after(now_ns, after_ns) < CLOCK_NEVER_NS)
            request->deadline_ns = clock_after(now_ns, after_ns);
    }
    birth->truth.seed = rng_u64(&truth);
}

/* The next job in order of time.  Ends with the span, with the number of jobs,
 * or with the trace. */
enum source_step source_next(struct source *source, struct job_birth *birth,
                             struct err *err)
{
    int64_t now_ns;

    if (source->trace != NULL)
        return trace_next(source->trace, birth, err);
    if (source->spec->entry_count == 0 ||
        source->jobs >= source->spec->jobs_max || source->jobs >= ID_NONE)
        return SOURCE_END;
    now_ns = arrival_next(&source->clock);
    if (now_ns >= source->spec->for_ns)
        return SOURCE_END;
    make_job(source, now_ns, birth);
    source->jobs++;
    return SOURCE_JOB;
}

/* What a job asks of one node: a gang is taken to lie on one. */
static struct place_demand find_demand(const struct job_request *request)
{
    const struct role_spec *role = &request->form->role[0];
    uint32_t gpus = job_role_gpus(request, 0);
    struct place_demand out = {
        .task = { .core_milli = role->core_milli, .gpus = gpus,
                 .gpu_milli = gpus > 0 ? job_role_milli(request, 0) : 0 },
        .gpu_types = role->gpu_types, .jobs = 1,
        .gpu_type_count = role->gpu_type_count,
    };

    if (!role->pod)
        out.task.core_milli = (int64_t)role->cores *
                             (gpus > 0 ? gpus * out.task.gpu_milli : 1000);
    return out;
}

/* Kinds of jobs while they are collected for placement rules. */
struct demands {
    struct arena *arena;
    struct place_demand *item;
    size_t count, room;
};

/* Counts a job with those that ask alike; kinds are few, and are searched one
 * by one. */
static void count_demand(struct demands *all, const struct place_demand *one)
{
    for (size_t i = 0; i < all->count; i++) {
        struct place_demand *item = &all->item[i];
        if (item->task.core_milli == one->task.core_milli &&
            item->task.gpus == one->task.gpus &&
            item->task.gpu_milli == one->task.gpu_milli &&
            item->gpu_types == one->gpu_types) {
            item->jobs++;
            return;
        }
    }
    ARENA_ADD(all->arena, all->item, all->count, all->room, *one);
}

/* A trace is taken in the order of its file: a resample would be drawn anew. */
bool workload_demand(struct arena *arena, const struct workload_spec *spec,
                     uint64_t seed, const struct place_demand **demand,
                     size_t *count, struct err *err)
{
    struct demands all = {.arena = arena};
    struct arena *scratch = arena_new(0);
    struct source *source = source_open(scratch, spec, seed, TRACE_AS_FILED);
    enum source_step step = SOURCE_ERROR;
    struct job_birth birth;

    while ((spec->trace != NULL || source->jobs < DEMAND_DRAWN) &&
           (step = source_next(source, &birth, err)) == SOURCE_JOB) {
        struct place_demand one = find_demand(&birth.request);
        count_demand(&all, &one);
    }
    arena_free(scratch);
    *demand = all.item;
    *count = all.count;
    return step != SOURCE_ERROR;
}
