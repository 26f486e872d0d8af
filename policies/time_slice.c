/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_slice.c - time slicing: while jobs wait, all take turns of one quantum.
 *
 * The suspend-resume of Gandiva (Xiao et al., OSDI 2018), whose quantum is a
 * minute: early feedback for every job at the price of switches.  At the end
 * of a quantum those who have not run for longest go first; in between, what
 * is free goes to the next in turn and nobody is stopped.  Gandiva also packs
 * jobs on one GPU, migrates and grows them by profiled progress; none of that
 * is here.  Bad for the mean: jobs of like length all end late.
 */
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy time_slice_policy;

struct time_slice {
    int64_t quantum_ns;
    int64_t end_ns;             /* of the present quantum */
    int64_t *ran_ns;            /* by job: when it last ran, or came, + 1 */
    uint32_t room;
};

static const struct cs_param time_slice_param[] = {
    { .key = "quantum", .type = CS_PARAM_TIME,
      .offset = offsetof(struct time_slice, quantum_ns),
      .min = 0.001, .max = 1e9, .fallback = "60s",
      .help = "how long a turn is while jobs wait" },
};

static void time_slice_job_submitted(void *self, struct cs_host *host,
                                     struct job_id job)
{
    struct time_slice *ts = self;

    if (job.i >= ts->room) {
        uint32_t more = ts->room ? ts->room : 256;
        while (more <= job.i)
            more *= 2;
        int64_t *grown = cs_alloc(host, more, sizeof *grown);
        if (ts->room)
            memcpy(grown, ts->ran_ns, ts->room * sizeof *grown);
        ts->ran_ns = grown;
        ts->room = more;
    }
    ts->ran_ns[job.i] = cs_now_ns(host) + 1;
}

static double time_slice_key(const void *self, const struct cs_host *host,
                             struct job_id job)
{
    const struct time_slice *ts = self;

    (void)host;
    return (double)(ts->ran_ns[job.i] - 1);
}

static double time_slice_per_ns(const void *self, const struct cs_host *host,
                                struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 1;                   /* whoever runs, ran now */
}

static const struct cs_motion time_slice_motion = {
    .key = time_slice_key, .per_ns = time_slice_per_ns, .rises = true,
    .exact = true
};

/* Of a job that has just come the news was not told yet: it is the last. */
static int64_t time_slice_ran(const struct time_slice *ts, uint32_t job)
{
    return job < ts->room && ts->ran_ns[job] > 0 ? ts->ran_ns[job] - 1
                                                 : INT64_MAX;
}

/* Who has not run for longest; it stands still while one waits. */
static bool time_slice_before(const void *self, const struct cs_host *host,
                              struct ask_id a, struct ask_id b)
{
    uint32_t x = cs_ask(host, a)->job.i, y = cs_ask(host, b)->job.i;
    int64_t of_x = time_slice_ran(self, x), of_y = time_slice_ran(self, y);

    return of_x < of_y || (of_x == of_y && x < y);
}

static void time_slice_fill(struct cs_host *host)
{
    uint32_t i = 0;

    while (cs_free_gpus(host, 0) > 0) {
        struct cs_filter filter = { .gpus_max = cs_free_gpus(host, 0),
                                    .estimate_max_ns = INT64_MAX,
                                    .startable = true };
        i = cs_find_pending(host, i, &filter);
        if (i >= cs_pending_count(host))
            return;
        if (cs_start(host, cs_pending(host, i)) != CS_DONE)
            i++;                /* what was started leaves: i is the next */
    }
}

static void time_slice_decide(void *self, struct cs_host *host)
{
    struct time_slice *ts = self;
    int64_t now = cs_now_ns(host);

    for (uint32_t i = 0; i < cs_running_count(host); i++)
        ts->ran_ns[cs_running(host, i).i] = now + 1;
    if (now < ts->end_ns)
        time_slice_fill(host);
    else if (cs_pending_count(host) > 0)    /* else all run as they do */
        cs_deal_moving(host, &time_slice_motion);
    if (cs_pending_count(host) == 0) {
        ts->end_ns = now;       /* the next to come may run at once */
        return;
    }
    if (now >= ts->end_ns)
        ts->end_ns = now + ts->quantum_ns;
    cs_wake_at(host, ts->end_ns);
}

const struct cs_policy time_slice_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "time-slice",
    .summary = "all jobs take turns of one quantum, preempting",
    .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct time_slice),
    .param = time_slice_param,
    .param_count = sizeof time_slice_param / sizeof time_slice_param[0],
    .before = time_slice_before,
    .decide = time_slice_decide,
    .job_submitted = time_slice_job_submitted,
};
