/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sensitivity.c - the inputs of each claim, found, told and written.
 *
 * For each row (an expectation at a point): judge it at base, rank the inputs
 * (rank.c), vary each alone (alone.c), then print a table and one sentence and
 * add the rows of sensitivity.csv.  The file is written at the end of all, so
 * that an interrupted search leaves an earlier one as it was.
 */
#include "experiments/sensitivity/sensitivity.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/results/check.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/results.h"
#include "experiments/sensitivity/claim.h"
#include "experiments/sensitivity/finding.h"
#include "experiments/sensitivity/judge.h"
#include "experiments/sensitivity/sensitivity_keys.h"
#include "experiments/sensitivity/turn.h"
#include "experiments/spec/inputs.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* The search; `unknown` counts inputs of which something is not known. */
struct ranking {
    struct arena *arena;
    struct probe *probe;        /* runs trials, or knows them */
    const struct sensitivity_options *options;
    struct sensitivity_keys keys;       /* what is varied, and what is judged */
    struct table *table;        /* sensitivity.csv */
    uint32_t unknown;
};

/* ---- in words ---- */

/* Is it a claim with a verdict, or a metric alone? */
static bool is_claim(const struct findings *f)
{
    return f->row->expect->claim != NULL;
}

/* The unit behind a figure: percent of a comparison, else that of the metric, which is
 * not named. */
static const char *find_unit(const struct findings *f)
{
    return f->row->expect->percent ? "%" : "";
}

/* Joins the clauses of all inputs that turn the verdict, in the order of ranks,
 * and counts them; NULL: none does. */
static const char *join_clauses(const struct findings *f, uint32_t *turning)
{
    const char *text = NULL;

    *turning = 0;
    for (uint32_t i = 0; i < f->keys->input_count; i++) {
        const char *clause = f->finding[f->by_rank[i]].clause;

        if (clause == NULL)
            continue;
        text = text == NULL ? clause : text_format(f->arena, "%s, or if %s", text,
                                                   clause);
        ++*turning;
    }
    return text;
}

/* Counts inputs of which it is not known whether they turn the verdict. */
static uint32_t unknown_turns(const struct findings *f)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < f->keys->input_count; i++)
        count += f->finding[i].turns == TURN_UNKNOWN;
    return count;
}

/* "C1 (...) holds, and turns if ...; no other input turns it within its range".
 * "No other" is only said if all others are known. */
static const char *make_sentence(const struct findings *f)
{
    bool alone = f->keys->row_count == 1;
    const char *name = judge_name(f->arena, f->row, alone), *clauses, *rest;
    uint32_t turning, lost = unknown_turns(f), count = f->keys->input_count;

    if (!is_claim(f))
        return "";
    clauses = join_clauses(f, &turning);
    rest = turning == count ? ""
         : lost > 0 ? text_format(f->arena, "; of %u input%s it is not known", lost,
                                  lost == 1 ? "" : "s")
         : turning > 0 ? "; no other input turns it within its range"
                       : "; no input turns it within its range";
    return text_format(f->arena, "%s %s%s%s%s%s", name,
                       f->base.item.verdict == CHECK_UNDECIDED ? "is " : "",
                       check_verdict_name(f->base.item.verdict),
                       clauses == NULL ? "" : ", and turns if ",
                       clauses == NULL ? "" : clauses, rest);
}

/* "3.1" or "-" where there is none. */
static const char *format_figure(struct arena *arena, double value, const char *unit)
{
    return isfinite(value) ? text_format(arena, "%.3g%s", value, unit) : "-";
}

/* The last column of the table that is printed. */
static const char *format_turn(const struct findings *f, const struct finding *finding)
{
    if (!is_claim(f))
        return "-";
    return finding->turns_at != NULL ? finding->turns_at
                                     : claim_turn_name(finding->turns);
}

/* Prints the table of a row; columns are wide enough for usual keys, longer ones
 * push the rest. */
static void print_table(const struct findings *f, FILE *out)
{
    struct arena *arena = f->arena;

    fprintf(out, "%s: %s at base\n", judge_name(arena, f->row, false),
            format_figure(arena, f->base.value, find_unit(f)));
    fprintf(out, "  %-4s %-34s %-18s %9s %9s %6s %6s  %s\n", "rank", "input", "range",
            "effect", "spread", "first", "total", "turns at");
    for (uint32_t i = 0; i < f->keys->input_count; i++) {
        const struct finding *x = &f->finding[f->by_rank[i]];

        fprintf(out, "  %-4u %-34s %-18s %9s %9s %6s %6s  %s\n", x->rank,
                claim_short_key(x->input->key),
                text_format(arena, "%s .. %s", input_from(x->input),
                            input_to(x->input)),
                format_figure(arena, x->effect.mean_absolute, find_unit(f)),
                format_figure(arena, x->effect.spread, find_unit(f)),
                format_figure(arena, x->index.first, ""), format_figure(arena, x->index.total, ""),
                format_turn(f, x));
        if (x->why != NULL)
            fprintf(out, "       %s\n", x->why);
    }
}

/* ---- the table ---- */

static void put_text(struct table *table, const char *text)
{
    table_text(table, text == NULL ? "" : text);
}

/* Adds the cells of effects and indices. */
static void put_figures(struct table *table, const struct finding *x)
{
    const struct indices *s = &x->index;
    const double index[] = { s->first, s->first_low, s->first_high, s->total,
                             s->total_low, s->total_high };

    table_real_or_empty(table, x->effect.mean_absolute);
    table_real_or_empty(table, x->effect.spread);
    table_count(table, x->rank);
    for (size_t i = 0; i < sizeof index / sizeof index[0]; i++)
        table_real_or_empty(table, index[i]);
}

/* Adds the row of one input to sensitivity.csv. */
static void put_row(struct ranking *r, const struct findings *f,
                    const struct finding *x, const char *sentence)
{
    const struct experiment_expect *e = f->row->expect;
    struct table *table = r->table;

    put_text(table, e->claim);
    put_text(table, f->row->metric);
    put_text(table, e->policy);
    put_text(table, claim_versus(r->arena, e));
    put_text(table, f->row->rest);
    put_text(table, x->input->key);
    put_text(table, input_from(x->input));
    put_text(table, input_to(x->input));
    put_text(table, x->base);
    put_figures(table, x);
    put_text(table, is_claim(f) ? claim_turn_name(x->turns) : "");
    put_text(table, x->turns_at);
    table_real_or_empty(table, x->value_from);
    table_real_or_empty(table, x->value_to);
    table_count(table, probe_experiment(r->probe)->seeds);
    table_count(table, f->trials);
    put_text(table, x->why != NULL ? x->why : x->input->why);
    put_text(table, sentence);
    table_end_row(table);
}

/* ---- the search ---- */

/* Returns the findings of a row before anything is known: NAN all over. */
static struct findings findings_new(struct ranking *r, const struct judge_row *row)
{
    uint32_t count = r->keys.input_count;
    struct findings f = {
        .arena = r->arena, .probe = r->probe, .keys = &r->keys, .row = row,
        .finding = arena_alloc(r->arena, count, sizeof(struct finding)),
        .by_rank = arena_alloc(r->arena, count, sizeof(uint32_t))
    };

    for (uint32_t i = 0; i < count; i++)
        f.finding[i] = (struct finding){
            .input = &r->keys.input[i],
            .base = claim_base(r->arena, probe_experiment(r->probe), row->point,
                               r->keys.input[i].key),
            .index = { NAN, NAN, NAN, NAN, NAN, NAN },
            .value_from = NAN, .value_to = NAN
        };
    return f;
}

/* Judges the row without settings; a verdict turns if it differs from this one. */
static bool judge_base(struct findings *f, struct err *err)
{
    const struct judge_query query = { f->row->expect, f->row->point, NULL, 0 };

    if (!judge_run(f->arena, f->probe, &query, 1, &f->base, err))
        return false;
    f->trials += f->base.trials;
    return true;
}

/* Finds, writes and tells one row. */
static bool rank_row(struct ranking *r, const struct judge_row *row, struct err *err)
{
    struct findings f = findings_new(r, row);
    uint32_t seeds = probe_experiment(r->probe)->seeds;
    const char *sentence;

    if (!judge_base(&f, err) || !find_effects(&f, err) || !find_indices(&f, err) ||
        !find_alone(&f, err))
        return false;
    sentence = make_sentence(&f);
    for (uint32_t i = 0; i < r->keys.input_count; i++) {
        const struct finding *x = &f.finding[f.by_rank[i]];

        r->unknown += x->why != NULL;
        put_row(r, &f, x, sentence);
    }
    if (r->options->out == NULL)
        return true;
    print_table(&f, r->options->out);
    fprintf(r->options->out, "%s%s(%u seed%s, %llu trials)\n", sentence,
            *sentence == '\0' ? "" : " ", seeds, seeds == 1 ? "" : "s",
            (unsigned long long)f.trials);
    return true;
}

/* Returns how many values alone.c judges at most. */
static uint64_t values_alone(const struct sensitivity_keys *keys)
{
    uint64_t values = 0;

    for (uint32_t i = 0; i < keys->input_count; i++) {
        const struct turn_axis axis = { .range = keys->input[i].range,
                                        .within = keys->within,
                                        .points = (uint32_t)keys->points };

        values += keys->input[i].word != NULL ? keys->input[i].word_count
                                              : turn_values_max(&axis);
    }
    return values;
}

/* Does each word and each end of each input give an experiment? */
static bool try_values(struct probe *probe, const struct sensitivity_keys *keys,
                       struct err *err)
{
    for (uint32_t i = 0; i < keys->input_count; i++) {
        const struct input *input = &keys->input[i];

        for (uint32_t w = 0; w < input_written(input); w++) {
            struct err_pos pos;
            const char *value = input_written_at(input, w, &pos);

            if (!claim_try(probe, keys->row[0].point, input->key, value,
                           input->pos, pos, err))
                return false;
        }
    }
    return true;
}

bool sensitivity_try(struct arena *arena, struct probe *probe, struct err *err)
{
    struct sensitivity_keys keys;

    return probe_experiment(probe)->sensitivity == NULL ||
           (sensitivity_keys_read(arena, probe_experiment(probe), &keys, err) &&
            try_values(probe, &keys, err));
}

/* Before the first trial: tells how many trials it may take at most. */
static void tell_most(const struct ranking *r)
{
    const struct sensitivity_keys *keys = &r->keys;
    uint64_t k = keys->input_count, values, trials = 0;
    uint64_t few = (uint64_t)keys->sobol.inputs < k ? (uint64_t)keys->sobol.inputs : k;

    values = 1 + (uint64_t)keys->trajectories * (k + 1) + values_alone(keys) +
             (few > 0 ? (uint64_t)keys->sobol.samples * (few + 2) : 0);
    for (size_t i = 0; i < keys->row_count; i++)
        trials += values * probe_experiment(r->probe)->seeds *
                  claim_sides(keys->row[i].expect);
    if (r->options->log != NULL)
        fprintf(r->options->log, "%llu input%s: at most %llu trials\n",
                (unsigned long long)k, k == 1 ? "" : "s", (unsigned long long)trials);
}

bool sensitivity_run(struct arena *arena, struct probe *probe,
                     const struct sensitivity_options *options, uint32_t *unknown,
                     struct err *err)
{
    struct ranking r = { .arena = arena, .probe = probe, .options = options };
    struct out *out = NULL;
    bool ok;

    if (!sensitivity_keys_read(arena, probe_experiment(probe), &r.keys, err) ||
        !results_may_write(arena, options->dir, &csv_sensitivity, err) ||
        !try_values(probe, &r.keys, err))
        return false;
    tell_most(&r);
    r.table = table_new(csv_sensitivity.columns, csv_sensitivity.count);
    ok = true;
    for (size_t i = 0; ok && i < r.keys.row_count; i++)
        ok = rank_row(&r, &r.keys.row[i], err);
    *unknown = r.unknown;
    if (ok)
        out = csv_out_open(arena, options->dir, &csv_sensitivity, err);
    if (out != NULL)
        return csv_out_close(out, r.table, err);
    table_free(r.table);
    return false;
}
