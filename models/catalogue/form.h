/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * form.h - entries of the catalogue while files may still add to
 * them: for the catalogue_*.c files only.
 *
 * A form is the public struct plus what only reading needs: the place of the
 * entry, and integers as conf.h stores them.  keys.c says what may
 * stand in a file, read.c fills forms, close.c makes
 * entries of them, catalogue.c looks them up.
 */
#ifndef MODELS_CATALOGUE_FORM_H
#define MODELS_CATALOGUE_FORM_H

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "sim/base/err.h"

struct form {
    const char *name;
    struct err_pos pos;         /* where it was last written */
    const struct conf_node *conf;
    const struct conf_node *aliases;    /* other names of it; or NULL */
    const struct conf_node *families;   /* names that it shares; or NULL */
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

struct instance_form {
    struct form head;
    struct instance instance;
    int64_t gpus, sockets, nics, drives;
};

struct llm_form {
    struct form head;
    struct llm llm;
    int64_t layers, hidden, heads, kv_heads, head_dim, ffn, ffn_matrices;
    int64_t vocab, context_tokens, experts, experts_active, experts_shared;
    int64_t kv_width;
};

struct application_form {
    struct form head;
    struct application app;
    int64_t batch, batch_max, local_min, gpus_max;
    const struct conf_node *speeds, *noise;
};

struct net_form {
    struct form head;
    struct net net;
    int64_t layers, tables, row_width;
};

struct section {
    unsigned char *forms;
    size_t count, room;
    const char **names;         /* ends with NULL */
};

struct catalogue {
    struct arena *arena;
    struct section section[CATALOGUE_SECTION_COUNT];
};

extern const size_t catalogue_form_bytes[CATALOGUE_SECTION_COUNT];
struct form *catalogue_form_at(const struct catalogue *catalogue, int which,
                               size_t i);
/* NULL: there is none of that name. */
struct form *catalogue_form_find(const struct catalogue *catalogue, int which,
                                 const char *name);
/* The same, or by one of its aliases (alias.c). */
struct form *catalogue_form_as(const struct catalogue *catalogue, int which,
                               const char *name);
/* Aliases are a list of names, none of which any other entry has; `item` is
 * what the entry is called in messages. */
bool catalogue_aliases_ok(const struct catalogue *catalogue, int which,
                          const struct form *form, const char *item,
                          struct err *err);
/* All files are read, names are listed: checks, and resolves what names say. */
bool catalogue_close(struct catalogue *catalogue, struct err *err);

#endif
