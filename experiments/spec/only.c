/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * only.c - a list of names with commas between.
 */
#include "experiments/spec/only.h"

#include <string.h>

#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* Looks for the name between commas, as a whole word. */
bool only_names(const char *only, const char *name)
{
    size_t bytes = strlen(name);

    for (const char *p = only; p != NULL; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, bytes) == 0 &&
            (p[bytes] == ',' || p[bytes] == '\0'))
            return true;
    }
    return only == NULL;
}

/* Is the word one of the list, which ends with NULL? */
static bool is_among(const char *word, const char *const *all)
{
    for (size_t i = 0; all[i] != NULL; i++)
        if (strcmp(all[i], word) == 0)
            return true;
    return false;
}

bool only_check(struct arena *arena, const char *only, const char *const *all,
                const char *path, struct err *err)
{
    const struct err_pos nowhere = { NULL, 0, 0 };

    for (const char *p = only; p != NULL; p = strchr(p, ',')) {
        const char *word, *near;

        p += *p == ',';
        word = text_format(arena, "%.*s", (int)strcspn(p, ","), p);
        if (is_among(word, all))
            continue;
        near = conf_nearest(word, all);
        err_set(err, ERR_USAGE, nowhere,
                "--only names '%.60s', which is no policy of %.100s", word, path);
        return near == NULL ? false : err_hint(err, "Did you mean %s?", near);
    }
    return true;
}
