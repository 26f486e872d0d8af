/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job.h - a job as its owner submitted it: phases, the roles they run on, and
 * what each role asks of the cluster.
 *
 * A form is the shape that many jobs share: a small graph of phases that is
 * run once per step.  A phase starts when all phases of `after` have ended in
 * this step; the next step starts when all phases of this one have.  Here is
 * only what a real scheduler could know; what only the simulation knows
 * stands in truth.h, which no policy can include.
 */
#ifndef MODELS_JOBS_JOB_H
#define MODELS_JOBS_JOB_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/types/ids.h"
#include "sim/base/err.h"

#define FORM_ROLES_MAX 6u
#define FORM_PHASES_MAX 12u

struct goodput_job;
struct job_modes;
struct job_packing;
struct job_rates;
struct job_scaling;
struct phase_law;

enum phase_kind {
    PHASE_PREPROCESS, PHASE_LOAD, PHASE_TRAIN, PHASE_ROLLOUT, PHASE_REWARD,
    PHASE_SYNC, PHASE_CHECKPOINT, PHASE_VALIDATE, PHASE_INFER, PHASE_SERVE,
    PHASE_KIND_COUNT
};

/* What a role asks for.  GPUs come in multiples of gpus_multiple, between
 * gpus_min and gpus_max; gpus is what the owner would like. */
struct role_spec {
    const char *name;           /* "rollout", "train", "data" ... */
    uint32_t gpus, gpus_min, gpus_max, gpus_multiple;   /* gpus 0: CPU only */
    uint32_t cores;             /* per GPU, or in all for a CPU role */
    int64_t memory_bytes;       /* host; per GPU, or in all for a CPU role */
    const uint32_t *gpu_types;  /* catalogue indexes, most wanted first */
    uint32_t gpu_type_count;    /* 0: any */
    const char *pool;           /* NULL: any */
    const char *home;           /* its own pool, for policies that divide the
                                   cluster; NULL: not said */
    double gpu_memory_bytes;    /* needed per GPU at gpus; 0: not checked */
    double load_bytes;          /* into all its GPUs before a phase can run */
    double save_bytes;          /* out of them when the lease is taken away */
    double start_s;             /* first process start beside the copying */
    double wake_s;              /* the same when it has run before */
    bool pod;                   /* lies on one node; memory_bytes is in all */
    int64_t core_milli;         /* of a pod, in all: thousandths of cores */
    struct err_pos pos;         /* where it is written, for messages */
};

struct phase_spec {
    enum phase_kind kind;
    const char *name;
    uint32_t role;
    uint32_t sync_to;           /* the role that is given weights or data */
    uint32_t after_mask;        /* bit p: phase p of the same step */
    uint32_t every;             /* runs in steps divisible by it; >= 1 */
    uint32_t skip_first, skip_last;     /* steps in which it does not run */
    const struct phase_law *law;        /* models/laws/phase.h */
    const struct phase_law *later;      /* from step later_from on; NULL: the
                                           same */
    uint32_t later_from;
};

struct job_form {
    const char *name;           /* as the workload calls it */
    const char *recipe;         /* "dpo", "grpo", "trace" ... */
    uint32_t lag;               /* rounds beyond the steps of a job: a phase
                                   works on what an earlier round made */
    const struct job_scaling *scaling;  /* of jobs of known length that may be
                                   resized, models/jobs/speedup.h; NULL: they may not */
    bool paced;                 /* they have that, or rates */
    const struct job_packing *packing;  /* of jobs of known length: which may
                                   be beside them on their GPUs */
    uint32_t role_count, phase_count;
    struct role_spec role[FORM_ROLES_MAX];
    struct phase_spec phase[FORM_PHASES_MAX];
};

struct job_request {
    struct job_id id;
    const char *name;           /* NULL: by number */
    const char *tenant;         /* NULL: none */
    const struct job_form *form;
    int64_t submit_ns;
    int64_t limit_ns;           /* the owner's requested time; 0: none given */
    int64_t deadline_ns;        /* CLOCK_NEVER_NS: none */
    int32_t priority;           /* larger goes first */
    uint32_t gpus;              /* of role 0, if not as the form says; else 0 */
    uint32_t gpu_milli;         /* of role 0: part of its one GPU; 0: whole */
    uint32_t gpu_mib;           /* of that GPU's memory; 0: not said */
    uint32_t steps;             /* rounds; the owner knows how many */
    const struct job_rates *rates;      /* by pool, models/jobs/speedup.h; NULL: the
                                   same everywhere */
    const struct goodput_job *goodput;  /* models/catalogue/goodput.h; NULL: not known */
    double rate_known;          /* with rates: where its length is known */
    const struct job_modes *modes;      /* batch sizes that it may have, of
                                   models/jobs/regimes.h; NULL: not said */
};

enum job_status {
    JOB_PENDING, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_UNFINISHED,
    JOB_DROPPED,                /* `blocking: drop`, and there was no room */
    JOB_STATUS_COUNT
};

/* Does a phase run in that step of so many, and in how many of them? */
bool phase_due(const struct phase_spec *phase, uint32_t step, uint32_t steps);
uint32_t phase_runs(const struct phase_spec *phase, uint32_t steps);
/* The law of a phase in that step, counted from 0. */
const struct phase_law *phase_law_at(const struct phase_spec *phase,
                                     uint32_t step);
/* The law that most steps have. */
const struct phase_law *phase_law_usual(const struct phase_spec *phase);
const char *phase_kind_name(enum phase_kind kind);
const char *job_status_name(enum job_status status);
static inline uint32_t job_role_gpus(const struct job_request *request,
                                     uint32_t role)
{
    assert(role < request->form->role_count);
    if (role == 0 && request->gpus > 0)
        return request->gpus;
    return request->form->role[role].gpus;
}
/* Thousandths that it takes of each of its GPUs; GPUs times that part. */
uint32_t job_role_milli(const struct job_request *request, uint32_t role);
double job_role_amount(const struct job_request *request, uint32_t role);

#endif
