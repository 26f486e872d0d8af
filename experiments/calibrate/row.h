/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row.h - fields of a row of measurements, and what they name.
 */
#ifndef EXPERIMENTS_CALIBRATE_ROW_H
#define EXPERIMENTS_CALIBRATE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/calibrate/calibrate.h"
#include "models/catalogue/catalogue.h"
#include "models/types/gang.h"
#include "models/types/precision.h"

/* Returns the text of a field; "" if the column is missing. */
const char *row_text(const struct calibrate_row *row, const char *column);
/* Is the field exactly that text? */
bool row_is(const struct calibrate_row *row, const char *column,
            const char *text);
/* Return the number of a field; `fallback` if it is empty or no number. */
double row_number(const struct calibrate_row *row, const char *column,
                  double fallback);
uint32_t row_count(const struct calibrate_row *row, const char *column,
                   uint32_t fallback);
/* Returns the count behind that word in the column `notes` ("max_num_seqs 128"), where
 * settings stand that have no column of their own. */
uint32_t row_noted(const struct calibrate_row *row, const char *word, uint32_t fallback);

/* Returns the catalogue's GPU for a published name; NULL: there is none. */
const struct gpu_type *row_gpu(const struct calibrate_row *row,
                               const char *column);
/* Return the catalogue's model for the column `model`; NULL: there is none. */
const struct net *row_net(const struct calibrate_row *row);
const struct llm *row_llm(const struct calibrate_row *row);
/* Reads a published name of a precision; false: it is none. */
bool row_precision(const char *text, enum precision *out);
/* Does the engine's host work ahead of the GPU?  vLLM does from 0.14 on (its notes of that
 * release); SGLang from 0.5.9, as was chosen on its rows of DeepSeek.  Rows without a release are
 * of late ones, where SGLang serves a mixture of experts. */
bool row_ahead(const struct calibrate_row *row, const struct llm *llm);

/* Returns a gang of `gpus` GPUs, `per_node` to a node.  inter_bps: bandwidth of
 * a node, all its NICs together. */
struct gang row_gang(const struct gpu_type *gpu, uint32_t gpus,
                     uint32_t per_node, double inter_bps);

#endif
