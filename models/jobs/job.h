/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job.h - a job as its owner submits it: its phases, the roles that run them,
 * and the resources that each role requests.
 *
 * A form is what many jobs share: a small graph of phases that runs once per
 * step.  A phase starts when all phases in its after_mask have ended in this
 * step; the next step starts when all phases of this one have ended.  This file
 * has only what a real scheduler could know.  What only the simulation knows is
 * in truth.h, which policies cannot include.
 */
#ifndef MODELS_JOBS_JOB_H
#define MODELS_JOBS_JOB_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/types/ids.h"
#include "models/types/placement.h"
#include "sim/base/err.h"

#define FORM_ROLES_MAX 6u
#define FORM_PHASES_MAX 12u

struct goodput_job;
struct job_modes;
struct job_packing;
struct job_rates;
struct job_scaling;
struct phase_law;

/* Kinds of phases; results call them by phase_kind_name(). */
enum phase_kind {
    PHASE_PREPROCESS, PHASE_LOAD, PHASE_TRAIN, PHASE_ROLLOUT, PHASE_REWARD,
    PHASE_SYNC, PHASE_CHECKPOINT, PHASE_VALIDATE, PHASE_INFER, PHASE_SERVE,
    PHASE_KIND_COUNT
};

/* What a role takes in the place of GPUs: cores of one node. */
struct role_cores {
    uint32_t cores;             /* 0: it needs GPUs, or computes nothing */
    int64_t memory_bytes;       /* host, in all */
    double load_bytes;          /* copied into it before a phase runs */
    double start_s, wake_s;     /* as of struct role_spec, on these cores */
    bool first;                 /* before GPUs, for policies that do not
                                   forecast */
};

/* What a role requests.  It may be given any multiple of gpus_multiple between
 * gpus_min and gpus_max; its owner asks for `gpus`. */
struct role_spec {
    const char *name;           /* "rollout", "train", "data" ... */
    uint32_t gpus, gpus_min, gpus_max, gpus_multiple;   /* gpus 0: CPU only */
    uint32_t cores;             /* per GPU, or in all for a CPU role */
    int64_t memory_bytes;       /* host; per GPU, or in all for a CPU role */
    const uint32_t *gpu_types;  /* catalogue indexes, preferred types first */
    uint32_t gpu_type_count;    /* 0: any */
    const char *pool;           /* NULL: any */
    const char *home;           /* home pool, for policies that divide the
                                   cluster; NULL: not stated */
    double gpu_memory_bytes;    /* needed per GPU at `gpus`; 0: not checked */
    double load_bytes;          /* copied to all its GPUs before a phase runs */
    double copy_bytes;          /* of these, one copy: its GPUs on a node read no
                                   byte twice; 0: all bytes differ */
    double first_bytes, first_copy_bytes;   /* the same before the job has run: what
                                   training makes is not there yet; 0: as above */
    double save_bytes;          /* copied from them when the lease is revoked */
    double start_s;             /* first start of the process, beside copying, on GPUs if
                                   the role has any */
    double wake_s;              /* the same for a later start */
    bool pod;                   /* runs on one node; memory_bytes is in all */
    int64_t core_milli;         /* of a pod, in all: thousandths of cores */
    struct err_pos pos;         /* place in the file, for messages */
    struct role_cores on_cores; /* with GPUs: what it may take instead; without:
                                   the same as `cores`, `memory_bytes`, `start_s` and
                                   `wake_s` */
};

/* A phase of a step: what runs, on which role, and after which phases. */
struct phase_spec {
    enum phase_kind kind;
    const char *name;
    uint32_t role;
    uint32_t sync_to;           /* the role that receives weights or data */
    uint32_t after_mask;        /* bit p: starts after phase p of this step */
    uint32_t every;             /* runs in every n-th step, for n = every >= 1;
                                   steps that it skips do not count */
    uint32_t skip_first, skip_last;     /* how many first and last steps it
                                           does not run in */
    const struct phase_law *law;        /* models/laws/phase.h */
    const struct phase_law *later;      /* law from step later_from on; NULL:
                                           `law` in all steps */
    uint32_t later_from;
};

struct job_form {
    const char *name;           /* as the workload calls it */
    const char *recipe;         /* "dpo", "grpo", "trace" ... */
    uint32_t lag;               /* rounds that a job has more than steps, if a
                                   phase works on the output of an earlier
                                   round */
    const struct job_scaling *scaling;  /* jobs of known length that may be
                                           resized (speedup.h); NULL: rigid */
    bool paced;                 /* its jobs have `scaling` or rates */
    const struct job_packing *packing;  /* jobs of known length: which jobs may
                                           share their GPUs; NULL: none */
    uint32_t role_count, phase_count;
    struct role_spec role[FORM_ROLES_MAX];
    struct phase_spec phase[FORM_PHASES_MAX];
    uint32_t round_steps;       /* steps of training that a round of the phases stands
                                   for; 0: one */
};

struct job_request {
    struct job_id id;
    const char *name;           /* NULL: it is called by its number */
    const char *tenant;         /* NULL: none */
    const struct job_form *form;
    int64_t submit_ns;
    int64_t limit_ns;           /* run time that the owner requests; 0: none */
    int64_t deadline_ns;        /* CLOCK_NEVER_NS: none */
    int32_t priority;           /* larger goes first */
    uint32_t gpus;              /* of role 0; 0: as the form says */
    uint32_t gpu_milli;         /* of role 0: part of its one GPU; 0: whole */
    uint32_t gpu_mib;           /* of that GPU's memory; 0: not stated */
    uint32_t steps;             /* rounds; known to the owner */
    const struct job_rates *rates;      /* by pool, speedup.h; NULL: the same
                                           everywhere */
    const struct goodput_job *goodput;  /* models/catalogue/goodput.h; NULL:
                                           not known */
    double rate_known;          /* with rates: the rate at which its length was
                                   measured */
    const struct job_modes *modes;      /* batch sizes that it may have,
                                           regimes.h; NULL: not stated */
};

/* What a job does now, or what became of it. */
enum job_status {
    JOB_PENDING, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_UNFINISHED,
    JOB_DROPPED,                /* `blocking: drop`: no room at submission */
    JOB_STATUS_COUNT
};

/* True: of `steps` steps, counted from 0, the phase runs in this one. */
bool phase_due(const struct phase_spec *phase, uint32_t step, uint32_t steps);
/* Returns in how many of `steps` steps the phase runs. */
uint32_t phase_runs(const struct phase_spec *phase, uint32_t steps);
/* Returns how many steps of training the first `rounds` rounds of a job are. */
uint64_t job_steps_done(const struct job_form *form, uint32_t rounds);
/* Returns the law of a phase in that step. */
const struct phase_law *phase_law_at(const struct phase_spec *phase,
                                     uint32_t step);
/* Returns the law that most steps have. */
const struct phase_law *phase_law_usual(const struct phase_spec *phase);

/* What a role loads before it can work: bytes into the memory of all its GPUs, or of its
 * node.  part: of these what reaches the nodes over the network, where each of them takes
 * no byte twice. */
struct role_load {
    double bytes, part;
};
/* Returns it for `nodes` nodes, on GPUs or on cores.  first: the job has kept nothing that
 * it did, so that what training makes is not there yet. */
struct role_load job_role_load(const struct role_spec *role, bool first, bool gpus,
                               uint32_t nodes);

/* Returns the seconds that the process of a role takes to start, its bytes apart, on GPUs
 * or on cores.  later: the role has run, and its state is kept. */
double job_role_start_s(const struct role_spec *role, bool later, bool gpus);
/* True: its process takes no time to start, the first time and later, on any hardware. */
bool job_role_is_up_at_once(const struct role_spec *role);

/* Return the name as results print it; static text. */
const char *phase_kind_name(enum phase_kind kind);
const char *job_status_name(enum job_status status);
/* Returns the GPUs that a role requests. */
static inline uint32_t job_role_gpus(const struct job_request *request,
                                     uint32_t role)
{
    assert(role < request->form->role_count);
    if (role == 0 && request->gpus > 0)
        return request->gpus;
    return request->form->role[role].gpus;
}
/* May a role use GPUs of that type, an index of the catalogue?  ID_NONE: GPUs without a
 * type, which a role alone that names none may use. */
static inline bool job_role_takes_type(const struct role_spec *role, uint32_t type)
{
    for (uint32_t t = 0; t < role->gpu_type_count; t++)
        if (role->gpu_types[t] == type)
            return type != ID_NONE;
    return role->gpu_type_count == 0;
}

/* True: it may run on GPUs or on cores. */
static inline bool job_role_chooses(const struct role_spec *role)
{
    return role->gpus > 0 && role->on_cores.cores > 0;
}
/* Returns the thousandths of each GPU that a role requests: 1000 are whole. */
static inline uint32_t job_role_milli(const struct job_request *request,
                                      uint32_t role)
{
    assert(request->gpu_milli <= GPU_MILLI);
    return role == 0 && request->gpu_milli > 0 ? request->gpu_milli : GPU_MILLI;
}
/* Returns the GPUs that a role requests, a part counted as a fraction. */
static inline double job_role_amount(const struct job_request *request, uint32_t role)
{
    uint64_t gpus = job_role_gpus(request, role);

    return (double)(gpus * job_role_milli(request, role)) / GPU_MILLI;
}

#endif
