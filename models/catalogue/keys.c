/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - the keys of each section of the catalogue.
 *
 * No key has a fallback: what a file leaves out stays as an earlier file set
 * it, so that a user's file can override single keys.
 */
#include <math.h>
#include <stddef.h>

#include "models/catalogue/form.h"
#include "sim/config/conf.h"

const char *const link_kind_choices[] = {
    "pcie", "nvlink", "ib", "roce", "ethernet", "disk", NULL
};
const char *const net_class_choices[] = {
    "convolution", "recommendation", NULL
};
const char *const price_tier_choices[] = {
    "list", "marketplace", "reserved", "spot", "owned", "assumption", NULL
};
const char *const price_kind_choices[] = {
    "on-demand", "reserved", "owned", "spot", NULL
};

/* No value of the catalogue is negative. */
#define COUNT_MAX 4e9
#define KEY(key_, type_, form_, field_, help_) \
    CONF_KEY(key_, type_, form_, field_, CONF_ABSENT, help_, \
             .max = type_ == CONF_INT ? COUNT_MAX : INFINITY)
#define WORDS(form_, field_) \
    KEY("label", CONF_TEXT, form_, field_.label, "name in full"), \
    KEY("source", CONF_TEXT, form_, field_.source, "where values are from"), \
    KEY("notes", CONF_TEXT, form_, field_.notes, "what a reader should know"), \
    KEY("sources", CONF_NODE, form_, field_.sources, \
        "key: source, where it differs from the entry's"), \
    KEY("aliases", CONF_NODE, form_, head.aliases, \
        "other names of it, in any case: [NAME, ...]"), \
    KEY("families", CONF_NODE, form_, head.families, \
        "names that other entries have, too, so that they name none of them: [NAME, ...]")
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
    PEAK("fp4", PRECISION_FP4), SUSTAINED("fp4", PRECISION_FP4),
    KEY("nvlink", CONF_TEXT, gpu_form, gpu.nvlink,
        "link to GPUs of its node; absent: PCIe"),
    KEY("pcie", CONF_TEXT, gpu_form, gpu.pcie, "link to its host"),
    KEY("tdp", CONF_POWER, gpu_form, gpu.tdp_w, "power at full load"),
    KEY("idle", CONF_POWER, gpu_form, gpu.idle_w, "power when idle"),
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
    KEY("bf16", CONF_FLOPS, cpu_form, cpu.flops_bf16,
        "the same in 16 bits; absent: as in FP32"),
    KEY("core_speed", CONF_REAL, cpu_form, cpu.core_speed,
        "one core at image decoding; EPYC 9B14 is 1"),
    KEY("pcie", CONF_TEXT, cpu_form, cpu.pcie, "link that its slots offer"),
    KEY("tdp", CONF_POWER, cpu_form, cpu.tdp_w, "power at full load"),
    KEY("idle", CONF_POWER, cpu_form, cpu.idle_w, "power when idle"),
};

static const struct conf_field link_field[] = {
    WORDS(link_form, link),
    CONF_KEY("kind", CONF_CHOICE, link_form, link.kind, CONF_ABSENT,
             "what it is", .choices = link_kind_choices),
    KEY("bandwidth", CONF_RATE, link_form, link.bps,
        "peak of one port, one direction"),
    KEY("bandwidth_sustained", CONF_RATE, link_form, link.bps_sustained,
        "what programs reach; of a disk: reading"),
    KEY("write_bandwidth_sustained", CONF_RATE, link_form,
        link.write_bps_sustained, "the same for writing; absent: equal"),
    KEY("read_iops", CONF_REAL, link_form, link.read_iops,
        "of a disk: random reads of 4 KiB a second; absent: seeks are free"),
    KEY("latency_us", CONF_REAL, link_form, link.latency_us,
        "microseconds of one message between neighbours"),
};

static const struct conf_field price_field[] = {
    WORDS(price_form, price),
    KEY("of", CONF_TEXT, price_form, price.of, "a GPU's name, or core"),
    CONF_KEY("kind", CONF_CHOICE, price_form, price.kind, CONF_ABSENT,
             "how it is paid for", .choices = price_kind_choices),
    CONF_KEY("tier", CONF_CHOICE, price_form, price.tier, CONF_ABSENT,
             "its market; absent: list, or what its kind is",
             .choices = price_tier_choices),
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

static const struct conf_field instance_field[] = {
    WORDS(instance_form, instance),
    KEY("of", CONF_TEXT, instance_form, instance.of,
        "a GPU's name; nvlink or pcie: every other GPU with NVLink, without"),
    KEY("gpus", CONF_INT, instance_form, gpus, "GPUs of a whole node"),
    KEY("memory", CONF_BYTES, instance_form, instance.memory_bytes,
        "host memory; absent: what its GPUs have, and 32GB for each"),
    KEY("cpu", CONF_TEXT, instance_form, instance.cpu, "type of its sockets"),
    KEY("sockets", CONF_INT, instance_form, sockets, "sockets of a node"),
    KEY("nic", CONF_TEXT, instance_form, instance.nic,
        "link of one of its NICs"),
    KEY("nics", CONF_INT, instance_form, nics, "NICs of a node"),
    KEY("drive", CONF_TEXT, instance_form, instance.drive,
        "link of one of its drives"),
    KEY("drives", CONF_INT, instance_form, drives, "drives of a node"),
    KEY("drive_size", CONF_BYTES, instance_form, instance.drive_bytes,
        "size of one drive"),
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
    KEY("experts_shared", CONF_INT, llm_form, experts_shared,
        "of those, experts that work on every token; absent: none"),
    KEY("kv_width", CONF_INT, llm_form, kv_width,
        "KV cache elements per token and layer; absent: by the heads"),
    KEY("window", CONF_INT, llm_form, window,
        "tokens that a layer with sliding-window attention attends to; absent: all"),
    KEY("window_layers", CONF_INT, llm_form, window_layers,
        "layers that have the window; absent: all"),
    KEY("tied", CONF_BOOL, llm_form, llm.tied,
        "one table for input and output tokens"),
    KEY("params", CONF_REAL, llm_form, llm.params, "parameters"),
    KEY("params_active", CONF_REAL, llm_form, llm.params_active,
        "parameters that work on one token; absent: all"),
};

static const struct conf_field net_field[] = {
    WORDS(net_form, net),
    CONF_KEY("class", CONF_CHOICE, net_form, net.class, CONF_ABSENT,
             "what kind of model it is", .choices = net_class_choices),
    KEY("sample", CONF_TEXT, net_form, net.sample, "what one sample is"),
    KEY("layers", CONF_INT, net_form, layers, "layers with weights"),
    KEY("params", CONF_REAL, net_form, net.params,
        "parameters, embedding tables left out"),
    KEY("flops", CONF_REAL, net_form, net.flops,
        "operations of one sample forward, an add and a multiply being two"),
    KEY("activations", CONF_REAL, net_form, net.activations,
        "elements that layers write for one sample"),
    KEY("width", CONF_REAL, net_form, net.width,
        "mean output channels of its layers"),
    KEY("tables", CONF_INT, net_form, tables,
        "embedding tables; absent: none"),
    KEY("table_rows", CONF_REAL, net_form, net.table_rows,
        "rows of all tables"),
    KEY("row_width", CONF_INT, net_form, row_width, "elements of a row"),
};

static const struct conf_field application_field[] = {
    WORDS(application_form, app),
    KEY("work", CONF_REAL, application_form, app.work,
        "samples of a whole job, in batches of the first size"),
    KEY("batch", CONF_INT, application_form, batch,
        "samples of the first batch, for which it was tuned"),
    KEY("batch_max", CONF_INT, application_form, batch_max,
        "samples of the largest batch"),
    KEY("local_min", CONF_INT, application_form, local_min,
        "fewest samples of a GPU at once"),
    KEY("gpus_max", CONF_INT, application_form, gpus_max,
        "most GPUs of a job; absent: what local_min allows"),
    KEY("restart", CONF_TIME, application_form, app.restart_ns,
        "what starting on other GPUs takes"),
    KEY("speeds", CONF_NODE, application_form, speeds,
        "step times by GPU type, catalogue.applications.speeds"),
    KEY("noise", CONF_NODE, application_form, noise,
        "gradient noise scales in samples, by progress and batch: {until: "
        "[0.5, 1], 128: [900, 4000]}"),
};

const struct conf_schema catalogue_schema[CATALOGUE_SECTION_COUNT] = {
    CONF_SCHEMA("catalogue.gpus", "GPU types by name", gpu_field),
    CONF_SCHEMA("catalogue.cpus", "CPU types by name, per socket", cpu_field),
    CONF_SCHEMA("catalogue.links", "links, NICs and drives by name",
                link_field),
    CONF_SCHEMA("catalogue.prices", "prices by name", price_field),
    CONF_SCHEMA("catalogue.llms", "language models by name", llm_field),
    CONF_SCHEMA("catalogue.nets", "models that are no transformers, by name",
                net_field),
    CONF_SCHEMA("catalogue.applications",
                "training jobs whose goodput is known, by name",
                application_field),
    CONF_SCHEMA("catalogue.instances",
                "nodes of GPUs as they are rented, by name", instance_field),
};
