/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plugin.c - checks a policy's library, tries it in a process of its own, and loads
 * it.
 */
#include "experiments/plugins/plugin.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "experiments/plugins/build.h"
#include "experiments/plugins/host_file.h"
#include "experiments/plugins/library.h"
#include "experiments/process/isolate.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/table.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

/* Seconds of a processor that a library may take to load: it needs none. */
#define LOAD_CPU_S 10u

/* Does the text end so, with something before it?  ".so" alone names no file. */
static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), most = strlen(end);

    return bytes > most && strcmp(text + bytes - most, end) == 0;
}

bool plugin_is_file(const char *text)
{
    return strchr(text, '/') != NULL || ends_with(text, ".so") || ends_with(text, ".c");
}

struct loading {
    const char *library, *table;    /* path; name of the symbol */
    const struct cs_policy *policy;     /* NULL: `why` */
    char why[200];              /* what dlopen() or the table said */
    bool reading;                       /* the table: its code has started */
};

/* Maps the library into this process and finds its table.  Constructors of the
 * library run here, so this comes after library_check() accepted the file, and
 * first in a process of its own (try_load).  The handle is never closed: the policy
 * is used until the program ends. */
static void load(void *self)
{
    struct loading *loading = self;
    void *handle = dlopen(loading->library, RTLD_NOW | RTLD_LOCAL);

    if (handle != NULL)
        loading->policy = dlsym(handle, loading->table);
    if (loading->policy == NULL)
        snprintf(loading->why, sizeof loading->why, "%s", dlerror());
}

/* The table of version 2.0 ends before this member; later ones are longer. */
#define TABLE_LEAST offsetof(struct cs_policy, weights_count)

/* Returns a table of an earlier minor number with the members that came since, which are
 * zero; any other one as it is. */
static const struct cs_policy *widen_table(const struct cs_policy *table,
                                           struct cs_policy *wide)
{
    if (table->abi_major != CS_POLICY_ABI_MAJOR || table->size_bytes < TABLE_LEAST ||
        table->size_bytes >= sizeof *wide)
        return table;
    *wide = (struct cs_policy){ .abi_major = 0 };
    memcpy(wide, table, table->size_bytes);
    wide->size_bytes = sizeof *wide;
    return wide;
}

/* Loads the library, and follows all that its table points to.  For a process of
 * its own: code that runs at the start may do anything, and so may a wrong
 * pointer.  What the table says is checked again by the caller; here only a crash
 * or a loop counts. */
static void try_load(void *self)
{
    struct loading *loading = self;
    struct cs_policy wide;
    struct err err = { 0 };

    isolate_limit_cpu(LOAD_CPU_S);
    load(loading);
    loading->reading = true;
    if (loading->policy != NULL)
        (void)table_check(widen_table(loading->policy, &wide), &err);
}

/* Loads the library, if that goes well in a process of its own. */
static const struct cs_policy *load_table(struct arena *arena, const char *path,
                                          const char *library, const char *table,
                                          struct err_pos pos, struct err *err)
{
    struct loading loading = { .library = library, .table = table };
    struct isolate *isolate = isolate_new(sizeof loading, 0);
    struct loading *tried = isolate_page(isolate);
    struct isolate_end end;
    bool reading;

    *tried = loading;
    end = isolate_run(isolate, try_load, tried);
    /* Its code may have written anywhere: of the rest, nothing is read. */
    memcpy(loading.why, tried->why, sizeof loading.why - 1);
    loading.policy = tried->policy;
    reading = *(volatile unsigned char *)&tried->reading != 0;
    isolate_free(isolate);
    if (!end.done)
        err_set(err, ERR_POLICY, pos, "%.100s cannot be loaded: its code %s as %s",
                path, isolate_why(arena, &end),
                reading ? "its table was read" : "it starts");
    else if (loading.policy == NULL)
        err_set(err, ERR_POLICY, pos, "%.100s cannot be loaded: %s", path, loading.why);
    if (!end.done || loading.policy == NULL)
        return NULL;
    loading.policy = NULL;
    load(&loading);
    assert(loading.policy != NULL && "what loads there loads here");
    return widen_table(loading.policy, arena_alloc(arena, 1, sizeof *loading.policy));
}

/* A path that is no file, or none of these: says what it is. */
static bool check_path(const char *path, struct err_pos pos, struct err *err)
{
    if (!path_check_named(path, "policies", pos, err))
        return false;
    if (ends_with(path, ".so") || ends_with(path, ".c"))
        return true;
    err_set(err, ERR_REFERENCE, pos, "a policy from a file must be a library (.so) or a "
            "source in C (.c), and is '%.150s'", path);
    return err_hint(err, "Built-in policies have names without a slash: `clustersim list "
                    "policies`.");
}

bool plugin_load(struct arena *arena, const char *path, struct err_pos pos,
                 struct plugin *out, struct err *err)
{
    const char *library = path, *table;

    host_file_share();
    if (!check_path(path, pos, err))
        return false;
    if (ends_with(path, ".c"))
        library = build_library(arena, path, pos, err);
    else if (strchr(path, '/') == NULL)         /* not looked up in a search path */
        library = text_format(arena, "./%s", path);
    if (library == NULL)
        return false;
    table = library_check(arena, library, path, pos, err);
    if (table == NULL)
        return false;
    *out = (struct plugin){
        .policy = load_table(arena, path, library, table, pos, err)
    };
    if (out->policy == NULL)
        return false;
    if (!table_check(out->policy, err)) {
        err->pos = pos;
        return false;
    }
    if (registry_find(out->policy->name) != NULL)
        return err_set(err, ERR_POLICY, pos, "the policy of %.120s is named %.40s, as a "
                       "built-in one; its table needs a name of its own", path,
                       out->policy->name);
    return hash_file(library, &out->hash) ||
           err_set(err, ERR_IO, pos, "%.150s cannot be read", library);
}
