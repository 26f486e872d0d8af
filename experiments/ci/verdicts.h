/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * verdicts.h - the verdicts of a check, in the forms that CI systems read.
 *
 * None of them is a result: JUnit has the wall time of the run.
 */
#ifndef EXPERIMENTS_CI_VERDICTS_H
#define EXPERIMENTS_CI_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/results/check.h"
#include "sim/base/err.h"

struct arena;
struct decision;
struct out;

/* Where a verdict comes from, and how long it took. */
struct verdict_place {
    struct err_pos pos;         /* of the key that asks for it; line 0: of no line */
    double wall_s;              /* of the trials that it speaks of */
};

/* What the baseline lacks, so that nothing is compared there. */
struct verdict_new {
    const char *kind, *name;    /* "policy" or "point" */
    struct err_pos pos;         /* line 0: of no line */
};

/* All verdicts of one command. */
struct verdicts {
    const char *title;          /* of the experiment */
    const struct check_list *list;
    const struct verdict_place *const *place;   /* of each list, by item */
    size_t lists;
    const struct decision *decision;            /* on options, or NULL */
    double wall_s;              /* of the whole run */
    const struct verdict_new *added;            /* not in the baseline */
    uint32_t added_count;
};

/* Each makes the folder of its file, if it is not there, as the folder of results is made.
 *
 * JUnit XML: what does not hold is a failure, a failed trial an error; what is undecided, or
 * was not judged where that passes, is skipped.  What is not in the baseline is a property
 * of the suite.  False: err says why. */
bool verdicts_junit(struct arena *arena, const char *path, const struct verdicts *v,
                    struct err *err);
/* A table in Markdown, the table of options, and what is not in the baseline. */
bool verdicts_markdown(struct arena *arena, const char *path, const struct verdicts *v,
                       struct err *err);
/* Lines "::error file=F,line=N,title=T::TEXT", which GitHub shows beside the file, of all
 * that does not hold; what is undecided or was not judged is a warning, and what is not
 * in the baseline a notice. */
void verdicts_github(FILE *file, const struct verdicts *v);
/* An error of the input likewise. */
void verdicts_github_err(FILE *file, const struct err *err);
/* The code quality report of GitLab, a list of the same. */
bool verdicts_code_quality(struct arena *arena, const char *path, const struct verdicts *v,
                           struct err *err);
/* One object of JSON, as `verdicts` of output.schema.json; status: of the command. */
void verdicts_json(struct out *out, const struct verdicts *v, int status);

#endif
