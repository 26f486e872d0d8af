/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_json.c - phase runs as complete events of the Trace Event Format.
 *
 * A process is a trial (point, policy, seed), a thread is a role of a job.
 * Times are microseconds, as the format wants.  Source: Trace Event Format,
 * Google, events of type X and M.
 */
#include "experiments/session/trace_json.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

enum field {
    F_POINT, F_POLICY, F_SEED, F_JOB, F_PHASE, F_ROLE, F_START, F_END, F_GPUS,
    F_NODES, F_BOTTLENECK, F_COUNT
};
static const char *const field_name[F_COUNT] = {
    "point", "policy", "seed", "job", "phase", "role", "start_s", "end_s",
    "gpus", "nodes", "bottleneck"
};

struct names {
    const char **item;
    unsigned count, room;
};

struct writer {
    struct arena *arena;
    struct csv *in;
    struct out *out;
    size_t column[F_COUNT];
    const char *process;    /* the last one; trials come one after another */
    unsigned pid;
    struct names thread;    /* of this process */
    bool first;
};

/* Returns a field of the row of phases.csv at which the writer stands. */
static const char *field(const struct writer *w, enum field f)
{
    return csv_text(w->in, w->column[f]);
}

/* Writes an event that names a process (tid 0) or a thread. */
static void meta(struct writer *w, const char *what, unsigned tid,
                 const char *name)
{
    out_printf(w->out, "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,"
               "\"tid\":%u,\"args\":{\"name\":", w->first ? "" : ",\n", what,
               w->pid, tid);
    out_json_text(w->out, name);
    out_text(w->out, "}}");
    w->first = false;
}

/* Begins a process, if the row is of another trial than the one before. */
static void enter_process(struct writer *w)
{
    const char *name = text_format(w->arena, "%s %s seed %s",
                                   field(w, F_POINT), field(w, F_POLICY),
                                   field(w, F_SEED));

    if (w->process != NULL && strcmp(w->process, name) == 0)
        return;
    w->process = name;
    w->pid++;
    w->thread.count = 0;
    meta(w, "process_name", 0, name);
}

/* Returns the thread of a role of a job, from 1; a new one gets its name. */
static unsigned thread_id(struct writer *w)
{
    struct names *t = &w->thread;
    const char *name = text_format(w->arena, "job %s %s", field(w, F_JOB),
                                   field(w, F_ROLE));

    for (unsigned i = t->count; i-- > 0;)   /* recent ones are near the end */
        if (strcmp(t->item[i], name) == 0)
            return i + 1;
    if (t->count == t->room) {
        t->item = arena_grow(w->arena, t->item, t->room, t->room * 2 + 16,
                             sizeof *t->item);
        t->room = t->room * 2 + 16;
    }
    t->item[t->count++] = name;
    meta(w, "thread_name", t->count, name);
    return t->count;
}

/* Writes the phase of a row.  Phases that never started or ended have no event. */
static bool event(struct writer *w, struct err *err)
{
    double start, end;
    unsigned tid;

    if (!csv_number(w->in, w->column[F_START], &start, err) ||
        !csv_number(w->in, w->column[F_END], &end, err))
        return false;
    if (isnan(start) || isnan(end))
        return true;
    enter_process(w);
    tid = thread_id(w);
    out_printf(w->out, "%s{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,"
               "\"dur\":%.3f,\"name\":", w->first ? "" : ",\n", w->pid, tid,
               start * 1e6, (end - start) * 1e6);
    out_json_text(w->out, field(w, F_PHASE));
    out_text(w->out, ",\"args\":{\"gpus\":");
    out_json_text(w->out, field(w, F_GPUS));
    out_text(w->out, ",\"nodes\":");
    out_json_text(w->out, field(w, F_NODES));
    out_text(w->out, ",\"bottleneck\":");
    out_json_text(w->out, field(w, F_BOTTLENECK));
    out_text(w->out, "}}");
    w->first = false;
    return true;
}

/* Writes all phases, in the order of the table. */
static bool write_all(struct writer *w, struct err *err)
{
    enum csv_step step;

    for (unsigned f = 0; f < F_COUNT; f++)
        if (!csv_need_column(w->in, field_name[f], &w->column[f], err))
            return false;
    out_text(w->out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    while ((step = csv_next(w->in, err)) == CSV_ROW)
        if (!event(w, err))
            return false;
    out_text(w->out, "\n]}\n");
    return step == CSV_END;
}

bool trace_json_write(const struct folder *dir, struct err *err)
{
    struct arena *arena = arena_new(1 << 16);
    struct writer w = { .arena = arena, .first = true };
    struct err why = { 0 };
    bool ok;

    w.in = csv_open(arena, folder_join(arena, dir, csv_phases.file), CSV_TABLE,
                    &why);
    w.out = w.in == NULL ? NULL
          : out_in(arena, dir, "trace.json", &why);
    ok = w.out != NULL && write_all(&w, &why) && out_close(w.out, &why);
    out_abandon(w.out);
    csv_close(w.in);
    arena_free(arena);
    if (!ok) {      /* the file's name went with the arena */
        why.pos.file = NULL;
        err_set(err, why.kind, why.pos, "%.80s/trace.json: %.120s",
                folder_path(dir), why.text);
    }
    return ok;
}
