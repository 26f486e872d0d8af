/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * want.h - arguments from Python.  False: a Python error is set.
 */
#ifndef CLUSTERSIM_WANT_H
#define CLUSTERSIM_WANT_H

#include "core.h"

#define WANT_SPOTS_MAX 1024u

struct want {
    struct cs_want want;
    struct cs_node_gpus spot[WANT_SPOTS_MAX];   /* what want.spot points to */
};

bool py_is_count(Py_ssize_t given, Py_ssize_t min, Py_ssize_t max, const char *name);
bool py_to_u32(PyObject *value, uint32_t *out);
bool py_to_i64(PyObject *value, int64_t *out);
bool py_to_time(PyObject *value, int64_t *out);
/* A Task that waits. */
bool py_to_task(struct host_object *host, PyObject *value, struct task_id *out);
/* A number, or a Task. */
bool py_to_job(PyObject *value, struct job_id *out);
/* A number; None: all. */
bool py_to_role(PyObject *value, uint32_t *out);
/* A mask, a name or names. */
bool py_to_pools(const struct cs_host *host, PyObject *value, uint32_t *out);
/* Keywords of a call; what is not said is zero. */
bool py_to_want(const struct cs_host *host, PyObject *const *value, PyObject *names,
             struct job_id job, struct want *out);
bool py_to_want_dict(const struct cs_host *host, PyObject *dict, struct job_id job,
                  struct want *out);
/* Role, GPUs, pools and GPU type of a want. */
PyObject *py_want_dict(const struct cs_want *want);

#endif
