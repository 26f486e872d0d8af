/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decide_test.c - which option is taken, and what is said of the others.
 *
 * The oracle is computed by hand: differences are chosen so that their third moment is 0,
 * where both tests of an interval are Student's; of four pairs that is t with 3 degrees of
 * freedom, whose distribution is a formula.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/decide/decide.h"
#include "experiments/results/grid.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/sheet.h"
#include "tests/aid/program.h"
#include "tests/aid/scratch.h"

const char *program_argv0;

struct world {
    struct scratch scratch;
    struct grid *grid;
    struct experiment_decide spec;
};

static int setup(void **state)
{
    return scratch_state(state, sizeof(struct world));
}

static const struct experiment_choice choices[] = {
    { "today", "static", "" }, { "a", "dynamic", "" },
    { "b", "static", "{cluster.nodes.cpu.count: 4}" }, { "c", "static", "{x: 1}" },
};

static void set_value(struct world *w, uint32_t option, uint32_t seed, enum metric metric,
                      double value)
{
    grid_set(w->grid, 0, option, seed, metric, value);
}

static void set_jct(struct world *w, uint32_t option, uint32_t seed, double value)
{
    set_value(w, option, seed, METRIC_JCT_MEAN, value);
}

static void set_cost(struct world *w, uint32_t option, uint32_t seed, double value)
{
    set_value(w, option, seed, METRIC_COST, value);
}

/* A world of options at one point, the costs of all seeds of one option after the
 * other; less is better. */
static void make_world(struct world *w, uint32_t options, uint32_t seeds,
                       const double *cost)
{
    static const char *const point[] = { "base" };
    static const char *const policy[] = { "today", "a", "b", "c" };
    double value[METRIC_COUNT] = { 0 };

    w->grid = grid_new(w->scratch.arena, NULL, point, 1, policy, options, seeds);
    for (uint32_t i = 0; i < options; i++) {
        for (uint32_t s = 0; s < seeds; s++) {
            value[METRIC_JOBS] = value[METRIC_JOBS_DONE] = 1;
            value[METRIC_COST] = cost[i * seeds + s];
            value[METRIC_JCT_MEAN] = 40 + (i * seeds + s) % 3;
            grid_put(w->grid, 0, i, s, value);
        }
        grid_end(w->grid, 0, i, false);
    }
    w->spec = (struct experiment_decide){
        .choice = choices, .choice_count = options, .metric = METRIC_COST, .quantile = 0.95
    };
}

static void add_keep(struct world *w, enum metric metric, double low, double high)
{
    struct experiment_keep *keep = arena_alloc(w->scratch.arena, 1, sizeof *keep);

    *keep = (struct experiment_keep){ metric, low, high };
    w->spec.keep = keep;
    w->spec.keep_count = 1;
}

static const struct decide_point *decide(struct world *w)
{
    const struct decision *decision = decide_make(w->scratch.arena, w->grid, &w->spec);

    assert_non_null(decision);
    return &decision->point[0];
}

static void assert_says(const struct decide_point *at, const char *part)
{
    if (strstr(at->sentence, part) == NULL)
        fail_msg("'%s' is not in: %s", part, at->sentence);
}

static void assert_near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-6 * fabs(wanted)))
        fail_msg("found %.9g, wanted %.9g", found, wanted);
}

/* The two-sided p-value of t with 3 degrees of freedom. */
static double p_of_t3(double t)
{
    double u = t / sqrt(3);

    return 2 * (0.5 - (u / (1 + u * u) + atan(u)) / acos(-1));
}

/* today 100 102 104 106, mean 103; a lower by 10, 11, 9, 10, mean 93, deviation sqrt(2/3);
 * b lower by 9, 12, 8, 11, deviation sqrt(10/3); a and b differ by 1, -1, 1, -1. */
static const double three[] = {
    100, 102, 104, 106, 90, 91, 95, 96, 91, 90, 96, 95
};

/* The same, and an option must keep a mean completion time of at most 60 s, as all do. */
static void make_limited(struct world *w)
{
    make_world(w, 3, 4, three);
    add_keep(w, METRIC_JCT_MEAN, -INFINITY, 60);
}

static void the_best_is_taken_and_what_is_level_is_named(void **state)
{
    struct world *w = *state;
    double p_a = p_of_t3(10 / sqrt(2.0 / 3 / 4)), p_b = p_of_t3(10 / sqrt(10.0 / 3 / 4));

    make_world(w, 3, 4, three);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->outcome, DECIDE_IS_TAKEN);
    assert_int_equal(at->best, 1);
    assert_int_equal(at->option[0].verdict, DECIDE_WORSE);
    assert_int_equal(at->option[1].verdict, DECIDE_TAKE);
    assert_int_equal(at->option[2].verdict, DECIDE_LEVEL);
    assert_near(at->option[1].mean.mean, 93);
    assert_near(at->option[1].delta.percent, -1000.0 / 103);
    /* three pairs of options: Holm multiplies by 3 and 2 */
    assert_near(at->option[1].p_holm, 3 * p_a);
    assert_near(at->option[2].p_holm, fmax(3 * p_a, 2 * p_b));
    assert_says(at, "Take a: total cost 93 USD, -9.7% [");
    assert_says(at, " against today (4 seeds, corrected p 0.00045");
    assert_says(at, "Level with it: b (+0.0% [");
    assert_says(at, "): the difference may be chance.");
}

/* Clopper and Pearson: 0 of 4 ends at 1 - 0.025^(1/4), 4 of 4 begins at 0.025^(1/4); 1 of 4
 * begins at 1 - 0.975^(1/4). */
static void risk_is_the_share_of_bad_seeds(void **state)
{
    struct world *w = *state;

    make_limited(w);
    set_jct(w, 2, 1, 61);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->option[1].risk.seeds, 4);
    assert_int_equal(at->option[1].risk.bad, 0);
    assert_true(at->option[1].risk.low == 0);
    assert_near(at->option[1].risk.high, 1 - pow(0.025, 0.25));
    assert_int_equal(at->option[2].risk.bad, 1);
    assert_near(at->option[2].risk.low, 1 - pow(0.975, 0.25));
    w->spec.metric = METRIC_COST;
    for (uint32_t s = 0; s < 4; s++)        /* dearer than today in each seed */
        set_cost(w, 1, s, 200);
    at = decide(w);
    assert_int_equal(at->option[1].risk.bad, 4);
    assert_near(at->option[1].risk.low, pow(0.025, 0.25));
    assert_true(at->option[1].risk.high == 1);
}

/* Of each condition alone the seeds that break it: a value at the limit keeps it, one that is not
 * known counts for neither, and what one condition forgives the other may not. */
static void each_condition_has_a_risk_of_its_own(void **state)
{
    static const double jct[] = { 50, 60, 60.5, NAN, 70, 40, 39.5, 61 };
    static const struct experiment_keep keep[] = {
        { METRIC_JCT_MEAN, -INFINITY, 60 }, { METRIC_JCT_MEAN, 40, INFINITY },
        { METRIC_JCT_MEAN, 40, 60 }, { METRIC_COST, 5, 7 },
    };
    static const uint32_t bad[] = { 3, 1, 4, 0 }, known[] = { 7, 7, 7, 8 };
    static const double cost[16] = { 5, 6, 7, 5, 6, 7, 5, 6, 7, 5, 6, 7, 5, 6, 7, 5 };
    struct world *w = *state;

    make_world(w, 2, 8, cost);
    for (uint32_t s = 0; s < 8; s++)
        set_jct(w, 1, s, jct[s]);
    w->spec.keep = keep;
    w->spec.keep_count = 4;
    const struct decision *decision = decide_make(w->scratch.arena, w->grid, &w->spec);
    for (uint32_t k = 0; k < 4; k++) {
        struct decide_risk risk = decide_keep_risk(w->scratch.arena, decision, 0, 1, k);
        double n = known[k], at_least = 0;
        assert_int_equal(risk.bad, bad[k]);
        assert_int_equal(risk.seeds, known[k]);
        /* By the law of n draws: at the lower end as many bad ones or more have 2.5%. */
        for (uint32_t i = bad[k]; bad[k] > 0 && i <= known[k]; i++)
            at_least += exp(lgamma(n + 1) - lgamma(i + 1.0) - lgamma(n - i + 1)) *
                        pow(risk.low, i) * pow(1 - risk.low, n - i);
        if (bad[k] > 0)
            assert_near(at_least, 0.025);
        else
            assert_true(risk.low == 0);
    }
    /* Dearer than today in 0, 3 and 6; seed 3, whose time is not known, is left out. */
    assert_int_equal(decision->point[0].option[1].risk.bad, 5);
    assert_int_equal(decision->point[0].option[1].risk.seeds, 7);
}

/* Of four seeds, half have 91 USD of a or less, and the worst 96; of b 91 and 96, of today 102 and
 * 106.  The mean is that of all four. */
static void a_row_of_the_table_has_its_figures(void **state)
{
    static const char *const row[][4] = {
        { "today", "103 ", " 102 ", " 106" }, { "a", "93 ", " 91 ", " 96" },
        { "b", "93 ", " 91 ", " 96" },
    };
    struct world *w = *state;
    char *text, *line;
    size_t bytes;

    make_world(w, 3, 4, three);
    w->spec.quantile = 0.5;
    const struct decision *decision = decide_make(w->scratch.arena, w->grid, &w->spec);
    struct sheet *sheet = decide_sheet(w->scratch.arena, decision, 0, false);
    FILE *file = open_memstream(&text, &bytes);
    sheet_print(sheet, file, false);
    assert_int_equal(fclose(file), 0);
    line = strtok(text, "\n");                  /* titles */
    assert_non_null(line);
    for (size_t i = 0; i < 3; i++) {
        while (line != NULL && (strncmp(line, row[i][0], strlen(row[i][0])) != 0 ||
                                line[strlen(row[i][0])] != ' '))
            line = strtok(NULL, "\n");
        assert_non_null(line);
        for (size_t c = 1; c < 4; c++)
            if (strstr(line, row[i][c]) == NULL)
                fail_msg("'%s' is not in: %s", row[i][c], line);
        line = strtok(NULL, "\n");
    }
    free(text);
    sheet_free(sheet);
}

static void the_tail_is_a_seed_that_few_are_worse_than(void **state)
{
    struct world *w = *state;
    double cost[2 * 40];

    for (uint32_t s = 0; s < 40; s++) {     /* 1 to 40 in another order */
        cost[s] = 1 + s * 7 % 40;
        cost[40 + s] = 2 * cost[s];
    }
    make_world(w, 2, 40, cost);
    assert_true(decide(w)->option[0].tail == 38);
    assert_true(decide(w)->option[0].worst == 40);
    w->spec.quantile = 0.5;
    assert_true(decide(w)->option[1].tail == 40);
    w->spec.metric = METRIC_SLO;            /* more is better: the bad side is below */
    for (uint32_t s = 0; s < 80; s++)
        set_value(w, s / 40, s % 40, METRIC_SLO, cost[s] / 100);
    w->spec.quantile = 0.95;
    assert_true(decide(w)->option[0].tail == 0.03);
    assert_true(decide(w)->option[0].worst == 0.01);
    assert_int_equal(decide(w)->best, 1);
}

/* Figures of an option, seed by seed: how many seeds count, and how many are worse than those of
 * the first option or break the limit of the completion time; the worst; the best mean. */
struct counted {
    uint32_t seeds, bad;
    double worst, tail, mean;
};

static struct counted count_drawn(double x[3][7], double jct[3][7], uint32_t i, double limit,
                                  double quantile)
{
    struct counted c = { 0, 0, -INFINITY, INFINITY, 0 };

    for (uint32_t s = 0; s < 7; s++) {
        uint32_t worse = 0;
        c.mean += x[i][s] / 7;
        c.worst = fmax(c.worst, x[i][s]);
        for (uint32_t o = 0; o < 7; o++)
            worse += x[i][o] > x[i][s];
        if (worse <= (1 - quantile) * 7 + 1e-9)
            c.tail = fmin(c.tail, x[i][s]);
        if (isnan(jct[i][s]))
            continue;
        c.seeds++;
        c.bad += x[i][s] > x[0][s] || jct[i][s] > limit;
    }
    return c;
}

/* Costs differ by quarters of a dollar, and times lie around their limit, at it, or are not
 * known. */
static void drawn_seeds_are_bad_where_they_are_dearer_or_slower(void **state)
{
    struct world *w = *state;
    struct rng rng;

    rng_init(&rng, 3, "decide", 0);
    for (int world = 0; world < 200; world++) {
        double x[3][7], jct[3][7], cost[21], limit = 40;
        double quantile = (double)rng_below(&rng, 101) / 100;
        for (uint32_t k = 0; k < 21; k++) {
            cost[k] = x[k / 7][k % 7] = 8 + (double)rng_below(&rng, 16) / 4;
            jct[k / 7][k % 7] = rng_below(&rng, 12) == 0 ? NAN
                                                         : 38 + (double)rng_below(&rng, 9) / 4;
        }
        make_world(w, 3, 7, cost);
        add_keep(w, METRIC_JCT_MEAN, -INFINITY, limit);
        w->spec.quantile = quantile;
        for (uint32_t k = 0; k < 21; k++)
            set_jct(w, k / 7, k % 7, jct[k / 7][k % 7]);
        const struct decide_point *at = decide(w);
        for (uint32_t i = 0; i < 3; i++) {
            struct counted c = count_drawn(x, jct, i, limit, quantile);
            assert_int_equal(at->option[i].risk.seeds, c.seeds);
            assert_int_equal(at->option[i].risk.bad, c.bad);
            assert_true(at->option[i].worst == c.worst && at->option[i].tail == c.tail);
            assert_near(at->option[i].mean.mean, c.mean);
        }
    }
}

static void an_option_that_breaks_a_condition_is_dropped(void **state)
{
    struct world *w = *state;

    make_limited(w);
    for (uint32_t s = 0; s < 4; s++)
        set_jct(w, 1, s, 70 + s);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->outcome, DECIDE_IS_TAKEN);
    assert_int_equal(at->best, 2);
    assert_int_equal(at->option[1].verdict, DECIDE_DROPPED);
    assert_says(at, "Take b: ");
    assert_says(at, "It keeps jct_mean_s at most 60 s.");
    assert_says(at, "Dropped: a (jct_mean_s at most 60 s: 71.5 s [");
    for (uint32_t o = 0; o < 3; o++)
        for (uint32_t s = 0; s < 4; s++)
            set_jct(w, o, s, 70 + s);
    at = decide(w);
    assert_int_equal(at->outcome, DECIDE_IS_NONE);
    assert_says(at, "Take none: no option keeps the conditions.");
}

/* Mean 60, and an interval around it. */
static void straddle(struct world *w, uint32_t option)
{
    for (uint32_t s = 0; s < 4; s++)
        set_jct(w, option, s, s % 2 == 0 ? 50 : 70);
}

static void a_condition_that_is_not_decided_leaves_the_decision_open(void **state)
{
    struct world *w = *state;

    make_limited(w);
    straddle(w, 1);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->outcome, DECIDE_IS_OPEN);
    assert_int_equal(at->best, 2);
    assert_int_equal(at->option[2].verdict, DECIDE_BEST);
    assert_int_equal(at->option[1].verdict, DECIDE_UNDECIDED);
    assert_says(at, "Undecided: of the options that surely keep the conditions b is the best");
    assert_says(at, "Not decided: a (");
}

static void a_condition_of_what_is_worse_anyway_does_not_matter(void **state)
{
    struct world *w = *state;

    make_limited(w);
    straddle(w, 0);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->outcome, DECIDE_IS_TAKEN);
    assert_int_equal(at->best, 1);
    assert_says(at, "Not decided, and worse anyway: today (");
}

/* a lies 1, 3, 1, -1 below today: its interval contains 0. */
static void a_difference_that_may_be_chance_is_undecided(void **state)
{
    static const double cost[] = { 100, 102, 104, 106, 99, 99, 103, 107 };
    struct world *w = *state;

    make_world(w, 2, 4, cost);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->outcome, DECIDE_IS_OPEN);
    assert_int_equal(at->best, 1);
    assert_int_equal(at->option[0].verdict, DECIDE_LEVEL);
    assert_says(at, "Undecided: a has the best mean, total cost 102 USD, -1.0% [");
    assert_says(at, "and today may be as good. More seeds may decide.");
    for (uint32_t s = 0; s < 4; s++) {      /* the other way round */
        set_cost(w, 0, s, cost[4 + s]);
        set_cost(w, 1, s, cost[s]);
    }
    at = decide(w);
    assert_int_equal(at->outcome, DECIDE_IS_OPEN);
    assert_int_equal(at->best, 0);
    assert_says(at, "Undecided: today has the best mean, total cost 102 USD");
    assert_says(at, "Level with it: a (+1.0% [");
}

/* Their difference leaves out 0 alone, t = 4, p = 0.028, but not among three pairs. */
static void a_difference_counts_only_as_corrected(void **state)
{
    static const double cost[] = {
        100, 102, 104, 106, 97, 98, 102, 103, 97.5, 98.5, 101.5, 102.5
    };
    struct world *w = *state;
    /* a is lower by 3, 4, 2, 3: t = 3 / (sqrt(2/3) / 2) = 7.3; widen it */
    make_world(w, 2, 4, cost);
    set_cost(w, 1, 0, 95.5);            /* 4.5 4 2 1.5 */
    set_cost(w, 1, 3, 104.5);
    assert_int_equal(decide(w)->outcome, DECIDE_IS_TAKEN);
    double alone = decide(w)->option[1].p_holm;

    assert_true(alone < 0.05 && 3 * alone > 0.05);
    make_world(w, 3, 4, cost);
    set_cost(w, 1, 0, 95.5);
    set_cost(w, 1, 3, 104.5);
    for (uint32_t s = 0; s < 4; s++)        /* b: today, up and down by 8 */
        set_cost(w, 2, s, cost[s] + (s == 0 || s == 3 ? 8 : -8));
    const struct decide_point *at = decide(w);

    assert_near(at->option[1].p_holm, 3 * alone);
    assert_int_equal(at->outcome, DECIDE_IS_OPEN);
}

static void the_first_is_kept_if_all_others_are_worse(void **state)
{
    static const double cost[] = { 90, 91, 95, 96, 100, 102, 104, 106 };
    struct world *w = *state;

    make_world(w, 2, 4, cost);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->outcome, DECIDE_IS_KEPT);
    assert_int_equal(at->best, 0);
    assert_says(at, "Keep today: total cost 93 USD; the nearest other option, a, +10.8% [");
}

static void one_seed_decides_nothing_unless_nothing_is_drawn(void **state)
{
    static const double cost[] = { 100, 90 };
    struct world *w = *state;

    make_world(w, 2, 1, cost);
    assert_int_equal(decide(w)->outcome, DECIDE_IS_OPEN);
    assert_says(decide(w), "one seed: no interval");
    w->grid->fixed[0] = w->grid->fixed[1] = true;
    assert_int_equal(decide(w)->outcome, DECIDE_IS_TAKEN);
    assert_says(decide(w), "Take a: total cost 90 USD, -10.0% against today.");
    assert_true(isnan(decide(w)->option[1].risk.low));
}

/* Of one drawn seed no condition is known to be kept, nor to be broken, so nothing is
 * dropped; where nothing is drawn, today breaks it (70 s above 60 s) and a keeps it. */
static void one_seed_decides_no_condition_unless_nothing_is_drawn(void **state)
{
    static const double cost[] = { 100, 90 };
    struct world *w = *state;

    make_world(w, 2, 1, cost);
    add_keep(w, METRIC_JCT_MEAN, -INFINITY, 60);
    set_jct(w, 0, 0, 70);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->outcome, DECIDE_IS_OPEN);
    assert_int_equal(at->option[0].verdict, DECIDE_UNDECIDED);
    assert_int_equal(at->option[1].verdict, DECIDE_UNDECIDED);
    assert_says(at, "Undecided: no option surely keeps the conditions.");
    assert_says(at, "today (jct_mean_s at most 60 s: 70 s; one seed, so no interval)");
    w->grid->fixed[0] = w->grid->fixed[1] = true;
    at = decide(w);
    assert_int_equal(at->outcome, DECIDE_IS_TAKEN);
    assert_int_equal(at->option[0].verdict, DECIDE_DROPPED);
}

static void set_jobs(struct world *w, uint32_t option, const double done[4])
{
    for (uint32_t s = 0; s < 4; s++) {
        set_value(w, option, s, METRIC_JOBS, 10);
        set_value(w, option, s, METRIC_JOBS_DONE, done[s]);
    }
}

/* a did 4 + 5 + 4 + 5 = 18 of 40 jobs: the mean of those may be below 60 s because the long
 * ones are not among them. */
static void a_condition_over_the_jobs_done_alone_is_not_kept(void **state)
{
    static const double some[] = { 4, 5, 4, 5 };
    struct world *w = *state;

    make_limited(w);
    set_jobs(w, 1, some);
    w->spec.metric = METRIC_JCT_RESTRICTED;     /* of all jobs: less work is no gain */
    for (uint32_t i = 0; i < 12; i++)
        set_value(w, i / 4, i % 4, METRIC_JCT_RESTRICTED, three[i]);
    const struct decide_point *at = decide(w);

    assert_int_equal(at->option[1].verdict, DECIDE_UNDECIDED);
    assert_int_equal(at->outcome, DECIDE_IS_OPEN);
    assert_says(at, "over 18 of 40 jobs alone");
}

/* a is cheaper and leaves 22 of 40 jobs that today does: that is no saving.  Where today
 * leaves some too, chance may be why: today 9, 8, 9, 8 and a 8, 9, 9, 7 differ by -1, 1, 0,
 * -1, so a is compared, and both numbers are said; a of 7, 6, 6, 5 lies below by 2, 2, 3, 3,
 * mean 2.5, half width 3.182 x 0.577 / 2 = 0.92. */
static void an_option_that_leaves_jobs_is_not_cheaper(void **state)
{
    static const double some[] = { 4, 5, 4, 5 }, all[] = { 10, 10, 10, 10 };
    static const double most[] = { 9, 8, 9, 8 }, alike[] = { 8, 9, 9, 7 };
    static const double fewer[] = { 7, 6, 6, 5 };
    struct world *w = *state;

    make_world(w, 2, 4, three);
    set_jobs(w, 0, all);
    set_jobs(w, 1, some);
    assert_int_equal(decide(w)->option[1].verdict, DECIDE_UNDECIDED);
    assert_int_equal(decide(w)->outcome, DECIDE_IS_OPEN);
    assert_says(decide(w), "Not decided: a (it did 18 of 40 jobs, and today 40 of 40");
    set_jobs(w, 0, most);
    set_jobs(w, 1, fewer);
    assert_int_equal(decide(w)->option[1].verdict, DECIDE_UNDECIDED);
    add_keep(w, METRIC_JOBS_DONE, 1, INFINITY);     /* it says how many are enough */
    assert_int_equal(decide(w)->outcome, DECIDE_IS_TAKEN);
    w->spec.keep_count = 0;
    set_jobs(w, 1, alike);
    assert_int_equal(decide(w)->outcome, DECIDE_IS_TAKEN);
    assert_says(decide(w), " Jobs done: a 33 of 40; today 34 of 40.");
}

static void an_option_that_was_not_run_is_said(void **state)
{
    struct world *w = *state;

    make_world(w, 3, 4, three);
    w->grid->policy_count = 2;
    assert_says(decide(w), " Not run: b.");
    assert_int_equal(decide(w)->outcome, DECIDE_IS_TAKEN);      /* of the others */
    assert_int_equal(decide(w)->option[2].verdict, DECIDE_UNDECIDED);
    w->spec.choice = choices + 1;       /* the first is a, and today is unknown */
    w->grid->policy_count = 1;
    w->spec.choice_count = 2;
    assert_null(decide_make(w->scratch.arena, w->grid, &w->spec));
}

/* What is read back decides alike. */
static void the_file_holds_all_that_decides(void **state)
{
    struct world *w = *state;
    struct err err = { 0 };
    struct folder *dir = folder_make(w->scratch.arena, w->scratch.dir, &err);
    const struct decision *again = NULL;

    make_limited(w);
    straddle(w, 1);
    w->spec.quantile = 0.75;
    const struct decision *decision = decide_make(w->scratch.arena, w->grid, &w->spec);

    assert_true(decide_write(w->scratch.arena, dir, decision, &err));
    folder_close(dir);
    assert_true(decide_read(w->scratch.arena, w->scratch.dir, w->grid, &again, &err));
    assert_non_null(again);
    assert_int_equal(again->spec->choice_count, 3);
    assert_string_equal(again->spec->choice[2].set, choices[2].set);
    assert_int_equal(again->spec->keep_count, 1);
    assert_true(again->spec->quantile == 0.75);
    assert_string_equal(again->point[0].sentence, decision->point[0].sentence);
    char *text = scratch_read(&w->scratch, "options.csv");
    assert_non_null(strstr(text, "\nbase,b,static,{cluster.nodes.cpu.count: 4},best mean,"
                           "cost_usd,decides,,,4,93,"));
    assert_non_null(strstr(text, "\nbase,a,dynamic,,undecided,jct_mean_s,condition,,60,4,60,"));
    free(text);
}

/* The three options of `three`, with the time of b at 61 in one of its four seeds, told in words
 * and in the file.  Times are 40, 41, 42, 40 of today, 41, 42, 40, 41 of a, and 42, 61, 41, 42
 * of b. */
static const struct decision *make_told(struct world *w)
{
    make_limited(w);
    set_jct(w, 2, 1, 61);
    w->spec.quantile = 0.75;
    return decide_make(w->scratch.arena, w->grid, &w->spec);
}

/* Holds a number of a row to what it should be; NAN: an empty field.  head: the titles. */
static void check_number(const char *head, const char *line, const char *column, double wanted)
{
    char field[64];

    csv_field(line, csv_column(head, column), field, sizeof field);
    if (isnan(wanted) ? field[0] != '\0'
                      : field[0] == '\0' ||
                        !(fabs(strtod(field, NULL) - wanted) <= 1e-8 * fabs(wanted)))
        fail_msg("%s: found '%s', wanted %.9g", column, field, wanted);
}

/* The sentence is the last field, in quotes as it has commas. */
static void check_sentence(const char *line, const char *sentence)
{
    char wanted[2000];
    size_t bytes = strcspn(line, "\n");

    snprintf(wanted, sizeof wanted, sentence[0] == '\0' ? "," : ",\"%s\"", sentence);
    assert_true(strncmp(line + bytes - strlen(wanted), wanted, strlen(wanted)) == 0);
}

/* What only the row of the metric that decides has. */
static void check_decides(const char *head, const char *line, const struct decision *decision,
                          uint32_t i)
{
    static const double tail[] = { 104, 95, 95 }, worst[] = { 106, 96, 96 };
    static const double bad[] = { 0, 0, 1 };
    const struct decide_option *o = &decision->point[0].option[i];

    check_number(head, line, "mean", i == 0 ? 103 : 93);
    check_number(head, line, "delta_percent", i == 0 ? NAN : -1000.0 / 103);
    check_number(head, line, "p_holm", i == 0 ? NAN : o->p_holm);
    check_number(head, line, "bad_seeds", bad[i]);
    check_number(head, line, "risk_fraction", bad[i] / 4);
    check_number(head, line, "risk_ci95_high", bad[i] == 0 ? 1 - pow(0.025, 0.25) : o->risk.high);
    check_number(head, line, "quantile", 0.75);
    check_number(head, line, "quantile_value", tail[i]);
    check_number(head, line, "worst", worst[i]);
    check_sentence(line, decision->point[0].sentence);
}

static void check_condition(const char *head, const char *line, uint32_t i)
{
    static const double mean[] = { 40.75, 41, 46.5 }, bad[] = { 0, 0, 1 };

    check_number(head, line, "mean", mean[i]);
    check_number(head, line, "delta_percent", i == 0 ? NAN : 100 * (mean[i] / mean[0] - 1));
    check_number(head, line, "at_most", 60);
    check_number(head, line, "at_least", NAN);
    check_number(head, line, "bad_seeds", bad[i]);
    check_number(head, line, "risk_fraction", bad[i] / 4);
    check_number(head, line, "p_holm", NAN);
    check_number(head, line, "quantile", NAN);
    check_number(head, line, "worst", NAN);
    check_sentence(line, "");
}

static void each_row_of_the_file_has_what_is_its_own(void **state)
{
    struct world *w = *state;
    struct err err = { 0 };
    struct folder *dir = folder_make(w->scratch.arena, w->scratch.dir, &err);
    const struct decision *decision = make_told(w);

    assert_true(decide_write(w->scratch.arena, dir, decision, &err));
    folder_close(dir);
    char *text = scratch_read(&w->scratch, "options.csv"), field[64];
    const char *line = text;
    for (uint32_t row = 0; row < 9; row++) {    /* cost, time, promises kept: 0 in all seeds */
        line = strchr(line, '\n') + 1;
        csv_field(line, csv_column(text, "option"), field, sizeof field);
        assert_string_equal(field, choices[row / 3].name);
        csv_field(line, csv_column(text, "use"), field, sizeof field);
        assert_string_equal(field, row % 3 == 0 ? "decides"
                                   : row % 3 == 1 ? "condition" : "shown");
        if (row % 3 == 0)
            check_decides(text, line, decision, row / 3);
        else if (row % 3 == 1)
            check_condition(text, line, row / 3);
        else {
            check_number(text, line, "mean", 0);
            check_number(text, line, "bad_seeds", NAN);
            check_number(text, line, "p_holm", NAN);
        }
    }
    assert_string_equal(strchr(line, '\n'), "\n");
    free(text);
}

/* Lines hold 96 characters: words are broken where the next one does not fit. */
static char *check_wrapped(char *text, const char *said)
{
    while (*said != '\0') {
        size_t bytes = strcspn(text, "\n"), word = strcspn(said + bytes + 1, " ");

        assert_true(bytes <= 96 && bytes > 0);
        if (strncmp(text, said, bytes) != 0)
            fail_msg("'%.*s' is not '%s'", (int)bytes, text, said);
        assert_true(said[bytes] == '\0' || (said[bytes] == ' ' && bytes + 1 + word > 96));
        said += bytes + (said[bytes] == ' ');
        text += bytes + 1;
    }
    return text;
}

static void what_is_printed_is_the_sentence_the_table_and_the_legend(void **state)
{
    static const char *const row[] = {
        "option  verdict", "today   ", "a       ", "b       ",
    };
    struct world *w = *state;
    const struct decision *decision = make_told(w);
    char *text, *at;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    decide_print(file, decision, false);
    assert_int_equal(fclose(file), 0);
    assert_true(strncmp(text, "options\n", 8) == 0);
    at = check_wrapped(text + 8, decision->point[0].sentence);
    for (size_t i = 0; i < 4; i++) {
        if (strncmp(at, row[i], strlen(row[i])) != 0)
            fail_msg("'%.40s' does not begin with '%s'", at, row[i]);
        if (i == 0)
            assert_non_null(strstr(at, "risk  75% of seeds at most  worst seed\n"));
        at = strchr(at, '\n') + 1;
    }
    assert_non_null(strstr(text, "0 of 4 [0%, 60%]"));
    assert_non_null(strstr(text, "1 of 4 [1%, 81%]"));
    at = check_wrapped(at, decide_legend(w->scratch.arena, decision));
    assert_true(*at == '\0');
    assert_null(strstr(text, "it is the worst one"));
    free(text);
    w->spec.quantile = 0.76;                /* of four seeds it is the worst one */
    assert_non_null(strstr(decide_legend(w->scratch.arena, decision), "it is the worst one"));
}

/* In a page the keys of an option may be broken behind dots (U+200B), and a difference that the
 * seeds decide says whether it is for the better: costs fall by 10 of 103, and times of a rise by
 * 9, 11, 9 and 11 of 40.75; that of b by 0.5, 0.5, -0.5 and 0.4 may be chance. */
static void a_page_says_what_is_better_and_breaks_keys(void **state)
{
    static const double more[2][4] = { { 9, 11, 9, 11 }, { 0.5, 0.5, -0.5, 0.4 } };
    static const double today[] = { 40, 41, 42, 40 };
    static const char *const has[] = {
        "<tr><th>today<small>static</small></th>", "<tr><th>a<small>dynamic</small></th>",
        "<tr><th>b<small>static: cluster.\u200bnodes.\u200bcpu.\u200bcount: 4</small></th>",
        "<small class=\"better\">-9.7% [", "<small class=\"worse\">+24.5% [",
        "<small>+0.6% [", "<small>worst 96</small>", "<th class=\"n\">risk</th>"
    };
    struct world *w = *state;
    struct err err = { 0 };
    struct folder *dir = folder_make(w->scratch.arena, w->scratch.dir, &err);

    make_world(w, 3, 4, three);
    for (uint32_t k = 0; k < 8; k++)
        set_jct(w, 1 + k / 4, k % 4, today[k % 4] + more[k / 4][k % 4]);
    const struct decision *decision = decide_make(w->scratch.arena, w->grid, &w->spec);
    struct sheet *sheet = decide_sheet(w->scratch.arena, decision, 0, true);
    struct out *out = out_in(w->scratch.arena, dir, "page.html", &err);
    assert_non_null(out);
    sheet_html(sheet, 1, out);
    assert_true(out_close(out, &err));
    folder_close(dir);
    sheet_free(sheet);
    char *text = scratch_read(&w->scratch, "page.html");
    for (size_t i = 0; i < sizeof has / sizeof has[0]; i++)
        if (strstr(text, has[i]) == NULL)
            fail_msg("'%s' is not in: %s", has[i], text);
    assert_null(strstr(text, "worst seed"));
    free(text);
}

/* Each of two points has its label; one alone has none. */
static void points_have_labels_where_there_are_several(void **state)
{
    static const char *const point[] = { "x=1", "x=2" }, *const policy[] = { "today", "a" };
    struct world *w = *state;
    double value[METRIC_COUNT] = { [METRIC_JOBS] = 1, [METRIC_JOBS_DONE] = 1 };
    char *text;
    size_t bytes;

    w->grid = grid_new(w->scratch.arena, NULL, point, 2, policy, 2, 2);
    for (uint32_t k = 0; k < 8; k++) {
        value[METRIC_COST] = 10 + k;
        grid_put(w->grid, k / 4, k / 2 % 2, k % 2, value);
        if (k % 2 == 1)
            grid_end(w->grid, k / 4, k / 2 % 2, false);
    }
    w->spec = (struct experiment_decide){ .choice = choices, .choice_count = 2,
                                          .metric = METRIC_COST, .quantile = 0.95 };
    FILE *file = open_memstream(&text, &bytes);
    decide_print(file, decide_make(w->scratch.arena, w->grid, &w->spec), false);
    assert_int_equal(fclose(file), 0);
    assert_true(strncmp(text, "options\nx=1\n", 12) == 0);
    assert_non_null(strstr(text, "\n\nx=2\n"));
    free(text);
}

/* ---- as a user writes it ---- */

static const char experiment[] =
    "seeds: 3\n"
    "cluster: {nodes: [{name: a, count: 2, price: 10USD/h, gpus: {type: generic, count: 8}}]}\n"
    "workload: {arrival: {process: poisson, rate: 3/h}, jobs: 30, mix: [{recipe: trace,\n"
    "  gpus: {choice: {2: 1, 8: 1}}, duration: {exponential: {mean: 1h}}}]}\n"
    "output: {tables: [summary, compare, jobs], plots: []}\n";

static const char *write_experiment(const struct program *program, const char *name,
                                    const char *more)
{
    char text[2000];

    snprintf(text, sizeof text, "experiment: e\n%s%s", experiment, more);
    return program_write(program, name, text);
}

/* The oracle is the experiment without options, its policies written out. */
static void options_run_as_policies_with_keys_of_their_own(void **state)
{
    struct program *program = *state;
    const char *options = write_experiment(program, "o.yaml",
        "policies: [fcfs, {policy: sjf, name: short, blocking: skip}]\n"
        "options:\n"
        "  - {name: today, policy: fcfs}\n"
        "  - {name: sorted, policy: short}\n"
        "  - {name: more, set: {cluster.nodes.a.count: 3, policies.fcfs.blocking: skip}}\n"
        "sweep: {workload.arrival.rate: [2/h, 4/h]}\n");

    assert_int_equal(program_experiment(program, options, "o", NULL), 0);
    const char *plain = write_experiment(program, "p.yaml",
        "policies:\n"
        "  - {policy: fcfs, name: today}\n"
        "  - {policy: sjf, name: sorted, blocking: skip}\n"
        "  - {policy: fcfs, name: more, blocking: skip, with: {cluster.nodes.a.count: 3}}\n"
        "sweep: {workload.arrival.rate: [2/h, 4/h]}\n");

    assert_int_equal(program_experiment(program, plain, "p", NULL), 0);
    static const char *const table[] = { "summary.csv", "compare.csv", "jobs.csv" };

    for (size_t i = 0; i < 3; i++) {
        char *left = program_result(program, "o", table[i]);
        char *right = program_result(program, "p", table[i]);

        assert_true(strlen(left) > 500);
        assert_string_equal(left, right);
        free(left);
        free(right);
    }
    assert_null(program_result(program, "p", "options.csv"));
    char *text = program_result(program, "o", "options.csv");
    assert_non_null(strstr(text, "\narrival.rate=4/h,more,fcfs,"));
    assert_non_null(strstr(text, "\narrival.rate=2/h,sorted,short,,"));
    free(text);
    text = program_result(program, "o", "report.html");
    assert_true(strstr(text, "against today") < strstr(text, "Which policy is the best"));
    free(text);
}

static void a_folder_decides_again_and_markdown_says_it(void **state)
{
    struct program *program = *state;
    const char *path = write_experiment(program, "o.yaml",
        "policies: [fcfs, sjf]\n"
        "options: [{name: today, policy: fcfs}, {name: sorted, policy: sjf}]\n"
        "decide: {metric: jct_mean_s}\n"
        "expect: [{metric: jobs_done, policy: sorted, at_least: 1}]\n");
    char *said, *text;
    const char *words[] = { "run", path, "-o", program_path(program, "o"), NULL };

    assert_int_equal(program_say(program, words, &said), 0);
    assert_non_null(strstr(said, "\noptions\n"));
    free(said);
    const char *check[] = { "check", program_path(program, "o"), "--markdown",
                            program_path(program, "m.md"), NULL };
    assert_int_equal(program_say(program, check, &said), 1);    /* three seeds are few */
    assert_non_null(strstr(said, "undecided      options: one of them can be taken"));
    assert_non_null(strstr(said, "1 of 2 checks hold"));
    free(said);
    text = program_read(program_path(program, "m.md"));
    assert_non_null(strstr(text, "### Options\n\n"));
    assert_non_null(strstr(text, "| option | verdict | JCT, mean | against today |"));
    free(text);
}

/* A table may have been edited: a quantile beyond all seeds has no value. */
static void a_quantile_that_is_none_is_refused(void **state)
{
    struct program *program = *state;
    const char *path = write_experiment(program, "q.yaml",
        "policies: [fcfs, sjf]\n"
        "options: [{name: today, policy: fcfs}, {name: sorted, policy: sjf}]\n"
        "decide: {metric: jct_mean_s}\n");
    char *said, *text, *at;
    const char *words[] = { "run", path, "-q", "-o", program_path(program, "q"), NULL };

    assert_int_equal(program_say(program, words, &said), 0);
    free(said);
    text = program_result(program, "q", "options.csv");
    for (at = text; (at = strstr(at, ",0.95,")) != NULL; at++)
        memcpy(at, ",95.0,", 6);
    program_write(program, "q/options.csv", text);
    free(text);
    const char *check[] = { "check", program_path(program, "q"), NULL };
    assert_int_equal(program_say(program, check, &said), 3);
    assert_non_null(strstr(said, "options.csv:2:"));
    assert_non_null(strstr(said, "quantile must be from 0 to 1, found '95.0'"));
    free(said);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, scratch_teardown)
        TEST(the_best_is_taken_and_what_is_level_is_named),
        TEST(risk_is_the_share_of_bad_seeds), TEST(each_condition_has_a_risk_of_its_own),
        TEST(a_row_of_the_table_has_its_figures),
        TEST(the_tail_is_a_seed_that_few_are_worse_than),
        TEST(drawn_seeds_are_bad_where_they_are_dearer_or_slower),
        TEST(an_option_that_breaks_a_condition_is_dropped),
        TEST(a_condition_that_is_not_decided_leaves_the_decision_open),
        TEST(a_condition_of_what_is_worse_anyway_does_not_matter),
        TEST(a_difference_that_may_be_chance_is_undecided),
        TEST(a_difference_counts_only_as_corrected),
        TEST(the_first_is_kept_if_all_others_are_worse),
        TEST(one_seed_decides_nothing_unless_nothing_is_drawn),
        TEST(one_seed_decides_no_condition_unless_nothing_is_drawn),
        TEST(a_condition_over_the_jobs_done_alone_is_not_kept),
        TEST(an_option_that_leaves_jobs_is_not_cheaper),
        TEST(an_option_that_was_not_run_is_said),
        TEST(the_file_holds_all_that_decides), TEST(each_row_of_the_file_has_what_is_its_own),
        TEST(what_is_printed_is_the_sentence_the_table_and_the_legend),
        TEST(a_page_says_what_is_better_and_breaks_keys),
        TEST(points_have_labels_where_there_are_several),
        cmocka_unit_test_setup_teardown(options_run_as_policies_with_keys_of_their_own,
                                        program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(a_folder_decides_again_and_markdown_says_it,
                                        program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(a_quantile_that_is_none_is_refused, program_setup,
                                        program_teardown),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
