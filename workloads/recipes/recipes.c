/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipes.c - the table of recipes: name a new one here.
 *
 * Jobs of `trace` are drawn here; those of a file stand alone, see trace.c.
 */
#include "workloads/recipes/recipe.h"

const struct recipe *const recipe_table[] = {
    &recipe_pretrain, &recipe_sft, &recipe_lora, &recipe_dpo, &recipe_grpo,
    &recipe_ppo, &recipe_batch_infer, &recipe_multimodal, &recipe_net,
    &recipe_trace
};
const size_t recipe_count = sizeof recipe_table / sizeof recipe_table[0];

const char *const recipe_names[] = {
    "pretrain", "sft", "lora", "dpo", "grpo", "ppo", "batch-infer",
    "multimodal", "net", "trace", NULL
};
