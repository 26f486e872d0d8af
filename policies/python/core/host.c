/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host.c - the host's questions and requests as methods, by the names of
 * policies/policy.h, phases.h and resize.h without their `cs_`.
 */
#include "core.h"

#include "objects.h"
#include "want.h"
#include "policies/known.h"
#include "policies/pack.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/rank.h"
#include "policies/resize.h"

/* Members of the enum Verdict, set when the package is imported. */
static PyObject *verdict_member[CS_VERDICT_COUNT];

PyObject *py_host_set_verdicts(PyObject *module, PyObject *members)
{
    (void)module;
    if (!PyTuple_Check(members) || PyTuple_GET_SIZE(members) != CS_VERDICT_COUNT) {
        PyErr_SetString(PyExc_TypeError, "a tuple of six verdicts is needed");
        return NULL;
    }
    for (int i = 0; i < CS_VERDICT_COUNT; i++)
        verdict_member[i] = Py_NewRef(PyTuple_GET_ITEM(members, i));
    Py_RETURN_NONE;
}

/* Returns the member of the enum Verdict that stands for the host's answer. */
static PyObject *verdict(enum cs_verdict verdict)
{
    return Py_NewRef(verdict_member[verdict]);
}

/* The host, for a question of that method. */
static struct cs_host *ask_for(PyObject *self, const char *method)
{
    struct cs_host *host = ((struct host_object *)self)->host;

    py_call = method;
    if (host == NULL)
        PyErr_Format(PyExc_RuntimeError, "%s: the trial of this host is over", method);
    return host;
}

struct cs_host *py_host_request(PyObject *self, const char *method)
{
    if (!((struct host_object *)self)->asking)
        return ask_for(self, method);
    PyErr_Format(PyExc_RuntimeError, "%s: before() and key() may ask, but not request", method);
    return NULL;
}

/* Within host_NAME(), whose name for Python is NAME. */
#define ask(SELF) ask_for(SELF, __func__ + sizeof "host_" - 1)
/* None is made from before() or key(). */
#define request(SELF) py_host_request(SELF, __func__ + sizeof "host_" - 1)

/* `self` as the struct that it is. */
#define OBJECT(SELF) ((struct host_object *)(SELF))
/* Parameters of a method by METH_FASTCALL, and of one that takes keywords too: their values
 * stand in arg[] behind the `count` others. */
#define FAST PyObject *self, PyObject *const *arg, Py_ssize_t count
#define WITH_NAMES FAST, PyObject *names

/* Questions without an argument. */
#define ASK(NAME, BOX) \
    static PyObject *host_##NAME(PyObject *self, PyObject *none) \
    { \
        struct cs_host *host = ask(self); \
        (void)none; \
        return host == NULL ? NULL : BOX(cs_##NAME(host)); \
    }
/* About a job. */
#define ASK_JOB(NAME, BOX) \
    static PyObject *host_##NAME(PyObject *self, PyObject *value) \
    { \
        struct cs_host *host = ask(self); \
        struct job_id job; \
        return host == NULL || !py_to_job(host, value, &job) ? NULL : BOX(cs_##NAME(host, job)); \
    }
/* About pools; without an argument about all. */
#define ASK_POOLS(NAME) \
    static PyObject *host_##NAME(FAST) \
    { \
        struct cs_host *host = ask(self); \
        uint32_t pools = 0; \
        if (host == NULL || !py_is_count(count, 0, 1, #NAME) || \
            (count == 1 && !py_to_pools(host, arg[0], &pools))) \
            return NULL; \
        return PyLong_FromUnsignedLong(cs_##NAME(host, pools)); \
    }
/* About a job and a number, a count of GPUs or what TO reads. */
#define TO_COUNT(HOST, VALUE, JOB, OUT) py_to_u32(VALUE, OUT)
#define TO_NODE(HOST, VALUE, JOB, OUT) py_to_node(HOST, VALUE, OUT)
#define ASK_JOB_NUMBER(NAME, TO, BOX) \
    static PyObject *host_##NAME(FAST) \
    { \
        struct cs_host *host = ask(self); \
        struct job_id job; \
        uint32_t number; \
        if (host == NULL || !py_is_count(count, 2, 2, #NAME) || \
            !py_to_job(host, arg[0], &job) || !TO(host, arg[1], job, &number)) \
            return NULL; \
        return BOX(cs_##NAME(host, job, number)); \
    }
/* A request about a task. */
#define REQUEST_TASK(METHOD, NAME) \
    static PyObject *host_##METHOD(PyObject *self, PyObject *value) \
    { \
        struct cs_host *host = request(self); \
        struct task_id task; \
        return host == NULL || !py_to_task(OBJECT(self), value, &task) \
            ? NULL : verdict(cs_##NAME(host, task)); \
    }

/* How an answer becomes a Python object. */
#define BOX_U32 PyLong_FromUnsignedLong
#define BOX_I64 PyLong_FromLongLong
#define BOX_REAL PyFloat_FromDouble
#define BOX_BOOL PyBool_FromLong
#define BOX_JOB(ID) py_id_or_none((ID).i)

ASK(now_ns, BOX_I64)
ASK(pending_count, BOX_U32)
ASK(skips, BOX_BOOL)
ASK(running_count, BOX_U32)
ASK(lease_count, BOX_U32)
ASK(pool_count, BOX_U32)
ASK(node_count, BOX_U32)
ASK(total_cores, BOX_U32)
ASK(total_memory_bytes, BOX_REAL)
ASK(round_ns, BOX_I64)
ASK_JOB(job_gpus, BOX_U32)
ASK_JOB(attained_gpu_s, BOX_REAL)
ASK_JOB(left_ns, BOX_I64)
ASK_JOB(true_left_ns, BOX_I64)
ASK_JOB(serves, BOX_BOOL)
ASK_JOB(slot, BOX_U32)
ASK_JOB(switch_loss, BOX_REAL)
ASK_JOB(settled, BOX_BOOL)
ASK_JOB(size_least, BOX_U32)
ASK_JOB(size_now, BOX_U32)
ASK_JOB(can_move, BOX_BOOL)
ASK_JOB(co_located, BOX_JOB)
ASK_JOB(tenant, BOX_U32)
ASK_POOLS(total_gpus)
ASK_POOLS(free_gpus)
ASK_POOLS(idle_gpus)
ASK_JOB_NUMBER(phase_s, py_to_phase, BOX_REAL)
ASK_JOB_NUMBER(switch_s, py_to_role, BOX_REAL)
ASK_JOB_NUMBER(role_homes, py_to_role, BOX_U32)
ASK_JOB_NUMBER(gpus_on, TO_NODE, BOX_U32)
ASK_JOB_NUMBER(size_below, TO_COUNT, BOX_U32)
ASK_JOB_NUMBER(size_above, TO_COUNT, BOX_U32)
ASK_JOB_NUMBER(best_speedup, TO_COUNT, BOX_REAL)
REQUEST_TASK(settle, settle)
REQUEST_TASK(continue, continue)

/* ---- questions with answers of their own ---- */

/* Returns a task object, or None for ID_NONE. */
static PyObject *task_or_none(PyObject *self, struct task_id task)
{
    if (task.i == ID_NONE)
        Py_RETURN_NONE;
    return py_task_new(OBJECT(self), task);
}

/* pending(i): from 0 to pending_count() - 1, else an IndexError. */
static PyObject *host_pending(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    uint32_t i;

    if (host == NULL ||
        !py_to_index(value, cs_pending_count(host), "the place of a task", &i))
        return NULL;
    return py_task_new(OBJECT(self), cs_pending(host, i));
}

/* find_pending(i, **filter).  It counts as a request: it brings the host's index of
 * the order up to date, which must not happen while that order is asked for. */
static PyObject *host_find_pending(WITH_NAMES)
{
    struct cs_host *host = request(self);
    struct cs_filter filter = { .gpus_max = UINT32_MAX, .estimate_max_ns = INT64_MAX };
    uint32_t i;

    if (host == NULL || !py_is_count(count, 1, 1, "find_pending") || !py_to_u32(arg[0], &i))
        return NULL;
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); k++) {
        PyObject *name = PyTuple_GET_ITEM(names, k), *value = arg[count + k];
        int truth = 0;
        bool ok;

        if (PyUnicode_CompareWithASCIIString(name, "gpus_max") == 0)
            ok = py_to_u32(value, &filter.gpus_max);
        else if (PyUnicode_CompareWithASCIIString(name, "gpus_any_estimate") == 0)
            ok = py_to_u32(value, &filter.gpus_any_estimate);
        else if (PyUnicode_CompareWithASCIIString(name, "estimate_max_ns") == 0)
            ok = py_to_i64(value, &filter.estimate_max_ns);
        else if (PyUnicode_CompareWithASCIIString(name, "startable") == 0)
            ok = (truth = PyObject_IsTrue(value)) >= 0;
        else
            ok = PyErr_Format(PyExc_TypeError, "a filter has no key %R; it has gpus_max, "
                              "gpus_any_estimate, estimate_max_ns, startable", name) != NULL;
        if (!ok)
            return NULL;
        filter.startable = filter.startable || truth > 0;
    }
    return PyLong_FromUnsignedLong(cs_find_pending(host, i, &filter));
}

/* running(i): from 0 to running_count() - 1, else an IndexError. */
static PyObject *host_running(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    uint32_t i;

    if (host == NULL ||
        !py_to_index(value, cs_running_count(host), "the place of a job", &i))
        return NULL;
    return PyLong_FromUnsignedLong(cs_running(host, i).i);
}

/* request(job): a Job, made anew for each call.  It is a copy, and good after the trial. */
static PyObject *host_request(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    struct job_id job;

    return host == NULL || !py_to_job(host, value, &job) ? NULL : py_job_new(host, job);
}

/* job_task(job, role): None if the job, or that role of it, does not wait. */
static PyObject *host_job_task(FAST)
{
    struct cs_host *host = ask(self);
    struct job_id job;
    uint32_t role = CS_ALL_ROLES;

    if (host == NULL || !py_is_count(count, 1, 2, "job_task") ||
        !py_to_job(host, arg[0], &job) ||
        (count == 2 && !py_to_role_or_all(host, arg[1], job, &role)))
        return NULL;
    return task_or_none(self, cs_job_task(host, job, role));
}

/* role_lease(job, role): the number of its lease; None if it holds none. */
static PyObject *host_role_lease(FAST)
{
    struct cs_host *host = ask(self);
    struct job_id job;
    uint32_t role;

    if (host == NULL || !py_is_count(count, 2, 2, "role_lease") ||
        !py_to_job(host, arg[0], &job) || !py_to_role(host, arg[1], job, &role))
        return NULL;
    return py_id_or_none(cs_role_lease(host, job, role).i);
}

/* lease_at(i): from 0 to lease_count() - 1, oldest first, else an IndexError. */
static PyObject *host_lease_at(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    uint32_t i;

    if (host == NULL ||
        !py_to_index(value, cs_lease_count(host), "the place of a lease", &i))
        return NULL;
    return PyLong_FromUnsignedLong(cs_lease_at(host, i).i);
}

/* lease(lease): a copy, made anew for each call; a lease that is over is an IndexError. */
static PyObject *host_lease(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    struct lease_id lease;

    return host == NULL || !py_to_lease(host, value, &lease) ? NULL : py_lease_new(host, lease);
}

static PyObject *host_lease_pools(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    struct lease_id lease;

    return host == NULL || !py_to_lease(host, value, &lease)
        ? NULL : PyLong_FromUnsignedLong(cs_lease_pools(host, lease));
}

static PyObject *host_pool_name(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    uint32_t pool;

    if (host == NULL || !py_to_pool(host, value, &pool))
        return NULL;
    return PyUnicode_FromString(cs_pool_name(host, pool));
}

static PyObject *host_node(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    uint32_t node;

    if (host == NULL || !py_to_node(host, value, &node))
        return NULL;
    return py_node_new(cs_node(host, node));
}

static PyObject *host_room_in_s(FAST)
{
    struct cs_host *host = ask(self);
    uint32_t pools, gpus;

    if (host == NULL || !py_is_count(count, 2, 2, "room_in_s") ||
        !py_to_pools(host, arg[0], &pools) || !py_to_u32(arg[1], &gpus))
        return NULL;
    return PyFloat_FromDouble(cs_room_in_s(host, pools, gpus));
}

/* It counts as a request, which before() and key() cannot make. */
static PyObject *host_earliest_ns(PyObject *self, PyObject *value)
{
    struct cs_host *host = request(self);
    uint32_t gpus, spare = 0;

    if (host == NULL || !py_to_u32(value, &gpus))
        return NULL;
    int64_t at_ns = cs_earliest_ns(host, gpus, &spare);
    return Py_BuildValue("LI", (long long)at_ns, spare);
}

/* A request: True makes this instant the time of a plan. */
static PyObject *host_may_solve(PyObject *self, PyObject *none)
{
    struct cs_host *host = request(self);

    (void)none;
    return host == NULL ? NULL : PyBool_FromLong(cs_may_solve(host));
}

static PyObject *host_weight(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    const char *key = host == NULL ? NULL : PyUnicode_AsUTF8(value);

    return key == NULL ? NULL : PyFloat_FromDouble(cs_weight(host, key));
}

/* Each number that is drawn moves the policy's stream, so that only those may ask that say
 * that they draw. */
static PyObject *host_random(PyObject *self, PyObject *none)
{
    struct cs_host *host = request(self);

    (void)none;
    if (host != NULL && (cs_table(host)->flags & CS_DRAWS) == 0)
        return PyErr_Format(PyExc_RuntimeError, "random: this needs the flag draws");
    return host == NULL ? NULL : PyFloat_FromDouble(cs_random(host));
}

/* A request: the host keeps the answer with the form of the job, in an array that it may move. */
static PyObject *host_speedup(FAST)
{
    struct cs_host *host = request(self);
    struct job_id job;
    uint32_t pool, gpus;

    if (host == NULL || !py_is_count(count, 3, 3, "speedup") ||
        !py_to_job(host, arg[0], &job) || !py_to_pool(host, arg[1], &pool) ||
        !py_to_u32(arg[2], &gpus))
        return NULL;
    return PyFloat_FromDouble(cs_speedup(host, job, pool, gpus));
}

/* ---- requests ---- */

/* Without keywords the job starts as it asked. */
static PyObject *host_start(WITH_NAMES)
{
    struct cs_host *host = request(self);
    struct task_id task;
    struct want want;

    if (host == NULL || !py_is_count(count, 1, 1, "start") ||
        !py_to_task(OBJECT(self), arg[0], &task))
        return NULL;
    if (names == NULL)
        return verdict(cs_start(host, task));
    if (!py_to_want(host, arg + count, names, cs_task(host, task)->job, &want))
        return NULL;
    return verdict(cs_start_want(host, task, &want.want));
}

/* start_wants(task, [dict, ...]): a want for each role.  A spot would need
 * room that outlives the loop, and is refused. */
static PyObject *host_start_wants(FAST)
{
    struct cs_host *host = request(self);
    struct cs_want all[FORM_ROLES_MAX];
    struct want want;
    struct task_id task;
    Py_ssize_t wants;

    if (host == NULL || !py_is_count(count, 2, 2, "start_wants") ||
        !py_to_task(OBJECT(self), arg[0], &task))
        return NULL;
    if (!PyList_Check(arg[1]) || PyList_GET_SIZE(arg[1]) > (Py_ssize_t)FORM_ROLES_MAX) {
        PyErr_Format(PyExc_TypeError, "start_wants() needs a list of at most %d dicts, found %R",
                     FORM_ROLES_MAX, arg[1]);
        return NULL;
    }
    wants = PyList_GET_SIZE(arg[1]);
    for (Py_ssize_t i = 0; i < wants; i++) {
        if (!py_to_want_dict(host, PyList_GET_ITEM(arg[1], i), cs_task(host, task)->job, &want))
            return NULL;
        if (want.want.spot_count > 0) {
            PyErr_SetString(PyExc_TypeError, "start_wants: its wants have no spot");
            return NULL;
        }
        all[i] = want.want;
    }
    return verdict(cs_start_wants(host, task, all, (uint32_t)wants));
}

/* A job that has ended may be named, too: the host's verdict says so. */
static PyObject *host_stop(PyObject *self, PyObject *value)
{
    struct cs_host *host = request(self);
    struct job_id job;

    return host == NULL || !py_to_any_job(host, value, &job) ? NULL
                                                             : verdict(cs_stop(host, job));
}

/* The host has no event for policies that are woken, so the time is noted for
 * wakeup(). */
static PyObject *host_wake_at(PyObject *self, PyObject *value)
{
    struct cs_host *host = request(self);
    int64_t time_ns;

    if (host == NULL || !py_to_time(value, &time_ns) ||
        !py_self_wakes_at(OBJECT(self)->self, time_ns))
        return NULL;
    cs_wake_at(host, time_ns);
    Py_RETURN_NONE;
}

/* The host needs a reason, so that an empty text gets one. */
static PyObject *host_fail(PyObject *self, PyObject *value)
{
    struct cs_host *host = request(self);
    const char *why = host == NULL ? NULL : PyUnicode_AsUTF8(value);

    if (why == NULL)
        return NULL;
    cs_fail(host, why[0] == '\0' ? "ended the trial" : why);
    Py_RETURN_NONE;
}

/* A request: the host counts the decision. */
static PyObject *host_limit_reached(PyObject *self, PyObject *none)
{
    struct cs_host *host = request(self);

    (void)none;
    if (host == NULL)
        return NULL;
    cs_limit_reached(host);
    Py_RETURN_NONE;
}

/* ---- leases for a phase ---- */

/* forecast(task, **want): None if there is no room.  A request, since it searches the cluster. */
static PyObject *host_forecast(WITH_NAMES)
{
    struct cs_host *host = request(self);
    struct cs_forecast forecast;
    struct task_id task;
    struct want want;

    if (host == NULL || !py_is_count(count, 1, 1, "forecast") ||
        !py_to_task(OBJECT(self), arg[0], &task) ||
        !py_to_want(host, arg + count, names, cs_task(host, task)->job, &want))
        return NULL;
    if (!cs_forecast(host, task, &want.want, &forecast))
        Py_RETURN_NONE;
    return py_forecast_new(&forecast);
}

/* forecast_held(task): None if its role holds no idle lease. */
static PyObject *host_forecast_held(PyObject *self, PyObject *value)
{
    struct cs_host *host = request(self);
    struct cs_forecast forecast;
    struct task_id task;

    if (host == NULL || !py_to_task(OBJECT(self), value, &task))
        return NULL;
    if (!cs_forecast_held(host, task, &forecast))
        Py_RETURN_NONE;
    return py_forecast_new(&forecast);
}

/* (forecast, want), the want naming the site; None: no room. */
static PyObject *host_forecast_best(WITH_NAMES)
{
    struct cs_host *host = request(self);
    struct cs_forecast forecast;
    struct task_id task;
    struct want want;

    if (host == NULL || !py_is_count(count, 1, 1, "forecast_best") ||
        !py_to_task(OBJECT(self), arg[0], &task) ||
        !py_to_want(host, arg + count, names, cs_task(host, task)->job, &want))
        return NULL;
    if (!cs_forecast_best(host, task, &want.want, &forecast))
        Py_RETURN_NONE;
    return Py_BuildValue("NN", py_forecast_new(&forecast), py_want_dict(&want.want));
}

static PyObject *host_site_count(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    struct task_id task;

    return host == NULL || !py_to_task(OBJECT(self), value, &task)
        ? NULL : PyLong_FromUnsignedLong(cs_site_count(host, task));
}

/* {"pools": ..., "gpu_type": ...}; None: not within those pools. */
static PyObject *host_site(FAST)
{
    struct cs_host *host = ask(self);
    struct cs_want want = { 0 };
    struct task_id task;
    uint32_t i, pools = 0;

    if (host == NULL || !py_is_count(count, 2, 3, "site") ||
        !py_to_task(OBJECT(self), arg[0], &task) ||
        !py_to_index(arg[1], cs_site_count(host, task), "a site", &i) ||
        (count == 3 && !py_to_pools(host, arg[2], &pools)))
        return NULL;
    if (!cs_site(host, task, i, pools, &want))
        Py_RETURN_NONE;
    return py_want_dict(&want);
}

/* A task of a whole job needs a role; of others None stands for their own. */
static PyObject *host_home_pools(FAST)
{
    struct cs_host *host = ask(self);
    struct task_id task;
    uint32_t role;

    if (host == NULL || !py_is_count(count, 2, 2, "home_pools") ||
        !py_to_task(OBJECT(self), arg[0], &task) ||
        !(cs_task(host, task)->role == CS_ALL_ROLES ? py_to_role : py_to_role_or_all)(
            host, arg[1], cs_task(host, task)->job, &role))
        return NULL;
    return PyLong_FromUnsignedLong(cs_home_pools(host, task, role));
}

static PyObject *host_most_gpus(PyObject *self, PyObject *value)
{
    struct cs_host *host = ask(self);
    struct task_id task;

    return host == NULL || !py_to_task(OBJECT(self), value, &task)
        ? NULL : PyLong_FromUnsignedLong(cs_most_gpus(host, task));
}

/* prepare(job, **want): also of a job that has ended: the verdict says so. */
static PyObject *host_prepare(WITH_NAMES)
{
    struct cs_host *host = request(self);
    struct job_id job;
    struct want want;

    if (host == NULL || !py_is_count(count, 1, 1, "prepare") ||
        !py_to_any_job(host, arg[0], &job) || !py_to_want(host, arg + count, names, job, &want))
        return NULL;
    return verdict(cs_prepare(host, job, &want.want));
}

/* release(lease): also of a lease that is over: the verdict says so. */
static PyObject *host_release(PyObject *self, PyObject *value)
{
    struct cs_host *host = request(self);
    struct lease_id lease;

    return host == NULL || !py_to_any_lease(host, value, &lease)
        ? NULL : verdict(cs_release(host, lease));
}

/* take_back(lease, delay_ns): as release(); the delay is in ns, and not negative. */
static PyObject *host_take_back(FAST)
{
    struct cs_host *host = request(self);
    struct lease_id lease;
    int64_t delay_ns;

    if (host == NULL || !py_is_count(count, 2, 2, "take_back") ||
        !py_to_any_lease(host, arg[0], &lease) || !py_to_time(arg[1], &delay_ns))
        return NULL;
    return verdict(cs_take_back(host, lease, delay_ns));
}

/* The flag is checked here, since without it the host would end the trial. */
static PyObject *host_wake_when_idle(PyObject *self, PyObject *value)
{
    struct cs_host *host = request(self);
    int64_t idle_ns;

    if (host == NULL || !py_to_time(value, &idle_ns))
        return NULL;
    if ((cs_table(host)->flags & CS_PER_PHASE) == 0)
        return PyErr_Format(PyExc_RuntimeError, "wake_when_idle: this needs the flag per_phase");
    cs_wake_when_idle(host, idle_ns);
    Py_RETURN_NONE;
}

/* Forgets which candidate was told last: tried() of it is an error from now on. */
static PyObject *host_try_anew(PyObject *self, PyObject *none)
{
    struct cs_host *host = request(self);

    (void)none;
    if (host == NULL)
        return NULL;
    OBJECT(self)->candidate = ID_NONE;
    cs_try_anew(host);
    Py_RETURN_NONE;
}

/* Keeps the number of the candidate, by which host_tried() checks its argument. */
static PyObject *host_next_candidate(PyObject *self, PyObject *none)
{
    struct cs_host *host = request(self);

    (void)none;
    if (host == NULL)
        return NULL;
    struct task_id task = cs_next_candidate(host);
    OBJECT(self)->candidate = task.i;
    return task_or_none(self, task);
}

/* Refused if the task waits and was not the last candidate: the host takes for granted that it
 * was. */
static PyObject *host_tried(FAST)
{
    struct cs_host *host = request(self);
    struct task_id task;
    uint32_t alike = CS_ALIKE_NONE;

    if (host == NULL || !py_is_count(count, 1, 2, "tried") ||
        !py_to_task(OBJECT(self), arg[0], &task) ||
        (count == 2 && !py_to_index(arg[1], CS_ALIKE_ALL + 1, "alike", &alike)))
        return NULL;
    if (cs_job_task(host, cs_task(host, task)->job, cs_task(host, task)->role).i == task.i &&
        task.i != OBJECT(self)->candidate) {
        PyErr_Format(PyExc_ValueError, "tried: %R is not what next_candidate() told last",
                     arg[0]);
        return NULL;
    }
    OBJECT(self)->candidate = ID_NONE;
    cs_tried(host, task, (enum cs_alike)alike);
    Py_RETURN_NONE;
}

/* ---- sizes and places ---- */

/* resize(lease, gpus): also of a lease that is over: the verdict says so. */
static PyObject *host_resize(FAST)
{
    struct cs_host *host = request(self);
    struct lease_id lease;
    uint32_t gpus;

    if (host == NULL || !py_is_count(count, 2, 2, "resize") ||
        !py_to_any_lease(host, arg[0], &lease) || !py_to_u32(arg[1], &gpus))
        return NULL;
    return verdict(cs_resize(host, lease, gpus));
}

/* The lease may be over: then the host says so, and the want is read without a job. */
static PyObject *host_move(WITH_NAMES)
{
    struct cs_host *host = request(self);
    struct job_id job = { ID_NONE };
    struct lease_id lease;
    struct want want;

    if (host == NULL || !py_is_count(count, 1, 1, "move") ||
        !py_to_any_lease(host, arg[0], &lease))
        return NULL;
    if (cs_lease_held(host, lease))
        job = cs_lease(host, lease)->job;
    if (!py_to_want(host, arg + count, names, job, &want))
        return NULL;
    return verdict(cs_move(host, lease, &want.want));
}

/* start_co_located(task, runs): `runs` must be a job that the host still knows. */
static PyObject *host_start_co_located(FAST)
{
    struct cs_host *host = request(self);
    struct task_id task;
    struct job_id runs;

    if (host == NULL || !py_is_count(count, 2, 2, "start_co_located") ||
        !py_to_task(OBJECT(self), arg[0], &task) || !py_to_job(host, arg[1], &runs))
        return NULL;
    return verdict(cs_start_co_located(host, task, runs));
}

/* ---- the type ---- */

/* Has an op begun since this was last asked?  For the alarm of a trial. */
static PyObject *host_moved(PyObject *self, PyObject *none)
{
    struct host_object *host = OBJECT(self);
    bool moved = host->seen != host->op;

    (void)none;
    host->seen = host->op;
    return PyBool_FromLong(moved);
}

/* Cast through a function without arguments: methods have several forms. */
#define METHOD(NAME, FLAGS, HELP) \
    { #NAME, (PyCFunction)(void (*)(void))host_##NAME, FLAGS, HELP }
#define BY_NAMES (METH_FASTCALL | METH_KEYWORDS)

static PyMethodDef host_methods[] = {
    METHOD(now_ns, METH_NOARGS, "now_ns() -> int: the time, ns"),
    METHOD(pending_count, METH_NOARGS, "pending_count() -> int: tasks that wait"),
    METHOD(pending, METH_O, "pending(i) -> Task: the i-th in order, from 0"),
    METHOD(find_pending, BY_NAMES,
           "find_pending(i, *, gpus_max, gpus_any_estimate, estimate_max_ns, startable) -> "
           "int: the place, from i on, of the first that passes; pending_count(): none"),
    METHOD(skips, METH_NOARGS, "skips() -> bool: `blocking: skip`?"),
    METHOD(running_count, METH_NOARGS, "running_count() -> int: jobs that hold leases"),
    METHOD(running, METH_O, "running(i) -> int: the number of the i-th such job"),
    METHOD(request, METH_O, "request(job) -> Job: as its owner asked"),
    METHOD(job_task, METH_FASTCALL,
           "job_task(job, role=None) -> Task or None: of a whole job, or of a role"),
    METHOD(role_lease, METH_FASTCALL, "role_lease(job, role) -> int or None"),
    METHOD(job_gpus, METH_O, "job_gpus(job) -> int: of all roles, as asked"),
    METHOD(attained_gpu_s, METH_O, "attained_gpu_s(job) -> float: GPU-seconds held so far"),
    METHOD(left_ns, METH_O, "left_ns(job) -> int: what is left by the estimate, ns"),
    METHOD(true_left_ns, METH_O, "true_left_ns(job) -> int: needs the flag clairvoyant"),
    METHOD(serves, METH_O, "serves(job) -> bool: is it a replica of a service?"),
    METHOD(slot, METH_O, "slot(job) -> int: a small number of its own"),
    METHOD(lease_count, METH_NOARGS, "lease_count() -> int"),
    METHOD(lease_at, METH_O, "lease_at(i) -> int: the i-th lease, oldest first"),
    METHOD(lease, METH_O, "lease(lease) -> Lease"),
    METHOD(lease_pools, METH_O, "lease_pools(lease) -> int: a mask"),
    METHOD(total_gpus, METH_FASTCALL, "total_gpus(pools=0) -> int"),
    METHOD(free_gpus, METH_FASTCALL, "free_gpus(pools=0) -> int"),
    METHOD(idle_gpus, METH_FASTCALL, "idle_gpus(pools=0) -> int: held by idle leases"),
    METHOD(pool_count, METH_NOARGS, "pool_count() -> int"),
    METHOD(pool_name, METH_O, "pool_name(pool) -> str"),
    METHOD(node_count, METH_NOARGS, "node_count() -> int"),
    METHOD(node, METH_O, "node(node) -> Node"),
    METHOD(total_cores, METH_NOARGS, "total_cores() -> int"),
    METHOD(total_memory_bytes, METH_NOARGS, "total_memory_bytes() -> float"),
    METHOD(room_in_s, METH_FASTCALL,
           "room_in_s(pools, gpus) -> float: until that number of GPUs should be free"),
    METHOD(earliest_ns, METH_O,
           "earliest_ns(gpus) -> (ns, spare): earliest start of a gang; what is free then"),
    METHOD(round_ns, METH_NOARGS, "round_ns() -> int: 0: no rounds"),
    METHOD(may_solve, METH_NOARGS, "may_solve() -> bool: may it plan anew?"),
    METHOD(weight, METH_O, "weight(key) -> float: that `weights:` gives; 0 if absent"),
    METHOD(random, METH_NOARGS, "random() -> float in [0, 1): needs the flag draws"),
    METHOD(start, BY_NAMES, "start(task, **want) -> Verdict"),
    METHOD(start_wants, METH_FASTCALL, "start_wants(task, wants) -> Verdict: one per role"),
    METHOD(stop, METH_O, "stop(job) -> Verdict: preempts; needs the flag preempts"),
    METHOD(wake_at, METH_O, "wake_at(time_ns): decide then, too"),
    METHOD(fail, METH_O, "fail(why): ends the trial"),
    METHOD(limit_reached, METH_NOARGS, "limit_reached(): a limit left something out"),
    METHOD(forecast, BY_NAMES, "forecast(task, **want) -> Forecast or None: no room"),
    METHOD(forecast_held, METH_O, "forecast_held(task) -> Forecast or None"),
    METHOD(forecast_best, BY_NAMES, "forecast_best(task, **want) -> (Forecast, want) or None"),
    METHOD(site_count, METH_O, "site_count(task) -> int: where it could go"),
    METHOD(site, METH_FASTCALL, "site(task, i, pools=0) -> want or None"),
    METHOD(home_pools, METH_FASTCALL, "home_pools(task, role) -> int: a mask; 0: none"),
    METHOD(role_homes, METH_FASTCALL, "role_homes(job, role) -> int: a mask; 0: none"),
    METHOD(most_gpus, METH_O, "most_gpus(task) -> int: it may start on"),
    METHOD(phase_s, METH_FASTCALL, "phase_s(job, phase) -> float: on what its role asked for"),
    METHOD(switch_s, METH_FASTCALL, "switch_s(job, role) -> float: to have its GPUs back"),
    METHOD(switch_loss, METH_O, "switch_loss(job) -> float: switches over a step"),
    METHOD(prepare, BY_NAMES, "prepare(job, **want) -> Verdict: before a phase is ready"),
    METHOD(settle, METH_O, "settle(task) -> Verdict: all roles in their homes"),
    METHOD(settled, METH_O, "settled(job) -> bool"),
    { "_moved", host_moved, METH_NOARGS, NULL },
    { "continue_", host_continue, METH_O, "continue_(task) -> Verdict: on its idle lease" },
    METHOD(release, METH_O, "release(lease) -> Verdict"),
    METHOD(take_back, METH_FASTCALL, "take_back(lease, delay_ns) -> Verdict"),
    METHOD(wake_when_idle, METH_O, "wake_when_idle(idle_ns)"),
    METHOD(try_anew, METH_NOARGS, "try_anew(): all tasks are candidates again"),
    METHOD(next_candidate, METH_NOARGS, "next_candidate() -> Task or None"),
    METHOD(tried, METH_FASTCALL, "tried(task, alike=0): pass it over, and what is alike"),
    METHOD(resize, METH_FASTCALL, "resize(lease, gpus) -> Verdict"),
    METHOD(move, BY_NAMES, "move(lease, **want) -> Verdict"),
    METHOD(can_move, METH_O, "can_move(job) -> bool"),
    METHOD(size_least, METH_O, "size_least(job) -> int"),
    METHOD(size_now, METH_O, "size_now(job) -> int"),
    METHOD(size_below, METH_FASTCALL, "size_below(job, gpus) -> int: the largest up to gpus"),
    METHOD(size_above, METH_FASTCALL, "size_above(job, gpus) -> int: the smallest above gpus"),
    METHOD(speedup, METH_FASTCALL, "speedup(job, pool, gpus) -> float"),
    METHOD(best_speedup, METH_FASTCALL, "best_speedup(job, gpus) -> float"),
    { "reallocate", py_host_reallocate, METH_O,
      "reallocate(key): all GPUs anew, in the order of key(job) of all jobs" },
    { "set_sizes", py_host_set_sizes, METH_O,
      "set_sizes([(job, gpus), ...]): the GPUs of each job; 0: it waits" },
    { "set_node_gpus", py_host_set_node_gpus, METH_O,
      "set_node_gpus([(job, node, gpus), ...]): exactly these" },
    METHOD(gpus_on, METH_FASTCALL, "gpus_on(job, node) -> int: GPUs of a node that it holds"),
    METHOD(start_co_located, METH_FASTCALL, "start_co_located(task, job) -> Verdict"),
    METHOD(co_located, METH_O, "co_located(job) -> int or None"),
    METHOD(tenant, METH_O, "tenant(job) -> int: a number"),
    { NULL, NULL, 0, NULL }
};

/* It owns nothing: host and self are the trial's. */
static void host_dealloc(PyObject *self)
{
    PyObject_Free(self);
}

PyTypeObject py_host_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "clustersim.Host", .tp_basicsize = sizeof(struct host_object),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_dealloc = host_dealloc, .tp_methods = host_methods,
    .tp_doc = "Owns jobs and cluster: questions and requests of a policy.",
};

bool py_host_ready(PyObject *module)
{
    return PyType_Ready(&py_host_type) == 0 &&
           PyModule_AddObject(module, "Host", Py_NewRef((PyObject *)&py_host_type)) == 0 &&
           py_objects_ready(module) && py_deal_ready(module);
}
