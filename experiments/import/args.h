/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.h - what import and fit have in common on a command line.
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

/* The format of that name; the nearest, also of series if these are taken,
 * is named if there is none. */
const struct import_format *import_arg_format(const char *name, bool series,
                                              struct err *err);
bool import_arg_skips(const struct args *args,
                      struct import_request *request, struct err *err);
/* --columns "submit=t,duration=d,gpus=1", of format csv alone; `*columns` is
 * NULL without it. */
bool import_arg_columns(struct arena *arena, const struct args *args,
                        const struct trace_columns **columns,
                        struct err *err);
/* The CSV beside -o: W.yaml -> W.csv; neither may be what is read. */
bool import_arg_csv(struct arena *arena, const struct args *args,
                    const char **csv, struct err *err);

#endif
