/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submit.c - asks sbatch. */
#include <string.h>

#include "experiments/process/program.h"
#include "experiments/slurm/batch.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

/* Several lines become one. */
static void join_lines(char *text)
{
    size_t bytes = strlen(text);

    while (bytes > 0 && (text[bytes - 1] == '\n' || text[bytes - 1] == ' '))
        text[--bytes] = '\0';
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
}

/* False, with err: sbatch is not there, or ended with that status and said that. */
static bool refused(const char *file, int status, const char *said, struct err *err)
{
    struct err_pos pos = { file, 0, 0 };

    if (status == PROGRAM_NOT_THERE) {
        err_set(err, ERR_USAGE, pos, "--slurm needs sbatch, and there is none on PATH");
        return err_hint(err, "The file is written: submit it where Slurm is, or add --dry-run.");
    }
    err_set(err, ERR_USAGE, pos, "sbatch refused it (status %d)", status);
    return err_hint(err, "It says: %s", *said == '\0' ? "nothing" : said);
}

/* Submits a file; `after`: once all jobs of that number have ended, however they did. */
static bool submit(struct arena *arena, const char *file, const char *after,
                   const char **job, const char **said, struct err *err)
{
    char *word[5] = { (char *)"sbatch", (char *)"--parsable" };
    struct program sbatch = { .word = word, .folder = -1, .said_bytes = 1000,
                              .answer_bytes = 200 };
    int status, count = 2;

    sbatch.said = arena_alloc(arena, sbatch.said_bytes, 1);
    sbatch.answer = arena_alloc(arena, sbatch.answer_bytes, 1);
    if (after != NULL)
        word[count++] = text_format(arena, "--dependency=afterany:%s", after);
    word[count] = arena_text(arena, file);
    status = program_run(&sbatch);
    join_lines(sbatch.said);
    if (status != 0)
        return refused(file, status, sbatch.said, err);
    sbatch.answer[strcspn(sbatch.answer, ";\n")] = '\0';        /* NUMBER;CLUSTER */
    if (sbatch.answer[0] == '\0') {
        err_set(err, ERR_IO, (struct err_pos){ file, 0, 0 },
                "sbatch took it, and the number of the job was not read");
        return err_hint(err, "`squeue --me` names it.  sbatch says: %s",
                        sbatch.said[0] == '\0' ? "nothing" : sbatch.said);
    }
    *job = sbatch.answer;
    *said = text_format(arena, "%s%s%s", *said, **said == '\0' ? "" : "\n", sbatch.said);
    return true;
}

bool slurm_submit(struct arena *arena, const struct slurm_batch *batch, const char **job,
                  const char **merge_job, const char **said, struct err *err)
{
    struct err why = { 0 };

    *said = "";
    *merge_job = NULL;
    if (!submit(arena, batch->run, NULL, job, said, err))
        return false;
    if (batch->merge == NULL || submit(arena, batch->merge, *job, merge_job, said, &why))
        return true;
    *err = why;
    err->hint[0] = '\0';
    return err_hint(err, "%.900s  Job %s runs the shards all the same: scancel %s ends it.",
                    why.hint, *job, *job);
}
