/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * semantics.c - the presets of `semantics:`.
 *
 * How each simulator behaves was read from its code and measured by running
 * it: Tiresias (Gu et al., NSDI 2019), Helios (Hu et al., SC 2021), Gavel
 * (Narayanan et al., OSDI 2020), PAI (Weng et al., NSDI 2022), Starburst (Luo
 * et al., ATC 2024), AccaSim (Galleguillos et al., 2019), RLScheduler (Zhang
 * et al., SC 2020), Pollux (Qiao et al., OSDI 2021), FGD (Weng et al., ATC
 * 2023).  The figures are checked by tests/policies/semantics_test.c.
 */
#include "policies/registry/semantics.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Keys that several rows have.  HELIOS_SRTF: what a stop costs is in Helios's code, by the GPUs of
 * the job. */
#define STRICT_COUNT "{blocking: strict, placement: count}"
#define HELIOS_SRTF "{placement: count, tick: 1s, preemption: {cost: " \
                    "{1gpu: 7s, 8gpu: 30s, more: 60s}}}"

#define RL_BACKFILL "{blocking: commit, placement: count, backfill: true"

/* A name with a dash behind that of a simulator is a variant: one of its options, or what it does
 * where a fault of its code is mended (-repaired).  Rows of one figure behave alike on those
 * jobs. */
static const struct semantics_row rows[] = {
    { "textbook", "fcfs", STRICT_COUNT,
      "Strict first come, first served; GPUs are a count.", "10539.5729" },
    { "textbook", "sjf", STRICT_COUNT,
      "Shortest job first; what does not fit blocks.", "7334.4271" },
    { "textbook", "srtf", "{placement: count, preemption: {cost: 0s}}",
      "Dealt anew at every event; stopping is free.", "6893.0854" },
    { "textbook", "easy", "{placement: count}",
      "The head of the queue has a reservation that is kept.", "7960.7250" },
    { "textbook", "dlas", "{placement: count, demotion: corrected}",
      "A job is demoted when its GPU-time reaches the limit.", "6818.0312" },

    { "tiresias", "fcfs", STRICT_COUNT,
      "Its fifo: what does not fit blocks.", "10539.5729" },
    { "tiresias-fjf", "fcfs", "{blocking: skip, placement: count}",
      "Its fit-job-first: what does not fit is passed over.", "7290.8062" },
    { "tiresias", "srtf", "{placement: count, preemption: {cost: 0s}}",
      "Stopping and moving are free; the sorted list persists.",
      "6893.0854" },
    { "tiresias", "srsf", "{placement: count, preemption: {cost: 0s}}",
      "As its srtf, by remaining time x GPUs.", "6675.1271" },
    { "tiresias", "fewest-gpus", "{placement: count, preemption: {cost: 0s}}",
      "As its srtf, by GPUs alone.", "7044.0167" },
    { "tiresias", "dlas", "{placement: count, demotion: tiresias, "
      "preemption: {cost: 0s}}",
      "The timer of a demotion takes (limit - run time) / GPUs, which looks "
      "too late at gangs.", "6813.6875" },

    { "helios", "fcfs", "{blocking: strict, placement: helios}",
      "Gangs up to a node on the fullest node that holds them, larger ones on "
      "empty nodes, their remainder on the emptiest; a gang without a place "
      "blocks.", "26316.0687" },
    { "helios", "sjf", "{blocking: strict, placement: helios}",
      "As its fifo, shortest first.", "11313.0146" },
    { "helios-count", "fcfs", STRICT_COUNT,
      "Its fifo where GPUs of any node will do.", "10539.5729" },
    { "helios-count", "sjf", STRICT_COUNT,
      "Its sjf where GPUs of any node will do.", "7334.4271" },
    { "helios", "srtf", HELIOS_SRTF,
      "Ticks of a second, at whose end a job that has ended is seen: each job "
      "takes one more; a stop adds 7, 30 or 60 s.", "6878.6500" },

    { "gavel", "fcfs", "{placement: count, rounds: {length: 360s, "
      "resolve_at_most_every: 1920s, end_early: true}}",
      "As shipped: rounds of 360 s, solved anew 1920 s after the last time at "
      "the earliest; GPUs of jobs that end idle until then.", "20705.190" },
    { "gavel", "gavel", "{placement: count, rounds: {length: 360s, "
      "resolve_at_most_every: 1920s, end_early: true}}",
      "Shares are solved 1920 s after the last time at the earliest, and dealt "
      "in every round; its own prints 8286.690, as of several best shares its "
      "solver takes others.", "8216.190" },
    { "gavel-each-round", "fcfs", "{placement: count, rounds: {length: "
      "360s, end_early: true}}",
      "The same, solved anew in every round.", "11448.690" },

    { "pollux", "dlas", "{placement: worst_fit, rounds: {length: 60s}, limit_1: "
      "57600s, limit_2: 1000000000s}",
      "Its port of Tiresias: two queues, steps of 60 s, onto the emptiest node; "
      "gangs of several nodes take empty ones, theirs what is free.",
      "13887.5646" },
    { "pollux", "optimus", "{interval: 60s}",
      "Its port of Optimus, dealt anew every 60 s.", "8544.4396" },

    { "pai", "fcfs", "{blocking: skip, placement: count}",
      "Its fifo passes over what does not fit.", "7290.8062" },
    { "pai", "sjf", "{blocking: skip, placement: count}",
      "Shortest first; what does not fit is passed over.", "6816.8250" },

    { "starburst", "fcfs", "{blocking: strict, placement: first_fit}",
      "The first node that holds the gang, whole empty nodes for larger "
      "ones; a gang without a place blocks.", "27235.5312" },
    { "starburst-loop", "fcfs", "{blocking: skip, placement: count}",
      "Its `loop`: what does not fit is passed over.", "7290.8062" },
    { "starburst", "sjf", "{blocking: strict, placement: first_fit}",
      "As its fifo, shortest first.", "10194.4292" },
    { "starburst-count", "fcfs", STRICT_COUNT,
      "Its fifo where GPUs of any node will do.", "10539.5729" },
    { "starburst-count", "sjf", STRICT_COUNT,
      "Its sjf where GPUs of any node will do.", "7334.4271" },

    { "accasim", "fcfs", STRICT_COUNT,
      "What does not fit blocks.", "10539.5729" },
    { "accasim", "sjf", STRICT_COUNT,
      "Shortest first; what does not fit blocks.", "7334.4271" },
    { "accasim", "easy", "{placement: count, reservation: none}",
      "Its backfilling is handed an empty list of reserved nodes, so the head "
      "has no reservation: it is FIFO that skips.", "7290.8062" },

    { "fgd", "fcfs", "{blocking: drop, placement: fgd, ties: shuffled}",
      "The simulator of FGD tries each pod once and drops what does not fit; "
      "of nodes that score alike the one with the smallest name wins, and "
      "names are shuffled by seed.", "6212.1915" },

    { "rlscheduler", "fcfs", "{blocking: commit, placement: count}",
      "What was chosen keeps its turn; in this order that is strict FIFO.",
      "10539.5729" },
    { "rlscheduler", "sjf", "{blocking: commit, placement: count}",
      "What was chosen keeps its turn until it starts, though shorter jobs "
      "come while it waits; of jobs that come at once the first is chosen "
      "before the others are seen.", "8623.0792" },
    { "rlscheduler", "wfp3", "{blocking: commit, placement: count, wait: "
      "unset}", "As shipped: the wait is -1 s less the time of submission, so "
      "that short jobs that came late go last.", "20576.7708" },
    { "rlscheduler", "unicef", "{blocking: commit, placement: count, wait: "
      "unset}", "As shipped: likewise.", "20546.5479" },
    { "rlscheduler", "f1", "{blocking: commit, placement: count}",
      "What was chosen keeps its turn.", "8326.4042" },
    { "rlscheduler-repaired", "wfp3", "{blocking: commit, placement: count}",
      "The wait runs until now.", "8916.4521" },
    { "rlscheduler-repaired", "unicef", "{blocking: commit, placement: count, "
      "wait: offset}", "The wait runs until now.", "8242.2979" },
    { "rlscheduler-backfill", "fcfs", RL_BACKFILL "}",
      "While what was chosen waits, jobs start that end before it could, "
      "judged when it was chosen.", "8662.1938" },
    { "rlscheduler-backfill", "sjf", RL_BACKFILL "}", "Likewise.", "7619.1771" },
    { "rlscheduler-backfill", "f1", RL_BACKFILL "}", "Likewise.", "7600.9375" },
    { "rlscheduler-backfill", "wfp3", RL_BACKFILL ", wait: unset}",
      "Likewise, with the wait as shipped.", "9086.5417" },
    { "rlscheduler-backfill", "unicef", RL_BACKFILL ", wait: unset}",
      "Likewise, with the wait as shipped.", "9520.1271" },
    { "rlscheduler-backfill-repaired", "wfp3", RL_BACKFILL "}",
      "The wait runs until now.", "8155.5958" },
    { "rlscheduler-backfill-repaired", "unicef", RL_BACKFILL ", wait: offset}",
      "The wait runs until now.", "7484.5708" },
};
#define ROWS (sizeof rows / sizeof rows[0])

/* For `list semantics`, in the order of the table; NULL: i is past its end. */
const struct semantics_row *semantics_at(size_t i)
{
    return i < ROWS ? &rows[i] : NULL;
}

/* Reports a preset that is not known, with the nearest name, or one that has no
 * row for the policy, with the policies that it has rows for.  Returns false. */
static bool refuse_preset(const struct conf_node *key, const char *policy,
                    struct err *err)
{
    const char *name = conf_text(key), *names[ROWS + 1], *near;
    bool known = false;
    char list[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < ROWS; i++) {
        names[i] = rows[i].preset;
        if (strcmp(rows[i].preset, name) != 0)
            continue;
        known = true;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                              n == 0 ? "" : ", ", rows[i].policy);
    }
    names[ROWS] = NULL;
    if (known) {
        err_set(err, ERR_REFERENCE, conf_pos(key),
                "semantics %s says nothing of policy %s, only of %s", name,
                policy, list);
        return err_hint(err, "See `clustersim list semantics`.");
    }
    err_set(err, ERR_REFERENCE, conf_pos(key),
            "there are no semantics named %.60s", name);
    near = conf_nearest(name, names);
    return near == NULL
        ? err_hint(err, "See `clustersim list semantics`.")
        : err_hint(err, "Did you mean %s?", near);
}

/* Returns the entry with the keys of a preset.  A key that the user wrote stays: a
 * preset is a set of defaults. */
static const struct conf_node *add_keys(struct arena *arena,
                                        const struct conf_node *entry,
                                        const char *keys, struct err *err)
{
    const struct conf_node *map =
        conf_parse(arena, conf_pos(entry).file, keys, strlen(keys), err);

    for (size_t i = 0; map && entry && i < conf_count(map); i++)
        if (!conf_get(entry, conf_key(map, i)))
            entry = conf_set(arena, entry, conf_key(map, i),
                             conf_value(map, i), conf_pos(entry), err);
    return map ? entry : NULL;
}

const struct conf_node *semantics_apply(struct arena *arena,
                                        const struct conf_node *entry,
                                        const char *policy, struct err *err)
{
    const struct conf_node *key =
        conf_kind(entry) == CONF_MAP ? conf_get(entry, "semantics") : NULL;

    if (key == NULL)
        return entry;
    if (conf_kind(key) != CONF_SCALAR) {
        err_set(err, ERR_SCHEMA, conf_pos(key),
                "key semantics: expected the name of a preset");
        return NULL;
    }
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].preset, conf_text(key)) == 0 &&
            strcmp(rows[i].policy, policy) == 0)
            return add_keys(arena, entry, rows[i].keys, err);
    refuse_preset(key, policy, err);
    return NULL;
}
