/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * close_model.c - language models and nets of the catalogue, once all files are read:
 * what a file may leave out follows from the rest, and sizes must agree with each other.
 */
#include "models/catalogue/form.h"

#include <assert.h>

#include "models/catalogue/catalogue.h"
#include "sim/base/err.h"

/* Without head_dim, heads divide the hidden size; keys and values are shared
 * among equal groups of heads. */
static bool heads_add_up(const struct llm_form *form, struct err *err)
{
    int64_t kv = form->kv_heads > 0 ? form->kv_heads : form->heads;

    if (form->heads < 1 || form->hidden < 1 || form->layers < 1) {
        return err_set(err, ERR_RANGE, form->head.pos,
                       "layers, hidden and heads of model '%s' must be at "
                       "least 1", form->llm.name);
    }
    if (form->head_dim <= 0 && form->hidden % form->heads != 0) {
        err_set(err, ERR_RANGE, form_key_pos(&form->head, "heads"),
                "heads of model '%s' must divide its hidden size %lld, found "
                "%lld", form->llm.name, (long long)form->hidden,
                (long long)form->heads);
        return err_hint(err, "Say head_dim where heads are of another size.");
    }
    if (form->heads % kv != 0) {
        return err_set(err, ERR_RANGE, form_key_pos(&form->head, "kv_heads"),
                       "kv_heads of model '%s' must divide its %lld heads, "
                       "found %lld", form->llm.name, (long long)form->heads,
                       (long long)kv);
    }
    return true;
}

/* Experts of a mixture, and the parameters that work on a token. */
static bool experts_add_up(const struct llm_form *form, struct err *err)
{
    const struct llm *llm = &form->llm;

    if (llm->experts_active > llm->experts ||
        llm->params_active > llm->params) {
        return err_set(err, ERR_RANGE, form->head.pos,
                       "experts_active and params_active of model '%s' must "
                       "be at most its %u experts and %.4g params, found %u "
                       "and %.4g", llm->name, llm->experts, llm->params,
                       llm->experts_active, llm->params_active);
    }
    if ((llm->experts > 0) != (llm->experts_active > 0)) {
        return err_set(err, ERR_SCHEMA, form_key_pos(&form->head, "experts"),
                       "model '%s' must have both experts and experts_active, "
                       "or neither, found %u and %u", llm->name, llm->experts,
                       llm->experts_active);
    }
    /* What a token leaves out is the experts it does not go to. */
    double routed = (double)llm->experts - llm->experts_shared;
    double idle = (double)llm->experts - llm->experts_active;

    if (idle > 0.0 &&
        (llm->params - llm->params_active) * routed > llm->params * idle) {
        return err_set(err, ERR_RANGE, form_key_pos(&form->head, "params_active"),
                       "params_active of model '%s' must be at least %.4g, "
                       "what its experts_active of experts leave of %.4g, "
                       "found %.4g", llm->name,
                       llm->params * (1.0 - idle / routed), llm->params,
                       llm->params_active);
    }
    if (llm->experts_shared > 0 &&
        llm->experts_shared >= llm->experts_active) {
        return err_set(err, ERR_RANGE, form_key_pos(&form->head, "experts_shared"),
                       "experts_shared of model '%s' must be below its %u "
                       "experts_active, found %u", llm->name,
                       llm->experts_active, llm->experts_shared);
    }
    return true;
}

/* Reads the window of attention and the layers that have it. */
static bool close_window(struct llm_form *form, struct err *err)
{
    struct llm *llm = &form->llm;

    if (form->window_layers > form->layers)
        return err_set(err, ERR_RANGE, form_key_pos(&form->head, "window_layers"),
                       "window_layers of model '%s' must be at most its %lld layers, found "
                       "%lld", llm->name, (long long)form->layers,
                       (long long)form->window_layers);
    if (form->window_layers > 0 && form->window == 0)
        return err_set(err, ERR_RANGE, form_key_pos(&form->head, "window_layers"),
                       "window_layers of model '%s' must be 0 without a window, found %lld",
                       llm->name, (long long)form->window_layers);
    llm->window = (uint32_t)form->window;
    llm->window_layers = form->window == 0 ? 0
                         : form->window_layers > 0 ? (uint32_t)form->window_layers
                                                   : llm->layers;
    return true;
}

/* Fills what a file may leave out by the rules of a plain transformer: heads
 * share the hidden size, as many key heads as query heads, a gated MLP (3
 * matrices), a KV cache of 2 x kv_heads x head_dim elements. */
bool catalogue_close_llm(struct llm_form *form, struct err *err)
{
    struct llm *llm = &form->llm;

    if (!heads_add_up(form, err)) {
        return false;
    }
    if (form->head_dim <= 0) {
        form->head_dim = form->hidden / form->heads;
    }
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
    llm->experts_shared = (uint32_t)form->experts_shared;
    llm->kv_width = form->kv_width > 0
                        ? (uint32_t)form->kv_width
                        : 2 * llm->kv_heads * llm->head_dim;
    if (llm->params_active <= 0.0) {
        llm->params_active = llm->params;
    }
    return close_window(form, err) && experts_add_up(form, err);
}

/* Tables are described by three keys, which only make sense together. */
bool catalogue_close_net(struct net_form *form, struct err *err)
{
    assert(err != NULL);
    struct net *net = &form->net;
    bool none = form->tables == 0 && form->row_width == 0 &&
                net->table_rows <= 0.0;
    bool all = form->tables > 0 && form->row_width > 0 &&
               net->table_rows > 0.0;

    net->layers = (uint32_t)form->layers;
    net->tables = (uint32_t)form->tables;
    net->row_width = (uint32_t)form->row_width;
    if (net->sample == NULL) {
        net->sample = "a sample";
    }
    return none || all ||
           err_set(err, ERR_SCHEMA, form->head.pos,
                   "tables, table_rows and row_width of net '%s' must all be "
                   "above 0, or all be absent", net->name);
}
