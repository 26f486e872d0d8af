/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * want.h - arguments from Python.  All return false with a Python error set if the value
 * is none that they take; *out is then unspecified.
 */
#ifndef CLUSTERSIM_WANT_H
#define CLUSTERSIM_WANT_H

#include "core.h"

#define WANT_SPOTS_MAX 1024u

struct want {
    struct cs_want want;
    struct cs_node_gpus spot[WANT_SPOTS_MAX];   /* what want.spot points to */
};

/* Is that a number of arguments that the method `name` takes? */
bool py_is_count(Py_ssize_t given, Py_ssize_t min, Py_ssize_t max, const char *name);
/* Whole numbers, no floats; py_to_time: nanoseconds, 0 or more. */
bool py_to_u32(PyObject *value, uint32_t *out);
bool py_to_i64(PyObject *value, int64_t *out);
bool py_to_time(PyObject *value, int64_t *out);
/* A Task of this trial that waits. */
bool py_to_task(struct host_object *host, PyObject *value, struct task_id *out);
/* The number of a job, or a Task of it. */
bool py_to_job(PyObject *value, struct job_id *out);
/* The number of a role; None: CS_ALL_ROLES. */
bool py_to_role(PyObject *value, uint32_t *out);
/* A mask of pools, a pool's name, or several names. */
bool py_to_pools(const struct cs_host *host, PyObject *value, uint32_t *out);
/* A want from the keywords of a call (values and their names), or from a dict; what is
 * not said is zero.  `job` is whose GPUs a spot speaks of.  out->want points into *out. */
bool py_to_want(const struct cs_host *host, PyObject *const *value, PyObject *names,
             struct job_id job, struct want *out);
bool py_to_want_dict(const struct cs_host *host, PyObject *dict, struct job_id job,
                  struct want *out);
/* Returns a new dict of the role, GPUs, pools and GPU type of a want that are not 0; NULL:
 * a Python error is set. */
PyObject *py_want_dict(const struct cs_want *want);

#endif
