/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * form.h - entries of the catalogue while files are read.  For the files of
 * this room only.
 *
 * A form is the public struct plus what only reading needs: the place of the
 * entry in its file, and integers as conf.h stores them.  keys.c has the keys
 * of a file, read.c fills forms, close.c checks and completes the entries,
 * catalogue.c finds them by name.
 */
#ifndef MODELS_CATALOGUE_FORM_H
#define MODELS_CATALOGUE_FORM_H

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "sim/base/err.h"

/* The head of every form: forms of all sections can be handled through it. */
struct form {
    const char *name;           /* of the entry, as the file has it */
    struct err_pos pos;         /* place of the last file that states it */
    const struct conf_node *conf;   /* all its keys, files that add to it merged in */
    const struct conf_node *aliases;    /* other names; NULL: none */
    const struct conf_node *families;   /* names shared with other entries, or
                                           NULL */
    const char **keys;          /* of the name and of its aliases, see alias.c; ends
                                   with NULL; NULL before the entries are closed */
};

/* Forms: what the reader fills of an entry, whole numbers as the file states them.
 * Closing an entry moves them to the public struct within, and computes the rest. */
struct gpu_form {
    struct form head;
    struct gpu_type gpu;
};

struct cpu_form {
    struct form head;
    struct cpu_type cpu;
    int64_t cores, threads;
    double clock_ghz;           /* becomes cpu.clock_hz */
};

struct link_form {
    struct form head;
    struct link_type link;
};

struct price_form {
    struct form head;
    struct price price;         /* complete as read: it has no whole numbers */
};

struct instance_form {
    struct form head;
    struct instance instance;   /* but for the four below */
    int64_t gpus, sockets, nics, drives;
};

struct llm_form {
    struct form head;
    struct llm llm;
    int64_t layers, hidden, heads, kv_heads, head_dim, ffn, ffn_matrices;
    int64_t vocab, context_tokens, experts, experts_active, experts_shared;
    int64_t kv_width, window, window_layers;
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

/* The entries of one kind: forms of equal size, one after the other. */
struct section {
    unsigned char *forms;
    size_t count, room;         /* forms in use, and room for them */
    const char **names;         /* ends with NULL */
};

struct catalogue {
    struct arena *arena;
    struct section section[CATALOGUE_SECTION_COUNT];
};

extern const size_t catalogue_form_bytes[CATALOGUE_SECTION_COUNT];
struct form *catalogue_form_at(const struct catalogue *catalogue, int which,
                               size_t i);
/* Returns the form of that name; NULL: there is none. */
struct form *catalogue_form_find(const struct catalogue *catalogue, int which,
                                 const char *name);
/* Returns the form that answers to that name: its own, or an alias (alias.c). */
struct form *catalogue_form_as(const struct catalogue *catalogue, int which,
                               const char *name);
/* Returns the place of a key where its entry was last written, or else of the entry. */
struct err_pos form_key_pos(const struct form *form, const char *key);
/* Keeps the keys of the names of all entries, so that each is computed once. */
void catalogue_keep_keys(struct catalogue *catalogue);
/* Checks that the aliases of a form are a list of names, and that no other
 * entry has one of them.  `item`: the entry, as messages show it.  False: *err
 * is set. */
bool catalogue_aliases_ok(const struct catalogue *catalogue, int which,
                          const struct form *form, const char *item,
                          struct err *err);
/* Checks and completes an entry of one kind.  False: *err is set. */
bool catalogue_close_llm(struct llm_form *form, struct err *err);
bool catalogue_close_net(struct net_form *form, struct err *err);
/* Checks all entries, after all files are read, and resolves the names of links
 * in them.  False: *err is set. */
bool catalogue_close(struct catalogue *catalogue, struct err *err);

#endif
