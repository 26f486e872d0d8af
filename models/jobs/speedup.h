/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup.h - how fast a job of known length runs in another pool, or on
 * another number of GPUs, than those on which its length was measured.
 *
 * The known length holds for the number of GPUs that the owner requests, in the
 * pool where it was measured.  There the speedup is 1.  Elsewhere the user
 * states it, by a table of rates or a rule of scaling.  Where nothing is stated
 * it is 0, and the job cannot run there: nothing is assumed.
 */
#ifndef MODELS_JOBS_SPEEDUP_H
#define MODELS_JOBS_SPEEDUP_H

#include <stdbool.h>
#include <stdint.h>

struct job_request;
struct job_form;

enum scaling_kind {
    SCALING_LINEAR,     /* n GPUs are n times as fast as one */
    SCALING_AMDAHL,     /* 1 / (s + (1 - s) / n), s the serial fraction
                           (Amdahl, AFIPS 1967) */
    SCALING_TABLE,      /* speedups over 1 GPU, linear between two rows */
    SCALING_RATES       /* the job_rates of the job have a row for each size */
};

/* Sizes that a job may have beside the one it requests. */
struct job_scaling {
    enum scaling_kind kind;     /* which of the members below count */
    uint32_t gpus_min, gpus_max;    /* both included */
    double serial_fraction;     /* SCALING_AMDAHL */
    const uint32_t *gpus;       /* SCALING_TABLE: sizes, ascending */
    const double *speedup;      /* of these sizes, over 1 GPU */
    uint32_t count;
};

struct job_rates;

/* The rate of a kind of job while a job of another kind holds the same GPUs.
 * The tables of Gavel (Narayanan et al., OSDI 2020) measure every pair. */
struct job_beside {
    const struct job_rates *other;
    uint32_t gpus;
    double *rate;               /* by pool, in the unit of the rates; 0: they
                                   cannot share, e.g. for lack of memory */
};

/* Rates of a kind of job by size and pool, in any unit. */
struct job_rates {
    uint32_t pool_mask;         /* pools where it can run, at some size */
    uint32_t pool_count;
    uint32_t size_count;        /* 0: one row, for every size */
    const uint32_t *gpus;       /* ascending */
    const double *rate;         /* [size * pool_count + pool]; 0: cannot run */
    const struct job_beside *beside;
    uint32_t beside_count;
};

/* Speeds of jobs that share their GPUs, as a user states them: `speedup[i]` is
 * the speed beside a job of the form `name[i]` over the speed alone.  Jobs
 * whose forms are not named cannot share. */
struct job_packing {
    const char *const *name;
    const double *speedup;
    uint32_t count;
};

/* How much a job slows down when it shares its GPUs (Hu et al., Lucid, ASPLOS
 * 2023): the class follows from its mean speed beside all jobs for which one is
 * stated, over its speed alone.  The limits are those of Lucid's published
 * code, simulation/analyzer/analyzer.py; the names and the scores 0, 1, 2 are
 * those of the paper. */
enum share_class { SHARE_TINY, SHARE_MEDIUM, SHARE_JUMBO, SHARE_NEVER };
#define SHARE_TINY_MIN 0.95
#define SHARE_MEDIUM_MIN 0.85

/* Returns the speedup over one GPU; 0: not known. */
double scaling_speedup(const struct job_scaling *scaling, uint32_t gpus);

/* Returns the seconds of its known length that a job does per second on `gpus`
 * GPUs of a pool; 0: it cannot run there, or its speed is not stated. */
double speedup_of(const struct job_request *request, uint32_t pool,
                  uint32_t gpus);
/* Returns that speedup while `other` holds the same GPUs; 0: the two cannot share
 * there, or their speed is not stated. */
double speedup_beside(const struct job_request *request,
                      const struct job_request *other, uint32_t pool,
                      uint32_t gpus);
/* Returns the highest such speed beside any job, whether one is submitted or
 * not; 0: it can share with none. */
double speedup_beside_best(const struct job_request *request, uint32_t pool,
                           uint32_t gpus);
enum share_class speedup_share_class(const struct job_request *request);
/* True: there is a pool where the job runs on `gpus` GPUs. */
bool speedup_size_ok(const struct job_request *request, uint32_t gpus);

#endif
