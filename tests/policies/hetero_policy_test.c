/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hetero_policy_test.c - policies that know how fast a job is on which GPUs do
 * in cases that were worked out by hand what their papers say, and the tools
 * they stand on are right.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/registry/registry.h"
#include "policies/solve.h"
#include "tests/aid/world.h"

/* ---- the tools ------------------------------------------------------------ */

/* Dantzig's giapetto: 3x + 2y, 2x + y <= 100, x + y <= 80, x <= 40. */
static void a_linear_program_has_its_known_optimum(void **state)
{
    const double gain[] = { 3, 2 }, most[] = { 40, INFINITY };
    const double limit[] = { 100, 80 }, value[] = { 2, 1, 1, 1 };
    const uint32_t row[] = { 0, 0, 1, 1 }, column[] = { 0, 1, 0, 1 };
    double x[2];
    struct cs_lp lp = { 2, 2, 4, gain, most, limit, row, column, value, x,
                        false, 0, NULL };

    (void)state;
    assert_true(cs_linear_program(&lp));
    assert_true(fabs(x[0] - 20) < 1e-9 && fabs(x[1] - 60) < 1e-9);
}

/* By parts the first is best (2 of a unit); whole, the other two are. */
static void a_program_of_wholes_has_its_known_optimum(void **state)
{
    const double gain[] = { 10, 6, 6 }, limit[] = { 8 }, value[] = { 5, 4, 4 };
    const uint32_t row[] = { 0, 0, 0 }, column[] = { 0, 1, 2 };
    double x[3];
    struct cs_lp lp = { 3, 1, 3, gain, NULL, limit, row, column, value, x,
                        true, 0, NULL };

    (void)state;
    assert_true(cs_linear_program(&lp));
    assert_true(x[0] < 0.5 && x[1] > 0.5 && x[2] > 0.5);
}

/* One row has both columns, so that it is no program of choices.  Of 5 or 7.5 units the first
 * takes two each and brings 5, the second one, and brings 2: two and one are the best answer. */
static void two_and_one_are_best(double most_0, double most_1, double units)
{
    const double gain[] = { 5, 2 }, most[] = { most_0, most_1 }, limit[] = { units };
    const double value[] = { 2, 1 };
    const uint32_t row[] = { 0, 0 }, column[] = { 0, 1 };
    double x[2];
    struct cs_lp lp = { 2, 1, 2, gain, most, limit, row, column, value, x,
                        true, 0, NULL };

    assert_true(cs_linear_program(&lp));
    assert_true(fabs(x[0] - 2) < 1e-9 && fabs(x[1] - 1) < 1e-9);
}

/* Of 2.5 and of 1.75, two and one may be had. */
static void wholes_may_have_bounds_that_are_none(void **state)
{
    (void)state;
    two_and_one_are_best(2.5, 1.75, 7.5);
}

/* Two of the first and one of the second fill 5; 5 of the second bring less. */
static void wholes_may_be_more_than_one(void **state)
{
    (void)state;
    two_and_one_are_best(2, 5, 5);
}

/* Of choices that are alike the first are taken: as many as there are units for. */
static void of_equal_choices_the_first_are_taken(void **state)
{
    double gain[24], most[24], limit[25], value[48], x[24];
    uint32_t row[48], column[48];

    (void)state;
    for (uint32_t n = 3; n <= 24; n++)
        for (uint32_t units = 1; units < n; units++) {
            struct cs_lp lp = { n, n + 1, 2 * n, gain, most, limit, row, column, value, x,
                                true, 0, NULL };
            for (uint32_t c = 0; c < n; c++) {
                gain[c] = most[c] = limit[c] = value[2 * c] = value[2 * c + 1] = 1;
                row[2 * c] = c;
                row[2 * c + 1] = n;
                column[2 * c] = column[2 * c + 1] = c;
            }
            limit[n] = units;
            assert_true(cs_linear_program(&lp));
            for (uint32_t c = 0; c < n; c++)
                if ((x[c] > 0.5) != (c < units))
                    fail_msg("%u choices, %u units: choice %u", n, units, c);
        }
}

#define CHOICES 7
#define CHOICE_UNITS 40
#define MANY_CHOICES 400
#define MANY_UNITS 3000

/* Draws the program of one or two jobs of each kind, which have at most one of four columns
 * each, of 1 to 16 units; the last row is that of the units, at most `units_most`.  Returns its
 * best sum, found job by job for each number of units. */
static double draw_choices(struct rng *rng, struct cs_lp *lp, uint32_t units_most, double *gain,
                           double *most, double *limit, uint32_t *row, uint32_t *column,
                           double *value)
{
    double best[MANY_UNITS + 1] = { 0 };
    uint32_t kinds = lp->rows - 1;

    for (uint32_t k = 0; k < kinds; k++) {
        uint32_t first = lp->columns, members = 1 + (uint32_t)rng_below(rng, 2);
        uint32_t units = 0;
        for (uint32_t c = first; c < first + 4; c++) {
            units += 1 + (uint32_t)rng_below(rng, 4);
            gain[c] = -1 + 6 * rng_uniform(rng) + (rng_below(rng, 2) ? 0.2 * units : 0);
            most[c] = members;
            row[2 * c] = k;
            row[2 * c + 1] = kinds;
            column[2 * c] = column[2 * c + 1] = c;
            value[2 * c] = 1;
            value[2 * c + 1] = units;
        }
        lp->columns += 4;
        limit[k] = members;
        for (uint32_t m = 0; m < members; m++)
            for (uint32_t u = units_most + 1; u-- > 0;)
                for (uint32_t c = first; c < first + 4; c++)
                    if (value[2 * c + 1] <= u)
                        best[u] = fmax(best[u], gain[c] + best[u - (uint32_t)value[2 * c + 1]]);
    }
    limit[kinds] = (double)rng_below(rng, units_most + 1);
    return best[(uint32_t)limit[kinds]];
}

/* Returns the sum of the answer, which is whole and within all limits. */
static double sum_of_choices(const struct cs_lp *lp)
{
    double sum = 0, used[MANY_CHOICES + 1] = { 0 };

    for (uint32_t c = 0; c < lp->columns; c++) {
        assert_true(lp->x[c] >= 0 && fabs(lp->x[c] - floor(lp->x[c] + 0.5)) < 1e-6);
        sum += lp->gain[c] * lp->x[c];
        used[lp->row[2 * c]] += lp->x[c];
        used[lp->rows - 1] += lp->x[c] * lp->value[2 * c + 1];
    }
    for (uint32_t r = 0; r < lp->rows; r++)
        assert_true(used[r] <= lp->limit[r] + 1e-6);
    return sum;
}

/* A best plan gives no more than there is, and falls short of the best sum by no more than a
 * ten-thousandth. */
static void choices_have_the_sum_that_is_found_job_by_job(void **state)
{
    double gain[4 * CHOICES], most[4 * CHOICES], limit[CHOICES + 1], value[8 * CHOICES];
    uint32_t row[8 * CHOICES], column[8 * CHOICES];
    double x[4 * CHOICES];
    struct rng rng;

    (void)state;
    rng_init(&rng, 7, "choices", 0);
    for (uint32_t round = 0; round < 300; round++) {
        struct cs_lp lp = { 0, CHOICES + 1, 8 * CHOICES, gain, most, limit, row, column, value,
                            x, true, 100000, NULL };
        double best = draw_choices(&rng, &lp, CHOICE_UNITS, gain, most, limit, row, column,
                                   value);
        assert_true(cs_linear_program(&lp));
        double sum = sum_of_choices(&lp);
        if (!(sum <= best + 1e-6 && sum >= best - 1e-4 * fabs(best) - 1e-6))
            fail_msg("round %u: %.9g, and the best is %.9g", round, sum, best);
    }
}

/* Of many choices whole steps come near enough to the best sum, so that nothing is searched: a
 * search of one node would be cut. */
static void many_choices_need_no_search(void **state)
{
    static double gain[4 * MANY_CHOICES], most[4 * MANY_CHOICES], limit[MANY_CHOICES + 1];
    static double value[8 * MANY_CHOICES], x[4 * MANY_CHOICES];
    static uint32_t row[8 * MANY_CHOICES], column[8 * MANY_CHOICES];
    struct rng rng;

    (void)state;
    rng_init(&rng, 11, "many choices", 0);
    for (uint32_t round = 0; round < 40; round++) {
        bool cut = false;
        struct cs_lp lp = { 0, MANY_CHOICES + 1, 8 * MANY_CHOICES, gain, most, limit, row,
                            column, value, x, true, 1, &cut };
        double best = draw_choices(&rng, &lp, MANY_UNITS, gain, most, limit, row, column, value);
        assert_true(cs_linear_program(&lp));
        assert_false(cut);
        double sum = sum_of_choices(&lp);
        if (!(sum <= best + 1e-6 && sum >= best - 1e-4 * best))
            fail_msg("round %u: %.9g, and the best is %.9g", round, sum, best);
    }
}

/* A limit below 0, of a choice or of the units, leaves no answer. */
static void choices_below_none_have_no_answer(void **state)
{
    const double gain[] = { 3, 4 }, value[] = { 1, 2, 1, 3 };
    const uint32_t row[] = { 0, 1, 0, 1 }, column[] = { 0, 0, 1, 1 };
    double x[2], most[] = { 1, 1 }, limit[] = { 1, -1 };
    struct cs_lp lp = { 2, 2, 4, gain, most, limit, row, column, value, x, true, 0, NULL };

    (void)state;
    assert_false(cs_linear_program(&lp));
    limit[1] = 3;
    assert_true(cs_linear_program(&lp));
    assert_true(x[0] < 0.5 && x[1] > 0.5);
    limit[0] = -1;
    assert_false(cs_linear_program(&lp));
}

/* It reads like choices, of which there are three; but each column is taken at most once. */
static void columns_have_bounds_of_their_own(void **state)
{
    const double gain[] = { 3, 4 }, most[] = { 1, 1 }, limit[] = { 3, 10 };
    const double value[] = { 1, 1, 1, 2 };
    const uint32_t row[] = { 0, 1, 0, 1 }, column[] = { 0, 0, 1, 1 };
    double x[2];

    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct cs_lp lp = { 2, 2, 4, gain, most, limit, row, column, value, x, whole, 0, NULL };
        assert_true(cs_linear_program(&lp));
        assert_true(fabs(x[0] - 1) < 1e-9 && fabs(x[1] - 1) < 1e-9);
    }
}

/* Its relaxation takes the first, and four tenths of another one: the search goes on from there,
 * which is more than one node. */
static void a_search_of_wholes_ends_at_its_nodes(void **state)
{
    const double gain[] = { 10, 6, 6 }, limit[] = { 7 }, value[] = { 5, 4, 3 };
    const uint32_t row[] = { 0, 0, 0 }, column[] = { 0, 1, 2 };
    double x[3];
    bool cut = false;
    struct cs_lp lp = { 3, 1, 3, gain, NULL, limit, row, column, value, x,
                        true, 1000, &cut };

    (void)state;
    assert_true(cs_linear_program(&lp));
    assert_true(x[0] < 0.5 && x[1] > 0.5 && x[2] > 0.5);
    assert_false(cut);
    lp.nodes_max = 1;
    cs_linear_program(&lp);
    assert_true(cut);
}

static void a_program_without_an_answer_says_so(void **state)
{
    const double gain[] = { 1 }, limit[] = { -1 }, value[] = { 1 };
    const uint32_t zero[] = { 0 };
    double x[1];
    struct cs_lp never = { 1, 1, 1, gain, NULL, limit, zero, zero, value, x,
                           false, 0, NULL };
    struct cs_lp endless = { 1, 0, 0, gain, NULL, NULL, NULL, NULL, NULL, x,
                             false, 0, NULL };

    (void)state;
    assert_false(cs_linear_program(&never));
    assert_false(cs_linear_program(&endless));
}

static double least(const double *cost, uint32_t rows, uint32_t columns,
                    uint32_t row, uint32_t used)
{
    double best = INFINITY;

    if (row == rows)
        return 0;
    for (uint32_t c = 0; c < columns; c++)
        if (!(used >> c & 1))
            best = fmin(best, cost[row * columns + c] +
                              least(cost, rows, columns, row + 1,
                                    used | 1u << c));
    return best;
}

static void an_assignment_is_the_best_of_all(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 7, "assign", 0);
    for (int i = 0; i < 300; i++) {
        uint32_t rows = 1 + (uint32_t)rng_below(&rng, 5), column[5];
        uint32_t columns = rows + (uint32_t)rng_below(&rng, 3), used = 0;
        double cost[35], sum = 0;

        for (uint32_t k = 0; k < rows * columns; k++)
            cost[k] = (double)rng_below(&rng, 20) - 5;
        cs_assign(rows, columns, cost, column);
        for (uint32_t r = 0; r < rows; r++) {
            assert_true(column[r] < columns && !(used >> column[r] & 1));
            used |= 1u << column[r];
            sum += cost[r * columns + column[r]];
        }
        assert_true(fabs(sum - least(cost, rows, columns, 0, 0)) < 1e-9);
    }
}

/* Few values, so that many costs are alike, and some too large to add to. */
static void places_meet_the_matrix(struct rng *rng)
{
    uint32_t rows = 1 + (uint32_t)rng_below(rng, 12), machines, n = 0;
    uint32_t kind[24], column[12], other[12];
    double time_s[24], free_s[24], cost[12 * 24 * 12];
    struct cs_places in = { .rows = rows, .kinds = 2, .time_s = time_s,
                            .kind = kind, .free_s = free_s };

    in.machines = machines = 1 + (uint32_t)rng_below(rng, 24);
    in.places = (rows + machines - 1) / machines;
    in.places += (uint32_t)rng_below(rng, rows - in.places + 1);
    for (uint32_t m = 0; m < machines; m++) {
        kind[m] = (uint32_t)rng_below(rng, 2);
        free_s[m] = rng_below(rng, 3) ? 0.1 * (double)rng_below(rng, 30) : 0;
        if (m > 0 && rng_below(rng, 2) == 0) {
            kind[m] = kind[m - 1];
            free_s[m] = free_s[m - 1];
        }
    }
    for (uint32_t i = 0; i < 2 * rows; i++)
        time_s[i] = rng_below(rng, 8) == 0 ? 1e15
                                           : 0.3 * (double)rng_below(rng, 9);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t m = 0; m < machines; m++)
            for (uint32_t k = 0; k < in.places; k++)
                cost[n++] = (k + 1) * time_s[2 * r + kind[m]] + free_s[m];
    cs_assign_places(&in, column);
    cs_assign(rows, machines * in.places, cost, other);
    assert_memory_equal(column, other, rows * sizeof *column);
}

static void places_are_assigned_as_by_the_matrix_of_all(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 8, "places", 0);
    for (int i = 0; i < 5000; i++)
        places_meet_the_matrix(&rng);
}

/* ---- two jobs, two GPUs ---------------------------------------------------- */

/* Two jobs of 1000 s on the fast GPU; rates on the slow one are given. */
static void run_pair(const char *policy, double slow_a, double slow_b,
                     const char *fast, double *a, double *b)
{
    struct world world = { 0 };
    struct world_job job[2];
    char text[1024], path[128];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "a\tc\t-n\t1\t1000\t0.0\t1\n"
                                    "b\tc\t-n\t1\t1000\t0.0\t1\n");
    snprintf(text, sizeof text,
             "{\"fast\": {\"('a', 1)\": {\"null\": 1.0}, \"('b', 1)\": "
             "{\"null\": 1.0}}, \"slow\": {\"('a', 1)\": {\"null\": %g}, "
             "\"('b', 1)\": {\"null\": %g}}}", slow_a, slow_b);
    world_write(&world, "rates.json", text);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[{name: fast, count: 1, gpus: {type: generic, count: 1}%s}, "
             "{name: slow, count: 1, gpus: {type: generic, count: 1}, price: "
             "1USD/h}]}\nworkload: {trace: {file: jobs.csv, format: gavel, "
             "lengths: rates.json, gpu_type: fast, rates: lengths}}\n"
             "policies: [{policy: %s}]\n", fast, policy);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    *a = job[0].end_s;
    *b = job[1].end_s;
    snprintf(path, sizeof path, "%s/rates.json", world.folder);
    unlink(path);
    world_close(&world);
}

static bool about(double value, double expected, double within)
{
    if (fabs(value - expected) <= within)
        return true;
    print_message("found %g, expected %g\n", value, expected);
    return false;
}

/* An equal share is worth 0.75 to a and 0.625 to b; both reach it by changing
 * places at half-time: a ends after 1333 s, b has 833 s done then and ends on
 * the fast GPU. */
static void gavel_max_min_evens_out_what_jobs_gain(void **state)
{
    double a, b;

    (void)state;
    run_pair("gavel, round: 10s", 0.5, 0.25, "", &a, &b);
    assert_true(about(a, 1333.3, 21));
    assert_true(about(b, 1500, 21));
}

/* 0.7 of the pace each: a on the fast GPU for 0.4 of the time. */
static void gavel_makespan_ends_both_at_once(void **state)
{
    double a, b;

    (void)state;
    run_pair("gavel, objective: makespan, round: 10s", 0.5, 0.25, "", &a, &b);
    assert_true(about(a, 1428.6, 25));
    assert_true(about(b, 1428.6, 25));
}

/* Half of the cluster is worth 0.75 and 0.625: the same ratio for both means
 * rates in that proportion, as max-min has them here. */
static void gavel_finish_time_treats_both_alike(void **state)
{
    double a, b;

    (void)state;
    run_pair("gavel, objective: finish-time, round: 10s", 0.5, 0.25, "", &a,
             &b);
    assert_true(about(a, 1333.3, 30));
    assert_true(about(b, 1500, 30));
}

/* A fast GPU of 4 USD/h for b, which gains most there. */
static void gavel_cost_sends_each_job_where_it_is_worth_its_price(void **state)
{
    double a, b;

    (void)state;
    run_pair("gavel, objective: cost, round: 10s", 0.9, 0.1,
             ", price: 4USD/h", &a, &b);
    assert_true(about(a, 1111.1, 11));
    assert_true(about(b, 1000, 11));
}

/* Solved at 360 s, when both wait; not again before 2,280 s.  Rounds go on: they
 * take turns, and c, of which the solution knows nothing, waits. */
static void gavel_deals_rounds_between_two_solutions(void **state)
{
    struct world_job job[3] = {
        { .submit_s = 1, .duration_s = 1080, .gpus = 1 },
        { .submit_s = 1, .duration_s = 1080, .gpus = 1 },
        { .submit_s = 400, .duration_s = 10, .gpus = 1 },
    };
    struct world world = { 0 };

    (void)state;
    if (!world_trace(&world, 1, 1, job, 3, "[{policy: gavel, placement: count, "
                     "rounds: {length: 360s, resolve_at_most_every: 1920s}}]") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_int_equal(job[0].start_s, 360);
    assert_int_equal(job[1].start_s, 720);
    assert_int_equal(job[0].end_s, 2160);
    assert_int_equal(job[1].end_s, 2520);
    assert_int_equal(job[2].start_s, 2520);
    world_close(&world);
}

/* Three share the GPU from 360 s on.  Many come in the second round, and nothing is solved
 * again: the first two have had a round each, so the third one is due. */
static void gavel_remembers_rounds_when_many_come(void **state)
{
    struct world_job job[100];
    struct world world = { 0 };

    (void)state;
    for (int i = 0; i < 100; i++)
        job[i] = (struct world_job) { .submit_s = i < 3 ? 1 : 800,
                                      .duration_s = i < 3 ? 720 : 10, .gpus = 1 };
    if (!world_trace(&world, 1, 1, job, 100, "[{policy: gavel, placement: count, "
                     "rounds: {length: 360s, resolve_at_most_every: 2h}}]") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(job[i].start_s, 360 * (i + 1));
        assert_int_equal(job[i].end_s, 360 * (i + 5));
    }
    world_close(&world);
}

/* Rounds of the host that end early begin where its own would not. */
static void gavel_keeps_the_rounds_that_it_is_given(void **state)
{
    struct world_job job[3] = {
        { .submit_s = 0, .duration_s = 100, .gpus = 1 },
        { .submit_s = 50, .duration_s = 500, .gpus = 1 },
        { .submit_s = 60, .duration_s = 500, .gpus = 1 },
    };
    struct world world = { 0 };

    (void)state;
    if (!world_trace(&world, 1, 1, job, 3, "[{policy: gavel, placement: count, "
                     "rounds: {length: 200s, end_early: true}}]") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_int_equal(job[0].end_s, 100);
    assert_int_equal(job[1].start_s, 100);
    assert_int_equal(job[2].start_s, 300);
    world_close(&world);
}

/* Job 0 needs two GPUs, which are rented from the fifth hour on; 1 (3600 s) and 2
 * (1800 s) share the one GPU that there is till then. */
static void run_beside_a_job_without_room(const char *objective, struct world_job *job)
{
    struct world world = { 0 };
    char text[1500];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,due\n0,0,3600,2,9000\n"
                                    "1,0,3600,1,\n2,0,1800,1,4500\n");
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: n, count: 1, "
             "gpus: {type: generic, count: 1}, price: 1USD/h}, {name: r, count: 1, gpus: {type: "
             "generic, count: 2}, price: 1USD/h, rent: {start: 0s, available: {unit: nodes, "
             "points: [[0h, 0], [5h, 1], [100h, 1]]}}}]}\nworkload: {trace: {file: jobs.csv, "
             "format: csv, origin: file, columns: {job: job, submit: submit, duration: "
             "duration, gpus: gpus, deadline: due}}}\npolicies: [{policy: gavel, objective: "
             "%s, round: 360s}]\n", objective);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s: %s", objective, world_error(&world));
    assert_true(job[0].start_s >= 18000);
    world_close(&world);
}

/* max-min: 1 and 2 take turns of 360 s, so that 2 has its fifth turn in the ninth or tenth
 * round and ends at 3240 or 3600 s; 1 ends at 5400 s, when all is done.
 * finish-time: each would have a third of the GPU alone, so both need the same share, 1/2.
 * makespan: 2/3 and 1/3 of the time, so that both end at 5400 s, but for the rounds.
 * cost: 2 needs 1800 / 4500 of the time to be on time.
 * Each of them must not depend on job 0, which nothing can help now. */
static void gavel_lets_no_job_without_room_spoil_the_shares(void **state)
{
    static const char *const even[] = { "max-min", "finish-time" };
    struct world_job job[3];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        run_beside_a_job_without_room(even[i], job);
        assert_true(about(job[2].end_s, 3420, 180) && about(job[1].end_s, 5400, 1));
    }
    run_beside_a_job_without_room("makespan", job);
    assert_true(about(job[1].end_s, 5400, 720) && about(job[2].end_s, 5400, 720));
    run_beside_a_job_without_room("cost", job);
    assert_true(about(job[2].end_s, 4500, 360) && about(job[1].end_s, 5400, 1));
}

/* A job alone has one GPU of four, and is as fast as it can be: at 1000 s it has done 1000 of its
 * 2000 s, as it would have alone.  Then seven jobs of 1000 s come, and 1/8 of the cluster is half a
 * GPU: with all it takes 1000 + 2000 s there, they 2000 s.  With half a GPU each, all end at
 * 3000 s: as late as alone.  If the first one were as fast as four GPUs alone, it would end near
 * 2400 s. */
static void gavel_finish_time_counts_one_gpu_of_a_job_of_one(void **state)
{
    struct world_job job[8] = { { 0, 2000, 1, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    for (int i = 1; i < 8; i++)
        job[i] = (struct world_job) { 1000, 1000, 1, 0, 0 };
    if (!world_trace_on(&world, "nodes: [{name: p, count: 1, gpus: {type: generic, count: 2}}, "
                        "{name: q, count: 1, gpus: {type: generic, count: 2}}]", job, 8,
                        "[{policy: gavel, objective: finish-time, round: 10s}]", 1) ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    for (int i = 0; i < 8; i++)
        if (!about(job[i].end_s, 3000, 60))
            fail_msg("job %d ends at %g s", i, job[i].end_s);
    world_close(&world);
}

/* a and b have rate 1 on a pool each, and half of the cluster is worth 0.55 to both.  At 3000 s c
 * comes, of rate 0.6 on either, and a third is worth 0.36667 and 0.4.  By then a third and a half
 * would have taken a 3000 / 0.55 = 5454.5 s, and its other 7000 s would take 19090.9 s: all is
 * 24545.5 s, of which a and b take a share of r, and so does c of its own time.  Of each pool a
 * part of 7000 / (24545.5 r - 3000) is for a or b, and 0.33333 / r, twice the half of it, for c:
 * together 1, so r = 0.68091, and a and b end at 16713 s.  By shares of twice that time they
 * would end at 17000 s. */
static void gavel_finish_time_counts_what_went_before(void **state)
{
    static const char rates[] =
        "{\"p\": {\"('a', 1)\": {\"null\": 1}, \"('b', 1)\": {\"null\": 0.1}, \"('c', 1)\": "
        "{\"null\": 0.6}}, \"q\": {\"('a', 1)\": {\"null\": 0.1}, \"('b', 1)\": {\"null\": 1}, "
        "\"('c', 1)\": {\"null\": 0.6}}}";
    struct world world = { 0 };
    struct world_job job[3];
    char path[128];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "rates.json", rates);
    world_write(&world, "jobs.csv", "a\tc\t-n\t1\t10000\t0.0\t1\nb\tc\t-n\t1\t10000\t0.0\t1\n"
                                    "c\tc\t-n\t1\t12000\t3000.0\t1\n");
    if (!world_open(&world,
            "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: p, count: 1, "
            "gpus: {type: generic, count: 1}}, {name: q, count: 1, gpus: {type: generic, count: "
            "1}}]}\nworkload: {trace: {file: jobs.csv, format: gavel, lengths: rates.json, "
            "gpu_type: p, rates: lengths}}\npolicies: [{policy: gavel, objective: finish-time, "
            "round: 10s}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(about(job[0].end_s, 16713, 40));
    assert_true(about(job[1].end_s, 16713, 40));
    snprintf(path, sizeof path, "%s/rates.json", world.folder);
    unlink(path);
    world_close(&world);
}

/* On the slow GPU a takes 1667 s, less than behind b; with 2500 s it is better
 * off waiting for the fast one, though the slow one is idle. */
static void allox_waits_where_waiting_is_shorter(void **state)
{
    double a, b;

    (void)state;
    run_pair("allox", 0.6, 0.25, "", &a, &b);
    assert_true(about(a, 1666.67, 0.01) && about(b, 1000, 0));
    run_pair("allox", 0.4, 0.25, "", &a, &b);
    assert_true(about(fmin(a, b), 1000, 0) && about(fmax(a, b), 2000, 0));
}

/* The slow GPU takes 1667 s for what the fast one does in 1000 s: one job on each, as 1000 + 1667
 * is less than 1000 + 2000.  A job of two GPUs, which are rented from the fifth hour on, came
 * first and is no reason to wait. */
static void allox_matches_no_job_that_has_no_room_now(void **state)
{
    static const char cluster[] =
        "nodes: [{name: fast, count: 1, gpus: {type: generic, count: 1}}, {name: slow, count: 1, "
        "gpus: {type: generic, count: 1}}, {name: r, count: 1, gpus: {type: generic, count: 2}, "
        "price: 1USD/h, rent: {start: 0s, available: {unit: nodes, points: [[0h, 0], [5h, 1], "
        "[100h, 1]]}}}]";
    struct world world = { 0 };
    struct world_job job[3];
    char text[1500];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus\n0,0,3600,2\n1,0,1000,1\n"
                                    "2,0,1000,1\n");
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {%s}\nworkload: {trace: {file: "
             "jobs.csv, format: csv, origin: file, rates: {fast: 1, slow: 0.6, r: 1}, columns: "
             "{job: job, submit: submit, duration: duration, gpus: gpus}}}\npolicies: [allox]\n",
             cluster);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].start_s == 18000);
    assert_true(about(fmin(job[1].end_s, job[2].end_s), 1000, 0));
    assert_true(about(fmax(job[1].end_s, job[2].end_s), 1666.67, 0.01));
    world_close(&world);
}

/* Six jobs of 100 s, one fast GPU and three on which they take 10,000 s.  All are best on the fast
 * one, in turn: 100 + 200 + ... + 600, 350 on average.  With at most one job x place there are
 * still two places for a job, four on each GPU: two of the jobs go to slow GPUs at once, and (100
 * + 200 + 300 + 400 + 2 x 10,000) / 6 = 3500.  A place too few is counted, in one decision. */
static void allox_counts_where_places_are_too_few(void **state)
{
    static const char *const policy[] = { "allox", "{policy: allox, cells_max: 1}" };
    static const double jct_s[] = { 350, 3500 }, limited[] = { 0, 1 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        struct trial_result r;
        char text[1000];

        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: fast, count: "
                 "1, gpus: {type: generic, count: 1}}, {name: slow, count: 1, gpus: {type: "
                 "generic, count: 3}}]}\nworkload: {arrival: {process: all_at_once}, jobs: 6, mix: "
                 "[{recipe: trace, name: j, gpus: 1, duration: 100s, rates: {fast: 1, slow: "
                 "0.01}}]}\npolicies: [%s]\n", policy[i]);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, NULL, &r))
            fail_msg("%s", world_error(&world));
        assert_true(about(r.value[METRIC_JCT_MEAN], jct_s[i], 0));
        assert_true(about(r.value[METRIC_LIMITED], limited[i], 0));
        world_close(&world);
    }
}

/* ---- cores ------------------------------------------------------------------ */

/* Nodes of 8 GPUs and 24 cores, 3 a GPU. */
#define LOADER_NODES(NAME, COUNT) \
    "{name: " NAME ", count: " COUNT ", gpus: {type: a100-80, count: 8}, cpu: {type: " \
    "xeon-silver-4310, sockets: 2}, memory: 1TB}"

/* Jobs come every 10 s. */
static void run_loaders_on(const char *nodes, const char *mix, const char *policy, int jobs,
                           struct world_job *job, struct trial_result *result)
{
    struct world world = { 0 };
    char text[2048];

    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[%s], storage: {bandwidth: "
             "100GB/s}}\nworkload: {arrival: {process: fixed, times: [0s, 10s, 20s, 30s, "
             "40s, 50s, 60s, 70s]}, jobs: %d, mix: [%s]}\npolicies: [{policy: %s}]\n",
             nodes, jobs, mix, policy);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, result))
        fail_msg("%s: %s", policy, world_error(&world));
    world_close(&world);
}

static void run_loaders(const char *mix, const char *policy, int jobs,
                        struct world_job *job, struct trial_result *result)
{
    run_loaders_on(LOADER_NODES("n", "1"), mix, policy, jobs, job, result);
}

#define PICTURES(CORES)                                                      \
    "{recipe: net, model: resnet-50, micro_batch: 256, batch: 1024, steps: " \
    "5000, checkpoint_every: 0, train: {gpus: 4, cores: " CORES "}, loader: "\
    "{kind: image, size: 200000}}"
#define TEXTS(TYPES) \
    "{recipe: sft, model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: 5000, " \
    "checkpoint_every: 0, train: {gpus: 4, cores: 3, types: [" TYPES "]}}"

/* What decodes pictures has as many cores as it needs, beyond its part; what
 * reads text needs few, and loses nothing by having no more. */
static void synergy_gives_cores_to_who_needs_them(void **state)
{
    struct world_job part[2], tuned[2];

    (void)state;
    run_loaders(PICTURES("3"), "fcfs", 1, part, NULL);
    run_loaders(PICTURES("3"), "synergy", 1, tuned, NULL);
    assert_true(tuned[0].end_s < 0.9 * part[0].end_s);
    run_loaders(TEXTS("a100-80"), "fcfs", 2, part, NULL);
    run_loaders(TEXTS("a100-80"), "synergy", 2, tuned, NULL);
    assert_true(tuned[0].end_s < 1.02 * part[0].end_s);
}

/* The first takes more than its part; when the second comes it is brought back,
 * and both run. */
static void synergy_brings_back_who_holds_more_than_its_part(void **state)
{
    struct world_job job[2];
    struct trial_result r;

    (void)state;
    run_loaders(PICTURES("3"), "synergy", 2, job, &r);
    assert_true(job[1].start_s == 10);
    assert_true(r.value[METRIC_REFUSED] == 0);
    assert_true(r.value[METRIC_DECISIONS] == 3);
}

/* Two nodes of three GPUs with a job of two GPUs each have two free GPUs, and no node for
 * another job of two: it waits until the first one ends, since nobody holds more cores than its
 * part. */
static void synergy_waits_where_free_gpus_are_in_pieces(void **state)
{
    struct world_job job[3] = { { .submit_s = 0, .duration_s = 100, .gpus = 2 },
                                { .submit_s = 0, .duration_s = 300, .gpus = 2 },
                                { .submit_s = 10, .duration_s = 50, .gpus = 2 } };
    struct world world = { 0 };

    (void)state;
    if (!world_trace_on(&world, "nodes: [{name: n, count: 2, gpus: {type: generic, count: 3}, "
                        "cpu: {type: xeon-silver-4310, sockets: 1}, memory: 64GB}]", job, 3,
                        "[{policy: synergy, placement: consolidate}]", 1) ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[1].start_s == 0 && job[2].start_s == 100);
    world_close(&world);
}

/* With pictures of 160 kB a job has four cores a GPU, 16.  The first fills the four GPUs of the
 * small node; the second leaves four GPUs and 8 of 24 cores on the large one, and the third
 * starts there with its part, 12, when the second is brought back to as many.  The first goes on
 * as if alone: three starts and a move. */
#define SMALL_PICTURES(GPUS, BATCH) \
    "{recipe: net, model: resnet-50, micro_batch: 128, batch: " BATCH ", steps: 5000, " \
    "checkpoint_every: 0, train: {gpus: " GPUS ", cores: 3}, loader: {kind: image, size: " \
    "160000}}"
static void synergy_brings_back_nobody_on_a_node_without_room(void **state)
{
    static const char nodes[] =
        LOADER_NODES("a, pool: p", "1") ", {name: b, pool: p, count: 1, gpus: {type: a100-80, "
        "count: 4}, cpu: {type: xeon-silver-4310, sockets: 2}, memory: 1TB}";
    struct world_job alone[1], job[3];
    struct trial_result r;

    (void)state;
    run_loaders_on(nodes, SMALL_PICTURES("4", "1024"), "synergy", 1, alone, NULL);
    run_loaders_on(nodes, SMALL_PICTURES("4", "1024"), "synergy", 3, job, &r);
    assert_true(job[0].end_s == alone[0].end_s);
    assert_true(job[1].end_s > job[0].end_s + 20 && job[2].start_s == 20);
    assert_true(r.value[METRIC_DECISIONS] == 4);
}

/* Three nodes have two free GPUs each and no free core.  A job of six waits until the first one
 * ends; nobody is brought back for it: four starts. */
static void synergy_brings_back_nobody_for_gpus_in_pieces(void **state)
{
    struct world_job job[4];
    struct trial_result r;

    (void)state;
    run_loaders_on(LOADER_NODES("n", "3"), SMALL_PICTURES("6", "768"),
                   "synergy, placement: consolidate", 4, job, &r);
    assert_true(job[2].start_s == 20 && job[3].start_s == job[0].end_s);
    assert_true(r.value[METRIC_DECISIONS] == 4);
}

/* The same where a gang may be on several nodes: it starts at once on the two free GPUs of each
 * node, with its part, three cores a GPU, when all three jobs are brought back from four to
 * three: three moves and four starts. */
static void synergy_brings_back_all_whose_nodes_have_a_piece(void **state)
{
    struct world_job job[4];
    struct trial_result r;

    (void)state;
    run_loaders_on(LOADER_NODES("n", "3"), SMALL_PICTURES("6", "768"), "synergy", 4, job, &r);
    assert_true(job[2].start_s == 20 && job[3].start_s == 30);
    assert_true(r.value[METRIC_DECISIONS] == 7);
}

/* A node of 1 TB has four free GPUs, and not the 600 GB of a second job: it waits, and the first
 * keeps all of its cores, so both take as long. */
static void synergy_brings_back_nobody_where_memory_is_short(void **state)
{
    static const char pictures[] =
        "{recipe: net, model: resnet-50, micro_batch: 256, batch: 1024, steps: 5000, "
        "checkpoint_every: 0, train: {gpus: 4, cores: 3, memory: 150GB}, loader: {kind: image, "
        "size: 200000}}";
    struct world_job job[2];
    struct trial_result r;

    (void)state;
    run_loaders(pictures, "synergy", 2, job, &r);
    assert_true(job[1].start_s == job[0].end_s && r.value[METRIC_DECISIONS] == 2);
    assert_true(about(job[1].end_s, 2 * job[0].end_s, 1e-6));
}

/* A job that finds no room for its demand on the nodes of one pool may find it on those of
 * the other, and one that is brought back may go there. */
static void synergy_takes_pools_of_equal_nodes_as_one(void **state)
{
    static const char *const mix[] = { PICTURES("3") ", " TEXTS("a100-80"), PICTURES("3") };
    struct world_job one[8], two[8];

    (void)state;
    for (int m = 0; m < 2; m++) {
        run_loaders_on(LOADER_NODES("a", "3"), mix[m], "synergy", 8, one, NULL);
        run_loaders_on(LOADER_NODES("a", "1") ", " LOADER_NODES("b", "2"), mix[m], "synergy",
                       8, two, NULL);
        for (int i = 0; i < 8; i++)
            assert_true(one[i].start_s == two[i].start_s && one[i].end_s == two[i].end_s);
    }
}

/* A pool of faster GPUs, or of which a GPU has six cores for three, or a job six at most for
 * three, is not like the first.  There the first job has its GPUs and is brought back to its
 * part, as if it were the only pool. */
static void synergy_tries_pools_of_other_nodes_in_their_order(void **state)
{
#define SHAPED(NAME, GPU, GPUS, SOCKETS) \
    "{name: " NAME ", count: 1, gpus: {type: " GPU ", count: " GPUS "}, cpu: {type: " \
    "xeon-silver-4310, sockets: " SOCKETS "}, memory: 1TB}"
#define A100(SOCKETS) SHAPED("a", "a100-80", "8", SOCKETS)
    static const char *const cases[][3] = {
        { PICTURES("1"), A100("2"), A100("2") ", " SHAPED("b", "a100-80", "4", "2") },
        { PICTURES("1"), A100("1"), A100("1") ", " SHAPED("b", "a100-80", "16", "2") },
        { TEXTS("h100, a100-80"), A100("2"), A100("2") ", " SHAPED("b", "h100", "8", "2") },
    };
    struct world_job one[2], two[2];

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        run_loaders_on(cases[c][1], cases[c][0], "synergy", 2, one, NULL);
        run_loaders_on(cases[c][2], cases[c][0], "synergy", 2, two, NULL);
        assert_true(one[0].end_s == two[0].end_s && one[1].end_s == two[1].end_s);
    }
}

/* ---- types ------------------------------------------------------------------ */

/* dynamic takes the type on which the job is over sooner, wherever it stands in the list, and
 * both nodes are free: it is over when it would be if it named that type alone. */
static void the_soonest_type_is_taken_wherever_it_stands(void **state)
{
#define NET(TYPES) "{recipe: net, model: resnet-50, micro_batch: 128, batch: 1024, steps: 500, " \
    "checkpoint_every: 0, train: {gpus: 4, types: [" TYPES "]}}"
    static const char nodes[] = SHAPED("a", "l40s", "8", "2") ", " SHAPED("b", "h100", "8", "2");
    static const char *const both[] = { NET("l40s, h100"), NET("h100, l40s") };
    struct world_job slow[1], fast[1], job[1];

    (void)state;
    run_loaders_on(nodes, NET("l40s"), "dynamic", 1, slow, NULL);
    run_loaders_on(nodes, NET("h100"), "dynamic", 1, fast, NULL);
    assert_true(fast[0].end_s < 0.9 * slow[0].end_s);
    for (int i = 0; i < 2; i++) {
        run_loaders_on(nodes, both[i], "dynamic", 1, job, NULL);
        assert_true(job[0].end_s == fast[0].end_s);
    }
}

/* ---- all of them ------------------------------------------------------------ */

static void every_policy_ends_all_jobs_of_a_mixed_cluster(void **state)
{
    static const char *const policy[] = {
        "{policy: gavel}", "{policy: gavel, objective: makespan}",
        "{policy: gavel, objective: finish-time}",
        "{policy: gavel, objective: cost}", "{policy: allox}",
        "{policy: allox, alpha: 30%, depth_max: 5}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++) {
        struct world world = { 0 };
        struct trial_result result;
        char text[2048];

        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
                 "[{name: fast, count: 2, gpus: {type: generic, count: 4}, "
                 "price: 9USD/h}, {name: slow, count: 2, gpus: {type: generic, "
                 "count: 4}, price: 3USD/h}], failures: {node_mtbf: 30h, "
                 "repair: 10m, restart: 30s}}\nworkload: {arrival: {process: "
                 "poisson, rate: 20/h}, jobs: 60, mix: [{recipe: trace, name: "
                 "a, gpus: {choice: {1: 3, 2: 1, 4: 1}}, deadline: 3h, "
                 "duration: {exponential: {mean: 30m}}, rates: {fast: 1, "
                 "slow: 0.5}}, {recipe: trace, name: b, gpus: {choice: {1: 1, "
                 "8: 1}}, duration: {exponential: {mean: 10m}}, rates: {fast: "
                 "1, slow: 0.2}}, {recipe: trace, name: c, gpus: 1, duration: "
                 "5m, rates: {slow: 1}}]}\npolicies: [%s]\n", policy[i]);
        if (!world_open(&world, text) ||
            !world_run(&world, 0, NULL, NULL, &result))
            fail_msg("%s: %s", policy[i], world_error(&world));
        assert_true(result.value[METRIC_JOBS_DONE] == 60);
        assert_false(result.value[METRIC_JCT_BOUND] >
                     result.value[METRIC_JCT_MEAN]);
        assert_false(result.value[METRIC_MAKESPAN_BOUND] >
                     result.value[METRIC_MAKESPAN]);
        world_close(&world);
    }
}

/* Jobs that may use one type of GPU, which the first pool has not: all are done. */
static void a_pool_without_the_type_of_a_job_is_none_for_it(void **state)
{
    static const char *const policy[] = { "allox", "gavel", "sia", "optimus", "themis", "afs" };

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++) {
        struct world world = { 0 };
        struct trial_result result;
        char text[1000];

        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\nuntil: 14d\ncluster: {nodes: [{name: a, count: 1, "
                 "gpus: {type: t4, count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: 512GB}, "
                 "{name: b, count: 1, gpus: {type: v100-32, count: 8}, cpu: {type: epyc-7742, "
                 "sockets: 2}, memory: 512GB}]}\nworkload: {arrival: {process: all_at_once}, "
                 "jobs: 3, mix: [{recipe: trace, name: j, gpus: 8, duration: 1h, role: {types: "
                 "[v100-32]}}]}\npolicies: [%s]\n", policy[i]);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, NULL, &result))
            fail_msg("%s: %s", policy[i], world_error(&world));
        if (!(result.value[METRIC_JOBS_DONE] == 3))
            fail_msg("%s: %g of 3 jobs", policy[i], result.value[METRIC_JOBS_DONE]);
        world_close(&world);
    }
}

/* 24 nodes are no power of two, and the one size of the job. */
static void sia_starts_a_gang_of_any_number_of_whole_nodes(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: 1d\ncluster: {nodes: [{name: a, "
                    "count: 32, gpus: {type: generic, count: 8}}]}\nworkload: {arrival: "
                    "{process: all_at_once}, jobs: 2, mix: [{recipe: trace, gpus: 192, "
                    "duration: 1h}]}\npolicies: [sia]\n") ||
        !world_run(&world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] == 2);
    world_close(&world);
}

/* Four pools of 160 GPUs, four jobs that scale linearly.  A job has 1 GPU at first and
 * twice as many at each deal: 128, the most that it may have, from the eighth at 420 s on.  By
 * then it did 60 x (1 + 2 + ... + 64) = 7620 GPU-seconds; the other 128,000 of 135,620 take
 * 1000 s.  A pool holds one such job, so each must have its own: of 1, 2, 4 and 8, 16, ... 128
 * GPUs that are 19 configurations in each of four pools, more than 64. */
static void sia_looks_at_all_configurations_of_a_job(void **state)
{
    struct world world = { 0 };
    struct world_job job[4];

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: 1d\ncluster: {nodes: ["
                    "{name: a, count: 20, gpus: {type: generic, count: 8}}, "
                    "{name: b, count: 20, gpus: {type: generic, count: 8}}, "
                    "{name: c, count: 20, gpus: {type: generic, count: 8}}, "
                    "{name: d, count: 20, gpus: {type: generic, count: 8}}]}\n"
                    "workload: {arrival: {process: all_at_once}, jobs: 4, mix: [{recipe: trace, "
                    "gpus: 1, duration: 135620s, elastic: {min: 1, max: 128, scaling: "
                    "linear}}]}\npolicies: [sia]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    for (int j = 0; j < 4; j++)
        assert_true(about(job[j].end_s, 1420, 1e-3));
    world_close(&world);
}

/* Jobs and rates as Gavel's artifact has them, on two nodes of each type. */
static void gavels_own_trace_runs_under_every_policy(void **state)
{
    static const char *const policy[] = {
        "allox", "gavel", "gavel, objective: makespan",
        "gavel, objective: finish-time", "gavel, objective: cost",
    };
    const char *shared = getenv("SHARED") ? getenv("SHARED") : "../shared";
    char path[512], here[256], text[2048];

    (void)state;
    snprintf(path, sizeof path, "%s/traces/gavel/msr_seed0/2869ce.trace",
             shared);
    if (access(path, R_OK) != 0) {
        print_message("skip: %s is not there\n", path);
        skip();
    }
    assert_non_null(getcwd(here, sizeof here));
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++) {
        struct world world = { 0 };
        struct trial_result result;
        snprintf(text, sizeof text,
                 "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
                 "[{name: v100, count: 2, gpus: {type: generic, count: 4}, "
                 "price: 9USD/h}, {name: p100, count: 2, gpus: {type: generic, "
                 "count: 4}, price: 5USD/h}, {name: k80, count: 2, gpus: {type: "
                 "generic, count: 4}, price: 2USD/h}]}\nworkload: {trace: "
                 "{file: %s%s%s, format: gavel, gpu_type: v100, lengths: "
                 "%s%s%s/traces/gavel/simulation_throughputs.json.gz, rates: "
                 "lengths, skip: {no_length: true}, slice: {jobs: 120}}}\n"
                 "policies: [{policy: %s}]\n", *path == '/' ? "" : here,
                 *path == '/' ? "" : "/", path, *path == '/' ? "" : here,
                 *path == '/' ? "" : "/", shared, policy[i]);
        if (!world_open(&world, text) ||
            !world_run(&world, 0, NULL, NULL, &result))
            fail_msg("%s: %s", policy[i], world_error(&world));
        assert_true(result.value[METRIC_JOBS_DONE] == 120);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_program_has_its_known_optimum),
        cmocka_unit_test(a_program_of_wholes_has_its_known_optimum),
        cmocka_unit_test(of_equal_choices_the_first_are_taken),
        cmocka_unit_test(wholes_may_be_more_than_one),
        cmocka_unit_test(wholes_may_have_bounds_that_are_none),
        cmocka_unit_test(choices_have_the_sum_that_is_found_job_by_job),
        cmocka_unit_test(many_choices_need_no_search),
        cmocka_unit_test(choices_below_none_have_no_answer),
        cmocka_unit_test(columns_have_bounds_of_their_own),
        cmocka_unit_test(a_search_of_wholes_ends_at_its_nodes),
        cmocka_unit_test(a_program_without_an_answer_says_so),
        cmocka_unit_test(an_assignment_is_the_best_of_all),
        cmocka_unit_test(places_are_assigned_as_by_the_matrix_of_all),
        cmocka_unit_test(gavel_max_min_evens_out_what_jobs_gain),
        cmocka_unit_test(gavel_makespan_ends_both_at_once),
        cmocka_unit_test(gavel_finish_time_treats_both_alike),
        cmocka_unit_test(gavel_finish_time_counts_one_gpu_of_a_job_of_one),
        cmocka_unit_test(gavel_finish_time_counts_what_went_before),
        cmocka_unit_test(
            gavel_cost_sends_each_job_where_it_is_worth_its_price),
        cmocka_unit_test(gavel_deals_rounds_between_two_solutions),
        cmocka_unit_test(gavel_remembers_rounds_when_many_come),
        cmocka_unit_test(gavel_keeps_the_rounds_that_it_is_given),
        cmocka_unit_test(gavel_lets_no_job_without_room_spoil_the_shares),
        cmocka_unit_test(allox_waits_where_waiting_is_shorter),
        cmocka_unit_test(allox_matches_no_job_that_has_no_room_now),
        cmocka_unit_test(allox_counts_where_places_are_too_few),
        cmocka_unit_test(synergy_gives_cores_to_who_needs_them),
        cmocka_unit_test(synergy_brings_back_who_holds_more_than_its_part),
        cmocka_unit_test(synergy_waits_where_free_gpus_are_in_pieces),
        cmocka_unit_test(synergy_brings_back_nobody_on_a_node_without_room),
        cmocka_unit_test(synergy_brings_back_nobody_for_gpus_in_pieces),
        cmocka_unit_test(synergy_brings_back_all_whose_nodes_have_a_piece),
        cmocka_unit_test(synergy_brings_back_nobody_where_memory_is_short),
        cmocka_unit_test(synergy_takes_pools_of_equal_nodes_as_one),
        cmocka_unit_test(synergy_tries_pools_of_other_nodes_in_their_order),
        cmocka_unit_test(the_soonest_type_is_taken_wherever_it_stands),
        cmocka_unit_test(every_policy_ends_all_jobs_of_a_mixed_cluster),
        cmocka_unit_test(a_pool_without_the_type_of_a_job_is_none_for_it),
        cmocka_unit_test(sia_starts_a_gang_of_any_number_of_whole_nodes),
        cmocka_unit_test(sia_looks_at_all_configurations_of_a_job),
        cmocka_unit_test(gavels_own_trace_runs_under_every_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
