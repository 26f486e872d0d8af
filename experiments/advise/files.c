/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * files.c - advice as CSV and as a chart.
 *
 * The chart is a gnuplot script with its data beside it, from the template
 * plots/advise.gp, so that users can change and redraw it.  For a job, points
 * are time against cost; for a service, latency against cost a day.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "experiments/advise/print.h"
#include "experiments/advise/rank.h"
#include "experiments/advise/service.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gnuplot.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "plots/plot_file.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "workloads/requests/services.h"

struct sheet *advise_csv_new(void)
{
    return sheet_new(
        "job:0\trank:1\tpareto:1\tplace:0\tgpus:1\tengine_place:0\t"
        "engine_gpus:1\ttp:1\tpp:1\tep:1\tcp:1\tvp:1\t"
        "sequence_parallel:1\tzero:1\trecompute:0\tmicro_batch:1\t"
        "engine_tp:1\tcores_per_gpu:1\tloader_workers:1\t"
        "host_memory_bytes:1\tstorage_bytes_per_s:1\ttime_s:1\t"
        "start_s:1\tcost_usd:1\tsequences_per_s:1\ttokens_per_s:1\t"
        "mfu:1\thfu:1\tgpu_busy:1\tcpu_busy:1\tpcie_busy:1\t"
        "network_busy:1\tstorage_busy:1\tbottleneck:0\t"
        "gpu_memory_bytes:1\tweights_bytes:1\tgradients_bytes:1\t"
        "optimizer_bytes:1\tactivations_bytes:1\tgathered_bytes:1\t"
        "kv_bytes:1\tworkspace_bytes:1\tprice_tier:0\tcost_least_usd:1\t"
        "cost_most_usd:1");
}

/* Returns a degree for the table: in a shape, 0 means 1 where a degree is not
 * used. */
static uint32_t at_least_one(uint32_t n)
{
    return n > 1 ? n : 1;
}

/* Adds the name and the GPUs of a choice; both cells are empty if the job has
 * no such role. */
static void add_place(struct sheet *sheet, const struct advise_choice *choice)
{
    sheet_cell(sheet, "%s", choice->place != NULL ? choice->place->name : "");
    if (choice->place != NULL)
        sheet_cell(sheet, "%u", choice->gpus);
    else
        sheet_cell(sheet, "%s", "");
}

/* Adds where both roles run, and how the trainer is laid out. */
static void add_choices(struct sheet *sheet, const struct advise_row *row)
{
    const struct advise_choice *train = &row->train, *engine = &row->engine;
    const struct train_shape *shape = &train->layout.shape;

    add_place(sheet, train);
    add_place(sheet, engine);
    if (train->place != NULL)
        sheet_cells(sheet, "%u\t%u\t%u\t%u\t%u\t%d\t%d\t%s\t%.9g", shape->tp,
                    shape->pp, at_least_one(shape->ep),
                    at_least_one(shape->cp), at_least_one(shape->vp),
                    shape->sequence_parallel, shape->zero,
                    recompute_choices[shape->recompute], shape->micro_batch);
    else
        sheet_cells(sheet, "\t\t\t\t\t\t\t\t");
    if (train->engine.tp > 0 || engine->place != NULL)
        sheet_cell(sheet, "%u", engine->place != NULL ? engine->engine.tp
                                                      : train->engine.tp);
    else
        sheet_cell(sheet, "%s", "");
}

/* Adds the tier of the row's cost, and what it costs at least and at most at the
 * prices of all tiers that can be rented; owned hardware cannot. */
static void add_tiers(struct sheet *sheet, const struct advice *advice,
                      const struct advise_row *row)
{
    double least = NAN, most = NAN;
    bool assumed = false, given = advice->world->cluster != NULL;

    for (int t = 0; t < TIER_COUNT && !given; t++) {
        double usd = t == TIER_OWNED
                         ? NAN : advise_tier_usd(advice, row,
                                                 (enum price_tier)t, &assumed);

        least = fmin(least, usd);
        most = fmax(most, usd);
    }
    sheet_cell(sheet, "%s", given ? "" : price_tier_choices[advice->world->tier]);
    sheet_real(sheet, least);
    sheet_real(sheet, most);
}

/* Adds a row, in the order of the columns of advise_csv_new(). */
static void add_row(struct sheet *sheet, const struct advice *advice,
                    size_t rank, const struct advise_row *row)
{
    const struct memory_need *need = &row->need;

    sheet_cell(sheet, "%s", advice->job->form->name);
    sheet_cells(sheet, "%zu\t%d", rank, row->pareto);
    add_choices(sheet, row);
    sheet_cells(sheet, "%u\t%u\t%.0f\t%.9g\t%.9g\t%.9g", row->cores,
                row->workers, row->host_bytes, row->storage_bps, row->time_s,
                row->start_s);
    sheet_real(sheet, row->usd);
    sheet_cells(sheet, "%.9g\t%.9g\t%.9g\t%.9g", row->items_per_s,
                row->tokens_per_s, row->mfu, row->hfu);
    for (int s = 0; s < ADVISE_STAGE_COUNT; s++)
        sheet_cell(sheet, "%.9g", row->busy[s]);
    sheet_cells(sheet, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f",
                row->bottleneck, need->total, need->weights, need->gradients,
                need->optimizer, need->activations, need->gathered, need->kv,
                need->workspace);
    add_tiers(sheet, advice, row);
}

void advise_csv(struct sheet *sheet, const struct advice *advice, bool by_time)
{
    const struct advise_row **rows;
    size_t count = advise_order(advice, by_time, &rows);

    for (size_t i = 0; i < count; i++)
        add_row(sheet, advice, i + 1, rows[i]);
}

/* ---- the chart -------------------------------------------------------- */

/* Returns a template of plots/, which is part of the program. */
static const struct plot_file *find_template(const char *name)
{
    for (unsigned i = 0; i < plot_file_count; i++)
        if (strcmp(plot_file[i].name, name) == 0)
            return &plot_file[i];
    assert(!"a template of plots/ is missing");
    return NULL;
}

/* Returns the kind of node that stands for a row: that of the role that trains,
 * else of the one that generates. */
static const struct advise_place *main_place(const struct advise_row *row)
{
    return row->train.place != NULL ? row->train.place : row->engine.place;
}

/* Numbers the kinds that have a priced row, in the order of the world, from 1; 0:
 * none.  Returns how many. */
static uint32_t number_places(const struct advice *advice,
                              const struct advise_row *const *rows,
                              size_t count, const char **name,
                              uint32_t *number)
{
    const struct advise_world *world = advice->world;
    uint32_t places = 0;

    for (size_t p = 0; p < world->place_count; p++) {
        number[p] = 0;
        for (size_t i = 0; i < count && number[p] == 0; i++)
            if (main_place(rows[i]) == &world->place[p] && rows[i]->usd > 0.0) {
                name[places] = world->place[p].name;
                number[p] = ++places;
            }
    }
    return places;
}

/* Writes a file of the chart: `head`, then a template of plots/ (NULL: none). */
static bool write_file(struct arena *arena, const struct folder *dir,
                       const char *name, const char *head, const struct plot_file *text,
                       struct err *err)
{
    struct out *out = out_in(arena, dir, name, err);

    if (out == NULL)
        return false;
    out_text(out, head);
    if (text != NULL)
        out_bytes(out, text->text, text->bytes);
    return out_close_fast(out, err);
}

/* One chart: of a job (advice) or of a service. */
struct chart {
    struct arena *arena;
    const char *title;          /* above the chart */
    const struct advice *advice;    /* NULL: of a service */
    const struct advise_service *service;   /* instead of advice */
    const char *dir, *stem;     /* folder; file names without their ends */
    const struct advise_row **rows;
    size_t count;
    const char **name;          /* [places], of GPU types, each once */
    uint32_t *number;
    uint32_t places;
};

/* Writes the points of a service: number in the table, p99 of latency in s, USD a
 * day, replicas.  `front`: those that no other beats in both, for the line.  Rows
 * without a number cannot be drawn (no price). */
static void write_replicas(const struct chart *chart, bool front,
                           struct out *out)
{
    for (size_t i = 0; i < chart->service->row_count; i++) {
        const struct advise_service_row *row = &chart->service->row[i];

        if (chart->number[i] > 0 && (row->pareto || !front))
            out_printf(out, "%u %.9g %.9g %u\n", chart->number[i],
                       row->latency_p99_s, 24.0 * row->usd_per_h,
                       row->replicas);
    }
}

/* Writes the points of the chart; `front`: those of the Pareto front alone.  A
 * row without a price has no place on an axis of cost. */
static void write_points(const struct chart *chart, bool front,
                         struct out *out)
{
    if (chart->service != NULL) {
        write_replicas(chart, front, out);
        return;
    }
    const struct advise_place *first = chart->advice->world->place;

    for (size_t i = 0; i < chart->count; i++) {
        const struct advise_row *row = chart->rows[i];

        if (row->usd > 0.0 && (row->pareto || !front))
            out_printf(out, "%u %.9g %.9g %u\n",
                       chart->number[main_place(row) - first],
                       row->time_s / 3600.0, row->usd,
                       row->train.gpus + row->engine.gpus);
    }
}

/* Writes all points and, after two empty lines, those on the Pareto front. */
static bool write_data(struct chart *chart, const struct folder *dir,
                       struct err *err)
{
    const char *name = text_format(chart->arena, "%s.dat", chart->stem);
    struct out *out = out_in(chart->arena, dir, name, err);

    if (out == NULL)
        return false;
    out_text(out, chart->service != NULL ? "# kind p99_s USD_per_day replicas\n"
                                         : "# kind hours USD GPUs\n");
    write_points(chart, false, out);
    out_text(out, "\n\n");
    write_points(chart, true, out);
    return out_close_fast(out, err);
}

/* Writes the assignments that the template reads, then the template. */
static bool write_script(struct chart *chart, const struct folder *dir,
                         struct err *err)
{
    const char *name = text_format(chart->arena, "%s.gp", chart->stem);
    const struct plot_file *text = find_template("advise.gp");
    struct out *out = out_in(chart->arena, dir, name, err);

    if (out == NULL)
        return false;
    out_printf(out, "# Made by clustersim advise. Draw it again: gnuplot "
               "%s\n\nfigure = '%s'\nexperiment = ", name, chart->stem);
    plot_quote(out, chart->title, 60);
    out_text(out, "\n");
    plot_names(out, "policy", chart->name, chart->places, 24);
    out_printf(out, "policies = %u\npoints = 1\nseeds = 1\ndata = '%s.dat'\n"
               "serves = %d\n", chart->places, chart->stem,
               chart->service != NULL);
    out_bytes(out, text->text, text->bytes);
    return out_close_fast(out, err);
}

/* Splits the path into its folder and the name without its ending. */
static void name_file(struct chart *chart, const char *path)
{
    const char *slash = strrchr(path, '/');

    chart->dir = slash == NULL ? "."
                               : text_format(chart->arena, "%.*s",
                                             (int)(slash - path), path);
    if (slash == path)
        chart->dir = "/";
    chart->stem = path_stem(chart->arena, path);
}

/* Writes the chart's data, script and style into its folder, and runs gnuplot on
 * them. */
static bool draw_chart(struct chart *chart, const char *path, struct err *err)
{
    struct err_pos pos = { path, 0, 0 };

    if (strchr(chart->stem, '\'') != NULL)      /* gnuplot's own quotation mark */
        return err_set(err, ERR_USAGE, pos, "name of a chart must have no apostrophe, and is "
                       "'%.80s'", chart->stem);
    if (chart->places == 0)
        return err_set(err, ERR_RANGE, pos,
                       "cannot be drawn: no row has a price");
    struct folder *dir = folder_make(chart->arena, chart->dir, err);
    bool ok = dir != NULL &&
              write_file(chart->arena, dir, "style.gp", "",
                         find_template("style.gp"), err) &&
              write_data(chart, dir, err) && write_script(chart, dir, err) &&
              plot_gnuplot(chart->arena, dir, chart->stem, "png", err);

    folder_close(dir);
    return ok;
}

bool advise_plot(struct arena *arena, const char *path,
                 const struct advice *advice, struct err *err)
{
    size_t places = advice->world->place_count;
    struct chart chart = { .arena = arena, .advice = advice,
                           .title = advice->job->form->name };

    name_file(&chart, path);
    chart.name = arena_alloc(arena, places + 1, sizeof *chart.name);
    chart.number = arena_alloc(arena, places + 1, sizeof *chart.number);
    chart.count = advise_order(advice, true, &chart.rows);
    chart.places = number_places(advice, chart.rows, chart.count, chart.name,
                                 chart.number);
    return draw_chart(&chart, path, err);
}

/* Gives each kind that has a priced row a number, in the order of the rows. */
bool advise_service_plot(struct arena *arena, const char *path,
                         const struct advise_service *service,
                         struct err *err)
{
    struct chart chart = { .arena = arena, .service = service,
                           .title = service->entry->spec.name };

    name_file(&chart, path);
    chart.name = arena_alloc(arena, service->row_count + 1,
                             sizeof *chart.name);
    chart.number = arena_alloc(arena, service->row_count + 1,
                               sizeof *chart.number);
    for (size_t i = 0; i < service->row_count; i++) {
        const struct advise_service_row *row = &service->row[i];
        uint32_t k = 0;

        if (row->replicas == 0 || !(row->usd_per_h > 0.0))
            continue;
        while (k < chart.places && strcmp(chart.name[k], row->name) != 0)
            k++;
        if (k == chart.places)
            chart.name[chart.places++] = row->name;
        chart.number[i] = k + 1;
    }
    return draw_chart(&chart, path, err);
}
