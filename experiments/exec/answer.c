/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.c - maps with known keys, read token by token.
 *
 * Nothing a program sends is trusted: every number has a range, every text a
 * length, every key must be known, and the first fault ends the trial with its
 * column.  Memory for requests is kept from answer to answer, and grows with
 * the longest one.
 *
 * A reader of a map is a function that reads the value of one key (value_fn): 1
 * for success, 0 for a fault, -1 for a key that is not known, so that
 * read_map() says so in one place.
 */
#include "experiments/exec/answer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/exec/exec.h"
#include "experiments/exec/guest.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"

/* The line that is read; `out` is what it fills. */
struct reader {
    struct json *json;
    struct err *err;
    int64_t number;             /* "n" of the line; -1: not yet said */
    int64_t expected;
    void *out;
};

/* Reads the value of a key; -1: it is no key of this map. */
typedef int value_fn(struct reader *r, const char *key);

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
static const char *const verb_names[] = {
#define VERB(NAME, OF, NEEDS) #NAME,
#include "experiments/exec/verbs.def"
#undef VERB
    NULL
};
static const char *const kind_names[] = {
    [CS_PARAM_INT] = "int", [CS_PARAM_REAL] = "real", [CS_PARAM_FRACTION] = "fraction",
    [CS_PARAM_TIME] = "time", [CS_PARAM_BOOL] = "bool", [CS_PARAM_TEXT] = "text",
    [CS_PARAM_CHOICE] = "choice", NULL
};
static const char *const key_names[] = {
    "job", "submit", "ready", "estimate", "gpus", "priority", NULL
};

const char *answer_verb(uint32_t verb)
{
    assert(verb < EXEC_VERB_COUNT);
    return verb_names[verb];
}

/* False, with err at the token that was read last. */
static bool set_fault(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_SYNTAX, json_pos(r->json), "%s", what);
}

/* False, with err that names the word and the nearest one that there is. */
static bool set_word_fault(struct reader *r, const char *what, const char *word,
                           const char *const *names)
{
    const char *near = conf_nearest(word, names);

    err_set(r->err, ERR_SYNTAX, json_pos(r->json), "%s '%.40s'%s%s%s", what, word,
            near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    return false;
}

/* Returns the number of the word, or -1. */
static int find_word(const char *const *names, const char *word)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return -1;
}

/* ---- values ---- */

static bool next_token(struct reader *r, enum json_token *token)
{
    *token = json_next(r->json, r->err);
    return *token != JSON_ERROR;
}

static bool read_int(struct reader *r, int64_t low, int64_t high, int64_t *out)
{
    size_t bytes;
    enum json_token token;
    const char *text;

    if (!next_token(r, &token))
        return false;
    text = json_text(r->json, &bytes);
    if (token != JSON_NUMBER || !scan_i64(text, bytes, out))
        return set_fault(r, "a whole number is expected here");
    if (*out < low || *out > high)
        return err_set(r->err, ERR_RANGE, json_pos(r->json), "%lld is not from %lld to "
                       "%lld", (long long)*out, (long long)low, (long long)high);
    return true;
}

static bool read_u32(struct reader *r, uint32_t *out)
{
    int64_t value;
    bool ok = read_int(r, 0, UINT32_MAX, &value);

    *out = ok ? (uint32_t)value : 0;
    return ok;
}

static bool read_bool(struct reader *r, bool *out)
{
    enum json_token token;

    if (!next_token(r, &token))
        return false;
    *out = token == JSON_TRUE;
    return token == JSON_TRUE || token == JSON_FALSE ||
           set_fault(r, "true or false is expected here");
}

/* Reads a text, good until the next token. */
static bool read_text(struct reader *r, const char **out)
{
    enum json_token token;
    size_t bytes;

    if (!next_token(r, &token))
        return false;
    *out = json_text(r->json, &bytes);
    return token == JSON_TEXT || set_fault(r, "a text is expected here");
}

/* Reads {"key": value, ...} from its bracket on, which was read if `open`.  Keys
 * are cut to 40 bytes, more than any known key has.  A key that stands twice sets
 * its value twice. */
static bool read_map(struct reader *r, bool open, value_fn *value)
{
    enum json_token token;
    char key[41];
    size_t bytes;
    int got;

    if (!open && !json_expect(r->json, JSON_OBJECT, "a map", r->err))
        return false;
    for (;;) {
        if (!next_token(r, &token))
            return false;
        if (token == JSON_OBJECT_END)
            return true;
        const char *text = json_text(r->json, &bytes);
        bytes = bytes < sizeof key - 1 ? bytes : sizeof key - 1;
        memcpy(key, text, bytes);
        key[bytes] = '\0';
        got = value(r, key);
        if (got < 0)
            return err_set(r->err, ERR_SCHEMA, json_pos(r->json), "key '%s' is not "
                           "known here", key);
        if (got == 0)
            return false;
    }
}

/* Reads a list; `item` reads one that begins with the token. */
static bool read_list(struct reader *r,
                      bool (*item)(struct reader *r, enum json_token token))
{
    enum json_token token;

    if (!json_expect(r->json, JSON_ARRAY, "a list", r->err))
        return false;
    while (next_token(r, &token)) {
        if (token == JSON_ARRAY_END)
            return true;
        if (!item(r, token))
            return false;
    }
    return false;
}

/* ---- what a program says of itself ---- */

/* Reads a text into a buffer; a longer one is a fault, as a name that is cut would
 * name something else. */
static bool read_word(struct reader *r, char *out, size_t out_bytes)
{
    const char *text;

    if (!read_text(r, &text))
        return false;
    if (strlen(text) >= out_bytes)
        return set_fault(r, "this text is too long");
    strcpy(out, text);
    return true;
}

static bool read_flag(struct reader *r, enum json_token token)
{
    struct exec_self *self = r->out;
    size_t bytes;
    const char *word = json_text(r->json, &bytes);
    int i = token == JSON_TEXT ? find_word(flag_names, word) : -1;

    if (i < 0)
        return set_word_fault(r, "there is no flag", token == JSON_TEXT ? word : "", flag_names);
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
    int i = token == JSON_TEXT ? find_word(key_names, word + falls) : -1;

    if (i < 0)
        return set_word_fault(r, "tasks are not ordered by", token == JSON_TEXT ? word : "",
                              key_names);
    if (self->key_count == EXEC_KEYS_MAX)
        return set_fault(r, "an order has at most 6 keys");
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
        return set_fault(r, "a word of a choice is a text without blanks");
    if (used + 1 + strlen(word) >= sizeof param->words)
        return set_fault(r, "the words are too long together");
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

    if (!next_token(r, &token))
        return false;
    if (token != JSON_TEXT && token != JSON_NUMBER && token != JSON_TRUE &&
        token != JSON_FALSE)
        return set_fault(r, "a default is a text, a number, true or false");
    text = json_text(r->json, &bytes);
    if (token == JSON_TRUE || token == JSON_FALSE) {
        text = token == JSON_TRUE ? "true" : "false";
        bytes = strlen(text);
    }
    if (bytes >= sizeof param->fallback)
        return set_fault(r, "this text is too long");
    memcpy(param->fallback, text, bytes);
    param->fallback[bytes] = '\0';
    return true;
}

static bool read_real(struct reader *r, double *out)
{
    enum json_token token;
    size_t bytes;

    if (!next_token(r, &token))
        return false;
    const char *text = json_text(r->json, &bytes);
    return (token == JSON_NUMBER && scan_f64(text, bytes, out)) ||
           set_fault(r, "a number is expected here");
}

/* The value of one key of a parameter. */
static int param_value(struct reader *r, const char *key)
{
    struct exec_self *self = r->out;
    struct exec_param *param = &self->param[self->param_count];
    const char *word;

    if (strcmp(key, "key") == 0)
        return read_word(r, param->key, sizeof param->key);
    if (strcmp(key, "default") == 0)
        return read_fallback(r, param);
    if (strcmp(key, "help") == 0)
        return read_word(r, param->help, sizeof param->help);
    if (strcmp(key, "min") == 0)
        return read_real(r, &param->min);
    if (strcmp(key, "max") == 0)
        return read_real(r, &param->max);
    if (strcmp(key, "words") == 0)
        return read_list(r, read_choice);
    if (strcmp(key, "kind") != 0)
        return -1;
    if (!read_text(r, &word))
        return false;
    param->kind = find_word(kind_names, word);
    return param->kind >= 0 ||
           set_word_fault(r, "a parameter is an int, real, fraction, time, bool, text or choice, "
                          "and not", word, kind_names);
}

/* A parameter as {key, kind, default, help, min, max, words}; what a compiled
 * policy could not declare is refused here. */
static bool read_param(struct reader *r, enum json_token token)
{
    struct exec_self *self = r->out;
    struct exec_param *param = &self->param[self->param_count];

    if (self->param_count == EXEC_PARAMS_MAX)
        return set_fault(r, "a program has at most 24 parameters");
    if (token != JSON_OBJECT)
        return set_fault(r, "a parameter is a map such as {\"key\":\"depth\",\"kind\":\"int\","
                         "\"default\":12,\"help\":\"tasks looked at\"}");
    *param = (struct exec_param){ .kind = -1 };
    if (!read_map(r, true, param_value))
        return false;
    if (param->key[0] == '\0' || param->kind < 0 || param->help[0] == '\0')
        return set_fault(r, "a parameter needs key, kind and help");
    if ((param->kind == CS_PARAM_CHOICE) != (param->words[0] != '\0'))
        return set_fault(r, "a choice has words, and nothing else has");
    if (param->kind != CS_PARAM_TEXT && param->fallback[0] == '\0')
        return set_fault(r, "a parameter that is no text needs a default");
    if (param->min > param->max)
        return set_fault(r, "min is above max");
    self->param_count++;
    return true;
}

/* The value of one key of the answer to hello. */
static int self_value(struct reader *r, const char *key)
{
    struct exec_self *self = r->out;
    int64_t version;

    if (strcmp(key, "n") == 0)
        return read_int(r, 0, 0, &r->number);
    if (strcmp(key, "protocol") == 0) {
        if (!read_int(r, 0, INT64_MAX, &version))
            return false;
        return version == EXEC_PROTOCOL ||
               err_set(r->err, ERR_RANGE, json_pos(r->json), "it speaks version %lld of "
                       "the protocol, and this program version %u", (long long)version,
                       EXEC_PROTOCOL);
    }
    if (strcmp(key, "name") == 0)
        return read_word(r, self->name, sizeof self->name);
    if (strcmp(key, "summary") == 0)
        return read_word(r, self->summary, sizeof self->summary);
    if (strcmp(key, "flags") == 0)
        return read_list(r, read_flag);
    if (strcmp(key, "order") == 0)
        return read_list(r, read_key);
    if (strcmp(key, "params") == 0)
        return read_list(r, read_param);
    if (strcmp(key, "threads") == 0)
        return read_bool(r, &self->threads);
    if (strcmp(key, "reuse") == 0)
        return read_bool(r, &self->reuse);
    return -1;
}

/* Reads a whole line: one map, with "n" among its keys, and nothing behind it. */
static bool read_line(struct reader *r, char *line, size_t bytes, value_fn *value)
{
    enum json_token token;

    json_line(r->json, line, 1);
    if (strlen(line) < bytes)
        return set_fault(r, "the line holds a byte 0");
    token = json_next(r->json, r->err);
    if (token == JSON_ERROR)
        return false;
    if (token != JSON_OBJECT)
        return set_fault(r, "a map {...} is expected here, and nothing else on stdout");
    if (!read_map(r, true, value) || !next_token(r, &token))
        return false;
    if (token != JSON_END)
        return set_fault(r, "the answer has ended, and the line goes on");
    return r->number >= 0 || set_fault(r, "the key n is missing, the number of the message "
                                       "that is answered");
}

bool answer_read_self(struct json *json, char *line, size_t bytes,
                      struct exec_self *self, struct err *err)
{
    struct reader r = { json, err, -1, 0, self };

    *self = (struct exec_self){ .name = "" };
    if (!read_line(&r, line, bytes, self_value))
        return false;
    return self->name[0] != '\0' || set_fault(&r, "the key name is missing");
}

/* ---- answers to decisions ---- */

/* Where requests of an answer go: `now` is the one that is read. */
struct requests {
    struct exec_answer *answer;
    struct exec_request *now;
    struct cs_want *want;       /* what keys of a want are for */
    bool verb;
};

/* A key of what is wanted: of a request, or of one of its roles. */
static int want_value(struct reader *r, const char *key)
{
    struct requests *q = r->out;
    struct cs_want *want = q->want;

    if (strcmp(key, "gpus") == 0)
        return read_u32(r, &want->gpus);
    if (strcmp(key, "pools") == 0)
        return read_u32(r, &want->pool_mask);
    if (strcmp(key, "take_idle") == 0)
        return read_bool(r, &want->take_idle);
    if (strcmp(key, "idle_ns") == 0)
        return read_int(r, 0, INT64_MAX, &want->idle_ns);
    if (strcmp(key, "cores") == 0)
        return read_u32(r, &want->cores);
    if (strcmp(key, "gpu_type") == 0)
        return read_u32(r, &want->gpu_type);
    return -1;
}

/* Roles are numbered in the order of the list. */
static bool read_role_want(struct reader *r, enum json_token token)
{
    struct requests *q = r->out;
    uint32_t role = q->now->role_wants;

    if (token != JSON_OBJECT)
        return set_fault(r, "a map is expected here, with what a role wants");
    if (role == FORM_ROLES_MAX)
        return set_fault(r, "no job has so many roles");
    q->want = &q->now->want[role];
    *q->want = (struct cs_want){ .role = role };
    q->now->role_wants++;
    return read_map(r, true, want_value);
}

/* A verb names the job or number that it is about; all other keys say more of it. */
static int request_value(struct reader *r, const char *key)
{
    struct requests *q = r->out;
    int verb = find_word(verb_names, key), got;

    if (verb >= 0) {
        if (q->verb)
            return set_fault(r, "a request has one verb, and this is its second");
        q->verb = true;
        q->now->verb = (enum exec_verb)verb;
        return read_int(r, 0, INT64_MAX, &q->now->number);
    }
    if (strcmp(key, "role") == 0)
        return read_u32(r, &q->now->role);
    if (strcmp(key, "delay_ns") == 0)
        return read_int(r, 0, INT64_MAX, &q->now->delay_ns);
    if (strcmp(key, "alike") == 0)
        return read_int(r, CS_ALIKE_NONE, CS_ALIKE_ALL, &q->now->alike);
    if (strcmp(key, "roles") == 0)
        return read_list(r, read_role_want);
    q->want = &q->now->want[0];
    got = want_value(r, key);
    q->now->wants |= got > 0;
    return got;
}

/* A slot is used again, so all that keys set is set back first. */
static bool read_request(struct reader *r, enum json_token token)
{
    struct requests *q = r->out;
    struct exec_answer *answer = q->answer;

    if (token != JSON_OBJECT)
        return set_fault(r, "a request is a map such as {\"start\":7}");
    ARENA_REACH(NULL, answer->request, answer->room, answer->count);
    q->now = &answer->request[answer->count++];
    q->now->role = CS_ALL_ROLES;
    q->now->delay_ns = 0;
    q->now->alike = CS_ALIKE_NONE;
    q->now->wants = false;
    q->now->want[0] = (struct cs_want){ 0 };
    q->now->role_wants = 0;
    q->verb = false;
    if (!read_map(r, true, request_value))
        return false;
    return q->verb || set_fault(r, "the request has no verb, such as start");
}

static bool read_again(struct reader *r, struct exec_answer *answer)
{
    static const char *const names[] = { "never", "refused", "always", NULL };
    const char *word;
    int i;

    if (!read_text(r, &word))
        return false;
    i = find_word(names, word);
    if (i < 0)
        return set_word_fault(r, "again is refused, always or never, and not", word, names);
    answer->again = (enum exec_again)i;
    return true;
}

/* "n" must be the message that is open: an answer to an earlier one shows a
 * program that is out of step. */
static int answer_value(struct reader *r, const char *key)
{
    struct requests *q = r->out;

    if (strcmp(key, "do") == 0)
        return read_list(r, read_request);
    if (strcmp(key, "skip") == 0)
        return read_bool(r, &q->answer->skip);
    if (strcmp(key, "again") == 0)
        return read_again(r, q->answer);
    if (strcmp(key, "n") != 0)
        return -1;
    if (!read_int(r, 0, INT64_MAX, &r->number))
        return false;
    return r->number == r->expected ||
           err_set(r->err, ERR_RANGE, json_pos(r->json), "it answers message %lld%s, and "
                   "message %lld is open", (long long)r->number,
                   r->number < r->expected ? " again" : "", (long long)r->expected);
}

bool answer_read(struct json *json, char *line, size_t bytes, int64_t number,
                 struct exec_answer *out, struct err *err)
{
    struct requests requests = { .answer = out };
    struct reader r = { json, err, -1, number, &requests };

    out->count = 0;
    out->skip = false;
    out->again = EXEC_NEVER;
    return read_line(&r, line, bytes, answer_value);
}
