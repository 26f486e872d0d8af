/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * never.c - asks policies which jobs they never start.
 */
#include "experiments/preflight/never.h"

#include <assert.h>

#include "experiments/preflight/abilities.h"
#include "experiments/process/isolate.h"
#include "models/jobs/job.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* Seconds of a processor that never() of a policy may take for all jobs. */
#define NEVER_CPU_S 60u

bool never_starts(const struct never_asked *asked, const struct job_request *request,
                  struct err *err)
{
    const struct cs_policy *policy = asked->policy->policy;
    const void *params = asked->policy->params;
    const char *why = asked->silent || policy->never == NULL || params == NULL
        ? NULL : policy->never(params, request, asked->gpu_count);

    assert(request->form->role_count > 0);
    if (why == NULL)
        return abilities_bar(asked->policy, asked->name, request, err);
    err_set(err, ERR_RANGE, request->form->role[0].pos,
            "%s can never start under policy %s: %s", request->form->name,
            asked->name, why);
    return true;
}

/* What the child process works on. */
struct asking {
    const struct never_asked *asked;
    const struct job_request *request;
    uint32_t count;             /* of `request` */
};

/* The child's part: asks for every job and forgets the answers; that it comes to
 * its end is what is tested. */
static void ask_never(void *self)
{
    const struct asking *asking = self;
    struct err err = { 0 };

    isolate_limit_cpu(NEVER_CPU_S);
    for (uint32_t i = 0; i < asking->count; i++)
        (void)never_starts(asking->asked, &asking->request[i], &err);
}

bool never_answers(const struct never_asked *asked, const struct job_request *request,
                   uint32_t count, struct err *err)
{
    struct asking asking = { asked, request, count };
    struct err_pos nowhere = { 0 };
    struct arena *scratch;
    struct isolate *isolate;
    struct isolate_end end;

    if (!asked->policy->guest || asked->policy->policy->never == NULL)
        return true;
    isolate = isolate_new(1, 0);
    end = isolate_run(isolate, ask_never, &asking);
    isolate_free(isolate);
    if (end.done)
        return true;
    scratch = arena_new(0);
    err_set(err, ERR_POLICY, nowhere, "policy %.40s: its never() %s; which jobs "
            "it cannot run is not known", asked->name, isolate_why(scratch, &end));
    arena_free(scratch);
    return false;
}
