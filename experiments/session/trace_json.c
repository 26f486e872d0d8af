/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_json.c - phase runs as complete events of the Trace Event Format.
 *
 * A process is a trial (point, policy, seed), a thread is a role of a job.
 * Times are microseconds, as the format wants.  Source: Trace Event Format,
 * Google, events of type X and M.
 *
 * Threads of a trial are found by a hash: a run may have a million jobs.  Nothing is kept
 * of a row but the names of a thread that is new.
 */
#include "experiments/session/trace_json.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/hash.h"
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

struct thread {
    const char *job, *role;     /* names: a thread is a role of a job */
};

/* Threads of one process, in the order in which they came. */
struct threads {
    struct thread *item;
    uint32_t count, room;
    uint32_t *slot, slots;      /* 1 + the item of a hash; at most half are in use */
};

struct writer {
    struct arena *arena;
    struct csv *in;             /* phases.csv */
    struct out *out;            /* the trace, in Chrome's JSON format */
    size_t column[F_COUNT];     /* of phases.csv, by F_ number */
    const char *trial[3];   /* of the process: F_POINT, F_POLICY, F_SEED; trials come
                               one after another */
    unsigned pid;           /* 0: none yet */
    struct threads thread;  /* of this process */
    bool first;                 /* no event was written: no comma is due */
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
    bool same = w->pid > 0;

    for (int f = F_POINT; f <= F_SEED; f++)
        same = same && strcmp(w->trial[f], field(w, (enum field)f)) == 0;
    if (same)
        return;
    for (int f = F_POINT; f <= F_SEED; f++)
        w->trial[f] = arena_text(w->arena, field(w, (enum field)f));
    w->pid++;
    w->thread.count = 0;
    if (w->thread.slots > 0)
        memset(w->thread.slot, 0, w->thread.slots * sizeof *w->thread.slot);
    meta(w, "process_name", 0, text_format(w->arena, "%s %s seed %s", w->trial[F_POINT],
                                           w->trial[F_POLICY], w->trial[F_SEED]));
}

/* Returns the slot of a role of a job, or the free one where it belongs. */
static uint32_t *slot_of(const struct threads *t, const char *job, const char *role)
{
    uint32_t at = (uint32_t)hash_text(hash_text(HASH_START, job), role) & (t->slots - 1);

    while (t->slot[at] != 0 && (strcmp(t->item[t->slot[at] - 1].job, job) != 0 ||
                                strcmp(t->item[t->slot[at] - 1].role, role) != 0))
        at = (at + 1) & (t->slots - 1);
    return &t->slot[at];
}

/* Doubles the slots, and puts all threads into them again. */
static void more_slots(struct arena *arena, struct threads *t)
{
    t->slots = t->slots == 0 ? 64 : 2 * t->slots;
    t->slot = arena_alloc(arena, t->slots, sizeof *t->slot);
    for (uint32_t i = 0; i < t->count; i++)
        *slot_of(t, t->item[i].job, t->item[i].role) = i + 1;
}

/* Returns the thread of a role of a job, from 1; a new one gets its name. */
static uint32_t thread_id(struct writer *w)
{
    struct threads *t = &w->thread;
    const char *job = field(w, F_JOB), *role = field(w, F_ROLE);
    struct thread new;
    uint32_t *slot;

    if (2 * t->count >= t->slots)
        more_slots(w->arena, t);
    slot = slot_of(t, job, role);
    if (*slot != 0)
        return *slot;
    new = (struct thread){ arena_text(w->arena, job), arena_text(w->arena, role) };
    ARENA_ADD(w->arena, t->item, t->count, t->room, new);
    *slot = t->count;
    meta(w, "thread_name", t->count, text_format(w->arena, "job %s %s", job, role));
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
