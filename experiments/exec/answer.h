/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.h - reads what a program sends.  Private to experiments/exec.
 */
#ifndef EXPERIMENTS_EXEC_ANSWER_H
#define EXPERIMENTS_EXEC_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct exec_answer;
struct exec_self;
struct json;

/* Reads the answer to `hello`, message 0.  False: err says what is wrong, with its
 * column; the line is changed. */
bool answer_read_self(struct json *json, char *line, size_t bytes,
                      struct exec_self *self, struct err *err);
/* Reads the answer to message `number` into *out, whose memory is used again; likewise. */
bool answer_read(struct json *json, char *line, size_t bytes, int64_t number,
                 struct exec_answer *out, struct err *err);
/* Returns the name of a verb, below EXEC_VERB_COUNT. */
const char *answer_verb(uint32_t verb);

#endif
