/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_forms_test.c - the whole form of drawn entries of dpo, grpo and ppo: who waits for whom,
 * what each phase works on, and what each role takes, loads and saves, beside sums that are
 * written out here.  Bytes of a model are those of models/laws/memory.h.
 *
 * The cluster has 4 nodes of 8 A100 (pool train) and 8 of 4 A10 (pool rollout).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/jobs/job.h"
#include "models/laws/loader.h"
#include "models/laws/memory.h"
#include "models/laws/phase.h"
#include "models/laws/transfer.h"
#include "sim/base/rng.h"
#include "tests/aid/workload_aid.h"

#define ENTRIES 300
#define PROMPT 300
#define LONGEST 2048

/* What is drawn of an entry. */
struct drawn {
    const char *recipe, *critic, *reward;       /* NULL: no reward */
    bool full, reference, apart, offload, off, offline;
    int zero;
    unsigned tp, gpus, min, engine_tp, prompts, responses, pairs, updates, epochs;
    int start_s, engine_start_s;        /* of a new process; below 0: as measured */
    bool process, int8;         /* a later start is a new process; weights of the engine */
};

static bool coin(struct rng *rng)
{
    return rng_below(rng, 2) == 0;
}

static struct drawn draw_entry(struct rng *rng)
{
    static const char *const recipes[] = { "dpo", "grpo", "ppo" };
    struct drawn d = { .recipe = recipes[rng_below(rng, 3)] };
    bool dpo = strcmp(d.recipe, "dpo") == 0, ppo = strcmp(d.recipe, "ppo") == 0;

    d.critic = !ppo ? NULL : coin(rng) ? "qwen2.5-1.5b" : "qwen2.5-0.5b";
    d.full = coin(rng);
    d.reference = coin(rng);
    d.offline = dpo && rng_below(rng, 3) == 0;
    d.apart = d.offline || coin(rng);
    d.offload = coin(rng);
    d.off = d.apart && !d.offline && coin(rng);
    d.zero = (int)rng_below(rng, 4);
    d.tp = 1 + (unsigned)rng_below(rng, 2);
    d.gpus = 8 * (1 + (unsigned)rng_below(rng, 2));
    d.min = coin(rng) ? d.gpus : 4;
    d.engine_tp = 1u << rng_below(rng, 3);
    d.prompts = 64 << rng_below(rng, 2);
    d.responses = ppo ? 1 : 2 + (unsigned)rng_below(rng, 6);
    d.pairs = dpo && d.responses > 2 && !d.offline && coin(rng) ? 2 : 1;
    d.updates = 1 + (unsigned)rng_below(rng, 2);
    d.epochs = 1 + (unsigned)rng_below(rng, 3);
    d.reward = d.offline || coin(rng) ? NULL : coin(rng) ? "cpu" : "gpu";
    d.start_s = coin(rng) ? -1 : 1 + (int)rng_below(rng, 90);
    d.engine_start_s = coin(rng) ? -1 : 1 + (int)rng_below(rng, 90);
    d.process = coin(rng);
    d.int8 = coin(rng);
    return d;
}

static int put_start(char *out, int start_s, bool process)
{
    int n = process ? sprintf(out, ", start: process") : 0;

    if (start_s >= 0)
        n += sprintf(out + n, ", process_start: %ds", start_s);
    return n;
}

static void write_entry(const struct drawn *d, char *out)
{
    int n = sprintf(out, "arrival: {process: all_at_once}\njobs: 1\nmix:\n  - {recipe: %s, "
                    "model: qwen2.5-1.5b, method: %s, zero: %d, recompute: full, micro_batch: 1, "
                    "tp: %u, prompts: %u, prompt_tokens: %d, response: {mean: 400, cv: 1, max: "
                    "%d}, reference: %s, steps: 5, checkpoint_every: 0, updates: %u, epochs: %u, "
                    "data: {cores: 16}", d->recipe, d->full ? "full" : "lora", d->zero, d->tp,
                    d->prompts, PROMPT, LONGEST, d->reference ? "true" : "false", d->updates,
                    d->epochs);

    if (d->critic != NULL)
        n += sprintf(out + n, ", critic: %s", d->critic);
    if (strcmp(d->recipe, "dpo") == 0)
        n += sprintf(out + n, ", pairs: %u", d->pairs);
    n += d->offline ? sprintf(out + n, ", generation: offline")
                    : sprintf(out + n, ", responses: %u, layout: %s", d->responses,
                              d->apart ? "disaggregated" : "colocated");
    if (!d->apart)
        n += sprintf(out + n, ", offload: %s", d->offload ? "true" : "false");
    if (d->off)
        n += sprintf(out + n, ", schedule: one-step-off");
    if (d->reward != NULL)
        n += sprintf(out + n, ", reward: {on: %s}", d->reward[0] == 'c'
                     ? "cpu, core_time: 50ms" : "gpu, model: qwen2.5-0.5b");
    n += sprintf(out + n, ", train: {gpus: %u, min: %u", d->gpus, d->min);
    n += put_start(out + n, d->start_s, d->process);
    if (!d->offline) {
        n += sprintf(out + n, "}, rollout: {tp: %u%s", d->engine_tp, d->int8 ?
                     ", precision: int8" : "");
        if (d->apart)
            n += sprintf(out + n, ", gpus: 8%s", d->process ? ", start: process" : "");
        n += put_start(out + n, d->engine_start_s, false);
    }
    sprintf(out + n, "}}\n");
}

/* ---- what is expected ---- */

struct wanted {
    const struct llm *llm, *critic;     /* critic NULL: none */
    struct train_shape shape, other;    /* of the policy and of the critic */
    double mean_tokens, trained;        /* of a sequence; sequences of a step */
    enum precision engine;
    double engine_bytes;        /* of its weights */
    double load_gpu;            /* bytes that a GPU of the trainer loads */
};

/* The mean of a lognormal length of mean 400 and cv 1 that is cut: the integral of P(X > x), in
 * 200,000 steps. */
static double mean_cut(void)
{
    double s = sqrt(log(2.0)), mu = log(400.0) - s * s / 2, sum = 0;

    for (int i = 0; i < 200000; i++) {
        double x = (i + 0.5) * LONGEST / 200000.0;
        sum += 0.5 * erfc((log(x) - mu) / s / sqrt(2.0)) * LONGEST / 200000.0;
    }
    return sum;
}

static struct train_shape shape_of(const struct drawn *d, const struct llm *llm)
{
    return (struct train_shape) {
        .llm = llm, .method = d->full ? TRAIN_FULL : TRAIN_LORA, .precision = PRECISION_BF16,
        .zero = d->zero, .recompute = RECOMPUTE_FULL, .sequence_tokens = PROMPT + LONGEST,
        .micro_batch = 1, .tp = d->tp, .pp = 1, .vp = 1, .cp = 1, .ep = 1,
        .lora_params = d->full ? 0 : memory_lora_params(llm, 16),
    };
}

static struct wanted want_of(const struct aid *aid, const struct drawn *d)
{
    struct wanted w = {
        .llm = catalogue_llm(aid->catalogue, "qwen2.5-1.5b"),
        .critic = d->critic == NULL ? NULL : catalogue_llm(aid->catalogue, d->critic),
        .engine = d->int8 && !d->offline ? PRECISION_INT8 : PRECISION_BF16,
        .mean_tokens = PROMPT + mean_cut(),
    };

    w.shape = shape_of(d, w.llm);
    if (w.critic != NULL)
        w.other = shape_of(d, w.critic);
    w.trained = d->prompts * (strcmp(d->recipe, "dpo") == 0 ? 2.0 * d->pairs : d->responses);
    w.engine_bytes = memory_weight_bytes(w.llm, w.engine);
    return w;
}

static void near_to(const char *what, const struct drawn *d, double is, double want)
{
    if (!(fabs(is - want) <= 1e-13 * fabs(want))) {
        char text[2000];
        write_entry(d, text);
        fail_msg("%s: %.10g for %.10g of\n%s", what, is, want, text);
    }
}

/* Bytes of a GPU beside the trained model, on so many GPUs: the frozen reference, and of the
 * critic its weights, its state with the optimizer, and all but activations. */
struct beside_it { double frozen, weights, state, held; };

static struct beside_it beside(const struct wanted *w, const struct drawn *d, unsigned gpus)
{
    struct beside_it b = { 0 };

    if (d->reference && d->full)
        b.frozen = memory_frozen(&w->shape, gpus);
    if (w->critic == NULL)
        return b;
    struct memory_need need = memory_train(&w->other, gpus);
    b.weights = need.weights;
    b.state = need.weights + need.optimizer;
    b.held = b.state + need.gradients;
    return b;
}

/* Policy and critic are trained in turn, each beside what remains of the other. */
static double trainer_bytes(const struct wanted *w, const struct drawn *d)
{
    struct beside_it b = beside(w, d, d->min);
    struct memory_need mine = memory_train(&w->shape, d->min), its;
    double first = mine.total + b.held;

    if (w->critic == NULL)
        return first + b.frozen;
    its = memory_train(&w->other, d->min);
    return fmax(first, its.total + mine.weights + mine.gradients + mine.optimizer) + b.frozen;
}

static void check_start(const struct drawn *d, const struct role_spec *role, bool engine)
{
    int said_s = engine ? d->engine_start_s : d->start_s;
    double start_s = said_s >= 0 ? said_s : transfer_start_s(engine ? TRANSFER_START_SERVE
                                                                    : TRANSFER_START_PROCESS);
    double wake_s = fmin(start_s, d->process ? INFINITY : transfer_start_s(
        engine ? TRANSFER_START_SERVE_WAKE : TRANSFER_START_TRAIN_WAKE));

    if (!engine && !d->apart) {         /* it starts the engine, too */
        double other_s = d->engine_start_s >= 0 ? d->engine_start_s
                                                : transfer_start_s(TRANSFER_START_SERVE);
        start_s += other_s;
        wake_s += d->process ? other_s : 0;
    }
    near_to("start_s", d, role->start_s, start_s);
    near_to("wake_s", d, role->wake_s, wake_s);
}

static void check_trainer(struct wanted *w, const struct drawn *d, const struct role_spec *role)
{
    struct memory_need all = memory_train(&w->shape, d->gpus), one = memory_train(&w->shape, d->tp);
    struct beside_it b = beside(w, d, d->gpus), copy = beside(w, d, d->tp);
    unsigned multiple = d->tp;

    while (!d->apart && multiple % d->engine_tp != 0)
        multiple += d->tp;
    assert_true(role->gpus == d->gpus && role->gpus_min == d->min && role->gpus_max == d->gpus);
    assert_int_equal(role->gpus_multiple, multiple);
    assert_int_equal(role->cores, 6);
    w->load_gpu = all.weights + all.optimizer + b.frozen + b.state;
    near_to("load_bytes", d, role->load_bytes, d->gpus * w->load_gpu);
    near_to("first_bytes", d, role->first_bytes, d->gpus * (all.weights + b.frozen + b.weights));
    near_to("copy_bytes", d, role->copy_bytes,
            d->tp * (one.weights + one.optimizer + copy.frozen + copy.state));
    near_to("first_copy_bytes", d, role->first_copy_bytes,
            d->tp * (one.weights + copy.frozen + copy.weights));
    near_to("save_bytes", d, role->save_bytes, transfer_checkpoint_bytes(&w->shape) +
            (w->critic != NULL ? transfer_checkpoint_bytes(&w->other) : 0));
    near_to("memory", d, (double)role->memory_bytes, floor(16e9 + w->load_gpu));
    check_start(d, role, false);
}

/* The engine needs as much as lets it decode one response of the longest context, to a byte. */
static void check_engine_bytes(const struct wanted *w, const struct drawn *d, double bytes)
{
    double context = PROMPT + LONGEST;

    assert_true(memory_decode_batch_max(w->llm, w->engine, d->engine_tp, context, bytes + 1) >= 1);
    assert_true(memory_decode_batch_max(w->llm, w->engine, d->engine_tp, context, bytes - 2) < 1);
}

static void check_memory(const struct wanted *w, const struct drawn *d,
                         const struct role_spec *trainer, const struct role_spec *engine)
{
    double alone = trainer_bytes(w, d), kept = d->offload ? 0 : w->load_gpu;

    if (d->apart)
        near_to("gpu_memory", d, trainer->gpu_memory_bytes, alone);
    else if (fabs(trainer->gpu_memory_bytes - alone) > 1e-9 * alone)
        check_engine_bytes(w, d, trainer->gpu_memory_bytes - kept);
    assert_true(trainer->gpu_memory_bytes >= alone * (1 - 1e-9));
    if (engine == NULL || !d->apart)
        return;
    if (d->reward == NULL || d->reward[0] == 'c')       /* else a reward model may need more */
        check_engine_bytes(w, d, engine->gpu_memory_bytes);
    near_to("engine load", d, engine->load_bytes, 8 / d->engine_tp * w->engine_bytes);
    near_to("engine copy", d, engine->copy_bytes, w->engine_bytes);
    near_to("engine memory", d, (double)engine->memory_bytes,
            floor(16e9 + w->engine_bytes / d->engine_tp));
    assert_true(engine->gpus_multiple == d->engine_tp && engine->cores == 6);
    check_start(d, engine, true);
}

/* ---- phases ---- */

static const struct phase_spec *phase_of(const struct job_form *form, const char *name)
{
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (strcmp(form->phase[p].name, name) == 0)
            return &form->phase[p];
    return NULL;
}

/* A phase must wait for the phases of these names.  A name that the form does not have is passed
 * over. */
static void waits_for(const struct job_form *form, const char *name, const char *names)
{
    const struct phase_spec *phase = phase_of(form, name);
    uint32_t mask = 0;
    char list[200];

    if (phase == NULL)
        return;
    strcpy(list, names);
    for (char *at = strtok(list, " "); at != NULL; at = strtok(NULL, " ")) {
        const struct phase_spec *before = phase_of(form, at);
        if (before != NULL)
            mask |= 1u << (before - form->phase);
    }
    if (phase->after_mask != mask)
        fail_msg("%s of %s waits for %x, not %x", name, form->recipe, phase->after_mask, mask);
}

static void check_graph(const struct job_form *form, const struct drawn *d)
{
    bool online = !d->offline;
    const struct { const char *name; bool is; } all[] = {
        { "data", true }, { "rollout", online }, { "reward", d->reward != NULL },
        { "reload", !d->apart }, { "reference", d->reference }, { "values", d->critic != NULL },
        { "critic", d->critic != NULL }, { "train", true }, { "sync", online && d->apart },
        { "reshard", !d->apart },
    };
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct phase_spec *phase = phase_of(form, all[i].name);
        if ((phase != NULL) != all[i].is)
            fail_msg("%s of %s: %d", all[i].name, form->recipe, phase != NULL);
        count += all[i].is;
        if (phase == NULL)
            continue;
        bool makes = i < 3, hands = strcmp(all[i].name, "sync") == 0;
        uint32_t first = d->off && !makes, last = !d->off ? strcmp(all[i].name, "reshard") == 0
                                                        : hands ? 2 : makes;
        assert_true(phase->skip_first == first && phase->skip_last == last && phase->every == 1);
    }
    assert_int_equal(form->phase_count, count);
    assert_int_equal(form->lag, d->off);
    const char *made = d->offline ? "data" : d->apart ? "rollout" : "reload";
    const char *scored = d->offline ? "data" : d->apart ? "rollout reward" : "reload";
    char ready[100];
    snprintf(ready, sizeof ready, "%s reference values", d->off ? "" : scored);
    waits_for(form, "data", "");
    waits_for(form, "rollout", "data");
    waits_for(form, "reward", "rollout");
    waits_for(form, "reload", "rollout reward");
    waits_for(form, "reference", d->off ? "" : made);
    waits_for(form, "values", d->off ? "" : made);
    waits_for(form, "critic", ready);
    strcat(ready, " critic");
    waits_for(form, "train", ready);
    waits_for(form, "sync", d->off ? "train rollout reward" : "train");
    waits_for(form, "reshard", "train");
}

static void check_passes(const struct job_form *form, const struct wanted *w,
                         const struct drawn *d)
{
    static const char *const name[] = { "reference", "values", "critic", "train" };

    for (int i = 0; i < 4; i++) {
        const struct phase_spec *phase = phase_of(form, name[i]);
        if (phase == NULL)
            continue;
        const struct phase_law *law = phase->law;
        bool trains = i >= 2, its = i == 1 || i == 2;
        assert_int_equal(law->kind, trains ? LAW_TRAIN : LAW_FORWARD);
        assert_ptr_equal(law->train.llm, its ? w->critic : w->llm);
        near_to(name[i], d, law->sequences, trains ? w->trained / d->updates : w->trained);
        assert_int_equal(law->repeats, trains ? d->updates * d->epochs : 1);
        assert_true(fabs(law->train.sequence_tokens - w->mean_tokens) < 0.01);
        assert_true(law->train.tp == d->tp && law->train.zero == d->zero);
        near_to("adapters", d, law->train.lora_params, trains && its ? w->other.lora_params
                                                                     : w->shape.lora_params);
        assert_true(law->item.storage_bytes <= 0);
        assert_string_equal(form->role[phase->role].name, "train");
    }
}

static void check_reward(const struct job_form *form, const struct wanted *w,
                         const struct drawn *d, const struct aid *aid)
{
    const struct phase_spec *phase = phase_of(form, "reward");

    if (phase == NULL)
        return;
    const struct phase_law *law = phase->law;
    if (d->reward[0] == 'c') {
        assert_int_equal(law->kind, LAW_CPU);
        near_to("scores", d, law->core_s, 0.05 * d->prompts * d->responses);
        assert_string_equal(form->role[phase->role].name, "data");
        return;
    }
    assert_int_equal(law->kind, LAW_FORWARD);
    near_to("scores", d, law->sequences, (double)d->prompts * d->responses);
    assert_ptr_equal(law->train.llm, catalogue_llm(aid->catalogue, "qwen2.5-0.5b"));
    assert_true(law->repeats == 1 && law->train.method == TRAIN_FULL && law->train.pp == 1);
    assert_true(law->train.precision == w->engine && law->train.tp == d->engine_tp);
    assert_string_equal(form->role[phase->role].name, d->apart ? "rollout" : "train");
}

static void check_hands(const struct job_form *form, const struct wanted *w,
                        const struct drawn *d)
{
    const struct phase_spec *sync = phase_of(form, "sync");
    struct loader_item text = loader_item(LOADER_TEXT, d->offline ? w->mean_tokens : PROMPT);
    double texts = d->offline ? w->trained : d->prompts;

    near_to("data", d, phase_of(form, "data")->law->core_s / text.core_s / texts,
            round(phase_of(form, "data")->law->core_s / text.core_s / texts));
    assert_true(fabs(phase_of(form, "data")->law->core_s / text.core_s / texts - 1) < 1e-4);
    if (sync != NULL) {
        near_to("sync", d, sync->law->bytes, d->full ? w->engine_bytes
                                                     : 2 * w->shape.lora_params);
        assert_string_equal(form->role[sync->sync_to].name, "rollout");
        assert_string_equal(form->role[sync->role].name, "train");
    }
    if (d->apart)
        return;
    const struct phase_law *back = phase_of(form, "reload")->law;
    const struct phase_law *away = phase_of(form, "reshard")->law;
    assert_true(back->kind == LAW_RELOAD && away->kind == LAW_RELOAD);
    near_to("reload", d, back->bytes, d->offload ? w->load_gpu : 0);
    near_to("reshard", d, away->bytes, d->offload ? w->load_gpu : 0);
    near_to("woken", d, back->seconds, transfer_start_s(TRANSFER_START_TRAIN_WAKE));
    near_to("engine", d, away->seconds, transfer_start_s(TRANSFER_START_SERVE_WAKE));
    near_to("gathered", d, away->gather_bytes, w->engine_bytes);
    near_to("kept", d, phase_of(form, "rollout")->law->rollout.reserved_bytes,
            d->offload ? 0 : w->load_gpu);
    assert_true(back->engine_tp == d->engine_tp && away->engine_tp == d->engine_tp &&
                back->gather_bytes <= 0);
}

static const struct role_spec *role_of(const struct job_form *form, const char *name)
{
    for (uint32_t r = 0; r < form->role_count; r++)
        if (strcmp(form->role[r].name, name) == 0)
            return &form->role[r];
    return NULL;
}

static void every_form_is_what_its_entry_says(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "forms", 0);
    for (int i = 0; i < ENTRIES; i++) {
        struct drawn d = draw_entry(&rng);
        struct aid aid;
        char text[2000];

        aid_open(&aid);
        write_entry(&d, text);
        const struct workload_spec *spec = aid_workload(&aid, "w.yaml", text);
        if (spec == NULL)
            fail_msg("%s\n%s", text, aid_message(&aid));
        const struct job_form *form = workload_form(spec, 0);
        struct wanted w = want_of(&aid, &d);
        const struct role_spec *data = role_of(form, "data");
        assert_int_equal(form->role_count, d.apart && !d.offline ? 3 : 2);
        assert_true(data->cores == 16 && data->gpus == 0 && data->memory_bytes == 32000000000);
        check_trainer(&w, &d, role_of(form, "train"));
        check_memory(&w, &d, role_of(form, "train"), role_of(form, "rollout"));
        check_graph(form, &d);
        check_passes(form, &w, &d);
        check_reward(form, &w, &d, &aid);
        check_hands(form, &w, &d);
        aid_close(&aid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_what_its_entry_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
