/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slurm_nodes.c - what `scontrol show node` prints, one node in several lines
 * or, with -o, in one; the lines NodeName= of slurm.conf, which have the same
 * keys and lists of names, gpu[01-04]; and tables of sinfo, whose first line names
 * the columns (man sinfo, "Output field descriptions").
 *
 * Keys: NodeName, CPUTot or CPUs, RealMemory (MiB), Gres ("gpu:a100:4(S:0-1)").
 * Where there are no CPUs they are boards x sockets x cores x threads (man
 * slurm.conf), and what NodeName=DEFAULT has is taken by the nodes behind it.
 * A CPU of Slurm may be a thread; so it is in the jobs that ask for it.
 */
#include <stdio.h>
#include <string.h>

#include "experiments/import/machines.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/notes.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "sim/text/string_set.h"

/* More than any cluster has; so sums and products stay in range. */
#define COUNT_MAX 1000000000
#define PARTS_MAX 4096
#define NODES_MAX 1000000       /* of one list */

/* What CPUs consist of. */
enum { BOARDS, SOCKETS, CORES, THREADS, PARTS };

struct entry {
    struct machine node;        /* name: NULL before the first one */
    int64_t part[PARTS];        /* 0: not said */
};

/* Columns of sinfo, and what scontrol calls them. */
enum { NAME, CPUS, MEMORY, GRES, STATE, COLUMNS };
static const struct { const char *name, *other, *key; } column_of[COLUMNS] = {
    {"NODELIST", "HOSTNAMES", "NodeName"}, {"CPUS", "CPUS", "CPUs"},
    {"MEMORY", "MEMORY", "RealMemory"}, {"GRES", "GRES", "Gres"},
    {"STATE", "STATE", "State"}};
#define WORDS_MAX 1024u         /* of a line; a Reason may have many */

struct reading {
    struct machines *machines;  /* where nodes go */
    struct scan *scan;          /* the open file */
    struct entry now, base;     /* base: of NodeName=DEFAULT */
    bool table;                 /* of sinfo */
    size_t at[COLUMNS];         /* which word of its lines; SIZE_MAX: none */
    struct string_set names;    /* of nodes so far */
};

/* Returns the place of a column of the line that was read last. */
static struct err_pos place_of(const struct reading *r, uint32_t col)
{
    struct err_pos pos = scan_pos(r->scan, col);

    pos.file = r->machines->file;
    return pos;
}

/* Reads a whole number from 0 to COUNT_MAX.  False: err names the key. */
static bool read_count(const struct reading *r, const char *key,
                       const char *value, int64_t *out, uint32_t col,
                       struct err *err)
{
    if (!scan_i64(value, strlen(value), out) || *out < 0)
        return err_set(err, ERR_SYNTAX, place_of(r, col),
                       "%s must be a whole number, found '%.40s'", key, value);
    return *out <= COUNT_MAX ||
           err_set(err, ERR_RANGE, place_of(r, col),
                   "%s must be at most %d, found '%.40s'", key, COUNT_MAX, value);
}

/* Notes the name of a node.  False: it stands above, or in the same list, already. */
static bool note_name(struct reading *r, const char *name, uint32_t col, struct err *err)
{
    bool is_new;

    string_set_keep(&r->names, r->machines->arena, name, &is_new);
    return is_new || err_set(err, ERR_RANGE, place_of(r, col), "node %.80s stands above already",
                             name);
}

/* A part of a list, "7" or "01-04". */
struct span {
    int64_t from, to;           /* both included */
    size_t digits, bytes;       /* of the first number; of all */
};

/* Reads one number or a range of them in the brackets of a name, as `01-04`.  `digits` is
 * how many digits the first one has, zeros in front included. */
static bool read_span(const struct reading *r, const char *part, struct span *span,
                      uint32_t col, struct err *err)
{
    span->bytes = strcspn(part, ",");
    span->digits = strcspn(part, ",-");
    if (scan_i64(part, span->digits, &span->from) && span->from >= 0 &&
        span->from <= COUNT_MAX) {
        span->to = span->from;
        if (span->digits == span->bytes ||
            (scan_i64(part + span->digits + 1, span->bytes - span->digits - 1, &span->to) &&
             span->to >= span->from && span->to <= COUNT_MAX))
            return true;
    }
    return err_set(err, ERR_SYNTAX, place_of(r, col), "key NodeName must list numbers, as "
                   "gpu[01-04], found '%.40s'", part);
}

/* Notes all names of a list.  Numbers have as many digits as the first of their span. */
static bool note_list(struct reading *r, const char *prefix, const char *list, uint32_t col,
                      struct err *err)
{
    char name[128];
    struct span span;

    for (const char *part = list; *part != '\0'; part += *part == ',') {
        if (!read_span(r, part, &span, col, err))
            return false;
        for (int64_t n = span.from; n <= span.to; n++) {
            snprintf(name, sizeof name, "%.100s%0*lld", prefix,
                     (int)(span.digits < 20 ? span.digits : 20), (long long)n);
            if (!note_name(r, name, col, err))
                return false;
        }
        part += span.bytes;
    }
    return true;
}

/* "gpu[01-04,07]": how many names, and the first one, "gpu01".  Lines of a table are noted
 * by read_row(). */
static bool read_names(struct reading *r, char *value, uint32_t col,
                       struct err *err)
{
    char *open = strchr(value, '['), *shut;
    int64_t count = 0;
    struct span span;

    r->now.node.count = 1;
    r->now.node.name = arena_text(r->machines->arena, value);
    if (open == NULL)
        return r->table || strcmp(value, "DEFAULT") == 0 || note_name(r, value, col, err);
    shut = strchr(open, ']');
    if (shut == NULL || shut[1] != '\0')
        return err_set(err, ERR_SYNTAX, place_of(r, col),
                       "key NodeName must be a name, or a list such as gpu[01-04], "
                       "found '%.40s'", value);
    *shut = *open++ = '\0';
    for (const char *part = open; *part != '\0' && count <= COUNT_MAX; part += *part == ',') {
        if (!read_span(r, part, &span, col, err))
            return false;
        count += span.to - span.from + 1;
        part += span.bytes;
    }
    r->now.node.count = count;
    r->now.node.name = text_format(r->machines->arena, "%s%.*s", value,
                               (int)strcspn(open, ",-"), open);
    if (count < 1 || count > NODES_MAX)
        return err_set(err, ERR_RANGE, place_of(r, col), "key NodeName must list 1 to %d "
                       "nodes, and lists %lld", NODES_MAX, (long long)count);
    return note_list(r, value, open, col, err);
}

/* Takes in one resource, "gpu:a100:4", "gpu:4" or "gpu", of which Slurm counts one; others
 * are passed over. */
static bool read_resource(struct reading *r, char *part, uint32_t col, struct err *err)
{
    char *count = strrchr(part, ':');
    int64_t gpus = 1;

    if (strcmp(part, "gpu") != 0 && strncmp(part, "gpu:", 4) != 0)
        return true;
    if (count != NULL && !read_count(r, "Gres", count + 1, &gpus, col, err))
        return false;
    if (r->now.node.gpus > 0) {
        notes_count(&r->machines->notes, "entries have GPUs of several types: "
                    "all are taken for the first one");
    } else if (count != NULL && count > part + 3) {
        *count = '\0';
        r->now.node.gpu = arena_text(r->machines->arena, part + 4);
    }
    r->now.node.gpus += gpus;
    return true;
}

/* "gpu:a100:4(S:0-1),nvme:1", "gpu:4", "(null)": GPUs of the first kind, and a
 * note of others. */
static bool read_gres(struct reading *r, char *value, uint32_t col,
                      struct err *err)
{
    char *next;

    r->now.node.gpus = 0;       /* not those of DEFAULT */
    r->now.node.gpu = NULL;
    for (char *part = value; part != NULL; part = next) {
        char *socket = strchr(part, '(');

        next = strchr(part, ',');
        if (socket != NULL && next != NULL && next > socket)
            next = strchr(strchr(socket, ')') != NULL ? strchr(socket, ')')
                                                      : next, ',');
        if (next != NULL)
            *next++ = '\0';
        if (socket != NULL)
            *socket = '\0';
        if (!read_resource(r, part, col, err))
            return false;
    }
    return true;
}

/* Hands over the node that was read, if there is one; NodeName=DEFAULT becomes the base
 * of those behind it.  CPUs that are not said follow from sockets and cores. */
static bool end_node(struct reading *r, struct err *err)
{
    struct machine *node = &r->now.node;

    if (node->name == NULL)
        return true;
    if (strcmp(node->name, "DEFAULT") == 0) {
        r->base = r->now;
        return true;
    }
    if (node->cores == 0 && r->now.part[CORES] + r->now.part[SOCKETS] > 0) {
        node->cores = 1;
        for (int i = 0; i < PARTS; i++)
            node->cores *= r->now.part[i] > 0 ? r->now.part[i] : 1;
    }
    return machines_add(r->machines, *node, err);
}

/* Is the key one of those by which slurm.conf counts the cores of a node: Boards=, Sockets=
 * ...? */
static bool is_part(const char *key, int *part)
{
    static const struct { const char *key; int part; } known[] = {
        {"Boards", BOARDS}, {"Sockets", SOCKETS}, {"SocketsPerBoard", SOCKETS},
        {"CoresPerSocket", CORES}, {"ThreadsPerCore", THREADS}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i].key) == 0) {
            *part = known[i].part;
            return true;
        }
    return false;
}

/* Reads a part of the CPUs.  Each is at most PARTS_MAX, so that their product fits an
 * int64_t. */
static bool read_part(struct reading *r, int part, const char *key,
                      const char *value, uint32_t col, struct err *err)
{
    if (!read_count(r, key, value, &r->now.part[part], col, err))
        return false;
    return r->now.part[part] <= PARTS_MAX ||
           err_set(err, ERR_RANGE, place_of(r, col),
                   "%s must be at most %d, found '%.40s'", key, PARTS_MAX, value);
}

/* IDLE+DRAIN of scontrol; down*, drng, fail of sinfo. */
static bool read_state(struct reading *r, const char *value)
{
    static const char *const bad[] = {"DOWN", "DRAIN", "FAIL", "down", "drain",
                                      "drng", "fail"};
    bool is_bad = false;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        is_bad = is_bad || strstr(value, bad[i]) != NULL;
    if (is_bad)
        notes_count(&r->machines->notes, "nodes are down or drained: they are in "
                    "the cluster all the same");
    return true;
}

/* A key and its value. */
static bool read_value(struct reading *r, const char *text, char *value,
                       uint32_t col, struct err *err)
{
    int part;

    if (strcmp(text, "NodeName") == 0) {
        if (!end_node(r, err))
            return false;
        r->now = r->base;
        r->now.node.pos = place_of(r, col);
        return read_names(r, value, col, err);
    }
    if (r->now.node.name == NULL)
        return true;
    if (strcmp(text, "CPUTot") == 0 || strcmp(text, "CPUs") == 0)
        return read_count(r, text, value, &r->now.node.cores, col, err);
    if (strcmp(text, "RealMemory") == 0)
        return read_count(r, text, value, &r->now.node.memory_mib, col, err);
    if (is_part(text, &part))
        return read_part(r, part, text, value, col, err);
    if (strcmp(text, "Gres") == 0)
        return read_gres(r, value, col, err);
    return strcmp(text, "State") != 0 || read_state(r, value);
}

/* One "Key=value"; others are words of Reason or OS. */
static bool read_key(struct reading *r, char *text, uint32_t col,
                     struct err *err)
{
    char *value = strchr(text, '=');

    if (value == NULL)
        return true;
    *value++ = '\0';
    return read_value(r, text, value, col, err);
}

/* Cuts a line into words, in place; returns how many there are, at most WORDS_MAX of
 * which are kept.  A comment ends it. */
static size_t cut_words(char *line, char **word)
{
    static const char blank[] = " \t|";
    size_t count = 0;

    for (char *at = line; *(at += strspn(at, blank)) != '\0' && *at != '#';) {
        char *end = at + strcspn(at, blank);
        bool more = *end != '\0';

        *end = '\0';
        if (count < WORDS_MAX)
            word[count] = at;
        count++;
        at = end + more;
    }
    return count;
}

/* Do these words name the columns of sinfo? */
static bool find_columns(struct reading *r, char *const *word, size_t count)
{
    for (int c = 0; c < COLUMNS; c++) {
        r->at[c] = SIZE_MAX;
        for (size_t i = 0; i < count; i++)
            if (strcmp(word[i], column_of[c].name) == 0 ||
                strcmp(word[i], column_of[c].other) == 0)
                r->at[c] = i;
    }
    return r->at[NAME] != SIZE_MAX;
}

/* Without Gres a node would have no GPUs, and nobody would say so. */
static bool check_columns(const struct reading *r, struct err *err)
{
    for (int c = NAME; c < STATE; c++)
        if (r->at[c] == SIZE_MAX) {
            err_set(err, ERR_SYNTAX, place_of(r, 1), "table of sinfo has no "
                    "column %s", column_of[c].name);
            return err_hint(err, "Print it by: sinfo -N -o '%%N %%c %%m %%G "
                                 "%%T'.");
        }
    return true;
}

/* A line of sinfo: a node, once for each of its partitions. */
static bool read_row(struct reading *r, char *const *word, size_t count,
                     const char *line, struct err *err)
{
    bool is_new;

    for (int c = 0; c < COLUMNS; c++)
        if (r->at[c] != SIZE_MAX && r->at[c] >= count)
            return err_set(err, ERR_SYNTAX, place_of(r, 1),
                           "line has %zu words, column %s is number %zu", count,
                           column_of[c].name, r->at[c] + 1);
    if (strpbrk(word[r->at[NAME]], "[,") != NULL) {
        err_set(err, ERR_SYNTAX, place_of(r, 1), "line has several nodes, %.40s",
                word[r->at[NAME]]);
        return err_hint(err, "Of each node a line is needed: sinfo -N.");
    }
    string_set_keep(&r->names, r->machines->arena, word[r->at[NAME]], &is_new);
    if (!is_new) {
        notes_count(&r->machines->notes, "lines name a node of a line above, "
                    "as of another partition");
        return true;
    }
    for (int c = 0; c < COLUMNS; c++) {
        char *value = r->at[c] == SIZE_MAX ? NULL : word[r->at[c]];

        if (value != NULL && !read_value(r, column_of[c].key, value,
                                         (uint32_t)(value - line) + 1, err))
            return false;
    }
    return true;
}

/* Reads a line of a table of sinfo, or keys of a node.  The first line that names
 * sinfo's column of nodes, before any node, makes the file a table. */
static bool read_line(struct reading *r, char *line, struct err *err)
{
    char *word[WORDS_MAX];
    size_t count = cut_words(line, word);

    if (count > WORDS_MAX)
        return err_set(err, ERR_RANGE, place_of(r, 1),
                       "line has %zu words, at most %u are read", count,
                       WORDS_MAX);
    if (r->table && count > 0)
        return read_row(r, word, count, line, err);
    if (!r->table && r->now.node.name == NULL && find_columns(r, word, count)) {
        r->table = true;
        return check_columns(r, err);
    }
    for (size_t i = 0; i < count; i++)
        if (!read_key(r, word[i], (uint32_t)(word[i] - line) + 1, err))
            return false;
    return true;
}

/* Reads the file to its end, and hands over the last node. */
static bool read_lines(struct reading *r, struct err *err)
{
    char *line;
    size_t bytes;
    enum scan_step step;

    while ((step = scan_line(r->scan, &line, &bytes, err)) == SCAN_LINE)
        if (!read_line(r, line, err))
            return false;
    return step == SCAN_END && end_node(r, err);
}

bool slurm_nodes_read(struct machines *machines, struct err *err)
{
    struct reading r = { .machines = machines };
    bool good;

    r.scan = scan_open(machines->file, err);
    if (r.scan == NULL)
        return false;
    good = read_lines(&r, err);
    scan_close(r.scan);
    if (good && machines->count == 0)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){ machines->file, 1, 1 },
                       "file has no NodeName=: `scontrol show node` or `sinfo -N "
                       "-o '%%N %%c %%m %%G %%T'` prints what is read");
    return good;
}
