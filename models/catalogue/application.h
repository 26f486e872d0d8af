/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * application.h - reads two mappings of an application: step times by GPU type,
 * and gradient noise by progress and batch.
 */
#ifndef MODELS_CATALOGUE_APPLICATION_H
#define MODELS_CATALOGUE_APPLICATION_H

#include <stdbool.h>

#include "models/catalogue/goodput.h"

struct arena;
struct conf_node;
struct conf_schema;
struct err;
struct err_pos;

/* Read {t4: {alpha_c_s: ...}, ...} and {until: [...], 128: [...], ...} into
 * *app.  False: *err says what is wrong. */
bool application_read_speeds(struct arena *arena, const struct conf_node *map,
                             struct application *app, struct err *err);
bool application_read_noise(const struct conf_node *map,
                            struct application *app, struct err *err);

extern const struct conf_schema application_speed_schema;

#endif
