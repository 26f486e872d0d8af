/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.h - the options that import and fit share.  A result of false or NULL
 * means that err says what is wrong.
 */
#ifndef EXPERIMENTS_IMPORT_ARGS_H
#define EXPERIMENTS_IMPORT_ARGS_H

#include <stdbool.h>

struct arena;
struct args;
struct err;
struct import_format;
struct import_request;
struct trace_columns;

/* Returns the format of that name; NULL: err names the nearest one.  series:
 * formats of series may be named, too. */
const struct import_format *import_arg_format(const char *name, bool series,
                                              struct err *err);
/* Marks in request->skip the faults that --skip names, of all its mentions.
 * False: err says which it does not know. */
bool import_arg_skips(const struct args *args,
                      struct import_request *request, struct err *err);
/* Reads --columns "submit=t,duration=d,gpus=1", an option of format csv alone;
 * sets `*columns` to NULL if it is not given, else to a struct in the arena.  False also
 * if submit, duration or gpus is missing. */
bool import_arg_columns(struct arena *arena, const struct args *args,
                        const struct trace_columns **columns,
                        struct err *err);
/* Sets *csv to the CSV beside -o: W.csv for W.yaml; `written`: it is written, too.  What
 * is written must not be an input. */
bool import_arg_csv(struct arena *arena, const struct args *args, bool written,
                    const char **csv, struct err *err);

#endif
