/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.c - the text of batch files.
 *
 * Options of ours stand before the user's, which win where both say something.  All paths
 * are absolute, since a file may be submitted again from elsewhere.
 */
#include "experiments/slurm/batch.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "experiments/slurm/options.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

const char *slurm_quote(struct arena *arena, const char *word)
{
    char *quoted = arena_alloc(arena, 4 * strlen(word) + 3, 1), *to = quoted;

    *to++ = '\'';
    for (; *word != '\0'; word++)
        if (*word == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *word;
        }
    *to++ = '\'';
    return quoted;
}

/* The value of an option on a line of sbatch's, where % begins a number's place. */
static const char *quote_value(struct arena *arena, const char *value, bool file)
{
    char *quoted = arena_alloc(arena, 2 * strlen(value) + 3, 1), *to = quoted;

    *to++ = '"';
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\' || (file && *value == '%'))
            *to++ = *value == '%' ? '%' : '\\';
        *to++ = *value;
    }
    *to++ = '"';
    return quoted;
}

struct writing {
    struct arena *arena;
    const struct slurm_run *run;    /* the command that the jobs run */
    struct slurm_options options;
    const char *here;           /* the current folder */
    const char *dir;            /* of the results, absolute */
    uint32_t shards;            /* 0: one job runs all */
    struct out *out;
};

/* All that comes before what the job does. */
static void put_head(const struct writing *w, const char *job, const char *number,
                     const char *options, const char *more)
{
    const char *log = text_format(w->arena, "%s.slurm-", w->dir);

    out_printf(w->out, "#!/bin/sh\n#SBATCH --job-name=%s\n",
               quote_value(w->arena, job, false));
    log = quote_value(w->arena, log, true);
    out_printf(w->out, "#SBATCH --output=%.*s%s.out\"\n", (int)strlen(log) - 1, log, number);
    out_text(w->out, "#SBATCH --open-mode=append\n#SBATCH --requeue\n");
    if (*options != '\0')
        out_printf(w->out, "#SBATCH %s\n", options);
    out_printf(w->out, "%s# Written by `clustersim run --slurm`.  Submitted again, it goes on "
               "from what is\n# finished.\ncd %s || exit 1\n", more,
               slurm_quote(w->arena, w->here));
}

/* One job for all: ranks of MPI, which share the processors of the job. */
static void put_ranks(const struct writing *w)
{
    put_head(w, w->run->name, "%j", w->options.given, "");
    out_text(w->out, "# A rank for each task, and in each rank a thread for each of its "
             "processors.\ntasks=${SLURM_NTASKS:-$SLURM_JOB_NUM_NODES}\n"
             "threads=$((SLURM_CPUS_ON_NODE * SLURM_JOB_NUM_NODES / tasks))\n"
             "[ \"$threads\" -ge 1 ] || threads=1\n");
    out_text(w->out, "# How ranks find each other: `srun --mpi=list` names what else is here.\n"
             "export SLURM_MPI_TYPE=\"${SLURM_MPI_TYPE:-pmix}\"\n");
    out_printf(w->out, "exec srun --ntasks=\"$tasks\" --cpus-per-task=\"$threads\" "
               "--kill-on-bad-exit=1 \\\n    %s run %s \\\n    -o %s -j %s --resume\n",
               slurm_quote(w->arena, w->run->program), w->run->words,
               slurm_quote(w->arena, w->run->dir),
               w->run->threads != NULL ? w->run->threads : "\"$threads\"");
}

/* A job of an array: shard i of N, in a folder of its own.  Where the user gave no
 * array, the jobs take one task on one node each. */
static void put_shard(const struct writing *w)
{
    const char *array = w->options.array != NULL ? w->options.array
                      : text_format(w->arena, "1-%u", w->shards);
    const char *more = w->options.array != NULL
        ? "" : text_format(w->arena, "#SBATCH --nodes=1 --ntasks=1 --array=%s\n", array);

    put_head(w, w->run->name, "%A_%a",
             w->options.array != NULL ? w->options.given : w->options.rest, more);
    out_printf(w->out, "exec %s run %s \\\n    --shard \"$SLURM_ARRAY_TASK_ID/%u\" "
               "-o %s.shard-\"$SLURM_ARRAY_TASK_ID\"-of-%u \\\n    -j %s --resume\n",
               slurm_quote(w->arena, w->run->program), w->run->words, w->shards,
               slurm_quote(w->arena, w->run->dir), w->shards,
               w->run->threads != NULL ? w->run->threads : "\"${SLURM_CPUS_ON_NODE:-1}\"");
}

/* A shard whose job could not begin has no folder; `merge` says that it is missing. */
static void put_merge(const struct writing *w)
{
    put_head(w, text_format(w->arena, "%s-merge", w->run->name), "%j", w->options.rest,
             "#SBATCH --nodes=1 --ntasks=1\n");
    out_printf(w->out, "i=0\nwhile [ $((i += 1)) -le %u ]; do\n"
               "    dir=%s.shard-$i-of-%u\n"
               "    [ ! -d \"$dir/.trials\" ] || set -- \"$@\" \"$dir\"\ndone\n"
               "exec %s merge \"$@\" -o %s -q\n", w->shards,
               slurm_quote(w->arena, w->run->dir), w->shards,
               slurm_quote(w->arena, w->run->program), slurm_quote(w->arena, w->run->dir));
}

/* Writes one batch file, none of whose bytes is there if it fails. */
static bool write_file(struct writing *w, const char *path, void (*put)(const struct writing *),
                       struct err *err)
{
    w->out = out_open(w->arena, path, err);
    if (w->out == NULL)
        return false;
    put(w);
    return out_close(w->out, err);
}

/* Shards where there is no MPI: as many as the user wants tasks, or nodes. */
static bool choose_shards(struct writing *w, struct err *err)
{
    const struct slurm_options *options = &w->options;

    w->shards = options->array != NULL ? options->array_count
              : w->run->ranks ? 0 : options->tasks > 0 ? options->tasks : options->nodes;
    if (w->shards > 0 || w->run->ranks)
        return true;
    err_set(err, ERR_USAGE, nowhere, "there is no MPI here, so the jobs of an array run the "
            "experiment, and --slurm does not say how many");
    return err_hint(err, "Add --array=1-N, -n N or -N N to the options of --slurm.");
}

/* Makes the folder in which the results' own will stand; dir is absolute. */
static bool make_parent(struct arena *arena, const char *dir, struct err *err)
{
    const char *slash = strrchr(dir, '/');

    return slash == dir ||
           path_make_folder(text_format(arena, "%.*s", (int)(slash - dir), dir), err);
}

/* Returns the folder without slashes at its end: a name behind "out/" would be a hidden one
 * in it. */
static const char *trim_slashes(struct arena *arena, const char *dir)
{
    size_t bytes = strlen(dir);

    while (bytes > 1 && dir[bytes - 1] == '/')
        bytes--;
    return text_format(arena, "%.*s", (int)bytes, dir);
}

bool slurm_write(struct arena *arena, const struct slurm_run *given,
                 struct slurm_batch *batch, struct err *err)
{
    struct slurm_run trimmed = *given, *run = &trimmed;
    struct writing w = { .arena = arena, .run = run };
    char here[PATH_MAX];

    run->dir = trim_slashes(arena, given->dir);
    if (!slurm_options_read(arena, run->options, &w.options, err) || !choose_shards(&w, err))
        return false;
    if (getcwd(here, sizeof here) == NULL)
        return err_set(err, ERR_IO, nowhere, "the current folder cannot be found");
    w.here = here;
    w.dir = run->dir[0] == '/' ? run->dir : path_join(arena, here, run->dir);
    *batch = (struct slurm_batch){ .run = text_format(arena, "%s.sbatch", run->dir),
                                   .shards = w.shards };
    if (!make_parent(arena, w.dir, err))
        return false;
    if (w.shards == 0)
        return write_file(&w, batch->run, put_ranks, err);
    batch->merge = text_format(arena, "%s.merge.sbatch", run->dir);
    return write_file(&w, batch->run, put_shard, err) &&
           write_file(&w, batch->merge, put_merge, err);
}
