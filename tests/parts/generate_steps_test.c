/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * generate_steps_test.c - one replica that generates, drawn by a seed, against an engine that
 * makes one token after another: who is admitted, what is computed when, who is thrown out of a
 * full cache, and how long the replica works.  The times of a pass are those of serve.h.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/jobs/job.h"
#include "models/laws/memory.h"
#include "models/serving/blocks.h"
#include "models/serving/service.h"
#include "models/serving/state.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "tests/aid/law_aids.h"

#define REQUESTS 60
#define WHOLE 8192              /* tokens of prompts that are computed at once, uncut */

#define BLOCKS 8192             /* more than the cache has */
#define NOBODY UINT32_MAX

struct call {
    int64_t at, first;          /* when it came; when its first token was there */
    uint32_t prompt, output, made;
    uint32_t id, known;         /* known: tokens that its blocks still held when it came back */
};

/* The cache, block by block: those that are free, in the order in which they are taken, and
 * what each holds, a part of which call. */
struct cache {
    uint32_t free[BLOCKS], count;
    uint32_t call[BLOCKS], part[BLOCKS];
    uint32_t own[REQUESTS][BLOCKS], owned[REQUESTS];
    uint32_t debt;              /* blocks that were taken when none was free: NOBODY in `own` */
};

/* The engine: who waits, and the batch, of which the last `fresh` are prompts in work. */
struct engine {
    const struct service_spec *spec;
    const struct serve_law *law;
    const struct gang *gang;
    int64_t now, busy;
    uint32_t blocks_max, next, calls, fresh, computed;
    struct call call[REQUESTS], wait[REQUESTS], batch[REQUESTS];
    uint32_t waits, at_work;
    struct cache cache;
    bool idle;                  /* what comes now starts a pass, so that no queue is full */
    uint32_t done, dropped, refused, again;
    double latency_s, ttft_s, tpot_s;
    uint32_t with_tpot;
};

/* Layer by layer, in tokens of one layer; a block has 16 of every layer. */
static uint32_t blocks_of(const struct engine *e, uint32_t tokens)
{
    const struct llm *llm = e->law->llm;
    uint32_t sum = 0, block = 16 * llm->layers;

    for (uint32_t i = 0; i < llm->layers; i++)
        sum += i < llm->window_layers && tokens > llm->window ? llm->window : tokens;
    return sum / block + (sum % block > 0);
}

static uint32_t context_of(const struct call *c)
{
    return c->prompt + c->made;
}

/* Blocks of the batch if the first `more` of it had a token more. */
static uint32_t blocks_with(const struct engine *e, uint32_t more)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < e->at_work; i++)
        sum += blocks_of(e, context_of(&e->batch[i]) + (i < more));
    return sum;
}

static void cache_begin(struct engine *e)
{
    e->cache.count = e->blocks_max;
    assert_true(e->blocks_max < BLOCKS);
    for (uint32_t b = 0; b < e->blocks_max; b++) {
        e->cache.free[b] = b;
        e->cache.call[b] = NOBODY;
    }
}

/* Takes the free block at a place: those behind come up. */
static void cache_take(struct cache *cache, uint32_t id, uint32_t at)
{
    assert_true(at < cache->count);
    cache->own[id][cache->owned[id]++] = cache->free[at];
    cache->count--;
    memmove(&cache->free[at], &cache->free[at + 1], (cache->count - at) * sizeof cache->free[0]);
}

/* More of the first, as many as `tokens` need; they hold the call's then. */
static void cache_grow(struct engine *e, const struct call *c, uint32_t tokens)
{
    struct cache *cache = &e->cache;

    while (cache->owned[c->id] < blocks_of(e, tokens)) {
        if (cache->count == 0) {
            cache->own[c->id][cache->owned[c->id]++] = NOBODY;
            cache->debt++;
            continue;
        }
        cache_take(cache, c->id, 0);
        cache->call[cache->own[c->id][cache->owned[c->id] - 1]] = NOBODY;
    }
}

/* Prompts in work do not reserve their next token, so that the batch may have a block too many:
 * the next that is free goes to who has it. */
static void cache_settle(struct cache *cache)
{
    for (uint32_t id = 0; id < REQUESTS && cache->debt > 0 && cache->count > 0; id++)
        for (uint32_t part = 0; part < cache->owned[id] && cache->debt > 0; part++)
            if (cache->own[id][part] == NOBODY && cache->count > 0) {
                uint32_t owned = cache->owned[id];
                cache->owned[id] = part;
                cache_take(cache, id, 0);
                cache->call[cache->own[id][part]] = NOBODY;
                cache->owned[id] = owned;
                cache->debt--;
            }
}

/* Gives them back, the last first; the first `whole` hold the call's tokens. */
static void cache_free(struct engine *e, const struct call *c, uint32_t whole)
{
    struct cache *cache = &e->cache;

    while (cache->owned[c->id] > 0) {
        uint32_t part = --cache->owned[c->id], block = cache->own[c->id][part];
        if (block == NOBODY) {
            cache->debt--;
            continue;
        }
        cache->call[block] = part < whole ? c->id : NOBODY;
        cache->part[block] = part;
        cache->free[cache->count++] = block;
        cache_settle(cache);
    }
}

/* Where a part of a call lies among the free ones; count: it does not. */
static uint32_t cache_find(const struct cache *cache, uint32_t id, uint32_t part)
{
    uint32_t at = 0;

    while (at < cache->count && (cache->call[cache->free[at]] != id ||
                                 cache->part[cache->free[at]] != part))
        at++;
    return at;
}

/* Whole blocks of 16 tokens, from the first on, that are still there. */
static uint32_t cache_known(const struct engine *e, const struct call *c)
{
    uint32_t parts = 0;

    while (16 * (parts + 1) < context_of(c) &&
           cache_find(&e->cache, c->id, parts) < e->cache.count)
        parts++;
    return parts;
}

static uint32_t to_compute(const struct call *c)
{
    return context_of(c) - c->known;
}

static void shift(struct call *list, uint32_t *count)
{
    memmove(list, list + 1, --*count * sizeof *list);
}

static bool gave_up(const struct engine *e, const struct call *c, int64_t now)
{
    return e->spec->timeout_ns > 0 && c->made == 0 && now - c->at > e->spec->timeout_ns;
}

/* Each at its time: who has given up until then leaves the queue, also behind those that were
 * thrown out, and a queue that is full takes no more. */
static void come(struct engine *e)
{
    for (; e->next < e->calls && e->call[e->next].at <= e->now; e->next++) {
        const struct call *c = &e->call[e->next];
        uint32_t begun = 0;
        while (begun < e->waits && e->wait[begun].made > 0)
            begun++;
        while (begun < e->waits && gave_up(e, &e->wait[begun], c->at)) {
            e->dropped++;
            uint32_t behind = e->waits - begun;
            shift(e->wait + begun, &behind);
            e->waits--;
        }
        if (!e->idle && e->spec->queue_max > 0 && e->waits >= e->spec->queue_max)
            e->dropped++;
        else if (blocks_of(e, c->prompt + c->output) > e->blocks_max)
            e->refused++;
        else
            e->wait[e->waits++] = *c;
    }
}

/* Takes prompts in their order, while there is room in the batch and in the cache for the prompt
 * and a token; uncut ones up to WHOLE tokens together.  Returns their tokens. */
static uint32_t admit(struct engine *e)
{
    uint32_t tokens = 0, held = blocks_with(e, 0);

    while (e->waits > 0) {
        struct call *c = &e->wait[0];
        if (gave_up(e, c, e->now)) {
            e->dropped++;
            shift(e->wait, &e->waits);
            continue;
        }
        if (e->at_work == e->spec->batch_max ||
            held + blocks_of(e, context_of(c) + 1) > e->blocks_max ||
            (e->spec->chunk_tokens == 0 && e->fresh > 0 &&
             tokens + context_of(c) - 16 * cache_known(e, c) > WHOLE))
            break;
        c->known = 16 * cache_known(e, c);
        for (uint32_t part = 0; part < c->known / 16; part++)
            cache_take(&e->cache, c->id, cache_find(&e->cache, c->id, part));
        cache_grow(e, c, context_of(c) + 1);
        held += blocks_of(e, context_of(c) + 1);
        tokens += to_compute(c);
        e->batch[e->at_work++] = *c;
        e->fresh++;
        shift(e->wait, &e->waits);
    }
    return tokens;
}

/* The last request of the batch waits again, before all others, and keeps the tokens that it has
 * made; its blocks hold them, but for the last token, until others take them. */
static void throw_out(struct engine *e)
{
    struct call *last = &e->batch[e->at_work - 1];

    cache_free(e, last, e->fresh > 0 ? 0 : (context_of(last) - 1) / 16);
    last->known = 0;
    memmove(e->wait + 1, e->wait, e->waits++ * sizeof *e->wait);
    e->wait[0] = e->batch[--e->at_work];
    e->again++;
    if (e->fresh > 0 && --e->fresh == 0)
        e->computed = 0;
}

static double mean_context(const struct engine *e, uint32_t from, uint32_t to)
{
    double sum = 0;

    for (uint32_t i = from; i < to; i++)
        sum += context_of(&e->batch[i]);
    return from < to ? sum / (to - from) : 0;
}

/* Each of [from, to) has a token more; who has all leaves. */
static void give_tokens(struct engine *e, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to;) {
        struct call *c = &e->batch[i];
        double since_s = clock_s_from_ns(e->now - c->at);
        if (c->made++ == 0)
            c->first = e->now;
        cache_grow(e, c, context_of(c));
        if (c->made < c->output) {
            i++;
            continue;
        }
        double ttft_s = clock_s_from_ns(c->first - c->at);
        cache_free(e, c, 0);
        e->done++;
        e->latency_s += since_s;
        e->ttft_s += ttft_s;
        if (c->output > 1) {
            e->tpot_s += (since_s - ttft_s) / (c->output - 1);
            e->with_tpot++;
        }
        memmove(c, c + 1, (e->at_work - i - 1) * sizeof *c);
        e->at_work--;
        to--;
    }
}

static void spend(struct engine *e, double seconds)
{
    int64_t ns = clock_ns_for_work(seconds, 1);

    e->now += ns;
    e->busy += ns;
}

/* Prompts in chunks beside the others: what is left of the chunk after a token of each that
 * decodes goes to the prompts in their order. */
static void run_chunk(struct engine *e)
{
    uint32_t decoding = e->at_work - e->fresh, ends = 0, taken = 0, part = e->computed;
    uint32_t budget = e->spec->chunk_tokens > decoding ? e->spec->chunk_tokens - decoding : 1;
    double prompt = mean_context(e, decoding, e->at_work), beside = mean_context(e, 0, decoding);

    while (taken < budget && ends < e->fresh) {
        taken++;
        if (++part == to_compute(&e->batch[decoding + ends])) {
            ends++;
            part = 0;
        }
    }
    spend(e, serve_mixed_s(e->law, e->gang, decoding, beside, taken, prompt));
    e->fresh -= ends;
    e->computed = part;
    give_tokens(e, 0, decoding + ends);
}

/* One pass of the engine; false: nothing waits, and nothing is at work. */
static bool turn(struct engine *e)
{
    come(e);
    uint32_t tokens = admit(e);

    /* Of those that came at once to an idle replica the last ones find no room in its queue. */
    if (e->idle && e->spec->queue_max > 0 && e->waits > e->spec->queue_max) {
        e->dropped += e->waits - e->spec->queue_max;
        e->waits = e->spec->queue_max;
    }
    e->idle = false;

    if (e->spec->chunk_tokens > 0 && e->fresh > 0)
        while (e->at_work > 1 && e->at_work > e->fresh &&
               blocks_with(e, e->at_work) > e->blocks_max)
            throw_out(e);
    if (e->spec->chunk_tokens > 0 && e->fresh > 0) {
        run_chunk(e);
    } else if (e->fresh > 0) {
        uint32_t from = e->at_work - e->fresh;
        spend(e, serve_prefill_s(e->law, e->gang, e->fresh, (double)tokens / e->fresh));
        e->fresh = 0;
        give_tokens(e, from, e->at_work);
    } else if (e->at_work > 0) {
        while (e->at_work > 1 && blocks_with(e, e->at_work) > e->blocks_max)
            throw_out(e);
        spend(e, serve_step_s(e->law, e->gang, e->at_work, mean_context(e, 0, e->at_work)));
        give_tokens(e, 0, e->at_work);
    } else if (e->waits == 0 && e->next < e->calls) {
        e->now = e->call[e->next].at;
        e->idle = true;
    } else {
        return e->waits > 0;
    }
    return true;
}

/* ---- the product ---- */

struct source {
    const struct call *call;
    uint32_t next, count;
};

static bool next_call(void *self, struct request *out)
{
    struct source *source = self;

    if (source->next == source->count)
        return false;
    const struct call *c = &source->call[source->next++];
    *out = (struct request){ .arrive_ns = c->at, .prompt_tokens = c->prompt,
                             .output_tokens = c->output };
    return true;
}

static void start(void *self, uint32_t replica, enum serve_side side)
{
    (void)self;
    assert_int_equal(replica, 0);
    assert_int_equal(side, SERVE_GPU);
}

static const struct service_ops ops = { .start = start };

/* Runs the calls of an engine, at most so long; `last`: how the loop ends. */
static struct service_result run_service(const struct engine *e, const struct service_spec *spec,
                                         int64_t until_s, enum loop_end last)
{
    struct arena *arena = arena_new(0);
    struct source source = { e->call, 0, e->calls };
    struct loop *loop = loop_new((struct loop_limits){ until_s * CLOCK_NS_PER_S, UINT64_MAX,
                                                       NULL });
    struct service *service = service_new(&(struct service_parts){
        .arena = arena, .loop = loop, .spec = spec, .ops = &ops, .next = next_call,
        .source = &source });

    service_begin(service);
    service_ready(service, 0, e->gang, 0);
    assert_int_equal(loop_run(loop), last);
    struct service_result result = *service_close(service);
    service_free(service);
    loop_free(loop);
    arena_free(arena);
    return result;
}

/* ---- both ---- */

static const struct job_form form;

static struct service_spec draw_spec(struct rng *rng, const struct llm *llm)
{
    static const uint32_t chunks[] = { 0, 0, 64, 512, 2048 }, batches[] = { 1, 3, 8, 40 };
    struct service_spec spec = {
        .name = "s", .batch_max = batches[rng_below(rng, 4)],
        .chunk_tokens = chunks[rng_below(rng, 5)],
        .timeout_ns = rng_below(rng, 3) ? 0 : (int64_t)rng_below(rng, 20) * CLOCK_NS_PER_S / 4,
        .queue_max = rng_below(rng, 3) ? 0 : 1 + (uint32_t)rng_below(rng, 5),
        .scaling = { .target = 1, .interval_ns = 700 * CLOCK_NS_PER_S },
        .cache_share = rng_below(rng, 2) ? 0 : 0.97,    /* so that blocks run out */
    };

    spec.side[SERVE_GPU] = (struct serve_side_spec){ &form,
        { .kind = SERVE_GENERATE, .llm = llm, .precision = PRECISION_BF16, .tp = 1 }, 1, 1 };
    return spec;
}

static void draw_calls(struct engine *e, struct rng *rng)
{
    static const double gaps[] = { 0.02, 0.3, 3 };
    double at_s = 0, gap_s = gaps[rng_below(rng, 3)];

    e->calls = 1 + (uint32_t)rng_below(rng, REQUESTS);
    for (uint32_t i = 0; i < e->calls; i++) {
        at_s += rng_below(rng, 4) ? rng_exponential(rng, gap_s) : 0;
        e->call[i] = (struct call){ .at = clock_ns_for_work(at_s, 1),
                                    .prompt = 1 + (uint32_t)rng_below(rng, 3000),
                                    .output = 1 + (uint32_t)rng_below(rng, 300), .id = i };
    }
}

static void is_near(const char *what, uint64_t k, double found, double expected, double part)
{
    if (!(fabs(found - expected) <= part * expected + 1e-9))
        fail_msg("case %u: %s %.9g, expected %.9g", (unsigned)k, what, found, expected);
}

static void check(const struct engine *e, const struct service_result *r, uint64_t k, double part)
{
    if (r->done != e->done || r->dropped != e->dropped || r->refused != e->refused ||
        r->recomputed != e->again)
        fail_msg("case %u: %u done, %u dropped, %u refused, %u again; expected %u, %u, %u, %u",
                 (unsigned)k, (unsigned)r->done, (unsigned)r->dropped, (unsigned)r->refused,
                 (unsigned)r->recomputed, e->done, e->dropped, e->refused, e->again);
    is_near("busy", k, r->side[SERVE_GPU].busy_s, clock_s_from_ns(e->busy), part);
    if (e->done == 0)
        return;
    is_near("latency", k, r->latency.mean, e->latency_s / e->done, part);
    is_near("ttft", k, r->ttft.mean, e->ttft_s / e->done, part);
    assert_int_equal(r->tpot.count, e->with_tpot);
    if (e->with_tpot > 0)
        is_near("tpot", k, r->tpot.mean, e->tpot_s / e->with_tpot, part);
}

static void run_cases(bool one_step, double interval_s, double part)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a10", 1, 1, 0.0);
    const struct llm *llm = catalogue_llm(aids.catalogue, "qwen2.5-7b");
    struct llm windowed = *llm;
    uint32_t again = 0, refused = 0, dropped = 0;
    struct rng rng;

    rng_init(&rng, 9, "engine", 0);
    windowed.window = 700;      /* of 20 of its 28 layers */
    windowed.window_layers = 20;
    for (uint64_t k = 0; k < 150; k++) {
        struct service_spec spec = draw_spec(&rng, k % 3 ? llm : &windowed);
        struct engine *e = calloc(1, sizeof *e);
        e->spec = &spec;
        e->law = &spec.side[SERVE_GPU].law;
        e->gang = &gang;
        double blocks = serve_blocks_max(e->law, &gang, 0);
        e->blocks_max = (uint32_t)(blocks * (1 - spec.cache_share));
        draw_calls(e, &rng);
        cache_begin(e);
        while (turn(e))
            continue;
        spec.one_step = one_step;
        spec.scaling.interval_ns = clock_ns_for_work(interval_s, 1);
        struct service_result result = run_service(e, &spec, 100000, LOOP_DRAINED);
        check(e, &result, k, part);
        again += e->again;
        refused += e->refused;
        dropped += e->dropped;
        free(e);
    }
    assert_true(again > 20 && refused > 10 && dropped > 20);
    law_aids_free(&aids);
}

static void tokens_come_as_one_by_one(void **state)
{
    (void)state;
    run_cases(true, 700, 1e-9);
}

/* As many steps at once as nothing changes in: times but for rounding, and what is counted the
 * same. */
static void steps_at_once_are_those_one_by_one(void **state)
{
    (void)state;
    run_cases(false, 700, 1e-5);
}

/* Looks of the autoscaler lie within them, and change nothing. */
static void looks_within_steps_change_nothing(void **state)
{
    (void)state;
    run_cases(false, 0.37, 1e-5);
    run_cases(true, 0.37, 1e-9);
}

/* At the end of a run one request is at work, of 300 tokens and some 30 ms each, one behind it
 * has given up since the last event, and one has not: it came 0.5 s before the end. */
static void who_gave_up_by_the_end_is_dropped(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a10", 1, 1, 0.0);
    struct rng rng;
    struct engine *e = calloc(1, sizeof *e);

    (void)state;
    rng_init(&rng, 1, "engine", 0);
    struct service_spec spec = draw_spec(&rng, catalogue_llm(aids.catalogue, "qwen2.5-7b"));
    spec.batch_max = 1;
    spec.chunk_tokens = spec.queue_max = 0;
    spec.timeout_ns = CLOCK_NS_PER_S;
    spec.cache_share = 0;
    e->gang = &gang;
    e->calls = 3;
    e->call[0] = (struct call){ .at = 0, .prompt = 1000, .output = 300 };
    e->call[1] = (struct call){ .at = CLOCK_NS_PER_S * 2, .prompt = 10, .output = 5 };
    e->call[2] = (struct call){ .at = CLOCK_NS_PER_S * 5 / 2, .prompt = 10, .output = 5 };
    struct service_result r = run_service(e, &spec, 3, LOOP_TIME_LIMIT);
    assert_true(r.requests == 3 && r.done == 0 && r.dropped == 0 && r.unfinished == 3);
    spec.timeout_ns = CLOCK_NS_PER_S - 1;
    r = run_service(e, &spec, 3, LOOP_TIME_LIMIT);
    assert_true(r.requests == 3 && r.done == 0 && r.dropped == 1 && r.unfinished == 2);
    free(e);
    law_aids_free(&aids);
}

/* On cores: what weights leave of the host memory, in blocks of 16 tokens. */
static void blocks_on_cores_are_what_weights_leave(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *llm = catalogue_llm(aids.catalogue, "qwen2.5-7b");
    struct serve_law law = { .kind = SERVE_GENERATE, .llm = llm, .precision = PRECISION_BF16,
                             .tp = 1 };
    struct gang gang = { .nodes = 1, .cores = 8 };
    double weights = memory_weight_bytes(llm, PRECISION_BF16);
    double block = 16 * memory_kv_bytes_per_token(llm);

    (void)state;
    assert_true(serve_blocks_max(&law, &gang, weights + 1000.5 * block) == 1000);
    assert_true(serve_blocks_max(&law, &gang, weights + 0.5 * block) == 0);
    assert_true(serve_blocks_max(&law, &gang, weights / 2) == 0);
    law_aids_free(&aids);
}

/* The blocks of a replica are gone when it ends: no request has any, at work or thrown out. */
static void blocks_go_with_their_replica(void **state)
{
    struct flight slots[4] = { { .made_tokens = 3, .held = 7, .prompt_tokens = 50 },
                               { .prompt_tokens = 40 }, { .prompt_tokens = 30, .held = 2 } };
    struct flight batch[2] = { { .prompt_tokens = 9, .held = 1 },
                               { .prompt_tokens = 99, .held = 8 } };
    struct replica r = { .batch = batch, .at_work = 2, .thrown = 2,
                         .queue = { .slot = slots, .head = 0, .count = 3, .room = 4 } };

    (void)state;
    assert_int_equal(service_blocks_kept(&r, &slots[0], 53), 3);    /* 52 tokens: 3 whole */
    assert_int_equal(slots[0].known_tokens, 48);
    service_blocks_forget(&r);
    assert_true(slots[0].held == 0 && slots[2].held == 0 && r.thrown == 0 && batch[1].held == 8);
    slots[0].held = 7;
    slots[2].held = 2;
    service_blocks_lose(&r);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(service_blocks_kept(&r, &slots[i], 53), 0);
    assert_true(batch[0].held == 0 && batch[1].held == 0 && r.thrown == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_come_as_one_by_one),
        cmocka_unit_test(steps_at_once_are_those_one_by_one),
        cmocka_unit_test(looks_within_steps_change_nothing),
        cmocka_unit_test(who_gave_up_by_the_end_is_dropped),
        cmocka_unit_test(blocks_on_cores_are_what_weights_leave),
        cmocka_unit_test(blocks_go_with_their_replica),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
