/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advice_turns.c - an answer judged again with one input changed.
 *
 * Nothing is drawn at random, so one value is one answer, and there are no effects to
 * rank: the columns of sensitivity.csv that speak of them are empty.
 */
#include "experiments/advise/advice_turns.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "experiments/advise/advice_check.h"
#include "experiments/columns/columns.h"
#include "experiments/results/check.h"
#include "experiments/results/csv_out.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/inputs.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

#define RANGE_VALUES 5u         /* judged of a range: both ends and three between */

/* The question, its answers as the file stands, and the table. */
struct turning {
    struct arena *arena;        /* of the command */
    const char *path;           /* of the question's file */
    const struct advice_check_options *options;
    struct advice_check base;   /* the answers as the file stands */
    struct table *table;        /* sensitivity.csv */
    FILE *out;                  /* for people: which inputs turn a verdict */
};

/* The answers at each value of one input. */
struct varied {
    const struct input *input;  /* the one that is changed */
    const char **value;         /* [count], as `--set` takes them */
    struct check_list *checks;  /* [count]: the verdicts at each value */
    uint32_t count;
};

/* Reads and judges the whole question again, with one more --set: each value is a
 * question of its own. */
static bool judge_value(struct turning *t, struct varied *v, uint32_t i, struct err *err)
{
    size_t sets = t->options->set_count;
    const char **set = arena_alloc(t->arena, sets + 1, sizeof *set);
    struct advice_check_options options = { .set = set, .set_count = sets + 1 };
    struct advice_check answer = { 0 };

    for (size_t s = 0; s < sets; s++)
        set[s] = t->options->set[s];
    set[sets] = text_format(t->arena, "%s=%s", v->input->key, v->value[i]);
    if (!advice_check_run(t->arena, t->path, &options, &answer, err))
        return false;
    v->checks[i] = answer.checks;
    return true;
}

/* Judges each word, or RANGE_VALUES values of a range. */
static bool vary_input(struct turning *t, const struct input *input, struct varied *v,
                       struct err *err)
{
    uint32_t count = input->word != NULL ? input->word_count : RANGE_VALUES;

    *v = (struct varied){
        .input = input, .count = count,
        .value = arena_alloc(t->arena, count, sizeof *v->value),
        .checks = arena_alloc(t->arena, count, sizeof *v->checks)
    };
    for (uint32_t i = 0; i < count; i++) {
        v->value[i] = input->word != NULL ? input->word[i]
                    : input_at(t->arena, input, (double)i / (count - 1));
        if (!judge_value(t, v, i, err))
            return false;
    }
    return true;
}

/* Returns "a or b": the values at which the verdict of expectation c differs from that at
 * base, and the first of them; NULL: there is none. */
static const char *turning_values(const struct turning *t, const struct varied *v,
                                  uint32_t c, const char **first)
{
    const char *list = NULL;

    *first = NULL;
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->checks[i].item[c].verdict == t->base.checks.item[c].verdict)
            continue;
        if (list == NULL)
            *first = v->value[i];
        list = list == NULL ? v->value[i]
             : text_format(t->arena, "%s or %s", list, v->value[i]);
    }
    return list;
}

/* Adds the row of one input; effects and indices are empty, as nothing is ranked. */
static void put_row(struct turning *t, const struct varied *v, uint32_t c, uint32_t rank,
                    const char *sentence)
{
    const struct check_item *item = &t->base.checks.item[c];
    const char *first, *list = turning_values(t, v, c, &first);
    struct table *table = t->table;
    const char *versus = item->expect->versus;

    table_text(table, item->expect->claim);
    table_text(table, item->metric);
    table_text(table, item->expect->policy);
    table_text(table, versus == NULL ? "" : versus);
    table_text(table, item->point);
    table_text(table, v->input->key);
    table_text(table, input_from(v->input));
    table_text(table, input_to(v->input));
    table_text(table, "");
    table_real_or_empty(table, NAN);
    table_real_or_empty(table, NAN);
    table_count(table, rank);
    for (int i = 0; i < 6; i++)
        table_real_or_empty(table, NAN);
    table_text(table, list == NULL ? "no" : "yes");
    table_text(table, first == NULL ? "" : first);
    table_real_or_empty(table, v->checks[0].item[c].value);
    table_real_or_empty(table, v->checks[v->count - 1].item[c].value);
    table_count(table, 1);
    table_count(table, v->count + 1);
    table_text(table, v->input->why == NULL ? "" : v->input->why);
    table_text(table, sentence);
    table_end_row(table);
}

/* Returns the sentence of an expectation: "C1 ... holds, and turns if gpus is 8
 * or 16; no other input turns it within its range". */
static const char *make_sentence(const struct turning *t, const struct varied *v,
                                 uint32_t count, uint32_t c)
{
    const struct check_item *item = &t->base.checks.item[c];
    const char *clauses = NULL, *first;
    uint32_t turning = 0;

    for (uint32_t i = 0; i < count; i++) {
        const char *list = turning_values(t, &v[i], c, &first);

        if (list == NULL)
            continue;
        list = text_format(t->arena, "%s is %s", strchr(v[i].input->key, '.') + 1,
                           list);
        clauses = clauses == NULL ? list
                : text_format(t->arena, "%s, or if %s", clauses, list);
        turning++;
    }
    return text_format(t->arena, "%s %s%s%s%s", item->name,
                       check_verdict_name(item->verdict),
                       clauses == NULL ? "" : ", and turns if ",
                       clauses == NULL ? "" : clauses,
                       turning == count ? "" : turning > 0
                           ? "; no other input turns it within its range"
                           : "; no input turns it within its range");
}

/* Writes, for each expectation of the claim, a row for each input, and prints a
 * sentence. */
static void tell_claim(struct turning *t, const struct varied *v, uint32_t count)
{
    const char *claim = t->base.inputs.claim;

    for (uint32_t c = 0; c < t->base.checks.count; c++) {
        const struct check_item *item = &t->base.checks.item[c];
        const char *sentence;

        if (item->expect->claim == NULL || strcmp(item->expect->claim, claim) != 0)
            continue;
        sentence = make_sentence(t, v, count, c);
        for (uint32_t i = 0; i < count; i++)
            put_row(t, &v[i], c, i + 1, sentence);
        if (t->out != NULL)
            fprintf(t->out, "%s\n", sentence);
    }
}

/* Writes sensitivity.csv under a lock of the folder; frees the table in every case. */
static bool write_table(struct turning *t, const char *dir, struct err *err)
{
    struct folder *folder;
    struct out *out = NULL;

    if (dir == NULL)
        dir = path_join(t->arena, "out", t->base.name);
    folder = folder_make(t->arena, dir, err);
    if (folder != NULL && folder_lock(folder, err))
        out = csv_out_open(t->arena, folder, &csv_sensitivity, err);
    bool ok = out != NULL && csv_out_close(out, t->table, err);
    if (out == NULL)
        table_free(t->table);
    folder_close(folder);
    return ok;
}

bool advice_turns_run(struct arena *arena, const char *path, const char *dir,
                      const struct advice_check_options *options, FILE *out,
                      struct err *err)
{
    struct turning t = { .arena = arena, .path = path, .options = options, .out = out };
    struct err_pos pos = { path, 0, 0 };
    struct varied *v;

    if (!advice_check_run(arena, path, options, &t.base, err))
        return false;
    if (t.base.inputs.claim == NULL) {
        err_set(err, ERR_SCHEMA, pos, "the question has no key sensitivity");
        return err_hint(err, "`clustersim explain advice.sensitivity` shows its keys.");
    }
    v = arena_alloc(arena, t.base.inputs.count, sizeof *v);
    for (uint32_t i = 0; i < t.base.inputs.count; i++)
        if (!vary_input(&t, &t.base.inputs.input[i], &v[i], err))
            return false;
    t.table = table_new(csv_sensitivity.columns, csv_sensitivity.count);
    tell_claim(&t, v, t.base.inputs.count);
    return write_table(&t, dir, err);
}
