/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print.c - the tables of advice.
 *
 * Columns are aligned by struct sheet.  A reader compares rows, so each table
 * has one unit a column: hours or days by size, USD, GB (1e9 bytes), percent.
 */
#include "experiments/advise/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "experiments/advise/rank.h"
#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/memory.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define GB 1e9

/* Returns "8 x h100", of two roles with " | " between them. */
static const char *format_gpus(struct arena *arena,
                               const struct advise_row *row)
{
    const struct advise_choice *train = &row->train, *engine = &row->engine;

    if (train->place == NULL)
        return text_format(arena, "%u x %s", engine->gpus,
                           engine->place->name);
    if (engine->place == NULL)
        return text_format(arena, "%u x %s", train->gpus, train->place->name);
    return text_format(arena, "%u x %s | %u x %s", train->gpus,
                       train->place->name, engine->gpus,
                       engine->place->name);
}

/* Returns USD with cents; "-" where a price is missing. */
static const char *format_usd(struct arena *arena, double usd)
{
    return isnan(usd) ? "-" : text_format(arena, "%.2f", usd);
}

/* Returns the empty table of rows.  Columns are wider where there are two
 * roles. */
static struct sheet *rows_sheet(struct arena *arena,
                                const struct advise_job *job)
{
    bool two = job->trains && job->engine != ADVISE_NONE;

    return sheet_new(text_format(
        arena, ":-6\t%s:%d\tlayout:%d\ttime:9\tUSD:11\tseq/s:9\tMFU%%:5\t"
        "GPU%%:4\tCPU%%:4\tPCI%%:4\tnet%%:4\tsto%%:4\tlimit:0",
        two ? "GPUs: train | generate" : "GPUs", two ? -27 : -18,
        two ? -40 : -32));
}

/* Adds a row; `*` marks the Pareto front. */
static void add_row(struct sheet *sheet, struct arena *arena, size_t rank,
                    const struct advise_job *job, const struct advise_row *row)
{
    sheet_cell(sheet, "%4zu %s", rank, row->pareto ? "*" : "");
    sheet_cell(sheet, "%s", format_gpus(arena, row));
    sheet_cells(sheet, "%s\t%s\t%s\t%.4g\t%.1f",
                advise_layout_text(arena, job, row),
                advise_time_text(arena, row->time_s),
                format_usd(arena, row->usd), row->items_per_s, 100.0 * row->mfu);
    for (int s = 0; s < ADVISE_STAGE_COUNT; s++)
        sheet_cell(sheet, "%.0f", 100.0 * row->busy[s]);
    sheet_cell(sheet, "%s", row->bottleneck);
}

/* Adds a need by its parts, in GB, and its share of what the GPU has. */
static void add_parts(struct sheet *sheet, const struct memory_need *need,
                      double has)
{
    sheet_cells(sheet, "%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t"
                "%.0f", need->weights / GB, need->gradients / GB,
                need->optimizer / GB, need->activations / GB,
                need->gathered / GB, need->kv / GB, need->workspace / GB,
                need->total / GB, has / GB, 100.0 * need->total / has);
}

/* Adds what each GPU of a row needs, with a second line for the role that
 * generates. */
static void add_needs(struct sheet *sheet, size_t rank,
                      const struct advise_row *row)
{
    const struct advise_choice *main = row->train.place != NULL
                                           ? &row->train : &row->engine;

    sheet_cell(sheet, "%4zu", rank);
    sheet_cell(sheet, "%u x %s", main->gpus, main->place->name);
    sheet_cells(sheet, "%u\t%u\t%.0f\t%.3g", row->cores, row->workers,
                row->host_bytes / GB, row->storage_bps / 1e6);
    add_parts(sheet, &row->need, main->place->group->gpu->memory_bytes);
    if (row->train.place == NULL || row->engine.place == NULL)
        return;
    sheet_cell(sheet, "%s", "");
    sheet_cell(sheet, "%u x %s", row->engine.gpus, row->engine.place->name);
    sheet_cells(sheet, "\t\t\tgenerates");
    add_parts(sheet, &row->engine_need,
              row->engine.place->group->gpu->memory_bytes);
}

/* Prints what each GPU of the rows needs, in their order. */
static void print_needs(FILE *file, const struct advise_row *const *rows,
                        size_t count)
{
    struct sheet *sheet = sheet_new(
        ":-6\tGPUs:-18\tcores:5\tworkers:7\thost GB:7\tMB/s all:8\tweights:7\t"
        "grads:6\toptim:6\tactiv:7\tgather:6\tKV:5\twork:6\ttotal:7\tof:5\t%:4");

    fputs("\nper GPU: cores, loader workers, host memory, storage read; GPU "
          "memory in GB, of what it has\n", file);
    for (size_t i = 0; i < count; i++)
        add_needs(sheet, i + 1, rows[i]);
    sheet_close(sheet, file);
}

/* Returns the first tier that has a price of the type; TIER_COUNT: none has. */
static int first_tier(const struct advise_world *world, const char *name)
{
    int t = 0;

    while (t < TIER_COUNT && catalogue_price_in(world->catalogue, name,
                                                (enum price_tier)t) == NULL)
        t++;
    return t;
}

/* Prints the types without a price in the tier, a line for each tier that has one:
 * they are not ranked by cost. */
static void print_unpriced(FILE *file, const struct advise_world *world)
{
    for (int t = 0; t <= TIER_COUNT; t++) {
        uint32_t found = 0;

        for (size_t i = 0; i < world->place_count; i++) {
            const char *name = world->place[i].name;

            if (world->place[i].rate != NULL || first_tier(world, name) != t)
                continue;
            if (found++ == 0)
                fprintf(file, "not ranked by cost, %s%s: ",
                        t < TIER_COUNT ? "priced as " : "no price is known",
                        t < TIER_COUNT ? price_tier_choices[t] : "");
            fprintf(file, "%s%s", found > 1 ? ", " : "", name);
        }
        if (found > 0)
            fputc('\n', file);
    }
}

/* Widens the span of dates.  Dates begin with a digit; what is only the version of
 * a table does not, and is left out. */
static void widen_dates(const char *date, const char **first,
                        const char **last)
{
    if (date[0] < '0' || date[0] > '9')
        return;
    if (*first == NULL || strcmp(date, *first) < 0)
        *first = date;
    if (*last == NULL || strcmp(date, *last) > 0)
        *last = date;
}

/* Prints the prices of the nodes of a file: each has its own, of the catalogue
 * or an amount. */
static void print_given_prices(FILE *file, const struct advise_world *world)
{
    for (size_t i = 0; i < world->place_count; i++) {
        const struct advise_place *place = &world->place[i];
        const struct price *tariff = place->group->tariff;

        fprintf(file, "%s%s: ", i == 0 ? "prices of its nodes: " : "; ",
                place->name);
        if (tariff != NULL)
            fprintf(file, "%s, of %s%s", price_tier_choices[tariff->tier],
                    tariff->as_of,
                    price_is_assumption(tariff) ? " (an assumption)" : "");
        else
            fputs("as given", file);
    }
    fputc('\n', file);
}

void advise_print_tier(FILE *file, const struct advise_world *world)
{
    const char *first = NULL, *last = NULL;

    if (world->cluster != NULL) {
        print_given_prices(file, world);
        return;
    }
    for (size_t i = 0; i < world->place_count; i++)
        if (world->place[i].rate != NULL)
            widen_dates(world->place[i].rate->as_of, &first, &last);
    fprintf(file, "prices: %s", price_tier_choices[world->tier]);
    if (first != NULL)
        fprintf(file, ", of %s%s%s", first,
                strcmp(first, last) == 0 ? "" : " to ",
                strcmp(first, last) == 0 ? "" : last);
    fputc('\n', file);
    print_unpriced(file, world);
}

/* Warns that of the catalogue all types are tried, whatever `types` of the roles say, and that
 * cores in the place of GPUs are not. */
static void print_left_aside(FILE *file, const struct advise_world *world,
                             const struct job_form *form)
{
    for (uint32_t r = 0; r < form->role_count; r++)
        if (form->role[r].gpus > 0 && form->role[r].on_cores.cores > 0)
            fprintf(file, "cores of role %s are left aside: GPUs alone are tried\n",
                    form->role[r].name);
    for (uint32_t r = 0; world->cluster == NULL && r < form->role_count; r++)
        if (form->role[r].gpus > 0 &&
            form->role[r].gpu_type_count < world->place_count)
            fprintf(file, "types of role %s are left aside: every GPU of the "
                    "catalogue is tried; --cluster keeps to them\n",
                    form->role[r].name);
}

/* Prints the job, how many layouts were tried and fit, the prices that rank, and what
 * was left out. */
static void print_counts(FILE *file, const struct advice *advice)
{
    const struct advise_world *world = advice->world;
    const struct advise_job *job = advice->job;

    fprintf(file, "job %s: %s of %s, %.0f steps\n", job->form->name,
            job->form->recipe, job->keys.model, job->steps);
    fprintf(file, "%zu kind%s of node, up to %u GPUs: %" PRIu64 " layouts "
            "tried, %" PRIu64 " fit\n", world->place_count,
            world->place_count == 1 ? "" : "s", world->gpus_max,
            advice->tried_count, advice->fit_count);
    advise_print_tier(file, world);
    print_left_aside(file, world, job->form);
    if (advice->refused_count > 0)
        fprintf(file, "%zu left out: %s\n", advice->refused_count,
                advice->refused.text);
}

/* Prints the rows at the prices of every tier: the amount is that of the GPUs,
 * which bring cores of their host along. */
static void print_tiers(FILE *file, const struct advice *advice,
                        const struct advise_row *const *rows, size_t count)
{
    struct arena *arena = advice->world->arena;
    struct sheet *sheet = sheet_new(":-6\tGPUs:-27");

    for (int t = 0; t < TIER_COUNT; t++)
        if (t != TIER_OWNED)
            sheet_column(sheet, price_tier_choices[t], 12);
    for (size_t i = 0; i < count; i++) {
        sheet_cell(sheet, "%4zu", i + 1);
        sheet_cell(sheet, "%s", format_gpus(arena, rows[i]));
        for (int t = 0; t < TIER_COUNT; t++) {
            bool assumed = false;
            double usd = advise_tier_usd(advice, rows[i], (enum price_tier)t,
                                         &assumed);

            if (t != TIER_OWNED)
                sheet_cell(sheet, "%s%s", assumed && !isnan(usd) ? "~" : "",
                           format_usd(arena, usd));
        }
    }
    fputs("\nUSD of these rows by tier of price (~: an assumption); tiers do not "
          "compare\n", file);
    sheet_close(sheet, file);
}

/* Prints the first `most` rows; pareto: only those of the front.  Returns how many more there
 * are. */
static size_t print_rows(FILE *file, const struct advice *advice,
                         const struct advise_row *const *rows, size_t count,
                         size_t most, bool pareto)
{
    struct sheet *sheet = rows_sheet(advice->world->arena, advice->job);
    size_t left = 0;

    for (size_t i = 0, n = 0; i < count; i++)
        if (pareto && !rows[i]->pareto)
            continue;
        else if (n < most)
            add_row(sheet, advice->world->arena, ++n, advice->job, rows[i]);
        else
            left++;
    sheet_close(sheet, file);
    return left;
}

/* Prints the Pareto front by time, so that what is cut off is cheaper and
 * slower, and says so. */
static void print_front(FILE *file, const struct advice *advice, size_t most)
{
    const struct advise_row **rows;
    size_t count = advise_order(advice, true, &rows), left;

    fputs("\nPareto front of time and cost\n", file);
    left = print_rows(file, advice, rows, count, most, true);
    if (left > 0)
        fprintf(file, "and %zu more, cheaper and slower: see --top, --csv and --plot\n", left);
}

void advise_print(FILE *file, const struct advice *advice, bool by_time,
                  size_t top)
{
    const struct advise_row **rows;
    size_t count = advise_order(advice, by_time, &rows);

    print_counts(file, advice);
    if (count == 0) {
        fputs(advice->tried_count == 0
                  ? "no kind of node is among its types and pools\n"
              : advice->fit_count > 0 ? "nothing that fits can be timed: see what was left out\n"
                                      : "nothing fits\n", file);
        return;
    }
    fprintf(file, "\nby %s (*: nothing timed is both cheaper and faster)\n",
            by_time ? "time" : "cost");
    (void)print_rows(file, advice, rows, count, top, false);
    if (advice->world->cluster == NULL)
        print_tiers(file, advice, rows, count < top ? count : top);
    print_needs(file, rows, count < top ? count : top);
    print_front(file, advice, 2 * top);
}

/* ---- memory ----------------------------------------------------------- */

/* Returns an empty table of needs in GB with `title` over its first column, for
 * add_memory(). */
static struct sheet *memory_sheet(struct arena *arena, const char *title)
{
    return sheet_new(text_format(
        arena, "%s:-14\tweights:8\tgradients:9\toptimizer:9\tactivations:11\t"
        "gathered:8\tKV:6\tworkspace:9\ttotal:8\tof:7\t:-7\t:0", title));
}

/* Adds one line to the table of needs. */
static void add_memory(struct sheet *sheet, const char *name,
                       const struct memory_need *need, double has, double most,
                       const char *what)
{
    sheet_cell(sheet, "%s", name);
    sheet_cells(sheet, "%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t"
                "%s\t%.0f %s", need->weights / GB, need->gradients / GB,
                need->optimizer / GB, need->activations / GB,
                need->gathered / GB, need->kv / GB, need->workspace / GB,
                need->total / GB, has / GB,
                need->total <= has ? "fits" : "no", most, what);
}

void advise_print_memory(FILE *file, const struct advise_world *world,
                         const struct advise_job *job)
{
    struct sheet *sheet;

    fprintf(file, "job %s as written: GB on each GPU\n", job->form->name);
    if (job->trains) {
        uint32_t gpus = job->form->role[job->train].gpus;
        const struct train_shape *shape = &job->task.law->train;
        struct memory_need need = advise_need(&job->task, shape, gpus);

        sheet = memory_sheet(world->arena, text_format(world->arena,
                                                       "%u GPUs train", gpus));
        for (size_t i = 0; i < world->place_count; i++) {
            double has = world->place[i].group->gpu->memory_bytes;

            add_memory(sheet, world->place[i].name, &need, has,
                       advise_micro_batch_max(&job->task, shape, gpus, has),
                       "= largest micro_batch");
        }
        sheet_close(sheet, file);
    }
    if (job->engine == ADVISE_NONE)
        return;
    const struct rollout_shape *shape = &job->generate->rollout;
    sheet = memory_sheet(world->arena, "generate");
    for (size_t i = 0; i < world->place_count; i++) {
        double has = world->place[i].group->gpu->memory_bytes;
        double most = memory_decode_batch_max(shape->llm, shape->precision,
                                              shape->tp, job->context_tokens,
                                              has);
        struct memory_need need = memory_decode(
            shape->llm, shape->precision, shape->tp, fmax(most, 1.0),
            job->context_tokens);

        add_memory(sheet, world->place[i].name, &need, has, most,
                   "= most of the longest responses at a time");
    }
    sheet_close(sheet, file);
}
