/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * generate.c - a replica that generates, with continuous batching and
 * a paged KV cache.
 *
 * Prompts that find blocks are admitted, and computed either in chunks beside
 * the decoding of the others (Agrawal et al. 2024, Sarathi-Serve), or whole,
 * some thousand tokens at a time, while the others wait.  Otherwise all decode.
 * A step's time grows
 * linearly with the context, so k steps take k a + k (k - 1) / 2 b, and k may
 * be as large as nothing changes: until the first is done, blocks run out, or the
 * window of some layers is full.
 * A request that comes meanwhile and could be admitted cuts k at the end of the
 * step that is running; one that waits for blocks before others cuts it where it
 * gives up.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/serving/blocks.h"
#include "models/serving/flight_queue.h"
#include "models/serving/prefix_cache.h"
#include "models/serving/serve.h"
#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

/* Prompt tokens computed at once where prompts are not cut: vLLM's
 * max_num_batched_tokens (the longest context, and 8192 as a rule). */
#define PREFILL_TOKENS 8192u
#define SLOPE_TOKENS 1024.0     /* over which a step's growth is taken */

static void finish_work(struct loop *loop, void *self, uint64_t arg);

/* Returns the tokens in the KV cache of a request: its prompt and what was
 * generated. */
static uint32_t context_of(const struct flight *flight)
{
    assert(flight->prompt_tokens > 0);
    return flight->prompt_tokens + flight->made_tokens;
}

/* Begins work that is over after `seconds`. */
static void set_event(struct replica *r, enum replica_does does,
                      double seconds)
{
    assert(seconds >= 0.0);
    r->does = does;
    r->event = loop_at(r->service->parts.loop,
                       clock_after(r->since_ns, clock_ns_for_work(seconds, 1)),
                       LOOP_RANK_FINISH, finish_work, r, 0);
}

/* Tokens of its context that are computed before it decodes. */
static uint32_t count_to_compute(const struct flight *flight)
{
    assert(flight->known_tokens < context_of(flight));
    return context_of(flight) - flight->known_tokens;
}

/* The next that waits and has not given up; NULL: none. */
static struct flight *first_waiting(struct replica *r)
{
    assert(r->ready);
    flight_settle(&r->queue);
    while (r->queue.count > 0) {
        struct flight *first = &r->queue.slot[r->queue.head];

        if (!service_gave_up(r->service, first))
            return first;
        r->load_tokens -= first->prompt_tokens + first->output_tokens;
        flight_pop(&r->queue);
        service_note_dropped(r->service);
    }
    return NULL;
}

/* Room for its context and the token that comes of it? */
static bool is_admissible(const struct replica *r, const struct flight *flight)
{
    return r->at_work < r->service->spec->batch_max &&
           r->blocks + service_blocks(r, context_of(flight) + 1) <= r->blocks_max;
}

static bool uses_chunks(const struct replica *r)
{
    return r->service->spec->chunk_tokens > 0;
}

/* Takes the first that waits into the batch, with `kept` blocks that it had before. */
static void admit_first(struct replica *r, uint32_t kept)
{
    struct flight flight = flight_pop(&r->queue);

    assert(r->at_work < r->service->spec->batch_max);
    service_blocks_take(r, &flight, kept, context_of(&flight) + 1);
    r->batch[r->at_work++] = flight;
    r->admitted++;
}

/* Takes what finds room into the batch; the tokens of its contexts. */
static uint32_t admit_waiting(struct replica *r)
{
    assert(r->at_work <= r->service->spec->batch_max);
    assert(r->admitted <= r->at_work);
    struct flight *first;
    uint32_t tokens = 0;

    /* First come, first served: one that finds no room holds up those behind it. */
    while ((first = first_waiting(r)) != NULL && is_admissible(r, first)) {
        uint32_t kept = service_blocks_kept(r, first, context_of(first));
        uint32_t more = count_to_compute(first);

        if (r->admitted > 0 && !uses_chunks(r) && tokens + more > PREFILL_TOKENS)
            break;
        tokens += more;
        admit_first(r, kept);
    }
    return tokens;
}

/* Blocks that the batch would hold after `steps` more steps. */
static uint64_t blocks_after(const struct replica *r, uint32_t steps)
{
    uint64_t blocks = 0;

    for (uint32_t i = 0; i < r->at_work; i++)
        blocks += service_blocks(r, context_of(&r->batch[i]) + steps);
    return blocks;
}

/* Steps until the first is done, or until blocks run out: then as many as
 * there is room for; 0: for none. */
static uint32_t steps_ahead(const struct replica *r)
{
    assert(r->at_work > 0);
    uint32_t most = UINT32_MAX, low = 0;

    for (uint32_t i = 0; i < r->at_work; i++) {
        uint32_t left = r->batch[i].output_tokens - r->batch[i].made_tokens;
        most = left < most ? left : most;
    }
    if (r->service->spec->one_step)
        most = 1;
    /* No request takes more than these; as a rule that is room enough. */
    uint64_t blocks_more = (uint64_t)r->at_work * service_blocks(r, most);
    if (r->blocks + blocks_more <= r->blocks_max ||
        blocks_after(r, most) <= r->blocks_max)
        return most;
    while (most - low > 1) {            /* low fits, most does not */
        uint32_t middle = low + (most - low) / 2;
        if (blocks_after(r, middle) <= r->blocks_max)
            low = middle;
        else
            most = middle;
    }
    return low;
}

/* The request that came last gives its blocks up, and is computed again later (Kwon et al.
 * 2023), but for what is left in its blocks then.  It goes to the front of the queue, so that it is
 * the next one to be admitted. */
static void preempt_last(struct replica *r)
{
    assert(r->at_work > 0);
    struct flight last = r->batch[--r->at_work];
    bool made = r->admitted == 0;

    /* `computed` is of the first prompt in work: it stays, unless that is the one that goes. */
    if (r->admitted > 0 && --r->admitted == 0)
        r->computed = 0;
    r->blocks = (uint32_t)blocks_after(r, 0);
    r->service->result.recomputed++;
    /* Blocks of a prompt that was not computed hold nothing. */
    service_blocks_throw(r, &last, made);
    flight_push_front(&r->queue, &last);
}

/* The sum of k steps, of which each is longer than the one before. */
static double time_steps(const struct replica *r, uint32_t steps)
{
    assert(steps > 0);
    double k = steps;

    return k * r->step_s + k * (k - 1) / 2 * r->step_more_s;
}

/* Returns the steps of those planned that have begun `gone_s` after the first: one at least. */
static uint32_t steps_begun(const struct replica *r, double gone_s)
{
    assert(r->steps > 0);
    uint32_t low = 0, high = r->steps;      /* low is over, high is not */

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (time_steps(r, middle) < gone_s)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* When the first that waits for blocks gives up, where another one waits behind it that may find
 * room then; INT64_MAX: that cannot be.  A full batch stays full until one of it is done. */
static int64_t give_up_ns(const struct replica *r)
{
    const struct service_spec *spec = r->service->spec;
    const struct flight_queue *queue = &r->queue;

    assert(queue->count == 0 || queue->room > 0);
    if (spec->timeout_ns == 0 || queue->count < 2 || queue->late > 0 ||
        r->at_work == spec->batch_max || queue->slot[queue->head].made_tokens > 0)
        return INT64_MAX;
    return clock_after(queue->slot[queue->head].arrive_ns, spec->timeout_ns);
}

/* Mean context of those that decode. */
static double mean_context(const struct replica *r, uint32_t decoding)
{
    assert(decoding > 0 && decoding <= r->at_work);
    uint64_t context = 0;

    for (uint32_t i = 0; i < decoding; i++)
        context += context_of(&r->batch[i]);
    return (double)context / decoding;
}

/* Tokens over which a step grows as it does now: a context that fills the window of some layers
 * grows in the others alone. */
static double tokens_alike(const struct serve_law *law, double context)
{
    assert(context >= 0.0);
    double left = law->llm->window - context;

    return left > 0.0 ? fmin(left, SLOPE_TOKENS) : SLOPE_TOKENS;
}

/* Decodes until the batch changes.  If blocks run out at once, the last that
 * came go back to the queue first. */
static void decode_batch(struct replica *r)
{
    const struct serve_law *law = &r->service->spec->side[r->side].law;

    while ((r->steps = steps_ahead(r)) == 0 && r->at_work > 1)
        preempt_last(r);
    assert(r->steps > 0);       /* one alone has room: it was looked at */
    double context = mean_context(r, r->at_work);
    r->step_s = serve_step_s(law, &r->gang, r->at_work, context);
    double slope = tokens_alike(law, context);
    r->step_more_s = (serve_step_s(law, &r->gang, r->at_work, context + slope) - r->step_s) /
                     slope;
    if (context < law->llm->window && r->steps > slope)
        r->steps = (uint32_t)slope + 1;
    int64_t until_ns = give_up_ns(r);
    if (until_ns != INT64_MAX)
        r->steps = steps_begun(r, clock_s_from_ns(until_ns - r->since_ns));
    set_event(r, REPLICA_DECODE, time_steps(r, r->steps));
}

/* Which prompts end with the next `budget` tokens; the tokens taken. */
static uint32_t plan_chunk(struct replica *r, uint32_t budget)
{
    assert(r->admitted > 0 && r->admitted <= r->at_work);
    assert(budget > 0);
    const struct flight *prompt = &r->batch[r->at_work - r->admitted];
    uint32_t taken = 0, done = r->computed;

    r->ends = 0;
    while (r->ends < r->admitted && taken < budget) {
        uint32_t left = count_to_compute(&prompt[r->ends]) - done;
        uint32_t take = left < budget - taken ? left : budget - taken;

        taken += take;
        done += take;
        if (take < left)
            break;
        r->ends++;
        done = 0;
    }
    r->computed_then = done;
    return taken;
}

/* An iteration: a token of each that decodes, and a chunk of prompts. */
static void mix_prompts(struct replica *r)
{
    assert(r->admitted > 0 && r->admitted <= r->at_work);
    const struct service_spec *spec = r->service->spec;
    uint32_t decoding = r->at_work - r->admitted, tokens, most;
    double prompt = 0;

    /* Each that decodes takes one token of the chunk; a prompt gets one at least. */
    most = spec->chunk_tokens > decoding + 1 ? spec->chunk_tokens - decoding
                                             : 1;
    tokens = plan_chunk(r, most);
    for (uint32_t i = decoding; i < r->at_work; i++)
        prompt += context_of(&r->batch[i]);
    prompt /= r->admitted;
    set_event(r, REPLICA_MIXED,
              serve_mixed_s(&spec->side[r->side].law, &r->gang, decoding,
                            decoding > 0 ? mean_context(r, decoding) : 0,
                            tokens, prompt));
}

/* Room for one more token of each that decodes: those that came last go. */
static void make_room(struct replica *r)
{
    assert(r->admitted <= r->at_work);
    while (r->at_work > 1 && r->at_work > r->admitted &&
           blocks_after(r, 1) > r->blocks_max)
        preempt_last(r);
}

/* Chooses what the replica does next: prompts and decoding together, prompts
 * alone, decoding alone, or nothing. */
static void start_work(struct replica *r)
{
    assert(r->ready);
    const struct serve_law *law = &r->service->spec->side[r->side].law;
    uint32_t tokens = admit_waiting(r);

    r->since_ns = r->counted_ns = service_now(r->service);
    if (uses_chunks(r) && r->admitted > 0)
        make_room(r);
    if (uses_chunks(r) && r->admitted > 0)
        mix_prompts(r);
    else if (r->admitted > 0)
        set_event(r, REPLICA_PREFILL,
                  serve_prefill_s(law, &r->gang, r->admitted,
                                  (double)tokens / r->admitted));
    else if (r->at_work > 0)
        decode_batch(r);
    else
        r->does = REPLICA_IDLE;
    service_note_work(r);
}

/* Requests [from, to) of the batch get `tokens` more tokens.  Those that are done leave; the
 * others keep their order. */
static void advance_batch(struct replica *r, uint32_t from, uint32_t to,
                          uint32_t tokens)
{
    assert(from <= to && to <= r->at_work);
    assert(tokens > 0);
    int64_t now = service_now(r->service);
    uint32_t kept = from;

    for (uint32_t i = from; i < to; i++) {
        struct flight *f = &r->batch[i];

        /* One that was thrown out keeps the time of its first token: the user has seen it. */
        if (f->made_tokens == 0)
            f->ttft_ns = now - f->arrive_ns;
        f->made_tokens += tokens;
        service_blocks_grow(r, f, context_of(f));
        if (f->made_tokens < f->output_tokens) {
            if (kept < i)
                r->batch[kept] = *f;
            kept++;
            continue;
        }
        r->load_tokens -= f->prompt_tokens + f->output_tokens;
        service_blocks_free(r, f);
        service_note_done(r->service, f);
    }
    /* Prompts in work stand behind those that decode, and close up. */
    if (kept < to)
        memmove(&r->batch[kept], &r->batch[to], (r->at_work - to) * sizeof *r->batch);
    r->at_work -= to - kept;
    r->blocks = (uint32_t)blocks_after(r, 0);
}

/* What the replica did is over: counts its tokens and goes on. */
static void finish_work(struct loop *loop, void *self, uint64_t arg)
{
    assert(self != NULL);
    struct replica *r = self;
    uint32_t decoding = r->at_work - r->admitted;

    (void)loop;
    (void)arg;
    service_note_busy(r);
    if (r->does == REPLICA_PREFILL) {
        r->admitted = 0;
        advance_batch(r, decoding, r->at_work, 1);
    } else if (r->does == REPLICA_MIXED) {
        r->admitted -= r->ends;
        r->computed = r->computed_then;
        advance_batch(r, 0, decoding + r->ends, 1);
    } else {
        advance_batch(r, 0, r->at_work, r->steps);
    }
    start_work(r);
    service_note_load(r);
    if (r->does == REPLICA_IDLE)
        r->service->emptied(r->service, r);
}

/* Decoding ends with the step that runs at a time, now or later. */
static void cut_steps(struct replica *r, int64_t at_ns)
{
    assert(r->does == REPLICA_DECODE);
    assert(at_ns >= r->since_ns);
    uint32_t high = steps_begun(r, clock_s_from_ns(at_ns - r->since_ns));

    if (high == r->steps)
        return;
    loop_cancel(r->service->parts.loop, r->event);
    r->steps = high;
    int64_t end_ns = clock_after(r->since_ns,
                                 clock_ns_for_work(time_steps(r, high), 1));
    int64_t now = service_now(r->service);
    r->event = loop_at(r->service->parts.loop, end_ns > now ? end_ns : now,
                       LOOP_RANK_FINISH, finish_work, r, 0);
}

/* An idle replica admits the requests for which its KV cache has blocks, and begins. */
void service_generate_start(struct replica *r)
{
    assert(r->ready && r->does == REPLICA_IDLE);
    start_work(r);
}

/* A request that could join the batch ends the run of decoding steps that were
 * to be computed in one go. */
void service_generate_take(struct replica *r, const struct flight *flight)
{
    assert(r->ready && r->batch != NULL);
    assert(flight->prompt_tokens > 0);
    uint32_t whole = flight->prompt_tokens + flight->output_tokens;

    if (service_blocks(r, whole) > r->blocks_max) {     /* could never be served */
        r->service->result.refused++;
        r->service->in_service--;
        return;
    }
    bool first = flight_insert(&r->queue, 0, flight);
    r->load_tokens += whole;
    if (r->does == REPLICA_DECODE && first && is_admissible(r, flight))
        cut_steps(r, service_now(r->service));
    else if (r->does == REPLICA_DECODE && give_up_ns(r) != INT64_MAX)
        cut_steps(r, give_up_ns(r) > r->since_ns ? give_up_ns(r) : r->since_ns);
    service_note_load(r);
}

/* A part of the blocks is kept for prefixes; the rest is for requests at
 * work. */
void service_generate_ready(struct replica *r, double host_bytes)
{
    assert(r->ready);
    assert(host_bytes >= 0.0);
    const struct service_spec *spec = r->service->spec;
    double blocks = serve_blocks_max(&spec->side[r->side].law, &r->gang,
                                     host_bytes);

    r->cache = NULL;
    if (spec->cache_share > 0)
        r->cache = prefix_cache_new(
            r->service->parts.arena,
            (uint64_t)(fmin(blocks, 1e9) * spec->cache_share) *
                SERVE_BLOCK_TOKENS);
    blocks *= 1 - spec->cache_share;
    r->blocks_max = blocks < 1e9 ? (uint32_t)blocks : 1000000000u;
    service_blocks_begin(r);
    r->batch = arena_alloc(r->service->parts.arena, spec->batch_max,
                           sizeof *r->batch);
}

/* Moves the batch to `out`; what it had generated is lost. */
void service_generate_leave(struct replica *r, struct flight_queue *out)
{
    assert(r->at_work <= r->service->spec->batch_max);
    assert(out != NULL);
    service_blocks_lose(r);
    for (uint32_t i = 0; i < r->at_work; i++)
        flight_insert(out, 0, &r->batch[i]);
    r->at_work = r->admitted = r->computed = r->blocks = 0;
}
