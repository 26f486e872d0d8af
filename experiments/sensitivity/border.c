/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * border.c - where verdicts turn along one key, told and written.
 *
 * Each entry of `border:` names a claim and a key.  The claim may have several
 * expectations and points: each is a row with a border of its own (judge_rows).
 * turn.c finds the border; this file reads the keys, checks both ends before
 * the first trial (a slip would else be found after an hour), and puts each
 * result into words and into border.csv.
 */
#include "experiments/sensitivity/border.h"

#include <stddef.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/results/check.h"
#include "experiments/results/csv_out.h"
#include "experiments/results/results.h"
#include "experiments/sensitivity/claim.h"
#include "experiments/sensitivity/judge.h"
#include "experiments/sensitivity/turn.h"
#include "experiments/spec/quantity.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

struct border_keys {
    const char *claim, *key, *from, *to;
    double within;              /* of the range */
    int64_t points;
    bool log;
};

static const struct conf_field border_field[] = {
    CONF_KEY("claim", CONF_TEXT, border_keys, claim, CONF_REQUIRED,
             "name of a claim of `expect:`; each expectation of that name has a "
             "border of its own"),
    CONF_KEY("key", CONF_TEXT, border_keys, key, CONF_REQUIRED,
             "dotted key that is varied, with a number: any that `sweep:` takes"),
    CONF_KEY("from", CONF_TEXT, border_keys, from, CONF_REQUIRED,
             "one end, with its unit"),
    CONF_KEY("to", CONF_TEXT, border_keys, to, CONF_REQUIRED,
             "the other end, in the same unit"),
    CONF_KEY("within", CONF_FRACTION, border_keys, within, "5%",
             "of the range from `from` to `to`: how near to each other the two "
             "values of a border come", .min = 0.0001, .max = 0.5),
    CONF_KEY("points", CONF_INT, border_keys, points, "3",
             "values judged between the ends before any bisection: the verdict must "
             "turn once", .min = 0, .max = 30),
    CONF_KEY("log", CONF_BOOL, border_keys, log, "false",
             "steps are ratios, for ranges of orders of magnitude"),
};

const struct conf_schema border_schema =
    CONF_SCHEMA("experiment.border[]", "where a verdict turns along one key",
                border_field);

/* An entry of `border:`. */
struct border {
    const char *claim;
    struct turn_axis axis;      /* its key and range */
    struct err_pos pos, end[2]; /* of its key; of `from` and `to` */
};

/* Reads one entry: is the claim one of the file, can the key be varied for it, and
 * are both ends of one unit? */
static bool read_border(struct arena *arena, const struct experiment *experiment,
                        const struct conf_node *map, struct border *border,
                        struct err *err)
{
    struct border_keys keys = { 0 };

    if (!conf_fill(map, &border_schema, &keys, err) ||
        !claim_check(arena, experiment, keys.claim, conf_get(map, "claim"), err))
        return false;
    border->claim = keys.claim;
    border->pos = conf_pos(conf_get(map, "key"));
    border->end[0] = conf_pos(conf_get(map, "from"));
    border->end[1] = conf_pos(conf_get(map, "to"));
    border->axis = (struct turn_axis){ .key = keys.key, .within = keys.within,
                                       .points = (uint32_t)keys.points };
    return claim_key_check(arena, experiment, keys.claim, keys.key, border->pos, err) &&
           quantity_range_read(conf_get(map, "from"), conf_get(map, "to"), keys.log,
                               &border->axis.range, err);
}

/* Reads `border:` into an array in the arena; NULL: err says why. */
static struct border *read_borders(struct arena *arena,
                                   const struct experiment *experiment, size_t *count,
                                   struct err *err)
{
    const struct conf_node *list = experiment->border;
    struct err_pos pos = { experiment->path, 0, 0 };
    struct border *border;

    if (list == NULL) {
        err_set(err, ERR_SCHEMA, pos, "the experiment has no key border");
        err_hint(err, "`clustersim explain border` shows what it says.");
        return NULL;
    }
    if (conf_kind(list) != CONF_LIST || conf_count(list) == 0) {
        err_set(err, ERR_SCHEMA, conf_pos(list), "border must be a list of at least one "
                "map");
        return NULL;
    }
    *count = conf_count(list);
    border = arena_alloc(arena, *count, sizeof *border);
    for (size_t i = 0; i < *count; i++)
        if (!read_border(arena, experiment, conf_item(list, i), &border[i], err))
            return NULL;
    return border;
}

bool border_check(struct arena *arena, const struct experiment *experiment,
                  struct err *err)
{
    size_t count;

    return experiment->border == NULL ||
           read_borders(arena, experiment, &count, err) != NULL;
}

/* ---- in words ---- */

/* The verdict as a verb of a sentence. */
static const char *verdict_words(enum check_verdict verdict)
{
    return verdict == CHECK_UNDECIDED ? "is undecided" : check_verdict_name(verdict);
}

/* Returns the range in which no value changes the verdict: "from arrival.rate 1/h to 8/h". */
static const char *range_text(struct arena *arena, const struct turn_axis *axis)
{
    return text_format(arena, "from %s %s to %s", claim_short_key(axis->key),
                       axis->range.from_text, axis->range.to_text);
}

/* Does the better side lie at the smaller values? */
static bool is_upper(const struct turn_axis *axis, const struct turn *turn)
{
    return turn->falls == (axis->range.from < axis->range.to);
}

/* Where the verdict turns once, in words.  Which of the two borders there are
 * decides the form: with both, what lies between is undecided. */
static const char *turn_sentence(struct arena *arena, const struct turn_axis *axis,
                                 const struct turn *turn)
{
    const char *key = claim_short_key(axis->key);
    const char *better = is_upper(axis, turn) ? "up to" : "from";
    const char *worse = is_upper(axis, turn) ? "from" : "up to";

    if (turn->holds_at != NULL && turn->fails_at != NULL)
        return text_format(arena, "holds %s %s %s, does not %s %s", better, key,
                           turn->holds_at, worse, turn->fails_at);
    if (turn->holds_at != NULL)
        return text_format(arena, "holds %s %s %s, is undecided %s %s", better, key,
                           turn->holds_at, worse, turn->ceases_at);
    return text_format(arena, "is undecided %s %s %s, does not hold %s %s", better, key,
                       turn->not_yet_at, worse, turn->fails_at);
}

/* The whole result as a sentence, whose subject is the claim. */
static const char *make_sentence(struct arena *arena, const char *name,
                                 const struct turn_axis *axis, const struct turn *turn,
                                 uint32_t seeds)
{
    const char *said = "";

    if (turn->kind == TURN_ONCE)
        said = turn_sentence(arena, axis, turn);
    if (turn->kind == TURN_NOT)
        said = text_format(arena, "does not turn %s: it %s at all %u values",
                           range_text(arena, axis), verdict_words(turn->from),
                           turn->values);
    if (turn->kind == TURN_MIXED)
        said = text_format(arena, "turns forth and back %s: %s",
                           range_text(arena, axis), turn->why);
    if (turn->kind == TURN_UNKNOWN)
        said = text_format(arena, "is not known %s: %s", range_text(arena, axis),
                           turn->why);
    return text_format(arena, "%s %s (%u seed%s, %u trials)", name, said, seeds,
                       seeds == 1 ? "" : "s", turn->trials);
}

/* ---- the search ---- */

/* The search for all borders; `unknown` counts those that could not be found. */
struct bordering {
    struct arena *arena;
    struct probe *probe;        /* runs trials, or knows them */
    const struct border_options *options;   /* of the caller */
    struct table *table;        /* border.csv */
    uint32_t unknown;
};

/* NULL is an empty cell. */
static void put_text(struct table *table, const char *text)
{
    table_text(table, text == NULL ? "" : text);
}

/* Adds the row of border.csv. */
static void put_row(struct bordering *b, const struct judge_row *row,
                    const struct turn_axis *axis, const struct turn *turn,
                    const char *sentence)
{
    const struct experiment_expect *e = row->expect;

    put_text(b->table, e->claim);
    put_text(b->table, row->metric);
    put_text(b->table, e->policy);
    put_text(b->table, claim_versus(b->arena, e));
    put_text(b->table, row->rest);
    put_text(b->table, axis->key);
    put_text(b->table, turn->holds_at);
    put_text(b->table, turn->fails_at);
    put_text(b->table, axis->range.from_text);
    put_text(b->table, axis->range.to_text);
    put_text(b->table, check_verdict_name(turn->from));
    put_text(b->table, check_verdict_name(turn->to));
    put_text(b->table, claim_turn_name(turn->kind));
    table_count(b->table, probe_experiment(b->probe)->seeds);
    table_count(b->table, turn->trials);
    put_text(b->table, sentence);
    table_end_row(b->table);
}

/* Finds one border, tells it at once (searches take long), and adds its row. */
static bool find_border(struct bordering *b, const struct judge_row *row, bool alone,
                        const struct turn_axis *axis, struct err *err)
{
    struct turn turn;
    const char *sentence;

    if (!turn_find(b->arena, b->probe, row, axis, &turn, err))
        return false;
    sentence = make_sentence(b->arena, judge_name(b->arena, row, alone), axis, &turn,
                             probe_experiment(b->probe)->seeds);
    if (b->options->out != NULL) {
        fprintf(b->options->out, "%s\n", sentence);
        fflush(b->options->out);
    }
    b->unknown += turn.kind == TURN_UNKNOWN;
    put_row(b, row, axis, &turn, sentence);
    return true;
}

/* Does each end give an experiment? */
static bool try_ends(struct arena *arena, struct probe *probe, const struct border *border,
                     size_t count, struct err *err)
{
    size_t rows;

    for (size_t i = 0; i < count; i++) {
        const struct judge_row *row = judge_rows(arena, probe_experiment(probe),
                                                 border[i].claim, border[i].axis.key, &rows);
        const char *end[] = { border[i].axis.range.from_text,
                              border[i].axis.range.to_text };

        for (int k = 0; k < 2; k++)
            if (!claim_try(probe, row[0].point, border[i].axis.key, end[k],
                           border[i].pos, border[i].end[k], err))
                return false;
    }
    return true;
}

bool border_try(struct arena *arena, struct probe *probe, struct err *err)
{
    const struct border *border;
    size_t count = 0;

    if (probe_experiment(probe)->border == NULL)
        return true;
    border = read_borders(arena, probe_experiment(probe), &count, err);
    return border != NULL && try_ends(arena, probe, border, count, err);
}

/* Before the first trial: tells how many trials it may take at most. */
static void tell_most(struct bordering *b, const struct border *border, size_t count)
{
    const struct experiment *experiment = probe_experiment(b->probe);
    uint64_t trials = 0;
    size_t rows, all = 0;

    for (size_t i = 0; i < count; i++) {
        const struct judge_row *row = judge_rows(b->arena, experiment, border[i].claim,
                                                 border[i].axis.key, &rows);

        all += rows;
        for (size_t r = 0; r < rows; r++)
            trials += (uint64_t)turn_values_max(&border[i].axis) * experiment->seeds *
                      claim_sides(row[r].expect);
    }
    if (b->options->log != NULL)
        fprintf(b->options->log, "%zu border%s: at most %llu trials\n", all,
                all == 1 ? "" : "s", (unsigned long long)trials);
}

/* Row by row; `alone`: the claim has one row, so that its name says all. */
static bool find_all(struct bordering *b, const struct border *border, size_t count,
                     struct err *err)
{
    size_t rows;

    for (size_t i = 0; i < count; i++) {
        const struct judge_row *row = judge_rows(b->arena, probe_experiment(b->probe),
                                                 border[i].claim, border[i].axis.key,
                                                 &rows);

        for (size_t r = 0; r < rows; r++)
            if (!find_border(b, &row[r], rows == 1, &border[i].axis, err))
                return false;
    }
    return true;
}

/* border.csv is written when all is found, so that an interrupted search leaves
 * the file of an earlier one as it was. */
bool border_run(struct arena *arena, struct probe *probe,
                const struct border_options *options, uint32_t *unknown,
                struct err *err)
{
    struct bordering b = { .arena = arena, .probe = probe, .options = options };
    size_t count = 0;
    const struct border *border = read_borders(arena, probe_experiment(probe), &count,
                                               err);
    struct out *out;

    if (border == NULL || !results_may_write(arena, options->dir, &csv_border, err) ||
        !try_ends(arena, probe, border, count, err))
        return false;
    tell_most(&b, border, count);
    b.table = table_new(csv_border.columns, csv_border.count);
    if (!find_all(&b, border, count, err)) {
        table_free(b.table);
        return false;
    }
    *unknown = b.unknown;
    out = csv_out_open(arena, options->dir, &csv_border, err);
    if (out != NULL)
        return csv_out_close(out, b.table, err);
    table_free(b.table);
    return false;
}
