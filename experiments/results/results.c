/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results.c - the folder of results: what is ours in it, the trials that were
 * finished before, and what is left when all is done.
 *
 * Files of this program are known by their name and their first line: tables begin
 * with their header, .trials holds a mark.  Everything else is left alone, and a
 * link is never followed.  A run that begins (results_begin) takes the lock, then
 * looks whether all that it would replace is ours, and only then removes the tables
 * and charts of an earlier run.
 */
#include "experiments/results/results.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/figures.h"
#include "experiments/results/csv_out.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/experiment.h"
#include "experiments/trials/store.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

/* All files of a run but the tables of searches.  Names that are not here are
 * never touched. */
static const char *const result_files[] = {
    "summary.csv", "compare.csv", "jobs.csv", "phases.csv", "timeline.csv",
    "decisions.csv", "arrived.csv", "failures.csv", REPRO_FILE, "checks.csv", "seeds.csv",
    "metrics.csv", "services.csv", "tenants.csv", "options.csv", "audit.json",
    "provenance.json", "trace.json", "report.html", NULL
};

/* Tables that searches write into the folder.  They are removed when a run
 * begins, as they say nothing of the new results. */
static const struct csv_kind *const search_table[] = {
    &csv_border, &csv_sensitivity
};
#define SEARCH_TABLES (sizeof search_table / sizeof search_table[0])

#define TRIALS_FOLDER ".trials"
static const char provenance[] = "provenance.json";

/* In .trials: says whose folder that is. */
static const char mark[] = "clustersim-trials.txt";
static const char mark_text[] =
    "Finished trials of clustersim, which --resume goes on from.\n"
    "They can be removed, and copied beside those of other shards.\n";

/* Reports a folder that holds what is not from a run; returns false. */
static bool not_ours(struct err_pos pos, const char *what, struct err *err)
{
    err_set(err, ERR_IO, pos, "%s", what);
    return err_hint(err, "Choose another folder with -o, or move %s away.",
                    pos.file);
}

/* May the file be replaced?  `ours` tells if the folder is from a run.  Inputs
 * of this experiment, and files that only have the name of a table, are not
 * ours to delete. */
static bool may_replace(struct arena *arena, const struct experiment *experiment,
                        const struct folder *dir, const char *name, bool ours,
                        struct err *err)
{
    const char *path = folder_join(arena, dir, name);
    struct err_pos pos = { path, 0, 0 };

    if (!folder_holds(dir, name))
        return true;
    for (size_t i = 0; i < experiment->input_count; i++)
        if (path_same(experiment->input[i].path, path)) {
            err_set(err, ERR_IO, pos, "would be overwritten by the results, "
                    "and is an input of the experiment");
            return err_hint(err, "Choose another folder with -o.");
        }
    if (ours)
        return true;
    err_set(err, ERR_IO, pos, "would be overwritten by the results, and is "
            "not from a run: there is no provenance.json beside it");
    return err_hint(err, "Choose another folder with -o, or move the file.");
}

/* Removes tables of earlier searches (border.csv, sensitivity.csv): they say nothing of the
 * results to come. */
static bool clear_searches(struct arena *arena, const struct folder *dir,
                           struct err *err)
{
    for (size_t i = 0; i < SEARCH_TABLES; i++)
        if (csv_out_is_there(dir, search_table[i]) &&
            !folder_remove(arena, dir, search_table[i]->file, err))
            return false;
    return true;
}

bool results_may_write(struct arena *arena, const struct folder *dir,
                       const struct csv_kind *kind, struct err *err)
{
    struct err_pos pos = { folder_join(arena, dir, kind->file), 0, 0 };

    if (!folder_holds(dir, kind->file) || csv_out_is_there(dir, kind))
        return true;
    err_set(err, ERR_IO, pos, "would be overwritten, and is not a table of this "
            "program: its columns differ");
    return err_hint(err, "Choose another folder with -o, or move the file.");
}

/* Removes charts of an earlier run from one folder.  Other files beside them
 * stay, and so does a folder that is not empty then. */
static bool clear_charts(struct arena *arena, const struct experiment *experiment,
                         const struct folder *dir, const char *charts, bool ours,
                         struct err *err)
{
    struct folder *plots;
    const char *name;
    bool ok = true;

    if (!folder_holds(dir, charts))
        return true;
    plots = folder_within(arena, dir, charts, err);
    if (plots == NULL)
        return false;
    for (unsigned i = 0; ok && (name = figure_file(arena, i)) != NULL; i++)
        ok = may_replace(arena, experiment, plots, name, ours, err);
    for (unsigned i = 0; ok && (name = figure_file(arena, i)) != NULL; i++)
        ok = folder_remove(arena, plots, name, err);
    folder_close(plots);
    folder_drop(dir, charts);
    return ok;
}

/* Removes the charts, and those for print, which lie in folders among them. */
static bool clear_plots(struct arena *arena, const struct experiment *experiment,
                        const struct folder *dir, bool ours, struct err *err)
{
    struct folder *plots;
    bool ok = true;

    if (!folder_holds(dir, CHART_FOLDER))
        return true;
    plots = folder_within(arena, dir, CHART_FOLDER, err);
    if (plots == NULL)
        return false;
    for (unsigned i = 0; ok && paper_at(i) != NULL; i++)
        ok = clear_charts(arena, experiment, plots, paper_at(i)->name, ours, err);
    folder_close(plots);
    return ok && clear_charts(arena, experiment, dir, CHART_FOLDER, ours, err);
}

/* Opens .trials, or makes it.  A folder of that name is ours if it is empty or
 * holds the mark.  Another process may write the mark just now, so the mark is
 * looked for once more before the folder is refused. */
static bool open_trials(struct arena *arena, struct results *results,
                        struct err *err)
{
    const struct folder *dir = results->dir;
    struct err_pos pos = { folder_join(arena, dir, TRIALS_FOLDER), 0, 0 };
    struct out *out;

    results->trials = folder_within(arena, dir, TRIALS_FOLDER, err);
    if (results->trials == NULL)
        return false;
    results->store = store_open(results->trials);
    if (folder_holds_file(results->trials, mark))
        return true;
    /* Another process may be about to say it. */
    if (!folder_is_empty(results->trials, mark) &&
        !folder_holds_file(results->trials, mark))
        return not_ours(pos, "holds files, and is not from a run: there is no "
                        "clustersim-trials.txt in it", err);
    out = out_in(arena, results->trials, mark, err);
    if (out == NULL)
        return false;
    out_text(out, mark_text);
    return out_close(out, err);
}

bool results_tell_shard(struct arena *arena, const struct results *results,
                        const char *text, struct err *err)
{
    struct out *out = out_in(arena, results->trials, mark, err);

    if (out == NULL)
        return false;
    out_text(out, mark_text);
    out_text(out, text);
    return out_close(out, err);
}

/* Returns the folder of trials in `dir`; NULL, with err: there is none of this
 * program. */
static struct folder *trials_of(struct arena *arena, const char *dir, struct err *err)
{
    const char *path = path_join(arena, dir, TRIALS_FOLDER);
    struct err_pos pos = { dir, 0, 0 };

    if (path_is_file(path_join(arena, path, mark)))
        return folder_make(arena, path, err);
    err_set(err, ERR_IO, pos, "no shard: there is no .trials of this program in it");
    return NULL;
}

/* Behind the mark's own text stands what results_tell_shard() wrote. */
const char *results_shard(struct arena *arena, const char *dir)
{
    struct err ignored = { 0 };
    struct folder *folder = trials_of(arena, dir, &ignored);
    FILE *file = folder == NULL ? NULL : folder_read(folder, mark);
    size_t bytes = 0, room = 0, got = 0, head = sizeof mark_text - 1;
    char *text = NULL;

    do {
        ARENA_REACH(arena, text, room, bytes + 4096);
        bytes += got = file == NULL ? 0 : fread(text + bytes, 1, 4096, file);
    } while (got > 0);
    if (file != NULL)
        fclose(file);
    folder_close(folder);
    text[bytes] = '\0';
    return bytes <= head || memcmp(text, mark_text, head) != 0 ? NULL : text + head;
}

bool results_take_logs(struct arena *arena, const struct results *results,
                       const char *dir, struct err *err)
{
    struct folder *from = trials_of(arena, dir, err);
    bool ok = from != NULL && store_take(results->store, from, err);

    folder_close(from);
    return ok;
}

/* Makes the folder ready for a run.  .trials is made first: that it is there
 * says from then on that the files are of a run.  Nothing is removed before
 * everything was found to be removable. */
static bool begin(struct arena *arena, const struct experiment *experiment,
                  struct results *results, struct err *err)
{
    const struct folder *dir = results->dir;
    bool had_trials = folder_holds(dir, TRIALS_FOLDER);

    if (!open_trials(arena, results, err))
        return false;
    bool ours = folder_holds_file(dir, provenance) ||
                (had_trials && !folder_is_empty(results->trials, mark));

    for (size_t i = 0; result_files[i] != NULL; i++)
        if (!may_replace(arena, experiment, dir, result_files[i], ours, err))
            return false;
    if (!clear_plots(arena, experiment, dir, ours, err) ||
        !clear_searches(arena, dir, err))
        return false;
    for (size_t i = 0; result_files[i] != NULL; i++)
        if (!folder_remove(arena, dir, result_files[i], err))
            return false;
    return true;
}

/* Removes .trials if nothing but the mark is left in it.  False: it holds trials. */
static bool drop_trials(const struct results *results)
{
    struct err ignored = { 0 };
    struct arena *arena;

    if (!folder_is_empty(results->trials, mark))
        return false;
    arena = arena_new(4096);
    (void)folder_remove(arena, results->trials, mark, &ignored);
    arena_free(arena);
    folder_drop(results->dir, TRIALS_FOLDER);
    return true;
}

/* Undoes what was begun; returns false.  An empty .trials was not there before. */
static bool give_up(struct results *results)
{
    if (results->trials != NULL)        /* was there nothing before? */
        (void)drop_trials(results);
    results_close(results);
    return false;
}

bool results_begin(struct arena *arena, const struct experiment *experiment,
                   struct results *results, struct err *err)
{
    *results = (struct results){ .dir = folder_make(arena, experiment->dir, err) };
    return (results->dir != NULL && folder_lock(results->dir, err) &&
            begin(arena, experiment, results, err)) || give_up(results);
}

bool results_open(struct arena *arena, const char *dir, struct results *results,
                  struct err *err)
{
    *results = (struct results){ .dir = folder_make(arena, dir, err) };
    return (results->dir != NULL && folder_share(results->dir, err) &&
            open_trials(arena, results, err)) || give_up(results);
}

bool results_join(struct arena *arena, const char *dir, struct results *results,
                  struct err *err)
{
    *results = (struct results){ .dir = folder_make(arena, dir, err) };
    if (results->dir != NULL)
        results->trials = folder_within(arena, results->dir, TRIALS_FOLDER, err);
    if (results->trials == NULL) {
        folder_close(results->dir);
        return false;
    }
    results->store = store_open(results->trials);
    return true;
}

void results_close(struct results *results)
{
    store_close(results->store);
    folder_close(results->trials);
    folder_close(results->dir);
}

void results_recall(const struct results *results, const struct experiment *experiment,
                    struct runner_trial *trial)
{
    struct trial_result result;

    store_settle(results->store);
    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++) {
        if (trial[i].state == RUNNER_WAITING &&
            !experiment_is_copy(experiment, i) &&
            store_read(results->store, experiment_trial_hash(experiment, i),
                       trial[i].result != NULL ? trial[i].result : &result, NULL)) {
            trial[i].state = RUNNER_DONE;
            trial[i].known = true;
        }
    }
}

/* Orders hashes for the search in store_drop(). */
static int order_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);   /* equal ones are the same trial */
}

bool results_end(struct arena *arena, const struct results *results,
                 const struct experiment *experiment)
{
    uint32_t count = experiment_trial_count(experiment), more = experiment->searched_count;
    uint64_t *hash = arena_alloc(arena, (size_t)count + more, sizeof *hash);

    for (uint32_t i = 0; i < count; i++)
        hash[i] = experiment_trial_hash(experiment, i);
    for (uint32_t i = 0; i < more; i++)
        hash[count + i] = experiment->searched[i];
    return results_drop(results, hash, count + more);
}

bool results_alone(const struct results *results)
{
    struct err ignored = { 0 };

    return folder_lock(results->dir, &ignored);
}

bool results_drop(const struct results *results, uint64_t *hash, uint32_t count)
{
    if (count > 0)
        qsort(hash, count, sizeof *hash, order_hashes);
    store_drop(results->store, hash, count);
    folder_clear_parts(results->trials, mark);
    return drop_trials(results);
}
