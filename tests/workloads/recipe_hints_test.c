/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_hints_test.c - what a role that has too little memory would fit with, as its message says:
 * drawn entries, each with the change that is named.
 *
 * The cluster has 32 A100 and 32 A10.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "sim/base/rng.h"
#include "tests/aid/workload_aid.h"

static bool coin(struct rng *rng)
{
    return rng_below(rng, 2) == 0;
}

/* An entry whose engine has a replica of tp GPUs of a type; returns what is said, "" if nothing. */
static const char *try_engine(struct aid *aid, const char *model, const char *type, unsigned tp,
                              const char *precision, unsigned tokens)
{
    char text[500];

    snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 1\nmix:\n  - {recipe: "
             "batch-infer, model: %s, prompts: 8, prompt_tokens: %u, response: {mean: 9, cv: 1, "
             "max: 99}, steps: 1, infer: {gpus: %u, tp: %u, precision: %s, types: [%s]}}\n",
             model, tokens, tp, tp, precision, type);
    return aid_workload(aid, "w.yaml", text) != NULL ? "" : aid_message(aid);
}

/* What an engine that does not fit would fit with is tried: more GPUs a replica, the fewest in
 * powers of two, which divide its heads, else fewer bits; where neither is said to do, neither
 * does.  A 7B of 28 heads has no replica of 8 GPUs, though they would hold 1,250,000 tokens. */
static void what_an_engine_would_fit_with_fits(void **state)
{
    static const char *const models[] = { "qwen2.5-7b", "llama-2-13b", "llama-2-70b" };
    static const char *const types[] = { "a10", "a100-80" };
    static const unsigned tokens[] = { 100, 30000, 1150000, 1250000, 4000000 };
    unsigned of_tp = 0, of_bits = 0, of_none = 0;
    struct aid aid;

    (void)state;
    for (int k = 0; k < 3 * 2 * 5 * 3; k++) {
        const char *model = models[k % 3], *type = types[k / 3 % 2];
        unsigned context = tokens[k / 6 % 5], begin = 1u << k / 30, tp = 0;
        const char *said, *hint;
        aid_open(&aid);
        said = try_engine(&aid, model, type, begin, "bf16", context);
        if (strstr(said, "bytes (") != NULL) {
            hint = strstr(said, "It would fit with");
            if (hint != NULL && sscanf(hint, "It would fit with tp: %u", &tp) == 1) {
                of_tp++;
                assert_int_equal(catalogue_llm(aid.catalogue, model)->heads % tp, 0);
                for (unsigned n = begin; n <= tp && n <= 8; n *= 2) {
                    const char *now = try_engine(&aid, model, type, n, "bf16", context);
                    if ((now[0] == '\0') != (n == tp))
                        fail_msg("%s, tp %u of %u: %s", model, n, tp, now);
                }
            } else if (hint != NULL) {
                of_bits++;
                assert_non_null(strstr(hint, "precision: int4"));
                assert_string_equal(try_engine(&aid, model, type, begin, "int4", context), "");
            } else {
                of_none++;
                assert_non_null(strstr(said, "Neither tp up to 64 nor precision: int4"));
                assert_non_null(strstr(try_engine(&aid, model, type, begin, "int4", context),
                                       "bytes ("));
                for (unsigned n = begin; n <= 8; n *= 2)
                    assert_true(try_engine(&aid, model, type, n, "bf16", context)[0] != '\0');
            }
        }
        aid_close(&aid);
    }
    assert_true(of_tp > 0 && of_bits > 0 && of_none > 0);
}

/* What decides whether a trainer fits. */
struct trainer {
    const char *model, *type, *recompute, *method;
    unsigned zero, micro_batch, tp, gpus, tokens;
};

static const char *try_trainer(struct aid *aid, const struct trainer *t)
{
    char text[500];

    snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 1\nmix:\n  - {recipe: sft, "
             "model: %s, zero: %u, recompute: %s, method: %s, micro_batch: %u, tp: %u, batch: 512, "
             "sequence: %u, steps: 9, train: {gpus: %u, types: [%s]}}\n", t->model, t->zero,
             t->recompute, t->method, t->micro_batch, t->tp, t->tokens, t->gpus, t->type);
    return aid_workload(aid, "w.yaml", text) != NULL ? "" : aid_message(aid);
}

/* The trainer with one change, as the hint words it: keys of the entry, or a number of GPUs. */
static struct trainer change(struct trainer t, const char *text)
{
    static const char *const method[] = { "qlora", "lora" }, *const recompute[] = { "selective",
                                                                                  "full" };
    char word[40];
    const char *at;

    if (strstr(text, "GPUs") != NULL)
        assert_int_equal(sscanf(text, "%u", &t.gpus), 1);
    if ((at = strstr(text, "zero: ")) != NULL)
        assert_int_equal(sscanf(at, "zero: %u", &t.zero), 1);
    if ((at = strstr(text, "micro_batch: ")) != NULL)
        assert_int_equal(sscanf(at, "micro_batch: %u", &t.micro_batch), 1);
    if ((at = strstr(text, "tp: ")) != NULL)
        assert_int_equal(sscanf(at, "tp: %u", &t.tp), 1);
    for (int i = 0; i < 2; i++) {
        snprintf(word, sizeof word, "method: %s", method[i]);
        t.method = strstr(text, word) != NULL ? method[i] : t.method;
        snprintf(word, sizeof word, "recompute: %s", recompute[i]);
        t.recompute = strstr(text, word) != NULL ? recompute[i] : t.recompute;
    }
    return t;
}

/* Each change that a trainer would fit with, as it is told, is accepted. */
static void what_a_trainer_would_fit_with_fits(void **state)
{
    static const char *const models[] = { "qwen2.5-7b", "llama-2-13b", "llama-2-70b" };
    static const unsigned sizes[] = { 1, 2, 4, 6, 8, 12, 16 };
    unsigned tried = 0, tensor = 0, more = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "trainers", 0);
    for (int i = 0; i < 400; i++) {
        const char *model = models[rng_below(&rng, 3)];
        struct trainer t = { model, coin(&rng) ? "a10" : "a100-80", "none", "full", 0,
                             coin(&rng) ? 1 : 8, coin(&rng) ? 1 : 2, sizes[rng_below(&rng, 7)],
                             coin(&rng) ? 512 : 4096 };
        struct aid aid;
        char hint[300], *at;
        if (t.gpus % t.tp != 0)
            continue;
        aid_open(&aid);
        const char *said = strstr(try_trainer(&aid, &t), "It would fit with ");
        snprintf(hint, sizeof hint, "%s", said == NULL ? "" : said + strlen("It would fit with "));
        for (at = hint; at != NULL && *at != '\0';) {
            char *next = strstr(at, "; or with ");
            if (next != NULL) {
                *next = '\0';
                next += strlen("; or with ");
            }
            struct trainer other = change(t, at);
            const char *now = try_trainer(&aid, &other);
            if (now[0] != '\0')
                fail_msg("%s on %u %s, tp %u: with %s: %s", t.model, t.gpus, t.type, t.tp, at, now);
            tried++;
            tensor += other.tp != t.tp;
            more += other.gpus != t.gpus;
            at = next;
        }
        aid_close(&aid);
    }
    assert_true(tried > 100 && tensor > 10 && more > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_engine_would_fit_with_fits),
        cmocka_unit_test(what_a_trainer_would_fit_with_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
