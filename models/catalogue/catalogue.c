/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.c - entries of the catalogue by name and by number.
 *
 * A section is an array of forms (form.h) in the order in which files
 * first named them; names are few, and are searched one by one.
 *
 * Every `_at` takes an index below its `_count`. An index is good for the life
 * of the catalogue and is the entry's own `index`. The returned value is the
 * catalogue's.  A search by name costs O(entries); results of it are kept by
 * those who need it often.
 */
#include "models/catalogue/catalogue.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/form.h"
#include "sim/config/conf.h"

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

size_t catalogue_instance_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_INSTANCES].count;
}

size_t catalogue_llm_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_LLMS].count;
}

size_t catalogue_net_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_NETS].count;
}

size_t catalogue_application_count(const struct catalogue *catalogue)
{
    return catalogue->section[CATALOGUE_APPLICATIONS].count;
}

const struct application *catalogue_application_at(
    const struct catalogue *catalogue, size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_APPLICATIONS, i);
    return &((const struct application_form *)form)->app;
}

const struct application *catalogue_application(
    const struct catalogue *catalogue, const char *name)
{
    assert(catalogue != NULL && name != NULL);
    const void *form = catalogue_form_find(catalogue, CATALOGUE_APPLICATIONS,
                                           name);
    return form ? &((const struct application_form *)form)->app : NULL;
}

const struct gpu_type *catalogue_gpu_at(const struct catalogue *catalogue,
                                        size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_GPUS, i);
    return &((const struct gpu_form *)form)->gpu;
}

const struct cpu_type *catalogue_cpu_at(const struct catalogue *catalogue,
                                        size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_CPUS, i);
    return &((const struct cpu_form *)form)->cpu;
}

const struct link_type *catalogue_link_at(const struct catalogue *catalogue,
                                          size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_LINKS, i);
    return &((const struct link_form *)form)->link;
}

const struct price *catalogue_price_at(const struct catalogue *catalogue,
                                       size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_PRICES, i);
    return &((const struct price_form *)form)->price;
}

const struct instance *catalogue_instance_at(
    const struct catalogue *catalogue, size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_INSTANCES, i);
    return &((const struct instance_form *)form)->instance;
}

const struct llm *catalogue_llm_at(const struct catalogue *catalogue, size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_LLMS, i);
    return &((const struct llm_form *)form)->llm;
}

const struct net *catalogue_net_at(const struct catalogue *catalogue, size_t i)
{
    const void *form = catalogue_form_at(catalogue, CATALOGUE_NETS, i);
    return &((const struct net_form *)form)->net;
}

const struct gpu_type *catalogue_gpu(const struct catalogue *catalogue,
                                     const char *name)
{
    assert(catalogue != NULL && name != NULL);
    const void *form = catalogue_form_as(catalogue, CATALOGUE_GPUS, name);
    return form ? &((const struct gpu_form *)form)->gpu : NULL;
}

const struct cpu_type *catalogue_cpu(const struct catalogue *catalogue,
                                     const char *name)
{
    assert(catalogue != NULL && name != NULL);
    const void *form = catalogue_form_as(catalogue, CATALOGUE_CPUS, name);
    return form ? &((const struct cpu_form *)form)->cpu : NULL;
}

const struct link_type *catalogue_link(const struct catalogue *catalogue,
                                       const char *name)
{
    assert(catalogue != NULL && name != NULL);
    const void *form = catalogue_form_as(catalogue, CATALOGUE_LINKS, name);
    return form ? &((const struct link_form *)form)->link : NULL;
}

const struct price *catalogue_price(const struct catalogue *catalogue,
                                    const char *name)
{
    assert(catalogue != NULL && name != NULL);
    const void *form = catalogue_form_find(catalogue, CATALOGUE_PRICES, name);
    return form ? &((const struct price_form *)form)->price : NULL;
}

const struct llm *catalogue_llm(const struct catalogue *catalogue,
                                const char *name)
{
    assert(catalogue != NULL && name != NULL);
    const void *form = catalogue_form_as(catalogue, CATALOGUE_LLMS, name);
    return form ? &((const struct llm_form *)form)->llm : NULL;
}

const struct net *catalogue_net(const struct catalogue *catalogue,
                                const char *name)
{
    assert(catalogue != NULL && name != NULL);
    const void *form = catalogue_form_as(catalogue, CATALOGUE_NETS, name);
    return form ? &((const struct net_form *)form)->net : NULL;
}

/* Tiers are in the order of their reliability, so the least tier wins; within
 * a tier, the entry that a file named first. */
const struct price *catalogue_price_of(const struct catalogue *catalogue,
                                       const char *of, enum price_kind kind)
{
    assert(catalogue && of);
    const struct price *best = NULL;

    for (size_t i = 0; i < catalogue_price_count(catalogue); i++) {
        const struct price *price = catalogue_price_at(catalogue, i);
        if (price->kind == (int)kind && strcmp(price->of, of) == 0 &&
            (best == NULL || price->tier < best->tier)) {
            best = price;
        }
    }
    return best;
}

const struct price *catalogue_price_in(const struct catalogue *catalogue,
                                       const char *of, enum price_tier tier)
{
    assert(catalogue && of && tier < TIER_COUNT);
    for (size_t i = 0; i < catalogue_price_count(catalogue); i++) {
        const struct price *price = catalogue_price_at(catalogue, i);
        if (price->tier == (int)tier && strcmp(price->of, of) == 0) {
            return price;
        }
    }
    return NULL;
}

/* The first of the file: it is the usual one for that GPU. */
static const struct instance *instance_of(const struct catalogue *catalogue,
                                          const char *of)
{
    for (size_t i = 0; i < catalogue_instance_count(catalogue); i++) {
        const struct instance *instance = catalogue_instance_at(catalogue, i);
        if (strcmp(instance->of, of) == 0) {
            return instance;
        }
    }
    return NULL;
}

/* The entries "nvlink" and "pcie" are in the embedded files, so one is always
 * found. */
struct instance catalogue_instance_of(const struct catalogue *catalogue,
                                      const struct gpu_type *gpu)
{
    assert(catalogue && gpu);
    const double host_gb = 32;  /* of each GPU, beside what it has */
    const struct instance *found = instance_of(catalogue, gpu->name);

    if (!found) {
        found = instance_of(catalogue, gpu->nvlink_bps > 0.0 ? "nvlink"
                                                             : "pcie");
    }
    assert(found);
    struct instance instance = *found;
    /* Whole GB of each GPU, as clouds round them up, and the same for the host beside them. */
    if (instance.memory_bytes <= 0.0) {
        instance.memory_bytes =
            instance.gpus * (ceil(gpu->memory_bytes / 1e9) + host_gb) * 1e9;
    }
    return instance;
}

bool price_is_assumption(const struct price *price)
{
    assert(price && price->source);
    return price->tier == TIER_ASSUMPTION ||
           strncmp(price->source, "assumption", strlen("assumption")) == 0;
}

const char *catalogue_source(const struct conf_node *sources, const char *key,
                             const char *entry_source)
{
    assert(key && entry_source);
    const struct conf_node *own = sources ? conf_get(sources, key) : NULL;

    return own && conf_kind(own) == CONF_SCALAR ? conf_text(own)
                                                : entry_source;
}
