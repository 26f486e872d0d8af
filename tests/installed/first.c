/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * first.c - a program of a stranger: runs an experiment under two built-in policies, one
 * of its own and one from a file, and prints what came of it.
 *
 *   first FILE POLICY.c
 */
#include <clustersim/clustersim.h>
#include <stdio.h>

#include "policies/policy.h"

static bool largest(const void *self, const struct cs_host *host, struct task_id a,
                    struct task_id b)
{
    (void)self;
    return cs_task(host, a)->gpus > cs_task(host, b)->gpus;
}

static const struct cs_policy mine = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "mine", .summary = "most GPUs first", .before = largest,
};

static void count(void *self, const struct clustersim_trial *trial)
{
    double jct_s;

    if (trial->index == *(unsigned *)self && trial->error == NULL && !trial->copy &&
        clustersim_metric(trial, "jct_mean_s", &jct_s) && jct_s > 0)
        ++*(unsigned *)self;
}

static void print_rows(const struct clustersim_table *summary)
{
    const struct clustersim_column *policy = clustersim_column(summary, "policy");
    const struct clustersim_column *seed = clustersim_column(summary, "seed");
    const struct clustersim_column *jct = clustersim_column(summary, "jct_mean_s");

    for (size_t i = 0; i < summary->row_count; i++)
        printf("%s,%.0f,%s,%s\n", policy->text[i], seed->number[i], jct->text[i], jct->unit);
}

int main(int argc, char **argv)
{
    static const struct cs_policy *const table[] = { &mine };
    struct clustersim_options options = { .size_bytes = sizeof options };
    unsigned told = 0;
    struct clustersim *run;
    char policies[400];

    if (argc < 3)
        return 2;
    snprintf(policies, sizeof policies, "[fcfs, sjf, mine, {policy: %s, name: file}]",
             argv[2]);
    options.policies = policies;
    options.seeds = 3;
    options.table = table;
    options.table_count = 1;
    options.self = &told;
    options.trial_ended = count;
    run = clustersim_run(argv[1], &options);
    if (clustersim_error(run) != NULL) {
        fputs(clustersim_error_text(run, clustersim_error(run)), stderr);
        return clustersim_error(run)->status;
    }
    print_rows(clustersim_table(run, "summary"));
    printf("trials %u\n", told);
    clustersim_free(run);
    return 0;
}
