/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inputs.c - ranges of keys, and their values.
 *
 * An input is one coordinate in [0, 1] of a design (Sobol, Latin hypercube,
 * Morris): a range is mapped linearly or by its logarithm, a list of words and a
 * range of whole numbers are cut into equal parts, so that each value is as likely.
 *
 * An example: whole numbers from 1 to 4 are four parts.  u = 0.3 lies in the second part and
 * means 2; the place of 2 is 1/3.
 */
#include "experiments/spec/inputs.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"

#define SAMPLE_STEP 1e-3        /* values of a range are told apart to a tenth of it */

/* Is the first step of the key, of `bytes` bytes, that word? */
static bool is_first_step(const char *key, size_t bytes, const char *word)
{
    return strlen(word) == bytes && memcmp(key, word, bytes) == 0;
}

/* The first step must be one that a point may change. */
bool experiment_key_check(const char *key, const char *what, struct err_pos pos,
                          struct err *err)
{
    size_t root = strcspn(key, ".");

    if (!is_first_step(key, root, "workload") && !is_first_step(key, root, "cluster") &&
        !(is_first_step(key, root, "policies") && key[root] == '.') &&
        strcmp(key, "fidelity") != 0) {
        err_set(err, ERR_SCHEMA, pos, "%s must begin with workload. cluster. or "
                "policies.NAME., or be fidelity, and is '%.80s'", what, key);
        return err_hint(err, "Write it from the top of the file, as in "
                        "workload.arrival.rate.");
    }
    if (strstr(key, "..") != NULL || key[strlen(key) - 1] == '.')
        return err_set(err, ERR_SCHEMA, pos, "%s must have a name after each dot, "
                       "and is '%.80s'", what, key);
    return true;
}

/* The keys of a range. */
struct input_keys {
    const char *from, *to, *why;
    bool log;                   /* spaced by ratios */
};

static const struct conf_field input_field[] = {
    CONF_KEY("from", CONF_TEXT, input_keys, from, CONF_REQUIRED,
             "one end of what is plausible, with its unit"),
    CONF_KEY("to", CONF_TEXT, input_keys, to, CONF_REQUIRED,
             "the other end, in the same unit"),
    CONF_KEY("log", CONF_BOOL, input_keys, log, "false",
             "steps are ratios, for ranges of orders of magnitude"),
    CONF_KEY("why", CONF_TEXT, input_keys, why, CONF_ABSENT,
             "source of the range, for the table"),
};

const struct conf_schema input_schema =
    CONF_SCHEMA("experiment.input", "the plausible range of a key",
                input_field);

/* Reads {from, to, log, why}. */
static bool read_range(const struct conf_node *map, struct input *input,
                       struct err *err)
{
    struct input_keys keys = { 0 };

    if (!conf_fill(map, &input_schema, &keys, err))
        return false;
    input->why = keys.why;
    return quantity_range_read(conf_get(map, "from"), conf_get(map, "to"), keys.log,
                               &input->range, err);
}

/* Reads a list of words.  There must be at least two, or nothing would vary. */
static bool read_words(struct arena *arena, const struct conf_node *list,
                       struct input *input, struct err *err)
{
    const char **word = arena_alloc(arena, conf_count(list) + 1, sizeof *word);

    if (conf_count(list) < 2)
        return err_set(err, ERR_SCHEMA, conf_pos(list), "an input must have two values "
                       "or more, and has %zu", conf_count(list));
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);

        if (conf_kind(item) != CONF_SCALAR)
            return err_set(err, ERR_SCHEMA, conf_pos(item), "a value of an input must "
                           "be a word or a number, not a map or a list");
        word[i] = conf_text(item);
    }
    input->word = word;
    input->word_count = (uint32_t)conf_count(list);
    return true;
}

struct input *inputs_read(struct arena *arena, const struct conf_node *map,
                          uint32_t *count, struct err *err)
{
    struct input *input;

    *count = conf_kind(map) == CONF_MAP ? (uint32_t)conf_count(map) : 0;
    if (*count == 0) {
        err_set(err, ERR_SCHEMA, conf_pos(map), "ranges must be a map from a key to its "
                "range");
        err_hint(err, "Write workload.arrival.rate: {from: 2/h, to: 6/h}.");
        return NULL;
    }
    input = arena_alloc(arena, *count, sizeof *input);
    for (uint32_t i = 0; i < *count; i++) {
        const struct conf_node *value = conf_value(map, i);

        input[i].key = conf_key(map, i);
        input[i].pos = conf_key_pos(map, i);
        input[i].node = value;
        if (!experiment_key_check(input[i].key, "an input", input[i].pos, err))
            return NULL;
        if (conf_kind(value) == CONF_SCALAR) {
            err_set(err, ERR_SCHEMA, conf_pos(value), "an input must have a range or a "
                    "list of values, found '%.40s'", conf_text(value));
            err_hint(err, "Write {from: 2/h, to: 6/h}, or [a, b] of words.");
            return NULL;
        }
        if (conf_kind(value) == CONF_LIST ? !read_words(arena, value, &input[i], err)
                                          : !read_range(value, &input[i], err))
            return NULL;
    }
    return input;
}

const char *input_at(struct arena *arena, const struct input *input, double u)
{
    assert(input->word == NULL);
    u = fmin(1, fmax(0, u));
    return quantity_at(arena, &input->range, &u, SAMPLE_STEP);
}

/* Returns in which of `values` equal parts of [0, 1] u lies, from 0; 1 lies in
 * the last one. */
static double find_part(double u, double values)
{
    assert(u >= 0.0 && values >= 2.0);
    return fmin(floor(u * values), values - 1.0);
}

const char *input_draw(struct arena *arena, const struct input *input, double *u)
{
    const struct quantity_range *range = &input->range;
    double last = input->word != NULL ? input->word_count - 1.0
                                      : fabs(range->to - range->from);

    *u = fmin(1, fmax(0, *u));
    if (input->word != NULL || (range->whole && !range->log))
        *u = find_part(*u, last + 1.0) / last;
    if (input->word != NULL)
        return input->word[(uint32_t)lrint(*u * last)];
    return quantity_at(arena, range, u, SAMPLE_STEP);
}

struct experiment_setting *inputs_draw(struct arena *arena, const struct input *input,
                                       uint32_t count, double *u)
{
    struct experiment_setting *setting = arena_alloc(arena, count + 1,
                                                     sizeof *setting);

    for (uint32_t i = 0; i < count; i++)
        setting[i] = (struct experiment_setting){ input[i].key,
                                                  input_draw(arena, &input[i], &u[i]) };
    return setting;
}

uint32_t input_written(const struct input *input)
{
    return input->word != NULL ? input->word_count : 2;
}

const char *input_written_at(const struct input *input, uint32_t i, struct err_pos *pos)
{
    assert(i < input_written(input));
    *pos = conf_pos(input->word != NULL ? conf_item(input->node, i)
                                        : conf_get(input->node, i == 0 ? "from" : "to"));
    return input->word != NULL ? input->word[i]
         : i == 0 ? input->range.from_text : input->range.to_text;
}

const char *input_from(const struct input *input)
{
    return input->word != NULL ? input->word[0] : input->range.from_text;
}

const char *input_to(const struct input *input)
{
    return input->word != NULL ? input->word[input->word_count - 1]
                               : input->range.to_text;
}
