/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turn.c - bisection of a verdict.
 *
 * A stop is a value that was judged; stops are kept in order of their place on
 * the axis, 0 at `from` and 1 at `to`.  Verdicts have three states, in the
 * order holds, undecided, does not hold; if they run in one direction along the
 * stops, there are at most two borders, and both are halved until each gap is
 * at most `within`.  Whenever a new stop breaks the direction, the search ends
 * and says so (TURN_MIXED): bisection would find one border of several and hide
 * the others.
 *
 * A new stop may be rounded onto a known one (whole numbers, quantity_at): the
 * gap then cannot be narrowed, and counts as narrow.
 */
#include "experiments/sensitivity/turn.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/sensitivity/judge.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"

/* More than turn_values_max() can be: points <= 30 and two borders of at most
 * log2(1 / 0.0001) halvings. */
#define STOPS_MAX 128u

/* A value that was judged. */
struct stop {
    double place;               /* from 0 at `from` to 1 at `to` */
    const char *text;
    struct judge_answer answer;
};

/* The search for the values at which one verdict turns. */
struct search {
    struct arena *arena;
    struct probe *probe;        /* runs trials, or knows them */
    const struct judge_row *row;        /* the expectation, and its point */
    const struct turn_axis *axis;       /* the key that is varied, and its range */
    struct stop stop[STOPS_MAX];        /* by place */
    uint32_t count;
};

/* Returns how often one gap is halved at most until it is narrow.  One more, since
 * places are rounded to values with few digits. */
static uint32_t count_halvings(const struct turn_axis *axis)
{
    double gap = 1.0 / (axis->points + 1);

    return gap <= axis->within ? 0
         : (uint32_t)ceil(log2(gap / axis->within) + 1);    /* rounding */
}

uint32_t turn_values_max(const struct turn_axis *axis)
{
    double all = fabs(axis->range.to - axis->range.from) + 1;
    uint32_t most = axis->points + 2 + 2 * count_halvings(axis);

    assert(most <= STOPS_MAX);
    return axis->range.whole && all < most ? (uint32_t)all : most;
}

/* Was that value judged before?  Values are compared as they are written. */
static bool is_known(const struct search *s, const char *text)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->stop[i].text, text) == 0)
            return true;
    return false;
}

/* Puts a value that was not judged before among the others; returns it, or NULL. */
static struct stop *add_stop(struct search *s, double place)
{
    const char *text = quantity_at(s->arena, &s->axis->range, &place,
                                   s->axis->within);
    uint32_t at = s->count;

    if (is_known(s, text) || s->count == STOPS_MAX)
        return NULL;
    while (at > 0 && s->stop[at - 1].place > place) {
        s->stop[at] = s->stop[at - 1];
        at--;
    }
    s->stop[at] = (struct stop){ .place = place, .text = text };
    s->count++;
    return &s->stop[at];
}

/* Judges all stops that were not judged. */
static bool judge_stops(struct search *s, struct err *err)
{
    struct judge_query query[STOPS_MAX] = { { 0 } };
    struct judge_answer answer[STOPS_MAX] = { { .trials = 0 } };
    uint32_t at[STOPS_MAX], count = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        struct experiment_setting *setting;

        if (s->stop[i].answer.trials > 0 || s->stop[i].answer.unread)
            continue;
        setting = arena_alloc(s->arena, 1, sizeof *setting);
        *setting = (struct experiment_setting){ s->axis->key, s->stop[i].text };
        query[count] = (struct judge_query){ s->row->expect, s->row->point, setting, 1 };
        at[count++] = i;
    }
    if (!judge_run(s->arena, s->probe, query, count, answer, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        s->stop[at[i]].answer = answer[i];
    return true;
}

/* Returns 0 where it holds, 1 undecided, 2 where it does not hold; -1: it could
 * not be judged. */
static int verdict_state(const struct stop *stop)
{
    switch (stop->answer.item.verdict) {
    case CHECK_HOLDS: return 0;
    case CHECK_UNDECIDED: return 1;
    case CHECK_FAILS: return 2;
    default: return -1;
    }
}

/* Returns in which direction verdicts run along the stops, if in one. */
static enum turn_kind find_kind(const struct search *s)
{
    bool rises = false, falls = false;

    for (uint32_t i = 0; i < s->count; i++)
        if (verdict_state(&s->stop[i]) < 0)
            return TURN_UNKNOWN;
    for (uint32_t i = 1; i < s->count; i++) {
        rises = rises || verdict_state(&s->stop[i]) > verdict_state(&s->stop[i - 1]);
        falls = falls || verdict_state(&s->stop[i]) < verdict_state(&s->stop[i - 1]);
    }
    return rises && falls ? TURN_MIXED : rises || falls ? TURN_ONCE : TURN_NOT;
}

/* Returns the index of the first stop behind the border between the states up to
 * `state` and those above it; 0: there is no such border. */
static uint32_t find_border(const struct search *s, int state)
{
    for (uint32_t i = 1; i < s->count; i++)
        if ((verdict_state(&s->stop[i - 1]) <= state) != (verdict_state(&s->stop[i]) <= state))
            return i;
    return 0;
}

/* Adds the middle of a border that is not narrow yet; false: it is. */
static bool halve(struct search *s, uint32_t border)
{
    double low, high;

    if (border == 0)
        return false;
    low = s->stop[border - 1].place;
    high = s->stop[border].place;
    return high - low > s->axis->within && add_stop(s, (low + high) / 2) != NULL;
}

/* Each turn of the loop halves both borders and judges both new stops together, on
 * all threads.  The upper border is halved first: a stop that is added there
 * leaves the index of the lower one as it was. */
static bool bisect(struct search *s, struct err *err)
{
    for (;;) {
        uint32_t ceases = find_border(s, 0), fails = find_border(s, 1);
        uint32_t low = ceases < fails ? ceases : fails;
        uint32_t high = ceases < fails ? fails : ceases;
        bool more;

        if (find_kind(s) != TURN_ONCE)
            return true;
        more = halve(s, high);          /* what lies below keeps its index */
        if (low != high)
            more = halve(s, low) || more;
        if (!more)
            return true;
        if (!judge_stops(s, err))
            return false;
    }
}

/* All verdicts with their values, for TURN_MIXED. */
static const char *list_verdicts(const struct search *s)
{
    const char *text = "";

    for (uint32_t i = 0; i < s->count; i++)
        text = text_format(s->arena, "%s%s%s at %s", text, i == 0 ? "" : ", ",
                           check_verdict_name(s->stop[i].answer.item.verdict),
                           s->stop[i].text);
    return text;
}

/* Why the first stop that could not be judged could not. */
static const char *why_unknown(const struct search *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (verdict_state(&s->stop[i]) < 0)
            return text_format(s->arena, "at %s: %s", s->stop[i].text,
                               s->stop[i].answer.why != NULL
                                   ? s->stop[i].answer.why
                                   : s->stop[i].answer.item.reason);
    return NULL;
}

/* Sets the values on both sides of a border, of which the better one is nearer to
 * where the claim holds. */
static void set_sides(const struct search *s, uint32_t border, bool falls,
                      const char **better, const char **worse)
{
    if (border == 0)
        return;
    *better = s->stop[falls ? border - 1 : border].text;
    *worse = s->stop[falls ? border : border - 1].text;
}

/* Puts the stops into the answer. */
static struct turn make_turn(const struct search *s)
{
    const struct stop *first = &s->stop[0], *last = &s->stop[s->count - 1];
    struct turn turn = {
        .kind = find_kind(s), .values = s->count,
        .from = first->answer.item.verdict, .to = last->answer.item.verdict,
        .value_from = first->answer.value, .value_to = last->answer.value
    };

    for (uint32_t i = 0; i < s->count; i++)
        turn.trials += s->stop[i].answer.trials;
    if (turn.kind == TURN_MIXED)
        turn.why = list_verdicts(s);
    if (turn.kind == TURN_UNKNOWN)
        turn.why = why_unknown(s);
    if (turn.kind != TURN_ONCE)
        return turn;
    turn.falls = verdict_state(first) < verdict_state(last);
    set_sides(s, find_border(s, 0), turn.falls, &turn.holds_at, &turn.ceases_at);
    set_sides(s, find_border(s, 1), turn.falls, &turn.not_yet_at, &turn.fails_at);
    return turn;
}

bool turn_find(struct arena *arena, struct probe *probe, const struct judge_row *row,
               const struct turn_axis *axis, struct turn *turn, struct err *err)
{
    struct search *s = arena_alloc(arena, 1, sizeof *s);

    *s = (struct search){ .arena = arena, .probe = probe, .row = row, .axis = axis };
    (void)add_stop(s, 0);
    (void)add_stop(s, 1);
    for (uint32_t i = 1; i <= axis->points; i++)
        (void)add_stop(s, (double)i / (axis->points + 1));
    if (!judge_stops(s, err) || !bisect(s, err))
        return false;
    *turn = make_turn(s);
    return true;
}
