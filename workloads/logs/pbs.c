/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pbs.c - accounting logs of PBS, OpenPBS (Administrator's Guide, "Accounting")
 * and Torque ("Accounting Records"):
 *
 *   01/12/2026 11:00:04;E;4101.server;user=ana queue=gpu ctime=1768204800 ...
 *
 * Records of type E, of a job that ended, make rows; others are counted.  Times
 * are seconds since 1970.  GPUs are Resource_List.ngpus, or those of the chunks of
 * Resource_List.select (2:ncpus=8:ngpus=4) or of Resource_List.nodes
 * (2:ppn=8:gpus=4).
 *
 * A job is submitted when it was created, or, if that is later, when it became
 * eligible (etime): before, it was held or waited for another job.
 *
 * Records hold no priority (qsub -p), so jobs have none.
 *
 * When the last subjob of an array ends, the array gets a record E of its own, whose
 * id has empty brackets (4102[].server).  It held no GPUs beside those of its subjobs.
 */
#include <string.h>

#include "sim/base/arena.h"
#include "sim/text/notes.h"
#include "sim/text/scan.h"
#include "workloads/logs/record.h"

static const char *const row_names[] = {
    "id", "project", "ctime", "start", "end", "run", "Resource_List.walltime",
    "Resource_List.ngpus", "Resource_List.ncpus", "Resource_List.mem",
    "gpu_type", "Resource_List.nodect", "priority", "Exit_status", NULL
};

/* The keys that are read, in the order of `keys`. */
enum { USER, GROUP, ACCOUNT, PROJECT, CTIME, QTIME, ETIME, START, END, WALLTIME,
       NGPUS, NCPUS, NODECT, MEMORY, SELECT, NODES, STATUS, KEYS };
static const char *const keys[KEYS] = {
    "user", "group", "account", "project", "ctime", "qtime", "etime", "start",
    "end", "Resource_List.walltime", "Resource_List.ngpus",
    "Resource_List.ncpus", "Resource_List.nodect", "Resource_List.mem",
    "Resource_List.select", "Resource_List.nodes", "Exit_status"
};

/* A log under way.  Values point into the line that was read last. */
struct pbs {
    struct record record;       /* row and place */
    struct cell value[KEYS];    /* of the record; text: NULL, it has none */
    char types[64];             /* GPU type of the chunks; empty: any */
};

/* Chunks of a request: nodes, and what they have together. */
struct chunks {
    int64_t nodes, gpus, cores;
};

/* Reads "key=value key=value" into log->value.  Values hold no blanks, unless
 * they stand in quotation marks.  The text is cut in place.  `col` is its
 * column in the line. */
static void read_keys(struct pbs *log, char *text, uint32_t col)
{
    char *at = text;

    memset(log->value, 0, sizeof log->value);
    while (*(at += strspn(at, " ")) != '\0') {
        char *end = at, *value;
        bool quoted = false;

        for (; *end != '\0' && (quoted || *end != ' '); end++)
            quoted = quoted != (*end == '"');
        if (*end != '\0')
            *end++ = '\0';
        value = strchr(at, '=');
        if (value != NULL)
            *value++ = '\0';
        if (value != NULL && value[0] == '"' && value[1] != '\0') {
            value++;
            value[strcspn(value, "\"")] = '\0';
        }
        for (int k = 0; value != NULL && k < KEYS; k++)
            if (strcmp(at, keys[k]) == 0)
                log->value[k] = (struct cell){
                    value, col + (uint32_t)(value - text)};
        at = end;
    }
}

/* Reads a number that may be absent: *out then stays as it is.  Negative
 * numbers are an error. */
static bool read_whole(const struct pbs *log, int key, int64_t *out,
                       struct err *err)
{
    struct cell cell = log->value[key];

    return cell.text == NULL ||
           (scan_i64(cell.text, strlen(cell.text), out) && *out >= 0) ||
           record_fault(&log->record, cell, keys[key], "a whole number", err);
}

/* Reads one "name=value" of a chunk, which has `bytes` bytes.  ncpus and ngpus
 * are names of PBS, ppn and gpus those of Torque.  A part without a value is a
 * property of a node.  False: the value is no number. */
static bool read_part(struct pbs *log, const char *part, size_t bytes,
                      int64_t *gpus, int64_t *cores)
{
    static const char *const types[] = {"gpu_type=", "gpu_model=", "gputype="};
    const char *value = memchr(part, '=', bytes);

    for (size_t i = 0; i < 3; i++) {
        size_t name = strlen(types[i]);

        if (bytes > name && bytes - name < sizeof log->types &&
            strncmp(part, types[i], name) == 0) {
            memcpy(log->types, part + name, bytes - name);
            log->types[bytes - name] = '\0';
        }
    }
    if (value == NULL)
        return true;            /* a property of a node */
    value++;
    bytes -= (size_t)(value - part);
    if (strncmp(part, "ngpus=", 6) == 0 || strncmp(part, "gpus=", 5) == 0)
        return scan_i64(value, bytes, gpus) && *gpus >= 0;
    if (strncmp(part, "ncpus=", 6) == 0 || strncmp(part, "ppn=", 4) == 0)
        return scan_i64(value, bytes, cores) && *cores >= 0;
    return true;
}

/* Adds up the chunks of a request, such as "2:ncpus=8:ngpus=4+1:ncpus=1": 3
 * nodes, 17 cores, 8 GPUs.  A chunk without a number in front of it counts
 * once.  The bound on each number keeps sums in range. */
static bool read_chunks(struct pbs *log, int key, struct chunks *chunks,
                        struct err *err)
{
    const char *at = log->value[key].text;

    for (bool more = at != NULL; more; at++) {
        size_t end = strcspn(at, "+"), bytes = strcspn(at, ":+");
        int64_t count = 1, gpus = 0, cores = 0;
        const char *part = at;

        more = at[end] == '+';
        if (scan_i64(at, bytes, &count))
            part += bytes + (at[bytes] == ':');
        else
            count = 1;
        for (; part < at + end; part += bytes + 1) {
            bytes = strcspn(part, ":+");
            if (!read_part(log, part, bytes, &gpus, &cores) || count < 0 ||
                count > 1000000 || gpus > 1000000 || cores > 1000000)
                return record_fault(&log->record, log->value[key], keys[key],
                                    "chunks such as 2:ncpus=8:ngpus=4", err);
        }
        chunks->nodes += count;
        chunks->gpus += count * gpus;
        chunks->cores += count * cores;
        at += end;
    }
    return true;
}

/* Puts GPUs, cores, nodes and memory into the row.  Totals (ngpus, ncpus,
 * nodect) go before the sums of the chunks, since they are what the server
 * charged.  `select` goes before the older `nodes`. */
static bool put_resources(struct pbs *log, struct err *err)
{
    struct record *record = &log->record;
    struct chunks chunks = {0};
    int64_t gpus = -1, cores = 0, nodes = 0;
    struct cell memory = log->value[MEMORY];
    const char *rest;
    double bytes;

    log->types[0] = '\0';
    if (!read_chunks(log, SELECT, &chunks, err) ||
        (chunks.nodes == 0 && !read_chunks(log, NODES, &chunks, err)) ||
        !read_whole(log, NGPUS, &gpus, err) ||
        !read_whole(log, NCPUS, &cores, err) ||
        !read_whole(log, NODECT, &nodes, err))
        return false;
    if (gpus < 0 && chunks.gpus > 0)
        notes_count(&record->notes, "jobs do not state ngpus: GPUs are those of "
                    "their chunks (select, nodes)");
    record_put_count(record, LOG_GPUS, gpus < 0 ? chunks.gpus : gpus, 1);
    cores = cores > 0 ? cores : chunks.cores;
    nodes = nodes > 0 ? nodes : chunks.nodes;
    if (cores > 0)
        record_put_count(record, LOG_CORES, cores, 1);
    if (nodes > 0)
        record_put_count(record, LOG_NODES, nodes, 1);
    record_put(record, LOG_TYPES, log->types, 1);
    if (memory.text == NULL)
        return true;
    if (!record_bytes(memory.text, 1.0, &bytes, &rest) || *rest != '\0')
        return record_fault(record, memory, keys[MEMORY],
                            "memory such as 64gb", err);
    record_put_count(record, LOG_MEMORY, (int64_t)(bytes / 1048576.0), 1);
    return true;
}

/* Reads an instant that may be missing; *known says if it was there. */
static bool read_moment(const struct pbs *log, int key, int64_t *ns,
                        bool *known, struct err *err)
{
    struct cell cell = log->value[key];

    *known = false;
    return cell.text == NULL || record_moment(cell.text, ns, known) ||
           record_fault(&log->record, cell, keys[key],
                        "seconds since 1970", err);
}

/* Puts the times into the row.  A job that was held counts as submitted when it
 * became eligible, since before that it did not wait for resources.  Versions
 * without ctime have qtime. */
static bool put_times(struct pbs *log, struct err *err)
{
    struct record *record = &log->record;
    struct cell limit = log->value[WALLTIME];
    int64_t created, eligible, start, end, limit_ns;
    bool has_created, has_eligible, has_start, has_end;
    int made = log->value[CTIME].text == NULL ? QTIME : CTIME;

    if (!read_moment(log, made, &created, &has_created, err) ||
        !read_moment(log, ETIME, &eligible, &has_eligible, err) ||
        !read_moment(log, START, &start, &has_start, err) ||
        !read_moment(log, END, &end, &has_end, err))
        return false;
    if (has_created && has_eligible && eligible > created) {
        notes_count(&record->notes, "jobs were eligible later than created "
                    "(holds, dependencies); etime is taken");
        created = eligible;
    }
    if (has_created)
        record_put_ns(record, LOG_SUBMIT, created, 1);
    if (has_start)
        record_put_ns(record, LOG_START, start, 1);
    if (has_end)
        record_put_ns(record, LOG_END, end, 1);
    if (limit.text == NULL)
        return true;
    if (!record_span(limit.text, &limit_ns))
        return record_fault(record, limit, keys[WALLTIME],
                            "a time such as 08:00:00", err);
    record_put_ns(record, LOG_LIMIT, limit_ns, limit.col);
    return true;
}

/* Puts the tenant: project, account, group or user, the first that says
 * something.  The default project of PBS says nothing. */
static void put_tenant(struct pbs *log)
{
    static const int order[] = {PROJECT, ACCOUNT, GROUP, USER};

    for (size_t i = 0; i < 4; i++) {
        const char *text = log->value[order[i]].text;

        if (text == NULL || text[0] == '\0' ||
            strcmp(text, "_pbs_project_default") == 0)
            continue;
        record_put(&log->record, LOG_TENANT, text, log->value[order[i]].col);
        notes_count(&log->record.notes, "jobs have their %s as tenant",
                    keys[order[i]]);
        return;
    }
}

/* Cuts "date;type;id;text", in place.  The text itself may hold semicolons, so
 * only three cuts are made.  A record without text gets an empty one.  False:
 * it is no record. */
static bool cut_record(const struct pbs *log, char *line, struct cell cell[4],
                       struct err *err)
{
    size_t count = 0;
    char *at = line;

    for (; count < 4 && at != NULL; count++) {
        cell[count] = (struct cell){at, (uint32_t)(at - line) + 1};
        at = count < 3 ? strchr(at, ';') : NULL;
        if (at != NULL)
            *at++ = '\0';
    }
    if (count >= 3 && cell[1].text[0] != '\0' && cell[1].text[1] == '\0') {
        if (count == 3)
            cell[3] = (struct cell){line + strlen(line), 1};
        return true;
    }
    return record_fault(&log->record, cell[0], "a record of PBS",
                        "DATE;TYPE;ID;KEY=VALUE ...", err);
}

/* Is this record of a job that ended, and of no whole array?  Others are counted. */
static bool is_of_job(struct pbs *log, const struct cell cell[4])
{
    struct notes *notes = &log->record.notes;

    if (cell[1].text[0] != 'E')
        notes_count(notes, "records are of type %s, not E: no jobs that ended",
                    cell[1].text);
    else if (strstr(cell[2].text, "[]") != NULL)
        notes_count(notes, "records are of whole arrays, whose subjobs count");
    else
        return true;
    return false;
}

/* Gives the next job that ended; other records are passed over. */
static enum csv_step next_job(void *self, struct csv_field *field,
                              struct err *err)
{
    struct pbs *log = self;
    struct record *record = &log->record;
    struct cell cell[4];
    enum csv_step step;
    char *line;

    for (;;) {
        if ((step = record_line(record, &line, err)) != CSV_ROW)
            return step;
        if (!cut_record(log, line, cell, err))
            return CSV_ERROR;
        if (is_of_job(log, cell))
            break;
    }
    record_begin(record, scan_pos(record->scan, 1).line, 1);
    record_put(record, LOG_JOB, cell[2].text, cell[2].col);
    read_keys(log, cell[3].text, cell[3].col);
    put_tenant(log);
    record_put(record, LOG_STATE,
               log->value[STATUS].text == NULL ||
                       strcmp(log->value[STATUS].text, "0") == 0
                   ? LOG_GOOD : log->value[STATUS].text, 1);
    if (!put_times(log, err) || !put_resources(log, err))
        return CSV_ERROR;
    memcpy(field, record->field, sizeof record->field);
    return CSV_ROW;
}

static void close_log(void *self)
{
    scan_close(((struct pbs *)self)->record.scan);
}

bool pbs_open(struct arena *arena, const char *path,
              struct csv_source *source, struct err *err)
{
    struct pbs *log = arena_alloc(arena, 1, sizeof *log);

    *source = (struct csv_source){row_names, log, next_job, close_log,
                                  &log->record.notes};
    return record_open(&log->record, arena, path, err);
}
