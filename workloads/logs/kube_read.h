/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_read.h - objects of Kubernetes in a tree of YAML: fields by their path,
 * quantities, times, and what a pod requests.
 */
#ifndef WORKLOADS_LOGS_KUBE_READ_H
#define WORKLOADS_LOGS_KUBE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/config/conf.h"

/* What containers of a pod request; GPUs of nvidia.com/gpu, amd.com/gpu, or MIG
 * slices, of which each counts as one. */
struct kube_request {
    int64_t core_milli, gpus;   /* thousandths of a core; whole GPUs */
    double memory_bytes;
    const char *gpu_type;       /* that its node selector names; NULL: any */
    const char *unread;         /* a resource of a device that is not read; or NULL */
    bool mig;                   /* some of the GPUs are slices of MIG */
};

/* Returns the value at a path of keys, such as "metadata.name". NULL: a key of
 * the path is absent, or its value is null. */
const struct conf_node *kube_at(const struct conf_node *object,
                                const char *path);
/* Its text; NULL: absent, or no text. */
const char *kube_text(const struct conf_node *object, const char *path);
/* Is the object of that kind, and does its apiVersion begin with `group`? A
 * group of NULL fits any. */
bool kube_is(const struct conf_node *object, const char *kind,
             const char *group);
/* Is it the name of a resource of which a unit is a GPU?  Slices of MIG are no such. */
bool kube_is_gpu(const char *resource);
/* Labels that name the GPU type of a node, ended by NULL. */
extern const char *const kube_gpu_labels[];
/* A label or an annotation, whose key holds dots. */
const char *kube_label(const struct conf_node *object, const char *key);
/* Reads a quantity: "500m" is 0.5, "64Gi" is 64 x 2^30, "1e3" is 1000. Units
 * are those of the resource.  False: err is at the scalar. */
bool kube_quantity(const struct conf_node *scalar, double *out,
                   struct err *err);

/* Reads a number of GPUs, which Kubernetes does not divide. */
bool kube_gpus(const struct conf_node *scalar, double *out, struct err *err);
/* "2026-01-12T08:00:00Z" to ns; *known is false where the field is absent. */
bool kube_time(const struct conf_node *object, const char *path, int64_t *ns,
               bool *known, struct err *err);
/* Adds what the containers of a pod's `spec` request, `times` times. */
bool kube_request_add(const struct conf_node *spec, double times,
                      struct kube_request *request, struct err *err);
/* Calls `each` for each object of a file: the items of a List or of a sequence,
 * however deep they are nested, else the object itself.  False: a call returned
 * false. */
bool kube_each(const struct conf_node *root,
               bool (*each)(void *self, const struct conf_node *object,
                            struct err *err),
               void *self, struct err *err);

#endif
