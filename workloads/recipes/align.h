/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * align.h - the roles and phases that dpo, grpo and ppo are made of.
 *
 * For recipe_align.c alone, which says in what order they follow each other.
 * Functions that add a phase return its number; those that can find a fault
 * of the user's return false, and err is set.
 */
#ifndef WORKLOADS_RECIPES_ALIGN_H
#define WORKLOADS_RECIPES_ALIGN_H

#include "workloads/recipes/recipe.h"

/* Where a step generates and trains: on GPUs apart, on the same GPUs in turn,
 * or the one of the two that recipe_align.c chooses. */
enum align_layout { LAYOUT_DISAGGREGATED, LAYOUT_COLOCATED, LAYOUT_AUTO };

/* An entry that is being expanded: its keys, its roles and what a step trains
 * on. */
struct align {
    struct draft draft;
    /* Of the policy: its responses, and what follows from their lengths. */
    struct response_keys response;
    double mean_tokens;         /* of a sequence, after the cut */
    double max_tokens;          /* of the longest sequence, for memory */
    double train_sequences;     /* per step */
    struct train_shape mean, longest;
    struct train_shape critic;  /* .llm NULL: there is none */
    uint32_t rollout, train, data;  /* roles; colocated: rollout is train */
    int from;                   /* enum loader_from */
    struct rollout_shape engine; /* what a rollout generates, and how */
};

/* Reads the entry: keys, response lengths, shapes of the policy and the
 * critic. */
bool align_begin(struct align *align, const struct world *world,
                 const struct conf_node *conf, const struct recipe *recipe);

/* The role `train`, and the role `rollout` with GPUs of its own. */
bool align_train_role(struct align *align);
bool align_engine_role(struct align *align);
/* The engine on the GPUs that train; they must hold both, one at a time or,
 * without `offload`, both at once. */
bool align_engine_beside(struct align *align);
/* The role `data`, and where it reads: all else of a loader is given. */
bool align_data_role(struct align *align);

/* Prompts (or pairs) are read, tokenized and shuffled. */
uint32_t align_data(struct align *align, double texts, double tokens,
                    uint32_t repeats);
/* Generates all responses of a step, after the phases of the mask. */
uint32_t align_rollout(struct align *align, uint32_t after_mask);
/* Adds the scoring; `mask` gains its phase. */
bool align_reward(struct align *align, uint32_t after, uint32_t *mask);
/* The forward pass of the frozen model over what is trained on, `repeats`
 * times. */
uint32_t align_reference(struct align *align, uint32_t after_mask,
                         uint32_t repeats);
/* draft_interval() of a step that trains on what was read. */
bool align_interval(struct align *align);
/* The critic's forward pass, and its training. */
uint32_t align_values(struct align *align, uint32_t after_mask);
uint32_t align_critic(struct align *align, uint32_t after_mask);
uint32_t align_train(struct align *align, uint32_t after_mask,
                     uint32_t repeats);
/* New weights from the trainer to the engine's GPUs. */
uint32_t align_sync(struct align *align, uint32_t after_mask);
/* One lease from generating to training, and back with new weights. */
uint32_t align_wake_trainer(struct align *align, uint32_t after_mask);
uint32_t align_wake_engine(struct align *align, uint32_t after_mask);

#endif
