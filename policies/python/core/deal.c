/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal.c - requests that deal GPUs to many jobs at once, and plans of free GPUs: what
 * policies/rank.h, resize.h and plan.h offer.
 */
#include "core.h"

#include <math.h>

#include "objects.h"
#include "want.h"
#include "policies/params.h"
#include "policies/plan.h"
#include "policies/rank.h"
#include "policies/resize.h"

/* ---- all jobs by a key ---- */

/* Deals are for policies that lease to whole jobs.  `flag`: what the policy must have said
 * that it does; `word`: how it says so.  NULL: a Python error is set. */
static struct cs_host *request_deal(PyObject *self, const char *method, uint32_t flag,
                                    const char *word)
{
    struct cs_host *host = py_host_request(self, method);

    if (host == NULL)
        return NULL;
    if ((cs_table(host)->flags & CS_PER_PHASE) == 0 && (cs_table(host)->flags & flag) == flag)
        return host;
    PyErr_Format(PyExc_RuntimeError, "%s: this needs the %s, and not per_phase", method,
                 word);
    return NULL;
}

/* cs_reallocate()'s key by the Python function.  After a Python error it returns 0 and
 * asks no more: the caller raises the error when the deal is over. */
static double key_of(const void *self, const struct cs_host *host, struct job_id job)
{
    struct host_object *object = py_self_host(self);
    PyObject *number, *value;
    double key = 0;

    (void)host;
    if (PyErr_Occurred() != NULL)
        return 0;               /* of an earlier job: the request says so at its end */
    number = PyLong_FromUnsignedLong(job.i);
    object->asking = true;
    value = number == NULL ? NULL : PyObject_CallOneArg(object->ranks, number);
    object->asking = false;
    if (value != NULL)
        key = PyFloat_AsDouble(value);
    if (PyErr_Occurred() == NULL && isnan(key))
        PyErr_Format(PyExc_ValueError, "the key of job %u is not a number", job.i);
    Py_XDECREF(value);
    Py_XDECREF(number);
    return PyErr_Occurred() == NULL ? key : 0;
}

PyObject *py_host_reallocate(PyObject *self, PyObject *key)
{
    struct cs_host *host = request_deal(self, "reallocate", CS_PREEMPTS, "flag preempts");
    struct host_object *object = (struct host_object *)self;

    if (host == NULL)
        return NULL;
    if (!PyCallable_Check(key))
        return PyErr_Format(PyExc_TypeError, "reallocate() needs a function that returns the "
                            "key of a job, found %R", key);
    object->ranks = key;
    cs_reallocate(host, key_of);
    object->ranks = NULL;
    object->op++;               /* tasks were started */
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- sizes and places ---- */

/* Calls READ for each tuple of a list: it fills in the n-th item of `out`, behind those
 * that it filled.  Returns how many there are; -1: a Python error is set. */
typedef bool read_row_fn(const struct cs_host *host, PyObject *const *row, void *out,
                         Py_ssize_t n);

static Py_ssize_t read_rows(const struct cs_host *host, PyObject *list, Py_ssize_t width,
                            read_row_fn *read, void *out)
{
    Py_ssize_t rows = PySequence_Fast_GET_SIZE(list);

    for (Py_ssize_t n = 0; n < rows; n++) {
        PyObject *row = PySequence_Fast_GET_ITEM(list, n);

        if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != width) {
            PyErr_Format(PyExc_TypeError, "%s: a tuple of %zd is needed, found %R", py_call,
                         width, row);
            return -1;
        }
        if (!read(host, &PyTuple_GET_ITEM(row, 0), out, n))
            return -1;
    }
    return rows;
}

/* For read_rows(): a row is (job, gpus). */
static bool read_size(const struct cs_host *host, PyObject *const *row, void *out, Py_ssize_t n)
{
    struct cs_size *size = (struct cs_size *)out + n;

    return py_to_job(host, row[0], &size->job) && py_to_u32(row[1], &size->gpus);
}

/* A job comes with all its nodes, one after the other. */
static bool read_spot(const struct cs_host *host, PyObject *const *row, void *out, Py_ssize_t n)
{
    struct cs_node_gpus *spot = (struct cs_node_gpus *)out + n;

    return py_to_job(host, row[0], &spot->job) &&
           py_to_spot(host, row + 1, n == 0 ? NULL : spot - 1, spot);
}

/* All rows are read before the host gets any, so that an error changes nothing. */
PyObject *py_host_set_sizes(PyObject *self, PyObject *sizes)
{
    struct cs_host *host = request_deal(self, "set_sizes", CS_RESIZES, "flag resizes");
    PyObject *list = host == NULL ? NULL : py_to_list(sizes, "(job, gpus)");
    struct cs_size *size = NULL;
    Py_ssize_t count = -1;

    if (list == NULL)
        return NULL;
    size = PyMem_RawMalloc((size_t)(PySequence_Fast_GET_SIZE(list) + 1) * sizeof *size);
    if (size == NULL)
        PyErr_NoMemory();
    else
        count = read_rows(host, list, 2, read_size, size);
    if (count >= 0)
        cs_set_sizes(host, size, (uint32_t)count);
    PyMem_RawFree(size);
    Py_DECREF(list);
    if (count < 0)
        return NULL;
    ((struct host_object *)self)->op++;
    Py_RETURN_NONE;
}

/* As py_host_set_sizes(). */
PyObject *py_host_set_node_gpus(PyObject *self, PyObject *spots)
{
    struct cs_host *host = request_deal(self, "set_node_gpus", CS_RESIZES | CS_PREEMPTS,
                                        "flags resizes and preempts");
    PyObject *list = host == NULL ? NULL : py_to_list(spots, "(job, node, gpus)");
    struct cs_node_gpus *spot = NULL;
    Py_ssize_t count = -1;

    if (list == NULL)
        return NULL;
    spot = PyMem_RawMalloc((size_t)(PySequence_Fast_GET_SIZE(list) + 1) * sizeof *spot);
    if (spot == NULL)
        PyErr_NoMemory();
    else
        count = read_rows(host, list, 3, read_spot, spot);
    if (count >= 0)
        cs_set_node_gpus(host, spot, (uint32_t)count);
    PyMem_RawFree(spot);
    Py_DECREF(list);
    if (count < 0)
        return NULL;
    ((struct host_object *)self)->op++;
    Py_RETURN_NONE;
}

/* ---- plans ---- */

/* A plan, clustersim.Plan for Python. */
struct plan_object {
    PyObject_HEAD
    struct host_object *host;   /* whose trial has the memory of the plan */
    struct cs_plan *plan;
    int64_t from_ns;            /* where it begins; -1: clear() was not called yet */
};

/* Plan(host).  The plan lies in the arena of the trial and is good as long as the host;
 * the object keeps the host object alive, which says when that is over. */
static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *host;
    struct plan_object *plan;

    (void)names;
    if (!PyArg_ParseTuple(args, "O!", &py_host_type, &host) ||
        py_host_request(host, "Plan") == NULL)
        return NULL;
    plan = (struct plan_object *)type->tp_alloc(type, 0);
    if (plan == NULL)
        return NULL;
    plan->host = (struct host_object *)Py_NewRef(host);
    plan->plan = cs_plan_new(plan->host->host);
    plan->from_ns = -1;
    return (PyObject *)plan;
}

/* The plan itself lies in the arena of the trial. */
static void plan_dealloc(PyObject *self)
{
    Py_XDECREF(((struct plan_object *)self)->host);
    Py_TYPE(self)->tp_free(self);
}

/* The plan, for that method of it; only clear() is for one that was not begun. */
static struct cs_plan *plan_of(PyObject *self, const char *method)
{
    struct plan_object *plan = (struct plan_object *)self;

    if (py_host_request((PyObject *)plan->host, method) == NULL)
        return NULL;
    if (plan->from_ns >= 0 || method[0] == 'c')
        return plan->plan;
    PyErr_Format(PyExc_RuntimeError, "%s: clear() of the plan comes first", method);
    return NULL;
}

/* Is it a time of the plan?  False: an error is set. */
static bool is_of_plan(PyObject *self, int64_t time_ns)
{
    int64_t from_ns = ((struct plan_object *)self)->from_ns;

    if (time_ns >= from_ns)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: the plan begins at %lld ns, found %lld", py_call,
                 (long long)from_ns, (long long)time_ns);
    return false;
}

/* A time before that of what never happens, at which a plan ends.  False: a Python error is
 * set. */
static bool to_begin(PyObject *value, int64_t *out)
{
    if (!py_to_time(value, out))
        return false;
    if (*out < INT64_MAX)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: a plan begins before 2**63 - 1 ns, found %R", py_call,
                 value);
    return false;
}

/* clear(from_ns, gpus): makes the plan empty, or begins it. */
static PyObject *plan_clear(PyObject *self, PyObject *const *arg, Py_ssize_t count)
{
    struct cs_plan *plan = plan_of(self, "clear");
    int64_t from_ns;
    uint32_t gpus;

    if (plan == NULL || !py_is_count(count, 2, 2, "clear") || !to_begin(arg[0], &from_ns) ||
        !py_to_u32(arg[1], &gpus))
        return NULL;
    cs_plan_clear(plan, from_ns, gpus);
    ((struct plan_object *)self)->from_ns = from_ns;
    Py_RETURN_NONE;
}

/* The plan never begins earlier than before. */
static PyObject *plan_forget(PyObject *self, PyObject *value)
{
    struct cs_plan *plan = plan_of(self, "forget");
    int64_t now_ns;

    if (plan == NULL || !to_begin(value, &now_ns))
        return NULL;
    cs_plan_forget(plan, now_ns);
    if (now_ns > ((struct plan_object *)self)->from_ns)
        ((struct plan_object *)self)->from_ns = now_ns;
    Py_RETURN_NONE;
}

/* Only times of the plan can be taken, and cs_plan_take() does not check that. */
static PyObject *plan_take(PyObject *self, PyObject *const *arg, Py_ssize_t count)
{
    struct cs_plan *plan = plan_of(self, "take");
    int64_t start_ns, end_ns, gpus;

    if (plan == NULL || !py_is_count(count, 3, 3, "take") || !py_to_time(arg[0], &start_ns) ||
        !is_of_plan(self, start_ns) || !py_to_time(arg[1], &end_ns) ||
        !py_to_i64(arg[2], &gpus))
        return NULL;
    if (gpus < -(int64_t)UINT32_MAX || gpus > UINT32_MAX)
        return PyErr_Format(PyExc_ValueError, "take: GPUs must be below 2**32, found %R",
                            arg[2]);
    cs_plan_take(plan, start_ns, end_ns, gpus);
    Py_RETURN_NONE;
}

/* find(gpus, run_ns, before_ns): a question, but a request by its cost, so that before() and
 * key() cannot ask it. */
static PyObject *plan_find(PyObject *self, PyObject *const *arg, Py_ssize_t count)
{
    struct cs_plan *plan = plan_of(self, "find");
    int64_t run_ns, before_ns = INT64_MAX;
    uint32_t gpus;

    if (plan == NULL || !py_is_count(count, 2, 3, "find") || !py_to_u32(arg[0], &gpus) ||
        !py_to_time(arg[1], &run_ns) || (count == 3 && !py_to_time(arg[2], &before_ns)))
        return NULL;
    return PyLong_FromLongLong(cs_plan_find(plan, gpus, run_ns, before_ns));
}

static PyMethodDef plan_methods[] = {
    { "clear", (PyCFunction)(void (*)(void))plan_clear, METH_FASTCALL,
      "clear(from_ns, gpus): these GPUs are free from then on; before anything else" },
    { "forget", plan_forget, METH_O, "forget(now_ns): the plan begins now" },
    { "take", (PyCFunction)(void (*)(void))plan_take, METH_FASTCALL,
      "take(start_ns, end_ns, gpus): takes GPUs out for a time; below 0: puts them back" },
    { "find", (PyCFunction)(void (*)(void))plan_find, METH_FASTCALL,
      "find(gpus, run_ns, before_ns=NEVER) -> int: the earliest time from which gpus "
      "stay free for run_ns, or until before_ns" },
    { NULL, NULL, 0, NULL }
};

static PyTypeObject plan_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "clustersim.Plan", .tp_basicsize = sizeof(struct plan_object),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = plan_new, .tp_dealloc = plan_dealloc,
    .tp_methods = plan_methods,
    .tp_doc = "Plan(host): how many GPUs are free over time, to reserve them.",
};

bool py_deal_ready(PyObject *module)
{
    return PyType_Ready(&plan_type) == 0 &&
           PyModule_AddObject(module, "Plan", Py_NewRef((PyObject *)&plan_type)) == 0;
}
