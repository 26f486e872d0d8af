/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.c - reads the catalogue's files into forms, then closes them.
 *
 * A form is an entry while files may still add to it: the public struct plus
 * what only reading needs (integers as conf.h stores them, names of links, the
 * place of the entry).  Every key of a form may be absent from one file, so
 * that a user's file can override single keys; close_* then asks that the
 * keys a law cannot do without came from somewhere.
 */
#include "models/catalogue.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue_file.h"
#include "sim/arena.h"
#include "sim/conf.h"
#include "sim/err.h"

const char *const link_kind_choices[] = {
    "pcie", "nvlink", "ib", "roce", "ethernet", "disk", NULL
};
const char *const price_kind_choices[] = {
    "on-demand", "reserved", "owned", "spot", NULL
};

struct form {
    const char *name;
    struct err_pos pos;
};

struct gpu_form {
    struct form head;
    struct gpu_type gpu;
};

struct cpu_form {
    struct form head;
    struct cpu_type cpu;
    int64_t cores, threads;
    double clock_ghz;
};

struct link_form {
    struct form head;
    struct link_type link;
};

struct price_form {
    struct form head;
    struct price price;
};

struct llm_form {
    struct form head;
    struct llm llm;
    int64_t layers, hidden, heads, kv_heads, head_dim, ffn, ffn_matrices;
    int64_t vocab, context_tokens, experts, experts_active, kv_width;
};

#define KEY(key_, type_, form_, field_, help_) \
    { .key = key_, .type = type_, .offset = offsetof(struct form_, field_), \
      .fallback = CONF_ABSENT, .help = help_ }
#define CHOICE(key_, form_, field_, choices_, help_) \
    { .key = key_, .type = CONF_CHOICE, \
      .offset = offsetof(struct form_, field_), .fallback = CONF_ABSENT, \
      .choices = choices_, .help = help_ }
#define WORDS(form_, field_) \
    KEY("label", CONF_TEXT, form_, field_.label, "name in full"), \
    KEY("source", CONF_TEXT, form_, field_.source, "where values are from"), \
    KEY("notes", CONF_TEXT, form_, field_.notes, "what a reader should know"), \
    KEY("sources", CONF_NODE, form_, field_.sources, \
        "key: source, where it differs from the entry's")
#define PEAK(key_, p_) \
    KEY(key_, CONF_FLOPS, gpu_form, gpu.flops_peak[p_], \
        "dense peak rate in " key_)
#define SUSTAINED(key_, p_) \
    KEY(key_ "_sustained", CONF_FLOPS, gpu_form, gpu.flops_sustained[p_], \
        "rate that large matrices reach in " key_)

static const struct conf_field gpu_field[] = {
    WORDS(gpu_form, gpu),
    KEY("arch", CONF_TEXT, gpu_form, gpu.arch, "architecture"),
    KEY("memory", CONF_BYTES, gpu_form, gpu.memory_bytes,
        "device memory as the driver reports it"),
    KEY("memory_bandwidth", CONF_RATE, gpu_form, gpu.memory_bps,
        "peak memory bandwidth"),
    KEY("memory_bandwidth_sustained", CONF_RATE, gpu_form,
        gpu.memory_bps_sustained, "rate at which weights are streamed"),
    PEAK("fp32", PRECISION_FP32), SUSTAINED("fp32", PRECISION_FP32),
    PEAK("tf32", PRECISION_TF32), SUSTAINED("tf32", PRECISION_TF32),
    PEAK("fp16", PRECISION_FP16), SUSTAINED("fp16", PRECISION_FP16),
    PEAK("bf16", PRECISION_BF16), SUSTAINED("bf16", PRECISION_BF16),
    PEAK("fp8", PRECISION_FP8), SUSTAINED("fp8", PRECISION_FP8),
    PEAK("int8", PRECISION_INT8), SUSTAINED("int8", PRECISION_INT8),
    KEY("nvlink", CONF_TEXT, gpu_form, gpu.nvlink,
        "link to GPUs of its node; absent: PCIe"),
    KEY("pcie", CONF_TEXT, gpu_form, gpu.pcie, "link to its host"),
    KEY("tdp", CONF_POWER, gpu_form, gpu.tdp_w, "power at full load"),
    KEY("idle", CONF_POWER, gpu_form, gpu.idle_w, "power when idle"),
    KEY("launch_us", CONF_REAL, gpu_form, gpu.launch_us,
        "microseconds to launch one kernel"),
};

static const struct conf_field cpu_field[] = {
    WORDS(cpu_form, cpu),
    KEY("arch", CONF_TEXT, cpu_form, cpu.arch, "architecture"),
    KEY("cores", CONF_INT, cpu_form, cores, "physical cores of a socket"),
    KEY("threads", CONF_INT, cpu_form, threads, "hardware threads"),
    KEY("clock_ghz", CONF_REAL, cpu_form, clock_ghz, "base clock in GHz"),
    KEY("memory_bandwidth", CONF_RATE, cpu_form, cpu.memory_bps,
        "peak memory bandwidth of a socket"),
    KEY("memory_bandwidth_sustained", CONF_RATE, cpu_form,
        cpu.memory_bps_sustained, "memory bandwidth that STREAM reaches"),
    KEY("fp32", CONF_FLOPS, cpu_form, cpu.flops_fp32,
        "rate of whole small models in FP32, one socket"),
    KEY("int8", CONF_FLOPS, cpu_form, cpu.flops_int8,
        "the same in INT8"),
    KEY("core_speed", CONF_REAL, cpu_form, cpu.core_speed,
        "one core at image decoding; EPYC 9B14 is 1"),
    KEY("pcie", CONF_TEXT, cpu_form, cpu.pcie, "link that its slots offer"),
    KEY("tdp", CONF_POWER, cpu_form, cpu.tdp_w, "power at full load"),
    KEY("idle", CONF_POWER, cpu_form, cpu.idle_w, "power when idle"),
};

static const struct conf_field link_field[] = {
    WORDS(link_form, link),
    CHOICE("kind", link_form, link.kind, link_kind_choices, "what it is"),
    KEY("bandwidth", CONF_RATE, link_form, link.bps,
        "peak of one port, one direction"),
    KEY("bandwidth_sustained", CONF_RATE, link_form, link.bps_sustained,
        "what programs reach; of a disk: reading"),
    KEY("write_bandwidth_sustained", CONF_RATE, link_form,
        link.write_bps_sustained, "the same for writing; absent: equal"),
    KEY("latency_us", CONF_REAL, link_form, link.latency_us,
        "microseconds of one message between neighbours"),
};

static const struct conf_field price_field[] = {
    WORDS(price_form, price),
    KEY("of", CONF_TEXT, price_form, price.of, "a GPU's name, or core"),
    CHOICE("kind", price_form, price.kind, price_kind_choices,
           "how it is paid for"),
    KEY("price", CONF_PRICE, price_form, price.usd_per_h,
        "of one GPU, or of one physical core"),
    KEY("cores", CONF_REAL, price_form, price.cores,
        "physical cores of the host that come with a GPU"),
    KEY("granularity", CONF_TIME, price_form, price.granularity_ns,
        "time is billed in units of this"),
    KEY("energy_included", CONF_BOOL, price_form, price.energy_included,
        "whether the price covers electricity"),
    KEY("as_of", CONF_TEXT, price_form, price.as_of, "date of the price"),
};

static const struct conf_field llm_field[] = {
    WORDS(llm_form, llm),
    KEY("layers", CONF_INT, llm_form, layers, "transformer layers"),
    KEY("hidden", CONF_INT, llm_form, hidden, "width of the residual stream"),
    KEY("heads", CONF_INT, llm_form, heads, "query heads"),
    KEY("kv_heads", CONF_INT, llm_form, kv_heads, "key and value heads"),
    KEY("head_dim", CONF_INT, llm_form, head_dim, "width of one head"),
    KEY("ffn", CONF_INT, llm_form, ffn, "width of the MLP or of one expert"),
    KEY("ffn_matrices", CONF_INT, llm_form, ffn_matrices,
        "matrices of the MLP: 2, or 3 where gated"),
    KEY("vocab", CONF_INT, llm_form, vocab, "entries of the vocabulary"),
    KEY("context_tokens", CONF_INT, llm_form, context_tokens,
        "longest context it was trained for"),
    KEY("experts", CONF_INT, llm_form, experts,
        "experts per layer; absent: dense"),
    KEY("experts_active", CONF_INT, llm_form, experts_active,
        "experts that work on one token"),
    KEY("kv_width", CONF_INT, llm_form, kv_width,
        "KV cache elements per token and layer; absent: by the heads"),
    KEY("tied", CONF_BOOL, llm_form, llm.tied,
        "one table for input and output tokens"),
    KEY("params", CONF_REAL, llm_form, llm.params, "parameters"),
    KEY("params_active", CONF_REAL, llm_form, llm.params_active,
        "parameters that work on one token; absent: all"),
};

#define COUNT(array) (sizeof (array) / sizeof *(array))

const struct conf_schema catalogue_schema[CATALOGUE_SECTION_COUNT] = {
    { "catalogue.gpus", "GPU types by name", gpu_field, COUNT(gpu_field) },
    { "catalogue.cpus", "CPU types by name, per socket", cpu_field,
      COUNT(cpu_field) },
    { "catalogue.links", "links, NICs and drives by name", link_field,
      COUNT(link_field) },
    { "catalogue.prices", "prices by name", price_field,
      COUNT(price_field) },
    { "catalogue.llms", "language models by name", llm_field,
      COUNT(llm_field) },
};

static const char *const section_name[CATALOGUE_SECTION_COUNT + 1] = {
    "gpus", "cpus", "links", "prices", "llms", NULL
};
static const char *const section_item[CATALOGUE_SECTION_COUNT] = {
    "GPU", "CPU", "link", "price", "model"
};
static const size_t form_bytes[CATALOGUE_SECTION_COUNT] = {
    sizeof(struct gpu_form), sizeof(struct cpu_form),
    sizeof(struct link_form), sizeof(struct price_form),
    sizeof(struct llm_form)
};

/* Keys that an entry must have got from some file. */
#define REQUIRED_MAX 8
static const char *const required[CATALOGUE_SECTION_COUNT][REQUIRED_MAX] = {
    { "memory", "memory_bandwidth", "memory_bandwidth_sustained", "pcie",
      "tdp", "source" },
    { "cores", "memory_bandwidth_sustained", "core_speed", "tdp", "source" },
    { "bandwidth", "bandwidth_sustained", "source" },
    { "of", "price", "source" },
    { "layers", "hidden", "heads", "head_dim", "ffn", "vocab", "params",
      "source" },
};

struct section {
    unsigned char *forms;
    size_t count;
    const char **names;         /* ends with NULL */
};

struct catalogue {
    struct arena *arena;
    struct section section[CATALOGUE_SECTION_COUNT];
};

static struct form *form_at(const struct catalogue *catalogue, int which,
                            size_t i)
{
    const struct section *s = &catalogue->section[which];

    assert(i < s->count);
    return (struct form *)(void *)(s->forms + i * form_bytes[which]);
}

static struct form *find_form(const struct catalogue *catalogue, int which,
                              const char *name)
{
    assert(name);
    for (size_t i = 0; i < catalogue->section[which].count; i++) {
        struct form *form = form_at(catalogue, which, i);
        if (strcmp(form->name, name) == 0) {
            return form;
        }
    }
    return NULL;
}

static struct form *add_form(struct catalogue *catalogue, int which,
                             const char *name)
{
    struct section *s = &catalogue->section[which];

    s->forms = arena_grow(catalogue->arena, s->forms, s->count, s->count + 1,
                          form_bytes[which]);
    memset(s->forms + s->count * form_bytes[which], 0, form_bytes[which]);
    s->count++;
    struct form *form = form_at(catalogue, which, s->count - 1);
    form->name = arena_text(catalogue->arena, name);
    return form;
}

static bool read_section(struct catalogue *catalogue, int which,
                         const struct conf_node *map, struct err *err)
{
    if (conf_kind(map) != CONF_MAP) {
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "'%s' must be a mapping of names to entries",
                       section_name[which]);
    }
    for (size_t i = 0; i < conf_count(map); i++) {
        const char *name = conf_key(map, i);
        struct form *form = find_form(catalogue, which, name);
        if (!form) {
            form = add_form(catalogue, which, name);
            form->pos = conf_key_pos(map, i);
        }
        if (!conf_fill(conf_value(map, i), &catalogue_schema[which], form,
                       err)) {
            return false;
        }
    }
    return true;
}

static int find_section(const char *name)
{
    for (int i = 0; i < CATALOGUE_SECTION_COUNT; i++) {
        if (strcmp(name, section_name[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool read_root(struct catalogue *catalogue,
                      const struct conf_node *root, struct err *err)
{
    if (conf_kind(root) != CONF_MAP) {
        return err_set(err, ERR_SCHEMA, conf_pos(root),
                       "a catalogue is a mapping with any of gpus, cpus, "
                       "links, prices, llms");
    }
    for (size_t i = 0; i < conf_count(root); i++) {
        const char *key = conf_key(root, i);
        int which = find_section(key);
        if (which < 0) {
            const char *near = conf_nearest(key, section_name);
            err_set(err, ERR_SCHEMA, conf_key_pos(root, i),
                    "unrecognized key '%s' in a catalogue; allowed: gpus, "
                    "cpus, links, prices, llms", key);
            return near ? err_hint(err, "Did you mean '%s'?", near) : false;
        }
        if (!read_section(catalogue, which, conf_value(root, i), err)) {
            return false;
        }
    }
    return true;
}

static bool field_given(const struct form *form,
                        const struct conf_field *field)
{
    const void *at = (const unsigned char *)form + field->offset;

    switch (field->type) {
    case CONF_TEXT:
        return *(const char *const *)at != NULL;
    case CONF_INT:
        return *(const int64_t *)at > 0;
    default:
        return *(const double *)at > 0.0;
    }
}

static bool check_required(const struct form *form, int which,
                           struct err *err)
{
    const struct conf_schema *schema = &catalogue_schema[which];

    for (int r = 0; r < REQUIRED_MAX && required[which][r]; r++) {
        const char *key = required[which][r];
        size_t i = 0;
        while (i < schema->count && strcmp(schema->fields[i].key, key) != 0) {
            i++;
        }
        assert(i < schema->count);
        if (!field_given(form, &schema->fields[i])) {
            return err_set(err, ERR_SCHEMA, form->pos,
                           "%s '%s' needs the key '%s' (%s), above 0",
                           section_item[which], form->name, key,
                           schema->fields[i].help);
        }
    }
    return true;
}

static bool no_such(const struct catalogue *catalogue,
                    const struct form *form, const char *key,
                    const char *name, int which, struct err *err)
{
    const char *near = conf_nearest(name, catalogue->section[which].names);

    err_set(err, ERR_REFERENCE, form->pos,
            "'%s' of '%s' names no %s of the catalogue: '%s'", key,
            form->name, section_item[which], name);
    return near ? err_hint(err, "Did you mean '%s'?", near) : false;
}

/* Where a rate was not measured, the share that 16 bits reach of their peak
 * stands in for it. */
static void fill_sustained(struct gpu_type *gpu)
{
    double share = 0.0;

    for (int p = PRECISION_BF16; p >= PRECISION_FP32 && share <= 0.0; p--) {
        if (gpu->flops_peak[p] > 0.0) {
            share = gpu->flops_sustained[p] / gpu->flops_peak[p];
        }
    }
    for (int p = 0; p < PRECISION_COUNT; p++) {
        if (gpu->flops_sustained[p] <= 0.0) {
            gpu->flops_sustained[p] = gpu->flops_peak[p] * share;
        }
    }
}

static bool close_gpu(const struct catalogue *catalogue,
                      struct gpu_form *form, struct err *err)
{
    struct gpu_type *gpu = &form->gpu;
    const struct link_type *pcie = catalogue_link(catalogue, gpu->pcie);

    fill_sustained(gpu);
    if (gpu->flops_sustained[PRECISION_FP16] <= 0.0 &&
        gpu->flops_sustained[PRECISION_FP32] <= 0.0) {
        return err_set(err, ERR_SCHEMA, form->head.pos,
                       "GPU '%s' needs a rate and its sustained rate, such "
                       "as fp16 and fp16_sustained", gpu->name);
    }
    if (!pcie) {
        return no_such(catalogue, &form->head, "pcie", gpu->pcie,
                       CATALOGUE_LINKS, err);
    }
    gpu->pcie_bps = pcie->bps_sustained;
    gpu->pcie_latency_s = pcie->latency_s;
    if (!gpu->nvlink || !gpu->nvlink[0]) {
        gpu->nvlink = "";
        return true;
    }
    const struct link_type *nvlink = catalogue_link(catalogue, gpu->nvlink);
    if (!nvlink) {
        return no_such(catalogue, &form->head, "nvlink", gpu->nvlink,
                       CATALOGUE_LINKS, err);
    }
    gpu->nvlink_bps = nvlink->bps_sustained;
    gpu->nvlink_latency_s = nvlink->latency_s;
    return true;
}

static bool close_cpu(const struct catalogue *catalogue,
                      struct cpu_form *form, struct err *err)
{
    struct cpu_type *cpu = &form->cpu;

    (void)catalogue;
    (void)err;
    cpu->cores = (uint32_t)form->cores;
    cpu->threads = (uint32_t)(form->threads > 0 ? form->threads
                                                : form->cores);
    cpu->clock_hz = form->clock_ghz * 1e9;
    return true;
}

static void close_link(struct link_form *form)
{
    struct link_type *link = &form->link;

    link->latency_s = link->latency_us * 1e-6;
    if (link->write_bps_sustained <= 0.0) {
        link->write_bps_sustained = link->bps_sustained;
    }
}

static bool close_price(const struct catalogue *catalogue,
                        struct price_form *form, struct err *err)
{
    struct price *price = &form->price;

    if (price->granularity_ns <= 0) {
        price->granularity_ns = 1000000000;
    }
    if (strcmp(price->of, "core") == 0 ||
        catalogue_gpu(catalogue, price->of)) {
        return true;
    }
    return no_such(catalogue, &form->head, "of", price->of, CATALOGUE_GPUS,
                   err);
}

static bool close_llm(struct llm_form *form, struct err *err)
{
    struct llm *llm = &form->llm;

    llm->layers = (uint32_t)form->layers;
    llm->hidden = (uint32_t)form->hidden;
    llm->heads = (uint32_t)form->heads;
    llm->kv_heads = (uint32_t)(form->kv_heads > 0 ? form->kv_heads
                                                  : form->heads);
    llm->head_dim = (uint32_t)form->head_dim;
    llm->ffn = (uint32_t)form->ffn;
    llm->ffn_matrices = (uint32_t)(form->ffn_matrices > 0
                                       ? form->ffn_matrices : 3);
    llm->vocab = (uint32_t)form->vocab;
    llm->context_tokens = (uint32_t)form->context_tokens;
    llm->experts = (uint32_t)form->experts;
    llm->experts_active = (uint32_t)form->experts_active;
    llm->kv_width = form->kv_width > 0
                        ? (uint32_t)form->kv_width
                        : 2 * llm->kv_heads * llm->head_dim;
    if (llm->params_active <= 0.0) {
        llm->params_active = llm->params;
    }
    if (llm->experts_active > llm->experts ||
        llm->params_active > llm->params) {
        return err_set(err, ERR_RANGE, form->head.pos,
                       "model '%s' has more active experts or parameters "
                       "than it has in all", llm->name);
    }
    return true;
}

static bool close_form(const struct catalogue *catalogue, int which, size_t i,
                       struct err *err)
{
    struct form *form = form_at(catalogue, which, i);
    struct gpu_form *gpu = (struct gpu_form *)(void *)form;
    struct cpu_form *cpu = (struct cpu_form *)(void *)form;
    struct link_form *link = (struct link_form *)(void *)form;
    struct price_form *price = (struct price_form *)(void *)form;
    struct llm_form *llm = (struct llm_form *)(void *)form;

    if (!check_required(form, which, err)) {
        return false;
    }
    switch (which) {
    case CATALOGUE_GPUS:
        gpu->gpu.name = form->name;
        gpu->gpu.index = (uint32_t)i;
        return close_gpu(catalogue, gpu, err);
    case CATALOGUE_CPUS:
        cpu->cpu.name = form->name;
        cpu->cpu.index = (uint32_t)i;
        return close_cpu(catalogue, cpu, err);
    case CATALOGUE_LINKS:
        link->link.name = form->name;
        link->link.index = (uint32_t)i;
        close_link(link);
        return true;
    case CATALOGUE_PRICES:
        price->price.name = form->name;
        price->price.index = (uint32_t)i;
        return close_price(catalogue, price, err);
    default:
        llm->llm.name = form->name;
        llm->llm.index = (uint32_t)i;
        return close_llm(llm, err);
    }
}

static void list_names(struct catalogue *catalogue)
{
    for (int which = 0; which < CATALOGUE_SECTION_COUNT; which++) {
        struct section *s = &catalogue->section[which];
        s->names = arena_alloc(catalogue->arena, s->count + 1,
                               sizeof *s->names);
        for (size_t i = 0; i < s->count; i++) {
            s->names[i] = form_at(catalogue, which, i)->name;
        }
    }
}

/* Links first, GPUs before prices: each refers only to what is closed. */
static const int closing_order[CATALOGUE_SECTION_COUNT] = {
    CATALOGUE_LINKS, CATALOGUE_CPUS, CATALOGUE_GPUS, CATALOGUE_PRICES,
    CATALOGUE_LLMS
};

const struct catalogue *catalogue_load(struct arena *arena,
                                       const char *const *extra_paths,
                                       size_t extra_count, struct err *err)
{
    assert(arena && err && (extra_paths || extra_count == 0));
    struct catalogue *catalogue = arena_alloc(arena, 1, sizeof *catalogue);

    catalogue->arena = arena;
    for (unsigned i = 0; i < catalogue_file_count; i++) {
        const struct catalogue_file *f = &catalogue_file[i];
        const struct conf_node *root = conf_parse(arena, f->name, f->text,
                                                  f->bytes, err);
        if (!root || !read_root(catalogue, root, err)) {
            return NULL;
        }
    }
    for (size_t i = 0; i < extra_count; i++) {
        const struct conf_node *root = conf_load(arena, extra_paths[i], err);
        if (!root || !read_root(catalogue, root, err)) {
            return NULL;
        }
    }
    list_names(catalogue);
    for (int k = 0; k < CATALOGUE_SECTION_COUNT; k++) {
        int which = closing_order[k];
        for (size_t i = 0; i < catalogue->section[which].count; i++) {
            if (!close_form(catalogue, which, i, err)) {
                return NULL;
            }
        }
    }
    return catalogue;
}

size_t catalogue_gpu_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_GPUS].count;
}

size_t catalogue_cpu_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_CPUS].count;
}

size_t catalogue_link_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_LINKS].count;
}

size_t catalogue_price_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_PRICES].count;
}

size_t catalogue_llm_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_LLMS].count;
}

const struct gpu_type *catalogue_gpu_at(const struct catalogue *catalogue,
                                        size_t i)
{
    const void *form = form_at(catalogue, CATALOGUE_GPUS, i);
    return &((const struct gpu_form *)form)->gpu;
}

const struct cpu_type *catalogue_cpu_at(const struct catalogue *catalogue,
                                        size_t i)
{
    const void *form = form_at(catalogue, CATALOGUE_CPUS, i);
    return &((const struct cpu_form *)form)->cpu;
}

const struct link_type *catalogue_link_at(const struct catalogue *catalogue,
                                          size_t i)
{
    const void *form = form_at(catalogue, CATALOGUE_LINKS, i);
    return &((const struct link_form *)form)->link;
}

const struct price *catalogue_price_at(const struct catalogue *catalogue,
                                       size_t i)
{
    const void *form = form_at(catalogue, CATALOGUE_PRICES, i);
    return &((const struct price_form *)form)->price;
}

const struct llm *catalogue_llm_at(const struct catalogue *catalogue, size_t i)
{
    const void *form = form_at(catalogue, CATALOGUE_LLMS, i);
    return &((const struct llm_form *)form)->llm;
}

const struct gpu_type *catalogue_gpu(const struct catalogue *catalogue,
                                     const char *name)
{
    const void *form = find_form(catalogue, CATALOGUE_GPUS, name);
    return form ? &((const struct gpu_form *)form)->gpu : NULL;
}

const struct cpu_type *catalogue_cpu(const struct catalogue *catalogue,
                                     const char *name)
{
    const void *form = find_form(catalogue, CATALOGUE_CPUS, name);
    return form ? &((const struct cpu_form *)form)->cpu : NULL;
}

const struct link_type *catalogue_link(const struct catalogue *catalogue,
                                       const char *name)
{
    const void *form = find_form(catalogue, CATALOGUE_LINKS, name);
    return form ? &((const struct link_form *)form)->link : NULL;
}

const struct price *catalogue_price(const struct catalogue *catalogue,
                                    const char *name)
{
    const void *form = find_form(catalogue, CATALOGUE_PRICES, name);
    return form ? &((const struct price_form *)form)->price : NULL;
}

const struct llm *catalogue_llm(const struct catalogue *catalogue,
                                const char *name)
{
    const void *form = find_form(catalogue, CATALOGUE_LLMS, name);
    return form ? &((const struct llm_form *)form)->llm : NULL;
}

const struct price *catalogue_price_of(const struct catalogue *catalogue,
                                       const char *of, enum price_kind kind)
{
    assert(catalogue && of);
    for (size_t i = 0; i < catalogue_price_count(catalogue); i++) {
        const struct price *price = catalogue_price_at(catalogue, i);
        if (price->kind == (int)kind && strcmp(price->of, of) == 0) {
            return price;
        }
    }
    return NULL;
}

const char *const *catalogue_names(const struct catalogue *catalogue,
                                   enum catalogue_section section)
{
    assert(catalogue && section < CATALOGUE_SECTION_COUNT);
    return catalogue->section[section].names;
}

const char *catalogue_source(const struct conf_node *sources, const char *key,
                             const char *entry_source)
{
    assert(key && entry_source);
    const struct conf_node *own = sources ? conf_get(sources, key) : NULL;

    return own && conf_kind(own) == CONF_SCALAR ? conf_text(own)
                                                : entry_source;
}
