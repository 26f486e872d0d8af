/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * indices_test.c - samples, elementary effects and Sobol's indices against
 * functions whose indices the literature gives.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/stats/indices.h"
#include "sim/stats/morris.h"
#include "sim/stats/sample.h"

#define PI 3.14159265358979323846

struct world {
    struct arena *arena;
    struct rng rng;
};

static struct world world_new(void)
{
    struct world w = { .arena = arena_new(1 << 16) };

    rng_init(&w.rng, 1, "indices_test", 0);
    return w;
}

/* Ishigami and Homma 1990, with a = 7 and b = 0.1. */
static double ishigami(const double *u)
{
    double x1 = PI * (2 * u[0] - 1), x2 = PI * (2 * u[1] - 1);
    double x3 = PI * (2 * u[2] - 1);

    return sin(x1) + 7 * sin(x2) * sin(x2) + 0.1 * pow(x3, 4) * sin(x1);
}

/* Sobol's g-function with the a of Saltelli and Sobol 1995. */
static double g_function(const double *u)
{
    static const double a[] = { 0, 1, 4.5, 9, 99, 99, 99, 99 };
    double y = 1;

    for (int i = 0; i < 8; i++)
        y *= (fabs(4 * u[i] - 2) + a[i]) / (1 + a[i]);
    return y;
}

static double linear(const double *u)
{
    return 3 * u[0] - 2 * u[1] + 0.5 * u[2];
}

static void estimate(struct world *w, double (*f)(const double *u), size_t inputs,
                     size_t rows, struct indices *index)
{
    struct indices_design design = indices_draw(w->arena, inputs, rows);
    double *y = arena_alloc(w->arena, design.points, sizeof *y);

    for (size_t p = 0; p < design.points; p++)
        y[p] = f(design.u + p * inputs);
    indices_of(w->arena, &w->rng, &design, y, index);
}

/* First: 0.3139, 0.4424, 0; total: 0.5576, 0.4424, 0.2437 (Saltelli et al.,
 * Global Sensitivity Analysis, 2008, 4.6.1 and 5.9). */
static void ishigami_has_the_indices_of_the_book(void **state)
{
    static const double first[] = { 0.3139, 0.4424, 0 };
    static const double total[] = { 0.5576, 0.4424, 0.2437 };
    struct world w = world_new();
    struct indices index[3];

    (void)state;
    estimate(&w, ishigami, 3, 4096, index);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(index[i].first - first[i]) < 0.02);
        assert_true(fabs(index[i].total - total[i]) < 0.02);
        assert_true(index[i].first_low < first[i] && first[i] < index[i].first_high);
        assert_true(index[i].total_low < total[i] && total[i] < index[i].total_high);
        assert_true(index[i].total_high - index[i].total_low < 0.1);
    }
    arena_free(w.arena);
}

/* First: 0.716, 0.179, 0.0237, 0.0072, 0.0001; total: 0.787, 0.242, 0.0343, 0.0105,
 * 0.0001, by its closed form: V_i = (1/3) / (1 + a_i)^2 of V = prod (1 + V_i) - 1
 * (Saltelli et al. 2010, section 5). */
static void g_function_has_the_indices_of_the_paper(void **state)
{
    static const double first[] = { 0.716, 0.179, 0.0237, 0.0072, 1e-4, 1e-4 };
    static const double total[] = { 0.787, 0.242, 0.0343, 0.0105, 1e-4, 1e-4 };
    struct world w = world_new();
    struct indices index[8];

    (void)state;
    estimate(&w, g_function, 8, 8192, index);
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(index[i].first - first[i]) < 0.02);
        assert_true(fabs(index[i].total - total[i]) < 0.02);
    }
    assert_true(fabs(index[3].total - total[3]) < 0.002);
    assert_true(index[4].total < 0.001);
    arena_free(w.arena);
}

/* Of sum c u the index is c^2 over the sum of squares, first and total alike. */
static void indices_of_a_sum_are_its_squares(void **state)
{
    static const double c[] = { 3, 2, 0.5 };
    struct world w = world_new();
    struct indices index[3];

    (void)state;
    estimate(&w, linear, 3, 1024, index);
    for (int i = 0; i < 3; i++) {
        double share = c[i] * c[i] / (9 + 4 + 0.25);

        assert_true(fabs(index[i].first - share) < 0.02);
        assert_true(fabs(index[i].total - share) < 0.02);
    }
    arena_free(w.arena);
}

static double constant(const double *u)
{
    return u[0] > 2 ? 1 : 5;
}

static void output_that_does_not_vary_has_no_indices(void **state)
{
    struct world w = world_new();
    struct indices index[2];

    (void)state;
    estimate(&w, constant, 2, 16, index);
    assert_true(isnan(index[0].first) && isnan(index[1].total));
    assert_true(isnan(index[1].total_low));
    arena_free(w.arena);
}

static void effects(struct world *w, double (*f)(const double *u), size_t inputs,
                    size_t trajectories, struct morris_effect *effect)
{
    struct morris design = morris_draw(w->arena, &w->rng, inputs, trajectories);
    double *y = arena_alloc(w->arena, design.points, sizeof *y);

    for (size_t p = 0; p < design.points; p++)
        y[p] = f(design.u + p * inputs);
    morris_effects(&design, y, effect);
}

/* The effect of an input of a linear function is its factor, wherever it is
 * measured: no spread. */
static void effects_of_a_linear_function_are_its_factors(void **state)
{
    static const double c[] = { 3, -2, 0.5 };
    struct world w = world_new();
    struct morris_effect effect[3];

    (void)state;
    effects(&w, linear, 3, 8, effect);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(effect[i].count, 8);
        assert_true(fabs(effect[i].mean - c[i]) < 1e-12);
        assert_true(fabs(effect[i].mean_absolute - fabs(c[i])) < 1e-12);
        assert_true(effect[i].spread < 1e-12);
    }
    arena_free(w.arena);
}

/* A product of two inputs: each effect is the other input, so it spreads. */
static double product(const double *u)
{
    return u[0] * u[1];
}

static void interaction_shows_in_the_spread(void **state)
{
    struct world w = world_new();
    struct morris_effect effect[3];

    (void)state;
    effects(&w, product, 3, 200, effect);
    assert_true(fabs(effect[0].mean - 0.5) < 0.1);
    assert_true(effect[0].spread > 0.3 && effect[0].spread < 0.45);
    assert_true(effect[2].mean_absolute == 0);
    arena_free(w.arena);
}

/* Of u^2 - u on the grid, effects of both signs cancel in the mean alone. */
static double even(const double *u)
{
    return u[0] * u[0] - u[0];
}

static void absolute_mean_does_not_cancel(void **state)
{
    struct world w = world_new();
    struct morris_effect effect[1];

    (void)state;
    effects(&w, even, 1, 400, effect);
    assert_true(fabs(effect->mean) < 0.05);
    assert_true(fabs(effect->mean_absolute - 1.0 / 3) < 1e-12);
    arena_free(w.arena);
}

static void trajectory_moves_each_input_once(void **state)
{
    struct world w = world_new();
    struct morris d = morris_draw(w.arena, &w.rng, 5, 50);
    unsigned level[4] = { 0 };

    (void)state;
    for (size_t p = 0; p < d.points; p++) {
        size_t moves = 0;

        for (size_t i = 0; i < 5; i++) {
            double u = d.u[p * 5 + i];

            assert_true(u > -1e-9 && u < 1 + 1e-9);
            level[(int)(3 * u + 0.5)]++;
            if (p % 6 > 0 && d.u[(p - 1) * 5 + i] != u) {
                assert_int_equal(d.moved[p], i);
                moves++;
            }
        }
        assert_int_equal(moves, p % 6 > 0);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(level[i], 250, 500);    /* of 1,500: 375 each */
    arena_free(w.arena);
}

static void steps_without_an_output_do_not_count(void **state)
{
    struct world w = world_new();
    struct morris d = morris_draw(w.arena, &w.rng, 2, 3);
    double y[9];
    struct morris_effect effect[2];

    (void)state;
    for (size_t p = 0; p < 9; p++)
        y[p] = p == 0 ? NAN : product(d.u + p * 2);
    morris_effects(&d, y, effect);
    assert_int_equal(effect[0].count + effect[1].count, 5);
    arena_free(w.arena);
}

static void latin_sample_has_one_point_in_each_part(void **state)
{
    struct world w = world_new();
    double u[10 * 3];

    (void)state;
    sample_latin(&w.rng, u, 10, 3);
    for (int d = 0; d < 3; d++) {
        unsigned seen = 0;

        for (int i = 0; i < 10; i++)
            seen |= 1u << (int)(10 * u[i * 3 + d]);
        assert_int_equal(seen, 0x3ff);
    }
    assert_true(fabs(u[0] - u[1]) > 1e-9);
    arena_free(w.arena);
}

/* The first points in two dimensions, as Bratley and Fox give them. */
static void sobol_sequence_begins_as_in_the_paper(void **state)
{
    static const double want[] = { 0.5, 0.5, 0.75, 0.25, 0.25, 0.75, 0.375, 0.375 };
    double u[8];

    (void)state;
    sample_sobol(u, 4, 2);
    for (int i = 0; i < 8; i++)
        assert_true(u[i] == want[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ishigami_has_the_indices_of_the_book),
        cmocka_unit_test(g_function_has_the_indices_of_the_paper),
        cmocka_unit_test(indices_of_a_sum_are_its_squares),
        cmocka_unit_test(output_that_does_not_vary_has_no_indices),
        cmocka_unit_test(effects_of_a_linear_function_are_its_factors),
        cmocka_unit_test(interaction_shows_in_the_spread),
        cmocka_unit_test(absolute_mean_does_not_cancel),
        cmocka_unit_test(trajectory_moves_each_input_once),
        cmocka_unit_test(steps_without_an_output_do_not_count),
        cmocka_unit_test(latin_sample_has_one_point_in_each_part),
        cmocka_unit_test(sobol_sequence_begins_as_in_the_paper),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
