/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core.h - what the files of the extension module share.
 *
 * A trial of a Python policy runs in a process of its own, forked by the library; the
 * thread that runs it holds the interpreter's lock from its begin to its end.
 */
#ifndef CLUSTERSIM_CORE_H
#define CLUSTERSIM_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

/* The host as a policy sees it, for as long as its trial goes on. */
struct host_object {
    PyObject_HEAD
    struct cs_host *host;       /* NULL: the trial is over */
    struct self *self;          /* of the trial's policy; not owned */
    uint64_t op;                /* counts calls of ops: pointers are good for one */
    uint64_t seen;              /* of op, when the alarm last looked */
    bool asking;                /* within before() or key(): no requests */
    uint32_t candidate;         /* what next_candidate() told last, or ID_NONE */
    PyObject *ranks;            /* within reallocate(): its key */
};

/* A task: what waits. */
struct task_object {
    PyObject_HEAD
    struct host_object *host;   /* owned: it says when the trial is over */
    const struct cs_task *pub;  /* as of `op` */
    uint64_t op;
    uint32_t id, job, role, phase; /* of the task that it stands for; id ID_NONE: none yet */
};

#if PY_VERSION_HEX < 0x030a0000
/* As Python 3.10 and later have it: one more reference to an object, which is returned. */
static inline PyObject *Py_NewRef(PyObject *object)
{
    Py_INCREF(object);
    return object;
}
#endif

extern PyTypeObject py_host_type, py_task_type;

/* Makes the types and constants of the module ready.  False: a Python error is set. */
bool py_host_ready(PyObject *module);
/* set_verdicts(members): a tuple of the enum members that requests return, in the order
 * of enum cs_verdict; it is kept until the process ends. */
PyObject *py_host_set_verdicts(PyObject *module, PyObject *members);

/* Returns a new host object, which borrows both; NULL: no memory.  Its maker sets `host`
 * to NULL when the trial ends, since Python code may keep the object. */
struct host_object *py_host_object_new(struct cs_host *host, struct self *self);
/* The host, for a request of that method, a text that stays; NULL: a Python error says why
 * there is none. */
struct cs_host *py_host_request(PyObject *host, const char *method);
/* A new task object; NULL: no memory. */
PyObject *py_task_new(struct host_object *host, struct task_id id);
/* Makes an object stand for another task.  Nobody else may hold it, because tasks are
 * compared and hashed by what they stand for. */
void py_task_set(struct task_object *task, struct task_id id);

/* Of the process of a trial: the seconds that Python code may take for one event. */
extern double py_event_limit_s;

/* policy.c: table(cls, base, name, summary, flags, params) returns a class as the table of
 * a policy, in a capsule that owns it. */
PyObject *py_table_new(PyObject *module, PyObject *args);
/* Returns the table that a capsule owns; NULL: it is no such capsule, and a Python error
 * is set. */
const struct cs_policy *py_table_of(PyObject *capsule);
/* Notes a time at which wakeup() is due.  False: a Python error is set. */
bool py_self_wakes_at(struct self *self, int64_t time_ns);
/* The host of a policy's `self`. */
struct host_object *py_self_host(const void *self);

/* deal.c: methods of the host about many jobs, and plans. */
PyObject *py_host_reallocate(PyObject *self, PyObject *key);
PyObject *py_host_set_sizes(PyObject *self, PyObject *sizes);
PyObject *py_host_set_node_gpus(PyObject *self, PyObject *spots);
bool py_deal_ready(PyObject *module);

/* env.c: adds the type Env to the module.  False: a Python error is set. */
bool py_env_ready(PyObject *module);
/* replicas(split) returns the first replica of a split, and how many it has. */
PyObject *py_env_replicas(PyObject *module, PyObject *args);

#endif
