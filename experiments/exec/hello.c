/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hello.c - reads what a program says of itself: its name, flags, order and parameters.
 */
#include <math.h>
#include <string.h>

#include "experiments/exec/answer.h"
#include "experiments/exec/exec.h"
#include "experiments/exec/guest.h"
#include "experiments/exec/reader.h"
#include "policies/params.h"
#include "sim/base/err.h"
#include "sim/text/json.h"

/* Flags by name, and their bits in the same order (flags.def). */
static const char *const flag_names[] = {
#define FLAG(NAME, BIT) #NAME,
#include "experiments/exec/flags.def"
#undef FLAG
    NULL
};
static const uint32_t flag_bits[] = {
#define FLAG(NAME, BIT) BIT,
#include "experiments/exec/flags.def"
#undef FLAG
};
static const char *const kind_names[] = {
    [CS_PARAM_INT] = "int", [CS_PARAM_REAL] = "real", [CS_PARAM_FRACTION] = "fraction",
    [CS_PARAM_TIME] = "time", [CS_PARAM_BOOL] = "bool", [CS_PARAM_TEXT] = "text",
    [CS_PARAM_CHOICE] = "choice", NULL
};
static const char *const order_names[] = {
    "job", "submit", "ready", "estimate", "gpus", "priority", NULL
};

/* Sets the bit of a flag by its name (flags.def). */
static bool read_flag(struct reader *r, enum json_token token)
{
    struct exec_self *self = r->out;
    size_t bytes;
    const char *word = json_text(r->json, &bytes);
    int i = token == JSON_TEXT ? reader_find(flag_names, word) : -1;

    if (i < 0)
        return reader_word_fault(r, "there is no flag", token == JSON_TEXT ? word : "", flag_names);
    self->flags |= flag_bits[i];
    return true;
}

/* "-gpus" is the largest first. */
static bool read_key(struct reader *r, enum json_token token)
{
    struct exec_self *self = r->out;
    size_t bytes;
    const char *word = json_text(r->json, &bytes);
    bool falls = token == JSON_TEXT && word[0] == '-';
    int i = token == JSON_TEXT ? reader_find(order_names, word + falls) : -1;

    if (i < 0)
        return reader_word_fault(r, "tasks are not ordered by", token == JSON_TEXT ? word : "",
                              order_names);
    if (self->key_count == EXEC_KEYS_MAX)
        return reader_fault(r, "an order has at most 6 keys");
    self->falls[self->key_count] = falls;
    self->key[self->key_count++] = (enum exec_key)i;
    return true;
}

/* Reads a word of a choice: a text without blanks.  Words are joined by blanks, as
 * a table of a compiled policy has them. */
static bool read_choice(struct reader *r, enum json_token token)
{
    struct exec_self *self = r->out;
    struct exec_param *param = &self->param[self->param_count];
    size_t bytes, used = strlen(param->words);
    const char *word = json_text(r->json, &bytes);

    if (token != JSON_TEXT || word[0] == '\0' || strchr(word, ' ') != NULL)
        return reader_fault(r, "a word of a choice is a text without blanks");
    if (used + 1 + strlen(word) >= sizeof param->words)
        return reader_fault(r, "the words are too long together");
    if (used > 0)
        param->words[used++] = ' ';
    strcpy(param->words + used, word);
    return true;
}

/* Reads a default, as text: a number or a word is what a user would write in YAML. */
static bool read_fallback(struct reader *r, struct exec_param *param)
{
    enum json_token token;
    size_t bytes;
    const char *text;

    if (!reader_next(r, &token))
        return false;
    if (token != JSON_TEXT && token != JSON_NUMBER && token != JSON_TRUE &&
        token != JSON_FALSE)
        return reader_fault(r, "a default is a text, a number, true or false");
    text = json_text(r->json, &bytes);
    if (token == JSON_TRUE || token == JSON_FALSE) {
        text = token == JSON_TRUE ? "true" : "false";
        bytes = strlen(text);
    }
    if (bytes >= sizeof param->fallback)
        return reader_fault(r, "this text is too long");
    memcpy(param->fallback, text, bytes);
    param->fallback[bytes] = '\0';
    return true;
}

/* Sets the kind by its name; an unknown one is a fault, and leaves -1 there. */
static bool read_kind(struct reader *r, struct exec_param *param)
{
    const char *word;

    if (!reader_text(r, &word))
        return false;
    param->kind = reader_find(kind_names, word);
    return param->kind >= 0 ||
           reader_word_fault(r, "a parameter is an int, real, fraction, time, bool, text or "
                             "choice, and not", word, kind_names);
}

/* Keys of a parameter, in the order of param_keys. */
enum param_key {
    PARAM_KEY, PARAM_KIND, PARAM_DEFAULT, PARAM_HELP, PARAM_MIN, PARAM_MAX, PARAM_WORDS
};
static const char *const param_keys[] = {
    "key", "kind", "default", "help", "min", "max", "words", NULL
};

/* Fills the parameter behind those that are read (param_count); read_param() counts
 * it. */
static bool param_value(struct reader *r, uint32_t key)
{
    struct exec_self *self = r->out;
    struct exec_param *param = &self->param[self->param_count];

    switch ((enum param_key)key) {
    case PARAM_KEY: return reader_word(r, param->key, sizeof param->key);
    case PARAM_KIND: return read_kind(r, param);
    case PARAM_DEFAULT: return read_fallback(r, param);
    case PARAM_HELP: return reader_word(r, param->help, sizeof param->help);
    case PARAM_MIN: return reader_real(r, &param->min);
    case PARAM_MAX: return reader_real(r, &param->max);
    case PARAM_WORDS: return reader_list(r, read_choice);
    }
    return false;
}

static const struct reader_map param_map = { param_keys, param_value };

/* What is not given of a range has no end; nothing given: no range, as in a compiled
 * table. */
static void fill_range(struct exec_param *param)
{
    bool has_min = !isnan(param->min), has_max = !isnan(param->max);

    if (!has_min)
        param->min = has_max ? -INFINITY : 0;
    if (!has_max)
        param->max = has_min ? INFINITY : 0;
}

/* A parameter as {key, kind, default, help, min, max, words}; what a compiled
 * policy could not declare is refused here. */
static bool read_param(struct reader *r, enum json_token token)
{
    struct exec_self *self = r->out;
    struct exec_param *param = &self->param[self->param_count];

    if (self->param_count == EXEC_PARAMS_MAX)
        return reader_fault(r, "a program has at most 24 parameters");
    if (token != JSON_OBJECT)
        return reader_fault(r, "a parameter is a map such as {\"key\":\"depth\",\"kind\":\"int\","
                         "\"default\":12,\"help\":\"tasks looked at\"}");
    *param = (struct exec_param){ .kind = -1, .min = NAN, .max = NAN };
    if (!reader_map(r, true, &param_map))
        return false;
    if (param->key[0] == '\0' || param->kind < 0 || param->help[0] == '\0')
        return reader_fault(r, "a parameter needs key, kind and help");
    if ((param->kind == CS_PARAM_CHOICE) != (param->words[0] != '\0'))
        return reader_fault(r, "a choice has words, and nothing else has");
    if (param->kind != CS_PARAM_TEXT && param->fallback[0] == '\0')
        return reader_fault(r, "a parameter that is no text needs a default");
    fill_range(param);
    if (param->min > param->max)
        return reader_fault(r, "min is above max");
    self->param_count++;
    return true;
}

/* There is one version yet, so any other one is a fault. */
static bool read_protocol(struct reader *r)
{
    struct exec_self *self = r->out;
    int64_t version;

    if (!reader_int(r, 0, INT64_MAX, &version))
        return false;
    self->speaks = true;
    return version == EXEC_PROTOCOL ||
           err_set(r->err, ERR_RANGE, json_pos(r->json), "it speaks version %lld of "
                   "the protocol, and this program version %u", (long long)version,
                   EXEC_PROTOCOL);
}

/* Keys of the answer to hello, in the order of self_keys. */
enum self_key {
    SELF_N, SELF_PROTOCOL, SELF_NAME, SELF_SUMMARY, SELF_FLAGS, SELF_ORDER, SELF_PARAMS,
    SELF_THREADS, SELF_REUSE
};
static const char *const self_keys[] = {
    "n", "protocol", "name", "summary", "flags", "order", "params", "threads", "reuse", NULL
};

/* Reads the value of one key of the answer to hello. */
static bool self_value(struct reader *r, uint32_t key)
{
    struct exec_self *self = r->out;

    switch ((enum self_key)key) {
    case SELF_N: return reader_int(r, 0, 0, &r->number);
    case SELF_PROTOCOL: return read_protocol(r);
    case SELF_NAME: return reader_word(r, self->name, sizeof self->name);
    case SELF_SUMMARY: return reader_word(r, self->summary, sizeof self->summary);
    case SELF_FLAGS: return reader_list(r, read_flag);
    case SELF_ORDER: return reader_list(r, read_key);
    case SELF_PARAMS: return reader_list(r, read_param);
    case SELF_THREADS: return reader_bool(r, &self->threads);
    case SELF_REUSE: return reader_bool(r, &self->reuse);
    }
    return false;
}

static const struct reader_map self_map = { self_keys, self_value };

/* protocol and name are needed; all else has a usual value. */
bool answer_read_self(struct json *json, char *line, size_t bytes,
                      struct exec_self *self, struct err *err)
{
    struct reader r = { json, err, -1, 0, self };

    *self = (struct exec_self){ .name = "" };
    if (!reader_line(&r, line, bytes, &self_map))
        return false;
    if (!self->speaks)
        return reader_fault(&r, "the key protocol is missing");
    return self->name[0] != '\0' || reader_fault(&r, "the key name is missing");
}
