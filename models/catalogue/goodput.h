/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput.h - how fast a training job nears its goal, on GPUs and with a batch
 * that may change: Qiao et al., "Pollux", OSDI 2021, section 3.
 *
 * Goodput is throughput (samples/s) times statistical efficiency (progress of a
 * sample over that of one in a batch of the first size), in effective samples/s.
 * Times of a step (equations 9 to 12 there; terms that are 0 on one GPU):
 *
 *   grad = alpha_c + beta_c x samples of a GPU at once
 *   sync = alpha + beta x max(GPUs - 2, 0), other ones within a node and between
 *   step = (grad^gamma + sync^gamma)^(1 / gamma), gamma 1 (no overlap) to 10
 *
 * and grad more for each batch that is accumulated.  Efficiency of a batch of m
 * samples is (phi + m0) / (phi + m), phi the gradient noise scale (McCandlish et
 * al. 2018, arXiv 1812.06162), which changes over a job's progress and, as it is
 * estimated while training, with the batch.
 *
 * Per GPU type after Sia (Subramanya et al., SOSP 2023): other types, other times;
 * the same efficiency.  How near it comes to measurements: models/README.md.
 */
#ifndef MODELS_CATALOGUE_GOODPUT_H
#define MODELS_CATALOGUE_GOODPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cluster_spec;
struct conf_node;

#define GOODPUT_SPANS_MAX 24u   /* of a job's progress */
#define GOODPUT_BATCHES_MAX 8u  /* for which noise is known */

/* Step times on GPUs of one type, in seconds. */
struct goodput_speed {
    const char *gpu;            /* of the catalogue */
    double alpha_c, beta_c;     /* of grad; beta_c: per sample of a GPU */
    double alpha_r, beta_r;     /* of sync within a node; beta_r: per GPU */
    double alpha_n, beta_n;     /* between nodes */
    double gamma;
    uint32_t local_max;         /* samples that a GPU's memory holds */
};

/* phi of span s, for batches around batch[b]: scale[s * batches + b], samples. */
struct goodput_noise {
    uint32_t spans, batches;
    double until[GOODPUT_SPANS_MAX];    /* of progress, ascending to 1 */
    double batch[GOODPUT_BATCHES_MAX];  /* ascending */
    double scale[GOODPUT_SPANS_MAX * GOODPUT_BATCHES_MAX];
};

/* An entry of the catalogue's applications. */
struct application {
    const char *name, *label, *source, *notes;
    const struct conf_node *sources;    /* key: text, or NULL */
    double work;                /* samples in batches of batch_first: a whole job */
    uint32_t batch_first, batch_max;    /* samples */
    uint32_t local_min;         /* fewest of a GPU at once */
    uint32_t gpus_max;          /* 0: what local_min allows */
    int64_t restart_ns;         /* at each new set of GPUs */
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
    uint32_t accumulated;       /* batches before the one that is synchronized */
    double samples;             /* of all GPUs, in a step */
    double goodput;             /* effective samples/s; 0: it cannot run so */
};

/* NULL: not known on that type. */
const struct goodput_speed *goodput_speed_of(const struct application *app,
                                             const char *gpu);
double goodput_grad_s(const struct goodput_speed *speed, double local);
double goodput_sync_s(const struct goodput_speed *speed,
                      struct goodput_shape shape);
double goodput_step_s(const struct goodput_speed *speed,
                      struct goodput_shape shape, double local,
                      uint32_t accumulated);
/* Of the span that holds this part of the work. */
uint32_t goodput_span(const struct application *app, double progress);
/* Between two known batches straight in the logarithms; beyond, the nearest. */
double goodput_noise_scale(const struct application *app, uint32_t span,
                           double batch);
/* 1 for batch_first. */
double goodput_efficiency(const struct application *app, uint32_t span,
                          double batch);

/* A batch of so many samples, split over GPUs and in as many parts as memory
 * asks for; one that is larger than batch_first is accumulated on a single GPU,
 * as its noise cannot be estimated from one part alone (Pollux, section 4.1). */
struct goodput_batch goodput_of(const struct application *app,
                                const struct goodput_speed *speed,
                                struct goodput_shape shape, uint32_t span,
                                double samples);
/* The best of 50 sizes from batch_first to batch_max, evenly apart in their
 * logarithms, as Pollux' agent tries them. */
struct goodput_batch goodput_best(const struct application *app,
                                  const struct goodput_speed *speed,
                                  struct goodput_shape shape, uint32_t span);

/* A job of an application, as its owner asked for it.  Its known length is what
 * it takes with that batch on those GPUs, packed, of the first pool that knows
 * it; `end_ns` says how much of it has passed at the end of each span. */
struct goodput_job {
    const struct application *app;
    uint32_t gpus, batch;
    int64_t end_ns[GOODPUT_SPANS_MAX];
    /* Of the cluster, by pool: NULL where the application cannot run. */
    const struct goodput_speed *const *speed;
    const uint32_t *node_gpus;
    uint32_t pool_count;
    uint32_t index;             /* among those of a workload: for caches */
};

/* Per pool of a cluster; what goodput_job borrows. */
struct goodput_pools {
    const struct goodput_speed *const *speed;
    const uint32_t *node_gpus;  /* of its nodes, the fewest; 0: none */
    uint32_t pool_count;
};

struct goodput_pools goodput_pools_of(struct arena *arena,
                                      const struct application *app,
                                      const struct cluster_spec *cluster);
/* False: in no pool can it run so. */
bool goodput_job_make(const struct application *app,
                      const struct goodput_pools *pools, uint32_t gpus,
                      uint32_t batch, struct goodput_job *out);
int64_t goodput_job_ns(const struct goodput_job *job);
/* Its span when so much of its known length has passed. */
uint32_t goodput_job_span(const struct goodput_job *job, int64_t known_ns);
/* GPUs packed on as few nodes of the pool as hold them. */
struct goodput_shape goodput_packed(const struct goodput_job *job,
                                    uint32_t pool, uint32_t gpus);
/* Known length that passes in a second in that span; 0: it cannot run so.
 * tunes: at the batch of the most goodput, else at its own. */
double goodput_speedup(const struct goodput_job *job, uint32_t pool,
                       struct goodput_shape shape, uint32_t span, bool tunes);
/* Could it run on so many GPUs, somewhere? */
bool goodput_size_ok(const struct goodput_job *job, uint32_t gpus, bool tunes);
uint32_t goodput_gpus_max(const struct goodput_job *job, bool tunes);

/* What no batch, number of GPUs (up to `most`) or place can beat: seconds and
 * GPU-seconds of an effective sample, by span, where they are less than `least`
 * says already (INFINITY at first); with tuned batches, or with its own. */
struct goodput_least {
    double sample_s[GOODPUT_SPANS_MAX], sample_gpu_s[GOODPUT_SPANS_MAX];
};
void goodput_least_with(const struct goodput_job *job, uint32_t most,
                        bool tunes, struct goodput_least *least);
/* The whole job by that. */
double goodput_least_s(const struct goodput_job *job,
                       const struct goodput_least *least, double *gpu_s);

#endif
