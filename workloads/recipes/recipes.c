/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recipes.c - the table of recipes, made from recipes.def: a line there adds
 * one. */
#include "workloads/recipes/recipe.h"

const struct recipe *const recipe_table[] = {
#define RECIPE(ID) &recipe_##ID,
#include "workloads/recipes/recipes.def"
#undef RECIPE
};
const size_t recipe_count = sizeof recipe_table / sizeof recipe_table[0];
