/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup.h - how fast a job of known length runs elsewhere than its length was
 * measured: on other pools, or on another number of GPUs.
 *
 * The known length is that of the GPUs its owner asked for, in the pool where
 * it was measured: there the pace is 1.  Elsewhere it is what the user states,
 * a table of rates or a rule of scaling; where nothing is stated it is 0, and
 * the job cannot run there.  Nothing is assumed.
 */
#ifndef MODELS_JOBS_SPEEDUP_H
#define MODELS_JOBS_SPEEDUP_H

#include <stdbool.h>
#include <stdint.h>

struct job_request;
struct job_form;

enum scaling_kind {
    SCALING_LINEAR,     /* n GPUs, n times the pace */
    SCALING_AMDAHL,     /* 1 / (s + (1 - s) / n), s the serial fraction
                           (Amdahl, AFIPS 1967) */
    SCALING_TABLE,      /* speedups over 1 GPU, linear between two rows */
    SCALING_RATES       /* the sizes that the rates of the job's kind have */
};

/* Sizes a job may be given beside the one it asks for. */
struct job_scaling {
    enum scaling_kind kind;
    uint32_t gpus_min, gpus_max;
    double serial_fraction;     /* SCALING_AMDAHL */
    const uint32_t *gpus;       /* SCALING_TABLE: ascending sizes, and */
    const double *speedup;      /* what is gained by them */
    uint32_t count;
};

struct job_rates;

/* What a kind of job reaches beside a job of another kind that holds the same
 * GPUs: Gavel's tables (Narayanan et al., OSDI 2020) measure every pair. */
struct job_beside {
    const struct job_rates *other;
    uint32_t gpus;
    double *rate;               /* by pool, in the unit of the rates; 0: they
                                   do not run together, as for want of
                                   memory */
};

/* Rates of a kind of job by size and pool, in any unit. */
struct job_rates {
    uint32_t pool_mask;         /* where it can run, at some size */
    uint32_t pool_count;
    uint32_t size_count;        /* 0: one row, for every size */
    const uint32_t *gpus;       /* ascending */
    const double *rate;         /* [size * pool_count + pool]; 0: cannot run */
    const struct job_beside *beside;
    uint32_t beside_count;
};

/* The same as a user states it: pace beside jobs of other forms, by their
 * names, over the pace alone.  Beside one that is not named: it cannot run. */
struct job_packing {
    const char *const *name;
    const double *speedup;
    uint32_t count;
};

/* How much a job suffers when it shares its GPUs (Hu et al., Lucid, ASPLOS
 * 2023): by its mean pace beside all it can share them with, over that alone.
 * The limits are those of its published code, simulation/analyzer/analyzer.py;
 * the names and the score 0, 1, 2 are those of the paper. */
enum share_class { SHARE_TINY, SHARE_MEDIUM, SHARE_JUMBO, SHARE_NEVER };
#define SHARE_TINY_MIN 0.95
#define SHARE_MEDIUM_MIN 0.85

/* Speedup over one GPU; 0: not known. */
double scaling_speedup(const struct job_scaling *scaling, uint32_t gpus);

/* Progress of a job of known length per second on so many GPUs of a pool, in
 * seconds of its known length; 0: it cannot run there, or nobody said how
 * fast. */
double speedup_of(const struct job_request *request, uint32_t pool,
                  uint32_t gpus);
/* The same while another job of so many GPUs holds the same ones; 0: the two
 * cannot run together there, or nobody said how fast. */
double speedup_beside(const struct job_request *request,
                      const struct job_request *other, uint32_t pool,
                      uint32_t gpus);
/* The highest such pace beside any job, known or not to come; 0: none. */
double speedup_beside_best(const struct job_request *request, uint32_t pool,
                           uint32_t gpus);
enum share_class speedup_share_class(const struct job_request *request);
/* May it be given so many GPUs, somewhere? */
bool speedup_size_ok(const struct job_request *request, uint32_t gpus);

#endif
