/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * form.c - forms of a section, by number and by exact name, and the places of their keys.
 */
#include "models/catalogue/form.h"

#include <assert.h>
#include <string.h>

#include "sim/config/conf.h"

const size_t catalogue_form_bytes[CATALOGUE_SECTION_COUNT] = {
    sizeof(struct gpu_form), sizeof(struct cpu_form),
    sizeof(struct link_form), sizeof(struct price_form),
    sizeof(struct llm_form), sizeof(struct net_form),
    sizeof(struct application_form), sizeof(struct instance_form)
};

/* Forms of a section have one size, so that the i-th lies at a multiple of it. */
struct form *catalogue_form_at(const struct catalogue *catalogue, int which,
                            size_t i)
{
    const struct section *s = &catalogue->section[which];

    assert(i < s->count);
    return (struct form *)(void *)(s->forms + i * catalogue_form_bytes[which]);
}

struct form *catalogue_form_find(const struct catalogue *catalogue, int which,
                              const char *name)
{
    assert(name);
    for (size_t i = 0; i < catalogue->section[which].count; i++) {
        struct form *form = catalogue_form_at(catalogue, which, i);
        if (strcmp(form->name, name) == 0) {
            return form;
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

struct err_pos form_key_pos(const struct form *form, const char *key)
{
    assert(form != NULL && key != NULL);
    const struct conf_node *node = conf_get(form->conf, key);

    return node != NULL ? conf_pos(node) : form->pos;
}
