/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * start.h - the files of a first experiment, made from five answers.
 *
 * An answer is a text: of an option, or typed at a question.  start_set() reads
 * one, start_make() makes the files' texts in memory and checks them as
 * `clustersim validate` would, start_write() writes them.  Functions return false
 * if err says what is wrong.  All memory comes from the arena of start_open().
 */
#ifndef EXPERIMENTS_START_START_H
#define EXPERIMENTS_START_START_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct err;

/* In the order in which they are asked. */
enum start_question {
    START_COMPARE, START_GPUS, START_JOBS, START_LOAD, START_POLICIES, START_COUNT
};

/* What a question asks; static, but for what depends on earlier answers. */
struct start_info {
    const char *ask;            /* "What do you want to compare?" */
    const char *allowed;        /* the answers that there are, for people */
    const char *usual;          /* the default */
};

struct start;                   /* opaque */

/* A start whose experiment will be the file `path`, which ends in ".yaml".
 * `columns`: names of columns of a trace, as "submit=arrived,gpus=1", or NULL. */
struct start *start_open(struct arena *arena, const char *path, const char *columns,
                         struct err *err);
/* Returns the question, with what earlier answers make of it. */
struct start_info start_info(const struct start *start, enum start_question question);
/* Reads an answer.  False: it is not allowed, and the start is as before. */
bool start_set(struct start *start, enum start_question question, const char *text,
               struct err *err);
/* Does the question have a meaning, after the earlier answers?  A trace has a load
 * of its own. */
bool start_asks(const struct start *start, enum start_question question);
/* Makes and checks the texts.  Takes the default where nothing was set. */
bool start_make(struct start *start, struct err *err);
/* Writes the files of start_make(), none over another, and says on `out` which they
 * are and what to type next. */
bool start_write(struct start *start, FILE *out, struct err *err);
/* Asks all questions on a terminal; an answer that is not allowed is asked again.
 * False without an err: the input ended before the last answer. */
bool start_ask(struct start *start, FILE *in, FILE *out);

#endif
