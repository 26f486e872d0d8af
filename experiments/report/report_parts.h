/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_parts.h - what report.html is put together from; internal to the
 * files report*.c.
 */
#ifndef EXPERIMENTS_REPORT_REPORT_PARTS_H
#define EXPERIMENTS_REPORT_REPORT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/report/check_rows.h"
#include "experiments/report/plot_data.h"

struct arena;
struct decision;
struct conf_node;
struct err;
struct out;
struct sheet;

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define REPORT_TABLES 15

/* The page that is being made, and what it is made from. */
struct report {
    struct plot_source source;
    struct arena *arena;
    struct out *out;
    const struct conf_node *made_from;      /* provenance.json or NULL */
    const struct conf_node *audit;          /* audit.json or NULL */
    struct check_rows checks;               /* checks.csv */
    const struct decision *decision;        /* options.csv or NULL */
    struct sheet *table[REPORT_TABLES];     /* owned; NULL: left out */
};

/* A scalar of a map, or "". */
const char *report_word(const struct conf_node *map, const char *key);
/* A list of a map, or NULL. */
const struct conf_node *report_list(const struct conf_node *map,
                                    const char *key);

/* Each writes a part of the page; below a point, its means seed by seed. */
void report_answer(const struct report *r);
void report_options(const struct report *r);
void report_ground(const struct report *r);
void report_figures(const struct report *r);
void report_seeds(const struct report *r, uint32_t point);

/* Returns how many rows of report_defaults() say what the files do not. */
size_t report_default_rows(const struct report *r);

/* Each makes a table that the caller frees.  NULL without an err: there is
 * nothing to show; a table with an err is not whole. */
struct sheet *report_verdicts(const struct report *r, struct err *err);
struct sheet *report_best(const struct report *r, struct err *err);
struct sheet *report_regret(const struct report *r, struct err *err);
struct sheet *report_controls(const struct report *r, struct err *err);
struct sheet *report_turns(const struct report *r, struct err *err);
struct sheet *report_inputs(const struct report *r, struct err *err);
struct sheet *report_failures(const struct report *r, struct err *err);
struct sheet *report_run(const struct report *r, struct err *err);
struct sheet *report_partings(const struct report *r, struct err *err);
struct sheet *report_policies(const struct report *r, struct err *err);
struct sheet *report_defaults(const struct report *r, struct err *err);
struct sheet *report_load(const struct report *r, struct err *err);
struct sheet *report_audit(const struct report *r, struct err *err);
struct sheet *report_provenance(const struct report *r, struct err *err);

#endif
