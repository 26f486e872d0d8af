/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise_oracle_test.c - the fastest layout against all layouts, and each change of a job that
 * does not fit against the list of its kind, from mild to costly.  Models, gangs and jobs come by
 * lot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "models/advise/advise.h"
#include "models/laws/experts.h"
#include "models/laws/phase.h"
#include "models/laws/train.h"
#include "tests/aid/law_world.h"

struct world {
    struct law_world law;
    struct phase_law phase;
    struct advise_task task;
    struct llm critic;
    struct train_shape beside;
};

static void draw(struct rng *rng, struct world *w)
{
    law_world_draw(rng, &w->law);
    if (w->law.gang.nodes > 2) {
        w->law.gang.nodes = 2;
        w->law.gang.gpus = 16;
    }
    struct train_shape *shape = &w->law.shape;
    shape->sequence_tokens = LAW_ONE(rng, 700, 2048, 8192);
    shape->on_host = false;
    shape->vp = shape->cp = shape->ep = 1;
    shape->tp = LAW_ONE(rng, 1, 2);
    shape->pp = LAW_ONE(rng, 1, 2);
    shape->micro_batch = LAW_ONE(rng, 1, 4);
    if (rng_below(rng, 4) == 0) {       /* one replica: there is nobody to divide states with */
        w->law.gang.nodes = 1;
        w->law.gang.gpus = shape->tp * shape->pp;
    }
    w->phase = (struct phase_law){ .kind = LAW_TRAIN, .repeats = 1, .train = *shape,
                                   .sequences = LAW_ONE(rng, 16, 64) };
    w->task = (struct advise_task){ &w->phase, shape->sequence_tokens * LAW_ONE(rng, 1, 3),
                                    rng_below(rng, 4) == 0, NULL };
    w->critic = w->law.llm;
    w->beside = *shape;
    w->beside.llm = &w->critic;
    if (rng_below(rng, 4) == 0)
        w->task.beside = &w->beside;
}

/* ---- all layouts ---- */

struct found { double run_s, least_bytes; uint64_t fit; };

static void try_all(const struct world *w, struct train_shape s, struct found *found)
{
    double ranks = w->law.gang.gpus / train_replica_gpus(&s);
    double most = floor(w->phase.sequences / ranks + 1e-9);

    for (s.micro_batch = 1; s.micro_batch <= most && s.micro_batch <= 64; s.micro_batch *= 2) {
        if (s.vp > 1 && fmod(floor(most / s.micro_batch), s.pp) != 0)
            continue;
        for (s.zero = 0; s.zero <= (ranks == 1 ? 0 : s.pp > 1 ? 1 : 3); s.zero++)
            for (int r = RECOMPUTE_NONE; r <= RECOMPUTE_FULL; r++) {
                s.recompute = (enum recompute)r;
                double bytes = advise_need(&w->task, &s, w->law.gang.gpus).total;
                found->least_bytes = fmin(found->least_bytes, bytes);
                if (bytes > w->law.gpu.memory_bytes)
                    continue;
                found->run_s = fmin(found->run_s, advise_train_s(&w->task, &s, &w->law.gang));
                found->fit++;
            }
    }
}

static struct found search(const struct world *w)
{
    struct found found = { INFINITY, INFINITY, 0 };
    const struct llm *llm = &w->law.llm;
    uint32_t gpus = w->law.gang.gpus;

    for (uint32_t tp = 1; tp <= 8; tp *= 2)
        for (uint32_t pp = 1; pp <= 16 && tp * pp <= gpus; pp++)
            for (uint32_t cp = 1; cp == 1 || w->task.longest_tokens / cp >= 4096; cp *= 2)
                for (uint32_t vp = 1; vp <= (pp > 1 ? 4 : 1); vp *= 2)
                    for (uint32_t ep = 1; ep == 1 || (w->law.routed && ep <= gpus / tp / pp);
                         ep *= 2) {
                        struct train_shape s = w->phase.train;
                        s.tp = tp;
                        s.pp = pp;
                        s.cp = cp;
                        s.vp = vp;
                        s.ep = ep;
                        s.sequence_parallel = tp > 1;
                        if (llm->heads % tp == 0 && llm->layers % (pp * vp) == 0 &&
                            gpus % (tp * pp * cp) == 0 &&
                            (ep == 1 || (w->law.routed % ep == 0 && gpus / (tp * pp) % ep == 0)))
                            try_all(w, s, &found);
                    }
    return found;
}

static void no_layout_that_fits_is_faster(void **state)
{
    struct rng rng;
    uint32_t fit = 0, none = 0;

    (void)state;
    rng_init(&rng, 1, "layouts", 0);
    for (int i = 0; i < 150; i++) {
        struct world w;
        draw(&rng, &w);
        struct advise_layout best = advise_train(&w.task, &w.law.gang, 8);
        struct found found = search(&w);
        if (found.fit == 0) {
            assert_true(isinf(best.run_s) && best.fit_count == 0);
            assert_true(best.least_bytes == found.least_bytes);
            none++;
            continue;
        }
        fit++;
        assert_true(fabs(best.run_s / found.run_s - 1) < 1e-9);
        assert_true(best.gpu_bytes <= w.law.gpu.memory_bytes);
        assert_true(best.gpu_bytes == advise_need(&w.task, &best.shape, w.law.gang.gpus).total);
        assert_true(best.run_s == advise_train_s(&w.task, &best.shape, &w.law.gang));
        assert_true(best.fit_count <= found.fit && best.fit_count <= best.tried_count);
    }
    assert_true(fit > 20 && none > 5);
}

/* The need counts the longest sequence, a frozen copy and a critic's own states. */
static void what_shares_the_gpus_is_counted(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "needs", 0);
    for (int i = 0; i < 500; i++) {
        struct world w;
        draw(&rng, &w);
        struct train_shape s = w.phase.train;
        s.sequence_tokens = w.task.longest_tokens;
        struct memory_need need = advise_need(&w.task, &w.phase.train, 16);
        struct memory_need alone = memory_train(&s, 16);
        double states = alone.weights + alone.gradients + alone.optimizer;
        double frozen = w.task.frozen ? memory_frozen(&s, 16) : 0;
        double critic = w.task.beside ? states : 0;
        assert_true(fabs(need.total - alone.total - frozen - critic) < 1e-9 * need.total);
        assert_true(fabs(need.weights - alone.weights * (w.task.beside ? 2 : 1) - frozen) <
                    1e-9 * need.weights);
    }
}

static void the_largest_micro_batch_fits_and_one_more_does_not(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "micro", 0);
    for (int i = 0; i < 500; i++) {
        struct world w;
        draw(&rng, &w);
        struct train_shape s = w.phase.train;
        double most = advise_micro_batch_max(&w.task, &s, 16, w.law.gpu.memory_bytes);
        s.micro_batch = most + 1;
        assert_true(advise_need(&w.task, &s, 16).total > w.law.gpu.memory_bytes);
        s.micro_batch = most;
        assert_true(most == 0 || (most == floor(most) &&
                    advise_need(&w.task, &s, 16).total <= w.law.gpu.memory_bytes));
    }
}

/* ---- changes ---- */

struct offers { struct train_shape shape[32]; uint32_t gpus[32], count; };

static bool alike(const struct train_shape *a, const struct train_shape *b)
{
    return a->method == b->method && a->zero == b->zero && a->recompute == b->recompute &&
           a->tp == b->tp && a->pp == b->pp && a->ep == b->ep && a->cp == b->cp &&
           a->sequence_parallel == b->sequence_parallel && a->micro_batch == b->micro_batch &&
           a->sequence_tokens == b->sequence_tokens;
}

/* How far states are divided at most: with a pipeline, the optimizer's alone. */
static int zero_most(const struct train_shape *s) { return s->pp > 1 ? 1 : 3; }

/* The mildest of a kind that fits, once. */
static bool offer(const struct world *w, struct offers *to, struct train_shape s, uint32_t gpus)
{
    if (advise_need(&w->task, &s, gpus).total > w->law.gpu.memory_bytes)
        return false;
    for (uint32_t i = 0; i < to->count; i++)
        if (to->gpus[i] == gpus && alike(&to->shape[i], &s))
            return true;
    to->gpus[to->count] = gpus;
    to->shape[to->count++] = s;
    return true;
}

/* With as little recomputing as it can, from that level on; did one fit? */
static bool offer_recompute(const struct world *w, struct offers *to, struct train_shape s,
                            int level)
{
    bool done = false;

    for (; !done && level <= RECOMPUTE_FULL; level++) {
        s.recompute = (enum recompute)level;
        done = offer(w, to, s, w->law.gang.gpus);
    }
    return done;
}

static void offer_states(const struct world *w, struct offers *to)
{
    struct train_shape own = w->phase.train, s = own;
    uint32_t gpus = w->law.gang.gpus;
    bool done = gpus <= own.tp * own.pp;

    for (s.zero = own.zero + 1; !done && s.zero <= zero_most(&own); s.zero++)
        done = offer(w, to, s, gpus);
    offer_recompute(w, to, own, (int)own.recompute + 1);
    s = own;
    s.micro_batch = advise_micro_batch_max(&w->task, &own, gpus, w->law.gpu.memory_bytes);
    if (own.micro_batch > 1 && s.micro_batch >= 1)
        offer(w, to, s, gpus);
}

static void offer_degrees(const struct world *w, struct offers *to, uint32_t gpus_max)
{
    struct train_shape own = w->phase.train, s = own;
    uint32_t gpus = w->law.gang.gpus;
    bool done = false;

    for (s.tp = 2 * own.tp; !done && s.tp <= 8; s.tp *= 2)
        done = w->law.llm.heads % s.tp == 0 && gpus % (s.tp * s.pp) == 0 &&
               offer(w, to, s, gpus);
    s = own;
    done = false;
    for (s.pp = 2 * own.pp; !done && s.pp <= 64; s.pp *= 2)
        done = w->law.llm.layers % s.pp == 0 && gpus % (s.tp * s.pp) == 0 &&
               offer(w, to, s, gpus);
    s = own;
    done = false;
    for (s.cp = 2; !done && w->task.longest_tokens / s.cp >= 4096; s.cp *= 2)
        done = gpus % (s.tp * s.pp * s.cp) == 0 && offer(w, to, s, gpus);
    s = own;
    s.sequence_parallel = true;
    if (own.tp > 1 && !own.sequence_parallel)
        offer(w, to, s, gpus);
    s = own;
    s.zero = zero_most(&own);
    done = false;
    for (uint32_t n = 2 * gpus; !done && n <= gpus_max; n *= 2)
        done = offer(w, to, s, n);
    s = own;
    done = w->law.routed == 0;
    for (s.ep = 2; !done && s.ep <= gpus / (own.tp * own.pp); s.ep *= 2)
        done = w->law.routed % s.ep == 0 && gpus / (own.tp * own.pp) % s.ep == 0 &&
               offer(w, to, s, gpus);
}

static void offer_others(const struct world *w, struct offers *to)
{
    struct train_shape own = w->phase.train, s = own;
    uint32_t gpus = w->law.gang.gpus;
    bool done = false;

    for (s.sequence_tokens /= 2; !done && s.sequence_tokens >= 512; s.sequence_tokens /= 2)
        done = offer(w, to, s, gpus);
    s = own;
    done = false;
    for (int m = own.method + 1; !done && m <= TRAIN_QLORA; m++) {
        s.method = (enum train_method)m;
        done = offer(w, to, s, gpus);
    }
    /* All together: one sequence, states divided, and of methods the first that fits with as
     * little recomputing as it can. */
    s = own;
    s.micro_batch = 1;
    if (gpus > own.tp * own.pp)
        s.zero = zero_most(&own);
    done = false;
    for (int m = own.method; !done && m <= TRAIN_QLORA; m++) {
        s.method = (enum train_method)m;
        done = offer_recompute(w, to, s, (int)own.recompute);
    }
}

static void changes_are_the_mildest_of_each_kind(void **state)
{
    struct advise_change change[ADVISE_CHANGES_MAX];
    struct rng rng;
    uint32_t offered = 0;

    (void)state;
    rng_init(&rng, 4, "changes", 0);
    for (int i = 0; i < 3000; i++) {
        struct world w;
        struct offers expected = { .count = 0 };
        draw(&rng, &w);
        if (w.law.gang.gpus % (w.phase.train.tp * w.phase.train.pp) != 0)
            continue;
        size_t count = advise_changes(&w.task, &w.law.gang, 8, 64, change);
        offer_states(&w, &expected);
        offer_degrees(&w, &expected, 64);
        offer_others(&w, &expected);
        assert_int_equal(count, expected.count);
        offered += expected.count;
        for (size_t c = 0; c < count; c++) {
            struct gang gang = w.law.gang;
            gang.cores = gang.cores / gang.gpus * change[c].gpus;
            gang.gpus = change[c].gpus;
            gang.nodes = (gang.gpus + 7) / 8;
            assert_int_equal(change[c].gpus, expected.gpus[c]);
            assert_true(alike(&change[c].shape, &expected.shape[c]));
            assert_true(change[c].bytes ==
                        advise_need(&w.task, &change[c].shape, change[c].gpus).total);
            assert_true(change[c].run_s == advise_train_s(&w.task, &change[c].shape, &gang));
        }
    }
    assert_true(offered > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_layout_that_fits_is_faster),
        cmocka_unit_test(what_shares_the_gpus_is_counted),
        cmocka_unit_test(the_largest_micro_batch_fits_and_one_more_does_not),
        cmocka_unit_test(changes_are_the_mildest_of_each_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
