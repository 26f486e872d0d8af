/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise.h - the best layout of a job on a gang, what would make one fit, and
 * how long a job of given phases takes.
 *
 * An exhaustive search over tensor, pipeline, context and expert parallelism,
 * interleaving, ZeRO, recomputing and micro batches, through the very laws that
 * the simulator runs (phase_plan, memory_train).  What is left out cannot win
 * under those laws: more recomputing, or a higher ZeRO stage, than memory tasks
 * for.
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

/* Deeper pipelines were not used below 1T parameters (Narayanan et al. 2021,
 * table 1). */
#define ADVISE_PP_MAX 64u
/* assumption: parts of a sequence shorter than this are not divided again;
 * published runs have 8,192 tokens a rank (Llama 3, arXiv 2407.21783, table 4).
 */
#define ADVISE_CP_TOKENS_MIN 4096.0

/* A training phase that is free in its layout. */
struct advise_task {
    const struct phase_law *law;    /* LAW_TRAIN */
    double longest_tokens;          /* memory holds the longest sequence */
    bool frozen;                    /* keeps a frozen copy of all weights */
    const struct train_shape *beside;   /* a critic, laid out alike; or NULL */
};

struct advise_layout {
    struct train_shape shape;       /* of the law: the mean sequence */
    double run_s;                   /* of one run; INFINITY: nothing fits */
    double gpu_bytes;               /* needed on each GPU */
    struct train_shape least;       /* what needs least memory */
    double least_bytes;             /* INFINITY: no layout at all */
    uint64_t tried_count, fit_count;
};

/* The fastest layout that fits the gang's GPUs; gpus_per_node bounds tp. */
struct advise_layout advise_train(const struct advise_task *task,
                                  const struct gang *gang,
                                  uint32_t gpus_per_node);
/* Bytes per GPU of a task laid out like `shape`, and its parts. */
struct memory_need advise_need(const struct advise_task *task,
                               const struct train_shape *shape,
                               uint32_t gpus);
/* Seconds of one run, were memory no limit; INFINITY: it cannot run. */
double advise_train_s(const struct advise_task *task,
                      const struct train_shape *shape,
                      const struct gang *gang);
/* The largest micro batch (whole sequences) that fits; 0: not even one. */
double advise_micro_batch_max(const struct advise_task *task,
                              const struct train_shape *shape, uint32_t gpus,
                              double gpu_bytes);

/* A change of the job that makes it fit. */
struct advise_change {
    struct train_shape shape;
    uint32_t gpus;
    double bytes;               /* then needed on each GPU */
    double run_s;               /* then the time of one run */
};
#define ADVISE_CHANGES_MAX 16
/* advise_change.c: single changes that make the law's own shape fit, and, where
 * there is none, the mildest sum of several; returns how many. */
size_t advise_changes(const struct advise_task *task, const struct gang *gang,
                      uint32_t gpus_per_node, uint32_t gpus_max,
                      struct advise_change *change);

struct advise_engine {
    uint32_t tp;                /* 0: none fits */
    double run_s;
    double gpu_bytes;           /* for one response in flight */
};
/* The tensor parallelism that serves LAW_ROLLOUT, or LAW_FORWARD, fastest. */
struct advise_engine advise_engine(const struct phase_law *law,
                                   double context_tokens,
                                   const struct gang *gang,
                                   uint32_t gpus_per_node);

/* Mean seconds of one run: over the draws, for a rollout. */
double advise_phase_s(const struct phase_law *law, const struct gang *gang);
/* Runs of a form whose phases take those seconds, one after the other. */
double advise_form_s(const struct job_form *form, const double *seconds,
                     double runs);

#endif
