/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput.h - how fast a training job makes progress, when its GPUs and its
 * batch size may change: Qiao et al., "Pollux", OSDI 2021, section 3.
 *
 * Goodput is throughput (samples/s) times statistical efficiency (progress of a
 * sample over that of one in a batch of the first size), in effective
 * samples/s. The time of a step (equations 9 to 12 there; sync is 0 on one
 * GPU):
 *
 *   grad = alpha_c + beta_c x samples of a GPU at once
 *   sync = alpha + beta x max(GPUs - 2, 0), with alpha and beta of their own
 *          within a node and between nodes
 *   step = (grad^gamma + sync^gamma)^(1 / gamma), gamma 1 (no overlap) to 10
 *
 * plus one grad for each batch that is accumulated.  The efficiency of a batch
 * of m samples is (phi + m0) / (phi + m), where phi is the gradient noise scale
 * (McCandlish et al. 2018, arXiv 1812.06162).  It changes over a job's progress
 * and, because it is estimated during training, with the batch.
 *
 * As in Sia (Subramanya et al., SOSP 2023) each GPU type has its own times; the
 * efficiency is the same on all.  models/validation compares it with
 * measurements.
 */
#ifndef MODELS_CATALOGUE_GOODPUT_H
#define MODELS_CATALOGUE_GOODPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cluster_spec;
struct conf_node;

#define GOODPUT_SPANS_MAX 24u   /* spans of a job's progress */
#define GOODPUT_BATCHES_MAX 8u  /* batch sizes with known noise */

/* Step times on GPUs of one type, in seconds. */
struct goodput_speed {
    const char *gpu;            /* name in the catalogue */
    double alpha_c, beta_c;     /* of grad; beta_c: per sample of a GPU */
    double alpha_r, beta_r;     /* of sync within a node; beta_r: per GPU */
    double alpha_n, beta_n;     /* between nodes */
    double gamma;
    uint32_t local_max;         /* samples that a GPU's memory holds */
};

/* scale[s * batches + b]: phi in span s for batches near batch[b], in
 * samples. */
struct goodput_noise {
    uint32_t spans, batches;
    double until[GOODPUT_SPANS_MAX];    /* end of a span; ascending to 1 */
    double batch[GOODPUT_BATCHES_MAX];  /* ascending */
    double scale[GOODPUT_SPANS_MAX * GOODPUT_BATCHES_MAX];
};

/* An entry of the catalogue's applications. */
struct application {
    const char *name, *label, *source, *notes;
    const struct conf_node *sources;    /* key: text, or NULL */
    double work;                /* samples of a job at batch_first */
    uint32_t batch_first, batch_max;    /* samples */
    uint32_t local_min;         /* fewest samples of a GPU at once */
    uint32_t gpus_max;          /* 0: as many as local_min allows */
    int64_t restart_ns;         /* time lost at each new set of GPUs */
    struct goodput_speed *speed;
    uint32_t speed_count;
    struct goodput_noise noise;
    uint32_t index;
};

struct goodput_shape {
    uint32_t gpus, nodes;       /* 1 <= nodes <= gpus */
};

struct goodput_batch {
    uint32_t local;             /* samples of a GPU at once */
    uint32_t accumulated;       /* batches before the synchronized one */
    double samples;             /* of all GPUs, in a step */
    double goodput;             /* effective samples/s; 0: it cannot run */
};

/* Returns the step times on that GPU type; NULL: not known. */
const struct goodput_speed *goodput_speed_of(const struct application *app,
                                             const char *gpu);
/* Return the seconds of grad, sync and step; `local`: samples of a GPU at
 * once. */
double goodput_grad_s(const struct goodput_speed *speed, double local);
double goodput_sync_s(const struct goodput_speed *speed,
                      struct goodput_shape shape);
double goodput_step_s(const struct goodput_speed *speed,
                      struct goodput_shape shape, double local,
                      uint32_t accumulated);
/* Returns the index of the span at that progress in [0,1]. */
uint32_t goodput_span(const struct application *app, double progress);
/* Returns phi in samples.  Between two known batches it is interpolated
 * linearly in the logarithms; outside it is that of the nearest. */
double goodput_noise_scale(const struct application *app, uint32_t span,
                           double batch);
/* Returns the efficiency of a batch; 1 for batch_first. */
double goodput_efficiency(const struct application *app, uint32_t span,
                          double batch);

/* Returns a batch of `samples`, divided over the GPUs of `shape` and into as
 * many parts as the memory requires.  On a single GPU a batch larger than
 * batch_first is accumulated from at least two parts, because the noise cannot
 * be estimated from one (Pollux, section 4.1). */
struct goodput_batch goodput_of(const struct application *app,
                                const struct goodput_speed *speed,
                                struct goodput_shape shape, uint32_t span,
                                double samples);
/* Returns the batch of the highest goodput out of 50 sizes from batch_first (or
 * local_min on each GPU, if that is more) to batch_max, evenly spaced in their
 * logarithms, as Pollux' agent tries them. */
struct goodput_batch goodput_best(const struct application *app,
                                  const struct goodput_speed *speed,
                                  struct goodput_shape shape, uint32_t span);

/* A job of an application, as its owner submits it.  Its known length is the
 * time that it takes with that batch on that number of GPUs, packed, in the
 * first pool that can run it.  end_ns[s]: the known length up to the end of
 * span s. */
struct goodput_job {
    const struct application *app;
    uint32_t gpus, batch;
    int64_t end_ns[GOODPUT_SPANS_MAX];
    /* By pool of the cluster; NULL: the application cannot run there. */
    const struct goodput_speed *const *speed;
    const uint32_t *node_gpus;
    uint32_t pool_count;
    uint32_t index;             /* among the jobs of a workload, for caches */
};

/* Step times and node sizes by pool; goodput_job borrows the arrays. */
struct goodput_pools {
    const struct goodput_speed *const *speed;
    const uint32_t *node_gpus;  /* GPUs of its smallest node; 0: none */
    uint32_t pool_count;
};

struct goodput_pools goodput_pools_of(struct arena *arena,
                                      const struct application *app,
                                      const struct cluster_spec *cluster);
/* Fills *out.  False: no pool can run the job with these GPUs and this
 * batch. */
bool goodput_job_make(const struct application *app,
                      const struct goodput_pools *pools, uint32_t gpus,
                      uint32_t batch, struct goodput_job *out);
/* Returns the known length. */
int64_t goodput_job_ns(const struct goodput_job *job);
/* Returns the span in which known_ns of the known length lies. */
uint32_t goodput_job_span(const struct goodput_job *job, int64_t known_ns);
/* Returns the shape of `gpus` GPUs on the fewest nodes of the pool. */
struct goodput_shape goodput_packed(const struct goodput_job *job,
                                    uint32_t pool, uint32_t gpus);
/* Returns the seconds of known length that the job does per second in that
 * span; 0: it cannot run.  tunes: at the batch of the highest goodput; else at
 * its own batch. */
double goodput_speedup(const struct goodput_job *job, uint32_t pool,
                       struct goodput_shape shape, uint32_t span, bool tunes);
/* True: there is a pool where the job runs on `gpus` GPUs. */
bool goodput_size_ok(const struct goodput_job *job, uint32_t gpus, bool tunes);
uint32_t goodput_gpus_max(const struct goodput_job *job, bool tunes);

/* Lower bounds over all batches, places, and numbers of GPUs up to `most`: the
 * seconds and GPU-seconds of an effective sample, by span.
 * goodput_least_with() lowers the values in `least`, which start at
 * INFINITY. */
struct goodput_least {
    double sample_s[GOODPUT_SPANS_MAX], sample_gpu_s[GOODPUT_SPANS_MAX];
};
void goodput_least_with(const struct goodput_job *job, uint32_t most,
                        bool tunes, struct goodput_least *least);
/* Returns the least seconds of the whole job; stores its least GPU-seconds in
 * *gpu_s. */
double goodput_least_s(const struct goodput_job *job,
                       const struct goodput_least *least, double *gpu_s);

#endif
