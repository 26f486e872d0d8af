/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conf.h - YAML read against a table, every value with its file:line:col.
 *
 * Each module keeps one table of its keys beside the struct they fill.  The
 * table is the parser, the range check, the error text, `explain`, the JSON
 * Schema and the manual.  An unrecognized key (nearest spelling offered), a
 * key given twice (libyaml lets both pass) and a number without its unit are
 * errors.
 */
#ifndef SIM_CONFIG_CONF_H
#define SIM_CONFIG_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;

enum conf_type {
    CONF_BOOL,      /* true false                      -> bool            */
    CONF_INT,       /* 12                              -> int64_t         */
    CONF_REAL,      /* 0.5                             -> double          */
    CONF_FRACTION,  /* 0.2 or 20% (may be negative)    -> double          */
    CONF_TEXT,      /* any scalar                      -> const char *    */
    CONF_CHOICE,    /* one of choices                  -> int (its index) */
    CONF_TIME,      /* "90s" "1.5h" "7d" "0s"          -> int64_t ns      */
    CONF_BYTES,     /* "80GB" "80GiB" "512MB"          -> double bytes    */
    CONF_RATE,      /* "900GB/s" "400Gb/s" "400Gbps"   -> double bytes/s  */
    CONF_FLOPS,     /* "312TFLOPS" "1.4PFLOPS" "130TOPS" -> double op/s   */
    CONF_POWER,     /* "700W" "6.5kW"                  -> double W        */
    CONF_PRICE,     /* "2.10USD/h" "0.1USD/s"          -> double USD/h    */
    CONF_FREQUENCY, /* "4/h" "0.1/s" "2/d"             -> double per s    */
    CONF_NODE       /* handed on, unread -> const struct conf_node *      */
};

enum conf_kind { CONF_SCALAR, CONF_LIST, CONF_MAP };

/* One key of a table. */

/* A value that is absent and has fallback CONF_ABSENT leaves the struct's
 * bytes as they were (set your own before filling); fallback NULL: required;
 * CONF_NODE has no other fallback than these two.  min and max are in the
 * unit of the stored value (CONF_TIME: seconds), INFINITY being no bound;
 * both 0: no range, but only CONF_INT, CONF_REAL and CONF_FRACTION may then
 * be negative.  CONF_BYTES also takes "4x3.84TB". */
#define CONF_ABSENT ""

struct conf_field {
    const char *key;            /* as users write it */
    enum conf_type type;        /* what may stand there, and how it is stored */
    size_t offset;              /* into the struct being filled */
    double min, max;            /* of the stored value, both included; 0, 0: no bound */
    const char *fallback;       /* as the user would write it */
    const char *const *choices; /* ends with NULL */
    const char *help;           /* one telegram line */
};

/* A table with its name, for explain, schema and the manual.  `name` is the
 * path under which users meet it: "experiment", "cluster.nodes[]" ... */
struct conf_schema {
    const char *name;
    const char *help;
    const struct conf_field *fields;    /* [count], in the order of the manual */
    size_t count;
};

/* A row of a table, and the table as a schema: the only way to write them.
 *
 *   CONF_KEY("seeds", CONF_INT, experiment_top, seeds, "1",
 *            "replicas of each point and policy", .min = 1, .max = 1000000)
 *
 * The struct is the one that the table fills, without the word.  `fallback` is
 * CONF_REQUIRED, CONF_ABSENT or a value.  The help comes next, and then what
 * else there is to say: .min, .max, .choices. */
#define CONF_REQUIRED NULL
#define CONF_KEY(KEY, TYPE, STRUCT, MEMBER, FALLBACK, ...) \
    { .key = KEY, .type = TYPE, .offset = offsetof(struct STRUCT, MEMBER), \
      .fallback = FALLBACK, .help = __VA_ARGS__ }
#define CONF_SCHEMA(NAME, HELP, FIELDS) \
    { NAME, HELP, FIELDS, sizeof FIELDS / sizeof FIELDS[0] }

/* The tree and all its text live in the arena.  Limits: 64 MiB, depth 64,
 * 1,000,000 nodes, each named in its error.  Anchors, aliases, tags, merge
 * keys and several documents are errors.  `path` is copied. */
const struct conf_node *conf_load(struct arena *arena, const char *path,
                                  struct err *err);
/* As conf_load(), from memory; `path` only names the text in messages. */
const struct conf_node *conf_parse(struct arena *arena, const char *path,
                                   const char *text, size_t bytes,
                                   struct err *err);

/* Fills the struct `out` from a map by a table, which has at most 128 keys.
 * Texts in it live in the tree's arena.  False: err is the first error in the
 * file's order, and `out` is partly filled. */
bool conf_fill(const struct conf_node *map, const struct conf_schema *schema,
               void *out, struct err *err);
/* Does the table know all keys of the map?  False: err says which one it does not know, as
 * conf_fill() would.  For what must be known before the map is read. */
bool conf_known(const struct conf_node *map, const struct conf_schema *schema, struct err *err);
/* Reads one scalar as the type of `field`, outside of any table, with its range
 * and choices.  `out` points to the C type that enum conf_type names. */
bool conf_read(const struct conf_node *node, const struct conf_field *field,
               void *out, struct err *err);
/* Reads the fallback of `field` in the same way: one scalar, whatever its letters are. */
bool conf_read_fallback(const struct conf_field *field, struct err_pos pos, void *out,
                        struct err *err);

/* Looking at a tree.  All that these return lives in the tree's arena.
 * conf_text() is for scalars; conf_item() for lists; conf_key(),
 * conf_key_pos() and conf_value() for maps; `i` is below conf_count(). Another
 * kind fails an assertion. */
enum conf_kind conf_kind(const struct conf_node *node);
struct err_pos conf_pos(const struct conf_node *node);
const char *conf_text(const struct conf_node *scalar);  /* as written */
/* Does it stand for a value that was wrong or is missing (mend.h)?  What its text
 * says is nobody's error then. */
bool conf_stands_in(const struct conf_node *node);
/* Was it, or the value of a key of this map, replaced by the nearest spelling (mend.h)? */
bool conf_is_guessed(const struct conf_node *node);
/* Was something taken out of it by a repair (mend.h)?  What it lacks then is nobody's error. */
bool conf_is_hurt(const struct conf_node *node);
size_t conf_count(const struct conf_node *node);        /* items or pairs */
const struct conf_node *conf_item(const struct conf_node *list, size_t i);
const char *conf_key(const struct conf_node *map, size_t i);
struct err_pos conf_key_pos(const struct conf_node *map, size_t i);
const struct conf_node *conf_value(const struct conf_node *map, size_t i);
/* The key as a scalar of its own, for maps whose keys are values. */
const struct conf_node *conf_key_node(struct arena *arena,
                                      const struct conf_node *map, size_t i);
const struct conf_node *conf_get(const struct conf_node *map,
                                 const char *key);      /* NULL: absent */

/* False: a key of the map is written, and is `idle` as the others stand; err
 * says so with what it needs ("needs `pp` above 1"). */
bool conf_acts(const struct conf_node *map, const char *key, bool idle,
               const char *needs, struct err *err);

/* The value at a dotted path, of steps as in conf_set; NULL: there is none. */
const struct conf_node *conf_find(const struct conf_node *root, const char *path);
/* A copy of the tree in which the value at a dotted path is replaced; the
 * original is untouched.  A step names a map key, or, in a list, the `name`
 * (or `policy`) of a map or a single word, or an index from 0; `*` is each
 * item, if another step follows.  Missing last keys are added; missing earlier
 * steps are errors at pos.  conf_set_text parses `value` as YAML (so lists and
 * maps may be given). */
const struct conf_node *conf_set(struct arena *arena,
                                 const struct conf_node *root,
                                 const char *path,
                                 const struct conf_node *value,
                                 struct err_pos pos, struct err *err);
/* Returns a scalar with this text (copied) and the place of `node`. */
const struct conf_node *conf_scalar_at(struct arena *arena, const struct conf_node *node,
                                       const char *text);
/* A map of that key alone, in the place of its value. */
const struct conf_node *conf_map_of(struct arena *arena, const char *key,
                                    const struct conf_node *value);
/* A copy of a list with `item` behind the others. */
const struct conf_node *conf_append(struct arena *arena,
                                    const struct conf_node *list,
                                    const struct conf_node *item);
/* A copy of a map with pair `i` of the map `from` behind the others; map NULL: a map of
 * that pair alone, in the place of `from`. */
const struct conf_node *conf_take(struct arena *arena, const struct conf_node *map,
                                  const struct conf_node *from, size_t i);
const struct conf_node *conf_set_text(struct arena *arena,
                                      const struct conf_node *root,
                                      const char *path, const char *value,
                                      struct err *err);

/* The tree as one line of YAML that reads as the same tree. */
const char *conf_flow(struct arena *arena, const struct conf_node *node);
/* Prints the tree as JSON: maps and lists over several lines, in the order of the file.  A
 * scalar without quotation marks that JSON would read as a number, true, false or null is
 * one; every other scalar is a text. */
void conf_print_json(const struct conf_node *node, FILE *file);
/* The nearest of `names` (ends with NULL) by edit distance, or NULL if none is
 * near enough to be what was meant.  Of equally near ones, the one that begins most alike. */
const char *conf_nearest(const char *word, const char *const *names);
/* The size of a unit in that of the stored value: 3600 for CONF_TIME (seconds) and
 * "h".  False: it is no unit of the type. */
bool conf_unit_size(enum conf_type type, const char *unit, double *size);
/* The place of byte `offset` of a scalar's text in the file: behind quotation marks,
 * escapes and folded lines.  Where the file cannot be read again, or no longer has
 * the text, it is the place of the scalar. */
struct err_pos conf_text_pos(const struct conf_node *scalar, size_t offset);
/* "time", "bytes", ... and an example of how to write one. */
const char *conf_type_name(enum conf_type type);
const char *conf_type_example(enum conf_type type);

#endif
