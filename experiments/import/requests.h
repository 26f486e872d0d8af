/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * requests.h - makes the workload of a service from published requests.  The
 * workload reads the file itself, in its own format.
 */
#ifndef EXPERIMENTS_IMPORT_REQUESTS_H
#define EXPERIMENTS_IMPORT_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct args;
struct err;

/* --skip can leave out one kind of requests: those that generate nothing. */
#define IMPORT_NO_OUTPUT "no_output"

/* A trace of requests: its name, then what was found in it. */
struct requests_import {
    struct arena *arena;
    const char *format, *file;
    bool skip_empty;            /* requests without output are left out */
    /* filled by a read */
    size_t count;               /* requests */
    uint64_t skipped;           /* without output */
    uint64_t together;          /* at the same instant as the row before */
    uint64_t blocks, distinct;  /* hash ids of prompts */
    uint64_t odd_blocks;        /* requests with another number of blocks
                                   than their prompt fills */
    int64_t span_ns;
    double gap_cv;              /* standard deviation over mean of the gaps */
    int64_t *prompt, *output;   /* tokens */
};

/* Is that a format of requests? */
bool import_requests_find(const char *format);
/* Reads --skip; only IMPORT_NO_OUTPUT is known here. */
bool import_requests_skip(const struct args *args,
                          struct requests_import *import, struct err *err);
/* Reads the whole trace, and fills the second half of the struct; memory comes
 * from its arena.  False: err says what is wrong, with its line. */
bool import_requests_read(struct requests_import *import, struct err *err);
/* Writes the workload of one service to `yaml`.  False: err says why. */
bool import_requests_write(const struct requests_import *import,
                           const char *yaml, struct err *err);
/* Prints requests, span, rate, quantiles of tokens, and all counts.  Sorts the tokens. */
void import_requests_report(FILE *file, struct requests_import *import);

#endif
