/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advised_test.c - the policy that a trained network advises: what it is
 * untrained, and that its weights decide.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "tests/aid/family_aid.h"

/* Numbers of each list, as policies/README.md tells them. */
static const struct {
    const char *key;
    int count;
} list[] = {
    { "task", 72 }, { "context", 184 }, { "order_hidden", 136 }, { "order", 16 },
    { "place_hidden", 296 }, { "place", 28 },
};

/* Hidden layers of some numbers, heads of `head` and its negative in turn. */
static void write_weights(const struct program *program, const char *name,
                          double head)
{
    char path[192];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", program->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("weights:\n", file);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        bool is_head = strcmp(list[i].key, "order") == 0 ||
                       strcmp(list[i].key, "place") == 0;

        fprintf(file, "  %s: [", list[i].key);
        for (int k = 0; k < list[i].count; k++)
            fprintf(file, "%s%g", k > 0 ? ", " : "",
                    is_head ? (k % 2 ? -head : head) : (k * 7 % 11 - 5) / 10.0);
        fputs("]\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

/* sizes: what the roles of the job with phases say beside `gpus: 8`. */
static void run_sized(const struct program *program, const char *policies, const char *sizes)
{
    char path[192];
    FILE *file;

    snprintf(path, sizeof path, "%s/e.yaml", program->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "experiment: advised\nseed: 5\nseeds: 2\nuntil: drained\n"
            "cluster: {nodes: [{name: rollout, count: 2, gpus: {type: l40s, count: 8}, "
            "cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ethernet-100}}, "
            "{name: train, count: 2, gpus: {type: a100-80, count: 8}, "
            "cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr}}], "
            "storage: {bandwidth: 20GB/s}}\n"
            "workload: {arrival: {process: poisson, rate: 40/h}, jobs: 12, mix: ["
            "{recipe: dpo, name: dpo, model: qwen2.5-7b, method: lora, recompute: full, "
            "prompts: 32, prompt_tokens: 128, response: {mean: 200, cv: 1, max: 900}, "
            "steps: {uniform: [2, 9]}, rollout: {gpus: 8, %s"
            "types: [l40s, a100-80], start: wake}, train: {gpus: 8, %s"
            "types: [l40s, a100-80], start: process}}, "
            "{recipe: sft, name: sft, model: qwen2.5-0.5b, batch: 16, sequence: 512, "
            "steps: {uniform: [20, 90]}, train: {gpus: 4}}]}\n"
            "policies: [%s]\nsweep: {workload.arrival.rate: [10/h, 200/h]}\n"
            "output: {tables: [summary, jobs, phases, decisions], plots: [], "
            "detail_seeds: all}\n", sizes, sizes, policies);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(program_experiment(program, path, "out", NULL), 0);
}

static void run_policies(const struct program *program, const char *policies)
{
    run_sized(program, policies, "min: 4, max: 16, ");
}

/* The rows of a policy without its name; to be freed. */
static char *rows_without_name(const struct program *program, const char *table,
                               const char *policy)
{
    char *text = program_result(program, "out", table), field[64];
    char *out = calloc(strlen(text) + 1, 1);

    assert_non_null(out);
    for (const char *line = text; line[0] != '\0';
         line += strcspn(line, "\n") + 1) {
        size_t point = strcspn(line, ","), name = strlen(policy);

        csv_field(line, 1, field, sizeof field);
        if (strcmp(field, policy) == 0) {
            strncat(out, line, point);
            strncat(out, line + point + 1 + name,
                    strcspn(line, "\n") - point - name);
        }
    }
    free(text);
    return out;
}

static const char *const table[] = { "summary.csv", "jobs.csv", "phases.csv",
                                     "decisions.csv" };

static bool same_as(const struct program *program, const char *other, const char *policy,
                    const char *file)
{
    char *one = rows_without_name(program, file, other);
    char *two = rows_without_name(program, file, policy);
    bool same = strcmp(one, two) == 0;

    assert_true(strlen(one) > 1000);
    free(one);
    free(two);
    return same;
}

static bool same_as_dynamic(const struct program *program, const char *policy,
                            const char *file)
{
    return same_as(program, "dynamic", policy, file);
}

static void without_weights_it_is_dynamic_to_the_byte(void **state)
{
    run_policies(*state, "dynamic, advised");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (!same_as_dynamic(*state, "advised", table[i]))
            fail_msg("%s differs", table[i]);
}

/* The network runs then, and all its answers are factors of 1.  Owners are first by default,
 * which is another rule than that of dynamic. */
static void with_heads_of_zero_it_is_dynamic_to_the_byte(void **state)
{
    write_weights(*state, "zero.yaml", 0);
    run_policies(*state, "dynamic, {policy: dynamic, name: first, owners_first: true}, "
                 "{policy: advised, weights: zero.yaml}, "
                 "{policy: advised, name: any, weights: zero.yaml, owners_first: false}");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!same_as_dynamic(*state, "any", table[i]))
            fail_msg("%s differs", table[i]);
        if (!same_as(*state, "first", "advised", table[i]))
            fail_msg("%s differs, owners first", table[i]);
    }
}

static void with_other_heads_it_decides_otherwise(void **state)
{
    write_weights(*state, "some.yaml", 0.3);
    run_policies(*state, "dynamic, {policy: advised, weights: some.yaml}");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_false(same_as_dynamic(*state, "advised", table[i]));
}

/* ---- roles of a fixed number of GPUs ---- */

enum { KINDS = 8, RELEASE = 6 };   /* of questions, in their order in policies/advice.h */

/* Weights by which the answer depends on the kind of the question alone. */
static void write_kinds(const struct program *program, const char *name, const double out[KINDS])
{
    char path[192];

    snprintf(path, sizeof path, "%s/%s", program->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("weights:\n", file);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        bool is_place = strcmp(list[i].key, "place") == 0;

        fprintf(file, "  %s: [", list[i].key);
        for (int k = 0; k < list[i].count; k++)
            fprintf(file, "%s%g", k > 0 ? ", " : "",
                    is_place && k >= 8 && k < 8 + KINDS ? out[k - 8] : 0);
        fputs("]\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

static uint32_t tables_that_differ(const struct program *program, const char *policy)
{
    uint32_t differ = 0;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        differ += !same_as_dynamic(program, policy, table[i]);
    return differ;
}

/* Other pools count for a fourth of their time, waiting for 1.3 times as much, and lending is as if
 * switches were 1% of what they are.  The last policy gives GPUs back after every phase. */
static void of_fixed_sizes_only_giving_back_is_advised(void **state)
{
    static const double places[KINDS] = { 0.2, 0.5, -3, 1, -1, 0.3, 0, -9 };
    static const double release[KINDS] = { [RELEASE] = -1000 };
    static const char policies[] =
        "{policy: dynamic, owners_first: true}, {policy: advised, weights: places.yaml}, "
        "{policy: advised, name: gives, weights: release.yaml}";

    write_kinds(*state, "places.yaml", places);
    write_kinds(*state, "release.yaml", release);
    run_policies(*state, policies);
    assert_true(tables_that_differ(*state, "advised") > 0);
    run_sized(*state, policies, "max: 16, ");
    assert_true(tables_that_differ(*state, "advised") > 0);
    run_sized(*state, policies, "min: 4, ");
    assert_true(tables_that_differ(*state, "advised") > 0);
    run_sized(*state, policies, "");
    assert_int_equal(tables_that_differ(*state, "advised"), 0);
    assert_true(tables_that_differ(*state, "gives") > 0);
}

/* ---- the order of what waits ---- */

#define WIDTH 8
#define GPUS 8
#define JOBS 14
#define JOBS_MANY 150           /* tasks for which the policy makes room twice */

#define STATE 6                 /* inputs of the context behind two pools of embeddings */

enum { TASK, CONTEXT, HIDDEN, ORDER, LAYERS };
static double order_layer[LAYERS][(2 * WIDTH + STATE + 1) * WIDTH];

/* Writes weights of which those of the order are by lot, and all others are 0. */
static void write_order(const struct world *world, struct rng *rng)
{
    static const char *const key[LAYERS] = { "task", "context", "order_hidden", "order" };
    static const double scale[LAYERS] = { 16, 4, 16, 256 };
    char *text = calloc(20000, 1);
    size_t n = (size_t)sprintf(text, "weights:\n");

    memset(order_layer, 0, sizeof order_layer);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        n += (size_t)sprintf(text + n, "  %s: [", list[i].key);
        for (int k = 0; k < list[i].count; k++) {
            double weight = 0;
            for (int l = 0; l < LAYERS; l++)
                if (strcmp(key[l], list[i].key) == 0) {
                    weight = ((double)rng_below(rng, 101) - 50) / scale[l];
                    order_layer[l][k] = weight;
                }
            n += (size_t)sprintf(text + n, "%s%.10g", k > 0 ? ", " : "", weight);
        }
        n += (size_t)sprintf(text + n, "]\n");
    }
    assert_true(n < 20000);
    world_write(world, "weights.yaml", text);
    free(text);
}

static void add_layer(const double *weight, const double *x, int inputs, int constant, double *out)
{
    for (int h = 0; h < WIDTH; h++) {
        double sum = weight[constant * WIDTH + h];
        for (int i = 0; i < inputs; i++)
            sum += x[i] * weight[i * WIDTH + h];
        out[h] = fmax(sum, 0);
    }
}

/* log2(1 + s) / 16, a line between powers of two. */
static double squeezed(double s)
{
    int power;
    double mantissa = frexp(1 + s, &power);

    return (power - 1 + 2 * mantissa - 1) / 16;
}

/* What the network knows of a job as it comes.  All GPUs are its home: they are free when the
 * first one comes. */
static void embed(const struct world_job *job, bool is_first, double x[WIDTH],
                  double embedding[WIDTH])
{
    double size = (double)job->gpus / GPUS, time = squeezed((double)job->duration_s);
    const double known[WIDTH] = { time, 0, is_first, size, time, size, 0, 0 };

    memcpy(x, known, sizeof known);
    add_layer(order_layer[TASK], x, WIDTH, WIDTH, embedding);
}

/* The context when a job comes is that of the decision before, which none saw that came with
 * it.  At first the first job waits and all is free.  Then it runs on all GPUs, and those that
 * came since wait.  A job that runs counts as eight GPUs. */
static void look_back(const struct world_job *job, int at, double context[WIDTH])
{
    while (job[at - 1].submit_s == job[at].submit_s)
        at--;
    int first = at > 1 ? 1 : 0, count = at - first;
    double x[2 * WIDTH + STATE] = { 0 }, known[WIDTH], embedding[WIDTH];
    const double state[STATE] = { at == 1, 0, count / (count + 4.0), squeezed(count),
                                  squeezed(at > 1), (at > 1) * 8.0 / GPUS };

    for (int i = first; i < at; i++) {
        embed(&job[i], i == 0, known, embedding);
        for (int h = 0; h < WIDTH; h++) {
            x[h] += embedding[h] / count;
            x[WIDTH + h] = fmax(x[WIDTH + h], embedding[h]);
        }
    }
    memcpy(x + 2 * WIDTH, state, sizeof state);
    add_layer(order_layer[CONTEXT], x, 2 * WIDTH + STATE, 2 * WIDTH + STATE, context);
}

/* When a job has its turn, in seconds: days are earlier, ten at most. */
static double turn_s(const struct world_job *job, int at)
{
    double x[WIDTH], in[2 * WIDTH], hidden[WIDTH], days = 0;

    embed(&job[at], false, x, in);
    look_back(job, at, in + WIDTH);
    add_layer(order_layer[HIDDEN], in, 2 * WIDTH, 2 * WIDTH, hidden);
    for (int h = 0; h < WIDTH; h++)
        days += order_layer[ORDER][h] * hidden[h] + order_layer[ORDER][WIDTH + h] * x[h];
    return (double)job[at].submit_s - trunc(fmax(-10, fmin(10, days)) * 86400);
}

/* Jobs that come two at once or alone, and every other time as long as the one before: the same
 * job may come twice, in the same context or in another one, or as another one but for its size. */
static void draw_jobs(struct world_job *job, int jobs, struct rng *rng)
{
    job[0] = (struct world_job) { 0, 100000, GPUS, 0, 0 };
    for (int i = 1; i < jobs; i++) {
        job[i] = (struct world_job) { .gpus = 5 + (uint32_t)rng_below(rng, 4),
            .duration_s = 1 + (int64_t)rng_below(rng, UINT64_C(1) << rng_below(rng, 20)) };
        if (rng_below(rng, 2) == 0)
            job[i].duration_s = job[i - 1].duration_s;
        job[i].submit_s = 1 + i * 2 / 3;
    }
}

/* While the first job has all GPUs the others come, each of which takes more than half of
 * them: so they start one by one. */
static void jobs_start_by_the_turns_of_the_network(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "advised", 0);
    for (int round = 0; round < 20; round++) {
        struct world_job job[JOBS_MANY];
        struct world world = { .folder = "" }, weights = { .folder = "" };
        char entry[160];
        int counted = 0, jobs = round < 18 ? JOBS : JOBS_MANY;
        double turn[JOBS_MANY];

        draw_jobs(job, jobs, &rng);
        strcpy(weights.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(weights.folder));
        write_order(&weights, &rng);
        snprintf(entry, sizeof entry, "[{policy: advised, depth: 1000, weights: "
                 "%s/weights.yaml}]", weights.folder);
        if (!world_trace(&world, 1, GPUS, job, (uint32_t)jobs, entry) ||
            !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s", world_error(&world));
        for (int i = 1; i < jobs; i++)
            turn[i] = turn_s(job, i);
        for (int i = 1; i < jobs; i++)
            for (int k = 1; k < jobs; k++) {
                if (turn[i] >= turn[k])
                    continue;
                counted++;
                if (job[i].start_s > job[k].start_s)
                    fail_msg("round %d: job %d before job %d", round, k, i);
            }
        assert_true(counted > 0);
        snprintf(entry, sizeof entry, "%s/weights.yaml", weights.folder);
        unlink(entry);
        rmdir(weights.folder);
        world_close(&world);
    }
}

/* ---- the place head ---- */

#define LEAST 16.13
#define SEEDS 5

/* Weights that are not 0: by them a job starts on its smallest size if three numbers are above
 * LEAST together: the GPUs that it asks for, 10 k / (k + 4) of k jobs that wait, and a fourth
 * of the GPUs that are free in its home, which has 32 of 64. */
static const struct {
    const char *key;
    int at;
    double weight;
} shrink[] = {
    { "task", 3 * 8, 64 },              /* the job's part of all GPUs */
    { "context", 18 * 8, 1 },           /* k / (k + 4) */
    { "place_hidden", 0, 1 }, { "place_hidden", 8 * 8, 10 },    /* of both */
    { "place_hidden", (16 + 4) * 8, 20 },       /* is it asked about the smallest size? */
    { "place_hidden", (24 + 5) * 8, 8 },        /* the free part of its home */
    { "place_hidden", 36 * 8, -20 - LEAST },
    { "place", 0, -100 },
};

static void write_shrink(const struct program *program)
{
    char path[192];

    snprintf(path, sizeof path, "%s/shrink.yaml", program->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("weights:\n", file);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        fprintf(file, "  %s: [", list[i].key);
        for (int k = 0; k < list[i].count; k++) {
            double weight = 0;
            for (size_t j = 0; j < sizeof shrink / sizeof shrink[0]; j++)
                if (strcmp(shrink[j].key, list[i].key) == 0 && shrink[j].at == k)
                    weight = shrink[j].weight;
            fprintf(file, "%s%g", k > 0 ? ", " : "", weight);
        }
        fputs("]\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

#define TRAINS(gpus, least) \
    "model: qwen2.5-0.5b, batch: 12, sequence: 512, steps: 12, " \
    "train: {gpus: " gpus ", min: " least ", max: " gpus ", types: [a100-80]}}"
#define NODES(name, type) \
    "{name: " name ", count: 4, gpus: {type: " type ", count: 8}, cpu: {type: epyc-7763}, " \
    "memory: 1TB, nics: {type: ib-hdr}}"

/* Jobs that ask for 4 or 6 GPUs come alone, by two, three and four, to an idle cluster. */
static void run_shrink(const struct program *program)
{
    char path[192];

    snprintf(path, sizeof path, "%s/e.yaml", program->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "experiment: shrink\nuntil: drained\nseeds: %d\n"
            "cluster: {nodes: [" NODES("train", "a100-80") ", " NODES("rest", "l40s") "], "
            "storage: {bandwidth: 20GB/s}}\n"
            "workload: {arrival: {process: fixed, times: [0s, 100h, 100h, 100h, 200h, 200h, "
            "200h, 200h, 300h, 300h, 400h, 400h, 400h, 400h]}, mix: ["
            "{recipe: sft, name: four, " TRAINS("4", "2") ", "
            "{recipe: sft, name: six, " TRAINS("6", "3") "]}\n"
            "policies: [{policy: advised, weights: shrink.yaml}]\n"
            "output: {tables: [summary, jobs, phases], plots: [], detail_seeds: all}\n", SEEDS);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(program_experiment(program, path, "out", NULL), 0);
}

enum { SHRINK_JOBS = 14 };
struct sized {
    long at_s;
    uint32_t asked, got;
};

/* What the jobs of a seed asked for, and where their first phases ran. */
static void read_sizes(const char *jobs, const char *phases, int seed, struct sized *out)
{
    char field[64];

    memset(out, 0, SHRINK_JOBS * sizeof *out);
    for (int t = 0; t < 2; t++)
        for (const char *line = t == 0 ? jobs : phases; *line != '\0';
             line += strcspn(line, "\n") + 1) {
            csv_field(line, 2, field, sizeof field);
            if (field[0] != '0' + seed)
                continue;
            csv_field(line, 3, field, sizeof field);
            struct sized *job = &out[atoi(field)];
            csv_field(line, t == 0 ? 4 : 8, field, sizeof field);
            if (t == 1 && job->got == 0)
                job->got = (uint32_t)atoi(field);
            if (t == 1)
                continue;
            job->asked = strcmp(field, "six") == 0 ? 6 : 4;
            csv_field(line, 5, field, sizeof field);
            job->at_s = atol(field);
        }
}

/* The jobs of an instant start in the order of their numbers, and take what they get. */
static void a_job_shrinks_by_what_the_network_says_of_it_and_of_the_cluster(void **state)
{
    struct sized job[SHRINK_JOBS];
    uint32_t shrunk = 0;

    write_shrink(*state);
    run_shrink(*state);
    char *jobs = program_result(*state, "out", "jobs.csv");
    char *phases = program_result(*state, "out", "phases.csv");
    for (int seed = 0; seed < SEEDS; seed++) {
        double left = 0;

        read_sizes(jobs, phases, seed, job);
        for (int i = 0, first = 0; i < SHRINK_JOBS; i++) {
            double k = 0;
            if (job[i].at_s != job[first].at_s)
                first = i;
            left = i == first ? 32 : left;
            for (int j = 0; j < SHRINK_JOBS; j++)
                k += job[j].at_s == job[i].at_s;
            bool shrinks = job[i].asked + 10 * k / (k + 4) + left / 4 > LEAST;
            assert_int_equal(job[i].got, shrinks ? job[i].asked / 2 : job[i].asked);
            left -= job[i].got;
            shrunk += shrinks;
        }
    }
    assert_in_range(shrunk, SEEDS, SEEDS * (SHRINK_JOBS - 1));
    free(jobs);
    free(phases);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(without_weights_it_is_dynamic_to_the_byte),
        TEST(with_heads_of_zero_it_is_dynamic_to_the_byte),
        TEST(with_other_heads_it_decides_otherwise),
        TEST(of_fixed_sizes_only_giving_back_is_advised),
        cmocka_unit_test(jobs_start_by_the_turns_of_the_network),
        TEST(a_job_shrinks_by_what_the_network_says_of_it_and_of_the_cluster),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
