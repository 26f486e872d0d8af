/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ids.c - numbers from Python that name something: is it there?
 *
 * The host trusts a policy to name jobs, leases and roles that there are, and asserts it.
 * A class in Python is not trusted, so each number is looked at here, before the host has it.
 */
#include "want.h"

#include "objects.h"
#include "policies/known.h"

const char *py_call = "";

/* A whole number, if the host can hold it: else UINT32_MAX, which names nothing.  False:
 * it is no whole number, and a Python error is set. */
static bool to_number(PyObject *value, uint32_t *out)
{
    int over = 0;
    long long number;

    if (!PyLong_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s: a whole number is needed, found %R", py_call, value);
        return false;
    }
    number = PyLong_AsLongLongAndOverflow(value, &over);
    *out = over != 0 || number < 0 || number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    return true;
}

/* Sets an IndexError unless the number is below count.  `what`: what the number is of, as "a
 * job".  False: it is not below. */
static bool check_below(PyObject *value, uint32_t number, uint32_t count, const char *what)
{
    if (number < count)
        return true;
    if (count == 0)
        PyErr_Format(PyExc_IndexError, "%s: %s must be one that there is, and there is none; "
                     "found %R", py_call, what, value);
    else
        PyErr_Format(PyExc_IndexError, "%s: %s must be from 0 to %u, found %R", py_call, what,
                     count - 1, value);
    return false;
}

bool py_to_index(PyObject *value, uint32_t count, const char *what, uint32_t *out)
{
    return to_number(value, out) && check_below(value, *out, count, what);
}

/* A Task stands for its job, also when it waits no longer. */
bool py_to_any_job(const struct cs_host *host, PyObject *value, struct job_id *out)
{
    if (PyObject_TypeCheck(value, &py_task_type)) {
        out->i = ((struct task_object *)value)->job;
        return true;
    }
    return py_to_index(value, cs_job_count(host), "a job", &out->i);
}

bool py_to_job(const struct cs_host *host, PyObject *value, struct job_id *out)
{
    if (!py_to_any_job(host, value, out))
        return false;
    if (cs_job_known(host, *out))
        return true;
    PyErr_Format(PyExc_IndexError, "%s: job %u has ended, and nothing is known of it any more "
                 "(of jobs 0 to %u)", py_call, out->i, cs_job_count(host) - 1);
    return false;
}

bool py_to_any_lease(const struct cs_host *host, PyObject *value, struct lease_id *out)
{
    return py_to_index(value, cs_lease_room(host), "a lease", &out->i);
}

bool py_to_lease(const struct cs_host *host, PyObject *value, struct lease_id *out)
{
    if (!py_to_any_lease(host, value, out))
        return false;
    if (cs_lease_held(host, *out))
        return true;
    PyErr_Format(PyExc_IndexError, "%s: lease %u is over; those that are held are lease_at(i) "
                 "for i below %u", py_call, out->i, cs_lease_count(host));
    return false;
}

bool py_to_role(const struct cs_host *host, PyObject *value, struct job_id job, uint32_t *out)
{
    return py_to_index(value, cs_request(host, job)->form->role_count, "a role", out);
}

bool py_to_role_or_all(const struct cs_host *host, PyObject *value, struct job_id job,
                       uint32_t *out)
{
    *out = CS_ALL_ROLES;
    return value == Py_None || py_to_role(host, value, job, out);
}

bool py_to_phase(const struct cs_host *host, PyObject *value, struct job_id job, uint32_t *out)
{
    return py_to_index(value, cs_request(host, job)->form->phase_count, "a phase", out);
}

bool py_to_pool(const struct cs_host *host, PyObject *value, uint32_t *out)
{
    return py_to_index(value, cs_pool_count(host), "a pool", out);
}

bool py_to_node(const struct cs_host *host, PyObject *value, uint32_t *out)
{
    return py_to_index(value, cs_node_count(host), "a node", out);
}

/* A number that to_number() could not hold became UINT32_MAX, which is a mask only where there
 * are 32 pools; PyObject_IsTrue() tells 0 from numbers that are not. */
bool py_to_mask(const struct cs_host *host, PyObject *value, uint32_t *out)
{
    uint32_t count = cs_pool_count(host), all = UINT32_MAX >> (32 - count);

    if (!to_number(value, out))
        return false;
    if (*out <= all && PyObject_IsTrue(value) == (*out != 0))
        return true;
    PyErr_Format(PyExc_IndexError, "%s: a mask of %u pools must be from 0 to %u, found %R",
                 py_call, count, all, value);
    return false;
}

/* Nodes must rise, so that none is named twice. */
bool py_to_spot(const struct cs_host *host, PyObject *const value[2],
                const struct cs_node_gpus *last, struct cs_node_gpus *out)
{
    if (!py_to_node(host, value[0], &out->node) || !py_to_u32(value[1], &out->gpus))
        return false;
    if (last != NULL && last->job.i == out->job.i && last->node >= out->node)
        PyErr_Format(PyExc_ValueError, "%s: nodes of a job must rise, found %u behind %u",
                     py_call, out->node, last->node);
    else if (out->gpus > cs_node(host, out->node).gpus)
        PyErr_Format(PyExc_ValueError, "%s: node %u has %u GPUs, found %u", py_call, out->node,
                     cs_node(host, out->node).gpus, out->gpus);
    return PyErr_Occurred() == NULL;
}
