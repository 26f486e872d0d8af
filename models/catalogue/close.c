/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * close.c - entries of the catalogue, once all files are read.  Language models and nets are
 * completed in close_model.c.
 *
 * Every key may be absent from one file; here it is asked that those a law
 * cannot do without came from somewhere, that values agree with each other, and
 * names are resolved.
 */
#include "models/catalogue/catalogue.h"
#include "models/catalogue/form.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/application.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

static const char *const section_item[CATALOGUE_SECTION_COUNT] = {
    "GPU", "CPU", "link", "price", "model", "net",
    "application", "instance"
};

#define GPUS_OF_NODE_MAX 64     /* a placement's mask has as many bits */

/* Keys that an entry must have got from some file. */
#define REQUIRED_MAX 8
static const char *const required[CATALOGUE_SECTION_COUNT][REQUIRED_MAX] = {
    { "memory", "memory_bandwidth", "memory_bandwidth_sustained", "pcie",
      "tdp", "source" },
    { "cores", "memory_bandwidth_sustained", "core_speed", "tdp", "source" },
    { "bandwidth", "bandwidth_sustained", "source" },
    { "of", "price", "source" },
    { "layers", "hidden", "heads", "ffn", "vocab", "params", "source" },
    { "layers", "params", "flops", "activations", "width", "source" },
    { "work", "batch", "batch_max", "local_min", "speeds", "noise",
      "source" },
    { "of", "gpus", "cpu", "nic", "drive", "drive_size", "source" },
};

/* Did any file state the key?  Forms begin as zeros, and no key may be 0 that
 * is required. */
static bool field_given(const struct form *form,
                        const struct conf_field *field)
{
    assert(form->conf != NULL && field != NULL);
    const void *at = (const unsigned char *)form + field->offset;

    switch (field->type) {
    case CONF_TEXT:
        return *(const char *const *)at != NULL;
    case CONF_NODE:
        return *(const struct conf_node *const *)at != NULL;
    case CONF_INT:
        return *(const int64_t *)at > 0;
    default:
        return *(const double *)at > 0.0;
    }
}

/* False: the entry lacks a key that a law cannot do without; the error is at
 * the place where its entry was stated last. */
static bool check_required(const struct form *form, int which,
                           struct err *err)
{
    const struct conf_schema *schema = &catalogue_schema[which];

    for (int r = 0; r < REQUIRED_MAX && required[which][r]; r++) {
        const char *key = required[which][r];
        size_t i = 0;
        /* A required key is one of the section's table: the assertion holds both together. */
        while (i < schema->count && strcmp(schema->fields[i].key, key) != 0) {
            i++;
        }
        assert(i < schema->count);
        if (!field_given(form, &schema->fields[i])) {
            return err_set(err, ERR_SCHEMA, form_key_pos(form, key),
                           "%s '%s' needs the key '%s' (%s), above 0",
                           section_item[which], form->name, key,
                           schema->fields[i].help);
        }
    }
    return true;
}

/* Reports a name that the other section does not have.  Returns false. */
static bool report_no_entry(const struct catalogue *catalogue,
                            const struct form *form, const char *key,
                            const char *name, int which, struct err *err)
{
    assert(key != NULL && name != NULL);
    assert(err != NULL);
    err_set(err, ERR_REFERENCE, form_key_pos(form, key),
            "'%s' of '%s' names no %s of the catalogue: '%s'", key,
            form->name, section_item[which], name);
    return catalogue_hint(catalogue, (enum catalogue_section)which, name, err);
}

/* Where a rate was not measured, the share that 16 bits reach of their peak
 * stands in for it. */
static void fill_sustained(struct gpu_type *gpu)
{
    double share = 0.0;

    /* From BF16 down to FP32: the first format that was measured gives the share. */
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

/* Copies the sustained rates of its links, so that laws need no catalogue. */
static bool close_gpu(const struct catalogue *catalogue,
                      struct gpu_form *form, struct err *err)
{
    assert(err != NULL);
    struct gpu_type *gpu = &form->gpu;
    const struct link_type *pcie = catalogue_link(catalogue, gpu->pcie);

    fill_sustained(gpu);
    if (gpu->flops_sustained[PRECISION_FP16] <= 0.0 &&
        gpu->flops_sustained[PRECISION_FP32] <= 0.0) {
        return err_set(err, ERR_SCHEMA, form->head.pos,
                       "GPU '%s' needs fp16 or fp32, and a sustained rate such "
                       "as fp16_sustained", gpu->name);
    }
    if (!pcie) {
        return report_no_entry(catalogue, &form->head, "pcie", gpu->pcie,
                               CATALOGUE_LINKS, err);
    }
    gpu->pcie_bps = pcie->bps_sustained;
    gpu->pcie_latency_s = pcie->latency_s;
    /* A GPU without NVLink has "" for its name, so that messages can show it. */
    if (!gpu->nvlink || !gpu->nvlink[0]) {
        gpu->nvlink = "";
        return true;
    }
    const struct link_type *nvlink = catalogue_link(catalogue, gpu->nvlink);
    if (!nvlink) {
        return report_no_entry(catalogue, &form->head, "nvlink", gpu->nvlink,
                               CATALOGUE_LINKS, err);
    }
    gpu->nvlink_bps = nvlink->bps_sustained;
    gpu->nvlink_latency_s = nvlink->latency_s;
    return true;
}

/* A CPU without `threads` has one thread per core; without `pcie` its slots never limit. */
static bool close_cpu(const struct catalogue *catalogue, struct cpu_form *form, struct err *err)
{
    assert(err != NULL);
    struct cpu_type *cpu = &form->cpu;
    bool named = cpu->pcie != NULL && cpu->pcie[0] != '\0';
    const struct link_type *pcie = named ? catalogue_link(catalogue, cpu->pcie) : NULL;

    if (named && pcie == NULL) {
        return report_no_entry(catalogue, &form->head, "pcie", cpu->pcie, CATALOGUE_LINKS, err);
    }
    cpu->pcie_bps = pcie != NULL ? pcie->bps_sustained : 0.0;
    cpu->cores = (uint32_t)form->cores;
    cpu->threads = (uint32_t)(form->threads > 0 ? form->threads
                                                : form->cores);
    cpu->clock_hz = form->clock_ghz * 1e9;
    return true;
}

/* Completes a link: what a datasheet does not say follows from what it says.  A file that
 * replaces the peak alone would change nothing. */
static bool close_link(struct link_form *form, struct err *err)
{
    assert(form->link.bps_sustained > 0.0);
    struct link_type *link = &form->link;
    const struct conf_node *conf = form->head.conf;

    if (conf_get(conf, "bandwidth") != NULL && conf_get(conf, "bandwidth_sustained") == NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "bandwidth")),
                "bandwidth of link '%s' is its peak, with which nothing is computed: "
                "bandwidth_sustained stays at %.4g GB/s", link->name, link->bps_sustained / 1e9);
        return err_hint(err, "Give bandwidth_sustained, too: what programs reach.");
    }

    link->latency_s = link->latency_us * 1e-6;
    /* A line through both figures of a datasheet: 4 KiB at `read_iops`,
     * and long files at the sustained rate. */
    if (link->read_iops > 0.0)
        link->access_s = fmax(0.0, 1.0 / link->read_iops -
                                       4096.0 / link->bps_sustained);
    if (link->write_bps_sustained <= 0.0) {
        link->write_bps_sustained = link->bps_sustained;
    }
    return true;
}

/* The market of a price whose file names none. */
static const enum price_tier tier_of_kind[] = {
    [PRICE_ON_DEMAND] = TIER_LIST, [PRICE_RESERVED] = TIER_RESERVED,
    [PRICE_OWNED] = TIER_OWNED, [PRICE_SPOT] = TIER_SPOT
};

/* Billed by the second where no unit is stated; the tier follows from the kind
 * where a file does not state it. */
static bool close_price(const struct catalogue *catalogue,
                        struct price_form *form, struct err *err)
{
    assert(form->price.of != NULL);
    assert(err != NULL);
    struct price *price = &form->price;

    /* Absent or 0: by the second, as most clouds bill. */
    if (price->granularity_ns <= 0) {
        price->granularity_ns = 1000000000;
    }
    if (price->as_of == NULL) {
        price->as_of = "";
    }
    if (price->kind != PRICE_ON_DEMAND && price->tier == TIER_LIST) {
        price->tier = tier_of_kind[price->kind];
    }
    const struct gpu_type *gpu = catalogue_gpu(catalogue, price->of);

    if (gpu) {
        price->of = gpu->name;  /* by whatever name the file knows it */
    }
    if (gpu || strcmp(price->of, "core") == 0) {
        return true;
    }
    return report_no_entry(catalogue, &form->head, "of", price->of, CATALOGUE_GPUS,
                           err);
}

/* Batches must agree with each other, and GPU types be known. */
static bool close_application(const struct catalogue *catalogue,
                              struct application_form *form, struct err *err)
{
    assert(err != NULL);
    struct application *app = &form->app;

    app->batch_first = (uint32_t)form->batch;
    app->batch_max = (uint32_t)form->batch_max;
    app->local_min = (uint32_t)form->local_min;
    app->gpus_max = (uint32_t)form->gpus_max;
    /* A law divides batch_max by local_min, and begins at batch: both must be within it. */
    if (form->batch > form->batch_max || form->local_min > form->batch_max)
        return err_set(err, ERR_RANGE, form_key_pos(&form->head, "batch_max"),
                       "batch and local_min of application '%s' must be at "
                       "most its batch_max", app->name);
    if (!application_read_speeds(catalogue->arena, form->speeds, app, err) ||
        !application_read_noise(form->noise, app, err))
        return false;
    for (uint32_t i = 0; i < app->speed_count; i++) {
        const struct gpu_type *gpu = catalogue_gpu(catalogue, app->speed[i].gpu);

        if (gpu == NULL)
            return report_no_entry(catalogue, &form->head, "speeds",
                                   app->speed[i].gpu, CATALOGUE_GPUS, err);
        app->speed[i].gpu = gpu->name;  /* by whatever name the file knows it */
    }
    return true;
}

/* Names of GPU, CPU, NIC and drive must be known.  Left out, there are two
 * sockets, one NIC and one drive. */
static bool close_instance(const struct catalogue *catalogue,
                           struct instance_form *form, struct err *err)
{
    struct instance *instance = &form->instance;
    const struct gpu_type *gpu = catalogue_gpu(catalogue, instance->of);

    if (gpu != NULL)
        instance->of = gpu->name;
    else if (strcmp(instance->of, "nvlink") != 0 &&
             strcmp(instance->of, "pcie") != 0)
        return report_no_entry(catalogue, &form->head, "of", instance->of,
                               CATALOGUE_GPUS, err);
    if (catalogue_cpu(catalogue, instance->cpu) == NULL)
        return report_no_entry(catalogue, &form->head, "cpu", instance->cpu,
                               CATALOGUE_CPUS, err);
    if (catalogue_link(catalogue, instance->nic) == NULL)
        return report_no_entry(catalogue, &form->head, "nic", instance->nic,
                               CATALOGUE_LINKS, err);
    if (catalogue_link(catalogue, instance->drive) == NULL)
        return report_no_entry(catalogue, &form->head, "drive", instance->drive,
                               CATALOGUE_LINKS, err);
    if (form->gpus > GPUS_OF_NODE_MAX)
        return err_set(err, ERR_RANGE, form_key_pos(&form->head, "gpus"),
                       "gpus of instance '%s' must be at most %d, found %lld",
                       instance->name, GPUS_OF_NODE_MAX,
                       (long long)form->gpus);
    instance->gpus = (uint32_t)form->gpus;
    instance->sockets = (uint32_t)(form->sockets > 0 ? form->sockets : 2);
    instance->nics = (uint32_t)(form->nics > 0 ? form->nics : 1);
    instance->drives = (uint32_t)(form->drives > 0 ? form->drives : 1);
    return true;
}

/* Checks and completes entry i of a section; its name and index are set
 * here. */
static bool close_form(const struct catalogue *catalogue, int which, size_t i,
                       struct err *err)
{
    assert(which >= 0 && which < CATALOGUE_SECTION_COUNT);
    struct form *form = catalogue_form_at(catalogue, which, i);
    struct gpu_form *gpu = (struct gpu_form *)(void *)form;
    struct cpu_form *cpu = (struct cpu_form *)(void *)form;
    struct link_form *link = (struct link_form *)(void *)form;
    struct price_form *price = (struct price_form *)(void *)form;
    struct llm_form *llm = (struct llm_form *)(void *)form;
    struct net_form *net = (struct net_form *)(void *)form;
    struct application_form *app = (struct application_form *)(void *)form;
    struct instance_form *instance = (struct instance_form *)(void *)form;

    if (!check_required(form, which, err) ||
        !catalogue_aliases_ok(catalogue, which, form, section_item[which],
                              err)) {
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
        return close_link(link, err);
    case CATALOGUE_PRICES:
        price->price.name = form->name;
        price->price.index = (uint32_t)i;
        return close_price(catalogue, price, err);
    case CATALOGUE_NETS:
        net->net.name = form->name;
        net->net.index = (uint32_t)i;
        return catalogue_close_net(net, err);
    case CATALOGUE_APPLICATIONS:
        app->app.name = form->name;
        app->app.index = (uint32_t)i;
        return close_application(catalogue, app, err);
    case CATALOGUE_INSTANCES:
        instance->instance.name = form->name;
        instance->instance.index = (uint32_t)i;
        return close_instance(catalogue, instance, err);
    default:
        llm->llm.name = form->name;
        llm->llm.index = (uint32_t)i;
        return catalogue_close_llm(llm, err);
    }
}

/* Links first, GPUs before prices: each refers only to what is closed. */
static const int close_order[CATALOGUE_SECTION_COUNT] = {
    CATALOGUE_LINKS, CATALOGUE_CPUS, CATALOGUE_GPUS, CATALOGUE_PRICES,
    CATALOGUE_LLMS, CATALOGUE_NETS, CATALOGUE_APPLICATIONS, CATALOGUE_INSTANCES
};

/* Sections are closed in an order in which forms that others name come
 * first. */
bool catalogue_close(struct catalogue *catalogue, struct err *err)
{
    assert(catalogue && err);
    catalogue_keep_keys(catalogue);
    for (int k = 0; k < CATALOGUE_SECTION_COUNT; k++) {
        int which = close_order[k];
        for (size_t i = 0; i < catalogue->section[which].count; i++) {
            if (!close_form(catalogue, which, i, err)) {
                return false;
            }
        }
    }
    return true;
}
