/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backfill_types_test.c - when jobs start and end in queues, with backfill and without, on several
 * types of GPU, in worlds that a seed draws, beside a second program that knows the descriptions
 * alone.
 *
 * EASY (Lifka 1995): the head of the queue is promised a start on the type of which enough GPUs are
 * free first; of equal ones, the first that it names.  Conservative (Mu'alem and Feitelson 2001):
 * each job has a promise, on the type where it is first.  Jobs name the types that they may use.
 * They end by their limit, or long after it.  Times are whole seconds, but for what runs longer
 * than it was to: its end is planned a nanosecond from now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/world.h"

#define JOBS 40u
#define TYPES 3u
#define NODE_CORES 64u          /* of an epyc-7742 */
#define NEVER INT64_MAX
#define WORLDS 300

static const char *const type_name[TYPES] = { "t4", "a100-40", "l40s" };

struct job {
    int64_t submit_ns, run_ns, limit_ns;
    uint32_t cores;                     /* 0: nobody counts them */
    uint32_t gpus, types, type[TYPES];  /* those that it may use, in the order of `nodes:` */
    int64_t start_ns, end_ns;           /* NEVER: not yet */
    int64_t from_ns, until_ns;          /* promised; of a running job, planned */
    uint32_t on;                        /* the type of its GPUs, or of its promise */
    bool here, runs;
};

enum rule { EASY, CONSERVATIVE, STRICT, SKIP, COMMIT };
enum order { BY_SUBMISSION, SHORTEST, LONGEST };        /* by the limit; STRICT, SKIP, COMMIT */

struct plain {
    enum rule rule;
    enum order order;
    uint32_t gpus[TYPES], free[TYPES];
    uint32_t free_cores;                /* of the node of the first type, if jobs ask for any */
    uint32_t depth_max;                 /* EASY: so many are looked at behind the head */
    bool reserves;                      /* EASY: the head is promised a start */
    bool early;                         /* conservative: a job ended before it was to */
    struct job *chosen;                 /* COMMIT: it keeps its turn; NULL: none does */
    int64_t chosen_until_ns;            /* when it should start */
    struct job job[JOBS];
};

static bool waits(const struct job *job)
{
    return job->here && !job->runs;
}

static void start_on(struct plain *w, struct job *job, uint32_t type, int64_t now_ns)
{
    assert_true(w->free[type] >= job->gpus);
    w->free[type] -= job->gpus;
    w->free_cores -= job->cores;
    job->runs = true;
    job->on = type;
    job->start_ns = now_ns;
    job->until_ns = now_ns + job->limit_ns;
}

/* On the first of its types with room; `not_on`: a type that it may not use, or TYPES. */
static bool start_somewhere(struct plain *w, struct job *job, uint32_t not_on, int64_t now_ns)
{
    for (uint32_t i = 0; i < job->types; i++)
        if (job->type[i] != not_on && w->free[job->type[i]] >= job->gpus &&
            w->free_cores >= job->cores) {
            start_on(w, job, job->type[i], now_ns);
            return true;
        }
    return false;
}

/* ---- EASY ------------------------------------------------------------------------ */

/* GPUs of a type, and cores, that are free at a time, if all jobs end when they are to. */
static uint32_t free_by(const struct plain *w, uint32_t type, int64_t at_ns, uint32_t *cores)
{
    uint32_t gpus = w->free[type];

    *cores = w->free_cores;
    for (const struct job *job = w->job; job < w->job + JOBS; job++)
        if (job->runs && job->on == type && job->until_ns <= at_ns) {
            gpus += job->gpus;
            *cores += job->cores;
        }
    return gpus;
}

static bool has_room_by(const struct plain *w, const struct job *head, uint32_t type,
                        int64_t at_ns)
{
    uint32_t cores, gpus = free_by(w, type, at_ns, &cores);

    return gpus >= head->gpus && cores >= head->cores;
}

/* The time from which on there is room on a type; NEVER: it has too few GPUs. */
static int64_t room_ns(const struct plain *w, const struct job *head, uint32_t type,
                       int64_t now_ns)
{
    int64_t first_ns = has_room_by(w, head, type, now_ns) ? now_ns : NEVER;

    for (const struct job *job = w->job; job < w->job + JOBS; job++)
        if (job->runs && job->until_ns >= now_ns && job->until_ns < first_ns &&
            has_room_by(w, head, type, job->until_ns))
            first_ns = job->until_ns;
    return first_ns;
}

static void fill_behind(struct plain *w, const struct job *head, int64_t now_ns)
{
    uint32_t type = TYPES, spare = 0, spare_cores = 0, looked = 0;
    int64_t at_ns = NEVER;

    for (uint32_t i = 0; w->reserves && i < head->types; i++)
        if (room_ns(w, head, head->type[i], now_ns) < at_ns) {
            type = head->type[i];
            at_ns = room_ns(w, head, type, now_ns);
            spare = free_by(w, type, at_ns, &spare_cores) - head->gpus;
            spare_cores -= head->cores;
        }
    for (uint32_t j = (uint32_t)(head - w->job) + 1; j < JOBS && looked < w->depth_max; j++) {
        struct job *job = &w->job[j];
        if (!waits(job))
            continue;
        looked++;
        bool in_time = type == TYPES || job->limit_ns <= at_ns - now_ns;
        bool beside = job->gpus <= spare && job->cores <= spare_cores;
        if (!start_somewhere(w, job, in_time || beside ? TYPES : type, now_ns))
            continue;
        if (job->on == type && !in_time) {
            spare -= job->gpus;
            spare_cores -= job->cores;
        }
    }
}

static void decide_easy(struct plain *w, int64_t now_ns)
{
    for (struct job *job = w->job; job < w->job + JOBS; job++)
        if (waits(job) && !start_somewhere(w, job, TYPES, now_ns)) {
            fill_behind(w, job, now_ns);
            return;
        }
}

/* ---- queues ---------------------------------------------------------------------- */

static bool goes_before(const struct plain *w, const struct job *a, const struct job *b)
{
    if (w->order == SHORTEST && a->limit_ns != b->limit_ns)
        return a->limit_ns < b->limit_ns;
    if (w->order == LONGEST && a->limit_ns != b->limit_ns)
        return a->limit_ns > b->limit_ns;
    return a < b;
}

/* Who waits and goes first behind `after`; NULL: nobody.  NULL as `after`: of all. */
static struct job *next_in_order(struct plain *w, const struct job *after)
{
    struct job *first = NULL;

    for (struct job *job = w->job; job < w->job + JOBS; job++)
        if (waits(job) && (after == NULL || goes_before(w, after, job)) &&
            (first == NULL || goes_before(w, job, first)))
            first = job;
    return first;
}

static void decide_queue(struct plain *w, int64_t now_ns)
{
    for (struct job *job = next_in_order(w, NULL); job != NULL; job = next_in_order(w, job))
        if (!start_somewhere(w, job, TYPES, now_ns) && w->rule == STRICT)
            return;
}

/* Of the types that a job may use, the one that is free first counts. */
static int64_t first_room_ns(const struct plain *w, const struct job *job, int64_t now_ns)
{
    int64_t first_ns = NEVER;

    for (uint32_t i = 0; i < job->types; i++) {
        int64_t at_ns = room_ns(w, job, job->type[i], now_ns);
        first_ns = at_ns < first_ns ? at_ns : first_ns;
    }
    return first_ns;
}

/* The first that does not fit keeps its turn; who should end before it starts goes ahead, in the
 * order of submission.  When it should start is asked once. */
static void decide_commit(struct plain *w, int64_t now_ns)
{
    while (w->chosen == NULL || start_somewhere(w, w->chosen, TYPES, now_ns)) {
        w->chosen = next_in_order(w, NULL);
        if (w->chosen == NULL)
            return;
        if (start_somewhere(w, w->chosen, TYPES, now_ns)) {
            w->chosen = NULL;
            continue;
        }
        w->chosen_until_ns = first_room_ns(w, w->chosen, now_ns);
        break;
    }
    for (struct job *job = w->job; job < w->job + JOBS; job++)
        if (waits(job) && job != w->chosen && job->limit_ns < w->chosen_until_ns - now_ns)
            start_somewhere(w, job, TYPES, now_ns);
}

/* ---- conservative ---------------------------------------------------------------- */

static uint32_t promised_at(const struct plain *w, uint32_t type, int64_t at_ns)
{
    uint32_t gpus = 0;

    for (const struct job *job = w->job; job < w->job + JOBS; job++)
        if (job->here && job->on == type && job->from_ns <= at_ns && at_ns < job->until_ns)
            gpus += job->gpus;
    return gpus;
}

/* GPUs are taken at the beginnings of promises, so that these instants are all to look at. */
static bool has_room(const struct plain *w, const struct job *job, uint32_t type, int64_t from_ns)
{
    bool has = promised_at(w, type, from_ns) + job->gpus <= w->gpus[type];

    for (const struct job *other = w->job; has && other < w->job + JOBS; other++)
        if (other->here && other->from_ns > from_ns && other->from_ns < from_ns + job->limit_ns)
            has = promised_at(w, type, other->from_ns) + job->gpus <= w->gpus[type];
    return has;
}

static void withdraw(struct job *job)
{
    job->from_ns = job->until_ns = NEVER;
}

/* The first time from now on that is the end of a promise, on any of its types.  A promise that is
 * no later stays. */
static void give_promise(struct plain *w, struct job *job, int64_t now_ns)
{
    int64_t first_ns = job->from_ns;
    uint32_t on = job->on;

    withdraw(job);
    for (uint32_t i = 0; i < job->types; i++)
        for (uint32_t j = 0; j <= JOBS; j++) {
            int64_t from_ns = j == JOBS ? now_ns : w->job[j].until_ns;
            bool ends = j == JOBS || w->job[j].here;
            if (ends && from_ns >= now_ns && from_ns < first_ns &&
                has_room(w, job, job->type[i], from_ns)) {
                first_ns = from_ns;
                on = job->type[i];
            }
        }
    assert_true(first_ns < NEVER);
    job->from_ns = first_ns;
    job->until_ns = first_ns + job->limit_ns;
    job->on = on;
}

/* What runs longer than it was to breaks all promises. */
static bool break_promises(struct plain *w, int64_t now_ns)
{
    bool broken = false;

    for (struct job *job = w->job; job < w->job + JOBS; job++) {
        broken |= waits(job) && job->from_ns < now_ns;
        if (job->runs && job->until_ns <= now_ns) {
            job->until_ns = now_ns + 1;
            broken = true;
        }
    }
    for (struct job *job = w->job; broken && job < w->job + JOBS; job++)
        if (waits(job))
            withdraw(job);
    return broken;
}

/* Returns when a promise is due next, if nothing is to end by then; else NEVER. */
static int64_t decide_conservative(struct plain *w, int64_t now_ns)
{
    bool all = break_promises(w, now_ns) || w->early;
    int64_t next_ns = NEVER;

    for (struct job *job = w->job; job < w->job + JOBS; job++)
        if (waits(job) && (all || job->from_ns == NEVER))
            give_promise(w, job, now_ns);
    w->early = false;
    for (struct job *job = w->job; job < w->job + JOBS; job++) {
        if (!waits(job))
            continue;
        if (job->from_ns <= now_ns)
            start_on(w, job, job->on, now_ns);
        else if (job->from_ns < next_ns)
            next_ns = job->from_ns;
    }
    for (const struct job *job = w->job; job < w->job + JOBS; job++)
        if (job->runs && job->until_ns <= next_ns)
            return NEVER;
    return next_ns;
}

/* ---- time ------------------------------------------------------------------------ */

static int64_t next_event_ns(const struct plain *w, int64_t due_ns)
{
    int64_t next_ns = due_ns;

    for (const struct job *job = w->job; job < w->job + JOBS; job++) {
        int64_t at_ns = job->runs ? job->start_ns + job->run_ns : NEVER;
        if (!job->here && job->end_ns == NEVER)
            at_ns = job->submit_ns;
        next_ns = at_ns < next_ns ? at_ns : next_ns;
    }
    return next_ns;
}

static void run_plain(struct plain *w, enum rule rule)
{
    int64_t now_ns, due_ns = NEVER;

    memcpy(w->free, w->gpus, sizeof w->free);
    w->free_cores = NODE_CORES;
    w->early = false;
    w->rule = rule;
    w->chosen = NULL;
    for (struct job *job = w->job; job < w->job + JOBS; job++) {
        job->start_ns = job->end_ns = NEVER;
        job->here = job->runs = false;
        withdraw(job);
    }
    while ((now_ns = next_event_ns(w, due_ns)) != NEVER) {
        for (struct job *job = w->job; job < w->job + JOBS; job++)
            if (job->runs && job->start_ns + job->run_ns == now_ns) {
                job->end_ns = now_ns;
                job->here = job->runs = false;
                w->free[job->on] += job->gpus;
                w->free_cores += job->cores;
                w->early |= job->until_ns > now_ns;
                withdraw(job);
            }
        for (struct job *job = w->job; job < w->job + JOBS; job++)
            job->here |= job->end_ns == NEVER && job->submit_ns == now_ns;
        due_ns = NEVER;
        if (rule == EASY)
            decide_easy(w, now_ns);
        else if (rule == CONSERVATIVE)
            due_ns = decide_conservative(w, now_ns);
        else if (rule == COMMIT)
            decide_commit(w, now_ns);
        else
            decide_queue(w, now_ns);
    }
}

/* ---- worlds ---------------------------------------------------------------------- */

/* The first jobs name one type each. */
static void draw_types(struct rng *rng, const struct plain *w, uint32_t j, struct job *job)
{
    uint32_t first = j < TYPES ? j : (uint32_t)rng_below(rng, TYPES), most = 0;
    uint32_t count = j < TYPES ? 1 : 1 + (uint32_t)rng_below(rng, TYPES);

    for (uint32_t t = 0; t < TYPES; t++)
        if ((t + TYPES - first) % TYPES < count) {
            job->type[job->types++] = t;
            most = w->gpus[t] > most ? w->gpus[t] : most;
        }
    job->gpus = 1 + (uint32_t)rng_below(rng, most);
}

static void draw_world(struct rng *rng, struct plain *w)
{
    static const int64_t s = 1000000000;
    uint64_t gap = 5 + rng_below(rng, 60);
    bool overrun = rng_below(rng, 2) == 0;
    int64_t at_s = 0;

    memset(w, 0, sizeof *w);
    w->depth_max = rng_below(rng, 3) == 0 ? 1 + (uint32_t)rng_below(rng, 4) : JOBS;
    w->reserves = rng_below(rng, 5) > 0;
    w->order = (enum order)rng_below(rng, 3);
    for (uint32_t t = 0; t < TYPES; t++)
        w->gpus[t] = 2 + (uint32_t)rng_below(rng, 5);
    for (uint32_t j = 0; j < JOBS; j++) {
        struct job *job = &w->job[j];
        int64_t run_s = 1 + (int64_t)(rng_below(rng, 20) * rng_below(rng, 20));
        int64_t limit_s = run_s;
        uint64_t how = rng_below(rng, 4);
        if (how == 0)
            limit_s += (int64_t)rng_below(rng, 200);
        else if (how == 1 && overrun)
            limit_s = 1 + (int64_t)rng_below(rng, (uint64_t)run_s);
        at_s += j < TYPES ? 0 : (int64_t)(rng_below(rng, 3) * rng_below(rng, gap));
        job->submit_ns = at_s * s;
        job->run_ns = run_s * s;
        job->limit_ns = limit_s * s;
        draw_types(rng, w, j, job);
    }
}

static void run_product(const struct plain *w, const char *policy, struct world_job *out)
{
    struct world world = { 0 };
    char csv[5000], nodes[400] = "", text[2000];
    bool cores = w->job[0].cores > 0;
    int n = sprintf(csv, "job,submit,duration,gpus,limit,cores,types\n"), m = 0;

    for (uint32_t j = 0; j < JOBS; j++) {
        const struct job *job = &w->job[j];
        n += sprintf(csv + n, "%u,%lld,%lld,%u,%lld,%u,", j, (long long)job->submit_ns / 1000000000,
                     (long long)job->run_ns / 1000000000, job->gpus,
                     (long long)job->limit_ns / 1000000000, job->cores);
        for (uint32_t i = 0; i < job->types; i++)
            n += sprintf(csv + n, "%s%s", i == 0 ? "" : "|", type_name[job->type[i]]);
        n += sprintf(csv + n, "\n");
    }
    for (uint32_t t = 0; t < TYPES; t++)
        m += sprintf(nodes + m, "%s{name: n%u, count: 1, gpus: {type: %s, count: %u}, cpu: {type: "
                     "epyc-7742, sockets: 1}, memory: 1TB}", t == 0 ? "" : ", ", t, type_name[t],
                     w->gpus[t]);
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [%s]}\nworkload: {trace: "
             "{file: jobs.csv, format: csv, origin: file, estimate: requested, columns: {job: job, "
             "submit: submit, duration: duration, gpus: gpus, limit: limit, gpu_types: types%s}}}\n"
             "policies: [{policy: %s, placement: %s}]\n", nodes, cores ? ", cores: cores" : "",
             policy, w->rule == COMMIT ? "pack" : "count");
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, out, NULL))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    world_close(&world);
}

static void compare(const struct plain *w, const struct world_job *out, const char *policy,
                    int world)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (out[j].start_s != (double)w->job[j].start_ns / 1e9 ||
            out[j].end_s != (double)w->job[j].end_ns / 1e9)
            fail_msg("world %d, %s, job %u: %.9f to %.9f s, as described %.9f to %.9f", world,
                     policy, j, out[j].start_s, out[j].end_s, (double)w->job[j].start_ns / 1e9,
                     (double)w->job[j].end_ns / 1e9);
}

/* One type, one node: a job takes cores beside its GPUs, many or few. */
static void draw_cores(struct rng *rng, struct plain *w)
{
    for (struct job *job = w->job; job < w->job + JOBS; job++) {
        job->types = 1;
        job->type[0] = 0;
        job->gpus = 1 + (uint32_t)rng_below(rng, w->gpus[0]);
        job->cores = 1 + (uint32_t)rng_below(rng, rng_below(rng, 3) == 0 ? NODE_CORES : 20);
    }
}

static void compare_worlds(uint64_t seed, enum rule rule, bool cores)
{
    static const char *const order[] = { "fcfs", "sjf", "ljf" };
    struct world_job out[JOBS];
    struct plain w;
    struct rng rng;
    char policy[80] = "conservative";

    rng_init(&rng, seed, "types", 0);
    for (int i = 0; i < WORLDS; i++) {
        draw_world(&rng, &w);
        if (cores)
            draw_cores(&rng, &w);
        if (rule == EASY)
            snprintf(policy, sizeof policy, "easy, depth_max: %u, reservation: %s", w.depth_max,
                     w.reserves ? "head" : "none");
        if (rule == COMMIT)
            snprintf(policy, sizeof policy, "%s, blocking: commit, backfill: true",
                     order[w.order]);
        for (uint32_t j = 0; rule == COMMIT && j < JOBS; j++)
            w.job[j].submit_ns += (int64_t)j * 1000000000;      /* no two at one instant */
        w.rule = rule;
        if (rule == STRICT || rule == SKIP)
            snprintf(policy, sizeof policy, "%s, blocking: %s", order[w.order],
                     rule == STRICT ? "strict" : "skip");
        run_product(&w, policy, out);
        run_plain(&w, rule);
        compare(&w, out, policy, i);
    }
}

static void easy_promises_the_type_that_is_free_first(void **state)
{
    (void)state;
    compare_worlds(3, EASY, false);
}

static void easy_promises_cores_and_gpus_at_once(void **state)
{
    (void)state;
    compare_worlds(5, EASY, true);
}

static void queues_try_types_in_their_order(void **state)
{
    (void)state;
    compare_worlds(6, STRICT, false);
    compare_worlds(7, SKIP, false);
}

static void who_keeps_its_turn_starts_on_the_type_that_is_free_first(void **state)
{
    (void)state;
    compare_worlds(8, COMMIT, false);
}

static void conservative_promises_the_type_where_a_job_is_first(void **state)
{
    (void)state;
    compare_worlds(4, CONSERVATIVE, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(easy_promises_the_type_that_is_free_first),
        cmocka_unit_test(easy_promises_cores_and_gpus_at_once),
        cmocka_unit_test(queues_try_types_in_their_order),
        cmocka_unit_test(who_keeps_its_turn_starts_on_the_type_that_is_free_first),
        cmocka_unit_test(conservative_promises_the_type_where_a_job_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
