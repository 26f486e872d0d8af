/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiment.h - reads and checks an experiment file: points x policies x
 * seeds.
 *
 * All that a trial needs is read once.  It lives in the experiment's arena and
 * is read-only afterwards.  Trials are numbered from 0: point by point, policy
 * by policy, seed by seed.
 */
#ifndef EXPERIMENTS_SPEC_EXPERIMENT_H
#define EXPERIMENTS_SPEC_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/trial_spec.h"
#include "sim/base/err.h"
#include "sim/stats/looks.h"

struct arena;
struct catalogue;
struct conf_node;
struct conf_schema;
struct experiment_branches;
struct host_policy;
struct isolate_fork;
struct own_metrics;
struct registry_guest;

struct experiment_input {            /* a file that the experiment was made from */
    const char *path;           /* as it was opened */
    uint64_t hash;              /* of its bytes, for provenance */
};

/* A cell of the sweep: what all policies meet there. */
struct experiment_point {
    const char *label;          /* "arrival.rate=4/h", or "base" */
    const struct cluster_spec *cluster; /* shared with points of the same keys */
    const struct workload_spec *workload;   /* likewise */
    const struct host_policy *const *policy;    /* by policy index */
    bool by_step;               /* fidelity: step */
    uint64_t cluster_hash, workload_hash;
    const uint64_t *policy_hash;    /* by policy index; like the others, of the keys */
    /* By policy index: the point as that policy meets it, with the cluster and
     * the workload that its `with:` makes.  Without `with:` the point itself. */
    const struct experiment_point *const *met;
};

/* A swept key, "workload.arrival.rate", and what labels of points call it,
 * "arrival.rate". */
struct experiment_swept {
    const char *key, *label;
};

/* One entry of `expect:`. */
struct experiment_expect {
    const char *claim;          /* or NULL */
    enum metric metric;
    const char *policy;         /* name, as in policy_name */
    const char *versus;         /* or NULL */
    const char *versus_point;   /* KEY=VALUE of the other point; or NULL */
    const char *point;          /* words of its label; NULL: every point */
    double low, high;           /* -INFINITY, INFINITY: no limit */
    bool percent;               /* of the mean of the other */
    double confidence;          /* of the interval that the verdict is judged by, 0 to 1 */
    /* Needed for a verdict, where anything is drawn; 0: no bound. */
    uint32_t seeds_min;         /* seeds with a value */
    uint32_t trials_min;        /* trials, with or without a value */
    /* Of the entry and of its keys. */
    struct err_pos pos, policy_pos, versus_pos, point_pos, versus_point_pos;
};

/* One of `options:`; its name is that of a policy in all results. */
struct experiment_choice {
    const char *name, *policy;  /* of the entry of `policies:` that it runs */
    const char *set;            /* its keys, as one line of YAML; "": none */
};

/* A condition that an option must keep, of `decide:`. */
struct experiment_keep {
    enum metric metric;
    double low, high;           /* -INFINITY, INFINITY: no limit */
};

/* How one of the options is chosen. */
struct experiment_decide {
    const struct experiment_choice *choice;     /* the first is compared with */
    uint32_t choice_count;      /* 0: the experiment has no options */
    enum metric metric;         /* the best mean is taken */
    const struct experiment_keep *keep; /* [keep_count]: an option must keep all */
    uint32_t keep_count;
    double quantile;            /* of the seeds, to tell a bad one by */
};

/* `seeds: {until: ...}`: when there are enough. */
struct experiment_stop {
    enum looks_rule rule;       /* LOOKS_NONE: seeds are a number */
    const char *text;           /* "±2%" or "decided" */
    double percent;             /* of the baseline's mean; LOOKS_WIDTH */
    const enum metric *metric;  /* [metric_count]: each must be known well enough */
    uint32_t metric_count;
    uint32_t at_most;           /* seeds, if that never happens */
    bool reached;               /* once it was run, */
    const char *why;            /* in words */
};

/* What options of the command line changed. */
struct experiment_option {
    bool fewer_seeds;           /* than the file says: --seeds */
    bool audit_full;            /* --audit full */
};

/* The whole experiment, as read.  All pointers lie in the arena of experiment_read(). */
struct experiment {
    const char *path;           /* of the experiment file */
    const char *name;           /* key `experiment`: of the results too */
    const char *description;    /* or NULL */
    uint64_t seed;              /* of all random streams, with a seed's number */
    uint32_t seeds;             /* the most, until they were run */
    struct experiment_stop stop;    /* when there are enough seeds */
    int64_t until_ns, warmup_ns, stalled_ns;    /* as in struct trial_spec */
    uint64_t event_count_max;   /* of a trial: a bound against runs without end */
    struct trial_processes process; /* limits for trials in processes of their own */

    const struct experiment_point *point;   /* [point_count], in the order of the sweep */
    uint32_t point_count;
    const struct experiment_swept *swept;       /* in the order of the labels */
    uint32_t swept_count;
    const char *const *policy_name; /* [policy_count], in the order of the results */
    uint32_t policy_count;
    uint32_t file_policy_count; /* the first of them are the file's, and the others
                                   what `controls:` adds */
    uint32_t baseline;          /* UINT32_MAX: it is not among the policies */
    const char *const *left_out;        /* policies of the file, by --only;
                                           ends with NULL */
    struct experiment_option option;    /* for provenance, and for what check says */

    const char *dir;            /* where results go: key `dir` of `output`, or -o */
    uint32_t tables;            /* enum experiment_table */
    const char *const *plot;    /* [plot_count]: names of figures */
    size_t plot_count;
    bool perfetto;              /* a trace for ui.perfetto.dev is written */
    int64_t timeline_step_ns;   /* between two rows of timeline.csv; 0: widened as the run goes
                                   on */
    uint32_t detail_seeds;      /* seeds with phases, timeline, decisions */

    const struct own_metrics *own;      /* never NULL */
    const struct experiment_expect *expect; /* [expect_count], in the order of the file */
    uint32_t expect_count;
    struct experiment_decide decide;    /* which of `options:` is the best */
    const struct conf_node *train;      /* or NULL; so the next three */
    const struct conf_node *border, *sensitivity, *tune;
    bool tuned;                 /* policies are tuned before the run */
    const uint64_t *searched;   /* trials of that search, kept until the run ends */
    uint32_t searched_count;
    const struct conf_node *tree;       /* what was read, all files in it */
    const struct catalogue *catalogue;  /* built-in entries and those of the files */
    uint64_t catalogue_hash;    /* of the files that add to it */
    uint64_t program_hash;      /* of the program's own file; 0: unknown */
    const struct experiment_input *input;    /* in the order they were met */
    size_t input_count;
};

/* A dotted key and the value that it gets, as YAML. */
struct experiment_setting {
    const char *key, *text;
};

/* The command line's part. */
struct experiment_options {
    const char *const *set;     /* "KEY=VALUE" */
    size_t set_count;
    uint32_t seeds;             /* 0: as the file says */
    const char *only;           /* "a,b" or NULL */
    const char *dir;            /* or NULL */
    uint64_t program_hash;      /* 0: of the program's own file */
    const char *text;           /* of the file, which need not be there: `path` is then
                                   its name in messages.  NULL: it is read */
    const char *policies;       /* a list as YAML, instead of the file's: the name of one
                                   of its policies stands for that; or NULL */
    const struct experiment_branches *branches; /* one policy, forked; or NULL */
    const struct registry_guest *guest; /* policies that the caller brings; `written` is
                                           their name */
    size_t guest_count;
    const struct isolate_fork *fork;    /* what hears of forks for trials; or NULL */
    /* One point alone, by its label, with these settings there: as if their keys
     * were swept too, and each had this one value.  `expect:` is not read.
     * NULL: all points, and no settings. */
    const char *point;
    const struct experiment_setting *setting;
    size_t setting_count;
    /* Checks a part that only some commands read, so that its errors are
     * reported with all others; NULL: none. */
    bool (*check)(struct arena *arena, const struct experiment *experiment,
                  struct err *err);
};

/* Reads a file with the options.  All memory comes from the arena; texts of the options
 * must live as long.  Loads policies from files (which may start programs) and reads
 * traces, so it may take seconds.  NULL: err says why, and err->next what else is wrong. */
const struct experiment *experiment_read(struct arena *arena, const char *path,
                                         const struct experiment_options *options,
                                         struct err *err);

/* Is it a key that can be swept?  False: err says what `what` ("a swept key") must be. */
bool experiment_key_check(const char *key, const char *what, struct err_pos pos,
                          struct err *err);

/* In the message about a key of `with:` or `set:` that has its value anyway. */
#define EXPERIMENT_IDLE_WITH "changes nothing: it has this value anyway"

/* Returns where the policy of that name stands in the file: the entry of `policies:` or
 * `options:`, or the list.  Line 0: it is in no file. */
struct err_pos experiment_policy_pos(const struct experiment *experiment, const char *policy);

/* Returns the built-in metrics and the experiment's own. */
const struct metric_set *experiment_metrics(const struct experiment *experiment);
/* Finds the metric that the scalar `node` names.  False: err says what may be meant. */
bool experiment_metric(const struct experiment *experiment,
                       const struct conf_node *node, enum metric *metric,
                       struct err *err);

/* Returns points x policies x seeds, at most 2^31. */
uint32_t experiment_trial_count(const struct experiment *experiment);
struct experiment_trial {
    uint32_t point, policy, seed;   /* each counts from 0 */
};
/* Returns which cell and seed trial `index` is. */
struct experiment_trial experiment_trial(const struct experiment *experiment, uint32_t index);
/* Can the results of two seeds differ, for that point and policy?  If the
 * workload, the cluster and the policy draw nothing, all seeds are equal. */
bool experiment_draws(const struct experiment *experiment, uint32_t point, uint32_t policy);
/* Would the trial repeat the one of the first seed?  Such a trial is not
 * run. */
bool experiment_is_copy(const struct experiment *experiment, uint32_t index);
/* Returns the number of trials that are to be run: all but copies. */
uint32_t experiment_run_count(const struct experiment *experiment);
/* Returns what trial_run() needs, with `stop` NULL.  Its pointers are the experiment's. */
struct trial_spec experiment_trial_spec(const struct experiment *experiment, uint32_t index);
/* Returns a hash of everything that could change the trial's rows.  It does not depend on
 * the number of seeds, points or policies, nor on the trial's index. */
uint64_t experiment_trial_hash(const struct experiment *experiment, uint32_t index);

extern const struct conf_schema experiment_schema, experiment_plugins_schema,
                                experiment_trial_limits_schema,
    experiment_output_schema, experiment_expect_schema, experiment_seeds_schema,
    experiment_option_schema, experiment_decide_schema, experiment_keep_schema;
extern const char *const experiment_plot_names[];    /* ends with NULL */

#endif
