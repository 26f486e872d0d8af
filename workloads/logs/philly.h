/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * philly.h - Philly's own job log, a JSON, as rows of fields.
 */
#ifndef WORKLOADS_LOGS_PHILLY_H
#define WORKLOADS_LOGS_PHILLY_H

#include "sim/text/csv.h"

/* Columns of a row. */
enum philly_column {
    PHILLY_JOB, PHILLY_SUBMIT, PHILLY_VC, PHILLY_USER, PHILLY_STATUS,
    PHILLY_RUN,                 /* s that attempts held GPUs, together; below 0: one of
                                   them ends that long before it starts */
    PHILLY_GPUS,                /* of its largest attempt */
    PHILLY_ATTEMPTS,
    PHILLY_UNTIMED,             /* of its attempts, without start or end */
    PHILLY_OPEN,                /* 1: its last attempt has a start and no end */
    PHILLY_COLUMNS
};

/* Opens the log, plain, gzip or zstd; false and an err if that fails.  It lives in
 * the arena, but owns the open file. */
bool philly_open(struct arena *arena, const char *path,
                 struct csv_source *source, struct err *err);

#endif
