/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.h - a run as jobs of Slurm: files for sbatch, and their submission.
 *
 * With the MPI module one job runs all, by ranks that srun starts.  Without it, or with an
 * array among the options, the jobs of an array run a shard each, and a job that waits for
 * them puts the shards together.
 */
#ifndef EXPERIMENTS_SLURM_BATCH_H
#define EXPERIMENTS_SLURM_BATCH_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;

struct slurm_run {
    const char *options;        /* of sbatch, as the user gave them */
    const char *name;           /* of the experiment */
    const char *dir;            /* of the results, as the program is told */
    const char *program;        /* its path */
    const char *words;          /* of `run`, quoted for a shell, without -o, -j, --resume */
    const char *threads;        /* the value of -j; NULL: every processor of the job */
    bool ranks;                 /* the MPI module is there */
};

/* The files that were written, in the arena. */
struct slurm_batch {
    const char *run;            /* path of the script for sbatch */
    const char *merge;          /* NULL: one job runs all */
    uint32_t shards;            /* 0: likewise */
};

/* Writes the files beside the results, DIR.sbatch and DIR.merge.sbatch.  False: err says
 * why not. */
bool slurm_write(struct arena *arena, const struct slurm_run *run, struct slurm_batch *batch,
                 struct err *err);
/* Submits them; *job is the job's number, *merge_job that of the one that merges (NULL:
 * there is none), and *said what sbatch had to say beside.  False: err has what sbatch says
 * where it refuses. */
bool slurm_submit(struct arena *arena, const struct slurm_batch *batch, const char **job,
                  const char **merge_job, const char **said, struct err *err);
/* Returns a word in quotation marks for a shell. */
const char *slurm_quote(struct arena *arena, const char *word);

#endif
