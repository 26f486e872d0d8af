/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interval.h - an interval of a difference, in words.
 */
#ifndef SIM_STATS_INTERVAL_H
#define SIM_STATS_INTERVAL_H

#include <stdbool.h>

/* How its ends are written. */
struct interval_form {
    int digits;                 /* how many, see in_all */
    bool in_all;                /* digits counts all of them; else those behind the point */
    const char *unit;           /* behind each end: "%", " s"; or "" */
};

#define INTERVAL_BYTES 96
/* Writes "[-3.1%, +2.4%]" into INTERVAL_BYTES bytes, and returns them.  An end that is not
 * finite is "no end": where a baseline may be 0, and where a table has no value for it. */
const char *interval_text(char *out, struct interval_form form, double low, double high);

#endif
