/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate.c - `clustersim calibrate`: predict what was measured.
 *
 * Nothing is fitted: each row of published measurements is predicted by the
 * laws that the simulator uses, and errors are printed beside the targets.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/calibrate/calibrate.h"
#include "experiments/cli/command.h"
#include "experiments/report/plot_gnuplot.h"
#include "models/catalogue/catalogue.h"
#include "plots/plot_file.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define SHIPPED "models/validation" /* measurements that come with the program */
/* Share of the solid rows of a suite that must be predicted: a law that refuses the rows that it
 * misses would look good. */
#define COVERAGE_MIN 0.95

/* One run of the command; met, missed: targets of suites so far. */
struct calibrating {
    struct cli *cli;
    const struct args *args;
    const struct catalogue *catalogue;      /* whose laws are compared */
    const char *dir;            /* with the measurements: of the user, or SHIPPED */
    FILE *csv;                  /* of --csv; NULL: none */
    unsigned met, missed;
};

/* Rows of a suite whose configuration is known in full, and how many of them are
 * predicted. */
struct counts {
    size_t solid, predicted;
};

/* Counts the rows that are solid: their configuration is known in full, so they
 * can be judged by.  And counts how many of those the law can predict. */
static struct counts count_rows(const struct calibrate_samples *samples)
{
    struct counts n = { 0, 0 };

    for (size_t i = 0; i < samples->count; i++) {
        if (!samples->item[i].solid)
            continue;
        n.solid++;
        n.predicted += samples->item[i].refused == NULL;
    }
    return n;
}

/* Prints the errors over one part of the rows, in percent. */
static void print_part(FILE *out, const char *part,
                       const struct calibrate_error *e)
{
    if (e->rows > 0)
        fprintf(out, "  %-9s %5zu rows  mean %5.1f%%  median %5.1f%%  "
                "p90 %5.1f%%  max %6.1f%%  bias %+6.1f%%\n", part, e->rows,
                100.0 * e->mean, 100.0 * e->median, 100.0 * e->p90,
                100.0 * e->max, 100.0 * e->bias);
}

/* Prints each reason for which rows are not predicted once, with the number of
 * rows that it holds for.  Quadratic in the rows, of which a suite has some
 * hundred. */
static void print_refused(FILE *out, const char *solid_name,
                          const struct calibrate_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        const char *why = samples->item[i].refused;
        size_t solid = 0, other = 0, before = 0;

        if (why == NULL)
            continue;
        for (size_t j = 0; j < samples->count; j++) {
            if (samples->item[j].refused == NULL ||
                strcmp(samples->item[j].refused, why) != 0)
                continue;
            before += j < i;
            solid += samples->item[j].solid;
            other += !samples->item[j].solid;
        }
        if (before == 0)
            fprintf(out, "  refused   %zu %s and %zu other rows: %s\n",
                    solid, solid_name, other, why);
    }
}

/* Does a suite meet its targets?  A target of 0 is none.  COVERAGE_MIN of the
 * solid rows must be predicted as well, so that a law which refuses the hard
 * rows does not look good. */
static bool meets_target(const struct calibrate_suite *suite,
                         const struct calibrate_error *e, const struct counts *n)
{
    return (double)n->predicted >= COVERAGE_MIN * (double)n->solid &&
           (suite->mean_max <= 0.0 || e->mean <= suite->mean_max) &&
           (suite->median_max <= 0.0 || e->median <= suite->median_max) &&
           (suite->error_max <= 0.0 || e->max <= suite->error_max);
}

/* Prints the targets of a suite beside the best that was published, and counts
 * whether they are met. */
static void print_target(struct calibrating *c,
                         const struct calibrate_suite *suite,
                         const struct calibrate_error *held,
                         const struct counts *n)
{
    FILE *out = c->cli->out;
    bool met = meets_target(suite, held, n);

    if (suite->bar[0] == '\0')
        return;
    fprintf(out, "  target    %s:", suite->bar);
    if (suite->mean_max > 0.0)
        fprintf(out, " mean %.3g%%", 100.0 * suite->mean_max);
    if (suite->median_max > 0.0)
        fprintf(out, " median %.3g%%", 100.0 * suite->median_max);
    if (suite->error_max > 0.0)
        fprintf(out, " max %.3g%%", 100.0 * suite->error_max);
    fprintf(out, ", best published: %s: %s\n", suite->best,
            met ? "met" : "NOT MET");
    c->met += met;
    c->missed += !met;
}

/* Prints the errors of a suite.  Targets are judged on rows that were held out
 * alone: errors on rows by which constants were chosen say little.  A suite
 * without such rows has no verdict. */
static void print_suite(struct calibrating *c,
                        const struct calibrate_suite *suite,
                        const struct calibrate_samples *samples)
{
    struct arena *arena = c->cli->arena;
    FILE *out = c->cli->out;
    struct counts n = count_rows(samples);
    const char *solid = suite->solid != NULL ? suite->solid : "solid";
    struct calibrate_error all = calibrate_error(arena, samples,
                                                 CALIBRATE_ALL);
    struct calibrate_error chosen = calibrate_error(arena, samples,
                                                    CALIBRATE_CHOSEN);
    struct calibrate_error held = calibrate_error(arena, samples,
                                                  CALIBRATE_HELD_OUT);

    fprintf(out, "%s (%s): %zu rows, %zu %s, %zu of those predicted\n",
            suite->name, suite->what, samples->count, n.solid, solid,
            n.predicted);
    print_part(out, "all", &all);
    print_part(out, "chosen on", &chosen);
    print_part(out, "held out", &held);
    print_refused(out, solid, samples);
    if (held.rows > 0)
        print_target(c, suite, &held, &n);
}

/* Writes measured and predicted values of a suite into the CSV, if there is
 * one. */
static void write_rows(struct calibrating *c,
                       const struct calibrate_suite *suite,
                       const struct calibrate_samples *samples)
{
    for (size_t i = 0; i < samples->count && c->csv != NULL; i++) {
        const struct calibrate_sample *s = &samples->item[i];

        if (s->refused == NULL)
            fprintf(c->csv, "%s,%s,\"%s\",%s,%d,%d,%.6g,%.6g\n", suite->name,
                    s->id, s->model, s->device, s->solid, s->chosen,
                    s->measured, s->predicted);
    }
}

/* Writes the values of a suite's chart, with the template of charts behind
 * them, and draws it.  False: err says why not. */
static bool write_plot(struct calibrating *c, const struct folder *dir,
                       const char *name,
                       const struct calibrate_samples *samples,
                       struct err *err)
{
    struct arena *arena = c->cli->arena;
    struct out *file = out_in(arena, dir, text_format(arena, "%s.gp", name),
                              err);

    if (file == NULL)
        return false;
    out_printf(file, "suite = '%s'\n$rows << EOD\n", name);
    for (size_t i = 0; i < samples->count; i++)
        if (samples->item[i].refused == NULL && samples->item[i].solid)
            out_printf(file, "%.6g %.6g %d\n", samples->item[i].measured,
                       samples->item[i].predicted, samples->item[i].chosen);
    out_text(file, "EOD\n");
    for (unsigned i = 0; i < plot_file_count; i++)
        if (strcmp(plot_file[i].name, "calibrate.gp") == 0)
            out_bytes(file, plot_file[i].text, plot_file[i].bytes);
    return out_close_fast(file, err) &&
           plot_gnuplot(arena, dir, name, "png", err);
}

/* Predicts one suite and prints its errors.  A suite whose file is not in the
 * folder is passed over. */
static bool run_suite(struct calibrating *c,
                      const struct calibrate_suite *suite, struct err *err)
{
    struct calibrate_samples samples;
    const char *plots = c->args->value[ARG_PLOTS];

    if (!calibrate_read(c->cli->arena, c->catalogue, suite, c->dir, &samples,
                        err))
        return false;
    if (samples.count == 0)
        return true;
    print_suite(c, suite, &samples);
    write_rows(c, suite, &samples);
    if (c->args->given[ARG_PLOTS] &&
        count_rows(&samples).predicted > 0) {
        struct folder *dir = folder_make(c->cli->arena, plots, err);
        bool ok = dir != NULL &&
                  write_plot(c, dir, suite->name, &samples, err);

        folder_close(dir);
        return ok;
    }
    return true;
}

/* False, with err: --suite names none; the hint is the nearest one. */
static bool check_suite(const struct calibrating *c, struct err *err)
{
    const char *only = c->args->value[ARG_SUITE], *near;
    const char **names = arena_alloc(c->cli->arena, calibrate_suite_count + 1, sizeof *names);
    struct err_pos nowhere = { NULL, 0, 0 };

    for (size_t i = 0; i < calibrate_suite_count; i++) {
        names[i] = calibrate_suites[i].name;
        if (only == NULL || strcmp(only, names[i]) == 0)
            return true;
    }
    near = conf_nearest(only, names);
    err_set(err, ERR_USAGE, nowhere, "there is no suite '%.40s'", only);
    return near != NULL ? err_hint(err, "Did you mean %s?", near)
                        : err_hint(err, "Without --suite, all are printed with their names.");
}

/* Runs all suites, or the one of --suite.  Targets that are missed do not
 * change the exit status: `make validate` judges them. */
static bool run_suites(struct calibrating *c, struct err *err)
{
    const char *only = c->args->value[ARG_SUITE];

    for (size_t i = 0; i < calibrate_suite_count; i++) {
        if (c->args->given[ARG_SUITE] &&
            strcmp(only, calibrate_suites[i].name) != 0)
            continue;
        if (!run_suite(c, &calibrate_suites[i], err))
            return false;
    }
    fprintf(c->cli->out, "%u targets met, %u not met on held-out rows\n",
            c->met, c->missed);
    return true;
}

static const char csv_head[] =
    "suite,id,model,device,solid,chosen,measured,predicted\n";

/* May --csv write to that path?  Only a table of this command is replaced:
 * users may take --csv for the name of measurements, which would be lost. */
static bool may_overwrite(const char *path)
{
    FILE *file = fopen(path, "r");
    char head[sizeof csv_head] = "";
    bool ours;

    if (file == NULL)
        return true;
    ours = fgets(head, sizeof head, file) == NULL ||
           strcmp(head, csv_head) == 0;
    fclose(file);
    return ours;
}

/* False, with err: there are no measurements.  It is asked before the CSV is opened, which
 * replaces an earlier one. */
static bool check_data(const struct calibrating *c, struct err *err)
{
    struct err_pos pos = { c->dir, 0, 0 };

    if (path_is_folder(c->dir))
        return true;
    err_set(err, ERR_IO, pos, "there is no such folder of measurements");
    return err_hint(err, "Say where they are with --data DIR.");
}

/* Opens the CSV before the first suite, since suites may take long.  False,
 * with err: it cannot be written. */
static bool open_csv(struct calibrating *c, struct err *err)
{
    struct err_pos pos = { c->args->value[ARG_CSV], 0, 0 };

    if (!c->args->given[ARG_CSV])
        return true;
    if (!may_overwrite(c->args->value[ARG_CSV])) {
        err_set(err, ERR_IO, pos, "--csv would overwrite this file, which "
                "holds something else");
        return err_hint(err, "--csv names what is written; measurements are "
                        "read from --data DIR.");
    }
    c->csv = fopen(c->args->value[ARG_CSV], "w");
    if (c->csv == NULL)
        return err_set(err, ERR_IO, pos, "cannot be written");
    fputs(csv_head, c->csv);
    return true;
}

/* The CSV is closed before the end, so that a full disk is told and not lost. */
static int run_calibrate(struct cli *cli, const struct args *args)
{
    struct calibrating c = { .cli = cli, .args = args, .dir = SHIPPED };
    struct err err = { 0 };
    bool done;

    if (args->given[ARG_DATA])
        c.dir = args->value[ARG_DATA];
    c.catalogue = catalogue_load(cli->arena, NULL, 0, &err);
    if (c.catalogue == NULL || !check_suite(&c, &err) || !check_data(&c, &err) ||
        !open_csv(&c, &err))
        return command_fail(cli, &err);
    done = run_suites(&c, &err);
    if (c.csv != NULL && fclose(c.csv) != 0 && done) {
        struct err_pos pos = { args->value[ARG_CSV], 0, 0 };

        done = err_set(&err, ERR_IO, pos, "cannot be written");
    }
    return done ? 0 : command_fail(cli, &err);
}

const struct command command_calibrate = {
    "calibrate", "[--data DIR] [--suite NAME] [--csv FILE] [--plots DIR]",
    "predict published measurements with the laws, fit nothing",
    "Reads tables of measurements (training_throughput.csv,\n"
    "inference_throughput.csv, memory.csv, collectives.csv) from DIR, which is\n"
    "models/validation without --data, and prints for each suite the errors\n"
    "of the laws: over all rows, over those whose errors helped to choose\n"
    "constants, and over the others, beside a target.\n",
    ARG_BIT(ARG_DATA) | ARG_BIT(ARG_SUITE) | ARG_BIT(ARG_CSV) |
        ARG_BIT(ARG_PLOTS), 0, 0, run_calibrate
};
