/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * application.h - reads the parts of an application that are lists: step times
 * by GPU type, and noise by progress and batch.
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

/* {t4: {alpha_c_s: ...}, ...} and {until: [...], 128: [...], ...}. */
bool application_read_speeds(struct arena *arena, const struct conf_node *map,
                             struct application *app, struct err *err);
bool application_read_noise(const struct conf_node *map,
                            struct application *app, struct err *err);

extern const struct conf_schema application_speed_schema;

#endif
