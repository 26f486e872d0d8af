/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.c - which keys of a mix's entry decide how its jobs run, said or not.
 *
 * From the recipe's own table and from the roles that it made: what a reader of
 * results would otherwise have to know of the recipe.
 */
#include "workloads/recipes/notes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/jobs/job.h"
#include "models/laws/decode.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "workloads/jobs/birth.h"
#include "workloads/random/distribution.h"
#include "workloads/recipes/recipe.h"

#define VALUE_BYTES 160u

/* Notes while they are collected. */
struct notes {
    struct arena *arena;
    struct workload_note *note;
    size_t count, room;
};

/* Adds a note "ROLE.KEY: VALUE", unless there is no more room. */
static void add_note(struct notes *notes, const char *role, const char *key,
                     const char *value, bool said)
{
    char name[64];

    if (notes->count == notes->room)
        return;
    snprintf(name, sizeof name, "%s%s%s", role, role[0] != '\0' ? "." : "",
             key);
    notes->note[notes->count++] = (struct workload_note){
        arena_text(notes->arena, name), arena_text(notes->arena, value), said};
}

/* Returns what to write behind a word that alone would mislead; "" for all
 * others. */
static const char *explain_value(const char *key, const char *value)
{
    if (strcmp(key, "method") != 0)
        return "";
    return strcmp(value, "full") == 0 ? ": all weights are trained"
                                      : ": adapters are trained, not all "
                                        "weights";
}

/* Has the form the role? */
static bool has_role(const struct job_form *form, const char *name)
{
    for (uint32_t r = 0; r < form->role_count; r++)
        if (strcmp(form->role[r].name, name) == 0)
            return true;
    return false;
}

/* Adds the keys that decide most, if the recipe's table has them: the value
 * that the file states, or the default.  `layout: auto` counts as not said, and
 * the note tells which layout it became. */
static void add_keys(struct notes *notes, const struct entry *entry)
{
    static const char *const keys[] = {"method", "precision", "recompute",
                                       "layout", "schedule"};

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        for (size_t f = 0; f < entry->recipe->schema->count; f++) {
            const struct conf_field *field = &entry->recipe->schema->fields[f];
            const struct conf_node *node = conf_get(entry->conf, keys[k]);
            char value[VALUE_BYTES];
            const char *word;

            if (strcmp(field->key, keys[k]) != 0)
                continue;
            word = node != NULL ? conf_text(node) : field->fallback;
            snprintf(value, sizeof value, "%s%s", word,
                     explain_value(keys[k], word));
            bool chosen = strcmp(word, "auto") == 0;
            if (chosen)         /* layout: say which it is */
                snprintf(value, sizeof value, "auto: %s%s",
                         has_role(entry->form, "rollout") ? "disaggregated"
                                                          : "colocated",
                         entry->layout_why != NULL ? entry->layout_why : "");
            add_note(notes, "", keys[k], value, node != NULL && !chosen);
        }
}

/* Notes a fixed number of steps that is no whole number of rounds: a job does
 * whole rounds, so other steps than those that are written count. */
static void add_steps(struct notes *notes, const struct entry *entry)
{
    double steps = distribution_least(&entry->steps), round_steps = entry->form->round_steps;
    double rounds = fmax(round(steps / round_steps), 1);
    char value[VALUE_BYTES];

    assert(round_steps >= 1);
    if (entry->whole || steps != distribution_most(&entry->steps) ||
        rounds * round_steps == steps)
        return;
    snprintf(value, sizeof value, "%.10g count as %.10g: %.10g rounds of %.10g", steps,
             rounds * round_steps, rounds, round_steps);
    add_note(notes, "", "steps", value, false);
}

/* Notes values that are set and change nothing beside another value.  They are
 * told, not refused, so that a sweep may pass through them. */
static void add_idle(struct notes *notes, const struct entry *entry)
{
    const struct conf_node *response = conf_get(entry->conf, "response");
    const struct conf_node *partial = response != NULL ? conf_get(response, "partial") : NULL;
    const struct conf_node *most = response != NULL ? conf_get(response, "max") : NULL;
    const struct conf_node *parallel = conf_get(entry->conf, "sequence_parallel");
    const struct conf_node *tp = conf_get(entry->conf, "tp");
    char value[VALUE_BYTES];

    assert(entry->recipe != NULL);
    if (partial != NULL && most != NULL &&
        strtod(conf_text(partial), NULL) >= strtod(conf_text(most), NULL)) {
        snprintf(value, sizeof value, "%.20s does nothing: no response is longer than %.20s",
                 conf_text(partial), conf_text(most));
        add_note(notes, "response", "partial", value, false);
    }
    if (parallel != NULL && strcmp(conf_text(parallel), "true") == 0 &&
        (tp == NULL || strtod(conf_text(tp), NULL) == 1))
        add_note(notes, "", "sequence_parallel", "true does nothing: tp is 1", false);
}

/* Returns the value of a key of a map; NULL: it is not said, or there is no map. */
static const struct conf_node *find_said(const struct conf_node *map, const char *key)
{
    return map != NULL && conf_kind(map) == CONF_MAP ? conf_get(map, key) : NULL;
}

/* Notes what starting costs on one kind of hardware.  `map` is the role: without its `start`
 * the recipe decides whether a process is parked.  said: the file has the time of a new one. */
static void add_start(struct notes *notes, const char *role, const char *key,
                      const struct conf_node *map, const double seconds[2], bool said)
{
    double start_s = seconds[0], wake_s = seconds[1];
    char value[VALUE_BYTES];

    assert(wake_s <= start_s);
    if (!(start_s > 0.0))
        return;
    snprintf(value, sizeof value, "a parked one is back after %g s%s, a new one after %g s, and "
             "its bytes", wake_s, wake_s < start_s ? ", also on other hardware" : "", start_s);
    add_note(notes, role, key, value,
             said && (wake_s >= start_s || find_said(map, "start") != NULL));
}

/* Notes the cores of a role that computes nothing, and that it starts nothing, unless the file
 * says so. */
static void add_data(struct notes *notes, const struct role_spec *role,
                     const struct conf_node *map, bool said)
{
    char value[VALUE_BYTES];

    assert(role->gpus == 0);
    snprintf(value, sizeof value, "%u in all", role->cores);
    add_note(notes, role->name, "cores", value, find_said(map, "cores") != NULL);
    if (!(role->start_s > 0.0))
        add_note(notes, role->name, "process_start", "0 s: each lease begins to work at once",
                 said);
}

/* Notes what each GPU of a role brings with it, and what starting costs on GPUs, on cores,
 * or on both. */
static void add_role(struct notes *notes, const struct conf_node *conf,
                     const struct role_spec *role)
{
    const struct conf_node *map = conf_get(conf, role->name), *cpu = find_said(map, "cpu");
    const struct role_cores *cores = &role->on_cores;
    bool said = find_said(map, "process_start") != NULL;
    bool on_cores_said = said || find_said(cpu, "process_start") != NULL;
    char value[VALUE_BYTES];

    if (cores->cores > 0) {
        snprintf(value, sizeof value, "%.4g GB, of the node of its %u cores",
                 (double)cores->memory_bytes / 1e9, cores->cores);
        add_note(notes, role->name, "cpu.memory", value, find_said(cpu, "memory") != NULL);
    }
    if (role->gpus > 0) {
        snprintf(value, sizeof value, "%u per GPU", role->cores);
        add_note(notes, role->name, "cores", value, find_said(map, "cores") != NULL);
    }
    if (cores->cores == 0 && role->gpus == 0)
        add_data(notes, role, map, said);
    if (cores->cores == 0 || role->gpus > 0)
        add_start(notes, role->name, "start", map, (double[]){role->start_s, role->wake_s},
                  said);
    if (cores->cores > 0)
        add_start(notes, role->name, "cpu.process_start", map,
                  (double[]){cores->start_s, cores->wake_s}, on_cores_said);
}

/* Notes that an engine on GPUs waits for its host, unless the file says whether it does. */
static void add_engine(struct notes *notes, const struct entry *entry)
{
    const struct job_form *form = entry->form;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct phase_spec *phase = &form->phase[p];
        const char *key = phase->kind == PHASE_INFER ? "infer" : "rollout";

        if (phase_law_usual(phase)->kind == LAW_ROLLOUT && form->role[phase->role].gpus > 0 &&
            find_said(conf_get(entry->conf, key), "async_scheduling") == NULL)
            add_note(notes, key, "async_scheduling", DECODE_HOST_WAITS, false);
    }
}

size_t entry_notes(struct arena *arena, const struct entry *entry,
                struct workload_note *note, size_t room)
{
    struct notes notes = {arena, note, 0, room};

    add_steps(&notes, entry);
    add_idle(&notes, entry);
    add_keys(&notes, entry);
    for (uint32_t r = 0; r < entry->form->role_count; r++)
        add_role(&notes, entry->conf, &entry->form->role[r]);
    add_engine(&notes, entry);
    return notes.count;
}
