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
    int64_t *ran_ns;            /* by job: when it last ran, or came */
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
    ts->ran_ns[job.i] = cs_now_ns(host);
}

static double time_slice_key(const void *self, const struct cs_host *host,
                             struct job_id job)
{
    const struct time_slice *ts = self;

    (void)host;
    return (double)ts->ran_ns[job.i];
}

/* Who has waited longest, of those that fit and were not tried. */
static struct ask_id time_slice_next(const struct time_slice *ts,
                                     const struct cs_host *host,
                                     int64_t after_ns, uint32_t after_job)
{
    struct ask_id best = { ID_NONE };
    int64_t best_ns = 0;
    uint32_t best_job = 0;

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct ask_id ask = cs_pending(host, i);
        uint32_t job = cs_ask(host, ask)->job.i;
        int64_t ran = ts->ran_ns[job];
        bool later = ran > after_ns || (ran == after_ns && job > after_job);
        bool sooner = best.i == ID_NONE || ran < best_ns ||
                      (ran == best_ns && job < best_job);

        if (later && sooner) {
            best = ask;
            best_ns = ran;
            best_job = job;
        }
    }
    return best;
}

static void time_slice_fill(const struct time_slice *ts, struct cs_host *host)
{
    int64_t after_ns = -1;
    uint32_t after_job = 0;

    while (cs_free_gpus(host, 0) > 0) {
        struct ask_id ask = time_slice_next(ts, host, after_ns, after_job);

        if (ask.i == ID_NONE)
            return;
        after_job = cs_ask(host, ask)->job.i;
        after_ns = ts->ran_ns[after_job];
        cs_start(host, ask);
    }
}

static void time_slice_decide(void *self, struct cs_host *host)
{
    struct time_slice *ts = self;
    int64_t now = cs_now_ns(host);

    for (uint32_t i = 0; i < cs_running_count(host); i++)
        ts->ran_ns[cs_running(host, i).i] = now;
    if (now < ts->end_ns)
        time_slice_fill(ts, host);
    else
        cs_deal(host, time_slice_key);
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
    .decide = time_slice_decide,
    .job_submitted = time_slice_job_submitted,
};
