/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch_log_test.c - `clustersim import` of what batch systems account: the
 * samples of workloads/traces, whose jobs were worked out by hand, and lines
 * that are wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "tests/aid/import_aid.h"
#include "workloads/logs/kube_read.h"

#define SACCT "JobID|Account|State|Submit|Start|End|Timelimit|ReqTRES|" \
    "AllocTRES\n"
#define SGE(TASK, H_RT) SGE_AT("1", "10:20:30", TASK, H_RT)
#define SGE_AT(ID, TIMES, TASK, H_RT) "q:n:g:u:j:" ID ":sge:0:" TIMES ":0:0:" \
    "0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:p:d:NONE:1:0:0:0:0:" \
    "-l gpu=1,h_rt=" H_RT ":0.0:" TASK ":0:0:0\n"
#define SACCT_JOB(ID, TRES) ID "|a|COMPLETED|2026-01-12T08:00:00|" \
    "2026-01-12T08:00:10|2026-01-12T08:01:00|01:00:00|" TRES "|" TRES "\n"

/* Imports a file of the tree; what it wrote must be these jobs, and the report
 * say these lines, and again in the file beside it. */
static void check_sample(const struct program *program, const char *format,
                         const char *file, const char *const *more,
                         const char *csv, const char *const *lines)
{
    char path[160], *said, *text;

    assert_int_equal(import(program, format, file, more, &said), 0);
    text = program_read(in_folder(program, "w.csv", path));
    assert_string_equal(text, csv);
    free(text);
    text = program_read(in_folder(program, "w.report.txt", path));
    for (; *lines; lines++) {
        has(said, *lines);
        has(text, *lines);
    }
    assert_int_equal(strncmp(said, text, strlen(text)), 0);
    free(text);
    free(said);
}

static void sacct_folds_steps_and_tells_the_rest(void **state)
{
    static const char *const more[] = {
        "--sort", "--skip", "never_ran,still_running", NULL };
    static const char *const lines[] = {
        "rows         11\njobs         8\n",
        "  2 rows left out: never_ran\n", "  1 rows left out: still_running\n",
        "  3 lines are steps of jobs", "  1 jobs were eligible later",
        "  1 jobs ran for another time (Elapsed)",
        "  4 jobs asked for GPU type a100", NULL };

    check_sample(the_program(state), "sacct", "workloads/traces/sacct.txt",
                 more,
                 "job,submit_s,run_s,gpus,limit_s,tenant,cores,memory_mib,"
                 "gpu_types\n"
                 "4101,1768204800,10800,4,28800,nlp,32,262144,a100\n"
                 "4102_1,1768205400,1800,1,3600,vision,8,65536,\n"
                 "4102_2,1768205400,90,1,3600,vision,8,65536,\n"
                 "4103,1768206600,86424,16,86400,nlp,,,a100\n"
                 "4106,1768209300,3600,0,0,physics,16,32768,\n"
                 "4107,1768209600,4800,2,14400,vision,16,131072,a100\n"
                 "4108,1768212000,2700,1,28800,vision,4,16384,\n"
                 "4104,1768302031,1200,1,0,nlp,8,32768,\n", lines);
}

static void pbs_reads_select_and_nodes(void **state)
{
    static const char *const more[] = { "--sort", NULL };
    static const char *const lines[] = {
        "rows         3\njobs         3\n",
        "  1 records are of type Q, not E", "  1 jobs were eligible later",
        "  1 jobs do not state ngpus", "  1 jobs have their account as tenant",
        NULL };

    check_sample(the_program(state), "pbs", "workloads/traces/pbs.txt", more,
                 "job,submit_s,run_s,gpus,limit_s,tenant,cores,memory_mib,"
                 "gpu_types\n"
                 "4101.pbs,1768204800,10800,4,28800,nlp,32,262144,\n"
                 "4102[2].pbs,1768205400,90,1,3600,vision lab,8,65536,v100\n"
                 "4103.pbs,1768215606,86424,8,86400,nlp,,,\n", lines);
}

static void sge_reads_the_options_of_a_job(void **state)
{
    static const char *const more[] = { "--skip", "gpus_not_positive", NULL };
    static const char *const lines[] = {
        "rows         4\njobs         3\n",
        "  1 jobs ask for GPUs and several slots",
        "  3 jobs have no project", "  1 jobs: failed or were cancelled", NULL };

    check_sample(the_program(state), "sge", "workloads/traces/sge.txt", more,
                 "job,submit_s,run_s,gpus,limit_s,tenant,cores,memory_mib,"
                 "gpu_types\n"
                 "4101,1768204800,10800,4,28800,llm,,,a100\n"
                 "4102.1,1768205400,1800,1,3600,vision,1,0,\n"
                 "4102.2,1768205400,90,1,3600,vision,1,0,\n", lines);
}

/* Times above 1e11 are milliseconds: so say three of the second job, which counts once. */
static void sge_reads_seconds_and_milliseconds(void **state)
{
    static const char *const more[] = { NULL };
    static const char *const lines[] = {
        "rows         2\njobs         2\n",
        "  1 jobs have times in milliseconds, as Univa writes them", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in),
               SGE_AT("1", "1768204800:1768204810:1768204900", "NONE", "60")
               SGE_AT("2", "1768204801500:1768204811500:1768204901750", "NONE", "60"));
    check_sample(the_program(state), "sge", in, more,
                 "job,submit_s,run_s,gpus,limit_s,tenant,cores,memory_mib\n"
                 "1,1768204800,90,1,60,p,1,0\n2,1768204801.5,90.25,1,60,p,1,0\n", lines);
}

static void kube_groups_pods_by_their_owner(void **state)
{
    static const char *const more[] = { "--skip", "still_running", NULL };
    static const char *const lines[] = {
        "rows         5\njobs         4\n", "  1 rows left out: still_running\n",
        "  1 jobs are of several pods of one owner\n",
        "quotas: \"team-a=12 team-b=4\"", "  2 queues are of cohort research",
        NULL };

    check_sample(the_program(state), "kube", "workloads/traces/kube.yml", more,
                 "job,submit_s,run_s,gpus,tenant,cores,memory_mib,gpu_types\n"
                 "nlp/train,1768204800,7200,8,team-a,,,"
                 "NVIDIA-A100-SXM4-80GB\n"
                 "vision/eval,1768208400,600,1,vision,4,15258,\n"
                 "nlp/sft,1768210800,3600,4,team-a,,,\n"
                 "physics/mpi,1768212600,1800,4,batch,,,\n", lines);
}

/* The same pods as JSON; the one that is repeated after a failure does not count
 * twice. */
static void kube_reads_json_and_repeated_pods(void **state)
{
#define POD(NAME, FROM, TO, PHASE) \
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"" \
    NAME "\", \"creationTimestamp\": \"" FROM "\", \"ownerReferences\": " \
    "[{\"kind\": \"Job\", \"name\": \"j\", \"controller\": true}]}, " \
    "\"spec\": {\"containers\": [{\"resources\": {\"limits\": {" \
    "\"nvidia.com/gpu\": \"2\"}}}]}, \"status\": {\"phase\": \"" PHASE \
    "\", \"startTime\": \"" FROM "\", \"containerStatuses\": [{\"state\": " \
    "{\"terminated\": {\"finishedAt\": \"" TO "\"}}}]}}"
    static const char *const none[] = { NULL };
    static const char *const lines[] = {
        "  1 jobs have pods that did not run at once",
        "  1 jobs: failed or were cancelled", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in),
               "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
               POD("j-1", "2026-01-12T08:00:00Z", "2026-01-12T08:10:00Z",
                   "Failed") ",\n"
               POD("j-2", "2026-01-12T08:10:05Z", "2026-01-12T09:00:00Z",
                   "Succeeded") "]}\n");
    check_sample(the_program(state), "kube", in, none,
                 "job,submit_s,run_s,gpus,tenant\n"
                 "default/j,1768204800,3600,2,default\n", lines);
}

#define JOB_OF(NAME, PODS) \
    "- {apiVersion: batch/v1, kind: Job, metadata: {name: " NAME ", creationTimestamp: " \
    "\"2026-01-12T08:00:00Z\"}, spec: {" PODS "template: {spec: {containers: [{resources: " \
    "{limits: {nvidia.com/gpu: 2}}}]}}}, status: {startTime: \"2026-01-12T08:00:10Z\", " \
    "completionTime: \"2026-01-12T08:01:00Z\"}}\n"

/* Eight pods may run at once, but three are to be completed: 6 GPUs.  Of eight to be
 * completed, three at once hold 6 too; without a number all eight are the job. */
static void kube_jobs_hold_no_more_pods_than_they_complete(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const lines[] = { "rows         4\njobs         4\n", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in), "items:\n"
               JOB_OF("a", "parallelism: 8, completions: 3, ")
               JOB_OF("b", "parallelism: 3, completions: 8, ")
               JOB_OF("c", "parallelism: 8, ") JOB_OF("d", ""));
    check_sample(the_program(state), "kube", in, none,
                 "job,submit_s,run_s,gpus,tenant\n"
                 "default/a,1768204800,50,6,default\ndefault/b,1768204800,50,6,default\n"
                 "default/c,1768204800,50,16,default\ndefault/d,1768204800,50,2,default\n",
                 lines);
}

#define POD_ASKING(NAME, DEVICE, MORE) \
    "{apiVersion: v1, kind: Pod, metadata: {name: " NAME ", creationTimestamp: " \
    "\"2026-01-12T08:00:00Z\"}, spec: {nodeName: n, containers: [{resources: " \
    "{requests: {cpu: 4, memory: 1Gi}, limits: {" DEVICE "}}}]" MORE "}, status: " \
    "{phase: Succeeded, startTime: \"2026-01-12T08:00:00Z\", containerStatuses: " \
    "[{state: {terminated: {finishedAt: \"2026-01-12T08:00:50Z\"}}}]}}\n"

/* Of three pods of four cores, one has no device, one a device of another name beside
 * its cores, and one claims a device: all are jobs without a GPU, and two of them are told on
 * their own. */
static void kube_tells_of_devices_that_it_does_not_read(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const lines[] = {
        "  3 jobs: ask for no GPU; they take cores and memory of a node\n",
        "  1 jobs ask for nvidia.com/gpu.shared, which is not read: it counts as no GPU\n",
        "  1 jobs ask for resourceClaims, which is not read: it counts as no GPU\n", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in), "items:\n"
               "- " POD_ASKING("a", "", "")
               "- " POD_ASKING("b", "nvidia.com/gpu.shared: 1", "")
               "- " POD_ASKING("c", "", ", resourceClaims: [{name: gpu}]"));
    check_sample(the_program(state), "kube", in, none,
                 "job,submit_s,run_s,gpus,tenant,cores,memory_mib\n"
                 "default/a,1768204800,50,0,default,4,1024\n"
                 "default/b,1768204800,50,0,default,4,1024\n"
                 "default/c,1768204800,50,0,default,4,1024\n", lines);
}

/* A pod of a class has its number, and the class alone says none; 2,000,001,000, a class of the
 * system, is told. */
static void kube_reads_priorities_of_pods(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const lines[] = {
        "  1 jobs have a priority beyond 1000000; it counts as that\n",
        "  1 jobs name a class of priority; its number stands in their pods, and without them it "
        "is not known\n", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in), "items:\n"
               "- " POD_ASKING("a", "", ", priority: 2000001000")
               "- " POD_ASKING("b", "", ", priority: -7, priorityClassName: low")
               "- " POD_ASKING("c", "", ", priorityClassName: low")
               "- " POD_ASKING("d", "", ""));
    check_sample(the_program(state), "kube", in, none,
                 "job,submit_s,run_s,gpus,tenant,priority,cores,memory_mib\n"
                 "default/a,1768204800,50,0,default,1000000,4,1024\n"
                 "default/b,1768204800,50,0,default,-7,4,1024\n"
                 "default/c,1768204800,50,0,default,0,4,1024\n"
                 "default/d,1768204800,50,0,default,0,4,1024\n", lines);
}

#define POD_OF(NAME, FROM, TO, GPUS, CORES, MEMORY) \
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"" \
    NAME "\", \"creationTimestamp\": \"" FROM "\", \"ownerReferences\": " \
    "[{\"kind\": \"Job\", \"name\": \"j\", \"controller\": true}]}, " \
    "\"spec\": {\"nodeName\": \"n\", \"containers\": [{\"resources\": {\"requests\": " \
    "{\"cpu\": \"" CORES "\", \"memory\": \"" MEMORY "\"}, \"limits\": {" \
    "\"nvidia.com/gpu\": \"" GPUS "\"}}}]}, \"status\": {\"phase\": \"Succeeded" \
    "\", \"startTime\": \"" FROM "\", \"containerStatuses\": [{\"state\": " \
    "{\"terminated\": {\"finishedAt\": \"" TO "\"}}}]}}"

/* A pod of 2 GPUs ran from 8:00 to 8:10, and two of one each from 8:20 to 8:30: both times the
 * job held 2, and of equals the more pods count, with 2 x 3 cores and 2 x 2 GiB. */
static void kube_takes_the_more_pods_of_equal_gpus(void **state)
{
#define ONE POD_OF("j-1", "2026-01-12T08:00:00Z", "2026-01-12T08:10:00Z", "2", "1", "1Gi")
#define TWO POD_OF("j-2", "2026-01-12T08:20:00Z", "2026-01-12T08:30:00Z", "1", "3", "2Gi") \
    ",\n" POD_OF("j-3", "2026-01-12T08:20:00Z", "2026-01-12T08:30:00Z", "1", "3", "2Gi")
    static const char *const none[] = { NULL };
    static const char *const lines[] = {
        "  1 jobs have pods that did not run at once", NULL };
    static const char *const order[] = { ONE ",\n" TWO, TWO ",\n" ONE };
    char in[160], text[4000];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "{\"apiVersion\": \"v1\", \"kind\": \"List\", "
                 "\"items\": [%s]}\n", order[i]);
        write_file(in_folder(the_program(state), "in", in), text);
        check_sample(the_program(state), "kube", in, none,
                     "job,submit_s,run_s,gpus,tenant,cores,memory_mib\n"
                     "default/j,1768204800,1800,2,default,6,4096\n", lines);
    }
}

/* All states that sacct has are known, a reason behind them or not; others are told. */
static void sacct_knows_the_states_of_its_manual(void **state)
{
    static const char *const known[] = {
        "COMPLETED", "BOOT_FAIL", "CANCELLED", "CANCELLED by 1003", "CANCELLED+", "COMPLETING",
        "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PENDING",
        "PREEMPTED", "REQUEUED", "RESIZING", "REVOKED", "RUNNING", "SUSPENDED", "TIMEOUT" };
    static const char *const others[] = { "BOGUS", "COMPLETE", "COMPLETEDX", "cancelled" };
    static const char *const none[] = { NULL };
    char in[160], text[400], *said;

    for (size_t i = 0; i < sizeof known / sizeof known[0] + sizeof others / sizeof others[0];
         i++) {
        size_t from = sizeof known / sizeof known[0];
        const char *name = i < from ? known[i] : others[i - from];

        snprintf(text, sizeof text, SACCT "1|a|%s|2026-01-12T08:00:00|2026-01-12T08:00:10|"
                 "2026-01-12T08:01:00|01:00:00|billing=1,cpu=8,gres/gpu=1,mem=1G,node=1|"
                 "billing=1,cpu=8,gres/gpu=1,mem=1G,node=1\n", name);
        write_file(in_folder(the_program(state), "in", in), text);
        assert_int_equal(import(the_program(state), "sacct", in, none, &said), 0);
        if ((strstr(said, "which is not known") != NULL) != (i >= from))
            fail_msg("%s: %s", name, said);
        free(said);
    }
}

/* Keys without a value are keys that are not there, however that is written.  The pod ran from
 * 8:00:00 to 8:10:00, and is a job of its own. */
static void kube_takes_no_value_for_no_key(void **state)
{
    static const char *const nothing[] = { "null", "~", "" };
    static const char *const none[] = { NULL };
    static const char *const lines[] = { "rows         1\njobs         1\n", NULL };
    char in[160], text[1000];

    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"
                 "  namespace: %s\n  ownerReferences: %s\n  labels: %s\n"
                 "  creationTimestamp: 2026-01-12T08:00:00Z\nspec:\n  nodeName: %s\n"
                 "  containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]\nstatus:\n"
                 "  phase: Succeeded\n  startTime: 2026-01-12T08:00:00Z\n"
                 "  containerStatuses: [{state: {terminated: {finishedAt: "
                 "2026-01-12T08:10:00Z}}}]\n", nothing[i], nothing[i], nothing[i], nothing[i]);
        write_file(in_folder(the_program(state), "in", in), text);
        check_sample(the_program(state), "kube", in, none,
                     "job,submit_s,run_s,gpus,tenant\n"
                     "default/p,1768204800,600,2,default\n", lines);
    }
}

/* One that waits has no times but that of its creation, which is no fault of the file. */
static void kube_leaves_out_pods_that_never_began(void **state)
{
    static const char *const more[] = { "--skip", "never_ran,still_running", NULL };
    static const char *const lines[] = { "rows         2\njobs         1\n", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in),
               "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
               "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"p\", "
               "\"creationTimestamp\": \"2026-01-12T08:00:00Z\"}, \"spec\": {\"containers\": "
               "[{\"resources\": {\"limits\": {\"nvidia.com/gpu\": \"2\"}}}]}, \"status\": "
               "{\"phase\": \"Pending\"}},\n"
               POD("j-2", "2026-01-12T08:10:05Z", "2026-01-12T09:00:00Z", "Succeeded") "]}\n");
    check_sample(the_program(state), "kube", in, more,
                 "job,submit_s,run_s,gpus,tenant\n"
                 "default/j,1768205405,2995,2,default\n", lines);
}

#define CRON_JOB(NAME, DAY, STATUS) \
    "{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": {\"name\": \"" NAME \
    "\", \"creationTimestamp\": \"" DAY "T08:00:00Z\", \"ownerReferences\": [{\"kind\": " \
    "\"CronJob\", \"name\": \"nightly\", \"controller\": true}]}, \"spec\": " \
    "{\"template\": {\"spec\": {\"containers\": [{\"resources\": {\"limits\": " \
    "{\"nvidia.com/gpu\": \"2\"}}}]}}}, \"status\": {\"startTime\": \"" DAY \
    "T08:00:10Z\", " STATUS "}}"

/* A CronJob made three Jobs: of the first its pod is there too, which ran from 8:00:05 to
 * 8:50:05, 3000 s; the next ran for an hour from 8:00:10; the last failed after 1800 s.
 * 2026-01-12T08:00:00Z is 1768204800, and a day has 86400 s. */
static void kube_jobs_of_a_cron_job_are_jobs_of_their_own(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const lines[] = { "rows         3\njobs         3\n", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in),
               "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
               CRON_JOB("j", "2026-01-12", "\"completionTime\": \"2026-01-12T08:50:06Z\"") ",\n"
               CRON_JOB("k", "2026-01-13", "\"completionTime\": \"2026-01-13T09:00:10Z\"") ",\n"
               CRON_JOB("l", "2026-01-14", "\"conditions\": [{\"type\": \"Failed\", \"status\": "
                   "\"True\", \"lastTransitionTime\": \"2026-01-14T08:30:10Z\"}]") ",\n"
               POD("j-1", "2026-01-12T08:00:05Z", "2026-01-12T08:50:05Z", "Succeeded")
               "]}\n");
    check_sample(the_program(state), "kube", in, none,
                 "job,submit_s,run_s,gpus,tenant\n"
                 "default/j,1768204805,3000,2,default\n"
                 "default/k,1768291200,3600,2,default\n"
                 "default/l,1768377600,1800,2,default\n", lines);
}

#define OWNED(KIND, NAME, UID, OWNER_KIND, OWNER, OWNER_UID) \
    "{\"apiVersion\": \"x/v1\", \"kind\": \"" KIND "\", \"metadata\": {\"name\": \"" NAME \
    "\", \"uid\": \"" UID "\", \"ownerReferences\": [{\"kind\": \"" OWNER_KIND \
    "\", \"name\": \"" OWNER "\", \"uid\": \"" OWNER_UID "\", \"controller\": true}]}}"
#define PART_JOB(NAME, UID, AT, END) \
    "{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": {\"name\": \"" NAME \
    "\", \"uid\": \"" UID "\", \"creationTimestamp\": \"" AT "\", \"ownerReferences\": " \
    "[{\"kind\": \"JobSet\", \"name\": \"llm\", \"controller\": true}]}, \"spec\": " \
    "{\"template\": {\"spec\": {\"containers\": [{\"resources\": {\"limits\": " \
    "{\"nvidia.com/gpu\": \"2\"}}}]}}}, \"status\": {\"startTime\": \"" AT \
    "\", \"completionTime\": \"" END "\"}}"
#define PART_POD(NAME, KIND, OWNER, UID, AT, END) \
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"" NAME \
    "\", \"creationTimestamp\": \"" AT "\", \"ownerReferences\": [{\"kind\": \"" KIND \
    "\", \"name\": \"" OWNER "\", \"uid\": \"" UID "\", \"controller\": true}]}, \"spec\": " \
    "{\"containers\": [{\"resources\": {\"limits\": {\"nvidia.com/gpu\": \"2\"}}}]}, " \
    "\"status\": {\"phase\": \"Succeeded\", \"startTime\": \"" AT \
    "\", \"containerStatuses\": [{\"state\": {\"terminated\": {\"finishedAt\": \"" END \
    "\"}}}]}}"

/* A JobSet of two Jobs, each of one pod of two GPUs, from 8:00:00 to 8:50:00 and from 8:00:05
 * to 8:40:00: one job of four GPUs and 3000 s.  It is the same without the pods.  Two pods of
 * two ReplicaSets of a Deployment, one after the other, are a job of two GPUs and 600 s.
 * Owners that stand in a circle do not hang it. */
static void kube_follows_owners_to_the_last(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const lines[] = { NULL };
    static const char *const pods[] = {
        PART_POD("llm-a-0", "Job", "llm-a", "u1", "2026-01-12T08:00:00Z",
                 "2026-01-12T08:50:00Z") ",\n"
        PART_POD("llm-b-0", "Job", "llm-b", "u2", "2026-01-12T08:00:05Z",
                 "2026-01-12T08:40:00Z") ",\n", "",
    };
    char in[160], text[8000];

    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
                 "%s" PART_JOB("llm-a", "u1", "2026-01-12T08:00:00Z", "2026-01-12T08:50:00Z") ",\n"
                 PART_JOB("llm-b", "u2", "2026-01-12T08:00:05Z", "2026-01-12T08:40:00Z") ",\n"
                 PART_POD("w-1", "ReplicaSet", "w-1", "u3", "2026-01-13T08:00:00Z",
                          "2026-01-13T08:05:00Z") ",\n"
                 PART_POD("w-2", "ReplicaSet", "w-2", "u4", "2026-01-13T08:05:00Z",
                          "2026-01-13T08:10:00Z") ",\n"
                 OWNED("ReplicaSet", "w-1", "u3", "Deployment", "w", "u5") ",\n"
                 OWNED("ReplicaSet", "w-2", "u4", "Deployment", "w", "u5") ",\n"
                 OWNED("A", "a", "u6", "B", "b", "u7") ",\n"
                 OWNED("B", "b", "u7", "A", "a", "u6") ",\n"
                 PART_POD("r", "A", "a", "u6", "2026-01-14T08:00:00Z", "2026-01-14T08:10:00Z")
                 "]}\n", pods[i]);
        write_file(in_folder(the_program(state), "in", in), text);
        check_sample(the_program(state), "kube", in, none,
                     "job,submit_s,run_s,gpus,tenant\n"
                     "default/llm,1768204800,3000,4,default\n"
                     "default/w,1768291200,600,2,default\n"
                     "default/b,1768377600,600,2,default\n", lines);
    }
}

/* Other spellings of sacct: Unix times, minutes, resources as before Slurm
 * 20.11, a separator at the end of each line. */
static void sacct_knows_older_columns(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const lines[] = {
        "column Eligible is absent", "column State is absent",
        "columns Account and User are absent", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in),
               "JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|"
               "ReqMem|ReqGRES|\n"
               "7|100|110|170|60|90|1|4|4000Mc|gpu:v100:2|\n"
               "8+0|200|210|310|100|UNLIMITED|2|8|4Gn|gres:gpu:4|\n");
    check_sample(the_program(state), "sacct", in, none,
                 "job,submit_s,run_s,gpus,limit_s,cores,memory_mib,gpu_types\n"
                 "7,100,60,2,5400,4,16000,v100\n8+0,200,100,8,0,,,\n", lines);
}

/* Generic resources of a node between commas: those called gpu count, 2 * 1, 2 * 2, 2 * 1
 * and (1 + 3) * 2 of them. */
static void sacct_counts_gpus_among_other_resources(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const lines[] = { "rows         4\njobs         4\n", NULL };
    char in[160];

    write_file(in_folder(the_program(state), "in", in),
               "JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|"
               "ReqMem|ReqGRES\n"
               "1|100|110|170|60|90|1|4|4G|gpu:2,mps:100\n"
               "2|200|210|310|100|90|2|4|4G|craynetwork:1,gpu:2\n"
               "3|300|310|410|100|90|1|4|4G|gpu:a100:2,shard:8,gpus:5\n"
               "4|400|410|510|100|90|2|4|4G|gres:gpu:a100:1,gres:gpu:h100:3\n");
    check_sample(the_program(state), "sacct", in, none,
                 "job,submit_s,run_s,gpus,limit_s,cores,memory_mib,gpu_types\n"
                 "1,100,60,2,5400,4,4096,\n2,200,100,4,5400,,,\n"
                 "3,300,100,2,5400,4,4096,a100\n4,400,100,8,5400,,,a100|h100\n", lines);
}

/* 65 resources: one more than is read. */
static void sacct_refuses_more_resources_than_it_reads(void **state)
{
    static const char *const none[] = { NULL };
    const struct program *program = the_program(state);
    char in[160], text[600] = "JobID|State|Submit|Start|End|Elapsed|ReqTRES|AllocTRES\n"
                              "1|COMPLETED|1|2|3|1|gpu=1", *said;

    for (int i = 0; i < 64; i++)
        strcat(text, ",a=1");
    write_file(in_folder(program, "in", in), strcat(text, "|gres/gpu=1\n"));
    assert_int_not_equal(import(program, "sacct", in, none, &said), 0);
    has(said, "in:2:21: ");
    has(said, "at most 64 resources between commas");
    free(said);
}

/* An end before the start, and a state that Slurm does not have. */
static void sacct_tells_what_cannot_be(void **state)
{
    static const char *const none[] = { NULL };
    const struct program *program = the_program(state);
    char in[160], *said;

    write_file(in_folder(program, "in", in),
               "JobID|State|Submit|Start|End|Elapsed|ReqTRES|AllocTRES\n"
               "1|WEIRD|2026-01-12T08:00:00|2026-01-12T08:00:10|"
               "2026-01-12T07:00:00|00:01:00|gres/gpu=1|gres/gpu=1\n"
               "2|CANCELLED by 7|2026-01-12T08:00:00|2026-01-12T08:00:10|"
               "2026-01-12T08:01:10|00:01:00|gres/gpu=1|gres/gpu=1\n");
    assert_int_equal(import(program, "sacct", in, none, &said), 0);
    has(said, "  1 jobs have the state 'WEIRD', which is not known; they count "
              "as failed\n");
    has(said, "  1 jobs ran for longer (Elapsed) than from Start to End");
    assert_null(strstr(said, "as if suspended"));
    free(said);
}

/* slurm.conf: CPUs that follow from sockets, and lines that take what DEFAULT has.  Blank
 * lines part its entries, and nobody asks how many. */
static void slurm_conf_has_defaults(void **state)
{
    static const char *const none[] = { NULL };
    const struct program *program = the_program(state);
    char in[160], yaml[160], *said, *text;

    write_file(in_folder(program, "in", in),
               "NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 "
               "RealMemory=1000 Gres=gpu:h100:8\n"
               "NodeName=a[1-2]\n\nNodeName=b CPUs=4 Gres=gpu:2\n\n"
               "NodeName=c Gres=(null) ThreadsPerCore=1\n");
    assert_int_equal(import(program, "slurm-nodes", in, none, &said), 0);
    has(said, "nodes        4, 3 with GPUs, in 3 groups\nGPUs         18\n");
    assert_null(strstr(said, "blank lines"));
    free(said);
    text = program_read(in_folder(program, "w.yaml", yaml));
    has(text, "{name: a1, count: 2, pool: h100, cores: 32, memory: 1000MiB");
    has(text, "{name: b, count: 1, pool: gpu, cores: 4, memory: 1000MiB");
    has(text, "{name: c, count: 1, pool: cpu, cores: 16, memory: 1000MiB");
    free(text);
}

static const struct { const char *format, *text, *said; } wrong[] = {
    { "sacct", "JobID|State\n1|x\n",
      "in:1:1: syntax error: file has no column Submit, and format sacct" },
    { "sacct", "State\nx\n", "file has no column JobID, and format sacct needs it" },
    { "sacct", "JobID|Submit|End|AllocTRES\n1|x|x|x\n",
      "file has no column Start, and format sacct needs it" },
    { "sacct", "JobID|Submit|Start|AllocTRES\n1|x|x|x\n",
      "file has no column End, and format sacct needs it" },
    { "sacct", "JobID|Submit|Start|End\n1|x|x|x\n",
      "file has no column AllocTRES or ReqTRES, and format sacct needs it" },
    { "sacct", SACCT SACCT_JOB("1", "cpu=x,gres/gpu=1"),
      "in:2:84: syntax error: ReqTRES must be NAME=COUNT between commas" },
    { "sacct", SACCT SACCT_JOB("1", "cpu=2,gres/gpu:a100=1e18"),
      "between commas, found 'gres/gpu:a100=1e18'" },
    { "sacct", SACCT "1|a|b\n",
      "in:2:1: syntax error: line has 3 fields, the header line has 9" },
    { "sacct", SACCT "1|a|COMPLETED|yesterday|x|x|x|x|x\n",
      "in:2:15: syntax error: Submit must be a date such as" },
    { "sacct", SACCT SACCT_JOB("1", "cpu=4,mem=8G,node=2"),
      "it asks for no GPU (column AllocTRES gres/gpu is \"0\")" },
    { "sacct", "", "file is empty: the header line of sacct is expected" },
    { "pbs", "08:00;1.pbs;user=a\n",
      "in:1:1: syntax error: a record of PBS must be DATE;TYPE;ID;" },
    { "pbs", "01/12/2026 08:00:00;E;1.pbs;ctime=100 start=110 end=120 "
      "Resource_List.select=two:ngpus=x\n", "Resource_List.select must be" },
    { "sge", "a:b:c\n",
      "in:1:1: syntax error: line has 3 fields, accounting of Grid" },
    { "sge", SGE("1.node7", "4") SGE("NONE", "8:00:00"),
      "in:2:106: syntax error: pe_taskid must be NONE or such as 1.node17, found" },
    { "kube", "items: [{a: 1}]\n",
      "in:1:9: schema error: an object of Kubernetes, with kind:" },
    { "kube", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: "
      "{containers: [{resources: {limits: {nvidia.com/gpu: two}}}]}}\n",
      "in:1:108: syntax error: a quantity such as 8, 500m or 64Gi is" },
    { "kube", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: "
      "{containers: [{resources: {limits: {nvidia.com/gpu: 500m}}}]}}\n",
      "in:1:108: syntax error: GPUs must be a whole number, found '500m'" },
    { "slurm-nodes", "Node x\n", "file has no NodeName=" },
    { "slurm-nodes", "NodeName=n[1-x] CPUs=4\n",
      "in:1:1: syntax error: key NodeName must list numbers" },
    { "slurm-nodes", "NodeName=n CPUs=4 RealMemory=10\n"
      "NodeName=n CPUs=4 RealMemory=10\n",
      "in:2:1: range error: node n stands above already" },
    /* 1 to 9, 05 to 12, and 5 to 12: of these 5 is there, and 05 is another one. */
    { "slurm-nodes", "NodeName=n[1-9] CPUs=4 RealMemory=10\n"
      "NodeName=n[05-12] CPUs=4 RealMemory=10\nNodeName=n[5-12] CPUs=4 RealMemory=10\n",
      "in:3:1: range error: node n5 stands above already" },
    { "slurm-nodes", "NodeName=n[1-9] CPUs=4 RealMemory=10\n"
      "NodeName=n5 CPUs=4 RealMemory=10\n",
      "in:2:1: range error: node n5 stands above already" },
    { "slurm-nodes", "NodeName=n[1-3,2] CPUs=4 RealMemory=10\n",
      "in:1:1: range error: node n2 stands above already" },
    { "slurm-nodes", "NodeName=n[1-9,5-3] CPUs=4 RealMemory=10\n",
      "in:1:1: syntax error: key NodeName must list numbers" },
    { "slurm-nodes", "NodeName=n[1-9223372036854775807] CPUs=4 RealMemory=1\n",
      "in:1:1: syntax error: key NodeName must list numbers" },
    { "slurm-nodes", "NodeName=n[1-1000000,2] CPUs=4 RealMemory=1\n", "in:1:1: range "
      "error: key NodeName must list 1 to 1000000 nodes, and lists 1000001" },
    { "slurm-nodes", "NodeName=n CPUs=4 RealMemory=2000000000\n",
      "in:1:19: range error: RealMemory must be at most 1000000000" },
    { "slurm-nodes", "NodeName=n Sockets=2 CoresPerSocket=99999\n",
      "in:1:22: range error: CoresPerSocket must be at most 4096" },
    { "slurm-nodes", "NodeName=n RealMemory=10\n",
      "in:1:1: range error: node n must have 1 to 65536 CPUs, and has 0" },
    { "slurm-nodes", "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY\n"
      "gpu01          1      gpu        idle    8    2:4:1   1000\n",
      "in:1:1: syntax error: table of sinfo has no column GRES" },
    { "slurm-nodes", "NODELIST CPUS MEMORY GRES\ngpu[01-02] 8 100 gpu:4\n",
      "in:2:1: syntax error: line has several nodes, gpu[01-02]" },
    { "slurm-nodes", "NODELIST CPUS MEMORY GRES\ngpu01 8+ 100 gpu:4\n",
      "in:2:7: syntax error: CPUs must be a whole number, found '8+'" },
    { "slurm-nodes", "NODELIST CPUS MEMORY GRES\ngpu01 8 100\n",
      "in:2:1: syntax error: line has 3 words, column GRES is number 4" },
    { "kube-nodes", "{kind: Node, metadata: {name: n}, status: {capacity: "
      "{cpu: 4, memory: 1XB}}}\n", "a quantity such as 8, 500m or 64Gi" },
    { "kube-nodes", "{kind: Node, metadata: {name: n}, status: {capacity: "
      "{cpu: 4, memory: 1Gi, nvidia.com/gpu: 0.5}}}\n",
      "in:1:92: syntax error: GPUs must be a whole number, found '0.5'" },
    { "kube-nodes", "{kind: Node, metadata: {name: n}, status: {capacity: "
      "{cpu: 1e300, memory: 1Gi}}}\n", "must have 1 to 65536 CPUs, and has 1" },
};

static void what_is_wrong_is_told_with_its_place(void **state)
{
    const struct program *program = the_program(state);
    static const char *const none[] = { NULL };
    char in[160], yaml[160], *said;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        unlink(in_folder(program, "w.yaml", yaml));
        write_file(in_folder(program, "in", in), wrong[i].text);
        assert_int_equal(import(program, wrong[i].format, in, none, &said), 3);
        has(said, wrong[i].said);
        free(said);
        assert_int_equal(access(yaml, F_OK), -1);
    }
}

/* Of chunks, and of GPUs and cores of each, there are at most a million. */
static void pbs_reads_up_to_a_million_of_each(void **state)
{
    const struct program *program = the_program(state);
    static const char *const none[] = { NULL };

    for (int i = 0; i < 3; i++)
        for (unsigned count = 1000000; count <= 1000001; count++) {
            char in[160], chunks[40], text[400], *said;
            snprintf(chunks, sizeof chunks, i == 0 ? "%u:ngpus=1" : i == 1 ? "1:ngpus=%u"
                     : "1:ngpus=1:ncpus=%u", count);
            snprintf(text, sizeof text, "01/12/2026 08:00:00;E;1.pbs;user=a queue=q "
                     "ctime=1768204800 qtime=1768204800 start=1768204810 end=1768204900 "
                     "Resource_List.select=%s Resource_List.walltime=01:00:00\n", chunks);
            write_file(in_folder(program, "in", in), text);
            int status = import(program, "pbs", in, none, &said);
            if (status != (count > 1000000 ? 3 : 0))
                fail_msg("%s: %d: %s", chunks, status, said);
            free(said);
        }
}

/* Imports lines of a log; its jobs must be these, and the report say these lines. */
static void check_lines(const struct program *program, const char *format, const char *text,
                        const char *csv, const char *const *lines)
{
    static const char *const more[] = { "--skip", "gpus_not_positive", NULL };
    char in[160];

    write_file(in_folder(program, "in", in), text);
    check_sample(program, format, in, more, csv, lines);
}

#define PBS_JOB(ID) "01/12/2026 08:05:00;E;" ID ".pbs;user=a ctime=1000 etime=1000 " \
    "start=1010 end=1310 Resource_List.ngpus=2 Resource_List.walltime=01:00:00 " \
    "Exit_status=0\n"

/* Two subjobs of 300 s on two GPUs are 1200 GPU-seconds; the record of their array,
 * which the server writes when the last has ended, adds nothing. */
static void pbs_counts_the_subjobs_of_an_array_alone(void **state)
{
    static const char *const lines[] = {
        "rows         2\njobs         2\n", "GPU-hours    0.3333333333\n",
        "  1 records are of whole arrays, whose subjobs count\n", NULL };

    check_lines(the_program(state), "pbs", PBS_JOB("7[1]") PBS_JOB("7[2]") PBS_JOB("7[]"),
                "job,submit_s,run_s,gpus,limit_s,tenant\n"
                "7[1].pbs,1000,300,2,3600,a\n7[2].pbs,1000,300,2,3600,a\n", lines);
}

/* The parts of job 8 are jobs that need not start together; jobs 9 and 10 have no GPU of
 * their own, but shares of some. */
static void sacct_tells_of_parts_of_jobs_and_of_gpus(void **state)
{
    static const char *const lines[] = {
        "rows         5\njobs         5\n",
        "  2 lines are parts of heterogeneous jobs (12+0, 12+1): each is a job of its own, "
        "and they need not start together\n",
        "  2 jobs have shares of GPUs (shard, mps), whose size is not known: they count as "
        "jobs without a GPU\n", NULL };

    check_lines(the_program(state), "sacct",
                SACCT SACCT_JOB("8+0", "cpu=1,gres/gpu=1,node=1")
                SACCT_JOB("8+1", "cpu=1,gres/gpu=4,node=1")
                SACCT_JOB("9", "cpu=4,gres/shard=2,node=1")
                SACCT_JOB("10", "cpu=4,gres/mps:a100=50,node=1")
                SACCT_JOB("11", "cpu=4,gres/gpu=1,gres/shard=0,node=1"),
                "job,submit_s,run_s,gpus,limit_s,tenant,cores,memory_mib\n"
                "8+0,1768204800,50,1,3600,a,1,0\n8+1,1768204800,50,4,3600,a,1,0\n"
                "9,1768204800,50,0,3600,a,4,0\n10,1768204800,50,0,3600,a,4,0\n"
                "11,1768204800,50,1,3600,a,4,0\n", lines);
}

/* sinfo says of the nodes what scontrol does: nodes and GPUs, written alike.  Of a node
 * of two partitions it has two lines. */
static void sinfo_says_what_scontrol_does(void **state)
{
    static const char *const tables[] = {
        "Mon Jan 12 08:00:00 2026\n"
        "NODELIST CPUS MEMORY GRES STATE\n"
        "gpu01 128 1031000 gpu:a100:8(S:0-1) idle\n"
        "gpu01 128 1031000 gpu:a100:8(S:0-1) idle\n"
        "gpu02 128 1031000 gpu:a100:8(S:0-1),nvme:1 down*\n"
        "cpu01 64 250000 (null) mixed\n",
        "GRES|HOSTNAMES|STATE|PARTITION|MEMORY|CPUS\n"
        "gpu:a100:8|gpu01|idle|all|1031000|128\n"
        "gpu:a100:8|gpu02|drng|gpu|1031000|128\n"
        "(null)|cpu01|idle|all|250000|64\n"
        "(null)|cpu01|idle|cpu|250000|64\n" };
    static const char list[] =
        "NodeName=gpu01 CPUTot=128 RealMemory=1031000 Gres=gpu:a100:8\n"
        "NodeName=gpu02 CPUTot=128 RealMemory=1031000 Gres=gpu:a100:8\n"
        "NodeName=cpu01 CPUTot=64 RealMemory=250000 Gres=(null)\n";
    const struct program *program = the_program(state);
    static const char *const none[] = { NULL };
    char in[160], yaml[160], *said, *want, *got;

    /* Without a number it is one GPU. */
    write_file(in_folder(program, "in", in), "NodeName=n CPUs=4 RealMemory=10 Gres=nvme:2,gpu\n");
    assert_int_equal(import(program, "slurm-nodes", in, none, &said), 0);
    has(said, "nodes        1, 1 with GPUs, in 1 groups\nGPUs         1\n");
    free(said);
    write_file(in_folder(program, "in", in), list);
    assert_int_equal(import(program, "slurm-nodes", in, none, &said), 0);
    free(said);
    want = program_read(in_folder(program, "w.yaml", yaml));
    has(want, "name: gpu01, count: 2");
    for (size_t i = 0; i < 2; i++) {
        write_file(in, tables[i]);
        assert_int_equal(import(program, "slurm-nodes", in, none, &said), 0);
        has(said, "nodes        3, 2 with GPUs, in 2 groups\nGPUs         16\n");
        has(said, "  1 lines name a node of a line above");
        has(said, "  1 nodes are down or drained");
        got = program_read(yaml);
        assert_string_equal(got, want);
        free(got);
        free(said);
    }
    free(want);
}

/* ", {policy: quota, ...}" of the report of an import, as it stands there; or "". */
static const char *policy_said(const char *said, char *out, size_t room)
{
    const char *from = strstr(said, "{policy: "), *to;

    out[0] = '\0';
    if (from == NULL)
        return out;
    to = strchr(from, '}');
    assert_true(to != NULL && (size_t)(to - from) + 4 < room);
    snprintf(out, room, ", %.*s", (int)(to - from + 1), from);
    return out;
}

/* In Kueue, a queue of no cohort borrows from nobody, and owns the GPUs of all its flavors;
 * one of Volcano owns what it deserves, else what it is guaranteed, else its capability, or a
 * part by its weight. */
static void kube_tells_which_queues_borrow(void **state)
{
#define VOLCANO(NAME, SPEC) "- {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, " \
    "metadata: {name: " NAME "}, spec: {" SPEC "}}\n"
#define GPUS(N) "{cpu: 100, nvidia.com/gpu: " N "}"
#define QUEUE(NAME, COHORT) "- {apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, " \
    "metadata: {name: " NAME "}, spec: {" COHORT "resourceGroups: [{flavors: [{name: f, " \
    "resources: [{name: nvidia.com/gpu, nominalQuota: 3}]}]}]}}\n"
#define JOB "- {apiVersion: v1, kind: Pod, metadata: {name: p, creationTimestamp: " \
    "'2026-01-12T08:00:00Z'}, spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}, " \
    "status: {phase: Succeeded, startTime: '2026-01-12T08:00:00Z', containerStatuses: " \
    "[{state: {terminated: {finishedAt: '2026-01-12T09:00:00Z'}}}]}}\n"
    static const struct { const char *in, *says; } is[] = {
        { "items:\n" QUEUE("a", "") QUEUE("b", "") JOB,
          "{policy: quota, quotas: \"a=3 b=3\", borrow: false}" },
        { "items:\n" QUEUE("a", "cohort: c, ") QUEUE("b", "") JOB,
          "{policy: quota, quotas: \"a=3 b=3\"}\n  1 queues are of cohort c" },
        { "items:\n" QUEUE("a", "cohort: c, ") QUEUE("b", "") JOB,
          "  1 queues are of no cohort: they borrow nothing there" },
        { "items:\n- {apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: "
          "a}, spec: {resourceGroups: [{flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
          "50}, {name: nvidia.com/gpu, nominalQuota: 3}]}, {name: g, resources: [{name: "
          "nvidia.com/gpu, nominalQuota: 4}]}]}, {flavors: [{name: h, resources: [{name: "
          "amd.com/gpu, nominalQuota: 8}, {name: memory, nominalQuota: 9Gi}]}]}]}}\n" JOB,
          "quotas: \"a=15\", borrow: false}" },
        { "items:\n" VOLCANO("a", "deserved: " GPUS("5") ", capability: " GPUS("9"))
          VOLCANO("b", "guarantee: {resource: " GPUS("6") "}, capability: " GPUS("9"))
          VOLCANO("c", "capability: " GPUS("7")) VOLCANO("d", "deserved: {cpu: 4}") JOB,
          "{policy: quota, quotas: \"a=5 b=6 c=7\"}" },
        { "items:\n" VOLCANO("a", "weight: 1") VOLCANO("b", "weight: 3")
          VOLCANO("c", "weight: 8, deserved: " GPUS("2")) JOB,
          "{policy: quota, quotas: \"a=25% b=75% c=2\"}" },
    };
    static const char *const none[] = { NULL };
    char in[160], *said;

    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
        write_file(in_folder(the_program(state), "in", in), is[i].in);
        assert_int_equal(import(the_program(state), "kube", in, none, &said), 0);
        has(said, is[i].says);
        free(said);
    }
}

/* A list of quotas that has no more than 159 characters is said. */
static void kube_says_where_queues_are_too_many_to_list(void **state)
{
    const char *const says[] = { "=3\", borrow: false}", "and are too many to list them here" };
    static const char *const none[] = { NULL };
    char in[160], name[159] = "", text[4096], *said;

    for (int more = 0; more < 2; more++) {
        memset(name, 'q', 157 + (size_t)more);
        snprintf(text, sizeof text, "items:\n"
                 "- {apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: %s}, "
                 "spec: {resourceGroups: [{flavors: [{name: f, resources: [{name: nvidia.com/gpu, "
                 "nominalQuota: 3}]}]}]}}\n" JOB, name);
        write_file(in_folder(the_program(state), "in", in), text);
        assert_int_equal(import(the_program(state), "kube", in, none, &said), 0);
        has(said, says[more]);
        free(said);
    }
}

/* The lists of nodes become clusters on which the jobs run: the type that a log
 * calls a100 is the a100-80 of the cluster. */
static void jobs_run_on_the_nodes_of_the_same_system(void **state)
{
    static const struct { const char *nodes, *list, *format, *log, *sort, *skip,
                              *done; } pair[] = {
        { "slurm-nodes", "workloads/traces/scontrol.txt", "sacct",
          "workloads/traces/sacct.txt", "--sort",
          "never_ran,still_running", "8" },
        { "kube-nodes", "workloads/traces/kube_nodes.yml", "kube",
          "workloads/traces/kube.yml", "--sort", "still_running", "4" },
    };
    const struct program *program = the_program(state);
    char cluster[160], experiment[160], cell[64], policy[200], text[400], *said, *summary;

    for (size_t i = 0; i < 2; i++) {
        const char *words[PROGRAM_ARGS_MAX] = {
            "import", pair[i].nodes, pair[i].list, "-o",
            in_folder(program, "cluster.yaml", cluster) };
        const char *more[] = { pair[i].sort, "--skip", pair[i].skip, NULL };

        assert_int_equal(run(program, words, &said), 0);
        has(said, "nodes        4, 3 with GPUs, in 3 groups\nGPUs         20\n");
        free(said);
        assert_int_equal(import(program, pair[i].format, pair[i].log, more,
                                &said), 0);
        snprintf(text, sizeof text,
                 "experiment: mine\ncluster: cluster.yaml\nworkload: w.yaml\n"
                 "policies: [fcfs%s]\noutput: {tables: [summary], plots: []}\n",
                 policy_said(said, policy, sizeof policy));
        free(said);
        write_file(in_folder(program, "e.yaml", experiment), text);
        assert_int_equal(program_experiment(program, experiment, "mine", NULL),
                         0);
        summary = program_result(program, "mine", "summary.csv");
        assert_true(csv_cell(summary, "fcfs", NULL, "jobs_done", cell,
                             sizeof cell));
        assert_string_equal(cell, pair[i].done);
        assert_int_equal(csv_cell(summary, "quota", NULL, "jobs_done", cell, sizeof cell),
                         policy[0] != '\0');
        assert_string_equal(cell, pair[i].done);
        free(summary);
    }
}

/* The suffixes of Kubernetes: thousandths, powers of 1000, powers of 1024; and exponents. */
static void quantities_are_those_of_kubernetes(void **state)
{
    static const struct { const char *text; double value; } row[] = {
        { "8", 8 }, { "0", 0 }, { "2.5", 2.5 }, { "500m", 0.5 }, { "3k", 3e3 }, { "3M", 3e6 },
        { "3G", 3e9 }, { "3T", 3e12 }, { "3P", 3e15 }, { "3Ki", 3072 },
        { "3Mi", 3.0 * 1024 * 1024 }, { "3Gi", 3072.0 * 1024 * 1024 },
        { "3Ti", 3072.0 * 1024 * 1024 * 1024 },
        { "3Pi", 3072.0 * 1024 * 1024 * 1024 * 1024 }, { "1e3", 1000 }, { "2.5E2", 250 },
    };
    static const char *const none_of_it[] = {
        "-1", "Gi", "1K", "1e", "1.2.3", "1e3k", "[1]", "e3" };
    struct arena *arena = arena_new(1 << 14);

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct err err = { 0 };
        double found = -1;
        const struct conf_node *node = conf_parse(arena, "q", row[i].text, strlen(row[i].text),
                                                  &err);
        if (!kube_quantity(node, &found, &err) ||
            fabs(found - row[i].value) > 1e-12 * row[i].value)
            fail_msg("%s: %g, expected %g", row[i].text, found, row[i].value);
        /* GPUs are whole ones. */
        assert_int_equal(kube_gpus(node, &found, &err), i != 2 && i != 3);
    }
    for (size_t i = 0; i < sizeof none_of_it / sizeof none_of_it[0]; i++) {
        struct err err = { 0 };
        double found;
        const struct conf_node *node = conf_parse(arena, "q", none_of_it[i],
                                                  strlen(none_of_it[i]), &err);
        if (kube_quantity(node, &found, &err))
            fail_msg("%s is no quantity, found %g", none_of_it[i], found);
        assert_int_equal(err.kind, ERR_SYNTAX);
    }
    arena_free(arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sacct_folds_steps_and_tells_the_rest),
        cmocka_unit_test(pbs_reads_select_and_nodes),
        cmocka_unit_test(pbs_reads_up_to_a_million_of_each),
        cmocka_unit_test(pbs_counts_the_subjobs_of_an_array_alone),
        cmocka_unit_test(sacct_tells_of_parts_of_jobs_and_of_gpus),
        cmocka_unit_test(sge_reads_the_options_of_a_job),
        cmocka_unit_test(sge_reads_seconds_and_milliseconds),
        cmocka_unit_test(kube_groups_pods_by_their_owner),
        cmocka_unit_test(kube_reads_json_and_repeated_pods),
        cmocka_unit_test(kube_reads_priorities_of_pods),
        cmocka_unit_test(kube_leaves_out_pods_that_never_began),
        cmocka_unit_test(kube_follows_owners_to_the_last),
        cmocka_unit_test(kube_jobs_of_a_cron_job_are_jobs_of_their_own),
        cmocka_unit_test(kube_tells_which_queues_borrow),
        cmocka_unit_test(kube_says_where_queues_are_too_many_to_list),
        cmocka_unit_test(sacct_knows_older_columns),
        cmocka_unit_test(sacct_counts_gpus_among_other_resources),
        cmocka_unit_test(slurm_conf_has_defaults),
        cmocka_unit_test(sinfo_says_what_scontrol_does),
        cmocka_unit_test(sacct_refuses_more_resources_than_it_reads),
        cmocka_unit_test(sacct_tells_what_cannot_be),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(jobs_run_on_the_nodes_of_the_same_system),
        cmocka_unit_test(kube_takes_the_more_pods_of_equal_gpus),
        cmocka_unit_test(kube_tells_of_devices_that_it_does_not_read),
        cmocka_unit_test(kube_jobs_hold_no_more_pods_than_they_complete),
        cmocka_unit_test(sacct_knows_the_states_of_its_manual),
        cmocka_unit_test(kube_takes_no_value_for_no_key),
        cmocka_unit_test(quantities_are_those_of_kubernetes),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
