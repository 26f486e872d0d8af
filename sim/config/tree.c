/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.c - YAML text becomes a tree of nodes with places.
 *
 * libyaml does the reading; what it lets pass and we do not is refused here:
 * keys given twice, anchors, aliases, tags, merge keys, several documents.
 * libyaml counts lines and columns from 0 and leaves the mark empty when the
 * bytes are no UTF-8; both are put right here.
 */
#include "sim/config/conf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/breaks.h"
#include "sim/config/node.h"
#include "sim/text/foreign.h"

/* Bounds that no experiment comes near.  They keep a wrong file, such as a trace that was
 * given as an experiment, from taking all memory. */
#define FILE_BYTES_MAX  ((size_t)64 << 20)
#define DEPTH_MAX       64
#define NODE_COUNT_MAX  1000000

/* One reading of a text: the parser's state, where trees and messages go, and
 * how many nodes were made, which is bounded. */
struct reader {
    struct arena *arena;        /* of the tree */
    struct err *err;
    const char *file;           /* the name for messages */
    const char *place;          /* the path that the root is set at; NULL: it is a file's */
    const char *text;
    size_t bytes;               /* of text */
    uint32_t node_count;        /* nodes made so far, at most NODE_COUNT_MAX */
    bool hidden;                /* line breaks were replaced: breaks.h */
    yaml_parser_t parser;
};

/* libyaml's marks count from 0. */
static struct err_pos pos_of(const struct reader *reader, yaml_mark_t mark)
{
    return (struct err_pos){reader->file, (uint32_t)mark.line + 1,
                            (uint32_t)mark.column + 1};
}

/* The place of a byte of the text.  For errors of encoding, of which libyaml knows the offset
 * alone.  Columns count characters. */
static struct err_pos pos_of_byte(const struct reader *reader, size_t offset)
{
    struct err_pos pos = {reader->file, 1, 1};

    assert(reader->text != NULL || reader->bytes == 0);
    for (size_t i = 0; i < offset && i < reader->bytes; i++) {
        unsigned char byte = (unsigned char)reader->text[i];
        if (byte == '\n') {
            pos.line++;
            pos.col = 1;
        } else if ((byte & 0xC0) != 0x80) {
            pos.col++;
        }
    }
    return pos;
}

/* What most often lies behind libyaml's complaints. */
static const char *const advice[][2] = {
    {"cannot start any token",
     "Indent with spaces, not tabs; quote a text that begins with @, ` or %."},
    {"tab character", "Indent with spaces, not tabs."},
    {"hexdecimal number",  /* as libyaml spells it */
     "In double quotes a backslash begins an escape: write a path with /."},
    {"unknown escape character",
     "In double quotes a backslash begins an escape: write a path with /."},
    {"mapping values are not allowed",
     "Check the indentation; quote a text that holds a colon and a blank."},
    {"could not find expected ':'",
     "A key is followed by a colon and a blank."},
    {"did not find expected key",
     "Check the indentation of this line and the quotes above it."},
    {"did not find expected '-'",
     "Check the indentation of this line: every item begins with '- '."},
    {"expected <document start>",
     "Check the indentation: this line begins left of those above."},
    {"did not find expected ',' or",
     "A bracket or brace above is not closed, or a comma is missing."},
    {"unexpected end of stream", "A quote or bracket is never closed."},
    {"UTF-8", "Save the file as plain text in UTF-8."},
    {"control characters", "Remove it, or save the file as plain text."},
};

/* What libyaml met is a tab.  Its index counts characters.  `index` is that of libyaml's mark. */
static bool has_tab(const struct reader *reader, size_t index)
{
    size_t i = 0;

    for (; i < reader->bytes; i++) {
        bool begins = ((unsigned char)reader->text[i] & 0xC0) != 0x80;
        if (begins && index-- == 0)
            break;
    }
    return i < reader->bytes && reader->text[i] == '\t';
}

/* Reports what libyaml refuses, in its words, with our advice.  The place is
 * where the fault begins: libyaml's problem mark, or its context mark for what
 * is never closed. */
static bool fail_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem;
    struct err_pos pos = pos_of(reader, parser->problem_mark);

    assert(parser->error != YAML_NO_ERROR);
    if (parser->error == YAML_MEMORY_ERROR)
        arena_run_out();
    if (problem == NULL)
        problem = "the text is not YAML";
    /* libyaml says the same of a tab as of a reserved character; ours names the tab. */
    if (strstr(problem, "cannot start any token") != NULL &&
        has_tab(reader, parser->problem_mark.index))
        problem = "found a tab character where YAML wants blanks";
    /* Where the bytes are no UTF-8, libyaml leaves its mark empty and has an offset. */
    if (parser->error == YAML_READER_ERROR) {
        pos = pos_of_byte(reader, parser->problem_offset);
        err_set(reader->err, ERR_SYNTAX, pos, "%s (0x%02X)", problem,
                (unsigned)parser->problem_value);
    } else if (parser->context != NULL) {
        /* The context is what libyaml was within: a bracket, a quoted text, a map. */
        unsigned long line = (unsigned long)parser->context_mark.line + 1;
        /* What is never closed or ended is shown where it begins. */
        if (strstr(problem, "end of stream") != NULL ||
            strstr(problem, "expected ':'") != NULL)
            pos = pos_of(reader, parser->context_mark);
        if (line == pos.line)
            err_set(reader->err, ERR_SYNTAX, pos, "%s %s", problem,
                    parser->context);
        else
            err_set(reader->err, ERR_SYNTAX, pos,
                    "%s %s that begins on line %lu", problem, parser->context,
                    line);
    } else {
        err_set(reader->err, ERR_SYNTAX, pos, "%s", problem);
    }
    /* The first that matches: narrower words stand before wider ones. */
    for (size_t i = 0; i < sizeof advice / sizeof advice[0]; i++) {
        if (strstr(problem, advice[i][0]) != NULL)
            return err_hint(reader->err, "%s", advice[i][1]);
    }
    return false;
}

/* The caller deletes the event when this is true. */
static bool next_event(struct reader *reader, yaml_event_t *event)
{
    assert(reader->err->kind == ERR_NONE);
    if (yaml_parser_parse(&reader->parser, event) == 0)
        return fail_syntax(reader);
    return true;
}

/* Refuses a mark of YAML that is not supported; returns false. */
static bool refuse_mark(struct reader *reader, const yaml_event_t *event,
                        const char *what, const yaml_char_t *name)
{
    assert(name != NULL);
    err_set(reader->err, ERR_SYNTAX, pos_of(reader, event->start_mark),
            "%s are not supported, found '%s'", what, (const char *)name);
    return err_hint(reader->err, "Write the value out where it is needed.");
}

/* Sets the anchor and the tag of an event; NULL: it has none. */
static void event_marks(const yaml_event_t *event, const yaml_char_t **anchor,
                        const yaml_char_t **tag)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        *anchor = event->data.scalar.anchor;
        *tag = event->data.scalar.tag;
        return;
    case YAML_SEQUENCE_START_EVENT:
        *anchor = event->data.sequence_start.anchor;
        *tag = event->data.sequence_start.tag;
        return;
    case YAML_MAPPING_START_EVENT:
        *anchor = event->data.mapping_start.anchor;
        *tag = event->data.mapping_start.tag;
        return;
    default:
        *anchor = *tag = NULL;
    }
}

/* Refuses what is YAML but not ours. */
static bool check_event(struct reader *reader, const yaml_event_t *event,
                        int depth)
{
    assert(depth > 0);
    const yaml_char_t *anchor;
    const yaml_char_t *tag;
    struct err_pos pos = pos_of(reader, event->start_mark);

    if (event->type == YAML_ALIAS_EVENT)
        return refuse_mark(reader, event, "aliases",
                           event->data.alias.anchor);
    event_marks(event, &anchor, &tag);
    if (anchor != NULL)
        return refuse_mark(reader, event, "anchors", anchor);
    if (tag != NULL)
        return refuse_mark(reader, event, "tags", tag);
    /* Reading recurses, so the depth bounds the stack. */
    if (depth > DEPTH_MAX)
        return err_set(reader->err, ERR_RANGE, pos,
                       "nested deeper than %d levels", DEPTH_MAX);
    if (++reader->node_count > NODE_COUNT_MAX)
        return err_set(reader->err, ERR_RANGE, pos, "more than %d values",
                       NODE_COUNT_MAX);
    return true;
}

/* A scalar's text; NULL and an err when a NUL was escaped into it. */
static const char *scalar_text(struct reader *reader,
                               const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t bytes = event->data.scalar.length;

    assert(event->type == YAML_SCALAR_EVENT);
    if (memchr(value, '\0', bytes) != NULL) {
        err_set(reader->err, ERR_SYNTAX, pos_of(reader, event->start_mark),
                "a text must not hold a NUL character");
        return NULL;
    }
    /* A text without hidden breaks is copied as it is. */
    if (!reader->hidden)
        return arena_text(reader->arena, value);
    char *text = arena_alloc(reader->arena, bytes + 1, 1);
    memcpy(text, value, bytes + 1);
    breaks_show(text);
    return text;
}

static const struct conf_node *read_node(struct reader *reader, yaml_event_t *event,
                                         const struct conf_node *up, const char *key, int depth);

/* Reads a list up to its end. */
static bool read_items(struct reader *reader, struct conf_node *list,
                       int depth)
{
    size_t room = 0;
    yaml_event_t event;

    assert(list->kind == CONF_LIST);
    for (;;) {
        if (!next_event(reader, &event))
            return false;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return true;
        }
        const struct conf_node *item = read_node(reader, &event, list, NULL, depth + 1);
        if (item == NULL)
            return false;
        ARENA_ADD(reader->arena, list->items, list->count, room, item);
    }
}

/* Consumes the event of a key. */
static bool read_key(struct reader *reader, yaml_event_t *event,
                     struct conf_pair *pair, int depth)
{
    assert(depth > 1);
    struct err_pos pos = pos_of(reader, event->start_mark);
    bool good = check_event(reader, event, depth);

    if (good && event->type != YAML_SCALAR_EVENT) {
        good = err_set(reader->err, ERR_SYNTAX, pos,
                       "a key must be a single word, not a list or map");
        err_hint(reader->err, "Quote a text that begins with [ or {.");
    }
    if (good) {
        pair->key_pos = pos;
        pair->key = scalar_text(reader, event);
        good = pair->key != NULL;
    }
    yaml_event_delete(event);
    if (good && pair->key[0] == '\0')
        return err_set(reader->err, ERR_SYNTAX, pos, "a key is empty");
    /* YAML 1.1 takes over the keys of another map here, which only anchors can name. */
    if (good && strcmp(pair->key, "<<") == 0) {
        err_set(reader->err, ERR_SYNTAX, pos, "merge keys are not supported");
        return err_hint(reader->err, "Write the keys out in this map.");
    }
    return good;
}

/* A key and its index among the pairs of a map. */
struct place {
    const char *key;
    size_t index;
};

/* By key, then by place in the map, so that repetitions follow what they
 * repeat. */
static int compare_places(const void *a, const void *b)
{
    assert(a != NULL && b != NULL);
    const struct place *x = a;
    const struct place *y = b;
    int order = strcmp(x->key, y->key);

    if (order != 0)
        return order;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Of all keys given twice, the one whose repetition comes first. */
static bool check_twice(struct reader *reader, const struct conf_node *map)
{
    if (map->count < 2)
        return true;
    /* For the time of this call alone: the arena would keep it as long as the tree. */
    struct place *places = arena_resize_own(NULL, map->count, sizeof *places);
    size_t first = SIZE_MAX;
    size_t second = SIZE_MAX;

    for (size_t i = 0; i < map->count; i++)
        places[i] = (struct place){map->pairs[i].key, i};
    qsort(places, map->count, sizeof *places, compare_places);
    for (size_t i = 1; i < map->count; i++) {
        /* Neighbours in this order with one key are a key and its next repetition. */
        if (places[i].index < second &&
            strcmp(places[i - 1].key, places[i].key) == 0) {
            first = places[i - 1].index;
            second = places[i].index;
        }
    }
    free(places);
    if (second == SIZE_MAX)
        return true;
    assert(first < second);
    struct err_pos pos = map->pairs[first].key_pos;
    err_set(reader->err, ERR_SCHEMA, map->pairs[second].key_pos,
            "key '%s' is given twice, first at %u:%u", map->pairs[second].key,
            (unsigned)pos.line, (unsigned)pos.col);
    return err_hint(reader->err, "Remove one of the two.");
}

/* Reads a map up to its end.  Keys given twice are looked for once it is
 * whole, by sorting: O(n log n) where comparing all would be O(n^2). */
static bool read_pairs(struct reader *reader, struct conf_node *map, int depth)
{
    size_t room = 0;
    yaml_event_t event;

    assert(map->kind == CONF_MAP);
    for (;;) {
        if (!next_event(reader, &event))
            return false;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return check_twice(reader, map);
        }
        ARENA_REACH(reader->arena, map->pairs, room, map->count);
        /* It counts once it has its value, so that a fault leaves no pair that is half read. */
        struct conf_pair *pair = &map->pairs[map->count];
        if (!read_key(reader, &event, pair, depth + 1) ||
            !next_event(reader, &event))
            return false;
        pair->value = read_node(reader, &event, map, pair->key, depth + 1);
        if (pair->value == NULL)
            return false;
        map->count++;
    }
}

/* Consumes the event; NULL and an err on failure. */
static const struct conf_node *read_node(struct reader *reader, yaml_event_t *event,
                                         const struct conf_node *up, const char *key, int depth)
{
    assert(depth > 0);
    struct conf_node *node = arena_alloc(reader->arena, 1, sizeof *node);
    yaml_event_type_t type = event->type;
    bool good = check_event(reader, event, depth);

    node->pos = pos_of(reader, event->start_mark);
    node->up = up;
    node->key = key;
    if (good && type == YAML_SCALAR_EVENT) {
        node->kind = CONF_SCALAR;
        node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        node->text = scalar_text(reader, event);
        good = node->text != NULL;
    }
    /* All of the event was copied; deleted here, so that items reuse its memory. */
    yaml_event_delete(event);
    if (!good)
        return NULL;
    if (type == YAML_SEQUENCE_START_EVENT) {
        node->kind = CONF_LIST;
        good = read_items(reader, node, depth);
    } else if (type == YAML_MAPPING_START_EVENT) {
        node->kind = CONF_MAP;
        good = read_pairs(reader, node, depth);
    } else {
        assert(type == YAML_SCALAR_EVENT);
    }
    return good ? node : NULL;
}

/* Skips stream and document starts up to the root; false at the end. */
static bool find_root(struct reader *reader, yaml_event_t *event)
{
    assert(reader->node_count == 0);
    for (;;) {
        if (!next_event(reader, event))
            return false;
        yaml_event_type_t type = event->type;
        if (type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(event);
            return err_set(reader->err, ERR_SYNTAX,
                           (struct err_pos){reader->file, 0, 0},
                           "the file is empty");
        }
        if (type != YAML_STREAM_START_EVENT &&
            type != YAML_DOCUMENT_START_EVENT)
            return true;
        yaml_event_delete(event);
    }
}

/* Behind the root nothing may follow but the stream's end. */
static bool check_end(struct reader *reader)
{
    yaml_event_t event;

    for (;;) {
        if (!next_event(reader, &event))
            return false;
        yaml_event_type_t type = event.type;
        struct err_pos pos = pos_of(reader, event.start_mark);
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            return true;
        if (type == YAML_DOCUMENT_START_EVENT) {
            err_set(reader->err, ERR_SYNTAX, pos,
                    "a second document begins here");
            return err_hint(reader->err,
                            "Keep one document in a file; remove the '---'.");
        }
        assert(type == YAML_DOCUMENT_END_EVENT);
    }
}

/* One document, with one root, and nothing behind it. */
static const struct conf_node *read_document(struct reader *reader)
{
    yaml_event_t event;

    if (!find_root(reader, &event))
        return NULL;
    const struct conf_node *root = read_node(reader, &event, NULL, reader->place, 1);
    if (root == NULL || !check_end(reader))
        return NULL;
    /* A file of comments alone is an empty scalar for libyaml. */
    if (root->kind == CONF_SCALAR && root->plain && root->text[0] == '\0') {
        err_set(reader->err, ERR_SYNTAX, (struct err_pos){reader->file, 0, 0},
                "the file is empty");
        return NULL;
    }
    assert(reader->node_count > 0);
    return root;
}

const struct conf_node *conf_parse(struct arena *arena, const char *path,
                                   const char *text, size_t bytes,
                                   struct err *err)
{
    assert(arena != NULL && err != NULL);
    return conf_parse_at(arena, path, NULL, text, bytes, err);
}

const struct conf_node *conf_parse_at(struct arena *arena, const char *path, const char *place,
                                      const char *text, size_t bytes, struct err *err)
{
    assert(arena != NULL && path != NULL && err != NULL);
    assert(text != NULL || bytes == 0);
    assert(err->kind == ERR_NONE);
    struct reader reader = {.arena = arena, .err = err, .place = place,
                            .file = arena_text(arena, path)};

    if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;                      /* a byte order mark says nothing */
        bytes -= 3;
    }
    reader.text = text;
    reader.bytes = bytes;
    /* libyaml would end the text there.  A spreadsheet or an archive is named as such. */
    const char *nul = bytes > 0 ? memchr(text, '\0', bytes) : NULL;
    if (nul != NULL && foreign_find(reader.file, text, bytes, false, err))
        return NULL;
    if (nul != NULL) {
        err_set(err, ERR_SYNTAX, pos_of_byte(&reader, (size_t)(nul - text)),
                "a NUL byte: the file is not text");
        err_hint(err, "Save the file as plain text in UTF-8.");
        return NULL;
    }
    if (yaml_parser_initialize(&reader.parser) == 0)
        arena_run_out();
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &reader.parser,
        (const unsigned char *)breaks_hide(arena, text, bytes, &reader.hidden), bytes);
    const struct conf_node *root = read_document(&reader);
    yaml_parser_delete(&reader.parser);
    assert((root == NULL) == (err->kind != ERR_NONE));
    return root;
}

/* Reports that a file cannot be read; returns false. */
static bool fail_file(struct err *err, const char *file, const char *why)
{
    assert(why[0] != '\0');
    return err_set(err, ERR_IO, (struct err_pos){file, 0, 0},
                   "cannot read the file: %s", why);
}

/* Only a regular file of a fair size is read: a FIFO would never end. */
static bool check_file(int fd, const char *file, size_t *bytes,
                       struct err *err)
{
    assert(fd >= 0);
    struct stat status;

    if (fstat(fd, &status) != 0)
        return fail_file(err, file, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail_file(err, file, "it is a directory");
    /* Looked at on the open file, which nobody can exchange meanwhile. */
    if (!S_ISREG(status.st_mode))
        return fail_file(err, file, "it is not a regular file");
    if ((uintmax_t)status.st_size > FILE_BYTES_MAX)
        return err_set(err, ERR_RANGE, (struct err_pos){file, 0, 0},
                       "the file has %ju bytes, at most %zu (64 MiB) are read",
                       (uintmax_t)status.st_size, FILE_BYTES_MAX);
    *bytes = (size_t)status.st_size;
    assert(*bytes <= FILE_BYTES_MAX);
    return true;
}

/* Up to `bytes` bytes; fewer when the file shrank meanwhile. */
static bool read_whole(int fd, const char *file, char *text, size_t *bytes,
                       struct err *err)
{
    size_t used = 0;

    while (used < *bytes) {
        ssize_t got = read(fd, text + used, *bytes - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_file(err, file, strerror(errno));
        if (got == 0)
            break;
        used += (size_t)got;
    }
    *bytes = used;
    assert(used <= *bytes);
    return true;
}

/* A folder, a device or a FIFO is refused before it is read. */
const struct conf_node *conf_load(struct arena *arena, const char *path,
                                  struct err *err)
{
    assert(arena != NULL && path != NULL && err != NULL);
    const char *file = arena_text(arena, path);
    const struct conf_node *root = NULL;
    size_t bytes = 0;
    /* Without O_NONBLOCK, opening a FIFO would wait for its writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        int code = errno;
        fail_file(err, file, strerror(code));
        if (code == ENOENT)
            err_hint_path(err, path, "Paths on the command line are relative "
                          "to the current folder, those in a file to the "
                          "file.");
        return NULL;
    }
    if (check_file(fd, file, &bytes, err)) {
        /* The tree has copies of all texts, so that the file's bytes need not stay. */
        char *text = arena_resize_own(NULL, bytes + 1, 1);
        if (read_whole(fd, file, text, &bytes, err))
            root = conf_parse(arena, path, text, bytes, err);
        free(text);
    }
    close(fd);
    return root;
}
