/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sacct_resources.c - GPUs, nodes, cores and memory of a job, as sacct writes them:
 * trackable resources, or generic ones (GRES) of a node before Slurm 20.11.
 */
#include <string.h>

#include "sim/base/err.h"
#include "sim/text/notes.h"
#include "sim/text/scan.h"
#include "workloads/logs/record.h"
#include "workloads/logs/sacct.h"

const char *const sacct_columns[WANTED] = {
    [ID] = "JobID", [SUBMIT] = "Submit", [ELIGIBLE] = "Eligible",
    [START] = "Start", [END] = "End", [ELAPSED] = "Elapsed",
    [ELAPSED_RAW] = "ElapsedRaw", [LIMIT] = "Timelimit",
    [LIMIT_RAW] = "TimelimitRaw", [ALLOC] = "AllocTRES", [REQ] = "ReqTRES",
    [ALLOC_GRES] = "AllocGRES", [REQ_GRES] = "ReqGRES", [NODES] = "NNodes",
    [CPUS] = "NCPUS", [MEMORY] = "ReqMem", [USER] = "User",
    [ACCOUNT] = "Account", [STATE] = "State",
};

/* More than any job has; so sums stay in range. */
#define COUNT_MAX 1000000000
#define BYTES_MAX 1e15

/* Resources of a job in all; 0 or empty: not said. */
struct tres {
    int64_t gpus, cores, nodes;
    double memory_bytes;        /* host memory, of all nodes */
    bool shares;                /* parts of GPUs: gres/shard, gres/mps */
    char types[120];            /* "a100|h100" */
};

/* Adds a name to "a|b"; one that does not fit is left out, so that the job may
 * take any type. */
static void add_type(char types[120], const char *name, size_t bytes)
{
    size_t used = strlen(types);

    if (used + bytes + 2 > 120)
        return;
    if (used > 0)
        types[used++] = '|';
    memcpy(types + used, name, bytes);
    types[used + bytes] = '\0';
}

/* Is it a part of a GPU that several jobs share, "shard", "mps" or "mps:a100"? */
static bool is_share(const char *name)
{
    size_t bytes = strcspn(name, ":");

    return (bytes == 5 && memcmp(name, "shard", 5) == 0) ||
           (bytes == 3 && memcmp(name, "mps", 3) == 0);
}

/* Reads one resource, `text` = `value`, into *tres; others are passed over.
 * Slurm states GPUs of a type, gres/gpu:a100=4, beside their sum, gres/gpu=4,
 * or alone: *typed adds up the first kind.  False: the value is no count. */
static bool read_value(const char *text, const char *value, struct tres *tres,
                       int64_t *typed)
{
    static const char gpu[] = "gres/gpu";
    const char *rest;
    int64_t count;

    if (strcmp(text, "mem") == 0)
        return record_bytes(value, 1024.0 * 1024.0, &tres->memory_bytes,
                            &rest) && *rest == '\0';
    if (strncmp(text, "gres/", 5) == 0 && is_share(text + 5))
        tres->shares = tres->shares || strcmp(value, "0") != 0;
    if (strcmp(text, "cpu") != 0 && strcmp(text, "node") != 0 &&
        strncmp(text, gpu, sizeof gpu - 1) != 0)
        return true;
    if (!scan_i64(value, strlen(value), &count) || count < 0 ||
        count > COUNT_MAX)
        return false;
    if (text[0] == 'c')
        tres->cores = count;
    else if (text[0] == 'n')
        tres->nodes = count;
    else if (text[sizeof gpu - 1] == '\0')
        tres->gpus = count;
    else if (text[sizeof gpu - 1] == ':' && count > 0) {
        *typed += count;
        add_type(tres->types, text + sizeof gpu, strlen(text + sizeof gpu));
    }
    return true;
}

/* Reads one "name=value". If it is wrong the text is put together again, so
 * that an error can show it. */
static bool read_resource(char *text, struct tres *tres, int64_t *typed)
{
    char *value = strchr(text, '=');

    if (value == NULL)
        return false;
    *value = '\0';
    if (read_value(text, value + 1, tres, typed))
        return true;
    *value = '=';
    return false;
}

#define PARTS_MAX 64u           /* resources in one cell */

/* Cuts a cell at its commas, in place; *count is 0 for an empty cell.  Columns
 * become those of the line. */
static bool cut_cell(struct sacct *log, int column, struct cell part[PARTS_MAX], size_t *count,
                     struct err *err)
{
    struct cell whole = sacct_cell(log, column);

    *count = whole.text[0] == '\0' ? 0 : record_cut(whole.text, ',', part, PARTS_MAX);
    if (*count > PARTS_MAX)
        return record_fault(&log->record, whole, sacct_columns[column],
                            "at most 64 resources between commas", err);
    for (size_t i = 0; i < *count; i++)
        part[i].col += whole.col - 1;
    return true;
}

/* Reads trackable resources, such as
 * "billing=8,cpu=8,gres/gpu:a100=4,mem=64G,node=2". Where types and their sum
 * are both stated, the larger number counts. */
static bool read_tres(struct sacct *log, int column, struct tres *tres,
                      struct err *err)
{
    struct cell part[PARTS_MAX];
    int64_t typed = 0;
    size_t count;

    memset(tres, 0, sizeof *tres);
    if (!cut_cell(log, column, part, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_resource(part[i].text, tres, &typed))
            return record_fault(&log->record, part[i], sacct_columns[column],
                                "NAME=COUNT between commas", err);
    }
    if (typed > tres->gpus)
        tres->gpus = typed;
    return true;
}

/* Reads "gpu:a100:4" or "gpu:4" of one node and adds it, times the nodes.
 * Other resources (mps, shard) are passed over: they count no GPUs. */
static bool read_gres_item(const char *text, int64_t nodes, struct tres *tres)
{
    static const char gpu[] = "gpu";
    size_t name = sizeof gpu - 1;
    const char *type, *last;
    int64_t count;

    if (strncmp(text, "gres:", 5) == 0)
        text += 5;
    tres->shares = tres->shares || is_share(text);
    if (strncmp(text, gpu, name) != 0 || (text[name] != ':' && text[name] != '\0'))
        return true;
    last = strrchr(text, ':');
    if (last == NULL || !scan_i64(last + 1, strlen(last + 1), &count) || count < 0 ||
        count > 1000)
        return false;
    tres->gpus += count * (nodes > 0 ? nodes : 1);
    type = text + name + 1;
    if (last < type)
        return true;
    if (memchr(type, ':', (size_t)(last - type)) != NULL)
        return false;
    add_type(tres->types, type, (size_t)(last - type));
    return true;
}

/* Reads generic resources of each node, "gpu:a100:4,mps:100", as Slurm wrote
 * them before 20.11. */
static bool read_gres(struct sacct *log, int column, int64_t nodes,
                      struct tres *tres, struct err *err)
{
    struct cell part[PARTS_MAX];
    size_t count;

    memset(tres, 0, sizeof *tres);
    if (!cut_cell(log, column, part, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_gres_item(part[i].text, nodes, tres))
            return record_fault(&log->record, part[i], sacct_columns[column],
                                "such as gpu:a100:4", err);
    }
    return true;
}

/* Reads ReqMem where the resources state no memory: "4000Mc" is of a core,
 * "4Gn" of a node, "4G" of the job since Slurm 21.08. */
static bool read_memory(struct sacct *log, struct tres *tres,
                        struct err *err)
{
    struct cell cell = sacct_cell(log, MEMORY);
    const char *rest;
    double bytes;

    if (tres->memory_bytes > 0.0 || cell.text[0] == '\0' ||
        strcmp(cell.text, "0") == 0)
        return true;
    if (!record_bytes(cell.text, 1024.0 * 1024.0, &bytes, &rest) ||
        (*rest != '\0' && rest[1] != '\0') || strchr("cn", *rest) == NULL)
        return record_fault(&log->record, cell, "ReqMem",
                            "memory such as 64G, 4000Mc or 4Gn", err);
    if (*rest == 'c')
        bytes *= (double)tres->cores;
    else if (*rest == 'n')
        bytes *= (double)(tres->nodes > 0 ? tres->nodes : 1);
    tres->memory_bytes = bytes <= BYTES_MAX ? bytes : BYTES_MAX;
    return true;
}

/* Reads a column of its own, NNodes or NCPUS, where the resources do not state
 * the number. */
static bool read_count(struct sacct *log, int column, int64_t *count,
                       struct err *err)
{
    struct cell cell = sacct_cell(log, column);

    if (*count > 0 || cell.text[0] == '\0')
        return true;
    return (scan_i64(cell.text, strlen(cell.text), count) && *count >= 0 &&
            *count <= COUNT_MAX) ||
           record_fault(&log->record, cell, sacct_columns[column],
                        "a whole number", err);
}

/* Says that a job without GPUs has parts of some. */
static void note_shares(struct sacct *log)
{
    notes_count(&log->record.notes, "jobs have shares of GPUs (shard, mps), whose size is "
                "not known: they count as jobs without a GPU");
}

/* Puts what the job held; of a job that never ran, what it asked for.  GPU
 * types are those that it asked for: a job that got an A100 without asking may
 * run on any. */
bool sacct_put_resources(struct sacct *log, struct err *err)
{
    struct record *record = &log->record;
    struct tres held, asked;
    bool shares;
    uint32_t col = sacct_cell(log, sacct_has(log, ALLOC) ? ALLOC : REQ).col;

    if (!read_tres(log, REQ, &asked, err) ||
        !read_tres(log, ALLOC, &held, err))
        return false;
    shares = held.shares || asked.shares;
    if (held.gpus == 0 && held.cores == 0)
        held = asked;
    if (!read_count(log, NODES, &held.nodes, err) ||
        !read_count(log, CPUS, &held.cores, err) ||
        (held.gpus == 0 &&
         !read_gres(log, sacct_has(log, ALLOC_GRES) ? ALLOC_GRES : REQ_GRES,
                    held.nodes, &asked, err)) ||
        !read_memory(log, &held, err))
        return false;
    if (held.gpus == 0)
        held.gpus = asked.gpus;
    if (held.gpus == 0 && (shares || asked.shares))
        note_shares(log);
    record_put_count(record, LOG_GPUS, held.gpus, col);
    if (held.nodes > 0)
        record_put_count(record, LOG_NODES, held.nodes, col);
    if (held.cores > 0)
        record_put_count(record, LOG_CORES, held.cores, col);
    if (held.memory_bytes > 0.0)
        record_put_count(record, LOG_MEMORY,
                         (int64_t)(held.memory_bytes / 1048576.0), col);
    memcpy(log->types, asked.types, sizeof log->types);
    record_put(record, LOG_TYPES, log->types, col);
    if (asked.types[0] != '\0')
        notes_count(&record->notes, "jobs asked for GPU type %s, and are kept "
                    "to the types of that name", asked.types);
    return true;
}
