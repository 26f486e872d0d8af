/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects.h - tasks, jobs, leases and nodes as Python objects.
 */
#ifndef CLUSTERSIM_OBJECTS_H
#define CLUSTERSIM_OBJECTS_H

#include "core.h"
#include "policies/phases.h"

/* Returns what a task is now, good until the next request.  NULL: a Python error says
 * that it waits no longer, or that its trial is over. */
const struct cs_task *py_task_pub(struct task_object *task);

/* Return new objects, which are copies: they stay as they are when the host goes on.
 * NULL: a Python error is set. */
PyObject *py_job_new(const struct cs_host *host, struct job_id id);
PyObject *py_lease_new(const struct cs_host *host, struct lease_id id);
PyObject *py_node_new(struct cs_node node);
PyObject *py_forecast_new(const struct cs_forecast *forecast);
/* Returns a number, or None for ID_NONE. */
PyObject *py_id_or_none(uint32_t id);

/* Adds the types to the module.  False: a Python error is set. */
bool py_objects_ready(PyObject *module);

#endif
