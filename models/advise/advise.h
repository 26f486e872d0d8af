/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise.h - the fastest layout of a job on a gang, changes that make a job
 * fit, and the time of a job of given phases.
 *
 * The search tries every combination of tensor, pipeline, context and expert
 * parallelism, interleaving, ZeRO, recomputing and micro batches, with the laws
 * that the simulator runs (phase_plan, memory_train).  It leaves out only what
 * cannot be faster under these laws: more recomputing, or a higher ZeRO stage,
 * than the memory requires.
 */
#ifndef MODELS_ADVISE_ADVISE_H
#define MODELS_ADVISE_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/laws/memory.h"

struct gang;
struct job_form;
struct phase_law;

/* Models below 1T parameters were not trained with deeper pipelines (Narayanan
 * et al. 2021, table 1). */
#define ADVISE_PP_MAX 64u
/* assumption: context parallelism gives a rank no fewer tokens than this.
 * Published runs have 8,192 a rank (Llama 3, arXiv 2407.21783, table 4). */
#define ADVISE_CP_TOKENS_MIN 4096.0

/* A training phase whose layout is searched. */
struct advise_task {
    const struct phase_law *law;    /* LAW_TRAIN */
    double longest_tokens;          /* longest sequence; memory must hold it */
    bool frozen;                    /* keeps a frozen copy of all weights */
    const struct train_shape *beside;   /* a critic in the same layout; NULL:
                                           none */
};

struct advise_layout {
    struct train_shape shape;       /* the fastest; its sequence is the mean */
    double run_s;                   /* of one run; INFINITY: nothing fits */
    double gpu_bytes;               /* needed on each GPU */
    struct train_shape least;       /* the layout that needs least memory */
    double least_bytes;             /* INFINITY: there is no layout */
    uint64_t tried_count, fit_count;
};

/* Returns the fastest layout that fits the gang's GPUs; tp is at most
 * gpus_per_node. */
struct advise_layout advise_train(const struct advise_task *task,
                                  const struct gang *gang,
                                  uint32_t gpus_per_node);
/* Returns the bytes per GPU of the task in the layout `shape`. */
struct memory_need advise_need(const struct advise_task *task,
                               const struct train_shape *shape,
                               uint32_t gpus);
/* Returns the seconds of one run if memory did not limit it; INFINITY: it
 * cannot run. */
double advise_train_s(const struct advise_task *task,
                      const struct train_shape *shape,
                      const struct gang *gang);
/* Returns the largest micro batch, in whole sequences, that fits gpu_bytes; 0:
 * one sequence does not fit. */
double advise_micro_batch_max(const struct advise_task *task,
                              const struct train_shape *shape, uint32_t gpus,
                              double gpu_bytes);

/* A change of the job that makes it fit. */
struct advise_change {
    struct train_shape shape;
    uint32_t gpus;
    double bytes;               /* needed on each GPU after the change */
    double run_s;               /* time of one run after the change */
};
#define ADVISE_CHANGES_MAX 16
/* Fills change[ADVISE_CHANGES_MAX] with single changes that make the law's own
 * shape fit; if there is none, with the mildest combination.  Returns the
 * number of changes. */
size_t advise_changes(const struct advise_task *task, const struct gang *gang,
                      uint32_t gpus_per_node, uint32_t gpus_max,
                      struct advise_change *change);

struct advise_engine {
    uint32_t tp;                /* 0: none fits */
    double run_s;
    double gpu_bytes;           /* for one response in flight */
};
/* Returns the tensor parallelism with which LAW_ROLLOUT or LAW_FORWARD runs
 * fastest. */
struct advise_engine advise_engine(const struct phase_law *law,
                                   double context_tokens,
                                   const struct gang *gang,
                                   uint32_t gpus_per_node);

/* Returns the mean seconds of one run; for a rollout the mean over draws. */
double advise_phase_s(const struct phase_law *law, const struct gang *gang);
/* Returns the seconds of `runs` steps of a form, one after the other; phase i
 * takes seconds[i]. */
double advise_form_s(const struct job_form *form, const double *seconds,
                     double runs);

#endif
