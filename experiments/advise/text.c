/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.c - words for values: YAML in one line, layouts, times.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* Returns a scalar as YAML: one without a character that means something to YAML
 * stands as it was written, any other in quotation marks. */
static const char *format_scalar(struct arena *arena, const char *text)
{
    size_t bytes = strlen(text), n = 0;
    char *out;

    if (bytes > 0 &&
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789"
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ._+/%-") == bytes &&
        strchr("-%+", text[0]) == NULL)
        return text;
    out = arena_alloc(arena, 2 * bytes + 3, 1);
    out[n++] = '"';
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"' || text[i] == '\\')
            out[n++] = '\\';
        out[n++] = text[i] == '\n' ? ' ' : text[i];
    }
    out[n] = '"';
    return out;
}

/* Writes maps and lists item by item.  Quadratic in the length, for entries of
 * some hundred bytes. */
const char *advise_conf_text(struct arena *arena,
                             const struct conf_node *node)
{
    bool map = conf_kind(node) == CONF_MAP;
    const char *text = map ? "{" : "[";

    if (conf_kind(node) == CONF_SCALAR)
        return format_scalar(arena, conf_text(node));
    for (size_t i = 0; i < conf_count(node); i++) {
        const struct conf_node *item = map ? conf_value(node, i)
                                           : conf_item(node, i);

        text = text_format(arena, "%s%s%s%s%s", text, i > 0 ? ", " : "",
                           map ? format_scalar(arena, conf_key(node, i)) : "",
                           map ? ": " : "", advise_conf_text(arena, item));
    }
    return text_format(arena, "%s%s", text, map ? "}" : "]");
}

/* Returns the layout of a training role.  Data parallelism is what the other
 * degrees leave of the GPUs. */
static const char *format_train(struct arena *arena,
                                const struct train_shape *shape, uint32_t gpus)
{
    if (shape->net != NULL)
        return text_format(arena, "dp%u mb%g", gpus, shape->micro_batch);
    uint32_t cp = shape->cp > 1 ? shape->cp : 1;
    const char *rest = "";

    if (cp > 1)
        rest = text_format(arena, " cp%u", cp);
    if (shape->ep > 1)
        rest = text_format(arena, "%s ep%u", rest, shape->ep);
    if (shape->vp > 1)
        rest = text_format(arena, "%s vp%u", rest, shape->vp);
    return text_format(arena, "tp%u pp%u dp%u%s zero%d %s mb%g", shape->tp,
                       shape->pp, gpus / (shape->tp * shape->pp * cp), rest,
                       shape->zero, recompute_choices[shape->recompute],
                       shape->micro_batch);
}

const char *advise_layout_text(struct arena *arena,
                               const struct advise_job *job,
                               const struct advise_row *row)
{
    const char *engine = "", *train = "";

    if (job->shares)
        return text_format(arena, "%s | tp%u x%u",
                           format_train(arena, &row->train.layout.shape,
                                        row->train.gpus), row->train.engine.tp,
                           row->train.gpus / row->train.engine.tp);
    if (row->engine.place != NULL)
        engine = text_format(arena, "tp%u x%u", row->engine.engine.tp,
                             row->engine.gpus / row->engine.engine.tp);
    if (!job->trains)
        return engine;
    train = format_train(arena, &row->train.layout.shape, row->train.gpus);
    return row->engine.place == NULL
               ? train
               : text_format(arena, "%s | %s", train, engine);
}

/* The limits are twice the unit: 119 s stay seconds, 121 s are 2.0 minutes. */
const char *advise_time_text(struct arena *arena, double seconds)
{
    if (!isfinite(seconds))
        return "never";
    if (seconds < 120.0)
        return text_format(arena, "%.1fs", seconds);
    if (seconds < 7200.0)
        return text_format(arena, "%.1fmin", seconds / 60.0);
    if (seconds < 172800.0)
        return text_format(arena, "%.1fh", seconds / 3600.0);
    return text_format(arena, "%.1fd", seconds / 86400.0);
}

const char *advise_shape_diff(struct arena *arena,
                              const struct train_shape *a,
                              const struct train_shape *b)
{
    const char *text = "";

#define DIFF(MEMBER, ...) \
    if (a->MEMBER != b->MEMBER) \
        text = text_format(arena, "%s%s" __VA_ARGS__)
    DIFF(method, "method: %s", text, *text != '\0' ? ", " : "",
         train_method_choices[b->method]);
    DIFF(tp, "tp: %u", text, *text != '\0' ? ", " : "", b->tp);
    DIFF(pp, "pp: %u", text, *text != '\0' ? ", " : "", b->pp);
    DIFF(ep, "ep: %u", text, *text != '\0' ? ", " : "", b->ep);
    DIFF(cp, "cp: %u", text, *text != '\0' ? ", " : "", b->cp);
    DIFF(vp, "vp: %u", text, *text != '\0' ? ", " : "", b->vp);
    DIFF(sequence_parallel, "sequence_parallel: %s", text,
         *text != '\0' ? ", " : "", b->sequence_parallel ? "true" : "false");
    DIFF(zero, "zero: %d", text, *text != '\0' ? ", " : "", b->zero);
    DIFF(recompute, "recompute: %s", text, *text != '\0' ? ", " : "",
         recompute_choices[b->recompute]);
    DIFF(micro_batch, "micro_batch: %g", text, *text != '\0' ? ", " : "",
         b->micro_batch);
    DIFF(sequence_tokens, "sequence: %g", text, *text != '\0' ? ", " : "",
         b->sequence_tokens);
#undef DIFF
    return text;
}
