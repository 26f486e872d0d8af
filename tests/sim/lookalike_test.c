/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_fit_test.c - fits give back the parameters that samples were drawn
 * with, and `clustersim fit` a workload that generates jobs like those it saw.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "sim/base/rng.h"
#include "sim/stats/likelihood.h"
#include "tests/aid/program.h"

#define SAMPLES 20000u

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double draw(const struct likelihood *from, struct rng *rng)
{
    switch (from->family) {
    case LIKELIHOOD_EXPONENTIAL:
        return rng_exponential(rng, from->a);
    case LIKELIHOOD_LOGNORMAL:
        return rng_lognormal(rng, from->a, from->b);
    case LIKELIHOOD_WEIBULL:
        return rng_weibull(rng, from->a, from->b);
    case LIKELIHOOD_GAMMA:
        return rng_gamma(rng, from->a, from->b);
    case LIKELIHOOD_PARETO:
        return rng_pareto(rng, from->a, from->b);
    default:
        return rng_exponential(rng, rng_uniform(rng) < from->c ? from->a
                                                               : from->b);
    }
}

static const struct likelihood truth[] = {
    { .family = LIKELIHOOD_EXPONENTIAL, .a = 3600.0 },
    { .family = LIKELIHOOD_LOGNORMAL, .a = 7.0, .b = 1.8 },
    { .family = LIKELIHOOD_WEIBULL, .a = 900.0, .b = 0.6 },
    { .family = LIKELIHOOD_WEIBULL, .a = 1e6, .b = 3.0 },
    { .family = LIKELIHOOD_GAMMA, .a = 0.4, .b = 5000.0 },
    { .family = LIKELIHOOD_GAMMA, .a = 25.0, .b = 0.01 },
    { .family = LIKELIHOOD_PARETO, .a = 60.0, .b = 1.5 },
    { .family = LIKELIHOOD_HYPEREXPONENTIAL, .a = 100.0, .b = 20000.0,
      .c = 0.7 },
};

static void draw_all(const struct likelihood *from, double *sample, size_t n)
{
    struct rng rng;

    rng_init(&rng, 7, "likelihood", 0);
    for (size_t i = 0; i < n; i++)
        sample[i] = draw(from, &rng);
    qsort(sample, n, sizeof *sample, by_value);
}

static bool near(double found, double wanted, double fraction)
{
    return fabs(found - wanted) <= fraction * fabs(wanted);
}

static void each_family_gives_its_parameters_back(void **state)
{
    static double sample[SAMPLES];

    (void)state;
    for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
        struct likelihood fit;

        draw_all(&truth[i], sample, SAMPLES);
        assert_true(likelihood_fit(truth[i].family, sample, SAMPLES, &fit));
        if (!near(fit.a, truth[i].a, 0.05) ||
            !near(fit.b, truth[i].b, 0.05) || !near(fit.c, truth[i].c, 0.05))
            fail_msg("%s: %g %g %g", likelihood_name(fit.family), fit.a,
                     fit.b, fit.c);
        /* 1.36 / sqrt(n) is exceeded by one in twenty even if nothing was
         * fitted; a fit lies nearer. */
        assert_true(fit.ks < 1.36 / sqrt((double)SAMPLES));
    }
}

static void the_family_that_was_drawn_from_is_the_best(void **state)
{
    static double sample[SAMPLES];

    (void)state;
    for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
        struct likelihood fit[LIKELIHOOD_FAMILIES];
        bool good[LIKELIHOOD_FAMILIES];
        size_t best;

        draw_all(&truth[i], sample, SAMPLES);
        assert_true(likelihood_best(sample, SAMPLES, fit, good, &best));
        if (best != (size_t)truth[i].family &&
            fit[best].aic < fit[truth[i].family].aic - 4.0)
            fail_msg("%s is taken for %s",
                     likelihood_name(truth[i].family),
                     likelihood_name((enum likelihood_family)best));
    }
}

/* Each likelihood is the sum of the logarithms of the density, here as the
 * slope of the distribution. */
static void a_likelihood_is_that_of_its_distribution(void **state)
{
    static double sample[200];

    (void)state;
    for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
        struct likelihood fit;
        double sum = 0.0;

        draw_all(&truth[i], sample, 200);
        assert_true(likelihood_fit(truth[i].family, sample, 200, &fit));
        for (size_t s = 0; s < 200; s++) {
            double step = sample[s] * 1e-6;
            double from = fit.family == LIKELIHOOD_PARETO ? sample[s]
                                                         : sample[s] - step;

            sum += log((likelihood_cdf(&fit, sample[s] + step) -
                        likelihood_cdf(&fit, from)) /
                       (sample[s] + step - from));
        }
        if (!near(sum, fit.log_likelihood, 1e-3))
            fail_msg("%s: %g, not %g", likelihood_name(fit.family),
                     fit.log_likelihood, sum);
    }
}

static void distances_are_those_worked_out_by_hand(void **state)
{
    /* Mean 2: F(1) = 0.393469, F(3) = 0.776870; the steps are at 1/2. */
    static const double sample[] = { 1.0, 3.0 };
    struct likelihood fit;
    double p = 1.0 - exp(-0.5), q = 1.0 - exp(-1.5);

    (void)state;
    assert_true(likelihood_fit(LIKELIHOOD_EXPONENTIAL, sample, 2, &fit));
    assert_true(near(fit.ks, p, 1e-12));
    assert_true(near(fit.ad, -2.0 - 0.5 * (log(p) + log(1.0 - q) +
                                           3.0 * (log(q) + log(1.0 - p))),
                     1e-12));
    assert_true(near(fit.aic, 2.0 + 4.0 * (log(2.0) + 1.0), 1e-12));
}

static void equal_values_have_no_shape(void **state)
{
    static const double sample[] = { 5.0, 5.0, 5.0 };
    struct likelihood fit;

    (void)state;
    for (int f = LIKELIHOOD_LOGNORMAL; f < LIKELIHOOD_FAMILIES; f++)
        assert_false(likelihood_fit((enum likelihood_family)f, sample, 3,
                                    &fit));
    assert_true(likelihood_fit(LIKELIHOOD_EXPONENTIAL, sample, 3, &fit));
    assert_true(fit.a == 5.0);
}

/* ---- the program -------------------------------------------------------- */

static int run(const struct program *program, const char *const *words,
               char **said)
{
    const char *argv[PROGRAM_ARGS_MAX + 2] = { program->path };
    char log[100];
    size_t n = 1;

    while (*words)
        argv[n++] = *words++;
    snprintf(log, sizeof log, "%s/log", program->folder);
    int status = program_spawn(argv, log);

    *said = program_read(log);
    assert_non_null(*said);
    return status;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The number behind a text, from a place on. */
static double number_after(const char *text, const char *after,
                           const char *key)
{
    const char *at = strstr(text, after);

    at = at ? strstr(at, key) : NULL;
    if (!at)
        fail_msg("\"%s\", \"%s\" is not in:\n%s", after, key, text);
    return strtod(at + strlen(key), NULL);
}

/* Exports from.yaml and fits it as to.yaml; what fit wrote. */
static char *round_trip(const struct program *program, const char *from,
                        const char *to)
{
    char yaml[100], csv[100], out[100], *said;
    const char *export[] = { "export", yaml, "-o", csv, "--seed", "5", NULL };
    const char *fit[] = { "fit", "csv", csv, "-o", out, NULL };

    snprintf(yaml, sizeof yaml, "%s/%s.yaml", program->folder, from);
    snprintf(csv, sizeof csv, "%s/x.csv", program->folder);
    snprintf(out, sizeof out, "%s/%s.yaml", program->folder, to);
    if (run(program, export, &said) != 0)
        fail_msg("%s", said);
    free(said);
    if (run(program, fit, &said) != 0)
        fail_msg("%s", said);
    free(said);
    return program_read(out);
}

static void a_generated_trace_gives_its_workload_back(void **state)
{
    static const char text[] =
        "arrival: {process: gamma, rate: 20/h, cv: 2}\njobs: 20000\nmix:\n"
        "  - {recipe: trace, name: a, share: 3, gpus: 1,\n"
        "     duration: {lognormal: {log_mean: 7, log_sd: 1.5}}}\n"
        "  - {recipe: trace, name: b, share: 1, gpus: 8,\n"
        "     duration: {weibull: {scale: 2h, shape: 0.7}}}\n"
        "  - {recipe: trace, name: c, share: 1, gpus: 64,\n"
        "     duration: {hyperexponential: {100s: 0.8, 10h: 0.2}}}\n";
    const struct program *program = *state;
    char path[100], *fitted, *again;

    snprintf(path, sizeof path, "%s/from.yaml", program->folder);
    write_text(path, text);
    fitted = round_trip(program, "from", "one");
    assert_true(near(number_after(fitted, "\narrival", "rate: "), 20, 0.05));
    assert_true(near(number_after(fitted, "\narrival", "cv: "), 2.0, 0.05));
    assert_true(near(number_after(fitted, "gpus: 1\n", "log_mean: "), 7.0,
                     0.02));
    assert_true(near(number_after(fitted, "gpus: 1\n", "log_sd: "), 1.5,
                     0.02));
    assert_true(near(number_after(fitted, "gpus: 8\n", "scale: "), 7200.0,
                     0.05));
    assert_true(near(number_after(fitted, "gpus: 8\n", "shape: "), 0.7,
                     0.05));
    assert_true(near(number_after(fitted, "gpus: 64\n", "hyperexponential: {"),
                     100.0, 0.1));
    assert_true(near(number_after(fitted, "size_1", "share: "), 12000.0,
                     0.03));
    free(fitted);
    /* And what it generates has these parameters, too. */
    again = round_trip(program, "one", "two");
    assert_true(near(number_after(again, "gpus: 1\n", "log_sd: "), 1.5,
                     0.04));
    assert_true(near(number_after(again, "\narrival", "cv: "), 2.0, 0.1));
    free(again);
}

/* Run times of two kinds that no family has: their quantiles are drawn. */
static void what_nothing_fits_is_drawn_from_the_trace(void **state)
{
    static const char text[] =
        "arrival: {process: poisson, rate: 20/h}\njobs: 3000\nmix:\n"
        "  - {recipe: trace, gpus: {choice: {2: 1, 3: 1}},\n"
        "     duration: {choice: {10s: 1, 1000s: 1, 1001s: 1}}}\n"
        "  - {recipe: trace, name: one, share: 1, gpus: 1, duration: 60s}\n";
    const struct program *program = *state;
    char path[100], *fitted, *samples;

    snprintf(path, sizeof path, "%s/from.yaml", program->folder);
    write_text(path, text);
    fitted = round_trip(program, "from", "one");
    assert_non_null(strstr(fitted, "gpus: 1\n    duration: 60s\n"));
    assert_non_null(strstr(fitted, "process: poisson"));
    assert_non_null(strstr(fitted, "{empirical: {file: 'one_2.csv'"));
    free(fitted);
    snprintf(path, sizeof path, "%s/one_2.csv", program->folder);
    samples = program_read(path);
    assert_int_equal(strncmp(samples, "run_s\n10\n", 9), 0);
    free(samples);
    free(round_trip(program, "one", "two"));
}

/* Of openb: pods that take a part of a GPU, and one that takes none. */
static void parts_of_gpus_are_fitted_as_parts(void **state)
{
    static const char head[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,"
        "gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";
    const struct program *program = *state;
    char csv[100], out[100], text[4096], *said, *fitted;
    const char *fit[] = { "fit", "openb", csv, "-o", out, NULL };
    const char *again[] = { "export", out, "-o", csv, NULL };
    size_t n = (size_t)snprintf(text, sizeof text, "%s", head);

    snprintf(csv, sizeof csv, "%s/pods.csv", program->folder);
    snprintf(out, sizeof out, "%s/parts.yaml", program->folder);
    for (unsigned i = 0; i < 12; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "p%u,1,1,%u,%u,,LS,Running,%u,%u,%u\n", i, i > 0,
                              i == 0 ? 0 : i < 6 ? 250 : 1000, i, 2 * i + 30,
                              i);
    write_text(csv, text);
    assert_int_equal(run(program, fit, &said), 0);
    assert_non_null(strstr(said, "  1 jobs: ask for no GPU, and are left "));
    free(said);
    fitted = program_read(out);
    assert_non_null(strstr(fitted, "jobs: 11\n"));
    assert_non_null(strstr(fitted, "gpus: {choice: {0.25: 5, 1: 6}}"));
    free(fitted);
    assert_int_equal(run(program, again, &said), 0);
    free(said);
}

static void too_few_jobs_are_refused(void **state)
{
    const struct program *program = *state;
    char csv[100], out[100], *said;
    const char *fit[] = { "fit", "csv", csv, "-o", out, NULL };

    snprintf(csv, sizeof csv, "%s/few.csv", program->folder);
    snprintf(out, sizeof out, "%s/few.yaml", program->folder);
    write_text(csv, "submit_s,run_s,gpus\n1,1,1\n");
    assert_int_equal(run(program, fit, &said), 2);
    assert_non_null(strstr(said, "would be overwritten"));
    free(said);
    snprintf(out, sizeof out, "%s/none.yaml", program->folder);
    assert_int_equal(run(program, fit, &said), 3);
    assert_non_null(strstr(said, "1 jobs are too few"));
    free(said);
    write_text(csv, "submit_s,run_s,gpus\n1,1,1\n1,1,1\n1,1,1\n1,1,1\n1,1,1\n"
               "1,1,1\n1,1,1\n1,1,1\n1,1,1\n1,1,1\n1,2,1\n");
    assert_int_equal(run(program, fit, &said), 3);
    assert_non_null(strstr(said, "submitted at once"));
    free(said);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(each_family_gives_its_parameters_back),
        WITH(the_family_that_was_drawn_from_is_the_best),
        WITH(a_likelihood_is_that_of_its_distribution),
        WITH(distances_are_those_worked_out_by_hand),
        WITH(equal_values_have_no_shape),
        WITH(a_generated_trace_gives_its_workload_back),
        WITH(what_nothing_fits_is_drawn_from_the_trace),
        WITH(parts_of_gpus_are_fitted_as_parts),
        WITH(too_few_jobs_are_refused),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
