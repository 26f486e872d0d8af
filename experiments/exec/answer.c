/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.c - reads answers to decisions.  Memory for requests is kept from answer to
 * answer, and grows with the longest one.
 */
#include "experiments/exec/answer.h"

#include <assert.h>
#include <string.h>

#include "experiments/exec/guest.h"
#include "experiments/exec/reader.h"
#include "policies/phases.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/json.h"

/* Keys of what is wanted: of a request, or of one of its roles. */
#define WANT_KEYS "gpus", "pools", "take_idle", "idle_ns", "cores", "gpu_type"
enum want_key { WANT_GPUS, WANT_POOLS, WANT_TAKE_IDLE, WANT_IDLE_NS, WANT_CORES, WANT_GPU_TYPE };

/* A request's keys are verbs, what says more of them, and what is wanted. */
enum request_key {
    REQUEST_ROLE = EXEC_VERB_COUNT, REQUEST_DELAY_NS, REQUEST_ALIKE, REQUEST_ROLES, REQUEST_WANT
};
static const char *const request_keys[] = {
#define VERB(NAME, OF, NEEDS, TAKES) #NAME,
#include "experiments/exec/verbs.def"
#undef VERB
    "role", "delay_ns", "alike", "roles", WANT_KEYS, NULL
};
static const char *const want_keys[] = { WANT_KEYS, NULL };

/* Keys beside a verb, as bits: their order is that of enum request_key from REQUEST_ROLE on. */
enum {
    ROLE = 1 << 0, DELAY = 1 << 1, ALIKE = 1 << 2, ROLES = 1 << 3,
    POOLS = 1 << (4 + WANT_POOLS), WANTS = 0x3F << 4
};
/* By verb: the keys that may stand beside it. */
static const unsigned takes[] = {
#define VERB(NAME, OF, NEEDS, TAKES) TAKES,
#include "experiments/exec/verbs.def"
#undef VERB
};

_Static_assert(REQUEST_WANT - REQUEST_ROLE == 4 && WANT_GPU_TYPE == 5, "bits of keys");
_Static_assert(sizeof request_keys / sizeof request_keys[0] <= READER_KEYS_MAX,
               "a bit for each key");

const char *answer_verb(uint32_t verb)
{
    assert(verb < EXEC_VERB_COUNT);
    return request_keys[verb];
}

/* Where requests of an answer go: `now` is the one that is read. */
struct requests {
    struct exec_answer *answer; /* of the caller: its requests grow */
    struct exec_request *now;
    struct cs_want *want;       /* what keys of a want are for */
    unsigned said;              /* keys beside the verb */
    bool verb;                  /* a verb was read: a second one is an error */
};

/* Fills q->want, which is that of the request or of one of its roles. */
static bool want_value(struct reader *r, uint32_t key)
{
    struct requests *q = r->out;
    struct cs_want *want = q->want;

    switch ((enum want_key)key) {
    case WANT_GPUS: return reader_u32(r, &want->gpus);
    case WANT_POOLS: return reader_u32(r, &want->pool_mask);
    case WANT_TAKE_IDLE: return reader_bool(r, &want->take_idle);
    case WANT_IDLE_NS: return reader_int(r, 0, INT64_MAX, &want->idle_ns);
    case WANT_CORES: return reader_u32(r, &want->cores);
    case WANT_GPU_TYPE: return reader_u32(r, &want->gpu_type);
    }
    return false;
}

static const struct reader_map want_map = { want_keys, want_value };

/* Roles are numbered in the order of the list. */
static bool read_role_want(struct reader *r, enum json_token token)
{
    struct requests *q = r->out;
    uint32_t role = q->now->role_wants;

    if (token != JSON_OBJECT)
        return reader_fault(r, "a map is expected here, with what a role wants");
    if (role == FORM_ROLES_MAX)
        return reader_fault(r, "no job has that many roles");
    q->want = &q->now->want[role];
    *q->want = (struct cs_want){ .role = role };
    q->now->role_wants++;
    return reader_map(r, true, &want_map);
}

/* A verb names the job or number that it is about; all other keys say more of it. */
static bool read_verb(struct reader *r, enum exec_verb verb)
{
    struct requests *q = r->out;

    if (q->verb)
        return reader_fault(r, "a request has one verb, and this is its second");
    q->verb = true;
    q->now->verb = verb;
    return reader_int(r, 0, INT64_MAX, &q->now->number);
}

/* A verb; what says more of it; or what the whole job wants, which is then marked as
 * said. */
static bool request_value(struct reader *r, uint32_t key)
{
    struct requests *q = r->out;

    if (key < EXEC_VERB_COUNT)
        return read_verb(r, (enum exec_verb)key);
    q->said |= 1u << (key - REQUEST_ROLE);
    switch ((enum request_key)key) {
    case REQUEST_ROLE: return reader_u32(r, &q->now->role);
    case REQUEST_DELAY_NS: return reader_int(r, 0, INT64_MAX, &q->now->delay_ns);
    case REQUEST_ALIKE: return reader_int(r, CS_ALIKE_NONE, CS_ALIKE_ALL, &q->now->alike);
    case REQUEST_ROLES: return reader_list(r, read_role_want);
    default:
        q->now->wants = true;
        q->want = &q->now->want[0];
        return want_value(r, key - REQUEST_WANT);
    }
}

static const struct reader_map request_map = { request_keys, request_value };

/* Do the keys of a request go together?  What would be passed over is a fault, as is what
 * is said twice: in `roles` and beside it.  The first key that the verb does not take is
 * named. */
static bool check_keys(struct reader *r)
{
    const struct requests *q = r->out;
    unsigned excess;
    uint32_t key = REQUEST_ROLE;

    if (!q->verb)
        return reader_fault(r, "the request has no verb, such as start");
    if ((q->said & ROLES) != 0 && (q->said & WANTS) != 0)
        return reader_fault(r, "what is wanted stands in roles, or beside the verb");
    for (excess = q->said & ~takes[q->now->verb]; excess != 0 && (excess & 1) == 0; excess >>= 1)
        key++;
    return excess == 0 ||
           err_set(r->err, ERR_SCHEMA, json_pos(r->json), "'%s' takes no key '%s'",
                   request_keys[q->now->verb], request_keys[key]);
}

/* A slot is used again, so all that keys set is set back first. */
static bool read_request(struct reader *r, enum json_token token)
{
    struct requests *q = r->out;
    struct exec_answer *answer = q->answer;

    if (token != JSON_OBJECT)
        return reader_fault(r, "a request is a map such as {\"start\":7}");
    ARENA_REACH(NULL, answer->request, answer->room, answer->count);
    q->now = &answer->request[answer->count++];
    q->now->role = CS_ALL_ROLES;
    q->now->delay_ns = 0;
    q->now->alike = CS_ALIKE_NONE;
    q->now->wants = false;
    q->now->want[0] = (struct cs_want){ 0 };
    q->now->role_wants = 0;
    q->verb = false;
    q->said = 0;
    return reader_map(r, true, &request_map) && check_keys(r);
}

/* Without this key, the program is not asked again in this decision (answer_read()). */
static bool read_again(struct reader *r, struct exec_answer *answer)
{
    static const char *const names[] = { "never", "refused", "always", NULL };
    const char *word;
    int i;

    if (!reader_text(r, &word))
        return false;
    i = reader_find(names, word);
    if (i < 0)
        return reader_word_fault(r, "again is refused, always or never, and not", word, names);
    answer->again = (enum exec_again)i;
    return true;
}

/* "n" must be the message that is open: an answer to an earlier one shows a
 * program that is out of step. */
static bool read_number(struct reader *r)
{
    if (!reader_int(r, 0, INT64_MAX, &r->number))
        return false;
    return r->number == r->expected ||
           err_set(r->err, ERR_RANGE, json_pos(r->json), "it answers message %lld%s, and "
                   "message %lld is open", (long long)r->number,
                   r->number < r->expected ? " again" : "", (long long)r->expected);
}

/* The keys of an answer, in the order of answer_keys. */
enum answer_key { ANSWER_N, ANSWER_DO, ANSWER_SKIP, ANSWER_AGAIN };
static const char *const answer_keys[] = { "n", "do", "skip", "again", NULL };

/* Reads the value of one key of an answer. */
static bool answer_value(struct reader *r, uint32_t key)
{
    struct requests *q = r->out;

    switch ((enum answer_key)key) {
    case ANSWER_N: return read_number(r);
    case ANSWER_DO: return reader_list(r, read_request);
    case ANSWER_SKIP: return reader_bool(r, &q->answer->skip);
    case ANSWER_AGAIN: return read_again(r, q->answer);
    }
    return false;
}

static const struct reader_map answer_map = { answer_keys, answer_value };

/* All that an earlier answer said is forgotten; its memory is used again. */
bool answer_read(struct json *json, char *line, size_t bytes, int64_t number,
                 struct exec_answer *out, struct err *err)
{
    struct requests requests = { .answer = out };
    struct reader r = { json, err, -1, number, &requests };

    out->count = 0;
    out->skip = false;
    out->again = EXEC_NEVER;
    return reader_line(&r, line, bytes, &answer_map);
}
