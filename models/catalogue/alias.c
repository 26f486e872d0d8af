/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alias.c - other names of entries, and what a wrong name meant.
 *
 * Two names are one if they differ only in case, in blanks, - and _, in a
 * vendor's words in front (as nvidia-smi prints them), in the publisher of a
 * model (meta-llama/...), or in an ending such as -Instruct, which says how
 * it was tuned and not what it is.
 *
 * The key of a name is what is left of it in lower case; equal keys are equal
 * names.  An entry keeps the keys of its name and of its aliases.  A name that
 * several entries share (a100) is a family: it finds none of them, and the hint
 * lists them all.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/form.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define KEY_BYTES 80

/* The key of a name; names that differ in what says nothing have one key.
 * False: it has none, as nothing is left of it, or it is too long for a name. */
static bool name_key(const char *name, char key[KEY_BYTES])
{
    assert(name != NULL);
    static const char *const before[] = {"nvidia", "tesla", "geforce",
                                         "amd", "intel"};
    static const char *const behind[] = {"-hf", "-it", "instruct", "chat"};
    const char *slash = strrchr(name, '/');
    char text[KEY_BYTES];
    size_t from = 0, n = 0;

    if (slash != NULL)
        name = slash + 1;
    if (strlen(name) >= sizeof text)
        return false;
    strcpy(text, name);
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        size_t bytes = strlen(text), end = strlen(behind[i]);
        if (bytes > end && strcasecmp(text + bytes - end, behind[i]) == 0)
            text[bytes - end] = '\0';
    }
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        from += strspn(text + from, " -_");
        size_t bytes = strlen(before[i]);
        if (strncasecmp(text + from, before[i], bytes) == 0)
            from += bytes;
    }
    for (const char *c = text + from; *c != '\0'; c++) {
        if (strchr(" -_", *c) == NULL)
            key[n++] = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    }
    key[n] = '\0';
    return n > 0;
}

/* Has one of a list of names that key?  NULL: there is none. */
static bool list_has(const struct conf_node *list, const char *key)
{
    assert(key != NULL);
    char own[KEY_BYTES];

    if (list == NULL || conf_kind(list) != CONF_LIST)
        return false;
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);
        if (conf_kind(item) == CONF_SCALAR &&
            name_key(conf_text(item), own) && strcmp(own, key) == 0)
            return true;
    }
    return false;
}

/* The keys of the name of a form, and of its aliases. */
static const char **keys_of(struct arena *arena, const struct form *form)
{
    assert(form->name != NULL);
    const struct conf_node *list = form->aliases;
    size_t count = list != NULL && conf_kind(list) == CONF_LIST ? conf_count(list) : 0;
    const char **keys = arena_alloc(arena, count + 2, sizeof *keys);
    char key[KEY_BYTES];
    size_t n = 0;

    if (name_key(form->name, key))
        keys[n++] = arena_text(arena, key);
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(list, i);
        if (conf_kind(item) == CONF_SCALAR && name_key(conf_text(item), key))
            keys[n++] = arena_text(arena, key);
    }
    keys[n] = NULL;
    return keys;
}

void catalogue_keep_keys(struct catalogue *catalogue)
{
    assert(catalogue != NULL);
    for (int which = 0; which < CATALOGUE_SECTION_COUNT; which++)
        for (size_t i = 0; i < catalogue->section[which].count; i++) {
            struct form *form = catalogue_form_at(catalogue, which, i);
            form->keys = keys_of(catalogue->arena, form);
        }
}

/* `key` is made by the rules of alias.c, as the form's own are. */
static bool answers_to(const struct form *form, const char *key)
{
    assert(form->keys != NULL && key != NULL);
    for (const char **own = form->keys; *own != NULL; own++)
        if (strcmp(*own, key) == 0)
            return true;
    return false;
}

/* The first entry but `except` that answers to a name; NULL: none does. */
static struct form *first_owner(const struct catalogue *catalogue, int which,
                                const struct form *except, const char *name)
{
    assert(which < CATALOGUE_SECTION_COUNT);
    char key[KEY_BYTES];

    if (!name_key(name, key))
        return NULL;
    for (size_t i = 0; i < catalogue->section[which].count; i++) {
        struct form *form = catalogue_form_at(catalogue, which, i);
        if (form != except && answers_to(form, key))
            return form;
    }
    return NULL;
}

struct form *catalogue_form_as(const struct catalogue *catalogue, int which,
                               const char *name)
{
    assert(which < CATALOGUE_SECTION_COUNT);
    assert(name != NULL);
    struct form *form = catalogue_form_find(catalogue, which, name);

    return form != NULL ? form : first_owner(catalogue, which, NULL, name);
}

/* Is that value of a key a list of names?  NULL: yes, an empty one. */
static bool are_names(const struct conf_node *list, const char *key, const char *item,
                      const struct form *form, struct err *err)
{
    if (list != NULL && conf_kind(list) != CONF_LIST)
        return err_set(err, ERR_SCHEMA, conf_pos(list),
                       "%s of %s '%s' must be a list of names: "
                       "[NAME, ...]", key, item, form->name);
    for (size_t i = 0; list != NULL && i < conf_count(list); i++) {
        const struct conf_node *name = conf_item(list, i);
        char own[KEY_BYTES];
        if (conf_kind(name) != CONF_SCALAR || !name_key(conf_text(name), own))
            return err_set(err, ERR_SCHEMA, conf_pos(name),
                           "each of the %s of %s '%s' must be a name of at most %d "
                           "characters, with more in it than blanks, - and _",
                           key, item, form->name, KEY_BYTES - 1);
    }
    assert(form->name != NULL);
    return true;
}

#define KEYS_MAX 40

/* Is it a key of entries of that section?  The hint names the nearest one. */
static bool is_key(int which, const char *key, struct err_pos pos, struct err *err)
{
    const struct conf_schema *schema = &catalogue_schema[which];
    const char *names[KEYS_MAX + 1] = { NULL };

    assert(schema->count <= KEYS_MAX);
    for (size_t i = 0; i < schema->count; i++) {
        names[i] = schema->fields[i].key;
        if (strcmp(names[i], key) == 0)
            return true;
    }
    err_set(err, ERR_SCHEMA, pos, "sources: '%.80s' is no key of %s", key, schema->name);
    err->fault = FAULT_KEY;
    const char *near = conf_nearest(key, names);
    return near != NULL ? err_hint(err, "Did you mean '%s'?", near) : false;
}

/* Is `sources` a map from keys of the entry to texts? */
static bool are_sources(const struct conf_node *map, int which, const char *item,
                        const struct form *form, struct err *err)
{
    assert(item != NULL && form->name != NULL);
    if (map != NULL && conf_kind(map) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(map), "sources of %s '%s' must be a map: "
                       "{KEY: SOURCE, ...}", item, form->name);
    for (size_t i = 0; map != NULL && i < conf_count(map); i++) {
        if (!is_key(which, conf_key(map, i), conf_key_pos(map, i), err))
            return false;
        if (conf_kind(conf_value(map, i)) != CONF_SCALAR)
            return err_set(err, ERR_SCHEMA, conf_pos(conf_value(map, i)), "the source of "
                           "'%.60s' of %s '%s' must be a text", conf_key(map, i), item,
                           form->name);
    }
    return true;
}

/* An alias that another entry answers to would make the result depend on the
 * order of files, so it is refused. */
bool catalogue_aliases_ok(const struct catalogue *catalogue, int which,
                          const struct form *form, const char *item,
                          struct err *err)
{
    assert(form != NULL);
    assert(item != NULL && err != NULL);
    const struct conf_node *list = form->aliases;

    if (!are_names(list, "aliases", item, form, err) ||
        !are_names(form->families, "families", item, form, err) ||
        !are_sources(conf_get(form->conf, "sources"), which, item, form, err))
        return false;
    for (size_t i = 0; list != NULL && i < conf_count(list); i++) {
        const struct conf_node *name = conf_item(list, i);
        const struct form *owner = first_owner(catalogue, which, form, conf_text(name));
        if (owner != NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(name),
                           "alias '%s' of %s '%s' names %s '%s' already",
                           conf_text(name), item, form->name, item, owner->name);
    }
    return true;
}

/* "a100-40 or a100-80": the entries of that family; how many. */
static size_t list_family(const struct catalogue *catalogue, int which,
                          const char *name, char *out, size_t room)
{
    assert(name != NULL);
    assert(out != NULL && room > 0);
    char key[KEY_BYTES];
    size_t count = 0, used = 0;

    out[0] = '\0';
    if (!name_key(name, key))
        return 0;
    for (size_t i = 0; i < catalogue->section[which].count; i++) {
        const struct form *form = catalogue_form_at(catalogue, which, i);
        if (!list_has(form->families, key) || used >= room)
            continue;
        int n = snprintf(out + used, room - used, "%s%s",
                         count > 0 ? " or " : "", form->name);
        used += n > 0 ? (size_t)n : 0;
        count++;
    }
    return count;
}

bool catalogue_gpu_named(const struct catalogue *catalogue, const char *gpu,
                         const char *name)
{
    assert(gpu != NULL && name != NULL);
    const struct form *form = catalogue_form_find(catalogue, CATALOGUE_GPUS,
                                                  gpu);

    char key[KEY_BYTES], own[KEY_BYTES];

    if (strcmp(gpu, name) == 0)
        return true;
    if (!name_key(name, key))
        return false;
    return (name_key(gpu, own) && strcmp(own, key) == 0) ||
           (form != NULL && (answers_to(form, key) || list_has(form->families, key)));
}

/* An H100 is no A100: that a name is near says nothing where the letters in
 * front of its number differ. */
static bool same_letters(const char *a, const char *b)
{
    assert(a != NULL && b != NULL);
    size_t letters = strcspn(a, "0123456789");

    return letters == strcspn(b, "0123456789") &&
           strncasecmp(a, b, letters) == 0;
}

/* "h100": the entry whose name, with a mark behind it, the word begins with, as h100-80
 * does; the longest of several.  NULL: none. */
static const char *find_stem(const char *const *names, const char *word)
{
    const char *stem = NULL;

    for (size_t i = 0; names[i] != NULL; i++) {
        size_t bytes = strlen(names[i]);
        if (strncasecmp(word, names[i], bytes) == 0 && ispunct((unsigned char)word[bytes]) &&
            (stem == NULL || bytes > strlen(stem)))
            stem = names[i];
    }
    return stem;
}

/* In this order: the family of the name, the nearest spelling, the name that the word begins
 * with, the command that lists all. */
bool catalogue_hint(const struct catalogue *catalogue,
                    enum catalogue_section section, const char *name,
                    struct err *err)
{
    static const char *const list[CATALOGUE_SECTION_COUNT] = {
        "gpus", "cpus", "links", "prices", "models", "models",
        "applications", "instances"
    };
    char family[120];

    assert(catalogue && name && err);
    if (list_family(catalogue, section, name, family, sizeof family) > 0)
        return err_hint(err, "It may be %s.", family);
    const char *const *names = catalogue_names(catalogue, section);
    const char *near = conf_nearest(name, names), *stem = find_stem(names, name);
    if (near != NULL &&
        (section != CATALOGUE_GPUS || same_letters(name, near)))
        return err_hint(err, "Did you mean '%s'?", near);
    if (stem != NULL)
        return err_hint(err, "'%s' is known; is it meant?  `clustersim list %s` prints all "
                             "names.", stem, list[section]);
    return err_hint(err, "`clustersim list %s` prints the names that are "
                         "known.", list[section]);
}

const struct conf_node *catalogue_aliases(const struct catalogue *catalogue,
                                          enum catalogue_section section,
                                          size_t i)
{
    return catalogue_form_at(catalogue, section, i)->aliases;
}
