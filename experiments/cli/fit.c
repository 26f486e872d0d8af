/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.c - `clustersim fit`: a trace becomes a workload that generates
 * look-alikes of it.
 *
 * The fits are made by workloads/ (trace_fit_make); this file prints them, so
 * that a user can judge how near they are, and writes the workload.  Where no
 * family is near enough, quantiles of the trace are written beside it as an
 * empirical distribution.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/import/args.h"
#include "experiments/import/report.h"
#include "sim/base/arena.h"
#include "sim/stats/likelihood.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_fit.h"

/* Quantiles of an entry that are written: 0.1% apart. */
#define SAMPLES_MAX 1000u

/* One run of the command. */
struct fitting {
    struct arena *arena;
    const struct import_request *request;   /* which file, and what may be left out */
    const struct import_format *format; /* of that file */
    struct import_result result;    /* its jobs */
    struct trace_fit fit;       /* what they look like */
    const char *yaml, *csv;     /* the workload; the table of quantiles, W_1.csv
                                   and so on, of W.csv */
};

/* ---- what is printed --------------------------------------------------- */

/* Prints the parameters of a fit with their names, by family. */
static void print_parameters(FILE *file, const struct likelihood *fit)
{
    static const char *const names[LIKELIHOOD_FAMILIES][3] = {
        { "mean" }, { "log_mean", "log_sd" }, { "scale", "shape" },
        { "shape", "scale" }, { "scale", "shape" },
        { "mean", "mean", "weight of the first" }
    };
    const double value[3] = { fit->a, fit->b, fit->c };

    for (size_t i = 0; i < 3 && names[fit->family][i] != NULL; i++)
        fprintf(file, "%s%s %.6g", i == 0 ? "" : ", ",
                names[fit->family][i], value[i]);
    fputc('\n', file);
}

/* Prints a line for each family that could be fitted.  KS and AD are distances
 * to the data; AIC also counts parameters.  `*` marks the one that is written. */
static void print_fits(FILE *file, const struct trace_fit_fits *fits,
                       bool best)
{
    for (size_t f = 0; f < LIKELIHOOD_FAMILIES; f++) {
        const struct likelihood *fit = &fits->fit[f];

        if (!fits->good[f])
            continue;
        fprintf(file, "%c %-17s %8.4f %12.6g %14.8g  ",
                best && f == fits->best ? '*' : ' ',
                likelihood_name((enum likelihood_family)f), fit->ks, fit->ad,
                fit->aic);
        print_parameters(file, fit);
    }
}

/* Returns a size of the entry in GPUs, which may be a part of one. */
static double size_gpus(const struct trace_fit_entry *entry, size_t size)
{
    return (double)entry->size[size].gpu_milli / 1000.0;
}

/* Prints which sizes of jobs share the entry's fit. */
static void print_sizes(FILE *file, const struct trace_fit_entry *entry)
{
    fprintf(file, "\nrun time s of jobs of %.10g", size_gpus(entry, 0));
    if (entry->size_count > 1)
        fprintf(file, " to %.10g (%zu sizes)",
                size_gpus(entry, entry->size_count - 1), entry->size_count);
    fprintf(file, " GPUs: %zu jobs", entry->jobs);
    if (!(entry->run_s[0] < entry->run_s[entry->jobs - 1]))
        fprintf(file, ", all of %.10g s", entry->run_s[0]);
    else if (entry->empirical)
        fputs("; none is near enough: quantiles are written", file);
    fputc('\n', file);
}

/* Prints how well each family fits: the distances of Kolmogorov-Smirnov and
 * Anderson-Darling, and AIC; less is better. */
static void print_report(FILE *file, const struct fitting *fitting)
{
    const struct trace_fit *fit = &fitting->fit;

    fprintf(file, "  %-17s %8s %12s %14s  %s\n", "fit", "KS", "AD", "AIC",
            "parameters");
    fprintf(file, "gaps of arrivals s: %.6g jobs/h",
            fit->rate_per_s * 3600.0);
    if (fit->zero_gaps > 0)
        fprintf(file, "; %" PRIu64 " gaps of 0 s are taken for half of the "
                "least other", fit->zero_gaps);
    fputc('\n', file);
    print_fits(file, &fit->gap, true);
    fprintf(file, "  taken, of poisson and gamma: %s; over the day the rate swings by %.2f, "
            "highest at %.1f h\n",
            fit->gap_cv == 1.0 ? "poisson" : "gamma", fit->day_amplitude,
            fit->day_peak_s / 3600.0);
    for (size_t i = 0; i < fit->entries; i++) {
        print_sizes(file, &fit->entry[i]);
        print_fits(file, &fit->entry[i].run, !fit->entry[i].empirical);
    }
}

/* ---- what is written ---------------------------------------------------- */

/* Returns the file of an entry's quantiles: W.csv becomes W_3.csv, for the third
 * entry. */
static const char *samples_path(const struct fitting *fitting, size_t i)
{
    return text_format(fitting->arena, "%.*s_%zu.csv",
                       (int)(strlen(fitting->csv) - 4), fitting->csv, i + 1);
}

/* Writes the run time of an entry as a distribution of a workload's file, cut at
 * the longest that was seen. */
static void write_run(struct out *out, const struct fitting *fitting, size_t i)
{
    const struct trace_fit_entry *entry = &fitting->fit.entry[i];
    const struct likelihood *fit = &entry->run.fit[entry->run.best];
    const char *path = samples_path(fitting, i);
    const char *slash = strrchr(path, '/');
    double most = entry->run_s[entry->jobs - 1];

    if (!(entry->run_s[0] < most)) {
        out_printf(out, "%.10gs\n", most);
        return;
    }
    if (entry->empirical) {
        out_text(out, "{empirical: {file: ");
        import_quoted(out, slash == NULL ? path : slash + 1);
        out_text(out, ", column: run_s}}\n");
        return;
    }
    out_printf(out, "{%s: {", likelihood_name(fit->family));
    switch (fit->family) {
    case LIKELIHOOD_EXPONENTIAL:
        out_printf(out, "mean: %.10gs", fit->a);
        break;
    case LIKELIHOOD_LOGNORMAL:
        out_printf(out, "log_mean: %.10g, log_sd: %.10g", fit->a, fit->b);
        break;
    case LIKELIHOOD_GAMMA:
        out_printf(out, "mean: %.10gs, cv: %.10g", fit->a * fit->b,
                   1.0 / sqrt(fit->a));
        break;
    case LIKELIHOOD_HYPEREXPONENTIAL:
        out_printf(out, "%.10gs: %.10g, %.10gs: %.10g", fit->a, fit->c,
                   fit->b, 1.0 - fit->c);
        break;
    default:
        out_printf(out, "scale: %.10gs, shape: %.10g", fit->a, fit->b);
    }
    out_printf(out, "}, max: %.10gs}\n", most);
}

/* Writes an entry of the mix: its sizes, weighted as in the trace, and its run
 * time. */
static void write_entry(struct out *out, const struct fitting *fitting,
                        size_t i)
{
    const struct trace_fit_entry *entry = &fitting->fit.entry[i];

    out_printf(out, "  - recipe: trace\n    name: size_%zu\n    share: %zu\n"
               "    gpus: ", i + 1, entry->jobs);
    if (entry->size_count == 1)
        out_printf(out, "%.10g", size_gpus(entry, 0));
    else
        out_text(out, "{choice: {");
    for (size_t s = 0; entry->size_count > 1 && s < entry->size_count; s++)
        out_printf(out, "%s%.10g: %" PRIu64, s == 0 ? "" : ", ",
                   size_gpus(entry, s), entry->size[s].jobs);
    out_printf(out, "%s\n    duration: ",
               entry->size_count == 1 ? "" : "}}");
    write_run(out, fitting, i);
}

/* Writes the workload.  The swing over the day is only a comment: a fit of gaps
 * does not have it, and a user who wants it replaces the arrivals. */
static bool write_yaml(const struct fitting *fitting, struct err *err)
{
    const struct trace_fit *fit = &fitting->fit;
    struct out *out = out_open(fitting->arena, fitting->yaml, err);
    double rate_per_h = fit->rate_per_s * 3600.0;

    if (out == NULL)
        return false;
    out_printf(out, "# By clustersim fit %s from %zu jobs: arrivals, sizes and "
               "run times as likely as\n# there; what `fit` prints says how "
               "near they are.  Set `jobs` or `for` as you like.\n",
               fitting->format->name, fitting->result.count);
    out_printf(out, "# The day's swing, which these arrivals do not have:\n"
               "# arrival: {process: diurnal, rate: %.10g/h, amplitude: "
               "%.4g, peak: %.4gh, period: 24h}\n", rate_per_h,
               fit->day_amplitude, fit->day_peak_s / 3600.0);
    if (fit->gap_cv == 1.0)
        out_printf(out, "arrival: {process: poisson, rate: %.10g/h}\n",
                   rate_per_h);
    else
        out_printf(out, "arrival: {process: gamma, rate: %.10g/h, cv: "
                   "%.10g}\n", rate_per_h, fit->gap_cv);
    out_printf(out, "jobs: %zu\nmix:\n",
               fitting->result.count - (size_t)fit->without_gpus);
    for (size_t i = 0; i < fit->entries; i++)
        write_entry(out, fitting, i);
    return out_close(out, err);
}

/* Returns how many quantiles of an entry are written: all run times if they are
 * few, else SAMPLES_MAX. */
static size_t count_samples(const struct trace_fit_entry *entry)
{
    return entry->jobs < SAMPLES_MAX ? entry->jobs : SAMPLES_MAX;
}

/* Writes the quantiles: row r is the middle of the r-th of equal parts of the
 * entry's run times. */
static bool write_samples(const struct fitting *fitting, struct err *err)
{
    const struct trace_fit *fit = &fitting->fit;
    struct out *out = NULL;

    for (size_t i = 0; i < fit->entries; i++) {
        const struct trace_fit_entry *entry = &fit->entry[i];
        size_t count = count_samples(entry);
        const char *path;

        if (!entry->empirical)
            continue;
        path = samples_path(fitting, i);
        out = out_open(fitting->arena, path, err);
        if (out == NULL)
            return false;
        out_text(out, "run_s\n");
        for (size_t r = 0; r < count; r++)
            out_printf(out, "%.10g\n",
                       entry->run_s[(2 * r + 1) * entry->jobs /
                                    (2 * count)]);
        if (!out_close(out, err))
            return false;
    }
    return true;
}

/* Prints the counts of the import, and what was left out, before the fits. */
static bool print_rows(FILE *file, const struct fitting *fitting,
                       struct err *err)
{
    const struct imported imported = { .arena = fitting->arena,
                                       .format = fitting->format,
                                       .request = fitting->request,
                                       .result = &fitting->result };

    fprintf(file, "%s: format %s\nrows         %" PRIu64 "\njobs         "
            "%zu\n", fitting->request->file, fitting->format->name,
            fitting->result.rows, fitting->result.count);
    import_counts(file, &imported);
    if (fitting->fit.without_gpus > 0)
        fprintf(file, "  %" PRIu64 " jobs: ask for no GPU, and are left out "
                "of the fit\n", fitting->fit.without_gpus);
    return import_layout(file, fitting->request->file, false, err);
}

/* The files are written before anything is printed, so that a report never speaks of a
 * workload that could not be stored. */
static int run_fit(struct cli *cli, const struct args *args)
{
    struct import_request request = {
        .file = args->word[1], .lengths = args->value[ARG_LENGTHS],
        .gpu_type = args->value[ARG_GPU_TYPE],
        .sort = args->given[ARG_IN_ORDER] };
    struct fitting fitting = { .arena = cli->arena, .request = &request,
                               .yaml = args->value[ARG_OUT] };
    struct err err = { 0 };

    fitting.format = import_arg_format(args->word[0], false, &err);
    if (fitting.format == NULL ||
        !import_arg_csv(cli->arena, args, true, &fitting.csv, &err) ||
        !import_arg_skips(args, &request, &err) ||
        !import_read(cli->arena, fitting.format, &request, &fitting.result,
                     &err) ||
        !trace_fit_make(cli->arena, &fitting.result, request.file,
                        &fitting.fit, &err) ||
        !write_samples(&fitting, &err) || !write_yaml(&fitting, &err) ||
        !print_rows(cli->out, &fitting, &err))
        return command_fail(cli, &err);
    print_report(cli->out, &fitting);
    fprintf(cli->out, "written      %s\n", fitting.yaml);
    return 0;
}

const struct command command_fit = {
    "fit", "FORMAT FILE -o WORKLOAD.yaml [--skip REASON,..] [--sort]\n"
    "       [--lengths FILE [--gpu-type NAME]]",
    "a trace becomes a workload that generates jobs like its own",
    "Fits distributions to the gaps between arrivals and to the run times of\n"
    "each size of job, by maximum likelihood; prints parameters, distances\n"
    "(Kolmogorov-Smirnov, Anderson-Darling) and Akaike's criterion of each;\n"
    "and writes the workload that draws from the best.  Where none is near\n"
    "enough (a distance above 0.05, and above what chance explains), the\n"
    "trace's quantiles stand for it.\n"
    "Reads FILE as import does.\n",
    ARG_BIT(ARG_OUT) | ARG_BIT(ARG_SKIP) | ARG_BIT(ARG_IN_ORDER) |
        ARG_BIT(ARG_LENGTHS) | ARG_BIT(ARG_GPU_TYPE), 2, 2, run_fit
};
