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

/* Deals are for policies that lease to whole jobs. */
static struct cs_host *request_deal(PyObject *self, uint32_t flag, const char *word)
{
    struct cs_host *host = py_host_request(self);

    if (host == NULL)
        return NULL;
    if ((cs_table(host)->flags & CS_PER_PHASE) == 0 && (cs_table(host)->flags & flag) != 0)
        return host;
    PyErr_Format(PyExc_RuntimeError, "this needs the flag %s, and not per_phase", word);
    return NULL;
}

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
    struct cs_host *host = request_deal(self, CS_PREEMPTS, "preempts");
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

/* A list of tuples of `width` numbers, the first one a job; the caller frees it. */
static uint32_t *read_rows(struct cs_host *host, PyObject *value, int width, uint32_t *count)
{
    PyObject *list = PySequence_Fast(value, width == 2
                                     ? "set_sizes() needs a list of (job, gpus)"
                                     : "set_node_gpus() needs a list of (job, node, gpus)");
    Py_ssize_t rows = list == NULL ? 0 : PySequence_Fast_GET_SIZE(list);
    uint32_t *row = list == NULL ? NULL
                                 : PyMem_RawMalloc(((size_t)rows + 1) * 3 * sizeof *row);

    if (list != NULL && row == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; PyErr_Occurred() == NULL && i < rows; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, i);
        struct job_id job;

        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != width) {
            PyErr_Format(PyExc_TypeError, "a tuple of %d is needed, found %R", width, item);
            break;
        }
        if (py_to_job(PyTuple_GET_ITEM(item, 0), &job) &&
            py_to_u32(PyTuple_GET_ITEM(item, 1), &row[3 * i + 1]) &&
            (width == 2 || py_to_u32(PyTuple_GET_ITEM(item, 2), &row[3 * i + 2])))
            row[3 * i] = job.i;
        if (width == 3 && PyErr_Occurred() == NULL && row[3 * i + 1] >= cs_node_count(host))
            PyErr_Format(PyExc_IndexError, "node: there are %u, found the index %u",
                         cs_node_count(host), row[3 * i + 1]);
    }
    Py_XDECREF(list);
    *count = (uint32_t)rows;
    if (PyErr_Occurred() == NULL)
        return row;
    PyMem_RawFree(row);
    return NULL;
}

PyObject *py_host_set_sizes(PyObject *self, PyObject *sizes)
{
    struct cs_host *host = request_deal(self, CS_RESIZES, "resizes");
    uint32_t count, *row = host == NULL ? NULL : read_rows(host, sizes, 2, &count);
    struct cs_size *size = row == NULL ? NULL
                                       : PyMem_RawMalloc((count + 1) * sizeof *size);

    for (uint32_t i = 0; size != NULL && i < count; i++)
        size[i] = (struct cs_size){ { row[3 * i] }, row[3 * i + 1] };
    if (size != NULL)
        cs_set_sizes(host, size, count);
    PyMem_RawFree(size);
    PyMem_RawFree(row);
    if (row == NULL)
        return NULL;
    ((struct host_object *)self)->op++;
    Py_RETURN_NONE;
}

PyObject *py_host_set_node_gpus(PyObject *self, PyObject *spots)
{
    struct cs_host *host = request_deal(self, CS_RESIZES, "resizes");
    uint32_t count, *row = host == NULL ? NULL : read_rows(host, spots, 3, &count);
    struct cs_node_gpus *spot = row == NULL ? NULL
                                            : PyMem_RawMalloc((count + 1) * sizeof *spot);

    for (uint32_t i = 0; spot != NULL && i < count; i++)
        spot[i] = (struct cs_node_gpus){ { row[3 * i] }, row[3 * i + 1], row[3 * i + 2] };
    if (spot != NULL)
        cs_set_node_gpus(host, spot, count);
    PyMem_RawFree(spot);
    PyMem_RawFree(row);
    if (row == NULL)
        return NULL;
    ((struct host_object *)self)->op++;
    Py_RETURN_NONE;
}

/* ---- plans ---- */

struct plan_object {
    PyObject_HEAD
    struct host_object *host;   /* whose trial has the memory of the plan */
    struct cs_plan *plan;
};

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *host;
    struct plan_object *plan;

    (void)names;
    if (!PyArg_ParseTuple(args, "O!", &py_host_type, &host) || py_host_request(host) == NULL)
        return NULL;
    plan = (struct plan_object *)type->tp_alloc(type, 0);
    if (plan == NULL)
        return NULL;
    plan->host = (struct host_object *)Py_NewRef(host);
    plan->plan = cs_plan_new(plan->host->host);
    return (PyObject *)plan;
}

static void plan_dealloc(PyObject *self)
{
    Py_XDECREF(((struct plan_object *)self)->host);
    Py_TYPE(self)->tp_free(self);
}

static struct cs_plan *plan_of(PyObject *self)
{
    struct plan_object *plan = (struct plan_object *)self;

    return py_host_request((PyObject *)plan->host) == NULL ? NULL : plan->plan;
}

static PyObject *plan_clear(PyObject *self, PyObject *const *arg, Py_ssize_t count)
{
    struct cs_plan *plan = plan_of(self);
    int64_t from_ns;
    uint32_t gpus;

    if (plan == NULL || !py_is_count(count, 2, 2, "clear") || !py_to_time(arg[0], &from_ns) ||
        !py_to_u32(arg[1], &gpus))
        return NULL;
    cs_plan_clear(plan, from_ns, gpus);
    Py_RETURN_NONE;
}

static PyObject *plan_forget(PyObject *self, PyObject *value)
{
    struct cs_plan *plan = plan_of(self);
    int64_t now_ns;

    if (plan == NULL || !py_to_time(value, &now_ns))
        return NULL;
    cs_plan_forget(plan, now_ns);
    Py_RETURN_NONE;
}

static PyObject *plan_take(PyObject *self, PyObject *const *arg, Py_ssize_t count)
{
    struct cs_plan *plan = plan_of(self);
    int64_t start_ns, end_ns, gpus;

    if (plan == NULL || !py_is_count(count, 3, 3, "take") || !py_to_time(arg[0], &start_ns) ||
        !py_to_time(arg[1], &end_ns) || !py_to_i64(arg[2], &gpus))
        return NULL;
    cs_plan_take(plan, start_ns, end_ns, gpus);
    Py_RETURN_NONE;
}

static PyObject *plan_find(PyObject *self, PyObject *const *arg, Py_ssize_t count)
{
    struct cs_plan *plan = plan_of(self);
    int64_t run_ns, before_ns = INT64_MAX;
    uint32_t gpus;

    if (plan == NULL || !py_is_count(count, 2, 3, "find") || !py_to_u32(arg[0], &gpus) ||
        !py_to_time(arg[1], &run_ns) || (count == 3 && !py_to_time(arg[2], &before_ns)))
        return NULL;
    return PyLong_FromLongLong(cs_plan_find(plan, gpus, run_ns, before_ns));
}

static PyMethodDef plan_methods[] = {
    { "clear", (PyCFunction)(void (*)(void))plan_clear, METH_FASTCALL,
      "clear(from_ns, gpus): so many are free from then on; before anything else" },
    { "forget", plan_forget, METH_O, "forget(now_ns): the plan begins now" },
    { "take", (PyCFunction)(void (*)(void))plan_take, METH_FASTCALL,
      "take(start_ns, end_ns, gpus): takes GPUs out for a time; below 0: puts them back" },
    { "find", (PyCFunction)(void (*)(void))plan_find, METH_FASTCALL,
      "find(gpus, run_ns, before_ns=NEVER) -> int: the earliest time at which so many stay "
      "free for so long, or until before_ns" },
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
