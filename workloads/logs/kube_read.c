/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_read.c - objects of Kubernetes (kubernetes.io/docs/reference): lists,
 * quantities (resource.Quantity) and resources of containers.
 *
 * A container that states a limit and no request requests its limit.  Init
 * containers run before and are not counted.
 */
#include "workloads/logs/kube_read.h"

#include <math.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"

/* Is this YAML's null?  A key whose value is null counts as absent. */
static bool is_null(const struct conf_node *node)
{
    return conf_kind(node) == CONF_SCALAR &&
           (strcmp(conf_text(node), "null") == 0 ||
            strcmp(conf_text(node), "~") == 0 || conf_text(node)[0] == '\0');
}

/* Returns the value of a key given by its length, a part of a path; NULL: it is not
 * there. */
static const struct conf_node *member(const struct conf_node *map,
                                      const char *key, size_t bytes)
{
    if (map == NULL || conf_kind(map) != CONF_MAP)
        return NULL;
    for (size_t i = 0; i < conf_count(map); i++)
        if (strlen(conf_key(map, i)) == bytes &&
            memcmp(conf_key(map, i), key, bytes) == 0)
            return is_null(conf_value(map, i)) ? NULL : conf_value(map, i);
    return NULL;
}

/* The path is walked a key at a time; each part ends at a dot or at the end. */
const struct conf_node *kube_at(const struct conf_node *object,
                                const char *path)
{
    for (; object != NULL; path++) {
        size_t bytes = strcspn(path, ".");

        object = member(object, path, bytes);
        path += bytes;
        if (*path == '\0')
            break;
    }
    return object;
}

const char *kube_text(const struct conf_node *object, const char *path)
{
    const struct conf_node *node = kube_at(object, path);

    return node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node)
                                                          : NULL;
}

bool kube_is(const struct conf_node *object, const char *kind,
             const char *group)
{
    const char *its = kube_text(object, "kind");
    const char *api = kube_text(object, "apiVersion");

    return its != NULL && strcmp(its, kind) == 0 &&
           (group == NULL || (api != NULL &&
                              strncmp(api, group, strlen(group)) == 0));
}

/* Labels are looked at first, then annotations.  A key such as
 * "volcano.sh/queue-name" holds dots, so it is no path for kube_at(). */
const char *kube_label(const struct conf_node *object, const char *key)
{
    static const char *const where[] = {"metadata.labels",
                                        "metadata.annotations"};

    for (size_t i = 0; i < 2; i++) {
        const struct conf_node *value = member(kube_at(object, where[i]), key,
                                               strlen(key));
        if (value != NULL && conf_kind(value) == CONF_SCALAR)
            return conf_text(value);
    }
    return NULL;
}

/* The number ends at the first letter.  An exponent, 1e3, is told from the
 * suffix E by the digits behind it. */
bool kube_quantity(const struct conf_node *scalar, double *out,
                   struct err *err)
{
    static const struct {
        const char *name;
        double times;
    } suffix[] = {
        {"", 1.0}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9},
        {"T", 1e12}, {"P", 1e15}, {"Ki", 1024.0}, {"Mi", 1048576.0},
        {"Gi", 1073741824.0}, {"Ti", 1099511627776.0},
        {"Pi", 1125899906842624.0},
    };
    const char *text = conf_kind(scalar) == CONF_SCALAR ? conf_text(scalar) : "";
    size_t bytes = strspn(text, "0123456789.");

    if ((text[bytes] == 'e' || text[bytes] == 'E') && text[bytes + 1] != '\0')
        bytes = strlen(text);
    for (size_t i = 0; bytes > 0 && i < sizeof suffix / sizeof suffix[0]; i++)
        if (strcmp(text + bytes, suffix[i].name) == 0 &&
            scan_f64(text, bytes, out) && *out >= 0.0) {
            *out *= suffix[i].times;
            return true;
        }
    return err_set(err, ERR_SYNTAX, conf_pos(scalar),
                   "a quantity such as 8, 500m or 64Gi is expected, found "
                   "'%.40s'", text);
}

bool kube_gpus(const struct conf_node *scalar, double *out, struct err *err)
{
    return kube_quantity(scalar, out, err) &&
           (floor(*out) == *out ||
            err_set(err, ERR_SYNTAX, conf_pos(scalar),
                    "GPUs must be a whole number, found '%.40s'",
                    conf_text(scalar)));
}

bool kube_time(const struct conf_node *object, const char *path, int64_t *ns,
               bool *known, struct err *err)
{
    const struct conf_node *node = kube_at(object, path);

    *known = node != NULL;
    if (node == NULL)
        return true;
    return (conf_kind(node) == CONF_SCALAR &&
            date_read(conf_text(node), strlen(conf_text(node)), ns)) ||
           err_set(err, ERR_SYNTAX, conf_pos(node),
                   "%.60s must be a time such as 2026-01-12T08:00:00Z", path);
}

bool kube_is_gpu(const char *resource)
{
    return strcmp(resource, "nvidia.com/gpu") == 0 ||
           strcmp(resource, "amd.com/gpu") == 0;
}

/* Is it a slice of a GPU (MIG)? A slice counts as a whole GPU; the importer
 * notes it. */
static bool is_slice(const char *resource)
{
    return strncmp(resource, "nvidia.com/mig-", 15) == 0;
}

/* Counts as a GPU: a whole one, or a slice of MIG. */
static bool is_gpu(const char *resource)
{
    return kube_is_gpu(resource) || is_slice(resource);
}

const char *const kube_gpu_labels[] = {
    "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", NULL
};

/* Adds resource i of `map`, `times` over, unless `unless` has the same
 * resource: a request goes before a limit.  Resources other than cores, memory
 * and GPUs are passed over.  A sum beyond any cluster (1e9 of them, or 1e15
 * bytes) is an error, so that sums stay in range. */
static bool add_resource(const struct conf_node *map, size_t i,
                         const struct conf_node *unless, double times,
                         struct kube_request *request, struct err *err)
{
    const char *name = conf_key(map, i);
    double value;

    if (strchr(name, '/') != NULL && !is_gpu(name))
        request->unread = name;
    if ((strcmp(name, "cpu") != 0 && strcmp(name, "memory") != 0 &&
         !is_gpu(name)) || member(unless, name, strlen(name)) != NULL)
        return true;
    if (!kube_quantity(conf_value(map, i), &value, err))
        return false;
    if (is_gpu(name) && !kube_gpus(conf_value(map, i), &value, err))
        return false;
    value *= times;
    if (value > (name[0] == 'm' ? 1e15 : 1e9))
        return err_set(err, ERR_RANGE, conf_pos(conf_value(map, i)),
                       "%.40s is more than any cluster has", name);
    if (name[0] == 'c')
        request->core_milli += (int64_t)(value * 1e3 + 0.5);
    else if (name[0] == 'm')
        request->memory_bytes += value;
    else
        request->gpus += (int64_t)value;
    request->mig = request->mig || is_slice(name);
    return true;
}

/* Adds what a container asks for, `times` over.  A limit counts where the same
 * resource has no request, as Kubernetes takes it. */
static bool add_container(const struct conf_node *container, double times,
                          struct kube_request *request, struct err *err)
{
    const struct conf_node *requests = kube_at(container, "resources.requests");
    const struct conf_node *limits = kube_at(container, "resources.limits");

    for (size_t i = 0; requests != NULL && conf_kind(requests) == CONF_MAP &&
                       i < conf_count(requests); i++)
        if (!add_resource(requests, i, NULL, times, request, err))
            return false;
    for (size_t i = 0; limits != NULL && conf_kind(limits) == CONF_MAP &&
                       i < conf_count(limits); i++)
        if (!add_resource(limits, i, requests, times, request, err))
            return false;
    return true;
}

/* Init containers are not added: they run before the others, and end. */
bool kube_request_add(const struct conf_node *spec, double times,
                      struct kube_request *request, struct err *err)
{
    const struct conf_node *containers = kube_at(spec, "containers");
    const struct conf_node *selector = kube_at(spec, "nodeSelector");

    for (size_t i = 0; containers != NULL &&
                       conf_kind(containers) == CONF_LIST &&
                       i < conf_count(containers); i++)
        if (!add_container(conf_item(containers, i), times, request, err))
            return false;
    if (kube_at(spec, "resourceClaims") != NULL)
        request->unread = "resourceClaims";
    for (const char *const *label = kube_gpu_labels; *label != NULL; label++) {
        const struct conf_node *type = member(selector, *label, strlen(*label));
        if (type != NULL && conf_kind(type) == CONF_SCALAR)
            request->gpu_type = conf_text(type);
    }
    return true;
}

bool kube_each(const struct conf_node *root,
               bool (*each)(void *self, const struct conf_node *object,
                            struct err *err),
               void *self, struct err *err)
{
    const struct conf_node *items =
        conf_kind(root) == CONF_LIST ? root : kube_at(root, "items");

    if (items == NULL)
        return each(self, root, err);
    if (conf_kind(items) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(items),
                       "items must be a list of objects");
    for (size_t i = 0; i < conf_count(items); i++)
        if (!kube_each(conf_item(items, i), each, self, err))
            return false;
    return true;
}
