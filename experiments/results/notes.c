/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.c - trials without a job, seeds that are copies, policies that gave equal
 * results.
 *
 * A note is a sentence about the figures above it that a reader would miss: nobody
 * can see from a mean that its seeds are copies.  They are printed at the end of a
 * run and stand in the report, in the order of notes_of().
 */
#include "experiments/results/notes.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/growth.h"
#include "experiments/results/stop_file.h"
#include "experiments/results/survivors.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"

/* Adds a line; its text must live as long as the notes. */
static void add(struct arena *arena, struct notes *notes, const char *line)
{
    notes->line = arena_grow(arena, notes->line, notes->count,
                             notes->count + 1, sizeof *notes->line);
    notes->line[notes->count++] = line;
}

/* Adds a name to a list: "a", then "a, b", and " and c" for the last. */
static const char *join(struct arena *arena, const char *list,
                        const char *name, bool last)
{
    if (list == NULL)
        return name;
    return text_format(arena, "%s%s%s", list, last ? " and " : ", ", name);
}

/* The names of the policies in a set, as "a, b and c". */
static const char *names_of(struct arena *arena, const struct grid *grid,
                            const bool *in)
{
    const char *list = NULL;
    uint32_t left = 0;

    for (uint32_t p = 0; p < grid->policy_count; p++)
        left += in[p];
    for (uint32_t p = 0; p < grid->policy_count; p++)
        if (in[p])
            list = join(arena, list, grid->policy[p], --left == 0);
    return list;
}

/* ---- seeds ---- */

/* Returns at how many points a policy draws nothing, so that one trial stands for
 * all seeds. */
static uint32_t fixed_points(const struct grid *grid, uint32_t policy)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        count += grid_fixed(grid, t, policy);
    return count;
}

/* Says which policies are deterministic, everywhere or at some points. */
static void note_fixed(struct arena *arena, const struct grid *grid,
                       struct notes *notes)
{
    bool *in = arena_alloc(arena, grid->policy_count + 1, sizeof *in);
    uint32_t count = 0;

    for (uint32_t p = 0; p < grid->policy_count; p++) {
        uint32_t points = fixed_points(grid, p);

        in[p] = points == grid->point_count;
        count += in[p];
        if (points > 0 && !in[p])
            add(arena, notes, text_format(
                arena, "%s is deterministic at %u of %u points: seeds add "
                "nothing there, and there is no interval", grid->policy[p],
                points, grid->point_count));
    }
    if (count > 0)
        add(arena, notes, text_format(
            arena, "%s %s deterministic: nothing is drawn, so seeds add "
            "nothing; one trial %s, and there is no interval",
            names_of(arena, grid, in), count == 1 ? "is" : "are",
            count == 1 ? "stands for all" : "each stands for all"));
}

/* Says whose seeds gave equal results although something could have been drawn. */
static void note_alike(struct arena *arena, const struct grid *grid,
                       struct notes *notes)
{
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        uint32_t points = 0;

        for (uint32_t t = 0; t < grid->point_count; t++)
            points += grid_alike(grid, t, p) && !grid_fixed(grid, t, p);
        if (points > 0)
            add(arena, notes, text_format(
                arena, "%s gave equal results in all %u seeds%s: they count "
                "as one, and there is no interval", grid->policy[p],
                grid->seed_count, grid->point_count == 1 ? "" : text_format(
                    arena, " at %u of %u points", points,
                    grid->point_count)));
    }
}

/* Says which policies lack trials that others have.  Trials that failed stand in
 * failures.csv. */
static void note_short(struct arena *arena, const struct grid *grid,
                       struct notes *notes)
{
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        uint32_t points = 0;
        struct survivors of = { 0, 0 };

        for (uint32_t t = 0; t < grid->point_count; t++) {
            struct survivors s = survivors_seeds(grid, t, p, METRIC_JOBS);

            if (survivors_lost(s) && points++ == 0)
                of = s;
        }
        if (points > 0)
            add(arena, notes, text_format(
                arena, "%s has no result in %.0f of %.0f seeds%s: its means are over fewer "
                "jobs than those of other policies, and none is called the best", grid->policy[p],
                of.all - of.done, of.all, points == 1 && grid->point_count == 1 ? ""
                : text_format(arena, ", or in others, at %u of %u points", points,
                              grid->point_count)));
    }
}

/* ---- no steady state ---- */

/* Says whose queue grew, and whose run was still filling up. */
static void note_growth(struct arena *arena, const struct grid *grid,
                        struct notes *notes)
{
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        const char *grows = growth_text(arena, grid, p);
        const char *fills = growth_warmup_text(arena, grid, p);

        if (grows != NULL)
            add(arena, notes, grows);
        if (fills != NULL)
            add(arena, notes, fills);
    }
}

/* ---- nothing that counts ---- */

/* Returns in how many trials neither a job nor a request counts.  *trials: how
 * many trials there are. */
static uint32_t count_empty(const struct grid *grid, uint32_t *trials)
{
    uint32_t empty = 0;

    *trials = 0;
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            for (uint32_t s = 0; s < grid->seed_count; s++) {
                if (!grid_present(grid, t, p, s))
                    continue;
                (*trials)++;
                empty += grid_value(grid, t, p, s, METRIC_JOBS) == 0 &&
                         !(grid_value(grid, t, p, s, METRIC_REQUESTS) > 0);
            }
    return empty;
}

/* Says in how many trials nothing counts.  Returns true if it is so in all of
 * them: then other notes would say nothing. */
static bool note_empty(struct arena *arena, const struct grid *grid,
                       struct notes *notes)
{
    uint32_t trials, empty = count_empty(grid, &trials);

    if (empty > 0)
        add(arena, notes, text_format(
            arena, "in %u of %u trials no job counts: none was submitted after "
            "the warm-up and before the end", empty, trials));
    return empty > 0 && empty == trials;
}

/* ---- metrics without a value ---- */

/* Says which own metrics have no value in some trials, and why. */
static void note_own(struct arena *arena, const struct grid *grid,
                     struct notes *notes)
{
    for (unsigned m = METRIC_COUNT; m < metric_count(grid->metrics); m++) {
        const struct own_told *told = &grid->own_told[m - METRIC_COUNT];
        const char *name = metric_info(grid->metrics, (enum metric)m)->name;

        if (told->empty > 0)
            add(arena, notes, text_format(
                arena, "%s has no value in %u of %u trials: %s", name, told->empty,
                told->trials, told->why));
        else if (*told->why != '\0')
            add(arena, notes, text_format(arena, "%s: %s", name, told->why));
    }
}

/* ---- policies ---- */

/* Is the metric a result?  How many decisions a policy made is none: two
 * policies may get the same results by more or fewer of them. */
static bool is_result(enum metric metric)
{
    return metric != METRIC_DECISIONS && metric != METRIC_REFUSED;
}

/* Did two policies give the same results in a trial?  What only tells how they were
 * run does not count. */
static bool same_trial(const struct grid *grid, uint32_t point, uint32_t seed,
                       uint32_t a, uint32_t b)
{
    if (grid_present(grid, point, a, seed) !=
        grid_present(grid, point, b, seed))
        return false;
    for (unsigned m = 0; m < metric_count(grid->metrics); m++) {
        double x = grid_value(grid, point, a, seed, (enum metric)m);
        double y = grid_value(grid, point, b, seed, (enum metric)m);

        if (is_result((enum metric)m) && x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}

/* Did two policies give the same results in all trials? */
static bool same_policy(const struct grid *grid, uint32_t a, uint32_t b)
{
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t s = 0; s < grid->seed_count; s++)
            if (!same_trial(grid, t, s, a, b))
                return false;
    return true;
}

/* Returns how many trials a policy has. */
static uint32_t trials_of(const struct grid *grid, uint32_t policy)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        count += grid_run_count(grid, t, policy);
    return count;
}

/* Says which policies gave equal results in all trials.  Each policy is named
 * in one group only. */
static void note_same(struct arena *arena, const struct grid *grid,
                      struct notes *notes)
{
    uint32_t n = grid->policy_count;
    bool *told = arena_alloc(arena, n + 1, sizeof *told);

    for (uint32_t a = 0; a < n; a++) {
        uint32_t trials = trials_of(grid, a);
        bool *in = arena_alloc(arena, n + 1, sizeof *in), any = false;

        for (uint32_t b = a + 1; b < n && trials > 0 && !told[a]; b++)
            if (!told[b] && same_policy(grid, a, b))
                in[b] = told[b] = any = true;
        if (!any)
            continue;
        in[a] = true;
        add(arena, notes, text_format(
            arena, "%s gave equal results in %s: what sets them apart "
            "never acted in this experiment", names_of(arena, grid, in),
            trials == 1 ? "their one trial"
                        : text_format(arena, "all %u trials", trials)));
    }
}

/* Notes on what is missing come first, then those on what the figures mean. */
struct notes notes_of(struct arena *arena, const struct grid *grid)
{
    struct notes notes = { NULL, 0 };

    if (grid->stop.why != NULL)
        add(arena, &notes, text_format(arena, "seeds: %s", grid->stop.why));
    if (note_empty(arena, grid, &notes))
        return notes;
    note_short(arena, grid, &notes);
    note_own(arena, grid, &notes);
    note_growth(arena, grid, &notes);
    note_fixed(arena, grid, &notes);
    note_alike(arena, grid, &notes);
    note_same(arena, grid, &notes);
    return notes;
}

bool notes_limits(const struct grid *grid, uint32_t policy, const char *limits,
                  char *out, uint32_t out_bytes)
{
    uint32_t trials = 0, cut = 0;
    double most = 0;

    for (uint32_t t = 0; limits != NULL && t < grid->point_count; t++)
        for (uint32_t s = 0; s < grid->seed_count; s++) {
            if (!grid_present(grid, t, policy, s))
                continue;
            double value = grid_value(grid, t, policy, s, METRIC_LIMITED);
            trials++;
            cut += value > 0;
            most = value > most ? value : most;
        }
    if (cut == 0)
        return false;
    snprintf(out, out_bytes, "%s: its limit (%s) left something out in %u of %u "
             "trials, in up to %.0f decisions of one; raise it to see what that "
             "changes.", grid->policy[policy], limits, cut, trials, most);
    return true;
}
