/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_fgd.h - the score of fragmentation gradient descent; see place_fgd.c.
 */
#ifndef MODELS_CLUSTER_PLACE_FGD_H
#define MODELS_CLUSTER_PLACE_FGD_H

#include "models/cluster/place.h"

/* A place_score_fn: returns 0 to 100, or -1 if no GPU holds the part. */
int32_t place_fgd(const struct place_world *world,
                  const struct place_node *node, const struct place_task *task,
                  uint32_t *gpu);

#endif
