/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults.c - from points of a series to spans out of service.
 *
 * Rows of a server must stand together and rise in time, so that one pass with
 * one open span a server suffices.  The spans are sorted by their beginning.
 * `per_node_s` is the mean rate, for policies that plan with one.
 */
#include "models/cluster/faults.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/time_series.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/config/conf.h"

struct faults_keys {
    const char *file;           /* the series */
    int64_t servers, from_ns;   /* that were watched, 0: those of the file; the time in the
                                 * file at which a run begins */
};

static const struct conf_field faults_fields[] = {
    CONF_KEY("file", CONF_TEXT, faults_keys, file, CONF_REQUIRED,
             "CSV of series, time_s, value: a series per server, the value how "
             "many faults it has, as `clustersim import faults` writes it"),
    CONF_KEY("servers", CONF_INT, faults_keys, servers, "0",
             "watched in all, those without a fault too; 0: those of the file",
             .max = 1e6),
    CONF_KEY("from", CONF_TIME, faults_keys, from_ns, "0s",
             "time of the file at which the run begins, counted from its time 0", .max = 1e10),
};
const struct conf_schema faults_schema =
    CONF_SCHEMA("cluster.failures.trace",
                "failures of nodes as they were recorded", faults_fields);

struct server {
    const char *name;           /* as the file has it */
    int64_t last_ns;            /* of its last row */
    int64_t down_ns;            /* since when; CLOCK_NEVER_NS: it is well */
};

/* A file being read. */
struct reading {
    struct arena *arena;        /* of the experiment */
    struct faults *faults;      /* what is made */
    struct server *server;      /* in the order of the file */
    uint32_t servers, server_room, fault_room; /* servers so far; entries of `server` and of
                                                * faults->fault */
    int64_t from_ns;            /* as in struct faults_keys */
};

/* The rows of a server stand together; stands_together() looks afterwards. */
static uint32_t server_of(struct reading *r, const char *name)
{
    assert(name != NULL);
    if (r->servers > 0 &&
        strcmp(r->server[r->servers - 1].name, name) == 0)
        return r->servers - 1;
    ARENA_REACH(r->arena, r->server, r->server_room, r->servers);
    r->server[r->servers] = (struct server) {
        arena_text(r->arena, name), INT64_MIN, CLOCK_NEVER_NS
    };
    return r->servers++;
}

/* What was over before the run is left out, what still was is cut.  up_ns: CLOCK_NEVER_NS if
 * the file ends before it is repaired. */
static void add_fault(struct reading *r, uint32_t server, int64_t up_ns)
{
    assert(server < r->servers);
    struct faults *f = r->faults;
    int64_t down_ns = r->server[server].down_ns - r->from_ns;

    if (up_ns != CLOCK_NEVER_NS)
        up_ns -= r->from_ns;
    if (up_ns <= 0 || up_ns <= down_ns)
        return;
    ARENA_ADD(r->arena, f->fault, f->count, r->fault_room,
              (struct fault) { down_ns > 0 ? down_ns : 0, up_ns, server });
}

/* One point: a span begins where faults rise from 0, and ends where they
 * return to 0. */
static bool read_row(void *self, const char *name, int64_t time_ns,
                     double value, struct err_pos pos, struct err *err)
{
    assert(self != NULL && name != NULL);
    struct reading *r = self;
    uint32_t i = server_of(r, name);
    struct server *server = &r->server[i];

    if (time_ns < server->last_ns)
        return err_set(err, ERR_RANGE, pos,
                       "a point of server '%s' is earlier than the one "
                       "before", name);
    server->last_ns = time_ns;
    if (value > 0 && server->down_ns == CLOCK_NEVER_NS) {
        server->down_ns = time_ns;
    } else if (!(value > 0) && server->down_ns != CLOCK_NEVER_NS) {
        add_fault(r, i, time_ns);
        server->down_ns = CLOCK_NEVER_NS;
    }
    return true;
}

/* For qsort(): by time, then by server, so that the order of the file does not
 * matter. */
static int compare_times(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;

    if (x->down_ns != y->down_ns)
        return x->down_ns < y->down_ns ? -1 : 1;
    if (x->server != y->server)
        return x->server < y->server ? -1 : 1;
    return (x->up_ns > y->up_ns) - (x->up_ns < y->up_ns);
}

/* For qsort(): by name. */
static int compare_names(const void *a, const void *b)
{
    const struct server *x = a, *y = b;

    return strcmp(x->name, y->name);    /* equal ones are the fault */
}

/* A server with two blocks of rows would be two servers.  It sorts the servers by name, so
 * that their places are no longer the numbers that faults have. */
static bool check_together(struct reading *r, const struct conf_node *file,
                           struct err *err)
{
    qsort(r->server, r->servers, sizeof *r->server, compare_names);
    for (uint32_t i = 1; i < r->servers; i++)
        if (strcmp(r->server[i].name, r->server[i - 1].name) == 0)
            return err_set(err, ERR_RANGE, conf_pos(file),
                           "the rows of server '%s' must stand together",
                           r->server[i].name);
    return true;
}

/* A server that is down at the end of the file stays down.  The rate is the
 * mean over all servers that were watched, those without a fault too. */
const struct faults *faults_read(struct arena *arena,
                                 const struct conf_node *conf,
                                 uint32_t nodes, struct err *err)
{
    assert(arena != NULL && conf != NULL);
    struct faults *faults = arena_alloc(arena, 1, sizeof *faults);
    struct reading r = { .arena = arena, .faults = faults };
    struct faults_keys keys = { 0 };

    if (!conf_fill(conf, &faults_schema, &keys, err))
        return NULL;
    r.from_ns = keys.from_ns;
    if (!time_series_rows(arena, conf_get(conf, "file"), read_row, &r, err))
        return NULL;
    for (uint32_t i = 0; i < r.servers; i++)
        /* Its fault has no end in the file. */
        if (r.server[i].down_ns != CLOCK_NEVER_NS)
            add_fault(&r, i, CLOCK_NEVER_NS);
    if (r.servers > 0 && !check_together(&r, conf_get(conf, "file"), err))
        return NULL;
    faults->servers = keys.servers > 0 ? (uint32_t)keys.servers : r.servers;
    if (faults->servers < r.servers) {
        err_set(err, ERR_RANGE, conf_pos(conf_get(conf, "servers")),
                "servers must be at least the %u that the file names, found "
                "%u", r.servers, faults->servers);
        return NULL;
    }
    if (nodes > faults->servers) {
        err_set(err, ERR_RANGE, conf_pos(conf),
                "the trace has %u servers and the cluster %u nodes: each node "
                "must have a server of its own", faults->servers, nodes);
        err_hint(err, "Say with `servers:` how many were watched, those "
                      "without a fault too.");
        return NULL;
    }
    if (faults->count == 0)
        return faults;
    qsort(faults->fault, faults->count, sizeof *faults->fault, compare_times);
    /* The file is watched until its last fault. */
    double span_s = clock_s_from_ns(faults->fault[faults->count - 1].down_ns);
    if (span_s > 0)
        faults->per_node_s = faults->count / (span_s * faults->servers);
    return faults;
}
