/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * want.h - arguments from Python.  All return false with a Python error set if the value
 * is none that they take; *out is then unspecified.
 */
#ifndef CLUSTERSIM_WANT_H
#define CLUSTERSIM_WANT_H

#include "core.h"

#define WANT_SPOTS_MAX 1024u

/* A want and the room that it points into, so that it must not be copied. */
struct want {
    struct cs_want want;        /* for the host */
    struct cs_node_gpus spot[WANT_SPOTS_MAX];   /* what want.spot points to */
};

/* The method that is called, for messages about its arguments; a text that stays. */
extern const char *py_call;

/* Is that a number of arguments that the method `name` takes? */
bool py_is_count(Py_ssize_t given, Py_ssize_t min, Py_ssize_t max, const char *name);
/* Whole numbers, no floats: a count, below 2^32; py_to_time: nanoseconds, 0 or more. */
bool py_to_u32(PyObject *value, uint32_t *out);
bool py_to_i64(PyObject *value, int64_t *out);
bool py_to_time(PyObject *value, int64_t *out);
/* A Task of this trial that waits. */
bool py_to_task(struct host_object *host, PyObject *value, struct task_id *out);

/* A new list or tuple of what can be walked through; `what` are its items.  NULL: an error
 * is set. */
PyObject *py_to_list(PyObject *value, const char *what);

/* ids.c: numbers of what there is; another one is an IndexError.  `what`, as "a job". */
bool py_to_index(PyObject *value, uint32_t count, const char *what, uint32_t *out);
/* A job by its number, or a Task of it: one that may be asked about, or any one that was
 * submitted.  Likewise leases: one that is held, or any one that was. */
bool py_to_job(const struct cs_host *host, PyObject *value, struct job_id *out);
bool py_to_any_job(const struct cs_host *host, PyObject *value, struct job_id *out);
bool py_to_lease(const struct cs_host *host, PyObject *value, struct lease_id *out);
bool py_to_any_lease(const struct cs_host *host, PyObject *value, struct lease_id *out);
/* Of a job that may be asked about.  None: CS_ALL_ROLES. */
bool py_to_role(const struct cs_host *host, PyObject *value, struct job_id job, uint32_t *out);
bool py_to_role_or_all(const struct cs_host *host, PyObject *value, struct job_id job,
                       uint32_t *out);
bool py_to_phase(const struct cs_host *host, PyObject *value, struct job_id job, uint32_t *out);
bool py_to_pool(const struct cs_host *host, PyObject *value, uint32_t *out);
bool py_to_node(const struct cs_host *host, PyObject *value, uint32_t *out);
/* A mask of pools that there are; 0: all. */
bool py_to_mask(const struct cs_host *host, PyObject *value, uint32_t *out);
/* A node and GPUs of it, for out->job; behind `last` of a list, or NULL. */
bool py_to_spot(const struct cs_host *host, PyObject *const value[2],
                const struct cs_node_gpus *last, struct cs_node_gpus *out);

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
