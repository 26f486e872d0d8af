/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_state.c - what a training that was interrupted goes on from: a file beside
 * that of the weights, written after each generation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/spec/experiment.h"
#include "experiments/train/training.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

/* Returns PATH.state, in the arena. */
static const char *state_path(const struct training *t)
{
    return text_format(t->arena, "%s.state", t->options->path);
}

/* Returns a hash of all that the next generation hangs on.  --set changes keys and no file,
 * so it has the trials of each point and the keys of the search; generations and patience
 * are not in it, which only say when a training ends. */
static const char *inputs_text(const struct training *t)
{
    const struct experiment *e = t->experiment;
    const struct train_validation *v = &t->keys.validation;
    uint64_t hash = HASH_START;

    for (size_t i = 0; i < t->experiment->input_count; i++)
        hash = hash_bytes(hash, &t->experiment->input[i].hash, sizeof hash);
    hash = hash_bytes(hash, &t->experiment->program_hash, sizeof hash);
    hash = hash_bytes(hash, &t->keys.seeds, sizeof t->keys.seeds);
    hash = hash_bytes(hash, &t->keys.spread, sizeof t->keys.spread);
    hash = hash_bytes(hash, &t->keys.rate, sizeof t->keys.rate);
    hash = hash_bytes(hash, &t->keys.method, sizeof t->keys.method);
    hash = hash_bytes(hash, &t->keys.cells, sizeof t->keys.cells);
    hash = hash_bytes(hash, &t->keys.population, sizeof t->keys.population);
    hash = hash_bytes(hash, &t->keys.race, sizeof t->keys.race);
    hash = hash_bytes(hash, &t->keys.elite, sizeof t->keys.elite);
    hash = hash_bytes(hash, &t->keys.spread_min, sizeof t->keys.spread_min);
    hash = hash_bytes(hash, &t->keys.objective, sizeof t->keys.objective);
    hash = hash_bytes(hash, &v->every, sizeof v->every);
    hash = hash_bytes(hash, &v->seeds, sizeof v->seeds);
    hash = hash_bytes(hash, t->keys.is_held, e->point_count * sizeof *t->keys.is_held);
    for (uint32_t p = 0; p < e->point_count; p++)
        hash = hash_u64(hash, experiment_trial_hash(
            e, (p * e->policy_count + t->keys.policy) * e->seeds));
    return text_format(t->arena, "%016" PRIx64, hash);
}

/* Writes numbers with 17 digits, which give the same double back. */
static void put_list(struct out *out, const char *key, const double *x,
                     uint32_t count)
{
    out_printf(out, "%s:\n", key);
    for (uint32_t i = 0; i < count; i++)
        out_printf(out, "  - %.17g\n", x[i]);
}

bool train_state_write(const struct training *t, struct err *err)
{
    struct out *out = out_open(t->arena, state_path(t), err);

    if (out == NULL)
        return false;
    out_printf(out, "inputs: '%s'\nrng: '%016" PRIx64 " %016" PRIx64 " %016" PRIx64
               " %016" PRIx64 "'\n", inputs_text(t), t->rng.a, t->rng.b, t->rng.c,
               t->rng.counter);
    out_printf(out, "generation: %u\nstale: %u\n"
               "trials: %" PRIu64 "\nscore: %.17g\nmatters: %s\n",
               t->generation, t->stale, t->trials, t->best.score,
               t->matters ? "true" : "false");
    put_list(out, "mean", t->mean, t->keys.weight_count);
    put_list(out, "spread", t->spread, t->keys.weight_count);
    put_list(out, "best", t->best.weight, t->keys.weight_count);
    return out_close(out, err);
}

/* The keys of the file. */
struct state {
    const char *inputs, *rng;   /* the hash of inputs_text(); four words of 16 hexadecimal
                                 * digits */
    int64_t generation, stale, trials; /* as in struct training */
    double score;               /* of the best weights */
    bool matters;
    const struct conf_node *mean, *spread, *best;   /* lists of one number for each weight */
};

static const struct conf_field state_field[] = {
    CONF_KEY("inputs", CONF_TEXT, state, inputs, CONF_REQUIRED, "their hash"),
    CONF_KEY("rng", CONF_TEXT, state, rng, CONF_REQUIRED, "of all draws"),
    CONF_KEY("generation", CONF_INT, state, generation, CONF_REQUIRED, "done",
             .max = 1e6),
    CONF_KEY("stale", CONF_INT, state, stale, CONF_REQUIRED,
             "validations since the best", .max = 1e6),
    CONF_KEY("trials", CONF_INT, state, trials, CONF_REQUIRED, "so far",
             .max = 1e15),
    CONF_KEY("score", CONF_REAL, state, score, CONF_REQUIRED, "of the best",
             .max = 1e300),
    CONF_KEY("matters", CONF_BOOL, state, matters, CONF_REQUIRED,
             "some vector did otherwise than the initial one"),
    CONF_KEY("mean", CONF_NODE, state, mean, CONF_REQUIRED, "of the draw"),
    CONF_KEY("spread", CONF_NODE, state, spread, CONF_REQUIRED, "of the draw"),
    CONF_KEY("best", CONF_NODE, state, best, CONF_REQUIRED, "weights"),
};
static const struct conf_schema state_schema =
    CONF_SCHEMA("state", "of a training", state_field);

/* Reads as many numbers as there are weights. */
static bool take_list(const struct training *t, const struct conf_node *list,
                      double *x, struct err *err)
{
    const struct conf_field field = { .key = "number", .type = CONF_REAL };

    if (conf_kind(list) != CONF_LIST || conf_count(list) != t->keys.weight_count)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "expected a list of %u numbers", t->keys.weight_count);
    for (uint32_t i = 0; i < t->keys.weight_count; i++)
        if (!conf_read(conf_item(list, i), &field, &x[i], err))
            return false;
    return true;
}

/* Takes over a state that was read.  It is refused where the inputs or the program
 * have changed: the training would go on as one that nobody can repeat. */
static bool take_state(struct training *t, const struct conf_node *root,
                       struct err *err)
{
    struct state s;

    if (!conf_fill(root, &state_schema, &s, err))
        return false;
    if (strcmp(s.inputs, inputs_text(t)) != 0 || strlen(s.rng) != 67) {
        err_set(err, ERR_REFERENCE, conf_pos(root),
                "this training began with other inputs or another program");
        return err_hint(err, "Without --resume it begins anew.");
    }
    double *best = arena_alloc(t->arena, t->keys.weight_count, sizeof *best);
    if (!take_list(t, s.mean, t->mean, err) ||
        !take_list(t, s.spread, t->spread, err) ||
        !take_list(t, s.best, best, err))
        return false;
    t->best = train_candidate(t, best, 0);
    t->best.score = s.score;
    t->matters = s.matters;
    t->generation = (uint32_t)s.generation;
    t->stale = (uint32_t)s.stale;
    t->trials = (uint64_t)s.trials;
    t->rng.a = strtoull(s.rng, NULL, 16);
    t->rng.b = strtoull(s.rng + 17, NULL, 16);
    t->rng.c = strtoull(s.rng + 34, NULL, 16);
    t->rng.counter = strtoull(s.rng + 51, NULL, 16);
    return true;
}

/* A file that is there, but cannot be read, is an error. */
bool train_state_read(struct training *t, struct err *err)
{
    const struct conf_node *root = conf_load(t->arena, state_path(t), err);

    if (root == NULL && err->kind == ERR_IO && access(state_path(t), F_OK) != 0)
        *err = (struct err) { 0 };      /* one that is there, and cannot be read, is not lost */
    return root != NULL && take_state(t, root, err);
}

void train_state_drop(const struct training *t)
{
    remove(state_path(t));
}
