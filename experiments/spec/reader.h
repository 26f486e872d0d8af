/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - what the files that read an experiment share.  Private to
 * read.c, read_points.c and names.c.
 */
#ifndef EXPERIMENTS_SPEC_READER_H
#define EXPERIMENTS_SPEC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/spec/experiment.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/tree.h"
#include "policies/registry/registry.h"
#include "sim/config/mend.h"

/* Which keys of a `with:` change something at some point. */
struct acting {
    const struct conf_node *with;   /* a map */
    const char *word;           /* its key */
    bool *acts;                 /* by key */
};

/* One reading of a file; read_root() begins anew with all but inputs, mend, guests,
 * and what --set has made of the tree. */
struct reader {
    struct arena *arena;        /* of the experiment */
    struct experiment *experiment;  /* the result, filled step by step */
    struct experiment_inputs inputs;    /* files that were read, with hashes of their bytes */
    const struct experiment_options *options;   /* of the caller */
    const struct conf_node *root;       /* with --set, before the sweep */
    const struct conf_node *written;    /* `policies:` of the file, or NULL */
    int64_t file_seeds;                 /* as the file says, without --set */
    size_t file_policies;               /* without those of `controls:` */
    struct experiment_top top;  /* keys of the file's top level */
    struct experiment_point *point; /* [points]; experiment->point once they are all read */
    const struct conf_node *swept;      /* map of the swept keys, or NULL */
    /* Those of which the cluster or the workload was read, not shared. */
    const struct experiment_point **known;
    size_t known_count, known_room;
    struct acting *acting;      /* each `with:` that was met */
    size_t acting_count, acting_room;
    /* Entries of `policies:` that were read, to be checked once all points are there. */
    struct read_entry { const struct host_policy *policy; const struct conf_node *node; } *entry;
    size_t entry_count, entry_room;
    struct conf_mend mend;      /* the tree, and how wrong keys were replaced to read on */
    struct experiment empty;    /* the experiment before any reading */
    bool set;                           /* --set is in mend.root */
    struct registry_guests guests;      /* policies from files */
};

/* Fills two lists of names, in the order of the file: the policies that are run, and the
 * policies that --only leaves out.  False, with err: no policy is run, or a name is wrong or
 * given twice. */
bool reader_names(struct reader *r, struct err *err);
/* Finds the policy that `baseline:` names; without the key it is the first one, whether
 * --only keeps it or not.  False, with err: it is no policy of the file. */
bool reader_baseline(struct reader *r, struct err *err);
/* Checks the names of policies and points in `expect:`, once all points are read; expects.c has
 * checked the rest.  False, with err: one of them names nothing. */
bool reader_expects(struct reader *r, struct err *err);
/* Reads all points of the sweep into r->experiment, with the policies that
 * reader_names() found.  The top, the catalogue and the names of policies are there
 * already.  False, with err: a point is wrong, or two have one label. */
bool reader_points(struct reader *r, struct err *err);

#endif
