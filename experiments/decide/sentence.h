/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.h - a decision in words.  Private to experiments/decide.
 */
#ifndef EXPERIMENTS_DECIDE_SENTENCE_H
#define EXPERIMENTS_DECIDE_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct decision;
struct metric_info;
struct stats_delta;
struct survivors;

/* Returns which option to take at a point and why, in the arena; *headline: how many bytes
 * of it say what to do and how much that changes. */
const char *decide_sentence(struct arena *arena, const struct decision *decision,
                            uint32_t point, size_t *headline);
/* Returns "-14.2% [-16.0%, -12.5%]"; in the unit of the metric where the percentage is
 * not known; "-" where nothing is. */
const char *decide_delta_text(struct arena *arena, const struct metric_info *info,
                              const struct stats_delta *d);
/* Returns "9581 s [8010 s, 12480 s]". */
const char *decide_interval_text(struct arena *arena, const struct metric_info *info,
                                 double value, double low, double high);
/* Did an option do another number of jobs than the first one, where the metric that decides
 * falls by work that is left?  True: both numbers are set. */
bool decide_work_differs(const struct decision *decision, uint32_t point, uint32_t option,
                         struct survivors *own, struct survivors *first);
/* Returns what tables call a metric. */
const char *decide_title(const struct metric_info *info);

#endif
