/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * want.c - arguments of the host's methods, from Python.
 */
#include "want.h"

#include <string.h>

#include "objects.h"

/* METH_FASTCALL does not count arguments; the messages are as those of Python's own functions. */
bool py_is_count(Py_ssize_t given, Py_ssize_t min, Py_ssize_t max, const char *name)
{
    if (given >= min && given <= max)
        return true;
    if (min == max)
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, found %zd", name, min, given);
    else
        PyErr_Format(PyExc_TypeError, "%s() takes %zd to %zd arguments, found %zd", name, min,
                     max, given);
    return false;
}

/* A bool is a whole number in Python, and is taken as one. */
bool py_to_u32(PyObject *value, uint32_t *out)
{
    int over = 0;
    long long number = PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &over) : 0;

    if (!PyLong_Check(value))
        PyErr_Format(PyExc_TypeError, "%s: a whole number is needed, found %R", py_call, value);
    else if (over != 0 || number < 0 || number > UINT32_MAX)
        PyErr_Format(PyExc_ValueError, "%s: a number from 0 to %u is needed, found %R", py_call,
                     UINT32_MAX, value);
    *out = (uint32_t)number;
    return PyErr_Occurred() == NULL;
}

/* On overflow Python stores -1 in *out: the error tells that it is no time. */
bool py_to_i64(PyObject *value, int64_t *out)
{
    int over = 0;

    if (!PyLong_Check(value))
        PyErr_Format(PyExc_TypeError, "%s: whole nanoseconds are needed, found %R", py_call,
                     value);
    *out = PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &over) : 0;
    if (over != 0)
        PyErr_Format(PyExc_ValueError, "%s: a number within 2**63 is needed, found %R", py_call,
                     value);
    return PyErr_Occurred() == NULL;
}

/* Negative times are refused here, since the host asserts that there are none. */
bool py_to_time(PyObject *value, int64_t *out)
{
    if (!py_to_i64(value, out))
        return false;
    if (*out < 0)
        PyErr_Format(PyExc_ValueError, "%s: a time must not be negative, found %R", py_call,
                     value);
    return *out >= 0;
}

/* A task that waits no longer is a LookupError. */
bool py_to_task(struct host_object *host, PyObject *value, struct task_id *out)
{
    if (!PyObject_TypeCheck(value, &py_task_type)) {
        PyErr_Format(PyExc_TypeError, "%s: a Task is needed, found %R", py_call, value);
        return false;
    }
    if (((struct task_object *)value)->host != host) {
        PyErr_Format(PyExc_ValueError, "%s: the task is of another trial", py_call);
        return false;
    }
    out->i = ((struct task_object *)value)->id;
    return py_task_pub((struct task_object *)value) != NULL;
}

/* Errors that are no TypeError come from the caller's iterator, and are handed on. */
PyObject *py_to_list(PyObject *value, const char *what)
{
    PyObject *list = PySequence_Fast(value, "");

    if (list == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s: a list of %s is needed, found %R", py_call, what,
                     value);
    return list;
}

/* Adds the bit of the pool of that name. */
static bool add_pool(const struct cs_host *host, const char *name, uint32_t *mask)
{
    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if (strcmp(cs_pool_name(host, p), name) == 0) {
            *mask |= (uint32_t)1 << p;
            return true;
        }
    PyErr_Format(PyExc_LookupError, "%s: there is no pool named '%s'", py_call, name);
    return false;
}

/* An empty list of names is refused: 0 would be taken for all pools. */
bool py_to_pools(const struct cs_host *host, PyObject *value, uint32_t *out)
{
    PyObject *names, *name;
    const char *text;
    bool ok = true;

    *out = 0;
    if (PyLong_Check(value))
        return py_to_mask(host, value, out);
    if (PyUnicode_Check(value))
        return (text = PyUnicode_AsUTF8(value)) != NULL && add_pool(host, text, out);
    names = PyObject_GetIter(value);
    while (ok && names != NULL && (name = PyIter_Next(names)) != NULL) {
        text = PyUnicode_AsUTF8(name);
        ok = text != NULL && add_pool(host, text, out);
        Py_DECREF(name);
    }
    Py_XDECREF(names);
    if (*out == 0 && PyErr_Occurred() == NULL)      /* a mask of 0 is all of them */
        PyErr_Format(PyExc_ValueError, "%s: %R names no pool; 0 stands for all", py_call, value);
    return ok && names != NULL && PyErr_Occurred() == NULL;
}

/* ---- wants ---- */

/* Keys of a want, in the order of want_name. */
enum want_key {
    WANT_ROLE, WANT_GPUS, WANT_POOLS, WANT_TAKE_IDLE, WANT_IDLE, WANT_CORES, WANT_FIRST,
    WANT_COUNT, WANT_SPOT, WANT_TYPE, WANT_KEYS
};
static const char *const want_name[WANT_KEYS] = {
    "role", "gpus", "pools", "take_idle", "idle_ns", "cores", "first_node", "node_count",
    "spot", "gpu_type",
};

/* "(node, gpus), ..." */
static bool set_spot(const struct cs_host *host, PyObject *value, struct want *out)
{
    PyObject *list = py_to_list(value, "(node, gpus)");
    Py_ssize_t count = list == NULL ? 0 : PySequence_Fast_GET_SIZE(list);

    if (count > WANT_SPOTS_MAX)
        PyErr_Format(PyExc_ValueError, "%s: spot must have at most %u nodes, found %zd",
                     py_call, WANT_SPOTS_MAX, count);
    for (Py_ssize_t i = 0; PyErr_Occurred() == NULL && i < count; i++) {
        PyObject *pair = PySequence_Fast_GET_ITEM(list, i);

        out->spot[i] = (struct cs_node_gpus){ { ID_NONE }, 0, 0 };
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2)
            PyErr_Format(PyExc_TypeError, "%s: spot must be a list of (node, gpus), found %R",
                         py_call, pair);
        else
            (void)py_to_spot(host, &PyTuple_GET_ITEM(pair, 0),
                             i == 0 ? NULL : &out->spot[i - 1], &out->spot[i]);
    }
    out->want.spot = out->spot;
    out->want.spot_count = (uint32_t)count;
    Py_XDECREF(list);
    return PyErr_Occurred() == NULL;
}

/* Sets one key of a want from its value. */
static bool set_want(const struct cs_host *host, enum want_key key, PyObject *value,
                     struct want *out)
{
    struct cs_want *want = &out->want;
    int truth;

    switch (key) {
    case WANT_ROLE: return py_to_u32(value, &want->role);
    case WANT_GPUS: return py_to_u32(value, &want->gpus);
    case WANT_POOLS: return py_to_pools(host, value, &want->pool_mask);
    case WANT_IDLE: return py_to_time(value, &want->idle_ns);
    case WANT_CORES: return py_to_u32(value, &want->cores);
    case WANT_FIRST: return py_to_u32(value, &want->first_node);
    case WANT_COUNT: return py_to_u32(value, &want->node_count);
    case WANT_TYPE: return py_to_u32(value, &want->gpu_type);
    case WANT_SPOT: return set_spot(host, value, out);
    case WANT_TAKE_IDLE:
        truth = PyObject_IsTrue(value);
        want->take_idle = truth > 0;
        return truth >= 0;
    case WANT_KEYS: break;
    }
    return false;
}

/* Finds the key of that name; an unknown one is an error that lists all. */
static bool set_by_name(const struct cs_host *host, PyObject *name, PyObject *value,
                        struct want *out)
{
    const char *text = PyUnicode_AsUTF8(name);

    for (unsigned k = 0; text != NULL && k < WANT_KEYS; k++)
        if (strcmp(text, want_name[k]) == 0)
            return set_want(host, (enum want_key)k, value, out);
    if (text != NULL)
        PyErr_Format(PyExc_TypeError, "%s: a want has no key '%s'; it has role, gpus, pools, "
                     "take_idle, idle_ns, cores, first_node, node_count, spot, gpu_type",
                     py_call, text);
    return false;
}

/* `value` has one entry for each of `names`.  NULL for names: nothing is wanted. */
bool py_to_want(const struct cs_host *host, PyObject *const *value, PyObject *names,
             struct job_id job, struct want *out)
{
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);

    memset(&out->want, 0, sizeof out->want);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!set_by_name(host, PyTuple_GET_ITEM(names, i), value[i], out))
            return false;
    for (uint32_t i = 0; i < out->want.spot_count; i++)
        out->spot[i].job = job;
    return true;
}

/* As py_to_want(), of a dict whose keys need not be texts: set_by_name() refuses others. */
bool py_to_want_dict(const struct cs_host *host, PyObject *dict, struct job_id job,
                  struct want *out)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;

    memset(&out->want, 0, sizeof out->want);
    if (!PyDict_Check(dict)) {
        PyErr_Format(PyExc_TypeError, "%s: a want is a dict, found %R", py_call, dict);
        return false;
    }
    while (PyDict_Next(dict, &at, &name, &value))
        if (!set_by_name(host, name, value, out))
            return false;
    for (uint32_t i = 0; i < out->want.spot_count; i++)
        out->spot[i].job = job;
    return true;
}

/* Only the four keys that a site sets; a key of 0 is left out, as the host would fill it in. */
PyObject *py_want_dict(const struct cs_want *want)
{
    PyObject *dict = PyDict_New();

    for (unsigned k = 0; dict != NULL && k < WANT_KEYS; k++) {
        uint32_t number = k == WANT_GPUS ? want->gpus : k == WANT_POOLS ? want->pool_mask
                        : k == WANT_TYPE ? want->gpu_type : k == WANT_ROLE ? want->role : 0;
        PyObject *value = number == 0 ? NULL : PyLong_FromUnsignedLong(number);

        if (number != 0 &&
            (value == NULL || PyDict_SetItemString(dict, want_name[k], value) != 0))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}
