/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * err.c - what went wrong, and where in the user's own file.
 *
 * Texts often quote what the user wrote, so they are made safe to show: no
 * control characters, nothing cut within a UTF-8 character.  err_format reads
 * the source line anew from the file; when that is no longer possible the
 * message stands without it.
 *
 * What it does not do: it prints nothing and allocates nothing. Text goes to a
 * sink, which counts what it would have needed, as snprintf does.
 */
#include "sim/base/err.h"

#include <assert.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/utf8.h"

#define LINE_BYTES_MAX  4096    /* of a source line that are looked at */
#define WINDOW_WIDTH    96      /* columns of it that are shown */
#define TAB_WIDTH       4

/* Drops a UTF-8 character that was cut off at the end of text.  It counts the bytes of
 * continuation (10xxxxxx) at the end, at most 4.  The byte before them says how many there
 * must be; with fewer, the text ends before that byte. */
static void trim_cut_character(char *text)
{
    size_t bytes = strlen(text);
    size_t tail = 0;

    while (tail < 4 && tail < bytes &&
           ((unsigned char)text[bytes - 1 - tail] & 0xC0) == 0x80)
        tail++;
    if (tail == bytes)
        return;
    unsigned char lead = (unsigned char)text[bytes - 1 - tail];
    size_t wanted = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    assert(tail < bytes);
    if (wanted > tail)
        text[bytes - 1 - tail] = '\0';
}

static void print_safely(char *out, size_t out_bytes, const char *fmt,
                         va_list args) __attribute__((format(printf, 3, 0)));

/* Formats into out, cut at the end of a whole character.  What a conversion such as
 * %.40s cuts, and what is no text, becomes '?'. */
static void print_safely(char *out, size_t out_bytes, const char *fmt,
                         va_list args)
{
    assert(out_bytes > 0);
    int wanted = vsnprintf(out, out_bytes, fmt, args);

    assert(wanted >= 0);
    if ((size_t)wanted >= out_bytes)
        trim_cut_character(out);
    utf8_mend(out);
}

/* The first error wins: later ones are mostly its consequences. */
bool err_set(struct err *err, enum err_kind kind, struct err_pos pos,
             const char *fmt, ...)
{
    assert(err != NULL);
    assert(kind != ERR_NONE);
    if (err->kind != ERR_NONE)
        return false;
    va_list args;

    err->kind = kind;
    err->pos = pos;
    err->hint[0] = '\0';
    err->fault = FAULT_OTHER;
    err->key = NULL;
    va_start(args, fmt);
    print_safely(err->text, sizeof err->text, fmt, args);
    va_end(args);
    return false;
}

bool err_hint(struct err *err, const char *fmt, ...)
{
    assert(err != NULL);
    assert(err->kind != ERR_NONE);
    if (err->hint[0] != '\0')
        return false;
    va_list args;

    va_start(args, fmt);
    print_safely(err->hint, sizeof err->hint, fmt, args);
    va_end(args);
    return false;
}

/* The hint for a file that is not found: a path written for Windows is the
 * likely cause, and is told before `otherwise`. */
bool err_hint_path(struct err *err, const char *path, const char *otherwise)
{
    assert(path != NULL && otherwise != NULL);
    for (const char *c = path; *c != '\0'; c++) {
        if (*c == '\\')
            return err_hint(err, "Write / for each backslash of a path; a drive "
                                 "such as C: is a folder here, as /mnt/c.");
        if ((unsigned char)*c < 0x20)
            return err_hint(err, "Write / in a path: in double quotes a "
                                 "backslash begins an escape, as \\t a tab.");
    }
    return err_hint(err, "%s", otherwise);
}

const char *err_kind_name(enum err_kind kind)
{
    switch (kind) {
    case ERR_NONE: break;
    case ERR_USAGE: return "usage error";
    case ERR_IO: return "file error";
    case ERR_SYNTAX: return "syntax error";
    case ERR_SCHEMA: return "schema error";
    case ERR_RANGE: return "range error";
    case ERR_REFERENCE: return "reference error";
    case ERR_POLICY: return "policy error";
    case ERR_LIMIT: return "limit reached";
    case ERR_INTERRUPTED: return "interrupted";
    case ERR_BUG: return "internal error";
    }
    return "no error";
}

/* Errors in what a file says have one status, 3, since a script treats them alike: the file
 * must be mended. */
int err_exit_status(enum err_kind kind)
{
    switch (kind) {
    case ERR_NONE: return 0;
    case ERR_USAGE: return 2;
    case ERR_SYNTAX:
    case ERR_SCHEMA:
    case ERR_RANGE:
    case ERR_REFERENCE: return 3;
    case ERR_IO: return 4;
    case ERR_POLICY:
    case ERR_LIMIT: return 5;
    case ERR_INTERRUPTED: return 130;
    case ERR_BUG: return 70;
    }
    return 70;
}

/* Text that is appended to a buffer which may be too short; counts all. */
struct sink {
    char *out;
    size_t room_bytes;          /* of out, the end's zero byte included */
    size_t wanted_bytes;        /* length of the text so far, also of what had no room */
};

/* Appends a character; counts it if there is no room. */
static void sink_char(struct sink *sink, char c)
{
    assert(sink->out != NULL || sink->room_bytes == 0);
    if (sink->wanted_bytes + 1 < sink->room_bytes)
        sink->out[sink->wanted_bytes] = c;
    sink->wanted_bytes++;
}

/* Appends a text without its zero byte. */
static void sink_text(struct sink *sink, const char *text)
{
    assert(text != NULL);
    for (; *text != '\0'; text++)
        sink_char(sink, *text);
}

/* Appends the same character `count` times. */
static void sink_repeat(struct sink *sink, char c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sink_char(sink, c);
    assert(count == 0 || sink->wanted_bytes >= count);
}

/* Decimal, right-aligned in at least width columns. */
static void sink_number(struct sink *sink, uint32_t value, uint32_t width)
{
    char digits[11];
    uint32_t count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    assert(count < sizeof digits);
    if (width > count)
        sink_repeat(sink, ' ', width - count);
    while (count > 0)
        sink_char(sink, digits[--count]);
}

/* One shown character: where its bytes lie and how many columns it takes. */
struct glyph {
    uint32_t offset;            /* of its first byte in the line */
    uint8_t bytes;              /* 1 to 4; of what is not UTF-8: 1 */
    uint8_t width;              /* columns of a terminal: 0 to 4 */
    bool shown_as_is;           /* else as spaces (tab) or '?' (control) */
};

/* Width of a code point on a terminal, after Unicode's East Asian Width
 * (UAX #11): wide and full-width blocks take two columns, combining marks
 * and joiners none.  Whole blocks, as only the place of a caret hangs on it. */
static uint8_t code_width(uint32_t code)
{
    assert(code <= 0x1FFFFF);
    static const uint32_t none[][2] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
        {0x064B, 0x065F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
        {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
        {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    };
    static const uint32_t wide[][2] = {
        {0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0x33FF},
        {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA000, 0xA4CF},
        {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},
        {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
        {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        if (code >= none[i][0] && code <= none[i][1])
            return 0;
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        if (code >= wide[i][0] && code <= wide[i][1])
            return 2;
    }
    return 1;
}

/* The character at line[offset]; what is not UTF-8 is one odd byte.  `column` is where the
 * glyph begins on the screen, from 0; only a tab's width depends on it. */
static struct glyph glyph_at(const unsigned char *line, uint32_t offset,
                             uint32_t line_bytes, uint32_t column)
{
    assert(offset < line_bytes);
    unsigned char lead = line[offset];
    struct glyph glyph = {offset, 1, 1, lead >= 0x20 && lead < 0x7F};

    if (lead == '\t')
        glyph.width = (uint8_t)(TAB_WIDTH - column % TAB_WIDTH);
    if (lead < 0xC2 || lead > 0xF4)
        return glyph;
    uint8_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (bytes > line_bytes - offset)
        return glyph;
    uint32_t code = lead & (0x7Fu >> bytes);
    for (uint8_t i = 1; i < bytes; i++) {
        if ((line[offset + i] & 0xC0) != 0x80)
            return glyph;
        code = code << 6 | (line[offset + i] & 0x3F);
    }
    if (code < 0xA0)        /* the C1 controls move some terminals' cursors */
        return glyph;
    glyph.bytes = bytes;
    glyph.width = code_width(code);
    glyph.shown_as_is = true;
    assert(glyph.bytes >= 2 && glyph.bytes <= 4);
    return glyph;
}

/* The part of a line of the user's file that is shown, at most
 * LINE_BYTES_MAX. */
struct source_line {
    unsigned char text[LINE_BYTES_MAX];
    uint32_t bytes;             /* of text that are set */
    bool cut_before, cut_after;     /* the line goes on to either side */
    uint32_t caret;                 /* column of text[], from 0, in glyphs */
};

/*
 * Keeps the part of line `pos.line` around column `pos.col`.  Bytes are fed
 * one by one: a line may be a whole file long, so only a window is kept, and
 * it slides on, half its length at a time, until it holds the column.
 */
static void source_feed(struct source_line *source, unsigned char byte,
                        uint32_t *column, uint32_t wanted_column)
{
    const uint32_t half = LINE_BYTES_MAX / 2;

    assert(source->bytes <= LINE_BYTES_MAX);
    if (source->bytes == LINE_BYTES_MAX) {
        if (*column > wanted_column + half / 4) {
            source->cut_after = true;
            return;
        }
        memmove(source->text, source->text + half, half);
        source->bytes = half;
        source->cut_before = true;
        /* Not to begin within a character. */
        while ((source->text[0] & 0xC0) == 0x80 && source->bytes > half - 4) {
            source->bytes--;
            memmove(source->text, source->text + 1, source->bytes);
        }
    }
    source->text[source->bytes++] = byte;
    if ((byte & 0xC0) != 0x80)
        (*column)++;
}

/* Where the caret stands in glyphs of text[]: counted back from its end. */
static uint32_t caret_of(const struct source_line *source, uint32_t column,
                         uint32_t wanted_column)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < source->bytes; i++) {
        if ((source->text[i] & 0xC0) != 0x80)
            kept++;
    }
    assert(kept <= column);
    uint32_t dropped = column - kept;
    if (wanted_column <= dropped)
        return 0;
    uint32_t caret = wanted_column - 1 - dropped;
    assert(caret <= column + wanted_column);
    return caret < kept ? caret : kept;
}

/* As gzip and zstd begin.  Such a file is read through a decompressor elsewhere, so that line
 * numbers do not count its own bytes. */
static bool is_packed(const unsigned char *bytes, ssize_t count)
{
    static const unsigned char gzip[] = { 0x1F, 0x8B };
    static const unsigned char zstd[] = { 0x28, 0xB5, 0x2F, 0xFD };

    return (count >= 2 && memcmp(bytes, gzip, 2) == 0) ||
           (count >= 4 && memcmp(bytes, zstd, 4) == 0);
}

/* Where a reader of lines is; its first line is 1. */
struct scan {
    struct err_pos pos;         /* that is looked for */
    uint32_t line, column;      /* of the next byte; the column counts characters that were
                                 * kept */
};

/* Takes the next bytes of a source.  True: the line is whole, or as much of it as is
 * shown. */
static bool scan_bytes(struct scan *scan, const unsigned char *bytes, size_t count,
                       struct source_line *source)
{
    bool done = false;

    assert(scan->line > 0);
    for (size_t i = 0; i < count && !done; i++) {
        bool here = scan->line == scan->pos.line;

        done = source->cut_after || (here && bytes[i] == '\n');
        if (here && !done && bytes[i] != '\r')
            source_feed(source, bytes[i], &scan->column, scan->pos.col);
        scan->line += bytes[i] == '\n';
    }
    return done;
}

/* Sets the caret, once all bytes were taken.  False: there is no such line. */
static bool scan_ends(const struct scan *scan, struct source_line *source)
{
    assert(scan->line >= 1);
    if (scan->column == 0)
        return false;
    source->caret = caret_of(source, scan->column, scan->pos.col);
    return true;
}

/* False when the file does not have the line, or is not a plain text. */
static bool source_scan(int fd, struct err_pos pos, struct source_line *source)
{
    assert(fd >= 0 && pos.line > 0);
    unsigned char buffer[16384];
    struct scan scan = { pos, 1, 0 };
    bool first_block = true;
    bool done = false;
    ssize_t got;

    while (!done && (got = read(fd, buffer, sizeof buffer)) > 0) {
        if (first_block && is_packed(buffer, got))
            return false;       /* its lines are not these bytes */
        first_block = false;
        done = scan_bytes(&scan, buffer, (size_t)got, source);
    }
    return scan_ends(&scan, source);
}

/* Finds the line of an error in a text in memory.  False: the text has no such line. */
static bool source_find(const char *text, struct err_pos pos, struct source_line *source)
{
    struct scan scan = { pos, 1, 0 };

    assert(text != NULL && pos.line > 0 && pos.col > 0);
    memset(source, 0, sizeof *source);
    (void)scan_bytes(&scan, (const unsigned char *)text, strlen(text), source);
    return scan_ends(&scan, source);
}

/* Reads the line anew from the file that pos names. False: it is no regular
 * file, cannot be opened, or has no such line. O_NONBLOCK, because a pipe in
 * its place would wait for a writer. */
static bool source_read(struct err_pos pos, struct source_line *source)
{
    assert(pos.file != NULL && pos.line > 0 && pos.col > 0);
    struct stat status;
    int fd = open(pos.file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0)
        return false;
    memset(source, 0, sizeof *source);
    bool found = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                 source_scan(fd, pos, source);
    close(fd);
    return found;
}

/* Columns from the first glyph to the caret. */
static uint32_t width_before_caret(const struct source_line *source)
{
    uint32_t column = 0;
    uint32_t offset = 0;

    for (uint32_t i = 0; i < source->caret && offset < source->bytes; i++) {
        struct glyph glyph =
            glyph_at(source->text, offset, source->bytes, column);
        column += glyph.width;
        offset += glyph.bytes;
    }
    assert(offset <= source->bytes);
    return column;
}

/* Writes one glyph as it is shown: itself, blanks for a tab, or '?'. */
static void sink_glyph(struct sink *sink, const struct source_line *source,
                       struct glyph glyph)
{
    assert(glyph.offset + glyph.bytes <= source->bytes);
    if (glyph.shown_as_is) {
        for (uint32_t i = 0; i < glyph.bytes; i++)
            sink_char(sink, (char)source->text[glyph.offset + i]);
    } else if (source->text[glyph.offset] == '\t') {
        sink_repeat(sink, ' ', glyph.width);
    } else {
        sink_char(sink, '?');
    }
}

/* The glyphs that begin in columns [from, to); the column of the first.  *more tells whether
 * the line goes on behind the window. */
static uint32_t sink_window(struct sink *sink, const struct source_line *source,
                            uint32_t from, uint32_t to, bool *more)
{
    uint32_t column = 0;
    uint32_t first = UINT32_MAX;
    uint32_t offset = 0;

    assert(from < to);
    while (offset < source->bytes && column < to) {
        struct glyph glyph =
            glyph_at(source->text, offset, source->bytes, column);
        if (column >= from) {
            if (first == UINT32_MAX)
                first = column;
            sink_glyph(sink, source, glyph);
        }
        column += glyph.width;
        offset += glyph.bytes;
    }
    *more = offset < source->bytes || source->cut_after;
    assert(offset <= source->bytes);
    return first == UINT32_MAX ? from : first;
}

/* "   12 | text" and a caret under the place.  A line that is longer than the window is shown
 * from half a window before the caret, with "..." where something is left out.  A caret in the
 * first three quarters of a window leaves the line's start in sight. */
static void sink_source(struct sink *sink, struct err_pos pos,
                        const struct source_line *source)
{
    uint32_t caret = width_before_caret(source);
    uint32_t from = 0;
    bool more = false;

    if (caret >= WINDOW_WIDTH * 3 / 4)
        from = caret - WINDOW_WIDTH / 2;
    bool less = from > 0 || source->cut_before;
    sink_number(sink, pos.line, 5);
    sink_text(sink, " | ");
    if (less)
        sink_text(sink, "...");
    uint32_t first = sink_window(sink, source, from, from + WINDOW_WIDTH,
                                 &more);
    assert(first <= caret && caret < from + WINDOW_WIDTH);      /* it is seen */
    if (more)
        sink_text(sink, "...");
    sink_text(sink, "\n      | ");
    sink_repeat(sink, ' ', caret - first + (less ? 3 : 0));
    sink_text(sink, "^\n");
}

/* Writes "file:line:col: " as far as it is known. */
static void sink_place(struct sink *sink, struct err_pos pos)
{
    if (pos.file == NULL)
        return;
    for (const char *c = pos.file; *c != '\0'; c++)
        sink_char(sink, (unsigned char)*c < 0x20 || *c == 0x7F ? '?' : *c);
    sink_char(sink, ':');
    if (pos.line > 0) {
        sink_number(sink, pos.line, 0);
        sink_char(sink, ':');
    }
    if (pos.line > 0 && pos.col > 0) {
        sink_number(sink, pos.col, 0);
        sink_char(sink, ':');
    }
    sink_char(sink, ' ');
}

/* Reads the line that the error speaks of from the file, to show it; where
 * that cannot be read the message stands alone. */
size_t err_format(const struct err *err, char *out, size_t out_bytes)
{
    return err_format_text(err, NULL, NULL, out, out_bytes);
}

/* Is the error's line one of the text, and not of a file? */
static bool is_of_text(struct err_pos pos, const char *file, const char *text)
{
    assert(pos.file != NULL);
    return text != NULL && file != NULL && strcmp(pos.file, file) == 0;
}

size_t err_format_text(const struct err *err, const char *file, const char *text, char *out,
                       size_t out_bytes)
{
    assert(err != NULL);
    assert(out != NULL || out_bytes == 0);
    struct sink sink = {out, out_bytes, 0};
    struct source_line source;
    struct err_pos pos = err->pos;

    sink_place(&sink, pos);
    sink_text(&sink, err_kind_name(err->kind));
    sink_text(&sink, ": ");
    sink_text(&sink, err->text);
    sink_char(&sink, '\n');
    if (pos.file != NULL && pos.line > 0 && pos.col > 0 &&
        (is_of_text(pos, file, text) ? source_find(text, pos, &source)
                                     : source_read(pos, &source)))
        sink_source(&sink, pos, &source);
    if (err->hint[0] != '\0') {
        sink_text(&sink, "hint: ");
        sink_text(&sink, err->hint);
        sink_char(&sink, '\n');
    }
    if (out_bytes > 0) {
        size_t end = sink.wanted_bytes;
        out[end < out_bytes ? end : out_bytes - 1] = '\0';
    }
    assert(sink.wanted_bytes > 0);
    return sink.wanted_bytes;
}
