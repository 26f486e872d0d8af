/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guest.h - what is known of a program, and of its trial.  Private to
 * experiments/exec.
 */
#ifndef EXPERIMENTS_EXEC_GUEST_H
#define EXPERIMENTS_EXEC_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/exec/line.h"
#include "policies/policy.h"

struct arena;
struct json;
struct talk;

/* The order in which tasks wait. */
#define EXEC_KEYS_MAX 6u
/* What tasks may be ordered by; the names are in hello.c. */
enum exec_key {
    EXEC_BY_JOB, EXEC_BY_SUBMIT, EXEC_BY_READY, EXEC_BY_ESTIMATE, EXEC_BY_GPUS,
    EXEC_BY_PRIORITY, EXEC_KEY_COUNT
};

/* A key that an entry of `policies:` may have for the program, as it declares it. */
#define EXEC_PARAMS_MAX 24u
struct exec_param {
    char key[41], fallback[81], help[161]; /* as in struct cs_param */
    char words[161];            /* of a choice, a blank between them */
    int kind;                   /* enum cs_param_type */
    double min, max;            /* both 0: no range */
};

/* What a program says of itself. */
struct exec_self {
    char name[41], summary[121]; /* of the policy */
    uint32_t flags;             /* CS_ bits, of policy.h */
    enum exec_key key[EXEC_KEYS_MAX]; /* the first decides, then the next ... */
    bool falls[EXEC_KEYS_MAX];  /* the largest first */
    uint32_t key_count;
    bool threads;               /* it is not to share a processor */
    bool reuse;                 /* after `end` it waits for the next hello */
    bool speaks;                /* it said which version of the protocol */
    struct exec_param param[EXEC_PARAMS_MAX];
    uint32_t param_count;       /* of `param` */
};

/* A program, from the reading of the experiment to its end.  It lies in an arena of the
 * experiment. */
struct exec_guest {
    struct cs_policy table;     /* first: a pointer to it is one to all */
    char *const *word;          /* ends with NULL */
    const char *folder;         /* in which it runs */
    int64_t limit_ns;           /* of wall time, for an answer */
    struct exec_self self;      /* as it said of itself when the experiment was read */
    /* In the process of a trial: the program that is lent to it, and whether it has served
     * another trial; NULL: the trial starts one. */
    struct talk *stand;
    bool served;
};

/* A role that waits, or whose lease is idle; role CS_ALL_ROLES: the whole job. */
struct exec_task {
    uint32_t job, role;
};

/* What a request asks for; questions come last, from EXEC_earliest on.  The list is verbs.def. */
enum exec_verb {
#define VERB(NAME, OF, NEEDS, TAKES) EXEC_##NAME,
#include "experiments/exec/verbs.def"
#undef VERB
    EXEC_VERB_COUNT
};

/* One item of `do`. */
struct exec_request {
    enum exec_verb verb;        /* which of the members below count */
    int64_t number;             /* the value of its verb */
    uint32_t role;              /* CS_ALL_ROLES: not said */
    int64_t delay_ns;           /* of take_back; 0: not said */
    int64_t alike;              /* of tried: enum cs_alike */
    bool wants;                 /* want[0] is said */
    struct cs_want want[FORM_ROLES_MAX]; /* [0] for all; or one for each role */
    uint32_t role_wants;        /* 0: `roles` is not said */
};

enum exec_again { EXEC_NEVER, EXEC_REFUSED, EXEC_ALWAYS };

/* An answer. */
struct exec_answer {
    struct exec_request *request;   /* [count], in the order in which they are carried out */
    uint32_t count, room;       /* requests of this answer; entries, used again */
    bool skip;                  /* a refused request does not end the list */
    enum exec_again again;      /* when to ask once more in this decision */
};

/* Numbers in a growing array, malloc'ed. */
struct exec_ids {
    uint32_t *item, count, room;
};

/* Of a trial: `self` of its policy. */
struct exec {
    const struct exec_guest *guest; /* shared by all trials of the process */
    struct arena *arena;        /* of what lives as long as the trial; owned */
    struct talk *talk;          /* the program of this trial; owned */
    struct json *json;          /* reads answers; in the arena */
    int64_t number;             /* of the message that was sent last */
    struct line out, verdicts;  /* the message that is built; what requests were answered */
    struct exec_answer answer;  /* the last one; its memory is used again */
    bool again;                 /* the next message goes on with a decision */

    /* Bit r: role r waits, and the program knows; 6: the whole job; 7: it lives. */
    uint8_t *job;
    uint32_t job_room, job_count; /* entries of `job`; jobs that were submitted */
    uint32_t waits;             /* tasks that the program knows to wait */
    struct exec_task *task;     /* per phase: these */
    uint32_t task_count, task_room;
    uint32_t *seen, seen_room;  /* per phase: by job and role, the last message that
                                   found it waiting */
    const struct job_form **form; /* by the number that the program knows it by */
    uint32_t form_count, form_room; /* of `form` */
    /* News since the last message. */
    struct exec_ids submitted, ended;   /* jobs */
    struct exec_ids fresh;      /* places in the order of what waits: not yet told */
    struct exec_task *idle;     /* roles whose leases became idle */
    uint32_t idle_count, idle_room; /* of `idle` */
    struct task_id candidate;   /* of `next`, as long as nothing was carried out */
    bool failed;                /* cs_fail() was called: nothing more is asked */
};

/* Where values of parameters lie in `self`: behind struct exec and the text of `exec:`,
 * 8 bytes each. */
static inline size_t exec_param_at(uint32_t i)
{
    return sizeof(struct exec) + 8 * (1 + (size_t)i);
}

/* Wall time at least for the answer to hello: an interpreter starts meanwhile. */
#define EXEC_GREET_NS INT64_C(20000000000)

#define EXEC_LIVES 0x80u
#define EXEC_WHOLE 0x40u

/* The bit of a task among those of its job. */
static inline uint8_t exec_bit(uint32_t role)
{
    return role == CS_ALL_ROLES ? EXEC_WHOLE : (uint8_t)(1u << role);
}

#endif
