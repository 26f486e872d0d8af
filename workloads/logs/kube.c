/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube.c - pods and jobs of Kubernetes, and the workloads and queues of Kueue
 * and Volcano, as rows of jobs.
 *
 * Pods of one controlling owner, or of one pod group, are one job: submitted
 * when the first of them was created, begun with the first, and ended with the
 * last.  It holds the most GPUs that its pods held at once, so that pods which
 * repeat one that failed do not count twice.
 *
 * Objects that say how many pods there are, and when they ran, are jobs of
 * their own where no pod of theirs is in the file: Job (batch/v1), Job of
 * Volcano, Workload of Kueue.
 *
 * The file is read whole: what kubectl prints fits into memory.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/decimal.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/notes.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "workloads/logs/kube_owners.h"
#include "workloads/logs/kube_queues.h"
#include "workloads/logs/kube_read.h"
#include "workloads/logs/record.h"

/* What an entry says of its job.  A job has entries of several kinds if its
 * file holds the pods and the objects above them; only those of the first kind
 * count, or GPUs would count twice.  A JobSet has several Jobs, whose sum
 * counts; a Workload or a Job of Volcano stands for the whole job. */
enum part { POD, JOB, WHOLE };

/* A pod, or the pods of one template.  After merge() it is a whole job. */
struct pods {
    const char *job, *tenant, *node; /* node: NULL if it is not known, or not one */
    enum part part;
    bool failed, known[3];      /* known: by CREATED, BEGAN, ENDED */
    int64_t time_ns[3];         /* created, began, ended */
    struct kube_request request; /* of all of these pods together */
    int64_t priority;           /* the highest of them; UNSTATED: none says one */
    bool has_class;             /* it names a class of priority, and no number */
    struct err_pos pos;
    size_t order;               /* place in the file */
};
enum { CREATED, BEGAN, ENDED };
#define CORE_MILLI_MAX INT64_C(1000000000000)   /* beyond any cluster */
#define UNSTATED INT64_MIN

/* A file under way: read_object() adds pods, make_jobs() turns them into jobs,
 * and next_job() gives these one by one. */
struct kube {
    struct record record;       /* the row that is given next */
    struct arena *arena;        /* of the import: pods live there */
    struct kube_queues queues;  /* of Kueue or Volcano, by which jobs have tenants */
    struct kube_owners owners;  /* jobs that pods belong to */
    struct pods *pods;          /* pods, then jobs */
    size_t count, room, next;   /* entries; memory for entries; the job that is
                                   given next */
};

static const char *const row_names[] = {
    "owner", "queue", "creationTimestamp", "startTime", "finishedAt", "run",
    "activeDeadlineSeconds", "nvidia.com/gpu", "cpu", "memory",
    "nvidia.com/gpu.product", "nodeName", "priority", "phase", NULL
};

/* ---- objects --------------------------------------------------------------- */

/* Returns the tenant: the cluster queue that admitted the object, else the
 * queue that it names, else its namespace.  A local queue of Kueue leads to its
 * cluster queue. */
static const char *tenant_of(const struct kube *kube,
                             const struct conf_node *object)
{
    static const char *const labels[] = {"kueue.x-k8s.io/queue-name",
                                         "volcano.sh/queue-name",
                                         "scheduling.volcano.sh/queue-name"};
    const char *space = kube_text(object, "metadata.namespace");
    const char *queue = kube_text(object, "status.admission.clusterQueue");

    if (queue != NULL)
        return queue;
    queue = kube_text(object, "spec.queueName");
    if (queue == NULL)
        queue = kube_text(object, "spec.queue");
    for (size_t i = 0; queue == NULL && i < 3; i++)
        queue = kube_label(object, labels[i]);
    if (queue == NULL)
        return space == NULL ? "default" : space;
    return kube_queues_tenant(&kube->queues, space, queue);
}

/* Adds an entry to the file's list. */
static void keep(struct kube *kube, struct pods pods)
{
    ARENA_REACH(kube->arena, kube->pods, kube->room, kube->count);
    pods.order = kube->count;
    kube->pods[kube->count++] = pods;
}

/* Returns an entry that has its job, its tenant and its place in the file, and
 * nothing else yet. */
static struct pods new_pods(struct kube *kube, const struct conf_node *object)
{
    return (struct pods){.job = kube_owners_job(&kube->owners, object),
                         .tenant = tenant_of(kube, object),
                         .priority = UNSTATED,
                         .pos = conf_pos(object)};
}

/* Sets an instant if it is the first that is known, or later than what is
 * known. */
static void take_latest(struct pods *pods, int which, int64_t ns)
{
    if (!pods->known[which] || ns > pods->time_ns[which])
        pods->time_ns[which] = ns;
    pods->known[which] = true;
}

/* Reads when a pod ended, which is when the last of its containers did.  Pods
 * of another phase than Succeeded and Failed have not ended. */
static bool read_end(const struct conf_node *pod, struct pods *pods,
                     struct err *err)
{
    const struct conf_node *status = kube_at(pod, "status.containerStatuses");
    const char *phase = kube_text(pod, "status.phase");
    int64_t ns;
    bool known;

    pods->failed = phase != NULL && strcmp(phase, "Failed") == 0;
    if (phase == NULL || (strcmp(phase, "Succeeded") != 0 && !pods->failed))
        return true;
    for (size_t i = 0; status != NULL && conf_kind(status) == CONF_LIST &&
                       i < conf_count(status); i++) {
        if (!kube_time(conf_item(status, i), "state.terminated.finishedAt",
                       &ns, &known, err))
            return false;
        if (known)
            take_latest(pods, ENDED, ns);
    }
    return true;
}

/* Reads the priority.  Pods and Workloads have a number: the API server looks up
 * the class.  A Job names the class alone. */
static bool read_priority(const struct conf_node *object, struct pods *pods,
                          struct err *err)
{
    const struct conf_node *node = kube_at(object, "spec.priority");
    const char *text = kube_text(object, "spec.priority");

    pods->has_class = node == NULL &&
                      (kube_text(object, "spec.priorityClassName") != NULL ||
                       kube_text(object, "spec.template.spec.priorityClassName") != NULL);
    return node == NULL ||
           (text != NULL && scan_i64(text, strlen(text), &pods->priority) &&
            pods->priority != UNSTATED) ||
           err_set(err, ERR_SYNTAX, conf_pos(node),
                   "spec.priority must be a whole number");
}

/* Reads a pod.  Times that its state does not have (it waits, it runs) stay
 * unknown; wrong ones are an error. */
static bool read_pod(struct kube *kube, const struct conf_node *pod,
                     struct err *err)
{
    struct pods pods = new_pods(kube, pod);

    pods.node = kube_text(pod, "spec.nodeName");
    if (!kube_request_add(kube_at(pod, "spec"), 1.0, &pods.request, err) ||
        !kube_time(pod, "metadata.creationTimestamp", &pods.time_ns[CREATED],
                   &pods.known[CREATED], err) ||
        !kube_time(pod, "status.startTime", &pods.time_ns[BEGAN],
                   &pods.known[BEGAN], err) ||
        !read_end(pod, &pods, err) || !read_priority(pod, &pods, err))
        return false;
    keep(kube, pods);
    return true;
}

/* Reads a count at a path; *out is `otherwise` where the path is absent. */
static bool read_number(const struct conf_node *object, const char *path,
                        double otherwise, double *out, struct err *err)
{
    const struct conf_node *node = kube_at(object, path);

    *out = otherwise;
    return node == NULL || kube_quantity(node, out, err);
}

/* Adds up the requests of sets of pods, spec.podSets of Kueue or spec.tasks of
 * Volcano.  `count` is the key that says how many pods a set has; without it,
 * one. */
static bool read_sets(const struct conf_node *object, const char *path,
                      const char *count, struct kube_request *request,
                      struct err *err)
{
    const struct conf_node *sets = kube_at(object, path);
    double times;

    for (size_t i = 0; sets != NULL && conf_kind(sets) == CONF_LIST &&
                       i < conf_count(sets); i++)
        if (!read_number(conf_item(sets, i), count, 1.0, &times, err) ||
            !kube_request_add(kube_at(conf_item(sets, i), "template.spec"),
                              times, request, err))
            return false;
    return true;
}

/* Reads from conditions when the job began and ended, and if it failed.  Kueue
 * names a condition by its `type`, Volcano by its `status`: `key` says which.
 * A Job that failed has no completionTime, so its condition is what tells the
 * end.  A condition whose status is False does not hold. */
static bool read_conditions(const struct conf_node *object, const char *key,
                            struct pods *pods, struct err *err)
{
    static const struct { const char *name; int which; bool failed; } word[] = {
        {"Admitted", BEGAN, false}, {"Finished", ENDED, false},
        {"Running", BEGAN, false}, {"Completed", ENDED, false},
        {"Failed", ENDED, true}, {"Aborted", ENDED, true},
        {"Terminated", ENDED, true},
    };
    const struct conf_node *list = kube_at(object, "status.conditions");

    for (size_t i = 0; list != NULL && conf_kind(list) == CONF_LIST &&
                       i < conf_count(list); i++)
        for (size_t w = 0; w < sizeof word / sizeof word[0]; w++) {
            const char *said = kube_text(conf_item(list, i), key);
            const char *holds = kube_text(conf_item(list, i), "status");
            int64_t ns;
            bool known;

            if (said == NULL || strcmp(said, word[w].name) != 0 ||
                (holds != NULL && strcmp(holds, "False") == 0))
                continue;
            if (!kube_time(conf_item(list, i), "lastTransitionTime", &ns,
                           &known, err))
                return false;
            if (known)
                take_latest(pods, word[w].which, ns);
            pods->failed = pods->failed || word[w].failed;
        }
    return true;
}

/* Pods of a Job at once: its parallelism, but no more than are to be completed. */
static bool read_pods_at_once(const struct conf_node *object, double *out, struct err *err)
{
    double completions;

    if (!read_number(object, "spec.parallelism", 1.0, out, err) ||
        !read_number(object, "spec.completions", *out, &completions, err))
        return false;
    if (completions < *out)
        *out = completions;
    return true;
}

/* Reads an object that says how many pods there are: a Workload of Kueue, a Job
 * of Volcano, or a Job of Kubernetes, whose pods are spec.parallelism. */
static bool read_whole(struct kube *kube, const struct conf_node *object,
                       struct err *err)
{
    struct pods pods = new_pods(kube, object);
    bool kueue = kube_is(object, "Workload", NULL);
    bool volcano = kube_is(object, "Job", "batch.volcano.sh");
    double times;

    pods.part = kueue || volcano ? WHOLE : JOB;
    if (!kube_time(object, "metadata.creationTimestamp",
                   &pods.time_ns[CREATED], &pods.known[CREATED], err) ||
        !read_priority(object, &pods, err))
        return false;
    if (kueue || volcano) {
        if (!read_sets(object, kueue ? "spec.podSets" : "spec.tasks",
                       kueue ? "count" : "replicas", &pods.request, err) ||
            !read_conditions(object, kueue ? "type" : "status", &pods, err))
            return false;
    } else if (!read_pods_at_once(object, &times, err) ||
               !kube_request_add(kube_at(object, "spec.template.spec"), times,
                                 &pods.request, err) ||
               !kube_time(object, "status.startTime", &pods.time_ns[BEGAN],
                          &pods.known[BEGAN], err) ||
               !kube_time(object, "status.completionTime",
                          &pods.time_ns[ENDED], &pods.known[ENDED], err) ||
               !read_conditions(object, "type", &pods, err)) {
        return false;
    }
    keep(kube, pods);
    return true;
}

/* First pass over the file: queues must be known before the tenants of jobs
 * are. */
static bool read_queue(void *self, const struct conf_node *object,
                       struct err *err)
{
    return kube_queues_add(&((struct kube *)self)->queues, object, err);
}

/* Second pass: owners must be known before pods are put into jobs. */
static bool note_owner(void *self, const struct conf_node *object,
                       struct err *err)
{
    (void)err;
    kube_owners_add(&((struct kube *)self)->owners, object);
    return true;
}

/* Third pass.  Kinds that say nothing of jobs or queues are counted, so that a
 * file of the wrong objects does not look like an empty log. */
static bool read_object(void *self, const struct conf_node *object,
                        struct err *err)
{
    struct kube *kube = self;
    const char *kind = kube_text(object, "kind");

    if (kind == NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(object),
                       "an object of Kubernetes, with kind:, is expected here");
    if (kube_is(object, "Pod", "v1"))
        return read_pod(kube, object, err);
    if (kube_is(object, "Job", "batch/") ||
        kube_is(object, "Job", "batch.volcano.sh") ||
        kube_is(object, "Workload", "kueue.x-k8s.io"))
        return read_whole(kube, object, err);
    if (!kube_queues_has(object))
        notes_count(&kube->record.notes, "objects of kind %.40s are not read",
                    kind);
    return true;
}

/* ---- jobs ------------------------------------------------------------------ */

/* Orders by job, of one job by part, of one part as in the file: entries of a
 * job that count come first. */
static int compare_pods(const void *left, const void *right)
{
    const struct pods *a = left, *b = right;
    int names = strcmp(a->job, b->job);

    if (names != 0)
        return names;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Did `b` run at the instant at which `a` began? */
static bool is_beside(const struct pods *a, const struct pods *b)
{
    return b->known[BEGAN] && b->time_ns[BEGAN] <= a->time_ns[BEGAN] &&
           (!b->known[ENDED] || b->time_ns[ENDED] > a->time_ns[BEGAN]);
}

/* Finds the most GPUs that the pods held at one time; of equals, the most pods.
 * That time is the beginning of a pod, so only beginnings are tried.  *at_once
 * is how many pods ran then.  O(count^2), and a job has few pods.  Pods that
 * never began count as if all ran at once. */
static void sum_requests(const struct pods *pods, size_t count,
                         struct pods *job, size_t *at_once)
{
    *at_once = 0;
    for (size_t i = 0; i < count; i++) {
        struct kube_request sum = {0};
        size_t beside = 0;

        for (size_t j = 0; j < count; j++) {
            if (pods[i].known[BEGAN] && j != i &&
                !is_beside(&pods[i], &pods[j]))
                continue;
            sum.gpus += pods[j].request.gpus;
            sum.core_milli += pods[j].request.core_milli;
            sum.memory_bytes += pods[j].request.memory_bytes;
            beside++;
        }
        if (sum.gpus < job->request.gpus ||
            (sum.gpus == job->request.gpus && beside <= *at_once))
            continue;
        sum.gpu_type = pods[i].request.gpu_type;
        sum.mig = pods[i].request.mig;
        sum.unread = pods[i].request.unread;
        job->request = sum;
        *at_once = beside;
    }
}

/* One job of pods[0 .. count - 1]: created with the first, begun with the
 * first, ended with the last, if all have ended.  The node is kept only if all
 * pods ran on it.  Its priority is the highest: a scheduler of gangs looks at the
 * pod of which it thinks first. */
static struct pods merge(struct kube *kube, const struct pods *pods,
                         size_t count)
{
    struct pods job = pods[0];
    struct kube_request nothing = {0};
    bool ended = true;
    size_t at_once;

    job.request = nothing;
    for (size_t i = 0; i < count; i++) {
        const struct pods *p = &pods[i];

        if (p->known[CREATED] && p->time_ns[CREATED] < job.time_ns[CREATED])
            job.time_ns[CREATED] = p->time_ns[CREATED];
        if (p->known[BEGAN] &&
            (!job.known[BEGAN] || p->time_ns[BEGAN] < job.time_ns[BEGAN])) {
            job.time_ns[BEGAN] = p->time_ns[BEGAN];
            job.known[BEGAN] = true;
        }
        if (p->known[ENDED])
            take_latest(&job, ENDED, p->time_ns[ENDED]);
        ended = ended && p->known[ENDED];
        job.failed = job.failed || p->failed;
        if (p->priority > job.priority)
            job.priority = p->priority;
        if (job.node != NULL && (p->node == NULL ||
                                 strcmp(job.node, p->node) != 0))
            job.node = NULL;
    }
    job.known[ENDED] = job.known[ENDED] && ended;
    sum_requests(pods, count, &job, &at_once);
    if (count > 1)
        notes_count(&kube->record.notes, "jobs are of several pods of one "
                    "owner");
    if (at_once < count)
        notes_count(&kube->record.notes, "jobs have pods that did not run at "
                    "once: GPUs are the most that were held at a time");
    return job;
}

/* Orders by creation; of the same second, as they stand in the file. */
static int compare_created(const void *left, const void *right)
{
    const struct pods *a = left, *b = right;

    if (a->time_ns[CREATED] != b->time_ns[CREATED])
        return a->time_ns[CREATED] < b->time_ns[CREATED] ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Merges pods into jobs, in place, in the order of their creation.  Of each job
 * only the entries of its first part count; of WHOLE, only the first. */
static void make_jobs(struct kube *kube)
{
    size_t jobs = 0, next;

    if (kube->count > 0)
        qsort(kube->pods, kube->count, sizeof *kube->pods, compare_pods);
    for (size_t i = 0; i < kube->count; i = next) {
        size_t parts = 0;

        for (next = i; next < kube->count &&
                       strcmp(kube->pods[i].job, kube->pods[next].job) == 0;
             next++)
            parts += kube->pods[next].part == kube->pods[i].part;
        kube->pods[jobs++] = merge(kube, &kube->pods[i],
                                   kube->pods[i].part == WHOLE ? 1 : parts);
    }
    kube->count = jobs;
    if (jobs > 0)
        qsort(kube->pods, jobs, sizeof *kube->pods, compare_created);
}

/* Puts the priority.  Classes of a system stand at 2,000,000,000, and rows hold
 * far less: what is beyond their bound counts as the bound. */
static void put_priority(struct record *record, const struct pods *job)
{
    int64_t value = job->priority;
    char *at = record->number[LOG_PRIORITY];

    if (job->has_class && value == UNSTATED)
        notes_count(&record->notes, "jobs name a class of priority; its number stands "
                    "in their pods, and without them it is not known");
    if (value == UNSTATED)
        return;
    if (value < -LOG_PRIORITY_MAX || value > LOG_PRIORITY_MAX) {
        notes_count(&record->notes, "jobs have a priority beyond %d; it counts as that",
                    LOG_PRIORITY_MAX);
        value = value < 0 ? -LOG_PRIORITY_MAX : LOG_PRIORITY_MAX;
    }
    if (value < 0)
        *at++ = '-';
    *decimal_put(at, (uint64_t)(value < 0 ? -value : value)) = '\0';
    record_put(record, LOG_PRIORITY, record->number[LOG_PRIORITY], job->pos.col);
}

/* Gives the next job as a row, in the units of enum log_column.  Cores are written
 * by the function for times (seconds with a fraction), which keeps thousandths of a
 * core. */
static enum csv_step next_job(void *self, struct csv_field *field,
                              struct err *err)
{
    struct kube *kube = self;
    struct record *record = &kube->record;
    static const enum log_column column[] = {LOG_SUBMIT, LOG_START, LOG_END};
    const struct pods *job;

    (void)err;
    if (kube->next == kube->count)
        return CSV_END;
    job = &kube->pods[kube->next++];
    record_begin(record, job->pos.line, job->pos.col);
    record_put(record, LOG_JOB, job->job, job->pos.col);
    record_put(record, LOG_TENANT, job->tenant, job->pos.col);
    record_put(record, LOG_STATE, job->failed ? "Failed" : LOG_GOOD,
               job->pos.col);
    for (int i = 0; i < 3; i++)
        if (job->known[i])
            record_put_ns(record, column[i], job->time_ns[i], job->pos.col);
    record_put_count(record, LOG_GPUS, job->request.gpus, job->pos.col);
    record_put_ns(record, LOG_CORES,
                  (job->request.core_milli < CORE_MILLI_MAX
                       ? job->request.core_milli : CORE_MILLI_MAX) * 1000000,
                  job->pos.col);
    record_put_count(record, LOG_MEMORY,
                     (int64_t)(job->request.memory_bytes / 1048576.0),
                     job->pos.col);
    if (job->node != NULL)
        record_put_count(record, LOG_NODES, 1, job->pos.col);
    put_priority(record, job);
    if (job->request.gpu_type != NULL)
        record_put(record, LOG_TYPES, job->request.gpu_type, job->pos.col);
    if (job->request.unread != NULL)
        notes_count(&record->notes, "jobs ask for %.60s, which is not read: it counts as no "
                    "GPU", job->request.unread);
    if (job->request.mig)
        notes_count(&record->notes, "jobs ask for MIG slices: each counts as a "
                    "GPU");
    memcpy(field, record->field, sizeof record->field);
    return CSV_ROW;
}

static void close_file(void *self)
{
    (void)self;                 /* it was read whole */
}

/* Three passes over the tree: queues, owners, and then the objects, which need
 * both. */
bool kube_open(struct arena *arena, const char *path,
               struct csv_source *source, struct err *err)
{
    struct kube *kube = arena_alloc(arena, 1, sizeof *kube);
    const struct conf_node *root = conf_load(arena, path, err);

    kube->arena = arena;
    kube->record.path = path;
    kube->record.notes.arena = arena;
    kube->queues.arena = kube->owners.arena = arena;
    *source = (struct csv_source){row_names, kube, next_job, close_file,
                                  &kube->record.notes};
    if (root == NULL || !kube_each(root, read_queue, kube, err) ||
        !kube_each(root, note_owner, kube, err))
        return false;
    kube_owners_sort(&kube->owners);
    if (!kube_each(root, read_object, kube, err))
        return false;
    make_jobs(kube);
    kube_queues_note(&kube->queues, &kube->record.notes);
    return true;
}
