/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue_test.c - every entry loads, has its source, and can be overridden.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"
#include "tests/aid/law_aids.h"

static void catalogue_has_the_types_that_the_manual_promises(void **state)
{
    struct law_aids aids = law_aids_new();
    const char *const gpu[] = {
        "t4", "l4", "a10", "l40s", "v100-32", "rtx-3090", "rtx-4090",
        "a100-40", "a100-80", "h20", "h100", "h200", "b200", "ascend-910b"
    };
    const char *const cpu[] = {
        "xeon-silver-4310", "xeon-platinum-8380", "xeon-platinum-8480+",
        "epyc-7763", "epyc-7742", "epyc-9654"
    };
    const char *const llm[] = {
        "qwen2.5-0.5b", "llama-3.2-1b", "qwen2.5-7b", "llama-2-7b",
        "llama-3-8b", "llama-2-13b", "qwen2.5-32b", "llama-3-70b",
        "llama-3.1-405b", "gpt-3-175b", "mixtral-8x7b", "qwen3-30b-a3b",
        "deepseek-v3"
    };

    (void)state;
    for (size_t i = 0; i < sizeof gpu / sizeof *gpu; i++) {
        assert_non_null(catalogue_gpu(aids.catalogue, gpu[i]));
    }
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++) {
        assert_non_null(catalogue_cpu(aids.catalogue, cpu[i]));
    }
    for (size_t i = 0; i < sizeof llm / sizeof *llm; i++) {
        assert_non_null(catalogue_llm(aids.catalogue, llm[i]));
    }
    assert_null(catalogue_gpu(aids.catalogue, "a100"));
    law_aids_free(&aids);
}

static void gpu_rates_never_exceed_their_peaks(void **state)
{
    struct law_aids aids = law_aids_new();

    (void)state;
    for (size_t i = 0; i < catalogue_gpu_count(aids.catalogue); i++) {
        const struct gpu_type *g = catalogue_gpu_at(aids.catalogue, i);
        assert_int_equal(g->index, i);
        assert_true(g->memory_bps_sustained <= g->memory_bps);
        assert_true(g->idle_w > 0.0 && g->idle_w < g->tdp_w);
        assert_true(g->pcie_bps > 0.0);
        assert_true(g->flops_sustained[PRECISION_FP16] > 0.0);
        for (int p = 0; p < PRECISION_COUNT; p++) {
            assert_true(g->flops_sustained[p] <= g->flops_peak[p]);
        }
    }
    law_aids_free(&aids);
}

static void every_entry_names_its_source(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct catalogue *c = aids.catalogue;

    (void)state;
    for (size_t i = 0; i < catalogue_gpu_count(c); i++) {
        assert_true(strlen(catalogue_gpu_at(c, i)->source) > 8);
    }
    for (size_t i = 0; i < catalogue_cpu_count(c); i++) {
        assert_true(strlen(catalogue_cpu_at(c, i)->source) > 8);
    }
    for (size_t i = 0; i < catalogue_link_count(c); i++) {
        assert_true(strlen(catalogue_link_at(c, i)->source) > 8);
    }
    for (size_t i = 0; i < catalogue_price_count(c); i++) {
        assert_true(strlen(catalogue_price_at(c, i)->source) > 8);
    }
    for (size_t i = 0; i < catalogue_llm_count(c); i++) {
        assert_true(strlen(catalogue_llm_at(c, i)->source) > 8);
    }
    for (size_t i = 0; i < catalogue_instance_count(c); i++) {
        assert_true(strlen(catalogue_instance_at(c, i)->source) > 8);
    }
    /* An entry's number is its place. */
    for (uint32_t i = 0; i < catalogue_gpu_count(c); i++)
        assert_int_equal(catalogue_gpu_at(c, i)->index, i);
    for (uint32_t i = 0; i < catalogue_cpu_count(c); i++)
        assert_int_equal(catalogue_cpu_at(c, i)->index, i);
    for (uint32_t i = 0; i < catalogue_link_count(c); i++)
        assert_int_equal(catalogue_link_at(c, i)->index, i);
    for (uint32_t i = 0; i < catalogue_price_count(c); i++)
        assert_int_equal(catalogue_price_at(c, i)->index, i);
    for (uint32_t i = 0; i < catalogue_instance_count(c); i++)
        assert_int_equal(catalogue_instance_at(c, i)->index, i);
    for (uint32_t i = 0; i < catalogue_llm_count(c); i++)
        assert_int_equal(catalogue_llm_at(c, i)->index, i);
    for (uint32_t i = 0; i < catalogue_net_count(c); i++)
        assert_int_equal(catalogue_net_at(c, i)->index, i);
    for (uint32_t i = 0; i < catalogue_application_count(c); i++)
        assert_int_equal(catalogue_application_at(c, i)->index, i);
    const struct gpu_type *t4 = catalogue_gpu(c, "t4");
    assert_non_null(strstr(catalogue_source(t4->sources, "fp16_sustained",
                                            t4->source), "demoBERT"));
    assert_ptr_equal(catalogue_source(t4->sources, "fp32", t4->source),
                     t4->source);
    law_aids_free(&aids);
}

/* GPUs and CPUs have the sustained rates and latencies of the links that they name; a link has its
 * latency in seconds, and a disk the time of a seek: that of 4 KiB at its rate of reads, less what
 * their transfer takes. */
static void rates_of_links_reach_what_they_connect(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct catalogue *c = aids.catalogue;

    (void)state;
    for (size_t i = 0; i < catalogue_gpu_count(c); i++) {
        const struct gpu_type *gpu = catalogue_gpu_at(c, i);
        const struct link_type *pcie = catalogue_link(c, gpu->pcie);
        assert_non_null(pcie);
        assert_true(gpu->pcie_bps == pcie->bps_sustained && gpu->pcie_bps > 0);
        assert_true(gpu->pcie_latency_s == pcie->latency_s);
        const struct link_type *nvlink = catalogue_link(c, gpu->nvlink);
        assert_true((nvlink == NULL) == (gpu->nvlink[0] == '\0'));
        assert_true(gpu->nvlink_bps == (nvlink ? nvlink->bps_sustained : 0));
        assert_true(gpu->nvlink_latency_s == (nvlink ? nvlink->latency_s : 0));
        /* What was not measured has the share of its peak that 16 bits reach. */
        for (int p = 0; p < PRECISION_COUNT; p++)
            assert_true((gpu->flops_sustained[p] > 0) == (gpu->flops_peak[p] > 0) ||
                        gpu->flops_peak[p] <= 0);
    }
    for (size_t i = 0; i < catalogue_cpu_count(c); i++) {
        const struct cpu_type *cpu = catalogue_cpu_at(c, i);
        const struct link_type *pcie = cpu->pcie ? catalogue_link(c, cpu->pcie) : NULL;
        assert_true(cpu->pcie_bps == (pcie ? pcie->bps_sustained : 0));
        assert_true(cpu->threads >= cpu->cores && cpu->cores > 0);
    }
    for (size_t i = 0; i < catalogue_link_count(c); i++) {
        const struct link_type *link = catalogue_link_at(c, i);
        double seek_s = link->read_iops > 0 ? 1 / link->read_iops - 4096 / link->bps_sustained : 0;
        assert_true(fabs(link->latency_s - link->latency_us / 1e6) < 1e-15);
        assert_true(fabs(link->access_s - (seek_s > 0 ? seek_s : 0)) < 1e-12);
        assert_true(link->write_bps_sustained > 0);
    }
    law_aids_free(&aids);
}

/* The parameters that the architecture implies: two tables (one if tied),
 * q, k, v, o and the MLP of every layer; norms and biases are below 0.2%. */
static void model_sizes_follow_from_their_layers(void **state)
{
    struct law_aids aids = law_aids_new();

    (void)state;
    for (size_t i = 0; i < catalogue_llm_count(aids.catalogue); i++) {
        const struct llm *m = catalogue_llm_at(aids.catalogue, i);
        double h = m->hidden;
        double experts = m->experts > 0 ? m->experts : 1.0;
        double q = 2.0 * h * m->heads * m->head_dim;
        double kv = 2.0 * h * m->kv_heads * m->head_dim;
        double mlp = experts * m->ffn_matrices * h * m->ffn;
        double tables = (m->tied ? 1.0 : 2.0) * m->vocab * h;
        double sum = m->layers * (q + kv + mlp) + tables;
        if (strcmp(m->name, "deepseek-v3") == 0 || strcmp(m->name, "kimi-k2") == 0) {
            continue;   /* latent attention, and dense layers before those of experts */
        }
        assert_true(law_error(sum, m->params) < 0.01);
        assert_true(m->params_active <= m->params);
    }
    law_aids_free(&aids);
}

static void prices_fall_from_on_demand_to_reserved_to_owned(void **state)
{
    struct law_aids aids = law_aids_new();
    const char *const of[] = { "t4", "a100-80", "h100", "b200", "core" };

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct price *p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = catalogue_price_of(aids.catalogue, of[i],
                                      (enum price_kind)k);
            assert_non_null(p[k]);
        }
        assert_true(p[0]->usd_per_h > p[1]->usd_per_h);
        assert_true(p[1]->usd_per_h > p[2]->usd_per_h);
        assert_true(p[0]->energy_included && !p[2]->energy_included);
    }
    assert_null(catalogue_price_of(aids.catalogue, "h20", PRICE_ON_DEMAND));
    law_aids_free(&aids);
}

/* A price of a paper, of a market of hosts, and published ones; what a file
 * does not say follows from the kind. */
static void prices_say_their_market_and_date(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct catalogue *c = aids.catalogue;
    const struct price *paper = catalogue_price_of(c, "h800", PRICE_ON_DEMAND);
    const struct price *list = catalogue_price_of(c, "h100", PRICE_ON_DEMAND);

    (void)state;
    assert_int_equal(paper->tier, TIER_ASSUMPTION);
    assert_true(price_is_assumption(paper));
    assert_string_equal(paper->as_of, "2024-12");
    assert_null(catalogue_price_in(c, "h800", TIER_LIST));
    assert_int_equal(list->tier, TIER_LIST);
    assert_false(price_is_assumption(list));
    assert_true(catalogue_price_in(c, "h100", TIER_MARKETPLACE)->usd_per_h <
                list->usd_per_h);
    assert_int_equal(catalogue_price_of(c, "rtx-3090", PRICE_ON_DEMAND)->tier,
                     TIER_MARKETPLACE);
    /* Derived from another price: the tier is its kind's. */
    list = catalogue_price_of(c, "h100", PRICE_RESERVED);
    assert_int_equal(list->tier, TIER_RESERVED);
    assert_true(price_is_assumption(list));
    for (size_t i = 0; i < catalogue_price_count(c); i++)
        assert_true(catalogue_price_at(c, i)->as_of[0] != '\0');
    law_aids_free(&aids);
}

/* Writes text to a new file, loads the catalogue with it, removes it. */
static const struct catalogue *load_with(struct arena *arena,
                                         const char *text, struct err *err)
{
    char folder[] = "/tmp/catalogue_test.XXXXXX";
    char path[64];

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/extra.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
    const char *kept = arena_text(arena, path);
    const struct catalogue *c = catalogue_load(arena, &kept, 1, err);
    remove(path);
    rmdir(folder);
    return c;
}

static void user_file_overrides_single_keys_and_adds_entries(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena,
        "gpus:\n"
        "  a100-80: {tdp: 300W}\n"
        "  mine: {memory: 10GiB, memory_bandwidth: 1TB/s,\n"
        "    memory_bandwidth_sustained: 0.9TB/s, fp16: 10TFLOPS,\n"
        "    fp16_sustained: 5TFLOPS, pcie: pcie4, tdp: 100W, source: me}\n",
        &err);

    (void)state;
    assert_non_null(c);
    const struct gpu_type *a100 = catalogue_gpu(c, "a100-80");
    const struct gpu_type *mine = catalogue_gpu(c, "mine");
    assert_true(a100->tdp_w == 300.0);
    assert_true(a100->memory_bytes == 80.0 * 1073741824.0);
    assert_non_null(mine);
    assert_true(mine->flops_sustained[PRECISION_FP16] == 5e12);
    assert_true(mine->nvlink_bps == 0.0);
    arena_free(arena);
}

/* Heads share the hidden size unless the entry says otherwise, and each has its keys. */
static void a_model_may_leave_out_what_its_heads_share(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena, "llms:\n"
        "  plain: {layers: 2, hidden: 640, heads: 10, ffn: 100, vocab: 1000, params: 1e7,\n"
        "    source: me}\n"
        "  own: {layers: 2, hidden: 640, heads: 10, kv_heads: 5, head_dim: 32, ffn: 100,\n"
        "    vocab: 1000, params: 1e7, source: me}\n", &err);

    (void)state;
    if (c == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(catalogue_llm(c, "plain")->head_dim, 64);
    assert_int_equal(catalogue_llm(c, "plain")->kv_heads, 10);
    assert_int_equal(catalogue_llm(c, "own")->head_dim, 32);
    assert_int_equal(catalogue_llm(c, "own")->kv_heads, 5);
    arena_free(arena);
}

/* Of one kind the price of a list comes before one of a marketplace, whichever a file names
 * first; of two that are listed, the first of the file. */
static void of_prices_the_most_reliable_and_first_is_taken(void **state)
{
    static const struct { const char *of, *source; double usd; } row[] = {
        { "h20", "tier: marketplace, price: 1USD/h|tier: list, price: 2USD/h|"
          "tier: list, price: 3USD/h", 2 },
        { "h20", "tier: list, price: 3USD/h|tier: list, price: 2USD/h", 3 },
        { "h20", "tier: assumption, price: 1USD/h|tier: marketplace, price: 5USD/h", 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct arena *arena = arena_new(1 << 20);
        struct err err = { 0 };
        char text[800] = "prices:\n", words[200], *word, *rest = words;
        snprintf(words, sizeof words, "%s", row[i].source);
        for (int k = 0; (word = strtok_r(rest, "|", &rest)) != NULL; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "  mine-%d: {of: %s, kind: "
                     "on-demand, %s, cores: 4, as_of: \"2026\", source: me}\n", k, row[i].of, word);
        const struct catalogue *c = load_with(arena, text, &err);
        if (c == NULL)
            fail_msg("%s", err.text);
        assert_true(catalogue_price_of(c, row[i].of, PRICE_ON_DEMAND)->usd_per_h == row[i].usd);
        assert_null(catalogue_price_of(c, row[i].of, PRICE_RESERVED));
        arena_free(arena);
    }
}

/* Names under which published rows know a model; case does not count. */
static void models_answer_to_their_other_names(void **state)
{
    static const char *const same[][2] = {
        { "deepseek-ai/DeepSeek-R1", "deepseek-v3" },
        { "DeepSeek-V3", "deepseek-v3" },
        { "openai/gpt-oss-120b", "gpt-oss-120b" },
        { "Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b" },
        { "meta-llama/Llama-3.1-70B", "llama-3.1-70b" },
        { "llama-3.3-70b", "llama-3.1-70b" },
    };
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena,
        "llms:\n  qwen2.5-7b: {aliases: [ours, Ours v2]}\n", &err);

    (void)state;
    assert_non_null(c);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(catalogue_llm(c, same[i][0])->name, same[i][1]);
    assert_string_equal(catalogue_llm(c, "OURS V2")->name, "qwen2.5-7b");
    assert_int_equal(catalogue_llm(c, "LLaMA3.1-70B")->context_tokens, 131072);
    assert_null(catalogue_llm(c, "llama"));
    arena_free(arena);
}

/* As nvidia-smi, clouds and Hugging Face spell them. */
static void hardware_answers_to_its_other_names(void **state)
{
    static const char *const gpu[][2] = {
        { "nvidia-h100-sxm", "h100" }, { "H100-SXM5-80GB", "h100" },
        { "NVIDIA H100 80GB HBM3", "h100" }, { "H100", "h100" },
        { "NVIDIA A100-SXM4-80GB", "a100-80" }, { "A100-80GB", "a100-80" },
        { "A100-SXM4-40GB", "a100-40" }, { "A100_40", "a100-40" },
        { "NVIDIA A100 80GB PCIe", "a100-pcie" }, { "Tesla T4", "t4" },
        { "NVIDIA GeForce RTX 4090", "rtx-4090" }, { "rtx4090", "rtx-4090" },
        { "RTX 3090", "rtx-3090" }, { "Tesla V100-SXM2-32GB", "v100-32" },
        { "NVIDIA L40S", "l40s" }, { "L4", "l4" }, { "A10", "a10" },
        { "NVIDIA H200", "h200" }, { "p5.48xlarge", "h100" },
        { "NVIDIA RTX A6000", "rtx-a6000" },
        /* as rows of measurements have them: experiments/calibrate */
        { "GB200 SXM", "gb200" }, { "rtx_pro_6000_server", "rtx-pro-6000" },
        { "h100_sxm", "h100" }, { "b60", "arc-pro-b60" },
        { "V100-SXM3-32GB", "v100-32" }, { "A4500", "rtx-a4500" },
        { "A100-PCIe-80GB", "a100-pcie" }, { "RTX 6000 Ada", "rtx-6000-ada" },
    };
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena,
        "prices:\n  mine: {of: NVIDIA H100, price: 3USD/h, source: me}\n",
        &err);

    (void)state;
    assert_non_null(c);
    for (size_t i = 0; i < sizeof gpu / sizeof *gpu; i++) {
        const struct gpu_type *type = catalogue_gpu(c, gpu[i][0]);
        if (type == NULL)
            fail_msg("'%s' is nothing, not %s", gpu[i][0], gpu[i][1]);
        assert_string_equal(type->name, gpu[i][1]);
    }
    assert_string_equal(catalogue_price(c, "mine")->of, "h100");
    assert_string_equal(catalogue_cpu(c, "AMD EPYC 7742")->name, "epyc-7742");
    assert_string_equal(catalogue_link(c, "IB HDR")->name, "ib-hdr");
    assert_string_equal(catalogue_llm(c, "meta-llama/Llama-3.1-8B")->name,
                        "llama-3.1-8b");
    assert_string_equal(catalogue_llm(c, "Qwen/Qwen2.5-7B-Instruct")->name,
                        "qwen2.5-7b");
    assert_string_equal(catalogue_llm(c, "meta-llama/Llama-2-7b-chat-hf")->name,
                        "llama-2-7b");
    arena_free(arena);
}

/* What could be two is neither; what is near a name by its letters alone is
 * not offered for it. */
static void names_that_say_too_little_are_answered_with_candidates(
    void **state)
{
    static const char *const hint[][2] = {
        { "A100", "It may be a100-40 or a100-80." },
        { "NVIDIA A100", "It may be a100-40 or a100-80." },
        { "a100-sxm4", "It may be a100-40 or a100-80." },
        { "V100", "It may be v100-32 or v100s." },
        { "h1000", "Did you mean 'h100'?" },
        { "h100-pcie", "'h100' is known; is it meant?  `clustersim list gpus` prints all "
                       "names." },
        { "mi300x", "`clustersim list gpus` prints the names that are known." },
    };
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena, "gpus: {}\n", &err);

    (void)state;
    assert_non_null(c);
    for (size_t i = 0; i < sizeof hint / sizeof *hint; i++) {
        struct err_pos nowhere = { NULL, 0, 0 };

        memset(&err, 0, sizeof err);
        assert_null(catalogue_gpu(c, hint[i][0]));
        err_set(&err, ERR_REFERENCE, nowhere, "no %s", hint[i][0]);
        catalogue_hint(c, CATALOGUE_GPUS, hint[i][0], &err);
        assert_string_equal(err.hint, hint[i][1]);
    }
    arena_free(arena);
}

/* Two entries of the catalogue never answer to one name. */
static void no_two_entries_answer_to_one_name(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena, "gpus: {}\n", &err);

    (void)state;
    assert_non_null(c);
    for (size_t i = 0; i < catalogue_gpu_count(c); i++) {
        const struct gpu_type *gpu = catalogue_gpu_at(c, i);
        char name[80];

        snprintf(name, sizeof name, "NVIDIA %s", gpu->name);
        assert_ptr_equal(catalogue_gpu(c, name), gpu);
    }
    for (size_t i = 0; i < catalogue_llm_count(c); i++) {
        const struct llm *llm = catalogue_llm_at(c, i);
        char name[80];

        snprintf(name, sizeof name, "Somebody/%s-Instruct", llm->name);
        assert_ptr_equal(catalogue_llm(c, name), llm);
    }
    arena_free(arena);
}

#define LONG "a-name-of-79-letters-0123456789-0123456789-0123456789-0123456789-0123456789-012"

/* The longest alias that has a key is found by all that it may be called. */
static void an_alias_of_79_characters_is_found(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena, "llms:\n  llama-2-7b: {aliases: [of/" LONG
                                          "]}\n", &err);

    (void)state;
    assert_int_equal(strlen(LONG), 79);
    assert_non_null(c);
    assert_ptr_equal(catalogue_llm(c, LONG), catalogue_llm(c, "llama-2-7b"));
    assert_ptr_equal(catalogue_llm(c, "others/" LONG), catalogue_llm(c, "llama-2-7b"));
    assert_null(catalogue_llm(c, LONG "x"));
    arena_free(arena);
}

static void expect_error(const char *text, enum err_kind kind,
                         const char *part)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };

    assert_null(load_with(arena, text, &err));
    assert_int_equal(err.kind, kind);
    if (!strstr(err.text, part) && !strstr(err.hint, part)) {
        print_error("no '%s' in: %s %s\n", part, err.text, err.hint);
        fail();
    }
    assert_true(err.pos.line > 0);
    arena_free(arena);
}

static void a_key_of_sources_that_is_near_is_offered(void **state)
{
    (void)state;
    expect_error("gpus:\n  t4: {sources: {memry: a}}\n", ERR_SCHEMA, "Did you mean 'memory'?");
    expect_error("gpus:\n  t4: {sources: {abcdefghijk: a}}\n", ERR_SCHEMA,
                 "sources: 'abcdefghijk' is no key of ");
}

/* BF16 alone is not enough.  A peak without any sustained rate is not, either; with that of
 * BF16, FP16 reaches the same share of its own peak: 8 x 3 / 6 = 4 TFLOPS. */
static void a_gpu_needs_fp16_or_fp32_and_a_sustained_rate(void **state)
{
    static const char head[] = "gpus:\n  x: {memory: 10GiB, memory_bandwidth: 1TB/s,\n"
        "    memory_bandwidth_sustained: 0.9TB/s, pcie: pcie4, tdp: 100W, source: me,\n";
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c;

    (void)state;
    expect_error(text_format(arena, "%s    bf16: 6TFLOPS, bf16_sustained: 3TFLOPS}\n", head),
                 ERR_SCHEMA, "GPU 'x' needs fp16 or fp32, and a sustained rate");
    expect_error(text_format(arena, "%s    fp16: 8TFLOPS}\n", head), ERR_SCHEMA,
                 "such as fp16_sustained");
    c = load_with(arena, text_format(arena, "%s    bf16: 6TFLOPS, bf16_sustained: 3TFLOPS,\n"
                                     "    fp16: 8TFLOPS}\n", head), &err);
    assert_non_null(c);
    assert_true(catalogue_gpu(c, "x")->flops_sustained[PRECISION_FP16] == 4e12);
    arena_free(arena);
}

static void faulty_user_files_are_located_errors(void **state)
{
    (void)state;
    expect_error("gpu:\n  x: {}\n", ERR_SCHEMA, "gpus");
    expect_error("gpus:\n  x: {tdp: 100W}\n", ERR_SCHEMA, "memory");
    expect_error("gpus:\n  t4: {tpd: 100W}\n", ERR_SCHEMA, "tdp");
    expect_error("gpus:\n  t4: {pcie: pcie44}\n", ERR_REFERENCE, "pcie4");
    expect_error("prices:\n  x: {of: a100-8, price: 1USD/h, source: me}\n",
                 ERR_REFERENCE, "a100-80");
    expect_error("gpus: 3\n", ERR_SCHEMA, "mapping");
    expect_error("llms:\n  mixtral-8x7b: {params_active: 1e12}\n",
                 ERR_RANGE, "active");
    expect_error("llms:\n  x: {layers: 2, hidden: 1000, heads: 3, ffn: 9, "
                 "vocab: 9, params: 1e6, source: me}\n",
                 ERR_RANGE, "must divide its hidden size 1000, found 3");
    expect_error("llms:\n  llama-2-7b: {kv_heads: 5}\n", ERR_RANGE,
                 "kv_heads");
    expect_error("llms:\n  llama-2-7b: {aliases: DeepSeek}\n", ERR_SCHEMA,
                 "must be a list of names");
    expect_error("llms:\n  llama-2-7b: {aliases: [[a]]}\n", ERR_SCHEMA,
                 "must be a name");
    expect_error("gpus:\n  t4: {families: T}\n", ERR_SCHEMA,
                 "families of GPU 't4' must be a list of names");
    expect_error("gpus:\n  t4: {families: [{T: 4}]}\n", ERR_SCHEMA,
                 "each of the families of GPU 't4' must be a name");
    expect_error("gpus:\n  t4: {sources: a book}\n", ERR_SCHEMA,
                 "sources of GPU 't4' must be a map");
    expect_error("gpus:\n  t4: {sources: {memry: a}}\n", ERR_SCHEMA,
                 "sources: 'memry' is no key of ");
    expect_error("gpus:\n  t4: {sources: {memory: [a, b]}}\n", ERR_SCHEMA,
                 "the source of 'memory' of GPU 't4' must be a text");
    /* Nothing is left of the first; the second has 80 characters behind its publisher. */
    expect_error("llms:\n  llama-2-7b: {aliases: [' -_']}\n", ERR_SCHEMA,
                 "each of the aliases of model 'llama-2-7b' must be a name of at most 79");
    expect_error("llms:\n  llama-2-7b: {aliases: [of/" LONG "x]}\n", ERR_SCHEMA,
                 "each of the aliases of model 'llama-2-7b' must be a name of at most 79");
    expect_error("llms:\n  llama-2-7b: {aliases: [gpt-1T]}\n", ERR_SCHEMA,
                 "names model 'gpt-1t' already");
    expect_error("llms:\n  llama-2-7b: {aliases: [DeepSeek-R1]}\n", ERR_SCHEMA,
                 "names model 'deepseek-v3' already");
    expect_error("gpus:\n  t4: {aliases: [NVIDIA L4]}\n", ERR_SCHEMA,
                 "names GPU 'l4' already");
    expect_error("llms:\n  llama-2-7b: {heads: 0}\n", ERR_SCHEMA,
                 "heads");
    expect_error("links:\n  ib-ndr: {bandwidth: 100GB/s}\n", ERR_SCHEMA,
                 "bandwidth_sustained stays at 46.88 GB/s");
    expect_error("cpus:\n  epyc-7763: {pcie: pcie45}\n", ERR_REFERENCE,
                 "'pcie' of 'epyc-7763' names no link");
    expect_error("instances:\n  g4dn.metal: {of: t5}\n", ERR_REFERENCE, "'t5'");
    expect_error("instances:\n  g4dn.metal: {cpu: epyc}\n", ERR_REFERENCE,
                 "'cpu' of 'g4dn.metal' names no CPU");
    expect_error("instances:\n  g4dn.metal: {nic: none}\n", ERR_REFERENCE,
                 "'nic' of 'g4dn.metal' names no link");
    expect_error("instances:\n  g4dn.metal: {drive: none}\n", ERR_REFERENCE,
                 "'drive' of 'g4dn.metal' names no link");
    expect_error("instances:\n  g4dn.metal: {gpus: 65}\n", ERR_RANGE,
                 "must be at most 64, found 65");
    expect_error("instances:\n  x: {of: t4, gpus: 8}\n", ERR_SCHEMA,
                 "instance 'x' needs the key 'cpu'");
}

/* g4dn.metal carries T4; GB200 and RTX 4090 have no instance of their own. */
static void every_gpu_has_an_instance(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *c = load_with(arena,
        "instances:\n  our-a30: {of: NVIDIA A30, gpus: 4, cpu: epyc-7742, "
        "nic: ib-hdr, drive: nvme-gen4, drive_size: 2TB, source: us}\n", &err);
    struct instance node;

    (void)state;
    assert_non_null(c);
    for (size_t i = 0; i < catalogue_gpu_count(c); i++) {
        node = catalogue_instance_of(c, catalogue_gpu_at(c, i));
        assert_true(node.gpus > 0 && node.memory_bytes > 0);
    }
    node = catalogue_instance_of(c, catalogue_gpu(c, "t4"));
    assert_string_equal(node.name, "g4dn.metal");
    assert_true(node.memory_bytes == 384e9 && node.drives == 2);
    node = catalogue_instance_of(c, catalogue_gpu(c, "gb200"));
    assert_string_equal(node.name, "nvlink-node");
    node = catalogue_instance_of(c, catalogue_gpu(c, "rtx-4090"));
    assert_string_equal(node.name, "pcie-node");
    /* 24 GiB are 25.77 GB: 26 GB and 32 GB for each of eight */
    assert_true(node.memory_bytes == 8 * (26 + 32) * 1e9);
    node = catalogue_instance_of(c, catalogue_gpu(c, "a30"));
    assert_string_equal(node.name, "our-a30");
    assert_true(node.gpus == 4 && node.sockets == 2 && node.nics == 1);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalogue_has_the_types_that_the_manual_promises),
        cmocka_unit_test(gpu_rates_never_exceed_their_peaks),
        cmocka_unit_test(every_entry_names_its_source),
        cmocka_unit_test(rates_of_links_reach_what_they_connect),
        cmocka_unit_test(model_sizes_follow_from_their_layers),
        cmocka_unit_test(prices_fall_from_on_demand_to_reserved_to_owned),
        cmocka_unit_test(prices_say_their_market_and_date),
        cmocka_unit_test(a_model_may_leave_out_what_its_heads_share),
        cmocka_unit_test(of_prices_the_most_reliable_and_first_is_taken),
        cmocka_unit_test(user_file_overrides_single_keys_and_adds_entries),
        cmocka_unit_test(models_answer_to_their_other_names),
        cmocka_unit_test(hardware_answers_to_its_other_names),
        cmocka_unit_test(
            names_that_say_too_little_are_answered_with_candidates),
        cmocka_unit_test(no_two_entries_answer_to_one_name),
        cmocka_unit_test(an_alias_of_79_characters_is_found),
        cmocka_unit_test(a_gpu_needs_fp16_or_fp32_and_a_sustained_rate),
        cmocka_unit_test(faulty_user_files_are_located_errors),
        cmocka_unit_test(a_key_of_sources_that_is_near_is_offered),
        cmocka_unit_test(every_gpu_has_an_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
