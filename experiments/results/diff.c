/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.c - two decision logs walked in step.
 *
 * Trials stand one after another in the log, in the order of the experiment.
 * One that only one log has is named and passed over, if the other log goes
 * on with a trial that comes later in it; so both logs are read once.  Of two
 * trials that stand in another order in the two, one is not compared, and named.
 */
#include "experiments/results/diff.h"

#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"

/* Columns of decisions.csv, in its order. */
enum { POINT, POLICY, SEED, TIME, SEQ, ACTION, JOB, ROLE, PLACEMENT, VERDICT,
       PENDING, FREE, FIELDS };
#define KEYS 3                  /* point, policy, seed */

/* A log that is read, at one of its rows. */
struct side {
    struct csv *in;             /* the open log */
    size_t column[FIELDS];
    enum csv_step step;         /* CSV_ROW: a row is there; else the log has ended */
    const char *name;           /* "left", "right" */
    const char **trial;         /* keys of all trials of the log, in order */
    unsigned count, at;         /* trials of the log; the one of the row, by number */
};

/* Both logs, and what was found so far. */
struct walk {
    struct arena *arena;
    FILE *file;
    struct side side[2];
    unsigned same, parted, alone, moved; /* trials: decided alike; not alike; of
                                            one log; in another order */
};

/* Returns the trial of a row in words, which name it in the output and tell
 * trials apart. */
static const char *key_of(struct arena *arena, const struct side *s)
{
    return text_format(arena, "%s, %s, seed %s",
                       csv_text(s->in, s->column[POINT]),
                       csv_text(s->in, s->column[POLICY]),
                       csv_text(s->in, s->column[SEED]));
}

/* Is the row of the trial with that key? */
static bool key_is(const struct side *s, const char *const *key)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(csv_text(s->in, s->column[i]), key[i]) != 0)
            return false;
    return true;
}

/* Reads the next row of one side; false: err says what is wrong. */
static bool next(struct side *s, struct err *err)
{
    s->step = csv_next(s->in, err);
    return s->step != CSV_ERROR;
}

/* Opens the log of a folder at its first row.  False, with err: there is no
 * log, or it lacks a column. */
static bool open_side(struct arena *arena, const char *dir, struct side *s,
                      struct err *err)
{
    const char *path = path_join(arena, dir, csv_decisions.file);
    struct err_pos pos = { path, 0, 0 };

    if (!path_is_file(path)) {
        err_set(err, ERR_IO, pos, "the file is not there");
        return err_hint(err, "Run with `output: {tables: [summary, "
                        "decisions]}`.");
    }
    s->in = csv_open(arena, path, CSV_TABLE, err);
    if (s->in == NULL)
        return false;
    for (int f = 0; f < FIELDS; f++)
        if (!csv_need_column(s->in, csv_decisions.columns[f].name,
                           &s->column[f], err))
            return false;
    return next(s, err);
}

/* Lists the trials of a log, so that it is known what the other log lacks.  The
 * log is read to its end and opened anew. */
static bool list_trials(struct arena *arena, const char *dir, struct side *s,
                        struct err *err)
{
    unsigned room = 0;
    const char *key[KEYS] = { NULL, NULL, NULL };

    if (!open_side(arena, dir, s, err))
        return false;
    while (s->step == CSV_ROW) {
        if (key[0] == NULL || !key_is(s, key)) {
            for (int i = 0; i < KEYS; i++)
                key[i] = arena_text(arena,
                                    csv_text(s->in, s->column[i]));
            if (s->count == room) {
                s->trial = arena_grow(arena, s->trial, room, room * 2 + 16,
                                      sizeof *s->trial);
                room = room * 2 + 16;
            }
            s->trial[s->count++] = key_of(arena, s);
        }
        if (!next(s, err))
            return false;
    }
    csv_close(s->in);
    s->in = NULL;
    return open_side(arena, dir, s, err);
}

/* Does the side have that trial, from number `from` on? */
static bool has_trial(const struct side *s, const char *key, unsigned from)
{
    for (unsigned i = from; i < s->count; i++)
        if (strcmp(s->trial[i], key) == 0)
            return true;
    return false;
}

/* Passes over all rows of the trial at which a side stands. */
static bool skip_trial(struct side *s, struct err *err)
{
    struct arena *arena = arena_new(4096);
    const char *key[KEYS];
    bool ok = true;

    for (int i = 0; i < KEYS; i++)
        key[i] = arena_text(arena, csv_text(s->in, s->column[i]));
    while (ok && s->step == CSV_ROW && key_is(s, key))
        ok = next(s, err);
    s->at++;
    arena_free(arena);
    return ok;
}

/* Did both decide the same at the same time?  The keys of the trial are not
 * compared. */
static bool rows_agree(const struct side *a, const struct side *b)
{
    for (int f = TIME; f < FIELDS; f++)
        if (strcmp(csv_text(a->in, a->column[f]),
                   csv_text(b->in, b->column[f])) != 0)
            return false;
    return true;
}

/* Moves to the first row of a policy at a point, and of a seed if there is one. */
static bool seek_trial(struct side *s, const char *point, const char *policy,
                       const char *seed, struct err *err)
{
    while (s->step == CSV_ROW &&
           (strcmp(csv_text(s->in, s->column[POINT]), point) != 0 ||
            strcmp(csv_text(s->in, s->column[POLICY]), policy) != 0 ||
            (seed != NULL && strcmp(csv_text(s->in, s->column[SEED]), seed) != 0)))
        if (!next(s, err))
            return false;
    return true;
}

/* Returns the decision of a row in words; `there` false: the log of this trial has
 * ended. */
static struct diff_choice read_choice(struct arena *arena, const struct side *s, bool there)
{
    if (!there)
        return (struct diff_choice){ "", "no further decision" };
    return (struct diff_choice){
        arena_text(arena, csv_text(s->in, s->column[TIME])),
        text_format(arena, "%s job %s role %s on [%s]: %s",
                    csv_text(s->in, s->column[ACTION]), csv_text(s->in, s->column[JOB]),
                    csv_text(s->in, s->column[ROLE]), csv_text(s->in, s->column[PLACEMENT]),
                    csv_text(s->in, s->column[VERDICT]))
    };
}

/* Walks the trials of two policies in step until their decisions differ.  Both
 * sides must stand at the first rows of their trials.  part->seed stays NULL if
 * they decide alike. */
static bool walk_policies(struct arena *arena, struct side *side, const char *const policy[2],
                          const char *point, struct diff_part *part, struct err *err)
{
    const char *seed = arena_text(arena, csv_text(side[0].in, side[0].column[SEED]));
    bool here[2] = { true, true };

    while (here[0] && here[1] && rows_agree(&side[0], &side[1]))
        for (int i = 0; i < 2; i++) {
            const char *const key[KEYS] = { point, policy[i], seed };

            if (!next(&side[i], err))
                return false;
            here[i] = side[i].step == CSV_ROW && key_is(&side[i], key);
        }
    if (here[0] || here[1])
        *part = (struct diff_part){ seed, { read_choice(arena, &side[0], here[0]),
                                            read_choice(arena, &side[1], here[1]) } };
    return true;
}

bool diff_find_part(struct arena *arena, const char *dir, const char *point,
                    const char *const policy[2], struct diff_part *part, struct err *err)
{
    struct side side[2] = { { 0 } };
    bool ok = open_side(arena, dir, &side[0], err) && open_side(arena, dir, &side[1], err) &&
              seek_trial(&side[0], point, policy[0], NULL, err);

    *part = (struct diff_part){ 0 };
    if (ok && side[0].step == CSV_ROW) {
        ok = seek_trial(&side[1], point, policy[1],
                        csv_text(side[0].in, side[0].column[SEED]), err);
        if (ok && side[1].step == CSV_ROW)
            ok = walk_policies(arena, side, policy, point, part, err);
    }
    csv_close(side[0].in);
    csv_close(side[1].in);
    return ok;
}

/* Prints the decision at which a side stands. */
static void print_choice(FILE *file, const struct side *s, bool there)
{
    if (!there) {
        fprintf(file, "  %-5s  no further decision\n", s->name);
        return;
    }
    fprintf(file, "  %-5s  t=%s s  #%s  %s job %s role %s on [%s]: %s; "
            "%s pending, %s GPUs free\n", s->name,
            csv_text(s->in, s->column[TIME]),
            csv_text(s->in, s->column[SEQ]),
            csv_text(s->in, s->column[ACTION]),
            csv_text(s->in, s->column[JOB]),
            csv_text(s->in, s->column[ROLE]),
            csv_text(s->in, s->column[PLACEMENT]),
            csv_text(s->in, s->column[VERDICT]),
            csv_text(s->in, s->column[PENDING]),
            csv_text(s->in, s->column[FREE]));
}

/* Walks one trial that both logs have.  Both sides must stand at its first row.
 * What differs first is printed; then the rest of the trial is passed over. */
static bool walk_trial(struct walk *w, struct err *err)
{
    struct side *a = &w->side[0], *b = &w->side[1];
    struct arena *arena = arena_new(4096);
    const char *key[KEYS];
    bool here[2] = { true, true }, ok = true;

    for (int i = 0; i < KEYS; i++)
        key[i] = arena_text(arena, csv_text(a->in, a->column[i]));
    while (ok && here[0] && here[1] && rows_agree(a, b)) {
        ok = next(a, err) && next(b, err);
        here[0] = ok && a->step == CSV_ROW && key_is(a, key);
        here[1] = ok && b->step == CSV_ROW && key_is(b, key);
    }
    if (ok && !here[0] && !here[1]) {
        w->same++;
    } else if (ok) {
        w->parted++;
        fprintf(w->file, "%s: parts here\n", a->trial[a->at]);
        print_choice(w->file, a, here[0]);
        print_choice(w->file, b, here[1]);
    }
    for (int i = 0; i < 2; i++) {
        struct side *s = &w->side[i];

        while (ok && here[i]) {
            ok = next(s, err);
            here[i] = ok && s->step == CSV_ROW && key_is(s, key);
        }
        s->at++;
    }
    arena_free(arena);
    return ok;
}

/* Names a trial that only one side has at this place, and passes over it.  If
 * the other side has it elsewhere, it is named once, where it is met first. */
static bool pass_over(struct walk *w, struct side *s, struct err *err)
{
    const struct side *other = &w->side[s == &w->side[0]];
    const char *key = s->trial[s->at];

    if (has_trial(other, key, other->at)) {
        fprintf(w->file, "%s: in another order in the two, not compared\n", key);
        w->moved++;
    } else if (!has_trial(other, key, 0)) {
        fprintf(w->file, "%s: only in the %s\n", key, s->name);
        w->alone++;
    }
    return skip_trial(s, err);
}

/* Walks both logs to their ends, trial by trial, and prints how many agree.  A
 * trial that the other log does not have from here on is passed over; so both
 * logs are read once. */
static bool walk_all(struct walk *w, struct err *err)
{
    struct side *a = &w->side[0], *b = &w->side[1];

    while (a->step == CSV_ROW || b->step == CSV_ROW) {
        bool ok;

        if (a->step == CSV_ROW && b->step == CSV_ROW &&
            strcmp(a->trial[a->at], b->trial[b->at]) == 0)
            ok = walk_trial(w, err);
        else if (a->step == CSV_ROW &&
                 (b->step != CSV_ROW || !has_trial(b, a->trial[a->at], b->at)))
            ok = pass_over(w, a, err);
        else
            ok = pass_over(w, b, err);
        if (!ok)
            return false;
    }
    fprintf(w->file, "decisions: %u trials the same, %u part", w->same,
            w->parted);
    if (w->alone > 0)
        fprintf(w->file, ", %u only in one", w->alone);
    if (w->moved > 0)
        fprintf(w->file, ", %u not compared", w->moved);
    fputc('\n', w->file);
    return true;
}

/* Says if the log has fewer trials than the folder: decisions are written of
 * some seeds alone, and say nothing of the others. */
static void tell_left_out(struct arena *arena, FILE *file, const char *dir,
                          const struct side *s)
{
    struct err ignored = { 0 };
    const struct grid *grid = grid_from_folder(arena, dir, &ignored);
    unsigned trials = 0;

    for (uint32_t t = 0; grid != NULL && t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            trials += grid_run_count(grid, t, p);
    if (trials > s->count)
        fprintf(file, "the %s has decisions of %u of its %u trials: of "
                "others nothing is said here (`output: {detail_seeds: all}`"
                ")\n", s->name, s->count, trials);
}

bool diff_print(FILE *file, const char *left, const char *right,
                struct err *err)
{
    struct arena *arena = arena_new(1 << 16);
    struct walk w = { .arena = arena, .file = file,
                      .side = { { .name = "left" }, { .name = "right" } } };
    struct err why = { 0 };
    bool ok = list_trials(arena, left, &w.side[0], &why) &&
              list_trials(arena, right, &w.side[1], &why) &&
              walk_all(&w, &why);

    if (ok) {
        tell_left_out(arena, file, left, &w.side[0]);
        tell_left_out(arena, file, right, &w.side[1]);
    }
    csv_close(w.side[0].in);
    csv_close(w.side[1].in);
    if (!ok) {      /* names of files went with the arena */
        char line[16] = "";

        if (why.pos.line > 0)
            snprintf(line, sizeof line, ":%u", why.pos.line);
        err_set(err, why.kind, (struct err_pos){ NULL, 0, 0 },
                "%.100s%s: %.110s", why.pos.file == NULL ? "" : why.pos.file,
                line, why.text);
        if (why.hint[0] != '\0')
            err_hint(err, "%s", why.hint);
    }
    arena_free(arena);
    return ok;
}
