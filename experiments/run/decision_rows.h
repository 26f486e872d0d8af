/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decision_rows.h - a row of decisions.csv for each decision of a policy, and the last
 * of them in words.
 */
#ifndef EXPERIMENTS_RUN_DECISION_ROWS_H
#define EXPERIMENTS_RUN_DECISION_ROWS_H

struct arena;
struct cs_host;
struct table;
struct trial_spec;

/* From now on each decision of the host becomes a row of the table, if there is one, and
 * a line of spec->watch, if there is one.  All of them must live as long as
 * the host decides. */
void decision_rows_listen(struct arena *arena, const struct trial_spec *spec,
                          struct table *table, struct cs_host *host);

#endif
