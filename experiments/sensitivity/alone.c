/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alone.c - each input by itself over its range, all others at base: does the
 * verdict turn, and at which value?
 *
 * A range is bisected (turn.h); words are all tried, since they have no order.
 * What is found becomes a clause of the row's sentence: "arrival.rate falls
 * below 3.1/h".  Effects of inputs on each other are not seen here: these are
 * what rank.c is for.
 */
#include "experiments/sensitivity/finding.h"

#include <math.h>

#include "experiments/sensitivity/claim.h"
#include "experiments/sensitivity/judge.h"
#include "experiments/sensitivity/sensitivity_keys.h"
#include "experiments/sensitivity/turn.h"
#include "experiments/spec/inputs.h"
#include "experiments/spec/quantity.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"

/* Adds a border to the clause, from `same`, the last value with the verdict of the base, to
 * `other`, the first without it.  Values that are no numbers give no clause. */
static void add_border(struct findings *f, struct finding *finding, const char *same,
                       const char *other)
{
    const char *key = claim_short_key(finding->input->key);
    double a = 0, b = 0;

    finding->turns_at = finding->turns_at == NULL ? other
                      : text_format(f->arena, "%s or %s", finding->turns_at, other);
    if (!quantity_number(&finding->input->range, same, &a) ||
        !quantity_number(&finding->input->range, other, &b))
        return;
    finding->clause = text_format(f->arena, "%s %s %s", finding->clause == NULL ? key
                                  : text_format(f->arena, "%s or", finding->clause),
                                  b < a ? "falls below" : "rises above", same);
}

/* Sets the border next to the verdict of the base: the one out of "holds", or out
 * of "does not hold".  Out of "undecided" there may be one to each of these.  If no border
 * has the base's verdict on a side, the base lies outside of the range, and every
 * value in it turns the verdict. */
static void set_turn(struct findings *f, struct finding *finding,
                     const struct turn *turn)
{
    enum check_verdict base = f->base.item.verdict;

    if (base == CHECK_HOLDS && turn->holds_at != NULL)
        add_border(f, finding, turn->holds_at, turn->ceases_at);
    else if (base == CHECK_FAILS && turn->fails_at != NULL)
        add_border(f, finding, turn->fails_at, turn->not_yet_at);
    else if (base != CHECK_UNDECIDED)
        finding->clause = text_format(f->arena, "%s is anywhere in its range",
                                      claim_short_key(finding->input->key));
    if (base == CHECK_UNDECIDED && turn->fails_at != NULL)
        add_border(f, finding, turn->not_yet_at, turn->fails_at);
    if (base == CHECK_UNDECIDED && turn->holds_at != NULL)
        add_border(f, finding, turn->ceases_at, turn->holds_at);
}

/* Bisects the range of an input.  A verdict that is equal at all values of the
 * range, but not that of the base, turns anywhere in it. */
static bool vary_range(struct findings *f, struct finding *finding, struct err *err)
{
    const struct turn_axis axis = {
        .key = finding->input->key, .range = finding->input->range,
        .within = f->keys->within, .points = (uint32_t)f->keys->points
    };
    const char *key = claim_short_key(finding->input->key);
    struct turn turn;

    if (!turn_find(f->arena, f->probe, f->row, &axis, &turn, err))
        return false;
    f->trials += turn.trials;
    finding->turns = turn.kind;
    finding->value_from = turn.value_from;
    finding->value_to = turn.value_to;
    if (turn.kind == TURN_UNKNOWN)
        finding->why = turn.why;
    if (turn.kind == TURN_ONCE)
        set_turn(f, finding, &turn);
    if (turn.kind == TURN_MIXED)
        finding->clause = text_format(f->arena, "%s moves forth and back (%s)", key,
                                      turn.why);
    if (turn.kind == TURN_NOT && turn.from != f->base.item.verdict) {
        finding->turns = TURN_ONCE;
        finding->turns_at = axis.range.from_text;
        finding->clause = text_format(f->arena, "%s is anywhere in its range", key);
    }
    return true;
}

/* Is it known what the claim says there?  Not if trials failed, or too few were run. */
static bool is_verdict(const struct judge_answer *answer)
{
    enum check_verdict verdict = answer->item.verdict;

    return answer->why == NULL && (verdict == CHECK_HOLDS || verdict == CHECK_FAILS ||
                                   verdict == CHECK_UNDECIDED);
}

/* Why it is not known. */
static const char *why_unjudged(const struct judge_answer *answer)
{
    return answer->why != NULL ? answer->why : answer->item.reason;
}

/* Sets the words at which the verdict differs.  If a word cannot be judged,
 * nothing is said of the input at all. */
static void set_words(struct findings *f, struct finding *finding,
                      const struct judge_answer *answer)
{
    const struct input *input = finding->input;
    const char *list = NULL;

    for (uint32_t i = 0; i < input->word_count; i++) {
        if (!is_verdict(&answer[i])) {
            finding->turns = TURN_UNKNOWN;
            finding->why = text_format(f->arena, "at %s: %s", input->word[i],
                                       why_unjudged(&answer[i]));
            finding->clause = finding->turns_at = NULL;
            return;
        }
        if (answer[i].item.verdict == f->base.item.verdict)
            continue;
        finding->turns = TURN_ONCE;
        if (list == NULL)
            finding->turns_at = input->word[i];
        list = list == NULL ? input->word[i]
             : text_format(f->arena, "%s or %s", list, input->word[i]);
    }
    if (list != NULL)
        finding->clause = text_format(f->arena, "%s is %s",
                                      claim_short_key(input->key), list);
}

/* Judges every word of an input, in one question to the probe. */
static bool vary_words(struct findings *f, struct finding *finding, struct err *err)
{
    const struct input *input = finding->input;
    uint32_t count = input->word_count;
    struct judge_query *query = arena_alloc(f->arena, count, sizeof *query);
    struct judge_answer *answer = arena_alloc(f->arena, count, sizeof *answer);
    struct experiment_setting *setting = arena_alloc(f->arena, count, sizeof *setting);

    for (uint32_t i = 0; i < count; i++) {
        setting[i] = (struct experiment_setting){ input->key, input->word[i] };
        query[i] = (struct judge_query){ f->row->expect, f->row->point, &setting[i], 1 };
    }
    if (!judge_run(f->arena, f->probe, query, count, answer, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        f->trials += answer[i].trials;
    finding->value_from = answer[0].value;
    finding->value_to = answer[count - 1].value;
    set_words(f, finding, answer);
    return true;
}

/* Whether a verdict turns is not known where the one at base is not. */
static void set_unknown(struct findings *f)
{
    for (uint32_t i = 0; i < f->keys->input_count; i++) {
        struct finding *finding = &f->finding[i];

        finding->turns = TURN_UNKNOWN;
        finding->why = text_format(f->arena, "at base: %s", why_unjudged(&f->base));
    }
}

bool find_alone(struct findings *f, struct err *err)
{
    if (f->row->expect->claim != NULL && !is_verdict(&f->base)) {
        set_unknown(f);
        return true;
    }
    for (uint32_t i = 0; i < f->keys->input_count; i++) {
        struct finding *finding = &f->finding[i];

        if (finding->input->word != NULL ? !vary_words(f, finding, err)
                                         : !vary_range(f, finding, err))
            return false;
    }
    return true;
}
