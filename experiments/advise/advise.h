/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise.h - which GPUs for a job: the types and functions that the files of
 * `clustersim advise` share.
 *
 * A job is one entry of a workload's mix, a place is a kind of node that it may
 * run on.  The search (models/advise/advise.h) finds the fastest layout for
 * each place and count; a row of the advice is then written as an experiment,
 * read back as any other, and timed through the simulator's own placement,
 * fabric and laws.  So `clustersim run` repeats the figures of a row.
 */
#ifndef EXPERIMENTS_ADVISE_ADVISE_H
#define EXPERIMENTS_ADVISE_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "sim/base/err.h"
#include "workloads/recipes/recipe.h"

struct arena;
struct cluster_spec;
struct conf_node;
struct gang;

#define ADVISE_NONE UINT32_MAX

/* A kind of node, with as many of them as may be used. */
struct advise_place {
    const char *name;           /* the GPU type, or the group of nodes */
    const struct cluster_spec *spec;    /* the cluster that the place is a part of */
    const struct node_group *group; /* its nodes, of spec */
    uint32_t node_gpus;         /* of one node */
    uint32_t gpus_max;
    uint32_t cores;             /* that a GPU may take at most */
    uint32_t free_cores;        /* that come with its price */
    double gpu_usd_per_h;       /* NAN: no price is known */
    const struct price *rate;   /* in the world's tier; NULL: given, or none */
};

/* What there is to choose from, and at which prices. */
struct advise_world {
    struct arena *arena;        /* of the command: all that is found lies in it */
    const struct catalogue *catalogue;  /* GPUs, prices and models */
    const struct conf_node *cluster;    /* as given; NULL: the catalogue */
    const struct cluster_spec *spec;    /* of it; or NULL */
    struct advise_place *place; /* [place_count], in the order of the file */
    size_t place_count;
    uint32_t gpus_max;          /* of one kind that are tried at most */
    enum price_tier tier;       /* of all prices: only one tier is ranked */
};

/* An entry of a mix, with its layout left open. */
struct advise_job {
    const struct conf_node *conf;       /* the entry */
    const struct job_form *form;        /* as written, any memory allowed */
    struct recipe_keys keys;    /* as written, which the plan writes again */
    double steps;               /* the mean, where they are drawn */
    double runs;                /* of the form's graph */
    uint32_t main_phase;        /* it trains; else it generates */
    uint32_t train, engine;     /* roles; or ADVISE_NONE */
    struct advise_task task;    /* what models/advise searches a layout for */
    const struct phase_law *generate;   /* of the phase that generates; NULL: none does */
    bool shares;                /* generates on the GPUs that train */
    double context_tokens;      /* the longest, prompt and response together */
    bool trains;                /* false: it answers or generates alone */
};

/* One role on a number of GPUs of one place. */
struct advise_choice {
    const struct advise_place *place;   /* NULL: the job has no such role */
    uint32_t gpus;
    struct advise_layout layout;        /* of a training role */
    struct advise_engine engine;        /* of a generating one, or of both */
    double phase_s[FORM_PHASES_MAX];    /* of the role's own phases */
    double usd_per_h;           /* of its GPUs alone */
};

enum advise_stage { ADVISE_GPU, ADVISE_CPU, ADVISE_PCIE, ADVISE_NETWORK,
                    ADVISE_STORAGE, ADVISE_STAGE_COUNT };

/* One answer: where each role runs, how it is laid out, and what comes of it.  Times in
 * s, rates in items/s and tokens/s of the main phase, busy as fractions of capacity. */
struct advise_row {
    struct advise_choice train, engine; /* engine: of a role of its own */
    double guess_s, guess_usd;  /* by the search */
    bool wanted;                /* among those that are timed exactly */
    bool pareto;                /* no other timed row beats it in time or cost and loses in
                                   neither */
    /* of the plan: */
    bool timed;                 /* what follows is known */
    double time_s, usd, start_s;
    double items_per_s, tokens_per_s, mfu, hfu; /* mfu, hfu: fractions of the peak */
    double busy[ADVISE_STAGE_COUNT];
    const char *bottleneck;     /* the slowest stage of the main phase */
    uint32_t cores, workers;    /* per GPU of the main role */
    double host_bytes;          /* per GPU */
    double storage_bps;         /* read or written, all GPUs */
    struct memory_need need;    /* per GPU of the main role */
    struct memory_need engine_need;     /* of the generating one */
};

/* All answers for a job, in no order: rank.h sorts them. */
struct advice {
    const struct advise_world *world;
    const struct advise_job *job;
    struct advise_row *row;     /* every feasible (place, count) */
    size_t row_count;
    struct advise_layout *miss; /* per place: the least need of all counts */
    uint32_t *miss_gpus;        /* and the count that needs it */
    uint64_t tried_count, fit_count;    /* layouts that were tried; that fit into memory */
    size_t refused_count;       /* wanted rows that the reader refused */
    struct err refused;         /* why the last of them was */
};

/* world.c ------------------------------------------------------- */

/* Reads the places of a cluster's file; NULL: of the whole catalogue.  False:
 * err says why. */
bool advise_world_read(struct advise_world *world, const char *cluster_path,
                       struct err *err);
/* Makes the places of a cluster's keys; NULL: of the whole catalogue, which is the
 * built-in one unless the world has one. */
bool advise_world_from(struct advise_world *world,
                       const struct conf_node *cluster, struct err *err);
/* Returns the price of one core in the tier, else on demand; NULL: none. */
const struct price *advise_core_price(const struct advise_world *world);
/* Returns the YAML of nodes: `gpus` GPUs of a place, with `cores` cores each,
 * in a pool. */
char *advise_nodes_text(const struct advise_world *world,
                        const struct advise_place *place, const char *pool,
                        uint32_t gpus, uint32_t cores);
/* Returns the gang, for the laws, of `gpus` GPUs of a place. */
struct gang advise_gang(const struct advise_place *place, uint32_t gpus);

/* job.c --------------------------------------------------------- */

/* Reads a workload's file for a cluster without limits; NULL: err is set. */
struct workload_spec;
const struct workload_spec *advise_workload_read(
    const struct advise_world *world, const char *path,
    const struct conf_node **root, struct err *err);
/* Reads the jobs of a workload's file; returns their number.  0: it has
 * services alone, or err is set. */
size_t advise_jobs_read(const struct advise_world *world, const char *path,
                        struct advise_job **jobs, struct err *err);
/* Makes the jobs of a workload's keys; returns as advise_jobs_read(). */
size_t advise_jobs_from(const struct advise_world *world,
                        const struct conf_node *root,
                        struct advise_job **jobs, struct err *err);

/* Has the job GPUs to ask about?  False: err says which role runs on cores alone, at its
 * place. */
bool advise_job_check(const struct advise_job *job, struct err *err);

/* search.c ------------------------------------------------------ */

/* Finds every feasible (place, count), or pair of them for a job of two roles,
 * with its fastest layout and a guess of time and cost; memory in the world's
 * arena.  No row: nothing fits, and `miss` says by how much. */
void advise_search(const struct advise_world *world,
                   const struct advise_job *job, struct advice *advice);
/* Returns the next GPU count to try after n: a power of two up to 8, then
 * multiples of eight; beyond one node only whole nodes.  May be above
 * place->gpus_max: the caller ends there. */
uint32_t advise_next_count(uint32_t n, const struct advise_place *place);

/* plan.c -------------------------------------------------------- */

/* Returns the YAML of the experiment that runs a row, with its time and cost as
 * expectations if it was timed; in the world's arena. */
char *advise_plan_text(const struct advice *advice,
                       const struct advise_row *row);
/* Cores per GPU of an engine: as written, or what its node has, but no more
 * than the recipe's default. */
uint32_t advise_engine_cores(const struct advise_job *job,
                             const struct advise_choice *choice);

/* time.c -------------------------------------------------------- */

/* Times a row through that experiment and fills what is "of the plan".  False: err
 * says why the reader refused it, or that its roles do not fit beside each other. */
bool advise_plan_time(const struct advice *advice, struct advise_row *row,
                      struct err *err);

/* Returns the cost of a timed row at the GPU prices of another tier; NAN: a GPU
 * has no price there.  Sets `*assumed` if a price is an assumption. */
double advise_tier_usd(const struct advice *advice,
                       const struct advise_row *row, enum price_tier tier,
                       bool *assumed);

/* text.c -------------------------------------------------------- */

/* Returns a node as YAML in one line, quoted where YAML needs it. */
const char *advise_conf_text(struct arena *arena,
                             const struct conf_node *node);
/* Returns a layout in short: "tp4 pp1 dp8 zero1 full mb2", of two roles with " | ". */
const char *advise_layout_text(struct arena *arena,
                               const struct advise_job *job,
                               const struct advise_row *row);
/* Returns a time for people: "95.0s", "12.5min", "3.1h", "2.4d". */
const char *advise_time_text(struct arena *arena, double seconds);
/* "zero: 3, recompute: full": the keys in which b differs from a. */
const char *advise_shape_diff(struct arena *arena,
                              const struct train_shape *a,
                              const struct train_shape *b);

#endif
