/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log.c - logs of a program that kept asking for spot instances on AWS
 * and GCP (Narayanan et al., DISPA 2020), as instances that ran.
 *
 * A line has a stamp and says that an instance was created, runs, does not run,
 * was deleted, or could not be created.  An instance counts for its zone and type
 * from "running" to "not running" or its deletion; lines that repeat what is
 * known, and instances that could not be created, are counted.
 */
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"
#include "workloads/series/reader.h"

#define NAME_BYTES 96u          /* of ZONE/TYPE/GPUS */

/* An instance that the log has named, and the series that counts it while it
 * runs. */
struct instance {
    const char *id;             /* its name in the log */
    size_t series;
    bool runs;                  /* as the last line that named it said */
};

/* One reading of a log: all instances, and how many of each series run now. */
struct log {
    struct series_reader *reader;   /* where points go */
    struct instance *instance;  /* [count]: start and end of each */
    size_t count, room;
    double *running;            /* by series */
    size_t running_room;
};

/* Returns the instance of that id; NULL: the log did not create it.  The newest
 * are tried first, since a log speaks of instances that it has just created. */
static struct instance *find_instance(const struct log *log, const char *id)
{
    for (size_t i = log->count; i-- > 0;)
        if (strcmp(log->instance[i].id, id) == 0)
            return &log->instance[i];
    return NULL;
}

/* Notes a new instance, which does not run yet.  `name` is that of its series,
 * ZONE/TYPE/GPUS. */
static void add_instance(struct log *log, const char *id, const char *name)
{
    struct arena *arena = log->reader->arena;
    size_t series = series_number(log->reader, name);

    ARENA_REACH(arena, log->running, log->running_room, series);
    ARENA_ADD(arena, log->instance, log->count, log->room,
              (struct instance){arena_text(arena, id), series, false});
}

/* Notes that an instance runs, or no longer does, and adds the new count of its
 * series as a point.  A line that says what is known already adds none.  An id
 * that was never created does not run; if the log says that it does, the log is
 * not whole, which is an error. */
static bool set_running(struct log *log, const char *id, bool runs,
                        int64_t time_ns, struct err_pos pos, struct err *err)
{
    struct instance *instance = find_instance(log, id);

    if (instance == NULL && runs)
        return err_set(err, ERR_SYNTAX, pos,
                       "instance %.40s runs and was not created", id);
    if (instance == NULL || instance->runs == runs) {
        log->reader->counts->unchanged++;
        return true;
    }
    instance->runs = runs;
    log->running[instance->series] += runs ? 1.0 : -1.0;
    return series_add(log->reader, instance->series, time_ns,
                      log->running[instance->series], pos, err);
}

/* Reads one line.  Only the forms that these programs write are known; any
 * other line is an error, so that no event is lost in silence. */
static bool read_line(struct log *log, const char *line, struct err_pos pos,
                      struct err *err)
{
    char stamp[40], id[64], type[40], zone[40], name[NAME_BYTES];
    unsigned gpus;
    int64_t time_ns;
    int end = 0;

    if (sscanf(line, "[%39[^]]] %n", stamp, &end) != 1 || end == 0 ||
        !date_read(stamp, strlen(stamp), &time_ns)) {
        err_set(err, ERR_SYNTAX, pos, "a line of such a log begins with a "
                "stamp in brackets");
        return err_hint(err, "Lists of prices (gcp_spin_up) have no times: "
                             "they are no series.");
    }
    line += end;
    if (sscanf(line, "Created instance %63s with %u GPU(s) of type %39s in "
               "zone %39s", id, &gpus, type, zone) == 4) {
        snprintf(name, sizeof name, "%s/%s/%u", zone, type, gpus);
        add_instance(log, id, name);
        return true;
    }
    if (strstr(line, "creation failed") != NULL) {
        log->reader->counts->failed++;
        return true;
    }
    if (sscanf(line, "Successfully deleted instance %63s", id) == 1 ||
        sscanf(line, "Instance %63s not running in zone %39s", id,
               zone) == 2)
        return set_running(log, id, false, time_ns, pos, err);
    if (sscanf(line, "Instance %63s running in zone %39s", id, zone) == 2)
        return set_running(log, id, true, time_ns, pos, err);
    return err_set(err, ERR_SYNTAX, pos, "no such line is known in a log of "
                   "spot instances");
}

/* Reads all lines.  False: err is at the first that no such program writes. */
static bool read_log(struct series_reader *reader, struct err *err)
{
    struct scan *scan = scan_open(reader->request->file, err);
    struct log log = {.reader = reader};
    enum scan_step step = SCAN_ERROR;
    char *line;
    size_t bytes;
    bool good = scan != NULL;

    while (good && (step = scan_line(scan, &line, &bytes, err)) == SCAN_LINE) {
        struct err_pos pos = scan_pos(scan, 1);

        pos.file = reader->request->file;
        good = bytes == 0 || read_line(&log, line, pos, err);
    }
    scan_close(scan);
    return good && step == SCAN_END;
}

const struct series_format series_spot_log = {
    .name = "spot-log",
    .summary = "logs of spot instances created, running and lost (DISPA "
               "2020)",
    .about = "# Spot instances that ran, from the log of a program that kept "
             "asking for them (DISPA\n"
             "# 2020).  Series are called ZONE/TYPE/GPUS.\n",
    .kind = "availability", .unit = "instances", .read = read_log,
};
